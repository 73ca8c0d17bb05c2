/* tests/fuzz/problem.h - what the targets that need a problem share: a small step, and the problem
 * made of a text. */
#ifndef AUTOMAP_TESTS_FUZZ_PROBLEM_H
#define AUTOMAP_TESTS_FUZZ_PROBLEM_H

#include "engine/problem/problem.h"
#include "hlo/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two layers, their gradients and updates, the loss. */
#define STEP_MODEL                                                                                 \
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"    \
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n" \
    "ENTRY main {\n"                                                                               \
    "  w1 = f32[16,32] parameter(0)\n  w2 = f32[32,8] parameter(1)\n  x = f32[4,16] "              \
    "parameter(2)\n"                                                                               \
    "  h = f32[4,32] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"             \
    "  y = f32[4,8] dot(h, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"              \
    "  g = f32[32,8] dot(h, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"              \
    "  w4 = f32[32,8] subtract(w2, g)\n"                                                           \
    "  d = f32[4,32] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"             \
    "  f = f32[16,32] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"             \
    "  w3 = f32[16,32] subtract(w1, f)\n  z = f32[] constant(0)\n"                                 \
    "  l = f32[] reduce(y, z), dimensions={0,1}, to_apply=add.1\n"                                 \
    "  ROOT t = (f32[16,32], f32[32,8], f32[]) tuple(w3, w4, l)\n}\n"

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* On the default devices. */
static inline void make_problem(struct problem *p, const char *text, const char *mesh)
{
    struct problem_options o = {0};
    struct hlo_module *m;
    struct cluster c;
    struct err e;

    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    cluster_default(&c);
    require(!hlo_load_memory("model", text, strlen(text), NULL, &m, &e));
    require(!problem_new(m, NULL, &c, &o, p, &e));
}

/* Made once: nothing read changes it. */
static inline const struct problem *the_problem(const char *text)
{
    static struct problem *p;

    if (!p) {
        p = mem_alloc(sizeof *p);
        make_problem(p, text, "");
    }
    return p;
}

#endif
