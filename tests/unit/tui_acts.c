/* What a person does and is told: undo and redo say what they did, a pinned group is not set back,
 * lines complete, another cluster and the start screen are one line away, figures read as typed. */
#include "engine/live/options.h"
#include "engine/pipeline/pipeline.h"
#include "explorer.h"
#include "rl/settings.h"
#include "tui/app/colon.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/price.h"
#include "tui/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    for (const char *k = keys; *k; k++) {
        explorer_key(app, *k);
        if (*k == '\r' || *k == 'u')
            app_settle(app, 5);
    }
    app_settle(app, 5);
    return explorer_text(app, out);
}

static void test_undo_says_what_it_did(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "pin @1=1", &e), 0);
    assert_non_null(strstr(screen(app, "u", &out), "you undo pin"));
    assert_non_null(strstr(out.text, "0 to undo, 1 to redo"));
    assert_null(strstr(out.text, "@")); /* a decision has a name */
    app_key(app, 18);                   /* C-r */
    assert_non_null(strstr(screen(app, "", &out), "you redo pin"));
    assert_non_null(strstr(out.text, "1 to undo, 0 to redo"));
    screen(app, "u", &out);
    assert_non_null(strstr(screen(app, "u", &out), "nothing to undo"));
    str_release(&out);
    app_free(app);
}

static void test_a_pin_is_not_set_back(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 2", &e), 0);
    assert_int_equal(app_tell(app, "pin @0=0", &e), 0);
    uint32_t acts = app_watch(app)->shot->acts;
    assert_non_null(strstr(screen(app, "2gb", &out), "p unpins it first"));
    assert_null(strstr(out.text, "Enter backtrack"));
    assert_non_null(strstr(screen(app, "\r", &out), "can not be set back"));
    assert_int_equal(app_watch(app)->shot->acts, acts);
    str_release(&out);
    app_free(app);
}

/* "4/6~" of a series and "5/6" of the best plan beside it stay two answers. */
static void test_answers_have_columns(void **state)
{
    static const int widths[] = {80, 100, 120, 200};
    struct str out = {0};
    struct err e;
    int shares = 0;

    (void)state;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        struct app *app = explorer_open("t5-base6", NULL, widths[k], 40);
        assert_int_equal(app_tell(app, "episode 20", &e), 0);
        for (int n = 0; n < 11; n++) {
            assert_int_equal(app_tell(app, "decide", &e), 0);
            for (const char *at = screen(app, "2", &out); (at = strchr(at, '/')); at++) {
                size_t of = strspn(at + 1, "0123456789");
                bool sign = at[1 + of] == '~';
                const char *behind = at + 1 + of + sign;
                if (!of || at[-1] < '0' || at[-1] > '9')
                    continue;
                shares += sign;
                if (sign && *behind >= '0' && *behind <= '9')
                    fail_msg("%d columns: %.20s\n%s", widths[k], at - 1, out.text);
            }
        }
        app_free(app);
    }
    assert_true(shares > 0);
    str_release(&out);
}

static void test_back_from_what_was_found(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    hlo_id here[3];

    app_key(app, 16);
    screen(app, "decoder layer 0 self k kernel\r", &out);
    here[0] = app_watch(app)->here;
    app_key(app, 16); /* C-p */
    screen(app, "encoder layer 0 self q kernel\r", &out);
    here[1] = app_watch(app)->here;
    app_key(app, 16);
    screen(app, "decoder layer 1 ffn kernel\r", &out);
    here[2] = app_watch(app)->here;
    assert_true(here[0] != here[1] && here[1] != here[2]);
    app_key(app, 15); /* C-o */
    screen(app, "", &out);
    assert_int_equal(app_watch(app)->here, here[1]);
    app_key(app, 15);
    screen(app, "", &out);
    assert_int_equal(app_watch(app)->here, here[0]);
    app_key(app, 15); /* to the folder where it began */
    app_key(app, 15);
    assert_non_null(strstr(screen(app, "", &out), "nowhere to go back to"));
    str_release(&out);
    app_free(app);
}

static void test_lines_complete(void **state)
{
    static const struct {
        const char *typed, *most;
    } cases[] = {
        {"open " AUTOMAP_SOURCE_DIR "/examples/clu",
         "open " AUTOMAP_SOURCE_DIR "/examples/clusters/"},
        {"plan " AUTOMAP_SOURCE_DIR "/CMakeL", "plan " AUTOMAP_SOURCE_DIR "/CMakeLists.txt"},
        {"open t5-base6", "open t5-base6"},
        {"cluster h100-1", "cluster h100-1x8"},
        {"theme lig", "theme light"},
        {"set reward pa", "set reward paper"},
        {"set memory-limit d", "set memory-limit device"},
        {"again double_q of", "again double_q off"},
        {"zero 3", "zero 3"},
        {"mesh 2", "mesh 2x2"},
        {"micro-batches 4", "micro-batches 4"},
        {"row", "row "},
        {"role embed", "role embedding="},
        {"role embedding=v", "role embedding=variable"},
        {"loss dot_general.153", "loss dot_general.153"},
        {"servers 0", "servers 0:"},
        {"servers 0:2", "servers 0:2"},
        {"batch batch/s", "batch batch/source:"},
        {"batch batch/source:1", "batch batch/source:1"},
        {"set mic", "set micro-batches "},
        {"set zero 3", "set zero 3"},
        {"set link b", "set link bandwidth "},
        {"star", "start"}};
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    char most[600];

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        assert_true(colon_complete(app, cases[n].typed, most, sizeof most) > 0);
        assert_string_equal(most, cases[n].most);
    }
    assert_int_equal(colon_complete(app, "open /nowhere/at/all", most, sizeof most), 0);
    app_free(app);
}

/* A word of a command stands once in what is offered for it. */
static void test_nothing_is_offered_twice(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", "a-2x8-v100", 120, 40);
    struct colon_line a, b;

    for (int i = 0; colon_line(app, i, &a); i++) {
        for (int k = 0; k < i && colon_line(app, k, &b); k++) {
            if (!strcmp(a.text, b.text))
                fail_msg("\"%s\" is offered twice", a.text);
        }
    }
    app_free(app);
}

/* A line that nothing is offered for says what its command takes, or the files it may mean. */
static void test_lines_say_what_they_take(void **state)
{
    static const struct {
        const char *typed, *said;
    } cases[] = {
        {"plan " AUTOMAP_SOURCE_DIR "/README.md", "README.md"},
        {"open " AUTOMAP_SOURCE_DIR "/CMakeL", "CMakeLists.txt"},
        {"open " AUTOMAP_SOURCE_DIR "/examples/clusters/h100-1", "h100-1x8.yaml"},
        {"page t5-tiny.what-if.md", "page  what is shown as a page"},
        {"plan nowhere.json", "plan  a plan of this model"},
        {"set gamma 0.9", "set gamma  "},
        {"set link bandwidth 25 GB/s", "set link bandwidth  of a device within its server"},
        {"cluster network.x=3", "cluster NAME  this model on another cluster"},
        {"unpin decoder/x:0", "unpin, expected NAME:DIM"},
        {"pin decoder/x:0=1", "pin, expected NAME:DIM=0 or NAME:DIM=1"}};
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    char said[600];

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        assert_true(colon_hint(app, cases[n].typed, said, sizeof said));
        if (strncmp(said, cases[n].said, strlen(cases[n].said)) != 0)
            fail_msg("\"%s\": %s", cases[n].typed, said);
    }
    assert_false(colon_hint(app, "nosuch x", said, sizeof said));
    app_free(app);
}

/* What the options list is set by its name there, with a blank or a sign of equality. */
static void test_figures_are_set_by_name(void **state)
{
    static const char *const lines[] = {
        "set micro-batches 4", "set micro-batches=2", "set zero=1",   "set link bandwidth=25 GB/s",
        "set devices 2",       "set memory 20 GB",    "set gamma=0.9"};
    struct app *app = explorer_open("t5-tiny", "v100-1x4", 120, 40);
    struct str out = {0};
    char keys[128];

    (void)state;
    for (uint32_t n = 0; n < sizeof lines / sizeof *lines; n++) {
        snprintf(keys, sizeof keys, ":%s\r", lines[n]);
        screen(app, keys, &out);
        if (app_watch(app)->shot->acts != n + 1)
            fail_msg("\"%s\" is no act:\n%s", lines[n], out.text);
    }
    const struct snapshot *shot = app_watch(app)->shot;
    assert_int_equal(shot->problem->options.micro_batches, 2);
    assert_int_equal(shot->problem->options.zero, 1);
    assert_int_equal(shot->problem->cluster.devices, 2);
    assert_true(shot->problem->cluster.type[0].memory_bytes == 20e9);
    assert_true(shot->problem->cluster.group[0].link.bandwidth == 25e9);
    assert_true(fabs((double)shot->options.rl.gamma - 0.9) < 1e-6);
    str_release(&out);
    app_free(app);
}

/* A line that cannot be carried out says what was wrong and what was expected. */
static void test_wrong_lines(void **state)
{
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"nosuch", "no command nosuch. C-p lists all."},
        {"pin nosuch = 1", "pin nosuch = 1: no linkage group has that name"},
        {"unpin", "unpin, expected NAME:DIM"},
        {"set", "set, expected OPTION VALUE"},
        {"set loss x", "set loss: it is an edit of the problem, without set: loss x"},
        {"set nosuch 1", "set nosuch: there is no option of that name"},
        {"set reward x", "set reward x, expected cost or paper"},
        {"set epsilon 7", "set epsilon 7, expected a number from 0 to 1"},
        {"set epsilon-end 7", "set epsilon-end 7, expected a number from 0 to 1"},
        {"set hidden x", "set hidden x, expected widths such as 128-128"},
        {"set memory-limit x", "expected none, device or a size such as 12 GB"},
        {"set seed x", "set seed x, expected a whole number"},
        {"batch 7.5", "batch 7.5, expected samples such as 64, x2 or /2, or NAME:DIM"},
        {"servers", "servers, expected servers such as 0-3,8 or 0:4"},
        {"row", "row, expected a number"},
        {"role x=y", "expected NAME= variable, input, optimizer state"},
        {"zero 9", "zero 9, expected a number from 0 to 3"},
        {"mesh 3x3", "a mesh of 9 devices, expected sizes whose product is the cluster's 4"},
        {"game chess", "no game chess, expected cartpole, acrobot"},
        {"open /nowhere", "no model /nowhere: neither a file nor shipped"},
        {"plan /nowhere", "/nowhere: cannot be read"},
        {"cluster nowhere", "no cluster nowhere: neither a file nor shipped"},
        {"theme nowhere", "no theme \"nowhere\""}};
    struct app *app = explorer_open("t5-tiny", "v100-1x4", 140, 40);
    struct str out = {0};
    char keys[128];

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        snprintf(keys, sizeof keys, ":%s\r", cases[n].line);
        if (!strstr(screen(app, keys, &out), cases[n].said))
            fail_msg("\"%s\" does not say \"%s\":\n%s", cases[n].line, cases[n].said,
                     out.text + (out.size > 300 ? out.size - 300 : 0));
    }
    str_release(&out);
    app_free(app);
}

static void test_another_cluster_and_the_start(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", "v100-1x4", 120, 40);
    struct str out = {0};

    assert_non_null(strstr(screen(app, ":start\r", &out), "Enter opens"));
    assert_non_null(strstr(screen(app, "\033", &out), "1 Graph"));
    screen(app, ":cluster h100-1x8\r", &out);
    assert_string_equal(app_watch(app)->problem->cluster.name, "h100-1x8");
    screen(app, ":cluster network.bandwidth=10 Gbit/s\r", &out);
    assert_string_equal(app_watch(app)->problem->cluster.name, "h100-1x8");
    assert_non_null(strstr(screen(app, ":cluster nosuch\r", &out), "no cluster nosuch"));
    /* names of clusters are offered before the figures of this one */
    assert_non_null(
        strstr(screen(app, ":cluster ", &out), "\n cluster v100-1x4  cluster a-2x8-v100"));
    screen(app, "\033", &out);

    /* a pin that is in no file and in no journal is not dropped unasked, and not asked for twice */
    struct err e;
    assert_int_equal(app_tell(app, "pin @0=1", &e), 0);
    assert_non_null(strstr(screen(app, ":cluster v100-1x4\r", &out), "1 pin is not saved"));
    assert_string_equal(app_watch(app)->problem->cluster.name, "h100-1x8");
    assert_non_null(strstr(screen(app, ":cluster v100-1x4\r", &out), "without the pins"));
    assert_string_equal(app_watch(app)->problem->cluster.name, "v100-1x4");
    str_release(&out);
    app_free(app);
}

/* Memory of a model that takes megabytes is told in them, and what stands below a curve is of it.
 */
static void test_lines_of_what_is_shown(void **state)
{
    (void)state;
    struct app *app = explorer_open("mlp", "v100-1x4", 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "batch /2", &e), 0);
    const char *text = screen(app, "Vw", &out);
    assert_non_null(strstr(text, "2 rows · ms, MB · each"));
    assert_non_null(strstr(text, "variables, state, MB "));
    assert_null(strstr(text, ", GB"));
    screen(app, "\033", &out);
    assert_int_equal(app_tell(app, "episode 40", &e), 0);
    assert_non_null(strstr(screen(app, "4", &out), ", in ln(baseline "));
    text = screen(app, "l", &out);
    assert_non_null(strstr(text, "\n after a decision "));
    assert_null(strstr(text, ", in ln(baseline "));
    str_release(&out);
    app_free(app);
}

/* Why of a folder: a single decision is called by its name. */
static void test_why_of_a_folder(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};

    screen(app, "1", &out); /* the tree is opened as far as it fits when it is drawn */
    const char *text = screen(app, "gjjw", &out);
    assert_non_null(strstr(text,
                           "relative bias: one decision reaches into it, decoder self, and it is "
                           "whole in this plan."));
    text = screen(app, "\033kw", &out);
    assert_non_null(
        strstr(text, "decoder: 6 decisions reach into it, none of them splits anything."));
    str_release(&out);
    app_free(app);
}

/* Each setting is printed in the fewest digits that give it again. */
/* w asks about the row under the cursor: of the log, of what if; where a panel has none, it says
 * whose row it is about. */
static void test_why_of_a_row(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct watch *w = app_watch(app);
    struct str out = {0};
    struct err e;
    char about[NAME_ROOM + 16];

    assert_int_equal(app_tell(app, "episode 4", &e), 0);
    double before = w->exact->cost.step_ms;
    assert_int_equal(app_tell(app, "pin @2=0", &e), 0);
    assert_true(w->cursor != 2 && w->exact->cost.step_ms > before + 1);
    assert_non_null(strstr(screen(app, "4w", &out), "w on panel 2's row: "));
    assert_non_null(strstr(screen(app, "\0335w", &out), "w on panel 2's row: "));
    assert_non_null(
        strstr(screen(app, "\0337/exact\rw", &out), " of  proven optimum of variables"));
    snprintf(about, sizeof about, "in class %s: ", w->move[2].name);
    screen(app, "\033", &out);
    assert_non_null(strstr(screen(app, "7/you\rw", &out), about));
    assert_non_null(strstr(screen(app, "\033Vww", &out), about));
    assert_non_null(strstr(out.text, " of  proven optimum of variables  308.1"));
    assert_non_null(strstr(screen(app, "\033kw", &out), " of  proven optimum  206.4"));
    screen(app, "\033", &out);
    assert_non_null(strstr(screen(app, "Vrjjjw", &out), " of  random, episode "));
    str_release(&out);
    app_free(app);
}

static void test_figures_of_options(void **state)
{
    static const double values[] = {0.05, 0.1, 5e-4, 1.0 / 3, 0.6, 1e-6, 2000, 0.30000000000000004};
    struct rl_settings s = *search_preset(&(struct search_options){0});
    char text[64];

    (void)state;
    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        rl_settings_print(&s, row, text, sizeof text);
        assert_null(strstr(text, "0000000"));
    }
    for (size_t n = 0; n < sizeof values / sizeof *values; n++) {
        const struct rl_setting *row = rl_setting_table;
        while (row->name && strcmp(row->name, "epsilon_end") != 0)
            row++;
        assert_non_null(row->name);
        s.epsilon_end = values[n];
        rl_settings_print(&s, row, text, sizeof text);
        assert_true(strtod(text, NULL) == values[n]);
    }
    s.epsilon_end = 0.05;
}

/* What does not fit is said of the space searched; the batch split's own fit follows the limit. */
static void test_the_scope_of_no_plan_fits(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "set memory-limit 5.5 GB", &e), 0);
    assert_non_null(strstr(screen(app, "", &out), "no split of variables fits"));
    assert_non_null(strstr(out.text, "batch split does"));
    app_resize(app, 80, 24);
    assert_non_null(strstr(screen(app, "", &out), "no split of variables fits"));
    app_resize(app, 120, 40);
    assert_int_equal(app_tell(app, "set memory-limit 2 GB", &e), 0);
    assert_non_null(strstr(screen(app, "", &out), "no split of variables fits"));
    assert_null(strstr(out.text, "batch split does"));
    assert_int_equal(app_tell(app, "set memory-limit none", &e), 0);
    assert_int_equal(app_tell(app, "episode 3", &e), 0);
    app_resize(app, 80, 24);
    assert_non_null(strstr(screen(app, "", &out), "optimum"));
    assert_int_equal(app_tell(app, "set memory-limit 12 GB", &e), 0);
    assert_int_equal(app_tell(app, "episode 3", &e), 0);
    assert_non_null(strstr(screen(app, "", &out), "optimum"));
    str_release(&out);
    app_free(app);
}

static double best_of_plans(struct app *app)
{
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = plan_load_all(app_watch(app), plans);
    double best = 1e300;

    for (uint32_t n = 0; n < count; n++)
        best = plans[n]->cost.step_ms < best ? plans[n]->cost.step_ms : best;
    return best;
}

/* A pipeline is held against the fastest plan without stages: of whatever space, and of other
 * meshes than the search's. */
static void test_what_a_pipeline_is_compared_with(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "a-2x8-v100", 160, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 2", &e), 0);
    screen(app, "Vi", &out);
    const char *at = strstr(out.text, "without stages ");
    assert_non_null(at);
    double without = strtod(at + strlen("without stages "), NULL);
    assert_true(without < best_of_plans(app) - 10); /* of one axis over all devices */
    assert_non_null(strstr(at, "mesh 2x8"));
    screen(app, "\033Vh", &out); /* and a hybrid plan too */
    assert_non_null(at = strstr(out.text, "no stages "));
    assert_true(strtod(at + strlen("no stages "), NULL) == without);
    screen(app, "\033", &out);
    assert_int_equal(app_tell(app, "mesh 2x8", &e), 0);
    assert_int_equal(app_tell(app, "set kind all", &e), 0);
    screen(app, "", &out);
    assert_true(fabs(without - best_of_plans(app)) < 0.06);
    str_release(&out);
    app_free(app);
}

static void test_prices_say_why_not(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct err e;

    assert_int_equal(app_tell(app, "pin @0=1", &e), 0);
    const struct watch *w = app_watch(app);
    int excluded = 0;
    for (int n = 1; n < w->move_count; n++) {
        struct price p = price_at_best(w, n, 1);
        assert_false(p.known && p.impossible);
        excluded += p.impossible;
    }
    assert_true(excluded > 0);
    app_free(app);
}

/* After thousands of episodes the points are a band of two edges, not a filled block. */
static void test_long_curves_have_a_band(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;
    int full = 0, any = 0;

    assert_int_equal(app_tell(app, "set algorithm random", &e), 0);
    assert_int_equal(app_tell(app, "episode 100", &e), 0);
    assert_null(strstr(screen(app, "4z", &out), "10-90 %"));
    assert_int_equal(app_tell(app, "episode 9000", &e), 0);
    assert_non_null(strstr(screen(app, "", &out), "10–90 %"));
    for (const char *c = out.text; (c = strstr(c, "\xe2")); c++) { /* braille: U+2800 + dots */
        if ((unsigned char)c[1] < 0xa0 || (unsigned char)c[1] > 0xa3)
            continue;
        unsigned dots = ((unsigned)(unsigned char)c[1] - 0xa0) << 6 | ((unsigned char)c[2] & 0x3f);
        any += dots != 0;
        full += __builtin_popcount(dots) > 5;
    }
    assert_true(any > 200);
    assert_true(full < any / 8);
    str_release(&out);
    app_free(app);
}

/* Where the plan of the headline is one that nobody found, it is called so: in every window, in the
 * heads of the panels, in the pin's dialog, in why. A plan that the search found is the best. */
static void test_the_baseline_is_called_so(void **state)
{
    (void)state;
    static const int widths[] = {24, 34, 40, 52, 60, 70, 80, 100, 120, 160, 200};
    struct app *app = explorer_open("t5-base6", NULL, 80, 24);
    struct str out = {0};
    struct err e;

    assert_true(watch_is_baseline(app_watch(app)));
    for (size_t n = 0; n < sizeof widths / sizeof *widths; n++) {
        app_resize(app, widths[n], widths[n] / 3);
        assert_non_null(strstr(explorer_text(app, &out), " ms baseline"));
        assert_null(strstr(out.text, "ms best"));
        assert_null(strstr(out.text, "best plan"));
        assert_null(strstr(out.text, "in best"));
    }
    app_resize(app, 80, 24);
    assert_non_null(strstr(screen(app, "2p", &out), "baseline has this"));
    assert_non_null(strstr(screen(app, "\033w", &out), "of  baseline"));
    screen(app, "\033", &out);
    assert_int_equal(app_tell(app, "episode 30", &e), 0);
    assert_false(watch_is_baseline(app_watch(app)));
    for (size_t n = 5; n < sizeof widths / sizeof *widths; n++) {
        app_resize(app, widths[n], widths[n] / 3);
        assert_non_null(strstr(explorer_text(app, &out), " ms best"));
        assert_null(strstr(out.text, "ms baseline"));
    }
    app_resize(app, 80, 24);
    assert_non_null(strstr(screen(app, "2p", &out), "best plan has this"));
    str_release(&out);
    app_free(app);
}

/* Memory of plans that take no GB is in MB: 0.0 against 0.1 GB says nothing. */
static void test_small_memory_is_in_megabytes(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};

    assert_non_null(strstr(screen(app, "Vp", &out), "memory MB"));
    assert_non_null(strstr(screen(app, "*j*c", &out), "memory, MB"));
    assert_null(strstr(out.text, "memory, GB"));
    app_free(app);
    app = explorer_open("t5-base6", NULL, 120, 40);
    assert_non_null(strstr(screen(app, "Vp", &out), "memory GB"));
    assert_non_null(strstr(screen(app, "*j*c", &out), "memory, GB"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undo_says_what_it_did),
        cmocka_unit_test(test_a_pin_is_not_set_back),
        cmocka_unit_test(test_answers_have_columns),
        cmocka_unit_test(test_back_from_what_was_found),
        cmocka_unit_test(test_lines_complete),
        cmocka_unit_test(test_nothing_is_offered_twice),
        cmocka_unit_test(test_lines_say_what_they_take),
        cmocka_unit_test(test_figures_are_set_by_name),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_another_cluster_and_the_start),
        cmocka_unit_test(test_lines_of_what_is_shown),
        cmocka_unit_test(test_why_of_a_folder),
        cmocka_unit_test(test_why_of_a_row),
        cmocka_unit_test(test_figures_of_options),
        cmocka_unit_test(test_the_scope_of_no_plan_fits),
        cmocka_unit_test(test_what_a_pipeline_is_compared_with),
        cmocka_unit_test(test_prices_say_why_not),
        cmocka_unit_test(test_long_curves_have_a_band),
        cmocka_unit_test(test_the_baseline_is_called_so),
        cmocka_unit_test(test_small_memory_is_in_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
