/* What tests of the costs of stages share: a model with its sections and tables; its points priced
 * one by one; replicas of it. */
#ifndef AUTOMAP_TESTS_UNIT_HYBRID_CASE_H
#define AUTOMAP_TESTS_UNIT_HYBRID_CASE_H

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_pins.h"
#include "hlo/load.h"
#include "tests/unit/shipped.h"

#include <math.h>
#include <string.h>

struct case_of {
    struct problem p;
    struct order order;
    struct sections s;
    struct hybrid_instance in, ideal;
    struct stage_tables t;
    struct stage_options o;
    struct hybrid_pins pins;
};

static uint32_t sigmas_most, choices_most; /* 0: as they are */

static double overlap = 0.25;

static const char *own_text;    /* a module in place of the shipped one; NULL: none */
static uint32_t own_layers = 3; /* its variables are w1, w2 .. */

static uint32_t replicas_asked; /* of a stage; 0: as many as are best */

static uint32_t pinned; /* in which of four ways; 0: not */

static inline void pin_one(struct hybrid_pins *p, uint32_t section, class_id class, uint32_t least,
                           uint32_t most)
{
    struct hybrid_named *named = &p->named[p->count];

    named->class[0] = class;
    named->section[0] = (uint16_t)section;
    named->count = 1;
    p->pin[p->count] = (struct hybrid_pin){.kind = HYBRID_PIN_GROUP,
                                           .first = section,
                                           .last = section,
                                           .least = least,
                                           .most = most,
                                           .named = p->count};
    p->count++;
}

/* The first local class of every section is whole, or split, in the stage of the last that has
 * some; the last of each is the other way in the stage of the first. */
static inline void pin_everywhere(struct case_of *c)
{
    const struct sections *s = &c->s;

    for (uint32_t n = 0; n < s->count; n++) {
        uint32_t base = s->local_base[n], end = s->local_base[n + 1];
        for (uint32_t which = 0; which < 2 && end - base > 1; which++) {
            bool whole = which == (pinned == 3);
            class_id k = s->local[which ? end - 1 : base];
            if (c->pins.count < 2) {
                pin_one(&c->pins, n, k, whole ? 1 : 2, whole ? 1 : 4);
                continue;
            }
            struct hybrid_named *named = &c->pins.named[which];
            named->class[named->count] = k;
            named->section[named->count++] = (uint16_t)n;
            if (!which)
                c->pins.pin[which].first = c->pins.pin[which].last = n;
        }
    }
}

/* A local class of one section is whole, one of the next that has some is split, or the other way
 * round; the last shared one is split in two where the last section is. */
static inline void pin_groups(struct case_of *c)
{
    const struct sections *s = &c->s;

    c->o.pins = &c->pins;
    if (pinned > 2) {
        pin_everywhere(c);
        return;
    }
    for (uint32_t n = 0; n < s->count && c->pins.count < 2; n++)
        if (s->local_base[n + 1] > s->local_base[n]) {
            bool whole = !c->pins.count == (pinned == 1);
            pin_one(&c->pins, n, s->local[s->local_base[n]], whole ? 1 : 2, whole ? 1 : 4);
        }
    if (s->shared_count > 1)
        pin_one(&c->pins, s->count - 1, s->shared[s->shared_count - 1], 2, 2);
}

static inline void load_own(const char *devices, struct problem *p)
{
    static char text[64][8];
    const char *names[64];
    struct hlo_vars vars = {.names = names, .count = own_layers};
    struct problem_options options = {0};
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *m;
    struct err e;

    for (uint32_t n = 0; n < own_layers; n++) {
        snprintf(text[n], sizeof text[n], "w%u", n + 1);
        names[n] = text[n];
    }
    assert_int_equal(cluster_of_devices(cluster, (uint32_t)strtoul(devices, NULL, 10), &e), 0);
    assert_int_equal(hlo_load_memory("own", own_text, strlen(own_text), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, &vars, cluster, &options, p, &e), 0);
    free(cluster);
}

static inline void begin(struct case_of *c, const char *model, const char *cluster, uint32_t m,
                         uint8_t zero)
{
    struct err e;
    bool possible;

    if (own_text)
        load_own(cluster, &c->p);
    else
        load_shipped(model, cluster, &c->p);
    assert_int_equal(order_new(&c->p, &c->order, &e), 0);
    assert_int_equal(sections_new(&c->order, NULL, 0, &c->s, &e), 0);
    uint32_t batch = (uint32_t)c->order.steps.batch_size;
    struct pipe_options po = {.micro_batches = m, .micro_batch = batch / m, .memory_share = 1};
    c->o = (struct stage_options){.batch = batch,
                                  .micro_batches = m,
                                  .zero = zero,
                                  .overlap = overlap,
                                  .dp = replicas_asked,
                                  .sigmas_most = sigmas_most,
                                  .choices_most = choices_most};
    if (pinned)
        pin_groups(c);
    assert_int_equal(hybrid_instance_new(&c->in, c->s.count, &c->p.cluster, &po, &e), 0);
    assert_int_equal(hybrid_instance_new(&c->ideal, c->s.count, &c->p.cluster, &po, &e), 0);
    assert_int_equal(stage_tables_new(&c->s, &c->o, &c->in, &c->ideal, &c->t, &possible, &e), 0);
    assert_true(possible);
}

static inline void end(struct case_of *c)
{
    stage_tables_release(&c->t);
    hybrid_instance_release(&c->in);
    hybrid_instance_release(&c->ideal);
    sections_release(&c->s);
    order_release(&c->order);
    problem_release(&c->p);
}

static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12;
}

static inline void check_points(const char *model, const char *cluster, uint32_t m, uint8_t zero,
                                uint32_t every)
{
    struct case_of *c = mem_alloc(sizeof *c);
    uint32_t seen = 0, checked = 0;
    struct err e;

    begin(c, model, cluster, m, zero);
    label *on = mem_alloc(c->p.classes.count + 1);
    for (uint32_t slot = 0; slot < c->in.slots; slot++)
        for (uint32_t i = 0; i < c->s.count; i++)
            for (uint32_t j = i + 1; j <= c->s.count; j++) {
                struct hybrid_front f = *hybrid_front_of(&c->in, slot, i, j);
                for (uint32_t n = f.first; n < f.first + f.count; n++) {
                    const struct hybrid_point *p = &c->in.points[n];
                    const struct stage_shape *shape = &c->t.shape[c->t.row_shape[p->row]];
                    struct hybrid_point slow[2];
                    double collective_ms[2];
                    if (seen++ % every)
                        continue;
                    stage_tables_labels(&c->t, p->row, i, j, on);
                    assert_int_equal(stage_tables_price(&c->s, &c->o, &c->in, slot, shape->size, on,
                                                        i, j, slow, collective_ms, &e),
                                     0);
                    const struct hybrid_point *q = &slow[p->recompute];
                    if (!near(p->forward_ms, q->forward_ms) || !near(p->both_ms, q->both_ms) ||
                        !near(p->reduce_ms, q->reduce_ms) ||
                        !near(p->fixed_bytes, q->fixed_bytes) ||
                        !near(p->stash_bytes, q->stash_bytes))
                        fail_msg("%s slot %u [%u, %u): %.12g %.12g %.12g %.12g %.12g, one by one "
                                 "%.12g %.12g %.12g %.12g %.12g",
                                 model, slot, i, j, p->forward_ms, p->both_ms, p->reduce_ms,
                                 p->fixed_bytes, p->stash_bytes, q->forward_ms, q->both_ms,
                                 q->reduce_ms, q->fixed_bytes, q->stash_bytes);
                    checked++;
                }
            }
    print_message("%s on %s, M %u, ZeRO %u: %u sections of %u kinds, %u of %u points priced one by "
                  "one\n",
                  model, cluster, m, zero, c->s.count, c->s.kinds, checked, seen);
    assert_true(checked > (own_text ? 10 : 50));
    free(on);
    end(c);
    free(c);
}

/* The strict model with the batch split over all devices. */
static inline struct step_cost strict_cost(struct problem *p, uint8_t zero, uint32_t micro_batches)
{
    struct batch_and_zero r = {.micro_batches = micro_batches, .zero = zero};
    label *on = mem_alloc(p->classes.count + 1);
    struct err e;

    assert_int_equal(problem_set_batch_and_zero(p, &r, &e), 0);
    on[p->training.batch] = (label)(p->labels.count - 1);
    struct step_cost cost = step_tables_cost(&p->step_tables, on);
    free(on);
    return cost;
}

/* One stage of replicas, over all devices. */
static inline struct hybrid_point replicas(struct case_of *c, double hidden, uint8_t zero,
                                           double collective_ms[2])
{
    const struct stage_shape *shape = &c->t.shape[c->t.shapes - 1];
    label *on = mem_alloc(c->p.classes.count + 1);
    struct stage_options o = c->o;
    struct hybrid_point p[2];
    struct err e;

    o.overlap = hidden;
    o.zero = zero;
    on[c->order.steps.batch] = (label)((1 << shape->axes) - 1);
    assert_int_equal(stage_tables_price(&c->s, &o, &c->in, shape->slot, shape->size, on, 0,
                                        c->s.count, p, collective_ms, &e),
                     0);
    free(on);
    return p[0];
}

#endif
