#include "engine/doctor/doctor.h"

#include "engine/cluster/cluster.h"
#include "engine/decide/partitioner.h"
#include "engine/doctor/causes.h"
#include "engine/doctor/evidence.h"
#include "engine/doctor/groups.h"
#include "engine/doctor/moves.h"
#include "engine/doctor/wishes.h"
#include "hlo/meaning/program.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const doctor_cause_names[DOCTOR_CAUSE_COUNT] = {
#define X(id, name, words) name,
    DOCTOR_CAUSES(X)
#undef X
};
const char *const doctor_cause_words[DOCTOR_CAUSE_COUNT] = {
#define X(id, name, words) words,
    DOCTOR_CAUSES(X)
#undef X
};
const char *const doctor_verdict_names[DOCTOR_VERDICT_COUNT] = {"wanted", "unwanted", "unsure"};

/* ---- what counts as a collective ---- */

/* A pair of start and done counts once, as its start. */
static const struct {
    enum hlo_opcode opcode;
    enum collective_kind kind;
} kinds[] = {
    {HLO_OP_ALL_REDUCE, COLLECTIVE_ALL_REDUCE},
    {HLO_OP_ALL_REDUCE_START, COLLECTIVE_ALL_REDUCE},
    {HLO_OP_ALL_GATHER, COLLECTIVE_ALL_GATHER},
    {HLO_OP_ALL_GATHER_START, COLLECTIVE_ALL_GATHER},
    {HLO_OP_REDUCE_SCATTER, COLLECTIVE_REDUCE_SCATTER},
    {HLO_OP_ALL_TO_ALL, COLLECTIVE_ALL_TO_ALL},
    {HLO_OP_RAGGED_ALL_TO_ALL, COLLECTIVE_ALL_TO_ALL},
    {HLO_OP_COLLECTIVE_PERMUTE, COLLECTIVE_PERMUTE},
    {HLO_OP_COLLECTIVE_PERMUTE_START, COLLECTIVE_PERMUTE},
    {HLO_OP_COLLECTIVE_BROADCAST, COLLECTIVE_PERMUTE},
};

static bool kind_of(const struct hlo_module *m, hlo_id id, enum collective_kind *out)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].opcode == (enum hlo_opcode)hlo_at(m, id)->opcode) {
            *out = kinds[k].kind;
            return true;
        }
    }
    return false;
}

/* Result bytes; a start of all-gather or permute gives a tuple of operand and result. */
static double result_bytes(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, id);
    uint16_t opcode = hlo_at(m, id)->opcode;

    if (s->type == HLO_TUPLE && s->part_count > 1 &&
        (opcode == HLO_OP_ALL_GATHER_START || opcode == HLO_OP_COLLECTIVE_PERMUTE_START))
        return (double)m->shapes[s->parts[1]].bytes;
    return (double)s->bytes;
}

struct doctor_traffic doctor_traffic_of(const struct cluster *c, const struct device_groups *g,
                                        enum collective_kind kind, double bytes)
{
    struct doctor_traffic t = {.kind = kind, .bytes = bytes, .group = g->size};
    double n = g->size, larger = bytes;

    if (g->size <= 1 || g->is_in_place)
        return t;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        t.sent = 2 * bytes * (n - 1) / n;
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        t.sent = bytes * (n - 1);
        larger = bytes * n;
        break;
    case COLLECTIVE_PERMUTE:
        t.sent = bytes;
        t.group = 2;
        break;
    default:
        t.sent = bytes * (n - 1) / n;
    }
    t.ms = device_groups_ms(g, c, kind, larger);
    return t;
}

/* ---- how often ---- */

/* Trips of the loops around each computation; NAN where one is unknown. Callers stand behind their
 * callees in a module, so one pass from the last computation to the first is enough. */
static double *find_trips(const struct hlo_module *m)
{
    double *trips = mem_try(m->computation_count, sizeof *trips);

    if (!trips)
        return NULL;
    for (hlo_comp c = 0; c < m->computation_count; c++)
        trips[c] = c == m->entry ? 1 : 0;
    for (uint32_t round = 0, changed = 1; changed && round < 64; round++) {
        changed = 0;
        for (hlo_comp c = m->computation_count; c-- > 0;) {
            double most = c == m->entry ? 1 : 0;
            for (uint32_t k = 0; k < m->computations[c].caller_count; k++) {
                hlo_id by = m->computations[c].callers[k];
                int64_t n = hlo_at(m, by)->opcode == HLO_OP_WHILE ? hlo_trip_count(m, by) : 1;
                double here = trips[hlo_at(m, by)->computation] * (n < 0 ? NAN : (double)n);
                most = isnan(here) || isnan(most) ? NAN : fmax(most, here);
            }
            if (!(most == trips[c]) && !(isnan(most) && isnan(trips[c]))) {
                trips[c] = most;
                changed = 1;
            }
        }
    }
    return trips;
}

/* ---- which line ---- */

char *doctor_left_out(char *out, size_t room, const struct doctor_together *t)
{
    uint32_t undone = t->offered - t->changes - t->untried;

    if (t->untried && undone)
        snprintf(out, room, ", %u undo them, %u were not tried", undone, t->untried);
    else if (t->untried)
        snprintf(out, room, ", %u were not tried", t->untried);
    else
        snprintf(out, room, "%s", undone ? ", the others undo them" : "");
    return out;
}

uint32_t doctor_chain(const struct doctor *d, hlo_id id,
                      struct hlo_frame out[static HLO_FRAMES_MOST])
{
    uint32_t count = hlo_frames_of(d->frames, id, out), kept = 0;

    for (uint32_t k = 0; k < count; k++) {
        if (!hlo_frame_is_library(&out[k]))
            out[kept++] = out[k];
    }
    return kept ? kept : count;
}

/* Older dumps know lines alone. */
static bool same_function(const struct hlo_frame *a, const struct hlo_frame *b)
{
    return (*a->function || a->line == b->line) && !strcmp(a->function, b->function) &&
           !strcmp(a->file, b->file);
}

static bool is_help(const char *op_name)
{
    const char *slash = strrchr(op_name, '/'), *last = slash ? slash + 1 : op_name;

    return !strcmp(last, "sharding_constraint") || strstr(last, "callback");
}

/* Where what a constraint takes was made. */
static uint32_t chain_of_asked(const struct doctor *d, hlo_id id,
                               struct hlo_frame out[static HLO_FRAMES_MOST])
{
    return hlo_at(d->m, id)->operand_count ? doctor_chain(d, moves_operand(d->m, id, 0), out) : 0;
}

/* One line without its callers asks for what was made on several others: it helps them. */
static bool helps_several(const struct doctor *d, const struct hlo_frame *f)
{
    struct hlo_frame chain[HLO_FRAMES_MOST], first = {0};

    for (hlo_id id = 0; id < d->m->count; id++) {
        if (!is_help(hlo_meta(d->m, id)->op_name) || !doctor_chain(d, id, chain) ||
            !same_function(&chain[0], f) || !chain_of_asked(d, id, chain))
            continue;
        if (first.line && first.line != chain[0].line)
            return true;
        first = chain[0];
    }
    return false;
}

/* A helper that does nothing but ask for a split, or call the host: its caller is the line. */
static bool only_helps(const struct doctor *d, const struct hlo_frame *f)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];

    if (!*f->function)
        return helps_several(d, f);
    for (hlo_id id = 0; id < d->m->count; id++) {
        const char *name = hlo_meta(d->m, id)->op_name;
        if (!*name || is_help(name))
            continue;
        if (doctor_chain(d, id, chain) && same_function(&chain[0], f))
            return false;
    }
    return true;
}

struct helper {
    struct hlo_frame frame;
    bool helps;
};

/* Answers are kept: programs have few such helpers. */
static bool is_helper(struct doctor *d, const struct hlo_frame *f)
{
    for (size_t k = 0; k < d->helper_count; k++) {
        if (same_function(&d->helpers[k].frame, f))
            return d->helpers[k].helps;
    }
    bool helps = only_helps(d, f);
    if (mem_grow(&d->helpers, &d->helper_room, d->helper_count, 1))
        d->helpers[d->helper_count++] = (struct helper){*f, helps};
    return helps;
}

static bool find_line(struct doctor *d, hlo_id id, struct hlo_frame *out)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    uint32_t count = doctor_chain(d, id, chain), at = 0;
    bool helps = is_help(hlo_meta(d->m, id)->op_name);

    if (!count)
        return false;
    if (helps && count > 1 && strcmp(chain[1].function, "<module>") != 0 && is_helper(d, &chain[0]))
        at = 1;
    *out = chain[at];
    if (helps && count == 1 && is_helper(d, &chain[0]) && chain_of_asked(d, id, chain))
        *out = chain[0];
    return true;
}

bool doctor_line_before(struct doctor *d, hlo_id id, struct hlo_frame *out)
{
    struct doctor there = *d;

    there.m = d->before;
    there.frames = d->before_frames;
    there.helpers = NULL;
    there.helper_count = there.helper_room = 0;
    bool found = find_line(&there, id, out);
    free(there.helpers);
    return found;
}

static bool add_once(const struct hlo_frame *f, uint32_t most, uint32_t *count,
                     struct hlo_frame out[])
{
    for (uint32_t k = 0; k < *count; k++) {
        if (out[k].line == f->line && !strcmp(out[k].file, f->file))
            return true;
    }
    if (*count < most)
        out[(*count)++] = *f;
    return *count < most;
}

uint32_t doctor_joined(const struct doctor *d, const struct doctor_finding *f, uint32_t most,
                       struct hlo_frame out[])
{
    const struct hlo_instruction *i = hlo_at(d->m, f->id);
    struct hlo_frame chain[HLO_FRAMES_MOST];
    uint32_t count = 0;

    for (uint32_t n = 0; f->speaker != f->id && n < i->user_count; n++) {
        hlo_id part = hlo_user(d->m, f->id, n);
        if (hlo_at(d->m, part)->opcode != HLO_OP_GET_TUPLE_ELEMENT ||
            !doctor_chain(d, part, chain) ||
            (f->has_line && chain[0].line == f->line.line && !strcmp(chain[0].file, f->line.file)))
            continue;
        if (!add_once(&chain[0], most, &count, out))
            break;
    }
    return count;
}

static bool is_asked_for(enum doctor_cause cause)
{
    return cause == DOCTOR_CONSTRAINT || cause == DOCTOR_LOOP || cause == DOCTOR_REMAT ||
           cause == DOCTOR_DISPATCH || cause == DOCTOR_ORDER;
}

/* Whose line is the cause: of a split that is asked for, who asks; of a call to the host, the call.
 */
static hlo_id speaks_of(const struct evidence *v, enum doctor_cause cause)
{
    if (is_asked_for(cause) && v->asks != HLO_NONE)
        return v->asks;
    return cause == DOCTOR_HOST && v->call != HLO_NONE ? v->call : v->speaker;
}

/* The instruction of the program before partitioning that a collective serves; HLO_NONE. */
static hlo_id find_before(const struct doctor *d, const struct evidence_index *before,
                          const struct evidence *v)
{
    struct hlo_frame own[HLO_FRAMES_MOST];
    uint32_t count = d->before ? hlo_frames_of(d->frames, v->speaker, own) : 0;

    return !count ? HLO_NONE
                  : evidence_find(before, d->before_frames, hlo_meta(d->m, v->speaker)->op_name,
                                  own, count, v->op == HLO_NONE ? NULL : hlo_shape(d->m, v->op));
}

static bool asks_by_map(const struct hlo_module *m, hlo_id asks)
{
    return evidence_is_primitive(hlo_meta(m, asks)->op_name, "shard_map");
}

/* Whether `part` is what a device holds of a value that is split as the constraint `asks` has it.
 */
static bool is_as_asked(const struct hlo_module *before, hlo_id asks, const struct hlo_shape *part)
{
    const struct hlo_attr *a = hlo_attr(before, asks, HLO_ATTR_SHARDING);
    const struct hlo_shape *whole = hlo_shape(before, asks);
    int64_t tiles[HLO_RANK_MAX];

    if (!a || whole->rank != part->rank ||
        !device_groups_tile_dims(a->text, a->size, whole->rank, tiles))
        return false;
    for (uint8_t d = 0; d < whole->rank; d++) {
        if (part->dims[d] != (whole->dims[d] + tiles[d] - 1) / tiles[d])
            return false;
    }
    return true;
}

/* A gather that is taken for one of a reshape, or of a value made whole and cut again, and that
 * the program before partitioning knows better. */
static void mend_cause(const struct doctor *d, hlo_id op, hlo_id asks, struct evidence *v,
                       struct doctor_finding *f)
{
    const struct hlo_shape *part = hlo_shape(d->m, v->id);

    if (v->kind == COLLECTIVE_ALL_TO_ALL && f->cause == DOCTOR_MISMATCH && asks == HLO_NONE &&
        doctor_is_of_pairs(d->before, op, 0)) {
        f->cause = DOCTOR_OPERAND;
        v->is_paired = true;
    }
    if (v->kind != COLLECTIVE_ALL_GATHER)
        return;
    if (!v->cast && hlo_shape(d->before, op)->type == part->type)
        v->cast = moves_cast(d->before, op);
    if (f->cause == DOCTOR_RESHAPE && asks != HLO_NONE &&
        doctor_reshape_keeps(d->before, op, part->rank, v->dim))
        f->cause = DOCTOR_MISMATCH;
    if (f->cause == DOCTOR_REMAT && asks != HLO_NONE && is_as_asked(d->before, asks, part)) {
        f->cause = DOCTOR_CONSTRAINT;
        v->is_asked_so = true;
    }
}

/* What the program before partitioning says, where compiled text has lost it: that a product had
 * batch dims, and the constraint behind it, whose line is the cause. */
static void ask_before(struct doctor *d, const struct evidence_index *before, struct evidence *v,
                       struct doctor_finding *f)
{
    hlo_id op = find_before(d, before, v);
    bool moves = f->cause == DOCTOR_MISMATCH || f->cause == DOCTOR_CONSTRAINT;

    if (op == HLO_NONE)
        return;
    if (moves && v->kind == COLLECTIVE_ALL_TO_ALL && !v->is_stored &&
        (doctor_is_batched(d->before, evidence_value(d->before, op)) ||
         doctor_is_of_tables(d->before, op)))
        f->cause = DOCTOR_DISPATCH;
    hlo_id asks = evidence_constraint_behind(d->before, op);
    mend_cause(d, op, asks, v, f);
    bool is_open = f->cause == DOCTOR_MISMATCH ||
                   (f->cause == DOCTOR_OPERAND && !v->is_paired && !doctor_contracts(v));
    if (v->asks != HLO_NONE || asks == HLO_NONE || (!is_open && !is_asked_for(f->cause)))
        return;
    v->is_asked = true;
    f->has_line = doctor_line_before(d, asks, &f->line);
    v->is_mapped = asks_by_map(d->before, asks);
    if (is_open)
        f->cause = f->trips <= 1 ? DOCTOR_CONSTRAINT : DOCTOR_LOOP;
}

/* ---- all of them ---- */

/* For TPU a sum of which each device keeps a part is one fusion, which sends no more than a
 * reduce-scatter: fusion(..), kind=kCustom, calls=%all-reduce-scatter.3. */
static hlo_id scatter_fusion(const struct hlo_module *m, hlo_id id, enum collective_kind kind)
{
    static const char name[] = "all-reduce-scatter";
    const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];

    if (kind != COLLECTIVE_ALL_REDUCE || c->caller_count != 1 ||
        hlo_at(m, c->callers[0])->opcode != HLO_OP_FUSION ||
        strncmp(c->name, name, sizeof name - 1) != 0)
        return HLO_NONE;
    return c->callers[0];
}

static int examine(struct doctor *d, const struct evidence_index *x,
                   const struct evidence_index *before, hlo_id id, enum collective_kind kind,
                   double trips, struct err *e)
{
    struct doctor_finding *f = &d->findings[d->count];
    hlo_id fusion = scatter_fusion(d->m, id, kind);
    struct device_groups groups;
    struct evidence v;

    kind = fusion == HLO_NONE ? kind : COLLECTIVE_REDUCE_SCATTER;
    if (device_groups_of(d->m, id, d->devices, &groups, e))
        return e->code;
    evidence_of(x, id, kind, &groups, &v);
    *f = (struct doctor_finding){.id = id,
                                 .op = v.op,
                                 .asks = v.asks,
                                 .takes = v.source,
                                 .speaker = v.speaker,
                                 .trips = trips};
    f->once = doctor_traffic_of(&d->cluster, &groups, kind,
                                result_bytes(d->m, fusion == HLO_NONE ? id : fusion));
    f->cause = doctor_cause_of(&v, trips);
    f->has_line = find_line(d, speaks_of(&v, f->cause), &f->line);
    v.is_mapped = asks_by_map(d->m, v.asks != HLO_NONE ? v.asks : v.speaker);
    ask_before(d, before, &v, f);
    doctor_cure(d, &v, f);
    f->is_left_out = f->cause == DOCTOR_CONSTRAINT && v.is_asked_so && v.is_sliced;
    device_groups_release(&groups);
    d->count++;
    return 0;
}

static double times_of(double trips)
{
    return isnan(trips) ? 1 : trips;
}

static int compare_lines(const struct doctor_finding *a, const struct doctor_finding *b)
{
    int by_file;

    if (a->has_line != b->has_line || !a->has_line)
        return (b->has_line > a->has_line) - (b->has_line < a->has_line);
    by_file = strcmp(a->line.file, b->line.file);
    return by_file ? by_file : (a->line.line > b->line.line) - (a->line.line < b->line.line);
}

/* 0: they say the same of collectives of one size. */
static int compare_words(const struct doctor_finding *a, const struct doctor_finding *b)
{
    double x = a->once.ms * times_of(a->trips), y = b->once.ms * times_of(b->trips);

    if (x != y)
        return x > y ? -1 : 1;
    if (a->once.bytes != b->once.bytes)
        return a->once.bytes > b->once.bytes ? -1 : 1;
    if (a->once.kind != b->once.kind || a->once.group != b->once.group || a->cause != b->cause) {
        int64_t p = (int64_t)a->once.kind << 40 | (int64_t)a->cause << 32 | a->once.group;
        int64_t q = (int64_t)b->once.kind << 40 | (int64_t)b->cause << 32 | b->once.group;
        return p < q ? -1 : 1;
    }
    int by_line = compare_lines(a, b);
    int by_because = by_line ? by_line : strcmp(a->because, b->because);
    return by_because ? by_because : strcmp(a->cure, b->cure);
}

static int compare_findings(const void *a, const void *b)
{
    const struct doctor_finding *p = a, *q = b;
    int by_words = compare_words(p, q);

    return by_words ? by_words : (p->id > q->id) - (p->id < q->id);
}

static int find_rows(struct doctor *d, struct err *e)
{
    d->rows = mem_try(d->count, sizeof *d->rows);
    if (!d->rows)
        return err_no_memory(e, "for the collectives of the module");
    for (uint32_t k = 0; k < d->count; k++) {
        struct doctor_row *last = d->row_count ? &d->rows[d->row_count - 1] : NULL;
        if (last && !compare_words(&d->findings[last->first], &d->findings[k]))
            last->times++;
        else
            d->rows[d->row_count++] = (struct doctor_row){k, 1};
    }
    return 0;
}

static void add_traffic(struct doctor_total *t, const struct doctor_traffic *once, double trips)
{
    double times = times_of(trips);

    t->bytes += times * once->bytes;
    t->sent += times * once->sent;
    t->ms += times * once->ms;
    t->is_least = t->is_least || isnan(trips);
}

void doctor_sum(const struct doctor *d, const struct doctor_row *r, struct doctor_total *now,
                struct doctor_total *cured)
{
    *now = *cured = (struct doctor_total){0};
    for (uint32_t k = r->first; k < r->first + r->times; k++) {
        const struct doctor_finding *f = &d->findings[k];
        add_traffic(now, &f->once, f->trips);
        if (f->cure_is_priced)
            add_traffic(cured, &f->cured, f->cured_trips);
        else
            add_traffic(cured, &f->once, f->trips);
    }
}

static int examine_all(struct doctor *d, struct err *e)
{
    const struct hlo_module *m = d->m;
    double *trips = find_trips(m);
    struct evidence_index x = {0}, before = {0};
    enum collective_kind kind;
    uint32_t count = 0;
    int rc = evidence_index_new(m, NULL, &x, e);

    if (!rc && d->before)
        rc = evidence_index_new(d->before, d->before_frames, &before, e);

    for (hlo_id id = 0; id < m->count; id++)
        count += kind_of(m, id, &kind);
    d->findings = mem_try(count, sizeof *d->findings);
    if (!rc && (!trips || !d->findings))
        rc = err_no_memory(e, "for the collectives of the module");
    for (hlo_id id = 0; !rc && id < m->count; id++) {
        if (kind_of(m, id, &kind))
            rc = examine(d, &x, &before, id, kind, trips[hlo_at(m, id)->computation], e);
    }
    evidence_index_release(&x);
    evidence_index_release(&before);
    free(trips);
    if (!rc && d->count)
        qsort(d->findings, d->count, sizeof *d->findings, compare_findings);
    return rc ? rc : find_rows(d, e);
}

/* What collectives are in is split; they come with splitting. */
static int require_split(const struct hlo_module *m, const struct hlo_program *p, struct err *e)
{
    const char *one = p->collectives == 1 ? "" : "s";

    if (p->devices > CLUSTER_DEVICES_MOST)
        return err_set(e, ERR_LIMIT, "made for %lld devices, expected at most %d",
                       (long long)p->devices, CLUSTER_DEVICES_MOST);
    if (p->devices && p->kind != HLO_PROGRAM_WHOLE)
        return 0;
    if (p->kind != HLO_PROGRAM_WHOLE)
        return err_set(e, ERR_INPUT,
                       "written for each device (shard_map or pmap), and the file does not say for "
                       "how many: %u collective%s, %.60s first. Expected a cluster with as many "
                       "devices, or the compiled text",
                       (unsigned)p->collectives, one, hlo_name(m, p->first));
    if (m->num_partitions > 1)
        return err_set(e, ERR_INPUT,
                       "not partitioned yet: XLA makes the collectives when it splits the program "
                       "for its %lld partitions. Expected the text after that "
                       "(--xla_dump_hlo_pass_re=spmd-partitioning, or compile().as_text()), this "
                       "one with --before",
                       (long long)m->num_partitions);
    return err_set(
        e, ERR_INPUT,
        "no collectives in it: made for one device, or not partitioned yet. automap plan "
        "and the explorer take it; the doctor expects the text after "
        "spmd-partitioning, or compile().as_text()");
}

int doctor_new(const struct hlo_module *m, const struct hlo_module *before, const struct cluster *c,
               struct doctor *out, struct err *e)
{
    struct hlo_program p = hlo_program_of(m);

    if (!p.devices && p.kind == HLO_PROGRAM_PER_DEVICE)
        p.devices = c ? c->devices : doctor_mesh_devices(m);
    *out = (struct doctor){.m = m, .before = before, .is_compiled = m->is_scheduled};
    if (require_split(m, &p, e))
        return e->code;
    out->devices = (uint32_t)p.devices;
    if (c && c->devices != out->devices)
        return err_set(e, ERR_INPUT,
                       "made for %u devices, but %s has %u; expected as many, or no cluster",
                       out->devices, c->name, c->devices);
    if (c)
        out->cluster = *c;
    else if (cluster_of_devices(&out->cluster, out->devices, e))
        return e->code;
    int rc = hlo_frames_new(m, &out->frames, e);
    if (rc)
        goto out;
    if (before)
        rc = hlo_frames_new(before, &out->before_frames, e);
    if (rc)
        goto out;
    out->partitioner = mem_try(1, sizeof *out->partitioner);
    rc = out->partitioner ? partitioner_read(NULL, out->partitioner, e)
                          : err_no_memory(e, "for the collectives of the module");
    if (rc)
        goto out;
    rc = examine_all(out, e);
out:
    if (rc)
        doctor_release(out);
    return rc;
}

void doctor_release(struct doctor *d)
{
    hlo_frames_free(d->frames);
    hlo_frames_free(d->before_frames);
    free(d->findings);
    free(d->rows);
    free(d->helpers);
    free(d->opaque);
    if (d->partitioner)
        partitioner_release(d->partitioner);
    free(d->partitioner);
    arena_release(&d->arena);
    *d = (struct doctor){0};
}
