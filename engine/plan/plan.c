#include "engine/plan/plan.h"

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

const char *const plan_by_names[PLAN_BY_COUNT] = {
#define X(id, name) name,
    PLAN_BY(X)
#undef X
};

static const char MEMORY_FOR[] = "for a plan";

static int plan_alloc(const struct problem *p, struct plan *out, struct err *e)
{
    size_t count = p->classes.count;

    *out = (struct plan){.problem = p, .batching = problem_batch_and_zero(p)};
    out->on = mem_try(count, sizeof *out->on);
    out->decided = mem_try(count, sizeof *out->decided);
    out->by = mem_try(count, sizeof *out->by);
    if (out->on && out->decided && out->by)
        return 0;
    plan_release(out);
    return err_no_memory(e, MEMORY_FOR);
}

int plan_from_strict(const struct problem *p, const struct strict *s, enum plan_by by,
                     struct plan *out, struct err *e)
{
    int rc = plan_alloc(p, out, e);

    if (rc)
        return rc;
    for (class_id k = 0; k < p->classes.count; k++) {
        out->on[k] = s->on[k];
        out->decided[k] = s->on[k] | s->off[k];
        out->by[k] = (uint8_t)(s->on[k]          ? by
                               : out->decided[k] ? PLAN_BY_PROPAGATION
                                                 : PLAN_BY_NOBODY);
    }
    out->cost = step_tables_cost(&p->step_tables, out->on);
    return 0;
}

int plan_from_relaxed(struct relaxed_plan *from, struct plan *out, struct err *e)
{
    const struct problem *p = from->problem;
    int rc = plan_alloc(p, out, e);

    if (rc)
        goto fail;
    out->relaxed = mem_try(1, sizeof *out->relaxed);
    if (!out->relaxed) {
        plan_release(out);
        rc = err_no_memory(e, MEMORY_FOR);
        goto fail;
    }
    *out->relaxed = *from;
    memset(from, 0, sizeof *from);
    memset(out->by, PLAN_BY_OPTIMUM, p->classes.count);
    out->cost = out->relaxed->cost;
    out->bound_ms = out->relaxed->bound_ms;
    snprintf(out->found_by, sizeof out->found_by, "relaxed");
    return 0;
fail:
    relaxed_plan_release(from);
    return rc;
}

int plan_copy(const struct plan *from, struct plan *out, struct err *e)
{
    struct plan copy;
    int rc = plan_alloc(from->problem, &copy, e);
    size_t count = from->problem->classes.count;
    struct relaxed_plan *relaxed = NULL;

    if (rc)
        return rc;
    if (from->relaxed) {
        relaxed = mem_try(1, sizeof *relaxed);
        rc = relaxed ? relaxed_plan_copy(from->relaxed, relaxed, e) : err_no_memory(e, MEMORY_FOR);
    }
    if (rc) {
        free(relaxed);
        plan_release(&copy);
        return rc;
    }
    label *on = copy.on, *decided = copy.decided;
    uint8_t *by = copy.by;
    copy = *from;
    copy.relaxed = relaxed;
    copy.on = memcpy(on, from->on, count * sizeof *on);
    copy.decided = memcpy(decided, from->decided, count * sizeof *decided);
    copy.by = memcpy(by, from->by, count * sizeof *by);
    *out = copy;
    return 0;
}

void plan_release(struct plan *p)
{
    free(p->on);
    free(p->decided);
    free(p->by);
    if (p->relaxed)
        relaxed_plan_release(p->relaxed);
    free(p->relaxed);
    memset(p, 0, sizeof *p);
}

struct plan_counts plan_count(const struct plan *p)
{
    const struct problem *q = p->problem;
    struct plan_counts n = {0};

    for (uint32_t k = 0; k < q->roles.param_count; k++) {
        const struct hlo_param_role *r = &q->roles.params[k];
        if (r->role != HLO_ROLE_VARIABLE)
            continue;
        n.variables++;
        for (uint32_t d = 0; d < hlo_value_shape(q->m, r->value)->rank; d++) {
            class_id c = problem_param_class(q, k, d);
            n.dims++;
            if (plan_dim_label(p, r->value, d))
                n.partitioned++;
            else if (p->relaxed || c == CLASS_NONE || p->decided[c])
                n.replicated++;
            else
                n.undecided++;
        }
    }
    n.paper_reward =
        PAPER_REWARD_PARTITIONED * n.partitioned + PAPER_REWARD_REPLICATED * n.replicated;
    return n;
}

label plan_dim_label(const struct plan *p, hlo_value v, uint32_t dim)
{
    class_id k = p->problem->classes.class_of[class_dim(&p->problem->classes, v, dim)];

    if (p->relaxed)
        return status_dim(p->relaxed->made[v], p->problem->mesh.axes, dim);
    return k == CLASS_NONE ? 0 : p->on[k];
}

label plan_factor_label(const struct plan *p, hlo_id id, uint32_t n)
{
    const struct classes *c = &p->problem->classes;
    const struct class_factor *f = &c->factors[c->factor_base[id] + n];

    if (p->relaxed) /* n + 1 in the byte of an axis */
        return status_dim(p->relaxed->choice[id], p->problem->mesh.axes, n);
    return f->class == CLASS_NONE ? 0 : p->on[f->class];
}

void plan_write_shape(const struct plan *p, hlo_value v, struct str *out)
{
    const struct problem *q = p->problem;
    const struct hlo_shape *s = hlo_value_shape(q->m, v);

    str_format(out, "%s[", hlo_type_info[s->type].name);
    for (uint32_t d = 0; d < s->rank; d++) {
        label over = plan_dim_label(p, v, d);
        if (d)
            str_add_char(out, ' ');
        str_add_int(out, s->dims[d]);
        if (!over)
            continue;
        if (q->mesh.axes == 1) {
            str_format(out, "/%u", q->labels.parts[over]);
        } else {
            char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];
            mesh_set_format(&q->mesh, over, axes, sizeof axes);
            str_format(out, "/%s", axes);
        }
        class_id k = q->classes.class_of[class_dim(&q->classes, v, d)];
        if (s->dims[d] / label_cuts(&q->labels, k) % q->labels.parts[over])
            str_add_char(out, '!');
    }
    str_add_char(out, ']');
}

void plan_write_batching(const struct plan *p, struct str *out)
{
    static const char *const stored[ZERO_LEVEL_MOST + 1] = {
        "", "optimizer state", "optimizer state and gradients",
        "optimizer state, gradients and variables"};

    if (p->problem->options.batch_size)
        str_format(out, "the plan is for a batch of %lld; the module was made with %lld\n",
                   (long long)problem_batch_size(p->problem),
                   (long long)p->problem->training.batch_divisor);
    if (p->batching.micro_batches > 1)
        str_format(out,
                   "the plan runs the batch in %u micro-batches and sums their gradients: "
                   "shardings do not say so, "
                   "the training loop has to\n",
                   p->batching.micro_batches);
    if (p->batching.zero)
        str_format(out,
                   "the plan stores %s in pieces along the axes of the gradients (ZeRO level %u): "
                   "shardings here are "
                   "those of use\n",
                   stored[p->batching.zero], p->batching.zero);
}

int plan_memory(const struct plan *p, struct memory_cost *out, struct err *e)
{
    if (p->relaxed)
        return relaxed_memory(p->relaxed, out, e);
    double *scratch = memory_scratch(&p->problem->memory);

    if (!scratch)
        return err_no_memory(e, MEMORY_FOR);
    *out = memory_of(&p->problem->memory, &p->problem->labels, p->on, scratch);
    free(scratch);
    return 0;
}

/* The collectives of variables, gradients and state that are stored in pieces, at the parameters.
 */
static int add_storage(const struct plan *p, struct plan_collective **out, size_t *count,
                       size_t *room, struct err *e)
{
    const struct hlo_roles *r = &p->problem->roles;

    for (uint32_t k = 0; k < r->param_count; k++) {
        struct storage_cost s = step_tables_storage(&p->problem->step_tables, k, p->on);
        for (uint32_t n = 0; n < s.count; n++) {
            if (!mem_grow(out, room, *count, 1)) {
                free(*out);
                return err_no_memory(e, MEMORY_FOR);
            }
            (*out)[(*count)++] = (struct plan_collective){
                .instruction = p->problem->m->value_instruction[r->params[k].value],
                .kind = s.items[n].kind,
                .over = s.over,
                .count = s.items[n].count,
                .bytes = s.items[n].bytes * s.items[n].count,
                .ms = s.items[n].ms * s.items[n].count,
                .cause = p->problem->training.variables[k].reduced[0],
            };
        }
    }
    return 0;
}

static int relaxed_collectives(const struct plan *p, struct plan_collective **out, size_t *count,
                               struct err *e)
{
    static const uint8_t kinds[RESHARD_KIND_COUNT] = {
        [RESHARD_ALL_GATHER] = COLLECTIVE_ALL_GATHER,
        [RESHARD_ALL_TO_ALL] = COLLECTIVE_ALL_TO_ALL,
        [RESHARD_REDUCE_SCATTER] = COLLECTIVE_REDUCE_SCATTER,
        [RESHARD_ALL_REDUCE] = COLLECTIVE_ALL_REDUCE,
        [RESHARD_PERMUTE] = COLLECTIVE_PERMUTE,
    };

    *out = mem_try((size_t)p->relaxed->reshard_count + 1, sizeof **out);
    if (!*out)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t k = 0; k < p->relaxed->reshard_count; k++) {
        const struct relaxed_reshard *r = &p->relaxed->reshards[k];
        (*out)[(*count)++] = (struct plan_collective){
            .instruction = p->problem->m->value_instruction[r->value],
            .kind = kinds[r->kind],
            .over = r->over,
            .count = (uint32_t)r->times,
            .bytes = r->bytes,
            .ms = r->ms,
            .cause = CLASS_NONE,
        };
    }
    return 0;
}

int plan_collectives(const struct plan *p, struct plan_collective **out, size_t *count,
                     struct err *e)
{
    const struct step_tables *t = &p->problem->step_tables;
    struct reduction list[TERM_CLASSES_MOST];
    size_t room = 0;

    *out = NULL;
    *count = 0;
    if (p->relaxed)
        return relaxed_collectives(p, out, count, e);
    for (hlo_id id = 0; id < p->problem->m->count; id++) {
        uint32_t found = step_tables_reductions(t, id, p->on, list);
        if (!mem_grow(out, &room, *count, (size_t)found + 1)) {
            free(*out);
            return err_no_memory(e, MEMORY_FOR);
        }
        for (uint32_t k = 0; k < found; k++) {
            (*out)[(*count)++] = (struct plan_collective){
                .instruction = id,
                .kind = list[k].kind,
                .over = list[k].over,
                .count = (uint32_t)(list[k].count * list[k].times),
                .bytes = list[k].bytes * list[k].times,
                .ms = list[k].ms * list[k].times,
                .cause = list[k].class,
            };
        }
    }
    return add_storage(p, out, count, &room, e);
}

class_id plan_batch_class(const struct problem *p, label *over)
{
    class_id best = CLASS_NONE;
    uint64_t best_weight = 0;

    class_id named = p->batch_param == BATCH_AS_FOUND
                         ? CLASS_NONE
                         : problem_param_class(p, p->batch_param, p->batch_dim);
    for (class_id k = 0; k < p->classes.count; k++) {
        const struct class_info *info = &p->classes.info[k];
        if (named != CLASS_NONE && k != named)
            continue;
        if ((named == CLASS_NONE && !info->input_dims) || info->reason != CLASS_ALLOWED)
            continue;
        for (uint32_t a = 1; a < p->labels.count; a++) {
            /* More dims of inputs first, then more parts. */
            uint64_t weight = (uint64_t)info->input_dims << 32 | p->labels.parts[a];
            if (label_is_admissible(&p->labels, k, (label)a) && weight > best_weight) {
                best_weight = weight;
                best = k;
                *over = (label)a;
            }
        }
    }
    return best;
}
