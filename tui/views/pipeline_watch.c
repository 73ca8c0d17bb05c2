/* Four parts of view_pipeline.c that take the place of C, A, W: the learner, the network, a stage's
 * memory, and what it keeps. */
#include "engine/compare/kept_pipeline.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/pipeline/network_answer.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/timeline.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/views/hybrid_draw.h"
#include "tui/views/pipeline_draw.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/pipeline_learn.h"

#include "engine/text/units.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the learner ---- */

static void draw_rewards(const struct pipeline_shown *s, const struct learn_look *k,
                         const struct pane *p)
{
    struct plot_series series[] = {
        {.y = k->reward,
         .count = k->count,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_0,
         .sign = '*',
         .name = "L_ref / L"},
        {.y = k->best_reward,
         .count = k->count,
         .kind = PLOT_STEPS,
         .role = ROLE_PLOT_1,
         .sign = '+',
         .name = "best"},
    };
    struct plot plot = {.series = series,
                        .series_count = 2,
                        .first_x = 0,
                        .last_x = (double)k->episodes,
                        .unit_x = "ep",
                        .low = NAN,
                        .high = NAN,
                        .limit = NAN,
                        .ascii = s->ascii};

    plot_draw(p, &plot);
}

/* Q of every device the cut may take; the highest is what the learner would do. */
static void draw_q(const struct learn_look *k, const struct pane *p, int y)
{
    int x = pane_format(p, 0, y, ROLE_DIM, "%-10s", "Q"), best = -1;

    for (uint32_t a = 0; a < k->width; a++) {
        if (k->legal >> a & 1 && (best < 0 || k->q[a] > k->q[best]))
            best = (int)a;
    }
    for (uint32_t a = 0; a < k->width && x + 12 < p->width; a++) {
        if (k->legal >> a & 1)
            x = pane_format(p, x, y, (int)a == best ? ROLE_TITLE | BOLD : ROLE_TEXT, "%u: %.3f  ",
                            k->anchor + a - k->radius, (double)k->q[a]);
    }
    if (best < 0)
        pane_text(p, x, y, ROLE_DIM, "no cut to decide: the episode is over");
}

static void draw_cuts_so_far(const struct learn_look *k, const struct pane *p, int y)
{
    int x = pane_format(p, 0, y, ROLE_DIM, "%-10s", "now");

    for (uint32_t cut = 1; cut < k->stages && x + 6 < p->width; cut++) {
        if (cut < k->cut)
            x = pane_format(p, x, y, ROLE_TEXT, "%u ", k->now.device[cut]);
        else
            x = pane_text(p, x, y, cut == k->cut ? ROLE_TITLE | BOLD : ROLE_DIM,
                          cut == k->cut ? "? " : "· ");
    }
    if (k->tried.stages && x + 40 < p->width) {
        char cuts[160];
        struct pipe_plan devices = k->tried;
        pipe_plan_format(&devices, cuts, sizeof cuts);
        cuts[strcspn(cuts, "|")] = '\0';
        pane_format(p, x + 2, y, ROLE_DIM,
                    isfinite(k->tried_ms) ? "last %sL %.1f" : "last %sdoes not fit", cuts,
                    k->tried_ms);
    }
}

static void draw_best(const struct learn_look *k, const struct pane *p, int y)
{
    char cuts[160];
    int x = pane_format(p, 0, y, ROLE_DIM, "%-10s", "best");

    if (!isfinite(k->best.length_ms)) {
        pane_text(p, x, y, ROLE_DIM, "none yet");
        return;
    }
    pipe_plan_format(&k->best.plan, cuts, sizeof cuts);
    cuts[strcspn(cuts, "|")] = '\0';
    x = pane_format(p, x, y, ROLE_TEXT, "%sL %.1f", cuts, k->best.length_ms);
    x = pane_format(p, x, y, ROLE_DIM, "  at episode %llu", (unsigned long long)k->best.evaluation);
    if (k->least_ms > 0 && x + 44 < p->width)
        x = pane_format(p, x, y, ROLE_DIM, "  best of all %llu candidates %.1f, %u tried",
                        (unsigned long long)k->candidates, k->least_ms, k->seen);
}

void pipeline_draw_learner(const struct pipeline_shown *s, const struct learn_look *k,
                           const struct pane *p)
{
    char note[128], episodes[UNITS_ROOM];

    snprintf(note, sizeof note, "DQN · seed %llu · episode %s · %s", (unsigned long long)k->seed,
             units_count(episodes, (int64_t)k->episodes),
             k->done      ? "done"
             : k->running ? "runs"
                          : "paused");
    pane_head(p, 0, &(struct head){0, "Learner", note, false});
    if (p->height < 5)
        return;
    struct pane curve = pane_part(p, 0, 1, p->width, p->height - 4);
    draw_rewards(s, k, &curve);
    draw_cuts_so_far(k, p, p->height - 3);
    draw_q(k, p, p->height - 2);
    draw_best(k, p, p->height - 1);
}

/* ---- the network ---- */

/* The value of the best candidate in each part of the model, a curve a decision. */
static void draw_scores(const struct pipeline_shown *s, const struct network_pass *n,
                        const struct pane *p)
{
    static const unsigned roles[] = {ROLE_PLOT_0, ROLE_PLOT_1, ROLE_PLOT_2, ROLE_PLOT_3};
    static const char *const names[] = {"cut 1", "cut 2", "cut 3", "cut 4"};
    uint32_t count = n->decisions < NETWORK_DECISIONS ? n->decisions : NETWORK_DECISIONS;
    double value[NETWORK_DECISIONS][NETWORK_COLUMNS];
    struct plot_series series[NETWORK_DECISIONS];

    for (uint32_t d = 0; d < count; d++) {
        for (uint32_t x = 0; x < n->columns; x++)
            value[d][x] = n->of[d].value[x] > 0 ? (double)n->of[d].value[x] : NAN;
        series[d] = (struct plot_series){.y = value[d],
                                         .count = n->columns,
                                         .kind = PLOT_LINE,
                                         .role = roles[d],
                                         .sign = (char)('1' + d),
                                         .name = names[d]};
    }
    struct plot plot = {.series = series,
                        .series_count = count,
                        .first_x = 0,
                        .last_x = s->pipeline->few.points,
                        .unit_x = "points",
                        .low = NAN,
                        .high = 1,
                        .limit = NAN,
                        .ascii = s->ascii};
    plot_draw(p, &plot);
}

static void draw_answer(const struct pipeline_look *k, bool timed, const struct pane *p, int y)
{
    const struct network_answer *n = &k->network;
    char cuts[160], ms[UNITS_ROOM];
    struct pipe_plan devices = n->plan;
    int x = pane_format(p, 0, y, ROLE_DIM, "%-10s", k->has_net ? "network" : "no network");

    pipe_plan_format(&devices, cuts, sizeof cuts);
    cuts[strcspn(cuts, "|")] = '\0';
    x = pane_format(p, x, y, ROLE_TEXT, "%u stage%s, %sL %.1f", n->plan.stages,
                    n->plan.stages == 1 ? "" : "s", cuts, n->length_ms);
    if (k->has_exact && k->exact.found)
        x = pane_format(p, x, y, ROLE_TEXT, "  %.2f %% over the least",
                        fmax(0, 100 * (n->length_ms / k->exact.length_ms - 1)));
    x = pane_format(p, x, y, ROLE_DIM, "  %llu plans, ", (unsigned long long)n->plans);
    pane_text(p, x, y, ROLE_DIM, timed ? units_ms(ms, k->network_s * 1e3) : "-");
}

static void draw_proof(const struct pipeline_look *k, bool timed, const struct pane *p, int y)
{
    char ms[UNITS_ROOM];
    int x = pane_format(p, 0, y, ROLE_DIM, "%-10s", "proof");

    if (!k->has_exact || !k->exact.found) {
        pane_text(p, x, y, ROLE_DIM, k->done ? "none" : "..");
        return;
    }
    x = pane_format(p, x, y, k->exact.certified ? ROLE_OK : ROLE_TEXT, "L %.1f",
                    k->exact.length_ms);
    if (k->exact.certified)
        x = pane_format(p, x, y, ROLE_OK, " proven of %u/%u cuts", k->pipeline->few.points - 1,
                        k->pipeline->all.points - 1);
    x = pane_format(p, x, y, ROLE_TEXT, " in %s", timed ? units_ms(ms, k->proof_s * 1e3) : "-");
    static const char *const clauses[] = {", the shorter of that and the closed form known",
                                          ": L has an exact answer, a schedule has none"};
    for (size_t n = 0; n < 2 && x + utf8_text_columns(clauses[n]) <= p->width; n++)
        x = pane_text(p, x, y, ROLE_DIM, clauses[n]);
}

void pipeline_draw_network(const struct pipeline_shown *s, const struct pipeline_look *k,
                           bool timed, const struct pane *p)
{
    char note[128];

    snprintf(note, sizeof note, "%s · 1 / (1 + gap) of the best cut there, by its score",
             k->has_net ? "pretrained" : "equal shares");
    pane_head(p, 0, &(struct head){0, "Network", note, false});
    if (!k->has_network) {
        pane_text(p, 0, 1, ROLE_DIM, k->done ? "it has no answer here" : "..");
        return;
    }
    if (p->height >= 6) {
        struct pane curve = pane_part(p, 0, 1, p->width, p->height - 3);
        draw_scores(s, &k->network.pass, &curve);
    }
    draw_answer(k, timed, p, p->height - 2);
    draw_proof(k, timed, p, p->height - 1);
}

/* ---- memory ---- */

int pipeline_memory_make(const struct pipeline_shown *s, struct pipeline_memory *out, struct err *e)
{
    struct timeline t;
    int rc = timeline_new(&s->pipeline->order, &s->pipeline->all, &s->plan, s->stage, &t, e);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    rc = timeline_find_peak(&t, &s->schedule, &out->peak, e);
    if (rc)
        goto out;
    rc = timeline_columns(&t, &s->schedule, STAGE_COLUMNS, out->rows, e);
    if (rc)
        goto out;
    out->tops = timeline_tops(&t, &out->peak.at, out->top, STAGE_TOPS);
out:
    out->stage = s->stage;
    out->made = !rc;
    timeline_release(&t);
    return rc;
}

static void draw_course_of_memory(const struct pipeline_shown *s, const struct pipeline_memory *m,
                                  const struct pane *p)
{
    double state[STAGE_COLUMNS], kept[STAGE_COLUMNS], total[STAGE_COLUMNS];
    struct plot_series series[] = {
        {.y = state,
         .count = STAGE_COLUMNS,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_2,
         .sign = '.',
         .name = "states"},
        {.y = kept,
         .count = STAGE_COLUMNS,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_1,
         .sign = '+',
         .name = "and kept"},
        {.y = total,
         .count = STAGE_COLUMNS,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_0,
         .sign = '*',
         .name = "all"},
    };
    struct plot plot = {.series = series,
                        .series_count = 3,
                        .first_x = 0,
                        .last_x = s->schedule.makespan_ms,
                        .unit_x = "ms",
                        .low = 0,
                        .high = NAN,
                        .limit = NAN,
                        .ascii = s->ascii};

    for (int c = 0; c < STAGE_COLUMNS; c++) {
        const double *row = m->rows[c];
        state[c] =
            (row[TIMELINE_PARAMETERS] + row[TIMELINE_GRADIENTS] + row[TIMELINE_OPTIMIZER]) / 1e9;
        kept[c] = state[c] + row[TIMELINE_KEPT] / 1e9;
        total[c] = kept[c] + (row[TIMELINE_WORKING] + row[TIMELINE_BUFFERS]) / 1e9;
    }
    plot_draw(p, &plot);
}

static void draw_parts(const struct pipeline_memory *m, const struct pane *p, int y)
{
    char bytes[UNITS_ROOM];
    int x = pane_text(p, 0, y, ROLE_DIM, "at the peak");

    for (int k = 0; k < TIMELINE_KINDS; k++) {
        units_bytes(bytes, m->peak.bytes[k]);
        if (m->peak.bytes[k] < 1e6 ||
            x + 4 + utf8_text_columns(bytes) + utf8_text_columns(timeline_kind_names[k]) > p->width)
            continue;
        x = pane_format(p, x + 2, y, ROLE_TEXT, "%s ", bytes);
        x = pane_text(p, x, y, ROLE_DIM, timeline_kind_names[k]);
    }
}

static void draw_top(const struct pipeline_shown *s, const struct timeline_top *t,
                     const struct pane *p, int y)
{
    const struct hlo_module *m = s->pipeline->problem->m;
    hlo_id id = m->value_instruction[s->pipeline->order.steps.values[t->value].value];
    const struct hlo_meta *meta = hlo_meta(m, id);
    char bytes[UNITS_ROOM];

    pane_right(p, 9, y, ROLE_TEXT, units_bytes(bytes, t->bytes));
    int x = pane_format(p, 11, y, ROLE_DIM, "%u × %u %-8s", t->alike, t->copies,
                        t->kept ? "kept" : "working");
    x = pane_cut(p, x < 30 ? 30 : x + 1, y, 26, ROLE_TEXT, hlo_name(m, id));
    if (meta->source_file && meta->source_file[0])
        pane_format(p, x + 2, y, ROLE_DIM, "%.60s:%u", meta->source_file, meta->source_line);
}

void pipeline_draw_memory(const struct pipeline_shown *s, const struct pipeline_memory *m,
                          const struct pane *p)
{
    char title[48], note[128], peak[UNITS_ROOM], at[UNITS_ROOM];
    int tops = (int)m->tops < p->height / 3 ? (int)m->tops : p->height / 3;

    snprintf(title, sizeof title, "Memory of stage %u", m->stage);
    snprintf(note, sizeof note, "GB over the step · peak %s at %s",
             units_bytes(peak, m->peak.total), units_ms(at, m->peak.at.start_ms));
    pane_head(p, 0, &(struct head){0, title, note, false});
    if (!m->made || p->height < 5)
        return;
    struct pane course = pane_part(p, 0, 1, p->width, p->height - 2 - tops);
    draw_course_of_memory(s, m, &course);
    draw_parts(m, p, p->height - 1 - tops);
    for (int n = 0; n < tops; n++)
        draw_top(s, &m->top[n], p, p->height - tops + n);
}

/* ---- what a stage keeps ---- */

int pipeline_kept_make(const struct pipeline_shown *s, const struct pipeline_options *o,
                       const struct pipeline_plan *plan, struct pipeline_kept *out, struct err *e)
{
    struct pipeline_options asked = *o;
    struct hybrid *h;

    pipeline_kept_release(out);
    out->made = true;
    asked.schedule = s->kind;
    int rc = kept_pipeline_of(&asked, s->pipeline, plan, &h, e);
    if (rc == ERR_INPUT) {
        snprintf(out->trouble, sizeof out->trouble, "%.150s", e->what);
        return 0;
    }
    if (rc)
        return rc;
    rc = hybrid_picture_new(h, &out->picture, e);
    kept_pipeline_free(h);
    return rc;
}

void pipeline_kept_release(struct pipeline_kept *k)
{
    hybrid_picture_release(&k->picture);
    *k = (struct pipeline_kept){0};
}

void pipeline_draw_kept(const struct pipeline_shown *s, const struct pipeline_kept *k,
                        const struct pane *p)
{
    struct hybrid_shown shown = {
        .picture = &k->picture, .stage = s->stage, .signs = s->signs, .ascii = s->ascii};

    if (s->stage < k->picture.stages) {
        hybrid_draw_kept(&shown, p);
        return;
    }
    pane_head(p, 0, &(struct head){0, "Kept for the backward pass", "by value", false});
    pane_cut(p, 0, 1, p->width, ROLE_DIM, k->trouble);
}
