#include "engine/doctor/answers.h"

#include "engine/cluster/collectives.h"
#include "engine/doctor/causes.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/evidence.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <stdarg.h>
#include <stdio.h>

const char *verdict_say(struct doctor_answer *a, const char *format, ...)
{
    char text[600];
    va_list args;

    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size < 0)
        size = 0;
    const char *kept =
        arena_text(&a->d->arena, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
    return kept ? kept : "";
}

void verdict_judge(struct doctor_answer *a, enum doctor_verdict verdict, const char *because)
{
    a->f->verdict = verdict;
    a->f->because = because;
}

void verdict_cure(struct doctor_answer *a, const char *words)
{
    a->f->cure = words;
    a->f->cure_is_priced = true;
    a->f->cured = (struct doctor_traffic){.kind = a->f->once.kind};
    a->f->cured_trips = 1;
}

void verdict_cure_open(struct doctor_answer *a, const char *words)
{
    a->f->cure = words;
}

void verdict_cure_by(struct doctor_answer *a, enum collective_kind kind, double bytes, double trips,
                     const char *words)
{
    verdict_cure(a, words);
    a->f->cured = doctor_traffic_of(&a->d->cluster, a->v->groups, kind, bytes);
    a->f->cured_trips = trips;
}

double verdict_value_bytes(const struct hlo_module *m, hlo_id id)
{
    return (double)hlo_shape(m, id)->bytes;
}

double verdict_tile_bytes(const struct doctor_answer *a)
{
    const struct hlo_module *m = a->v->m;

    return hlo_at(m, a->v->id)->operand_count ? verdict_value_bytes(m, hlo_operand(m, a->v->id, 0))
                                              : 0;
}
