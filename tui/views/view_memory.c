/* Memory of one device. V m: the course of it under one plan, what is live at a position, and what
 * single decisions would do to the peak, priced a few a frame; `r`: what to keep for the backward
 * pass (memory_keep.c). The view keeps the plan it was opened on. */
#include "engine/cost/memory.h"
#include "engine/live/snapshot.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/memory_draw.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/keep_job.h"
#include "tui/watch/memory_look.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/question.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum {
    MEMORY_LEFT,
    MEMORY_RIGHT,
    MEMORY_LEFT_FAR,
    MEMORY_RIGHT_FAR,
    MEMORY_PEAK,
    MEMORY_OPEN,
    MEMORY_BACK,
    MEMORY_LIST,
    MEMORY_FLIP,
    MEMORY_OTHER,
    MEMORY_KEEP
};
static const struct action memory_actions[] = {
    [MEMORY_LEFT] = {"left", "in this view", "step along the schedule", "step", "h or Left",
                     "Left"},
    [MEMORY_RIGHT] = {"right", "in this view", NULL, NULL, "l or Right", "Right"},
    [MEMORY_LEFT_FAR] = {"left-far", "in this view", "in larger steps", NULL, "H", NULL},
    [MEMORY_RIGHT_FAR] = {"right-far", "in this view", NULL, NULL, "L", NULL},
    [MEMORY_PEAK] = {"peak", "in this view", "to the peak", "peak", "g", NULL},
    [MEMORY_OPEN] = {"values", "in this view", "values of a shape", "values", "Enter", NULL},
    [MEMORY_BACK] = {"back", "in this view", "back", "back", "Esc or Backspace", NULL},
    [MEMORY_LIST] = {"list", "in this view", "the other list", "list", "Tab", NULL},
    [MEMORY_FLIP] = {"flip", "in this view", "pin that decision so", "flip", "f", NULL},
    [MEMORY_KEEP] = {"recompute", "in this view", "what to keep, compute again, offload", "keep",
                     "r", NULL},
    [MEMORY_OTHER] = {"other", "in this view", "another plan beside it", "other plan", "c", NULL},
};
static const struct key_table memory_keys = {"memory", memory_actions,
                                             sizeof memory_actions / sizeof *memory_actions};

static bool shows_keep(const struct memory_view *v)
{
    return v->shown == MEMORY_LIST_KEEP || v->shown == MEMORY_LIST_FRONT;
}

/* ---- figures ---- */

static void look_at(struct panel *p, uint32_t position)
{
    struct memory_view *v = p->state;
    struct err e;

    v->cursor = position;
    free(v->groups);
    v->groups = NULL;
    v->group_count = 0;
    v->list[MEMORY_LIST_GROUPS] = (struct list){.rows = v->list[MEMORY_LIST_GROUPS].rows};
    if (v->shown == MEMORY_LIST_VALUES)
        v->shown = MEMORY_LIST_GROUPS;
    if (memory_groups(p->scene->watch, &v->curve, position, &v->groups, &v->group_count, &v->inner,
                      &e))
        host_say_err(p->scene, &e);
}

static void start_flips(struct memory_view *v, const struct watch *w)
{
    free(v->flips);
    v->moves = w->moves;
    v->flip_count = w->move_count;
    v->flips_done = 0;
    v->flips = mem_alloc(((size_t)v->flip_count + 1) * sizeof *v->flips);
}

static int lowest_first(const void *a, const void *b)
{
    const struct memory_flip *x = a, *y = b;
    return x->peak != y->peak ? (x->peak < y->peak ? -1 : 1) : x->move - y->move;
}

/* A few a frame; without a clock, for a picture, all. */
static void price_flips(struct panel *p)
{
    enum { RANGES_A_FRAME = 200000 };
    struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    int few = RANGES_A_FRAME / (int)(w->problem->memory.count + 1) + 1, end = v->flips_done + few;

    if (v->moves != w->moves)
        start_flips(v, w);
    if (v->flips_done == v->flip_count)
        return;
    end = end > v->flip_count || p->scene->now_ms <= 0 ? v->flip_count : end;
    memory_flips(w, &v->curve, v->flips_done, end, v->flips);
    v->flips_done = end;
    if (v->flips_done == v->flip_count)
        qsort(v->flips, (size_t)v->flip_count, sizeof *v->flips, lowest_first);
}

static void close_memory(struct panel *p)
{
    struct memory_view *v = p->state;
    memory_curve_release(&v->curve);
    memory_curve_release(&v->other);
    free(v->groups);
    free(v->flips);
    keep_job_free(v->keep);
    free(v->rows);
}

static int open_memory(struct panel *p, const void *arg, struct err *e)
{
    struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct live_plan *asked = arg;

    if (!w)
        return err_set(e, ERR_INPUT, "no model is open");
    if (memory_curve_make(w, asked ? (struct live_plan *)(uintptr_t)asked : w->best, &v->curve, e))
        return e->code;
    start_flips(v, w);
    look_at(p, v->curve.peak);
    return 0;
}

static bool is_live(const struct panel *p)
{
    const struct memory_view *v = p->state;
    return v->flips_done < v->flip_count || (v->keep && !keep_job_look(v->keep));
}

/* ---- drawing ---- */

static void write_plan(const struct live_plan *plan, char *out, size_t room)
{
    char count[UNITS_ROOM];

    if (!plan)
        snprintf(out, room, "everything whole");
    else if (plan->episode && !plan->nodes)
        snprintf(out, room, "%s, episode %s", plan->found_by,
                 units_count(count, (int64_t)plan->episode));
    else
        snprintf(out, room, "%s", plan->found_by);
}

/* "16 GB", "250 MB". */
static char *write_limit(double bytes, char out[static UNITS_ROOM])
{
    if (bytes < 999.5e6)
        return units_bytes(out, bytes);
    snprintf(out, UNITS_ROOM, "%.4g GB", bytes / 1e9);
    return out;
}

static void draw_sentence(const struct panel *p, const struct pane *pane)
{
    const struct memory_view *v = p->state;
    double peak = v->curve.total[v->curve.peak], limit = memory_limit(p->scene);
    char plan[64], other[64], gb[UNITS_ROOM];

    int x = pane_text(pane, 0, 0, ROLE_TITLE | BOLD, units_bytes(gb, peak));
    x = pane_text(pane, x, 0, ROLE_TEXT, " at the peak");
    if (peak > limit) {
        x = pane_format(pane, x + 3, 0, ROLE_ERR, "%s over", units_bytes(gb, peak - limit));
        x = pane_format(pane, x, 0, ROLE_TEXT, " the limit of %s", write_limit(limit, gb));
    } else {
        x = pane_format(pane, x + 3, 0, ROLE_OK, "fits");
        x = pane_format(pane, x, 0, ROLE_TEXT, " in %s", write_limit(limit, gb));
    }
    write_plan(v->curve.plan, plan, sizeof plan);
    if (x + 8 + utf8_text_columns(plan) > pane->width)
        return;
    x = pane_text(pane, x + 3, 0, ROLE_DIM, "plan ");
    x = pane_text(pane, x, 0, ROLE_TEXT, plan);
    write_plan(v->other.plan, other, sizeof other);
    if (v->other.total && x + 20 + utf8_text_columns(other) <= pane->width)
        pane_format(pane, x + 3, 0, ROLE_PLOT_3, "beside %s, %s", other,
                    units_bytes(gb, v->other.total[v->other.peak]));
}

/* What the peak waits for, and what the model leaves out. */
static void draw_notes(const struct panel *p, const struct pane *pane, int y)
{
    const struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const double *k = v->curve.kinds[v->cursor];
    hlo_id id = memory_at(w, v->cursor);
    struct memory_unit unit = memory_unit_of(&v->curve);
    char gb[UNITS_ROOM];

    int x = pane_text(pane, 0, y, ROLE_DIM, "there ");
    x = pane_cut(pane, x, y, 40, ROLE_TEXT, tree_instruction_name(w->tree, id));
    static const char *const names[MEMORY_KIND_COUNT] = {"parameters", "gradients", "moments",
                                                         "inputs", "activations"};
    for (int n = 0; n < MEMORY_KIND_COUNT; n++) {
        if (k[n] < 0.005 * unit.bytes || x + 24 > pane->width)
            continue;
        x = pane_format(pane, x + 3, y, ROLE_TEXT, "%s ", units_number(gb, k[n] / unit.bytes, 2));
        x = pane_text(pane, x, y, ROLE_DIM, names[n]);
    }
    const uint32_t *position = w->problem->memory.schedule.position;
    bool own = true;
    for (uint32_t n = 0; n < v->curve.count && own; n++)
        own = position[memory_at(w, n)] == memory_at(w, n);
    const char *order = own                            ? "the module's order"
                        : w->problem->memory.is_listed ? "a list scheduler's"
                                                       : "depth first, as XLA on CPU";
    if (y + 1 < pane->height)
        pane_format(pane, 0, y + 1, ROLE_DIM, "schedule %s%s; pipelines: V i", order,
                    pane->width >= 110 ? "; fused results take no memory, nor do most layout copies"
                                       : "");
}

static void draw_lists(struct panel *p, const struct pane *pane)
{
    const struct memory_view *v = p->state;
    bool beside = pane->width >= 96;
    int right = beside ? pane->width * 2 / 5 : 0,
        left = beside ? pane->width - right - 3 : pane->width;
    struct pane one = pane_part(pane, 0, 0, left, pane->height),
                two = pane_part(pane, left + 3, 0, right, pane->height);

    if (pane->height < 3)
        return;
    if (v->shown == MEMORY_LIST_VALUES && v->group_count)
        memory_draw_values(p, &one);
    else if (beside || v->shown != MEMORY_LIST_FLIPS)
        memory_draw_groups(p, &one);
    else
        memory_draw_flips(p, &one);
    if (!beside)
        return;
    for (int y = 1; y < pane->height; y++)
        pane_text(pane, left + 1, y, ROLE_BORDER, "│");
    memory_draw_flips(p, &two);
}

static void draw_memory(struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    char note[96], count[UNITS_ROOM];
    int gap = pane->height >= 24, notes = pane->height >= 26 ? 2 + gap : 0;
    int plot = (pane->height - 2 - 2 * gap - notes) * 9 / 20;

    if (!p->scene->watch)
        return;
    if (shows_keep(v)) {
        memory_draw_keep(p, pane);
        return;
    }
    price_flips(p);
    draw_sentence(p, pane);
    snprintf(note, sizeof note, "one device, %s, along %s instructions",
             memory_unit_of(&v->curve).name, units_count(count, v->curve.count));
    pane_head(pane, 1 + gap, &(struct head){0, "Memory", note, false});
    plot = plot > 18 ? 18 : plot;
    struct pane course = pane_part(pane, 0, 2 + gap, pane->width, plot > 2 ? plot : 2);
    memory_draw_curves(p->scene, &v->curve, v->other.total ? &v->other : NULL, &v->cursor, &course,
                       course.height);
    int y = 2 + gap + course.height + gap;
    struct pane lists = pane_part(pane, 0, y, pane->width, pane->height - y - notes);
    draw_lists(p, &lists);
    if (notes)
        draw_notes(p, pane, pane->height - 2);
}

/* ---- acts ---- */

static void step_by(struct panel *p, int64_t steps)
{
    const struct memory_view *v = p->state;
    int64_t to = v->cursor + steps;

    look_at(p, (uint32_t)(to < 0 ? 0 : to >= v->curve.count ? v->curve.count - 1 : to));
}

static void open_values(struct panel *p)
{
    struct memory_view *v = p->state;

    if (v->shown == MEMORY_LIST_VALUES) {
        hlo_value value = v->values[v->list[MEMORY_LIST_VALUES].cursor].value;
        host_go_to(p->scene, p->scene->problem->m->value_instruction[value]);
        return;
    }
    if (v->shown != MEMORY_LIST_GROUPS || !v->group_count)
        return;
    v->opened = (int)v->list[MEMORY_LIST_GROUPS].cursor;
    v->value_count = memory_group_values(p->scene->watch, &v->curve, v->cursor,
                                         &v->groups[v->opened], v->values, MEMORY_VALUES);
    v->list[MEMORY_LIST_VALUES] = (struct list){0};
    v->shown = v->value_count ? MEMORY_LIST_VALUES : MEMORY_LIST_GROUPS;
}

static void pin_flip(struct panel *p)
{
    const struct memory_view *v = p->state;
    struct err e = {0};

    if (!v->flips_done || v->moves != p->scene->watch->moves)
        return;
    int move = v->flips[v->list[MEMORY_LIST_FLIPS].cursor].move;
    if (host_open(p->scene, &view_pin, &move, &e))
        host_say_err(p->scene, &e);
}

/* The next plan that is not the one shown; after the last, none. */
static void next_other(struct panel *p)
{
    struct memory_view *v = p->state;
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = plan_load_all(p->scene->watch, plans);
    uint32_t from = 0;
    struct err e;

    for (uint32_t n = 0; v->other.total && n < count; n++) {
        if (plans[n] == v->other.plan)
            from = n + 1;
    }
    bool was_whole = v->other.total && !v->other.plan;
    memory_curve_release(&v->other);
    if (was_whole)
        return;
    while (from < count && plans[from] == v->curve.plan)
        from++;
    if (from == count && (!v->curve.plan || plan_load_has_whole(p->scene->watch)))
        return;
    if (memory_curve_make(p->scene->watch, from < count ? plans[from] : NULL, &v->other, &e))
        host_say_err(p->scene, &e);
}

/* Along the front, to what keeps less or more. */
static void step_front(struct memory_view *v, int64_t steps)
{
    struct list *front = &v->list[MEMORY_LIST_FRONT];
    int64_t to = front->cursor - steps;

    list_go(front, to < 0 ? 0 : to >= front->count ? front->count - 1 : to);
}

static bool act_keep(struct panel *p, int action)
{
    struct memory_view *v = p->state;

    switch (action) {
    case MEMORY_LEFT:
    case MEMORY_RIGHT:
        step_front(v, action == MEMORY_RIGHT ? 1 : -1);
        return true;
    case MEMORY_LIST:
        v->shown = v->shown == MEMORY_LIST_KEEP ? MEMORY_LIST_FRONT : MEMORY_LIST_KEEP;
        return true;
    case MEMORY_KEEP:
    case MEMORY_BACK:
        v->shown = MEMORY_LIST_GROUPS;
        return true;
    case MEMORY_OPEN:
        if (memory_row_here(v))
            host_go_to(p->scene,
                       p->scene->problem->m
                           ->value_instruction[keep_job_value(v->keep, memory_row_here(v))]);
        return true;
    default:
        return true;
    }
}

static bool act_memory(struct panel *p, int action)
{
    struct memory_view *v = p->state;
    int64_t far = v->curve.count / 20 + 1;

    if (shows_keep(v))
        return act_keep(p, action);

    switch (action) {
    case MEMORY_LEFT:
    case MEMORY_RIGHT:
        step_by(p, action == MEMORY_RIGHT ? 1 : -1);
        return true;
    case MEMORY_LEFT_FAR:
    case MEMORY_RIGHT_FAR:
        step_by(p, action == MEMORY_RIGHT_FAR ? far : -far);
        return true;
    case MEMORY_PEAK:
        look_at(p, v->curve.peak);
        return true;
    case MEMORY_OPEN:
        open_values(p);
        return true;
    case MEMORY_LIST:
        v->shown = v->shown == MEMORY_LIST_FLIPS ? MEMORY_LIST_GROUPS : MEMORY_LIST_FLIPS;
        return true;
    case MEMORY_FLIP:
        pin_flip(p);
        return true;
    case MEMORY_OTHER:
        next_other(p);
        return true;
    case MEMORY_KEEP:
        v->shown = MEMORY_LIST_FRONT; /* drawing it starts the job */
        return true;
    default:
        if (v->shown == MEMORY_LIST_VALUES)
            v->shown = MEMORY_LIST_GROUPS;
        else
            host_close(p->scene);
        return true;
    }
}

static bool works_memory(const struct panel *p, int action)
{
    return !shows_keep(p->state) || action == MEMORY_LEFT || action == MEMORY_RIGHT ||
           action == MEMORY_LIST || action == MEMORY_BACK || action == MEMORY_KEEP ||
           (action == MEMORY_OPEN && memory_row_here(p->state));
}

static bool move_memory(struct panel *p, enum list_move move)
{
    struct memory_view *v = p->state;
    return list_move(&v->list[v->shown], move);
}

static hlo_value value_here(const struct memory_view *v)
{
    if (v->shown == MEMORY_LIST_VALUES)
        return v->values[v->list[MEMORY_LIST_VALUES].cursor].value;
    if (memory_row_here(v))
        return keep_job_value(v->keep, memory_row_here(v));
    const struct list *l = &v->list[MEMORY_LIST_GROUPS];
    return v->shown == MEMORY_LIST_GROUPS && (size_t)l->cursor < v->group_count
               ? v->groups[l->cursor].value
               : HLO_NONE;
}

static hlo_id instruction_here(const struct panel *p)
{
    hlo_value v = value_here(p->state);
    return v == HLO_NONE ? HLO_NONE : p->scene->problem->m->value_instruction[v];
}

/* A group is asked about by the first value made. */
static void question_here(const struct panel *p, struct question *q)
{
    const struct memory_view *v = p->state;
    hlo_value value = value_here(v);
    bool one = v->shown == MEMORY_LIST_VALUES;

    if (value == HLO_NONE || shows_keep(v))
        return;
    *q = (struct question){.kind = QUESTION_MEMORY,
                           .value = value,
                           .position = v->cursor,
                           .alone = one,
                           .storing = one ? v->values[v->list[MEMORY_LIST_VALUES].cursor].storing
                                          : STORED_AS_USED};
}

static int move_here(const struct panel *p)
{
    const struct memory_view *v = p->state;
    hlo_id id = instruction_here(p);

    if (v->shown == MEMORY_LIST_FLIPS && v->flips_done && v->moves == p->scene->watch->moves)
        return v->flips[v->list[MEMORY_LIST_FLIPS].cursor].move;
    return id == HLO_NONE ? MOVE_NONE : watch_move_of_instruction(p->scene->watch, id);
}

static struct live_plan *plan_here(const struct panel *p)
{
    const struct memory_view *v = p->state;
    return v->curve.plan;
}

/* "encoder self = 1 makes it fit: 12.3 of 16 GB", else the line that makes the value under the
 * cursor. */
static void message_memory(const struct panel *p, char *out, size_t room)
{
    const struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    hlo_id id = instruction_here(p);
    double limit = memory_limit(p->scene);

    if (shows_keep(v)) {
        memory_keep_message(p, out, room);
        return;
    }
    if (v->shown == MEMORY_LIST_FLIPS ||
        (v->shown == MEMORY_LIST_GROUPS && v->list[MEMORY_LIST_GROUPS].cursor == 0)) {
        if (v->flips_done < v->flip_count || !v->flip_count || v->moves != w->moves)
            return;
        const struct memory_flip *f =
            &v->flips[v->shown == MEMORY_LIST_FLIPS ? v->list[MEMORY_LIST_FLIPS].cursor : 0];
        double peak = v->curve.total[v->curve.peak];
        char gb[UNITS_ROOM], all[UNITS_ROOM], ms[UNITS_ROOM];
        const char *does = f->peak >= peak                    ? "does not lower the peak"
                           : peak > limit && f->peak <= limit ? "makes it fit"
                           : f->peak > limit                  ? "lowers the peak, but not enough"
                                                              : "lowers the peak";
        snprintf(out, room, "%s = %d %s: %s of %s, step %s", w->move[f->move].name, f->split, does,
                 units_bytes(gb, f->peak), write_limit(limit, all), units_ms(ms, f->step_ms));
    } else if (id != HLO_NONE) {
        const struct hlo_meta *meta = hlo_meta(w->problem->m, id);
        snprintf(out, room, "%s%s%.200s%s%.0u  %s", hlo_name(w->problem->m, id),
                 meta->source_file[0] ? "  " : "", meta->source_file,
                 meta->source_file[0] ? ":" : "", meta->source_file[0] ? meta->source_line : 0,
                 meta->op_name);
    }
}

const struct panel_ops view_memory = {
    .name = "memory",
    .title = "Memory",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &memory_keys,
    .hints = "left peak values list flip other recompute why back",
    .size = sizeof(struct memory_view),
    .open = open_memory,
    .close = close_memory,
    .draw = draw_memory,
    .act = act_memory,
    .works = works_memory,
    .move = move_memory,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .question_here = question_here,
    .plan_here = plan_here,
    .message = message_memory,
    .is_live = is_live,
};

/* ---- beside other panels ---- */

struct course {
    const struct watch *watch;
    struct memory_curve curve; /* of the best plan, as far as it was looked at */
    uint64_t version;
};

static void close_course(struct panel *p)
{
    struct course *v = p->state;
    memory_curve_release(&v->curve);
}

static void draw_course(struct panel *p, const struct pane *pane)
{
    struct course *v = p->state;
    const struct watch *w = p->scene->watch;
    struct err e;

    if (!w)
        return;
    if (v->watch != w || v->version != w->ms_version) {
        memory_curve_release(&v->curve);
        if (memory_curve_make(w, w->best, &v->curve, &e))
            return;
        v->watch = w;
        v->version = w->ms_version;
    }
    memory_draw_curves(p->scene, &v->curve, NULL, NULL, pane, pane->height);
}

static void head_course(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct course *v = p->state;
    struct memory_unit unit = v->curve.total ? memory_unit_of(&v->curve) : (struct memory_unit){0};
    char limit[UNITS_ROOM];

    if (!p->scene->watch || !unit.name)
        return;
    write_limit(memory_limit(p->scene), limit);
    if (strstr(limit, unit.name))
        limit[strcspn(limit, " ")] = '\0'; /* the unit stands in front of it */
    snprintf(note, room, p->width >= 28 ? "%s, limit %s" : "%s of %s", unit.name, limit);
    h->note = note;
}

const struct panel_ops view_memory_panel = {
    .name = "course",
    .title = "Memory",
    .place = PLACE_LAYOUT,
    .id = PANEL_MEMORY,
    .hints = "run decide memory zoom command help",
    .size = sizeof(struct course),
    .close = close_course,
    .draw = draw_course,
    .head = head_course,
};
