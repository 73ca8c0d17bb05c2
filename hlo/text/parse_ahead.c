/* A second thread reads the later half of a long text while the first still reads what comes
 * before. It begins at a line that looks like an instruction, in a computation it does not know. If
 * the first then comes to that very place between two instructions, both were right: what the
 * second has is joined, and the module is what one reader would have made of it. If anything is out
 * of the ordinary, the second's work is thrown away, and the first reads on by itself, errors
 * included: nothing depends on whether there was a second thread. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "hlo/text/parse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct parse_ahead {
    struct parser p;
    struct err e;
    pthread_t thread;
    atomic_bool is_unwanted; /* the first will not come for it */
    bool is_good;            /* read to the end without an error */
    /* Of the computation it began in: */
    bool has_root;
    uint32_t count;                /* instructions */
    struct parse_names names;      /* of these */
    struct parse_waiting *waiting; /* for names that must stand in the first half */
    size_t waiting_count;
    hlo_comp *comps; /* what its computations are in the first's module */
};

/* ---- the second thread ---- */

/* Operands the second half defines are set; the others are left for the first. */
static void sort_waiting(struct parse_ahead *a)
{
    struct parser *p = &a->p;

    for (size_t n = 0; n < p->waiting_count; n++) {
        struct parse_waiting w = p->waiting[n];
        hlo_id id = hlo_parse_find(p, w.name, w.size);
        if (id == HLO_NONE)
            p->waiting[a->waiting_count++] = w;
        else
            hlo_build_set_operand(p->b, w.user, w.operand, id);
    }
    a->waiting = p->waiting;
    p->waiting = NULL;
    p->waiting_count = p->waiting_room = 0;
}

static void *read_ahead(void *context)
{
    struct parse_ahead *a = context;
    struct parser *p = &a->p;

    hlo_parse_names_begin(p);
    if (hlo_parse_instructions(p, &a->has_root))
        return NULL;
    a->count = hlo_builder_count(p->b);
    sort_waiting(a);
    a->names = p->names;
    p->names = (struct parse_names){0};
    a->is_good = !hlo_parse_thread(p) && !hlo_parse_computations(p);
    return NULL;
}

/* All that was needed to read; what was read stays. */
static void release_parser(struct parse_ahead *a)
{
    struct parser read = {.b = a->p.b,
                          .at = a->p.at,
                          .entry = a->p.entry,
                          .entry_begin = a->p.entry_begin,
                          .last = a->p.last};

    a->p.frames = (struct parse_frames){0}; /* the first's */
    hlo_parser_release(&a->p);
    a->p = read;
    free(a->names.slots);
    a->names = (struct parse_names){0};
}

static void release(struct parse_ahead *a)
{
    release_parser(a);
    hlo_builder_free_rest(a->p.b);
    free(a->waiting);
    free(a->comps);
    free(a);
}

static bool start(struct parser *p, struct parse_ahead *a)
{
    const char *at = p->ahead_from.at;
    size_t line_begin = (size_t)(p->ahead_from.line_begin - p->input);

    a->p = (struct parser){
        .at = at,
        .input = p->input,
        .size = p->size,
        .is_leased = p->is_leased,
        .e = &a->e,
        .entry = HLO_NONE,
        .last = HLO_NONE,
        .frames = p->frames,
        .unwanted = &a->is_unwanted,
    };
    a->p.b = hlo_builder_new_rest(p->b, (size_t)(at - p->input), p->ahead_from.line, line_begin);
    if (!a->p.b || !hlo_parser_init(&a->p) ||
        !mem_grow(&a->p.computations, &a->p.computation_room, 0, 1))
        return false;
    a->p.m = hlo_builder_module(a->p.b);
    a->p.computations[a->p.computation_count++] = (struct parse_computation){true, at};
    return !thread_start(&a->thread, read_ahead, a, "reading ahead", &a->e);
}

void hlo_parse_ahead_begin(struct parser *p)
{
    if (!p->ahead_from.at || p->ahead_from.at <= p->at ||
        (!p->ahead_from.always && thread_processors() < 2))
        return;
    struct parse_ahead *a = mem_try(1, sizeof *a);
    if (!a)
        return;
    if (!start(p, a)) {
        release(a);
        return;
    }
    p->ahead = a;
    p->ahead_at = p->ahead_from.at;
}

void hlo_parse_ahead_end(struct parser *p)
{
    if (!p->ahead)
        return;
    atomic_store(&p->ahead->is_unwanted, true);
    pthread_join(p->ahead->thread, NULL);
    release(p->ahead);
    p->ahead = NULL;
    p->ahead_at = NULL;
}

/* ---- the first thread, come to where the second began ---- */

/* What the second could not see from where it began. Names it gave itself and bodies in place are
 * numbered over the whole text, so there are none. */
static bool is_as_thought(struct parser *p, const struct parse_ahead *a)
{
    const struct parser *q = &a->p;

    if (!a->is_good || p->is_single || p->inline_depth || p->body_count || p->waiting_count ||
        q->fresh || (p->entry != HLO_NONE && q->entry != HLO_NONE) ||
        !hlo_builder_can_join(p->b, q->b) ||
        hlo_parse_names_meet(p, &a->names, hlo_builder_names(q->b)))
        return false;
    for (size_t n = 0; n < a->waiting_count; n++) {
        if (hlo_parse_find(p, a->waiting[n].name, a->waiting[n].size) == HLO_NONE)
            return false;
    }
    return true;
}

/* Its computations by name, made where the first has not met them. False: one is defined twice. */
static int match_computations(struct parser *p, struct parse_ahead *a, bool *once)
{
    const struct parser *q = &a->p;

    *once = true;
    a->comps = mem_try(q->computation_count, sizeof *a->comps);
    if (!a->comps)
        return hlo_parse_memory(p);
    a->comps[0] = p->computation;
    for (hlo_comp c = 1; c < q->computation_count && *once; c++) {
        const char *name = hlo_builder_computation(q->b, c)->name;
        a->comps[c] = hlo_builder_find_computation(p->b, name, strlen(name));
        *once = a->comps[c] == HLO_NONE || !p->computations[a->comps[c]].is_defined ||
                !q->computations[c].is_defined;
    }
    for (hlo_comp c = 1; c < q->computation_count && *once; c++) {
        const char *name = hlo_builder_computation(q->b, c)->name;
        bool is_new = a->comps[c] == HLO_NONE;
        if (is_new && hlo_parse_new_computation(p, name, strlen(name), &a->comps[c]))
            return p->e->code;
        p->computations[a->comps[c]].is_defined |= q->computations[c].is_defined;
        if (is_new) /* a use in the first half comes before all of the second's */
            p->computations[a->comps[c]].first_use = q->computations[c].first_use;
    }
    return 0;
}

/* Operands of the second half that stand in the first. `shapes`: those declared before them. */
static int set_waiting(struct parser *p, const struct parse_ahead *a, hlo_id base,
                       const hlo_shape_id *shapes)
{
    for (size_t n = 0; n < a->waiting_count; n++) {
        const struct parse_waiting *w = &a->waiting[n];
        hlo_id id = hlo_parse_find(p, w->name, w->size);
        if (w->declared_at && hlo_parse_same_shape(p, w->declared_at, shapes[n], id))
            return p->e->code;
        hlo_build_set_operand(p->b, w->user + base, w->operand, id);
    }
    return 0;
}

static int join_builders(struct parser *p, struct parse_ahead *a)
{
    hlo_id base = hlo_builder_count(p->b);
    struct hlo_builder *rest = a->p.b;
    hlo_shape_id *shapes = mem_try(a->waiting_count, sizeof *shapes);

    if (!shapes)
        return hlo_parse_memory(p);
    for (size_t n = 0; n < a->waiting_count; n++)
        shapes[n] = a->waiting[n].declared;
    a->p.b = NULL;
    release_parser(a); /* memory is never scarcer */
    int rc = hlo_builder_join(p->b, rest, a->comps, shapes, a->waiting_count, p->e);
    if (rc)
        goto out;
    rc = set_waiting(p, a, base, shapes);
out:
    free(shapes);
    return rc;
}

static int join(struct parser *p, struct parse_ahead *a, bool *has_root)
{
    struct parser *q = &a->p;
    hlo_id base = hlo_builder_count(p->b);

    if (join_builders(p, a))
        return p->e->code;
    if (!*has_root && !a->has_root)
        hlo_builder_at(p->b, base + a->count - 1)->is_root = true;
    *has_root = true;
    if (q->entry != HLO_NONE) {
        p->entry = a->comps[q->entry];
        p->entry_begin = base + q->entry_begin;
    }
    if (q->last != HLO_NONE)
        p->last = a->comps[q->last];
    p->at = q->at;
    return 0;
}

int hlo_parse_ahead_take(struct parser *p, bool *has_root, bool *is_taken)
{
    struct parse_ahead *a = p->ahead;
    int rc = 0;

    pthread_join(a->thread, NULL);
    p->ahead = NULL;
    p->ahead_at = NULL;
    *is_taken = is_as_thought(p, a);
    if (!*is_taken)
        goto out;
    rc = match_computations(p, a, is_taken);
    if (rc || !*is_taken)
        goto out;
    rc = join(p, a, has_root);
out:
    release(a);
    return rc;
}
