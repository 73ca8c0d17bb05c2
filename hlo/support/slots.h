/* hlo/support/slots.h - which item of an array has a key: a hash table of item numbers with linear
 * probing, at most half full (Knuth, The Art of Computer Programming 3, 6.4, algorithm L).
 *
 * The items and their keys stay with the caller, who compares them:
 *
 *     uint64_t hash = mem_hash(key, size, 0);
 *     struct slot_walk at;
 *     for (uint32_t n = slots_first(&s, hash, &at); n != SLOTS_END; n = slots_next(&s, &at))
 *         if (items[n] has the key)
 *             return n;
 *     slots_add(&s, hash, count++)
 *
 * Zeroed means empty. Items are numbers below SLOTS_END. Not thread-safe. */
#ifndef AUTOMAP_HLO_SUPPORT_SLOTS_H
#define AUTOMAP_HLO_SUPPORT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_END UINT32_MAX

struct slots {
    struct slot {
        uint32_t hash, item; /* item + 1; 0: empty */
    } * slot;
    size_t count, room; /* room: a power of two */
};

struct slot_walk {
    size_t at;
    uint32_t hash;
};

static inline uint32_t slots_here(const struct slots *s, struct slot_walk *w)
{
    for (; s->slot[w->at].item; w->at = (w->at + 1) & (s->room - 1)) {
        if (s->slot[w->at].hash == w->hash)
            return s->slot[w->at].item - 1;
    }
    return SLOTS_END;
}

/* The items added with this hash, or with another that shares 32 bits with it, one after the other;
 * SLOTS_END behind the last. O(1) on average. */
static inline uint32_t slots_first(const struct slots *s, uint64_t hash, struct slot_walk *w)
{
    w->hash = (uint32_t)(hash ^ hash >> 32);
    w->at = w->hash & (s->room - 1);
    return s->room ? slots_here(s, w) : SLOTS_END;
}

static inline uint32_t slots_next(const struct slots *s, struct slot_walk *w)
{
    w->at = (w->at + 1) & (s->room - 1);
    return slots_here(s, w);
}

/* False: out of memory, nothing was added. O(1) amortised. */
bool slots_add(struct slots *s, uint64_t hash, uint32_t item);

void slots_release(struct slots *s); /* it is empty again */

#endif
