/* engine/relaxed/pattern.c - the labels of one instruction: what they ask of operands, what they
 * give, what they cost. Equal instructions share one pattern. */
#include "engine/cost/attention.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/model_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const struct classes *classes_of(const struct build *b)
{
    return &b->m->p->classes;
}

static const struct class_factor *factor(const struct build *b, uint32_t n)
{
    return &classes_of(b)->factors[b->look.first + n];
}

static int bound_dim(const struct build *b, uint32_t n, uint32_t leaf)
{
    return classes_of(b)->leaf_dims[factor(b, n)->dims + leaf];
}

/* ---- factors ---- */

/* Share of the work along factor `n` split over `over`; < 0: not so. Where the class may not be
 * split as a whole the axes must divide every size the factor binds. */
static double factor_share(const struct build *b, uint32_t n, label over)
{
    const struct classes *c = classes_of(b);
    const struct labels *l = &b->m->p->labels;
    const struct class_factor *f = factor(b, n);

    if (f->class == CLASS_NONE)
        return over ? -1 : 1;
    if (label_is_admissible(l, f->class, over))
        return label_share(l, f->class, over);
    int64_t cut = f->size / label_cuts(l, f->class);
    if (cut < 2 || cut % l->parts[over])
        return -1;
    for (uint32_t leaf = 0; leaf < b->look.leaves; leaf++) {
        int d = bound_dim(b, n, leaf);
        hlo_value v = hlo_factors_value(c->m, b->look.id, leaf);
        if (d >= 0 && !c->is_free[v] &&
            status_dim_share(l, f->class, hlo_value_shape(c->m, v)->dims[d], over) < 0)
            return -1;
    }
    return label_part(l, f->class, over, f->size);
}

static bool is_choice(const struct build *b, uint32_t n)
{
    const struct class_factor *f = factor(b, n);

    if (f->class == CLASS_NONE || n >= CHOICE_FACTORS_MOST)
        return false;
    if (f->kind == HLO_FACTOR_REDUCE && classes_of(b)->options.reduce_off[f->combiner])
        return false;
    for (uint32_t x = 0; x < b->m->p->mesh.axes; x++) {
        if (b->m->p->mesh.axis[x].size > 1 && factor_share(b, n, (label)(1u << x)) > 0)
            return true;
    }
    return false;
}

/* ---- partial results ---- */

static bool leaves_partial(const struct build *b, uint32_t n)
{
    const struct class_factor *f = factor(b, n);

    return f->kind == HLO_FACTOR_REDUCE && f->combiner != HLO_COMBINE_NONE &&
           bound_dim(b, n, b->look.operands) < 0;
}

static bool operand_may_be_partial(const struct build *b, uint32_t leaf, uint8_t combiner)
{
    const struct model *m = b->m;
    hlo_value v = m->origin[hlo_factors_value(m->p->m, b->look.id, leaf)];

    return v != HLO_NONE && m->spaces.items[m->space_of[v]].can_be_partial &&
           m->combiner[v] == combiner;
}

/* The combiner of the result's partial forms: that of its own reduction, else of what passes
 * through. */
static void find_combiner(struct build *b)
{
    struct looked_at *k = &b->look;
    bool own = false;

    k->combiner = HLO_COMBINE_NONE;
    for (uint32_t n = 0; n < k->factors; n++) {
        if (leaves_partial(b, n) && is_choice(b, n)) {
            if (own && k->combiner != factor(b, n)->combiner) {
                k->combiner = HLO_COMBINE_NONE; /* mixed: nothing may pass */
                return;
            }
            k->combiner = factor(b, n)->combiner;
            own = true;
        }
    }
    for (uint32_t leaf = 0; leaf < k->operands && !own && b->m->options.pass_partial; leaf++) {
        for (uint8_t c = HLO_COMBINE_NONE + 1; c < HLO_COMBINE_COUNT && !own; c++) {
            own = operand_may_be_partial(b, leaf, c) &&
                  hlo_passes_partial(b->m->p->m, k->id, leaf, (enum hlo_combiner)c) !=
                      HLO_PARTIAL_STOPS;
            if (own)
                k->combiner = c;
        }
    }
}

/* How each operand leaf passes such results, as far as it can be one. */
static void find_passes(struct build *b)
{
    struct looked_at *k = &b->look;

    for (uint32_t leaf = 0; leaf < k->operands; leaf++) {
        k->pass[leaf] = HLO_PARTIAL_STOPS;
        if (b->m->options.pass_partial && k->combiner != HLO_COMBINE_NONE &&
            operand_may_be_partial(b, leaf, k->combiner))
            k->pass[leaf] = (uint8_t)hlo_passes_partial(b->m->p->m, k->id, leaf,
                                                        (enum hlo_combiner)k->combiner);
    }
}

static void list_choices(struct build *b)
{
    struct looked_at *k = &b->look;
    bool together = false;

    k->choices = 0;
    k->choice[k->choices++] = CHOICE_WHOLE;
    for (uint32_t n = 0; n < k->factors; n++) {
        if (is_choice(b, n) && !b->m->p->classes.runs_whole[k->id])
            k->choice[k->choices++] = (uint8_t)(1 + n);
    }
    for (uint32_t leaf = 0; leaf < k->operands; leaf++) {
        together |= k->pass[leaf] == HLO_PARTIAL_TOGETHER;
        if (k->pass[leaf] == HLO_PARTIAL_ALONE && leaf < CHOICE_LEAVES_MOST)
            k->choice[k->choices++] = (uint8_t)(CHOICE_PASS_LEAF + leaf);
    }
    if (together)
        k->choice[k->choices++] = CHOICE_PASS;
    for (;; k->choices--) { /* more axes, fewer of the last choices */
        uint32_t total = 1;
        for (uint32_t x = 0; x < b->m->p->mesh.axes; x++)
            total *= k->choices;
        if (total <= LABELS_MOST)
            break;
    }
}

static bool result_may_be_partial(const struct build *b, uint32_t leaf)
{
    for (uint32_t k = 0; k < b->look.choices; k++) {
        uint8_t choice = b->look.choice[k];
        if (choice >= CHOICE_PASS_LEAF)
            return true;
        if (choice && factor(b, choice - 1u)->kind == HLO_FACTOR_REDUCE &&
            bound_dim(b, choice - 1u, leaf) < 0)
            return true;
    }
    return false;
}

/* ---- labels ---- */

/* Status that choice `choice` along axis `x` means for a leaf, added to `s`. */
static status add_choice(const struct build *b, status s, uint32_t axis, unsigned choice,
                         uint32_t leaf)
{
    const struct looked_at *k = &b->look;
    bool is_result = leaf >= k->operands;

    if (choice == CHOICE_WHOLE)
        return s;
    if (choice == CHOICE_PASS)
        return is_result || k->pass[leaf] == HLO_PARTIAL_TOGETHER
                   ? status_with(s, axis, STATUS_PARTIAL)
                   : s;
    if (choice >= CHOICE_PASS_LEAF)
        return is_result || leaf == choice - CHOICE_PASS_LEAF ? status_with(s, axis, STATUS_PARTIAL)
                                                              : s;
    int d = bound_dim(b, choice - 1, leaf);
    if (d >= 0)
        return status_with(s, axis, (unsigned)d + 1);
    if (is_result && factor(b, choice - 1)->kind == HLO_FACTOR_REDUCE)
        return status_with(s, axis, STATUS_PARTIAL);
    return s;
}

static status leaf_status(const struct build *b, uint32_t way, uint32_t leaf)
{
    status s = 0;

    for (uint32_t x = 0; x < b->m->p->mesh.axes; x++)
        s = add_choice(b, s, x, status_on(way, x), leaf);
    return s;
}

static label factor_axes(const struct build *b, uint32_t way, uint32_t n)
{
    return status_dim(way, b->m->p->mesh.axes, n);
}

/* Sets the shares of all factors; false when one of them cannot be split so. */
static bool set_shares(struct build *b, uint32_t way)
{
    for (uint32_t n = 0; n < b->look.factors; n++) {
        label over = n < CHOICE_FACTORS_MOST ? factor_axes(b, way, n) : 0;
        b->look.share[n] = factor_share(b, n, over);
        if (b->look.share[n] < 0)
            return false;
    }
    return true;
}

/* Cheapest way to make whole what the label's own reductions leave partial; of one execution. */
static double walk_to_whole(const struct build *b, uint32_t way, uint32_t leaf)
{
    const struct looked_at *k = &b->look;
    uint32_t axes = b->m->p->mesh.axes;
    status from = leaf_status(b, way, leaf), to;

    if (k->space[leaf] == UINT32_MAX)
        return 0;
    for (uint32_t x = 0; x < axes; x++) {
        if (status_on(way, x) >= CHOICE_PASS_LEAF)
            from = status_with(from, x, STATUS_WHOLE);
    }
    to = from;
    for (uint32_t x = 0; x < axes; x++) {
        if (status_on(from, x) == STATUS_PARTIAL)
            to = status_with(to, x, STATUS_WHOLE);
    }
    uint32_t a = status_find(&b->m->spaces, k->space[leaf], from),
             z = status_find(&b->m->spaces, k->space[leaf], to);
    return a == UINT32_MAX || z == UINT32_MAX ? 0 : status_ms(&b->m->spaces, k->space[leaf], a, z);
}

/* Whether factor `n` counts among those whose reductions stand apart: a sum that is joined goes on,
 * and so does the last of them unless all that is split here goes the same way. */
static bool is_reduced_here(const struct build *b, uint32_t way, uint32_t n)
{
    const struct joined_sums *j = b->m->p->step_tables.joined;
    const struct looked_at *k = &b->look;
    bool stays = false;

    if (!j || j->part[k->first + n] == SUM_ALONE)
        return true;
    for (uint32_t o = 0; o < k->factors && o < CHOICE_FACTORS_MOST; o++) {
        bool reduces = factor(b, o)->kind == HLO_FACTOR_REDUCE && factor_axes(b, way, o);
        stays |= reduces && j->part[k->first + o] == SUM_ALONE;
    }
    return j->part[k->first + n] == SUM_LAST && !stays;
}

/* Compute, reductions inside the instruction, and what XLA's one all-reduce per reduced factor
 * costs beyond the cheapest way of making the result whole over all of them at once. */
static struct model_label_cost label_cost(const struct build *b, uint32_t way)
{
    const struct looked_at *k = &b->look;
    const struct step_tables *t = &b->m->p->step_tables;
    double times = step_tables_times(t, k->id), apart = 0, walks = 0, most = 0;
    label last = 0;
    struct model_label_cost out = {.compute_ms = step_tables_compute_ms(t, k->id, k->share)};

    for (uint32_t n = 0; n < k->factors; n++) {
        label over = n < CHOICE_FACTORS_MOST ? factor_axes(b, way, n) : 0;
        if (!over)
            continue;
        struct reduction r = step_tables_reduction(t, k->id, k->first + n, over, k->share);
        if (factor(b, n)->kind == HLO_FACTOR_INSIDE) {
            out.inside_ms += r.times * r.ms;
            out.inside_bytes += r.times * r.bytes;
            out.inside_over |= over;
        } else if (r.ms > 0 && is_reduced_here(b, way, n)) {
            times = r.times;
            apart += r.ms;
            out.apart_bytes += times * r.bytes;
            out.apart_over |= over;
            last = times * r.bytes > most ? over : last;
            most = fmax(most, times * r.bytes);
        }
    }
    for (uint32_t leaf = k->operands; leaf < k->leaves && apart > 0; leaf++)
        walks += walk_to_whole(b, way, leaf);
    out.apart_ms = apart > walks * (1 + 1e-12) ? times * (apart - walks) : 0;
    out.apart_bytes = out.apart_ms > 0 ? out.apart_bytes - most : 0;
    out.apart_over &= ~last; /* the one that the walk stands for */
    return out;
}

static uint32_t label_by_number(const struct build *b, uint32_t number)
{
    uint32_t way = 0;

    for (uint32_t x = 0; x < b->m->p->mesh.axes; x++, number /= b->look.choices)
        way = status_with(way, x, b->look.choice[number % b->look.choices]);
    return way;
}

static bool splits_idle_axis(const struct build *b, uint32_t way)
{
    for (uint32_t x = 0; x < b->m->p->mesh.axes; x++) {
        if (status_on(way, x) && b->m->p->mesh.axis[x].size < 2)
            return true;
    }
    return false;
}

/* Places of all leaves under a label, [leaf] of `places`; false when a leaf cannot lie so. */
static bool places_of(const struct build *b, uint32_t way, uint16_t *places)
{
    const struct looked_at *k = &b->look;

    for (uint32_t leaf = 0; leaf < k->leaves; leaf++) {
        uint32_t place = 0;
        if (k->space[leaf] != UINT32_MAX)
            place = status_find(&b->m->spaces, k->space[leaf], leaf_status(b, way, leaf));
        if (place == UINT32_MAX)
            return false;
        places[leaf] = (uint16_t)place;
    }
    return true;
}

/* Labels, their places by leaf, and their costs. */
static int fill_pattern(struct build *b, struct model_pattern *out)
{
    struct model *m = b->m;
    struct looked_at *k = &b->look;
    uint32_t total = 1, leaves = k->leaves;
    uint16_t *places;
    double *ms = mem_try(LABELS_MOST, sizeof *ms);

    for (uint32_t x = 0; x < m->p->mesh.axes; x++)
        total *= k->choices;
    places = mem_try((size_t)total * (leaves + 1), sizeof *places);
    bool ok = places && ms && mem_grow(&m->choices, &m->choice_room, m->choice_count, total) &&
              mem_grow(&m->compute_ms, &m->compute_room, m->choice_count, total);
    out->choices = (uint32_t)m->choice_count;
    for (uint32_t n = 0; ok && n < total; n++) {
        uint32_t way = label_by_number(b, n);
        if (splits_idle_axis(b, way) || !set_shares(b, way) ||
            !places_of(b, way, places + (size_t)out->labels * leaves))
            continue;
        struct model_label_cost cost = label_cost(b, way);
        double scale = 1 - m->options.excess_weight * m->p->step_tables.overlap.hidden;
        ms[out->labels] = scale * cost.compute_ms + cost.inside_ms + cost.apart_ms;
        m->compute_ms[m->choice_count] = cost.compute_ms;
        m->choices[m->choice_count++] = way;
        out->labels++;
    }
    out->maps = (uint32_t)m->map_count;
    ok = ok && mem_grow(&m->maps, &m->map_room, m->map_count, leaves) &&
         mem_grow(&m->places, &m->place_room, m->place_count, (size_t)leaves * out->labels);
    for (uint32_t leaf = 0; ok && leaf < leaves; leaf++) {
        m->maps[m->map_count++] = (uint32_t)m->place_count;
        for (uint32_t n = 0; n < out->labels; n++)
            m->places[m->place_count++] = places[(size_t)n * leaves + leaf];
    }
    uint64_t key[TABLE_KEY] = {KEY_PATTERN, m->pattern_count};
    bool is_new;
    out->unary = tables_get(&m->tables, key, 1, out->labels, &is_new);
    if (is_new)
        memcpy(tables_at(&m->tables, out->unary, false), ms, out->labels * sizeof *ms);
    free(places);
    free(ms);
    return ok && is_new ? 0 : err_no_memory(b->e, "for relaxed mode");
}

/* ---- equal instructions ---- */

/* Two hashes of all that labels and costs depend on. */
static void hash_pattern(const struct build *b, uint64_t hash[2])
{
    const struct classes *c = classes_of(b);
    const struct step_tables *t = &b->m->p->step_tables;
    const struct looked_at *k = &b->look;
    struct {
        double flops, bytes, times, measured;
        uint64_t opcode, combiner;
        double work;
        uint64_t backward;
    } head = {t->costs->instruction[k->id].flops, t->costs->instruction[k->id].bytes,
              step_tables_times(t, k->id),        t->measured_ms ? t->measured_ms[k->id] : -1,
              hlo_at(c->m, k->id)->opcode,        k->combiner,
              t->attention->work[k->id],          attention_is_backward(t->attention, k->id)};

    for (int h = 0; h < 2; h++) {
        uint64_t x = mem_hash(&head, sizeof head, (uint64_t)h * 0x5851f42d4c957f2du + 1);
        x = mem_hash(k->pass, k->operands, x);
        for (uint32_t leaf = 0; leaf < k->leaves; leaf++) {
            hlo_value v = hlo_factors_value(c->m, k->id, leaf);
            uint32_t key[3] = {c->m->shapes[c->m->value_shape[v]].bare,
                               (uint32_t)(t->traffic->weight[c->leaf_base[k->id] + leaf] << 1 |
                                          t->training->waits[v]) |
                                   (uint32_t)t->training->adding[v] << 24,
                               k->space[leaf]};
            x = mem_hash(key, sizeof key, x);
        }
        for (uint32_t n = 0; n < k->factors; n++) {
            const struct class_factor *f = factor(b, n);
            bool known = f->class != CLASS_NONE;
            int64_t joined = t->joined ? t->joined->part[k->first + n] : 0;
            int64_t key[4] = {f->kind | f->combiner << 8 | known << 16 | joined << 17, f->size,
                              known ? t->labels->kind[f->class] : 0,
                              known ? (int64_t)t->labels->admissible[f->class] : 0};
            x = mem_hash(key, sizeof key, x);
            x = mem_hash(c->leaf_dims + f->dims, k->leaves, x);
        }
        hash[h] = x;
    }
}

static int find_pattern(struct build *b, uint32_t *pattern)
{
    struct model *m = b->m;
    struct model_pattern key = {0};

    struct slot_walk at;

    hash_pattern(b, key.hash);
    for (*pattern = slots_first(&m->slots, key.hash[0], &at); *pattern != SLOTS_END;
         *pattern = slots_next(&m->slots, &at)) {
        if (m->patterns[*pattern].hash[0] == key.hash[0] &&
            m->patterns[*pattern].hash[1] == key.hash[1])
            return 0;
    }
    int rc = fill_pattern(b, &key);
    if (rc)
        return rc;
    if (!mem_grow(&m->patterns, &m->pattern_room, m->pattern_count, 1) ||
        !slots_add(&m->slots, key.hash[0], m->pattern_count))
        return err_no_memory(b->e, "for relaxed mode");
    *pattern = m->pattern_count;
    m->patterns[m->pattern_count++] = key;
    return 0;
}

/* ---- one instruction ---- */

static int look_at_instruction(struct build *b, hlo_id id)
{
    const struct classes *c = classes_of(b);
    struct looked_at *k = &b->look;

    k->id = id;
    k->first = c->factor_base[id];
    k->factors = c->factor_base[id + 1] - k->first;
    k->leaves = class_leaf_count(c, id);
    k->operands = k->leaves - (c->m->leaf_base[id + 1] - c->m->leaf_base[id]);
    if (!mem_grow(&k->space, &k->space_room, 0, k->leaves) ||
        !mem_grow(&k->pass, &k->pass_room, 0, k->leaves) ||
        !mem_grow(&k->share, &k->share_room, 0, (size_t)k->factors + 1))
        return err_no_memory(b->e, "for relaxed mode");
    return 0;
}

static int look_at_operands(struct build *b, hlo_id id)
{
    int rc = look_at_instruction(b, id);

    if (rc)
        return rc;
    find_combiner(b);
    find_passes(b);
    list_choices(b);
    return 0;
}

int model_label_cost(const struct model *m, uint32_t node, uint32_t way,
                     struct model_label_cost *out, struct err *e)
{
    struct build b = {.m = (struct model *)m, .e = e}; /* read only here: spaces are known */
    const struct model_node *n = &m->nodes[node];
    uint32_t choice = m->choices[m->patterns[n->pattern].choices + way];
    int rc = look_at_operands(&b, n->id);

    if (rc)
        goto out;
    memcpy(b.look.space, m->leaf_space + m->p->classes.leaf_base[n->id],
           b.look.leaves * sizeof *b.look.space);
    BUG_ON(!set_shares(&b, choice));
    *out = label_cost(&b, choice);
out:
    free(b.look.space);
    free(b.look.pass);
    free(b.look.share);
    return rc;
}

int model_pattern_of(struct build *b, hlo_id id, uint32_t *pattern)
{
    struct model *m = b->m;
    struct looked_at *k = &b->look;
    int rc = look_at_operands(b, id);

    if (rc)
        return rc;
    for (uint32_t leaf = 0; leaf < k->leaves; leaf++) {
        hlo_value v = hlo_factors_value(m->p->m, id, leaf), o = m->origin[v];
        k->space[leaf] = UINT32_MAX;
        if (o == HLO_NONE)
            continue;
        if (leaf >= k->operands) {
            rc = status_space_of(&m->spaces, v, result_may_be_partial(b, leaf), &m->space_of[v],
                                 b->e);
            if (rc)
                return rc;
            m->combiner[v] = k->combiner;
        }
        k->space[leaf] = m->space_of[o];
    }
    memcpy(m->leaf_space + m->p->classes.leaf_base[id], k->space, k->leaves * sizeof *k->space);
    return find_pattern(b, pattern);
}
