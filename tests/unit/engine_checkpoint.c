/* Checkpoints: a search that was saved and loaded goes on bit for bit as one that was not, whatever
 * the algorithm and wherever it stood; what is damaged, cut, of another journal or another problem
 * is left aside, and the journal is replayed instead. */
#include "engine/live/checkpoint.h"
#include "engine/live/options.h"
#include "example.h"
#include "hlo/support/file.h"

#include <sys/stat.h>
#include <unistd.h>

static struct problem problem, other;

static int load(void **state)
{
    (void)state;
    load_example("mlp", EXAMPLE_DEVICES, NULL, &problem);
    load_example("mlp", 8, NULL, &other);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    problem_release(&problem);
    problem_release(&other);
    return 0;
}

static void tell(struct search_state *c, const char *line)
{
    struct live_command command;
    struct err e;

    assert_int_equal(live_command_parse(line, &command, &e), 0);
    (void)!search_state_apply(c, &command, &e);
}

static void play(struct search_state *c, uint64_t steps)
{
    for (uint64_t end = c->steps + steps; c->steps < end && search_state_wants_step(c);)
        search_state_step(c);
}

static void new_core(const struct problem *p, const struct search_options *o,
                     struct search_state *c)
{
    struct err e;

    assert_int_equal(search_state_new(p, o, c, &e), 0);
}

static void expect_same(struct search_state *a, struct search_state *b)
{
    float q[2][2] = {{0}};

    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->decisions, b->decisions);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->act_number, b->act_number);
    assert_int_equal(search_episodes(a->search), search_episodes(b->search));
    if (a->options.algorithm == SEARCH_DQN) /* the others begin each step with a new game */
        assert_int_equal(search_game(a->search)->position, search_game(b->search)->position);
    assert_memory_equal(&a->loss, &b->loss, sizeof a->loss);
    assert_memory_equal(a->stage, b->stage, offsetof(struct live_stage, seconds));
    assert_int_equal(search_q(a->search, q[0]), search_q(b->search, q[1]));
    assert_memory_equal(q[0], q[1], sizeof *q);
    assert_int_equal(!a->best, !b->best);
    if (a->best) {
        assert_memory_equal(&a->best->score, &b->best->score, sizeof a->best->score);
        assert_int_equal(a->best->fits, b->best->fits);
        assert_int_equal(journal_plan_hash(a->best), journal_plan_hash(b->best));
    }
    assert_int_equal(a->reward.count, b->reward.count);
    assert_memory_equal(a->reward.block->points, b->reward.block->points,
                        a->reward.count * sizeof *a->reward.block->points);
    assert_true(search_state_episodes(a) == search_state_episodes(b));
    assert_true(a->run_before.began == b->run_before.began &&
                a->run_before.ended == b->run_before.ended &&
                a->run_before.best_ms == b->run_before.best_ms &&
                a->run_before.best_episode == b->run_before.best_episode);
    assert_string_equal(a->run_before.what, b->run_before.what);
    assert_int_equal(a->run_before.rl.n_step, b->run_before.rl.n_step);
    assert_true(cluster_fingerprint(&a->problem->cluster) ==
                cluster_fingerprint(&b->problem->cluster));
    assert_int_equal(a->problem->mesh.axes, b->problem->mesh.axes);
    assert_int_equal(!a->before, !b->before);
    assert_int_equal(a->log.count, b->log.count);
    assert_string_equal(a->log.block->lines[a->log.count - 1].text,
                        b->log.block->lines[b->log.count - 1].text);
}

/* `commands`, then `before` steps, saved and loaded, then `after` steps more. */
static void check_round_trip(const char *const *commands, uint64_t before, uint64_t after)
{
    struct search_state *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct rl_bytes bytes;
    uint64_t place;
    struct err e;

    new_core(&problem, &o, a);
    new_core(&problem, &o, b);
    for (; *commands; commands++) {
        tell(a, *commands);
        if (!strncmp(*commands, "episode", 7))
            play(a, 100000);
    }
    play(a, before);
    assert_int_equal(checkpoint_save(a, 1, &bytes, &e), 0);
    if (checkpoint_load(b, &bytes, &place, &e))
        fail_msg("%s", e.what);
    expect_same(a, b);
    play(a, after);
    play(b, after);
    expect_same(a, b);
    tell(a, "undo");
    tell(b, "undo");
    play(a, after);
    play(b, after);
    expect_same(a, b);
    rl_bytes_release(&bytes);
    search_state_release(a);
    search_state_release(b);
    free(a);
    free(b);
}

static void test_round_trips(void **state)
{
    static const char *const runs[][6] = {
        {"run"},
        {"set reward paper", "run"},
        {"set kind all", "pin @1=0", "run"},
        {"set kind all", "pin @0=1", "run", "backtrack @1"},
        {"set propagation weak", "set reward paper", "run"},
        {"set dueling on", "set learning-rate 0.0003", "run"},
        {"episode 30", "again n_step 1", "run"},
        {"set algorithm random", "run"},
        {"set algorithm greedy", "run"},
        {"set algorithm enumerate", "set folding off", "run"},
        {"set algorithm enumerate", "set propagation weak", "run"},
        {"set algorithm anneal", "run"},
        {"set algorithm exact", "run"},
        {"set memory-limit 1 MB", "set kind all", "run"},
        {"set memory-limit device", "set algorithm anneal", "cluster devices.*.memory=1 MB", "run"},
        {"set algorithm enumerate", "set memory-limit 500 kB", "run"},
        {"episode 3", "cluster servers.*.link.bandwidth=20 GB/s", "run"},
        {"pin @0=1", "cluster devices.*.memory=4 GB", "mesh 2x2", "run"},
        {"mesh 2x2", "set kind all", "batch #1:0", "undo", "run"},
    };

    (void)state;
    for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
        for (uint64_t before = 1; before < 500; before = before * 20 + 3)
            check_round_trip(runs[n], before, 101);
    }
}

/* ---- beside a journal ---- */

struct place {
    char dir[64], journal[80], checkpoint[96];
};

static void make_place(struct place *p)
{
    snprintf(p->dir, sizeof p->dir, "%s", "/tmp/automap-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->journal, sizeof p->journal, "%s/j", p->dir);
    assert_true(checkpoint_path(p->checkpoint, sizeof p->checkpoint, p->journal));
}

static void remove_place(const struct place *p)
{
    unlink(p->journal);
    unlink(p->checkpoint);
    rmdir(p->dir);
}

/* A search that kept a journal with a checkpoint in its middle, and went on for a while. */
static void keep(const struct place *p, uint64_t seed, struct search_state *c)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = seed};
    struct err e;

    unlink(p->journal);
    new_core(&problem, &o, c);
    assert_int_equal(journal_create(p->journal, &problem, NULL, 0, &c->journal, &e), 0);
    tell(c, "run");
    play(c, 300);
    checkpoint_when_due(c, true);
    tell(c, "pin @1=0");
    play(c, 101);
    c->checkpoints_ended = true; /* as if killed: the checkpoint stays behind */
    assert_int_equal(checkpoint_end_journal(c, &e), 0);
}

static void resume(const struct place *p, uint64_t seed, struct search_state *c,
                   char note[RESUME_NOTE_ROOM])
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = seed};
    struct journal_log log;
    struct err e;

    new_core(&problem, &o, c);
    assert_int_equal(journal_read(p->journal, &log, &e), 0);
    if (checkpoint_resume(c, p->journal, &log, note, &e))
        fail_msg("%s", e.what);
    journal_log_release(&log);
}

static void check_resume(const struct place *p, struct search_state *kept, bool serves)
{
    struct search_state *c = mem_alloc(sizeof *c);
    char note[RESUME_NOTE_ROOM];

    resume(p, 1, c, note);
    assert_int_equal(note[0] == 0, serves);
    expect_same(kept, c);
    search_state_release(c);
    free(c);
}

static void write_bytes(const char *path, const struct rl_bytes *b)
{
    struct err e;
    assert_int_equal(hlo_file_write(path, b->data, b->size, FILE_REPLACE, &e), 0);
}

static void test_resume(void **state)
{
    struct search_state *kept = mem_alloc(sizeof *kept), *stale = mem_alloc(sizeof *stale);
    struct place p;
    struct rl_bytes bytes, wrong;

    (void)state;
    make_place(&p);
    keep(&p, 2, stale);
    assert_int_equal(rl_bytes_read(&wrong, p.checkpoint), 0);
    keep(&p, 1, kept);
    assert_int_equal(rl_bytes_read(&bytes, p.checkpoint), 0);
    check_resume(&p, kept, true);
    write_bytes(p.checkpoint, &wrong); /* of another search */
    check_resume(&p, kept, false);
    for (size_t at = 3; at < bytes.size; at += bytes.size / 3) { /* damaged, then cut */
        ((unsigned char *)bytes.data)[at] ^= 0x10;
        write_bytes(p.checkpoint, &bytes);
        check_resume(&p, kept, false);
        ((unsigned char *)bytes.data)[at] ^= 0x10;
        assert_int_equal(truncate(p.checkpoint, (off_t)at), 0);
        check_resume(&p, kept, false);
    }
    unlink(p.checkpoint); /* none: nothing to say, and the same again */
    check_resume(&p, kept, true);
    rl_bytes_release(&bytes);
    rl_bytes_release(&wrong);
    search_state_release(kept);
    search_state_release(stale);
    free(kept);
    free(stale);
    remove_place(&p);
}

static void test_other_problem(void **state)
{
    struct search_state *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct rl_bytes bytes;
    uint64_t place;
    struct err e;

    (void)state;
    new_core(&problem, &o, a);
    new_core(&other, &o, b);
    assert_int_equal(checkpoint_save(a, 0, &bytes, &e), 0);
    assert_int_equal(checkpoint_load(b, &bytes, &place, &e), ERR_INPUT);
    rl_bytes_release(&bytes);
    search_state_release(a);
    search_state_release(b);
    free(a);
    free(b);
}

/* The disk is full: said once, and the search goes on. */
static void test_no_room(void **state)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct search_state *c = mem_alloc(sizeof *c);
    struct place p;
    struct err e;

    (void)state;
    make_place(&p);
    new_core(&problem, &o, c);
    assert_int_equal(journal_create(p.journal, &problem, NULL, 0, &c->journal, &e), 0);
    assert_int_equal(mkdir(p.checkpoint, 0700), 0); /* where it would be written */
    tell(c, "run");
    play(c, 100);
    checkpoint_when_due(c, true);
    assert_true(c->checkpoints_ended);
    assert_non_null(strstr(c->log.block->lines[c->log.count - 1].text, "no more checkpoints"));
    uint32_t lines = c->log.count;
    play(c, 1);
    checkpoint_when_due(c, true);
    assert_int_equal(c->log.count, lines);
    assert_null(journal_trouble(c->journal));
    assert_int_equal(checkpoint_end_journal(c, &e), ERR_IO);
    assert_string_equal(e.file, p.journal);
    assert_non_null(strstr(e.what, "no more checkpoints"));
    search_state_release(c);
    free(c);
    rmdir(p.checkpoint);
    remove_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_other_problem),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
