#include "engine/pipeline/variable_updates.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for the updates of variables";

struct finder {
    const struct problem *p;
    uint32_t *of_value; /* [values] of parameters and gradients: the variable; HLO_NONE */
    uint32_t *owner;    /* [instructions] the variable; HLO_NONE */
};

static bool is_update(const struct finder *f, hlo_id id)
{
    return f->p->training.is_once[id] && f->p->costs.times[id] > 0;
}

/* Whose the parameters are, and the gradients. */
static void name_values(const struct finder *f)
{
    const struct hlo_roles *roles = &f->p->roles;

    for (hlo_value v = 0; v < f->p->m->value_count; v++)
        f->of_value[v] = HLO_NONE;
    for (uint32_t n = 0; n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        if (r->role == HLO_ROLE_VARIABLE && r->gradient != HLO_NONE)
            f->of_value[hlo_value_source(f->p->m, r->gradient)] = n;
    }
    for (uint32_t n = 0; n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        f->of_value[r->value] = r->role == HLO_ROLE_VARIABLE ? n : r->of;
    }
}

/* The owner of the largest operand that has one. */
static uint32_t owner_of_operands(const struct finder *f, hlo_id id)
{
    const struct hlo_module *m = f->p->m;
    uint32_t best = HLO_NONE;
    uint64_t most = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            hlo_value source = hlo_value_source(m, v);
            uint32_t own = f->of_value[source];
            uint64_t bytes = (uint64_t)hlo_value_shape(m, v)->bytes;
            if (own == HLO_NONE)
                own = f->owner[m->value_instruction[source]];
            if (own == HLO_NONE || (best != HLO_NONE && bytes <= most))
                continue;
            best = own;
            most = bytes;
        }
    }
    return best;
}

/* That of the instruction which calls it, as far out as needed. */
static uint32_t owner_of_caller(const struct finder *f, hlo_id id)
{
    const struct hlo_module *m = f->p->m;
    const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];

    while (c->caller_count == 1 && f->owner[id] == HLO_NONE) {
        id = c->callers[0];
        c = &m->computations[hlo_at(m, id)->computation];
    }
    return f->owner[id];
}

static void find_owners(const struct finder *f)
{
    const struct hlo_module *m = f->p->m;
    const struct hlo_roles *roles = &f->p->roles;
    uint32_t first = 0;

    while (first < roles->param_count && roles->params[first].role != HLO_ROLE_VARIABLE)
        first++;
    first = first < roles->param_count ? first : HLO_NONE;
    for (hlo_id id = 0; id < m->count; id++)
        f->owner[id] = f->p->training.update_of[id];
    for (hlo_id id = 0; id < m->count; id++)
        if (f->p->training.is_once[id] && f->owner[id] == HLO_NONE)
            f->owner[id] = owner_of_operands(f, id);
    for (hlo_id id = 0; id < m->count; id++)
        if (is_update(f, id) && f->owner[id] == HLO_NONE)
            f->owner[id] = owner_of_caller(f, id);
    for (hlo_id id = 0; id < m->count; id++)
        if (is_update(f, id) && f->owner[id] == HLO_NONE)
            f->owner[id] = first;
}

static int list_updates(const struct finder *f, struct variable_updates *u, struct err *e)
{
    uint32_t params = f->p->roles.param_count;
    hlo_id count = f->p->m->count;

    u->base = mem_try((size_t)params + 2, sizeof *u->base);
    u->op = mem_try((size_t)count + 1, sizeof *u->op);
    if (!u->base || !u->op)
        return err_no_memory(e, MEMORY_FOR);
    for (hlo_id id = 0; id < count; id++)
        if (is_update(f, id) && f->owner[id] != HLO_NONE)
            u->base[f->owner[id] + 2]++;
    for (uint32_t n = 0; n < params; n++)
        u->base[n + 2] += u->base[n + 1];
    for (hlo_id id = 0; id < count; id++)
        if (is_update(f, id) && f->owner[id] != HLO_NONE)
            u->op[u->base[f->owner[id] + 1]++] = id;
    return 0;
}

int variable_updates_new(const struct problem *p, struct variable_updates *out, struct err *e)
{
    struct finder f = {.p = p,
                       .of_value = mem_try(p->m->value_count, sizeof *f.of_value),
                       .owner = mem_try(p->m->count, sizeof *f.owner)};
    struct variable_updates u = {0};
    int rc = f.of_value && f.owner ? 0 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    name_values(&f);
    find_owners(&f);
    rc = list_updates(&f, &u, e);
out:
    free(f.of_value);
    free(f.owner);
    if (rc)
        variable_updates_release(&u);
    *out = u;
    return rc;
}

void variable_updates_release(struct variable_updates *u)
{
    free(u->base);
    free(u->op);
    memset(u, 0, sizeof *u);
}

double variable_updates_ms(const struct variable_updates *u, const struct problem *p,
                           uint32_t param, const struct cluster_device *d)
{
    double ms = 0;

    for (uint32_t n = u->base[param]; n < u->base[param + 1]; n++) {
        struct instruction_scaling s =
            step_tables_scaling(&p->step_tables, u->op[n], p->training.batch);
        ms += p->costs.times[u->op[n]] * instruction_scaling_ms(&s, d, 1);
    }
    return ms;
}
