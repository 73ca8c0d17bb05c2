#include "hlo/support/slots.h"

#include "hlo/support/mem.h"

#include <stdlib.h>

enum { SLOTS_LEAST = 256 };

static void put_slot(struct slots *s, struct slot one)
{
    size_t at = one.hash & (s->room - 1);

    while (s->slot[at].item)
        at = (at + 1) & (s->room - 1);
    s->slot[at] = one;
}

static bool grow_slots(struct slots *s)
{
    struct slots grown = {.count = s->count, .room = s->room ? 2 * s->room : SLOTS_LEAST};

    grown.slot = mem_try_whole(grown.room, sizeof *grown.slot);
    if (!grown.slot)
        return false;
    for (size_t k = 0; k < s->room; k++)
        if (s->slot[k].item)
            put_slot(&grown, s->slot[k]);
    free(s->slot);
    *s = grown;
    return true;
}

bool slots_add(struct slots *s, uint64_t hash, uint32_t item)
{
    if (2 * (s->count + 1) > s->room && !grow_slots(s))
        return false;
    put_slot(s, (struct slot){(uint32_t)(hash ^ hash >> 32), item + 1});
    s->count++;
    return true;
}

void slots_release(struct slots *s)
{
    free(s->slot);
    *s = (struct slots){0};
}
