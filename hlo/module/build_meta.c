/* Metadata, interned by its texts. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

struct meta_key {
    struct hlo_text texts[3]; /* op_type, op_name, source_file, clean */
    uint32_t source_line;
};

static bool same_bytes(const char *stored, const struct hlo_text *text)
{
    return !strncmp(stored, text->text, text->size) && !stored[text->size];
}

static bool same_meta(const struct hlo_builder *b, uint32_t item, const void *key)
{
    const struct hlo_meta *a = &b->metas[item];
    const struct meta_key *k = key;

    return a->source_line == k->source_line && same_bytes(a->op_name, &k->texts[1]) &&
           same_bytes(a->op_type, &k->texts[0]) && same_bytes(a->source_file, &k->texts[2]);
}

/* The text itself where it is clean, else a cleaned copy in the arena. */
static bool clean_text(struct arena *a, const char *text, size_t size, struct hlo_text *out)
{
    *out = (struct hlo_text){size ? text : "", (uint32_t)size};
    if (text_is_clean(out->text, size))
        return true;
    char *copy = arena_text(a, text, size);
    if (!copy)
        return false;
    text_clean(copy, size + 1, text, size);
    *out = (struct hlo_text){copy, (uint32_t)strlen(copy)};
    return true;
}

/* A NUL-terminated copy; that of the meta before when it is the same, as file names often are. */
static const char *kept_text(struct hlo_builder *b, const struct hlo_text *text, const char *before)
{
    if (!text->size)
        return "";
    return same_bytes(before, text) ? before : arena_text(&b->m->arena, text->text, text->size);
}

static uint64_t key_hash(const struct meta_key *k)
{
    uint64_t hash = mem_hash(k->texts[1].text, k->texts[1].size, k->source_line);

    return mem_hash(k->texts[2].text, k->texts[2].size, hash);
}

static int add_meta(struct hlo_builder *b, struct hlo_meta meta, uint64_t hash, uint32_t *out,
                    struct err *e)
{
    if (!meta.op_type || !meta.op_name || !meta.source_file ||
        !mem_grow(&b->metas, &b->meta_room, b->meta_count, 1) ||
        !hlo_index_add(&b->meta_index, hash, (uint32_t)b->meta_count))
        return hlo_build_memory(e);
    *out = (uint32_t)b->meta_count;
    b->metas[b->meta_count++] = meta;
    return 0;
}

int hlo_build_meta(struct hlo_builder *b, const struct hlo_meta *meta, const size_t sizes[3],
                   uint32_t *out, struct err *e)
{
    struct meta_key k = {.source_line = meta->source_line};
    struct arena *a = &b->m->arena;

    if (!clean_text(a, meta->op_type, sizes[0], &k.texts[0]) ||
        !clean_text(a, meta->op_name, sizes[1], &k.texts[1]) ||
        !clean_text(a, meta->source_file, sizes[2], &k.texts[2]))
        return hlo_build_memory(e);
    uint64_t hash = key_hash(&k);
    *out = hlo_index_find(b, &b->meta_index, hash, same_meta, &k);
    if (*out != HLO_NONE)
        return 0;
    const struct hlo_meta *last = &b->metas[b->meta_count - 1];
    struct hlo_meta kept = {.op_type = kept_text(b, &k.texts[0], last->op_type),
                            .op_name = kept_text(b, &k.texts[1], last->op_name),
                            .source_file = kept_text(b, &k.texts[2], last->source_file),
                            .source_line = k.source_line};
    return add_meta(b, kept, hash, out, e);
}

uint64_t hlo_meta_hash(const struct hlo_meta *meta)
{
    struct meta_key k = {.texts = {[1] = {meta->op_name, (uint32_t)strlen(meta->op_name)},
                                   [2] = {meta->source_file, (uint32_t)strlen(meta->source_file)}},
                         .source_line = meta->source_line};

    return key_hash(&k);
}

static bool same_texts(const struct hlo_builder *b, uint32_t item, const void *key)
{
    const struct hlo_meta *x = &b->metas[item], *y = key;

    return x->source_line == y->source_line && !strcmp(x->op_name, y->op_name) &&
           !strcmp(x->op_type, y->op_type) && !strcmp(x->source_file, y->source_file);
}

int hlo_build_meta_of(struct hlo_builder *b, const struct hlo_meta *meta, uint64_t hash,
                      uint32_t *out, struct err *e)
{
    *out = hlo_index_find(b, &b->meta_index, hash, same_texts, meta);
    return *out != HLO_NONE ? 0 : add_meta(b, *meta, hash, out, e);
}

const struct hlo_meta *hlo_builder_meta(const struct hlo_builder *b, uint32_t meta)
{
    return &b->metas[meta];
}
