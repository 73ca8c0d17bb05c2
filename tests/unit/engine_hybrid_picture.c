/* Pictures of hybrid plans: what a screen is handed is the plan's, and adds up. */
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_picture.h"
#include "tests/unit/shipped.h"

#include <math.h>

struct seen {
    uint32_t plans, looked;
    double last_ms;
};

/* Steps get shorter as the search goes on; what is shown can be pictured. */
static void watch(const struct hybrid *h, void *context)
{
    struct seen *s = context;
    struct hybrid_picture p;
    struct err e;

    assert_int_equal(hybrid_picture_new(h, &p, &e), 0);
    s->looked++;
    if (p.found) {
        assert_true(p.step_ms <= s->last_ms * (1 + 1e-9));
        s->plans += p.step_ms < s->last_ms;
        s->last_ms = p.step_ms;
    }
    hybrid_picture_release(&p);
}

/* A group's memory begins with what is always there, ends so, and is at most what the plan counts:
 * 1F1B and interleaved plans reach it. */
static void check_memory(const struct hybrid_picture *p, uint32_t group)
{
    uint32_t room = 1 + 2 * p->micro_batches * p->chunks;
    struct hybrid_moment *m = mem_alloc(room * sizeof *m);
    uint32_t count = hybrid_picture_memory(p, group, m);
    double most = 0, counted = p->stage[group].memory_bytes;

    assert_int_equal(count, room);
    for (uint32_t k = 0; k < count; k++) {
        assert_true(!k || m[k].at_ms >= m[k - 1].at_ms);
        most = fmax(most, m[k].bytes);
    }
    assert_true(m[count - 1].at_ms <= p->step_ms * (1 + 1e-9));
    assert_true(fabs(m[count - 1].bytes - m[0].bytes) <= 1e-6 * counted);
    assert_true(most <= counted * (1 + 1e-9));
    if (p->schedule == PIPE_1F1B && p->micro_batches >= p->stages)
        assert_true(most >= counted * (1 - 1e-9));
    free(m);
}

static void check_roles(const struct hybrid *h, const struct hybrid_picture *p)
{
    assert_true(p->roles > 1 && p->role[0].is_batch);
    for (uint32_t r = 0; r < p->roles; r++)
        for (uint32_t n = 0; n < p->stages; n++) {
            const struct hybrid_picture_cell *c = &p->role[r].in[n];
            if (c->class == CLASS_NONE)
                continue;
            assert_int_equal(c->axes, h->stage[n].on[c->class]);
            if (p->role[r].is_batch)
                assert_int_equal(c->parts, p->stage[n].dp);
            assert_true(p->role[r].is_split || c->parts == 1);
        }
}

static void check(const char *model, const char *cluster, struct hybrid_options o)
{
    struct seen seen = {.last_ms = INFINITY};
    struct problem *problem = mem_alloc(sizeof *problem);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct hybrid_rival rival[HYBRID_RIVALS];
    struct hybrid_picture p;
    struct err e;
    double tensor_ms = 0;

    load_shipped(model, cluster, problem);
    o.watch = watch;
    o.context = &seen;
    o.zero = -1;
    assert_int_equal(hybrid_new(problem, &o, h, &e), 0);
    assert_true(seen.plans && fabs(seen.last_ms - hybrid_step_ms(h)) <= 1e-9 * seen.last_ms);
    assert_int_equal(hybrid_picture_new(h, &p, &e), 0);
    assert_int_equal(p.groups * p.chunks, p.stages);
    for (uint32_t n = 0; n < p.stages; n++) {
        const struct hybrid_picture_stage *s = &p.stage[n];
        assert_int_equal(s->dp * s->tp, s->end_device - s->device);
        assert_true(s->forward_collective_ms <= s->forward_ms &&
                    s->backward_collective_ms <= s->backward_ms);
        if (s->tp == 1 && s->dp == 1)
            assert_true(s->forward_collective_ms == 0 && s->backward_collective_ms == 0);
        tensor_ms += s->tp > 1 ? s->forward_collective_ms + s->backward_collective_ms : 0;
    }
    if (o.tp > 1)
        assert_true(tensor_ms > 0);
    check_roles(h, &p);
    for (uint32_t g = 0; g < p.groups; g++)
        check_memory(&p, g);
    assert_true(p.timeline.count > 0);
    double end = 0;
    for (uint32_t k = 0; k < p.timeline.count; k++)
        end = fmax(end, p.timeline.task[k].end_ms);
    assert_true(fabs(end - p.step_ms) <= 1e-9 * end);

    assert_int_equal(hybrid_rivals(problem, &o, rival, &e), 0);
    for (int k = 0; k < HYBRID_RIVALS; k++)
        if (rival[k].found && !o.stages && !o.tp && h->is_certified && rival[k].chunks == 1)
            assert_true(rival[k].step_ms >= h->bound_ms * (1 - 1e-9));
    if (rival[HYBRID_RIVAL_REPLICAS].found)
        assert_int_equal(rival[HYBRID_RIVAL_REPLICAS].tp, 1);
    if (rival[HYBRID_RIVAL_SPLIT].found)
        assert_int_equal(rival[HYBRID_RIVAL_SPLIT].stages, 1);
    hybrid_picture_release(&p);
    hybrid_release(h);
    problem_release(problem);
    free(h);
    free(problem);
}

static void test_pictures(void **unused)
{
    (void)unused;
    check("t5-tiny", "v100-1x4", (struct hybrid_options){0});
    check("t5-tiny", "v100-1x4",
          (struct hybrid_options){.stages = 2,
                                  .micro_batches = 4,
                                  .tp = 2,
                                  .is_schedule_given = true,
                                  .schedule = PIPE_1F1B,
                                  .recompute = STAGE_RECOMPUTE_ALL});
    check("t5-base6", "c-4x8-v100", (struct hybrid_options){.micro_batches = 8});
    check("t5-base6", "c-4x8-v100",
          (struct hybrid_options){.micro_batches = 16, .is_uniform = true, .chunks = 2});
}

/* A role is one over the layers; what tells two classes of one layer apart stays in its name. */
static void test_role_names(void **unused)
{
    struct class_name items[] = {{.base = "decoder cross", .layer = 3},
                                 {.base = "block attention", .layer = 0, .size = 256},
                                 {.base = "block attention", .layer = 1, .size = 8},
                                 {.base = "width 768", .layer = -1},
                                 {.base = "encoder self", .layer = -1}};
    static const char *const roles[] = {"decoder cross", "block attention, 256",
                                        "block attention, 8", "width", "encoder self"};
    const struct class_names names = {.items = items, .count = 5};
    char role[NAME_ROOM];

    (void)unused;
    for (class_id k = 0; k < names.count; k++)
        assert_string_equal(hybrid_role_name(&names, k, role), roles[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pictures),
                                       cmocka_unit_test(test_role_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
