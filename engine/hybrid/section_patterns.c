#include "engine/cost/attention.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/unroll.h"
#include "engine/pipeline/variable_updates.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

/* Of an instruction that runs so many times in a pass. */
static uint32_t instruction_pattern(const struct sections *s, hlo_id id, double times, uint8_t pass,
                                    class_id *list, uint64_t hash[2])
{
    const struct problem *p = s->problem;
    const struct step_tables *t = &p->step_tables;
    const struct classes *c = &p->classes;
    uint32_t leaves = class_leaf_count(c, id), count = 0;
    double head[] = {p->costs.instruction[id].flops,
                     p->costs.instruction[id].bytes,
                     times,
                     p->costs.times[id] > 0, /* else in a branch that is never taken */
                     p->measured_ms ? p->measured_ms[id] : -1,
                     hlo_at(c->m, id)->opcode,
                     pass,
                     c->runs_whole[id],
                     p->attention.work[id],
                     attention_is_backward(&p->attention, id)};

    for (int h = 0; h < 2; h++)
        hash[h] = mem_hash(head, sizeof head, (uint64_t)h * 0x5851f42d4c957f2du + 1);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        uint32_t key[] = {c->m->shapes[c->m->value_shape[v]].bare,
                          p->traffic.weight[c->leaf_base[id] + leaf],
                          p->training.waits[v] | (uint32_t)p->training.adding[v] << 1,
                          c->is_gathered[c->leaf_base[id] + leaf]};
        for (int h = 0; h < 2; h++)
            hash[h] = mem_hash(key, sizeof key, hash[h]);
    }
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        const struct class_factor *f = &c->factors[k];
        uint32_t at = 0;
        bool splits = f->class != CLASS_NONE && c->info[f->class].reason == CLASS_ALLOWED;
        while (splits && at < count && list[at] != f->class)
            at++;
        if (splits && at == count) {
            if (count == TERM_CLASSES_MOST)
                return UINT32_MAX;
            list[count++] = f->class;
        }
        const struct class_info *info = splits ? &c->info[f->class] : NULL;
        bool joined = t->joined && t->joined->part[k] == SUM_JOINED;
        int64_t key[] = {f->kind | joined << 8,
                         splits ? (int64_t)at : -1,
                         splits ? info->least : 0,
                         splits ? info->divisor : 0,
                         splits ? info->group_divisor : 0,
                         f->class == s->order->steps.batch,
                         f->size};
        for (int h = 0; h < 2; h++) {
            hash[h] = mem_hash(key, sizeof key, hash[h]);
            hash[h] = mem_hash(c->leaf_dims + f->dims, leaves, hash[h]);
        }
    }
    return count;
}

uint32_t sections_pattern(const struct sections *s, uint32_t n, class_id *list, uint64_t hash[2])
{
    const struct unroll_op *op = &s->order->steps.ops[n];
    uint32_t count = instruction_pattern(s, op->id, op->times, s->pass[n], list, hash);

    for (uint32_t v = op->values; v < op->values + op->value_count; v++)
        for (int h = 0; h < 2; h++)
            hash[h] = mem_hash(&s->gradient[v], 1, hash[h]);
    return count;
}

static void list_class(const struct sections *s, class_id class, class_id *list, uint32_t *count)
{
    if (class == CLASS_NONE || s->problem->classes.info[class].reason != CLASS_ALLOWED)
        return;
    for (uint32_t n = 0; n < *count; n++)
        if (list[n] == class)
            return;
    if (*count < SECTION_CLASSES_MOST)
        list[(*count)++] = class;
}

uint32_t sections_value_classes(const struct sections *s, const struct section_value *v,
                                class_id list[static SECTION_CLASSES_MOST])
{
    const struct classes *c = &s->problem->classes;
    const struct unroll_value *value = &s->order->steps.values[v->value];
    uint32_t count = 0;

    for (dim_id d = c->dim_base[value->value]; d < c->dim_base[value->value + 1]; d++)
        list_class(s, c->class_of[d], list, &count);
    if (v->use != SECTION_VARIABLE)
        return count;
    const struct training_variable *t = &s->problem->training.variables[value->param];
    for (uint32_t r = 0; r < t->reduced_count; r++)
        list_class(s, t->reduced[r], list, &count);
    return count;
}

static bool is_reduced(const struct training_variable *t, class_id class)
{
    for (uint32_t r = 0; r < t->reduced_count; r++)
        if (t->reduced[r] == class)
            return true;
    return false;
}

void sections_update_pattern(const struct sections *s, uint32_t value, const class_id *list,
                             uint32_t count, uint64_t hash[2])
{
    const struct unroll_value *v = &s->order->steps.values[value];
    const struct variable_updates *u = &s->updates;
    const struct problem *p = s->problem;
    double head[] = {v->bytes,
                     (double)hlo_value_shape(p->m, p->roles.params[v->param].value)->bytes, count};

    for (int h = 0; h < 2; h++)
        hash[h] = mem_hash(head, sizeof head, 3 + (uint64_t)h);
    for (uint32_t n = 0; n < count; n++) { /* what may be split, and whether into pieces */
        const struct class_info *info = &p->classes.info[list[n]];
        int64_t key[] = {info->least, info->divisor, info->group_divisor,
                         list[n] == s->order->steps.batch,
                         is_reduced(&p->training.variables[v->param], list[n])};
        for (int h = 0; h < 2; h++)
            hash[h] = mem_hash(key, sizeof key, hash[h]);
    }
    for (uint32_t n = u->base[v->param]; n < u->base[v->param + 1]; n++) {
        hlo_id id = u->op[n];
        class_id own[TERM_CLASSES_MOST];
        uint64_t one[2];
        uint32_t some = instruction_pattern(s, id, p->costs.times[id], SECTION_ONCE, own, one);
        if (some == UINT32_MAX) /* like no other */
            one[0] = one[1] = id;
        for (int h = 0; h < 2; h++)
            hash[h] = mem_hash(&one[h], sizeof one[h], hash[h]);
        for (uint32_t k = 0; k < some && some != UINT32_MAX; k++) {
            uint32_t at = 0;
            while (at < count && list[at] != own[k])
                at++;
            for (int h = 0; h < 2; h++)
                hash[h] = mem_hash(&at, sizeof at, hash[h]);
        }
    }
}
