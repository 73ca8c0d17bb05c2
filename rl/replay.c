#include "rl/replay.h"

#include "rl/action_set.h"
#include "rl/aligned.h"
#include "rl/rng.h"
#include "rl/twins.h"

#include <math.h>

static const size_t BYTES_MAX = (size_t)8 << 30;

/* calloc: pages not written yet cost nothing. */
static int take_arrays(struct rl_replay *r)
{
    size_t n = r->capacity, floats = n * r->observation_size;

    r->observation = calloc(floats, sizeof *r->observation);
    r->next = calloc(floats, sizeof *r->next);
    r->legal = calloc(n * r->words, sizeof *r->legal);
    r->next_legal = calloc(n * r->words, sizeof *r->next_legal);
    r->action = calloc(n, sizeof *r->action);
    r->drawn = calloc(n, sizeof *r->drawn);
    r->reward = calloc(n, sizeof *r->reward);
    r->end = calloc(n, sizeof *r->end);
    r->priority = calloc(n, sizeof *r->priority);
    if (!r->observation || !r->next || !r->legal || !r->next_legal || !r->action || !r->drawn ||
        !r->reward || !r->end || !r->priority)
        return RL_E_MEMORY;
    int code = rl_twins_init(&r->twins, r->capacity);
    return code ? code : rl_sumtree_init(&r->tree, r->capacity);
}

int rl_replay_init(struct rl_replay *r, uint32_t capacity, uint32_t observation_size,
                   uint32_t action_count)
{
    *r = (struct rl_replay){
        .capacity = capacity,
        .observation_size = observation_size,
        .action_count = action_count,
        .words = rl_words(action_count),
        .largest = 1,
        .alpha = 1,
        .gamma = -1, /* none yet */
    };
    if (!capacity ||
        BYTES_MAX / capacity < 8 * (size_t)observation_size + 16 * (size_t)r->words + 84)
        return RL_E_SETTING;
    int code = take_arrays(r);
    if (code)
        rl_replay_release(r);
    return code;
}

void rl_replay_release(struct rl_replay *r)
{
    void *const arrays[] = {r->observation, r->next,   r->legal, r->next_legal, r->action,
                            r->drawn,       r->reward, r->end,   r->priority};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    rl_sumtree_release(&r->tree);
    rl_twins_release(&r->twins);
    *r = (struct rl_replay){0};
}

/* Returns of the k-th oldest decision and, with `all`, of every one before it; without, of those of
 * its episode. What twins earned from a decision on, this episode could have earned too. */
static void find_returns(struct rl_replay *r, uint32_t k, bool all)
{
    double sum = -INFINITY;

    for (bool first = true; k < r->count; k--, first = false) { /* ends below 0 */
        uint32_t slot = rl_replay_slot(r, k);
        if (r->end[slot] != RL_GOES_ON) {
            if (!first && !all)
                return;
            sum = r->end[slot] == RL_TERMINATED ? 0 : -INFINITY;
        }
        sum = (double)r->reward[slot] + (isinf(sum) ? sum : r->gamma * sum);
        sum = (double)rl_twins_raise(&r->twins, slot, (float)sum);
    }
}

uint32_t rl_replay_push(struct rl_replay *r, const struct rl_decision *d)
{
    uint32_t slot = r->head;
    size_t row = (size_t)slot * r->observation_size, bytes = r->observation_size * sizeof(float);
    size_t set = (size_t)slot * r->words;

    memcpy(r->observation + row, d->observation, bytes);
    memcpy(r->next + row, d->next, bytes);
    memcpy(r->legal + set, d->legal, r->words * sizeof *r->legal);
    if (d->end == RL_TERMINATED)
        memset(r->next_legal + set, 0, r->words * sizeof *r->legal);
    else
        memcpy(r->next_legal + set, d->next_legal, r->words * sizeof *r->legal);
    r->action[slot] = d->action;
    r->drawn[slot] = 0;
    r->reward[slot] = d->reward;
    rl_twins_put(&r->twins, slot, rl_twins_key(d->observation, r->observation_size, d->action));
    r->end[slot] = (uint8_t)d->end;
    r->priority[slot] = r->largest;
    if (r->treed)
        rl_sumtree_set(&r->tree, slot, pow(r->largest, r->alpha));
    r->head = slot + 1 < r->capacity ? slot + 1 : 0;
    if (r->count < r->capacity)
        r->count++;
    if (d->end == RL_TERMINATED)
        find_returns(r, r->count - 1, false);
    return slot;
}

static uint32_t newest(const struct rl_replay *r)
{
    return r->head ? r->head - 1 : r->capacity - 1;
}

void rl_replay_cut(struct rl_replay *r)
{
    if (r->count && r->end[newest(r)] == RL_GOES_ON)
        r->end[newest(r)] = RL_TRUNCATED;
}

void rl_replay_follow(struct rl_replay *r, const struct rl_settings *s)
{
    if (s->prioritized && (!r->treed || r->alpha != s->alpha)) {
        double *leaf = rl_sumtree_leaf(&r->tree);
        for (uint32_t i = 0; i < r->count; i++)
            leaf[i] = pow(r->priority[i], s->alpha);
        rl_sumtree_rebuild(&r->tree);
        r->alpha = s->alpha;
    }
    r->treed = s->prioritized;
    if (r->gamma != s->gamma) {
        r->gamma = s->gamma;
        rl_twins_forget_returns(&r->twins);
        find_returns(r, r->count - 1, true);
    }
}

void rl_window_add(struct rl_window *w, double reward, double step)
{
    w->sum += w->discount * reward;
    w->discount *= step;
}

void rl_replay_window(const struct rl_replay *r, const struct rl_settings *s, uint32_t slot,
                      struct rl_batch *b, uint32_t i)
{
    struct rl_window w = {.sum = 0, .discount = 1};
    uint32_t last = slot, stop = newest(r), d = r->observation_size;

    for (uint32_t length = 1;; length++) {
        rl_window_add(&w, (double)r->reward[last], s->gamma);
        if (r->end[last] != RL_GOES_ON || length == s->n_step || last == stop)
            break;
        last = last + 1 < r->capacity ? last + 1 : 0;
    }
    bool ended =
        r->end[last] == RL_TERMINATED || (r->end[last] == RL_TRUNCATED && !s->bootstrap_truncated);

    b->slot[i] = slot;
    b->action[i] = r->action[slot];
    memcpy(b->legal + (size_t)i * r->words, r->legal + (size_t)slot * r->words,
           r->words * sizeof *b->legal);
    memcpy(b->next_legal + (size_t)i * r->words, r->next_legal + (size_t)last * r->words,
           r->words * sizeof *b->legal);
    b->reward[i] = (float)w.sum;
    b->discount[i] = ended ? 0 : (float)w.discount;
    b->bound[i] = rl_twins_best(&r->twins, slot);
    memcpy(b->rows + (size_t)i * d, r->observation + (size_t)slot * d, d * sizeof(float));
    memcpy(b->rows + ((size_t)b->count + i) * d, r->next + (size_t)last * d, d * sizeof(float));
}

/* weight = (count P)^-beta, over the largest of the batch. */
static void weigh_samples(const struct rl_replay *r, double beta, struct rl_batch *b)
{
    double total = rl_sumtree_total(&r->tree), largest = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        double share = rl_sumtree_get(&r->tree, b->slot[i]) / total;
        double weight = pow(r->count * share, -beta);
        b->weight[i] = (float)weight;
        largest = weight > largest ? weight : largest;
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->weight[i] = (float)((double)b->weight[i] / largest);
}

void rl_replay_draw(struct rl_replay *r, const struct rl_settings *s, double beta,
                    struct rl_rng *rng, struct rl_batch *b)
{
    double slice = r->treed ? rl_sumtree_total(&r->tree) / b->count : 0;

    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t slot = r->treed ? rl_sumtree_find(&r->tree, (i + rl_rng_unit(rng)) * slice)
                                 : rl_rng_below(rng, r->count);
        rl_replay_window(r, s, slot, b, i);
        b->weight[i] = 1;
        r->drawn[slot]++;
    }
    if (r->treed && s->importance)
        weigh_samples(r, beta, b);
}

void rl_replay_learned(struct rl_replay *r, const struct rl_settings *s, const struct rl_batch *b,
                       const float *error)
{
    for (uint32_t i = 0; i < b->count; i++) {
        double priority = fabs((double)error[i]) + s->priority_floor;
        r->priority[b->slot[i]] = priority;
        if (priority > r->largest)
            r->largest = priority;
        if (r->treed)
            rl_sumtree_set(&r->tree, b->slot[i], pow(priority, r->alpha));
    }
}

uint32_t rl_replay_slot(const struct rl_replay *r, uint32_t k)
{
    uint32_t first = r->count < r->capacity ? 0 : r->head;

    return (uint32_t)(((uint64_t)first + k) % r->capacity);
}
