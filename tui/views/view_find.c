/* Find: everything that has a name, and everything that can be done, by some of its words. Nothing
 * is done by moving over it; Enter goes where the thing is seen best, or does it. */
#include "engine/decide/classes.h"
#include "engine/live/snapshot.h"
#include "engine/relaxed/status.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/tour.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/find_draw.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/class_look.h"
#include "tui/watch/find.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/price.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRICES_MOST = 64 };

/* The optimum with a pin; move MOVE_NONE: as pins are now. */
struct priced {
    int move;
    bool split;
    struct price price;
};

struct find {
    struct edit line;
    int kind;                       /* enum find_kind, or FIND_ANY */
    struct find_index here;         /* what the view below can do, and what the search holds now */
    const struct live_moves *moves; /* `here` is of these; only compared */
    struct live_plan *plans[WATCH_PLANS_MOST]; /* and of these */
    uint32_t plan_count;
    struct find_result found;
    struct list list;
    struct priced prices[PRICES_MOST];
    int price_count;
    char name[EDIT_ROOM];
};

/* ---- what there is ---- */

/* A command with all its words typed: "pin encoder self = 1"; of a group, what the group holds. */
static void add_lines(struct panel *p)
{
    struct find *v = p->state;
    struct colon_line line;

    for (int i = 0; host_line(p->scene, i, &line); i++) {
        bool option = !strncmp(line.text, "set ", 4) || !strncmp(line.text, "cluster ", 8);
        const struct find_entry *group = NULL;
        if (line.again)
            continue;
        for (size_t n = 0; line.pins && n < v->here.count && !group; n++) {
            if (v->here.items[n].kind == FIND_GROUP && v->here.items[n].id == (uint32_t)line.move)
                group = &v->here.items[n];
        }
        find_add(&v->here,
                 option            ? FIND_OPTION
                 : line.opens_view ? FIND_VIEW
                                   : FIND_COMMAND,
                 (uint32_t)i, group ? group->around : NULL, line.text,
                 line.words[0] && !line.pins ? line.words : NULL, NULL);
    }
}

static void add_tours(struct panel *p)
{
    struct find *v = p->state;
    struct tour_name names[TOURS_MOST];
    int count = tour_names(names, p->scene->data_dir);

    for (int n = 0; n < count; n++)
        find_add(&v->here, FIND_TOUR, (uint32_t)n, NULL, names[n].name, NULL);
}

static void search_index(struct panel *p)
{
    struct find *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct find_index *all[2] = {&v->here, w ? w->found : NULL};
    struct err e = {0};

    free(v->found.hits);
    if (find_run(all, w && w->found ? 2 : 1, v->line.text, v->kind, &v->found, &e))
        host_say_err(p->scene, &e);
    v->list = (struct list){.rows = v->list.rows};
    list_fit(&v->list, (int64_t)v->found.count, v->list.rows);
}

/* Names of what the search holds now. */
static void list_names(struct panel *p)
{
    struct find *v = p->state;
    struct watch *w = p->scene->watch;

    find_index_release(&v->here);
    v->moves = w ? w->moves : NULL;
    v->plan_count = w ? plan_load_all(w, v->plans) : 0;
    if (w)
        find_index_search(&v->here, w);
    add_lines(p);
    add_tours(p);
    search_index(p);
}

static int open_find(struct panel *p, const void *arg, struct err *e)
{
    struct find *v = p->state;
    struct watch *w = p->scene->watch;

    (void)arg;
    (void)e;
    v->kind = FIND_ANY;
    if (w && !w->found) {
        w->found = mem_alloc(sizeof *w->found);
        find_index_module(w->found, w);
    }
    list_names(p);
    return 0;
}

/* Decisions and plans are found by number: with others, the names are made anew. */
static void read_find(struct panel *p)
{
    struct find *v = p->state;
    const struct watch *w = p->scene->watch;
    int64_t at = v->list.cursor;

    struct live_plan *plans[WATCH_PLANS_MOST];
    if (!w || (w->moves == v->moves && plan_load_all(w, plans) == v->plan_count &&
               !memcmp(plans, v->plans, v->plan_count * sizeof *v->plans)))
        return;
    v->price_count = 0;
    list_names(p);
    list_go(&v->list, at < v->list.count ? at : 0);
}

static void close_find(struct panel *p)
{
    struct find *v = p->state;
    find_index_release(&v->here);
    free(v->found.hits);
}

static const struct find_entry *entry_at(const struct find *v, int64_t at)
{
    return at >= 0 && (size_t)at < v->found.count ? v->found.hits[at].entry : NULL;
}

static bool line_of(const struct panel *p, const struct find_entry *e, struct colon_line *line)
{
    bool has = e->kind == FIND_COMMAND || e->kind == FIND_OPTION || e->kind == FIND_VIEW;
    return has && host_line(p->scene, (int)e->id, line);
}

/* ---- prices of pins ---- */

static const struct price *price_of(const struct find *v, int move, bool split)
{
    for (int n = 0; n < v->price_count; n++) {
        if (v->prices[n].move == move && v->prices[n].split == split)
            return &v->prices[n].price;
    }
    return NULL;
}

/* The next one in sight that is not known; first of all as it is now. False: all are there. */
static bool find_price(struct panel *p)
{
    struct find *v = p->state;
    const struct watch *w = p->scene->watch;
    struct colon_line line;

    if (!w || v->price_count == PRICES_MOST)
        return false;
    for (int i = 0; i < v->list.rows; i++) {
        const struct find_entry *e = entry_at(v, v->list.top + i);
        if (!e || !line_of(p, e, &line) || !line.pins)
            continue;
        bool first = !price_of(v, MOVE_NONE, false);
        int move = first ? MOVE_NONE : line.move;
        bool split = !first && line.split;
        if (price_of(v, move, split))
            continue;
        v->prices[v->price_count++] =
            (struct priced){move, split, price_at_best(w, move, first ? -1 : split)};
        return true;
    }
    return false;
}

static void settle_find(struct panel *p)
{
    while (find_price(p))
        ;
}

/* "350.5 ms  +105.4 proven"; "" while it is not known, or never. */
static void write_price(const struct find *v, const struct colon_line *line, char *out, size_t room)
{
    const struct price *now = price_of(v, MOVE_NONE, false);
    const struct price *with = price_of(v, line->move, line->split);
    char ms[UNITS_ROOM], change[UNITS_ROOM];

    out[0] = 0;
    if (!now || !with)
        snprintf(out, room, "..");
    else if (now->known && with->known)
        snprintf(out, room, "%s  %s%s", units_ms(ms, with->cost.step_ms),
                 units_change(change, with->cost.step_ms - now->cost.step_ms,
                              units_ms_decimals(now->cost.step_ms)),
                 with->proven ? "" : " best found");
    else
        snprintf(out, room, "%s",
                 with->impossible ? "not possible with the other pins"
                 : with->over     ? "none fits in memory"
                                  : "not priced");
}

/* ---- drawing ---- */

/* What it is, and how it stands now. */
static void write_group(const struct watch *w, uint32_t n, char *what, char *now, size_t room)
{
    const struct watch_move *m = &w->move[n];

    snprintf(what, room, "%u %s of variables", m->dims, m->dims == 1 ? "dim" : "dims");
    if (m->best == 0 || m->best == m->classes)
        snprintf(now, room, "%d %s%s", m->best > 0, watch_best_word(w),
                 watch_optimum(w) && m->exact != m->best ? m->exact ? ", 1 exact ^" : ", 0 exact ^"
                                                         : "");
    else
        snprintf(now, room, "%u of %u %s", m->best, m->classes, watch_best_word(w));
    if (!w->best)
        now[0] = 0;
}

static bool splits_value(const struct watch *w, const struct live_plan *plan, hlo_value v)
{
    const struct classes *c = &w->problem->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        if (c->class_of[d] != CLASS_NONE && plan->on[c->class_of[d]])
            return true;
    }
    return false;
}

/* "1 best, 0 exact ^", of a value; "" before there is a best plan. */
static void write_splits(const struct watch *w, hlo_value v, char *now, size_t room)
{
    bool best = w->best && splits_value(w, w->best, v),
         exact = watch_optimum(w) ? splits_value(w, w->exact, v) : best;

    now[0] = 0;
    if (w->best)
        snprintf(now, room, "%d %s%s", best, watch_best_word(w),
                 best == exact ? ""
                 : exact       ? ", 1 exact ^"
                               : ", 0 exact ^");
}

static void write_instruction(const struct watch *w, hlo_id id, char *what, char *now, size_t room)
{
    struct str shape = {0};
    const struct hlo_module *m = w->problem->m;

    if (m->leaf_base[id + 1] - m->leaf_base[id] == 1)
        status_write(hlo_value_shape(m, m->leaf_base[id]), &w->problem->mesh, STATUS_WHOLE, &shape);
    snprintf(what, room, "%s", shape.text ? shape.text : "tuple");
    str_release(&shape);
    instruction_source(m, id, now, room);
}

static void write_about(const struct panel *p, const struct find_entry *e, char *what, char *now,
                        size_t room)
{
    const struct find *v = p->state;
    const struct watch *w = p->scene->watch;
    struct colon_line line;
    char ms[UNITS_ROOM], count[UNITS_ROOM];

    what[0] = now[0] = 0;
    switch ((enum find_kind)e->kind) {
    case FIND_GROUP:
        write_group(w, e->id, what, now, room);
        return;
    case FIND_VARIABLE:
    case FIND_INPUT:
    case FIND_STATE:
        write_instruction(w,
                          w->problem->m->value_instruction[w->problem->roles.params[e->id].value],
                          what, now, room);
        write_splits(w, w->problem->roles.params[e->id].value, now, room);
        return;
    case FIND_MODULE:
        snprintf(what, room, "%s", find_form(e, 1) ? find_form(e, 1) : "");
        snprintf(now, room, "%s", units_ms(ms, w->tree->nodes[e->id].ms));
        return;
    case FIND_PLAN:
        snprintf(what, room, "%s%s", v->plans[e->id]->proven ? "proven over " : "",
                 v->plans[e->id]->proven ? game_decides[w->shot->options.game.kind] : "");
        snprintf(now, room, "%s", units_ms(ms, v->plans[e->id]->cost.step_ms));
        return;
    case FIND_CLASS:
        snprintf(what, room, "%s dims, %s",
                 units_count(count, w->problem->classes.info[e->id].dim_count),
                 w->problem->classes.info[e->id].reason != CLASS_ALLOWED ? "never split"
                                                                         : "not decided here");
        return;
    case FIND_SOURCE:
        snprintf(what, room, "first %s", tree_instruction_name(w->tree, e->id));
        return;
    case FIND_INSTRUCTION:
        write_instruction(w, e->id, what, now, room);
        return;
    default:
        if (!line_of(p, e, &line))
            return;
        if (line.pins)
            write_price(p->state, &line, what, room);
        else
            snprintf(what, room, "%s", line.words);
        snprintf(now, room, "%s", line.keys);
    }
}

/* "all 31  groups 1  modules 2": the chosen one in reverse. */
static void draw_kinds(const struct find *v, const struct pane *p, int y)
{
    uint32_t all = 0;
    int x = 0;

    for (int k = 0; k < FIND_KIND_COUNT; k++)
        all += v->found.of_kind[k];
    x = pane_format(p, x, y, ROLE_DIM | (v->kind == FIND_ANY ? REVERSE : 0), " all %u ", all);
    for (int k = 0; k < FIND_KIND_COUNT; k++) {
        char text[48];
        if (!v->found.of_kind[k])
            continue;
        snprintf(text, sizeof text, " %s %u ", find_kind_names[k], v->found.of_kind[k]);
        if (x + utf8_text_columns(text) > p->width)
            return;
        x = pane_text(p, x, y, ROLE_DIM | (v->kind == k ? REVERSE : 0), text);
    }
}

static void draw_rows(const struct panel *p, const struct pane *pane, int top)
{
    const struct find *v = p->state;
    struct find_row *rows = mem_alloc(((size_t)v->list.rows + 1) * sizeof *rows);
    struct pane part = pane_part(pane, 0, top, pane->width, v->list.rows);
    int count = 0;

    for (; count < v->list.rows && v->list.top + count < v->list.count; count++) {
        struct find_row *r = &rows[count];
        r->entry = entry_at(v, v->list.top + count);
        write_about(p, r->entry, r->what, r->now, sizeof r->what);
    }
    find_draw_rows(rows, count, &part);
    if (v->list.cursor - v->list.top < count)
        pane_select(&part, (int)(v->list.cursor - v->list.top), ROLE_SELECT);
    free(rows);
}

static void draw_find(struct panel *p, const struct pane *pane)
{
    struct find *v = p->state;
    char note[160], count[UNITS_ROOM];

    units_count(count, (int64_t)v->found.count);
    if (v->found.unknown[0])
        snprintf(note, sizeof note, "no name holds \"%s\" · %s found without", v->found.unknown,
                 count);
    else
        snprintf(note, sizeof note, "everything · %s found", count);
    pane_head(pane, 0, &(struct head){0, "Find", note, true});
    pane_text(pane, 0, 1, ROLE_KEY, ">");
    pane->grid->cursor_x = pane->x + edit_draw(&v->line, pane, 2, 1, ROLE_TEXT);
    pane->grid->cursor_y = pane->y + 1;
    draw_kinds(v, pane, 2);
    int top = pane->height >= 16 ? 4 : 3, signs = pane->height >= 20;
    list_fit(&v->list, (int64_t)v->found.count, pane->height - top - 2 * signs);
    if (!v->found.count)
        pane_text(pane, 0, top, ROLE_DIM, "no name holds all of these words");
    if (p->scene->now_ms > 0 && find_price(p))
        host_touch(p->scene); /* the next one in the next frame */
    draw_rows(p, pane, top);
    if (signs)
        pane_cut(pane, 0, pane->height - 1, pane->width, ROLE_DIM,
                 "@groups  #variables  %instructions  :commands  =options  ~letters in order");
}

/* ---- acts ---- */

static void run_line(struct panel *p, const struct find_entry *e)
{
    const struct scene *scene = p->scene;
    struct find *v = p->state;
    struct colon_line line;
    char text[EDIT_ROOM];

    if (!line_of(p, e, &line))
        return;
    const char *typed = v->line.text + (v->line.text[0] == ':');
    bool value = line.takes && !strncmp(typed, line.text, strlen(line.text)) &&
                 strlen(typed) > strlen(line.text);
    snprintf(text, sizeof text, "%s", value ? typed : line.text);
    host_close(scene);
    if (line.takes && !value)
        host_ask(scene, text);
    else
        host_command(scene, text);
}

static void open_plan(struct panel *p, uint32_t n)
{
    const struct scene *scene = p->scene;
    struct live_plan *plan = live_plan_share(((struct find *)p->state)->plans[n]);
    struct err e = {0};

    host_close(scene);
    if (host_open(scene, &view_plans, plan, &e))
        host_say_err(scene, &e);
    live_plan_release(plan);
}

static void open_class(struct panel *p, class_id k)
{
    const struct scene *scene = p->scene;
    struct err e = {0};

    host_close(scene);
    if (host_open(scene, &view_members, &k, &e))
        host_say_err(scene, &e);
}

static void run_found(struct panel *p)
{
    struct find *v = p->state;
    const struct find_entry *e = entry_at(v, v->list.cursor);
    const struct watch *w = p->scene->watch;
    struct err err = {0};
    char tour[64];

    if (!e)
        return;
    switch ((enum find_kind)e->kind) {
    case FIND_GROUP:
        host_go_to_move(p->scene, (int)e->id);
        return;
    case FIND_MODULE:
        host_go_to_node(p->scene, (int)e->id);
        return;
    case FIND_VARIABLE:
    case FIND_INPUT:
    case FIND_STATE:
        host_go_to(p->scene,
                   w->problem->m->value_instruction[w->problem->roles.params[e->id].value]);
        return;
    case FIND_SOURCE:
    case FIND_INSTRUCTION:
        host_go_to(p->scene, e->id);
        return;
    case FIND_PLAN:
        open_plan(p, e->id);
        return;
    case FIND_CLASS:
        open_class(p, e->id);
        return;
    case FIND_TOUR:
        snprintf(tour, sizeof tour, "%s", e->name);
        if (host_tour(p->scene, tour, &err))
            host_say_err(p->scene, &err);
        return;
    default:
        run_line(p, e);
    }
}

/* The next kind that something was found of; behind the last, all. */
static void next_kind(struct panel *p, int step)
{
    struct find *v = p->state;

    do {
        v->kind += step;
        if (v->kind == FIND_KIND_COUNT)
            v->kind = FIND_ANY;
        else if (v->kind < FIND_ANY)
            v->kind = FIND_KIND_COUNT - 1;
    } while (v->kind != FIND_ANY && !v->found.of_kind[v->kind]);
    search_index(p);
}

static bool key_find(struct panel *p, uint32_t key)
{
    static const struct {
        uint32_t key;
        enum list_move move;
    } moves[] = {{KEYC_DOWN, LIST_DOWN},
                 {KEYC_UP, LIST_UP},
                 {KEYC_PAGE_DOWN, LIST_PAGE_DOWN},
                 {KEYC_PAGE_UP, LIST_PAGE_UP}};
    struct find *v = p->state;

    for (size_t n = 0; n < sizeof moves / sizeof *moves; n++) {
        if (key == moves[n].key) {
            list_move(&v->list, moves[n].move);
            return true;
        }
    }
    if (key == KEYC_ESC || key == 3)
        host_close(p->scene);
    else if (key == KEYC_ENTER)
        run_found(p);
    else if (key == KEYC_TAB || key == KEYC_BACK_TAB)
        next_kind(p, key == KEYC_TAB ? 1 : -1);
    else if (edit_key(&v->line, key))
        search_index(p);
    else
        return false;
    return true;
}

static void message_find(const struct panel *p, char *out, size_t room)
{
    const struct find *v = p->state;
    const struct find_entry *e = entry_at(v, v->list.cursor);
    const struct price *now = price_of(v, MOVE_NONE, false);
    struct colon_line line;

    if (!e)
        return;
    if (line_of(p, e, &line) && line.pins && now && now->known)
        snprintf(out, room, "prices: the best step possible with that pin%s%s",
                 now->proven ? ", proven over " : "",
                 now->proven ? game_decides[p->scene->watch->shot->options.game.kind] : "");
    else
        snprintf(out, room, "Enter: %s, %s %s", find_enter_does((enum find_kind)e->kind),
                 find_kind_names[e->kind], e->name);
}

static const char *name_here(const struct panel *p)
{
    struct find *v = p->state;
    const struct find_entry *e = entry_at(v, v->list.cursor);
    return e ? e->name : NULL;
}

enum { FIND_DOWN, FIND_UP, FIND_TAB, FIND_DO, FIND_CLOSE };
static const struct action find_actions[] = {
    [FIND_DOWN] = {"choose", "find", "choose", "choose", "Down", NULL},
    [FIND_UP] = {"choose-up", "find", NULL, NULL, "Up", NULL},
    [FIND_TAB] = {"kind", "find", "one kind only", "kind", "Tab", NULL},
    [FIND_DO] = {"do", "find", "go there, do it", "go there, do it", "Enter", NULL},
    [FIND_CLOSE] = {"leave", "find", "leave", "leave", "Esc", NULL},
};
static const struct key_table find_keys = {"find", find_actions, 5};

const struct panel_ops view_find = {
    .name = "find",
    .title = "Find",
    .place = PLACE_FULL,
    .of_search = true,
    .keys = &find_keys,
    .hints = "choose kind do leave",
    .asks = true,
    .size = sizeof(struct find),
    .open = open_find,
    .close = close_find,
    .read = read_find,
    .draw = draw_find,
    .key = key_find,
    .settle = settle_find,
    .name_here = name_here,
    .message = message_find,
};
