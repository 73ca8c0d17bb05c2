/* Plans of placements: files read as they were written, faults told, what limits by its definition;
 * contiguous ones of models as pipelines that hold the same sets. */
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/from_module.h"
#include "engine/place/latency.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/solve.h"
#include "tests/unit/place_random.h"
#include "tests/unit/shipped.h"

/* ---- files of graphs ---- */

enum { WORDS_ROOM = 64 };

static void words_of(const struct place_graph *g, const struct small_pin *pin, char *out)
{
    char device[16];
    long long a = g->id[pin->a], b = pin->kind == SMALL_ON ? 0 : g->id[pin->b];

    switch (pin->kind) {
    case SMALL_ON:
        snprintf(out, WORDS_ROOM, "%lld on %s", a, place_device_name(g, pin->b, device));
        break;
    case SMALL_OFF:
        snprintf(out, WORDS_ROOM, "%lld off host", a);
        break;
    default:
        snprintf(out, WORDS_ROOM, "%lld %s %lld", a,
                 pin->kind == SMALL_WITH ? "with" : "apart from", b);
    }
}

static struct place_graph *graph_of_seed(uint32_t seed)
{
    struct rl_rng r;
    struct small_shape shape = {.nodes = 3 + seed % 6,
                                .kinds = 1 + seed % 2,
                                .servers = seed % 5 == 4 ? 2 : 0,
                                .training = seed % 3 == 0};

    rl_rng_seed(&r, seed, 1);
    if (shape.servers)
        shape.kinds = 1;
    return small_graph(&r, &shape);
}

static char *text_of(const struct place_document *d)
{
    cJSON *o = place_json(d, false);
    char *text = cJSON_Print(o);

    cJSON_Delete(o);
    return text;
}

/* The heaviest that the limiting device pays, by the definition of what a transfer is. */
static void check_limit(const struct place_graph *g, const struct place_rules *rules,
                        const struct placement *p, const struct place_load *load)
{
    struct place_limit l = place_find_limit(g, rules, p, load);
    struct slow_load slow[SMALL_DEVICES];
    double most = 0, heaviest = 0;

    slow_loads(g, p->device, slow);
    for (uint32_t d = 0; d < p->devices; d++)
        most =
            fmax(most, slow_parts(rules->communication, slow[d].compute[0] + slow[d].compute[1],
                                  slow[d].in[0] + slow[d].in[1], slow[d].out[0] + slow[d].out[1]));
    assert_true(fabs(l.load_ms - most) < 1e-9);
    for (uint32_t u = 0; u < g->nodes && !slow_is_host(g, l.device); u++) {
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t a = p->device[u], b = p->device[g->user[i]];
            if (a != b && (a == l.device || b == l.device))
                heaviest = fmax(heaviest, slow_cost(g, u, a, b));
        }
    }
    assert_true(l.transfer_ms == heaviest && (l.node == PLACE_NONE) == (heaviest == 0));
}

/* Written again it is the same, but for what a file says of itself: that is told of what was read.
 */
static void check_written_again(const char *text, const struct place_graph *g, uint64_t fingerprint,
                                const struct place_saved *s)
{
    struct place_document back = {
        NULL, g, fingerprint, &s->job, (const char *const *)s->pin, s->pins, s->plan, s->load};
    char *again = text_of(&back);
    cJSON *once = cJSON_Parse(text), *twice = cJSON_Parse(again);

    assert_null(cJSON_GetObjectItem(once, "as_written"));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(twice, "as_written")));
    assert_string_equal(s->plan->written_in, "plan.json");
    cJSON_DeleteItemFromObject(twice, "as_written");
    cJSON_DeleteItemFromObject(once, "gap"); /* a difference of figures that are rounded */
    cJSON_DeleteItemFromObject(twice, "gap");
    if (!cJSON_Compare(once, twice, true))
        fail_msg("written again as another: %.400s", again);
    cJSON_free(again);
    cJSON_Delete(once);
    cJSON_Delete(twice);
}

static void check_file(uint32_t seed, uint32_t *read, uint32_t *pinned, uint32_t *in_pieces)
{
    struct place_graph *g = graph_of_seed(seed), *again = graph_of_seed(seed);
    uint64_t fingerprint = place_fingerprint(g);
    struct place_load load[SMALL_DEVICES];
    struct small_pin pin[SMALL_PINS];
    char words[SMALL_PINS][WORDS_ROOM];
    const char *word[SMALL_PINS];
    struct place_saved *s;
    struct placement *p;
    struct rl_rng r;
    struct err e = {0};
    struct place_job job = {.any_sets = seed % 2,
                            .latency = seed % 7 == 3,
                            .pieces = 1 + seed % 5,
                            .moves = 2000,
                            .rules = {.communication = (enum place_communication)(seed % 3)}};

    rl_rng_seed(&r, seed, 2);
    uint32_t pins = small_pins(g, &r, seed % 4, pin);
    for (uint32_t i = 0; i < pins; i++) {
        words_of(g, &pin[i], words[i]);
        word[i] = words[i];
    }
    if (place_solve(g, &job, "exact", &p, &e))
        goto out;
    double value = p->value_ms;
    assert_int_equal(placement_value(p, g, &job.rules, load, &e), 0);
    if (job.latency)
        p->value_ms = value;
    else
        check_limit(g, &job.rules, p, load);
    struct place_document d = {NULL, g, fingerprint, &job, word, pins, p, load};
    char *text = text_of(&d);
    if (place_file_parse(text, strlen(text), "plan.json", NULL, again, &s, &e))
        fail_msg("seed %u: %s", seed, e.what);
    assert_memory_equal(s->plan->device, p->device, p->nodes * sizeof *p->device);
    assert_int_equal(s->plan->proven, p->proven);
    check_written_again(text, again, fingerprint, s);
    ++*read;
    *in_pieces += strstr(text, "\"pieces\":\t[") != NULL;
    *pinned += pins > 0;
    cJSON_free(text);
    place_saved_free(s);
    placement_free(p);
out:
    place_graph_free(g);
    place_graph_free(again);
}

static void files_of_graphs(void **state)
{
    uint32_t read = 0, pinned = 0, in_pieces = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 400; seed++)
        check_file(seed, &read, &pinned, &in_pieces);
    print_message("%u plans read again, %u with pins, %u in pieces\n", read, pinned, in_pieces);
    assert_true(read > 250 && pinned > 100 && in_pieces >= 5);
}

/* ---- faults ---- */

static void change(char *text, const char *from, const char *to, struct str *out)
{
    char *at = strstr(text, from);

    assert_non_null(at);
    str_clear(out);
    str_add_bytes(out, text, (size_t)(at - text));
    str_add(out, to);
    str_add(out, at + strlen(from));
}

/* Nodes 7 .. 10 in a row, of 1 ms each but the first. */
static struct place_graph *four_nodes(uint32_t accelerators, uint32_t cores, uint32_t edges)
{
    uint32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    struct place_graph *g;
    struct err e = {0};

    assert_int_equal(place_graph_new(4, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"a", accelerators, 10, false};
    g->type[1] = (struct place_type){"host", cores, INFINITY, true};
    for (uint32_t v = 0; v < 4; v++) {
        g->id[v] = 7 + v;
        g->time_ms[v] = v == 0 ? 0.1 : 1;
        g->time_ms[4 + v] = 9;
        g->supported[v] = true;
    }
    assert_int_equal(place_graph_connect(g, from, to, edges, NULL, &e), 0);
    return g;
}

static void faults_are_told(void **state)
{
    static const struct {
        const char *from, *to, *what;
    } cases[] = {
        {"automap.place/1", "automap.place/2", "schema"},
        {"\"sets\":\t\"contiguous\"", "\"sets\":\t\"some\"", "none of those known"},
        {"\"nodes\":\t[7, ", "\"nodes\":\t[7, 7, ", "stands there twice"},
        {"\"nodes\":\t[7, ", "\"nodes\":\t[7, 99, ", "no node 99"},
        {"\"nodes\":\t[7, ", "\"nodes\":\t[", "node 7 is on none"},
        {"\"cores\":\t0", "\"cores\":\t1", "devices: 3, expected 4"},
        {"\"cores\":\t0", "\"cores\":\t9999", "9999|expected at most"},
        {"\"pins\":\t[]", "\"pins\":\t[\"7 on A\", \"7 on B\"]", "clashes"},
        {"\"pieces\":\t1", "\"pieces\":\t0", "pieces: 0"},
        {"\"stage\":\t0", "\"copies\":\t3", "need more than the 3 there are"},
        {"\"edges\":", "\"hedges\":", "unknown key"},
        {"\"contiguous\":\ttrue", "\"contiguous\":\t1", "expected true or false"},
    };
    struct place_graph *g;
    struct placement *p;
    struct place_saved *s;
    struct place_job job = {0};
    struct place_load load[3];
    struct str changed = {0};
    struct err e = {0};

    (void)state;
    for (size_t k = 0; k <= sizeof cases / sizeof *cases; k++) {
        g = four_nodes(3, 0, 3);
        assert_int_equal(place_solve(g, &job, "exact", &p, &e), 0);
        assert_int_equal(placement_value(p, g, &job.rules, load, &e), 0);
        struct place_document d = {NULL, g, place_fingerprint(g), &job, NULL, 0, p, load};
        char *text = text_of(&d);
        if (k == sizeof cases / sizeof *cases) { /* devices both ways, called contiguous */
            char *a = strstr(text, "\"nodes\":\t[7, 8]"), *b = strstr(text, "\"nodes\":\t[9]");
            assert_true(a && b);
            a[strlen("\"nodes\":\t[7, ")] = '9';
            b[strlen("\"nodes\":\t[")] = '8';
            assert_int_equal(place_file_parse(text, strlen(text), "plan.json", NULL, g, &s, &e),
                             ERR_INPUT);
            assert_non_null(strstr(e.what, "both ways"));
        } else {
            change(text, cases[k].from, cases[k].to, &changed);
            int rc = place_file_parse(changed.text, changed.size, "plan.json", NULL, g, &s, &e);
            assert_true(rc == ERR_INPUT || rc == ERR_INFEASIBLE);
            const char *bar = strchr(cases[k].what, '|');
            if (!strstr(e.what, bar ? bar + 1 : cases[k].what))
                fail_msg("%s: %s", cases[k].to, e.what);
        }
        cJSON_free(text);
        placement_free(p);
        place_graph_free(g);
    }
    str_release(&changed);
}

/* Files of latency plans: with a circle, the first and third of a chain share a piece of A and the
 * second, on B, stands between; neither can begin. Without edges two pieces of A run one after the
 * other all the same. */
static void pieces_of_files(void **state)
{
    struct place_job job = {.latency = true, .pieces = 2};
    struct place_load load[3] = {0};
    struct placement *p;
    struct place_saved *s;
    struct err e = {0};

    (void)state;
    for (uint32_t circle = 0; circle < 2; circle++) {
        struct place_graph *g = four_nodes(2, 1, circle ? 3 : 0);
        assert_int_equal(placement_new(g, &p, &e), 0);
        p->piece = mem_alloc(4 * sizeof *p->piece);
        p->device[1] = circle;
        p->piece[2] = !circle;
        p->piece[3] = 1;
        p->algo = p->bound_by = "exact";
        p->value_ms = 3.1;
        struct place_document d = {NULL, g, place_fingerprint(g), &job, NULL, 0, p, load};
        char *text = text_of(&d);
        int rc = place_file_parse(text, strlen(text), "plan.json", NULL, g, &s, &e);
        assert_int_equal(rc, circle ? ERR_INPUT : 0);
        if (rc) {
            assert_non_null(strstr(e.what, "wait for each other in a circle"));
        } else {
            assert_true(fabs(s->plan->value_ms - 3.1) < 1e-12);
            place_saved_free(s);
        }
        cJSON_free(text);
        placement_free(p);
        place_graph_free(g);
    }
}

/* A proof is of the value it was written with; the value is ours. */
static void proofs_are_of_their_value(void **state)
{
    uint32_t proven = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct place_graph *g = graph_of_seed(seed), *again = graph_of_seed(seed);
        uint64_t fingerprint = place_fingerprint(g);
        struct place_load load[SMALL_DEVICES];
        struct place_job job = {0};
        struct place_saved *s;
        struct placement *p;
        struct str changed = {0};
        struct err e = {0};

        if (place_solve(g, &job, "exact", &p, &e))
            goto out;
        assert_int_equal(placement_value(p, g, &job.rules, load, &e), 0);
        struct place_document d = {NULL, g, fingerprint, &job, NULL, 0, p, load};
        char *text = text_of(&d);
        change(text, "\"value_ms\":\t", "\"value_ms\":\t9", &changed);
        assert_int_equal(
            place_file_parse(changed.text, changed.size, "plan.json", NULL, again, &s, &e), 0);
        assert_true(s->plan->value_ms == p->value_ms && !s->plan->proven);
        proven += p->proven;
        place_saved_free(s);
        cJSON_free(text);
        str_release(&changed);
        placement_free(p);
    out:
        place_graph_free(g);
        place_graph_free(again);
    }
    assert_true(proven > 20);
}

/* ---- pipelines ---- */

/* Every stage holds the forward operations of one device, in the chain's order. */
static void check_sets(const struct place_pipeline *l, const struct placement *p)
{
    const struct order *o = &l->pipeline.order;
    const struct pipe_plan *plan = &l->plan.plan;
    uint32_t last = 0;

    for (uint32_t s = 0; s < plan->stages; s++) {
        uint32_t device = p->device[o->forward[plan->pivot[s]]];
        assert_true(s == 0 || p->stage[device] > last);
        last = p->stage[device];
        for (uint32_t at = plan->pivot[s]; at < plan->pivot[s + 1]; at++)
            assert_int_equal(p->device[o->forward[at]], device);
    }
}

static void check_pipeline(const char *model, const char *cluster, const char *algorithm)
{
    struct problem *problem = mem_alloc(sizeof *problem);
    struct place_pipeline *l = mem_alloc(sizeof *l);
    struct pipeline *again = mem_alloc(sizeof *again);
    struct pipeline_plan *plan = mem_alloc(sizeof *plan);
    struct place_job job = {0};
    struct pipeline_options o = {0};
    struct place_graph *g;
    struct placement *p;
    struct err e = {0};

    place_job_of_model(&job);
    load_shipped(model, cluster, problem);
    assert_int_equal(place_graph_of_problem(problem, 0, &g, &e), 0);
    assert_int_equal(place_solve(g, &job, algorithm, &p, &e), 0);
    assert_int_equal(place_pipeline_new(problem, g, p, &o, l, &e), 0);
    check_sets(l, p);
    assert_true(l->raised == 0 && l->elsewhere * 4 <= l->backward);
    assert_true(l->plan.fits);
    /* A batch that goes through alone is not faster than the busiest device of a stream, but for
     * copies on devices that were idle, transfers beside the work, and links that a placement on
     * several kinds of devices takes for the network. */
    if (g->types == 2 && l->plan.plan.device[l->plan.plan.stages] == l->plan.plan.stages)
        assert_true(pipeline_step_ms(&l->pipeline, &l->plan) > 0.9 * p->value_ms);

    cJSON *json = pipeline_json(&l->pipeline, &l->plan);
    char *text = cJSON_Print(json);
    if (pipeline_file_parse(problem, text, strlen(text), again, plan, &e))
        fail_msg("%s: %s", model, e.what);
    assert_true(pipe_plan_equal(&plan->plan, &l->plan.plan));
    assert_memory_equal(plan->makespan_ms, l->plan.makespan_ms, sizeof plan->makespan_ms);
    print_message(
        "%s on %s: %u stages, stream %.3f ms, step %.3f ms, %u of %u backward elsewhere\n", model,
        cluster, plan->plan.stages, p->value_ms, pipeline_step_ms(again, plan), l->elsewhere,
        l->backward);
    cJSON_free(text);
    cJSON_Delete(json);
    pipeline_release(again);
    pipeline_release(&l->pipeline);
    placement_free(p);
    place_graph_free(g);
    problem_release(problem);
    free(problem);
    free(l);
    free(again);
    free(plan);
}

static void contiguous_plans_are_pipelines(void **state)
{
    (void)state;
    check_pipeline("mlp", "v100-1x4", "exact");
    check_pipeline("t5-tiny", "v100-1x4", "dpl");
    check_pipeline("vgg19", "v100-1x4", "exact");
    check_pipeline("t5-tiny", "a-2x8-v100", "dpl");
    check_pipeline("moe", "unequal", "dpl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_graphs), cmocka_unit_test(faults_are_told),
        cmocka_unit_test(pieces_of_files), cmocka_unit_test(proofs_are_of_their_value),
        cmocka_unit_test(contiguous_plans_are_pipelines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
