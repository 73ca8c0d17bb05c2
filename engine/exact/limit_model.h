/* engine/exact/limit_model.h - memory at the positions that matter, as tables over a solver's
 * nodes.
 *
 * Live ranges that depend on the same nodes in the same way are one unit with one table of bytes; a
 * moment (a position of the entry, and in what runs there a position of its own, and so on) is how
 * often each unit is live. Private to engine/exact. */
#ifndef AUTOMAP_ENGINE_EXACT_LIMIT_MODEL_H
#define AUTOMAP_ENGINE_EXACT_LIMIT_MODEL_H

#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/eliminate.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"

enum { UNIT_NODES_MOST = 16 };

struct unit {
    uint32_t group; /* units over the same nodes share one table of the solver */
    size_t values;  /* into model->values: bytes per entry of that table */
};

struct group {
    uint32_t nodes[UNIT_NODES_MOST], count;
    size_t size;
    size_t table; /* of the solver */
};

struct moment {
    struct memory_chain chain;
    double *counts; /* [units] how many ranges of each are live */
};

/* Ranges of one unit begin, or end before, at a position. */
struct event {
    uint32_t unit, position;
    double count; /* < 0: end */
};

struct limit_model {
    struct solver s;
    const struct memory_model *m;
    size_t own_tables; /* of the solver: time and clashes; those of the groups follow */
    double **own;      /* [own_tables] their values as they were */
    double constant;   /* of the time */
    struct {
        double **own, constant;
    } ends[2];     /* the time with weight 0 and 1 of the excess of overlap; NULL: no overlap */
    double weight; /* of the excess in `own` */
    struct unit *units;
    uint32_t *unit_of; /* [ranges] */
    uint32_t unit_count;
    double *values;
    struct group *groups;
    uint32_t group_count;
    struct moment *moments;
    uint32_t moment_count;
    size_t unit_room, value_room, value_count, group_room, moment_room;
    uint32_t *table_of, *table_first; /* own tables of each node */
    uint32_t *units_of, *units_first; /* units of each node */
    struct event *events; /* of the entry in schedule order, if nothing lives in computations it
                             calls; else NULL */
    uint32_t event_count;
    double *unit_bytes; /* [units] under the last choice given to limit_look */
    double scale;       /* of the own tables now */
    double *scratch;    /* [ranges + computations] */
    uint32_t *at;       /* [computations] */
    label *on;          /* [classes] */
};

int limit_model_new(const struct step_tables *t, const struct memory_model *m,
                    const struct strict *fixed, const struct exact_options *o,
                    struct limit_model *out, struct err *e) MUST_CHECK;
void limit_model_release(struct limit_model *l);

/* Step time of a complete choice, excess included; INFINITY when labels clash. */
double limit_time(const struct limit_model *l, const uint32_t *choice);
/* E of a complete choice (cost/overlap.h): what its time with weight 1 is above that with 0; 0
 * where nothing overlaps. */
double limit_balance(const struct limit_model *l, const uint32_t *choice);
/* The same over the tables of node `n` alone. */
double limit_balance_of(const struct limit_model *l, const uint32_t *choice, uint32_t n);
/* Makes `weight` of the excess, 0 to 1, part of the tables: their minimum bounds the step. Prices
 * must be set again. */
void limit_weigh_excess(struct limit_model *l, double weight);
/* Time by the tables, with their weight of the excess, over those that contain node `n` only. */
double limit_time_of(const struct limit_model *l, const uint32_t *choice, uint32_t n);
/* Computes the bytes of all units under a choice, for the two functions below. */
void limit_look(struct limit_model *l, const uint32_t *choice);
/* Peak over all positions; *moment (may be NULL): its moment, created if new. < 0: out of
 * memory. */
double limit_peak(struct limit_model *l, uint32_t *moment);
double limit_bytes_at(const struct limit_model *l, uint32_t moment);
/* Sum of weight x bytes over the units that contain node `n`; weight [units]. */
double limit_bytes_of(const struct limit_model *l, const uint32_t *choice, uint32_t n,
                      const double *weight);

/* Sets the solver's tables to scale x time + sum over moments of price x (bytes - limit). */
void limit_set_prices(struct limit_model *l, double scale, const double *price, double limit);

#endif
