/* A session on a real model: it finds the proven optimum, obeys a person, and does the same again.
 */
#include "engine/live/session.h"
#include "engine/live/watched.h"
#include "engine/plan/plan.h"
#include "example.h"
#include "hlo/load.h"
#include "hlo/support/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct problem problem;

static int load(void **state)
{
    (void)state;
    load_example("t5-tiny", EXAMPLE_DEVICES, NULL, &problem);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    problem_release(&problem);
    return 0;
}

static void tell(struct session *s, const char *line)
{
    struct live_command c;
    struct err e;

    assert_int_equal(live_command_parse(line, &c, &e), 0);
    int rc = session_wait(s, session_send(s, &c), 30, &e);
    if (rc)
        err_print(&e, stderr);
    assert_int_equal(rc, 0);
}

static struct session *begin_on(const struct problem *p, uint64_t seed)
{
    struct session_options o = {.search = {.algorithm = SEARCH_DQN, .seed = seed}};
    struct session *s = NULL;
    struct err e;

    assert_int_equal(session_new(p, &o, &s, &e), 0);
    return s;
}

static struct session *begin(uint64_t seed)
{
    return begin_on(&problem, seed);
}

static void test_reaches_the_optimum(void **state)
{
    (void)state;
    struct session *s = begin(1);
    tell(s, "episode 1500");
    assert_true(session_wait_idle(s, 120));
    const struct snapshot *shot = session_look(s);
    assert_int_equal(shot->episodes, 1500);
    assert_non_null(shot->exact);
    assert_true(shot->exact->proven);
    assert_non_null(shot->best);
    assert_true(shot->best->cost.step_ms >= shot->exact->cost.step_ms * (1 - 1e-9));
    assert_true(shot->best->cost.step_ms <= shot->exact->cost.step_ms * (1 + 1e-9));
    snapshot_release(shot);
    session_free(s);
}

/* Watching does not change what is found: two runs, one looked at all the time. */
static void test_same_seed_same_search(void **state)
{
    (void)state;
    struct step_cost cost[2];
    uint64_t episode[2];
    double reward[2];

    for (int run = 0; run < 2; run++) {
        struct session *s = begin(7);
        tell(s, "decide 3000");
        while (!session_wait_idle(s, run ? 0.001 : 60))
            snapshot_release(session_look(s));
        const struct snapshot *shot = session_look(s);
        cost[run] = shot->best->cost;
        episode[run] = shot->best->episode;
        reward[run] = shot->loss;
        snapshot_release(shot);
        session_free(s);
    }
    assert_memory_equal(&cost[0], &cost[1], sizeof cost[0]);
    assert_int_equal(episode[0], episode[1]);
    assert_memory_equal(&reward[0], &reward[1], sizeof reward[0]);
}

static void test_pins_hold(void **state)
{
    (void)state;
    struct session *s = begin(3);
    const struct snapshot *shot = session_look(s);
    uint32_t move = 0; /* the largest group: the width of the residual stream */
    double free_ms = shot->exact->cost.step_ms;
    class_id pinned = shot->moves->pool[shot->moves->items[move].classes];
    snapshot_release(shot);

    tell(s, "pin @0=1");
    tell(s, "episode 300");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_int_equal(shot->status[move], 1);
    assert_int_equal(shot->best->on[pinned], 1);
    assert_int_equal(shot->exact->on[pinned], 1);
    assert_true(shot->exact->cost.step_ms > free_ms);
    assert_true(shot->best->cost.step_ms >= shot->exact->cost.step_ms * (1 - 1e-9));
    assert_int_equal(shot->pin_count, shot->moves->items[move].class_count);
    snapshot_release(shot);

    tell(s, "undo");
    shot = session_look(s);
    assert_int_equal(shot->pin_count, 0);
    assert_true(fabs(shot->exact->cost.step_ms - free_ms) < 1e-9);
    snapshot_release(shot);
    tell(s, "redo");
    shot = session_look(s);
    assert_true(shot->pin_count > 0);
    snapshot_release(shot);
    tell(s, "backtrack @1");
    tell(s, "set learning-rate 0.0001");
    tell(s, "set algorithm greedy");
    tell(s, "episode 5");
    assert_true(session_wait_idle(s, 60));
    session_free(s);
}

/* A line of the log never says that a better plan took as long: it says how much more the one
 * before took, where the figures alone would be equal. */
static void test_better_is_less(void **state)
{
    (void)state;
    int less = 0, more = 0;
    struct problem base; /* where one decision of many saves little */

    load_example("t5-base6", EXAMPLE_DEVICES, NULL, &base);
    for (uint64_t seed = 26; seed <= 27; seed++) {
        struct session *s = begin_on(&base, seed);
        tell(s, "episode 60");
        assert_true(session_wait_idle(s, 60));
        const struct snapshot *shot = session_look(s);
        for (uint32_t n = 0; n < shot->log.count; n++) {
            const struct log_line *line = &shot->log.block->lines[n];
            const char *was = strstr(line->text, ", was "), *unit = strstr(line->text, " ms");
            if (line->kind != LOG_BEST || !was)
                continue;
            char now[32] = "", before[32] = "", rest[32] = "";
            assert_true(unit && unit < was);
            assert_int_equal(sscanf(line->text, "best %31[0-9.,] ms", now), 1);
            assert_true(sscanf(was, ", was %31[0-9.,] %31s", before, rest) >= 1);
            bool is_more = strcmp(rest, "more") == 0;
            assert_true(is_more || strcmp(now, before) != 0);
            *(is_more ? &more : &less) += 1;
        }
        snapshot_release(shot);
        session_free(s);
    }
    problem_release(&base);
    assert_true(less > 0 && more > 0);
}

/* A pin against the best plan takes it away; undo brings it back, and a better one found meanwhile
 * stays. */
static void test_undo_brings_the_best_back(void **state)
{
    (void)state;
    struct session *s = begin(3);
    tell(s, "episode 300");
    assert_true(session_wait_idle(s, 60));
    const struct snapshot *shot = session_look(s);
    double best_ms = shot->best->cost.step_ms, score = shot->best->score;
    class_id pinned = shot->moves->pool[shot->moves->items[0].classes];
    label on = shot->best->on[pinned];
    snapshot_release(shot);

    tell(s, on ? "pin @0=0" : "pin @0=1");
    shot = session_look(s);
    assert_true(!shot->best || shot->best->on[pinned] != on);
    snapshot_release(shot);
    tell(s, "episode 20");
    assert_true(session_wait_idle(s, 60));
    tell(s, "undo");
    shot = session_look(s);
    assert_non_null(shot->best);
    assert_true(shot->best->score >= score - 1e-9);
    assert_true(shot->best->cost.step_ms <= best_ms * (1 + 1e-9));
    snapshot_release(shot);
    session_free(s);
}

static double best_ms(struct session *s)
{
    const struct snapshot *shot = session_look(s);
    double ms = shot->best ? shot->best->cost.step_ms : INFINITY;

    snapshot_release(shot);
    return ms;
}

/* Whatever edit is taken back, by undo or by the ledger: the best plan there was is the best, and
 * who found it when is still known. */
static void test_undo_of_edits_brings_the_best_back(void **state)
{
    static const char *const edits[] = {"set memory-limit 8 MB",
                                        "set kind adp",
                                        "set seed 9",
                                        "set folding off",
                                        "set algorithm random",
                                        "batch x2",
                                        "zero 1",
                                        "cluster servers.*.link.bandwidth=4 GB/s",
                                        "micro-batches 2",
                                        "servers 0:2",
                                        "again dueling on"};
    struct problem mlp; /* whose best plan splits something */
    char back[32];

    (void)state;
    load_example("mlp", EXAMPLE_DEVICES, NULL, &mlp);
    struct session *s = begin_on(&mlp, 3);
    tell(s, "episode 300");
    assert_true(session_wait_idle(s, 60));
    const struct snapshot *shot = session_look(s);
    double ms = shot->best->cost.step_ms;
    uint64_t episode = shot->best->episode;
    assert_true(ms < shot->baseline_ms);
    snapshot_release(shot);
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        tell(s, edits[k]);
        tell(s, "episode 2");
        assert_true(session_wait_idle(s, 60));
        snprintf(back, sizeof back, "%s", k % 2 ? "undo" : "row 0");
        tell(s, back);
        shot = session_look(s);
        assert_true(shot->best->cost.step_ms == ms);
        assert_string_equal(shot->best->found_by, "dqn");
        assert_int_equal(shot->best->episode, episode);
        snapshot_release(shot);
    }
    session_free(s);
    problem_release(&mlp);
}

/* A plan found under one act is one of every act of the same problem that its pins and its game
 * allow. */
static void test_best_of_another_act(void **state)
{
    struct problem mlp;

    (void)state;
    load_example("mlp", EXAMPLE_DEVICES, NULL, &mlp);
    struct session *s = begin_on(&mlp, 3);
    double whole = best_ms(s);
    tell(s, "pin @0=0");
    tell(s, "episode 300");
    assert_true(session_wait_idle(s, 60));
    double pinned = best_ms(s);
    assert_true(pinned < whole);
    tell(s, "set seed 5"); /* another search, which knows nothing */
    assert_true(best_ms(s) == whole);
    tell(s, "row 0");
    assert_true(best_ms(s) == pinned);
    tell(s, "pin @0=1");
    tell(s, "set seed 6");
    tell(s, "undo");
    assert_true(best_ms(s) != pinned);
    session_free(s);
    problem_release(&mlp);
}

/* Nobody found what is whole but for a pin: it is the baseline, whatever the search has done. */
static void test_baseline_under_a_pin(void **state)
{
    struct problem mlp;

    (void)state;
    load_example("mlp", EXAMPLE_DEVICES, NULL, &mlp);
    struct session *s = begin_on(&mlp, 3);
    tell(s, "pin @0=0");
    tell(s, "episode 300");
    assert_true(session_wait_idle(s, 60));
    tell(s, "pin @0=1");
    const struct snapshot *shot = session_look(s);
    assert_non_null(shot->best);
    assert_true(shot->best->cost.step_ms == shot->baseline_ms);
    assert_string_equal(shot->best->found_by, LIVE_BASELINE);
    snapshot_release(shot);
    tell(s, "undo");
    shot = session_look(s);
    assert_string_equal(shot->best->found_by, "dqn");
    snapshot_release(shot);
    session_free(s);
    problem_release(&mlp);
}

/* The session's optimum after an edit is that of a problem made so from the start; undo brings back
 * the old one to the bit; a replayed journal of it all gives the same. */
static void test_edits(void **state)
{
    (void)state;
    struct session *s = begin(5);
    const struct snapshot *shot = session_look(s);
    double before_ms = shot->exact->cost.step_ms;
    snapshot_release(shot);

    struct problem *made = mem_alloc(sizeof *made);
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *m;
    struct err e;
    cluster_default(cluster);
    assert_int_equal(cluster_set(cluster, "servers.*.link.bandwidth", "4 GB/s", &e), 0);
    assert_int_equal(
        hlo_load(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz", NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, cluster, &(struct problem_options){0}, made, &e), 0);
    struct session_options o = {.search = {.algorithm = SEARCH_DQN, .seed = 5}};
    struct session *reference;
    assert_int_equal(session_new(made, &o, &reference, &e), 0);

    tell(s, "pin @0=1");
    tell(reference, "pin @0=1");
    tell(s, "episode 20");
    assert_true(session_wait_idle(s, 60));
    tell(s, "cluster servers.*.link.bandwidth=4 GB/s");
    shot = session_look(s);
    const struct snapshot *wanted = session_look(reference);
    assert_ptr_not_equal(shot->problem, &problem);
    assert_true(shot->exact->cost.step_ms == wanted->exact->cost.step_ms);
    assert_true(shot->baseline_ms == wanted->baseline_ms);
    assert_int_equal(shot->pin_count, wanted->pin_count);
    assert_int_equal(shot->pin_count, shot->moves->items[0].class_count);
    assert_true(shot->exact->cost.step_ms > before_ms);
    snapshot_release(wanted);
    snapshot_release(shot);

    /* The search goes on, as the other one does from its start. */
    tell(s, "episode 30");
    tell(reference, "episode 30");
    assert_true(session_wait_idle(s, 60) && session_wait_idle(reference, 60));
    shot = session_look(s);
    wanted = session_look(reference);
    assert_int_equal(shot->episodes, 50);
    assert_true(shot->best->cost.step_ms == wanted->best->cost.step_ms);
    assert_true(shot->loss == wanted->loss);
    snapshot_release(wanted);
    snapshot_release(shot);
    session_free(reference);
    problem_release(made);
    free(made);
    free(cluster);

    tell(s, "undo");
    tell(s, "undo");
    shot = session_look(s);
    assert_ptr_equal(shot->problem, &problem);
    assert_true(shot->exact->cost.step_ms == before_ms);
    snapshot_release(shot);
    tell(s, "redo");
    tell(s, "redo");
    shot = session_look(s);
    assert_ptr_not_equal(shot->problem, &problem);
    snapshot_release(shot);
    session_free(s);
}

/* Devices left out, as if the cluster had no others; undone, all are back. */
static void test_edits_of_servers(void **state)
{
    (void)state;
    struct session *s = begin(5);
    const struct snapshot *shot = session_look(s);
    double before = shot->exact->cost.step_ms;
    snapshot_release(shot);

    tell(s, "servers 0:2");
    shot = session_look(s);
    assert_int_equal(shot->problem->cluster.devices, 2);
    assert_int_equal(shot->problem->mesh.axes, 1);
    struct problem_change change = {.batch_param = BATCH_AS_FOUND, .mesh = "2"};
    struct cluster two = problem.cluster;
    struct problem fresh;
    struct err e;
    two.group[0].devices = two.devices = 2;
    change.cluster = &two;
    assert_int_equal(problem_derive(&problem, &change, &fresh, &e), 0);
    assert_true(step_tables_cost(&fresh.step_tables, shot->exact->on).step_ms ==
                shot->exact->cost.step_ms);
    problem_release(&fresh);
    snapshot_release(shot);

    tell(s, "undo");
    tell(s, "servers 0:2 2");
    tell(s, "undo");
    shot = session_look(s);
    assert_true(shot->exact->cost.step_ms == before);
    assert_int_equal(shot->problem->cluster.devices, problem.cluster.devices);
    snapshot_release(shot);
    session_free(s);
}

/* Another mesh has a move per axis; an input instead of a variable is no longer decided; what is
 * called the batch is what batch split splits. */
static void test_edits_of_mesh_and_roles(void **state)
{
    (void)state;
    struct session *s = begin(5);
    const struct snapshot *shot = session_look(s);
    uint32_t moves = shot->moves->count;
    snapshot_release(shot);

    tell(s, "mesh 2x2");
    shot = session_look(s);
    assert_int_equal(shot->problem->mesh.axes, 2);
    assert_int_equal(shot->moves->count, 2 * moves);
    const struct snapshot *kept =
        shot; /* a reader may keep it beyond the edit that ends its problem */
    tell(s, "mesh one");
    tell(s, "role embedding=input");
    shot = session_look(s);
    assert_true(shot->moves->count < moves);
    assert_int_equal(kept->problem->mesh.axes, 2);
    snapshot_release(kept);
    snapshot_release(shot);
    tell(s, "role #32=variable");
    shot = session_look(s);
    assert_int_equal(shot->moves->count, moves);
    snapshot_release(shot);
    tell(s, "batch #32:0");
    shot = session_look(s);
    label over;
    assert_int_equal(plan_batch_class(shot->problem, &over),
                     problem_param_class(shot->problem, 32, 0));
    snapshot_release(shot);
    tell(s, "micro-batches 2");
    tell(s, "zero 2");
    shot = session_look(s);
    assert_int_equal(shot->problem->options.micro_batches, 2);
    assert_int_equal(shot->problem->options.zero, 2);
    snapshot_release(shot);
    tell(s, "episode 5");
    assert_true(session_wait_idle(s, 60));
    session_free(s);
}

/* Within a limit the optimum and the best plan fit and cost time; without one again they are as
 * before; what nothing fits is said, and the plan of least memory shown. */
static void test_memory_limit(void **state)
{
    (void)state;
    struct session *s = begin(4);
    double *scratch = memory_scratch(&problem.memory);
    tell(s, "set kind all");
    const struct snapshot *shot = session_look(s);
    double free_ms = shot->exact->cost.step_ms;
    assert_true(memory_of(&problem.memory, &problem.labels, shot->exact->on, scratch).peak > 1e6);
    snapshot_release(shot);

    tell(s, "set memory-limit 1 MB");
    tell(s, "episode 400");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(shot->exact->fits && shot->exact->proven && shot->best->fits);
    assert_true(shot->exact->cost.step_ms > free_ms);
    assert_true(shot->best->cost.step_ms >= shot->exact->cost.step_ms * (1 - 1e-9));
    assert_true(memory_of(&problem.memory, &problem.labels, shot->exact->on, scratch).peak <= 1e6);
    assert_true(memory_of(&problem.memory, &problem.labels, shot->best->on, scratch).peak <= 1e6);
    for (uint32_t n = 1; n < shot->plan_count; n++)
        assert_true(shot->plans[n - 1]->fits >= shot->plans[n]->fits);
    snapshot_release(shot);

    tell(s, "set memory-limit 700 kB"); /* automap plan: 914 kB, and none below 899 kB */
    tell(s, "episode 400");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(!shot->exact->fits && shot->exact->proven && !shot->best->fits);
    assert_true(memory_of(&problem.memory, &problem.labels, shot->best->on, scratch).peak < 950e3);
    snapshot_release(shot);

    tell(s, "set memory-limit device"); /* 12.8 GB */
    shot = session_look(s);
    assert_true(shot->exact->fits && fabs(shot->exact->cost.step_ms - free_ms) < 1e-9);
    snapshot_release(shot);
    tell(s, "cluster devices.*.memory=1.25 MB"); /* the limit goes with it */
    shot = session_look(s);
    assert_true(shot->exact->fits && shot->exact->cost.step_ms > free_ms + 1e-9);
    snapshot_release(shot);
    session_free(s);
    free(scratch);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const wrong[] = {"pin nobody:0=1",
                                        "pin @99999=1",
                                        "unpin x",
                                        "set colour blue",
                                        "set learning-rate -1",
                                        "set memory-limit 16",
                                        "set memory-limit -1 GB",
                                        "redo",
                                        "undo",
                                        "cluster network.bandwidth",
                                        "cluster network.colour=1 GB/s",
                                        "cluster devices.*.memory=16 GB",
                                        "servers 0",
                                        "servers 9",
                                        "servers 0:9",
                                        "servers 0:2 3x3",
                                        "mesh 3x3",
                                        "mesh 2x2x",
                                        "role nobody=input",
                                        "role embedding=king",
                                        "zero 4",
                                        "micro-batches 3",
                                        "micro-batches -1",
                                        "batch nobody:0"};
    struct session *s = begin(3);
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        struct live_command c;
        struct err e;
        assert_int_equal(live_command_parse(wrong[n], &c, &e), 0);
        assert_true(session_wait(s, session_send(s, &c), 30, &e) < 0);
        assert_true(e.what[0] != '\0');
    }
    session_free(s);
}

static void *read_mask(void *mask)
{
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return NULL;
}

/* A thread takes no signals from its first moment; who made it takes them as before. */
static void test_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGUSR1};
    sigset_t in_thread, here;
    pthread_t thread;
    struct err e;
    assert_int_equal(thread_start(&thread, read_mask, &in_thread, "a test", &e), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &here);
    for (size_t n = 0; n < sizeof signals / sizeof *signals; n++) {
        assert_int_equal(sigismember(&in_thread, signals[n]), 1);
        assert_int_equal(sigismember(&here, signals[n]), 0);
    }
}

/* What is sent to a search that has ended is refused at once: nobody is left to carry it out. */
static void test_after_the_end(void **state)
{
    (void)state;
    struct session *s = begin(1);
    struct live_command run = {.verb = COMMAND_RUN};
    struct err e;

    tell(s, "quit");
    for (int n = 0; n < 5000; n++) /* more than its queue holds */
        (void)session_send(s, &run);
    uint64_t ticket = session_send(s, &run);
    assert_int_equal(session_wait(s, ticket, 30, &e), ERR_INPUT);
    assert_string_equal(e.what, "the search has ended");
    session_free(s);
}

/* A journal that leaves out the first best plan is another search's, however many steps it claims.
 */
static void test_replay_without_bests(void **state)
{
    (void)state;
    struct search_options o = {
        .algorithm = SEARCH_DQN, .seed = 1, .game.reward = GAME_REWARD_PAPER};
    struct journal_record records[] = {{.kind = 'c'}, {.kind = 'm', .step = (uint64_t)1 << 40}};
    struct journal_log log = {.text = (char[]){"run"}, .records = records, .record_count = 2};
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;

    assert_int_equal(search_state_new(&problem, &o, c, &e), 0);
    assert_int_equal(search_state_replay(c, &log, 0, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "goes another way"));
    search_state_release(c);
    free(c);
}

/* "again" is the same seed from its start: with nothing changed the same curve, and the run before
 * keeps what it came to. A decision that was watched is told whole. */
static void test_again(void **state)
{
    (void)state;
    struct session *s = begin(5);

    tell(s, "episode 40");
    assert_true(session_wait_idle(s, 60));
    const struct snapshot *shot = session_look(s);
    struct live_plan *best = live_plan_share(shot->best);
    assert_int_equal(shot->run_before.ended, 0);
    snapshot_release(shot);
    tell(s, "again seed 5");
    tell(s, "episode 40");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(shot->began == 40 && shot->episodes == 80);
    assert_true(shot->run_before.began == 0 && shot->run_before.ended == 40);
    assert_true(shot->run_before.best_ms == best->cost.step_ms);
    assert_int_equal(shot->run_before.best_episode, best->episode);
    assert_string_equal(shot->run_before.what, "seed 5");
    assert_int_equal(shot->reward.count, 80);
    const struct point *p = shot->reward.block->points;
    for (int n = 0; n < 40; n++)
        assert_true(p[n].mean == p[n + 40].mean && p[n].x + 40 == p[n + 40].x);
    live_plan_release(best);
    snapshot_release(shot);
    tell(s, "again double_q off");
    tell(s, "decide 300");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    const struct live_lesson *l = shot->lesson;
    assert_non_null(l);
    assert_true(!l->settings.double_q && shot->run_before.rl.double_q);
    assert_int_equal(l->rl.decision, 300);
    assert_int_equal(l->move, shot->wave_move);
    assert_true(l->rl.rows == 64 && l->rl.updates == 1);
    assert_true(l->price[0] > 0 || l->price[1] > 0);
    double after = l->price[l->rl.action];
    assert_true(fabs(log(l->step_ms / after) - l->rl.reward) < 1e-6); /* what it did cost */
    uint64_t decisions = shot->decisions;
    snapshot_release(shot);
    tell(s, "decide 1");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(shot->lesson->rl.decision == 301 && shot->decisions == decisions + 1);
    snapshot_release(shot);
    tell(s, "set algorithm greedy"); /* nobody learns: no lesson, nothing to compare */
    tell(s, "episode 2");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(!shot->lesson && !shot->run_before.ended);
    snapshot_release(shot);
    tell(s, "again seed 6"); /* but a run there is, with the settings in force */
    tell(s, "episode 2");
    assert_true(session_wait_idle(s, 60));
    shot = session_look(s);
    assert_true(!shot->lesson && shot->run_before.ended > 0 && shot->run_before.best_ms > 0);
    assert_string_equal(shot->run_before.what, "seed 6");
    snapshot_release(shot);
    session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_the_optimum),
        cmocka_unit_test(test_same_seed_same_search),
        cmocka_unit_test(test_better_is_less),
        cmocka_unit_test(test_pins_hold),
        cmocka_unit_test(test_undo_brings_the_best_back),
        cmocka_unit_test(test_undo_of_edits_brings_the_best_back),
        cmocka_unit_test(test_best_of_another_act),
        cmocka_unit_test(test_baseline_under_a_pin),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_edits_of_servers),
        cmocka_unit_test(test_edits_of_mesh_and_roles),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_after_the_end),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_replay_without_bests),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
