#include "engine/exact/exact.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/eliminate.h"
#include "engine/exact/exact_overlap.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the exact solver";

/* ---- tables from the problem ---- */

/* Labels a class may take: those of `fixed` and in scope; the empty one when none is left. */
static uint32_t domain_of(const struct solver *s, const struct strict *fixed, class_id k,
                          label *labels)
{
    const struct labels *l = s->t->labels;
    const struct class_info *info = &l->classes->info[k];
    bool in_scope = (s->o->variables && info->var_dims) || (s->o->inputs && info->input_dims) ||
                    (s->o->variables && s->o->inputs && s->o->goal == EXACT_STEP_TIME);
    label on = fixed ? fixed->on[k] : 0, off = fixed ? fixed->off[k] : 0;
    uint32_t count = 0;

    for (uint32_t a = 0; a < l->count; a++) {
        if (label_is_admissible(l, k, (label)a) && (a & on) == on && !(a & off) &&
            (in_scope || a == on))
            labels[count++] = (label)a;
    }
    return count;
}

static int make_nodes(struct solver *s, const struct strict *fixed)
{
    const struct classes *c = s->t->labels->classes;

    s->nodes = mem_try(c->count, sizeof *s->nodes);
    s->node_of = mem_try(c->count, sizeof *s->node_of);
    s->fixed = mem_try(c->count, sizeof *s->fixed);
    if (!s->nodes || !s->node_of || !s->fixed)
        return err_no_memory(s->e, MEMORY_FOR);
    for (class_id k = 0; k < c->count; k++) {
        struct node *n = &s->nodes[s->node_count];
        n->class = k;
        n->domain = domain_of(s, fixed, k, n->labels);
        s->node_of[k] = CLASS_NONE;
        if (n->domain > 1)
            s->node_of[k] = s->node_count++;
        else if (n->domain == 1)
            s->fixed[k] = n->labels[0];
        else
            return err_set(s->e, ERR_INFEASIBLE,
                           "the fixed decisions leave a class no admissible label");
    }
    return 0;
}

/* An entry of the step's time, with the part of the excess that counts. */
static double price_at(const struct solver *s, size_t at)
{
    const struct step_tables *t = s->t;
    double w = s->o->excess_weight, ms = t->compute_ms[at] + t->communication_ms[at];

    return w > 0 ? ms + w * overlap_balance(&t->overlap, t->compute_ms[at], t->beside_ms[at]) : ms;
}

/* The table of one term over those of its classes that are nodes. */
static int table_of_term(struct solver *s, const struct term *term, label *on)
{
    uint32_t nodes[TERM_CLASSES_MOST], choice[TERM_CLASSES_MOST] = {0}, count = 0;
    struct solver_table f;

    for (uint32_t n = 0; n < term->class_count; n++) {
        class_id k = s->t->class_pool[term->classes + n];
        on[k] = s->fixed[k];
        if (s->node_of[k] != CLASS_NONE)
            nodes[count++] = s->node_of[k];
    }
    if (!count) {
        uint32_t at = term->table + term_entry(s->t, term, on);
        s->constant += price_at(s, at);
        return 0;
    }
    int rc = solver_table_new(s, nodes, count, &f);
    if (rc)
        return rc == ERR_LIMIT ? err_set(s->e, ERR_LIMIT,
                                         "an instruction that can be split in %u ways on this mesh "
                                         "is too much for the exact solver",
                                         count)
                               : err_no_memory(s->e, MEMORY_FOR);
    size_t at = 0;
    do {
        label taken = 0;
        bool clash = false;
        for (uint32_t n = 0; n < count; n++)
            on[s->nodes[nodes[n]].class] = s->nodes[nodes[n]].labels[choice[n]];
        for (uint32_t n = 0; n < term->class_count; n++) {
            label a = on[s->t->class_pool[term->classes + n]];
            clash |= (taken & a) != 0;
            taken |= a;
        }
        uint32_t entry = term->table + term_entry(s->t, term, on);
        f.value[at++] = clash ? INFINITY : price_at(s, entry);
    } while (solver_next_choice(s, nodes, count, choice));
    return solver_push_table(s, &f);
}

static int step_time_tables(struct solver *s)
{
    label *on = mem_try(s->t->labels->classes->count, sizeof *on);
    int rc = on ? 0 : err_no_memory(s->e, MEMORY_FOR);

    s->constant = s->t->fixed_ms;
    if (s->o->excess_weight > 0)
        s->constant += s->o->excess_weight * overlap_balance(&s->t->overlap, s->t->fixed_ms, 0);
    if (rc)
        goto out;
    for (uint32_t k = 0; k < s->t->count; k++) {
        rc = table_of_term(s, &s->t->items[k], on);
        if (rc)
            goto out;
    }
out:
    free(on);
    return rc;
}

/* Reward of a class: per variable dim, minus because tables are minimised. */
static int reward_tables(struct solver *s)
{
    const struct classes *c = s->t->labels->classes;

    for (class_id k = 0; k < c->count; k++) {
        double dims = (s->o->variables ? c->info[k].var_dims : 0) +
                      (s->o->inputs ? c->info[k].input_dims : 0);
        double whole = -s->o->replicated * dims;
        double split = -s->o->partitioned * dims;
        if (s->node_of[k] == CLASS_NONE) {
            s->constant += s->fixed[k] ? split : whole;
            continue;
        }
        struct solver_table f;
        uint32_t n = s->node_of[k];
        if (solver_table_new(s, &n, 1, &f))
            return err_no_memory(s->e, MEMORY_FOR);
        for (uint32_t a = 0; a < s->nodes[n].domain; a++)
            f.value[a] = s->nodes[n].labels[a] ? split : whole;
        int rc = solver_push_table(s, &f);
        if (rc)
            return rc;
    }
    return 0;
}

/* Classes that meet have disjoint labels. */
static int meet_tables(struct solver *s)
{
    const struct classes *c = s->t->labels->classes;

    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct class_info *info = &c->info[s->nodes[n].class];
        for (uint32_t k = 0; k < info->meet_count; k++) {
            uint32_t other = s->node_of[c->meets[info->meets + k].other];
            if (other == CLASS_NONE || other < n)
                continue;
            struct solver_table f;
            uint32_t pair[2] = {n, other}, choice[2] = {0}, at = 0;
            if (solver_table_new(s, pair, 2, &f))
                return err_no_memory(s->e, MEMORY_FOR);
            do {
                bool clash = s->nodes[n].labels[choice[0]] & s->nodes[other].labels[choice[1]];
                f.value[at++] = clash ? INFINITY : 0;
            } while (solver_next_choice(s, pair, 2, choice));
            int rc = solver_push_table(s, &f);
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* ---- fewer tables ---- */

/* Place of each node of `small` in `large`; false when one is not there. Both ascending. */
static bool lies_in(const struct solver_table *small, const struct solver_table *large,
                    uint32_t *place)
{
    uint32_t at = 0;

    for (uint32_t k = 0; k < small->count; k++) {
        while (at < large->count && large->nodes[at] < small->nodes[k])
            at++;
        if (at == large->count || large->nodes[at] != small->nodes[k])
            return false;
        place[k] = at;
    }
    return true;
}

static void add_into(const struct solver *s, struct solver_table *large,
                     const struct solver_table *small, const uint32_t *place)
{
    uint32_t choice[64] = {0};
    size_t at = 0;

    do {
        size_t from = 0, stride = 1;
        for (uint32_t k = 0; k < small->count; k++) {
            from += stride * choice[place[k]];
            stride *= s->nodes[small->nodes[k]].domain;
        }
        large->value[at++] += small->value[from];
    } while (solver_next_choice(s, large->nodes, large->count, choice));
}

/* Tables kept so far, found by any of their nodes. */
struct kept {
    struct solver_table *items;
    uint32_t count;
    uint32_t *first;        /* [nodes] its latest link + 1 */
    uint32_t *of_node;      /* [nodes] its links */
    uint32_t *table, *next; /* of a link */
    uint32_t links;
};

/* The latest that holds all nodes of `f`. It is in the list of each of them: the shortest is read,
 * as a class of every layer is in tables of every layer. */
static struct solver_table *find_holder(const struct kept *k, const struct solver_table *f,
                                        uint32_t *place)
{
    uint32_t rarest = f->nodes[0];

    for (uint32_t n = 1; n < f->count; n++)
        rarest = k->of_node[f->nodes[n]] < k->of_node[rarest] ? f->nodes[n] : rarest;
    for (uint32_t at = k->first[rarest]; at; at = k->next[at - 1]) {
        if (lies_in(f, &k->items[k->table[at - 1]], place))
            return &k->items[k->table[at - 1]];
    }
    return NULL;
}

static void keep_table(struct kept *k, const struct solver_table *f)
{
    for (uint32_t n = 0; n < f->count; n++) {
        k->table[k->links] = k->count;
        k->next[k->links] = k->first[f->nodes[n]];
        k->first[f->nodes[n]] = ++k->links;
        k->of_node[f->nodes[n]]++;
    }
    k->items[k->count++] = *f;
}

/* Adds every table to one that holds all its nodes, where there is such: elimination then has fewer
 * to look at. Large ones first. O(tables x tables of its rarest node). */
static int merge_tables(struct solver *s)
{
    size_t links = 0;
    uint32_t most = 0, place[64];

    for (size_t k = 0; k < s->table_count; k++) {
        links += s->tables[k].count;
        most = s->tables[k].count > most ? s->tables[k].count : most;
    }
    struct kept kept = {.items = mem_try(s->table_count, sizeof *kept.items),
                        .first = mem_try(s->node_count, sizeof *kept.first),
                        .of_node = mem_try(s->node_count, sizeof *kept.of_node),
                        .table = mem_try(links, sizeof *kept.table),
                        .next = mem_try(links, sizeof *kept.next)};
    bool ok = kept.items && kept.first && kept.of_node && kept.table && kept.next;
    for (uint32_t size = most; ok && size > 0; size--) {
        for (size_t k = 0; k < s->table_count; k++) {
            struct solver_table *f = &s->tables[k], *holder = NULL;
            if (f->count != size)
                continue;
            holder = find_holder(&kept, f, place);
            if (holder) {
                add_into(s, holder, f, place);
                solver_table_release(f);
            } else {
                keep_table(&kept, f);
            }
        }
    }
    free(kept.first);
    free(kept.of_node);
    free(kept.table);
    free(kept.next);
    if (!ok) {
        free(kept.items);
        return err_no_memory(s->e, MEMORY_FOR);
    }
    free(s->tables);
    s->tables = kept.items;
    s->table_count = s->table_room = kept.count;
    return 0;
}

int solver_new(const struct step_tables *t, const struct strict *fixed,
               const struct exact_options *o, struct solver *out, struct err *e)
{
    struct solver s = {
        .t = t, .o = o, .e = e, .table_most = EXACT_TABLE_MOST, .nodes_most = EXACT_NODES_MOST};
    int rc = make_nodes(&s, fixed);

    if (rc)
        goto out;
    rc = o->goal == EXACT_STEP_TIME ? step_time_tables(&s) : reward_tables(&s);
    if (rc)
        goto out;
    rc = meet_tables(&s);
    if (rc)
        goto out;
    rc = merge_tables(&s);
out:
    if (o->table_most && o->table_most < s.table_most) /* joint tables only: those given must fit */
        s.table_most = o->table_most;
    if (o->nodes_most && o->nodes_most < s.nodes_most)
        s.nodes_most = o->nodes_most;
    if (rc)
        solver_release(&s);
    else
        *out = s;
    return rc;
}

void solver_release(struct solver *s)
{
    for (size_t k = 0; k < s->table_count; k++)
        solver_table_release(&s->tables[k]);
    free(s->tables);
    free(s->nodes);
    free(s->node_of);
    free(s->fixed);
    memset(s, 0, sizeof *s);
}

static int solve_strict(const struct step_tables *t, const struct strict *fixed,
                        const struct exact_options *o, struct exact_result *out, struct err *e)
{
    struct solver_answer answer;
    struct solver s;
    int rc = solver_new(t, fixed, o, &s, e);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    uint32_t *choice = mem_try(s.node_count, sizeof *choice);
    rc = choice ? solver_minimise(&s, NULL, choice, &answer) : err_no_memory(e, MEMORY_FOR);
    if (rc)
        goto out;
    if (!isfinite(answer.value)) {
        rc = err_set(e, ERR_INFEASIBLE, "no plan satisfies the fixed decisions");
        goto out;
    }
    for (uint32_t n = 0; n < s.node_count; n++)
        s.fixed[s.nodes[n].class] = s.nodes[n].labels[choice[n]];
    double sign = o->goal == EXACT_PAPER_REWARD ? -1 : 1;
    *out = (struct exact_result){.on = s.fixed,
                                 .value = sign * answer.value,
                                 .bound = sign * answer.bound,
                                 .proven = answer.bound >= answer.value,
                                 .width = s.width,
                                 .nodes = answer.cases};
    s.fixed = NULL;
out:
    free(choice);
    solver_release(&s);
    return rc;
}

int exact_strict(const struct step_tables *t, const struct strict *fixed,
                 const struct exact_options *o, struct exact_result *out, struct err *e)
{
    struct exact_options plain = *o;

    plain.excess_weight = 0;
    int rc = solve_strict(t, fixed, &plain, out, e);
    if (rc || o->goal != EXACT_STEP_TIME || !t->overlap.is_bounded)
        return rc;
    rc = exact_overlap(t, fixed, &plain, out, solve_strict, e);
    if (rc)
        exact_release(out);
    return rc;
}

void exact_release(struct exact_result *r)
{
    free(r->on);
    memset(r, 0, sizeof *r);
}
