/* What stands below the timeline of view_hybrid.c: memory of a stage, its other meshes, other kinds
 * of plans, pins, the explanation. */
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/pin_prices.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/hybrid_draw.h"
#include "tui/watch/hybrid_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

enum { COURSE_COLUMNS = 256 };

/* The most in each part of the step. */
static void sum_course(const struct hybrid_picture *h, uint32_t group, double *gb)
{
    size_t room = 1 + (size_t)2 * h->micro_batches * h->chunks;
    struct hybrid_moment *m = mem_alloc(room * sizeof *m);
    uint32_t count = h->timeline.count ? hybrid_picture_memory(h, group, m) : 0;
    double all = h->timeline.makespan_ms, now = count ? m[0].bytes : 0;

    for (uint32_t c = 0, k = 1; c < COURSE_COLUMNS; c++) {
        double most = now;
        for (; k < count && m[k].at_ms < all * (c + 1) / COURSE_COLUMNS; k++) {
            now = m[k].bytes;
            most = fmax(most, now);
        }
        gb[c] = most / 1e9;
    }
    free(m);
}

void hybrid_draw_memory(const struct hybrid_shown *s, const struct pane *p)
{
    const struct hybrid_picture *h = s->picture;
    const struct hybrid_picture_stage *t = &h->stage[s->stage];
    double *gb = mem_alloc(COURSE_COLUMNS * sizeof *gb), all = h->timeline.makespan_ms;
    bool seconds = all >= 1000;
    struct plot_series series = {
        .y = gb, .count = COURSE_COLUMNS, .kind = PLOT_STEPS, .role = ROLE_PLOT_1, .sign = '*'};
    struct plot plot = {.series = &series,
                        .series_count = 1,
                        .last_x = seconds ? all / 1e3 : all,
                        .unit_x = seconds ? "s" : "ms",
                        .low = 0,
                        .high = NAN,
                        .limit = isfinite(t->limit_bytes) ? t->limit_bytes / 1e9 : NAN,
                        .limit_role = ROLE_ERR,
                        .limit_name = "limit",
                        .ascii = s->ascii};
    char title[48], note[128], fixed[UNITS_ROOM], stash[UNITS_ROOM];

    sum_course(h, t->group, gb);
    snprintf(title, sizeof title, h->chunks > 1 ? "Memory of group %u" : "Memory of stage %u",
             t->group);
    snprintf(note, sizeof note, "GB · %s always, %u in flight of %s",
             units_bytes(fixed, t->fixed_bytes), t->in_flight, units_bytes(stash, t->stash_bytes));
    if (h->chunks > 1 || utf8_text_columns(note) + utf8_text_columns(title) + 6 > p->width)
        snprintf(note, sizeof note, "GB · %u in flight", t->in_flight);
    pane_head(p, 0, &(struct head){0, title, note, false});
    struct pane curve = pane_part(p, 0, 1, p->width, p->height - 1);
    if (p->height >= 4)
        plot_draw(&curve, &plot);
    free(gb);
}

/* ---- meshes of a stage, and its cut ---- */

/* Columns: of a mesh in words, and where figures end. */
enum { MESH_ROOM = 24, MESH_STEP = 33, MESH_GB = MESH_STEP + 17 };

static void draw_change(const struct hybrid_shown *s, const struct pane *p, int y, int end,
                        double ms)
{
    double step = s->picture->plain_ms;
    int decimals = hybrid_ms_decimals(s->picture);
    char text[UNITS_ROOM];

    pane_right_number(p, end, y, ROLE_TEXT, ms, decimals);
    pane_right(p, end + 10, y, ms < step * (1 - 1e-9) ? ROLE_OK : ROLE_TEXT,
               units_change(text, ms - step, decimals));
}

/* "1 × 8", "1 × 8 re on 4 × 2": the axes where there are two. */
static void other_text(const struct hybrid_other *x, uint32_t devices, char *out, size_t room)
{
    hybrid_mesh_text(x->dp, devices / x->dp, x->recompute, MESH_ROOM - 7, out, room);
    size_t at = strlen(out);
    if (x->axes > 1)
        snprintf(out + at, room - at, " on %ux%u", x->size[0], x->size[1]);
}

static void draw_mesh(const struct hybrid_shown *s, const struct pane *p, int y, uint32_t n)
{
    const struct hybrid_picture_stage *t = &s->picture->stage[s->stage];
    const struct hybrid_other *x = &s->seen.stage.other[n];
    char mesh[48];

    other_text(x, t->end_device - t->device, mesh, sizeof mesh);
    if (n == s->other)
        pane_put(p, 0, y, ROLE_TITLE | BOLD, U'▸');
    pane_text(p, 2, y, n == s->other ? ROLE_TITLE | BOLD : ROLE_TEXT, mesh);
    if (x->step_ms < INFINITY)
        draw_change(s, p, y, MESH_STEP, x->step_ms);
    else
        pane_right(p, MESH_STEP + 10, y, ROLE_ERR, "does not fit");
    pane_right_number(p, MESH_GB, y, ROLE_TEXT, x->memory_bytes / 1e9,
                      hybrid_gb_decimals(s->picture));
}

static void draw_moved(const struct hybrid_shown *s, const struct pane *p, int y, const char *key,
                       const char *words, double ms)
{
    int x = pane_text(p, 0, y, ROLE_KEY, key);

    pane_text(p, x + 1, y, ROLE_TEXT, words);
    if (ms < INFINITY)
        draw_change(s, p, y, MESH_STEP, ms);
    else
        pane_right(p, MESH_STEP + 10, y, ROLE_DIM, "not possible");
}

void hybrid_draw_meshes(const struct hybrid_shown *s, const struct pane *p)
{
    const struct hybrid_stage_answer *a = &s->seen.stage;
    const struct hybrid_picture_stage *t = &s->picture->stage[s->stage];
    bool here = a->version == s->version && a->stage == s->stage;
    char title[48], mesh[48];
    int y = 2;

    snprintf(title, sizeof title, "Mesh of stage %u", s->stage);
    pane_head(p, 0,
              &(struct head){0, title,
                             s->picture->by_value ? "step, stages keep all or run again · ms"
                                                  : "step of the whole plan · ms",
                             false});
    pane_text(p, 2, 1, ROLE_DIM, "data × tensor");
    pane_right(p, MESH_STEP, 1, ROLE_DIM, "step");
    pane_right(p, MESH_STEP + 10, 1, ROLE_DIM, "change");
    pane_right(p, MESH_GB, 1, ROLE_DIM, "GB");
    hybrid_mesh_text(t->dp, t->tp, t->recompute, MESH_ROOM - 4, mesh, sizeof mesh);
    pane_format(p, 2, y, ROLE_TEXT, "%s now", mesh);
    pane_right_number(p, MESH_STEP, y, ROLE_TEXT, s->picture->plain_ms,
                      hybrid_ms_decimals(s->picture));
    pane_right_number(p, MESH_GB, y++, ROLE_TEXT, t->memory_bytes / 1e9,
                      hybrid_gb_decimals(s->picture));
    if (!here || !s->seen.done) {
        pane_text(p, 0, y, ROLE_DIM,
                  s->seen.done ? "pricing others .." : "when the search is done");
        return;
    }
    int moved = s->stage && p->height - y >= 4 ? 2 : 0;
    for (uint32_t n = 0; n < a->others && y < p->height - moved; n++)
        draw_mesh(s, p, y++, n);
    if (!a->others && a->looked)
        pane_cut(p, 0, y++, p->width, ROLE_DIM, "any other takes longer and more memory");
    if (moved) {
        draw_moved(s, p, y++, "H", "cut a section earlier", a->earlier_ms);
        draw_moved(s, p, y, "L", "cut a section later", a->later_ms);
    }
}

/* ---- kinds ---- */

struct kind {
    const char *name, *brief;
    double ms, bytes;
    char what[120];
};

static void describe_rival(const struct hybrid_rival *r, char *out, size_t room)
{
    int at = snprintf(out, room, "%u stage%s of %u × %u, %u micro-batch%s", r->stages,
                      r->stages == 1 ? "" : "s", r->dp, r->tp, r->micro_batches,
                      r->micro_batches == 1 ? "" : "es");

    if (r->chunks > 1 && at > 0 && (size_t)at < room)
        snprintf(out + at, room - (size_t)at, ", %u stages a group", r->chunks);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *p = a, *q = b;

    return p->ms < q->ms ? -1 : p->ms > q->ms;
}

static int list_kinds(const struct hybrid_shown *s, struct kind *out)
{
    static const char *const names[HYBRID_RIVALS] = {
        [HYBRID_RIVAL_UNIFORM] = "all stages alike",
        [HYBRID_RIVAL_REPLICAS] = "stages of replicas",
        [HYBRID_RIVAL_SPLIT] = "one stage, split",
    };
    static const char *const briefs[HYBRID_RIVALS] = {
        [HYBRID_RIVAL_UNIFORM] = "alike",
        [HYBRID_RIVAL_REPLICAS] = "replicas",
        [HYBRID_RIVAL_SPLIT] = "one stage",
    };
    const struct hybrid_picture *h = s->picture;
    int count = 0;

    out[count] = (struct kind){.name = "this plan", .brief = "this", .ms = h->step_ms};
    for (uint32_t n = 0; n < h->stages; n++)
        out[count].bytes = fmax(out[count].bytes, h->stage[n].memory_bytes);
    snprintf(out[count].what, sizeof out[count].what,
             h->stages == 1 ? "%u stage" : "%u stages, each split in its own way", h->stages);
    count++;
    for (int k = 0; s->seen.has_rivals && k < HYBRID_RIVALS; k++) {
        const struct hybrid_rival *r = &s->seen.rival[k];
        out[count] = (struct kind){.name = names[k],
                                   .brief = briefs[k],
                                   .ms = r->found ? r->step_ms : INFINITY,
                                   .bytes = r->memory_bytes};
        if (r->found)
            describe_rival(r, out[count].what, sizeof out[count].what);
        else
            snprintf(out[count].what, sizeof out[count].what, "none fits");
        count++;
    }
    if (s->without.name[0]) {
        out[count] =
            (struct kind){.name = "no stages", .brief = "no stages", .ms = s->without.step_ms};
        snprintf(out[count].what, sizeof out[count].what, "%.95s", s->without.name);
        count++;
    }
    if (h->is_certified && h->bound_ms > 0) {
        char zero[HYBRID_ZERO_ROOM];
        out[count] = (struct kind){.name = "bound", .brief = "bound", .ms = h->bound_ms};
        snprintf(out[count].what, sizeof out[count].what,
                 "no strict plan of %u sections, %s, %s, is shorter%s", h->sections,
                 h->chunks > 1 ? "interleaved or not" : "not interleaved",
                 hybrid_zero_words(h->zero_asked, h->zero, zero),
                 h->is_said ? ", says the file" : "");
        count++;
    }
    qsort(out, (size_t)count, sizeof *out, compare_kinds);
    return count;
}

void hybrid_draw_kinds(const struct hybrid_shown *s, const struct pane *p)
{
    struct kind kind[HYBRID_RIVALS + 3];
    int count = list_kinds(s, kind), y = 1;
    char text[UNITS_ROOM];

    pane_head(p, 0,
              &(struct head){0, "Kinds of plan on this cluster", "best of each · step ms", false});
    pane_right(p, 32, y, ROLE_DIM, "step");
    pane_right(p, 42, y, ROLE_DIM, "more");
    pane_right(p, 50, y++, ROLE_DIM, "GB");
    for (int n = 0; n < count && y < p->height; n++, y++) {
        const struct kind *k = &kind[n];
        bool own = !strcmp(k->name, "this plan"), bound = !strcmp(k->name, "bound");
        pane_text(p, 0, y, own ? ROLE_TITLE | BOLD : bound ? ROLE_DIM : ROLE_TEXT, k->name);
        if (k->ms < INFINITY) {
            pane_right_number(p, 32, y, ROLE_TEXT, k->ms, hybrid_ms_decimals(s->picture));
            pane_right(
                p, 42, y, ROLE_TEXT,
                units_change(text, k->ms - s->picture->step_ms, hybrid_ms_decimals(s->picture)));
        }
        if (k->bytes > 0)
            pane_right_number(p, 50, y, ROLE_TEXT, k->bytes / 1e9, hybrid_gb_decimals(s->picture));
        pane_cut(p, 53, y, p->width - 53, ROLE_DIM, k->what);
    }
    if (!s->seen.has_rivals && y < p->height)
        pane_text(p, 0, y, ROLE_DIM,
                  s->seen.done ? "looking for the others .." : "the others come when this is done");
}

/* "kinds  bound 352.5   this 371.4   alike 379.1 +7.7   ..": a hybrid never wins, or loses, unseen.
 * What has no room is counted. */
void hybrid_draw_kinds_line(const struct hybrid_shown *s, const struct pane *p)
{
    struct kind kind[HYBRID_RIVALS + 3];
    int count = list_kinds(s, kind), x = pane_text(p, 0, 0, ROLE_DIM, "kinds");
    int decimals = hybrid_ms_decimals(s->picture);
    char text[120], ms[UNITS_ROOM], change[UNITS_ROOM];

    for (int n = 0; n < count; n++) {
        const struct kind *k = &kind[n];
        bool own = !strcmp(k->name, "this plan"), bound = !strcmp(k->name, "bound");
        if (k->ms < INFINITY)
            snprintf(text, sizeof text, "   %s %s%s%s", k->brief, units_number(ms, k->ms, decimals),
                     own || bound ? "" : " ",
                     own || bound ? ""
                                  : units_change(change, k->ms - s->picture->step_ms, decimals));
        else
            snprintf(text, sizeof text, "   %s: none fits", k->brief);
        if (x + utf8_text_columns(text) + (n + 1 < count ? 9 : 0) > p->width) {
            pane_format(p, x, 0, ROLE_DIM, "   %d more", count - n);
            return;
        }
        x = pane_text(p, x, 0, own ? ROLE_TITLE | BOLD : ROLE_TEXT, text);
    }
    if (!s->seen.has_rivals && x + 6 <= p->width)
        pane_text(p, x, 0, ROLE_DIM, "   ..");
}

/* ---- pins ---- */

/* Which keys pin, on as many rows as they take. */
static void draw_pin_keys(const struct pane *p)
{
    static const char *const keys[] = {"c cut here",    "x no cut here",   "n these devices",
                                       "v this server", "T D these parts", "p this class"};
    int x = pane_text(p, 0, 1, ROLE_DIM, "none:") + 1, y = 1;

    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++) {
        if (x + utf8_text_columns(keys[n]) > p->width) {
            x = 0;
            y++;
        }
        if (y < p->height)
            x = pane_text(p, x, y, ROLE_DIM, keys[n]) + 2;
    }
}

void hybrid_draw_pins(const struct hybrid_shown *s, const struct pane *p)
{
    char text[sizeof s->asked.held[0].text + 48], ms[UNITS_ROOM];
    int y = 1;

    pane_head(p, 0, &(struct head){0, "Pins", "what each costs, the others held · ms", false});
    if (!s->asked.held_count)
        draw_pin_keys(p);
    for (uint32_t n = 0; n < s->asked.held_count && y < p->height; n++, y++) {
        hybrid_pin_text(&s->asked.held[n], text, sizeof text);
        pane_put(p, 0, y, ROLE_PIN | BOLD, U'P');
        pane_cut(p, 2, y, p->width - 16, ROLE_TEXT, text);
        if (s->seen.has_prices && isfinite(s->seen.price_ms[n]))
            pane_right(p, p->width, y, ROLE_TEXT, units_change(ms, s->seen.price_ms[n], 1));
        else
            pane_right(p, p->width, y, ROLE_DIM, s->seen.has_prices ? "not priced" : "..");
    }
    if (s->asked.held_count > 1 && s->seen.has_prices && isfinite(s->seen.all_ms) &&
        y < p->height) {
        pane_text(p, 2, y, ROLE_DIM, "all of them");
        pane_right(p, p->width, y++, ROLE_TEXT, units_change(ms, s->seen.all_ms, 1));
    }
    for (uint32_t n = 0; n < s->seen.limits && y < p->height; n++, y++) {
        const struct hybrid_limit_price *l = &s->seen.limit[n];
        pane_cut(p, 2, y, p->width - 16, ROLE_TEXT, l->text);
        if (isfinite(l->ms))
            pane_right(p, p->width, y, ROLE_TEXT, units_change(ms, l->ms, 1));
        else
            pane_right(p, p->width, y, ROLE_DIM, isnan(l->ms) ? ".." : "not priced");
    }
}

/* ---- why ---- */

/* Folds one paragraph from row y on; returns the row behind it. */
static int draw_paragraph(const struct pane *p, int y, const char *text, size_t size)
{
    char paragraph[2048], line[512];
    const char *rest = paragraph;

    snprintf(paragraph, sizeof paragraph, "%.*s", (int)size, text);
    do {
        rest = pane_take_line(rest, p->width, line, sizeof line);
        if (y > 0 && y < p->height)
            pane_text(p, 0, y, ROLE_TEXT, line);
        y++;
    } while (rest && *rest);
    return y;
}

/* The first paragraph, then from that of the stage under the cursor on, from row y on. Returns the
 * row behind them. */
static int draw_paragraphs(const struct hybrid_shown *s, const struct pane *p, int y)
{
    char begins[32];
    const char *text = s->words;

    y = draw_paragraph(p, y, text, strcspn(text, "\n"));
    snprintf(begins, sizeof begins, s->about ? "\nStage %u (" : "\nStage %u,", s->stage);
    const char *own = strstr(text, begins);
    text = own ? own + 1 : text + strcspn(text, "\n");
    while (*text) {
        size_t size = strcspn(text, "\n");
        y = size ? draw_paragraph(p, y, text, size) : y;
        text += size + (text[size] == '\n');
    }
    return y;
}

void hybrid_draw_words(const struct hybrid_shown *s, const struct pane *p)
{
    char title[48 + NAME_ROOM];
    const struct pane nowhere = {.grid = p->grid, .width = p->width};

    if (s->about)
        snprintf(title, sizeof title, "%.100s in stage %u", s->about, s->stage);
    else
        snprintf(title, sizeof title, "Why stage %u is as it is", s->stage);
    pane_head(p, 0, &(struct head){0, title, "j k scroll", false});
    if (!s->words) {
        pane_text(p, 0, 1, ROLE_DIM, "pricing cuts and meshes ..");
        return;
    }
    int beyond = draw_paragraphs(s, &nowhere, 1) - p->height; /* the last page is full */
    int up = s->scroll < beyond ? s->scroll : beyond > 0 ? beyond : 0;
    (void)draw_paragraphs(s, p, 1 - up);
}
