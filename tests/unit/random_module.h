/* Small random modules: HLO text put together from a table of forms, one per group of opcodes, so
 * that propagation, costs and solvers meet shapes nobody thought of. The same seed gives the same
 * module. Values are f32 of rank 0 to 4 named v0, v1, ..; v0 .. v(variables-1) are the variables,
 * and the root holds a next value for each of them where one of its shape was made. */
#ifndef AUTOMAP_TESTS_RANDOM_MODULE_H
#define AUTOMAP_TESTS_RANDOM_MODULE_H

#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "rl/rng.h"

#include <string.h>

enum { RANDOM_VALUES_MOST = 64, RANDOM_RANK_MOST = 4 };

struct random_value {
    uint32_t rank;
    int64_t dims[RANDOM_RANK_MOST];
};

struct random_module {
    struct rl_rng rng;
    struct str applied, entry; /* computations; lines of the entry */
    struct random_value values[RANDOM_VALUES_MOST];
    uint32_t count, parameters, variables, helpers;
    uint32_t inputs; /* parameters so far, integers included */
};

static inline uint32_t random_below(struct random_module *g, uint32_t n)
{
    return rl_rng_below(&g->rng, n);
}

static inline uint32_t random_pick(struct random_module *g)
{
    return random_below(g, g->count);
}

static inline int64_t random_size(struct random_module *g)
{
    static const int64_t sizes[] = {1, 2, 2, 3, 4, 4, 4, 6, 8, 8, 12};

    return sizes[random_below(g, sizeof sizes / sizeof *sizes)];
}

static inline void random_shape(struct str *out, const struct random_value *v)
{
    str_add(out, "f32[");
    for (uint32_t d = 0; d < v->rank; d++)
        str_format(out, "%s%ld", d ? "," : "", (long)v->dims[d]);
    str_add(out, "]");
}

/* Begins "  vN = SHAPE " for a new value; what follows is up to the form. */
static inline void random_begin(struct random_module *g, const struct random_value *v)
{
    struct random_value copy = *v;

    g->values[g->count] = copy;
    str_format(&g->entry, "  v%u = ", g->count++);
    random_shape(&g->entry, &copy);
    str_add(&g->entry, " ");
}

static inline bool random_same(const struct random_value *a, const struct random_value *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

/* Another value of the shape of `a`, which may be `a`. */
static inline uint32_t random_like(struct random_module *g, uint32_t a)
{
    uint32_t start = random_pick(g);

    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t b = (start + k) % g->count;
        if (random_same(&g->values[a], &g->values[b]))
            return b;
    }
    return a;
}

static inline void random_list(struct str *out, const char *key, const uint32_t *list,
                               uint32_t count)
{
    str_format(out, ", %s={", key);
    for (uint32_t k = 0; k < count; k++)
        str_format(out, "%s%u", k ? "," : "", list[k]);
    str_add(out, "}");
}

/* ---- forms: each adds one value, or returns false when the module has nothing that fits ---- */

static inline bool random_unary(struct random_module *g)
{
    static const char *const ops[] = {"negate", "exponential", "tanh",    "abs",
                                      "sqrt",   "copy",        "logistic"};
    uint32_t a = random_pick(g);

    random_begin(g, &g->values[a]);
    str_format(&g->entry, "%s(v%u)\n", ops[random_below(g, 7)], a);
    return true;
}

static inline bool random_binary(struct random_module *g)
{
    static const char *const ops[] = {"add", "multiply", "subtract", "maximum", "divide", "power"};
    uint32_t a = random_pick(g), b = random_like(g, a);

    random_begin(g, &g->values[a]);
    str_format(&g->entry, "%s(v%u, v%u)\n", ops[random_below(g, 6)], a, b);
    return true;
}

static inline bool random_select(struct random_module *g)
{
    uint32_t a = random_pick(g), b = random_like(g, a);
    struct str shape = {0};

    random_shape(&shape, &g->values[a]);
    str_format(&g->entry, "  c%u = pred%s compare(v%u, v%u), direction=GT\n", g->count,
               shape.text + 3, a, b);
    str_release(&shape);
    uint32_t at = g->count;
    random_begin(g, &g->values[a]);
    str_format(&g->entry, "select(c%u, v%u, v%u)\n", at, b, a);
    return true;
}

static inline bool random_free(struct random_module *g)
{
    struct random_value v = {.rank = 1 + random_below(g, 3)};

    for (uint32_t d = 0; d < v.rank; d++)
        v.dims[d] = random_size(g);
    random_begin(g, &v);
    str_format(&g->entry, "iota(), iota_dimension=%u\n", random_below(g, v.rank));
    return true;
}

static inline bool random_broadcast(struct random_module *g)
{
    uint32_t a = random_pick(g), list[RANDOM_RANK_MOST],
             at = random_below(g, g->values[a].rank + 1);
    struct random_value v = g->values[a];

    if (v.rank >= 3)
        return false;
    for (uint32_t d = v.rank; d > at; d--)
        v.dims[d] = v.dims[d - 1];
    v.dims[at] = random_size(g);
    v.rank++;
    for (uint32_t d = 0, n = 0; d < v.rank; d++) {
        if (d != at)
            list[n++] = d;
    }
    random_begin(g, &v);
    str_format(&g->entry, "broadcast(v%u)", a);
    random_list(&g->entry, "dimensions", list, v.rank - 1);
    str_add(&g->entry, "\n");
    return true;
}

static inline bool random_transpose(struct random_module *g)
{
    uint32_t a = random_pick(g), list[RANDOM_RANK_MOST] = {0, 1, 2, 3};
    struct random_value v = g->values[a];

    if (v.rank < 2)
        return false;
    for (uint32_t d = v.rank; d-- > 1;) {
        uint32_t other = random_below(g, d + 1), kept = list[d];
        list[d] = list[other];
        list[other] = kept;
    }
    for (uint32_t d = 0; d < v.rank; d++)
        v.dims[d] = g->values[a].dims[list[d]];
    random_begin(g, &v);
    str_format(&g->entry, "transpose(v%u)", a);
    random_list(&g->entry, "dimensions", list, v.rank);
    str_add(&g->entry, "\n");
    return true;
}

/* Merges two neighbours, takes a factor 2 or 3 out of one dim, or adds a dim of 1. */
static inline bool random_reshape(struct random_module *g)
{
    uint32_t a = random_pick(g), how = random_below(g, 3);
    struct random_value v = g->values[a];

    if (how == 0 && v.rank >= 2) {
        uint32_t at = random_below(g, v.rank - 1);
        v.dims[at] *= v.dims[at + 1];
        memmove(v.dims + at + 1, v.dims + at + 2, (v.rank - at - 2) * sizeof *v.dims);
        v.rank--;
    } else if (v.rank && v.rank < RANDOM_RANK_MOST) {
        uint32_t at = random_below(g, v.rank);
        int64_t part = how == 1 ? 1 : v.dims[at] % 2 == 0 ? 2 : v.dims[at] % 3 == 0 ? 3 : 1;
        memmove(v.dims + at + 1, v.dims + at, (v.rank - at) * sizeof *v.dims);
        if (random_below(g, 2)) {
            v.dims[at] = part;
            v.dims[at + 1] /= part;
        } else {
            v.dims[at] /= part;
            v.dims[at + 1] = part;
        }
        v.rank++;
    } else {
        return false;
    }
    random_begin(g, &v);
    str_format(&g->entry, "reshape(v%u)\n", a);
    return true;
}

/* One contracting pair, perhaps one batch pair: whichever dims have equal sizes. */
static inline bool random_dot(struct random_module *g)
{
    uint32_t a = random_pick(g), b = random_pick(g), pairs[2][2], count = 0, used_b = 0;
    const struct random_value *x = &g->values[a], *y = &g->values[b];
    struct random_value v = {0};

    for (uint32_t d = x->rank; d-- > 0 && count < 1 + random_below(g, 2);) {
        for (uint32_t n = 0; n < y->rank; n++) {
            if (x->dims[d] == y->dims[n] && !(used_b >> n & 1)) {
                used_b |= 1u << n;
                pairs[count][0] = d;
                pairs[count++][1] = n;
                break;
            }
        }
    }
    if (!count || x->rank + y->rank > RANDOM_RANK_MOST + count + 1)
        return false;
    uint32_t used_a = 0;
    for (uint32_t k = 0; k < count; k++)
        used_a |= 1u << pairs[k][0];
    if (count == 2)
        v.dims[v.rank++] = x->dims[pairs[1][0]];
    for (uint32_t d = 0; d < x->rank; d++) {
        if (!(used_a >> d & 1) && v.rank < RANDOM_RANK_MOST)
            v.dims[v.rank++] = x->dims[d];
    }
    for (uint32_t d = 0; d < y->rank; d++) {
        if (!(used_b >> d & 1)) {
            if (v.rank == RANDOM_RANK_MOST)
                return false;
            v.dims[v.rank++] = y->dims[d];
        }
    }
    if (v.rank != x->rank + y->rank - 2 * count + (count == 2))
        return false;
    random_begin(g, &v);
    str_format(&g->entry, "dot(v%u, v%u)", a, b);
    if (count == 2)
        str_format(&g->entry, ", lhs_batch_dims={%u}, rhs_batch_dims={%u}", pairs[1][0],
                   pairs[1][1]);
    str_format(&g->entry, ", lhs_contracting_dims={%u}, rhs_contracting_dims={%u}\n", pairs[0][0],
               pairs[0][1]);
    return true;
}

static inline bool random_reduce(struct random_module *g)
{
    uint32_t a = random_pick(g);
    struct random_value v = g->values[a];

    if (!v.rank)
        return false;
    uint32_t at = random_below(g, v.rank);
    memmove(v.dims + at, v.dims + at + 1, (v.rank - at - 1) * sizeof *v.dims);
    v.rank--;
    random_begin(g, &v);
    str_format(&g->entry, "reduce(v%u, zero), dimensions={%u}, to_apply=%s\n", a, at,
               random_below(g, 2) ? "sum" : "most");
    return true;
}

static inline bool random_concatenate(struct random_module *g)
{
    uint32_t a = random_pick(g), b = random_like(g, a);
    struct random_value v = g->values[a];

    if (!v.rank)
        return false;
    uint32_t at = random_below(g, v.rank);
    v.dims[at] *= 2;
    random_begin(g, &v);
    str_format(&g->entry, "concatenate(v%u, v%u), dimensions={%u}\n", a, b, at);
    return true;
}

static inline bool random_slice(struct random_module *g)
{
    uint32_t a = random_pick(g);
    struct random_value v = g->values[a];

    if (!v.rank)
        return false;
    uint32_t at = random_below(g, v.rank);
    v.dims[at] = v.dims[at] > 1 ? v.dims[at] / 2 : 1;
    random_begin(g, &v);
    str_format(&g->entry, "slice(v%u), slice={", a);
    for (uint32_t d = 0; d < v.rank; d++)
        str_format(&g->entry, "%s[0:%ld]", d ? ", " : "", (long)v.dims[d]);
    str_add(&g->entry, "}\n");
    return true;
}

static inline bool random_pad(struct random_module *g)
{
    uint32_t a = random_pick(g);
    struct random_value v = g->values[a];

    if (!v.rank)
        return false;
    uint32_t at = random_below(g, v.rank);
    v.dims[at] += 2;
    random_begin(g, &v);
    str_format(&g->entry, "pad(v%u, zero), padding=", a);
    for (uint32_t d = 0; d < v.rank; d++)
        str_format(&g->entry, "%s%s", d ? "x" : "", d == at ? "1_1" : "0_0");
    str_add(&g->entry, "\n");
    return true;
}

static inline bool random_along(struct random_module *g)
{
    uint32_t a = random_pick(g);
    const struct random_value *v = &g->values[a];

    if (!v->rank)
        return false;
    uint32_t at = random_below(g, v->rank);
    random_begin(g, v);
    if (random_below(g, 2))
        str_format(&g->entry, "reverse(v%u), dimensions={%u}\n", a, at);
    else
        str_format(&g->entry, "sort(v%u), dimensions={%u}, to_apply=less\n", a, at);
    return true;
}

/* Rows of a matrix by number, and sums into rows: the forms of an embedding. */
static inline bool random_index(struct random_module *g)
{
    uint32_t a = random_pick(g);
    struct random_value v = g->values[a];

    if (v.rank != 2)
        return false;
    int64_t rows = v.dims[0], width = v.dims[1], some = random_size(g);
    if (random_below(g, 2)) {
        str_format(&g->entry, "  i%u = s32[%ld] ", g->count, (long)some);
        if (random_below(g, 2))
            str_add(&g->entry, "iota(), iota_dimension=0\n");
        else
            str_format(&g->entry, "parameter(%u)\n", g->inputs++);
        uint32_t at = g->count;
        v.dims[0] = some;
        random_begin(g, &v);
        str_format(
            &g->entry,
            "gather(v%u, i%u), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,%ld}\n",
            a, at, (long)width);
        return true;
    }
    for (uint32_t b = 0; b < g->count; b++) {
        if (g->values[b].rank != 2 || g->values[b].dims[1] != width || b == a)
            continue;
        str_format(&g->entry, "  w%u = s32[%ld] parameter(%u)\n", g->count,
                   (long)g->values[b].dims[0], g->inputs++);
        uint32_t at = g->count;
        random_begin(g, &(struct random_value){2, {rows, width}});
        str_format(&g->entry,
                   "scatter(v%u, w%u, v%u), update_window_dims={1}, inserted_window_dims={0}, "
                   "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum\n",
                   a, at, b);
        return true;
    }
    return false;
}

static inline bool random_update(struct random_module *g)
{
    uint32_t a = random_pick(g);
    struct random_value v = g->values[a];

    if (!v.rank)
        return false;
    uint32_t at = random_below(g, v.rank);
    if (v.dims[at] > 1)
        v.dims[at] /= 2;
    random_begin(g, &v);
    str_format(&g->entry, "dynamic-slice(v%u", a);
    for (uint32_t d = 0; d < v.rank; d++)
        str_add(&g->entry, ", origin");
    str_add(&g->entry, "), dynamic_slice_sizes={");
    for (uint32_t d = 0; d < v.rank; d++)
        str_format(&g->entry, "%s%ld", d ? "," : "", (long)v.dims[d]);
    str_add(&g->entry, "}\n");
    if (g->count == RANDOM_VALUES_MOST)
        return true;
    uint32_t part = g->count - 1;
    random_begin(g, &g->values[a]);
    str_format(&g->entry, "dynamic-update-slice(v%u, v%u", a, part);
    for (uint32_t d = 0; d < v.rank; d++)
        str_add(&g->entry, ", origin");
    str_add(&g->entry, ")\n");
    return true;
}

static inline bool random_convolution(struct random_module *g)
{
    for (uint32_t tries = 0; tries < 20; tries++) {
        uint32_t a = random_pick(g), k = random_pick(g);
        const struct random_value *x = &g->values[a], *y = &g->values[k];
        if (x->rank != 3 || y->rank != 3 || x->dims[2] != y->dims[1] || y->dims[0] > x->dims[1])
            continue;
        struct random_value v = {3, {x->dims[0], x->dims[1] - y->dims[0] + 1, y->dims[2]}};
        int64_t window = y->dims[0];
        random_begin(g, &v);
        str_format(&g->entry, "convolution(v%u, v%u), window={size=%ld}, dim_labels=b0f_0io->b0f\n",
                   a, k, (long)window);
        return true;
    }
    return false;
}

/* Two values through a called computation that hands them back crosswise. */
static inline bool random_call(struct random_module *g)
{
    uint32_t a = random_pick(g), b = random_pick(g), n = g->helpers++;
    struct str x = {0}, y = {0};

    random_shape(&x, &g->values[a]);
    random_shape(&y, &g->values[b]);
    str_format(&g->applied,
               "swap%u {\n  a = %s parameter(0)\n  b = %s parameter(1)\n  c = %s negate(a)\n"
               "  ROOT t = (%s, %s) tuple(b, c)\n}\n",
               n, x.text, y.text, x.text, y.text, x.text);
    str_format(&g->entry, "  t%u = (%s, %s) call(v%u, v%u), to_apply=swap%u\n", n, y.text, x.text,
               a, b, n);
    uint32_t first = random_below(g, 2);
    random_begin(g, &g->values[first ? b : a]);
    str_format(&g->entry, "get-tuple-element(t%u), index=%u\n", n, first ? 0 : 1);
    str_release(&x);
    str_release(&y);
    return true;
}

/* A loop that adds a value to another three times. */
static inline bool random_loop(struct random_module *g)
{
    uint32_t a = random_pick(g), b = random_like(g, a), n = g->helpers++;
    struct str x = {0};

    random_shape(&x, &g->values[a]);
    str_format(
        &g->applied,
        "body%u {\n  s = (s32[], %s, %s) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  x = %s get-tuple-element(s), index=1\n  y = %s get-tuple-element(s), index=2\n"
        "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  z = %s add(x, y)\n"
        "  ROOT t = (s32[], %s, %s) tuple(j, z, y)\n}\n"
        "more%u {\n  s = (s32[], %s, %s) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  three = s32[] constant(3)\n  ROOT c = pred[] compare(i, three), direction=LT\n}\n",
        n, x.text, x.text, x.text, x.text, x.text, x.text, x.text, n, x.text, x.text);
    str_format(
        &g->entry,
        "  k%u = (s32[], %s, %s) tuple(origin, v%u, v%u)\n  l%u = (s32[], %s, %s) while(k%u), "
        "condition=more%u, body=body%u\n",
        n, x.text, x.text, a, b, n, x.text, x.text, n, n, n);
    random_begin(g, &g->values[a]);
    str_format(&g->entry, "get-tuple-element(l%u), index=1\n", n);
    str_release(&x);
    return true;
}

static bool (*const random_forms[])(struct random_module *) = {
    random_unary,     random_binary,    random_binary,      random_select,      random_free,
    random_broadcast, random_transpose, random_reshape,     random_dot,         random_dot,
    random_dot,       random_reduce,    random_concatenate, random_slice,       random_pad,
    random_along,     random_index,     random_update,      random_convolution, random_call,
    random_loop,
};

static inline void random_parameters(struct random_module *g)
{
    g->variables = 1 + random_below(g, 3);
    g->parameters = g->inputs = g->variables + 1 + random_below(g, 2);
    for (uint32_t k = 0; k < g->parameters; k++) {
        struct random_value v = {.rank = 1 + random_below(g, 3)};
        for (uint32_t d = 0; d < v.rank; d++)
            v.dims[d] = random_size(g);
        random_begin(g, &v);
        str_format(&g->entry, "parameter(%u)\n", k);
    }
    str_add(&g->entry, "  zero = f32[] constant(0)\n  origin = s32[] constant(0)\n");
}

/* Some operand list of the entry names value `k`. */
static inline bool random_is_read(const struct random_module *g, uint32_t k)
{
    char name[16];
    size_t n = (size_t)snprintf(name, sizeof name, "v%u", k);

    for (const char *at = g->entry.text; (at = strstr(at, name)); at += n) {
        bool is_whole = at > g->entry.text && strchr("(, ", at[-1]) && strchr(",)", at[n]);
        if (is_whole)
            return true;
    }
    return false;
}

/* Next values of variables first, then the values nobody used: what no result needs is no work. */
static inline void random_root(struct random_module *g)
{
    struct str shapes = {0}, names = {0};

    for (uint32_t k = 0; k < g->variables; k++) {
        uint32_t next = k;
        for (uint32_t v = g->count; v-- > g->parameters && next == k;)
            next = random_same(&g->values[v], &g->values[k]) ? v : k;
        random_shape(&shapes, &g->values[next]);
        str_format(&names, "%sv%u", k ? ", " : "", next);
        str_add(&shapes, ", ");
    }
    random_shape(&shapes, &g->values[g->count - 1]);
    str_format(&names, ", v%u", g->count - 1);
    for (uint32_t v = g->parameters; v + 1 < g->count; v++) {
        if (random_is_read(g, v))
            continue;
        str_add(&shapes, ", ");
        random_shape(&shapes, &g->values[v]);
        str_format(&names, ", v%u", v);
    }
    str_format(&g->entry, "  ROOT root = (%s) tuple(%s)\n}\n", shapes.text, names.text);
    str_release(&shapes);
    str_release(&names);
}

/* The text of a module of about `length` instructions, appended. Returns how many variables it has.
 */
static inline uint32_t random_module_text(uint64_t seed, uint32_t length, struct str *out)
{
    struct random_module g = {0};

    rl_rng_seed(&g.rng, seed, 17);
    random_parameters(&g);
    for (uint32_t tries = 0;
         g.count < length && g.count + 1 < RANDOM_VALUES_MOST && tries < 40 * length; tries++)
        (void)random_forms[random_below(&g, sizeof random_forms / sizeof *random_forms)](&g);
    random_root(&g);
    str_format(out, "HloModule random_%lu, input_output_alias={", (unsigned long)seed);
    for (uint32_t k = 0; k < g.variables; k++)
        str_format(out, "%s {%u}: (%u, {}, may-alias)", k ? "," : "", k, k);
    str_add(
        out,
        " }\n"
        "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
        "most {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] maximum(a, "
        "b)\n}\n"
        "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = pred[] compare(a, b), direction=LT\n}\n");
    if (g.applied.size)
        str_add(out, g.applied.text);
    str_add(out, "ENTRY main {\n");
    str_add(out, g.entry.text);
    str_release(&g.applied);
    str_release(&g.entry);
    return g.variables;
}

/* The problem of one random module on `cluster`; false, with `e`, when it cannot be read. */
static inline int random_problem(uint64_t seed, uint32_t length, const struct cluster *cluster,
                                 const struct problem_options *o, struct problem *out,
                                 struct err *e)
{
    static const char *names[] = {"v0", "v1", "v2"};
    struct str text = {0};
    struct hlo_module *m = NULL;
    struct hlo_vars vars = {.names = names};

    vars.count = random_module_text(seed, length, &text);
    int rc = hlo_load_memory("random", text.text, text.size, NULL, &m, e);
    if (!rc)
        rc = problem_new(m, &vars, cluster, o, out, e);
    if (rc)
        fprintf(stderr, "%s\n", text.text);
    str_release(&text);
    return rc;
}

/* Devices so slow that splitting tiny modules pays, or does not, from seed to seed. */
static inline int slow_cluster(struct cluster *c, uint32_t devices, uint64_t seed, struct err *e)
{
    static const char *const links[] = {"100 kB/s", "1 MB/s", "10 MB/s", "100 MB/s"};
    const struct {
        const char *path, *value;
    } slow[] = {{"devices.*.peak.f32", "1 MFLOP/s"},
                {"devices.*.bandwidth", "1 MB/s"},
                {"servers.*.link.latency", seed % 2 ? "10 us" : "1 ms"},
                {"servers.*.link.bandwidth", links[seed / 2 % 4]}};
    int rc = cluster_of_devices(c, devices, e);

    for (size_t n = 0; !rc && n < sizeof slow / sizeof *slow; n++)
        rc = cluster_set(c, slow[n].path, slow[n].value, e);
    return rc;
}

/* A backward pass begins somewhere: random modules are no training steps. */
static inline void cut_in_phases(struct problem *p, uint32_t seed)
{
    const struct hlo_computation *main = &p->m->computations[p->m->entry];
    hlo_id border = main->first + main->count * (1 + seed % 4) / 5;

    for (hlo_comp c = p->m->computation_count; c-- > 0;) {
        const struct hlo_computation *comp = &p->m->computations[c];
        hlo_id caller = comp->caller_count ? comp->callers[0] : HLO_NONE;
        for (hlo_id id = comp->first; id < comp->first + comp->count; id++)
            p->roles.phase[id] =
                c == p->m->entry
                    ? (id < border ? HLO_PHASE_FORWARD : HLO_PHASE_BACKWARD)
                    : (caller == HLO_NONE ? HLO_PHASE_FORWARD : p->roles.phase[caller]);
    }
    p->roles.loss = HLO_NONE;
}

#endif
