#include "engine/cost/trace_table.h"

#include "engine/cost/trace.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 64, FIELD_ROOM = 512 };

struct table {
    const char *text, *at, *end;
    struct trace *t;
    size_t room;
    int name, time; /* columns; -1: not seen */
    double unit_ms;
    struct err *e;
};

static int wrong_cell(const struct table *k, const char *place, const char *what)
{
    int rc = err_set(k->e, ERR_INPUT, "%s", what);

    err_at(k->e, k->text, (size_t)(k->end - k->text), (size_t)(place - k->text));
    return rc;
}

/* One field, cut to FIELD_ROOM; stands at the comma or line end behind it. */
static void read_field(struct table *k, char out[static FIELD_ROOM])
{
    size_t size = 0;
    bool quoted = k->at < k->end && *k->at == '"';

    for (k->at += quoted; k->at < k->end; k->at++) {
        if (quoted && *k->at == '"') {
            if (k->at + 1 >= k->end || k->at[1] != '"')
                break;
            k->at++;
        } else if (!quoted && (*k->at == ',' || *k->at == '\n')) {
            break;
        }
        if (size + 1 < FIELD_ROOM && *k->at != '\r')
            out[size++] = *k->at;
    }
    out[size] = '\0';
    k->at += quoted && k->at < k->end;
    while (k->at < k->end && *k->at != ',' && *k->at != '\n')
        k->at++;
}

/* Past the comma; false at the end of the line, past that. */
static bool next_field(struct table *k)
{
    bool more = k->at < k->end && *k->at == ',';

    k->at += k->at < k->end;
    return more;
}

/* ---- titles ---- */

/* Letters and digits alone, small. */
static void plain(char *text)
{
    size_t size = 0;

    for (const char *p = text; *p; p++) {
        if (isalnum((unsigned char)*p))
            text[size++] = (char)tolower((unsigned char)*p);
    }
    text[size] = '\0';
}

static const char *const names[] = {"name",          "hloopname", "opname",
                                    "operationname", "operation", "instruction"};

/* What a run takes in total comes before what one execution takes, which is not enough. */
static const char *const times[] = {"totalselftime", "totaltime", "time"};

static const struct {
    const char *name;
    double ms;
} units[] = {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"s", 1e3}};

static bool is_name(const char *title)
{
    bool found = false;

    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        found |= !strcmp(title, names[n]);
    return found;
}

/* The place of a title among `times`, and its unit; the number of them: none. */
static size_t is_time(const char *title, double *unit_ms)
{
    size_t n = 0;

    for (; n < sizeof times / sizeof *times; n++) {
        size_t size = strlen(times[n]);
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            if (!strncmp(title, times[n], size) && !strcmp(title + size, units[u].name)) {
                *unit_ms = units[u].ms;
                return n;
            }
        }
    }
    return n;
}

/* Whether the line has both titles. */
static bool read_titles(struct table *k)
{
    char field[FIELD_ROOM];
    size_t best = sizeof times / sizeof *times;
    int column = 0;

    k->name = k->time = -1;
    do {
        double unit_ms = 0;
        read_field(k, field);
        plain(field);
        size_t time = is_time(field, &unit_ms);
        if (time < best) {
            best = time;
            k->time = column;
            k->unit_ms = unit_ms;
        }
        if (k->name < 0 && is_name(field))
            k->name = column;
        column++;
    } while (next_field(k) && column < COLUMNS_MOST);
    return k->name >= 0 && k->time >= 0;
}

/* ---- lines ---- */

static int keep_row(struct table *k, const char *name, double ms)
{
    struct trace *t = k->t;

    if (!mem_grow(&t->ops, &k->room, t->count, 1))
        return err_no_memory(k->e, "for a table of times");
    t->ops[t->count] = (struct trace_op){arena_text(&t->arena, name, strlen(name)), ms};
    return t->ops[t->count++].name ? 0 : err_no_memory(k->e, "for a table of times");
}

static int read_line(struct table *k)
{
    char field[FIELD_ROOM], name[FIELD_ROOM] = "";
    double ms = -1;
    int column = 0;
    const char *begin = k->at + (k->at < k->end && *k->at == '\r');

    if (begin == k->end || *begin == '\n') { /* an empty line */
        k->at = begin + (begin < k->end);
        return 0;
    }
    do {
        const char *place = k->at;
        char *end;
        read_field(k, field);
        if (column == k->name)
            memcpy(name, field, sizeof name);
        if (column++ != k->time)
            continue;
        ms = strtod(field, &end) * k->unit_ms;
        if (end == field || *end || !(ms >= 0) || !isfinite(ms))
            return wrong_cell(k, place, "expected a time of 0 or more");
    } while (next_field(k));
    return name[0] && ms >= 0 ? keep_row(k, name, ms) : 0;
}

static int by_name(const void *x, const void *y)
{
    const struct trace_op *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->ms > b->ms) - (a->ms < b->ms);
}

static void add_up(struct trace *t)
{
    uint32_t count = 0;

    t->events = t->count;
    t->runs = 1;
    qsort(t->ops, t->count, sizeof *t->ops, by_name);
    for (uint32_t n = 0; n < t->count; n++) {
        if (count && !strcmp(t->ops[count - 1].name, t->ops[n].name))
            t->ops[count - 1].ms += t->ops[n].ms;
        else
            t->ops[count++] = t->ops[n];
    }
    t->count = count;
}

int trace_table_read(const char *text, size_t size, struct trace *t, struct err *e)
{
    struct table k = {.text = text, .at = text, .end = text + size, .t = t, .e = e};
    bool found = false;
    int rc = 0;

    while (!found && k.at < k.end)
        found = read_titles(&k);
    if (!found)
        return wrong_cell(
            &k, text,
            "neither JSON nor a table, expected a trace of the JAX profiler or CSV with "
            "titles such as Name and Total Time (ns)");
    while (k.at < k.end && !rc)
        rc = read_line(&k);
    if (!rc && !t->count)
        rc = wrong_cell(&k, text, "a table without a line of a name and a time");
    if (!rc)
        add_up(t);
    return rc;
}
