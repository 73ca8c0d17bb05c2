/* V k below its table: the row under the cursor, and what the figures rest on. */
#include "tui/views/doctor_detail.h"

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
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/watch/doctored.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Behind the rows of collectives stand those of calls that are unknown. */
uint32_t doctor_rows_of(const struct doctored *d)
{
    return d->row_count + d->doctor.opaque_count;
}

const struct doctor_opaque *doctor_call_at(const struct doctor_view *v, int64_t row)
{
    const struct doctored *d = v->dump;

    return row >= d->row_count && row < doctor_rows_of(d) ? &d->doctor.opaque[row - d->row_count]
                                                          : NULL;
}

const struct doctored_row *doctor_row_here(const struct doctor_view *v)
{
    return v->list.cursor < v->dump->row_count ? &v->dump->rows[v->list.cursor] : NULL;
}

/* ---- words ---- */

char *doctor_line_text(char *out, size_t room, bool has, const struct hlo_frame *f)
{
    if (has)
        snprintf(out, room, "%s:%u", hlo_file_name(f->file), f->line);
    else
        snprintf(out, room, "no source");
    return out;
}

/* The innermost line of an instruction that a person may have written. */
char *doctor_source_text(const struct doctor *d, hlo_id id, char *out, size_t room)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    bool has = doctor_chain(d, id, chain) > 0;

    doctor_line_text(out, room, has, chain);
    if (!has)
        out[0] = 0;
    return out;
}

const char *doctor_kind_name(enum collective_kind kind)
{
    return kind == COLLECTIVE_PERMUTE ? "permute" : collective_name(kind);
}

char *doctor_times_text(char *out, size_t room, const struct doctored_row *r)
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

enum { SAID = 8 }; /* where what is said begins, behind "because" or another head */

/* "because " before the first line, the rest below it; returns the next row. */
static int draw_said(const struct pane *p, int y, const char *head, unsigned style,
                     const char *text)
{
    char line[512];

    pane_text(p, 0, y, ROLE_DIM, head);
    while (*text && p->width > SAID) {
        text = pane_take_line(text, p->width - SAID, line, sizeof line);
        pane_text(p, SAID, y++, style, line);
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

/* `at`: its line; NULL: the innermost that a person may have written. */
static void draw_value(const struct doctor *d, const struct pane *p, int y, hlo_id id,
                       const char *is, const struct hlo_frame *at)
{
    struct str shape = {0};
    char line[96];
    int wide = p->width >= 100, x = wide ? 36 : 22;

    pane_cut(p, 2, y, x - 4, ROLE_TEXT, hlo_name(d->m, id));
    hlo_write_shape(d->m, hlo_at(d->m, id)->shape, false, &shape);
    pane_cut(p, x, y, wide ? 26 : 18, ROLE_TEXT, shape.text ? shape.text : "");
    x += wide ? 28 : 20;
    x = pane_cut(p, x, y, 19, ROLE_DIM, is) > 0 ? x + 20 : x;
    if (at)
        doctor_line_text(line, sizeof line, true, at);
    else
        doctor_source_text(d, id, line, sizeof line);
    pane_cut(p, x, y, p->width - x, ROLE_TITLE, line);
    str_release(&shape);
}

static int draw_way(const struct doctor *d, const struct pane *p, int y,
                    const struct doctor_finding *f)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    struct way way[4];
    int count = find_way(d, f, way);

    for (int k = 0; k < count; k++) {
        bool asks =
            way[k].id == f->asks && f->has_line; /* no line of a wrapper that asks for all */
        draw_value(d, p, y++, way[k].id, way[k].is, asks ? &f->line : NULL);
    }
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
                   f->op == HLO_NONE || f->op == f->id ? "" : hlo_name(d->m, f->op), NULL);
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
    int x = pane_format(p, SAID, y, ROLE_TEXT, "%s to %s", units_short_ms(a, r->now.ms),
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
    int x = pane_format(p, SAID, y, ROLE_TEXT, "all collectives %s to %s, %s left",
                        units_short_ms(a, f->now_ms), units_short_ms(b, f->ms),
                        units_bytes(left, f->bytes));
    if (f->has_line)
        x = pane_format(p, x + 2, y, ROLE_TITLE, "%s",
                        doctor_line_text(line, sizeof line, true, &f->line));
    static const char kind[] = "  · priced, not tried in your code";
    if (x + utf8_text_columns(kind) <= p->width)
        pane_text(p, x, y, ROLE_DIM, kind);
    return y + 1;
}

static void detail_head(const struct doctored_row *r, const struct pane *p, bool uses)
{
    const struct doctor_finding *f = r->finding;
    char title[64], note[160], bytes[UNITS_ROOM], ms[UNITS_ROOM], times[48];

    snprintf(title, sizeof title, "%s %s", doctor_kind_name(f->once.kind),
             doctor_times_text(times, sizeof times, r));
    snprintf(note, sizeof note, "%s each, %s · %s", units_bytes(bytes, f->once.bytes),
             units_short_ms(ms, f->once.ms),
             uses ? "one by one"
                  : (p->width >= 90 ? "its way back to the cause" : "back to the cause"));
    pane_head(p, 0, &(struct head){0, title, note, false});
}

static int draw_call_detail(const struct doctor_view *v, const struct pane *p,
                            const struct doctor_opaque *o)
{
    char title[64], ms[UNITS_ROOM];
    const struct doctor *d = &v->dump->doctor;

    snprintf(title, sizeof title, "custom-call ×%u", o->count);
    pane_head(p, 0, &(struct head){0, title, units_short_ms(ms, o->ms), false});
    draw_value(d, p, 1, o->first, "the first of them", NULL);
    int y = draw_said(p, 2, "because", ROLE_TEXT,
                      "no rule says what it does: the bytes that it reads and writes are counted, "
                      "its operations are not, and how it may be split is not known");
    return draw_said(p, y, "change", ROLE_TITLE,
                     "t names a file of rules (engine/kernels): flops, dims that may be split; "
                     "automap inspect prints one to start from");
}

/* The next free row. */
int doctor_draw_detail(const struct doctor_view *v, const struct pane *p)
{
    const struct doctored_row *r = doctor_row_here(v);
    const struct doctor *d = &v->dump->doctor;
    const struct doctor_opaque *call = doctor_call_at(v, v->list.cursor);
    int y = 1;

    if (call)
        return draw_call_detail(v, p, call);
    if (!r)
        return 0;
    const struct doctor_finding *f = r->finding;
    int columns = p->width - SAID;
    int said = 2 + count_lines(f->because, columns) + count_lines(f->cure, columns);
    if (f->planned.change)
        said += 1 + count_lines(f->planned.change, columns);
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
        pane_format(p, 0, y++, ROLE_DIM, "change  %s",
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

int doctor_warnings_of(const struct doctored *d, char out[DOCTOR_WARNINGS_MOST][200])
{
    const struct doctor *all = &d->doctor;
    int count = 0, lost = without_line(all);

    if (all->opaque_count)
        snprintf(out[count++], sizeof out[0],
                 "calls that are unknown are counted by their bytes alone: t gives them rules");
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

int doctor_draw_warnings(const struct doctored *d, const struct pane *p, int y)
{
    char text[DOCTOR_WARNINGS_MOST][200];
    int count = doctor_warnings_of(d, text);

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

char *doctor_after_text(char *out, size_t room, const struct doctor_together *t)
{
    char others[64];

    if (t->changes < t->offered)
        snprintf(out, room, "After %u of %u planned changes%s", t->changes, t->offered,
                 doctor_left_out(others, sizeof others, t));
    else if (t->changes == 1)
        snprintf(out, room, "After the planned change");
    else
        snprintf(out, room, "After all %u planned changes", t->changes);
    return out;
}

const char *doctor_now_text(const struct doctored *d)
{
    return fabs(d->doctor.together.now_ms - d->now.ms) > 0.01 * d->now.ms
               ? "collectives of the program planned again"
               : "collectives";
}

/* What planning the program with all of them has found: no sum of what each saves. */
static void draw_together(const struct doctored *d, const struct pane *p, int y)
{
    const struct doctor_together *t = &d->doctor.together;
    char title[128], now[UNITS_ROOM], then[UNITS_ROOM], less[UNITS_ROOM], was[UNITS_ROOM],
        is[UNITS_ROOM], memory[96];

    doctor_after_text(title, sizeof title, t);
    pane_head(p, y++, &(struct head){0, title, "priced together, not row by row", false});
    int x = pane_format(p, 0, y, ROLE_TEXT, "%s %s to ", doctor_now_text(d),
                        units_short_ms(now, t->now_ms));
    x = pane_text(p, x, y, ROLE_OK, units_short_ms(then, t->ms));
    x = pane_format(p, x, y, ROLE_TEXT, ", the step %s%s", t->saves_ms < 0 ? "+" : "-",
                    units_short_ms(less, fabs(t->saves_ms)));
    snprintf(memory, sizeof memory, "memory %s to %s", units_bytes(was, t->memory_now),
             units_bytes(is, t->memory));
    if (x + 3 + (int)strlen(memory) <= p->width)
        pane_text(p, x + 3, y, ROLE_TEXT, memory);
}

void doctor_draw_after(const struct doctored *d, const struct pane *p, int y)
{
    if (d->doctor.together.changes) {
        draw_together(d, p, y);
        return;
    }
    if (!d->changes)
        return;
    char title[64], now[UNITS_ROOM], then[UNITS_ROOM], less[UNITS_ROOM];

    snprintf(title, sizeof title, d->changes == 1 ? "After the change" : "After all %u changes",
             d->changes);
    pane_head(p, y++, &(struct head){0, title, "the better of each row, one by one", false});
    double rest = d->doctor.has_compute ? d->doctor.compute_ms : 0; /* of the step */
    int x = pane_format(p, 0, y, ROLE_TEXT, "%s   %s to ", rest > 0 ? "step" : "time",
                        units_short_ms(now, rest + d->now.ms));
    x = pane_text(p, x, y, ROLE_OK, units_short_ms(then, rest + d->now.ms - d->gain_ms));
    x = pane_format(p, x, y, ROLE_TEXT, ", -%s", units_short_ms(less, d->gain_ms));
    static const char open[] = "o opens the whole program, which can be searched";
    if (x + 3 + (int)sizeof open - 1 <= p->width)
        pane_text(p, x + 3, y, ROLE_DIM, open);
}
