/* engine/hybrid/stage_pieces.h - which values the modules of a stage hold in pieces (ZeRO).
 *
 * Along the axes over which a variable's gradient is reduced, all devices would hold the same. From
 * level 1 on each holds a piece of the optimizer state and makes a piece of the update, from level
 * 2 on the gradient waits in pieces, from level 3 on the variable does. The dim that is cut is one
 * that no class splits and that divides: along it a device's piece is a part of what it holds
 * whole, and nothing is sent to cut it. What has no such dim stays whole, and so does what is read
 * by more than the update, element by element, of its own variable: a gradient whose norm is taken,
 * the state of Adafactor. An update that then reads nothing in pieces is made whole, too. Private
 * to engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_PIECES_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_PIECES_H

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/stage_parts.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* Where a value is in pieces. */
enum {
    PIECE_INPUT = 1,  /* as what a module reads */
    PIECE_INSIDE = 2, /* where it is made */
    PIECE_OUTPUT = 4  /* as what a module hands on */
};

struct stage_pieces {
    uint8_t *where;     /* [values] PIECE_.. */
    uint8_t *dim;       /* [values] that is cut */
    label *over;        /* [values] the axes it is cut over */
    uint32_t *variable; /* [values] whose it is; HLO_NONE */
};

/* Of one stage on its sub-mesh. ERR_MEMORY. O(instructions + operands). */
int stage_pieces_new(const struct stage_parts *parts, const struct cluster_mesh *mesh,
                     uint32_t stage, struct stage_pieces *out, struct err *e) MUST_CHECK;
void stage_pieces_release(struct stage_pieces *p);

/* Variables that a module with the instructions `is_kept` reads in pieces and has to gather first:
 * something else than their own update reads them. Fills is_gathered[values]. O(operands). */
void stage_pieces_gathered(const struct stage_pieces *p, const struct stage_parts *parts,
                           const bool *is_kept, bool *is_gathered);

#endif
