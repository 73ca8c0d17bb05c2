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
#include "tui/views/place_run.h"
#include "tui/views/views.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    PLACE_VIEW_EXPORT,
    PLACE_VIEW_NAMES,
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
    [PLACE_VIEW_EXPORT] = {"export", "in this view", "write it as a split: MODEL.split.json",
                           "split", "e", NULL},
    [PLACE_VIEW_NAMES] = {"names", "in this view", "names of nodes, or a letter each", "names", "z",
                          NULL},
    [PLACE_VIEW_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table place_keys = {"place", place_actions,
                                            sizeof place_actions / sizeof *place_actions};

/* ---- drawing ---- */

enum { REASONS_LEAST = 5, TRIED_ROWS = 6, CROSSINGS_MOST = 24 };

/* Rows of the transfers, head included, and of the plans tried beside them. */
static int rows_of_crossings(const struct place_shown *s, bool wide)
{
    int rows =
        1 + (int)(s->crossings < CROSSINGS_MOST ? s->crossings + !s->crossings : CROSSINGS_MOST);
    int tried = wide ? TRIED_ROWS + (int)s->tries : 0;

    return rows > tried ? rows : tried;
}

/* What a tall screen has room for: why things are where they are. */
static void draw_below(const struct place_shown *s, const struct pane *pane, int left)
{
    struct pane part = pane_part(pane, 0, 0, left, pane->height);

    if (!s->reasons)
        return;
    place_draw_reasons(s, &part);
    part = pane_part(pane, left + 3, 0, pane->width - left - 3, pane->height);
    if (left < pane->width)
        place_draw_limit(s, &part);
}

/* Lanes above, loads and the node beside each other where there is room, transfers below. */
enum { LOADS_LEAST = 5, LOADS_SURE = 14, CROSSINGS_SURE = 9 };

static int clamp_rows(int rows, int least, int most)
{
    return rows > most ? (most > least ? most : least) : rows;
}

static void draw_parts(const struct place_shown *s, const struct pane *pane)
{
    int gap = pane->height >= 30, all = place_draw_rows_of_loads(s), y = 1 + gap;
    int loads = all < LOADS_SURE ? all : LOADS_SURE;
    int wide = pane->width >= 100, node = 6, low = wide ? (loads > node ? loads : node) : loads;
    int lanes = (int)s->look->widest + 1 + s->layered, most = pane->height - y - low - 2 * gap - 4;

    if (!wide)
        most -= node;
    lanes = lanes < most ? lanes : most;
    if (lanes < 4)
        lanes = 4;
    int rest = pane->height - y - lanes - 2 * gap - (wide ? 0 : node); /* which keeps its rows */
    if (!wide)
        loads = clamp_rows(loads, LOADS_LEAST, rest);
    loads = clamp_rows(all, loads, rest - gap - CROSSINGS_SURE);
    low = wide && loads < node ? node : loads;
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
    int crossings = rows_of_crossings(s, wide);
    rest = pane->height - y;
    bool tall = rest >= crossings + gap + REASONS_LEAST;
    part = pane_part(pane, 0, y, wide ? left : pane->width, tall ? crossings : rest);
    if (part.height > 1)
        place_draw_crossings(s, &part);
    part = pane_part(pane, left + 3, y, pane->width - left - 3, tall ? crossings : rest);
    if (wide && part.height > 1)
        place_draw_tried(s, &part);
    part = pane_part(pane, 0, y + crossings + gap, pane->width, rest - crossings - gap);
    if (tall)
        draw_below(s, &part, wide ? left : pane->width);
}

static void draw_place(struct panel *p, const struct pane *pane)
{
    struct place_view *v = p->state;

    if (place_run_refresh(p)) {
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
    const struct place_rows *r = place_draw_rows(&v->shown);
    uint32_t here = place_draw_cursor(&v->shown), level = l->level[here], row = 0;

    while (r->row[r->at[level] + row] != here)
        row++;
    for (int64_t k = (int64_t)level + by; k >= 0 && k < (int64_t)l->levels; k += by) {
        uint32_t nodes = r->at[k + 1] - r->at[k];
        if (!nodes)
            continue;
        go_to_node(v, r->row[r->at[k] + (row < nodes ? row : nodes - 1)]);
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
    const struct place_rows *r = place_draw_rows(&v->shown);
    uint32_t here = place_draw_cursor(&v->shown), level = l->level[here], begin = r->at[level];
    int64_t nodes = r->at[level + 1] - begin, row = 0;
    while (r->row[begin + row] != here)
        row++;
    struct list list = {.count = nodes, .cursor = row};
    list_fit(&list, nodes, 8);
    if (!list_move(&list, move))
        return false;
    go_to_node(v, r->row[begin + list.cursor]);
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

    if (isinf(s->price[s->target].value_ms)) {
        host_say(p->scene, "pieces would wait for each other there");
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
             s->any_sets || s->look->sample || place_look_is_chain(s->look, NULL)
                 ? ""
                 : ", no longer contiguous");
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
    place_run_start(p);
}

/* The cursor goes to where the stage begins. */
static void step_stage(struct panel *p, int by)
{
    struct place_view *v = p->state;
    struct place_shown *s = &v->shown;
    uint32_t stages = 0;

    for (uint32_t d = 0; d < s->plan->devices; d++) {
        if (s->plan->stage[d] != PLACE_NONE && s->plan->stage[d] + 1 > stages)
            stages = s->plan->stage[d] + 1;
    }
    if (!stages) {
        host_say(p->scene, "this plan has no chain of stages");
        return;
    }
    int at = s->stage == PLACE_NONE ? (int)stages : (int)s->stage; /* `stages`: all of them */
    at = (at + by + (int)stages + 1) % ((int)stages + 1);
    s->stage = at == (int)stages ? PLACE_NONE : (uint32_t)at;
    uint32_t begin = PLACE_NONE;
    for (uint32_t n = 0; n < s->graph->nodes && s->stage != PLACE_NONE; n++) {
        if (place_draw_stage(s, n) == s->stage &&
            (begin == PLACE_NONE || s->look->level[n] < s->look->level[begin]))
            begin = n;
    }
    if (begin != PLACE_NONE)
        go_to_node(v, begin);
}

static void say_why(struct panel *p)
{
    struct place_view *v = p->state;
    const struct place_shown *s = &v->shown;
    enum { NAME_COLUMNS = 32 }; /* what the answer leaves of a row of 80 */
    char name[32], other[32], cut[256], more[UNITS_ROOM], device[16];
    uint32_t home = place_look_device(s->look, s->node), best = PLACE_NONE;

    text_cut_left(cut, sizeof cut, place_node_name(s->graph, s->node, name), NAME_COLUMNS);
    for (uint32_t d = 0; d < s->look->state->devices; d++) {
        if (d != home && !s->price[d].faults &&
            (best == PLACE_NONE || s->price[d].value_ms < s->price[best].value_ms))
            best = d;
    }
    if (best == PLACE_NONE) {
        host_say(p->scene, "%s may be nowhere else: memory, kinds and pins", cut);
        return;
    }
    host_say(p->scene, "%s elsewhere: %s ms at best, on %s; %s%s%s", cut,
             units_change(more, s->price[best].value_ms - s->price[home].value_ms, 3),
             place_device_name(s->graph, best, device),
             s->holder == PLACE_NONE ? "nothing holds it here" : "the output of ",
             s->holder == PLACE_NONE ? "" : place_node_name(s->graph, s->holder, other),
             s->holder == PLACE_NONE ? "" : " would cross");
}

/* What is there already is replaced by the second e in a row. */
static void export_split(struct panel *p)
{
    struct place_view *v = p->state;
    char path[PATH_MAX];
    struct err e = {0};

    snprintf(path, sizeof path, "%.200s.split.json", p->scene->model_name);
    bool again = !strcmp(v->written, path);
    if (!again && access(path, F_OK) == 0) {
        host_say(p->scene, "%s is there already: e again replaces it", path);
        snprintf(v->written, sizeof v->written, "%s", path);
        return;
    }
    v->written[0] = 0;
    if (place_run_export(v, path, again, &e))
        host_say_err(p->scene, &e);
    else
        host_say(p->scene, "wrote %s", path);
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
        step_stage(p, -1);
        break;
    case PLACE_VIEW_STAGE:
        step_stage(p, 1);
        break;
    case PLACE_VIEW_EXPORT:
        export_split(p);
        return true;
    case PLACE_VIEW_NAMES:
        v->shown.names = !v->shown.names;
        break;
    case PLACE_VIEW_RESET:
        place_look_set(v->shown.look, v->shown.plan);
        v->shown.moved = false;
        v->fresh = false;
        break;
    default:
        say_why(p);
    }
    v->written[0] = 0;
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
            place_run_start(p);
        }
    } else if (action == PLACE_VIEW_CONTIGUOUS) {
        v->asked.any_sets = !v->asked.any_sets;
        place_run_start(p);
    } else if (action == PLACE_VIEW_OBJECTIVE) {
        v->asked.objective = (v->asked.objective + 1) % PLACING_OBJECTIVE_COUNT;
        v->asked.algorithm = 0;
        place_run_start(p);
        host_say(p->scene, "searching for the shortest %s",
                 placing_objective_words[v->asked.objective]);
    } else if (action == PLACE_VIEW_ALGORITHM) {
        place_run_next_algorithm(v);
        v->sweeps = false;
        place_run_start(p);
        host_say(p->scene, "%s: %s", place_algorithms[v->asked.algorithm].name,
                 place_algorithms[v->asked.algorithm].what);
    } else if (action == PLACE_VIEW_SWEEP) {
        v->sweeps = true;
        place_run_start(p);
        host_say(p->scene, "every algorithm in turn; a ends that");
    } else if (v->shown.look && place_run_refresh(p)) {
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

static bool about_place(const struct panel *p, struct panel_about *out)
{
    const struct place_view *v = p->state;
    bool done = v->shown.done && !v->starts;

    snprintf(out->what, sizeof out->what, "placement · %s",
             placing_objective_words[v->asked.objective]);
    out->state = done ? ABOUT_IS_DONE : ABOUT_RUNS;
    snprintf(out->pace, sizeof out->pace, "%s", done ? "done" : "searching");
    return true;
}

const struct panel_ops view_place = {
    .name = "place",
    .title = "Placement",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &place_keys,
    .hints = "left=level down=node target move pin together contiguous objective algorithm "
             "stage-back=stage why export names reset back",
    .size = sizeof(struct place_view),
    .open = place_run_open,
    .close = place_run_close,
    .draw = draw_place,
    .about = about_place,
    .act = act_place,
    .move = move_place,
    .name_here = name_here,
    .message = message_place,
    .is_live = place_run_is_live,
};
