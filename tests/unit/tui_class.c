/* The classroom: a game in its thread is the game without one and that of rl/run.h; the same seed
 * with a part switched stands beside the run before; parts come one by one, and sums add up. */
#include "explorer.h"
#include "rl/games.h"
#include "rl/run.h"
#include "tui/watch/game_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void rest(struct game_job *j, struct game_look *k)
{
    for (int n = 0; n < 60000; n++) {
        game_job_look(j, k);
        if (!k->busy)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the game does not end");
}

/* The reference: rl/run.h, decision by decision. */
static void reference(const struct rl_settings *s, uint32_t decisions, int forced_at,
                      struct rl_counts *counts, float seen[static 4], double *last)
{
    uint64_t memory[RL_GAME_SIZE_MAX / 8];
    struct rl_env env;
    struct rl_agent *a;
    struct rl_run run;
    struct rl_step step;

    rl_cartpole_begin(memory, 0, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, env.context_count};
    assert_int_equal(rl_agent_new(&a, &shape, s, 1), 0);
    assert_int_equal(rl_run_init(&run, &env, a, 1), 0);
    *last = NAN;
    for (uint32_t n = 0; n < decisions; n++) {
        assert_int_equal(rl_run_step(&run, (int)n == forced_at ? 1 : -1, &step), 0);
        if (step.end != RL_GOES_ON)
            *last = step.reward_sum;
    }
    rl_run_ready(&run);
    *counts = rl_agent_counts(a);
    memcpy(seen, run.now, 4 * sizeof *seen);
    rl_run_release(&run);
    rl_agent_free(a);
}

static void test_game_is_the_game(void **state)
{
    (void)state;
    static struct game_look k, half;
    struct rl_counts counts;
    struct game_job *j;
    struct err e;
    float seen[4];
    double last;

    for (int threads = 0; threads < 2; threads++) {
        assert_int_equal(game_job_new(rl_game("cartpole"), threads, &j, &e), 0);
        game_job_step(j, 500);
        rest(j, &half);
        game_job_force(j, 1);
        rest(j, &k);
        assert_int_equal(k.decisions, 501);
        assert_true(k.has_lesson && !k.lesson.chosen && k.lesson.action == 1);
        game_job_step(j, 11000);
        rest(j, &k);
        reference(rl_preset("cartpole"), 11501, 500, &counts, seen, &last);
        assert_true(k.decisions == counts.decisions && k.episodes == counts.episodes &&
                    k.updates == counts.updates && counts.updates > 100);
        assert_memory_equal(k.seen, seen, sizeof seen);
        assert_true(k.last == last);
        assert_true(k.lesson.decision == 11501 || threads);
        assert_true(k.now.count > 50 && k.now.x[k.now.count - 1] <= 11501);
        game_job_episode(j);
        uint64_t episodes = k.episodes;
        rest(j, &k);
        assert_int_equal(k.episodes, episodes + 1);
        game_job_free(j);
    }
}

/* Again: the run so far stays, the new one is that of the other settings. */
static void test_game_again(void **state)
{
    (void)state;
    static struct game_look first, k;
    struct rl_settings s = *rl_preset("cartpole");
    struct rl_counts counts;
    struct game_job *j;
    struct err e;
    float seen[4];
    double last;

    assert_int_equal(game_job_new(rl_game("cartpole"), true, &j, &e), 0);
    game_job_step(j, 10600);
    rest(j, &first);
    s.double_q = true;
    assert_int_equal(game_job_again(j, &s, &e), 0); /* as many decisions */
    rest(j, &k);
    reference(&s, 10600, -1, &counts, seen, &last);
    assert_int_equal(k.decisions, 10600);
    assert_memory_equal(k.seen, seen, sizeof seen);
    assert_int_equal(k.before.count, first.now.count);
    assert_memory_equal(k.before.mean, first.now.mean, first.now.count * sizeof *k.before.mean);
    assert_true(k.now.settings.double_q && !k.before.settings.double_q);
    s.learning_rate = -1;
    assert_int_equal(game_job_again(j, &s, &e), ERR_INPUT);
    game_job_run(j, true); /* full of life when it is left */
    game_job_pace(j, 0);
    game_job_free(j);
}

/* ---- the view ---- */

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    for (const char *k = keys; *k; k++) {
        explorer_key(app, *k);
        app_settle(app, 20);
    }
    return explorer_text(app, out);
}

/* "0.066 + 1 × 0.420 = 0.486": what stands on the screen adds up. */
static int expect_sums(const char *text)
{
    double reward, discount, value, target, q, error;
    int sums = 0;

    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        char line[1024];
        size_t size = strcspn(at + 1, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(size < 1000 ? size : 1000), at + 1);
        const char *times = strstr(line, " × 0."), *minus = strstr(line, "error    ");
        if (times) {
            const char *from = times;
            while (from > line && !(from[-1] == ' ' && from[-2] == ' '))
                from--;
            if (sscanf(from, "%lf + %lf × %lf = %lf", &reward, &discount, &value, &target) == 4) {
                assert_true(fabs(reward + discount * value - target) < 1e-9);
                sums++;
            }
        }
        const char *ln = strstr(line, "= ln(");
        if (ln && sscanf(line, " reward %lf = ln(%lf / %lf)", &reward, &value, &q) == 3) {
            assert_true(fabs(log(value / q) - reward) < 1e-4);
            sums++;
        }
        if (minus && sscanf(minus, "error %lf - %lf = %lf", &target, &q, &error) == 3) {
            assert_true(fabs(target - q - error) < 1e-9);
            sums++;
        }
    }
    return sums;
}

/* What is written of this decision: of the one before it stands below a row that names it, dim. */
static bool says_of_now(const char *text, const char *what)
{
    const char *found = strstr(text, what), *before = strstr(text, "before: decision ");

    return found && (!before || found < before);
}

/* Dice, reward and what was stored of decision `number`, below a row that names it. */
static void expect_last_choice(const char *text, uint64_t number)
{
    char title[48];

    snprintf(title, sizeof title, "before: decision %llu", (unsigned long long)number);
    const char *below = strstr(text, title);
    assert_non_null(below);
    assert_non_null(strstr(below, "draw 0."));
    assert_non_null(strstr(below, "\n reward "));
    assert_non_null(strstr(below, "stored with"));
}

static void test_parts(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;
    int sums = 0;

    assert_int_equal(app_tell(app, "episode 60", &e), 0);
    assert_non_null(strstr(screen(app, "C.", &out), "The update, row 1 of the sample"));
    for (int n = 0; n < 30; n++)
        sums += expect_sums(screen(app, n % 3 ? "j" : ".", &out));
    assert_true(sums >= 30);
    /* part by part: the dice with 2, the reward with 3, the sample with 5, its target with 6 */
    uint64_t decisions = app_watch(app)->shot->decisions;
    const char *text = screen(app, ",", &out);
    if (!app_watch(app)->shot->lesson->rl.updates) {
        assert_false(says_of_now(text, "draw 0."));
        assert_non_null(strstr(text, "none due"));
        assert_non_null(strstr(text, "the one before, update ")); /* stays, and its sums */
        assert_non_null(strstr(text, "the sample before, update "));
        assert_true(expect_sums(text) > 0);
        text = screen(app, ",,,,", &out); /* store was the last part: another decision */
        decisions++;
    }
    assert_true(app_watch(app)->shot->lesson->rl.updates == 1);
    assert_int_equal(app_watch(app)->shot->decisions, decisions + 1);
    static const char *const comes[] = {
        NULL,          "draw 0.",          "\n reward ", "stored with",
        "by priority", "The update, row ", "priority (", "target network copied in"};
    expect_last_choice(text, decisions);
    for (int part = 1; part < 8; part++) {
        bool of_before = part == 6 || part == 7; /* stood there, dim, till the target came */
        assert_true(of_before || !says_of_now(text, comes[part]));
        assert_true((part < 4) == (strstr(text, "before: decision ") != NULL));
        assert_true(part > 4 || strstr(text, "the sample before, update "));
        assert_true(part > 5 || strstr(text, "the one before, update "));
        text = screen(app, ",", &out);
        assert_true(says_of_now(text, comes[part]));
    }
    assert_null(strstr(text, "before, update "));
    assert_int_equal(app_watch(app)->shot->decisions, decisions + 1); /* none but that one */
    str_release(&out);
    app_free(app);
}

/* Q of the answer on the screen, and the cells of its bar. */
static double bar_of(const char *text, const char *answer, double *q)
{
    static const char eighths[][4] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    const char *at = strstr(text, answer);
    double cells = 0;

    assert_non_null(at);
    at += strlen(answer);
    *q = strtod(at + strspn(at, " ▸"), NULL);
    for (; *at != '\n'; at++) {
        for (int n = 0; n < 8; n++)
            cells += strncmp(at, eighths[n], 3) ? 0 : (n + 1) / 8.0;
    }
    return cells;
}

/* Bars are in proportion to Q, from a zero line where one is below it. */
static void test_bars_of_q(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 80, 24);
    struct str out = {0};
    struct err e;
    double q[2];

    assert_int_equal(app_tell(app, "episode 30", &e), 0);
    screen(app, "C", &out);
    for (int n = 0; n < 30; n++) {
        const char *text = screen(app, ".", &out);
        double a = bar_of(text, "\n 1 split", &q[0]), b = bar_of(text, "\n 0 whole", &q[1]);
        double unit = (a + b) / (fabs(q[0]) + fabs(q[1])), off = 1 + 0.001 * unit;
        assert_true(fabs(a - fabs(q[0]) * unit) < off && fabs(b - fabs(q[1]) * unit) < off);
        assert_true((fmin(q[0], q[1]) < 0) == (strstr(text, "│") != NULL));
    }
    str_release(&out);
    app_free(app);
}

/* A key runs the same seed again without double, as far as before; o shows it alone. */
static void test_ablation(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 50", &e), 0);
    const char *text = screen(app, "C1", &out);
    const struct snapshot *s = app_watch(app)->shot;
    assert_true(s->run_before.ended == 50 && s->began == 50 && s->episodes == 100);
    assert_true(!s->options.rl.double_q && s->run_before.rl.double_q);
    assert_non_null(strstr(text, "1 double      off    on"));
    assert_non_null(strstr(text, "before"));
    assert_null(strstr(screen(app, "o", &out), "─ before"));
    assert_non_null(strstr(screen(app, "o", &out), "─ before"));
    assert_non_null(strstr(text, "double off, beside the run before"));
    text = screen(app, "u", &out);
    assert_true(app_watch(app)->shot->options.rl.double_q);
    assert_non_null(strstr(text, "you undo set double_q off, from the start; 0 to undo"));
    assert_non_null(strstr(text, "set back on the way, beside the run before"));
    assert_non_null(strstr(text, "1 double      on     same"));
    text = screen(app, "\022", &out); /* C-r */
    assert_non_null(strstr(text, "double off, beside the run before"));
    str_release(&out);
    app_free(app);
}

static void test_games_in_the_view(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};

    for (const struct rl_game *g = rl_game_table; g->name;
         g++) { /* each is drawn and can be played */
        const char *text = screen(app, g == rl_game_table ? "Cg" : "g", &out);
        char begins[64];
        snprintf(begins, sizeof begins, " %s  ", g->name);
        assert_int_equal(strncmp(text, begins, strlen(begins)), 0); /* not the search's rows */
        assert_null(strstr(text, "baseline"));
        assert_null(strstr(text, "w why"));
        text = screen(app, ",,,hl", &out);
        assert_non_null(strstr(text, "reward"));
        assert_true(strcmp(g->name, "catch") || strstr(text, "  █  ")); /* its paddle is in sight */
    }
    assert_non_null(strstr(screen(app, "G", &out), "the search, in slow motion"));
    str_release(&out);
    app_free(app);
}

/* In a game u goes back along its switches; the search behind it is left as it is. */
static void test_undo_in_a_game(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "set double_q off", &e), 0);
    assert_non_null(strstr(screen(app, "Cgu", &out), "no switch of the game to undo"));
    screen(app, "..12", &out);
    assert_non_null(strstr(out.text, "1 double      on "));
    assert_non_null(strstr(out.text, "2 priority    on "));
    screen(app, "u", &out);
    assert_non_null(strstr(out.text, "priority off again: the same seed from its start; 1 to undo, "
                                     "1 to redo"));
    assert_non_null(strstr(out.text, "2 priority    off "));
    screen(app, "u", &out);
    assert_non_null(strstr(out.text, "1 double      off "));
    assert_non_null(strstr(screen(app, "u", &out), "no switch of the game to undo"));
    screen(app, "\022", &out); /* C-r */
    assert_non_null(strstr(out.text, "double on again: "));
    assert_non_null(strstr(screen(app, "5", &out), "u goes back"));
    assert_non_null(strstr(screen(app, "\022", &out), "no switch of the game to redo"));
    assert_int_equal(app_watch(app)->shot->undoable, 1);
    assert_false(app_watch(app)->shot->options.rl.double_q);
    assert_non_null(strstr(screen(app, "Gu", &out), "you undo set double_q off; 0 to undo"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_game_is_the_game),
        cmocka_unit_test(test_game_again),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_bars_of_q),
        cmocka_unit_test(test_ablation),
        cmocka_unit_test(test_games_in_the_view),
        cmocka_unit_test(test_undo_in_a_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
