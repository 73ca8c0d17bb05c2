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
    char *to;    /* NULL: only counted */
    size_t size; /* so far */
    struct hlo_text
        *metadata;       /* [meta_count] where the metadata of each meta stood, and its copy: */
    const char **copies; /* the same text stands behind many instructions */
};

static bool is_of_input(const struct hlo_builder *b, const char *text)
{
    return (uintptr_t)text - (uintptr_t)b->input < b->input_size;
}

static const char *keep(struct keeping *k, const char *text, size_t size)
{
    char *copy = k->to ? k->to + k->size : NULL;

    if (!is_of_input(k->b, text))
        return text;
    if (copy)
        memcpy(copy, text, size); /* the block was zeroed */
    k->size += size + 1;
    return copy ? copy : text;
}

static const char *keep_attr(struct keeping *k, const struct hlo_attr *a, uint32_t meta)
{
    if (a->key != HLO_ATTR_METADATA)
        return keep(k, a->text, a->size);
    struct hlo_text *seen = &k->metadata[meta];
    if (seen->text != a->text || seen->size != a->size) {
        k->copies[meta] = keep(k, a->text, a->size);
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

    memset(k->metadata, 0, m->meta_count * sizeof *k->metadata);
    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_instruction *i = &m->instructions[id];
        for (uint32_t n = i->attrs; n < i->attrs + i->attr_count; n++) {
            const char *text = keep_attr(k, &attrs[n], i->meta);
            if (k->to)
                attrs[n].text = text;
        }
        const struct hlo_text *literal = &literals[i->literal];
        const char *text = i->literal ? keep(k, literal->text, literal->size) : NULL;
        if (k->to && i->literal)
            literals[i->literal].text = text;
    }
    for (uint32_t n = 0; n < m->header_count; n++) {
        const char *text = keep(k, header[n].text, header[n].size);
        if (k->to)
            header[n].text = text;
    }
    const char *tables = keep(k, m->tables.text, m->tables.size);
    if (k->to)
        m->tables.text = tables;
}

void hlo_build_drop_input(struct hlo_builder *b)
{
    struct hlo_module *m = b->m;
    struct keeping k = {.b = b};

    if (!b->input || m->format != HLO_FORMAT_TEXT)
        return;
    k.metadata = mem_try(m->meta_count, sizeof *k.metadata);
    k.copies = mem_try(m->meta_count, sizeof *k.copies);
    if (k.metadata && k.copies) {
        keep_all(&k);
        k.to = k.size < b->input_size / 2 ? arena_get(&m->arena, k.size + HLO_INPUT_PAD, 1) : NULL;
        k.size = 0;
    }
    if (k.to) {
        keep_all(&k);
        free(b->input);
        b->input = NULL;
    }
    free(k.metadata);
    free(k.copies);
}
