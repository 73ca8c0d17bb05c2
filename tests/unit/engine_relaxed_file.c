/* Relaxed plans in files: read back they are the same plan at the same cost; what is wrong in a
 * file is named. */
#include "random_module.h"

#include "engine/plan/export_dot.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_report.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/relaxed/relaxed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 150 };

static struct problem *open_random(uint64_t seed)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster c;
    struct problem_options o = {.exact_divisibility = seed % 3 == 0};
    struct err e;

    assert_int_equal(cluster_of_devices(&c, 4, &e), 0);
    assert_int_equal(cluster_set(&c, "devices.*.peak.f32", "1 MFLOP/s", &e), 0);
    assert_int_equal(cluster_set(&c, "devices.*.bandwidth", "1 MB/s", &e), 0);
    assert_int_equal(cluster_set(&c, "servers.*.link.latency", "10 us", &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", seed % 2 ? "2x2" : "");
    assert_int_equal(random_problem(seed, 4 + (uint32_t)(seed % 20), &c, &o, p, &e), 0);
    return p;
}

static void close_problem(struct problem *p)
{
    problem_release(p);
    free(p);
}

static void solve(const struct problem *p, uint64_t seed, struct plan *out)
{
    struct relaxed_options o = {.reduce_at_once = seed % 4 == 0};
    struct relaxed_plan found;
    struct relaxed *r;
    struct err e;

    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    assert_int_equal(relaxed_solve(r, 0, &found, &e), 0);
    assert_int_equal(plan_from_relaxed(&found, out, &e), 0);
    relaxed_free(r);
}

static void check_same(const struct plan *a, const struct plan *b)
{
    const struct hlo_module *m = a->problem->m;
    const struct relaxed_plan *x = a->relaxed, *y = b->relaxed;

    assert_non_null(y);
    assert_true(a->cost.step_ms == b->cost.step_ms);
    assert_true(fabs(a->bound_ms - b->bound_ms) <= 1e-15 * a->bound_ms); /* JSON's digits */
    assert_memory_equal(x->choice, y->choice, m->count * sizeof *x->choice);
    assert_memory_equal(x->made, y->made, m->value_count * sizeof *x->made);
    assert_memory_equal(x->held, y->held, m->value_count * sizeof *x->held);
    assert_memory_equal(x->ended, y->ended, m->value_count * sizeof *x->ended);
    assert_int_equal(x->reshard_count, y->reshard_count);
    assert_memory_equal(x->leaf, y->leaf,
                        a->problem->classes.leaf_base[m->count] * sizeof *x->leaf);
}

static void read_back(void **state)
{
    uint32_t reshards = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct problem *p = open_random(seed);
        struct plan plan, again, copy;
        struct str text = {0};
        struct err e;
        solve(p, seed, &plan);
        assert_int_equal(plan_write_json(&plan, &text, &e), 0);
        if (plan_file_parse(p, text.text, text.size, &again, &e))
            fail_msg("seed %llu: %s", (unsigned long long)seed, e.what);
        check_same(&plan, &again);
        assert_int_equal(plan_copy(&again, &copy, &e), 0);
        plan_release(&again);
        check_same(&plan, &copy);
        reshards += plan.relaxed->reshard_count;
        plan_release(&plan);
        plan_release(&copy);
        str_release(&text);
        close_problem(p);
    }
    print_message("%u plans with %u reshards\n", SEEDS, reshards);
    assert_true(reshards > SEEDS / 4);
}

/* Exported modules read back as the plan, in both forms of shardings; with a copy's sharding
 * changed they do not. */
static void exports(void **state)
{
    uint32_t copies = 0, warned = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct problem *p = open_random(seed);
        enum sharding_form form = seed % 3 ? SHARDING_V2 : SHARDING_V1;
        struct plan plan;
        struct str text = {0}, warnings = {0};
        struct err e;
        solve(p, seed, &plan);
        assert_int_equal(export_hlo(&plan, form, &text, &warnings, &e), 0);
        if (export_hlo_check(&plan, text.text, text.size, &e))
            fail_msg("seed %llu: %s", (unsigned long long)seed, e.what);
        bool warns = warnings.text && strstr(warnings.text, "pass partial results on");
        assert_false(warns && plan.relaxed->reduce_at_once);
        warned += warns;
        char *copy = strstr(text.text, ".operand0 = ");
        char *devices = copy ? strstr(copy, "{devices=[") : NULL;
        if (devices && devices < strchr(copy, '\n')) {
            copies++;
            devices[strlen("{devices=[")] = '7';
            assert_int_equal(export_hlo_check(&plan, text.text, text.size, &e), ERR_INPUT);
        }
        plan_release(&plan);
        str_release(&text);
        str_release(&warnings);
        close_problem(p);
    }
    print_message("%u exports with copies for one use, %u with partial results passed on\n", copies,
                  warned);
    assert_true(copies > 10 && warned > 0);
}

/* "all-gather 33 MB" in a graph, of every kind. */
static uint32_t count_marks(const char *dot)
{
    uint32_t count = 0;

    for (int kind = 0; kind < RESHARD_KIND_COUNT; kind++) {
        size_t size = strlen(reshard_kind_names[kind]);
        for (const char *at = dot; (at = strstr(at, reshard_kind_names[kind])); at += size)
            count += at[size] == ' ' && at[size + 1] >= '0' && at[size + 1] <= '9';
    }
    return count;
}

/* ms of all rows of the report's table of reshards: the last cell of each. */
static double sum_of_reshards(const char *report)
{
    const char *at = strstr(report, "\n| value | from | to |");
    double sum = 0;

    assert_non_null(at);
    at = strchr(strchr(at + 1, '\n') + 1, '\n') + 1;
    for (; *at == '|'; at = strchr(at, '\n') + 1) {
        const char *cell = strchr(at, '\n') - 2;
        while (cell[-1] != '|')
            cell--;
        sum += strtod(cell, NULL);
    }
    return sum;
}

/* The first status behind such a mark, in its line, that is split: "/x" is said to be "+x". */
static bool change_status(char *text, const char *mark)
{
    for (char *at = text; (at = strstr(at, mark)); at++) {
        char *split = strstr(at, "/x");
        if (split && split < strchr(at, '\n')) {
            *split = '+';
            return true;
        }
    }
    return false;
}

/* The graph marks every reshard once, the report's rows sum up to the plan's communication; both
 * read back, and no longer when a status in them is another. */
static void graphs_and_reports(void **state)
{
    static const struct report_about about = {.model = "a|model", .command = "automap plan it"};
    uint32_t changed = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct problem *p = open_random(seed);
        struct plan plan;
        struct str dot = {0}, report = {0};
        struct err e;
        solve(p, seed, &plan);
        assert_int_equal(export_dot(&plan, &dot, &e), 0);
        assert_int_equal(export_dot_check(&plan, dot.text, dot.size, &e), 0);
        assert_int_equal(count_marks(dot.text), plan.relaxed->reshard_count);
        assert_int_equal(export_report(&plan, &about, &report, &e), 0);
        assert_int_equal(export_report_check(&plan, report.text, report.size, &e), 0);
        double sum = sum_of_reshards(report.text);
        assert_true(fabs(sum - plan.cost.communication_ms) <= 5e-3 * sum); /* three digits */
        if (change_status(dot.text, "tooltip=\"")) {
            assert_int_equal(export_dot_check(&plan, dot.text, dot.size, &e), ERR_INPUT);
            changed++;
        }
        if (change_status(report.text, " | `"))
            assert_int_equal(export_report_check(&plan, report.text, report.size, &e), ERR_INPUT);
        plan_release(&plan);
        str_release(&dot);
        str_release(&report);
        close_problem(p);
    }
    assert_true(changed > SEEDS / 4);
}

/* The text with the `from` at `at` replaced. */
static char *with(const char *text, const char *at, const char *from, const char *to)
{
    size_t room = strlen(text) + strlen(to) + 1;
    char *out = mem_alloc(room);

    snprintf(out, room, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void wrong_files(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"mode\":\t\"relaxed\"", "\"mode\":\t\"lazy\"", "mode: \"lazy\""},
        {"\"does\":\t[\"factor ", "\"does\":\t[\"factor 6", "no plan has it so"},
        {"\"does\":\t[\"factor ", "\"does\":\t[\"facto ", "instructions["},
        {"\"does\":\t[\"", "\"does\":\t[\"whole\", \"", "instructions["},
        {"\"instruction\":\t\"", "\"instruction\":\t\"no-such-", "model has none such"},
        {"\"partial_results\":\t\"", "\"partial_results\":\t\"not ", "partial_results"},
        {"\"held\":\t[\"", "\"held\":\t[\"dim 77", "values["},
    };
    uint32_t seen = 0;
    (void)state;

    for (uint64_t seed = 0; seed < 40; seed += 2) {
        struct problem *p = open_random(seed);
        struct plan plan, again;
        struct str text = {0};
        struct err e;
        solve(p, seed, &plan);
        assert_int_equal(plan_write_json(&plan, &text, &e), 0);
        const char *lists = strstr(text.text, "\"partial_results\"");
        assert_non_null(lists);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const char *at = strstr(k ? lists : text.text, cases[k].from);
            if (!at)
                continue;
            char *broken = with(text.text, at, cases[k].from, cases[k].to);
            seen++;
            if (plan_file_parse(p, broken, strlen(broken), &again, &e) >= 0)
                fail_msg("seed %llu, case %zu was taken", (unsigned long long)seed, k);
            if (!strstr(e.what, cases[k].message))
                fail_msg("seed %llu, case %zu: %s", (unsigned long long)seed, k, e.what);
            free(broken);
        }
        plan_release(&plan);
        str_release(&text);
        close_problem(p);
    }
    assert_true(seen > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_back), cmocka_unit_test(exports),
                                       cmocka_unit_test(graphs_and_reports),
                                       cmocka_unit_test(wrong_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
