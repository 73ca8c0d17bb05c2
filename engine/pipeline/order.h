/* engine/pipeline/order.h - the forward pass in one linear order, and the position of everything
 * else along it.
 *
 * Forward operations: a post-order from the loss that visits the operand with the longest chain
 * below it first, so that what is used late is computed late (a post-order in text order carries
 * the decoder's embedding across the whole encoder). What the loss does not need (statistics,
 * values kept for the backward pass) follows its last operand.
 *
 * Backward operations get the position they can share a stage with. Let `latest` be the smallest
 * position of its float operands made in the backward pass (none: the last). Every forward operand
 * allows its producer's position and those of its forward users; the largest of them that is not
 * behind `latest` is taken, and of all operands the smallest. No forward operand: `latest`.
 * Free operations (reads.h) add nothing to the length of a chain, so they come right before their
 * first reader; where they run, and what they cost a stage, their readers say.
 * What is made of data alone (masks, labels as one-hot) has no gradient: made forward it allows the
 * positions of its users only, made backward it stands at the last position of its users. So no
 * edge between backward operations leads to a later position.
 *
 * A cut at c, 0 < c < count, leaves positions below c on earlier stages. */
#ifndef AUTOMAP_ENGINE_PIPELINE_ORDER_H
#define AUTOMAP_ENGINE_PIPELINE_ORDER_H
#include "engine/pipeline/reads.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"

struct order {
    struct unrolled steps;
    uint32_t *position; /* [ops] in the forward order */
    uint32_t *forward;  /* [count] the forward operation at each position */
    uint32_t count;
    struct reads reads; /* where free operations are made again */
    uint32_t *users,
        *user_base; /* operations that read a value, [value] .. [value + 1]: in the order
                       made; an operation that reads it twice stands there twice */
};

/* `p` must outlive it. Errors as unroll_new; ERR_INFEASIBLE for a forward pass of less than two
 * operations. O(operations + uses, log for sorting operands). */
int order_new(const struct problem *p, struct order *out, struct err *e) MUST_CHECK;
void order_release(struct order *o);

/* Names the layer of position `p` in the forward order, a trip of a loop as "name[trip]". False,
 * and `out` untouched: it is in none. */
bool order_layer(const struct order *o, const struct hlo_roles *roles, uint32_t p, char *out,
                 size_t room);

/* ---- another order ---- */

/* A chain of ideals (sets that hold all their operands' makers) is no prefix of the order above,
 * but the order that lists one set after the other, each in its old order, has them all as
 * prefixes. Such an order is written as runs: pairs of a position and a length. */

/* The runs of a chain: `stage` [count], below count, by position. It is raised to that of an
 * operand that is made later; *raised says how often. Fills run[2 * *runs], room for 2 * count.
 * O(operations + uses). */
int order_chain_runs(const struct order *o, uint32_t *stage, uint32_t *raised, uint32_t *run,
                     uint32_t *runs, struct err *e) MUST_CHECK;

/* Lays the forward operations out by runs; backward ones find their positions in the new order.
 * ERR_INPUT: not every position once, or an operation before one it reads; then, and out of memory,
 * `o` is as before. O(operations + uses log). */
int order_arrange(struct order *o, const uint32_t *run, uint32_t runs, struct err *e) MUST_CHECK;

/* ---- what crosses a cut ---- */

/* Bytes at each cut [count + 1], 0 at both ends; each value once per cut and direction: forward
 * when some use lies behind it, backward when some backward use lies before it. What is made again
 * (reads.h) crosses none, and what it reads is used wherever it is made. */
struct order_cuts {
    double *forward_sample, *backward_sample; /* values with a batch dim, for one sample */
    double *forward_fixed, *backward_fixed;   /* values of the data without one, per micro-batch */
    double *once; /* both directions, once a step: values that do not depend on the data, and
                     ORDER_SUM gradients, which are added up over the micro-batches first */
};
int order_cuts_new(const struct order *o, struct order_cuts *out, struct err *e) MUST_CHECK;
void order_cuts_release(struct order_cuts *c);

/* What a value of the backward pass is a gradient of. */
enum order_gradient {
    ORDER_NO_SUM, /* it differs from sample to sample, or leads to what does */
    ORDER_SUM,    /* a sum over the batch that only leads to such sums: of values that do not depend
                     on the data, and statistics of gradients */
    ORDER_VARIABLE, /* a sum that is added into a variable's gradient: stays where the variable is
                       used */
};
/* [values]; the caller frees it; NULL out of memory. O(operations + uses). */
uint8_t *order_gradients(const struct order *o);

/* Positions at which a value that an operation makes is made and read. It crosses cuts made + 1 ..
 * last forward, and cuts first_backward + 1 .. made on the way back. */
struct order_extent {
    uint32_t made;
    uint32_t first_backward, last; /* first backward use, last use of all; `made` when none */
};
struct order_extent order_extent_of(const struct order *o, uint32_t value);
/* Counted in order_cuts.once. `gradient` from order_gradients. */
bool order_crosses_once(const struct order *o, const uint8_t *gradient, uint32_t value);

#endif
