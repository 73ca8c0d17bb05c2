/* engine/doctor/moves.h - what an instruction takes, seen through moves, fusions and loops. Private
 * to engine/doctor. All in a bounded number of steps, so that no graph makes them slow. */
#ifndef AUTOMAP_ENGINE_DOCTOR_MOVES_H
#define AUTOMAP_ENGINE_DOCTOR_MOVES_H

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it hands its first operand on as it is: a copy, reshape, transpose, convert, element. */
bool moves_only(const struct hlo_module *m, hlo_id id);
/* A fusion of such alone; `slices`: of those and slices. */
bool moves_fusion(const struct hlo_module *m, hlo_id id, bool slices);
/* Whether it is of this opcode, or a fusion of which a part is. */
bool moves_holds(const struct hlo_module *m, hlo_id id, enum hlo_opcode opcode);
/* Elementwise work, or a fusion of that and of moves. */
bool moves_plain(const struct hlo_module *m, hlo_id id);
/* What it moves, or itself. */
hlo_id moves_up(const struct hlo_module *m, hlo_id id);
/* The same, and from what a fusion or a loop's body is given to what it is given outside. */
hlo_id moves_out(const struct hlo_module *m, hlo_id id);
/* Operand `n` of an instruction, seen through moves, and out of the fusion it stands in. */
hlo_id moves_operand(const struct hlo_module *m, hlo_id id, uint32_t n);
/* What a dynamic-slice, or the fusion of one, takes a part of: of a fusion its largest operand. */
hlo_id moves_sliced(const struct hlo_module *m, hlo_id id);
/* Whether it cuts out this device's part by its number. */
bool moves_cuts(const struct hlo_module *m, hlo_id id);
/* Whether it is computed from the device's number, in at most `depth` steps and *visits
 * instructions, which it counts down; false where these do not do. */
enum { MOVES_VISITS_MOST = 4096 };
bool moves_by_partition(const struct hlo_module *m, hlo_id id, int depth, uint32_t *visits);
/* moves_out, and where that is a buffer which an earlier loop has filled, a row in every trip: what
 * that row is. */
hlo_id moves_kept(const struct hlo_module *m, hlo_id id);
/* Whether `user`, or a part of that fusion, repeats `id` along other dims than the last. */
bool moves_spreads_last(const struct hlo_module *m, hlo_id id, hlo_id user);
/* It, or the part of a fusion, of this opcode; HLO_NONE: there is none. */
hlo_id moves_inner(const struct hlo_module *m, hlo_id id, enum hlo_opcode opcode);
/* What it is cast to, a narrower type, where that alone takes it, through moves; NULL. */
const struct hlo_shape *moves_cast(const struct hlo_module *m, hlo_id id);
/* Whether what it calls is an addition; taken so where it calls nothing. */
bool moves_adds(const struct hlo_module *m, hlo_id id);
/* The fusion that an instruction stands in; HLO_NONE. */
hlo_id moves_fusion_of(const struct hlo_module *m, hlo_id id);

#endif
