/* hlo/meaning/frames.h - the source lines of an instruction, innermost call first.
 *
 * JAX's dumps keep them in four tables at the top of the module (FileNames, FunctionNames,
 * FileLocations, StackFrames), to which metadata points by stack_frame_id. Ids count from 1.
 * A frame's parent is its parent_frame_id less 1, 0 meaning none: XLA prints it one too high (seen
 * in jaxlib 0.10, where a frame would otherwise be its own parent). Older dumps say source_file and
 * source_line in the metadata: a chain of one. */
#ifndef AUTOMAP_HLO_MEANING_FRAMES_H
#define AUTOMAP_HLO_MEANING_FRAMES_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { HLO_FRAMES_MOST = 64 }; /* in one chain; outer frames are dropped */

struct hlo_frame {
    const char *file, *function; /* cleaned; function "" when unknown */
    uint32_t line, column;       /* column 0: unknown */
};

struct hlo_frames;

/* Reads the module's tables once. `m` must outlive it. ERR_MEMORY. O(size of the tables). */
int hlo_frames_new(const struct hlo_module *m, struct hlo_frames **out, struct err *e) MUST_CHECK;
void hlo_frames_free(struct hlo_frames *f); /* NULL ok */

/* Writes the chain of `id`, innermost first, and returns its length (0: no line is known). */
uint32_t hlo_frames_of(const struct hlo_frames *f, hlo_id id,
                       struct hlo_frame out[static HLO_FRAMES_MOST]);

/* True for a file of an installed package, whose lines nobody would change. */
bool hlo_frame_is_library(const struct hlo_frame *f);

#endif
