/* The pipeline: a plan of stages that is made while one looks (tui/watch/pipeline_job.h), and what
 * a person makes of it: cuts moved, another schedule, other micro-batches. */
#include "engine/live/snapshot.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/simulation.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/pipeline_draw.h"
#include "tui/views/views.h"
#include "tui/watch/fewer_job.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/pipeline_learn.h"
#include "tui/watch/question.h"
#include "tui/watch/stage_shares.h"
#include "tui/watch/unstaged_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What stands below the schedule. */
enum pipeline_part {
    PART_COURSE,
    PART_MEMORY,
    PART_LEARNER,
    PART_NETWORK,
    PART_SUMS,
    PART_KEPT,
    PART_COUNT
};

struct pipeline_view {
    struct pipeline_job *job;
    bool starts; /* the job is being left; then another begins, with the options */
    struct pipeline_options options; /* as asked for */
    struct pipeline_look look;
    struct pipeline_shown shown;
    struct pipeline_plan plan; /* the one shown: the job's, or a person's change of it */
    uint32_t version;          /* of the job's plan that was taken last */
    bool moved;                /* a person moved a cut: the job's next plan does not replace it */
    uint32_t drawn_version;    /* of the schedule; UINT32_MAX: to be made */
    enum pipeline_part part;
    struct pipeline_learn *learn; /* NULL: not looked at yet */
    struct learn_look learned;
    uint64_t seed;                 /* of the learner */
    struct pipeline_memory memory; /* of the plan and schedule shown */
    struct pipeline_kept kept;     /* the same */
};

enum {
    PIPE_VIEW_LEFT,
    PIPE_VIEW_RIGHT,
    PIPE_VIEW_MOVE_LEFT,
    PIPE_VIEW_MOVE_RIGHT,
    PIPE_VIEW_SCHEDULE,
    PIPE_VIEW_BATCHES,
    PIPE_VIEW_RECOMPUTE,
    PIPE_VIEW_RESET,
    PIPE_VIEW_GO,
    PIPE_VIEW_BACK,
    PIPE_VIEW_PART,
    PIPE_VIEW_RUN,
    PIPE_VIEW_DECIDE,
    PIPE_VIEW_EPISODE,
    PIPE_VIEW_SEED,
    PIPE_VIEW_PIN
};
static const struct action pipeline_actions[] = {
    [PIPE_VIEW_LEFT] = {"left", "in this view", "choose a stage and its cut", "cut", "h or Left",
                        "Left"},
    [PIPE_VIEW_RIGHT] = {"right", "in this view", NULL, NULL, "l or Right", "Right"},
    [PIPE_VIEW_MOVE_LEFT] = {"move-left", "in this view", "move the cut to the next cheap place",
                             "move it", "H", NULL},
    [PIPE_VIEW_MOVE_RIGHT] = {"move-right", "in this view", NULL, NULL, "L", NULL},
    [PIPE_VIEW_SCHEDULE] = {"schedule", "in this view", "eager, 1f1b, gpipe", "schedule", "s",
                            NULL},
    [PIPE_VIEW_BATCHES] = {"micro-batches", "in this view", "another number of micro-batches",
                           "micro-batches", "m", NULL},
    [PIPE_VIEW_RECOMPUTE] = {"recompute", "in this view", "keep inputs only", "recompute", "r",
                             NULL},
    [PIPE_VIEW_RESET] = {"reset", "in this view", "the found plan again", "reset", "0", NULL},
    [PIPE_VIEW_GO] = {"go", "in this view", "go to the cut in the tree", "go there", "Enter", NULL},
    [PIPE_VIEW_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
    [PIPE_VIEW_PART] = {"part", "in this view", "C A W, a stage's memory, the learner, the network",
                        "more below", "Tab", NULL},
    [PIPE_VIEW_RUN] = {"run", "in this view", "the learner runs, pauses", NULL, "Space", NULL},
    [PIPE_VIEW_DECIDE] = {"decide", "in this view", "the learner decides one cut", NULL, ",", NULL},
    [PIPE_VIEW_EPISODE] = {"episode", "in this view", "the learner plays one episode", NULL, ".",
                           NULL},
    [PIPE_VIEW_PIN] = {"pin", "in this view", "pin that cut, or let it go", "pin", "p", NULL},
    [PIPE_VIEW_SEED] = {"seed", "in this view", "the learner again, another seed", NULL, "n", NULL},
};
static const struct key_table pipeline_keys = {"pipeline", pipeline_actions,
                                               sizeof pipeline_actions / sizeof *pipeline_actions};

/* ---- the plan ---- */

/* Leaves the job. It ends after the step it is at, so nothing waits for it here: see begin. */
static void start_pipeline(struct panel *p)
{
    struct pipeline_view *v = p->state;
    enum pipe_schedule_kind kind = v->shown.kind;

    pipe_schedule_free(&v->shown.schedule);
    pipeline_learn_free(v->learn); /* it looks at the job's tables */
    v->learn = NULL;
    if (v->job)
        pipeline_job_stop(v->job);
    v->starts = true;
    v->shown = (struct pipeline_shown){.kind = kind};
    v->memory.made = v->kept.made = false;
    v->version = 0;
    v->moved = false;
    v->drawn_version = UINT32_MAX;
    v->options.schedule = kind;
}

/* Another job, once the one that was left has ended. */
static int begin_pipeline(struct panel *p, struct err *e)
{
    struct pipeline_view *v = p->state;

    if (v->job)
        pipeline_job_look(v->job, &v->look);
    if (!v->starts || (v->job && !v->look.done))
        return 0;
    pipeline_job_free(v->job);
    v->job = NULL;
    v->look = (struct pipeline_look){0};
    v->starts = false;
    if (pipeline_job_new(p->scene->problem, &v->options, p->scene->now_ms > 0, &v->job, e))
        return e->code;
    if (p->scene->watch) { /* why may ask about it when this view is gone */
        pipeline_job_free(p->scene->watch->pipeline);
        p->scene->watch->pipeline = pipeline_job_share(v->job);
    }
    return 0;
}

static int open_pipeline(struct panel *p, const void *arg, struct err *e)
{
    struct pipeline_view *v = p->state;

    (void)arg;
    if (!p->scene->problem)
        return err_set(e, ERR_INPUT, "no model is open");
    v->options.overlap = problem_overlap(p->scene->problem);
    start_pipeline(p);
    struct watch *w = p->scene->watch;
    if (w)
        unstaged_follow(w, v->options.limit_bytes, p->scene->now_ms > 0);
    if (w && w->pipeline) { /* looked at before, or from a file */
        v->starts = false;
        v->job = pipeline_job_share(w->pipeline);
        v->options = *pipeline_job_options(v->job);
        v->shown.kind = v->options.schedule;
        return 0;
    }
    return begin_pipeline(p, e);
}

static void close_pipeline(struct panel *p)
{
    struct pipeline_view *v = p->state;
    pipe_schedule_free(&v->shown.schedule);
    pipeline_kept_release(&v->kept);
    pipeline_learn_free(v->learn);
    pipeline_job_free(v->job);
}

static bool is_live(const struct panel *p)
{
    const struct pipeline_view *v = p->state;
    const struct watch *w = p->scene->watch;

    return v->starts || (v->job && !v->look.done) || (v->learn && v->learned.busy) ||
           (w && unstaged_is_asked(w));
}

/* ---- the learner, and a stage's memory ---- */

static bool has_learner(struct panel *p)
{
    struct pipeline_view *v = p->state;
    struct err e;

    if (v->learn)
        return true;
    if (!v->look.pipeline)
        return false;
    if (!pipeline_learn_new(v->look.pipeline, v->seed + 1, p->scene->now_ms > 0, &v->learn, &e))
        return true;
    host_say_err(p->scene, &e);
    v->part = PART_COURSE;
    return false;
}

static bool act_learner(struct panel *p, int action)
{
    struct pipeline_view *v = p->state;

    if (action == PIPE_VIEW_SEED) {
        pipeline_learn_free(v->learn);
        v->learn = NULL;
        v->seed++;
    }
    v->part = PART_LEARNER;
    if (!has_learner(p))
        return true;
    if (action == PIPE_VIEW_RUN)
        pipeline_learn_run(v->learn, !v->learned.running);
    else if (action != PIPE_VIEW_SEED)
        pipeline_learn_step(v->learn, action == PIPE_VIEW_EPISODE);
    pipeline_learn_look(v->learn, &v->learned);
    return true;
}

static void draw_part(struct panel *p, const struct pane *pane)
{
    struct pipeline_view *v = p->state;
    struct err e;

    if (v->part == PART_LEARNER && has_learner(p)) {
        pipeline_learn_look(v->learn, &v->learned);
        pipeline_draw_learner(&v->shown, &v->learned, pane);
    } else if (v->part == PART_MEMORY) {
        if ((!v->memory.made || v->memory.stage != v->shown.stage) &&
            pipeline_memory_make(&v->shown, &v->memory, &e))
            host_say_err(p->scene, &e);
        pipeline_draw_memory(&v->shown, &v->memory, pane);
    } else if (v->part == PART_KEPT) {
        if (!v->kept.made && pipeline_kept_make(&v->shown, &v->options, &v->plan, &v->kept, &e))
            host_say_err(p->scene, &e);
        pipeline_draw_kept(&v->shown, &v->kept, pane);
    } else if (v->part == PART_NETWORK) {
        pipeline_draw_network(&v->shown, &v->look, p->scene->now_ms > 0, pane);
    } else {
        pipeline_draw_course(&v->shown, pane, v->part == PART_SUMS);
    }
}

/* Takes the job's newest plan, unless a person has changed it; plays the schedule of what is shown.
 */
static bool refresh(struct panel *p)
{
    struct pipeline_view *v = p->state;
    struct pipeline_shown *s = &v->shown;
    struct err e;

    if (begin_pipeline(p, &e))
        host_say_err(p->scene, &e);
    if (!v->job || v->starts)
        return false;
    pipeline_job_look(v->job, &v->look);
    if (v->look.version != v->version && !v->moved) {
        v->version = v->look.version;
        v->plan = v->look.plan;
        s->plan = v->plan.plan;
        s->stage = s->stage < s->plan.stages ? s->stage : 0;
        v->drawn_version = UINT32_MAX;
    }
    s->pipeline = v->look.pipeline;
    if (!v->version || !s->pipeline)
        return false;
    if (v->drawn_version != UINT32_MAX)
        return true;
    pipe_schedule_free(&s->schedule);
    s->schedule = (struct pipe_schedule){0};
    if (pipe_schedule_make(&s->pipeline->all, &s->plan, s->kind, &s->schedule, &e))
        host_say_err(p->scene, &e);
    v->drawn_version = v->version;
    v->memory.made = v->kept.made = false;
    return true;
}

/* ---- drawing ---- */

/* Cuts the last clause off; false: there is but one. */
static bool drop_clause(char *text)
{
    for (size_t n = strlen(text); n > 1; n--) {
        if (text[n - 1] == ' ' && text[n - 2] == ',') {
            text[n - 2] = '\0';
            return true;
        }
    }
    return false;
}

/* "   without stages 850.6 ms, 1.99×, mesh 4x8, ZeRO 1, proven over strict plans", as many clauses
 * as there is room for; a plan of one stage has none itself. Returns where it ends. */
static int draw_unstaged(const struct panel *p, const struct pane *pane, int x)
{
    const struct pipeline_view *v = p->state;
    const struct watch *w = p->scene->watch;
    struct unstaged best;
    char ms[UNITS_ROOM], text[224];

    if (!w || v->look.pipeline->options.batch != problem_batch_size(w->problem) ||
        !unstaged_best(w, &best))
        return x;
    double of_it = best.step_ms / v->plan.makespan_ms[v->shown.kind];
    static const char *const words[2][2] = {{"without stages", "other plans"},
                                            {"faster without stages", "a faster plan"}};
    snprintf(text, sizeof text, "   %s %s, %.2f×, %s%s",
             words[of_it < 1][v->shown.plan.stages == 1], units_ms(ms, best.step_ms), of_it,
             best.name, unstaged_is_asked(w) ? " .." : "");
    while (x + utf8_text_columns(text) > pane->width) {
        if (!drop_clause(text))
            return x;
    }
    return pane_text(pane, x, 0, of_it < 1 ? ROLE_WARN : ROLE_TEXT, text);
}

static void draw_sentence(const struct panel *p, const struct pane *pane)
{
    const struct pipeline_view *v = p->state;
    const struct pipeline_options *o = &v->look.pipeline->options;
    const struct watch *w = p->scene->watch;
    char devices[80] = "", layers[96] = "";
    size_t a = 0, b = 0;

    for (uint32_t k = 1;
         k < v->shown.plan.stages && a + 16 < sizeof devices && b + 20 < sizeof layers; k++) {
        char layer[16];
        pipeline_layer_text(v->look.pipeline, v->shown.plan.pivot[k], layer, sizeof layer);
        a += (size_t)snprintf(devices + a, sizeof devices - a, " %u", v->shown.plan.device[k]);
        b += (size_t)snprintf(layers + b, sizeof layers - b, " %s", layer);
    }
    char ms[UNITS_ROOM], text[224];
    int x =
        pane_text(pane, 0, 0, ROLE_TITLE | BOLD, units_ms(ms, v->plan.makespan_ms[v->shown.kind]));
    x = pane_text(pane, x, 0, ROLE_TEXT, " simulated");
    x = pane_format(pane, x, 0, ROLE_TEXT, "   L %s", units_plain_ms(ms, v->plan.length_ms));
    if (!v->plan.fits)
        x = pane_text(pane, x, 0, ROLE_ERR, "   does not fit");
    snprintf(text, sizeof text, "   %u × %u samples", o->micro_batches,
             o->batch / o->micro_batches);
    if (x + utf8_text_columns(text) <= pane->width)
        x = pane_text(pane, x, 0, ROLE_TEXT, text);
    x = draw_unstaged(p, pane, x);
    if (w && o->batch == problem_batch_size(w->problem))
        fewer_words(w, v->plan.makespan_ms[v->shown.kind], text, sizeof text);
    else
        text[0] = 0;
    if (x + utf8_text_columns(text) <= pane->width)
        x = pane_text(pane, x, 0, ROLE_WARN, text);
    snprintf(text, sizeof text, "   device cuts%s   cut at%s", devices, layers);
    if (v->shown.plan.stages > 1 && x + utf8_text_columns(text) <= pane->width)
        pane_text(pane, x, 0, ROLE_TEXT, text);
}

static void draw_notes(const struct pipeline_view *v, const struct pane *p, int y)
{
    char ms[UNITS_ROOM];
    int x = 0;

    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        x = pane_format(p, x, y, ROLE_DIM, "%s%s ", k ? " · " : "", pipe_schedule_names[k]);
        x = pane_text(p, x, y, ROLE_TEXT, units_plain_ms(ms, v->plan.makespan_ms[k]));
    }
    char text[160] = "";
    const struct pipe_exact_result *exact = &v->look.exact;
    if (v->look.has_exact && exact->found) /* a refined plan may be below: its cuts are others */
        snprintf(text, sizeof text, "least L %s%s %u/%u cuts%s",
                 units_plain_ms(ms, exact->length_ms), exact->certified ? " proven of" : ",",
                 v->look.pipeline->few.points - 1, v->look.pipeline->all.points - 1,
                 v->plan.length_ms < exact->length_ms * (1 - 1e-9) ? ", this plan has finer ones"
                                                                   : "");
    else if (!v->look.done)
        snprintf(text, sizeof text, "smallest L: %u of %u device cuts done", v->look.steps_done,
                 v->look.steps);
    if (x + 3 + utf8_text_columns(text) <= p->width)
        x = pane_text(p, x + 3, y, ROLE_DIM, text);
    if (x + 34 <= p->width)
        pane_text(p, x + 3, y, ROLE_DIM, "chosen by simulation, not by L");
}

/* None fits: by how much, and what would be needed. */
static void draw_tries(const struct pipeline_look *l, const struct pane *p)
{
    static const char *const what[2][2] = {{"as asked for", "recomputing"},
                                           {"a stage a device", "both"}};
    const struct pipeline_try *least = NULL;
    char limit[UNITS_ROOM], needs[UNITS_ROOM], short_of[UNITS_ROOM];

    if (!l->try_count)
        return;
    pane_head(p, 2,
              &(struct head){0, "Without a limit", "the fastest pipeline of each kind, GB", false});
    pane_right(p, 30, 3, ROLE_DIM, "stages");
    pane_right(p, 44, 3, ROLE_DIM, "fullest stage");
    pane_right(p, 54, 3, ROLE_DIM, "needs");
    pane_right(p, 64, 3, ROLE_DIM, "too much");
    for (uint32_t n = 0; n < l->try_count; n++) {
        const struct pipeline_try *t = &l->tries[n];
        int y = 4 + (int)n;
        double over = t->bytes - l->limit_bytes;
        pane_text(p, 0, y, ROLE_TEXT, what[t->deepest][t->recompute]);
        pane_right_number(p, 30, y, ROLE_TEXT, t->stages, 0);
        pane_right_number(p, 44, y, ROLE_TEXT, t->stage, 0);
        pane_right_number(p, 54, y, ROLE_TEXT, t->bytes / 1e9, 1);
        if (over > 0)
            pane_right(p, 64, y, ROLE_ERR, units_change(needs, over / 1e9, 1));
        else
            pane_right(p, 64, y, ROLE_OK, "fits");
        least = !least || t->bytes < least->bytes ? t : least;
    }
    units_bytes(limit, l->limit_bytes);
    units_bytes(needs, least->bytes);
    units_bytes(short_of, least->bytes - l->limit_bytes);
    int y = 5 + (int)l->try_count;
    if (least->bytes > l->limit_bytes)
        pane_format(p, 0, y, ROLE_TEXT, "a device has %s; the least of these needs %s, %s more",
                    limit, needs, short_of);
    else
        pane_format(p, 0, y, ROLE_TEXT, "a device has %s; %s fits: search --kind pp --stages %u%s",
                    limit, needs, least->stages, least->recompute ? " --recompute" : "");
}

static void draw_waiting(const struct pipeline_view *v, const struct pane *p)
{
    if (v->look.done && !v->starts) {
        int y =
            pane_sentence(p, ROLE_ERR, v->look.trouble[0] ? v->look.trouble : "no pipeline fits");
        struct pane below = pane_part(p, 0, y - 1, p->width, p->height - y + 1);
        draw_tries(&v->look, &below);
    } else
        pane_text(p, 0, 0, ROLE_DIM,
                  v->look.pipeline ? "cutting the model into stages .."
                                   : "laying the forward pass out ..");
}

static void draw_pipeline(struct panel *p, const struct pane *pane)
{
    struct pipeline_view *v = p->state;
    struct pipeline_shown *s = &v->shown;
    char note[96];

    if (!refresh(p)) {
        draw_waiting(v, pane);
        return;
    }
    s->ascii = p->scene->ascii;
    s->signs = s->ascii || p->scene->theme->roles[ROLE_BLOCK_0].bg.kind == COLOUR_DEFAULT;
    int gap = pane->height >= 24, stages = (int)s->plan.stages;
    draw_sentence(p, pane);
    snprintf(note, sizeof note, "%s · %u %s on %u devices",
             v->moved ? "your cuts" : v->plan.found_by, s->plan.stages,
             s->plan.stages == 1 ? "stage" : "stages", s->pipeline->all.devices);
    int table = stages > 8 ? 8 : stages, y = 1 + gap;
    if (table > pane->height / 3)
        table = pane->height / 3;
    struct pane top = pane_part(pane, 0, y, pane->width, table + 3);
    pipeline_draw_stages(s, &top, &(struct head){0, "Stages", note, true});
    y += table + 3 + gap;
    bool is_course = v->part == PART_COURSE; /* others take all the room where there is little */
    int left = pane->height - y - 1, lanes = stages <= 6 && left >= 22 ? 2 * stages - 1 : stages;
    int course = left >= (is_course ? 12 : 22) ? left - 3 - gap - lanes : 0;
    course = course < (is_course ? 8 : 10) ? 0 : course;
    int gantt = left - course - (course ? gap : 0);
    bool spaced = stages <= 6 && gantt >= 3 + 2 * stages - 1;
    int wanted = 3 + (spaced ? 2 * stages - 1 : stages);
    gantt = gantt > wanted ? wanted : gantt;
    struct pane middle =
        pane_part(pane, 0, y, pane->width, v->part != PART_COURSE && !course ? left : gantt);
    if (v->part != PART_COURSE && !course) /* no room for both */
        draw_part(p, &middle);
    else
        pipeline_draw_schedule(s, &middle, spaced);
    y += gantt + gap;
    struct pane low = pane_part(pane, 0, y, pane->width, course);
    if (course)
        draw_part(p, &low);
    draw_notes(v, pane, pane->height - 1);
}

/* ---- acts ---- */

/* The nearest cut in that direction that is cheaper than its neighbours; HLO_NONE: none before the
 * next stage's. */
static uint32_t next_floor(const struct pipeline_view *v, uint32_t stage, int step)
{
    const struct pipe_instance *in = &v->look.pipeline->all;
    const uint32_t *pivot = v->shown.plan.pivot;
    uint32_t least = pivot[stage] + 1, most = pivot[stage + 2] - 1;
    const double *bytes = in->forward_bytes;

    for (uint32_t at = pivot[stage + 1]; step < 0 ? at > least : at < most;) {
        at = step < 0 ? at - 1 : at + 1;
        bool floor = at > 1 && at + 1 < in->points && bytes[at] <= bytes[at - 1] &&
                     bytes[at] <= bytes[at + 1] &&
                     (bytes[at] < bytes[at - 1] || bytes[at] < bytes[at + 1]);
        if (floor)
            return at;
    }
    return HLO_NONE;
}

static void move_cut(struct panel *p, int step)
{
    struct pipeline_view *v = p->state;

    if (v->shown.stage + 1 >= v->shown.plan.stages) {
        host_say(p->scene, "the last stage has no cut behind it");
        return;
    }
    uint32_t to = next_floor(v, v->shown.stage, step);
    if (to == HLO_NONE) {
        host_say(p->scene, "no cheaper place before the next cut");
        return;
    }
    double before = v->plan.makespan_ms[v->shown.kind];
    v->shown.plan.pivot[v->shown.stage + 1] = to;
    pipeline_price(v->look.pipeline, &v->shown.plan, &v->plan);
    v->moved = true;
    v->drawn_version = UINT32_MAX;
    host_say(p->scene, "%+.1f ms: %.1f simulated, L %.1f%s",
             v->plan.makespan_ms[v->shown.kind] - before, v->plan.makespan_ms[v->shown.kind],
             v->plan.length_ms, v->plan.fits ? "" : ", does not fit");
}

/* The next larger number of micro-batches that divides the batch; then 1 again. */
static uint32_t next_batches(const struct pipeline *l)
{
    enum { MOST = 128 };
    for (uint32_t n = l->options.micro_batches + 1; n <= l->options.batch && n <= MOST; n++) {
        if (l->options.batch % n == 0)
            return n;
    }
    return 1;
}

static bool again(struct panel *p)
{
    start_pipeline(p);
    return true;
}

/* The number of the pin of the cut behind the stage under the cursor; options.pins: none. */
static uint32_t pin_here(const struct pipeline_view *v)
{
    const struct pipe_plan *plan = &v->shown.plan;
    uint32_t cut = v->shown.stage + 1, n = 0;

    while (n < v->options.pins &&
           (cut >= plan->stages || v->options.pin[n].device != plan->device[cut]))
        n++;
    return n;
}

/* A pinned cut stays where it is; everything is made again around it. */
static bool toggle_pin(struct panel *p)
{
    struct pipeline_view *v = p->state;
    const struct pipe_plan *plan = &v->shown.plan;
    uint32_t cut = v->shown.stage + 1, n = pin_here(v);

    if (cut >= plan->stages || (n == v->options.pins && n == PIPELINE_PINS_MOST)) {
        host_say(p->scene,
                 cut >= plan->stages ? "the last stage has no cut behind it" : "no more pins");
        return true;
    }
    if (n < v->options.pins) {
        v->options.pin[n] = v->options.pin[--v->options.pins];
        host_say(p->scene, "cut %u may move again", cut);
    } else {
        const char *place = hlo_name(v->look.pipeline->problem->m,
                                     v->look.pipeline->all.instruction[plan->pivot[cut]]);
        v->options.pin[v->options.pins++] =
            (struct pipeline_pin){plan->device[cut], NULL, plan->pivot[cut]};
        host_say(p->scene, "pinned: a stage begins at device %u with %s", plan->device[cut], place);
    }
    return again(p);
}

static bool act_pipeline(struct panel *p, int action)
{
    struct pipeline_view *v = p->state;

    if (action == PIPE_VIEW_BACK) {
        host_close(p->scene);
        return true;
    }
    if (action == PIPE_VIEW_RECOMPUTE) {
        v->options.recompute = !v->options.recompute;
        return again(p);
    }
    if (action == PIPE_VIEW_BATCHES && v->look.pipeline) { /* also where none fits */
        v->options.micro_batches = next_batches(v->look.pipeline);
        return again(p);
    }
    if (!v->look.pipeline || !v->version)
        return false;
    switch (action) {
    case PIPE_VIEW_PART:
        v->part = (v->part + 1) % PART_COUNT;
        return true;
    case PIPE_VIEW_PIN:
        return toggle_pin(p);
    case PIPE_VIEW_RUN:
    case PIPE_VIEW_DECIDE:
    case PIPE_VIEW_EPISODE:
    case PIPE_VIEW_SEED:
        return act_learner(p, action);
    case PIPE_VIEW_LEFT:
    case PIPE_VIEW_RIGHT:
        if (action == PIPE_VIEW_LEFT ? v->shown.stage > 0
                                     : v->shown.stage + 1 < v->shown.plan.stages)
            v->shown.stage += action == PIPE_VIEW_LEFT ? -1u : 1u;
        return true;
    case PIPE_VIEW_MOVE_LEFT:
    case PIPE_VIEW_MOVE_RIGHT:
        move_cut(p, action == PIPE_VIEW_MOVE_LEFT ? -1 : 1);
        return true;
    case PIPE_VIEW_SCHEDULE:
        v->shown.kind = (enum pipe_schedule_kind)((v->shown.kind + 1) % PIPE_SCHEDULE_COUNT);
        v->drawn_version = UINT32_MAX;
        return true;
    case PIPE_VIEW_GO: {
        uint32_t point =
            v->shown.plan.pivot[v->shown.stage + (v->shown.stage + 1 < v->shown.plan.stages)];
        uint32_t id = point < v->look.pipeline->all.points
                          ? v->look.pipeline->all.instruction[point]
                          : UINT32_MAX;
        if (id != UINT32_MAX)
            host_go_to(p->scene, id);
        return true;
    }
    default:
        v->moved = false;
        v->version = 0;
        return true;
    }
}

static bool move_pipeline(struct panel *p, enum list_move move)
{
    if (move == LIST_UP || move == LIST_DOWN)
        return act_pipeline(p, move == LIST_UP ? PIPE_VIEW_LEFT : PIPE_VIEW_RIGHT);
    return false;
}

static void question_here(const struct panel *p, struct question *q)
{
    const struct pipeline_view *v = p->state;

    if (v->version && v->shown.pipeline)
        *q = (struct question){.kind = QUESTION_STAGE,
                               .pipeline = v->shown.pipeline,
                               .staged = &v->plan,
                               .stage = v->shown.stage};
}

static const char *export_line(const struct panel *p)
{
    const struct pipeline_view *v = p->state;

    return v->version ? "pipeline-plan " : NULL;
}

/* "stage 0: 40.0 ms add up the gradient of embeddings/word, ..; 2.9 GB state, 4 in flight of 902
 * MB; cut behind it: 17 MB here, up to 285 MB inside". */
static void message_pipeline(const struct panel *p, char *out, size_t room)
{
    const struct pipeline_view *v = p->state;
    const struct pipeline_shown *s = &v->shown;

    if (!v->version || !s->pipeline)
        return;
    const struct pipe_instance *in = &s->pipeline->all;
    struct pipe_stage st = pipe_stage_of(in, &s->plan, s->stage);
    char here[UNITS_ROOM], most[UNITS_ROOM], state[UNITS_ROOM], flight[UNITS_ROOM], shared[600],
        cut[3 * UNITS_ROOM] = "";
    double inside = 0;
    stage_shares_text(s->pipeline, &s->plan, s->stage, shared, sizeof shared);
    for (uint32_t at = st.first_point + 1; at < st.end_point; at++)
        inside = fmax(inside, in->forward_bytes[at]);
    if (s->stage + 1 < s->plan.stages)
        snprintf(cut, sizeof cut, "; cut behind it: %s here, up to %s inside",
                 units_bytes(here, in->forward_bytes[st.end_point]), units_bytes(most, inside));
    snprintf(out, room, "stage %u: %s%s%s state, %u in flight of %s%s", s->stage, shared,
             *shared ? "; " : "", units_bytes(state, st.state_bytes), st.in_flight,
             units_bytes(flight, st.stash_bytes + st.input_bytes), cut);
}

static bool about_pipeline(const struct panel *p, struct panel_about *out)
{
    const struct pipeline_view *v = p->state;
    bool done = v->look.done && !v->starts;

    snprintf(out->what, sizeof out->what, "pipeline of replicas · %s",
             pipe_schedule_names[v->shown.kind]);
    out->state = done ? ABOUT_IS_DONE : ABOUT_RUNS;
    snprintf(out->pace, sizeof out->pace, "%s", done ? "done" : "searching");
    return true;
}

const struct panel_ops view_pipeline = {
    .name = "pipeline",
    .title = "Pipeline",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &pipeline_keys,
    .hints = "left move-left schedule micro-batches recompute why reset go part back",
    .size = sizeof(struct pipeline_view),
    .open = open_pipeline,
    .close = close_pipeline,
    .draw = draw_pipeline,
    .about = about_pipeline,
    .act = act_pipeline,
    .move = move_pipeline,
    .question_here = question_here,
    .export_line = export_line,
    .message = message_pipeline,
    .is_live = is_live,
};
