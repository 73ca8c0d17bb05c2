/* Locations to op_name and source line; names of instructions. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* What a location says: the outermost name, the first file below. */
struct place {
    struct mlir_span name, file; /* with their quotes; empty: none */
    int64_t line;
    int steps; /* to stop at circles of aliases */
};

static void read_place(struct lower *l, const char *p, struct place *out);

/* p at an alias `#loc12`. */
static void read_alias(struct lower *l, const char *p, struct place *out)
{
    const char *end = hlo_mlir_name_end(p + 1);
    uint32_t n = hlo_mlir_name(&l->m->alias_names, p, (size_t)(end - p));

    if (n == MLIR_NONE || l->m->alias_names.list[n].value == MLIR_NONE)
        return;
    struct mlir_span s = l->m->aliases[l->m->alias_names.list[n].value].text;
    if (s.size > 4 && !memcmp(s.text, "loc(", 4))
        read_place(l, s.text + 4, out);
}

/* p at `"text"`: a name, or a file when `:line` follows. */
static void read_string(struct lower *l, const char *p, struct place *out)
{
    const char *end = hlo_lex_string_end(p);

    if (!end || end - p > HLO_NAME_MAX)
        return;
    struct mlir_span text = {p, (uint32_t)(end - p)};
    if (*end == ':') {
        if (!out->file.size && hlo_lex_int(end + 1, &out->line))
            out->file = text;
        return;
    }
    if (!out->name.size)
        out->name = text;
    if (*end == '(')
        read_place(l, end + 1, out);
}

/* p behind `loc(`, or at a location within another. */
static void read_place(struct lower *l, const char *p, struct place *out)
{
    if (++out->steps > 64 || (out->name.size && out->file.size))
        return;
    p = lex_skip(p);
    if (*p == '#') {
        read_alias(l, p, out);
    } else if (*p == '"') {
        read_string(l, p, out);
    } else if (!strncmp(p, "callsite(", 9)) {
        read_place(l, p + 9, out);
    } else if (!strncmp(p, "fused", 5)) {
        p += 5;
        if (*p == '<')
            p = hlo_mlir_group_end(p);
        if (!p || *p != '[')
            return;
        const char *end = hlo_mlir_group_end(p);
        for (p++; end && p < end && !out->name.size && out->steps < 64; p++) {
            read_place(l, p, out);
            p = hlo_mlir_value_end(p);
            if (!p || *p != ',')
                return;
        }
    }
}

static uint32_t *known_meta(struct lower *l, const char *loc, bool **is_known)
{
    if (*loc != '#')
        return NULL;
    const char *end = hlo_mlir_name_end(loc + 1);
    uint32_t n = hlo_mlir_name(&l->m->alias_names, loc, (size_t)(end - loc));
    if (n == MLIR_NONE || l->m->alias_names.list[n].value == MLIR_NONE)
        return NULL;
    struct mlir_alias *a = &l->m->aliases[l->m->alias_names.list[n].value];
    *is_known = &a->is_known;
    return &a->meta;
}

int hlo_lower_meta(struct lower *l, const char *loc, bool is_argument, uint32_t *out)
{
    struct place place = {.line = 0};
    bool *is_known = NULL;
    const char *texts[2] = {"", ""};
    size_t sizes[3] = {0, 0, 0};

    *out = 0;
    if (!loc)
        return 0;
    uint32_t *known = known_meta(l, lex_skip(loc), &is_known);
    if (known && *is_known) {
        *out = *known;
        return 0;
    }
    read_place(l, loc, &place);
    if (place.name.size) {
        texts[0] = hlo_mlir_string(l->m, place.name, &sizes[1]);
        if (!texts[0])
            return hlo_lower_memory(l);
        const char *bracket = memchr(texts[0], '[', sizes[1]);
        if (!is_argument && bracket && texts[0][sizes[1] - 1] == ']')
            sizes[1] = (size_t)(bracket - texts[0]); /* parameters of old JAX's primitives */
    }
    if (place.file.size) {
        texts[1] = hlo_mlir_string(l->m, place.file, &sizes[2]);
        if (!texts[1])
            return hlo_lower_memory(l);
    }
    struct hlo_meta meta = {"", texts[0], texts[1],
                            place.line > 0 && place.line < UINT32_MAX ? (uint32_t)place.line : 0};
    if ((sizes[1] || sizes[2]) && hlo_build_meta(l->b, &meta, sizes, out, l->e))
        return l->e->code;
    if (known) {
        *known = *out;
        *is_known = true;
    }
    return 0;
}

/* ---- names ---- */

struct mlir_span hlo_lower_base(struct lower *l, uint32_t meta, uint16_t opcode)
{
    const char *name = hlo_builder_meta(l->b, meta)->op_name;
    size_t size = strlen(name), from = size;

    /* XLA takes what stands behind the last slash. */
    while (from && name[from - 1] != '/')
        from--;
    if (size > from)
        return (struct mlir_span){name + from, (uint32_t)(size - from)};
    name = hlo_op_info[opcode].name;
    return (struct mlir_span){name, (uint32_t)strlen(name)};
}

int hlo_lower_name(struct lower *l, struct mlir_span base)
{
    enum { BASE_MOST = 200 };
    char clean[BASE_MOST + 16] = {0};
    uint32_t size = base.size < BASE_MOST ? base.size : BASE_MOST;

    for (uint32_t n = 0; n < size; n++) {
        char c = base.text[n];
        clean[n] = lex_is(c, LEX_START) || (n && (lex_is(c, LEX_NAME))) ? c : '_';
    }
    uint32_t n = hlo_mlir_name(&l->bases, clean, size);
    if (n == MLIR_NONE)
        return hlo_lower_memory(l);
    struct mlir_name *name = &l->bases.list[n];
    if (name->value == MLIR_NONE) { /* new: its text must stay */
        char *kept = arena_get(&hlo_builder_module(l->b)->arena, size + 16, 1);
        if (!kept)
            return hlo_lower_memory(l);
        memcpy(kept, clean, size);
        name->text = kept;
        name->value = 0;
    }
    str_clear(&l->text);
    str_add_bytes(&l->text, name->text, name->size);
    str_add_char(&l->text, '.');
    str_add_int(&l->text, ++name->value);
    return l->text.failed ? hlo_lower_memory(l) : 0;
}
