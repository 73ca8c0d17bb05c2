/* engine/place/servers_run.h - the tables of one run of the program over two levels. Private to
 * servers.c, which goes through servers, servers_cost.c, which prices stages, and
 * servers_answer.c, which reads the plan. */
#ifndef AUTOMAP_ENGINE_PLACE_SERVERS_RUN_H
#define AUTOMAP_ENGINE_PLACE_SERVERS_RUN_H

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/program_run.h"
#include "hlo/support/err.h"

/* A choice inside one server: the row its last stage begins at, and what that stage takes. */
struct inner {
    double value;
    uint32_t from;
    uint16_t copies;
    uint8_t type;
};

/* A choice among servers: the row the block begins at. A block is what one server takes, with cores
 * in between; one core alone; or one stage with copies on several whole servers. */
struct outer {
    uint32_t from;
    uint16_t cores, devices, servers; /* that the block takes; no servers: a core */
    uint8_t type;
    bool empty; /* nothing is taken: the state has more than the one before it needs */
};

struct servers_run {
    struct run run; /* n, f, q, effort, types, base, measures, cap, allowed alone */
    const struct place_nets *n;
    uint32_t kinds, cores, per; /* cores: that can be of use; per: accelerators of a server */
    uint32_t servers[PLACE_TYPES_MAX];
    /* rows: ideals by work, ascending */
    uint32_t rows, sums;
    struct run_ranked *ranked;
    double *sum;            /* [row * sums]: time by measure and type, bytes, not allowed by type */
    uint16_t *pins, *sure;  /* [row * nets]: pins inside; those that are on no core among them */
    uint32_t *cut_at, *cut; /* nets a row cuts */
    uint64_t *marks;        /* [row * 3], as run.pins */
    uint64_t *pinned;       /* by server: bits of marks[0] that are on it */
    double window;          /* base work of a stage of one device or its copies */
    double rate[2][PLACE_TYPES_MAX], nothing[2][PLACE_TYPES_MAX];
    /* servers by kind, cores and, where the fewest are asked for, accelerators */
    uint32_t states, core_step, device_step, kind_step[PLACE_TYPES_MAX], device_most;
    double *best;               /* [state * rows + row] */
    struct outer *choice;       /* the same */
    uint32_t inners;            /* cores and devices of one server: (cores + 1)(per + 1) */
    struct inner *least, *real; /* [(cores * (per + 1) + devices) * rows + row] */
    double *least_of, *real_of; /* by row, the least of its inners */
    struct place_chain *found;  /* the best plan so far, by exact prices */
    double cap_found;           /* its value, or the question's */
    bool over;
    bool reading; /* a found plan is read: no limits */
};

/* A stage takes `to` less `from`; its server begins at `first`, and ends at `last`. */
struct server_stage {
    uint32_t first, from, to, last;
};

static inline const uint64_t *servers_set(const struct servers_run *t, uint32_t row)
{
    return t->run.f->set + (size_t)t->ranked[row].ideal * t->run.f->words;
}
static inline double *servers_sums(const struct servers_run *t, uint32_t row)
{
    return t->sum + (size_t)row * t->sums;
}
static inline bool servers_may_core(const struct servers_run *t, uint32_t p)
{
    return t->cores && t->run.allowed[p] >> t->kinds & 1;
}

/* ---- servers_cost.c ---- */

int servers_new(struct servers_run *t, struct err *e) MUST_CHECK;
void servers_release(struct servers_run *t);

/* After run.allowed or the caps changed: what counts by it. O(ideals x (positions + nets)). */
void servers_count(struct servers_run *t);

/* What a stage takes of each measure on `copies` accelerators of a kind, or on a core; exact but
 * for nets whose other end may be on a core: those are near. False where it cannot be there, or
 * not within cap and run.cap[1]. */
bool servers_stage(struct servers_run *t, const struct server_stage *s, uint32_t type,
                   uint32_t copies, double cap, double *ms);
/* All but the price: pairs apart, one pinned position, kinds, memory, work. */
bool servers_may_hold(const struct servers_run *t, uint32_t from, uint32_t to, uint32_t type);
bool servers_is_below(const struct servers_run *t, uint32_t j, uint32_t i);

/* ---- servers.c ---- */

/* Fills table (and its least by row) for a server of a kind that begins at `first`, up to `end`.
 * With `last` a row, stages are priced as those of a server that ends there; PLACE_NONE: a bound
 * below, as if it held all behind. */
struct servers_inside {
    uint32_t type, first, end, last;
    double cap;
};
void servers_fill(struct servers_run *t, const struct servers_inside *in, struct inner *table,
                  double *least);

/* ---- servers_answer.c ---- */

/* The plan of a state of the full set, devices given. */
int servers_answer(struct servers_run *t, uint32_t state, struct place_chain **out,
                   struct err *e) MUST_CHECK;

/* Its exact price by measure, and a position to decide where that is more than the program's: one
 * that may be on a core, was priced as if it were, and is not; PLACE_NONE: there is none. */
int servers_price(const struct servers_run *t, const struct place_chain *c, double ms[2],
                  uint32_t *undecided, struct err *e) MUST_CHECK;

#endif
