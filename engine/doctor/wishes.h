/* engine/doctor/wishes.h - the shardings that a program's author asked for, as statuses of the
 * planner. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_WISHES_H
#define AUTOMAP_ENGINE_DOCTOR_WISHES_H

#include "engine/problem/problem.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sharding. */
struct doctor_wish {
    hlo_id id;    /* in the problem's module: a parameter, a constraint, a result */
    status asked; /* as its author has it */
    enum { WISH_STORED, WISH_CONSTRAINT, WISH_RESULT } kind;
    bool leaves_out; /* a constraint without an axis that the value has: set by who plans again */
    uint32_t result; /* which of several, from 1 on; 0: the only one, or none */
};

/* The mesh its shardings are of, for problem_options: Shardy's first with the author's names
 * ("data=4,model=2"), else the coarsest mesh that all of them are of ("4x2"; "2x2x2" where one is
 * of 4x2 and one of 2x4), of at most STATUS_AXES_MOST axes. O(count x devices). */
void doctor_mesh_of(const struct hlo_module *m, uint32_t devices, char *out, size_t room);

/* Devices of Shardy's first mesh; 0: no mesh, or 2^32 devices and more. */
uint32_t doctor_mesh_devices(const struct hlo_module *m);

/* Calls that only ask for a split become copies: instructions of their own, whose result can be
 * held while what they read is split otherwise. Before the module is used. */
void doctor_wishes_as_copies(struct hlo_module *m);

/* Whether `id` of p->m has a sharding of its author that this mesh can have; {replicated} is one.
 * Afterwards a call is a copy. */
bool doctor_wish_of(const struct problem *p, hlo_id id, struct doctor_wish *out);

/* Every status that splits over the same axes, for memory stays so; row numbers may be whole. What
 * is whole may be split in any way, and over an axis that a constraint has left out. At most
 * `most`; how many there are. */
uint32_t doctor_wish_as_fine(const struct problem *p, const struct doctor_wish *w, status out[],
                             uint32_t most);
/* What a wish becomes: store "w" as P('x', None, ('y', 'z')), not P(). Appended. */
void doctor_wish_write_change(const struct problem *p, const struct doctor_wish *w, status to,
                              struct str *out);
/* A status of `id` as JAX writes it: P('x', None, ('y', 'z')). Appended. */
void doctor_wish_write(const struct problem *p, hlo_id id, status s, struct str *out);

#endif
