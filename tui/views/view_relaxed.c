/* Relaxed mode: how much faster a plan is whose values may change their split between uses, how far
 * it is from its bound, and every collective it pays for that. */
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/class_look.h"
#include "tui/watch/fewer_job.h"
#include "tui/watch/question.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/tree.h"

#include <stdio.h>
#include <string.h>

struct relaxed_view {
    const struct relaxed_plan *plan; /* that `order` is of; only compared */
    uint32_t *order;                 /* [reshard_count] the longest first */
    struct list list;
    struct relaxed_look look;
};

enum { RELAXED_GO, RELAXED_AGAIN, RELAXED_BACK };
static const struct action relaxed_actions[] = {
    [RELAXED_GO] = {"go", "in this view", "go to that instruction", "go there", "Enter", NULL},
    [RELAXED_AGAIN] = {"again", "in this view", "solve again, under the pins of now", "again", "r",
                       NULL},
    [RELAXED_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table relaxed_keys = {"relaxed", relaxed_actions, 3};

/* The job belongs to the watch: other views show what it found. */
static int ask_relaxed(struct panel *p, bool anew, struct err *e)
{
    struct watch *w = p->scene->watch;

    if (anew || !w->relaxed) {
        relaxed_job_free(w->relaxed);
        w->relaxed = NULL;
        if (relaxed_job_new(w->problem, w->shot, p->scene->now_ms > 0, &w->relaxed, e))
            return e->code;
    }
    return 0;
}

static int open_relaxed(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    if (!p->scene->watch)
        return err_set(e, ERR_INPUT, "no model is open");
    return ask_relaxed(p, false, e);
}

static void close_relaxed(struct panel *p)
{
    struct relaxed_view *v = p->state;
    free(v->order);
}

static bool is_live(const struct panel *p)
{
    const struct relaxed_view *v = p->state;
    return !v->look.done;
}

/* The longest first: a merge of two halves, stable. */
static void sort(const struct relaxed_plan *plan, uint32_t *order, uint32_t *space, uint32_t count)
{
    uint32_t half = count / 2, a = 0, b = half;

    if (count < 2)
        return;
    sort(plan, order, space, half);
    sort(plan, order + half, space, count - half);
    for (uint32_t n = 0; n < count; n++) {
        bool first =
            b == count || (a < half && plan->reshards[order[a]].ms >= plan->reshards[order[b]].ms);
        space[n] = order[first ? a++ : b++];
    }
    memcpy(order, space, count * sizeof *order);
}

static void refresh(struct panel *p)
{
    struct relaxed_view *v = p->state;
    struct watch *w = p->scene->watch;

    relaxed_job_look(w->relaxed, &v->look);
    if (v->plan == v->look.plan)
        return;
    free(v->order);
    v->plan = v->look.plan;
    v->order = NULL;
    v->list = (struct list){0};
    if (!v->plan)
        return;
    uint32_t count = v->plan->reshard_count;
    uint32_t *space = mem_alloc(((size_t)count + 1) * sizeof *space);
    v->order = mem_alloc(((size_t)count + 1) * sizeof *v->order);
    for (uint32_t n = 0; n < count; n++)
        v->order[n] = n;
    sort(v->plan, v->order, space, count);
    free(space);
}

/* ---- drawing ---- */

static void draw_sentence(const struct relaxed_view *v, const struct watch *w, const struct pane *p)
{
    const struct relaxed_plan *plan = v->plan;
    char ms[UNITS_ROOM], over[UNITS_ROOM], text[128];

    int x = pane_text(p, 0, 0, ROLE_TITLE | BOLD, units_ms(ms, plan->cost.step_ms));
    x = pane_text(p, x, 0, ROLE_TEXT, " relaxed");
    if (plan->bound_ms > 0) {
        x = pane_format(p, x + 3, 0, plan->gap > 1e-6 ? ROLE_WARN : ROLE_OK, "%s %%",
                        units_change(ms, plan->gap * 100, 1));
        x = pane_format(p, x, 0, ROLE_TEXT, " over bound %s, %s", units_ms(ms, plan->bound_ms),
                        relaxed_bound_names[plan->bound_kind]);
    } else {
        x = pane_text(p, x + 3, 0, ROLE_DIM, "no bound");
    }
    if (plan->strict_ms > 0) {
        snprintf(text, sizeof text, "%s %s, %s %%",
                 plan->strict_proven ? "strict optimum" : "best strict found",
                 units_ms(ms, plan->strict_ms),
                 units_change(over, (plan->cost.step_ms / plan->strict_ms - 1) * 100, 1));
        if (x + 3 + utf8_text_columns(text) <= p->width)
            x = pane_text(p, x + 3, 0, ROLE_TEXT, text);
    }
    fewer_words(w, plan->cost.step_ms, text, sizeof text);
    if (x + utf8_text_columns(text) <= p->width)
        pane_text(p, x, 0, ROLE_WARN, text);
}

static void draw_parts(const struct panel *p, const struct pane *pane, int y)
{
    const struct relaxed_view *v = p->state;
    double limit = p->scene->problem->step_tables.device.memory_bytes;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    pane_right(pane, 40, y, ROLE_DIM, "ms");
    pane_right(pane, 52, y, ROLE_DIM, "count");
    pane_right(pane, 64, y, ROLE_DIM, "bytes");
    pane_text(pane, 0, ++y, ROLE_TEXT, "compute");
    pane_right_ms(pane, 40, y, ROLE_TEXT, v->plan->cost.compute_ms);
    for (int k = 0; k < RESHARD_KIND_COUNT; k++) {
        const struct relaxed_sum *s = &v->look.sums[k];
        if (!(s->count > 0) || k == RESHARD_SLICE)
            continue;
        pane_text(pane, 0, ++y, ROLE_TEXT, reshard_kind_names[k]);
        pane_right_ms(pane, 40, y, ROLE_TEXT, s->ms);
        pane_right(pane, 52, y, ROLE_TEXT, units_count(a, (int64_t)(s->count + 0.5)));
        pane_right(pane, 64, y, ROLE_TEXT, units_bytes(b, s->bytes));
    }
    bool over = v->look.memory.peak > limit;
    pane_text(pane, 0, ++y, ROLE_TEXT, "memory, GB");
    pane_right_number(pane, 40, y, over ? ROLE_ERR : ROLE_TEXT, v->look.memory.peak / 1e9, 1);
    pane_format(pane, 43, y, over ? ROLE_ERR : ROLE_OK, over ? "over %.0f" : "fits in %.0f",
                limit / 1e9);
}

static int part_rows(const struct relaxed_view *v)
{
    int rows = 3;

    for (int k = 0; k < RESHARD_KIND_COUNT; k++)
        rows += v->look.sums[k].count > 0 && k != RESHARD_SLICE;
    return rows;
}

/* Where columns begin, or end for figures; 0: left out. */
struct columns {
    int ms, bytes, kind, value, walk, user, source;
};

static struct columns columns_for(int width)
{
    struct columns c = {.ms = 8, .bytes = 18, .kind = 20, .value = 36};
    int x = width;

    if (width < 118) /* two shapes of two dims in 80 columns */
        c = (struct columns){.ms = 5, .bytes = 13, .kind = 15, .value = 31};

    if (width >= 140) {
        c.source = x - 16;
        x -= 18;
    }
    if (width >= 118) {
        c.user = x - 24;
        x -= 26;
    }
    if (width >= 70)
        c.walk = c.value + (width >= 140 ? 26 : width >= 118 ? 20 : 17);
    return c;
}

/* "[32 512/x 768]": without the type. */
static void write_dims(const struct problem *p, hlo_value v, status s, struct str *out)
{
    struct str text = {0};

    status_write(hlo_value_shape(p->m, v), &p->mesh, s, &text);
    const char *bracket = text.text ? strchr(text.text, '[') : NULL;
    str_add(out, bracket ? bracket : "");
    str_release(&text);
}

static void write_walk(const struct problem *p, const struct relaxed_reshard *r, const char *to,
                       struct str *out)
{
    str_clear(out);
    write_dims(p, r->value, r->from, out);
    str_add(out, to);
    write_dims(p, r->value, r->to, out);
}

static void draw_reshard(const struct panel *p, const struct pane *pane, int y,
                         const struct relaxed_reshard *r, const struct columns *c)
{
    const struct watch *w = p->scene->watch;
    const struct hlo_module *m = w->problem->m;
    struct str text = {0};
    char bytes[UNITS_ROOM], source[64];
    int end = c->user ? c->user - 2 : c->source ? c->source - 2 : pane->width;

    pane_right_number(pane, c->ms, y, ROLE_TEXT, r->ms, 2);
    pane_right(pane, c->bytes, y, ROLE_TEXT, units_bytes(bytes, r->bytes));
    pane_cut(pane, c->kind, y, 14, ROLE_TEXT, reshard_kind_names[r->kind]);
    pane_cut(pane, c->value, y, (c->walk ? c->walk : pane->width) - c->value - 2, ROLE_TITLE,
             tree_instruction_name(w->tree, m->value_instruction[r->value]));
    if (c->walk) {
        write_walk(w->problem, r, " to ", &text);
        if (text.text && utf8_text_columns(text.text) > end - c->walk)
            write_walk(w->problem, r, "→", &text);
        pane_cut(pane, c->walk, y, end - c->walk, ROLE_TEXT, text.text);
    }
    if (c->user)
        pane_cut(pane, c->user, y, 24, r->user == HLO_NONE ? ROLE_DIM : ROLE_TEXT,
                 r->is_inside          ? "inside of it"
                 : r->user == HLO_NONE ? "all its uses"
                                       : tree_instruction_name(w->tree, r->user));
    if (c->source)
        pane_cut(pane, c->source, y, 16, ROLE_DIM,
                 instruction_source(m, m->value_instruction[r->value], source, sizeof source));
    str_release(&text);
}

static void draw_reshards(struct panel *p, const struct pane *pane)
{
    struct relaxed_view *v = p->state;
    struct columns c = columns_for(pane->width);
    char note[64], count[UNITS_ROOM];

    snprintf(note, sizeof note, "%s · the longest first",
             units_count(count, v->plan->reshard_count));
    pane_head(pane, 0, &(struct head){0, "Reshards", note, true});
    pane_right(pane, c.ms, 1, ROLE_DIM, "ms");
    pane_right(pane, c.bytes, 1, ROLE_DIM, "bytes");
    pane_text(pane, c.kind, 1, ROLE_DIM, "kind");
    pane_text(pane, c.value, 1, ROLE_DIM, "value");
    if (c.walk)
        pane_text(pane, c.walk, 1, ROLE_DIM, "changes");
    if (c.user)
        pane_text(pane, c.user, 1, ROLE_DIM, "for");
    list_fit(&v->list, v->plan->reshard_count, pane->height - 2);
    for (int y = 0; y < pane->height - 2 && v->list.top + y < v->list.count; y++) {
        draw_reshard(p, pane, y + 2, &v->plan->reshards[v->order[v->list.top + y]], &c);
        if (v->list.top + y != v->list.cursor)
            continue;
        pane_select(pane, y + 2, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + y + 2;
    }
    if (!v->plan->reshard_count)
        pane_text(pane, 0, 2, ROLE_DIM, "none: the strict optimum is as good");
}

static void draw_relaxed(struct panel *p, const struct pane *pane)
{
    struct relaxed_view *v = p->state;
    int gap = pane->height >= 20, y = 1 + gap;

    if (!p->scene->watch || !p->scene->watch->relaxed)
        return;
    refresh(p);
    if (!v->plan) {
        if (v->look.done)
            pane_cut(pane, 0, 0, pane->width, ROLE_ERR,
                     v->look.trouble[0] ? v->look.trouble : "no relaxed plan was found");
        else
            pane_format(pane, 0, 0, ROLE_DIM, "every value free to change its split: %u sweeps ..",
                        v->look.sweeps);
        return;
    }
    draw_sentence(v, p->scene->watch, pane);
    int parts = part_rows(v);
    if (pane->height >= parts + 10) {
        pane_head(pane, y, &(struct head){0, "Step", "a device · ms", false});
        draw_parts(p, pane, y + 1);
        y += parts + 1 + gap;
    }
    struct pane low = pane_part(pane, 0, y, pane->width, pane->height - y);
    if (low.height > 2)
        draw_reshards(p, &low);
}

/* ---- acts ---- */

static const struct relaxed_reshard *here(const struct panel *p)
{
    const struct relaxed_view *v = p->state;
    return v->plan && (uint64_t)v->list.cursor < v->plan->reshard_count
               ? &v->plan->reshards[v->order[v->list.cursor]]
               : NULL;
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct relaxed_reshard *r = here(p);
    return r ? p->scene->problem->m->value_instruction[r->value] : HLO_NONE;
}

static void question_here(const struct panel *p, struct question *q)
{
    const struct relaxed_view *v = p->state;
    const struct relaxed_reshard *r = here(p);

    if (r)
        *q = (struct question){.kind = QUESTION_RESHARD,
                               .relaxed = v->plan,
                               .number = (uint32_t)(r - v->plan->reshards)};
}

static const struct relaxed_plan *relaxed_here(const struct panel *p)
{
    const struct relaxed_view *v = p->state;
    return v->plan;
}

static bool act_relaxed(struct panel *p, int action)
{
    struct relaxed_view *v = p->state;
    struct err e = {0};

    if (action == RELAXED_BACK) {
        host_close(p->scene);
    } else if (action == RELAXED_GO) {
        if (here(p))
            host_go_to(p->scene, instruction_here(p));
    } else {
        v->plan = NULL;
        v->look = (struct relaxed_look){.done = false};
        if (ask_relaxed(p, true, &e)) {
            host_say_err(p->scene, &e);
            host_close(p->scene);
        }
    }
    return true;
}

static bool move_relaxed(struct panel *p, enum list_move move)
{
    struct relaxed_view *v = p->state;
    return list_move(&v->list, move);
}

/* Why it stands there: how the value is made, what asks otherwise, how often. */
static void message_relaxed(const struct panel *p, char *out, size_t room)
{
    const struct relaxed_reshard *r = here(p);
    const struct watch *w = p->scene->watch;
    struct str from = {0}, to = {0};

    if (!r)
        return;
    const struct hlo_module *m = w->problem->m;
    status_write(hlo_value_shape(m, r->value), &w->problem->mesh, r->from, &from);
    status_write(hlo_value_shape(m, r->value), &w->problem->mesh, r->to, &to);
    const char *asks = r->is_inside          ? "the instruction itself"
                       : r->user == HLO_NONE ? "all its uses"
                                             : tree_instruction_name(w->tree, r->user);
    const char *verb = !r->is_inside && r->user == HLO_NONE ? "ask" : "asks";
    char times[UNITS_ROOM] = "once", count[UNITS_ROOM];
    if (r->times > 1.5)
        snprintf(times, sizeof times, "%.32s times", units_number(count, r->times, 0));
    snprintf(out, room, "%s is %s, %s %s for %s; %s a step",
             tree_instruction_name(w->tree, m->value_instruction[r->value]), from.text, asks, verb,
             to.text, times);
    str_release(&from);
    str_release(&to);
}

const struct panel_ops view_relaxed = {
    .name = "relaxed",
    .title = "Relaxed",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &relaxed_keys,
    .hints = "down=choose go again why export back",
    .size = sizeof(struct relaxed_view),
    .open = open_relaxed,
    .close = close_relaxed,
    .draw = draw_relaxed,
    .act = act_relaxed,
    .move = move_relaxed,
    .instruction_here = instruction_here,
    .question_here = question_here,
    .relaxed_here = relaxed_here,
    .message = message_relaxed,
    .is_live = is_live,
};
