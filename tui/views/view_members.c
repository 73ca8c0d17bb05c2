/* A class from inside: members with what ties them, classes it never goes with and where they meet;
 * and the list of classes that can never be split, each with its one reason. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/path.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/decide/why.h"
#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/class_look.h"
#include "tui/watch/shape_text.h"
#include "tui/watch/tree.h"

#include <stdio.h>
#include <string.h>

enum members_page { PAGE_MEMBERS, PAGE_CONFLICTS, PAGE_FORBIDDEN, PAGE_COUNT };

struct members {
    class_id class; /* CLASS_NONE: only the forbidden ones */
    struct class_member *items;
    size_t count;
    struct class_reduces reduces;
    class_id *forbidden, forbidden_count;
    enum members_page page;
    int name, use, factor, source, forbidden_name; /* columns of the longest */
    struct list list[PAGE_COUNT];
};

enum { MEMBERS_PAGE, MEMBERS_GO, MEMBERS_BACK };
static const struct action members_actions[] = {
    [MEMBERS_PAGE] = {"page", "in this view", "members, conflicts, forbidden",
                      "members, conflicts, forbidden", "Tab", NULL},
    [MEMBERS_GO] = {"go", "in this view", "go to that instruction", "go there", "Enter", NULL},
    [MEMBERS_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table members_keys = {"members", members_actions, 3};

static void close_members(struct panel *p)
{
    struct members *v = p->state;
    free(v->items);
    free(v->forbidden);
}

static int longer(int a, int b)
{
    return a > b ? a : b;
}

static void measure_members(struct members *v, const struct watch *w)
{
    char text[256];

    for (size_t n = 0; n < v->count; n++) {
        const struct class_member *m = &v->items[n];
        snprintf(text, sizeof text, "%.200s:%u", m->name, m->number);
        v->name = longer(v->name, utf8_text_columns(text));
        if (m->through == HLO_NONE)
            continue;
        text[0] = 0;
        if (m->factor != UINT32_MAX)
            why_factor_name(&w->problem->classes, m->through, m->factor, text, sizeof text);
        v->factor = longer(v->factor, longer(utf8_text_columns(text), 8));
        v->use = longer(v->use, utf8_text_columns(tree_instruction_name(w->tree, m->through)));
        v->source = longer(v->source, utf8_text_columns(instruction_source(
                                          w->problem->m, m->through, text, sizeof text)));
    }
}

static int open_members(struct panel *p, const void *arg, struct err *e)
{
    struct members *v = p->state;
    const struct watch *w = p->scene->watch;
    struct class_reduces *all;

    if (!w)
        return err_set(e, ERR_INPUT, "no model is open");
    const struct classes *c = &w->problem->classes;
    v->class = arg ? *(const class_id *)arg : CLASS_NONE;
    v->page = arg ? PAGE_MEMBERS : PAGE_FORBIDDEN;
    v->forbidden = mem_try((size_t)c->count + 1, sizeof *v->forbidden);
    if (!v->forbidden)
        return err_set(e, ERR_MEMORY, "not enough memory for the list");
    v->forbidden_count = class_forbidden(w->problem, v->forbidden);
    for (class_id n = 0; n < v->forbidden_count; n++) {
        char name[NAME_ROOM];
        int columns = utf8_text_columns(class_name(&w->names, v->forbidden[n], name)) + 2;
        v->forbidden_name = longer(v->forbidden_name, columns);
    }
    if (!arg)
        return 0;
    if (class_members(w, v->class, &v->items, &v->count, e) || class_reduces_all(w, &all, e)) {
        close_members(p);
        return e->code;
    }
    v->reduces = all[v->class];
    free(all);
    measure_members(v, w);
    return 0;
}

/* ---- rows ---- */

/* Columns that the widest takes of the names, the factors and the sources. */
struct use_columns {
    int name, factor, source;
};
static const struct use_columns usual_columns = {22, 11, 14};

/* "dot_general.495  rhs  models.py:8  attn", from column x to the right edge. The module is left
 * out where the name would be cut for it. */
static void draw_use(const struct watch *w, const struct pane *p, int x, int y, hlo_id id,
                     uint32_t factor, const struct use_columns *c)
{
    char text[128], name[128], source[64];

    if (id == HLO_NONE || x + 10 > p->width)
        return;
    int end = p->width, place = c->source, as = c->factor;
    if (end - x >= c->name + as + place + 4 + 12) {
        instruction_scope(w->tree, id, text, sizeof text);
        pane_cut(p, end - 10, y, 10, ROLE_DIM, text);
        end -= 12;
    }
    if (end - x >= 22 + place) {
        pane_cut(p, end - place, y, place, ROLE_DIM,
                 instruction_source(w->problem->m, id, source, sizeof source));
        end -= place + 2;
    }
    if (end - x >= 26) {
        if (factor != UINT32_MAX)
            why_factor_name(&w->problem->classes, id, factor, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", hlo_op_info[hlo_at(w->problem->m, id)->opcode].name);
        pane_cut(p, end - as, y, as, ROLE_TEXT, text);
        end -= as + 2;
    }
    pane_text(p, x, y, ROLE_TEXT,
              text_cut_middle(name, sizeof name, tree_instruction_name(w->tree, id), end - x));
}

/* Where the columns of a row begin; 0: left out. Names have what the rest leaves. */
struct member_columns {
    int shape, ties, use, source;
};

static struct member_columns member_columns(const struct members *v, int width)
{
    enum { SOURCE = 20 };
    struct member_columns c = {.source = v->source < SOURCE ? v->source : SOURCE};
    int shape = width >= 100 ? 24 : 0, ties = width >= 84 ? 6 : 0,
        rest = width >= 60 ? v->use + 4 + v->factor + c.source : 8;
    int usual = width >= 60 ? width * 2 / 5 - shape / 2 + 2 : width - 8;
    int name = 2 + v->name + 2, room = width - shape - ties - rest;

    name = name < room ? name : room;
    name = name > usual ? name : usual;
    c.shape = shape ? name : 0;
    c.ties = ties ? name + shape + 4 : 0;
    c.use = name + shape + ties;
    return c;
}

/* "decoder/layer_0/mlp/kernel:1", where it must be cut told from the rows beside it: the moments of
 * a variable are called like it. */
static const char *member_name(const struct members *v, size_t at, int columns, char *out,
                               size_t room)
{
    enum { BESIDE = 8 };
    const struct class_member *m = &v->items[at];
    const char *others[2 * BESIDE];
    char path[256], dim[16];
    int count = 0;

    for (size_t n = at < BESIDE ? 0 : at - BESIDE; n < v->count && n <= at + BESIDE; n++) {
        if (n != at && strcmp(v->items[n].name, m->name) != 0)
            others[count++] = v->items[n].name;
    }
    int end = snprintf(dim, sizeof dim, ":%u", m->number);
    path_cut_apart(path, sizeof path, m->name, others, count, columns - end);
    snprintf(out, room, "%.200s%s", path, dim);
    return out;
}

static void draw_member(const struct members *v, const struct watch *w, const struct pane *p, int y,
                        size_t at, const struct member_columns *c)
{
    const struct class_member *m = &v->items[at];
    static const struct {
        const char *sign;
        unsigned style;
    } marks[] = {{"·", ROLE_DIM}, {"0", ROLE_CHOICE_0}, {"1", ROLE_CHOICE_1 | BOLD}};
    int status = watch_on(w, m->dim)     ? 2
                 : watch_open(w, m->dim) ? 0
                                         : 1,
        name = c->shape ? c->shape : c->use - (c->ties ? 6 : 0);
    char cut[256];

    pane_text(p, 0, y, marks[status].style, marks[status].sign);
    int x = pane_text(p, 2, y, ROLE_TEXT, member_name(v, at, name - 4, cut, sizeof cut));
    if (m->role != HLO_ROLE_VARIABLE && x + 9 < name - 2)
        pane_text(p, x + 2, y, ROLE_DIM, m->role == HLO_ROLE_INPUT ? "input" : "state");
    if (c->shape)
        shape_draw(w, w->problem->classes.dim_value[m->dim], p, c->shape, y, 22);
    if (c->ties)
        pane_right_format(p, c->ties, y, ROLE_DIM, "%u", m->steps ? m->steps - 1u : 0u);
    if (p->width >= 60)
        draw_use(w, p, c->use, y, m->through, m->factor,
                 &(struct use_columns){v->use, v->factor, c->source});
}

static void draw_member_titles(const struct pane *p, int y, const struct member_columns *c)
{
    pane_text(p, 2, y, ROLE_DIM, "variable and dim");
    if (c->shape)
        pane_text(p, c->shape, y, ROLE_DIM, "shape");
    if (c->ties)
        pane_right(p, c->ties, y, ROLE_DIM, "ties");
    if (p->width >= 60)
        pane_text(p, c->use, y, ROLE_DIM, "used by, as");
}

static void draw_conflict(const struct watch *w, const struct pane *p, int y,
                          const struct class_meet *meet)
{
    char name[NAME_ROOM], cut[NAME_ROOM], change[UNITS_ROOM];
    int move = watch_move_of(w, meet->other),
        width = p->width >= 60 ? p->width * 2 / 5 : p->width - 12;

    class_name(&w->names, meet->other, name);
    pane_text(p, 2, y, ROLE_TEXT, watch_short_name(cut, sizeof cut, name, width - 4));
    if (move != MOVE_NONE && p->width >= 40)
        pane_right(p, width + 8, y, ROLE_TEXT,
                   units_change(change, -w->move[move].saves_ms, pane_ms_decimals(p)));
    if (p->width >= 60)
        draw_use(w, p, width + 10, y, meet->place, UINT32_MAX, &usual_columns);
}

/* Columns of the names of classes: of the longest, where the reasons behind them leave room. */
static int forbidden_columns(const struct members *v, int width)
{
    enum { FIGURES = 16, REASON = 44 };
    int usual = width >= 70 ? width / 4 : width / 2, room = width - FIGURES - REASON;
    int longest = v->forbidden_name + 3;

    longest = longest < room ? longest : room;
    return longest > usual ? longest : usual;
}

static void draw_forbidden(const struct members *v, const struct watch *w, const struct pane *p,
                           int y, class_id k)
{
    const struct class_info *info = &w->problem->classes.info[k];
    char name[NAME_ROOM], cut[NAME_ROOM], count[UNITS_ROOM];
    int width = forbidden_columns(v, p->width);

    class_name(&w->names, k, name);
    pane_text(p, 0, y, ROLE_ERR | BOLD, "x");
    pane_text(p, 2, y, info->var_dims || info->input_dims ? ROLE_TEXT : ROLE_DIM,
              watch_short_name(cut, sizeof cut, name, width - 3));
    int x = width;
    if (p->width >= 70) {
        pane_right(p, width + 8, y, ROLE_TEXT, units_count(count, info->dim_count));
        x = width + 10;
    }
    if (p->width >= 110)
        pane_right(p, x + 4, y, ROLE_TEXT,
                   info->var_dims ? units_count(count, info->var_dims) : "");
    x += p->width >= 110 ? 6 : 0;
    x = pane_cut(p, x, y, p->width - x, ROLE_TEXT, class_reason_text[info->reason]);
    if (info->place != HLO_NONE && x + 6 < p->width)
        pane_cut(p, x + 1, y, p->width - x - 1, ROLE_TITLE,
                 tree_instruction_name(w->tree, info->place));
}

/* ---- pages ---- */

static int64_t rows_of(const struct members *v, const struct watch *w)
{
    if (v->page == PAGE_MEMBERS)
        return (int64_t)v->count;
    if (v->page == PAGE_CONFLICTS)
        return w->problem->classes.info[v->class].meet_count;
    return v->forbidden_count;
}

static void draw_row(const struct members *v, const struct watch *w, const struct pane *p, int y,
                     int64_t row)
{
    const struct classes *c = &w->problem->classes;

    struct member_columns columns = member_columns(v, p->width);

    if (v->page == PAGE_MEMBERS)
        draw_member(v, w, p, y, (size_t)row, &columns);
    else if (v->page == PAGE_CONFLICTS)
        draw_conflict(w, p, y, &c->meets[c->info[v->class].meets + row]);
    else
        draw_forbidden(v, w, p, y, v->forbidden[row]);
}

static void draw_titles(const struct members *v, const struct pane *p, int y)
{
    int width = forbidden_columns(v, p->width);

    if (v->page == PAGE_MEMBERS) {
        struct member_columns columns = member_columns(v, p->width);
        draw_member_titles(p, y, &columns);
    } else if (v->page == PAGE_CONFLICTS) {
        width = p->width >= 60 ? p->width * 2 / 5 : p->width - 12;
        pane_text(p, 2, y, ROLE_DIM, "never together with");
        pane_right(p, width + 8, y, ROLE_DIM, "alone");
        if (p->width >= 60)
            pane_text(p, width + 10, y, ROLE_DIM, "both at");
    } else {
        pane_text(p, 2, y, ROLE_DIM, "class");
        if (p->width >= 70)
            pane_right(p, width + 8, y, ROLE_DIM, "dims");
        if (p->width >= 110)
            pane_right(p, width + 14, y, ROLE_DIM, "vars");
        pane_text(p,
                  width + (p->width >= 110  ? 16
                           : p->width >= 70 ? 10
                                            : 0),
                  y, ROLE_DIM, "reason");
    }
}

static void draw_sentence(const struct members *v, const struct watch *w, const struct pane *p)
{
    const struct class_info *info =
        v->class == CLASS_NONE ? NULL : &w->problem->classes.info[v->class];
    char name[NAME_ROOM], dims[UNITS_ROOM], all[UNITS_ROOM], bytes[UNITS_ROOM], ms[UNITS_ROOM];
    uint32_t holding = 0;

    if (v->page == PAGE_FORBIDDEN) {
        for (class_id n = 0; n < v->forbidden_count; n++)
            holding += w->problem->classes.info[v->forbidden[n]].var_dims > 0;
        int x = pane_format(p, 0, 0, ROLE_TITLE | BOLD, "%s of %s classes",
                            units_count(dims, v->forbidden_count),
                            units_count(all, w->problem->classes.count));
        pane_format(p, x + 1, 0, ROLE_TEXT, "can never be split; %u of them hold variables",
                    holding);
        return;
    }
    int x = pane_text(p, 0, 0, ROLE_TITLE | BOLD, class_name(&w->names, v->class, name));
    x = pane_format(p, x + 2, 0, ROLE_TEXT, "%s dims, %u of variables",
                    units_count(all, info->dim_count), info->var_dims);
    if (x + 44 < p->width && v->reduces.count > 0)
        pane_format(p, x + 3, 0, ROLE_TEXT, "alone: %s all-reduce%s, %s, %s",
                    units_count(dims, (int64_t)v->reduces.count), v->reduces.count < 1.5 ? "" : "s",
                    units_bytes(bytes, v->reduces.bytes), units_ms(ms, v->reduces.ms));
}

static void draw_members(struct panel *p, const struct pane *pane)
{
    static const char *const titles[PAGE_COUNT] = {"Members", "Conflicts", "Never split"};
    struct members *v = p->state;
    const struct watch *w = p->scene->watch;
    struct list *l = &v->list[v->page];
    char note[64], count[UNITS_ROOM];
    int gap = pane->height >= 20;

    if (!w)
        return;
    draw_sentence(v, w, pane);
    snprintf(note, sizeof note, "%s", units_count(count, rows_of(v, w)));
    pane_head(pane, 1 + gap, &(struct head){0, titles[v->page], note, true});
    draw_titles(v, pane, 2 + gap);
    int top = 3 + gap;
    list_fit(l, rows_of(v, w), pane->height - top);
    for (int y = 0; y < pane->height - top && l->top + y < l->count; y++) {
        draw_row(v, w, pane, top + y, l->top + y);
        if (l->top + y != l->cursor)
            continue;
        pane_select(pane, top + y, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + top + y;
    }
    if (!l->count)
        pane_text(pane, 2, top, ROLE_DIM, "none");
}

/* ---- acts ---- */

static hlo_id instruction_here(const struct panel *p)
{
    const struct members *v = p->state;
    const struct classes *c = &p->scene->problem->classes;
    int64_t at = v->list[v->page].cursor;

    if (at >= rows_of(v, p->scene->watch))
        return HLO_NONE;
    if (v->page == PAGE_MEMBERS)
        return c->m->value_instruction[c->dim_value[v->items[at].dim]];
    if (v->page == PAGE_CONFLICTS)
        return c->meets[c->info[v->class].meets + at].place;
    return c->info[v->forbidden[at]].place;
}

static bool act_members(struct panel *p, int action)
{
    struct members *v = p->state;
    hlo_id id = instruction_here(p);

    if (action == MEMBERS_BACK) {
        host_close(p->scene);
    } else if (action == MEMBERS_GO) {
        if (id != HLO_NONE)
            host_go_to(p->scene, id);
    } else {
        v->page = (enum members_page)((v->page + 1) % PAGE_COUNT);
        if (v->class == CLASS_NONE)
            v->page = PAGE_FORBIDDEN;
    }
    return true;
}

static bool move_members(struct panel *p, enum list_move move)
{
    struct members *v = p->state;
    return list_move(&v->list[v->page], move);
}

static int move_here(const struct panel *p)
{
    const struct members *v = p->state;
    const struct classes *c = &p->scene->problem->classes;
    int64_t at = v->list[v->page].cursor;

    if (v->page == PAGE_CONFLICTS && at < rows_of(v, p->scene->watch))
        return watch_move_of(p->scene->watch, c->meets[c->info[v->class].meets + at].other);
    return v->class == CLASS_NONE ? MOVE_NONE : watch_move_of(p->scene->watch, v->class);
}

static void message_members(const struct panel *p, char *out, size_t room)
{
    const struct members *v = p->state;
    const struct watch *w = p->scene->watch;
    hlo_id id = instruction_here(p);

    if (id == HLO_NONE)
        return;
    if (v->page == PAGE_MEMBERS) {
        const struct class_member *m = &v->items[v->list[PAGE_MEMBERS].cursor];
        char name[NAME_ROOM], from[NAME_ROOM];
        int left = p->width > 48 ? (p->width - 24) / 2 : 12;
        snprintf(out, room, "%s dim %u: %u ties from %s",
                 text_cut_left(name, sizeof name, m->name, left), m->number,
                 m->steps ? m->steps - 1u : 0u,
                 text_cut_left(from, sizeof from, v->items[0].name, left));
    } else {
        char source[64];
        snprintf(out, room, "%s  %s  %s", tree_instruction_name(w->tree, id),
                 instruction_source(w->problem->m, id, source, sizeof source),
                 hlo_meta(w->problem->m, id)->op_name);
    }
}

const struct panel_ops view_members = {
    .name = "members",
    .title = "Members",
    .place = PLACE_FULL,
    .of_search = true,
    .keys = &members_keys,
    .hints = "down=choose page go why back",
    .size = sizeof(struct members),
    .open = open_members,
    .close = close_members,
    .draw = draw_members,
    .act = act_members,
    .move = move_members,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .message = message_members,
};

/* ---- beside other panels ---- */

struct ties {
    const struct watch *watch;
    class_id class;
    struct class_member *items;
    size_t count;
    struct class_reduces *reduces; /* [classes] */
};

static void close_ties(struct panel *p)
{
    struct ties *v = p->state;
    free(v->items);
    free(v->reduces);
}

/* The class of the decision looked at, taken apart when it becomes another one. */
static class_id look_at_class(struct ties *v, const struct watch *w)
{
    int move = w->position != MOVE_NONE ? w->position : w->cursor;
    class_id k = move < w->move_count ? w->moves->pool[w->moves->items[move].classes] : CLASS_NONE;
    struct err e;

    if (v->watch == w && v->class == k)
        return k;
    if (v->watch != w) {
        free(v->reduces);
        v->reduces = NULL;
        if (class_reduces_all(w, &v->reduces, &e))
            return CLASS_NONE;
    }
    free(v->items);
    v->items = NULL;
    v->count = 0;
    v->watch = w;
    v->class = k;
    return k == CLASS_NONE || class_members(w, k, &v->items, &v->count, &e) ? CLASS_NONE : k;
}

static void draw_ties(struct panel *p, const struct pane *pane)
{
    struct ties *v = p->state;
    const struct watch *w = p->scene->watch;
    class_id k = w ? look_at_class(v, w) : CLASS_NONE;
    char name[NAME_ROOM], bytes[UNITS_ROOM], count[UNITS_ROOM], ms[UNITS_ROOM], cut[160];

    if (k == CLASS_NONE)
        return;
    const struct classes *c = &w->problem->classes;
    const struct class_info *info = &c->info[k];
    int tail = (info->meet_count > 0) + 1, rows = pane->height - 1 - tail, y = 1;
    size_t told = 0; /* optimizer state follows its variable */
    while (told < v->count &&
           (v->items[told].role == HLO_ROLE_VARIABLE || v->items[told].role == HLO_ROLE_INPUT))
        told++;
    if (told)
        pane_format(pane, 0, 0, ROLE_DIM, "%u dim%s of variables, tied through", info->var_dims,
                    info->var_dims == 1 ? "" : "s");
    else
        pane_format(pane, 0, 0, ROLE_DIM, "%s dims of values, of no variable or input",
                    units_count(count, (int64_t)info->dim_count));
    for (size_t n = 0; n < told && y <= rows; n++, y++) {
        int width = pane->width / 3;
        if ((size_t)rows < told && y == rows) {
            pane_format(pane, 2, y++, ROLE_DIM, "%zu more", told - n);
            break;
        }
        snprintf(name, sizeof name, "%.120s:%u", v->items[n].name, v->items[n].number);
        pane_text(pane, 2, y, ROLE_TEXT, text_cut_left(cut, sizeof cut, name, width - 3));
        draw_use(w, pane, width, y, v->items[n].through, v->items[n].factor, &usual_columns);
    }
    const struct class_reduces *r = &v->reduces[k];
    int x = pane_text(pane, 0, y, ROLE_DIM, "split alone: ");
    pane_format(pane, x, y++, ROLE_TEXT, "%s all-reduce%s, %s, %s",
                units_count(count, (int64_t)(r->count + 0.5)), r->count < 1.5 ? "" : "s",
                units_bytes(bytes, r->bytes), units_ms(ms, r->ms));
    if (!info->meet_count || y >= pane->height)
        return;
    const struct class_meet *meet = &c->meets[info->meets];
    x = pane_text(pane, 0, y, ROLE_DIM, "never with ");
    x = pane_text(pane, x, y, ROLE_TEXT,
                  watch_short_name(cut, sizeof cut, class_name(&w->names, meet->other, name), 24));
    x = pane_text(pane, x, y, ROLE_DIM, ", both at ");
    x = pane_cut(pane, x, y, 24, ROLE_TEXT, tree_instruction_name(w->tree, meet->place));
    if (info->meet_count > 1 && x + 10 < pane->width)
        pane_format(pane, x, y, ROLE_DIM, ", %u more", info->meet_count - 1);
}

static void head_ties(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct watch *w = p->scene->watch;
    int move = !w ? MOVE_NONE : w->position != MOVE_NONE ? w->position : w->cursor;

    if (w && move < w->move_count)
        watch_short_name(note, room, w->move[move].name, p->width - 24);
    h->note = note;
}

const struct panel_ops view_ties = {
    .name = "ties",
    .title = "Why it is one class",
    .place = PLACE_LAYOUT,
    .id = PANEL_WHY,
    .hints = "run decide why zoom command help",
    .size = sizeof(struct ties),
    .close = close_ties,
    .draw = draw_ties,
    .head = head_ties,
};
