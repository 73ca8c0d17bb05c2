/* `HloModule name, attr=value ...`, tables, computations. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/leased.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "hlo/text/parse.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* ---- errors ---- */

/* A value copied without its comments has the place of the attribute. */
static size_t place_of(const struct parser *p, const char *at)
{
    uintptr_t begin = (uintptr_t)p->input, place = (uintptr_t)at;

    return place >= begin && place - begin <= p->size ? place - begin : (size_t)(p->at - p->input);
}

int hlo_parse_fail(struct parser *p, const char *at, const char *format, ...)
{
    char what[sizeof p->e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (at[0] == '/' && at[1] == '*')
        err_set(p->e, ERR_INPUT, "comment is not closed, expected */");
    else
        err_set(p->e, ERR_INPUT, "%s", what);
    return err_at(p->e, p->input, p->size, place_of(p, at));
}

int hlo_parse_place(struct parser *p, const char *at, int code)
{
    if (code && !p->e->line)
        err_at(p->e, p->input, p->size, place_of(p, at));
    return code;
}

int hlo_parse_memory(struct parser *p)
{
    return err_no_memory(p->e, "for this module");
}

int hlo_parse_word_size(const char *at)
{
    int size = 0;

    while (size < 60 && at[size] && !lex_is(at[size], LEX_BLANK) && at[size] != ',')
        size++;
    return size;
}

int hlo_parse_name_size(const char *at)
{
    size_t size = (size_t)(lex_name_end(at) - at);

    return size < 60 ? (int)size : 60;
}

int hlo_parse_unexpected(struct parser *p, char c, const char *why)
{
    if (!*p->at)
        return hlo_parse_fail(p, p->at, "end of the file, expected %c %s", c, why);
    return hlo_parse_fail(p, p->at, "\"%.*s\" found, expected %c %s", PARSE_WORD(p->at), c, why);
}

/* ---- header ---- */

static int header_bool(struct parser *p, const char *value, const char *end)
{
    (void)end;
    p->m->is_scheduled = hlo_lex_is_word(value, "true");
    return p->m->is_scheduled || hlo_lex_is_word(value, "false")
               ? 0
               : hlo_parse_fail(p, value, "expected true or false");
}

static int header_count(struct parser *p, const char *value, int64_t *out)
{
    if (!hlo_lex_int(value, out) || *out < 1)
        return hlo_parse_fail(p, value, "\"%.*s\" is not a count, expected 1 or more",
                              PARSE_WORD(value));
    return 0;
}

static int header_replicas(struct parser *p, const char *value, const char *end)
{
    (void)end;
    return header_count(p, value, &p->m->replica_count);
}

static int header_partitions(struct parser *p, const char *value, const char *end)
{
    (void)end;
    return header_count(p, value, &p->m->num_partitions);
}

static int header_aliases(struct parser *p, const char *value, const char *end)
{
    (void)end;
    return hlo_parse_aliases(p, value, false);
}

static int header_donors(struct parser *p, const char *value, const char *end)
{
    (void)end;
    return hlo_parse_aliases(p, value, true);
}

/* Those without a reader are kept as text. */
static const struct {
    const char *name;
    int (*read)(struct parser *p, const char *value, const char *end);
} header_attrs[] = {
    {"is_scheduled", header_bool},
    {"input_output_alias", header_aliases},
    {"buffer_donor", header_donors},
    {"replica_count", header_replicas},
    {"num_partitions", header_partitions},
    {"alias_passthrough_params", NULL},
    {"entry_computation_layout", NULL},
    {"allow_spmd_sharding_propagation_to_parameters", NULL},
    {"allow_spmd_sharding_propagation_to_output", NULL},
    {"frontend_attributes", NULL},
    {"origin_recovery_table", NULL},
    {"debug_attributes", NULL},
};

static int keep_header(struct parser *p, const char *text, const char *end)
{
    uint32_t size = (uint32_t)(end - text);

    if (end - text >= UINT32_MAX)
        return hlo_parse_place(p, text, err_set(p->e, ERR_LIMIT, "an attribute of more than 4 GB"));
    if (!mem_grow(&p->header, &p->header_room, p->header_count, 1))
        return hlo_parse_memory(p);
    text = hlo_build_keep(p->b, text, (size_t)(end - text));
    if (!text)
        return hlo_parse_memory(p);
    p->header[p->header_count++] = (struct hlo_text){text, size};
    return 0;
}

/* Past the comma: `name=value`. */
static int parse_header_attr(struct parser *p)
{
    size_t row = 0, rows = sizeof header_attrs / sizeof *header_attrs;

    parse_skip(p);
    const char *name = p->at;
    p->at = lex_name_end(name);
    while (row < rows && !hlo_lex_is_word(name, header_attrs[row].name))
        row++;
    if (p->at == name)
        return hlo_parse_fail(p, name, "expected an attribute of the module (name=value)");
    if (parse_expect(p, '=', "after the name of an attribute"))
        return p->e->code;
    parse_skip(p);
    const char *value = p->at, *end = hlo_parse_value_end(value, HLO_ATTR_UNKNOWN);
    if (!end || end == value)
        return hlo_parse_fail(p, value,
                              "attribute of the module without an end, expected name=value");
    if (row == rows)
        hlo_build_warning(p->b, (size_t)(name - p->input),
                          "module attribute %.*s is not known: kept as it stands",
                          PARSE_NAME(name));
    int rc = row < rows && header_attrs[row].read ? header_attrs[row].read(p, value, end)
                                                  : keep_header(p, name, end);
    p->at = end;
    return rc;
}

static int set_module_name(struct parser *p, const char *name, size_t size)
{
    if (size > HLO_NAME_MAX)
        return hlo_parse_fail(p, name, "a name of %zu bytes, expected at most %d", size,
                              HLO_NAME_MAX);
    char *copy = arena_get(&p->m->arena, size + 1, 1);
    if (!copy)
        return hlo_parse_memory(p);
    text_clean(copy, size + 1, name, size);
    p->m->name = copy;
    return 0;
}

static int parse_header(struct parser *p)
{
    parse_skip(p);
    const char *name = p->at + (*p->at == '%');
    while (*p->at && *p->at != ',' && *p->at != ':' && !lex_is(*p->at, LEX_BLANK))
        p->at++;
    if (p->at == name)
        return hlo_parse_fail(p, name, "expected the name of the module");
    if (set_module_name(p, name, (size_t)(p->at - name)))
        return p->e->code;
    if (*p->at == ':')
        p->at++;
    for (parse_skip(p); *p->at == ','; parse_skip(p)) {
        p->at++;
        if (parse_header_attr(p))
            return p->e->code;
    }
    if (p->header_count) {
        struct hlo_text *kept = arena_get(&p->m->arena, p->header_count, sizeof *kept);
        if (!kept)
            return hlo_parse_memory(p);
        memcpy(kept, p->header, p->header_count * sizeof *kept);
        p->m->header = kept;
        p->m->header_count = (uint32_t)p->header_count;
    }
    return hlo_parse_tables(p);
}

/* ---- computations ---- */

/* A computation nobody named yet: a slot of its own until it is defined. */
int hlo_parse_new_computation(struct parser *p, const char *name, size_t size, hlo_comp *out)
{
    if (hlo_build_computation(p->b, name, size, out, p->e))
        return p->e->code;
    if (!mem_grow(&p->computations, &p->computation_room, p->computation_count, 1))
        return hlo_parse_memory(p);
    p->computations[p->computation_count++] = (struct parse_computation){false, name};
    return 0;
}

/* `{ROOT` or `{name =`: instructions, not names of computations. */
bool hlo_parse_at_inline(const char *at)
{
    if (*at != '{')
        return false;
    at = lex_skip(at + 1);
    if (hlo_lex_is_word(at, "ROOT"))
        return true;
    at += *at == '%';
    const char *end = lex_name_end(at);
    return end > at && *lex_skip(end) == '=';
}

/* to_apply={ instructions }: put aside, under a fresh name, until this computation is read. */
int hlo_parse_inline(struct parser *p, hlo_comp *out)
{
    const char *end = hlo_lex_group_end(p->at);
    char name[24] = "_"; /* as XLA calls it */

    if (!end || p->unwanted) /* the second thread cannot number them */
        return hlo_parse_fail(p, p->at, "computation is not closed, expected }");
    if (p->inline_depth >= HLO_NESTING_MAX)
        return hlo_parse_place(
            p, p->at,
            err_set(p->e, ERR_LIMIT, "computations nested deeper than %d", HLO_NESTING_MAX));
    while (hlo_builder_find_computation(p->b, name, strlen(name)) != HLO_NONE)
        snprintf(name, sizeof name, "_.%u", (unsigned)++p->fresh);
    if (hlo_parse_new_computation(p, name, strlen(name), out))
        return hlo_parse_place(p, p->at, p->e->code);
    p->computations[*out].is_defined = true;
    if (!mem_grow(&p->bodies, &p->body_room, p->body_count, 1))
        return hlo_parse_memory(p);
    p->bodies[p->body_count++] = (struct parse_body){p->at, *out, p->inline_depth + 1};
    p->at = end;
    return 0;
}

int hlo_parse_computation_name(struct parser *p, hlo_comp *out)
{
    const char *name = p->at + (*p->at == '%'), *end = lex_name_end(name);
    size_t size = (size_t)(end - name);

    if (!size || !lex_is(*name, LEX_START))
        return hlo_parse_fail(p, p->at, "\"%.*s\" is not a computation, expected its name",
                              PARSE_WORD(p->at));
    p->at = end;
    *out = hlo_builder_find_computation(p->b, name, size);
    if (*out != HLO_NONE)
        return 0;
    return hlo_parse_place(p, name, hlo_parse_new_computation(p, name, size, out));
}

/* `(p: f32[2], ...) -> f32[2]`: says again what the parameters and the root say. */
static int skip_signature(struct parser *p)
{
    hlo_shape_id result;
    const char *end = hlo_lex_group_end(p->at);

    if (!end)
        return hlo_parse_fail(p, p->at, "parameters of a computation are not closed, expected )");
    p->at = lex_skip(end);
    if (p->at[0] != '-' || p->at[1] != '>')
        return hlo_parse_fail(p, p->at,
                              "\"%.*s\" found, expected -> and the result of the computation",
                              PARSE_WORD(p->at));
    p->at = lex_skip(p->at + 2);
    return hlo_parse_shape(p, &result);
}

enum { BEHIND_STEP = 2 << 20 }; /* bytes of text */

/* Gives back the pages of the text that was read: what is kept of it was copied. A first line with
 * the mark of a byte order was written over. */
static void leave_behind(struct parser *p)
{
    if (!p->behind)
        p->behind = p->at;
    if (p->at - p->behind < BEHIND_STEP)
        return;
    leased_behind(p->behind, p->at);
    p->behind = p->at;
}

int hlo_parse_instructions(struct parser *p, bool *has_root)
{
    for (parse_skip(p); *p->at != '}'; parse_skip(p)) {
        if (p->at == p->ahead_at) {
            bool is_taken;
            int rc = hlo_parse_ahead_take(p, has_root, &is_taken);
            if (rc || is_taken)
                return rc;
        }
        if (!*p->at || (p->unwanted && atomic_load_explicit(p->unwanted, memory_order_relaxed)))
            return hlo_parse_fail(p, p->at, "end of the file inside a computation, expected }");
        if (hlo_parse_instruction(p))
            return p->e->code;
        if (p->is_leased)
            leave_behind(p);
        *has_root |= hlo_builder_at(p->b, hlo_builder_count(p->b) - 1)->is_root;
    }
    p->at++;
    return 0;
}

/* Past `{`. */
static int parse_body(struct parser *p, const char *begin)
{
    bool has_root = false;
    uint32_t first = hlo_builder_count(p->b);

    hlo_parse_names_begin(p);
    if (hlo_parse_instructions(p, &has_root))
        return p->e->code;
    if (hlo_builder_count(p->b) == first)
        return hlo_parse_fail(p, begin, "computation without instructions, expected at least one");
    if (!has_root)
        hlo_builder_at(p->b, hlo_builder_count(p->b) - 1)->is_root = true;
    return hlo_parse_waiting_done(p);
}

/* Bodies that stood inside the computation just read, and inside of these. */
static int parse_inline_bodies(struct parser *p)
{
    const char *behind = p->at;

    for (size_t n = 0; n < p->body_count; n++) {
        struct parse_body body = p->bodies[n];
        p->computation = body.computation;
        p->inline_depth = body.depth;
        p->at = body.at + 1;
        if (parse_body(p, body.at))
            return p->e->code;
    }
    p->body_count = 0;
    p->inline_depth = 0;
    p->at = behind;
    return 0;
}

/* `, execution_thread="name"` behind the body. */
int hlo_parse_thread(struct parser *p)
{
    parse_skip(p);
    if (*p->at != ',')
        return 0;
    p->at = lex_skip(p->at + 1);
    if (strncmp(p->at, "execution_thread=\"", 18))
        return hlo_parse_fail(p, p->at, "\"%.*s\" found, expected execution_thread=\"name\"",
                              PARSE_WORD(p->at));
    const char *name = p->at + 18, *end = hlo_lex_string_end(name - 1);
    if (!end)
        return hlo_parse_fail(p, name, "string is not closed, expected \"");
    char *copy = arena_get(&p->m->arena, (size_t)(end - name), 1);
    if (!copy)
        return hlo_parse_memory(p);
    text_clean(copy, (size_t)(end - name), name, (size_t)(end - name) - 1);
    hlo_builder_computation(p->b, p->computation)->thread = copy;
    p->at = end;
    return 0;
}

static int parse_computation(struct parser *p)
{
    bool is_entry = hlo_lex_is_word(p->at, "ENTRY");

    if (is_entry)
        p->at = lex_skip(p->at + 5);
    const char *begin = p->at;
    if (hlo_parse_computation_name(p, &p->computation))
        return p->e->code;
    struct parse_computation *c = &p->computations[p->computation];
    if (c->is_defined)
        return hlo_parse_fail(p, begin, "a second computation \"%.*s\", expected a new name",
                              PARSE_NAME(begin + (*begin == '%')));
    if (is_entry && p->entry != HLO_NONE)
        return hlo_parse_fail(p, begin, "a second ENTRY computation, expected one");
    c->is_defined = true;
    p->last = p->computation;
    if (is_entry) {
        p->entry = p->computation;
        p->entry_begin = hlo_builder_count(p->b);
    }
    parse_skip(p);
    if (*p->at == '(' && skip_signature(p))
        return p->e->code;
    if (parse_expect(p, '{', "before the instructions of a computation") || parse_body(p, begin))
        return p->e->code;
    return hlo_parse_thread(p) ? p->e->code : parse_inline_bodies(p);
}

/* Without a header: `name = f32[2] add(...)` or `add(f32[2] a, ...)`, not `name {` or
 * `name (...) -> ... {`. */
static bool at_single_instruction(const char *at)
{
    if (hlo_lex_is_word(at, "ENTRY"))
        return false;
    if (hlo_lex_is_word(at, "ROOT") || *at == '(')
        return true;
    const char *end = lex_skip(lex_name_end(at + (*at == '%')));
    if (*end == '=' || *end == '[')
        return true;
    if (*end != '(')
        return false;
    end = hlo_lex_group_end(end);
    if (!end)
        return false;
    end = lex_skip(end);
    return end[0] != '-' || end[1] != '>';
}

static int parse_single(struct parser *p)
{
    p->is_single = true;
    if (hlo_build_computation(p->b, "entry", 5, &p->computation, p->e))
        return p->e->code;
    p->entry = p->computation;
    p->m->name = hlo_builder_computation(p->b, p->computation)->name;
    hlo_parse_names_begin(p);
    if (hlo_parse_instruction(p) || hlo_parse_waiting_done(p))
        return p->e->code;
    hlo_builder_at(p->b, hlo_builder_count(p->b) - 1)->is_root = true;
    if (parse_inline_bodies(p))
        return p->e->code;
    parse_skip(p);
    return *p->at ? hlo_parse_fail(p, p->at, "\"%.*s\" found, expected the end of the file",
                                   PARSE_WORD(p->at))
                  : 0;
}

static int check_defined(struct parser *p)
{
    for (size_t n = 0; n < p->computation_count; n++) {
        const struct parse_computation *c = &p->computations[n];
        if (!c->is_defined)
            return hlo_parse_fail(p, c->first_use,
                                  "computation \"%.*s\" is not defined, expected it "
                                  "in this module",
                                  PARSE_NAME(c->first_use));
    }
    return 0;
}

int hlo_parse_computations(struct parser *p)
{
    for (parse_skip(p); *p->at; parse_skip(p)) {
        if (parse_computation(p))
            return p->e->code;
    }
    return 0;
}

int hlo_parse_module(struct parser *p)
{
    parse_skip(p);
    if (hlo_lex_is_word(p->at, "HloModule")) {
        p->at += 9;
        if (parse_header(p))
            return p->e->code;
    } else if (at_single_instruction(p->at)) {
        return parse_single(p);
    }
    hlo_parse_ahead_begin(p);
    if (hlo_parse_computations(p))
        return p->e->code;
    if (p->last == HLO_NONE)
        return hlo_parse_fail(p, p->at, "no computation found, expected at least one");
    if (p->entry == HLO_NONE)
        p->entry = p->last;
    if (check_defined(p))
        return p->e->code;
    if (!*p->m->name)
        p->m->name = hlo_builder_computation(p->b, p->entry)->name;
    return hlo_parse_aliases_done(p);
}
