#include "hlo/module/build.h"
#include "hlo/module/attr.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "hlo/support/text.h"

#include <stdarg.h>
#include <string.h>

int hlo_build_memory(struct err *e)
{
    return err_no_memory(e, "for this module");
}

/* ---- index ---- */

uint32_t hlo_index_find(const struct hlo_builder *b, const struct hlo_index *index, uint64_t hash,
                        hlo_index_same same, const void *key)
{
    if (!index->room)
        return HLO_NONE;
    for (size_t i = hash & (index->room - 1); index->slots[i]; i = (i + 1) & (index->room - 1)) {
        if (index->hashes[i] == hash && same(b, index->slots[i] - 1, key))
            return index->slots[i] - 1;
    }
    return HLO_NONE;
}

static void index_place(struct hlo_index *index, uint64_t hash, uint32_t slot)
{
    size_t i = hash & (index->room - 1);

    while (index->slots[i])
        i = (i + 1) & (index->room - 1);
    index->slots[i] = slot;
    index->hashes[i] = hash;
}

void hlo_index_release(struct hlo_index *index)
{
    free(index->slots);
    free(index->hashes);
    memset(index, 0, sizeof *index);
}

static bool index_resize(struct hlo_index *index, size_t room)
{
    struct hlo_index grown = {.room = room, .count = index->count};

    grown.slots = mem_try(room, sizeof *grown.slots);
    grown.hashes = mem_try(room, sizeof *grown.hashes);
    if (!grown.slots || !grown.hashes) {
        hlo_index_release(&grown);
        return false;
    }
    for (size_t i = 0; i < index->room; i++) {
        if (index->slots[i])
            index_place(&grown, index->hashes[i], index->slots[i]);
    }
    hlo_index_release(index);
    *index = grown;
    return true;
}

bool hlo_index_add(struct hlo_index *index, uint64_t hash, uint32_t item)
{
    size_t first = index->room_first ? index->room_first : 64;

    if (index->count * 2 >= index->room &&
        !index_resize(index, index->room ? index->room * 2 : first))
        return false;
    index_place(index, hash, item + 1);
    index->count++;
    return true;
}

/* ---- begin and end ---- */

enum {
    BYTES_PER_INSTRUCTION = 80, /* of dense text: first guess for the arrays */
    BYTES_PER_NAME = 32,
    RESERVE_MOST = 1 << 20
};

/* Room for some `guess` instructions: what is not used of it costs nothing, to move it does. */
static bool reserve(struct hlo_builder *b, size_t guess)
{
    size_t slots = 64;

    if (guess > RESERVE_MOST)
        guess = RESERVE_MOST;
    while (slots < guess * 2)
        slots *= 2;
    b->instruction_index.room_first = slots; /* readers of text have an index of their own */
    return mem_grow(&b->instructions, &b->instruction_room, 0, guess) &&
           mem_grow(&b->operands, &b->operand_room, 0, guess * 2) &&
           mem_grow(&b->attrs, &b->attr_room, 0, guess * 2) &&
           mem_grow(&b->names, &b->name_room, 0, guess * BYTES_PER_NAME + 1 + HLO_NAME_SLACK);
}

struct hlo_builder *hlo_builder_new(char *input, size_t input_size, size_t memory_limit)
{
    struct hlo_builder *b = hlo_builder_new_text(
        input, input_size, input_size / BYTES_PER_INSTRUCTION, false, memory_limit);

    if (b)
        b->is_text = false;
    return b;
}

struct hlo_builder *hlo_builder_new_text(char *input, size_t input_size, size_t lines, bool is_lent,
                                         size_t memory_limit)
{
    struct hlo_builder *b = mem_try(1, sizeof *b);
    struct hlo_module *m = mem_try(1, sizeof *m);

    if (!b || !m) {
        free(b);
        free(m);
        free(is_lent ? NULL : input);
        return NULL;
    }
    b->m = m;
    b->is_text = true;
    b->is_lent = is_lent;
    b->lines = lines;
    b->input = input;
    b->input_size = input_size;
    b->line = 1;
    m->arena.limit = memory_limit;
    m->name = m->file = "";
    m->replica_count = m->num_partitions = 1;

    if (!reserve(b, lines + 16) || !mem_grow(&b->metas, &b->meta_room, 0, 1) ||
        !mem_grow(&b->literals, &b->literal_room, 0, 1)) {
        hlo_builder_free(b);
        return NULL;
    }
    b->names[b->name_count++] = '\0';
    b->metas[b->meta_count++] = (struct hlo_meta){"", "", "", 0};
    b->literals[b->literal_count++] = (struct hlo_text){"", 0};
    return b;
}

struct hlo_builder *hlo_builder_new_copy(const struct hlo_module *source)
{
    struct hlo_builder *b = mem_try(1, sizeof *b);
    struct hlo_module *m = mem_try(1, sizeof *m);

    if (!b || !m) {
        free(b);
        free(m);
        return NULL;
    }
    b->m = m;
    b->source = source;
    m->name = m->file = "";
    m->replica_count = m->num_partitions = 1;
    if (!mem_grow(&b->instructions, &b->instruction_room, 0, source->count) ||
        !mem_grow(&b->operands, &b->operand_room, 0, (size_t)source->count * 2) ||
        !mem_grow(&b->metas, &b->meta_room, 0, source->meta_count)) {
        hlo_builder_free(b);
        return NULL;
    }
    b->names = (char *)(uintptr_t)source->names;
    b->name_count = source->name_bytes;
    b->metas[b->meta_count++] = (struct hlo_meta){"", "", "", 0};
    return b;
}

static void release_indexes(struct hlo_builder *b)
{
    hlo_index_release(&b->computation_index);
    hlo_index_release(&b->instruction_index);
    hlo_index_release(&b->shape_index);
    hlo_index_release(&b->meta_index);
}

void hlo_builder_free(struct hlo_builder *b)
{
    if (!b)
        return;
    release_indexes(b);
    free(b->instructions);
    free(b->computations);
    free(b->operands);
    free(b->called);
    free(b->attrs);
    if (!hlo_build_has_lent_names(b))
        free(b->names);
    free(b->metas);
    free(b->literals);
    free(b->shapes);
    free(b->warnings);
    if (!b->is_lent)
        free(b->input);
    hlo_free(b->m);
    free(b);
}

void hlo_free(struct hlo_module *m)
{
    if (!m)
        return;
    hlo_finder_release(m->finder);
    arena_release(&m->arena);
    free(m->input);
    free(m);
}

struct hlo_module *hlo_builder_module(struct hlo_builder *b)
{
    return b->m;
}

uint32_t hlo_builder_count(const struct hlo_builder *b)
{
    return (uint32_t)b->instruction_count;
}

const char *hlo_builder_names(const struct hlo_builder *b)
{
    return b->names;
}

size_t hlo_builder_lines(const struct hlo_builder *b)
{
    return b->lines;
}

struct hlo_instruction *hlo_builder_at(struct hlo_builder *b, hlo_id id)
{
    return &b->instructions[id];
}

struct hlo_computation *hlo_builder_computation(struct hlo_builder *b, hlo_comp c)
{
    return &b->computations[c];
}

/* ---- names ---- */

struct name_key {
    const char *name;
    size_t size;
    hlo_comp computation;
};

static uint64_t name_hash(const struct name_key *k)
{
    return mem_hash(k->name, k->size, k->computation);
}

static bool same_text(const char *stored, const struct name_key *k)
{
    return !strncmp(stored, k->name, k->size) && !stored[k->size];
}

static bool same_instruction(const struct hlo_builder *b, uint32_t item, const void *key)
{
    const struct name_key *k = key;
    const struct hlo_instruction *i = &b->instructions[item];

    return i->computation == k->computation && same_text(b->names + i->name, k);
}

static bool same_computation(const struct hlo_builder *b, uint32_t item, const void *key)
{
    return same_text(b->computations[item].name, key);
}

/* Instruction of `c` by name; HLO_NONE when none yet. Hash lookup. */
static hlo_id hlo_builder_find(const struct hlo_builder *b, hlo_comp c, const char *name,
                               size_t size)
{
    struct name_key k = {name, size, c};

    return hlo_index_find(b, &b->instruction_index, name_hash(&k), same_instruction, &k);
}

hlo_comp hlo_builder_find_computation(const struct hlo_builder *b, const char *name, size_t size)
{
    struct name_key k = {name, size, HLO_NONE};

    return hlo_index_find(b, &b->computation_index, name_hash(&k), same_computation, &k);
}

/* XLA's SanitizeName: letters, digits, '_', '.', '-', and no digit first. */
static void sanitize(char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool inner = (c >= '0' && c <= '9') || c == '.' || c == '-';
        if (!letter && !(inner && i))
            name[i] = '_';
    }
}

int hlo_build_computation(struct hlo_builder *b, const char *name, size_t size, hlo_comp *out,
                          struct err *e)
{
    if (size > HLO_NAME_MAX || !size)
        return err_set(e, ERR_LIMIT, "computation name of %zu bytes, expected 1 to %d", size,
                       HLO_NAME_MAX);
    if (b->computation_count >= HLO_COMPUTATIONS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d computations", HLO_COMPUTATIONS_MAX);
    char *copy = arena_text(&b->m->arena, name, size);
    if (!copy || !mem_grow(&b->computations, &b->computation_room, b->computation_count, 1))
        return hlo_build_memory(e);
    sanitize(copy, size);
    struct name_key k = {copy, size, HLO_NONE};
    uint64_t hash = name_hash(&k);
    if (hlo_index_find(b, &b->computation_index, hash, same_computation, &k) != HLO_NONE)
        return err_set(e, ERR_INPUT, "a second computation named \"%.100s\", expected a new name",
                       copy);
    *out = (hlo_comp)b->computation_count;
    if (!hlo_index_add(&b->computation_index, hash, *out))
        return hlo_build_memory(e);
    b->computations[b->computation_count++] =
        (struct hlo_computation){.name = copy, .first = HLO_NONE, .root = HLO_NONE};
    return 0;
}

/* ---- instructions ---- */

static int add_name(struct hlo_builder *b, const struct hlo_draft *d, uint32_t *out, struct err *e)
{
    char fresh[24];
    struct name_key k = {d->name, d->name_size, d->computation};

    if (!d->name) {
        uint32_t n = (uint32_t)b->instruction_count;
        do {
            k.size = (size_t)snprintf(fresh, sizeof fresh, "unnamed.%u", n++);
            k.name = fresh;
        } while (hlo_builder_find(b, d->computation, fresh, k.size) != HLO_NONE);
    }
    if (!k.size || k.size > HLO_NAME_MAX)
        return err_set(e, ERR_LIMIT, "name of %zu bytes, expected 1 to %d", k.size, HLO_NAME_MAX);
    if (b->name_count > UINT32_MAX - HLO_NAME_MAX - 1 ||
        !mem_grow(&b->names, &b->name_room, b->name_count, k.size + 1 + HLO_NAME_SLACK))
        return hlo_build_memory(e);
    char *copy = b->names + b->name_count;
    memcpy(copy, k.name, k.size);
    copy[k.size] = '\0';
    *out = (uint32_t)b->name_count;
    b->name_count += k.size + 1;
    if (d->is_unique)
        return 0;
    sanitize(copy, k.size);
    k.name = copy;
    uint64_t hash = name_hash(&k);
    if (hlo_index_find(b, &b->instruction_index, hash, same_instruction, &k) != HLO_NONE)
        return err_set(
            e, ERR_INPUT,
            "a second instruction named \"%.100s\" in computation \"%.100s\", expected a new name",
            copy, b->computations[d->computation].name);
    if (!hlo_index_add(&b->instruction_index, hash, (uint32_t)b->instruction_count))
        return hlo_build_memory(e);
    return 0;
}

/* Attributes are few: insertion keeps them in key order, which is printing order. */
static int add_attrs(struct hlo_builder *b, const struct hlo_draft *d, struct err *e)
{
    if (!mem_grow(&b->attrs, &b->attr_room, b->attr_count, d->attr_count))
        return hlo_build_memory(e);
    struct hlo_attr *list = b->attrs + b->attr_count;
    for (uint32_t i = 0; i < d->attr_count; i++) {
        struct hlo_attr a = d->attrs[i];
        uint32_t at = i;
        for (; at && list[at - 1].key > a.key; at--)
            list[at] = list[at - 1];
        if (at && list[at - 1].key == a.key && a.key != HLO_ATTR_UNKNOWN)
            return err_set(e, ERR_INPUT, "attribute %s stands twice, expected once",
                           hlo_attr_info[a.key].name);
        a.text = hlo_build_keep(b, a.text, a.size);
        if (!a.text)
            return hlo_build_memory(e);
        list[at] = a;
    }
    b->attr_count += d->attr_count;
    return 0;
}

/* Most instructions stand a few bytes behind a line's begin: not worth a call of memchr. */
static const char *newline_before(const char *from, const char *end)
{
    if (end - from > 8)
        return memchr(from, '\n', (size_t)(end - from));
    while (from < end && *from != '\n')
        from++;
    return from < end ? from : NULL;
}

static void set_place(struct hlo_builder *b, size_t at, uint32_t *line, uint32_t *col)
{
    if (at > b->input_size || !b->input)
        return;
    if (at < b->line_at) {
        b->line_at = b->line_begin = 0;
        b->line = 1;
    }
    const char *from = b->input + b->line_at, *end = b->input + at;
    for (const char *next; (next = newline_before(from, end));) {
        from = next + 1;
        b->line++;
        b->line_begin = (size_t)(from - b->input);
    }
    b->line_at = at;
    *line = b->line;
    *col = (uint32_t)(at - b->line_begin) + 1;
}

static int check_draft(const struct hlo_builder *b, const struct hlo_draft *d, struct err *e)
{
    if (b->instruction_count >= HLO_INSTRUCTIONS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d instructions", HLO_INSTRUCTIONS_MAX);
    if (d->opcode < HLO_OP_UNKNOWN) {
        int arity = hlo_op_info[d->opcode].arity;
        if (arity >= 0 && d->operand_count != (uint32_t)arity)
            return err_set(e, ERR_INPUT, "%s has %u operands, expected %d",
                           hlo_op_info[d->opcode].name, d->operand_count, arity);
    }
    if (b->operand_count + d->operand_count + d->control_count > INT32_MAX)
        return err_set(e, ERR_LIMIT, "more than %d operands", INT32_MAX);
    return 0;
}

static uint32_t add_ids(hlo_id *pool, size_t *count, const hlo_id *ids, uint32_t n)
{
    uint32_t at = (uint32_t)*count;

    if (n)
        memcpy(pool + at, ids, n * sizeof *ids);
    *count += n;
    return at;
}

static int add_literal(struct hlo_builder *b, const struct hlo_draft *d, uint32_t *out,
                       struct err *e)
{
    if (!d->literal)
        return 0;
    if (!mem_grow(&b->literals, &b->literal_room, b->literal_count, 1))
        return hlo_build_memory(e);
    const char *text = hlo_build_keep(b, d->literal, d->literal_size);
    if (!text)
        return hlo_build_memory(e);
    *out = (uint32_t)b->literal_count;
    b->literals[b->literal_count++] = (struct hlo_text){text, d->literal_size};
    return 0;
}

int hlo_build_instruction(struct hlo_builder *b, const struct hlo_draft *d, hlo_id *out,
                          struct err *e)
{
    struct hlo_instruction i = {
        .opcode = d->opcode,
        .is_root = d->is_root,
        .is_synthetic = d->is_synthetic,
        .shape = d->shape,
        .computation = d->computation,
        .operand_count = d->operand_count,
        .called_count = d->called_count,
        .control_count = d->control_count,
        .attr_count = d->attr_count,
        .number = d->number,
        .meta = d->meta,
    };
    BUG_ON(d->computation >= b->computation_count || d->shape >= b->shape_count ||
           d->meta >= b->meta_count);
    int rc = check_draft(b, d, e);
    if (rc)
        return rc;
    rc = add_literal(b, d, &i.literal, e);
    if (rc)
        return rc;
    i.attrs = (uint32_t)b->attr_count;
    rc = add_attrs(b, d, e);
    if (rc)
        return rc;
    rc = add_name(b, d, &i.name, e);
    if (rc)
        return rc;
    if (!mem_grow(&b->operands, &b->operand_room, b->operand_count,
                  (size_t)d->operand_count + d->control_count) ||
        !mem_grow(&b->called, &b->called_room, b->called_count, d->called_count) ||
        !mem_grow(&b->instructions, &b->instruction_room, b->instruction_count, 1))
        return hlo_build_memory(e);
    i.operands = add_ids(b->operands, &b->operand_count, d->operands, d->operand_count);
    add_ids(b->operands, &b->operand_count, d->controls, d->control_count);
    i.called = add_ids(b->called, &b->called_count, d->called, d->called_count);
    set_place(b, d->at, &i.line, &i.col);
    *out = (hlo_id)b->instruction_count;
    b->instructions[b->instruction_count++] = i;
    return 0;
}

/* A copy of the source's names, behind which there is room for more. */
static bool own_names(struct hlo_builder *b)
{
    const char *lent = b->names;

    if (!hlo_build_has_lent_names(b))
        return true;
    b->names = NULL;
    if (!mem_grow(&b->names, &b->name_room, 0, b->name_count))
        return false;
    memcpy(b->names, lent, b->name_count);
    return true;
}

static int copy_name(struct hlo_builder *b, const struct hlo_copy *c, uint32_t *out, struct err *e)
{
    *out = c->of->name;
    if (!c->name)
        return 0;
    if (b->name_count > UINT32_MAX - HLO_NAME_MAX - 1 || c->name_size > HLO_NAME_MAX ||
        !own_names(b) || !mem_grow(&b->names, &b->name_room, b->name_count, c->name_size + 1))
        return hlo_build_memory(e);
    *out = (uint32_t)b->name_count;
    memcpy(b->names + b->name_count, c->name, c->name_size);
    b->names[b->name_count + c->name_size] = '\0';
    b->name_count += c->name_size + 1;
    return 0;
}

int hlo_build_copy(struct hlo_builder *b, const struct hlo_copy *c, hlo_id *out, struct err *e)
{
    struct hlo_instruction i = *c->of;
    size_t ids = (size_t)i.operand_count + c->control_count;

    if (b->instruction_count >= HLO_INSTRUCTIONS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d instructions", HLO_INSTRUCTIONS_MAX);
    if (b->operand_count + ids > INT32_MAX)
        return err_set(e, ERR_LIMIT, "more than %d operands", INT32_MAX);
    if (!mem_grow(&b->operands, &b->operand_room, b->operand_count, ids) ||
        !mem_grow(&b->called, &b->called_room, b->called_count, i.called_count) ||
        !mem_grow(&b->instructions, &b->instruction_room, b->instruction_count, 1))
        return hlo_build_memory(e);
    if (copy_name(b, c, &i.name, e))
        return e->code;
    i.is_root = false;
    i.computation = c->computation;
    i.operands = add_ids(b->operands, &b->operand_count, c->operands, (uint32_t)ids);
    i.control_count = c->control_count;
    i.called = add_ids(b->called, &b->called_count, c->called, i.called_count);
    i.users = i.user_count = 0;
    i.meta = c->meta;
    *out = (hlo_id)b->instruction_count;
    b->instructions[b->instruction_count++] = i;
    return 0;
}

void hlo_build_set_operand(struct hlo_builder *b, hlo_id id, uint32_t n, hlo_id operand)
{
    b->operands[b->instructions[id].operands + n] = operand;
}

/* ---- warnings ---- */

struct hlo_warning *hlo_build_find_warning(struct hlo_builder *b, const char *what)
{
    for (size_t i = 0; i < b->warning_count; i++) {
        if (!strcmp(b->warnings[i].what, what))
            return &b->warnings[i];
    }
    return NULL;
}

void hlo_build_warning(struct hlo_builder *b, size_t at, const char *format, ...)
{
    char raw[256], what[256];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    text_clean(what, sizeof what, raw, strlen(raw));
    if (b->warning_count >= HLO_WARNINGS_MAX)
        snprintf(what, sizeof what, "further kinds of warnings");
    struct hlo_warning *same = hlo_build_find_warning(b, what);
    if (same) {
        same->count++;
        return;
    }
    struct hlo_warning w = {.what = arena_text(&b->m->arena, what, strlen(what)), .count = 1};
    if (!w.what || !mem_grow(&b->warnings, &b->warning_room, b->warning_count, 1))
        return;
    set_place(b, at, &w.line, &w.col);
    b->warnings[b->warning_count++] = w;
}

int hlo_build_error_at(const struct hlo_builder *b, hlo_id id, struct err *e)
{
    const struct hlo_instruction *i = &b->instructions[id];
    const char *line = b->input;

    if (!i->line || !b->input)
        return e->code;
    const char *end = b->input + b->input_size;
    for (uint32_t n = 1; n < i->line; n++)
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    return err_at(e, b->input, b->input_size, (size_t)(line - b->input) + i->col - 1);
}
