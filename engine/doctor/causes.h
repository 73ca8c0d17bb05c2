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
