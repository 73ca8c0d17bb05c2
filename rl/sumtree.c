#include "rl/sumtree.h"

#include <stdbool.h>
#include <stdlib.h>

int rl_sumtree_init(struct rl_sumtree *t, uint32_t capacity)
{
    uint32_t size = 1;

    *t = (struct rl_sumtree){0};
    if (!capacity || capacity > 1u << 30)
        return RL_E_SETTING;
    while (size < capacity)
        size *= 2;
    t->node = calloc(2 * (size_t)size, sizeof *t->node);
    if (!t->node)
        return RL_E_MEMORY;
    t->size = size;
    t->capacity = capacity;
    return RL_OK;
}

void rl_sumtree_release(struct rl_sumtree *t)
{
    free(t->node);
    *t = (struct rl_sumtree){0};
}

void rl_sumtree_set(struct rl_sumtree *t, uint32_t leaf, double value)
{
    uint32_t i = t->size + leaf;

    t->node[i] = value;
    while (i /= 2)
        t->node[i] = t->node[2 * i] + t->node[2 * i + 1];
}

double rl_sumtree_get(const struct rl_sumtree *t, uint32_t leaf)
{
    return t->node[t->size + leaf];
}

double rl_sumtree_total(const struct rl_sumtree *t)
{
    return t->node[1];
}

uint32_t rl_sumtree_find(const struct rl_sumtree *t, double u)
{
    uint32_t i = 1;

    while (i < t->size) {
        double left = t->node[2 * i], right = t->node[2 * i + 1];
        bool go_left = u < left ? left > 0 : !(right > 0);
        if (!go_left)
            u -= left;
        i = 2 * i + !go_left;
    }
    return i - t->size;
}

double *rl_sumtree_leaf(struct rl_sumtree *t)
{
    return t->node + t->size;
}

void rl_sumtree_rebuild(struct rl_sumtree *t)
{
    for (uint32_t i = t->size; --i > 0;)
        t->node[i] = t->node[2 * i] + t->node[2 * i + 1];
}
