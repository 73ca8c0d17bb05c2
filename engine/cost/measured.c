#include "engine/cost/measured.h"

#include "engine/text/quantity.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

struct named {
    const char *name;
    hlo_id id;
    uint32_t is_entry;
};

struct reader {
    const struct hlo_module *names; /* the module as read from its file */
    struct named *index;            /* by name; of equal names the entry's first */
    double *ms;                     /* [names->count], -1: not yet */
    const char *text, *at;
    size_t size, measured;
    struct err *e;
};

static int fail_at(struct reader *r, const char *place)
{
    return err_at(r->e, r->text, r->size, (size_t)(place - r->text));
}

static int expected(struct reader *r, const char *what)
{
    err_set(r->e, ERR_INPUT, "%s", what);
    return fail_at(r, r->at);
}

/* ---- names ---- */

static int compare_named(const void *x, const void *y)
{
    const struct named *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    if (order)
        return order;
    if (a->is_entry != b->is_entry)
        return a->is_entry ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int make_index(struct reader *r)
{
    uint32_t count = r->names->count;

    r->index = mem_try(count, sizeof *r->index);
    r->ms = mem_try(count, sizeof *r->ms);
    if (!r->index || !r->ms)
        return err_no_memory(r->e, "for the profile");
    for (hlo_id id = 0; id < count; id++) {
        r->ms[id] = -1;
        r->index[id] = (struct named){hlo_name(r->names, id), id,
                                      hlo_at(r->names, id)->computation == r->names->entry};
    }
    if (count)
        qsort(r->index, count, sizeof *r->index, compare_named);
    return 0;
}

/* The first entry of the index whose name is not before `name`. */
static hlo_id find_instruction(const struct reader *r, const char *name)
{
    uint32_t low = 0, high = r->names->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(r->index[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->names->count && !strcmp(r->index[low].name, name) ? r->index[low].id : HLO_NONE;
}

/* Name and time of one instruction; `place` is where the name stands. */
static int keep_time(struct reader *r, const char *name, const char *place, double ms)
{
    char clean[100];
    hlo_id id = find_instruction(r, name[0] == '%' ? name + 1 : name);

    text_clean(clean, sizeof clean, name, strlen(name));
    if (id == HLO_NONE)
        err_set(r->e, ERR_INPUT, "no instruction of the model is called \"%s\"", clean);
    else if (r->ms[id] >= 0)
        err_set(r->e, ERR_INPUT, "\"%s\" has a time already, expected each instruction once",
                clean);
    else {
        r->ms[id] = ms;
        r->measured++;
        return 0;
    }
    return fail_at(r, place);
}

static int read_time(struct reader *r, double *ms)
{
    const char *start = r->at;

    if (!quantity_number(&r->at, ms))
        return expected(r, "expected a time in ms, such as 1.25");
    if (!(*ms <= 1e9)) {
        err_set(r->e, ERR_LIMIT, "a time of more than 10^9 ms");
        return fail_at(r, start);
    }
    return 0;
}

/* ---- JSON ---- */

static void skip_space(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

/* A string without escapes but \" \\ and \/, which are all that a name can need. */
static int read_string(struct reader *r, struct str *name)
{
    str_clear(name);
    if (*r->at != '"')
        return expected(r, "expected the name of an instruction in quotes");
    for (r->at++; *r->at != '"'; r->at++) {
        if (*r->at == '\\') {
            if (r->at[1] != '"' && r->at[1] != '\\' && r->at[1] != '/')
                return expected(r, "unknown escape in a name, expected \\\" \\\\ or \\/");
            r->at++;
        } else if ((unsigned char)*r->at < 32) {
            return expected(r, "the name does not end on its line, expected \"");
        }
        str_add_char(name, *r->at);
    }
    r->at++;
    return 0;
}

static int read_pair(struct reader *r, struct str *name)
{
    const char *place = r->at;
    double ms = 0;
    int rc = read_string(r, name);

    if (rc)
        return rc;
    skip_space(r);
    if (*r->at != ':')
        return expected(r, "expected ':' and a time in ms");
    r->at++;
    skip_space(r);
    rc = read_time(r, &ms);
    if (rc)
        return rc;
    if (name->failed)
        rc = err_no_memory(r->e, "for the profile");
    return rc ? rc : keep_time(r, name->text ? name->text : "", place, ms);
}

static int read_json(struct reader *r)
{
    struct str name = {0};
    int rc = 0;

    r->at++;
    skip_space(r);
    while (*r->at != '}' && !rc) {
        rc = read_pair(r, &name);
        if (rc)
            break;
        skip_space(r);
        if (*r->at == ',') {
            r->at++;
            skip_space(r);
            if (*r->at == '}')
                rc = expected(r, "expected another instruction after ','");
        } else if (*r->at != '}') {
            rc = expected(r, "expected ',' or '}'");
        }
    }
    str_release(&name);
    if (rc)
        return rc;
    r->at++;
    skip_space(r);
    return r->at < r->text + r->size ? expected(r, "expected nothing after the object") : 0;
}

/* ---- CSV ---- */

static int read_line(struct reader *r, struct str *name)
{
    const char *place = r->at;
    size_t length = strcspn(r->at, ",\n\r");
    double ms = 0;

    if (r->at[length] != ',')
        return expected(r, "expected instruction,ms");
    str_clear(name);
    str_add_bytes(name, r->at, length);
    if (name->failed)
        return err_no_memory(r->e, "for the profile");
    r->at += length + 1;
    while (*r->at == ' ')
        r->at++;
    int rc = read_time(r, &ms);
    if (rc)
        return rc;
    while (*r->at == ' ' || *r->at == '\r')
        r->at++;
    if (*r->at && *r->at != '\n')
        return expected(r, "expected the end of the line after the time");
    return keep_time(r, name->text ? name->text : "", place, ms);
}

static int read_csv(struct reader *r)
{
    static const char head[] = "instruction,ms";
    struct str name = {0};
    int rc = 0;

    if (!strncmp(r->at, head, sizeof head - 1) && strchr("\r\n", r->at[sizeof head - 1]))
        r->at += strcspn(r->at, "\n");
    while (!rc) {
        r->at += strspn(r->at, "\r\n");
        if (*r->at == '#')
            r->at += strcspn(r->at, "\n");
        else if (*r->at)
            rc = read_line(r, &name);
        else
            break;
    }
    str_release(&name);
    if (!rc && r->at < r->text + r->size)
        rc = expected(r, "a zero byte, expected text");
    return rc;
}

/* ---- whole ---- */

static int spread_times(const struct reader *r, const struct hlo_module *m, double **out)
{
    double *ms = mem_try(m->count, sizeof *ms);

    if (!ms)
        return err_no_memory(r->e, "for the profile");
    for (hlo_id id = 0; id < m->count; id++) {
        hlo_id origin = m->source ? m->origin[id] : id;
        ms[id] = origin == HLO_NONE ? -1 : r->ms[origin];
    }
    *out = ms;
    return 0;
}

int measured_read(const struct hlo_module *m, const char *text, size_t size, double **out,
                  struct err *e)
{
    struct reader r = {
        .names = m->source ? m->source : m, .text = text, .at = text, .size = size, .e = e};

    *out = NULL;
    int rc = make_index(&r);
    if (rc)
        goto out;
    skip_space(&r);
    rc = *r.at == '{' ? read_json(&r) : read_csv(&r);
    if (rc)
        goto out;
    if (!r.measured) {
        rc = err_set(
            e, ERR_INPUT,
            "the profile measures nothing, expected lines of instruction,ms or a JSON object");
        goto out;
    }
    rc = spread_times(&r, m, out);
out:
    free(r.index);
    free(r.ms);
    return rc;
}

int measured_load(const struct hlo_module *m, const char *path, double **out, struct err *e)
{
    struct str text = {0};

    *out = NULL;
    int rc = hlo_file_read(path, MEASURED_FILE_MOST, &text, e);
    if (rc)
        goto out;
    rc = measured_read(m, text.text ? text.text : "", text.size, out, e);
    if (rc)
        err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}
