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
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/files/user_files.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/doctor_detail.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/doctored.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DOCTOR_USES,
    DOCTOR_WHY,
    DOCTOR_TELL,
    DOCTOR_NEXT,
    DOCTOR_BEFORE,
    DOCTOR_CLUSTER,
    DOCTOR_OPEN
};
static const struct action doctor_actions[] = {
    [DOCTOR_USES] = {"uses", "in this view", "its collectives one by one", "its instructions",
                     "Enter or m", NULL},
    [DOCTOR_WHY] = {"why", "in this view", "its way back to the cause", "why", "w", NULL},
    [DOCTOR_TELL] = {"tell", "in this view", "a file of rules for calls that are unknown", "tell",
                     "t", NULL},
    [DOCTOR_NEXT] = {"unknown", "in this view", "the next that is unknown", "next unknown", "u",
                     NULL},
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
    list_fit(&v->list, (int64_t)doctor_rows_of(next), v->list.rows);
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

    bool wide = p->width >= 100;
    int room = p->width < 56 ? p->width : p->width - 38 - (wide ? 16 : 0);
    int x = pane_cut(p, 0, 0, room, ROLE_TITLE | BOLD, file_stem(name, sizeof name, d->m->file));
    if (wide)
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

/* Changes of shardings were planned together; others, such as psum_scatter, are named apart. */
static int draw_gain(const struct doctored *d, const struct pane *p, int x)
{
    char gain[UNITS_ROOM], apart[UNITS_ROOM];
    double planned = d->gain_ms - d->apart_ms;

    if (!d->doctor.together.changes || !(d->apart_ms > 0) || !(planned > 0))
        return pane_format(p, x, 1, ROLE_WARN, "%s can go", units_short_ms(gain, d->gain_ms));
    return pane_format(p, x, 1, ROLE_WARN, "%s can go by plan, %s by rewriting",
                       units_short_ms(gain, planned), units_short_ms(apart, d->apart_ms));
}

static void draw_headline(const struct doctored *d, const struct pane *p)
{
    char now[UNITS_ROOM], step[UNITS_ROOM];
    const struct doctor *all = &d->doctor;

    if (!all->count) {
        pane_text(p, 0, 1, ROLE_OK, "no collectives: nothing to cure");
        return;
    }
    int x = pane_format(p, 0, 1, ROLE_TITLE | BOLD, "%s%s", d->now.is_least ? "at least " : "",
                        units_short_ms(now, d->now.ms));
    if (all->has_compute)
        x = pane_format(p, x, 1, ROLE_TEXT, " of %s a step %s; ",
                        units_short_ms(step, d->now.ms + all->compute_ms),
                        all->count == 1 ? "is a collective" : "are collectives");
    else
        x = pane_format(p, x, 1, ROLE_TEXT, " a step in %u collective%s; ", all->count,
                        all->count == 1 ? "" : "s");
    if (d->gain_ms > 0)
        x = draw_gain(d, p, x);
    else
        x = pane_text(p, x, 1, ROLE_OK, "none of it can go");
    char text[96];
    snprintf(text, sizeof text, "%u of %u cause%s can be changed", d->changes, d->row_count,
             d->row_count == 1 ? "" : "s");
    if (x + 3 + (int)strlen(text) <= p->width)
        x = pane_text(p, x + 3, 1, ROLE_TEXT, text);
    if (all->opaque_count) {
        snprintf(text, sizeof text, "%u unknown", all->opaque_count);
        if (x + 3 + (int)strlen(text) <= p->width)
            x = pane_text(p, x + 3, 1, ROLE_WARN, text);
    }
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
    pane_cut(p, c->kind, y, 14, ROLE_TEXT, doctor_kind_name(f->once.kind));
    pane_text(p, c->times, y, ROLE_TEXT, doctor_times_text(text, sizeof text, r));
    if (c->bytes)
        pane_right(p, c->bytes, y, ROLE_TEXT, units_bytes(bytes, r->now.bytes));
    pane_right(p, c->ms, y, ROLE_TEXT, units_short_ms(ms, r->now.ms));
    unsigned style = change_text(text, sizeof text, r);
    int end = pane_right(p, c->change, y, style, text);
    doctor_line_text(text, sizeof text, f->has_line, &f->line);
    if (c->source)
        pane_cut(p, c->source, y, (c->because ? c->because : end) - c->source - 2,
                 f->has_line ? ROLE_TITLE : ROLE_DIM, text);
    if (c->because)
        pane_text(
            p, c->because, y, ROLE_TEXT,
            text_cut_words(text, sizeof text, doctor_cause_words[f->cause], end - c->because - 2));
}

static void draw_call(const struct doctor_view *v, const struct pane *p, int y,
                      const struct doctor_opaque *o, const struct columns *c)
{
    char text[96], ms[UNITS_ROOM], words[96];

    pane_text(p, 0, y, ROLE_WARN, "?");
    pane_text(p, c->kind, y, ROLE_TEXT, "custom-call");
    pane_format(p, c->times, y, ROLE_TEXT, "×%u", o->count);
    if (c->bytes)
        pane_right(p, c->bytes, y, ROLE_DIM, "-");
    pane_right(p, c->ms, y, ROLE_TEXT, units_short_ms(ms, o->ms));
    int end = pane_right(p, c->change, y, ROLE_WARN, "t tells");
    doctor_source_text(&v->dump->doctor, o->first, text, sizeof text);
    if (c->source)
        pane_cut(p, c->source, y, (c->because ? c->because : end) - c->source - 2, ROLE_TITLE,
                 *text ? text : "no source");
    if (!c->because)
        return;
    snprintf(words, sizeof words, "\"%.40s\" is unknown: counted by its bytes", o->target);
    pane_text(p, c->because, y, ROLE_TEXT,
              text_cut_words(text, sizeof text, words, end - c->because - 2));
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
    list_fit(&v->list, doctor_rows_of(v->dump), pane->height - 2);
    for (int y = 0; y < pane->height - 2 && v->list.top + y < v->list.count; y++) {
        const struct doctor_opaque *call = doctor_call_at(v, v->list.top + y);
        if (call)
            draw_call(v, pane, y + 2, call, &c);
        else
            draw_row(v, pane, y + 2, &v->dump->rows[v->list.top + y], &c);
        if (v->list.top + y != v->list.cursor)
            continue;
        pane_select(pane, y + 2, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + y + 2;
    }
}

static void draw_doctor(struct panel *p, const struct pane *whole)
{
    struct doctor_view *v = p->state;

    take_plans(v);
    const struct doctored *d = v->dump;
    int y = 2;

    draw_title(d, whole);
    draw_headline(d, whole);
    if (!doctor_rows_of(d))
        return;
    char text[DOCTOR_WARNINGS_MOST][200];
    int needs = 3 + (doctor_warnings_of(d, text) ? 1 + doctor_warnings_of(d, text) : 0);
    int gap = whole->height >= 36, detail = 15 + 2 * gap, low = whole->height < 30 ? 0 : needs;

    int table = whole->height - y - detail - low, rows = (int)doctor_rows_of(d) + 2;
    if (table > rows)
        table = rows;
    if (table < 5)
        table = rows < 5 ? rows : 5;
    struct pane part = pane_part(whole, 0, y, whole->width, table);
    draw_table(p, &part);
    y += table + gap;
    part = pane_part(whole, 0, y, whole->width, whole->height - y - low);
    y += doctor_draw_detail(v, &part) + 1;
    if (!low && whole->height - y < 2)
        return;
    if (low || whole->height - y >= needs)
        y = doctor_draw_warnings(d, whole, y) + gap;
    doctor_draw_after(d, whole, y);
}

/* ---- acts ---- */

/* To the next row of which something is not known: the cause, the verdict, or what a call does. */
static bool go_unknown(struct doctor_view *v)
{
    int64_t count = v->list.count;

    for (int64_t k = 1; k <= count; k++) {
        int64_t at = (v->list.cursor + k) % count;
        const struct doctor_finding *f = doctor_call_at(v, at) ? NULL : v->dump->rows[at].finding;
        if (!f || f->cause == DOCTOR_UNKNOWN || f->verdict == DOCTOR_UNSURE) {
            list_go(&v->list, at);
            return true;
        }
    }
    return false;
}

static bool act_doctor(struct panel *p, int action)
{
    struct doctor_view *v = p->state;

    switch (action) {
    case DOCTOR_USES:
        v->uses = !v->uses;
        break;
    case DOCTOR_WHY:
        v->uses = false;
        break;
    case DOCTOR_TELL:
        host_ask(p->scene, "kernels ");
        break;
    case DOCTOR_NEXT:
        return go_unknown(v);
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
        const struct doctor_opaque *call = doctor_call_at(v, at);
        if (call) {
            if (!match_text(m, call->target))
                continue;
            list_go(&v->list, at);
            return true;
        }
        const struct doctor_finding *f = v->dump->rows[at].finding;
        char line[96], text[512];
        doctor_line_text(line, sizeof line, f->has_line, &f->line);
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
    const struct doctored_row *r = doctor_row_here(p->state);

    return !r                           ? NULL
           : r->finding->planned.change ? r->finding->planned.change
           : *r->finding->cure          ? r->finding->cure
                                        : r->finding->because;
}

static void message_doctor(const struct panel *p, char *out, size_t room)
{
    const struct doctor_view *v = p->state;
    const struct doctored_row *r = doctor_row_here(v);

    if (!r)
        return;
    const struct doctor_finding *f = r->finding;
    const char *op = hlo_meta(v->dump->m, f->id)->op_name;
    snprintf(out, room, "%s  %s%s", hlo_name(v->dump->m, f->id), *op ? "op_name " : "no metadata",
             op);
}

static bool page_doctor(const struct panel *p, struct str *out)
{
    struct doctor_view *v = p->state;

    if (!out)
        return true;
    take_plans(v);
    doctor_write_page(v->dump, v->job != NULL, out);
    return true;
}

const struct panel_ops view_doctor = {
    .name = "doctor",
    .title = "Doctor",
    .place = PLACE_BARE,
    .keys = &doctor_keys,
    .hints = "down=row uses why copy=copy_change tell unknown export=page search before cluster "
             "open find=commands help close",
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
    .page = page_doctor,
    .is_live = is_live,
};
