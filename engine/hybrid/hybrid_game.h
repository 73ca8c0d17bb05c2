/* engine/hybrid/hybrid_game.h - the search for a hybrid plan as a game: what a learner decides.
 *
 * An episode decides the number of micro-batches, then the stages from the last to the first, so
 * that how many micro-batches a stage has in flight is known when it is decided. Of a stage:
 *     mesh    its devices and axes; they end where those of the stage behind begin
 *     cut     its first section: an offset from where its share of the work is that of its devices
 *     label   of one shared class after the other (sections.h), among those of the points left
 *     point   of what is left: labels of local classes at a price of memory, recomputation
 * Only what fits the memory, keeps the pins and can be completed to a plan is legal. An action is
 * an index: of the micro-batches, a shape, an offset, a label, a point.
 * Reward: 0, at the end bound / step of the plan, simulated in the schedule where it is shortest;
 * the bound is that of all numbers of micro-batches.
 * Observed, for every legal action, of the best stage that it leaves: its time in all micro-batches
 * and its once-a-step part in bounds, its memory in its limit, the transfer to the stage before,
 * and the work left for each device left in the mean; of the plan that it usually leads to
 * (hybrid_game_complete) the longest stage and transfer in all micro-batches, one micro-batch
 * through all stages, and the longest once-a-step part, in bounds; then what is to be decided and
 * how far the plan is.
 *
 * Plain data over a borrowed space: a copy is a game of its own. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_GAME_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_GAME_H

#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "rl/env.h"

enum { HYBRID_CUT_RADIUS = 4, HYBRID_FEATURES = 10 };

/* The tables of one number of micro-batches; borrowed. */
struct hybrid_level {
    const struct hybrid_instance *in;
    const struct stage_tables *rows;
    double bound_ms; /* INFINITY, or <= 0: not known */
    uint8_t *ends;   /* whether the rest can be completed; made as it is asked for */
};

struct hybrid_space {
    const struct sections *sections;
    struct hybrid_level level[HYBRID_MICRO_MOST];
    uint32_t levels;
    uint32_t stages;      /* exactly; 0: any number */
    uint32_t stages_most; /* of a plan */
    int schedule;         /* < 0: any */
    double bound_ms;      /* the least; where none is known the least work of any stage */
    double *work;         /* [sections + 1] of the sections before, ms on one device */
};

/* `levels` have their tables and bounds filled in. ERR_INFEASIBLE: there is no plan; ERR_LIMIT: too
 * many devices and sections. */
int hybrid_space_new(struct hybrid_space *s, struct err *e) MUST_CHECK;
void hybrid_space_release(struct hybrid_space *s);
enum hybrid_decision {
    HYBRID_DECIDES_MICRO,
    HYBRID_DECIDES_MESH,
    HYBRID_DECIDES_CUT,
    HYBRID_DECIDES_LABEL,
    HYBRID_DECIDES_POINT,
    HYBRID_DECIDES_NOTHING, /* the plan is complete */
    HYBRID_DECISIONS
};

struct hybrid_game {
    const struct hybrid_space *space;
    enum hybrid_decision next;
    uint32_t level;
    uint32_t end_section, end_device; /* sections and devices before them are open */
    uint32_t stages;                  /* decided, from the last */
    /* of the stage that is being decided */
    uint32_t shape, section;
    uint32_t class; /* into sections->shared: the next one */
    uint32_t like;  /* a point with the labels decided so far */
    struct {
        uint32_t section, device, slot, point;
    } stage[HYBRID_STAGES_MOST];
    double longest_ms, reduce_ms; /* of the stages decided */
    /* at the end */
    struct hybrid_plan plan;
    enum pipe_schedule_kind schedule;
    double step_ms;
};

/* At the first decision that is one. */
void hybrid_game_new(const struct hybrid_space *s, struct hybrid_game *out);
static inline bool hybrid_game_is_over(const struct hybrid_game *g)
{
    return g->next == HYBRID_DECIDES_NOTHING;
}
/* Never 0 before the end; more than one bit. O(points of the fronts it looks at). */
uint64_t hybrid_game_legal(const struct hybrid_game *g);
/* Legal; goes on to the next decision that is one, and returns the reward. */
double hybrid_game_play(struct hybrid_game *g, uint32_t action);
/* The action that is taken without a reason for another, of those that are legal: the mesh of the
 * stage behind where it can be, work by the devices, the stage of least M (F + B) + R. */
uint32_t hybrid_game_usual(const struct hybrid_game *g, uint64_t legal);
/* The rest so. */
void hybrid_game_complete(struct hybrid_game *g);

/* The game as a learner asks for it. */
struct rl_env hybrid_game_env(struct hybrid_game *g);

#endif
