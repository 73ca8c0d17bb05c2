#include "tui/commands/plan_print.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/fewer.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/fewer_print.h"
#include "tui/commands/plan_limit.h"
#include "tui/commands/plan_relaxed.h"
#include "tui/files/user_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void plan_print_head(const struct plan *plan)
{
    char mesh[64], model[128];

    mesh_format(&plan->problem->mesh, mesh, sizeof mesh);
    printf("%s  on %s, mesh %s%s\n\n", file_stem(model, sizeof model, plan->problem->m->file),
           plan->problem->cluster.name, mesh, plan->relaxed ? ", relaxed" : "");
}

/* What a proof is about: `given` decisions hold in every plan it compares with. */
static void print_proof(const struct plan *plan, bool given)
{
    const char *within = plan->memory_limit > 0 ? " within the memory limit" : "",
               *keeping = given ? " with the given decisions" : "";
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (plan->cost.step_ms <= plan->bound_ms * (1 + 1e-9))
        printf("  proven optimal  no strict plan on this mesh%s%s is faster\n", keeping, within);
    else
        printf("  bound           %12s  no strict plan on this mesh%s%s is faster; gap %s\n",
               units_ms(a, plan->bound_ms), keeping, within,
               units_percent(b, plan->cost.step_ms / plan->bound_ms - 1));
}

/* Time for values that every device makes whole though their uses want parts, random bits above
 * all; and the one that takes most of it. */
static void print_made_whole(const struct plan *plan)
{
    const struct problem *p = plan->problem;
    hlo_id most = HLO_NONE;
    double ms = 0;
    uint32_t count = 0;
    char a[UNITS_ROOM];

    for (hlo_id id = 0; id < p->m->count && p->step_tables.free_ms > 0; id++) {
        double one = class_leaf_count(&p->classes, id)
                         ? 0
                         : step_tables_instruction(&p->step_tables, id, plan->on).compute_ms;
        count += one > 0;
        bool has_name = hlo_at(p->m, id)->opcode != HLO_OP_PARAMETER;
        most = one > ms && has_name ? id : most;
        ms = fmax(ms, has_name ? one : 0);
    }
    if (most == HLO_NONE)
        return;
    printf("  made whole      %12s  on every device: %s", units_ms(a, p->step_tables.free_ms),
           hlo_name(p->m, most));
    if (count > 1)
        printf(" and %u more", count - 1);
    printf(", from keys and constants alone, so that no split is lost\n");
}

/* Kernels that no rule describes, and a rule to start from for the one that moves most. */
static int print_unknown_kernels(const struct problem *p, struct err *e)
{
    struct kernel_targets targets;
    struct str text = {0};

    kernel_targets(p->m, &p->costs, &targets);
    const struct kernel_target *most = kernel_largest_unknown(&targets);
    for (uint32_t k = 0; k < targets.count && most; k++) {
        if (!targets.list[k].unknown)
            continue;
        str_add(&text, "  ");
        kernel_target_say(&targets.list[k], &text);
        str_add_char(&text, '\n');
    }
    if (most) {
        str_add(&text, "  a rule to start from, for --kernels FILE:\n\n");
        kernel_rule_write(p->m, most->first, &text);
    }
    int rc = text.failed ? err_no_memory(e, "for a rule to start from") : 0;
    if (!rc && most)
        printf("\n%s", text.text);
    str_release(&text);
    return rc;
}

static const double NEARLY_FULL = 0.7; /* of a device: the margin matters */

/* The batch, where it is another than the module's, and what it is cut into. */
static void print_batch(const struct plan *plan)
{
    const struct problem *p = plan->problem;

    if (p->options.batch_size)
        printf("  batch           %12lld  the module has %lld\n", (long long)problem_batch_size(p),
               (long long)p->training.batch_divisor);
    if (plan->batching.micro_batches > 1 || plan->batching.zero)
        printf("  micro-batches   %12u  ZeRO level %u\n", plan->batching.micro_batches,
               plan->batching.zero);
}

/* A line per kind; ZeRO scatters and gathers beside the all-reduces. */
static int print_collectives(const struct plan *plan, struct err *e)
{
    struct plan_collective *list;
    size_t count;
    double bytes[COLLECTIVE_COUNT] = {0};
    uint64_t runs[COLLECTIVE_COUNT] = {0};
    char name[32], a[UNITS_ROOM], b[UNITS_ROOM];

    if (plan_collectives(plan, &list, &count, e))
        return e->code;
    for (size_t k = 0; k < count; k++) {
        bytes[list[k].kind] += list[k].bytes;
        runs[list[k].kind] += list[k].count;
    }
    free(list);
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        if (!runs[kind] && kind != COLLECTIVE_ALL_REDUCE)
            continue;
        snprintf(name, sizeof name, "%ss", collective_name((enum collective_kind)kind));
        printf("  %-15s %12s  %s a step\n", name, units_count(a, (int64_t)runs[kind]),
               units_bytes(b, bytes[kind]));
    }
    return 0;
}

/* True: it fits. `asked_bytes`: a memory limit in figures; 0: none, or what a device has. */
static bool print_memory(const struct plan *plan, const struct memory_cost *memory,
                         double asked_bytes)
{
    double limit = plan->memory_limit > 0 ? plan->memory_limit
                                          : cluster_weakest(&plan->problem->cluster).memory_bytes;
    bool fits = memory->peak <= limit * (1 + 1e-9);
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], d[UNITS_ROOM];

    printf("  memory          %12s  of %s: %s; %s state, %s activations and gradients\n",
           units_bytes(a, memory->peak), units_bytes(b, limit), fits ? "fits" : "does not fit",
           units_bytes(c, memory->arguments), units_bytes(d, memory->temporaries));
    if (asked_bytes <= 0 && (plan->memory_limit > 0 || memory->peak > NEARLY_FULL * limit))
        plan_limit_print_margin(plan->relaxed ? PLAN_RELAXED : PLAN_STRICT);
    return fits;
}

/* What else there is: fewer devices, a plan within the memory. */
static void print_others(const struct plan *plan, bool given, bool fits, double asked_bytes)
{
    if (plan->bound_ms > 0 && !given) {
        struct fewer_question q = {.step_ms = plan->cost.step_ms,
                                   .does_not_fit = !fits,
                                   .limit_bytes = asked_bytes,
                                   .variables = true,
                                   .inputs = true,
                                   .relaxed = plan->relaxed != NULL};
        fewer_print(plan->problem, &q);
    }
    if (!fits && plan->bound_ms > 0 && !plan->relaxed)
        printf("                                the best plan without a limit; with one: "
               "--memory-limit device\n");
}

static int print_params(const struct plan *plan, struct err *e)
{
    const struct hlo_roles *roles = &plan->problem->roles;
    struct str shape = {0};

    for (uint32_t k = 0; k < roles->param_count; k++) {
        const struct hlo_param_role *r = &roles->params[k];
        if (r->role != HLO_ROLE_VARIABLE && r->role != HLO_ROLE_INPUT)
            continue;
        str_clear(&shape);
        if (plan->relaxed)
            relaxed_write_shape(plan->relaxed, r->value, &shape);
        else
            plan_write_shape(plan, r->value, &shape);
        if (shape.failed)
            break;
        printf("  %-8s %-48s %s\n", hlo_role_names[r->role], r->name, shape.text);
    }
    int rc = shape.failed ? err_no_memory(e, "for a shape") : 0;
    str_release(&shape);
    return rc;
}

int plan_print(const struct plan *plan, bool given, double asked_bytes, struct err *e)
{
    struct plan_counts n = plan_count(plan);
    struct memory_cost memory;
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    if (plan_memory(plan, &memory, e))
        return e->code;
    plan_print_head(plan);
    printf("  step            %12s  compute %s, communication %s\n",
           units_ms(a, plan->cost.step_ms), units_ms(b, plan->cost.compute_ms),
           units_ms(c, plan->cost.communication_ms));
    if (plan->relaxed)
        plan_relaxed_print_costs(plan->relaxed, plan->memory_limit > 0, given);
    else if (plan->bound_ms > 0)
        print_proof(plan, given);
    print_batch(plan);
    if (!plan->relaxed && print_collectives(plan, e))
        return e->code;
    bool fits = print_memory(plan, &memory, asked_bytes);
    print_made_whole(plan);
    print_others(plan, given, fits, asked_bytes);
    printf("  variable dims   %12s  %s partitioned, %s replicated, %u undecided\n",
           units_count(a, n.dims), units_count(b, n.partitioned), units_count(c, n.replicated),
           n.undecided);
    printf("  paper reward    %12s\n\n", units_number(a, n.paper_reward, 1));
    if (plan->relaxed && plan->relaxed->reshard_count)
        plan_relaxed_print_reshards(plan->relaxed);
    int rc = print_params(plan, e);
    return rc ? rc : print_unknown_kernels(plan->problem, e);
}
