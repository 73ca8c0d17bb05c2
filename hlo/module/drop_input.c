/* A module without the text it was read from. */
#include "hlo/module/attr.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Texts that are kept of the input, copied one after another, each with a NUL behind it. */
struct keeping {
    const struct hlo_builder *b;
    char *to; /* where the next goes */
    size_t left, size, most;
    bool failed; /* no memory for it, or not worth it: from here on all stays where it is */
    struct hlo_text
        *metadata;       /* [meta_count] where the metadata of each meta stood, and its copy: */
    const char **copies; /* the same text stands behind many instructions */
};

enum { PIECE = 1 << 16 };

static bool is_of_input(const struct hlo_builder *b, const char *text)
{
    return (uintptr_t)text - (uintptr_t)b->input < b->input_size;
}

/* Room for `size` bytes more; what reads words may read past each text. */
static bool has_room(struct keeping *k, size_t size)
{
    k->size += size;
    if (k->failed || size <= k->left) {
        k->failed |= k->size > k->most;
        return !k->failed;
    }
    k->left = size > PIECE ? size : PIECE;
    k->to = k->size > k->most ? NULL : arena_get(&k->b->m->arena, k->left + HLO_INPUT_PAD, 1);
    k->failed = !k->to;
    return !k->failed;
}

static const char *keep_text(struct keeping *k, const char *text, size_t size)
{
    if (!is_of_input(k->b, text) || !has_room(k, size + 1))
        return text;
    char *copy = memcpy(k->to, text, size); /* the piece was zeroed */
    k->to += size + 1;
    k->left -= size + 1;
    return copy;
}

static const char *keep_attr(struct keeping *k, const struct hlo_attr *a, uint32_t meta)
{
    if (a->key != HLO_ATTR_METADATA)
        return keep_text(k, a->text, a->size);
    struct hlo_text *seen = &k->metadata[meta];
    if (seen->text != a->text || seen->size != a->size) {
        k->copies[meta] = keep_text(k, a->text, a->size);
        *seen = (struct hlo_text){a->text, a->size};
    }
    return k->copies[meta];
}

static void keep_all(struct keeping *k)
{
    struct hlo_module *m = k->b->m;
    struct hlo_attr *attrs = (struct hlo_attr *)(uintptr_t)m->attr_pool;
    struct hlo_text *literals = (struct hlo_text *)(uintptr_t)m->literals;
    struct hlo_text *header = (struct hlo_text *)(uintptr_t)m->header;

    for (hlo_id id = 0; id < m->count && !k->failed; id++) {
        const struct hlo_instruction *i = &m->instructions[id];
        for (uint32_t n = i->attrs; n < i->attrs + i->attr_count; n++)
            attrs[n].text = keep_attr(k, &attrs[n], i->meta);
        struct hlo_text *literal = &literals[i->literal];
        if (i->literal)
            literal->text = keep_text(k, literal->text, literal->size);
    }
    for (uint32_t n = 0; n < m->header_count; n++)
        header[n].text = keep_text(k, header[n].text, header[n].size);
    m->tables.text = keep_text(k, m->tables.text, m->tables.size);
}

bool hlo_build_drop_input(struct hlo_builder *b)
{
    struct hlo_module *m = b->m;
    struct keeping k = {.b = b, .most = b->is_lent ? SIZE_MAX : b->input_size / 2};

    if (!b->input || m->format != HLO_FORMAT_TEXT)
        return true;
    k.failed = true;
    k.metadata = mem_try(m->meta_count, sizeof *k.metadata);
    k.copies = mem_try(m->meta_count, sizeof *k.copies);
    if (k.metadata && k.copies) {
        k.failed = false;
        keep_all(&k);
    }
    if (!k.failed) {
        free(b->is_lent ? NULL : b->input);
        b->input = NULL;
    }
    free(k.metadata);
    free(k.copies);
    return !k.failed || !b->is_lent;
}
