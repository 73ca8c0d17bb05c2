/* The doctor's view as a page: what each collective costs, why it is there, what changes it. */
#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"
#include "tui/views/doctor_detail.h"
#include "tui/watch/doctored.h"

#include <math.h>

/* A cell ends at a bar. */
static void add_cell(struct str *out, const char *text)
{
    for (; *text; text++)
        str_format(out, *text == '|' ? "\\|" : "%c", *text);
}

static void add_row(struct str *out, const struct doctored_row *r)
{
    const struct doctor_finding *f = r->finding;
    char times[48], line[96], bytes[UNITS_ROOM], ms[UNITS_ROOM], less[UNITS_ROOM];

    str_format(out, "| %s | %s %s | %s | %s | ", doctor_verdict_names[f->verdict],
               doctor_kind_name(f->once.kind), doctor_times_text(times, sizeof times, r),
               units_bytes(bytes, r->now.bytes), units_short_ms(ms, r->now.ms));
    add_cell(out, doctor_line_text(line, sizeof line, f->has_line, &f->line));
    str_format(out, " | %s | ", doctor_cause_words[f->cause]);
    if (r->gain_ms > 0)
        str_format(out, "-%s", units_short_ms(less, r->gain_ms));
    str_add(out, " |\n");
}

static void add_reasons(struct str *out, const struct doctored_row *r)
{
    const struct doctor_finding *f = r->finding;
    const struct doctor_planned *p = &f->planned;
    char line[96], now[UNITS_ROOM], then[UNITS_ROOM];

    str_format(out, "\n## %s of %s\n\n%s.\n", doctor_kind_name(f->once.kind),
               doctor_line_text(line, sizeof line, f->has_line, &f->line), f->because);
    if (*f->cure)
        str_format(out, "\nChange: %s.\n", f->cure);
    if (p->change)
        str_format(out, "\nPlanned: %s. All collectives of a step %s to %s.\n", p->change,
                   units_short_ms(now, p->now_ms), units_short_ms(then, p->ms));
}

static void add_warnings(struct str *out, const struct doctored *d)
{
    char text[DOCTOR_WARNINGS_MOST][200];
    int count = doctor_warnings_of(d, text);

    if (count)
        str_add(out, "\n## Warnings\n\n");
    for (int k = 0; k < count; k++)
        str_format(out, "- %s\n", text[k]);
}

void doctor_write_page(const struct doctored *d, bool is_planning, struct str *out)
{
    const struct doctor *all = &d->doctor;
    const struct doctor_together *t = &all->together;
    char name[128], now[UNITS_ROOM], then[UNITS_ROOM], less[UNITS_ROOM], was[UNITS_ROOM],
        is[UNITS_ROOM], title[80];

    str_format(out, "# %s: what its devices send\n\nMade for %u partitions, priced on %s: ",
               file_stem(name, sizeof name, d->m->file), all->devices, all->cluster.name);
    str_format(out, "%s%s a step in %u collective%s", d->now.is_least ? "at least " : "",
               units_short_ms(now, d->now.ms), all->count, all->count == 1 ? "" : "s");
    if (all->has_compute)
        str_format(out, ", beside %s of computing", units_short_ms(then, all->compute_ms));
    str_add(out, ".\n\n| | collective | bytes | time | source | because | change |\n"
                 "|---|---|---:|---:|---|---|---:|\n");
    for (uint32_t n = 0; n < d->row_count; n++)
        add_row(out, &d->rows[n]);
    for (uint32_t k = 0; k < all->opaque_count; k++) {
        str_format(out, "| unknown | custom-call ×%u | | %s | | ", all->opaque[k].count,
                   units_short_ms(now, all->opaque[k].ms));
        add_cell(out, all->opaque[k].target);
        str_add(out, " is unknown: counted by its bytes | |\n");
    }
    for (uint32_t n = 0; n < d->row_count; n++)
        add_reasons(out, &d->rows[n]);
    add_warnings(out, d);
    if (is_planning)
        str_add(out, "\nThe program is still planned again: planned changes are missing here.\n");
    if (!t->changes)
        return;
    str_format(
        out,
        "\n## %s\n\nPriced together, not row by row: %s %s to %s, the step %s%s, memory of a "
        "device %s to %s.\n",
        doctor_after_text(title, sizeof title, t), doctor_now_text(d),
        units_short_ms(now, t->now_ms), units_short_ms(then, t->ms), t->saves_ms < 0 ? "+" : "-",
        units_short_ms(less, fabs(t->saves_ms)), units_bytes(was, t->memory_now),
        units_bytes(is, t->memory));
}
