/* Drawing of the ledger: the rows, one of them against another, the tree they form. */
#include "tui/views/ledger_draw.h"

#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/live/ledger.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/panel.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ends of the columns; 0: left out. Bars grow from `middle`. */
struct columns {
    int from, edit, before, after, change, bars, middle, memory, memory_change, proof;
    bool mb; /* memory in MB, else GB */
};

enum { NARROW = 60, PROOF_WHOLE = 130 }; /* columns from which on it is said in full */
enum { BELOW = 12 };                     /* rows of one row against another */

static struct columns columns_for(int width)
{
    struct columns c = {.from = 7, .edit = 9};
    if (width < NARROW) /* the edit and what it changes; the message has its proof */
        return (struct columns){.edit = 4, .after = width - 10, .change = width};
    int rest = width >= PROOF_WHOLE ? 31 : width >= 110 ? 19 : 14; /* of the proof */

    c.proof = width - rest;
    c.memory_change = width >= 96 ? c.proof - 2 : 0;
    c.memory = c.memory_change ? c.memory_change - 8 : c.proof - 2;
    c.bars = width >= 118 ? 12 : 0;
    c.middle = c.bars ? c.memory - 9 - c.bars / 2 : 0;
    c.change = c.bars ? c.middle - c.bars / 2 - 2 : c.memory - 7;
    c.after = c.change - 10;
    c.before = width >= 72 ? c.after - 9 : 0;
    return c;
}

static void draw_titles(const struct pane *p, const struct columns *c)
{
    pane_right(p, 2, 0, ROLE_DIM, "#");
    if (c->from)
        pane_right(p, c->from, 0, ROLE_DIM, "from");
    pane_text(p, c->edit, 0, ROLE_DIM, "edit");
    if (c->before)
        pane_right(p, c->before, 0, ROLE_DIM, "before");
    pane_right(p, c->after, 0, ROLE_DIM, "after");
    pane_right(p, c->change, 0, ROLE_DIM, "change");
    if (c->bars) {
        pane_right(p, c->middle - 1, 0, ROLE_DIM, "faster");
        pane_text(p, c->middle + 2, 0, ROLE_DIM, "slower");
    }
    if (c->memory)
        pane_right(p, c->memory, 0, ROLE_DIM, c->memory_change ? "memory" : c->mb ? "MB" : "GB");
    if (c->memory_change)
        pane_right(p, c->memory_change, 0, ROLE_DIM, "change");
    if (c->proof)
        pane_text(p, c->proof, 0, ROLE_DIM, "proof");
}

static void draw_bar(const struct pane *p, const struct columns *c, int y, double change,
                     double most)
{
    int room = c->bars / 2, size = most > 0 ? (int)(fabs(change) / most * room + 0.5) : 0;

    pane_put(p, c->middle, y, ROLE_BORDER, U'│');
    for (int i = 1; i <= size; i++)
        pane_put(p, change < 0 ? c->middle - i : c->middle + i, y, change < 0 ? ROLE_OK : ROLE_WARN,
                 U'█');
}

/* The largest change of any row, to which bars are drawn. */
static double most_change(const struct ledger *l)
{
    double most = 0;

    for (uint32_t n = 1; n < l->count; n++) {
        const struct ledger_row *r = &l->rows[n], *b = ledger_before(l, r);
        if (b && ledger_has_plan(r))
            most = fmax(most, fabs(r->figures.cost.step_ms - b->figures.cost.step_ms));
    }
    return most;
}

static void draw_changes(const struct pane *p, const struct columns *c, int y,
                         const struct ledger_row *b, const struct ledger_row *r, double most)
{
    double change = r->figures.cost.step_ms - b->figures.cost.step_ms,
           memory = (r->figures.memory.peak - b->figures.memory.peak) / (c->mb ? 1e6 : 1e9);
    bool far = b->number != r->from;
    char text[UNITS_ROOM];
    int decimals = pane_ms_decimals(p);

    unsigned style = fabs(change) < 0.5 * pow(10, -decimals) ? ROLE_DIM
                     : change < 0                            ? ROLE_OK
                                                             : ROLE_WARN;
    pane_right(p, c->change, y, style, units_change(text, change, decimals));
    if (far)
        pane_put(p, c->change, y, ROLE_DIM, U'*');
    if (c->bars)
        draw_bar(p, c, y, change, most);
    if (c->memory_change)
        pane_right(p, c->memory_change, y, ROLE_TEXT, units_change(text, memory, 1));
}

static void draw_row(const struct panel *p, const struct pane *pane, int y,
                     const struct ledger_row *r, const struct columns *c, double most)
{
    const struct ledger_view *v = p->state;
    const struct ledger *l = ledger_of(p);
    const struct ledger_row *b = ledger_before(l, r);
    bool has = ledger_has_plan(r), now = r == &l->rows[l->now];
    int edit = (c->before ? c->before - 8 : c->after - 8) - c->edit - 1;
    char text[LEDGER_EDIT_ROOM], proof[LEDGER_PROOF_ROOM];

    pane_right_format(pane, 2, y, now ? ROLE_TITLE | BOLD : ROLE_DIM, "%u", r->number);
    if (r->number == v->marked)
        pane_text(pane, 2, y, ROLE_PIN | BOLD, "*");
    if (r->number && c->from)
        pane_right_format(pane, c->from, y, ROLE_DIM, "%u", r->from);
    pane_cut(pane, c->edit, y, edit, now ? ROLE_TITLE | BOLD : ROLE_TEXT,
             ledger_edit(p->scene->watch, r, text, sizeof text));
    if (c->before && b)
        pane_right_ms(pane, c->before, y, ROLE_DIM, b->figures.cost.step_ms);
    if (has)
        pane_right_ms(pane, c->after, y, now ? ROLE_TITLE | BOLD : ROLE_TEXT,
                      r->figures.cost.step_ms);
    else
        pane_right(pane, c->after, y, ROLE_ERR, "-");
    if (has && b)
        draw_changes(pane, c, y, b, r, most);
    if (has && c->memory)
        pane_right_number(pane, c->memory, y, ROLE_TEXT,
                          r->figures.memory.peak / (c->mb ? 1e6 : 1e9), 1);
    if (!c->proof)
        return;
    int x = pane_text(pane, c->proof, y,
                      !has                 ? ROLE_ERR
                      : r->optimum->proven ? ROLE_OK
                                           : ROLE_WARN,
                      ledger_proof(r, pane->width < PROOF_WHOLE, proof));
    if (now && x + 5 <= pane->width)
        pane_text(pane, x + 1, y, ROLE_TITLE | BOLD, "now");
}

/* ---- one against another ---- */

struct figure_row {
    const char *name;
    double before, after;
    int decimals;
};

static int list_figures(const struct ledger_figures *b, const struct ledger_figures *a, bool mb,
                        int decimals, struct figure_row out[static 8])
{
    double unit = mb ? 1e6 : 1e9, sent = fmax(a->reduced_bytes, b->reduced_bytes);
    int n = 0, digits = mb ? 1 : 2;

    out[n++] = (struct figure_row){"step, ms", b->cost.step_ms, a->cost.step_ms, decimals};
    out[n++] =
        (struct figure_row){"computing, ms", b->cost.compute_ms, a->cost.compute_ms, decimals};
    out[n++] = (struct figure_row){"collectives, ms", b->cost.communication_ms,
                                   a->cost.communication_ms, decimals};
    out[n++] = (struct figure_row){"all-reduces", b->reduces, a->reduces, 0};
    out[n++] = (struct figure_row){"MB sent", b->reduced_bytes / 1e6, a->reduced_bytes / 1e6,
                                   sent < 10e6 ? 2 : 0};
    out[n++] = (struct figure_row){
        mb ? "variables, state, MB" : "variables, state, GB",
        (b->memory.bytes[MEMORY_PARAMETERS] + b->memory.bytes[MEMORY_OPTIMIZER]) / unit,
        (a->memory.bytes[MEMORY_PARAMETERS] + a->memory.bytes[MEMORY_OPTIMIZER]) / unit, digits};
    out[n++] = (struct figure_row){
        mb ? "activations, gradients, MB" : "activations, gradients, GB",
        (b->memory.bytes[MEMORY_ACTIVATIONS] + b->memory.bytes[MEMORY_GRADIENTS]) / unit,
        (a->memory.bytes[MEMORY_ACTIVATIONS] + a->memory.bytes[MEMORY_GRADIENTS]) / unit, digits};
    return n;
}

/* "groups split otherwise", "1 of 11"; of plans that differ in none of them the classes. False: the
 * two are not of the same classes. */
static bool write_differences(const struct watch *w, const struct ledger_row *b,
                              const struct ledger_row *r, const char **what, char *out, size_t room)
{
    uint32_t count = w->problem->classes.count, classes = 0;
    char some[UNITS_ROOM], all[UNITS_ROOM];

    if (b->optimum->count != count || r->optimum->count != count)
        return false;
    for (class_id k = 0; k < count; k++)
        classes += b->optimum->on[k] != r->optimum->on[k];
    uint32_t groups = plan_decisions_differ(w, b->optimum->on, r->optimum->on);
    bool is_class = classes && !groups;
    *what = is_class ? "classes split otherwise" : "groups split otherwise";
    snprintf(out, room, "%s of %s", units_count(some, is_class ? classes : groups),
             units_count(all, is_class ? count : (uint32_t)w->move_count));
    return true;
}

static void draw_against(const struct panel *p, const struct pane *pane)
{
    const struct ledger_row *r = ledger_here(p), *b = ledger_against(p);
    struct figure_row rows[8];
    int first = pane->width >= 58 ? 36 : pane->width - 20, second = first + 10;
    char title[48], text[320];
    const char *what;

    if (!r)
        return;
    if (b)
        snprintf(title, sizeof title, "Row %u against row %u", r->number, b->number);
    else
        snprintf(title, sizeof title, "Row %u", r->number);
    pane_head(pane, 0, &(struct head){0, title, "", false});
    if (!b || !ledger_has_plan(r)) {
        struct pane rest = pane_part(pane, 0, 1, pane->width, pane->height - 1);
        snprintf(text, sizeof text, "%s",
                 !ledger_has_plan(r) ? "No plan to hold against another: a larger limit, more "
                                       "micro-batches, ZeRO or another space may have one."
                                     : "What the model was opened with; every other row is a "
                                       "change of it, or of a change.");
        pane_sentence(&rest, ROLE_DIM, text);
        return;
    }
    int count = list_figures(&b->figures, &r->figures, ledger_in_mb(ledger_of(p)),
                             pane_ms_decimals(pane), rows),
        y = 2;
    pane_right_format(pane, first, 1, ROLE_DIM, "%u", b->number);
    pane_right_format(pane, second, 1, ROLE_DIM, "%u", r->number);
    pane_right(pane, second + 10, 1, ROLE_DIM, "change");
    for (int n = 0; n < count; n++, y++) {
        char change[UNITS_ROOM];
        pane_text(pane, 0, y, ROLE_DIM, rows[n].name);
        pane_right_number(pane, first, y, ROLE_TEXT, rows[n].before, rows[n].decimals);
        pane_right_number(pane, second, y, ROLE_TEXT, rows[n].after, rows[n].decimals);
        pane_right(pane, second + 10, y, ROLE_TEXT,
                   units_change(change, rows[n].after - rows[n].before, rows[n].decimals));
    }
    if (write_differences(p->scene->watch, b, r, &what, text, sizeof text)) {
        pane_text(pane, 0, y, ROLE_DIM, what);
        pane_right(pane, second + 10, y++, ROLE_TEXT, text);
    }
    y += pane->height >= BELOW;
    struct pane rest = pane_part(pane, 0, y, pane->width, pane->height - y);
    ledger_sentence(b, r, text, sizeof text);
    char *reason = strstr(text, ": ");
    if (reason && utf8_text_columns(text) > rest.width * rest.height)
        snprintf(reason, 2, "."); /* no room for it: the sentence ends before */
    pane_sentence(&rest, ROLE_TITLE | BOLD, text);
}

/* ---- the tree ---- */

enum { TREE_DEPTH = 12 };

static bool has_later_child(const struct ledger *l, uint32_t parent, uint32_t behind)
{
    for (uint32_t n = behind + 1; n < l->count; n++) {
        if (l->rows[n].number && l->rows[n].from == parent)
            return true;
    }
    return false;
}

struct branch {
    const struct panel *p;
    const struct pane *pane;
    int y, skip;           /* rows above the window are walked, not drawn */
    bool more[TREE_DEPTH]; /* a later child follows at that depth */
};

static void draw_branch(struct branch *k, uint32_t at, int depth)
{
    const struct ledger *l = ledger_of(k->p);
    const struct ledger_row *r = &l->rows[at];
    int x = 0, y = k->y++ - k->skip;
    char edit[LEDGER_EDIT_ROOM];

    if (y >= k->pane->height)
        return;
    if (y >= 1) {
        for (int d = 1; d <= depth && d < TREE_DEPTH; d++)
            x = pane_text(k->pane, x, y, ROLE_BORDER,
                          d == depth   ? k->more[d] ? "├ " : "└ "
                          : k->more[d] ? "│ "
                                       : "  ");
        x = pane_format(k->pane, x, y, ROLE_DIM, "%u ", r->number);
        bool now = at == l->now;
        pane_cut(k->pane, x, y, k->pane->width - x - 10, now ? ROLE_TITLE | BOLD : ROLE_TEXT,
                 ledger_edit(k->p->scene->watch, r, edit, sizeof edit));
        if (ledger_has_plan(r))
            pane_right_ms(k->pane, k->pane->width, y, now ? ROLE_TITLE | BOLD : ROLE_TEXT,
                          r->figures.cost.step_ms);
        else
            pane_right(k->pane, k->pane->width, y, ROLE_ERR, "none");
    }
    for (uint32_t n = at + 1; n < l->count; n++) {
        if (l->rows[n].from != r->number)
            continue;
        if (depth + 1 < TREE_DEPTH)
            k->more[depth + 1] = has_later_child(l, r->number, n);
        if (depth < TREE_DEPTH)
            draw_branch(k, n, depth + 1);
    }
}

static void draw_tree(const struct panel *p, const struct pane *pane)
{
    struct branch k = {.p = p, .pane = pane, .y = 1};

    pane_head(pane, 0, &(struct head){0, "Rows as a tree", "", false});
    draw_branch(&k, 0, 0);
}

/* ---- the view ---- */

/* Rows of what stands below the table; where that scrolls, without its blank ones. */
static int rows_below(const struct pane *pane, uint32_t count)
{
    if (pane->height < 16)
        return 0;
    return (int)count > pane->height - 3 - BELOW ? BELOW - 2 : BELOW;
}

void ledger_draw(struct panel *p, const struct pane *pane)
{
    struct ledger_view *v = p->state;
    const struct ledger *l = ledger_of(p);
    char note[64];

    if (!l)
        return;
    snprintf(note, sizeof note, "%u %s · ms, %s%s", l->count, l->count == 1 ? "row" : "rows",
             ledger_in_mb(l) ? "MB" : "GB",
             pane->width >= 80 ? " · each against the row it starts from" : "");
    pane_head(pane, 0, &(struct head){0, "What if", note, true});
    struct columns c = columns_for(pane->width);
    c.mb = ledger_in_mb(l);
    int below = rows_below(pane, l->count), shown = pane->height - 3 - below;
    v->tells = below > 0;
    struct pane body = pane_part(pane, 0, 1, pane->width, pane->height - 1);
    draw_titles(&body, &c);
    list_fit(&v->list, l->count, shown > 0 ? shown : 1);
    double most = most_change(l);
    int y = 1;
    for (; y <= v->list.rows && v->list.top + y - 1 < l->count; y++) {
        int64_t n = v->list.top + y - 1;
        draw_row(p, &body, y, &l->rows[n], &c, most);
        if (n != v->list.cursor)
            continue;
        pane_select(&body, y, ROLE_SELECT);
        pane->grid->cursor_x = body.x;
        pane->grid->cursor_y = body.y + y;
    }
    if (!below)
        return;
    y += 1 + (below == BELOW);
    bool both = pane->width >= 110;
    int half = both ? 60 : pane->width;
    struct pane left = pane_part(pane, 0, y, half - (both ? 3 : 0), pane->height - y);
    draw_against(p, &left);
    if (!both)
        return;
    struct pane right = pane_part(pane, half, y, pane->width - half, pane->height - y);
    draw_tree(p, &right);
}
