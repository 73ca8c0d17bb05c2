/* The search under a memory limit where there are many decisions: it ends within a few steps of the
 * signal wherever it is, and never copies whole plans to try one decision. Both are counted, not
 * timed: the linker puts the functions below in front of its own. */
#include "random_module.h"

#include "engine/exact/limit.h"
#include "engine/exact/limit_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>

/* One decision may meet as many others as there are. */
enum { DOTS = 600, MOMENTS = 40, STEPS_MOST = 2 * DOTS, COPIES_MOST = 64 };

static uint64_t steps, looks, copied, stop_at;
static atomic_bool stop;

double __real_limit_time_of(const struct limit_model *l, const uint32_t *choice, uint32_t n);
double __wrap_limit_time_of(const struct limit_model *l, const uint32_t *choice, uint32_t n);
void __real_limit_look(struct limit_model *l, const uint32_t *choice);
void __wrap_limit_look(struct limit_model *l, const uint32_t *choice);
void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);

double __wrap_limit_time_of(const struct limit_model *l, const uint32_t *choice, uint32_t n)
{
    if (++steps == stop_at)
        atomic_store(&stop, true);
    return __real_limit_time_of(l, choice, n);
}

void __wrap_limit_look(struct limit_model *l, const uint32_t *choice)
{
    looks++;
    __real_limit_look(l, choice);
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    copied += size;
    return __real_memcpy(to, from, size);
}

/* Layer after layer; each weight is whole on every device, or split for an all-reduce. */
static void make_chain(struct problem *out)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {.mesh = ""};
    struct hlo_module *m;
    struct str text = {0};
    struct err e;

    str_add(&text, "HloModule chain\n\nENTRY main {\n  d0 = f32[64,64] parameter(0)\n");
    for (int n = 1; n <= DOTS; n++)
        str_format(&text,
                   "  w%d = f32[64,64] parameter(%d)\n  d%d = f32[64,64] dot(d%d, w%d), "
                   "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
                   n, n, n, n - 1, n);
    str_format(&text, "  ROOT r = f32[64,64] negate(d%d)\n}\n", DOTS);
    assert_int_equal(cluster_of_devices(cluster, 4, &e), 0);
    assert_int_equal(hlo_load_memory("chain", text.text, text.size, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, cluster, &o, out, &e), 0);
    str_release(&text);
    free(cluster);
}

static struct limit_result solve(const struct problem *p, uint64_t at)
{
    struct limit_options o = {
        .limit = DOTS * 12e3, .variables = true, .inputs = true, .work_most = 200, .stop = &stop};
    struct limit_result r;
    struct err e;

    atomic_store(&stop, false);
    steps = looks = copied = 0;
    stop_at = at;
    assert_int_equal(exact_limited(&p->step_tables, &p->memory, NULL, &o, &r, &e), 0);
    return r;
}

static void many_decisions(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    (void)state;

    make_chain(p);
    struct limit_result whole = solve(p, 0);
    uint64_t all = steps, bytes = copied;
    print_message("%lu steps, %lu looks, %.1f MB copied\n", (unsigned long)steps,
                  (unsigned long)looks, 1e-6 * (double)copied);
    assert_true(whole.fits && whole.peak <= DOTS * 12e3);
    assert_true(all > 10 * DOTS); /* it repaired and improved plans */
    assert_true(bytes <= looks * COPIES_MOST * p->classes.count * sizeof(uint32_t));
    uint64_t late = 0;
    for (uint64_t k = 1; k <= MOMENTS; k++) {
        struct limit_result cut = solve(p, all * k / (MOMENTS + 1));
        late = steps - stop_at > late ? steps - stop_at : late;
        assert_true(cut.bound <= whole.value * (1 + 1e-9));
        assert_true(!cut.fits || cut.peak <= DOTS * 12e3);
        limit_release(&cut);
    }
    print_message("at most %lu steps after the signal\n", (unsigned long)late);
    assert_true(late <= STEPS_MOST);
    limit_release(&whole);
    problem_release(p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_decisions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
