/* StableHLO (MLIR text) to a module. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

static int set_name(struct mlir_module *m)
{
    struct hlo_module *out = hlo_builder_module(m->b);
    size_t size = m->name.size < HLO_NAME_MAX ? m->name.size : HLO_NAME_MAX;
    char *copy = arena_get(&out->arena, size + 8, 1);

    if (!copy)
        return hlo_mlir_memory(m);
    if (size)
        text_clean(copy, size + 1, m->name.text, size);
    else
        memcpy(copy, "main", 5);
    for (char *p = copy; *p; p++) { /* a name of HLO ends at these */
        if (*p == ' ' || *p == ',' || *p == ':')
            *p = '_';
    }
    out->name = copy;
    out->format = HLO_FORMAT_STABLEHLO;
    return 0;
}

/* ---- several modules in one file, as MLIR's tools write them ---- */

static bool is_divider(const char *line)
{
    return !strncmp(line, "// -----", 8);
}

/* The first line behind `from` that divides modules, or the end. Never more than a line too far:
 * `from` is the begin of one. */
static char *part_end(char *from, char *end)
{
    while (from < end && !is_divider(from)) {
        char *newline = memchr(from, '\n', (size_t)(end - from));
        from = newline ? newline + 1 : end;
    }
    return from;
}

/* Behind the divider at `line`. */
static char *next_line(char *line, char *end)
{
    char *newline = memchr(line, '\n', (size_t)(end - line));

    return newline ? newline + 1 : end;
}

/* Something besides blanks and comments. */
static bool has_text(char *from, char *end)
{
    while (from < end) {
        if (strchr(" \t\r\n", *from))
            from++;
        else if (from[0] == '/' && from[1] == '/')
            from = next_line(from, end);
        else
            return true;
    }
    return false;
}

static void blank_comment(char *from, char *end)
{
    for (; from < end; from++)
        *from = *from == '\n' ? '\n' : ' ';
}

/* Leaves module `wanted`, -1: the largest, and blanks the others, so that lines stay. */
static int pick_module(struct mlir_module *m, char *input, int32_t wanted)
{
    char *end = input + m->size, *picked = NULL, *picked_end = NULL;
    int32_t count = 0, number = 0;

    for (char *at = input; at < end; at = at < end ? next_line(at, end) : end) {
        char *begin = at;
        at = part_end(at, end);
        if (!has_text(begin, at))
            continue;
        if (wanted >= 0 ? count == wanted : !picked || at - begin > picked_end - picked) {
            picked = begin;
            picked_end = at;
            number = count;
        }
        count++;
    }
    if (wanted >= 0 && !picked)
        return err_set(m->e, ERR_INPUT, "no module %d in a file of %d, expected a number below %d",
                       wanted, count, count);
    if (count < 2)
        return 0;
    blank_comment(input, picked);
    blank_comment(picked_end, end);
    hlo_build_warning(m->b, (size_t)(picked - input),
                      "the file holds %d modules: this is number %d, counted from 0", count,
                      number);
    return 0;
}

static int read_module(struct mlir_module *m, char *input, int32_t wanted, hlo_comp *entry)
{
    struct lower *l;
    const char *zero = memchr(m->input, 0, m->size);
    int rc;

    if (zero) {
        err_set(m->e, ERR_INPUT, "a zero byte in text, expected MLIR");
        return err_at(m->e, m->input, m->size, (size_t)(zero - m->input));
    }
    rc = pick_module(m, input, wanted);
    if (rc)
        return rc;
    l = mem_try(1, sizeof *l);
    rc = l ? hlo_mlir_parse(m) : hlo_mlir_memory(m);
    if (rc)
        goto out;
    l->m = m;
    l->b = m->b;
    l->e = m->e;
    rc = set_name(m);
    if (rc)
        goto out;
    rc = hlo_lower_module(l, entry);
out:
    free(l);
    return rc;
}

int hlo_read_stablehlo(char *input, size_t size, const struct hlo_load_options *o,
                       struct hlo_module **out, struct err *e)
{
    struct mlir_module m = {.input = input, .size = size, .e = e};
    hlo_comp entry = HLO_NONE;

    m.b = hlo_builder_new(input, size, hlo_memory_limit(size));
    if (!m.b)
        return err_set(e, ERR_MEMORY, "not enough memory for this module");
    int rc = read_module(&m, input, o ? o->module : -1, &entry);
    hlo_mlir_release(&m);
    if (rc) {
        hlo_builder_free(m.b);
        return rc;
    }
    return hlo_builder_finish(m.b, entry, out, e);
}
