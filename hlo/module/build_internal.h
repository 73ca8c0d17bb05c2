/* hlo/module/build_internal.h - the inside of the builder, shared by build*.c,
 * post_order.c, finish.c. */
#ifndef AUTOMAP_HLO_MODULE_BUILD_INTERNAL_H
#define AUTOMAP_HLO_MODULE_BUILD_INTERNAL_H

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Open addressing over items kept elsewhere: slot = item index + 1, 0 free. */
struct hlo_index {
    uint32_t *slots;
    uint64_t *hashes;
    size_t room, count; /* room is a power of two */
    size_t room_first;  /* the first time that there is something; 0: 64 */
};

struct hlo_builder {
    struct hlo_module *m; /* arrays below move into it at finish */
    /* What attrs, literals and shapes belong to, which are then only read; NULL: the builder. */
    const struct hlo_module *source;
    char *input;
    size_t input_size;
    bool is_text;     /* the input is text: of what spans point at there are copies */
    bool is_lent;     /* the input is another's */
    bool is_in_order; /* as post_order.c would make it: it has nothing to do */
    char *keep_at;    /* where the next of these copies goes, */
    size_t keep_left; /* and room there */
    size_t lines;     /* about how many instructions it has */
    struct hlo_instruction *instructions;
    struct hlo_computation *computations;
    hlo_id *operands;
    hlo_comp *called;
    struct hlo_attr *attrs;
    char *names; /* of `source` until one of its own is needed */
    struct hlo_meta *metas;
    struct hlo_text *literals;
    struct hlo_shape *shapes;
    struct hlo_warning *warnings;
    size_t instruction_count, instruction_room;
    size_t computation_count, computation_room;
    size_t operand_count, operand_room;
    size_t called_count, called_room;
    size_t attr_count, attr_room;
    size_t name_count, name_room;
    size_t meta_count, meta_room;
    size_t literal_count, literal_room;
    size_t shape_count, shape_room;
    size_t warning_count, warning_room;
    struct hlo_index computation_index, instruction_index, shape_index, meta_index;
    size_t line_at; /* line and column of the last position asked for */
    size_t line_begin;
    uint32_t line;
};

/* Instructions of a kind that is rare, in order. */
struct hlo_some {
    hlo_id *list;
    size_t count, room;
};
static inline bool hlo_some_add(struct hlo_some *s, hlo_id id)
{
    if (!mem_grow(&s->list, &s->room, s->count, 1))
        return false;
    s->list[s->count++] = id;
    return true;
}

static inline bool hlo_build_has_lent_names(const struct hlo_builder *b)
{
    return b->source && b->names == b->source->names;
}

/* The slot of the first entry with this hash that `same` accepts, or of a free one. */
typedef bool (*hlo_index_same)(const struct hlo_builder *b, uint32_t item, const void *key);
uint32_t hlo_index_find(const struct hlo_builder *b, const struct hlo_index *index, uint64_t hash,
                        hlo_index_same same, const void *key);
bool hlo_index_add(struct hlo_index *index, uint64_t hash, uint32_t item);

/* A meta whose texts are clean and live as long as the builder's; hlo_meta_hash(meta) is `hash`. */
int hlo_build_meta_of(struct hlo_builder *b, const struct hlo_meta *meta, uint64_t hash,
                      uint32_t *out, struct err *e) MUST_CHECK;
uint64_t hlo_meta_hash(const struct hlo_meta *meta);
enum { HLO_WARNINGS_MAX = 64 };
struct hlo_warning *hlo_build_find_warning(struct hlo_builder *b, const char *what); /* or NULL */

void hlo_index_release(struct hlo_index *index);

int hlo_build_memory(struct err *e); /* ERR_MEMORY with its sentence */

/* hlo/module/post_order.c: instructions and computations get the numbers of a post-order; *entry is
 * renumbered. Refuses links out of a computation, cycles and recursion. O(instructions). */
int hlo_build_order(struct hlo_builder *b, hlo_comp *entry, struct err *e) MUST_CHECK;

/* hlo/module/find.c: what hlo_find looks in, empty; NULL: out of memory. */
struct hlo_finder *hlo_finder_new(struct arena *a);
void hlo_finder_release(struct hlo_finder *f); /* NULL ok */

/* Error about instruction `id`, at its place in the input. */
int hlo_build_error_at(const struct hlo_builder *b, hlo_id id, struct err *e);

#endif
