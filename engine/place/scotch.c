#include "engine/place/scotch.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Scotch counts in 32 bits: weights are scaled so that neither sum comes near. */
static const double WEIGHTS_MOST = 5e8;

struct link {
    uint32_t a, b;
    double ms;
};

static int compare_links(const void *x, const void *y)
{
    const struct link *p = x, *q = y;

    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* Both directions of every pair that shares a net, those of a pair added up. */
static struct link *find_links(const struct place_nets *n, size_t *count)
{
    struct link *l = mem_try(2 * (size_t)n->pin_at[n->nets] + 1, sizeof *l);
    size_t all = 0, kept = 0;

    for (uint32_t h = 0; h < n->nets && l; h++) {
        uint32_t from = n->pin[n->pin_at[h]];
        for (uint32_t i = n->pin_at[h] + 1; i < n->pin_at[h + 1]; i++) {
            l[all++] = (struct link){from, n->pin[i], n->near_ms[h]};
            l[all++] = (struct link){n->pin[i], from, n->near_ms[h]};
        }
    }
    if (l)
        qsort(l, all, sizeof *l, compare_links);
    for (size_t i = 0; i < all; i++) {
        if (kept && l[kept - 1].a == l[i].a && l[kept - 1].b == l[i].b)
            l[kept - 1].ms += l[i].ms;
        else
            l[kept++] = l[i];
    }
    *count = kept;
    return l;
}

static int64_t scaled_weight(double ms, double scale)
{
    return 1 + (int64_t)llround(ms * scale);
}

static double work_of(const struct place_nets *n, uint32_t p)
{
    return place_nets_time(n, 0, 0, p) + place_nets_time(n, 1, 0, p);
}

/* The graph as Scotch reads it: users' manual, "Graph format". */
static int write_graph(const struct place_nets *n, FILE *out, struct err *e)
{
    size_t count, at = 0;
    double work = 0, moved = 0;
    struct link *l = find_links(n, &count);

    if (!l)
        return err_no_memory(e, "for a graph");
    for (uint32_t p = 0; p < n->positions; p++)
        work += work_of(n, p);
    for (size_t i = 0; i < count; i++)
        moved += l[i].ms;
    double by_work = fmin(1e6, WEIGHTS_MOST / fmax(work, 1e-9));
    double by_moved = fmin(1e6, WEIGHTS_MOST / fmax(moved, 1e-9));
    fprintf(out, "0\n%u %zu\n0 011\n", n->positions, count);
    for (uint32_t p = 0; p < n->positions; p++) {
        size_t end = at;
        while (end < count && l[end].a == p)
            end++;
        fprintf(out, "%lld %zu", (long long)scaled_weight(work_of(n, p), by_work), end - at);
        for (; at < end; at++)
            fprintf(out, " %lld %u", (long long)scaled_weight(l[at].ms, by_moved), l[at].b);
        fputc('\n', out);
    }
    free(l);
    return fflush(out) || ferror(out) || fseek(out, 0, SEEK_SET)
               ? err_set(e, ERR_IO, "cannot write the graph for Scotch")
               : 0;
}

/* Waits; kills it when asked to stop. True when it ended well. */
static bool wait_for(pid_t child, const atomic_bool *stop)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    int status = 0;

    for (;;) {
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child)
            return WIFEXITED(status) && !WEXITSTATUS(status);
        if (got < 0)
            return false;
        if (stop_asked(stop))
            kill(child, SIGKILL);
        nanosleep(&nap, NULL);
    }
}

static bool start_program(const char *program, uint32_t parts, FILE *in, FILE *out, pid_t *child)
{
    char count[16];
    char name[16];
    char *argv[] = {name, count, NULL};
    posix_spawn_file_actions_t actions;

    snprintf(name, sizeof name, "%s", program);
    snprintf(count, sizeof count, "%u", parts);
    if (posix_spawn_file_actions_init(&actions))
        return false;
    bool ready = !posix_spawn_file_actions_adddup2(&actions, fileno(in), 0) &&
                 !posix_spawn_file_actions_adddup2(&actions, fileno(out), 1) &&
                 !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) &&
                 !posix_spawnp(child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return ready;
}

static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        int size = (int)strcspn(path, ":");
        int written = snprintf(file, sizeof file, "%.*s/%s", size, path, program);
        if (size && written > 0 && (size_t)written < sizeof file && !access(file, X_OK))
            return true;
    }
    return false;
}

static int run_program(uint32_t parts, FILE *in, FILE *out, const atomic_bool *stop, struct err *e)
{
    static const char *const programs[] = {"scotch_gpart", "gpart"};
    pid_t child;

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!is_installed(programs[i]))
            continue;
        if (!start_program(programs[i], parts, in, out, &child) || !wait_for(child, stop))
            return err_set(e, stop_asked(stop) ? ERR_STOPPED : ERR_IO, "%s %s", programs[i],
                           stop_asked(stop) ? "was stopped" : "failed");
        return fseek(out, 0, SEEK_SET) ? err_set(e, ERR_IO, "%s gave no answer", programs[i]) : 0;
    }
    return err_set(e, ERR_USAGE, "Scotch is not installed, expected scotch_gpart or gpart in PATH");
}

/* "count", then "vertex part" lines in any order. */
static int read_parts(FILE *in, uint32_t positions, uint32_t parts, uint32_t *part, struct err *e)
{
    uint32_t count, vertex, to, seen = 0;
    bool wrong = fscanf(in, "%u", &count) != 1 || count != positions;

    memset(part, 0xff, positions * sizeof *part);
    while (!wrong && seen < count) {
        wrong = fscanf(in, "%u %u", &vertex, &to) != 2 || vertex >= positions || to >= parts ||
                part[vertex] != PLACE_NONE;
        if (!wrong)
            part[vertex] = to;
        seen++;
    }
    return wrong ? err_set(e, ERR_IO, "Scotch gave no partition of the graph") : 0;
}

static int ask_program(const struct place_nets *n, uint32_t parts, const atomic_bool *stop,
                       uint32_t *part, struct err *e)
{
    FILE *in = tmpfile(), *out = tmpfile();
    int rc = in && out ? 0 : err_set(e, ERR_IO, "cannot make a temporary file for Scotch");

    if (rc)
        goto out;
    rc = write_graph(n, in, e);
    if (rc)
        goto out;
    rc = run_program(parts, in, out, stop, e);
    if (rc)
        goto out;
    rc = read_parts(out, n->positions, parts, part, e);
out:
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return rc;
}

static int make_plan(const struct place_graph *g, const struct place_nets *n,
                     const struct place_asking *a, const uint32_t *part, struct placement **out,
                     struct err *e)
{
    struct place_load *load = mem_try((size_t)place_devices(g) + 1, sizeof *load);
    int rc = load ? placement_new(g, out, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    for (uint32_t v = 0; v < g->nodes; v++)
        (*out)->device[v] = part[n->position_of[v]];
    placement_price(*out, n, &a->rules, load);
    (*out)->bound_ms = place_work_bound(g, &a->rules);
    (*out)->bound_by = "work shared out";
    (*out)->algo = "scotch";
    (*out)->positions = n->positions;
    if ((*out)->faults & ~(uint32_t)PLACE_OVER_MEMORY) {
        placement_free(*out);
        rc = err_set(e, ERR_INFEASIBLE, "Scotch's parts break a kind of device or a pin");
    }
out:
    free(load);
    return rc;
}

int place_scotch(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e)
{
    uint32_t parts = place_devices(g) - g->type[g->types - 1].count, *part;
    struct place_nets *n;
    int rc;

    if (!parts)
        return err_set(e, ERR_INFEASIBLE, "there is no accelerator, expected one at least");
    if (place_prepare_classes(g, &n, e))
        return e->code;
    part = mem_try((size_t)n->positions + 1, sizeof *part);
    rc = part ? ask_program(n, parts, a->stop, part, e) : err_no_memory(e, "for a plan");
    if (rc)
        goto out;
    rc = make_plan(g, n, a, part, out, e);
out:
    free(part);
    place_nets_free(n);
    return rc;
}
