/* engine/doctor/answers.h - what is said of a collective: verdict, sentence, cure and what it
 * leaves. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_ANSWERS_H
#define AUTOMAP_ENGINE_DOCTOR_ANSWERS_H

#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/evidence.h"
#include "hlo/module/hlo.h"

struct doctor_answer {
    struct doctor *d;
    const struct evidence *v;
    struct doctor_finding *f;
};

/* A sentence kept as long as the doctor; "" without memory. */
const char *verdict_say(struct doctor_answer *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void verdict_judge(struct doctor_answer *a, enum doctor_verdict verdict, const char *because);
/* A cure after which nothing of this collective is left. */
void verdict_cure(struct doctor_answer *a, const char *words);
/* A cure whose price depends on what follows. */
void verdict_cure_open(struct doctor_answer *a, const char *words);
/* A cure that leaves another collective in its place. */
void verdict_cure_by(struct doctor_answer *a, enum collective_kind kind, double bytes, double trips,
                     const char *words);
double verdict_value_bytes(const struct hlo_module *m, hlo_id id);
/* What a device holds before it is gathered. */
double verdict_tile_bytes(const struct doctor_answer *a);

#endif
