/* engine/hybrid/row_maker.h - what makes the rows of a shape (stage_rows.c): the labels of local
 * classes (row_choices.c), and rows that another beats (row_ranking.c). Private to engine/hybrid/.
 */
#ifndef AUTOMAP_ENGINE_HYBRID_ROW_MAKER_H
#define AUTOMAP_ENGINE_HYBRID_ROW_MAKER_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_table.h"
#include "hlo/support/err.h"

/* Prices of memory: see stage_table.h; and none where what is not hidden counts (OVERLAP_AUTO). */
enum { ROW_PRICES = 6 };

/* One kind of section. */
struct row_kind {
    uint32_t first, end; /* terms */
    uint32_t parts;
};

/* A label that pins of groups ask for: of a row's `slot`-th label, by these pins. */
struct row_need {
    uint32_t slot, pin; /* into pins->pin */
    uint32_t kind;      /* of sections whose local label it is; UINT32_MAX: of shared ones */
};

struct row_maker {
    struct stage_costs costs;
    const struct stage_tables *t;
    struct row_kind *kinds;
    uint32_t *part_of;    /* [local classes of all kinds, by kind_at - shared_count] */
    struct bill *spread;  /* [spread_count] */
    label *sigmas;        /* [sigma_count][shared_count] */
    uint32_t *sigma_must; /* [sigma_count] bits of pins that its rows keep */
    size_t sigma_count, sigma_room, must_room, sigma_limit;
    struct row_need *need; /* [needs] */
    size_t need_room;
    uint32_t needs, must; /* bits of pins that the row being made has to keep */
    uint32_t sigmas_most, choices_most;
    bool is_ideal;
    bool is_merged;   /* an ideal row for each label of the batch, over all sigmas with it */
    uint8_t *is_free; /* [classes] whose labels a bill's least is taken over */
    bool *cut_short;
};

/* The best of one part at each price, and the least of every figure. */
struct row_choice {
    double value[ROW_PRICES];
    double figure[ROW_PRICES][ROW_FIGURES];
    label labels[ROW_PRICES][BILL_CLASSES_MOST];
    double least[ROW_FIGURES];
};

struct row_part {
    uint32_t kind, number, count;
    class_id class[BILL_CLASSES_MOST];
    uint32_t place[BILL_CLASSES_MOST]; /* in the kind's list */
    struct row_choice *out;
    uint64_t tried;
    bool is_cut_short;
};

/* ---- row_choices.c ---- */

/* Kinds of sections, their parts and bills; stopped, those so far. ERR_MEMORY. */
int row_kinds_new(struct row_maker *k) MUST_CHECK;
/* Of a bill the least of every figure over the labels that its free classes can have, each figure
 * alone. INFINITY where there are none. */
void row_least_of(const struct row_maker *k, const struct bill *b, double out[static ROW_FIGURES]);
/* The best labels of one part of a section, at each price; INFINITY: it can have none. */
void row_choose(struct row_maker *k, struct row_part *p);
/* The least of a part of which not all labellings were looked at: of each of its bills alone. */
void row_least_of_part(struct row_maker *k, const struct row_part *p,
                       double out[static ROW_FIGURES]);
/* A label that a class may have beside those of k->costs.on, and under data and tensor parallelism
 * alone where that is asked for. */
bool row_may_have(const struct row_maker *k, class_id class, label a);
/* The pins that have to be kept allow a row this label at a place. */
bool row_must_allow(const struct row_maker *k, uint32_t slot, label a);
void row_add_figures(double *to, const double *from);

/* ---- row_ranking.c ---- */

/* How many of the prices say something. */
static inline uint32_t row_prices(const struct row_maker *k)
{
    return k->costs.overlap.is_bounded ? ROW_PRICES : ROW_PRICES - 1;
}

/* Keeps the rows that none beats, in order. False: no memory. */
bool row_drop_beaten(const struct row_maker *k, struct rows *r);

#endif
