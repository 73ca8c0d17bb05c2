/* Placement: the operators of the model, a device each (engine/place/), found while one looks
 * (tui/watch/placing.h), and what a person makes of it: nodes moved by hand with their price seen
 * before, pins, contiguous or any sets. */
#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/place_draw.h"
#include "tui/views/views.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct place_view {
    struct placing *job;
    struct placing_asked asked;
    struct placing_look found;
    bool starts; /* the job is being left; then another begins with what is asked */
    bool sweeps; /* every algorithm in turn, for the table */
    struct place_shown shown;
    uint32_t version; /* of the plan shown */
    bool fresh;       /* figures of the cursor are of what is shown */
};

enum {
    PLACE_VIEW_LEFT,
    PLACE_VIEW_RIGHT,
    PLACE_VIEW_TARGET,
    PLACE_VIEW_MOVE,
    PLACE_VIEW_PIN,
    PLACE_VIEW_TOGETHER,
    PLACE_VIEW_OFF_HOST,
    PLACE_VIEW_UNPIN,
    PLACE_VIEW_CONTIGUOUS,
    PLACE_VIEW_OBJECTIVE,
    PLACE_VIEW_ALGORITHM,
    PLACE_VIEW_SWEEP,
    PLACE_VIEW_STAGE_BACK,
    PLACE_VIEW_STAGE,
    PLACE_VIEW_RESET,
    PLACE_VIEW_WHY,
    PLACE_VIEW_BACK
};
static const struct action place_actions[] = {
    [PLACE_VIEW_LEFT] = {"left", "in this view", "level before, behind", "level", "h or Left",
                         "Left"},
    [PLACE_VIEW_RIGHT] = {"right", "in this view", NULL, NULL, "l or Right", "Right"},
    [PLACE_VIEW_TARGET] = {"target", "in this view", "another device to move to", "device", "Tab",
                           NULL},
    [PLACE_VIEW_MOVE] = {"move", "in this view", "move the node there", "move it", "m or Enter",
                         "m"},
    [PLACE_VIEW_PIN] = {"pin", "in this view", "pin the node to that device and search again",
                        "pin it", "p", NULL},
    [PLACE_VIEW_TOGETHER] = {"together", "in this view",
                             "pin it together with what holds it, search again", "together", "t",
                             NULL},
    [PLACE_VIEW_OFF_HOST] = {"off-host", "in this view", "pin it off the host", NULL, "x", NULL},
    [PLACE_VIEW_UNPIN] = {"unpin", "in this view", "let the last pin go", NULL, "u", NULL},
    [PLACE_VIEW_CONTIGUOUS] = {"contiguous", "in this view", "contiguous, any sets", "any sets",
                               "c", NULL},
    [PLACE_VIEW_OBJECTIVE] = {"objective", "in this view",
                              "what is to be short: a stream, in three ways, or one batch", "aim",
                              "o", NULL},
    [PLACE_VIEW_ALGORITHM] = {"algorithm", "in this view", "another algorithm", "algorithm", "a",
                              NULL},
    [PLACE_VIEW_SWEEP] = {"every-algorithm", "in this view",
                          "every algorithm in turn, for the table of plans", NULL, "A", NULL},
    [PLACE_VIEW_STAGE_BACK] = {"stage-back", "in this view", "stage by stage", NULL, "[", NULL},
    [PLACE_VIEW_STAGE] = {"stage", "in this view", NULL, NULL, "]", NULL},
    [PLACE_VIEW_RESET] = {"reset", "in this view", "the found plan again", "reset", "0", NULL},
    [PLACE_VIEW_WHY] = {"why", "in this view", "why it is there", "why", "w", NULL},
    [PLACE_VIEW_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table place_keys = {"place", place_actions,
                                            sizeof place_actions / sizeof *place_actions};

/* ---- the job ---- */

static void drop_plan(struct place_view *v)
{
    struct place_shown *s = &v->shown;

    placement_free((struct placement *)s->plan);
    place_look_free(s->look);
    free(s->price);
    s->plan = NULL;
    s->look = NULL;
    s->price = NULL;
    s->graph = NULL;
    s->stage = PLACE_NONE;
    s->moved = false;
    v->version = 0;
    v->fresh = false;
}

static void start(struct panel *p)
{
    struct place_view *v = p->state;

    drop_plan(v);
    if (v->job)
        placing_stop(v->job);
    v->starts = true;
}

/* Another job, once the one that was left has ended. */
static int begin(struct panel *p, struct err *e)
{
    struct place_view *v = p->state;

    if (v->job)
        placing_look(v->job, &v->found);
    if (!v->starts || (v->job && !v->found.done))
        return 0;
    placing_free(v->job);
    v->job = NULL;
    v->found = (struct placing_look){.graph = NULL};
    v->starts = false;
    return placing_new(p->scene->problem, &v->asked, p->scene->now_ms > 0, &v->job, e);
}

static int open_place(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    if (!p->scene->problem)
        return err_set(e, ERR_INPUT, "no model is open");
    struct place_view *v = p->state;
    drop_plan(v);
    if (p->scene->watch && p->scene->watch->placing) { /* a plan of a file waits */
        v->job = p->scene->watch->placing;
        p->scene->watch->placing = NULL;
        v->asked = placing_question(v->job);
        return 0;
    }
    start(p);
    return begin(p, e);
}

static void close_place(struct panel *p)
{
    struct place_view *v = p->state;

    drop_plan(v);
    placing_free(v->job);
}

static bool is_live(const struct panel *p)
{
    const struct place_view *v = p->state;

    return v->starts || v->sweeps || (v->job && !v->found.done);
}

/* ---- what is shown ---- */

/* Its name for as long as the program runs; of plans on the way that of who looks for them. */
static const char *algorithm_of(const struct place_view *v, const struct placement *plan)
{
    for (const struct place_algorithm *a = place_algorithms; a->name && plan->algo; a++) {
        if (!strcmp(a->name, plan->algo))
            return a->name;
    }
    return plan->algo ? "file" : place_algorithms[v->asked.algorithm].name;
}

/* A row of the table: the plan of this algorithm, sets and objective as it is now. */
static void note_plan(struct place_view *v, const struct placement *plan)
{
    struct place_shown *s = &v->shown;
    uint32_t i = 0;
    struct place_tried t = {.algorithm = algorithm_of(v, plan),
                            .objective = v->asked.objective,
                            .value_ms = plan->value_ms,
                            .bound_ms = plan->bound_ms,
                            .contiguous = plan->contiguous,
                            .proven = plan->proven,
                            .written = plan->written_in,
                            .fits = !plan->faults};

    while (i < s->tries &&
           (s->tried[i].objective != t.objective || s->tried[i].contiguous != t.contiguous ||
            strcmp(s->tried[i].algorithm, t.algorithm) != 0))
        i++;
    if (i == PLACE_TRIED)
        return;
    s->tries += i == s->tries;
    s->tried[i] = t;
}

static int take_plan(struct place_view *v, struct err *e)
{
    struct place_rules rules = placing_rules(v->asked.objective);
    struct place_shown *s = &v->shown;
    struct placement *plan;

    if (placing_take(v->job, &plan, e))
        return e->code;
    if (!plan)
        return 0;
    placement_free((struct placement *)s->plan);
    s->plan = plan;
    s->graph = v->found.graph;
    if (s->look) {
        place_look_set(s->look, plan);
    } else {
        if (place_look_new(s->graph, &rules, plan, &s->look, e))
            return e->code;
        s->price = mem_try((size_t)plan->devices + 1, sizeof *s->price);
        if (!s->price)
            return err_no_memory(e, "for a placement");
    }
    s->moved = false;
    s->stage = PLACE_NONE;
    note_plan(v, plan);
    v->version = v->found.version;
    v->fresh = false;
    return 0;
}

/* The next algorithm that answers the objective; the first again after the last. */
static void next_algorithm(struct place_view *v)
{
    bool latency = v->asked.objective == PLACING_LATENCY;

    do {
        v->asked.algorithm++;
        if (!place_algorithms[v->asked.algorithm].name)
            v->asked.algorithm = 0;
    } while (!(latency ? place_algorithms[v->asked.algorithm].latency
                       : place_algorithms[v->asked.algorithm].throughput));
}

/* One after the other, until it is the first one's turn again. */
static void go_on_sweeping(struct panel *p)
{
    struct place_view *v = p->state;

    if (!v->sweeps || v->starts || !v->found.done)
        return;
    next_algorithm(v);
    v->sweeps = v->asked.algorithm != 0;
    start(p);
}

/* Prices and what holds the node at the cursor: once per plan and cursor. */
static void freshen(struct place_view *v)
{
    struct place_shown *s = &v->shown;
    uint32_t devices = s->look->state->devices, home;

    s->node = s->node < s->graph->nodes ? s->node : 0;
    if (v->fresh)
        return;
    home = place_look_device(s->look, s->node);
    place_look_prices(s->look, s->node, s->price);
    s->holder = place_look_holder(s->look, s->node, &s->held_ms);
    s->crossings = place_look_crossings(s->look, s->crossing, PLACE_CROSSINGS);
    if (s->target >= devices || s->target == home)
        s->target = (home + 1) % devices;
    v->fresh = true;
}

static bool refresh_once(struct panel *p)
{
    struct place_view *v = p->state;
    struct err e;

    if (begin(p, &e))
        host_say_err(p->scene, &e);
    if (!v->job || v->starts)
        return false;
    placing_look(v->job, &v->found);
    if (v->found.version != v->version && !v->shown.moved && v->found.graph && take_plan(v, &e)) {
        host_say_err(p->scene, &e);
        drop_plan(v);
        return false;
    }
    v->shown.done = v->found.done && !v->sweeps;
    v->shown.any_sets = v->shown.plan ? !v->shown.plan->contiguous : v->asked.any_sets;
    v->shown.objective = v->asked.objective;
    v->shown.algorithm = place_algorithms[v->asked.algorithm].name;
    if (!v->shown.look || !v->shown.graph->nodes || !v->shown.look->state->devices)
        return false;
    freshen(v);
    go_on_sweeping(p);
    return v->shown.look != NULL;
}

/* For pictures no time passes: all that is asked is done at once. */
static bool refresh(struct panel *p)
{
    struct place_view *v = p->state;
    bool shown = refresh_once(p);

    while (p->scene->now_ms <= 0 && v->starts)
        shown = refresh_once(p);
    return shown;
}

/* ---- drawing ---- */

/* Lanes above, loads and the node beside each other where there is room, transfers below. */
static void draw_parts(const struct place_shown *s, const struct pane *pane)
{
    int gap = pane->height >= 30, loads = place_draw_rows_of_loads(s), y = 1 + gap;
    int wide = pane->width >= 100, node = 6, low = wide ? (loads > node ? loads : node) : loads;
    int lanes = (int)s->look->widest + 1, most = pane->height - y - low - 2 * gap - 4;

    if (!wide)
        most -= node;
    lanes = lanes < most ? lanes : most;
    if (lanes < 3)
        lanes = 3;
    struct pane part = pane_part(pane, 0, y, pane->width, lanes);
    place_draw_lanes(s, &part);
    y += lanes + gap;
    int left = wide ? pane->width - 46 : pane->width;
    part = pane_part(pane, 0, y, left, loads);
    place_draw_loads(s, &part);
    if (!wide)
        y += loads + gap;
    part = wide ? pane_part(pane, left + 3, y, pane->width - left - 3, low)
                : pane_part(pane, 0, y, pane->width, node);
    place_draw_node(s, &part);
    y += (wide ? low : node) + gap;
    part = pane_part(pane, 0, y, wide ? left : pane->width, pane->height - y);
    if (part.height > 1)
        place_draw_crossings(s, &part);
    part = pane_part(pane, left + 3, y, pane->width - left - 3, pane->height - y);
    if (wide && part.height > 1)
        place_draw_tried(s, &part);
}

static void draw_place(struct panel *p, const struct pane *pane)
{
    struct place_view *v = p->state;

    if (refresh(p)) {
        place_draw_sentence(&v->shown, pane);
        draw_parts(&v->shown, pane);
    } else if (v->found.done && !v->starts) {
        pane_cut(pane, 0, 0, pane->width, ROLE_ERR,
                 v->found.trouble[0] ? v->found.trouble : "there is nothing to place");
        if (v->asked.pins)
            pane_text(pane, 0, 1, ROLE_DIM, "u lets the last pin go");
    } else {
        pane_text(pane, 0, 0, ROLE_DIM, "a device for every operator ..");
    }
}

/* ---- acts ---- */

static void go_to_node(struct place_view *v, uint32_t node)
{
    v->shown.node = node;
    v->fresh = false;
}

static bool move_level(struct place_view *v, int by)
{
    const struct place_look *l = v->shown.look;
    uint32_t level = l->level[v->shown.node], row = 0;

    while (l->row[l->level_at[level] + row] != v->shown.node)
        row++;
    for (int64_t k = (int64_t)level + by; k >= 0 && k < (int64_t)l->levels; k += by) {
        uint32_t nodes = l->level_at[k + 1] - l->level_at[k];
        if (!nodes)
            continue;
        go_to_node(v, l->row[l->level_at[k] + (row < nodes ? row : nodes - 1)]);
        return true;
    }
    return false;
}

static bool move_place(struct panel *p, enum list_move move)
{
    struct place_view *v = p->state;
    const struct place_look *l = v->shown.look;

    if (!l)
        return false;
    uint32_t level = l->level[v->shown.node], begin = l->level_at[level];
    int64_t nodes = l->level_at[level + 1] - begin, row = 0;
    while (l->row[begin + row] != v->shown.node)
        row++;
    struct list list = {.count = nodes, .cursor = row};
    list_fit(&list, nodes, 8);
    if (!list_move(&list, move))
        return false;
    go_to_node(v, l->row[begin + list.cursor]);
    return true;
}

static void next_target(struct place_view *v)
{
    uint32_t devices = v->shown.look->state->devices;

    v->shown.target = (v->shown.target + 1) % devices;
    if (v->shown.target == place_look_device(v->shown.look, v->shown.node))
        v->shown.target = (v->shown.target + 1) % devices;
}

static void move_node(struct panel *p)
{
    struct place_view *v = p->state;
    struct place_shown *s = &v->shown;
    char name[16];

    if (v->asked.objective == PLACING_LATENCY) {
        host_say(p->scene, "moves are of streams: o goes on to one");
        return;
    }
    if (s->graph->fixed[s->node] != PLACE_NONE) {
        host_say(p->scene, "it is pinned: u lets the last pin go");
        return;
    }
    place_look_move(s->look, s->node, s->target);
    s->moved = true;
    v->fresh = false;
    host_say(p->scene, "moved to %s%s; 0 is the found plan again",
             place_device_name(s->graph, s->target, name),
             place_look_is_chain(s->look, NULL) ? "" : ", no longer contiguous");
}

static void add_pin(struct panel *p, enum placing_pin_kind kind, uint32_t other)
{
    struct place_view *v = p->state;

    if (v->asked.pins == PLACING_PINS_MOST) {
        host_say(p->scene, "more than %d pins", PLACING_PINS_MOST);
        return;
    }
    v->asked.pin[v->asked.pins++] = (struct placing_pin){kind, v->shown.node, other};
    host_say(p->scene, "pinned, searching again; u lets it go");
    start(p);
}

static void step_stage(struct place_view *v, int by)
{
    struct place_shown *s = &v->shown;
    uint32_t stages = 0;

    for (uint32_t d = 0; d < s->plan->devices; d++) {
        if (s->plan->stage[d] != PLACE_NONE && s->plan->stage[d] + 1 > stages)
            stages = s->plan->stage[d] + 1;
    }
    if (!stages)
        return;
    int at = s->stage == PLACE_NONE ? (int)stages : (int)s->stage; /* `stages`: all of them */
    at = (at + by + (int)stages + 1) % ((int)stages + 1);
    s->stage = at == (int)stages ? PLACE_NONE : (uint32_t)at;
}

static void say_why(struct panel *p)
{
    struct place_view *v = p->state;
    const struct place_shown *s = &v->shown;
    char name[32], other[32], more[UNITS_ROOM], device[16];
    uint32_t home = place_look_device(s->look, s->node), best = PLACE_NONE;

    for (uint32_t d = 0; d < s->look->state->devices; d++) {
        if (d != home && !s->price[d].faults &&
            (best == PLACE_NONE || s->price[d].value_ms < s->price[best].value_ms))
            best = d;
    }
    if (best == PLACE_NONE) {
        host_say(p->scene, "%s may be nowhere else: memory, kinds and pins",
                 place_node_name(s->graph, s->node, name));
        return;
    }
    host_say(p->scene, "%s elsewhere: %s ms at best, on %s; %s%s%s",
             place_node_name(s->graph, s->node, name),
             units_change(more, s->price[best].value_ms - s->price[home].value_ms, 3),
             place_device_name(s->graph, best, device),
             s->holder == PLACE_NONE ? "nothing holds it here" : "the output of ",
             s->holder == PLACE_NONE ? "" : place_node_name(s->graph, s->holder, other),
             s->holder == PLACE_NONE ? "" : " would cross");
}

static bool act_on_plan(struct panel *p, int action)
{
    struct place_view *v = p->state;

    switch (action) {
    case PLACE_VIEW_LEFT:
        return move_level(v, -1);
    case PLACE_VIEW_RIGHT:
        return move_level(v, 1);
    case PLACE_VIEW_TARGET:
        next_target(v);
        break;
    case PLACE_VIEW_MOVE:
        move_node(p);
        break;
    case PLACE_VIEW_PIN:
        add_pin(p, PLACING_ON, v->shown.target);
        break;
    case PLACE_VIEW_TOGETHER:
        if (v->shown.holder == PLACE_NONE)
            host_say(p->scene, "nothing holds it here");
        else
            add_pin(p, PLACING_WITH, v->shown.holder);
        break;
    case PLACE_VIEW_OFF_HOST:
        add_pin(p, PLACING_OFF_HOST, 0);
        break;
    case PLACE_VIEW_STAGE_BACK:
        step_stage(v, -1);
        break;
    case PLACE_VIEW_STAGE:
        step_stage(v, 1);
        break;
    case PLACE_VIEW_RESET:
        place_look_set(v->shown.look, v->shown.plan);
        v->shown.moved = false;
        v->fresh = false;
        break;
    default:
        say_why(p);
    }
    return true;
}

static bool act_place(struct panel *p, int action)
{
    struct place_view *v = p->state;

    if (action == PLACE_VIEW_BACK) {
        host_close(p->scene);
    } else if (action == PLACE_VIEW_UNPIN) {
        if (v->asked.pins) {
            v->asked.pins--;
            start(p);
        }
    } else if (action == PLACE_VIEW_CONTIGUOUS) {
        v->asked.any_sets = !v->asked.any_sets;
        start(p);
    } else if (action == PLACE_VIEW_OBJECTIVE) {
        v->asked.objective = (v->asked.objective + 1) % PLACING_OBJECTIVE_COUNT;
        v->asked.algorithm = 0;
        start(p);
        host_say(p->scene, "searching for the shortest %s",
                 placing_objective_words[v->asked.objective]);
    } else if (action == PLACE_VIEW_ALGORITHM) {
        next_algorithm(v);
        v->sweeps = false;
        start(p);
        host_say(p->scene, "%s: %s", place_algorithms[v->asked.algorithm].name,
                 place_algorithms[v->asked.algorithm].what);
    } else if (action == PLACE_VIEW_SWEEP) {
        v->sweeps = true;
        start(p);
        host_say(p->scene, "every algorithm in turn; a ends that");
    } else if (v->shown.look && refresh(p)) {
        return act_on_plan(p, action);
    }
    return true;
}

static const char *name_here(const struct panel *p)
{
    const struct place_view *v = p->state;

    return v->shown.look ? v->shown.graph->name[v->shown.node] : NULL;
}

static void message_place(const struct panel *p, char *out, size_t room)
{
    const struct place_view *v = p->state;
    const struct place_shown *s = &v->shown;
    char name[32], a[16], b[16], ms[UNITS_ROOM];

    if (!s->look || !v->fresh)
        return;
    uint32_t home = place_look_device(s->look, s->node);
    double more = s->price[s->target].value_ms - s->price[home].value_ms;
    snprintf(out, room, "%.80s on %s; m moves it to %s, %s ms",
             place_node_name(s->graph, s->node, name), place_device_name(s->graph, home, a),
             place_device_name(s->graph, s->target, b), units_change(ms, more, 3));
}

const struct panel_ops view_place = {
    .name = "place",
    .title = "Placement",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &place_keys,
    .hints = "left=level down=node target move pin together contiguous objective algorithm why "
             "reset back",
    .size = sizeof(struct place_view),
    .open = open_place,
    .close = close_place,
    .draw = draw_place,
    .act = act_place,
    .move = move_place,
    .name_here = name_here,
    .message = message_place,
    .is_live = is_live,
};
