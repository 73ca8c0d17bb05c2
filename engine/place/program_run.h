/* engine/place/program_run.h - the tables of one run of the program over ideals. Private to
 * chain_program.c, which goes through the ideals, program_pairs.c, which tries what may stand below
 * one, and the program over servers, which shares its yardsticks. */
#ifndef AUTOMAP_ENGINE_PLACE_PROGRAM_RUN_H
#define AUTOMAP_ENGINE_PLACE_PROGRAM_RUN_H

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"

/* Rounding of sums in different orders must not part equal values. */
#define RUN_SLACK 1e-9

struct run_ranked {
    double work;
    uint32_t ideal;
};

struct run_choice {
    uint32_t from; /* row of J, PLACE_NONE: the device stays empty */
    uint16_t type, copies;
};

/* One net that an ideal cuts: how many pins are inside, and whether the producer's is. */
struct run_cut {
    uint32_t net, inside;
};

/* A net beside the ideal at hand, in one place for those that ask for each of many. */
struct run_net {
    double ms;
    uint32_t inside, pins;
    uint32_t maker; /* the position of its producer */
};

struct run {
    const struct place_prepared *p;
    const struct place_nets *n;
    const struct place_family *f;
    const struct place_question *q;
    struct place_effort *effort;
    uint32_t types, base, measures, states, words;
    uint32_t count[PLACE_TYPES_MAX], stride[PLACE_TYPES_MAX];
    double cap[2];           /* by measure */
    double window;           /* base work a stage may have */
    double *room, *capacity; /* [measure * states + d]: base work of devices left, used */
    double *sum;             /* [ideal * sums + ...], see below */
    double *unit;            /* [position * sums + ...]: what one position adds to them */
    uint32_t sums;
    struct run_ranked *ranked;
    /* rows: the ideals that are alive, in order */
    uint32_t rows;
    uint32_t *ideal;
    uint64_t *set, *pins; /* [row * words]; [row * 3]: fixed devices, sides of pairs apart */
    double *best;         /* [row * states + d] */
    struct run_choice *choice;
    uint64_t *mask; /* alive states, where there are at most 64; else all ones */
    double *work;   /* of the yardstick, ascending */
    size_t *cut_at; /* [2 * row + pass]: nets whose producer is of that pass, then of the other */
    struct run_cut *cut;
    size_t ideal_room, set_room, pins_room, best_room, choice_room, mask_room, work_room, at_room,
        cut_room;
    size_t cuts;
    /* the ideal at hand */
    struct run_net *net;
    uint64_t *cuts_net; /* bit h: it cuts net h */
    const uint64_t *before;
    double rate[2][PLACE_TYPES_MAX]; /* by measure: work of the yardstick done in one ms, at most */
    double cut_ms[2];                /* by measure: of all nets it cuts */
    double in[2], out[2];            /* what it moves when nothing of it is in J */
    uint64_t hand_pins[3];
    uint8_t *allowed;                /* by position, pins to devices included */
    uint16_t *used[PLACE_TYPES_MAX]; /* devices of a type, by state */
    bool *usable;                    /* by state: room and capacity allow it at the ideal at hand */
    uint64_t usable_mask;
};

/* Sums of an ideal: time by measure and type, then bytes, then positions not allowed by type. */
static inline double *run_sums_of(const struct run *r, uint32_t ideal)
{
    return r->sum + (size_t)ideal * r->sums;
}
static inline uint32_t run_bytes_at(const struct run *r)
{
    return r->measures * r->types;
}

static inline double run_measure_time(const struct run *r, uint32_t measure, uint32_t type,
                                      uint32_t p)
{
    if (r->measures == 1)
        return place_nets_time(r->n, 0, type, p) + place_nets_time(r->n, 1, type, p);
    return place_nets_time(r->n, measure ? 1 - r->q->pass : r->q->pass, type, p);
}

static inline const uint64_t *run_set_of(const struct run *r, uint32_t ideal)
{
    return r->f->set + (size_t)ideal * r->words;
}

static inline uint32_t run_pins_of(const struct place_nets *n, uint32_t h)
{
    return n->pin_at[h + 1] - n->pin_at[h];
}

/* By work, then number. */
int run_compare_ranked(const void *a, const void *b);
/* Kinds by position, pins to devices included. */
void run_restrict_types(struct run *r);
/* Base work that a device of `type` does in one ms, at most; and what it does in no time. */
void run_rate_of(const struct run *r, uint32_t measure, uint32_t type, double *rate,
                 double *nothing);
/* Bits of fixed devices, in the order of positions, and of the sides of pairs apart. */
void run_gather_pins(const struct place_nets *n, const uint64_t *set, uint64_t pins[3]);

/* The ideal of that rank, as the next row: the best stage on top of every row below it. Counts
 * pairs and looks. */
void run_try_pairs(struct run *r, uint32_t rank);

#endif
