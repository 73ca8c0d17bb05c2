/* Names a person reads, on models of many frameworks: no linkage group is told by a number alone,
 * no variable by the number of its parameter, where the file says who reads it; layers that are
 * alike stand together. Counted, and held to what was reached. */
#include "explorer.h"
#include "tui/watch/series_names.h"
#include "tui/watch/short_names.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "zoo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MODELS_MOST = 64, ZOO_BYTES = 400 << 10 };

struct counts {
    size_t models, groups, numbered, twice, variables, raw, long_lists;
    size_t shown, shortened, cut; /* names in the panel, at three sizes */
    size_t bare, apart;           /* modules that are a number; variables beside their module */
    size_t plural;                /* "layers 5", of one */
    size_t lone;                  /* models below a single module: a click for nothing */
    size_t labels, alike;         /* below the decisions; that read as another does */
    size_t cut_steps;             /* of a chain, beside free columns */
    size_t titles, cut_titles;    /* of why; cut beside a long rule */
    size_t namesakes;             /* variables that are written as another is */
    size_t rows, cut_rows;        /* instructions in the tree; not whole beside free columns */
};

/* "Arg_12.3", "p7", "param_4", "arg3.1": the file's number and nothing else. */
static bool is_raw(const char *name)
{
    static const char *const begins[] = {"arg_", "arg", "param_", "param", "parameter", "p"};
    char low[64];
    size_t size = 0;

    for (; name[size] && size + 1 < sizeof low; size++)
        low[size] = (char)tolower((unsigned char)name[size]);
    low[size] = 0;
    for (size_t n = 0; n < sizeof begins / sizeof *begins; n++) {
        size_t begin = strlen(begins[n]);
        if (!strncmp(low, begins[n], begin) && low[begin] &&
            strspn(low + begin, "0123456789._") == strlen(low + begin))
            return true;
    }
    return strspn(low, "0123456789._#") == strlen(low);
}

static void count_groups(const struct watch *w, struct counts *c)
{
    for (int n = 0; n < w->move_count; n++) {
        c->groups++;
        bool numbered = strchr(w->move[n].name, '#') || is_raw(w->move[n].name);
        if (numbered)
            printf("    group %s\n", w->move[n].name);
        c->numbered += numbered;
        for (int k = 0; k < n; k++)
            c->twice += !strcmp(w->move[n].name, w->move[k].name);
    }
}

static const char *shown_name(const struct hlo_param_role *r)
{
    return r->module ? r->module : r->name;
}

static void count_variables(const struct watch *w, struct counts *c)
{
    const struct problem *p = w->problem;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        if (r->role != HLO_ROLE_VARIABLE)
            continue;
        c->variables++;
        const char *name = tree_instruction_name(w->tree, p->m->value_instruction[r->value]);
        bool raw = is_raw(name) && r->module;
        if (raw)
            printf("    variable %s, read by %s\n", name, r->module);
        c->raw += raw;
    }
}

/* Variables that are written as another is: a row of one reads as a row of the other. */
static void count_namesakes(const struct watch *w, struct counts *c)
{
    const struct hlo_roles *r = &w->problem->roles;

    for (uint32_t k = 0; k < r->param_count; k++) {
        bool alike = false;
        if (r->params[k].role != HLO_ROLE_VARIABLE)
            continue;
        const char *name = shown_name(&r->params[k]);
        for (uint32_t n = 0; n < r->param_count; n++)
            alike |= n != k && r->params[n].role == HLO_ROLE_VARIABLE &&
                     !strcmp(shown_name(&r->params[n]), name);
        if (alike)
            printf("    variable %s is not the only one\n", name);
        c->namesakes += alike;
    }
}

/* Layers with one name, beside each other, that do the same: a list a person would have to read. */
static void count_lists(const struct watch *w, struct counts *c)
{
    const struct tree *t = w->tree;

    for (int n = 0; n < t->count; n++) {
        int alike = 0;
        for (int k = t->nodes[n].first_child; k != TREE_NONE; k = t->nodes[k].next)
            alike += t->nodes[k].number >= 0 && !t->nodes[k].series &&
                     t->nodes[n].first_child != k &&
                     t->nodes[k].hash == t->nodes[t->nodes[n].first_child].hash;
        c->long_lists += alike > 2 && !t->nodes[n].series;
    }
}

static bool holds_variable(const struct watch *w, int node)
{
    const struct problem *p = w->problem;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        int n = w->tree->node_of[p->m->value_instruction[p->roles.params[k].value]];
        while (n != TREE_NONE && n != node)
            n = w->tree->nodes[n].parent;
        if (n == node && p->roles.params[k].role == HLO_ROLE_VARIABLE)
            return true;
    }
    return false;
}

/* Modules a person can not tell: "0"; and "encoder" in the class of the model as well as beside it,
 * once with the instructions, once with the variables. */
static void count_modules(const struct watch *w, struct counts *c)
{
    const struct tree *t = w->tree;

    for (int n = 0; n < t->count; n++) {
        const char *name = t->nodes[n].name;
        c->bare += *name && strspn(name, "0123456789") == strlen(name);
        c->plural += !t->nodes[n].series && t->nodes[n].number >= 0 &&
                     (!strncmp(name, "layers ", 7) || !strncmp(name, "blocks ", 7));
        int up = t->nodes[n].parent, top = up == TREE_NONE ? TREE_NONE : t->nodes[up].parent;
        if (top == TREE_NONE || t->nodes[top].parent != TREE_NONE)
            continue; /* two below a phase: is there one of this name below the phase itself? */
        for (int k = t->nodes[top].first_child; k != TREE_NONE; k = t->nodes[k].next) {
            bool twice = k != up && t->nodes[k].ms == 0 && t->nodes[n].ms > 0 &&
                         !strcmp(t->nodes[k].name, name) && holds_variable(w, k) &&
                         !holds_variable(w, up);
            if (twice)
                printf("    %s stands beside %s/%s\n", name, t->nodes[up].name, name);
            c->apart += twice;
        }
    }
}

/* All variables stand in one module that is not one of several. */
static void count_lone(const struct watch *w, struct counts *c)
{
    const struct tree *t = w->tree;
    const struct problem *p = w->problem;
    int top = TREE_NONE, variables = 0;
    bool same = true;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        int n = t->node_of[p->m->value_instruction[p->roles.params[k].value]];
        if (p->roles.params[k].role != HLO_ROLE_VARIABLE)
            continue;
        while (t->nodes[n].depth > 1)
            n = t->nodes[n].parent;
        top = variables++ ? top : n;
        same &= n == top;
    }
    bool lone = variables > 1 && same && t->nodes[top].depth == 1 && t->nodes[top].number < 0 &&
                !t->nodes[top].series;
    if (lone)
        printf("    all %d variables are in %s\n", variables, t->nodes[top].name);
    c->lone += lone;
}

/* Instructions in panel 1 whose names are cut, though 22 columns of their row are blank. */
static void count_rows(struct app *app, int width, int height, struct counts *c)
{
    enum { FREE = 22 };
    struct str text = {0};

    app_resize(app, width, height);
    explorer_type(app,
                  "1g\\dot|conv|kernel|weight|bias|scale\r"); /* a filter opens what it finds */
    explorer_text(app, &text);
    for (char *line = text.text, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        char *bar = strstr(line, "│"), *bracket = strchr(line, '[');
        if (!bar || bar > end || !bracket || bracket > bar)
            continue;
        c->rows++;
        char *dots = strstr(line, "..");
        if (!dots || dots > bracket)
            continue;
        int run = 0, longest = 0;
        for (const char *at = dots; at < bar; at++) {
            run = *at == ' ' ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        if (longest >= FREE)
            printf("    %.*s\n", (int)(bar - line), line);
        c->cut_rows += longest >= FREE;
    }
    explorer_type(app, "\033");
    str_release(&text);
}

/* A row of the linkage groups, as it is named when there is room. Returns the first move behind. */
static int row_name(const struct watch *w, int n, char *out, size_t room)
{
    int end = watch_series_end(w, n);

    if (end == n + 1)
        snprintf(out, room, "%s", w->move[n].name);
    else
        snprintf(out, room, w->move[n].series_only == MOVE_NONE ? "%.130s ×%d" : "%.130s one of %d",
                 w->move[n].stem, end - n);
    return end;
}

/* The longest run of blanks in a text, and how many columns it has. */
static int longest_blank(const char *text, size_t size)
{
    int run = 0, longest = 0;

    for (size_t i = 0; i < size; i++) {
        run = text[i] == ' ' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Names in panel 2 that are not whole though columns stand empty in their row. GAP: what keeps
 * columns of figures apart. */
static void count_cut(struct app *app, int width, int height, struct counts *c)
{
    enum { GAP = 10 };
    const struct watch *w = app_watch(app);
    struct str text = {0};
    char name[NAME_ROOM + 16];
    int n = 0;

    app_resize(app, width, height);
    app_touch(app);
    grid_text(app_frame(app), &text);
    const char *line = text.text ? strstr(text.text, "│ now") : NULL; /* the titles */
    for (line = line ? strchr(line, '\n') : NULL; line && n < w->move_count;) {
        const char *end = strchr(++line, '\n'), *bar = strstr(line, "│");
        if (!end || !bar || bar > end)
            break;
        const char *next = strstr(bar + strlen("│"), "│");
        size_t size = (size_t)((next && next < end ? next : end) - bar);
        int behind = row_name(w, n, name, sizeof name);
        char row[1024];
        snprintf(row, sizeof row, "%.*s", (int)size, bar);
        if (size < 8 || row[strlen("│ ")] == ' ')
            break; /* the panel has ended */
        c->shown++;
        if (!strstr(row, name)) {
            c->shortened++;
            if (longest_blank(row, strlen(row)) > GAP) {
                printf("    %dx%d: %s, shown as %s\n", width, height, name, row);
                c->cut++;
            }
        }
        n = behind;
        line = end;
    }
    str_release(&text);
}

/* Names in the chain of why that are not whole though columns stand empty in their row. */
static size_t count_cut_steps(const char *text)
{
    enum { GAP = 16 };
    const char *line = text ? strstr(text, "\n   value ") : NULL;
    size_t cut = 0;

    line = line ? strchr(line + 1, '\n') : NULL;
    while (line && line[1] && strspn(line + 1, " ") < strcspn(line + 1, "\n")) {
        const char *end = strchr(++line, '\n');
        size_t size = end ? (size_t)(end - line) : strlen(line);
        const char *dots = strstr(line, "..");
        bool is_cut = dots && dots < line + size && longest_blank(line, size) > GAP;
        if (is_cut)
            printf("    %.*s\n", (int)size, line);
        cut += is_cut;
        line = end;
    }
    return cut;
}

/* Titles of why that are cut beside a rule that is longer than what it must be. */
static void count_titles(struct app *app, int width, int height, struct counts *c)
{
    enum { RULE = 12 };
    struct str text = {0};

    app_resize(app, width, height);
    explorer_type(app, "2w");
    grid_text(app_frame(app), &text);
    const char *line = text.text ? strstr(text.text, "w on ") : NULL;
    if (line) {
        const char *from = line, *end = strchr(line, '\n');
        int rule = 0;
        for (; from > text.text && from[-1] != '\n'; from--)
            rule += !strncmp(from, "━", strlen("━"));
        bool is_cut = strstr(line, "..") && strstr(line, "..") < end && rule > RULE;
        if (is_cut)
            printf("    %dx%d: %.*s\n", width, height, (int)(end - line), line);
        c->titles++;
        c->cut_titles += is_cut;
        c->cut_steps += count_cut_steps(text.text);
    }
    explorer_type(app, "\0331");
    str_release(&text);
}

static void shorten(char out[static SHORT_NAME_ROOM], const char *name, int columns)
{
    watch_short_name(out, SHORT_NAME_ROOM, name, columns);
}

/* Series of decisions as the strip writes them: at a width, those that read as another does. */
static void count_alike(const struct watch *w, int columns, shorten_name *by, struct counts *c)
{
    enum { SERIES = 128 };
    const char *stem[SERIES] = {NULL};
    char written[SERIES][SHORT_NAME_ROOM];
    int count = 0;

    for (int n = 0; n < w->move_count && count < SERIES; n++) {
        int end = watch_series_end(w, n);
        stem[count++] = watch_series_name(w, n, end);
        n = end - 1;
    }
    short_names(stem, count, columns, by, written);
    for (int n = 0; n < count; n++) {
        bool alike = false;
        for (int k = 0; k < count; k++)
            alike |= n != k && !strcmp(written[n], written[k]);
        if (alike)
            printf("    at %d: %s, shown as %s\n", columns, stem[n], written[n]);
        c->alike += alike;
        c->labels++;
    }
}

static void test_names(void **state)
{
    (void)state;
    const char *paths[MODELS_MOST];
    glob_t found = {0};
    size_t count = zoo_models(&found, paths, MODELS_MOST, ZOO_BYTES);
    struct counts c = {0};
    struct err e = {0};

    for (size_t n = 0; n < count; n++) {
        struct app *app = explorer_try(paths[n], NULL, 80, 24, &e);
        if (app) {
            struct counts before = c;
            c.models++;
            count_groups(app_watch(app), &c);
            count_variables(app_watch(app), &c);
            count_namesakes(app_watch(app), &c);
            count_lists(app_watch(app), &c);
            count_modules(app_watch(app), &c);
            count_lone(app_watch(app), &c);
            count_alike(app_watch(app), SERIES_INITIALS, series_initials, &c);
            count_alike(app_watch(app), 9, shorten, &c);
            count_alike(app_watch(app), 13, shorten, &c);
            count_rows(app, 120, 40, &c);
            count_rows(app, 200, 60, &c);
            count_cut(app, 120, 40, &c);
            count_cut(app, 160, 50, &c);
            count_cut(app, 200, 60, &c);
            count_titles(app, 120, 40, &c);
            count_titles(app, 200, 60, &c);
            if (c.numbered + c.raw + c.twice + c.long_lists + c.namesakes >
                before.numbered + before.raw + before.twice + before.long_lists + before.namesakes)
                printf("  %s\n", paths[n]);
            app_free(app);
        }
    }
    printf("%zu models: %zu groups, %zu told by a number, %zu with another's name; %zu variables, "
           "%zu called by number where their module is known; %zu lists of equal layers unfolded\n",
           c.models, c.groups, c.numbered, c.twice, c.variables, c.raw, c.long_lists);
    printf("%zu rows of the panel at three sizes, %zu not whole, %zu of them beside free space\n",
           c.shown, c.shortened, c.cut);
    printf("%zu modules that are a number, %zu apart from their variables; %zu instructions in the "
           "tree, %zu cut beside free columns\n",
           c.bare, c.apart, c.rows, c.cut_rows);
    printf("%zu labels of decisions, %zu like another's\n", c.labels, c.alike);
    printf("%zu titles of why, %zu cut beside a rule\n", c.titles, c.cut_titles);
    assert_true(c.titles >= c.models);
    assert_int_equal(c.cut_titles, 0);
    assert_int_equal(c.cut_steps, 0);
    assert_int_equal(c.alike, 0);
    assert_int_equal(c.bare, 0);
    assert_int_equal(c.plural, 0);
    assert_int_equal(c.lone, 0);
    assert_int_equal(c.apart, 0);
    assert_int_equal(c.cut_rows, 0);
    assert_true(c.rows >= c.models);
    assert_true(c.shown >= c.models);
    assert_true(c.cut <= 3); /* words of thirty letters */
    assert_int_equal(c.numbered, 0);
    assert_int_equal(c.raw, 0);
    assert_int_equal(c.namesakes, 0);
    assert_int_equal(c.twice, 0);
    assert_int_equal(c.long_lists, 0);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
