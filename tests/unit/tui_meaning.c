/* Figures that can not be misread: what a decision is worth in the best plan is what the engine
 * says of a flip, and no flip betters a proven optimum; words are explained where they stand; the
 * options say what the last change came to. */
#include "engine/live/ledger.h"
#include "engine/plan/explain.h"
#include "engine/plan/plan.h"
#include "explorer.h"
#include "hlo/support/file.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/glossary.h"
#include "tui/watch/flips.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/trial.h"
#include "tui/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    for (const char *k = keys; *k; k++) {
        app_touch(app);
        (void)app_frame(app);
        explorer_key(app, *k);
        app_settle(app, 10);
    }
    return explorer_text(app, out);
}

/* The engine's own flip of a single class, the rest staying. -1: not possible. */
static double engine_flip(const struct watch *w, class_id k, uint32_t axis)
{
    struct plan plan = {.problem = w->problem, .on = w->best->on, .cost = w->best->cost};

    return explain_flip_ms(&plan, k, (label)(w->best->on[k] ^ 1u << axis));
}

static void test_flips(void **state)
{
    (void)state;
    static const char *const models[] = {"t5-tiny", "t5-base6", "mlp", "vgg19"};
    int compared = 0, in_way = 0;

    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct app *app = explorer_open(models[m], NULL, 120, 40);
        struct flips *f = flips_new();
        struct err e;
        assert_int_equal(app_tell(app, "episode 400", &e), 0);
        const struct watch *w = app_watch(app);
        bool optimal = w->exact && w->exact->proven && watch_gap(w) == 0;
        for (int n = 0; n < w->move_count; n++) {
            struct flip flip = flips_of(f, w, n, 1, 0);
            assert_true(flip.known);
            if (flip.impossible)
                continue;
            assert_int_equal(flip.split, w->move[n].best == 0);
            assert_true(!optimal || flip.change_ms > -1e-9 * w->best->cost.step_ms);
            in_way += flip.in_way > 0;
            const struct game_move *move = &w->moves->items[n];
            if (flip.in_way || move->class_count != 1)
                continue;
            double engine = engine_flip(w, w->moves->pool[move->classes], move->axis);
            if (engine < 0)
                continue; /* a class that no decision reaches stands in its way */
            assert_true(fabs(engine - w->best->cost.step_ms - flip.change_ms) <
                        1e-9 * (1 + w->best->cost.step_ms));
            compared++;
        }
        flips_free(f);
        app_free(app);
    }
    printf("%d flips as the engine's, %d with others in their way\n", compared, in_way);
    assert_true(compared >= 15 && in_way >= 3);
}

/* The rest decided anew: of each decision, and of each series together, no longer than with the
 * rest as it is, no shorter than the optimum, and the optimum's own choices cost nothing. */
static void test_turned(void **state)
{
    (void)state;
    static const char *const models[] = {"t5-tiny", "mlp", "t5-base6"};
    int turned = 0, series = 0;

    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct app *app = explorer_open(models[m], NULL, 120, 40);
        struct flips *f = flips_new();
        struct err e;
        assert_int_equal(app_tell(app, "episode 3", &e), 0);
        const struct watch *w = app_watch(app);
        double best = w->best->cost.step_ms, eps = 1e-9 * best;
        assert_true(w->exact && w->exact->proven);
        for (int n = 0, end; n < w->move_count; n = end) {
            for (end = n + 1; end < w->move_count && !strcmp(w->move[n].stem, w->move[end].stem);)
                end++;
            for (int count = 1; count <= end - n; count += end - n - 1 ? end - n - 1 : 1) {
                struct turned t = flips_anew(f, w, n, count, 0);
                struct flip flip = flips_of(f, w, n, count, 0);
                assert_true(t.known);
                if (t.impossible || !t.proven)
                    continue;
                bool together = true, as_exact = true;
                for (int k = n; k < n + count; k++) { /* all of them could be turned */
                    together &= !flip.split || !w->move[k].best;
                    as_exact &= w->move[k].exact == (flip.split ? w->move[k].classes : 0);
                }
                assert_true(best + t.change_ms > w->exact->cost.step_ms - eps);
                assert_true(!as_exact || best + t.change_ms < w->exact->cost.step_ms + eps);
                if (count == 1 && w->move[n].classes == 1 && !flip.impossible)
                    assert_true(t.change_ms < flip.change_ms + eps);
                turned++;
                series += count > 1 && together;
            }
        }
        flips_free(f);
        app_free(app);
    }
    printf("%d turned, %d series\n", turned, series);
    assert_true(turned >= 20 && series >= 2);
}

static void test_words(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 5", &e), 0);
    const char *text = screen(app, "2?", &out);
    assert_non_null(strstr(text, "words on this screen"));
    assert_non_null(strstr(text, "change of the step if only this is split"));
    assert_non_null(strstr(text, "so a plan needs no resharding"));
    screen(app, "\033", &out);
    assert_non_null(strstr(screen(app, "?margin", &out), "the distance between the two Q"));
    screen(app, "\033\033", &out);
    assert_non_null(strstr(screen(app, "C,?", &out), "what the network thinks the rest"));
    str_release(&out);
    app_free(app);
}

/* The cells of a word and those below it, as the word cursor shows them. */
static bool stands_below(const struct grid *g, const char *meaning)
{
    char head[24];
    struct str row = {0};
    bool found = false;

    snprintf(head, sizeof head, "%.20s", meaning);
    for (int y = 0; y < g->height && !found; y++) {
        str_clear(&row);
        for (int x = 0; x < g->width; x++) {
            const struct cell *c = &g->cells[y * g->width + x];
            bool strip = (c->style >> 8 & 0xff) == ROLE_SELECT && c->style & BOLD;
            str_format(&row, "%c", strip && c->ch < 128 ? (char)c->ch : '|');
        }
        const char *at = strstr(row.text, head);
        found = at != NULL;
        int x = found ? (int)(at - row.text) : 0;
        for (int k = -4; found && k <= 4; k++) { /* its word in reverse is within four rows */
            for (int c = 0; c < g->width && y + k >= 0 && y + k < g->height; c++) {
                if (g->cells[(y + k) * g->width + c].style & REVERSE && abs(c - x) < 64)
                    k = 8;
            }
            found = k != 4;
            if (k >= 8)
                break;
        }
    }
    str_release(&row);
    return found;
}

/* A word or figure of the frame before is shown whole or not at all. */
static bool shows_no_half(const struct grid *g, const struct cell *before)
{
    for (int y = 0; y < g->height - 1; y++) {
        int shown = 0, hidden = 0;
        for (int x = 0; x <= g->width; x++) {
            const struct cell *c = &g->cells[y * g->width + x], *was = &before[y * g->width + x];
            bool text = x < g->width && was->ch != ' ' && (was->ch < 0x2500 || was->ch > 0x259f);
            if (!text) {
                if (shown && hidden)
                    return false;
                shown = hidden = 0;
                continue;
            }
            bool strip = (c->style >> 8 & 0xff) == ROLE_SELECT && c->style != was->style;
            bool stands = c->ch == was->ch && !strip;
            shown += stands;
            hidden += !stands;
        }
    }
    return true;
}

/* K explains one word where it stands, ?? too; each word of each screen can be reached, and what
 * stands below it is its own meaning; the screen is as before afterwards. */
static void test_a_word_is_explained_in_place(void **state)
{
    (void)state;
    static const char *const views[] = {"", "2", "Vi", "Vs", "C,", "2jw", "o", "Vm", "Vp"};
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct cell *cells = mem_alloc(120 * 40 * sizeof *cells);
    struct str before = {0}, after = {0};
    struct glossary_spot spot[512];
    struct err e;
    int seen = 0;

    assert_int_equal(app_tell(app, "episode 20", &e), 0);
    for (size_t n = 0; n < sizeof views / sizeof *views; n++) {
        screen(app, views[n], &before);
        app_touch(app);
        int count = glossary_spots(app_frame(app), spot, 512);
        assert_true(count > 3 && count < 512);
        explorer_text(app, &before);
        app_touch(app);
        memcpy(cells, app_frame(app)->cells, 120 * 40 * sizeof *cells);
        screen(app, n % 2 ? "K" : "??", &after);
        for (int k = 0; k < count; k++, seen++) {
            char title[64];
            app_touch(app);
            const struct grid *g = app_frame(app);
            if (g->cursor_y < g->height - 1) {
                int at = 0;
                while (at < count && (spot[at].y != g->cursor_y || spot[at].x != g->cursor_x))
                    at++;
                assert_true(at < count);
                snprintf(title, sizeof title, "\n %s  word %d of %d", glossary[spot[at].word].word,
                         at + 1, count);
                assert_true(stands_below(g, glossary[spot[at].word].meaning));
                assert_true(shows_no_half(g, cells));
                assert_non_null(strstr(explorer_text(app, &after), title));
            }
            explorer_key(app, 'l');
        }
        screen(app, "\033", &after);
        assert_string_equal(before.text, after.text);
        screen(app, "\033\033", &after);
    }
    printf("%d words explained where they stand\n", seen);
    free(cells);
    str_release(&before);
    str_release(&after);
    app_free(app);
}

/* However far one pages down, the last row of the keys is the last that is seen. */
static void test_help_ends_with_its_last_row(void **state)
{
    struct app *app = explorer_open("t5-tiny", NULL, 120, 30);
    struct str once = {0}, more = {0};

    (void)state;
    screen(app, "?", &once);
    for (int n = 0; n < 8; n++)
        app_key(app, KEYC_PAGE_DOWN);
    explorer_text(app, &once); /* as it is drawn at once, not the frame after */
    explorer_text(app, &more);
    assert_string_equal(once.text, more.text);
    assert_non_null(strstr(once.text, "draw anew"));
    app_key(app, KEYC_PAGE_DOWN);
    assert_string_equal(explorer_text(app, &more), once.text);
    str_release(&once);
    str_release(&more);
    app_free(app);
}

/* The row of the cursor comes first; letters beside make another word. */
static void test_glossary(void **state)
{
    (void)state;
    struct grid g = {0};
    int found[8], count;

    grid_resize(&g, 60, 4);
    struct pane p = pane_whole(&g);
    pane_text(&p, 0, 0, 0, "Lattice strictly Q7 proven");
    pane_text(&p, 0, 2, 0, "margin 0.1 (Q)");
    count = glossary_on(&g, 2, found, 8);
    assert_int_equal(count, 3);
    assert_string_equal(glossary[found[2]].word, "proven");
    for (int n = 0; n < 2; n++)
        assert_true(!strcmp(glossary[found[n]].word, "margin") ||
                    !strcmp(glossary[found[n]].word, "Q"));
    assert_int_equal(glossary_on(&g, -1, found, 1), 1);
    grid_release(&g);
}

/* Every view's own words are explained in it, or are not on the screen; and a word of one view is
 * not explained as another's. */
static void test_every_view_is_explained(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *words, *not ;
    } views[] = {
        {"", "strict|optimum|proven|baseline|alone|in best|dims|elsewhere|ε|margin|visits|Q", ""},
        {"Vi", "L|C A W|eager|all-reduce|busy|simulated|1f1b|gpipe|in flight|recompute",
         "stage 2 sets"},
        {"Vh", "ZeRO|data × tensor|once a step, ms|over bound|L|eager|all-reduce", ""},
        {"Vl", "contiguous|over bound", ""},
        {"Vs", "relaxed|reshard|all-to-all|all-gather|reduce-scatter|bound", ""},
        {"Vp", "over row 1|proven|all-reduces", ""},
        {"Vm", "best flip|peak|moments", ""},
        {"Vr", "annealing|enumeration|greedy|DQN|over optimum", ""},
        {"Vx", "classes", ""},
        {"Vw", "proven|batch", ""},
        {"2jw", "class|anew|all-reduces|optimum", ""},
        {"2j\r", "ties|rhs|contracting|all-reduces", ""},
        {"C,", "target|update|ε|priority|double|dueling|n-step|target net|Huber|replay", ""},
        {"o", "micro-batches|ZeRO|cost reward|folding|propagation", ""},
    };
    struct app *app = explorer_open("t5-base6", "c-4x8-v100", 140, 50);
    struct str out = {0};
    int found[64], explained = 0;
    struct err e;

    assert_int_equal(app_tell(app, "episode 20", &e), 0);
    assert_int_equal(app_tell(app, "zero 1", &e), 0); /* rows of what if, as a tree */
    assert_int_equal(app_tell(app, "zero 2", &e), 0);
    assert_int_equal(app_tell(app, "row 0", &e), 0);
    assert_int_equal(app_tell(app, "micro-batches 2", &e), 0);
    assert_int_equal(app_tell(app, "row 0", &e), 0);
    assert_int_equal(app_tell(app, "episode 20", &e), 0);
    assert_int_equal(app_tell(app, "decide 2", &e), 0);
    for (size_t n = 0; n < sizeof views / sizeof *views; n++) {
        const char *text = screen(app, views[n].keys, &out);
        app_touch(app);
        const struct grid *g = app_frame(app);
        int count = glossary_on(g, -1, found, 64);
        for (int i = 0; i < g->width * g->height; i++) { /* each sign has one in ASCII */
            if (g->cells[i].ch != '?' && grid_ascii(g->cells[i].ch) == '?')
                fail_msg("%s: U+%04X has no ASCII", views[n].keys, (unsigned)g->cells[i].ch);
        }
        for (const char *w = views[n].words; *w; w += strcspn(w, "|"), w += *w == '|') {
            char word[32];
            bool known = false, there = false;
            snprintf(word, sizeof word, "%.*s", (int)strcspn(w, "|"), w);
            there = strstr(text, word) != NULL;
            for (int k = 0; glossary[k].word; k++) {
                if (strcmp(glossary[k].word, word) != 0)
                    continue;
                for (int f = 0; f < count; f++)
                    known |= !strcmp(glossary[found[f]].meaning, glossary[k].meaning);
            }
            if (there && !known)
                fail_msg("%s: %s is not explained", views[n].keys, word);
            explained += known;
        }
        for (int f = 0; f < count; f++)
            assert_string_not_equal(glossary[found[f]].word, views[n].not );
        screen(app, "\033\033\033", &out);
    }
    printf("%d words explained\n", explained);
    assert_true(explained >= 60);
    str_release(&out);
    app_free(app);
}

/* The words of everyday English that heads, notes and columns use; all others are explained. */
static bool is_plain(const char *word)
{
    static struct str text;
    char line[48];

    if (!text.text) {
        struct err e;
        assert_int_equal(
            hlo_file_read(AUTOMAP_SOURCE_DIR "/tests/data/plain_words.txt", 1 << 20, &text, &e), 0);
    }
    snprintf(line, sizeof line, "\n%s\n", word);
    return strstr(text.text, line) != NULL;
}

/* Whether K can be at the word, alone or in a phrase. */
static bool is_explained(const struct glossary_spot *spot, int count, int x, int y, int width)
{
    for (int n = 0; n < count; n++) {
        if (spot[n].y == y && spot[n].x <= x && x + width <= spot[n].x + spot[n].width)
            return true;
    }
    return false;
}

static bool name_of_model(const struct app *app, const char *word)
{
    const struct watch *w = app_watch(app);

    for (int n = 0; n < w->move_count; n++) {
        if (strstr(w->move[n].name, word))
            return true;
    }
    return false;
}

/* Dim text and titles, which are the words of the explorer: a name of the model has a digit, a
 * slash, a dot or the like beside it, or stands in the model. Counts the words that are neither
 * plain nor explained. */
static int count_unexplained(const struct app *app, const struct grid *g, const char *view,
                             struct str *told)
{
    struct glossary_spot spot[512];
    int unknown = 0, spots = glossary_spots(g, spot, 512);

    assert_true(spots < 512);
    for (int y = 0; y < g->height; y++) {
        const struct cell *row = g->cells + y * g->width;
        for (int x = 0; x < g->width; x++) {
            char word[40], key[44];
            int n = 0;
            unsigned role = row[x].style & 0xff;
            uint32_t before = x ? row[x - 1].ch : ' ', after;
            while (x < g->width && (row[x].style & 0xff) == role && n < 39 && row[x].ch < 128 &&
                   (isalpha((int)row[x].ch) || (n && row[x].ch == '-')))
                word[n++] = (char)tolower((int)row[x++].ch);
            after = n && x < g->width ? row[x].ch : ' ';
            word[n] = 0;
            if (n < 2 || (role != ROLE_DIM && role != ROLE_TITLE) || after > 127 || before > 127 ||
                strchr("/_.[]'\"()0123456789<>=+-", (int)before) ||
                (after && strchr("/_[]'\"(0123456789<>=", (int)after)) ||
                (after == '.' && x + 1 < g->width && row[x + 1].ch != ' '))
                continue;
            snprintf(key, sizeof key, " %s ", word);
            if (is_plain(word) || is_explained(spot, spots, x - n, y, n) ||
                (told->text && strstr(told->text, key)) || name_of_model(app, word))
                continue;
            str_format(told, " %s ", word);
            printf("%s: %s is not explained\n", view, word);
            unknown++;
        }
    }
    return unknown;
}

/* Words of the field that are plain ones too, or no words, so that only a list can tell them. */
static const char *const jargon[] = {
    "dp",      "tp",           "closed form",    "alike",   "global",  "kinds",  "C A W",
    "C  A  W", "on 4 devices", "on 1 device",    "/8!",     "768/x",   "32/y",   "strict",
    "relaxed", "baseline",     "optimum",        "proven",  "bound",   "ZeRO",   "replicas",
    "eager",   "micro-batch",  "linkage groups", "reduces", "reshard", "visits", "margin"};
enum { JARGON = sizeof jargon / sizeof *jargon };

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* How often words of the list stand in a row; all must be explained there. `room`: the row alone.
 */
static int check_jargon(const char *row, struct grid *room)
{
    struct glossary_spot spot[64];
    struct pane p = pane_whole(room);
    int seen = 0, holds = 0;

    for (size_t n = 0; n < JARGON && !holds; n++)
        holds = strstr(row, jargon[n]) != NULL;
    if (!holds)
        return 0;
    grid_blank(room);
    pane_text(&p, 0, 0, ROLE_TEXT, row);
    int count = glossary_spots(room, spot, 64);
    for (size_t n = 0; n < JARGON; n++) {
        size_t size = strlen(jargon[n]);
        for (const char *at = row; (at = strstr(at, jargon[n])); at += size) {
            char before[1024];
            if ((at > row && is_letter(at[-1]) && is_letter(*at)) || is_letter(at[size]))
                continue;
            snprintf(before, sizeof before, "%.*s", (int)(at - row), row);
            if (!is_explained(spot, count, utf8_text_columns(before), 0,
                              utf8_text_columns(jargon[n])))
                fail_msg("%s is not explained in: %s", jargon[n], row);
            seen++;
        }
    }
    return seen;
}

/* Each of them has a meaning, by itself and wherever a screen of the tests shows it. */
static void test_jargon_is_explained(void **state)
{
    (void)state;
    char path[600], row[64];
    struct grid g = {0};
    int seen = 0;

    grid_resize(&g, 320, 1);
    for (size_t n = 0; n < JARGON; n++) {
        snprintf(row, sizeof row, "the %s of", jargon[n]);
        assert_true(check_jargon(row, &g) > 0);
    }
    DIR *dir = opendir(AUTOMAP_SOURCE_DIR "/tests/golden");
    assert_non_null(dir);
    for (struct dirent *file; (file = readdir(dir));) {
        struct str text = {0};
        struct err e;
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/tests/golden/%s", file->d_name);
        if (!strstr(file->d_name, ".txt") || hlo_file_read(path, 1 << 20, &text, &e))
            continue;
        char *next = strchr(text.text, '\n'); /* behind the command */
        for (char *line = next ? next + 1 : NULL; line && *line; line = next ? next + 1 : NULL) {
            next = strchr(line, '\n');
            if (next)
                *next = 0;
            seen += check_jargon(line, &g);
        }
        str_release(&text);
    }
    closedir(dir);
    printf("%d words of the list on the screens\n", seen);
    assert_true(seen > 200);
    grid_release(&g);
}

/* No word of the field stands on a screen without its meaning in the glossary. */
static void test_no_word_is_left_unexplained(void **state)
{
    (void)state;
    static const char *const views[] = {
        "",       "1z",       "2z", "4z", "5z", "6z",   "7z",  "Vc",
        "Vd",     "Vp",       "Vw", "Vt", "Vm", "Vr",   "Vi",  "Vi\t",
        "Vi\t\t", "Vi\t\t\t", "Vh", "Vl", "Vs", "Vx",   "C,,", "2jw",
        "2j\r",   "o",        "p",  "b",  "e",  "2jvv", "1jw", ":game cartpole\r"};
    struct app *app = explorer_open("t5-base6", "c-4x8-v100", 140, 50);
    struct str out = {0}, told = {0};
    struct err e;
    int unknown = 0, shown = 0;

    assert_int_equal(app_tell(app, "episode 6", &e), 0);
    for (size_t n = 0; n < sizeof views / sizeof *views; n++, shown++) {
        screen(app, views[n], &out);
        app_touch(app);
        unknown += count_unexplained(app, app_frame(app), views[n], &told);
        screen(app, "\033\033\033\033", &out);
    }
    app_free(app);
    printf("%d screens\n", shown);
    assert_int_equal(unknown, 0);
    str_release(&told);
    str_release(&out);
}

static void test_options_say_before_and_after(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct str out = {0};
    char figures[128], ms[2][32];
    struct err e;

    assert_null(strstr(screen(app, "o", &out), "optimum before"));
    assert_int_equal(app_tell(app, "cluster servers.*.link.bandwidth=25 GB/s", &e), 0);
    const struct ledger *l = app_watch(app)->shot->ledger;
    assert_int_equal(l->now, 1);
    snprintf(ms[0], sizeof ms[0], "%.1f", l->rows[0].figures.cost.step_ms);
    snprintf(ms[1], sizeof ms[1], "%.1f", l->rows[1].figures.cost.step_ms);
    snprintf(figures, sizeof figures, "before %s ms, after %s ms", ms[0], ms[1]);
    assert_string_not_equal(ms[0], ms[1]);
    assert_non_null(strstr(screen(app, "", &out), figures));
    assert_null(strstr(screen(app, "u", &out), "optimum before"));
    str_release(&out);
    app_free(app);
}

/* What is said of a change before it is made is the row of the ledger that it makes, whatever pins
 * and edits are in force; what is refused says why, and changes nothing. */
static void test_a_change_is_tried_before(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "cluster servers.*.link.bandwidth=25 GB/s",
        "zero 1",
        "pin @0=1", /* against the optimum: what follows is dearer with it */
        "batch x2",
        "set kind all",
        "micro-batches 2",
        "set memory-limit 1 MB",
        "set memory-limit none",
        "cluster servers.*.devices=2",
        "zero 9",
    };
    struct app *app = explorer_open("t5-tiny", "v100-1x4", 120, 40);
    struct trial t = {.line = ""};
    struct err e;
    int made = 0, refused = 0;

    for (size_t n = 0; n < sizeof lines / sizeof *lines; n++) {
        const struct watch *w = app_watch(app);
        uint32_t acts = w->shot->acts;
        double now = n % 2 ? 0 : 1000; /* every other one in a thread, while frames are drawn */
        trial_follow(&t, w, lines[n], now);
        for (int i = 0; now > 0 && trial_is_busy(&t) && i < 120000; i++) {
            nanosleep(&(struct timespec){0, 5000000}, NULL);
            trial_follow(&t, w, lines[n], now += 100);
        }
        assert_true(t.look.done);
        assert_int_equal(w->shot->acts, acts);
        if (app_tell(app, lines[n], &e)) {
            assert_true(t.look.trouble[0]);
            refused++;
            continue;
        }
        assert_string_equal(t.look.trouble, "");
        const struct ledger *l = app_watch(app)->shot->ledger;
        const struct ledger_row *r = &l->rows[l->now];
        assert_int_equal(t.look.has_plan, ledger_has_plan(r));
        assert_true(t.look.step_ms == r->figures.cost.step_ms);
        assert_true(t.look.memory == r->figures.memory.peak);
        char proof[LEDGER_PROOF_ROOM];
        assert_string_equal(t.look.proof, ledger_proof(r, false, proof));
        if (!strncmp(lines[n], "pin", 3)) {
            const struct ledger_row *before = ledger_before(l, r);
            assert_true(r->figures.cost.step_ms > 1.01 * before->figures.cost.step_ms);
        }
        made++;
    }
    assert_int_equal(made, 9);
    assert_int_equal(refused, 1);
    trial_follow(&t, app_watch(app), "mesh 2x2", 1000); /* a line that goes before it began */
    trial_follow(&t, app_watch(app), "", 2000);
    assert_false(trial_is_busy(&t));
    trial_follow(&t, app_watch(app), "zero 2", 3000); /* and one that is at work */
    trial_follow(&t, app_watch(app), "zero 2", 4000);
    trial_release(&t);
    app_free(app);
}

static void test_options_say_what_a_value_would_make(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct str out = {0};
    char figures[128], after[32];
    struct err e;

    assert_int_equal(app_tell(app, "episode 1", &e), 0);
    double now = app_watch(app)->exact->cost.step_ms;
    assert_null(strstr(screen(app, "o", &out), "optimum 2"));
    const char *shown = strstr(screen(app,
                                      "jjjjj\r\025"
                                      "25 GB/s",
                                      &out),
                               "link bandwidth 130 GB/s to 25 GB/s: optimum ");
    assert_non_null(shown);
    screen(app, "\r", &out);
    const struct ledger *l = app_watch(app)->shot->ledger;
    assert_int_equal(l->now, 1);
    snprintf(after, sizeof after, "%.1f", l->rows[1].figures.cost.step_ms);
    snprintf(figures, sizeof figures, "before %.1f ms, after %s ms", now, after);
    assert_non_null(strstr(out.text, figures));
    screen(app, "u", &out);
    shown = strstr(screen(app,
                          "\r\025"
                          "25 GB/s",
                          &out),
                   "to 25 GB/s: optimum ");
    snprintf(figures, sizeof figures, "to 25 GB/s: optimum %.1f to %s ms, ", now, after);
    assert_non_null(shown);
    assert_true(!strncmp(shown, figures, strlen(figures)));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_a_word_is_explained_in_place),
        cmocka_unit_test(test_help_ends_with_its_last_row),
        cmocka_unit_test(test_glossary),
        cmocka_unit_test(test_every_view_is_explained),
        cmocka_unit_test(test_jargon_is_explained),
        cmocka_unit_test(test_no_word_is_left_unexplained),
        cmocka_unit_test(test_options_say_before_and_after),
        cmocka_unit_test(test_a_change_is_tried_before),
        cmocka_unit_test(test_options_say_what_a_value_would_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
