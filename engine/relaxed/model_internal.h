/* engine/relaxed/model_internal.h - shared by model.c and pattern.c. */
#ifndef AUTOMAP_ENGINE_RELAXED_MODEL_INTERNAL_H
#define AUTOMAP_ENGINE_RELAXED_MODEL_INTERNAL_H

#include "engine/relaxed/model.h"
#include "engine/relaxed/tables.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { LABELS_MOST = 512, CHOICES_MOST = CHOICE_FACTORS_MOST + CHOICE_LEAVES_MOST + 2 };

/* Keys of tables (tables.h). */
enum { KEY_RESHARD = TABLE_KEYS, KEY_PATTERN, KEY_ZERO, KEY_NO_RESHARD, KEY_MEMORY, KEY_ALLOWED };

/* The instruction being modelled. */
struct looked_at {
    hlo_id id;
    uint32_t first, factors;   /* into classes->factors */
    uint32_t operands, leaves; /* operand leaves; all leaves */
    uint32_t *space;           /* [leaves]; UINT32_MAX: free, takes any part */
    uint8_t *pass;             /* [operands] enum hlo_partial, for the result's combiner */
    uint8_t combiner;          /* of a partial result */
    uint8_t choice[CHOICES_MOST];
    uint32_t choices;
    double *share; /* [factors] */
    size_t space_room, pass_room, share_room;
};

struct build {
    struct model *m;
    struct err *e;
    struct looked_at look;
    uint32_t *uses;     /* [values] of origins */
    double *runs;       /* [values] of origins: how often the computations that read it run, in
                           all */
    hlo_comp *reads_in; /* [values] the latest of those computations, 1 + */
    struct hlo_flow *junctions;
    size_t junction_count;
    bool *is_junction; /* [values] */
    struct {
        uint32_t from, to, map;
    } * maps; /* between spaces, made so far: few */
    size_t map_count, map_room;
    bool *is_updated; /* [values] of origins: the next step's value of a parameter */
};

/* Finds what instruction `id` may do: sets its pattern, and spaces and combiners of its results.
 * Operands must have been modelled. */
int model_pattern_of(struct build *b, hlo_id id, uint32_t *pattern);

#endif
