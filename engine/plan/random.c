#include "engine/plan/random.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

/* Splits `k` along as many of the axes `over` as earlier decisions allow. */
static bool split(struct strict *s, class_id k, label over, uint32_t axes)
{
    bool any = false;

    for (uint32_t x = 0; x < axes; x++) {
        if (over >> x & 1)
            any |= strict_decide(s, k, x, true, NULL);
    }
    return any;
}

int plan_random(const struct problem *p, struct strict *s, uint64_t seed, struct err *e)
{
    class_id *order = mem_try((size_t)p->classes.count + 1, sizeof *order);
    uint32_t count = 0;
    struct rl_rng rng;

    if (!order)
        return err_no_memory(e, "for a random plan");
    for (class_id k = 0; k < p->classes.count; k++) {
        if (label_is_splittable(&p->labels, k))
            order[count++] = k;
    }
    rl_rng_seed(&rng, seed, 0);
    uint32_t wanted = count ? 1 + rl_rng_below(&rng, count) : 0;
    for (uint32_t k = 0; k < count && wanted; k++) {
        uint32_t other = k + rl_rng_below(&rng, count - k);
        class_id chosen = order[other];
        order[other] = order[k];
        label over = (label)(1 + rl_rng_below(&rng, p->labels.count - 1));
        wanted -= split(s, chosen, over, p->mesh.axes);
    }
    free(order);
    return 0;
}
