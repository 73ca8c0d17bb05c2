#include "hlo/module/inline.h"

#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/inline_internal.h"
#include "hlo/module/inline_known.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* A computation to be copied into `to`; op_names inside get the prefix where they lack it. */
struct instance {
    hlo_comp from, to;
    uint32_t prefix; /* into `prefixes` */
};

/* A computation being walked: the instance itself, a callee or a trip of a loop inside it. */
struct frame {
    hlo_comp from;
    uint32_t at;     /* next instruction, relative to the computation's first */
    uint32_t map;    /* where the frame's ids start in `maps` */
    uint32_t prefix; /* into `prefixes` */
    hlo_id call;     /* HLO_NONE for the instance itself */
    hlo_id carried;  /* a loop's: what this trip begins with */
    int64_t trips;   /* with this one; 0: it is no loop's */
};

/* The copy made last of a meta, and under which prefix. */
struct meta_cache {
    uint32_t copy, prefix;
    bool is_made;
};

struct inliner {
    const struct hlo_module *m;
    struct hlo_builder *b;
    struct meta_cache *metas; /* per meta of the source */
    hlo_comp *shared;         /* applied computation -> its copy; HLO_NONE: not yet */
    bool *is_named;           /* computation -> its name is taken by a copy */
    hlo_id *first;            /* image of each source instruction; HLO_NONE: none yet */
    struct instance *queue;
    size_t queued, queue_room;
    struct frame *frames;
    size_t frame_count, frame_room;
    hlo_id *maps;
    size_t map_count, map_room;
    hlo_id *origin;
    size_t origin_count, origin_room;
    struct str prefixes; /* NUL-terminated scopes, 0 = none */
    uint64_t *taken;     /* hashes of instruction names, open addressing, 0 empty */
    size_t taken_mask, taken_count;
    uint64_t fresh;
    struct str name; /* of one instruction */
    hlo_id *ids;     /* operands or controls of one instruction */
    size_t ids_room;
    hlo_comp *comps;
    size_t comps_room;
    const bool *is_written_out; /* [m->count] loops; NULL: none */
    struct inline_known known;  /* if there are some */
};

/* ---- names ---- */

static bool names_grow(struct inliner *in)
{
    size_t size = in->taken_mask ? (in->taken_mask + 1) * 2 : 1024;

    while (!in->taken_mask && size < (size_t)in->m->count * 2)
        size *= 2;
    uint64_t *grown = mem_try_whole(size, sizeof *grown);

    if (!grown)
        return false;
    for (size_t i = 0; in->taken_mask && i <= in->taken_mask; i++) {
        uint64_t h = in->taken[i];
        if (!h)
            continue;
        size_t at = h & (size - 1);
        while (grown[at])
            at = (at + 1) & (size - 1);
        grown[at] = h;
    }
    free(in->taken);
    in->taken = grown;
    in->taken_mask = size - 1;
    return true;
}

/* 1: taken now, 0: was taken before (or, once in 2^64, looks so), -1: out of memory. */
static int name_take(struct inliner *in, const char *name, size_t size)
{
    if (in->taken_count * 2 >= in->taken_mask && !names_grow(in))
        return -1;
    uint64_t h = mem_hash(name, size, 1) | 1;
    size_t at = h & in->taken_mask;
    while (in->taken[at] && in->taken[at] != h)
        at = (at + 1) & in->taken_mask;
    if (in->taken[at])
        return 0;
    in->taken[at] = h;
    in->taken_count++;
    return 1;
}

/* `name` when free, else `*out`, its stem and a number: reduce_sum.7 -> reduce_sum.28101. */
static bool name_fresh(struct inliner *in, const char *name, struct str *out, bool *is_new)
{
    size_t stem = strlen(name);
    int got = name_take(in, name, stem);

    *is_new = got == 0;
    if (got)
        return got > 0;
    while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    if (stem && name[stem - 1] == '.')
        stem--;
    else
        stem = strlen(name);
    while (got == 0) {
        str_clear(out);
        str_add_bytes(out, name, stem);
        str_add_char(out, '.');
        str_add_int(out, (int64_t)in->fresh++);
        got = out->failed ? -1 : name_take(in, out->text, out->size);
    }
    return got > 0 && !out->failed;
}

/* ---- scopes ---- */

/* Names inside a called function start afresh ("reduce_sum"); as XLA's own inliner does, the
 * caller's name is put before them. */
static int meta_of(struct inliner *in, uint32_t meta, uint32_t prefix, uint32_t *out, struct err *e)
{
    struct hlo_meta to = in->m->metas[meta];
    struct meta_cache *cache = &in->metas[meta];
    const char *scope = in->prefixes.text + prefix;
    struct str joined = {0};

    if (cache->is_made && cache->prefix == prefix) {
        *out = cache->copy;
        return 0;
    }
    if (*scope && !inline_has_scope(to.op_name, scope) &&
        strlen(scope) + strlen(to.op_name) <= INLINE_OP_NAME_MAX) {
        str_add(&joined, scope);
        if (*to.op_name)
            str_add_char(&joined, '/');
        str_add(&joined, to.op_name);
        to.op_name = joined.text;
    }
    int code = 0;
    *out = 0;
    if (joined.size && !joined.failed) /* its texts are the source's, but for this */
        to.op_name = arena_text(&hlo_builder_module(in->b)->arena, joined.text, joined.size);
    if (joined.failed || !to.op_name)
        code = err_no_memory(e, INLINE_MEMORY_FOR);
    else if (meta || joined.size)
        code = hlo_build_meta_of(in->b, &to, hlo_meta_hash(&to), out, e);
    str_release(&joined);
    *cache = (struct meta_cache){*out, prefix, !code};
    return code;
}

/* The scope inside `id`, an instruction of the source whose own scope is `prefix`. */
static bool prefix_of(struct inliner *in, hlo_id id, uint32_t prefix, uint32_t *out)
{
    const char *name = hlo_meta(in->m, id)->op_name, *outer = in->prefixes.text + prefix;
    struct str joined = {0};

    *out = prefix;
    if (!*name)
        return true;
    if (*outer && !inline_has_scope(name, outer)) {
        if (strlen(outer) + strlen(name) > INLINE_OP_NAME_MAX)
            return true;
        str_add(&joined, outer);
        str_add_char(&joined, '/');
    }
    str_add(&joined, name);
    size_t at = in->prefixes.size;
    if (!joined.failed && in->prefixes.size < UINT32_MAX - INLINE_OP_NAME_MAX * 2)
        str_add_bytes(&in->prefixes, joined.text, joined.size + 1);
    *out = (uint32_t)at;
    bool ok = !joined.failed && !in->prefixes.failed && in->prefixes.size > at;
    str_release(&joined);
    return ok;
}

/* ---- copies ---- */

static int new_computation(struct inliner *in, hlo_comp from, hlo_comp *to, struct err *e)
{
    const struct hlo_computation *c = &in->m->computations[from];
    struct str name = {0};

    str_add(&name, c->name);
    while (in->is_named[from] ||
           hlo_builder_find_computation(in->b, name.text, name.size) != HLO_NONE) {
        in->is_named[from] = false;
        str_clear(&name);
        str_add(&name, c->name);
        str_add_char(&name, '.');
        str_add_int(&name, (int64_t)in->fresh++);
        if (name.failed)
            break;
    }
    int code = name.failed ? err_no_memory(e, INLINE_MEMORY_FOR)
                           : hlo_build_computation(in->b, name.text, name.size, to, e);
    str_release(&name);
    in->is_named[from] = true;
    if (!code)
        hlo_builder_computation(in->b, *to)->thread = c->thread;
    return code;
}

static int enqueue_computation(struct inliner *in, hlo_comp from, uint32_t prefix, hlo_comp *to,
                               struct err *e)
{
    if (!mem_grow(&in->queue, &in->queue_room, in->queued, 1))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    int code = new_computation(in, from, to, e);
    if (!code)
        in->queue[in->queued++] = (struct instance){.from = from, .to = *to, .prefix = prefix};
    return code;
}

static int copy_called(struct inliner *in, hlo_id id, uint32_t prefix, struct err *e)
{
    const struct hlo_instruction *i = hlo_at(in->m, id);
    bool is_copied = inline_use_of(in->m, in->is_written_out, id) == INLINE_COPIED;
    uint32_t inner = prefix;

    if (!mem_grow(&in->comps, &in->comps_room, 0, (size_t)i->called_count + 1))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    if (is_copied && !prefix_of(in, id, prefix, &inner))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    for (uint32_t n = 0; n < i->called_count; n++) {
        hlo_comp from = hlo_called(in->m, id, n), to = HLO_NONE;
        if (!is_copied && in->shared[from] != HLO_NONE) {
            in->comps[n] = in->shared[from];
            continue;
        }
        int code = enqueue_computation(in, from, is_copied ? inner : 0, &to, e);
        if (code)
            return code;
        if (!is_copied)
            in->shared[from] = to;
        in->comps[n] = to;
    }
    return 0;
}

/* Control predecessors that were replaced by an argument impose nothing: the argument comes first.
 */
static int copy_instruction(struct inliner *in, const struct frame *f, hlo_comp to, hlo_id id,
                            hlo_id *out, struct err *e)
{
    const struct hlo_instruction *i = hlo_at(in->m, id);
    const hlo_id *map = in->maps + f->map;
    hlo_id first = in->m->computations[f->from].first;
    uint32_t meta, count = i->operand_count;

    if (!mem_grow(&in->ids, &in->ids_room, 0, (size_t)count + i->control_count + 1))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    for (uint32_t n = 0; n < count; n++)
        in->ids[n] = map[hlo_operand(in->m, id, n) - first];
    if (in->is_written_out) {
        inline_known_look(&in->known, in->m, id, in->ids, out);
        if (*out != HLO_NONE)
            return 0;
    }
    if (copy_called(in, id, f->prefix, e) || meta_of(in, i->meta, f->prefix, &meta, e))
        return e->code;
    if (!mem_grow(&in->origin, &in->origin_room, in->origin_count, 1) ||
        (in->is_written_out && !inline_known_add(&in->known, in->m, id, in->ids)))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    for (uint32_t n = 0; n < i->control_count; n++)
        in->ids[count + n] = map[hlo_control(in->m, id, n) - first];
    bool is_kept = f->from == in->m->entry && f->call == HLO_NONE;
    bool is_new = false;
    if (!is_kept && !name_fresh(in, hlo_name(in->m, id), &in->name, &is_new))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    struct hlo_copy c = {.of = i,
                         .computation = to,
                         .name = is_new ? in->name.text : NULL,
                         .name_size = in->name.size,
                         .operands = in->ids,
                         .control_count = i->control_count,
                         .called = in->comps,
                         .meta = meta};
    if (hlo_build_copy(in->b, &c, out, e))
        return e->code;
    BUG_ON(*out != in->origin_count);
    hlo_builder_at(in->b, *out)->line = *out; /* survives the sorting of finish */
    in->origin[in->origin_count++] = id;
    return 0;
}

static int push_frame(struct inliner *in, hlo_comp from, hlo_id call, uint32_t prefix,
                      struct err *e)
{
    uint32_t count = in->m->computations[from].count;

    if (!mem_grow(&in->frames, &in->frame_room, in->frame_count, 1) ||
        !mem_grow(&in->maps, &in->map_room, in->map_count, count))
        return err_no_memory(e, INLINE_MEMORY_FOR);
    in->frames[in->frame_count++] = (struct frame){
        .from = from, .map = (uint32_t)in->map_count, .prefix = prefix, .call = call};
    in->map_count += count;
    return 0;
}

static void define(struct inliner *in, const struct frame *f, hlo_id id, hlo_id value)
{
    in->maps[f->map + (id - in->m->computations[f->from].first)] = value;
    if (in->first[id] == HLO_NONE)
        in->first[id] = value;
}

/* A loop is as many calls of its body, one after the other. */
static int begin_loop(struct inliner *in, hlo_id id, uint32_t prefix, struct err *e)
{
    const struct frame *f = &in->frames[in->frame_count - 1];
    hlo_id init = hlo_operand(in->m, id, 0);
    hlo_id carried = in->maps[f->map + (init - in->m->computations[f->from].first)];
    int64_t trips = hlo_trip_count(in->m, id);

    if (trips <= 0) {
        define(in, f, id, carried);
        return 0;
    }
    int code = push_frame(in, hlo_called(in->m, id, 0), id, prefix, e);
    if (!code) {
        in->frames[in->frame_count - 1].carried = carried;
        in->frames[in->frame_count - 1].trips = trips;
    }
    return code;
}

/* One instruction of the top frame. A call pushes a frame and is defined when that one ends. */
static int inline_next(struct inliner *in, hlo_comp to, struct err *e)
{
    struct frame *f = &in->frames[in->frame_count - 1];
    const struct hlo_computation *c = &in->m->computations[f->from];
    hlo_id id = c->first + f->at++;
    const struct hlo_instruction *i = hlo_at(in->m, id);
    hlo_id value;

    if (inline_use_of(in->m, in->is_written_out, id) == INLINE_INLINED) {
        uint32_t inner;
        if (!prefix_of(in, id, f->prefix, &inner))
            return err_no_memory(e, INLINE_MEMORY_FOR);
        return i->opcode == HLO_OP_WHILE ? begin_loop(in, id, inner, e)
                                         : push_frame(in, hlo_called(in->m, id, 0), id, inner, e);
    }
    if (i->opcode == HLO_OP_PARAMETER && f->trips) {
        value = f->carried;
    } else if (i->opcode == HLO_OP_PARAMETER && f->call != HLO_NONE) {
        const struct frame *outer = f - 1;
        hlo_id argument = hlo_operand(in->m, f->call, i->number);
        value = in->maps[outer->map + (argument - in->m->computations[outer->from].first)];
    } else {
        int code = copy_instruction(in, f, to, id, &value, e);
        if (code)
            return code;
    }
    define(in, f, id, value);
    return 0;
}

static int run_instance(struct inliner *in, struct instance it, struct err *e)
{
    hlo_id root = HLO_NONE;
    int code = push_frame(in, it.from, HLO_NONE, it.prefix, e);

    while (!code && in->frame_count) {
        struct frame *f = &in->frames[in->frame_count - 1];
        const struct hlo_computation *c = &in->m->computations[f->from];
        if (f->at < c->count) {
            code = inline_next(in, it.to, e);
            continue;
        }
        root = in->maps[f->map + (c->root - c->first)];
        if (f->trips > 1) {
            f->trips--;
            f->carried = root;
            f->at = 0;
            continue;
        }
        in->map_count = f->map;
        in->frame_count--;
        if (f->call != HLO_NONE)
            define(in, f - 1, f->call, root);
    }
    if (!code)
        hlo_builder_at(in->b, root)->is_root = true;
    return code;
}

/* ---- the whole ---- */

static int prepare_inliner(struct inliner *in, struct err *e)
{
    const struct hlo_module *m = in->m;
    const struct hlo_computation *entry = &m->computations[m->entry];

    in->b = hlo_builder_new_copy(m);
    in->metas = mem_try(m->meta_count, sizeof *in->metas);
    in->shared = mem_try(m->computation_count, sizeof *in->shared);
    in->is_named = mem_try(m->computation_count, sizeof *in->is_named);
    in->first = mem_try(m->count, sizeof *in->first);
    str_add_bytes(&in->prefixes, "", 1);
    if (!in->b || !in->metas || !in->shared || !in->is_named || !in->first || in->prefixes.failed)
        return err_no_memory(e, INLINE_MEMORY_FOR);
    memset(in->shared, 0xff, m->computation_count * sizeof *in->shared);
    memset(in->first, 0xff, m->count * sizeof *in->first);
    in->fresh = m->count;
    for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
        if (name_take(in, hlo_name(m, id), strlen(hlo_name(m, id))) < 0)
            return err_no_memory(e, INLINE_MEMORY_FOR);
    }
    return inline_copy_header(m, hlo_builder_module(in->b), e);
}

static void release_inliner(struct inliner *in)
{
    hlo_builder_free(in->b);
    free(in->metas);
    free(in->shared);
    free(in->is_named);
    free(in->first);
    free(in->queue);
    free(in->frames);
    free(in->maps);
    free(in->origin);
    str_release(&in->prefixes);
    str_release(&in->name);
    free(in->taken);
    inline_known_release(&in->known);
    free(in->ids);
    free(in->comps);
}

/* From the order of adding, which `line` still tells, to final ids. */
static int set_origin(struct inliner *in, struct hlo_module *to, hlo_id *image, struct err *e)
{
    const struct hlo_module *m = in->m;
    hlo_id *origin = arena_get(&to->arena, to->count, sizeof *origin);
    hlo_id *final = mem_try(to->count, sizeof *final);

    if (!origin || !final) {
        free(final);
        return err_no_memory(e, INLINE_MEMORY_FOR);
    }
    for (hlo_id id = 0; id < to->count; id++) {
        struct hlo_instruction *i = &to->instructions[id];
        hlo_id added = i->line;
        final[added] = id;
        origin[id] = in->origin[added];
        i->line = hlo_at(m, origin[id])->line;
        i->col = hlo_at(m, origin[id])->col;
    }
    for (hlo_id id = 0; image && id < m->count; id++)
        image[id] = in->first[id] == HLO_NONE ? HLO_NONE : final[in->first[id]];
    free(final);
    to->source = m;
    to->origin = origin;
    return 0;
}

static int inline_named(const struct hlo_module *m, const bool *is_written_out,
                        struct hlo_module **out, hlo_id *image, struct err *e)
{
    struct inliner in = {.m = m, .is_written_out = is_written_out};
    struct hlo_module *to = NULL;
    hlo_comp entry;
    struct inline_calls calls = {0};
    uint64_t total;
    int code = inline_check_growth(m, is_written_out, &calls, &total, e);

    if (!code)
        code = prepare_inliner(&in, e);
    if (!code)
        code = enqueue_computation(&in, m->entry, 0, &entry, e);
    for (size_t n = 0; !code && n < in.queued; n++)
        code = run_instance(&in, in.queue[n], e);
    if (!code) {
        struct hlo_builder *b = in.b;
        in.b = NULL; /* finish releases it */
        code = hlo_builder_finish(b, entry, &to, e);
    }
    if (!code) {
        inline_finish_header(m, to);
        code = set_origin(&in, to, image, e);
    }
    inline_calls_release(&calls);
    if (code) {
        hlo_free(to);
        to = NULL;
    }
    *out = to;
    release_inliner(&in);
    return code;
}

int hlo_inline_mapped(const struct hlo_module *m, bool fresh_names, struct hlo_module **out,
                      hlo_id *image, struct err *e)
{
    return fresh_names ? inline_named(m, NULL, out, image, e) : inline_plain(m, out, image, e);
}

int hlo_write_out(const struct hlo_module *m, const bool *is_written_out, struct hlo_module **out,
                  struct err *e)
{
    return inline_named(m, is_written_out, out, NULL, e);
}

int hlo_inline(const struct hlo_module *m, struct hlo_module **out, struct err *e)
{
    return hlo_inline_mapped(m, true, out, NULL, e);
}

bool hlo_inline_needed(const struct hlo_module *m)
{
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        const struct hlo_computation *comp = &m->computations[c];
        uint32_t copies = 0;
        for (uint32_t n = 0; n < comp->caller_count; n++) {
            enum inline_use use = inline_use_of(m, NULL, comp->callers[n]);
            if (use == INLINE_INLINED)
                return true;
            copies += use == INLINE_COPIED;
        }
        if (copies && comp->caller_count > 1)
            return true;
    }
    return false;
}
