/* V k: a module that is partitioned already: what each collective costs, which line made it, why,
 * and what changes that. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/text/units.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/files/user_files.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/doctored.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct doctor_view {
    struct doctored *dump;    /* owned */
    struct doctored_job *job; /* plans the program again; NULL: it has, or there is none */
    struct list list;
    bool uses; /* the collectives of the row one by one, in place of the way to the cause */
};

enum { DOCTOR_USES, DOCTOR_BEFORE, DOCTOR_CLUSTER, DOCTOR_OPEN };
static const struct action doctor_actions[] = {
    [DOCTOR_USES] = {"uses", "in this view", "its collectives one by one", "its instructions",
                     "Enter or m", NULL},
    [DOCTOR_BEFORE] = {"before", "in this view", "the program before partitioning beside it",
                       "before", "b", NULL},
    [DOCTOR_CLUSTER] = {"cluster", "in this view", "price it on another cluster", "cluster", "c",
                        NULL},
    [DOCTOR_OPEN] = {"open", "in this view", "open the whole program", "open", "o", NULL},
};
static const struct key_table doctor_keys = {"doctor", doctor_actions,
                                             sizeof doctor_actions / sizeof *doctor_actions};

static int open_doctor(struct panel *p, const void *arg, struct err *e)
{
    struct doctor_view *v = p->state;

    if (!arg)
        return err_set(e, ERR_INPUT,
                       "this program is not partitioned yet: :doctor DUMP explains what XLA made "
                       "of it");
    v->dump = *(struct doctored *const *)arg;
    if (!v->dump->before || !v->dump->row_count)
        return 0;
    if (doctored_job_new(v->dump, p->scene->now_ms > 0, &v->job, e)) {
        v->dump = NULL; /* the caller's still */
        return e->code;
    }
    return 0;
}

static void close_doctor(struct panel *p)
{
    const struct doctor_view *v = p->state;

    doctored_job_free(v->job);
    doctored_free(v->dump);
}

static bool is_live(const struct panel *p)
{
    const struct doctor_view *v = p->state;

    return v->job != NULL;
}

/* What planning again has found takes the place of what was there, once it is all there. */
static void take_plans(struct doctor_view *v)
{
    struct doctored *next;

    if (!v->job || !doctored_job_take(v->job, &next))
        return;
    doctored_job_free(v->job);
    v->job = NULL;
    if (!next)
        return;
    doctored_succeed(v->dump, next);
    v->dump = next;
    list_fit(&v->list, (int64_t)next->row_count, v->list.rows);
}

static const struct doctored_row *row_here(const struct doctor_view *v)
{
    return v->list.cursor < v->dump->row_count ? &v->dump->rows[v->list.cursor] : NULL;
}

/* ---- words ---- */

static char *line_text(char *out, size_t room, bool has, const struct hlo_frame *f)
{
    if (has)
        snprintf(out, room, "%s:%u", hlo_file_name(f->file), f->line);
    else
        snprintf(out, room, "no source");
    return out;
}

/* The innermost line of an instruction that a person may have written. */
static char *source_text(const struct doctor *d, hlo_id id, char *out, size_t room)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    bool has = doctor_chain(d, id, chain) > 0;

    line_text(out, room, has, chain);
    if (!has)
        out[0] = 0;
    return out;
}

static const char *kind_name(enum collective_kind kind)
{
    return kind == COLLECTIVE_PERMUTE ? "permute" : collective_name(kind);
}

static char *times_text(char *out, size_t room, const struct doctored_row *r)
{
    double trips = r->finding->trips;

    if (isnan(trips))
        snprintf(out, room, "×%u ×?", r->of.times);
    else if (trips > 1)
        snprintf(out, room, "×%u ×%.0f", r->of.times, trips);
    else
        snprintf(out, room, "×%u", r->of.times);
    return out;
}

/* What the better change brings, or why none is offered. */
static unsigned change_text(char *out, size_t room, const struct doctored_row *r)
{
    const struct doctor_finding *f = r->finding;
    char ms[UNITS_ROOM];

    if (r->gain_ms > 0) {
        snprintf(out, room, "-%s", units_short_ms(ms, r->gain_ms));
        return f->verdict == DOCTOR_UNWANTED ? ROLE_WARN : ROLE_TEXT;
    }
    if (f->cure_is_priced || f->planned.change)
        snprintf(out, room, "no gain here");
    else if (f->verdict == DOCTOR_WANTED)
        snprintf(out, room, "needed");
    else
        snprintf(out, room, *f->cure ? "not priced" : "none known");
    return ROLE_DIM;
}

static const struct {
    const char *sign;
    unsigned style;
} verdicts[DOCTOR_VERDICT_COUNT] = {
    [DOCTOR_WANTED] = {" ", ROLE_DIM},
    [DOCTOR_UNWANTED] = {"!", ROLE_ERR | BOLD},
    [DOCTOR_UNSURE] = {"?", ROLE_WARN},
};

/* ---- the rows on top ---- */

static void draw_title(const struct doctored *d, const struct pane *p)
{
    const struct doctor *all = &d->doctor;
    char name[128], count[UNITS_ROOM], devices[64], times[64];
    int right = p->width;

    int x = pane_cut(p, 0, 0, p->width < 56 ? p->width : p->width - 38, ROLE_TITLE | BOLD,
                     file_stem(name, sizeof name, d->m->file));
    if (p->width >= 100)
        x = pane_format(p, x + 2, 0, ROLE_DIM, "%s instr", units_count(count, d->m->count));
    int end = x + 3 + utf8_text_columns(all->cluster.name);
    const char *state = all->is_compiled ? "compiled" : "read";
    const char *made = p->width >= 70 ? "made for" : "for";

    if (p->width < 56)
        return;
    int columns = 12 + (int)strlen(state) + (int)strlen(made) + 16;
    if (end + columns < p->width) {
        x = pane_text(p, x + 3, 0, ROLE_TITLE | BOLD, all->cluster.name);
        cluster_label(&all->cluster, devices, sizeof devices);
        text_times(times, sizeof times, devices);
        if (x + 2 + utf8_text_columns(times) + columns < p->width)
            x = pane_text(p, x + 2, 0, ROLE_DIM, times);
    }
    right = pane_right_format(p, right, 0, ROLE_TEXT, "%s %u partitions", made, all->devices);
    right = pane_right(p, right - 3, 0, ROLE_TEXT, state);
    right = pane_right(p, right - 1, 0, ROLE_OK, "●");
    if (right - 9 > x)
        pane_right(p, right - 3, 0, ROLE_DIM, "doctor");
}

static void draw_headline(const struct doctored *d, const struct pane *p)
{
    char now[UNITS_ROOM], gain[UNITS_ROOM];
    const struct doctor *all = &d->doctor;

    if (!all->count) {
        pane_text(p, 0, 1, ROLE_OK, "no collectives: nothing to cure");
        return;
    }
    int x = pane_format(p, 0, 1, ROLE_TITLE | BOLD, "%s%s", d->now.is_least ? "at least " : "",
                        units_short_ms(now, d->now.ms));
    x = pane_format(p, x, 1, ROLE_TEXT, " a step in %u collective%s; ", all->count,
                    all->count == 1 ? "" : "s");
    if (d->gain_ms > 0)
        x = pane_format(p, x, 1, ROLE_WARN, "%s can go", units_short_ms(gain, d->gain_ms));
    else
        x = pane_text(p, x, 1, ROLE_OK, "none of it can go");
    char text[96];
    snprintf(text, sizeof text, "%u of %u cause%s can be changed", d->changes, d->row_count,
             d->row_count == 1 ? "" : "s");
    if (x + 3 + (int)strlen(text) <= p->width)
        x = pane_text(p, x + 3, 1, ROLE_TEXT, text);
    static const char split[] = "split already: nothing is searched";
    if (x + 3 + (int)sizeof split - 1 <= p->width)
        pane_text(p, x + 3, 1, ROLE_DIM, split);
}

/* ---- the table ---- */

struct columns {
    int kind, times, bytes, ms, source, because, change; /* figures and change: their ends */
};

static struct columns columns_for(int width)
{
    struct columns c = {.kind = 2, .times = 17, .bytes = 31, .ms = 41, .source = 43};

    if (width < 64)
        c = (struct columns){.kind = 2, .times = 14, .ms = 29, .source = width >= 56 ? 31 : 0};
    c.change = width < 140 ? width : 140;
    c.because = width >= 100 ? 63 : 0;
    return c;
}

static void draw_row(const struct doctor_view *v, const struct pane *p, int y,
                     const struct doctored_row *r, const struct columns *c)
{
    const struct doctor_finding *f = r->finding;
    char text[96], bytes[UNITS_ROOM], ms[UNITS_ROOM];

    (void)v;
    pane_text(p, 0, y, verdicts[f->verdict].style, verdicts[f->verdict].sign);
    pane_cut(p, c->kind, y, 14, ROLE_TEXT, kind_name(f->once.kind));
    pane_text(p, c->times, y, ROLE_TEXT, times_text(text, sizeof text, r));
    if (c->bytes)
        pane_right(p, c->bytes, y, ROLE_TEXT, units_bytes(bytes, r->now.bytes));
    pane_right(p, c->ms, y, ROLE_TEXT, units_short_ms(ms, r->now.ms));
    unsigned style = change_text(text, sizeof text, r);
    int end = pane_right(p, c->change, y, style, text);
    line_text(text, sizeof text, f->has_line, &f->line);
    if (c->source)
        pane_cut(p, c->source, y, (c->because ? c->because : end) - c->source - 2,
                 f->has_line ? ROLE_TITLE : ROLE_DIM, text);
    if (c->because)
        pane_text(
            p, c->because, y, ROLE_TEXT,
            text_cut_words(text, sizeof text, doctor_cause_words[f->cause], end - c->because - 2));
}

static void draw_table(struct panel *p, const struct pane *pane)
{
    struct doctor_view *v = p->state;
    struct columns c = columns_for(pane->width);

    pane_head(pane, 0, &(struct head){0, "Doctor", "by what can be saved · a step", true});
    pane_text(pane, c.kind, 1, ROLE_DIM, "collective");
    pane_text(pane, c.times, 1, ROLE_DIM, "count");
    if (c.bytes)
        pane_right(pane, c.bytes, 1, ROLE_DIM, "bytes");
    pane_right(pane, c.ms, 1, ROLE_DIM, "time");
    if (c.source)
        pane_text(pane, c.source, 1, ROLE_DIM, "source");
    if (c.because)
        pane_text(pane, c.because, 1, ROLE_DIM, "because");
    pane_right(pane, c.change, 1, ROLE_DIM, "change");
    list_fit(&v->list, v->dump->row_count, pane->height - 2);
    for (int y = 0; y < pane->height - 2 && v->list.top + y < v->list.count; y++) {
        draw_row(v, pane, y + 2, &v->dump->rows[v->list.top + y], &c);
        if (v->list.top + y != v->list.cursor)
            continue;
        pane_select(pane, y + 2, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + y + 2;
    }
}

/* ---- the row under the cursor ---- */

/* Lines of a sentence at this width. */
static int count_lines(const char *text, int width)
{
    char line[512];
    int count = 0;

    while (*text && width > 0) {
        text = pane_take_line(text, width, line, sizeof line);
        count++;
    }
    return count;
}

/* "because " before the first line, the rest below it; returns the next row. */
static int draw_said(const struct pane *p, int y, const char *head, unsigned style,
                     const char *text)
{
    char line[512];
    int x = utf8_text_columns(head) + 1;

    pane_text(p, 0, y, ROLE_DIM, head);
    while (*text && p->width > x) {
        text = pane_take_line(text, p->width - x, line, sizeof line);
        pane_text(p, x, y++, style, line);
    }
    return y;
}

struct way {
    hlo_id id;
    const char *is;
};

/* From the collective back to who asked: it, what it takes, what it serves, the constraint. */
static int find_way(const struct doctor *d, const struct doctor_finding *f, struct way out[4])
{
    const struct way all[] = {{f->id, "this collective"},
                              {f->takes, "what it sends"},
                              {f->op, "what it serves"},
                              {f->asks, "asks for the split"}};
    int count = 0;

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool known = all[k].id == HLO_NONE || all[k].id >= d->m->count;
        for (int n = 0; n < count; n++)
            known = known || out[n].id == all[k].id;
        if (!known)
            out[count++] = all[k];
    }
    return count;
}

static void draw_value(const struct doctor *d, const struct pane *p, int y, hlo_id id,
                       const char *is)
{
    struct str shape = {0};
    char line[96];
    int wide = p->width >= 100, x = wide ? 36 : 22;

    pane_cut(p, 2, y, x - 4, ROLE_TEXT, hlo_name(d->m, id));
    hlo_write_shape(d->m, hlo_at(d->m, id)->shape, false, &shape);
    pane_cut(p, x, y, wide ? 26 : 18, ROLE_TEXT, shape.text ? shape.text : "");
    x += wide ? 28 : 20;
    x = pane_cut(p, x, y, 19, ROLE_DIM, is) > 0 ? x + 20 : x;
    source_text(d, id, line, sizeof line);
    pane_cut(p, x, y, p->width - x, ROLE_TITLE, line);
    str_release(&shape);
}

static int draw_way(const struct doctor *d, const struct pane *p, int y,
                    const struct doctor_finding *f)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    struct way way[4];
    int count = find_way(d, f, way);

    for (int k = 0; k < count; k++)
        draw_value(d, p, y++, way[k].id, way[k].is);
    uint32_t frames = doctor_chain(d, f->id, chain);
    if (frames < 2)
        return y;
    int x = pane_text(p, 2, y, ROLE_DIM, "called at");
    for (uint32_t k = 0; k < frames && x < p->width - 12; k++)
        x = pane_format(p, x, y, ROLE_DIM, "%s %s:%u %s", k ? "," : "",
                        hlo_file_name(chain[k].file), chain[k].line, chain[k].function);
    return y + 1;
}

static int draw_uses(const struct doctor *d, const struct pane *p, int y, int most,
                     const struct doctored_row *r)
{
    uint32_t shown = r->of.times;

    if (shown > (uint32_t)most)
        shown = most > 1 ? (uint32_t)most - 1 : 0;
    for (uint32_t k = 0; k < shown; k++) {
        const struct doctor_finding *f = &d->findings[r->of.first + k];
        draw_value(d, p, y++, f->id,
                   f->op == HLO_NONE || f->op == f->id ? "" : hlo_name(d->m, f->op));
    }
    if (shown < r->of.times)
        pane_format(p, 2, y++, ROLE_DIM, "%u more", r->of.times - shown);
    return y;
}

static int draw_price(const struct pane *p, int y, const struct doctored_row *r)
{
    const struct doctor_finding *f = r->finding;
    char a[UNITS_ROOM], b[UNITS_ROOM], sent[UNITS_ROOM];

    if (!f->cure_is_priced)
        return y;
    int x = pane_format(p, 7, y, ROLE_TEXT, "%s to %s", units_short_ms(a, r->now.ms),
                        units_short_ms(b, r->cured.ms));
    if (f->cured.bytes > 0)
        x = pane_format(p, x, y, ROLE_TEXT, "; left: %s, %s sent", collective_name(f->cured.kind),
                        units_bytes(sent, r->cured.sent));
    else
        x = pane_text(p, x, y, ROLE_OK, "; nothing of it is left");
    static const char kind[] = "  · priced, not tried in your code";
    if (x + utf8_text_columns(kind) <= p->width)
        pane_text(p, x, y, ROLE_DIM, kind);
    return y + 1;
}

/* The change that planning the program again has found. */
static int draw_planned(const struct doctor_view *v, const struct pane *p, int y,
                        const struct doctor_planned *f)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], left[UNITS_ROOM], line[96];

    if (!f->change) {
        if (v->job)
            pane_text(p, 0, y++, ROLE_DIM, "planned .. the program is planned again");
        return y;
    }
    y = draw_said(p, y, "planned", ROLE_OK, f->change);
    int x = pane_format(p, 8, y, ROLE_TEXT, "all collectives %s to %s, %s left",
                        units_short_ms(a, f->now_ms), units_short_ms(b, f->ms),
                        units_bytes(left, f->bytes));
    if (f->has_line)
        x = pane_format(p, x + 2, y, ROLE_TITLE, "%s",
                        line_text(line, sizeof line, true, &f->line));
    static const char kind[] = "  · priced, not tried in your code";
    if (x + utf8_text_columns(kind) <= p->width)
        pane_text(p, x, y, ROLE_DIM, kind);
    return y + 1;
}

static void detail_head(const struct doctored_row *r, const struct pane *p, bool uses)
{
    const struct doctor_finding *f = r->finding;
    char title[64], note[160], bytes[UNITS_ROOM], ms[UNITS_ROOM], times[48];

    snprintf(title, sizeof title, "%s %s", kind_name(f->once.kind),
             times_text(times, sizeof times, r));
    snprintf(note, sizeof note, "%s each, %s · %s", units_bytes(bytes, f->once.bytes),
             units_short_ms(ms, f->once.ms),
             uses ? "one by one"
                  : (p->width >= 90 ? "its way back to the cause" : "back to the cause"));
    pane_head(p, 0, &(struct head){0, title, note, false});
}

/* The next free row. */
static int draw_detail(const struct doctor_view *v, const struct pane *p)
{
    const struct doctored_row *r = row_here(v);
    const struct doctor *d = &v->dump->doctor;
    int y = 1;

    if (!r)
        return 0;
    const struct doctor_finding *f = r->finding;
    int said = 2 + count_lines(f->because, p->width - 8) + count_lines(f->cure, p->width - 7);
    if (f->planned.change)
        said += 1 + count_lines(f->planned.change, p->width - 8);
    detail_head(r, p, v->uses);
    if (v->uses)
        y = draw_uses(d, p, y, p->height - 1 - said, r);
    else if (p->height >= said + 4)
        y = draw_way(d, p, y, f);
    y = draw_said(p, y, "because", ROLE_TEXT, f->because);
    if (*f->cure) {
        y = draw_said(p, y, "change", ROLE_TITLE, f->cure);
        y = draw_price(p, y, r);
    } else {
        pane_format(p, 0, y++, ROLE_DIM, "change %s",
                    f->verdict == DOCTOR_WANTED ? "none: it is what this way to split costs"
                                                : "none known");
    }
    return draw_planned(v, p, y, &f->planned);
}

/* ---- what the figures rest on ---- */

static int without_line(const struct doctor *d)
{
    int count = 0;

    for (uint32_t k = 0; k < d->count; k++)
        count += !d->findings[k].has_line;
    return count;
}

enum { WARNINGS_MOST = 4 };

static int warnings_of(const struct doctored *d, char out[WARNINGS_MOST][200])
{
    const struct doctor *all = &d->doctor;
    int count = 0, lost = without_line(all);

    if (all->is_compiled && !d->before)
        snprintf(out[count++], sizeof out[0],
                 "compiled text has lost the sharding constraints: b gives the program before");
    if (all->is_compiled)
        snprintf(out[count++], sizeof out[0],
                 "on CPU compiling turns bf16 into f32 and joins all-reduces: bytes are of this "
                 "text");
    if (d->now.is_least)
        snprintf(out[count++], sizeof out[0],
                 "a loop's trips are unknown: what it runs counts once");
    if (lost)
        snprintf(out[count++], sizeof out[0],
                 "%d without a source line: made for the results, out_shardings asks for them",
                 lost);
    return count;
}

static int draw_warnings(const struct doctored *d, const struct pane *p, int y)
{
    char text[WARNINGS_MOST][200];
    int count = warnings_of(d, text);

    if (!count)
        return y;
    pane_head(
        p, y++,
        &(struct head){0, "Warnings", p->width >= 70 ? "what the figures rest on" : "", false});
    for (int k = 0; k < count; k++) {
        pane_text(p, 0, y, ROLE_WARN, "!");
        pane_cut(p, 3, y++, p->width - 3, ROLE_TEXT, text[k]);
    }
    return y;
}

static void draw_after(const struct doctored *d, const struct pane *p, int y)
{
    if (!d->changes)
        return;
    char title[64], now[UNITS_ROOM], then[UNITS_ROOM], less[UNITS_ROOM];

    snprintf(title, sizeof title, d->changes == 1 ? "After the change" : "After all %u changes",
             d->changes);
    pane_head(p, y++, &(struct head){0, title, "the better of each row, one by one", false});
    int x = pane_format(p, 0, y, ROLE_TEXT, "time   %s to ", units_short_ms(now, d->now.ms));
    x = pane_text(p, x, y, ROLE_OK, units_short_ms(then, d->now.ms - d->gain_ms));
    x = pane_format(p, x, y, ROLE_TEXT, ", -%s", units_short_ms(less, d->gain_ms));
    static const char open[] = "o opens the whole program, which can be searched";
    if (x + 3 + (int)sizeof open - 1 <= p->width)
        pane_text(p, x + 3, y, ROLE_DIM, open);
}

static void draw_doctor(struct panel *p, const struct pane *whole)
{
    struct doctor_view *v = p->state;

    take_plans(v);
    const struct doctored *d = v->dump;
    int y = 2;

    draw_title(d, whole);
    draw_headline(d, whole);
    if (!d->row_count)
        return;
    char text[WARNINGS_MOST][200];
    int low = 3 + (warnings_of(d, text) ? 1 + warnings_of(d, text) : 0);
    int gap = whole->height >= 36, detail = 15 + 2 * gap;

    if (whole->height < 30)
        low = 0;
    int table = whole->height - y - detail - low, rows = (int)d->row_count + 2;
    if (table > rows)
        table = rows;
    if (table < 5)
        table = rows < 5 ? rows : 5;
    struct pane part = pane_part(whole, 0, y, whole->width, table);
    draw_table(p, &part);
    y += table + gap;
    part = pane_part(whole, 0, y, whole->width, whole->height - y - low);
    y += draw_detail(v, &part) + 1;
    if (!low)
        return;
    y = draw_warnings(d, whole, y) + gap;
    draw_after(d, whole, y);
}

/* ---- acts ---- */

static bool act_doctor(struct panel *p, int action)
{
    struct doctor_view *v = p->state;

    switch (action) {
    case DOCTOR_USES:
        v->uses = !v->uses;
        break;
    case DOCTOR_BEFORE:
        host_ask(p->scene, "before ");
        break;
    case DOCTOR_CLUSTER:
        host_ask(p->scene, "cluster ");
        break;
    default:
        host_ask(p->scene, "open ");
    }
    return true;
}

static bool move_doctor(struct panel *p, enum list_move move)
{
    struct doctor_view *v = p->state;

    return list_move(&v->list, move);
}

static bool find_doctor(struct panel *p, const struct match *m, int step)
{
    struct doctor_view *v = p->state;
    int64_t count = v->list.count;

    for (int64_t k = 0; k < count; k++) {
        int64_t at = ((v->list.cursor + (step ? step * (k + 1) : k)) % count + count) % count;
        const struct doctor_finding *f = v->dump->rows[at].finding;
        char line[96], text[512];
        line_text(line, sizeof line, f->has_line, &f->line);
        snprintf(text, sizeof text, "%s %s %s %s %s", collective_name(f->once.kind), line,
                 doctor_cause_names[f->cause], doctor_cause_words[f->cause],
                 hlo_name(v->dump->m, f->id));
        if (match_text(m, text)) {
            list_go(&v->list, at);
            return true;
        }
    }
    return false;
}

static void click_doctor(struct panel *p, int x, int y, bool twice)
{
    struct doctor_view *v = p->state;
    int64_t row = v->list.top + y - 4;

    (void)x;
    if (y < 4 || y >= 4 + v->list.rows || row >= v->list.count)
        return;
    v->list.cursor = row;
    if (twice)
        v->uses = !v->uses;
}

static const struct list *list_of(const struct panel *p)
{
    const struct doctor_view *v = p->state;

    return &v->list;
}

static const char *name_here(const struct panel *p)
{
    const struct doctored_row *r = row_here(p->state);

    return !r                           ? NULL
           : r->finding->planned.change ? r->finding->planned.change
           : *r->finding->cure          ? r->finding->cure
                                        : r->finding->because;
}

static void message_doctor(const struct panel *p, char *out, size_t room)
{
    const struct doctor_view *v = p->state;
    const struct doctored_row *r = row_here(v);

    if (!r)
        return;
    const struct doctor_finding *f = r->finding;
    const char *op = hlo_meta(v->dump->m, f->id)->op_name;
    snprintf(out, room, "%s  %s%s", hlo_name(v->dump->m, f->id), *op ? "op_name " : "no metadata",
             op);
}

const struct panel_ops view_doctor = {
    .name = "doctor",
    .title = "Doctor",
    .place = PLACE_BARE,
    .keys = &doctor_keys,
    .hints = "down=row uses copy=copy_change search before cluster open find=commands help close",
    .size = sizeof(struct doctor_view),
    .open = open_doctor,
    .close = close_doctor,
    .draw = draw_doctor,
    .list = list_of,
    .act = act_doctor,
    .move = move_doctor,
    .click = click_doctor,
    .find = find_doctor,
    .name_here = name_here,
    .message = message_doctor,
    .is_live = is_live,
};
