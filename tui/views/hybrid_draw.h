/* tui/views/hybrid_draw.h - the parts of view_hybrid.c; shared by it, hybrid_draw.c,
 * hybrid_parts.c and hybrid_kept.c only; what stages keep, by pipeline_watch.c too. */
#ifndef AUTOMAP_TUI_VIEWS_HYBRID_DRAW_H
#define AUTOMAP_TUI_VIEWS_HYBRID_DRAW_H

#include "engine/hybrid/hybrid_picture.h"
#include "tui/screen/grid.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/unstaged_job.h"

#include <stdbool.h>
#include <stdint.h>

struct hybrid_shown {
    const struct hybrid_picture *picture; /* borrowed */
    struct hybrid_seen seen;
    struct hybrid_asked asked;
    struct unstaged without; /* name "": there is none */
    uint32_t version;        /* of the picture */
    uint32_t stage;          /* under the cursor */
    uint32_t role;           /* the same */
    uint32_t other;          /* the mesh that Enter takes */
    const char *words;       /* why; NULL: not written yet */
    const char *about;       /* the class they are of; NULL: of the plan */
    int scroll;              /* of the words, of what is kept */
    bool signs, ascii;
};

void hybrid_draw_sentence(const struct hybrid_shown *s, const struct pane *p);
/* A column a stage: its devices, layers, times, memory; below a row for each role. */
enum { HYBRID_STAGE_ROWS = 9 }; /* head included, without roles */
void hybrid_draw_stages(const struct hybrid_shown *s, const struct pane *p);
void hybrid_draw_timeline(const struct hybrid_shown *s, const struct pane *p, bool spaced);
void hybrid_draw_memory(const struct hybrid_shown *s, const struct pane *p);
void hybrid_draw_meshes(const struct hybrid_shown *s, const struct pane *p);
/* The same in one row, where there is no room for more. */
void hybrid_draw_kinds_line(const struct hybrid_shown *s, const struct pane *p);
/* What the stage keeps and computes again, value by value, and its front (hybrid_kept.c). */
void hybrid_draw_kept(const struct hybrid_shown *s, const struct pane *p);
void hybrid_draw_kinds(const struct hybrid_shown *s, const struct pane *p);
void hybrid_draw_pins(const struct hybrid_shown *s, const struct pane *p);
void hybrid_draw_words(const struct hybrid_shown *s, const struct pane *p);

/* Digits behind the point in columns of ms and of GB: three digits of the largest are shown. */
int hybrid_ms_decimals(const struct hybrid_picture *h);
int hybrid_gb_decimals(const struct hybrid_picture *h);
/* "2 × 4": data times tensor parallel. */
void hybrid_mesh_text(uint32_t dp, uint32_t tp, bool recompute, int columns, char *out,
                      size_t room);
/* "cut before encoder/layer_012". */
void hybrid_pin_text(const struct hybrid_held *h, char *out, size_t room);

#endif
