/* Names of the computation being read: one hash per name. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

enum { ROOM_FIRST = 1024, GROWTH_MOST = 5 /* times doubled */ };

static inline bool same_name(const char *a, const char *b, size_t size)
{
    uint64_t x, y;

    for (; size >= 8; a += 8, b += 8, size -= 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            return false;
    }
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return (!size || (x ^ y) << (64 - 8 * size) == 0) && !lex_is(a[size], LEX_NAME);
}

/* The entry of this name, or the free slot where it would go. */
static inline struct parse_name *slot_of(const struct parser *p, const char *text, size_t size,
                                         uint32_t hash)
{
    const struct parse_names *n = &p->names;
    const char *names = hlo_builder_names(p->b);
    size_t mask = n->room - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct parse_name *slot = &n->slots[i];
        if (slot->next_id <= n->first ||
            (slot->hash == hash && same_name(names + slot->name, text, size)))
            return slot;
    }
}

/* Both tables are in the order of their hashes, so that the first is walked nearly in order. */
/* Is a name with this hash, at `text`, in the table? The text, which is far away, is looked at for
 * an entry of the same hash alone. */
static bool has_name(const struct parser *p, const char *text, uint32_t hash)
{
    const struct parse_names *n = &p->names;
    const char *names = hlo_builder_names(p->b);
    size_t mask = n->room - 1;

    for (size_t i = hash & mask; n->slots[i].next_id > n->first; i = (i + 1) & mask) {
        if (n->slots[i].hash == hash &&
            same_name(names + n->slots[i].name, text, (size_t)(lex_name_end(text) - text)))
            return true;
    }
    return false;
}

bool hlo_parse_names_meet(const struct parser *p, const struct parse_names *other,
                          const char *names)
{
    const struct parse_names *n = &p->names;

    for (size_t i = 0; n->count && i < other->room; i++) {
        const struct parse_name *name = &other->slots[i];
        if (name->next_id > other->first && has_name(p, names + name->name, name->hash))
            return true;
    }
    return false;
}

void hlo_parse_names_expect(struct parser *p, const char *text, size_t size)
{
    struct parse_names *n = &p->names;

    n->expected = text;
    n->expected_hash = lex_hash(text, size);
    if (n->room)
        __builtin_prefetch(&n->slots[n->expected_hash & (n->room - 1)], 1);
}

void hlo_parse_names_begin(struct parser *p)
{
    p->names.first = hlo_builder_count(p->b);
    p->names.count = 0;
}

hlo_id hlo_parse_find(const struct parser *p, const char *text, size_t size)
{
    const struct parse_names *n = &p->names;

    if (!n->count)
        return HLO_NONE;
    const struct parse_name *slot = slot_of(p, text, size, lex_hash(text, size));
    return slot->next_id <= n->first ? HLO_NONE : slot->next_id - 1;
}

/* Lines of this thread's part of the text: about how many names there can be. */
static size_t lines_to_read(const struct parser *p)
{
    return p->ahead ? p->ahead_from.line : hlo_builder_lines(p->b);
}

/* Where many names may come, room for them at once: to move them to a larger table costs as much as
 * to read them. */
static bool grow_names(struct parser *p)
{
    struct parse_names *n = &p->names, grown = *n;

    grown.room = n->room ? n->room * 2 : ROOM_FIRST;
    for (int k = 1; n->room && k < GROWTH_MOST && grown.room < lines_to_read(p) * 2; k++)
        grown.room *= 2;
    grown.slots = mem_try_whole(grown.room, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < n->room; i++) {
        const struct parse_name *old = &n->slots[i];
        if (old->next_id <= n->first)
            continue;
        size_t at = old->hash & (grown.room - 1);
        while (grown.slots[at].next_id)
            at = (at + 1) & (grown.room - 1);
        grown.slots[at] = *old;
    }
    free(n->slots);
    *n = grown;
    return true;
}

/* `base.N` in the arena, not yet used in this computation. */
static int fresh_name(struct parser *p, struct hlo_draft *d)
{
    size_t base = d->name ? d->name_size : 7, room = base + 16 + PARSE_SLACK;
    char *text = arena_get(&p->m->arena, room, 1);

    if (!text)
        return hlo_parse_memory(p);
    memcpy(text, d->name ? d->name : "unnamed", base);
    do
        d->name_size = (uint32_t)(base + (size_t)snprintf(text + base, 16, ".%u", ++p->fresh));
    while (hlo_parse_find(p, text, d->name_size) != HLO_NONE);
    d->name = text;
    return 0;
}

int hlo_parse_build(struct parser *p, struct hlo_draft *d, bool is_fresh, hlo_id *out)
{
    struct parse_names *n = &p->names;

    if (n->count * 2 >= n->room && !grow_names(p))
        return hlo_parse_memory(p);
    if (is_fresh && fresh_name(p, d))
        return p->e->code;
    uint32_t hash = d->name == n->expected ? n->expected_hash : lex_hash(d->name, d->name_size);
    struct parse_name *slot = slot_of(p, d->name, d->name_size, hash);
    if (slot->next_id > n->first)
        return hlo_parse_fail(p, p->input + d->at,
                              "a second instruction named \"%.*s\" (the first is on "
                              "line %u), expected a new name",
                              (int)(d->name_size < 100 ? d->name_size : 100), d->name,
                              hlo_builder_at(p->b, slot->next_id - 1)->line);
    d->is_unique = true;
    if (hlo_build_instruction(p->b, d, out, p->e))
        return hlo_parse_place(p, p->input + d->at, p->e->code);
    *slot = (struct parse_name){hlo_builder_at(p->b, *out)->name, hash, *out + 1};
    n->count++;
    return 0;
}
