/* engine/cost/adding_up.h - what adding up gradients over micro-batches moves.
 *
 * With K micro-batches the gradient of a variable is a sum over K passes: K - 1 times a fresh
 * gradient and the sum so far are read, and the sum is written. A fresh gradient is read as what
 * makes it leaves it, before a convert; of a stack that a loop fills slice by slice the slices are.
 * What a loop carries and adds up itself begins with the sum so far, and costs nothing more. From
 * ZeRO 2 on a fresh gradient is scattered before it is added, and only the piece is; what is made
 * of several partial sums, as of weights that layers share, is priced whole there. Three streams
 * are a copy more than a mixed kernel, so they go by what a copy reaches of the bandwidth.
 * Private to engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_ADDING_UP_H
#define AUTOMAP_ENGINE_COST_ADDING_UP_H

#include "engine/cost/training.h"

/* Fills t->adding, and is_stacked of t->variables, by what those are reduced over. O(variables x
 * what only passes their gradients on). */
void adding_up_find(struct training *t);

#endif
