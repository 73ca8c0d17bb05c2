/* Hybrid plans of the explorer: what is searched in a thread, changed by hand, pinned. The figures
 * promised before a change are those of the plan behind it, priced anew from its file. */
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_explain.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_why.h"
#include "tests/unit/shipped.h"
#include "tui/watch/hybrid_job.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct problem problem;

static int setup(void **state)
{
    (void)state;
    load_shipped("t5-base6", "c-4x8-v100", &problem);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    problem_release(&problem);
    return 0;
}

static struct hybrid_asked usual(void)
{
    struct hybrid_asked a = {0};

    a.options.zero = 1;
    a.options.is_schedule_given = true;
    a.options.schedule = PIPE_1F1B;
    return a;
}

static struct hybrid_job *job_of(const struct hybrid_asked *a, bool in_thread)
{
    struct hybrid_job *j;
    struct err e;

    assert_int_equal(hybrid_job_new(&problem, a, in_thread, &j, &e), 0);
    return j;
}

static struct hybrid_seen seen_of(struct hybrid_job *j)
{
    struct hybrid_seen s;

    hybrid_job_look(j, &s);
    return s;
}

static void wait_until(struct hybrid_job *j, bool (*is_so)(const struct hybrid_seen *s))
{
    for (int n = 0; n < 60000; n++) {
        struct hybrid_seen s = seen_of(j);
        if (is_so(&s))
            return;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    fail_msg("nothing came within 10 minutes");
}

static bool is_compared(const struct hybrid_seen *s)
{
    return s->done && s->has_rivals;
}

/* The step of the plan as its file has it, priced operation by operation. */
static double priced(struct hybrid_job *j)
{
    struct hybrid h;
    struct str text = {0};
    struct err e;

    assert_int_equal(hybrid_job_text(j, &text, &e), 0);
    assert_int_equal(hybrid_file_parse(&problem, text.text, text.size, &h, &e), 0);
    double ms = hybrid_step_ms(&h);
    hybrid_release(&h);
    str_release(&text);
    return ms;
}

static double shown(struct hybrid_job *j)
{
    struct hybrid_shot *s = hybrid_job_shot(j);
    double ms = s->picture.step_ms;

    hybrid_shot_release(s);
    return ms;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void test_threads_find_the_same(void **state)
{
    struct hybrid_asked a = usual();
    struct hybrid_job *plain = job_of(&a, false), *beside = job_of(&a, true);

    (void)state;
    wait_until(beside, is_compared);
    struct hybrid_seen s = seen_of(plain), t = seen_of(beside);
    assert_true(s.done && s.has_rivals);
    assert_true(shown(plain) == shown(beside));
    for (int k = 0; k < HYBRID_RIVALS; k++) {
        assert_true(s.rival[k].step_ms == t.rival[k].step_ms);
        assert_true(s.rival[k].step_ms >= shown(plain) * (1 - 1e-9));
    }
    assert_true(near(priced(plain), shown(plain)));
    hybrid_job_free(plain);
    hybrid_job_free(beside);
}

/* Every other mesh of every stage, and both ways of its cut: promised, then done. */
static void test_changes_keep_promises(void **state)
{
    struct hybrid_asked a = usual();
    a.options.stages = 4; /* of several sections each */
    struct hybrid_job *j = job_of(&a, false);
    struct hybrid_shot *first = hybrid_job_shot(j);
    uint32_t stages = first->picture.stages, cuts = 0, meshes = 0;
    struct str found = {0};
    struct err e_found;

    (void)state;
    hybrid_shot_release(first);
    assert_true(stages > 2);
    assert_int_equal(hybrid_job_text(j, &found, &e_found), 0);
    for (uint32_t n = 0; n < stages; n++) {
        hybrid_job_ask(j, n);
        struct hybrid_stage_answer w = seen_of(j).stage;
        assert_int_equal(w.stage, n);
        if (w.others && w.other[0].step_ms < INFINITY) {
            hybrid_job_change(j, HYBRID_TAKE_OTHER, n, &w.other[0]);
            assert_true(near(shown(j), w.other[0].step_ms));
            assert_true(near(priced(j), w.other[0].step_ms));
            meshes++;
        }
        for (int by = 0; n && by < 2; by++) {
            hybrid_job_ask(j, n);
            w = seen_of(j).stage;
            double ms = by ? w.later_ms : w.earlier_ms, before = shown(j);
            hybrid_job_change(j, by ? HYBRID_CUT_LATER : HYBRID_CUT_EARLIER, n, NULL);
            assert_true(near(shown(j), ms < INFINITY ? ms : before));
            assert_true(near(priced(j), shown(j)));
            cuts += ms < INFINITY;
        }
    }
    assert_true(seen_of(j).by_hand);
    assert_true(meshes > 2 && cuts > 2);
    struct str now = {0};
    struct err e;
    assert_int_equal(hybrid_job_text(j, &now, &e), 0);
    assert_string_not_equal(now.text, found.text);
    uint32_t version = seen_of(j).version;
    hybrid_job_change(j, HYBRID_TAKE_FOUND, 0, NULL); /* as it was, without another search */
    str_clear(&now);
    assert_int_equal(hybrid_job_text(j, &now, &e), 0);
    assert_string_equal(now.text, found.text);
    assert_false(seen_of(j).by_hand);
    assert_int_equal(seen_of(j).version, version + 1);
    str_release(&now);
    str_release(&found);
    hybrid_job_free(j);
}

static void hold(struct hybrid_asked *a, enum hybrid_wish_kind kind, const char *text)
{
    struct hybrid_held *h = &a->held[a->held_count++];

    h->kind = kind;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static bool begins_stage(struct hybrid_job *j, const char *layer)
{
    struct hybrid_shot *s = hybrid_job_shot(j);
    bool is_so = false;

    for (uint32_t n = 0; n < s->picture.stages; n++)
        is_so |= !strcmp(s->picture.stage[n].first_layer, layer);
    hybrid_shot_release(s);
    return is_so;
}

static void test_pins(void **state)
{
    struct hybrid_asked a = usual();
    struct hybrid_job *j = job_of(&a, false);
    double free_ms = shown(j);

    (void)state;
    assert_false(seen_of(j).has_prices);
    hybrid_job_free(j);
    hold(&a, HYBRID_WISH_CUT, "decoder/layer_002");
    hold(&a, HYBRID_WISH_KEEP, "encoder/layer_000..encoder/layer_005");
    j = job_of(&a, false);
    assert_true(begins_stage(j, "decoder/layer_002"));
    assert_false(begins_stage(j, "encoder/layer_003"));
    struct hybrid_seen s = seen_of(j);
    assert_true(s.has_prices);
    assert_true(near(fmax(0, shown(j) - free_ms), s.all_ms));
    assert_int_equal(s.limits, 2); /* schedule, ZeRO */
    assert_string_equal(s.limit[0].text, "schedule 1f1b");
    assert_true(s.limit[0].ms > 0 && s.limit[1].ms >= 0);
    hybrid_job_free(j);
    hold(&a, HYBRID_WISH_CUT, "encoder/layer_003"); /* where the second pin allows none */
    j = job_of(&a, false);
    s = seen_of(j);
    assert_null(hybrid_job_shot(j));
    assert_true(s.trouble[0]);
    assert_int_equal(s.clashes, 2);
    assert_true(s.limits == 2 && isnan(s.limit[0].ms)); /* what is asked of all stands beside */
    assert_int_equal(s.clash[0] + s.clash[1], 1 + 2);
    hybrid_job_free(j);
}

/* Chunks of an interleaved plan: the cut before one moves, one is split in another way. */
static void test_changes_of_interleaved_plans(void **state)
{
    struct hybrid_asked a = {.options = {.zero = 1, .is_uniform = true, .chunks = 2}};
    struct hybrid_job *j = job_of(&a, false);
    struct hybrid_shot *first = hybrid_job_shot(j);
    uint32_t stages = first->picture.stages, cuts = 0, meshes = 0;

    (void)state;
    assert_int_equal(first->picture.chunks, 2);
    hybrid_shot_release(first);
    for (uint32_t n = 1; n < stages; n++) {
        hybrid_job_ask(j, n);
        struct hybrid_stage_answer w = seen_of(j).stage;
        assert_int_equal(w.stage, n);
        if (w.others && w.other[0].step_ms < INFINITY && meshes < 3) {
            hybrid_job_change(j, HYBRID_TAKE_OTHER, n, &w.other[0]);
            assert_true(near(shown(j), w.other[0].step_ms));
            assert_true(near(priced(j), w.other[0].step_ms));
            meshes++;
            hybrid_job_ask(j, n);
            w = seen_of(j).stage;
        }
        bool later = w.later_ms < INFINITY;
        double ms = later ? w.later_ms : w.earlier_ms, before = shown(j);
        hybrid_job_change(j, later ? HYBRID_CUT_LATER : HYBRID_CUT_EARLIER, n, NULL);
        assert_true(near(shown(j), ms < INFINITY ? ms : before));
        assert_true(near(priced(j), shown(j)));
        cuts += ms < INFINITY;
    }
    assert_true(meshes > 1 && cuts > 1);
    hybrid_job_free(j);
}

/* The parts of a role in the stage that begins with or has a layer's section. */
static uint32_t parts_in(struct hybrid_job *j, const char *role, uint32_t stage)
{
    struct hybrid_shot *s = hybrid_job_shot(j);
    uint32_t parts = 0;

    for (uint32_t n = 0; n < s->picture.roles; n++)
        if (!strcmp(s->picture.role[n].name, role))
            parts = s->picture.role[n].in[stage].parts;
    hybrid_shot_release(s);
    return parts;
}

/* What a stage splits, held the other way; and what is said of the class. */
static void test_pins_of_groups(void **state)
{
    struct hybrid_asked a = usual();
    a.options.stages = 4;
    struct hybrid_job *j = job_of(&a, false);
    uint32_t before = parts_in(j, "encoder ffn", 0);
    struct hybrid_shot *s = hybrid_job_shot(j);
    class_id class = CLASS_NONE;
    char layer[HYBRID_LAYER_ROOM], text[HYBRID_LAYER_ROOM + 32];

    (void)state;
    snprintf(layer, sizeof layer, "%s", s->picture.stage[0].first_layer);
    for (uint32_t n = 0; n < s->picture.roles; n++)
        if (!strcmp(s->picture.role[n].name, "encoder ffn"))
            class = s->picture.role[n].in[0].class;
    hybrid_shot_release(s);
    hybrid_job_explain(j, class);
    char *words = hybrid_job_words(j);
    assert_non_null(words);
    assert_non_null(strstr(words, "\nStage 0 ("));
    assert_non_null(strstr(words, "Otherwise:"));
    free(words);
    hybrid_job_free(j);
    snprintf(text, sizeof text, "%s:encoder ffn=%s", layer, before > 1 ? "whole" : "split");
    hold(&a, HYBRID_WISH_STAGE, text);
    j = job_of(&a, false);
    assert_true((parts_in(j, "encoder ffn", 0) > 1) == (before <= 1));
    assert_true(seen_of(j).has_prices);
    hybrid_job_free(j);
    snprintf(text, sizeof text, "%s:dp=8", layer);
    hold(&a, HYBRID_WISH_STAGE, text);
    j = job_of(&a, false);
    s = hybrid_job_shot(j);
    assert_int_equal(s->picture.stage[0].dp, 8);
    hybrid_shot_release(s);
    hybrid_job_free(j);
}

/* The plan, then a class, its words awaited or not: none other than of the last question. */
static void test_words_are_of_the_last_question(void **state)
{
    struct hybrid_asked a = usual();
    a.options.stages = 4;
    struct hybrid_job *j = job_of(&a, true);

    (void)state;
    wait_until(j, is_compared);
    for (int round = 0; round < 4; round++) {
        uint32_t before = seen_of(j).words;
        hybrid_job_explain(j, CLASS_NONE);
        for (int n = 0; n < 600000 && round % 2 && seen_of(j).words == before; n++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        hybrid_job_explain(j, 0);
        char *words = hybrid_job_words(j);
        for (int n = 0; n < 600000 && !words; n++) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            words = hybrid_job_words(j);
        }
        assert_non_null(words);
        assert_non_null(strstr(words, "\nStage 0 ("));
        free(words);
    }
    hybrid_job_explain(j, CLASS_NONE);
    char *words = NULL;
    for (int n = 0; n < 600000 && !words; n++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        words = hybrid_job_words(j);
    }
    /* what is once a step is mostly the embedding, which encoder, decoder and head share */
    struct hybrid_shot *s = hybrid_job_shot(j);
    const char *shares = words ? strstr(words, "It shares embedding, 99 MB, with stage") : NULL;
    const char *takes = shares ? strstr(shares, "takes ") : NULL;
    double ms = takes ? strtod(takes + 6, NULL) : 0, once = s->picture.stage[0].once_ms;
    assert_true(ms > 0.8 * once && ms < once);
    hybrid_shot_release(s);
    free(words);
    hybrid_job_free(j);
}

/* Left, it is at its end after a part of the work it would have had. */
static void test_stops(void **state)
{
    struct hybrid_asked a = {.options.zero = -1};
    clock_t from = clock(); /* of the processor, all threads */

    (void)state;
    hybrid_job_free(job_of(&a, false));
    clock_t whole = clock() - from;
    for (int n = 0; n < 4; n++) {
        struct hybrid_job *j = job_of(&a, true);
        nanosleep(&(struct timespec){0, n * 40000000}, NULL);
        from = clock();
        hybrid_job_free(j);
        print_message("%.3f s of %.3f\n", (double)(clock() - from) / CLOCKS_PER_SEC,
                      (double)whole / CLOCKS_PER_SEC);
        assert_true(clock() - from < whole / 2);
    }
}

/* Whoever has left gets no answers: what is asked about a plan ends, and the plan is as before. */
static void test_stops_answering(void **state)
{
    struct hybrid_options o = {.zero = 1, .stages = 4, .no_bound = true};
    struct hybrid_other other[HYBRID_OTHERS_MOST];
    atomic_bool stop = false;
    struct str text = {0};
    struct hybrid h;
    struct err e;
    uint32_t count;
    bool looked;

    (void)state;
    assert_int_equal(hybrid_new(&problem, &o, &h, &e), 0);
    double ms = hybrid_step_ms(&h);
    for (int stopped = 0; stopped < 2; stopped++) {
        atomic_store(&stop, stopped);
        h.options.stop = &stop;
        assert_int_equal(hybrid_others(&h, 0, other, &count, &looked, &e), 0);
        assert_true(stopped ? !count && !looked : count && looked);
        str_clear(&text);
        assert_int_equal(hybrid_explain(&h, &text, &e), 0);
        assert_true((strstr(text.text, "Stage 3, ") == NULL) == (stopped == 1));
        str_clear(&text);
        assert_int_equal(hybrid_explain_class(&h, 0, "it", &text, &e), 0);
        assert_true((strstr(text.text, "Otherwise:") == NULL) == (stopped == 1));
        assert_true(near(hybrid_step_ms(&h), ms));
    }
    str_release(&text);
    hybrid_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_find_the_same),
        cmocka_unit_test(test_changes_keep_promises),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_pins_of_groups),
        cmocka_unit_test(test_changes_of_interleaved_plans),
        cmocka_unit_test(test_words_are_of_the_last_question),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_stops_answering),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
