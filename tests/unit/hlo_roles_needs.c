/* How many of some values each value is needed by, against one walk back from each: graphs with
 * loops in loops, branches and long chains; few values, and more than go together. */
#include "hlo/load.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

enum { CARRIED = 3 };

static void add_state(struct str *s)
{
    str_add(s, "(f32[], f32[], f32[])");
}

/* A loop's body: what it carries is mixed, and perhaps goes through the loop inside of it. */
static void add_body(struct str *s, int depth, uint64_t *seed)
{
    if (depth)
        add_body(s, depth - 1, seed);
    str_format(s, "c%d { p = ", depth);
    add_state(s);
    str_add(s, " parameter(0)\n x = f32[] get-tuple-element(p), index=0\n"
               " ROOT l = pred[] compare(x, x), direction=LT }\n");
    str_format(s, "b%d { p = ", depth);
    add_state(s);
    str_add(s, " parameter(0)\n");
    for (int n = 0; n < CARRIED; n++)
        str_format(s, " x%d = f32[] get-tuple-element(p), index=%d\n", n, n);
    for (int n = CARRIED; n < 12; n++)
        str_format(s, " x%d = f32[] add(x%u, x%u)\n", n, next_number(seed, (uint32_t)n),
                   next_number(seed, (uint32_t)n));
    str_format(s, " t = ");
    add_state(s);
    str_format(s, " tuple(x%u, x%u, x%u)\n", next_number(seed, 12), next_number(seed, 12),
               next_number(seed, 12));
    str_format(s, depth ? " w = " : " ROOT q = ");
    add_state(s);
    if (depth) {
        str_format(s, " while(t), condition=c%d, body=b%d\n ROOT q = ", depth - 1, depth - 1);
        add_state(s);
        str_add(s, " tuple(");
        str_add(s, "g0, x3, x0) }\n");
    } else {
        str_add(s, " tuple(x4, x1, x5) }\n");
    }
}

static struct hlo_module *read_random(uint64_t *seed)
{
    struct hlo_module *m = NULL;
    struct str s = {0};
    struct err e = {0};
    int depth = (int)next_number(seed, 3);

    str_add(&s, "HloModule m\n");
    add_body(&s, depth, seed);
    /* the element that a body with a loop inside hands on */
    struct str body = {0};
    str_add(&body, s.text);
    str_clear(&s);
    for (const char *at = body.text; *at; at++) {
        if (!strncmp(at, "ROOT q = (f32[], f32[], f32[]) tuple(g0", 39))
            str_add(&s, "g0 = f32[] get-tuple-element(w), index=1\n ");
        str_add_char(&s, *at);
    }
    str_release(&body);
    str_add(&s, "ENTRY main { a0 = f32[] parameter(0)\n a1 = f32[] parameter(1)\n");
    uint32_t count = 2 + next_number(seed, 60), split = 2 + next_number(seed, count);
    for (uint32_t n = 2; n < split; n++)
        str_format(&s, " a%u = f32[] add(a%u, a%u)\n", n, next_number(seed, n),
                   next_number(seed, n));
    str_format(&s, " t = (f32[], f32[], f32[]) tuple(a%u, a0, a%u)\n", next_number(seed, split),
               next_number(seed, split));
    str_format(&s, " w = (f32[], f32[], f32[]) while(t), condition=c%d, body=b%d\n", depth, depth);
    str_format(&s, " a%u = f32[] get-tuple-element(w), index=%u\n", split, next_number(seed, 3));
    for (uint32_t n = split + 1; n < split + 40; n++)
        str_format(&s, " a%u = f32[] multiply(a%u, a%u)\n", n, next_number(seed, n),
                   next_number(seed, n));
    str_add(&s, " ROOT r = f32[] negate(a0) }\n");
    if (hlo_load_memory("test", s.text, s.size, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    str_release(&s);
    return m;
}

/* The plain rule. */
static void walk_each(const struct hlo_graph *g, const hlo_value *from, uint32_t count,
                      const bool *which, uint16_t *needed)
{
    struct hlo_reach r;

    assert_true(hlo_reach_init(&r, g));
    for (uint32_t n = 0; n < count; n++) {
        bool any = false;
        hlo_reach_clear(&r);
        hlo_reach_add(&r, from[n]);
        hlo_reach_back(&r, g, NULL, NULL);
        for (uint32_t k = 0; k < r.count; k++)
            any |= which[r.queue[k]];
        for (uint32_t k = 0; k < r.count; k++)
            needed[r.queue[k]] = (uint16_t)(needed[r.queue[k]] + any);
    }
    hlo_reach_release(&r);
}

static void check_graph(const struct hlo_module *m, uint32_t count, uint64_t *seed)
{
    uint16_t *plain = mem_alloc((m->value_count + 1) * sizeof *plain);
    uint16_t *needed = mem_alloc((m->value_count + 1) * sizeof *needed);
    hlo_value *from = mem_alloc((count + 1) * sizeof *from);
    bool *which = mem_alloc(m->value_count + 1);
    uint32_t part = 1 + next_number(seed, 40);
    struct hlo_graph g;
    struct err e;

    assert_int_equal(hlo_graph_new(m, &g, &e), 0);
    for (hlo_value v = 0; v < m->value_count; v++)
        which[v] = !next_number(seed, part);
    for (uint32_t n = 0; n < count; n++)
        from[n] = next_number(seed, m->value_count);
    walk_each(&g, from, count, which, plain);
    assert_true(hlo_roles_needs(&g, from, count, which, needed));
    assert_memory_equal(plain, needed, m->value_count * sizeof *plain);
    hlo_graph_release(&g);
    free(plain);
    free(needed);
    free(from);
    free(which);
}

static void test_random(void **state)
{
    const uint32_t counts[] = {0, 1, 8, 9, 63, 64, 65, 128, 200};
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct hlo_module *m = read_random(&seed);
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            check_graph(m, counts[n], &seed);
        hlo_free(m);
    }
}

/* As deep as long: no stack is used up. */
static void test_chain(void **state)
{
    struct hlo_module *m = NULL;
    struct str s = {0};
    struct err e = {0};
    uint64_t seed = 3;

    (void)state;
    str_add(&s, "HloModule m\nENTRY main { v0 = f32[] parameter(0)\n");
    for (int n = 1; n < 200000; n++)
        str_format(&s, " v%d = f32[] negate(v%d)\n", n, n - 1);
    str_add(&s, " ROOT r = f32[] negate(v199999) }\n");
    assert_int_equal(hlo_load_memory("test", s.text, s.size, NULL, &m, &e), 0);
    check_graph(m, 100, &seed);
    hlo_free(m);
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
