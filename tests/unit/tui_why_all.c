/* `w` in every view, at every moment of a run, on models of many frameworks: the answer is about
 * the plan of the headline, says its step, and is as that plan is. And what is asked of the relaxed
 * plan and of a pipeline is as they are. */
#include "engine/plan/explain_reshard.h"
#include "engine/text/units.h"
#include "tui/app/script.h"
#include "tui/files/theme_file.h"
#include "tui/watch/answer.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/tree.h"
#include "tui/watch/why_of.h"
#include "zoo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

enum { MODELS_MOST = 64, ZOO_BYTES = 400 << 10 };

static void type(struct app *app, const char *keys)
{
    for (const char *k = keys; *k; k++)
        app_key(app, *k == '\r' ? KEYC_ENTER : *k == '\033' ? KEYC_ESC : (uint32_t)*k);
}

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    type(app, keys);
    app_touch(app);
    str_clear(out);
    const struct grid *g = app_frame(app);
    if (g)
        grid_text(g, out);
    return out->text ? out->text : "";
}

static struct app *open_model(const char *path)
{
    struct app_setup setup = {.data_dir = AUTOMAP_SOURCE_DIR, .seed = 3};
    struct app *app;
    struct err e = {0};

    assert_int_equal(theme_load(&setup.theme, "default", &e), 0);
    assert_int_equal(app_new(&app, &setup, &e), 0);
    if (app_load(app, path, NULL, &e)) {
        app_free(app);
        return NULL;
    }
    app_resize(app, 200, 60);
    return app;
}

/* The line that names whose splits are explained; NULL: no answer is on the screen. */
static const char *subject(const char *text)
{
    const char *line = strstr(text, "\n of  ");
    return line ? line + 6 : NULL;
}

/* What the answer says of each decision, where it is a table of them. */
static void check_module(const struct watch *w, const char *text)
{
    for (int n = 0; n < w->move_count; n++) {
        char row[NAME_ROOM + 8];
        snprintf(row, sizeof row, "\n   %s  ", w->move[n].name);
        const char *at = strstr(text, row);
        if (!at)
            continue;
        at += strlen(row);
        at += strspn(at, " ");
        uint32_t split = plan_splits(w, w->best->on, n), of = w->moves->items[n].class_count;
        assert_int_equal(!strncmp(at, "0 whole", 7), split == 0);
        assert_int_equal(!strncmp(at, "1 split", 7), split == of);
    }
}

/* Whatever is on the screen: if it answers `why`, then about the best plan, with its step. */
static bool check_answer(struct app *app, const char *text)
{
    const struct watch *w = app_watch(app);
    const char *of = subject(text);
    char step[UNITS_ROOM];

    if (!of || !w->best)
        return false;
    assert_true(!strncmp(of, "best plan", 9));
    assert_null(strstr(text, "not decided yet"));
    const char *ms = strstr(of, units_plain_ms(step, w->best->cost.step_ms));
    assert_true(ms && ms - of < 48);
    check_module(w, text);
    return true;
}

/* Keys that ask in each view; the first closes what is open. */
static const char *const questions[] = {
    "\033\033\033"
    "1gw",
    "\033\033\033"
    "1jjw",
    "\033\033\033"
    "1Xjlw",
    "\033\033\033"
    "2gw",
    "\033\033\033"
    "2jjw",
    "\033\033\033"
    "3w",
    "\033\033\033"
    "6w",
    "\033\033\033"
    "8ow",
    "\033\033\033"
    "Vmw",
    "\033\033\033"
    "Vmjw",
    "\033\033\033"
    "Vm\rw",
    "\033\033\033"
    "Vxw",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int ask_everywhere(struct app *app, double *now, struct str *out)
{
    int answers = 0;

    for (int n = 0; n < QUESTIONS; n++) {
        app_time(app, *now += 300);
        app_woken(app);
        answers += check_answer(app, screen(app, questions[n], out));
        app_time(app, *now += 300); /* it goes on meanwhile, the answer with it */
        app_woken(app);
        check_answer(app, screen(app, "", out));
    }
    type(app, "\033\033\033");
    return answers;
}

static void test_every_view_of_every_model(void **state)
{
    (void)state;
    const char *paths[MODELS_MOST] = {AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz"};
    glob_t found = {0};
    size_t count = 2 + zoo_models(&found, paths + 2, MODELS_MOST - 2, ZOO_BYTES), opened = 0;
    struct str out = {0};
    int answers = 0, asked = 0;

    for (size_t n = 0; n < count; n++) {
        struct app *app = open_model(paths[n]);
        double now = 1000;
        struct err e;
        if (!app)
            continue;
        opened++;
        assert_int_equal(app_tell(app, "run", &e), 0);
        struct timespec while_it_runs = {0, 3000000};
        nanosleep(&while_it_runs, NULL);
        answers += ask_everywhere(app, &now, &out);
        asked += QUESTIONS;
        assert_int_equal(app_tell(app, "pause", &e), 0);
        if (app_tell(app, "decide 1", &e) == 0) {
            answers += ask_everywhere(app, &now, &out);
            asked += QUESTIONS;
        }
        app_free(app);
    }
    printf("%zu models, %d questions, %d answered by a page or a chain\n", opened, asked, answers);
    assert_true(answers > asked / 2);
    globfree(&found);
    str_release(&out);
}

/* A value asked of the relaxed plan: the shape printed is that of the plan, and so is what each use
 * asks for. */
static void test_relaxed_values(void **state)
{
    (void)state;
    struct app *app = open_model(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz");
    struct answer a = {0};
    struct str made = {0}, out = {0};
    uint32_t checked = 0;

    assert_non_null(app);
    screen(app, "Vs", &out);
    const struct watch *w = app_watch(app);
    const struct relaxed_plan *x = why_of_relaxed(w);
    assert_non_null(x);
    for (hlo_value v = 0; v < w->problem->m->value_count; v += 7) {
        answer_clear(&a);
        answer_relaxed_value(&a, w, x, v);
        assert_true(a.count > 0 && !a.failed);
        if (x->origin[v] == HLO_NONE)
            continue;
        str_clear(&made);
        status_write(hlo_value_shape(w->problem->m, v), &w->problem->mesh, x->made[v], &made);
        assert_non_null(strstr(answer_cell(&a, &a.rows[0], 0), made.text));
        for (size_t n = 0; n < a.count; n++) {
            if (a.rows[n].kind != ANSWER_ROW || a.rows[n].cells != 4)
                continue;
            struct str how = {0};
            relaxed_write_choice(x, a.rows[n].at, &how);
            assert_string_equal(answer_cell(&a, &a.rows[n], 2), how.text);
            str_release(&how);
            checked++;
        }
    }
    assert_true(checked > 50);
    assert_non_null(strstr(screen(app, "w", &out), " of  relaxed plan"));
    for (int n = 0; n < WHY_OF_MOST && !strstr(out.text, " of  best plan"); n++)
        screen(app, "w", &out);
    assert_non_null(strstr(out.text, " of  best plan"));
    answer_release(&a);
    str_release(&made);
    str_release(&out);
    app_free(app);
}

/* The step printed beside "as it is" is the pipeline's, and each other cut costs what pricing that
 * plan says. */
static void test_stages(void **state)
{
    (void)state;
    struct app *app = open_model(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz");
    struct answer a = {0};
    struct str out = {0};
    struct pipeline_plan plan;
    char ms[UNITS_ROOM];
    int rows = 0;

    assert_non_null(app);
    screen(app, "Vi", &out);
    const struct watch *w = app_watch(app);
    const struct pipeline *l = why_of_pipeline(w, &plan);
    assert_non_null(l);
    plan.plan = pipe_plan_whole(&l->all); /* two stages, whatever was found */
    plan.plan.stages = 2;
    plan.plan.pivot[2] = plan.plan.pivot[1];
    plan.plan.device[2] = plan.plan.device[1];
    plan.plan.pivot[1] = l->all.points / 2;
    plan.plan.device[1] = l->all.devices / 2;
    pipeline_price(l, &plan.plan, &plan);
    for (uint32_t stage = 0; stage < 2; stage++) {
        answer_clear(&a);
        answer_stage(&a, w, l, &plan, stage);
        for (size_t n = 0; n < a.count; n++) {
            const struct answer_row *r = &a.rows[n];
            const char *choice = answer_cell(&a, r, 0);
            int step = !strcmp(choice, "one later") ? 1 : !strcmp(choice, "one earlier") ? -1 : 0;
            if (r->kind != ANSWER_ROW || (!step && strcmp(choice, "as it is") != 0))
                continue;
            struct pipeline_plan other = plan;
            other.plan.pivot[1] += (uint32_t)step;
            pipeline_price(l, &other.plan, &other);
            assert_string_equal(answer_cell(&a, r, 2), units_ms(ms, pipeline_step_ms(l, &other)));
            rows++;
        }
    }
    assert_int_equal(rows, 6);
    screen(app, "w", &out);
    assert_non_null(strstr(out.text, " of  pipeline"));
    answer_release(&a);
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_view_of_every_model),
        cmocka_unit_test(test_relaxed_values),
        cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
