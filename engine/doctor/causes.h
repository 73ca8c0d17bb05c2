/* engine/doctor/causes.h - the cause of a collective by its evidence, and what can be done about
 * it. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_CAUSES_H
#define AUTOMAP_ENGINE_DOCTOR_CAUSES_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/evidence.h"
#include "engine/doctor/groups.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"

/* The first rule that fits. `trips` of the loops around it; NAN: unknown, taken as many. */
enum doctor_cause doctor_cause_of(const struct evidence *v, double trips);

/* Whether the gathered dim is one the product contracts. */
bool doctor_contracts(const struct evidence *v);

/* Whether `op` works along its dim `dim`; taken so where nothing else is known. */
bool doctor_works_along(const struct hlo_module *m, hlo_id op, int64_t dim);

/* Whether it serves a decomposition or a solve of one matrix, without a batch that devices could
 * share. */
bool doctor_has_no_batch(const struct evidence *v);

/* Whether it brings a scatter the rows, or their numbers, of all devices. */
bool doctor_gathers_rows(const struct evidence *v);
/* Whether `op` has every row of one value meet every row of another; `rows`: so many of one of
 * them, 0: any. */
bool doctor_is_of_pairs(const struct hlo_module *m, hlo_id op, int64_t rows);
/* Whether every row of what it brings meets every row of another value. */
bool doctor_makes_pairs(const struct evidence *v);
/* Whether a reshape leaves alone the dim `dim` of that of its two values which has this rank. */
bool doctor_reshape_keeps(const struct hlo_module *m, hlo_id reshape, uint8_t rank, int64_t dim);
/* Whether it looks rows up in several stored tables, each in its own. */
bool doctor_is_of_tables(const struct hlo_module *m, hlo_id op);

/* Whether an instruction is a product whose split may move between batch dims: dispatch. */
bool doctor_is_batched(const struct hlo_module *m, hlo_id op);

/* What a device holds and sends in one collective. */
struct doctor_traffic doctor_traffic_of(const struct cluster *c, const struct device_groups *g,
                                        enum collective_kind kind, double bytes);

/* The line of an instruction of d->before that a person would look at. */
bool doctor_line_before(struct doctor *d, hlo_id id, struct hlo_frame *out);

/* Fills verdict, because, cure and its price of `f`, whose cause and traffic are known. */
void doctor_cure(struct doctor *d, const struct evidence *v, struct doctor_finding *f);

#endif
