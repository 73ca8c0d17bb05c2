/* What each device computes between the collectives, and the calls of which nobody knows what they
 * do. */
#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/doctor/doctor.h"
#include "engine/kernels/kernel_rules.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_collective(const struct hlo_module *m, hlo_id id)
{
    return hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_COLLECTIVE;
}

/* One device's text, as a program of its own: its collectives become calls, which are taken out of
 * the sum again. */
static void make_whole(struct hlo_module *copy)
{
    for (hlo_id id = 0; id < copy->count; id++) {
        if (is_collective(copy, id))
            hlo_set_opcode(copy, id, HLO_OP_CUSTOM_CALL);
    }
    copy->num_partitions = copy->replica_count = 1;
    copy->is_scheduled = false;
}

static bool is_opaque(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_CUSTOM_CALL && !hlo_kernel_of(m, id) &&
           !hlo_is_flow(m, id);
}

static bool is_called(const struct hlo_module *m, hlo_id id, const char *target, size_t size)
{
    size_t other;
    const char *text = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &other);

    return text && other == size && !memcmp(text, target, size);
}

/* Calls of one target are one entry. */
static int add_opaque(struct doctor *d, size_t *room, hlo_id id, const struct instruction_cost *c,
                      struct err *e)
{
    size_t size = 0;
    const char *target = hlo_attr_string(d->m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);

    if (!target)
        return 0;
    for (uint32_t k = 0; k < d->opaque_count; k++) {
        struct doctor_opaque *o = &d->opaque[k];
        if (!is_called(d->m, o->first, target, size))
            continue;
        o->count++;
        o->ms += c->compute_ms;
        return 0;
    }
    if (d->opaque_count == DOCTOR_OPAQUE_MOST)
        return 0;
    if (!mem_grow(&d->opaque, room, d->opaque_count, 1))
        return err_no_memory(e, "for the calls of the module");
    const char *kept = arena_text(&d->arena, target, size);
    d->opaque[d->opaque_count++] = (struct doctor_opaque){
        .first = id, .count = 1, .ms = c->compute_ms, .target = kept ? kept : ""};
    return 0;
}

static int sum_up(struct doctor *d, const struct problem *p, struct err *e)
{
    label *whole = mem_try((size_t)p->classes.count + 1, sizeof *whole);
    size_t room = d->opaque_count;
    int rc = 0;

    if (!whole)
        return err_no_memory(e, "for the work of the module");
    double ms = step_tables_cost(&p->step_tables, whole).compute_ms;
    for (hlo_id id = 0; id < p->m->count && !rc; id++) {
        hlo_id origin = p->m->origin[id];
        if (hlo_at(p->m, id)->opcode != HLO_OP_CUSTOM_CALL)
            continue;
        struct instruction_cost c = step_tables_instruction(&p->step_tables, id, whole);
        if (is_collective(d->m, origin))
            ms -= c.compute_ms;
        else if (is_opaque(p->m, id))
            rc = add_opaque(d, &room, origin, &c, e);
    }
    d->compute_ms = ms > 0 ? ms : 0;
    d->has_compute = !rc;
    free(whole);
    return rc;
}

int doctor_compute(struct doctor *d, struct hlo_module *copy, const char *kernels, struct err *e)
{
    const struct problem_options o = {.kernels = kernels};
    struct kernel_rules *rules = NULL;
    struct problem *p = NULL;
    struct err unpriced;
    int rc = kernel_rules_read(kernels, &rules, e);

    kernel_rules_free(rules); /* what is wrong in them is told; the rest of this may fail */
    if (rc || copy->count != d->m->count) {
        hlo_free(copy);
        return rc;
    }
    p = mem_try(1, sizeof *p);
    if (!p) {
        hlo_free(copy);
        return err_no_memory(e, "for the work of the module");
    }
    make_whole(copy);
    rc = problem_new(copy, NULL, &d->cluster, &o, p, &unpriced);
    if (!rc) {
        rc = sum_up(d, p, e);
        problem_release(p);
    } else if (rc == ERR_MEMORY) {
        *e = unpriced;
    } else {
        rc = 0; /* text that cannot be priced */
    }
    free(p);
    return rc;
}

int doctor_compute_as(struct doctor *d, const struct doctor *from, struct err *e)
{
    d->has_compute = from->has_compute;
    d->compute_ms = from->compute_ms;
    d->opaque = mem_try((size_t)from->opaque_count + 1, sizeof *d->opaque);
    if (!d->opaque)
        return err_no_memory(e, "for the calls of the module");
    for (uint32_t k = 0; k < from->opaque_count; k++) {
        d->opaque[k] = from->opaque[k];
        const char *kept =
            arena_text(&d->arena, from->opaque[k].target, strlen(from->opaque[k].target));
        d->opaque[k].target = kept ? kept : "";
    }
    d->opaque_count = from->opaque_count;
    return 0;
}
