/* Hybrid plans: a pipeline whose stages are split over a sub-mesh each, found while one looks
 * (tui/watch/hybrid_job.h), and what a person makes of it: cuts moved, other meshes, pins, another
 * schedule. */
#include "tui/views/view_hybrid.h"
#include "engine/cluster/cluster.h"
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/stage_table.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/views/hybrid_draw.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/unstaged_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct action hybrid_actions[] = {
    [HYBRID_VIEW_LEFT] = {"left", "in this view", "choose a stage", "stage", "h or Left", "Left"},
    [HYBRID_VIEW_RIGHT] = {"right", "in this view", NULL, NULL, "l or Right", "Right"},
    [HYBRID_VIEW_EARLIER] = {"earlier", "in this view",
                             "move the cut before the stage by a section", "move its cut", "H",
                             NULL},
    [HYBRID_VIEW_LATER] = {"later", "in this view", NULL, NULL, "L", NULL},
    [HYBRID_VIEW_NEXT_MESH] = {"mesh", "in this view", "another mesh of the stage", "mesh", "+",
                               NULL},
    [HYBRID_VIEW_LAST_MESH] = {"mesh-back", "in this view", NULL, NULL, "-", NULL},
    [HYBRID_VIEW_TAKE] = {"take", "in this view", "take that mesh", "take it", "Enter", NULL},
    [HYBRID_VIEW_PART] = {"part", "in this view",
                          "timeline, memory, meshes, kinds of plans, pins, what is kept, why",
                          "below", "Tab", NULL},
    [HYBRID_VIEW_CUT] = {"cut", "in this view", "pin: a stage begins here", "pin the cut", "c",
                         NULL},
    [HYBRID_VIEW_KEEP] = {"keep", "in this view", "pin: never a cut here", "never", "x", NULL},
    [HYBRID_VIEW_DEVICES] = {"devices", "in this view",
                             "pin: the stage of its first layer has so many devices", NULL, "n",
                             NULL},
    [HYBRID_VIEW_SERVER] = {"server", "in this view",
                            "pin: the stage of its first layer is on this server", NULL, "v", NULL},
    [HYBRID_VIEW_PIN_TENSOR] = {"pin-tensor", "in this view",
                                "pin: the stage of its first layer splits a sample as it does now",
                                NULL, "T", NULL},
    [HYBRID_VIEW_PIN_DATA] = {"pin-data", "in this view",
                              "pin: the stage of its first layer has as many replicas as now", NULL,
                              "D", NULL},
    [HYBRID_VIEW_PIN_CLASS] =
        {"pin-class", "in this view",
         "pin: the stage splits what the cursor is on, or keeps it whole, the "
         "other way than now",
         NULL, "p", NULL},
    [HYBRID_VIEW_UNPIN] = {"unpin", "in this view", "let the last pin go", NULL, "u", NULL},
    [HYBRID_VIEW_STAGES] = {"stages", "in this view", "pin: so many stages; any number", NULL, "g",
                            NULL},
    [HYBRID_VIEW_BATCHES] = {"micro-batches", "in this view",
                             "another number of micro-batches; any", "micro-batches", "m", NULL},
    [HYBRID_VIEW_SCHEDULE] = {"schedule", "in this view",
                              "any schedule, interleaved too; eager, 1f1b, gpipe", "schedule", "s",
                              NULL},
    [HYBRID_VIEW_RECOMPUTE] = {"recompute", "in this view",
                               "forward passes run again: where it helps, never, everywhere; or "
                               "value by value",
                               NULL, "r", NULL},
    [HYBRID_VIEW_ZERO] = {"zero", "in this view", "ZeRO: as needed, 0, 1, 2, 3, any", NULL, "z",
                          NULL},
    [HYBRID_VIEW_TENSOR] = {"tensor", "in this view",
                            "every stage's tensor parallel share: any, 1, 2, 4, 8", NULL, "t",
                            NULL},
    [HYBRID_VIEW_DATA] = {"data", "in this view", "every stage's replicas: any, 1, 2, 4, 8", NULL,
                          "d", NULL},
    [HYBRID_VIEW_ALIKE] = {"alike", "in this view", "all stages alike, each in its own way", NULL,
                           "a", NULL},
    [HYBRID_VIEW_RESET] = {"reset", "in this view", "the found plan again", "reset", "0", NULL},
    [HYBRID_VIEW_WHY] = {"why", "in this view", "why it is as it is", "why", "w", NULL},
    [HYBRID_VIEW_CELL] = {"cell", "in this view",
                          "the class under the cursor: how each stage splits it, what the step "
                          "would be otherwise",
                          "class", "o", NULL},
    [HYBRID_VIEW_SAVE] = {"save", "in this view", "write the plan to a file", NULL, "e", NULL},
    [HYBRID_VIEW_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table hybrid_keys = {"hybrid", hybrid_actions,
                                             sizeof hybrid_actions / sizeof *hybrid_actions};

/* ---- the job ---- */

static void drop_plan(struct hybrid_view *v)
{
    hybrid_shot_release(v->shot);
    free(v->text);
    v->shot = NULL;
    v->text = NULL;
    v->words = 0;
    v->shown.picture = NULL;
    v->shown.words = NULL;
    v->shown.version = 0;
    v->asked_version = 0;
    v->said = 0;
}

void hybrid_view_start(struct panel *p)
{
    struct hybrid_view *v = p->state;
    struct watch *w = p->scene->watch;

    drop_plan(v);
    if (v->job)
        hybrid_job_stop(v->job);
    if (w && v->job && w->hybrid == v->job) { /* nobody shall find one that answers no more */
        hybrid_job_free(w->hybrid);
        w->hybrid = NULL;
    }
    v->starts = true;
}

/* Another job, once the one that was left has ended. */
static int begin_hybrid(struct panel *p, struct err *e)
{
    struct hybrid_view *v = p->state;

    if (!v->starts || (v->job && !hybrid_job_is_over(v->job)))
        return 0;
    hybrid_job_free(v->job);
    v->job = NULL;
    v->starts = false;
    if (hybrid_job_new(p->scene->problem, &v->asked, p->scene->now_ms > 0, &v->job, e))
        return e->code;
    if (p->scene->watch) { /* for :hybrid-plan, and when the view is opened again */
        hybrid_job_free(p->scene->watch->hybrid);
        p->scene->watch->hybrid = hybrid_job_share(v->job);
    }
    return 0;
}

/* What the program's options say of the batch, ZeRO, overlap and memory holds here as well. */
static struct hybrid_asked usual(const struct scene *s)
{
    const struct problem *p = s->problem;
    struct hybrid_asked a = {0};

    a.options.batch = (uint32_t)p->options.batch_size;
    a.options.zero = p->options.zero ? p->options.zero : HYBRID_ZERO_NEEDED;
    a.options.overlap = problem_overlap(p);
    if (s->watch && watch_is_limited(s->watch))
        a.options.limit_bytes = watch_memory_limit(s->watch);
    return a;
}

static int open_hybrid(struct panel *p, const void *arg, struct err *e)
{
    struct hybrid_view *v = p->state;
    struct watch *w = p->scene->watch;

    (void)arg;
    if (!p->scene->problem)
        return err_set(e, ERR_INPUT, "no model is open");
    v->asked = usual(p->scene);
    double limit = v->asked.options.limit_bytes;
    v->class = CLASS_NONE;
    if (w)
        unstaged_follow(w, limit, p->scene->now_ms > 0);
    if (w && w->hybrid) { /* looked at before, or from a file */
        v->job = hybrid_job_share(w->hybrid);
        v->asked = hybrid_job_question(v->job);
        bool is_same = hybrid_job_is_file(v->job) || v->asked.options.limit_bytes == limit;
        v->asked.options.limit_bytes = limit;
        if (is_same)
            return hybrid_job_start(v->job, p->scene->now_ms > 0, e);
    }
    hybrid_view_start(p);
    return begin_hybrid(p, e);
}

static void close_hybrid(struct panel *p)
{
    struct hybrid_view *v = p->state;

    drop_plan(v);
    hybrid_job_free(v->job);
}

static bool waits_for_answer(const struct hybrid_view *v)
{
    const struct hybrid_shown *s = &v->shown;

    return v->shot && s->seen.done &&
           (s->seen.stage.version != s->version || s->seen.stage.stage != s->stage);
}

static bool is_live(const struct panel *p)
{
    const struct hybrid_view *v = p->state;

    return v->starts || (p->scene->watch && unstaged_is_asked(p->scene->watch)) ||
           (v->job &&
            (!v->shown.seen.done || v->shown.seen.busy || (v->shot && !v->shown.seen.has_rivals) ||
             waits_for_answer(v) || (v->part == PART_WHY && v->shot && !v->text)));
}

/* ---- what is shown ---- */

static void take_shot(struct hybrid_view *v)
{
    struct hybrid_shown *s = &v->shown;

    hybrid_shot_release(v->shot);
    v->shot = hybrid_job_shot(v->job);
    s->picture = v->shot && v->shot->picture.found ? &v->shot->picture : NULL;
    s->version = s->seen.version;
    s->other = 0;
    if (s->picture) {
        s->stage = s->stage < s->picture->stages ? s->stage : s->picture->stages - 1;
        s->role = s->role < s->picture->roles ? s->role : 0;
    }
}

/* Asks about the stage under the cursor, once; takes words that were asked for. */
static void ask_why(struct hybrid_view *v)
{
    struct hybrid_shown *s = &v->shown;

    if (waits_for_answer(v) && (v->asked_stage != s->stage || v->asked_version != s->version)) {
        v->asked_stage = s->stage;
        v->asked_version = s->version;
        hybrid_job_ask(v->job, s->stage);
        hybrid_job_look(v->job, &s->seen);
    }
    if (v->part == PART_WHY && s->seen.done && v->words != s->version) {
        free(v->text);
        v->text = NULL;
        v->words = s->version;
        hybrid_job_explain(v->job, v->class);
    }
    if (v->part == PART_WHY && !v->text)
        v->text = hybrid_job_words(v->job);
    s->words = v->text;
    s->about = v->class == CLASS_NONE ? NULL : v->about;
}

static bool refresh_once(struct panel *p)
{
    struct hybrid_view *v = p->state;
    struct hybrid_shown *s = &v->shown;
    const struct watch *w = p->scene->watch;
    struct err e;

    if (begin_hybrid(p, &e))
        host_say_err(p->scene, &e);
    if (!v->job || v->starts)
        return false;
    hybrid_job_look(v->job, &s->seen);
    if (s->seen.version != s->version)
        take_shot(v);
    s->asked = v->asked;
    if (!w || !unstaged_best(w, &s->without))
        s->without = (struct unstaged){0};
    if (!s->picture)
        return false;
    ask_why(v);
    if (s->seen.changes != v->said) {
        v->said = s->seen.changes;
        host_say(p->scene, "%s", s->seen.said);
    }
    return true;
}

/* For pictures no time passes: all that is asked is done at once. */
static bool refresh(struct panel *p)
{
    struct hybrid_view *v = p->state;
    bool shown = refresh_once(p);

    while (p->scene->now_ms <= 0 && v->starts)
        shown = refresh_once(p);
    return shown;
}

/* ---- drawing ---- */

static void draw_part(const struct hybrid_shown *s, enum hybrid_part part, const struct pane *p)
{
    static void (*const draw[PART_COUNT])(const struct hybrid_shown *, const struct pane *) = {
        [PART_MEMORY] = hybrid_draw_memory, [PART_MESHES] = hybrid_draw_meshes,
        [PART_KEPT] = hybrid_draw_kept,     [PART_KINDS] = hybrid_draw_kinds,
        [PART_PINS] = hybrid_draw_pins,     [PART_WHY] = hybrid_draw_words,
    };

    if (p->height < 2)
        return;
    if (part == PART_TIMELINE)
        hybrid_draw_timeline(s, p, false);
    else
        draw[part](s, p);
}

/* Memory and meshes beside each other, where there is room. */
static void draw_pair(const struct hybrid_shown *s, const struct pane *p)
{
    int left = p->width - 52;
    struct pane a = pane_part(p, 0, 0, left - 3, p->height);
    struct pane b = pane_part(p, left, 0, p->width - left, p->height);

    hybrid_draw_memory(s, &a);
    hybrid_draw_meshes(s, &b);
}

enum { PAIR_WIDTH = 110, KINDS_ROWS = 8, LOW_LEAST = 6 }; /* a head without its curve says little */

static void draw_low(const struct hybrid_view *v, const struct pane *p)
{
    const struct hybrid_shown *s = &v->shown;
    bool pair = p->width >= PAIR_WIDTH && (v->part <= PART_MESHES);
    bool asked = v->part == PART_KINDS || v->part == PART_WHY || v->part == PART_KEPT;
    bool both = p->height >= KINDS_ROWS + 9 && !asked, line = !both && v->part != PART_KINDS;
    int upper = both ? p->height - KINDS_ROWS - 1 : p->height - line;
    struct pane top = pane_part(p, 0, 0, p->width, upper);
    struct pane bottom = both ? pane_part(p, 0, upper + 1, p->width, p->height - upper - 1)
                              : pane_part(p, 0, upper, p->width, 1);

    if (pair)
        draw_pair(s, &top);
    else
        draw_part(s, v->part == PART_TIMELINE ? PART_MEMORY : v->part, &top);
    if (both)
        draw_part(s, PART_KINDS, &bottom);
    else if (line)
        hybrid_draw_kinds_line(s, &bottom);
}

static void draw_parts(const struct hybrid_view *v, const struct pane *pane)
{
    const struct hybrid_shown *s = &v->shown;
    int gap = pane->height >= 34, y = 1 + gap;
    int roles = (int)s->picture->roles, most = pane->height / 6;
    int stages = HYBRID_STAGE_ROWS + (roles < most ? roles : most);
    int left = pane->height - y - stages - gap, groups = (int)s->picture->groups;
    int timeline = 3 + (groups < 16 ? groups : 16);
    bool has_low = left - timeline - gap >= LOW_LEAST;
    bool spaced = left - 2 * groups - 2 >= 30 && groups <= 8;
    bool line = has_low || (v->part != PART_KINDS && left >= 4);

    if (!has_low && v->part == PART_TIMELINE) { /* every stage has its line, roles what is left */
        int spare = left - line - timeline, shown = stages - HYBRID_STAGE_ROWS;
        int least = shown > 1 ? 1 - shown : 0, more = roles - shown;
        spare = spare > more ? more : spare < least ? least : spare;
        stages += spare;
        left -= spare;
    }
    struct pane part = pane_part(pane, 0, y, pane->width, stages);
    hybrid_draw_stages(s, &part);
    y += stages + gap;
    if (!has_low) {
        part = pane_part(pane, 0, y, pane->width, left - line);
        draw_part(s, v->part, &part);
        part = pane_part(pane, 0, pane->height - 1, pane->width, line);
        if (line)
            hybrid_draw_kinds_line(s, &part);
        return;
    }
    timeline = spaced ? 2 * groups + 2 : timeline;
    part = pane_part(pane, 0, y, pane->width, timeline);
    hybrid_draw_timeline(s, &part, spaced);
    y += timeline + gap;
    part = pane_part(pane, 0, y, pane->width, pane->height - y);
    draw_low(v, &part);
}

static void draw_nothing(const struct hybrid_view *v, const struct pane *p)
{
    const struct hybrid_seen *seen = &v->shown.seen;
    char text[400];

    if (!v->job || v->starts || !seen->done) {
        pane_text(p, 0, 0, ROLE_DIM, "pricing stages on every sub-mesh ..");
        return;
    }
    int y =
        pane_sentence(p, ROLE_ERR, seen->trouble[0] ? seen->trouble : "no hybrid plan was found");
    if (seen->clashes)
        pane_text(p, 0, y + 1, ROLE_TEXT,
                  seen->clashes > 1 ? "these pins together leave none:" : "this pin leaves none:");
    for (uint32_t n = 0; n < seen->clashes; n++) {
        hybrid_pin_text(&v->asked.held[seen->clash[n]], text, sizeof text);
        pane_put(p, 0, y + 2 + (int)n, ROLE_PIN | BOLD, U'P');
        pane_cut(p, 2, y + 2 + (int)n, p->width - 2, ROLE_TEXT, text);
    }
    y += 3 + (int)seen->clashes;
    if (v->asked.held_count)
        pane_text(p, 0, y++, ROLE_DIM, "u lets the last pin go");
    for (uint32_t n = 0; n < seen->limits; n++)
        pane_format(p, 0, y++, ROLE_DIM, "asked for: %s", seen->limit[n].text);
}

static void draw_hybrid(struct panel *p, const struct pane *pane)
{
    struct hybrid_view *v = p->state;
    struct hybrid_shown *s = &v->shown;

    if (!refresh(p)) {
        draw_nothing(v, pane);
        return;
    }
    s->ascii = p->scene->ascii;
    s->signs = s->ascii || p->scene->theme->roles[ROLE_BLOCK_0].bg.kind == COLOUR_DEFAULT;
    hybrid_draw_sentence(s, pane);
    draw_parts(v, pane);
}

static bool about_hybrid(const struct panel *p, struct panel_about *out)
{
    const struct hybrid_view *v = p->state;
    const struct hybrid_picture *h = v->shown.picture;
    const char *schedule = !h              ? ""
                           : h->chunks > 1 ? " · interleaved"
                                           : pipe_schedule_names[h->schedule];

    snprintf(out->what, sizeof out->what, "pipeline × mesh%s%s", h && h->chunks == 1 ? " · " : "",
             schedule);
    out->state = v->shown.seen.done && !v->starts ? ABOUT_IS_DONE : ABOUT_RUNS;
    snprintf(out->pace, sizeof out->pace, "%s", out->state == ABOUT_IS_DONE ? "done" : "searching");
    return true;
}

/* ---- acts ---- */

static void choose_mesh(struct hybrid_view *v, int by)
{
    uint32_t others = waits_for_answer(v) ? 0 : v->shown.seen.stage.others;

    if (v->part != PART_MESHES && v->part != PART_MEMORY)
        v->part = PART_MESHES;
    if (others)
        v->shown.other = (v->shown.other + others + (uint32_t)by) % others;
}

/* What is on its way is drawn when it comes: the view is live as long as the job is busy. */
static void change_plan(struct hybrid_view *v, enum hybrid_change change,
                        const struct hybrid_other *as)
{
    hybrid_job_change(v->job, change, v->shown.stage, as);
    hybrid_job_look(v->job, &v->shown.seen);
}

static void take_mesh(struct panel *p)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_stage_answer *a = &v->shown.seen.stage;

    if (waits_for_answer(v) || v->shown.other >= a->others)
        host_say(p->scene, "there is no other mesh to take here");
    else
        change_plan(v, HYBRID_TAKE_OTHER, &a->other[v->shown.other]);
}

static void move_cut(struct panel *p, enum hybrid_change change)
{
    struct hybrid_view *v = p->state;

    if (!v->shown.stage)
        host_say(p->scene, "the first stage has no cut before it");
    else
        change_plan(v, change, NULL);
}

/* Other words are to be written. */
static void tell_about(struct hybrid_view *v, class_id class, const char *name)
{
    if (v->class != class)
        v->words = 0;
    v->class = class;
    snprintf(v->about, sizeof v->about, "%s", name);
    v->shown.scroll = 0;
}

/* The class under the cursor: its words, or the timeline again. */
static void open_cell(struct panel *p)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture *h = v->shown.picture;
    const struct hybrid_picture_role *r = v->shown.role < h->roles ? &h->role[v->shown.role] : NULL;
    class_id class = r ? r->in[v->shown.stage].class : CLASS_NONE;

    if (class == CLASS_NONE) {
        host_say(p->scene, "the stage has nothing of this name");
        return;
    }
    v->part = v->part == PART_WHY && v->class == class ? PART_TIMELINE : PART_WHY;
    tell_about(v, v->part == PART_WHY ? class : CLASS_NONE, r->name);
}

static bool act_on_plan(struct panel *p, int action)
{
    struct hybrid_view *v = p->state;
    struct hybrid_shown *s = &v->shown;

    switch (action) {
    case HYBRID_VIEW_LEFT:
    case HYBRID_VIEW_RIGHT:
        if (action == HYBRID_VIEW_LEFT ? s->stage > 0 : s->stage + 1 < s->picture->stages)
            s->stage += action == HYBRID_VIEW_LEFT ? -1u : 1u;
        s->other = 0;
        s->scroll = 0;
        break;
    case HYBRID_VIEW_EARLIER:
    case HYBRID_VIEW_LATER:
        move_cut(p, action == HYBRID_VIEW_EARLIER ? HYBRID_CUT_EARLIER : HYBRID_CUT_LATER);
        break;
    case HYBRID_VIEW_NEXT_MESH:
    case HYBRID_VIEW_LAST_MESH:
        choose_mesh(v, action == HYBRID_VIEW_NEXT_MESH ? 1 : -1);
        break;
    case HYBRID_VIEW_TAKE:
        take_mesh(p);
        break;
    case HYBRID_VIEW_RESET:
        change_plan(v, HYBRID_TAKE_FOUND, NULL);
        break;
    case HYBRID_VIEW_CELL:
        open_cell(p);
        break;
    case HYBRID_VIEW_SAVE:
        host_ask(p->scene, "hybrid-plan ");
        break;
    case HYBRID_VIEW_WHY:
        v->part = v->part == PART_WHY && v->class == CLASS_NONE ? PART_TIMELINE : PART_WHY;
        tell_about(v, CLASS_NONE, "");
        break;
    default:
        return hybrid_view_pin(p, action) || hybrid_view_option(p, action);
    }
    return true;
}

static bool act_hybrid(struct panel *p, int action)
{
    struct hybrid_view *v = p->state;

    if (action == HYBRID_VIEW_BACK) {
        host_close(p->scene);
    } else if (action == HYBRID_VIEW_PART) {
        v->part = (v->part + 1) % PART_COUNT;
        v->shown.scroll = 0;
    } else if (action == HYBRID_VIEW_UNPIN) {
        if (v->asked.held_count) {
            v->asked.held_count--;
            hybrid_view_start(p);
        }
    } else if (refresh(p)) {
        return act_on_plan(p, action);
    } else if (v->shown.seen.done && action != HYBRID_VIEW_STAGES &&
               action != HYBRID_VIEW_BATCHES) { /* nothing fits: options may still be changed */
        return hybrid_view_option(p, action);
    }
    return true;
}

static bool move_hybrid(struct panel *p, enum list_move move)
{
    struct hybrid_view *v = p->state;
    struct hybrid_shown *s = &v->shown;
    int by = move == LIST_DOWN ? 1 : move == LIST_UP ? -1 : 0;

    if (!by || !s->picture)
        return false;
    if (v->part == PART_KEPT && s->scroll + by >= (int)s->picture->stage[s->stage].kept_count)
        return true;
    if (v->part == PART_WHY || v->part == PART_KEPT)
        s->scroll = s->scroll + by < 0 ? 0 : s->scroll + by;
    else if (by > 0 ? s->role + 1 < s->picture->roles : s->role > 0)
        s->role += (uint32_t)by;
    return true;
}

static const char *name_here(const struct panel *p)
{
    const struct hybrid_view *v = p->state;

    return v->shown.picture ? v->shown.picture->stage[v->shown.stage].first_layer : NULL;
}

/* "stage 2: encoder ffn split over 8; cut before it: 4 MB there in 1.4 ms, 4 MB back". */
static void message_hybrid(const struct panel *p, char *out, size_t room)
{
    const struct hybrid_view *v = p->state;
    const struct hybrid_shown *s = &v->shown;
    char there[UNITS_ROOM], ms[UNITS_ROOM], once[UNITS_ROOM];
    size_t at;

    if (!s->picture)
        return;
    snprintf(out, room, "stage %u", s->stage);
    at = strlen(out);
    if (s->role < s->picture->roles) {
        const struct hybrid_picture_cell *c = &s->picture->role[s->role].in[s->stage];
        const char *name = s->picture->role[s->role].name;
        if (c->class == CLASS_NONE)
            snprintf(out + at, room - at, ": has no %.60s", name);
        else if (c->parts > 1)
            snprintf(out + at, room - at, ": %.60s split in %u%s", name, c->parts,
                     c->is_mixed ? ", some of it otherwise" : "");
        else
            snprintf(out + at, room - at, ": %.60s whole", name);
    }
    at = strlen(out);
    if (s->stage) {
        const struct hybrid_cut *c = &s->picture->cut[s->stage - 1];
        snprintf(out + at, room - at, "; cut before it: %s a micro-batch there in %s",
                 units_bytes(there, c->forward_bytes), units_ms(ms, c->node.forward_ms));
        at = strlen(out);
        if (c->once_bytes > 0)
            snprintf(out + at, room - at, ", once %s", units_bytes(once, c->once_bytes));
    }
}

const struct panel_ops view_hybrid = {
    .name = "hybrid",
    .title = "Hybrid plan",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &hybrid_keys,
    .hints = "left down=role earlier mesh take cut keep micro-batches schedule why part reset back",
    .size = sizeof(struct hybrid_view),
    .open = open_hybrid,
    .close = close_hybrid,
    .draw = draw_hybrid,
    .about = about_hybrid,
    .act = act_hybrid,
    .move = move_hybrid,
    .name_here = name_here,
    .message = message_hybrid,
    .is_live = is_live,
};
