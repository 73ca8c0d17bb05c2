#include "tui/watch/placing.h"

#include "engine/place/from_module.h"
#include "engine/place/graph_file.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pins.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *const placing_objective_words[PLACING_OBJECTIVE_COUNT] = {
#define X(id, words) words,
    PLACING_OBJECTIVES(X)
#undef X
};

struct place_rules placing_rules(enum placing_objective o)
{
    return (struct place_rules){.communication = o == PLACING_BESIDE ? PLACE_MAX : PLACE_SUM,
                                .apart = o == PLACING_APART};
}

/* ---- graphs of files ---- */

static void count_devices(struct placing_graph *out, const struct place_graph *g)
{
    char count[UNITS_ROOM], memory[UNITS_ROOM];
    uint32_t cores = g->type[g->types - 1].count, accelerators = place_devices(g) - cores;

    snprintf(out->words, sizeof out->words, "%s operators   %u accelerator%s of %s, %u core%s",
             units_count(count, g->nodes), accelerators, accelerators == 1 ? "" : "s",
             units_bytes(memory, g->type[0].memory_bytes), cores, cores == 1 ? "" : "s");
}

int placing_graph_read(const char *path, struct placing_graph **out, struct err *e)
{
    struct placing_graph *made = mem_try(1, sizeof *made);
    struct str text = {0};
    struct place_graph *g;
    struct err unread = {0};
    char head[4096];
    size_t size;
    int rc = made ? 0 : err_no_memory(e, "for a graph");

    struct stat s;

    *out = NULL;
    if (rc || stat(path, &s) || !S_ISREG(s.st_mode)) /* a pipe cannot be read twice */
        goto out;
    if (hlo_file_head(path, sizeof head, head, &size, &unread) || !place_graph_is(head, size))
        goto out; /* a model is read once, by its own reader */
    rc = hlo_file_read_plain(path, PLACE_FILE_BYTES_MAX, &text, e);
    if (rc)
        goto out;
    rc = place_graph_parse(text.text, text.size, &g, e);
    if (rc) {
        err_in_file(e, path);
        goto out;
    }
    *made = (struct placing_graph){
        .text = text.text, .size = text.size, .fingerprint = place_fingerprint(g), .references = 1};
    count_devices(made, g);
    place_graph_free(g);
    text = (struct str){0};
    *out = made;
    made = NULL;
out:
    str_release(&text);
    free(made);
    return rc;
}

struct placing_graph *placing_graph_share(struct placing_graph *g)
{
    g->references++;
    return g;
}

void placing_graph_release(struct placing_graph *g)
{
    if (!g || --g->references)
        return;
    free(g->text);
    free(g);
}

static int graph_of(const struct placing_source *s, struct place_graph **out, struct err *e)
{
    return s->graph ? place_graph_parse(s->graph->text, s->graph->size, out, e)
                    : place_graph_of_problem(s->problem, 0, out, e);
}

/* ---- jobs ---- */

struct placing {
    struct placing_source source;
    struct placing_asked asked;
    struct place_graph *graph;
    struct place_saved *saved; /* of a file: the plan names its words from here */
    struct placement *plan;    /* under the lock */
    struct placing_look look;  /* under the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread;
    atomic_bool stop;
};

/* Out of memory, the plan before stays. */
static void better(void *context, const struct placement *p)
{
    struct placing *j = context;
    struct placement *copy;
    struct err e = {0};

    if (placement_copy(p, &copy, &e))
        return;
    pthread_mutex_lock(&j->lock);
    placement_free(j->plan);
    j->plan = copy;
    j->look.version++;
    pthread_mutex_unlock(&j->lock);
}

static int set_pins(struct placing *j, struct place_graph *g, struct err *e)
{
    for (uint32_t i = 0; i < j->asked.pins; i++) {
        const struct placing_pin *p = &j->asked.pin[i];
        int rc = p->kind == PLACING_ON     ? place_pin_on(g, p->node, p->other, e)
                 : p->kind == PLACING_WITH ? place_pin_together(g, p->node, p->other, e)
                                           : place_pin_off_host(g, p->node, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int solve_placing(struct placing *j, struct err *e)
{
    struct place_job job = {.rules = placing_rules(j->asked.objective),
                            .latency = j->asked.objective == PLACING_LATENCY,
                            .any_sets = j->asked.any_sets,
                            .context = j,
                            .stop = &j->stop};
    struct placement *p;

    if (!j->source.graph)
        place_job_of_model(&job);
    job.better = better;
    if (graph_of(&j->source, &j->graph, e) || set_pins(j, j->graph, e))
        return e->code;
    struct place_type *host = &j->graph->type[j->graph->types - 1];
    if (job.latency && !host->count) /* as many cores as are needed */
        host->count = 1;
    pthread_mutex_lock(&j->lock);
    j->look.graph = j->graph;
    pthread_mutex_unlock(&j->lock);
    if (place_solve(j->graph, &job, place_algorithms[j->asked.algorithm].name, &p, e))
        return e->code;
    better(j, p);
    placement_free(p);
    return 0;
}

static void *run_placing(void *context)
{
    struct placing *j = context;
    struct err e = {0};
    int rc = solve_placing(j, &e);

    pthread_mutex_lock(&j->lock);
    if (rc && !j->plan)
        snprintf(j->look.trouble, sizeof j->look.trouble, "%.255s", e.what);
    j->look.done = true;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int placing_new(const struct placing_source *s, const struct placing_asked *asked, bool in_thread,
                struct placing **out, struct err *e)
{
    struct placing *j = mem_try(1, sizeof *j);

    if (!j)
        return err_no_memory(e, "for a placement");
    j->source = *s;
    j->asked = *asked;
    pthread_mutex_init(&j->lock, NULL);
    if (!in_thread)
        run_placing(j);
    else if (thread_start(&j->thread, run_placing, j, "a placement", e)) {
        placing_free(j);
        return e->code;
    }
    j->in_thread = in_thread;
    *out = j;
    return 0;
}

static struct placing_asked asked_of(const struct place_job *job)
{
    enum placing_objective o = job->latency                            ? PLACING_LATENCY
                               : job->rules.apart                      ? PLACING_APART
                               : job->rules.communication != PLACE_SUM ? PLACING_BESIDE
                                                                       : PLACING_STREAM;

    return (struct placing_asked){.any_sets = job->any_sets, .objective = o};
}

int placing_of_file(const struct placing_source *s, const char *path, struct placing **out,
                    struct err *e)
{
    struct placing *j = mem_try(1, sizeof *j);
    int rc;

    if (!j)
        return err_no_memory(e, "for a placement");
    j->source = *s;
    pthread_mutex_init(&j->lock, NULL);
    rc = graph_of(s, &j->graph, e);
    if (rc)
        goto out;
    rc = place_file_load(path, s->problem, j->graph, &j->saved, e);
    if (rc)
        goto out;
    rc = placement_copy(j->saved->plan, &j->plan, e);
    if (rc)
        goto out;
    j->asked = asked_of(&j->saved->job);
    j->look = (struct placing_look){.graph = j->graph, .version = 1, .done = true};
out:
    if (rc)
        placing_free(j);
    else
        *out = j;
    return rc;
}

struct placing_asked placing_question(const struct placing *j)
{
    return j->asked;
}

void placing_stop(struct placing *j)
{
    atomic_store(&j->stop, true);
}

void placing_free(struct placing *j)
{
    if (!j)
        return;
    placing_stop(j);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    placement_free(j->plan);
    place_saved_free(j->saved);
    place_graph_free(j->graph);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void placing_look(struct placing *j, struct placing_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    pthread_mutex_unlock(&j->lock);
}

int placing_take(struct placing *j, struct placement **out, struct err *e)
{
    int rc = 0;

    *out = NULL;
    pthread_mutex_lock(&j->lock);
    if (j->plan)
        rc = placement_copy(j->plan, out, e);
    pthread_mutex_unlock(&j->lock);
    return rc;
}
