/* Layers and scopes in the names that frameworks give to operations and arguments. */
#include "hlo/meaning/scope.h"

#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What JAX puts around a scope. All else, like jit(f), is a function's name and no scope. */
static const char *const transparent[] = {"jvp",   "transpose",  "vmap",      "pmap", "xmap",
                                          "remat", "checkpoint", "linearize", "vjp"};
/* Parts that name no module. */
static const char *const structural[] = {"while",
                                         "body",
                                         "cond",
                                         "scan",
                                         "closed_call",
                                         "checkpoint",
                                         "remat",
                                         "remat2",
                                         "rematted_computation",
                                         "core_call",
                                         "custom_jvp_call",
                                         "custom_vjp_call",
                                         "custom_vjp_call_jaxpr",
                                         "pjit",
                                         "shard_map",
                                         "xla_call",
                                         "fori_loop",
                                         "gradients",
                                         "gradient_tape",
                                         "main"};

/* Parts that mark an operation: the first as recomputed, the others as part of a gradient. */
static const char *const marking[] = {"rematted_computation", "gradients", "gradient_tape"};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool is_one_of(const char *const *table, size_t count, const char *text, size_t size)
{
    for (size_t i = 0; size && i < count; i++) { /* the first letter settles nearly all */
        if (table[i][0] == text[0] && !strncmp(table[i], text, size) && !table[i][size])
            return true;
    }
    return false;
}

bool hlo_scope_is_structural(const char *part, size_t size)
{
    return is_one_of(structural, COUNT(structural), part, size) ||
           (size > 7 && !strncmp(part, "branch_", 7)) ||
           (size > 6 &&
            (!strncmp(part, "aten__", 6) || !strncmp(part, "xla__", 5))); /* PyTorch's operations */
}

/* Skips to behind the ')' that closes what was opened before `at`. */
static size_t skip_group(const char *text, size_t at)
{
    for (size_t depth = 1; text[at] && depth; at++) {
        depth += text[at] == '(';
        depth -= text[at] == ')';
    }
    return at;
}

static bool is_word(const char *part, size_t size, const char *word)
{
    return is_one_of(&word, 1, part, size);
}

static size_t part_size(const char *part)
{
    size_t size = 0;

    for (;; size++) {
        switch (part[size]) {
        case '\0':
        case '/':
        case '(':
        case ')':
        case ';':
            return size;
        default:
            break;
        }
    }
}

/* The last '/' of the first name, behind which is the operation's own; NULL: none. */
static const char *last_slash(const char *op_name)
{
    size_t size = strcspn(op_name, ";");

    while (size && op_name[size - 1] != '/')
        size--;
    return size ? op_name + size - 1 : NULL;
}

void hlo_scope_of_op_name(const char *op_name, struct str *out, struct hlo_scope_marks *marks)
{
    const char *end = last_slash(op_name);
    size_t begin = out->size;

    *marks = (struct hlo_scope_marks){0};
    for (size_t i = 0; op_name[i] && op_name[i] != ';';) {
        const char *part = op_name + i;
        size_t size = part_size(part);
        i += size;
        if (op_name[i] == '(') { /* a wrapper: go on inside, or behind it */
            i++;
            marks->is_derived |= is_word(part, size, "jvp");
            marks->is_transposed |= is_word(part, size, "transpose");
            if (!is_one_of(transparent, COUNT(transparent), part, size))
                i = skip_group(op_name, i);
            continue;
        }
        marks->is_recomputed |= is_one_of(marking, 1, part, size);
        marks->is_gradient |= is_one_of(marking + 1, COUNT(marking) - 1, part, size);
        if (size && end && part < end && !hlo_scope_is_structural(part, size)) {
            if (out->size > begin)
                str_add_char(out, '/');
            str_add_bytes(out, part, size);
        }
        i += op_name[i] && op_name[i] != ';';
    }
}

/* No wrapper and no mark: an operation's plain name, or one with parameters, in whose parentheses
 * nothing counts, transpose[permutation=(1, 0)]. */
static bool is_operation(const char *name)
{
    size_t plain = strcspn(name, "[()");

    if (!name[plain])
        return !is_one_of(marking, COUNT(marking), name, plain);
    for (const char *at = strchr(name + plain, ')'); at; at = strchr(at + 1, ')')) {
        if (isalpha((unsigned char)at[1])) /* it may be a word of its own */
            return false;
    }
    return name[plain] == '[';
}

/* How much of an op_name, up to its last '/', says all: what stands behind is an operation's name.
 * 0: not so. */
static size_t telling_part(const char *op_name)
{
    const char *slash = strrchr(op_name, '/');

    if (!slash || strchr(op_name, ';') || !is_operation(slash + 1))
        return 0;
    return (size_t)(slash - op_name) + 1;
}

/* Reads the scope of meta `n`; false: no memory. */
static bool add_scope(struct hlo_scopes *s, const struct hlo_module *m, uint32_t n)
{
    size_t at = s->text.size;

    hlo_scope_of_op_name(m->metas[n].op_name, &s->text, &s->marks[n]);
    str_add_bytes(&s->text, "", 1);
    if (s->text.failed)
        return false;
    if (n && !strcmp(s->text.text + at, hlo_scope_of(s, n - 1))) {
        s->at[n] = s->at[n - 1];
        s->layer[n] = s->layer[n - 1];
        s->text.size = at;
    } else {
        s->at[n] = at;
        s->layer[n] = (uint32_t)hlo_layer_of_path(s->text.text + at, s->text.size - 1 - at);
    }
    return true;
}

/* Operations of one module stand one after the other: most have all but their last part in common
 * with the one before. */
bool hlo_scopes_init(struct hlo_scopes *s, const struct hlo_module *m)
{
    size_t before = 0;

    *s = (struct hlo_scopes){.at = mem_try(m->meta_count, sizeof *s->at),
                             .layer = mem_try(m->meta_count, sizeof *s->layer),
                             .marks = mem_try(m->meta_count, sizeof *s->marks)};
    bool ok = s->at && s->layer && s->marks;
    for (uint32_t n = 0; ok && n < m->meta_count; n++) {
        const char *name = m->metas[n].op_name;
        size_t size = telling_part(name);
        if (size && size == before && !memcmp(name, m->metas[n - 1].op_name, size)) {
            s->at[n] = s->at[n - 1];
            s->layer[n] = s->layer[n - 1];
            s->marks[n] = s->marks[n - 1];
        } else {
            ok = add_scope(s, m, n);
        }
        before = size;
    }
    return ok;
}

void hlo_scopes_release(struct hlo_scopes *s)
{
    str_release(&s->text);
    free(s->at);
    free(s->layer);
    free(s->marks);
    *s = (struct hlo_scopes){0};
}

/* Numbered containers that nest: stage1/block_2, layers_0/blocks/3. All else inside a layer, like
 * the conv1 of a feed-forward part, is a part of it. */
static bool is_container(const char *part, size_t size)
{
    static const char *const stems[] = {"layer",  "layers", "block", "blocks", "stage",
                                        "stages", "unit",   "cell",  "h"};

    while (size && (isdigit((unsigned char)part[size - 1]) || part[size - 1] == '_'))
        size--;
    for (size_t i = 0; i < COUNT(stems); i++) {
        size_t n = strlen(stems[i]), k = 0;
        if (size != n)
            continue;
        while (k < n && tolower((unsigned char)part[k]) == stems[i][k])
            k++;
        if (k == n)
            return true;
    }
    return size == 0;
}

static bool is_plain(const char *part, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)part[i]) && !strchr("_-.", part[i]))
            return false;
    }
    return size > 0;
}

static bool is_numbered(const char *part, size_t size)
{
    return is_plain(part, size) && isdigit((unsigned char)part[size - 1]);
}

/* Behind the number of a container's name at `at`, block_3 or block2a; 0: none stands there. */
static size_t container_end(const char *part, size_t size, size_t at)
{
    static const char *const stems[] = {"block", "layer", "stage", "unit", "cell"};

    for (size_t s = 0; s < COUNT(stems); s++) {
        if (part[at] != stems[s][0])
            continue;
        size_t n = strlen(stems[s]), end = at + n;
        if (end >= size || strncmp(part + at, stems[s], n))
            continue;
        end += part[end] == '_' || part[end] == '-';
        size_t digits = end;
        while (end < size && isdigit((unsigned char)part[end]))
            end++;
        if (end > digits)
            return end +
                   (end + 1 < size && isalpha((unsigned char)part[end]) && part[end + 1] == '_');
    }
    return 0;
}

/* expanded_conv_3_project, conv1_bn: behind the first number that a word follows; 0: none does. */
static size_t numbered_stem(const char *part, size_t size)
{
    if (!is_plain(part, size))
        return 0;
    for (size_t i = 1; i + 2 < size; i++) {
        if (isdigit((unsigned char)part[i]) && part[i + 1] == '_' &&
            isalpha((unsigned char)part[i + 2]))
            return i + 1;
    }
    return 0;
}

/* Behind the number of the last container in the part; 0: there is none. */
static size_t last_container(const char *part, size_t size)
{
    size_t last = 0;

    for (size_t i = 0; i < size; i++) {
        size_t end = container_end(part, size, i);
        last = end ? end : last;
    }
    return last;
}

size_t hlo_layer_of_path(const char *path, size_t size)
{
    size_t end = 0, stem = 0, behind = 0; /* parts behind the stem */

    for (size_t i = 0; i < size;) {
        size_t n = 0;
        while (i + n < size && path[i + n] != '/')
            n++;
        size_t last = last_container(path + i, n), number = last ? 0 : numbered_stem(path + i, n);
        /* conv5_block8_1_conv, block2a_expand_conv: Keras names flat what others nest */
        if (!end && last && last < n && strchr("_-", path[i + last]))
            return i + last;
        if (is_numbered(path + i, n)) {
            if (end && !is_container(path + i, n))
                break;
            end = i + (number ? number : n);
        } else if (end) {
            break;
        } else if (number) {
            stem = i + number;
            behind = 0;
        } else if (++behind > 1) {
            stem = 0;
        }
        i += n + 1;
    }
    return end ? end : stem;
}
