#include "engine/plan/export_html.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/memory.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

enum { ROWS_OPEN = 40, COLUMNS_MOST = 12, PLOT_COLUMNS = 72, PLOT_ROWS = 8, BAR_CELLS = 24 };

static const char *const head[] = {
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    ":root { color-scheme: light dark; --ink: #17202a; --soft: #5d6b7a; --line: #dfe5ec; --page: "
    "#f6f8fa; --card: #fff; --accent: #0b6bcb; --tint: #0b6bcb1c; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #9aa8b6; --line: "
    "#2c3742; --page: #11161c; --card: #19212a; --accent: #5eb0ff; --tint: #5eb0ff26; } }\n"
    "* { box-sizing: border-box; }\n",
    "body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "
    "-apple-system, \"Segoe UI\", Roboto, sans-serif; }\n"
    "main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }\n"
    "h1 { font-size: 1rem; font-weight: 600; color: var(--soft); margin: 0 0 .5rem; "
    "overflow-wrap: anywhere; }\n"
    ".lead { font-size: clamp(1.35rem, 3.6vw, 2.1rem); line-height: 1.25; font-weight: 650; "
    "letter-spacing: -.015em; margin: 0 0 1rem; text-wrap: balance; }\n"
    ".lead em { font-style: normal; color: var(--accent); }\n"
    ".proof { color: var(--soft); max-width: 46rem; margin: 0 0 1.75rem; }\n",
    ".cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: "
    ".75rem; margin-bottom: 2.25rem; }\n"
    ".card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; "
    "padding: .9rem 1rem; }\n"
    ".card b { display: block; font-size: 1.45rem; letter-spacing: -.02em; "
    "font-variant-numeric: tabular-nums; }\n"
    ".card span { color: var(--soft); font-size: .85rem; }\n"
    "section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; "
    "padding: 1.1rem 1.25rem; margin-bottom: 1rem; }\n"
    "h2 { font-size: 1.1rem; margin: 0 0 .6rem; letter-spacing: -.01em; }\n"
    "p { margin: .5rem 0; }\n",
    ".scroll { overflow-x: auto; margin: .5rem 0; }\n"
    "table { border-collapse: collapse; width: 100%; font-size: .9rem; }\n"
    "th { text-align: left; color: var(--soft); font-weight: 600; font-size: .8rem; }\n"
    "th, td { padding: .38rem .75rem .38rem 0; border-bottom: 1px solid var(--line); "
    "vertical-align: "
    "top; }\n"
    "tr:last-child td { border-bottom: 0; }\n"
    "td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    "th.n { white-space: normal; }\n"
    "td.b { width: 24%; min-width: 6rem; vertical-align: middle; }\n"
    ".bar { height: .7rem; border-radius: .35rem; background: var(--accent); min-width: 2px; }\n",
    "code { font: .88em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: "
    "var(--tint); border-radius: .3rem; padding: .08em .35em; white-space: nowrap; }\n"
    "pre { overflow-x: auto; background: var(--tint); border-radius: .5rem; padding: .8rem 1rem; "
    "font: .85rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; margin: .5rem 0; "
    "}\n"
    "summary { cursor: pointer; color: var(--accent); font-size: .9rem; padding: .3rem 0; }\n"
    "figure { margin: .5rem 0; } figcaption { color: var(--soft); font-size: .85rem; }\n"
    "svg { display: block; width: 100%; height: 9rem; }\n"
    "nav { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 1.5rem; }\n"
    "nav a { color: var(--ink); text-decoration: none; font-size: .85rem; background: var(--card); "
    "border: 1px solid var(--line); border-radius: 1rem; padding: .25rem .8rem; }\n"
    "nav a:hover { border-color: var(--accent); color: var(--accent); }\n"
    "section { scroll-margin-top: 1rem; }\n",
    "td:first-child { overflow-wrap: anywhere; min-width: 7rem; }\n"
    "tbody tr:hover { background: var(--tint); }\n"
    "summary { font-weight: 600; }\n"
    "@media (max-width: 40rem) { main { padding: 1.5rem .8rem 3rem; } section { padding: .9rem "
    ".9rem; } table { font-size: .82rem; } nav { flex-wrap: nowrap; overflow-x: auto; "
    "padding-bottom: "
    ".3rem; } nav a { white-space: nowrap; } }\n"
    "@media print { body { background: #fff; } nav { display: none; } section { break-inside: "
    "avoid; "
    "} }\n"
    "footer { color: var(--soft); font-size: .85rem; margin-top: 2rem; }\n"
    "</style>\n",
};

/* ---- text ---- */

static void add_char(struct str *out, char c)
{
    switch (c) {
    case '<':
        str_add(out, "&lt;");
        break;
    case '>':
        str_add(out, "&gt;");
        break;
    case '&':
        str_add(out, "&amp;");
        break;
    case '"':
        str_add(out, "&quot;");
        break;
    case '\'':
        str_add(out, "&#39;");
        break;
    default:
        str_add_char(out, c);
    }
}

/* A name from outside: no markup of any kind. */
static void add_plain(struct str *out, const char *at, const char *end)
{
    char clean[512];

    text_clean(clean, sizeof clean, at, (size_t)(end - at));
    for (const char *c = clean; *c; c++)
        add_char(out, *c);
}

/* Markdown as the report has it: `\x`, **bold**, `code`. */
static void add_inline(struct str *out, const char *at, const char *end)
{
    bool is_code = false, is_bold = false;

    for (; at < end; at++) {
        if (*at == '`') {
            str_add(out, is_code ? "</code>" : "<code>");
            is_code = !is_code;
        } else if (!is_code && *at == '\\' && at + 1 < end) {
            add_char(out, *++at);
        } else if (!is_code && at + 1 < end && at[0] == '*' && at[1] == '*') {
            str_add(out, is_bold ? "</b>" : "<b>");
            is_bold = !is_bold;
            at++;
        } else {
            add_char(out, *at);
        }
    }
    str_add(out, is_code ? "</code>" : "");
    str_add(out, is_bold ? "</b>" : "");
}

/* U+2581 to U+258F: which of them, 0 for other text. Of three bytes each. */
static int block_at(const char *at, const char *end)
{
    if (end - at < 3 || (unsigned char)at[0] != 0xe2 || (unsigned char)at[1] != 0x96)
        return 0;
    int n = (unsigned char)at[2] - 0x80;
    return n >= 1 && n <= 15 ? n : 0;
}

/* ---- tables ---- */

struct table {
    uint32_t columns;
    bool is_number[COLUMNS_MOST];
    uint32_t rows, left_out;
};

/* The next cell of a row: what stands before an unescaped `|` outside of code. */
static const char *cell_end(const char *at, const char *end)
{
    bool is_code = false;

    for (; at < end; at++) {
        if (*at == '\\' && !is_code && at + 1 < end)
            at++;
        else if (*at == '`')
            is_code = !is_code;
        else if (*at == '|' && !is_code)
            break;
    }
    return at;
}

/* Eighths of a bar of blocks; -1: it is something else. */
static int bar_of(const char *at, const char *end)
{
    int eighths = 0;

    if (at == end)
        return -1;
    for (; at < end; at += 3) {
        int n = block_at(at, end);
        if (n < 8)
            return -1;
        eighths += n == 8 ? 8 : 16 - n; /* U+2589 is seven eighths, U+258F one */
    }
    return eighths;
}

static void add_cell(struct str *out, const struct table *t, uint32_t column, const char *tag,
                     const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    while (end > at && end[-1] == ' ')
        end--;
    int bar = bar_of(at, end);
    bool is_number = column < COLUMNS_MOST && t->is_number[column];
    str_format(out, "<%s%s>", tag, bar >= 0 ? " class=\"b\"" : is_number ? " class=\"n\"" : "");
    if (bar >= 0)
        str_format(out, "<div class=\"bar\" style=\"width:%.1f%%\"></div>",
                   100.0 * bar / (BAR_CELLS * 8));
    else
        add_inline(out, at, end);
    str_format(out, "</%s>", tag);
}

static void add_row(struct str *out, struct table *t, const char *tag, const char *at,
                    const char *end)
{
    uint32_t column = 0;

    str_add(out, "<tr>");
    for (at++; at < end; column++) {
        const char *close = cell_end(at, end);
        add_cell(out, t, column, tag, at, close);
        at = close + 1;
        if (at < end && !strchr("| \t", *at) && close == end)
            break;
    }
    str_add(out, "</tr>\n");
}

static void read_alignment(struct table *t, const char *at, const char *end)
{
    for (at++; at < end && t->columns < COLUMNS_MOST; t->columns++) {
        const char *close = cell_end(at, end);
        t->is_number[t->columns] = close > at && close[-1] == ':';
        at = close + 1;
    }
}

/* ---- lines ---- */

struct lines {
    const char *at, *end; /* of the line */
    const char *stop;     /* of the text */
};

static bool next_line(struct lines *l)
{
    l->at = l->end ? l->end + 1 : l->at;
    if (l->at >= l->stop)
        return false;
    l->end = memchr(l->at, '\n', (size_t)(l->stop - l->at));
    l->end = l->end ? l->end : l->stop;
    return true;
}

static bool line_begins(const struct lines *l, const char *with)
{
    size_t size = strlen(with);

    return (size_t)(l->end - l->at) >= size && !memcmp(l->at, with, size);
}

static uint32_t count_rows(struct lines l)
{
    uint32_t rows = 0;

    while (next_line(&l) && line_begins(&l, "|"))
        rows++;
    return rows;
}

/* At the first row of a table, whose second row says how columns are aligned. */
static bool add_table(struct str *out, struct lines *l)
{
    struct table t = {.columns = 0};
    struct lines ahead = *l;
    uint32_t rows = count_rows(*l);
    bool more, is_long = rows > ROWS_OPEN;

    if (next_line(&ahead))
        read_alignment(&t, ahead.at, ahead.end);
    if (is_long)
        str_format(out, "<details><summary>%u rows</summary>", rows - 1);
    str_add(out, "<div class=\"scroll\"><table>\n<thead>");
    add_row(out, &t, "th", l->at, l->end);
    str_add(out, "</thead>\n");
    next_line(l);
    while ((more = next_line(l)) && line_begins(l, "|")) {
        if (out->size > EXPORT_HTML_MOST - 100000)
            t.left_out++;
        else
            add_row(out, &t, "td", l->at, l->end);
    }
    str_add(out, "</table></div>");
    if (t.left_out)
        str_format(out, "<p>and %u rows more, which --format report has</p>", t.left_out);
    str_add(out, is_long ? "</details>\n" : "\n");
    return more;
}

/* ---- code, plots ---- */

/* Height of each column of a plot of blocks, of 64; the rows stand from the top down, each behind
 * nine letters. */
static bool read_plot(const char *at, const char *end, int height[PLOT_COLUMNS])
{
    bool found = false;

    memset(height, 0, PLOT_COLUMNS * sizeof *height);
    for (int row = PLOT_ROWS - 1; row >= 0 && at < end; row--) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        const char *p = line_end - at > 9 ? at + 9 : line_end;
        for (int x = 0; x < PLOT_COLUMNS && p < line_end; x++) {
            int n = block_at(p, line_end);
            found |= n > 0;
            if (n > 0 && n <= 8 && height[x] < row * 8 + n)
                height[x] = row * 8 + n;
            p += n ? 3 : 1;
        }
        at = line_end + 1;
    }
    return found;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* The first row begins with the highest value and ends with words about it. */
static void add_plot(struct str *out, const char *at, const char *end,
                     const int height[PLOT_COLUMNS])
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));

    line_end = line_end ? line_end : end;
    const char *top = skip_blanks(at, line_end), *p = line_end - at > 9 ? at + 9 : line_end;
    str_format(out,
               "<figure><svg viewBox=\"0 0 %d 64\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"plot\"><path fill=\"var(--tint)\" stroke=\"var(--accent)\" "
               "stroke-width=\"1.5\" vector-effect=\"non-scaling-stroke\" d=\"M0 64",
               PLOT_COLUMNS - 1);
    for (int x = 0; x < PLOT_COLUMNS; x++)
        str_format(out, "L%d %d", x, 64 - height[x]);
    str_format(out, "L%d 64Z\"/></svg><figcaption>highest ", PLOT_COLUMNS - 1);
    for (; top < line_end && *top != ' '; top++)
        add_char(out, *top);
    for (int x = 0; x < PLOT_COLUMNS && p < line_end; x++)
        p += block_at(p, line_end) ? 3 : 1;
    str_add_char(out, ' ');
    for (p = skip_blanks(p, line_end); p < line_end; p++)
        add_char(out, *p);
    str_add(out, "</figcaption></figure>\n");
}

/* At a line of three backquotes: what stands up to the next one. */
static bool add_code(struct str *out, struct lines *l)
{
    const char *begin = l->end < l->stop ? l->end + 1 : l->stop, *end = begin;
    int height[PLOT_COLUMNS];

    while (next_line(l) && !line_begins(l, "```"))
        end = l->end;
    if (end > begin && read_plot(begin, end, height)) {
        add_plot(out, begin, end, height);
    } else {
        str_add(out, "<pre>");
        for (const char *p = begin; p < end; p++)
            add_char(out, *p);
        str_add(out, "</pre>\n");
    }
    return next_line(l);
}

/* ---- the page ---- */

static void add_card(struct str *out, const char *figure, const char *words)
{
    str_add(out, "<div class=\"card\"><b>");
    add_inline(out, figure, figure + strlen(figure));
    str_format(out, "</b><span>%s</span></div>\n", words);
}

/* "<b>12 %</b> over the best": how far the plan is from what is proven, and of what kind. */
static void add_proof(struct str *out, const struct plan *plan)
{
    const struct relaxed_plan *x = plan->relaxed;
    double bound = x ? x->bound_ms : plan->bound_ms, over = plan->cost.step_ms / bound - 1;
    char text[UNITS_ROOM];

    if (!(bound > 0))
        return;
    add_card(out, units_percent(text, over > 1e-9 ? over : 0),
             !x && plan->memory_limit > 0
                 ? "over the best strict plan it may choose from within the limit, proven"
             : !x ? "over the best strict plan it may choose from, proven"
             : x->bound_kind == RELAXED_TIED ? "over the proven bound, equal layers alike"
                                             : "over the proven bound of all plans");
}

/* One sentence for somebody who plans no computers, then the figures. */
static int add_lead(struct str *out, const struct plan *plan, const struct report_about *about,
                    struct err *e)
{
    const struct problem *p = plan->problem;
    char ms[UNITS_ROOM], bytes[UNITS_ROOM], limit[UNITS_ROOM], words[2 * UNITS_ROOM + 32];
    double whole = report_whole_ms(p), step = plan->cost.step_ms;
    double faster = step > 0 ? whole / step : 0, room = cluster_weakest(&p->cluster).memory_bytes;
    const char *name = hlo_file_name(about->model);
    size_t stem = strcspn(name, ".");
    struct memory_cost memory;
    int rc = plan_memory(plan, &memory, e);

    if (rc)
        return rc;
    str_format(out, "<p class=\"lead\">%u devices train ", p->cluster.devices);
    add_plain(out, name, name + (stem ? stem : strlen(name)));
    str_format(out, " <em>%.3g times as fast</em> as one", faster);
    if (faster < 1.05)
        str_add(out, ": more devices are hardly worth it here");
    else if (memory.peak > room)
        str_add(out, ", but need more memory than they have");
    str_add(out, ".</p>\n");
    str_add(out, "<div class=\"cards\">\n");
    add_card(out, units_ms(ms, step), "one step, modelled");
    add_card(out, units_ms(ms, plan->cost.compute_ms), "of it computing");
    add_card(out, units_ms(ms, plan->cost.communication_ms), "of it communicating");
    snprintf(words, sizeof words, "of %s on a device: %s", units_bytes(limit, room),
             memory.peak <= room ? "fits" : "does not fit");
    add_card(out, units_bytes(bytes, memory.peak), words);
    add_proof(out, plan);
    str_add(out, "</div>\n");
    return 0;
}

/* Links to the sections, in their order. */
static void add_contents(struct str *out, const struct str *md)
{
    struct lines l = {md->text, NULL, md->text + md->size};
    uint32_t number = 0;

    str_add(out, "<nav aria-label=\"contents\">");
    while (next_line(&l)) {
        if (!line_begins(&l, "## "))
            continue;
        str_format(out, "<a href=\"#s%u\">", ++number);
        add_inline(out, l.at + 3, l.end);
        str_add(out, "</a>");
    }
    str_add(out, "</nav>\n");
}

/* `md`: a title and a first paragraph, then sections. A plan's report has a lead of its own; in
 * another page (plan NULL) the first paragraph is the lead. */
static int add_report(struct str *out, const struct str *md, const struct plan *plan,
                      const struct report_about *about, struct err *e)
{
    struct lines l = {md->text, NULL, md->text + md->size};
    bool more = next_line(&l), in_section = false, has_lead = false;
    uint32_t number = 0;

    while (more) {
        if (line_begins(&l, "# ")) {
            str_add(out, "<h1>");
            add_inline(out, l.at + 2, l.end);
            str_add(out, "</h1>\n");
            int rc = plan ? add_lead(out, plan, about, e) : 0;
            if (rc)
                return rc;
        } else if (line_begins(&l, "## ")) {
            if (in_section)
                str_add(out, "</section>\n");
            else
                add_contents(out, md);
            str_format(out, "<section id=\"s%u\"><h2>", ++number);
            in_section = true;
            add_inline(out, l.at + 3, l.end);
            str_add(out, "</h2>\n");
        } else if (line_begins(&l, "|")) {
            more = add_table(out, &l);
            continue;
        } else if (line_begins(&l, "```")) {
            more = add_code(out, &l);
            continue;
        } else if (l.end > l.at) {
            str_add(out, has_lead ? "<p>" : plan ? "<p class=\"proof\">" : "<p class=\"lead\">");
            has_lead = true;
            add_inline(out, l.at, l.end);
            str_add(out, "</p>\n");
        }
        more = next_line(&l);
    }
    str_add(out, in_section ? "</section>\n" : "");
    return 0;
}

static void begin_page(const char *title, struct str *out)
{
    for (size_t n = 0; n < sizeof head / sizeof *head; n++)
        str_add(out, head[n]);
    str_add(out, "<title>");
    add_plain(out, title, title + strlen(title));
}

int export_html_page(const char *title, const struct str *md, struct str *out, struct err *e)
{
    begin_page(title, out);
    str_add(out, "</title>\n</head>\n<body>\n<main>\n");
    int rc = add_report(out, md, NULL, NULL, e);
    if (rc)
        return rc;
    str_add(out, "<footer>Written by automap. Times are modelled; what the model leaves out stands "
                 "in its documentation.</footer>\n</main>\n</body>\n</html>\n");
    return out->failed ? err_no_memory(e, "for the page") : 0;
}

int export_html(const struct plan *p, const struct report_about *about, struct str *out,
                struct err *e)
{
    struct str md = {0};
    int rc = export_report(p, about, &md, e);

    if (rc)
        goto out;
    rc = export_report_check(p, md.text, md.size, e);
    if (rc)
        goto out;
    begin_page(about->model, out);
    str_add(out, ", planned</title>\n</head>\n<body>\n<main>\n");
    rc = add_report(out, &md, p, about, e);
    if (rc)
        goto out;
    str_add(out, "<footer>A plan by automap. Times are modelled; what the model leaves out stands "
                 "in its documentation.</footer>\n</main>\n</body>\n</html>\n");
    if (out->failed)
        rc = err_no_memory(e, "for the report");
out:
    str_release(&md);
    return rc;
}
