/* hlo/module/name_index.c - instructions by name: an index that the first question makes. */
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing: of instructions of one name the first of the entry, else the first of all. */
struct names {
    size_t mask;
    hlo_id slots[]; /* HLO_NONE: free */
};

struct hlo_finder {
    _Atomic(struct names *) names; /* NULL: nobody asked yet */
};

struct hlo_finder *hlo_finder_new(struct arena *a)
{
    return arena_get(a, 1, sizeof(struct hlo_finder));
}

void hlo_finder_release(struct hlo_finder *f)
{
    if (f)
        free(atomic_load(&f->names));
}

/* The slot of that name, or the free one where it would go. */
static hlo_id *slot_of(const struct hlo_module *m, struct names *names, const char *name)
{
    size_t at = mem_hash(name, strlen(name), 0) & names->mask;

    while (names->slots[at] != HLO_NONE && strcmp(hlo_name(m, names->slots[at]), name) != 0)
        at = (at + 1) & names->mask;
    return &names->slots[at];
}

static void add_computation(const struct hlo_module *m, struct names *names, hlo_comp c)
{
    const struct hlo_computation *comp = &m->computations[c];

    for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
        hlo_id *slot = slot_of(m, names, hlo_name(m, id));
        if (*slot == HLO_NONE)
            *slot = id;
    }
}

static struct names *make_names(const struct hlo_module *m)
{
    size_t room = 64;

    while (room < (size_t)m->count * 2)
        room *= 2;
    struct names *names = mem_try(1, sizeof *names + room * sizeof *names->slots);
    if (!names)
        return NULL;
    names->mask = room - 1;
    memset(names->slots, 0xff, room * sizeof *names->slots);
    add_computation(m, names, m->entry);
    for (hlo_comp c = 0; c < m->computation_count; c++)
        add_computation(m, names, c);
    return names;
}

/* Of two threads that make it at once the first one's stays. */
static struct names *names_of(const struct hlo_module *m)
{
    struct names *names = atomic_load(&m->finder->names), *made = NULL;

    if (names)
        return names;
    made = make_names(m);
    if (made && atomic_compare_exchange_strong(&m->finder->names, &names, made))
        return made;
    free(made);
    return names;
}

static hlo_id find_in(const struct hlo_module *m, hlo_comp c, const char *name)
{
    const struct hlo_computation *comp = &m->computations[c];

    for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
        if (!strcmp(hlo_name(m, id), name))
            return id;
    }
    return HLO_NONE;
}

hlo_id hlo_find(const struct hlo_module *m, const char *name)
{
    name += *name == '%';
    struct names *names = names_of(m);
    if (names)
        return *slot_of(m, names, name);
    hlo_id id = find_in(m, m->entry, name); /* no memory for an index */
    for (hlo_comp c = 0; c < m->computation_count && id == HLO_NONE; c++)
        id = find_in(m, c, name);
    return id;
}
