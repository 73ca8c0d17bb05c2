/* Inlining for those who look nothing up by name. A first walk, over the calls alone, finds the
 * copies of computations and their order, callees first; as soon as all that one needs are made, a
 * second walk copies its instructions, run by run from call to call, to where they stay. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/inline_internal.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

/* A computation whose calls are looked at: one that gets a copy, or a callee inside of one. */
struct visit {
    hlo_comp from;
    uint32_t prefix;       /* the scope around it, into `prefixes` */
    uint32_t call, called; /* the next of its calls, and of the computations that one names */
    uint32_t notes;        /* where those of a copy begin */
    uint32_t depth;        /* copies around it */
    bool is_copy, is_applied;
};

/* A computation being copied: the same again, the copy at the bottom. */
struct frame {
    hlo_comp from;
    uint32_t prefix;
    uint32_t call; /* the next of its calls */
    hlo_id at;     /* the next instruction */
    uint32_t map;  /* where its ids begin in `maps` */
    hlo_id caller; /* HLO_NONE: it is the copy itself */
    bool is_image; /* the one that stands for the original */
};

/* What was made last of a meta in a scope; 0: nothing, for outside of scopes they are the same. */
struct made_meta {
    uint32_t meta_in, meta;     /* the scope, the meta with it */
    uint32_t prefix_in, prefix; /* the scope, that of a callee under this meta */
};

struct plain {
    const struct hlo_module *m;
    struct hlo_builder *b;
    struct inline_calls calls;
    struct visit *visits;
    size_t visit_count, visit_room;
    /* What the first walk says to the second, in the order of the calls: the prefix of one that is
     * inlined, the copies that another names. */
    uint32_t *notes;
    size_t note_count, note_room;
    struct frame *frames;
    size_t frame_count, frame_room;
    hlo_id *maps; /* instructions of computations being copied -> their copies */
    size_t map_count, map_room;
    hlo_comp *applied; /* computation -> its one copy; HLO_NONE: not yet */
    struct made_meta *made;
    struct str prefixes; /* NUL-terminated scopes, 0 = none */
    hlo_id *origin;
    size_t origin_room;
    hlo_id *image;         /* NULL: nobody asks */
    uint32_t *image_depth; /* by computation: of the copy that stands for it, UINT32_MAX: none */
    uint32_t depth;        /* of what is being copied */
    bool has_too_many;     /* operands */
};

/* ---- scopes ---- */

static const char *scope_at(const struct plain *p, uint32_t prefix)
{
    return p->prefixes.text + prefix;
}

static bool gets_scope(const char *op_name, const char *scope)
{
    return *scope && !inline_has_scope(op_name, scope) &&
           strlen(scope) + strlen(op_name) <= INLINE_OP_NAME_MAX;
}

/* The scope inside of a caller with `meta`, whose own scope is `outer`. */
static bool prefix_inside(struct plain *p, uint32_t meta, uint32_t outer, uint32_t *out)
{
    struct made_meta *made = &p->made[meta];
    const char *name = p->m->metas[meta].op_name;
    size_t at = p->prefixes.size, size = strlen(name), before = strlen(scope_at(p, outer));

    *out = outer;
    if (!size || (outer && !inline_has_scope(name, scope_at(p, outer)) &&
                  before + size > INLINE_OP_NAME_MAX))
        return true;
    if (made->prefix && made->prefix_in == outer) {
        *out = made->prefix;
        return true;
    }
    if (at > UINT32_MAX - INLINE_OP_NAME_MAX * 2)
        return false;
    if (outer && !inline_has_scope(name, scope_at(p, outer))) {
        if (!mem_grow(&p->prefixes.text, &p->prefixes.room, at, before + size + 2))
            return false; /* it stays where it is while it is added to itself */
        str_add_bytes(&p->prefixes, scope_at(p, outer), before);
        str_add_char(&p->prefixes, '/');
    }
    str_add_bytes(&p->prefixes, name, size + 1);
    made->prefix_in = outer;
    made->prefix = *out = (uint32_t)at;
    return !p->prefixes.failed;
}

/* `meta` with the scope before its name, where it lacks it. */
static bool meta_inside(struct plain *p, uint32_t meta, uint32_t prefix, uint32_t *out)
{
    struct made_meta *made = &p->made[meta];
    struct hlo_meta to = p->m->metas[meta];
    const char *scope = scope_at(p, prefix);

    *out = meta;
    if (!gets_scope(to.op_name, scope))
        return true;
    if (made->meta && made->meta_in == prefix) {
        *out = made->meta;
        return true;
    }
    size_t before = strlen(scope), size = strlen(to.op_name);
    char *name = arena_get(&p->b->m->arena, before + 1 + size + 1, 1);
    if (!name || !mem_grow(&p->b->metas, &p->b->meta_room, p->b->meta_count, 1))
        return false;
    memcpy(name, scope, before);
    if (size)
        name[before] = '/';
    memcpy(name + before + (size > 0), to.op_name, size);
    to.op_name = name;
    made->meta_in = prefix;
    made->meta = *out = (uint32_t)p->b->meta_count;
    p->b->metas[p->b->meta_count++] = to;
    return true;
}

/* ---- the second walk ---- */

static hlo_id *image_of(struct plain *p, const struct frame *f, hlo_id id)
{
    return &p->maps[f->map + (id - p->m->computations[f->from].first)];
}

static void define(struct plain *p, const struct frame *f, hlo_id id, hlo_id value)
{
    *image_of(p, f, id) = value;
    if (f->is_image)
        p->image[id] = value;
}

/* Of several copies the first of those that lie least deep stands for the original. */
static bool takes_image(struct plain *p, hlo_comp from)
{
    if (!p->image || p->image_depth[from] <= p->depth)
        return false;
    p->image_depth[from] = p->depth;
    return true;
}

static bool push_frame(struct plain *p, hlo_comp from, uint32_t prefix, hlo_id caller)
{
    const struct hlo_computation *c = &p->m->computations[from];

    if (!mem_grow(&p->frames, &p->frame_room, p->frame_count, 1) ||
        !mem_grow(&p->maps, &p->map_room, p->map_count, c->count))
        return false;
    p->frames[p->frame_count++] = (struct frame){.from = from,
                                                 .prefix = prefix,
                                                 .call = p->calls.first[from],
                                                 .at = c->first,
                                                 .map = (uint32_t)p->map_count,
                                                 .caller = caller,
                                                 .is_image = takes_image(p, from)};
    p->map_count += c->count;
    return true;
}

static bool has_room(struct plain *p, const struct hlo_instruction *i)
{
    struct hlo_builder *b = p->b;
    size_t links = (size_t)i->operand_count + i->control_count;

    p->has_too_many |= b->operand_count + links > INT32_MAX;
    return !p->has_too_many &&
           mem_grow(&b->instructions, &b->instruction_room, b->instruction_count, 1) &&
           mem_grow(&b->operands, &b->operand_room, b->operand_count, links) &&
           mem_grow(&p->origin, &p->origin_room, b->instruction_count, 1);
}

/* A copy of `id`, which calls nothing yet. Control predecessors that were replaced by an argument
 * impose nothing: the argument comes first. */
static bool copy_one(struct plain *p, const struct frame *f, hlo_comp to, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(p->m, id);
    const hlo_id *map = p->maps + f->map, *pool = p->m->operand_pool;
    hlo_id first = p->m->computations[f->from].first;
    struct hlo_builder *b = p->b;

    if (!has_room(p, i))
        return false;
    struct hlo_instruction *copy = &b->instructions[b->instruction_count];
    *copy = *i;
    if (f->prefix && !meta_inside(p, i->meta, f->prefix, &copy->meta))
        return false;
    copy->is_root = false;
    copy->computation = to;
    copy->operands = (uint32_t)b->operand_count;
    for (uint32_t n = 0; n < i->operand_count + i->control_count; n++)
        b->operands[b->operand_count++] = map[pool[i->operands + n] - first];
    copy->users = copy->user_count = 0;
    p->origin[b->instruction_count] = id;
    define(p, f, id, (hlo_id)b->instruction_count++);
    return true;
}

/* The instructions from f->at to before `end`, none of which calls. */
static bool copy_run(struct plain *p, const struct frame *f, hlo_comp to, hlo_id end)
{
    for (hlo_id id = f->at; id < end; id++) {
        const struct hlo_instruction *i = hlo_at(p->m, id);
        if (i->opcode == HLO_OP_PARAMETER && f->caller != HLO_NONE)
            define(p, f, id, *image_of(p, f - 1, hlo_operand(p->m, f->caller, i->number)));
        else if (!copy_one(p, f, to, id))
            return false;
    }
    return true;
}

static bool copy_caller(struct plain *p, const struct frame *f, hlo_comp to, hlo_id id,
                        const uint32_t *called)
{
    struct hlo_builder *b = p->b;
    uint32_t count = hlo_at(p->m, id)->called_count;

    if (!mem_grow(&b->called, &b->called_room, b->called_count, count) || !copy_one(p, f, to, id))
        return false;
    b->instructions[b->instruction_count - 1].called = (uint32_t)b->called_count;
    memcpy(b->called + b->called_count, called, count * sizeof *called);
    b->called_count += count;
    return true;
}

/* The top frame up to and with its next call. `note`: what the first walk says of it. */
static bool copy_to_call(struct plain *p, hlo_comp to, uint32_t *note)
{
    struct frame *f = &p->frames[p->frame_count - 1];
    hlo_id id = p->calls.list[f->call++];
    bool is_ok = copy_run(p, f, to, id);

    f->at = id + 1;
    if (!is_ok)
        return false;
    if (inline_use_of(p->m, NULL, id) == INLINE_INLINED)
        return push_frame(p, hlo_called(p->m, id, 0), p->notes[(*note)++], id);
    *note += hlo_at(p->m, id)->called_count;
    return copy_caller(p, f, to, id, p->notes + *note - hlo_at(p->m, id)->called_count);
}

static bool copy_rest(struct plain *p, hlo_comp to, hlo_id *root)
{
    const struct frame *f = &p->frames[p->frame_count - 1];
    const struct hlo_computation *c = &p->m->computations[f->from];

    if (!copy_run(p, f, to, c->first + c->count))
        return false;
    *root = *image_of(p, f, c->root);
    if (f->caller != HLO_NONE)
        define(p, f - 1, f->caller, *root);
    p->map_count = f->map;
    p->frame_count--;
    return true;
}

static bool copy_computation(struct plain *p, const struct visit *v, hlo_comp *out)
{
    struct hlo_builder *b = p->b;
    const struct hlo_computation *from = &p->m->computations[v->from];
    uint32_t note = v->notes;
    hlo_id root = HLO_NONE;

    p->depth = v->depth;
    bool is_ok = mem_grow(&b->computations, &b->computation_room, b->computation_count, 1) &&
                 push_frame(p, v->from, v->prefix, HLO_NONE);

    if (!is_ok)
        return false;
    *out = (hlo_comp)b->computation_count++;
    b->computations[*out] = (struct hlo_computation){
        .name = from->name, .thread = from->thread, .first = HLO_NONE, .root = HLO_NONE};
    while (is_ok && p->frame_count) {
        const struct frame *f = &p->frames[p->frame_count - 1];
        is_ok = f->call < p->calls.first[f->from + 1] ? copy_to_call(p, *out, &note)
                                                      : copy_rest(p, *out, &root);
    }
    if (is_ok)
        b->instructions[root].is_root = true;
    return is_ok;
}

/* ---- the first walk ---- */

static bool push_visit(struct plain *p, struct visit v)
{
    if (!mem_grow(&p->visits, &p->visit_room, p->visit_count, 1))
        return false;
    v.call = p->calls.first[v.from];
    v.notes = (uint32_t)p->note_count;
    p->visits[p->visit_count++] = v;
    return true;
}

static bool add_note(struct plain *p, uint32_t note)
{
    if (!mem_grow(&p->notes, &p->note_room, p->note_count, 1))
        return false;
    p->notes[p->note_count++] = note;
    return true;
}

static bool visit_inlined(struct plain *p, struct visit *v, hlo_id id)
{
    uint32_t inner;

    v->call++;
    return prefix_inside(p, hlo_at(p->m, id)->meta, v->prefix, &inner) && add_note(p, inner) &&
           push_visit(p, (struct visit){
                             .from = hlo_called(p->m, id, 0), .prefix = inner, .depth = v->depth});
}

/* The next of the computations that `id` names. */
static bool visit_named(struct plain *p, struct visit *v, hlo_id id, bool is_applied)
{
    struct visit next = {.depth = v->depth + 1, .is_copy = true, .is_applied = is_applied};

    if (v->called == hlo_at(p->m, id)->called_count) {
        v->call++;
        v->called = 0;
        return true;
    }
    next.from = hlo_called(p->m, id, v->called++);
    if (is_applied && p->applied[next.from] != HLO_NONE)
        return add_note(p, p->applied[next.from]);
    return (is_applied || prefix_inside(p, hlo_at(p->m, id)->meta, v->prefix, &next.prefix)) &&
           push_visit(p, next);
}

/* All that it calls is made. */
static bool end_visit(struct plain *p)
{
    struct visit v = p->visits[--p->visit_count];
    hlo_comp made = HLO_NONE;

    if (!v.is_copy)
        return true;
    if (!copy_computation(p, &v, &made))
        return false;
    p->note_count = v.notes;
    if (v.is_applied)
        p->applied[v.from] = made;
    return add_note(p, made);
}

static bool visit_next(struct plain *p)
{
    struct visit *v = &p->visits[p->visit_count - 1];

    if (v->call == p->calls.first[v->from + 1])
        return end_visit(p);
    hlo_id id = p->calls.list[v->call];
    enum inline_use use = inline_use_of(p->m, NULL, id);
    return use == INLINE_INLINED ? visit_inlined(p, v, id)
                                 : visit_named(p, v, id, use == INLINE_APPLIED);
}

/* ---- the whole ---- */

static bool prepare(struct plain *p, uint64_t total)
{
    const struct hlo_module *m = p->m;
    size_t room = total < (uint64_t)m->count * 2 ? (size_t)total : (size_t)m->count * 2;

    p->b = hlo_builder_new_copy(m);
    p->made = mem_try(m->meta_count, sizeof *p->made);
    p->applied = mem_try(m->computation_count, sizeof *p->applied);
    p->image_depth = mem_try(m->computation_count, sizeof *p->image_depth);
    str_add_bytes(&p->prefixes, "", 1);
    if (!p->b || !p->made || !p->applied || !p->image_depth || p->prefixes.failed ||
        !mem_grow(&p->b->instructions, &p->b->instruction_room, 0, room) ||
        !mem_grow(&p->b->metas, &p->b->meta_room, 0, m->meta_count) ||
        !mem_grow(&p->origin, &p->origin_room, 0, room))
        return false;
    p->b->is_in_order = true;
    memcpy(p->b->metas, m->metas, m->meta_count * sizeof *m->metas);
    p->b->meta_count = m->meta_count;
    memset(p->applied, 0xff, m->computation_count * sizeof *p->applied);
    memset(p->image_depth, 0xff, m->computation_count * sizeof *p->image_depth);
    if (p->image)
        memset(p->image, 0xff, m->count * sizeof *p->image);
    return true;
}

static void release(struct plain *p)
{
    hlo_builder_free(p->b);
    inline_calls_release(&p->calls);
    free(p->visits);
    free(p->notes);
    free(p->frames);
    free(p->maps);
    free(p->applied);
    free(p->made);
    free(p->origin);
    free(p->image_depth);
    str_release(&p->prefixes);
}

static int copy_all(struct plain *p, uint64_t total, struct err *e)
{
    bool is_ok = prepare(p, total);

    if (is_ok)
        is_ok = push_visit(p, (struct visit){.from = p->m->entry, .is_copy = true});
    while (is_ok && p->visit_count)
        is_ok = visit_next(p);
    if (p->has_too_many)
        return err_set(e, ERR_LIMIT, "more than %d operands", INT32_MAX);
    if (!is_ok)
        return err_no_memory(e, INLINE_MEMORY_FOR);
    return inline_copy_header(p->m, p->b->m, e);
}

static int finish(struct plain *p, struct hlo_module **out, struct err *e)
{
    struct hlo_builder *b = p->b;
    int code;

    p->b = NULL; /* finish releases it */
    code = hlo_builder_finish(b, p->notes[0], out, e);
    if (code)
        return code;
    inline_finish_header(p->m, *out);
    if (!arena_adopt(&(*out)->arena, p->origin, (*out)->count * sizeof *p->origin)) {
        hlo_free(*out);
        return err_no_memory(e, INLINE_MEMORY_FOR);
    }
    (*out)->source = p->m;
    (*out)->origin = p->origin;
    p->origin = NULL;
    return 0;
}

int inline_plain(const struct hlo_module *m, struct hlo_module **out, hlo_id *image, struct err *e)
{
    struct plain p = {.m = m, .image = image};
    uint64_t total;
    int code = inline_check_growth(m, NULL, &p.calls, &total, e);

    *out = NULL;
    if (!code)
        code = copy_all(&p, total, e);
    if (!code)
        code = finish(&p, out, e);
    if (code)
        *out = NULL;
    release(&p);
    return code;
}
