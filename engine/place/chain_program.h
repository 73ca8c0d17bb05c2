/* engine/place/chain_program.h - the best chain of devices through a family of ideals.
 *
 *     best[d][I] = min over J below I, type t, r copies:
 *                  max(best[d - r e_t][J], load_t(I \ J) / r + sync)           d: devices used by
 * type
 *
 * (Tarnawski et al., section 5, with several kinds of accelerators and copies as in its appendix.)
 * What I \ J moves comes from the nets the two ideals cut: a net cut by I but not by J is cut, one
 * cut by J but not by I is, one cut by both is unless they hold the same pins of it. So no pair is
 * ever stored. Given a plan of value U, it skips, and stays exact,
 *   - pairs whose work alone is U or more,
 *   - states (d, I) whose remaining work the remaining devices cannot do within U, or that d
 * devices cannot have reached. Time O(pairs looked at x nets cut), memory O(ideals x (words + nets
 * cut + devices by type)). */
#ifndef AUTOMAP_ENGINE_PLACE_CHAIN_PROGRAM_H
#define AUTOMAP_ENGINE_PLACE_CHAIN_PROGRAM_H

#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

struct place_stage {
    uint32_t type, copies;
};

/* A plan by position: stage[0] takes the first difference. */
struct place_chain {
    uint32_t stages;
    struct place_stage *stage;
    uint32_t *stage_of; /* by position */
    double value_ms;    /* of the measure that was minimised */
    uint32_t positions;
    uint32_t *device; /* of stage after stage, as many as copies; NULL: any of its kind */
};
void place_chain_free(struct place_chain *c); /* frees c too; NULL is fine */

struct place_question {
    const struct place_rules *rules;
    /* Only plans below this are looked for. INFINITY: any. */
    double below_ms;
    /* Passes apart: the pass that is minimised, and what the other may take at most. */
    uint32_t pass;
    double other_ms;
    bool fewest; /* among plans below below_ms the one with the fewest accelerators, not the best */
    uint64_t pairs; /* give up after so many; 0: never */
    const atomic_bool *stop;
};

struct place_effort {
    uint64_t pairs; /* whose cost was worked out */
    uint64_t looks; /* what they cost to find and to work out: about one a pair of ideals that is
                       compared, one for four nets, one for eight pairs passed over */
    uint32_t ideals, alive;
    bool complete; /* the question was answered within its limits */
};

/* The band of a question (family.h). Passes apart, or any value will do: every ideal may be a
 * border, and *out stays zeroed. Released with place_band_release. Errors as place_program's.
 * O(positions x types + states). */
int place_program_band(const struct place_prepared *p, const struct place_question *q,
                       struct place_band *out, struct err *e) MUST_CHECK;

/* Sets *out to NULL when it finds no plan below the bound; with a complete family and
 * effort->complete that proves there is none. ERR_MEMORY; ERR_LIMIT: too many kinds and devices for
 * a table. */
int place_program(const struct place_prepared *p, const struct place_family *f,
                  const struct place_question *q, struct place_chain **out,
                  struct place_effort *effort, struct err *e) MUST_CHECK;

#endif
