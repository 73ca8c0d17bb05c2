#include "engine/cost/fold.h"

#include "engine/decide/classes.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

enum { ROUNDS_MOST = 64 };

static int compare_hashes(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

static uint64_t first_colour(const struct step_tables *t, class_id k)
{
    const struct class_info *i = &t->labels->classes->info[k];
    struct {
        int64_t least, divisor, group;
        uint64_t admissible, var_dims, input_dims, kind, reason;
    } key = {i->least,    i->divisor,    i->group_divisor,   t->labels->admissible[k],
             i->var_dims, i->input_dims, t->labels->kind[k], i->reason};

    return mem_hash(&key, sizeof key, 0);
}

/* A term as class `k` sees it: the tables, k's place in it, the colours of the others. */
static uint64_t term_seen_from(const struct step_tables *t, const uint64_t *colour,
                               const uint64_t *table_hash, uint32_t term, class_id k)
{
    const struct term *i = &t->items[term];
    uint64_t h = table_hash[term];

    for (uint32_t n = 0; n < i->class_count; n++) {
        class_id other = t->class_pool[i->classes + n];
        uint64_t key[2] = {other == k, other == k ? 0 : colour[other]};
        h = mem_hash(key, sizeof key, h);
    }
    return h;
}

static uint64_t refined_colour(const struct step_tables *t, const uint64_t *colour,
                               const uint64_t *table_hash, class_id k, uint64_t *scratch)
{
    uint32_t count = t->of_class[k + 1] - t->of_class[k];

    for (uint32_t n = 0; n < count; n++)
        scratch[n] = term_seen_from(t, colour, table_hash, t->class_terms[t->of_class[k] + n], k);
    if (count)
        qsort(scratch, count, sizeof *scratch, compare_hashes);
    return mem_hash(scratch, count * sizeof *scratch, colour[k]);
}

/* Numbers equal hashes alike, in order of first appearance. Returns how many there are. */
static uint32_t number_colours(const uint64_t *colour, uint32_t classes, uint64_t (*sorted)[2],
                               uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < classes; k++) {
        sorted[k][0] = colour[k];
        sorted[k][1] = k;
    }
    if (classes)
        qsort(sorted, classes, sizeof *sorted, compare_hashes);
    /* Smallest member of each run of equals, then numbers by that member. */
    for (uint32_t a = 0; a < classes;) {
        uint32_t b = a, least = UINT32_MAX;
        while (b < classes && sorted[b][0] == sorted[a][0]) {
            if (sorted[b][1] < least)
                least = (uint32_t)sorted[b][1];
            b++;
        }
        for (; a < b; a++)
            out[sorted[a][1]] = least;
    }
    for (uint32_t k = 0; k < classes; k++)
        out[k] = out[k] == k ? count++ : out[out[k]];
    return count;
}

/* Classes of one colour that meet get colours of their own. */
static bool break_clashes(const struct step_tables *t, uint64_t *colour)
{
    const struct classes *c = t->labels->classes;
    bool broken = false;

    for (class_id k = 0; k < c->count; k++) {
        for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
            class_id other = c->meets[c->info[k].meets + n].other;
            if (other > k && colour[other] == colour[k]) {
                colour[other] = mem_hash(&other, sizeof other, colour[k]);
                broken = true;
            }
        }
    }
    return broken;
}

int fold_new(const struct step_tables *t, bool on, struct fold *out, struct err *e)
{
    uint32_t classes = t->labels->classes->count, before = 0;
    uint64_t *colour = mem_try(classes, sizeof *colour), *next = mem_try(classes, sizeof *next);
    uint64_t *table_hash = mem_try(t->count, sizeof *table_hash);
    uint64_t *scratch = mem_try((size_t)t->count + 1, sizeof *scratch);
    uint64_t(*sorted)[2] = mem_try(classes, sizeof *sorted);
    struct fold f = {.colour = mem_try(classes, sizeof *f.colour)};
    int rc = 0;

    if (!colour || !next || !table_hash || !scratch || !sorted || !f.colour) {
        rc = err_no_memory(e, "to fold repeated layers");
        goto out;
    }
    for (uint32_t n = 0; n < t->count; n++) {
        const struct term *i = &t->items[n];
        table_hash[n] =
            mem_hash(t->compute_ms + i->table, i->entries * sizeof(double), i->class_count);
        table_hash[n] =
            mem_hash(t->communication_ms + i->table, i->entries * sizeof(double), table_hash[n]);
    }
    for (class_id k = 0; k < classes; k++)
        colour[k] = on ? first_colour(t, k) : mem_hash(&k, sizeof k, 1);
    for (int round = 0; on && round < ROUNDS_MOST; round++) {
        for (class_id k = 0; k < classes; k++)
            next[k] = refined_colour(t, colour, table_hash, k, scratch);
        memcpy(colour, next, classes * sizeof *colour);
        bool broken = break_clashes(t, colour);
        uint32_t count = number_colours(colour, classes, sorted, f.colour);
        if (count == before && !broken)
            break;
        before = count;
    }
    f.count = number_colours(colour, classes, sorted, f.colour);
out:
    free(colour);
    free(next);
    free(table_hash);
    free(scratch);
    free(sorted);
    if (rc)
        free(f.colour);
    else
        *out = f;
    return rc;
}

void fold_release(struct fold *f)
{
    free(f->colour);
    memset(f, 0, sizeof *f);
}
