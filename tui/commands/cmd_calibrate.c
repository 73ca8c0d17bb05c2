/* automap calibrate: the figures of a cluster file that measured times say. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/calibrate.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLLECTIVES_FILE_MOST = 1 << 20, COLLECTIVES_MOST = 4096 };

struct request {
    const char *cluster, *collectives, *out;
    struct text_list runs; /* models and profiles in turn */
    bool only_compare, force;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"CLUSTER", .values = VALUES_CLUSTER, ARG(cluster)},
    {"MODEL PROFILE", .kind = OPTION_LIST, .values = VALUES_FILE, ARG(runs)},
    {"collectives", "FILE",
     "measured collectives over all devices, lines of KIND,BYTES,MS: fits latency and bandwidth of "
     "the link, or of the network between servers",
     .kind = OPTION_FILE, ARG(collectives)},
    {"compare", NULL, "change nothing: how far the figures of CLUSTER are from what was measured",
     ARG(only_compare)},
    {"o", "FILE", "write the cluster with the figures found to FILE", .kind = OPTION_FILE,
     ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

/* ---- collectives ---- */

/* A number from behind the comma at *at to the next, or to the end of the line. */
static bool read_number(const char **at, double most, double *out)
{
    char *end;

    if (**at != ',')
        return false;
    *out = strtod(*at + 1, &end);
    if (end == *at + 1 || !(*out > 0 && *out < most))
        return false;
    *at = end + strspn(end, " \r");
    return **at == ',' || **at == '\n' || !**at;
}

/* Reads the line at text[*at], up to behind its end. */
static int read_line(const char *text, size_t size, size_t *at, struct measured_collective *out,
                     struct err *e)
{
    size_t start = *at, word = strcspn(text + start, ",\n");
    const char *p = text + start + word;
    uint8_t k = 0;

    *at += strcspn(text + *at, "\n");
    *at += text[*at] == '\n';
    while (k < COLLECTIVE_COUNT &&
           (strlen(collective_name((enum collective_kind)k)) != word ||
            memcmp(collective_name((enum collective_kind)k), text + start, word) != 0))
        k++;
    *out = (struct measured_collective){.kind = k};
    if (k < COLLECTIVE_COUNT && read_number(&p, 1e15, &out->bytes) &&
        read_number(&p, 1e9, &out->ms) && *p != ',')
        return 0;
    (void)err_set(
        e, ERR_INPUT,
        k == COLLECTIVE_COUNT
            ? "no such collective, expected KIND,BYTES,MS as in all-reduce,1048576,0.05"
            : "expected KIND,BYTES,MS with numbers above 0, as in all-reduce,1048576,0.05");
    return err_at(e, text, size, start);
}

static int read_collectives(const char *path, struct measured_collective *out, uint32_t *count,
                            struct err *e)
{
    char *text;
    size_t size, at = 0;
    int rc = file_read(&text, &size, path, COLLECTIVES_FILE_MOST, e);

    *count = 0;
    if (rc)
        return rc;
    while (at < size && text[at]) {
        bool skipped = text[at] == '#' || text[at] == '\n' || !strncmp(text + at, "kind,", 5);
        if (skipped) {
            at += strcspn(text + at, "\n") + 1;
            continue;
        }
        if (*count == COLLECTIVES_MOST)
            rc = err_set(e, ERR_INPUT, "more than %d collectives", COLLECTIVES_MOST);
        else
            rc = read_line(text, size, &at, &out[*count], e);
        if (rc)
            goto out;
        ++*count;
    }
    if (!*count)
        rc = err_set(e, ERR_INPUT, "no collective in it");
out:
    if (rc)
        err_in_file(e, path);
    free(text);
    return rc;
}

static double link_error(const struct cluster *c, const struct measured_collective *m,
                         uint32_t count)
{
    struct cluster_mesh mesh;
    double sum = 0;

    mesh_one_axis(&mesh, c);
    for (uint32_t k = 0; k < count; k++)
        sum += fabs(collective_ms(&mesh, m[k].kind, 1, m[k].bytes) / m[k].ms - 1);
    return 100 * sum / count;
}

/* `now` NULL: nothing was fitted. */
static void print_link(const struct cluster *was, const struct cluster *now,
                       const struct measured_collective *m, uint32_t count)
{
    const struct cluster *c[] = {was, now};

    printf("\n%u collectives  bandwidth  latency    mean error\n", count);
    for (int k = 0; k < 2 && c[k]; k++) {
        bool across = c[k]->servers > 1;
        char rate[UNITS_ROOM], latency[32];
        snprintf(latency, sizeof latency, "%.1f us",
                 1e3 * (across ? c[k]->network_latency_ms : c[k]->group[0].link.latency_ms));
        printf("  %-12s  %9s  %9s  %8.1f %%\n", k ? "fitted" : "the file",
               units_rate(rate, across ? c[k]->network : c[k]->group[0].link.bandwidth, "B/s"),
               c[k]->group[0].link.nccl ? "NCCL's" : latency, link_error(c[k], m, count));
    }
}

static int fit_link(const struct request *r, struct cluster *c, struct err *e)
{
    struct measured_collective *m = mem_try(COLLECTIVES_MOST, sizeof *m);
    struct cluster was = *c;
    uint32_t count = 0;
    int rc = m ? read_collectives(r->collectives, m, &count, e)
               : err_no_memory(e, "for measured collectives");

    if (!rc && c->devices < 2)
        rc = err_set(e, ERR_INPUT, "%.100s has one device: no collectives", c->name);
    if (rc)
        goto out;
    /* Its latencies would hide the link's own. Between servers they stay: what is fitted there is
     * the network, and nothing was measured inside of one. */
    if (c->servers == 1 && !r->only_compare)
        c->group[0].link.nccl = false;
    if (!r->only_compare)
        calibration_fit_link(c, m, count);
    print_link(&was, r->only_compare ? NULL : c, m, count);
out:
    free(m);
    return rc;
}

/* ---- the device ---- */

static int add_run(const struct request *r, uint32_t at, struct calibration *c,
                   struct cluster *cluster, struct err *e)
{
    struct problem_args a = {
        .model = r->runs.items[at], .cluster = r->cluster, .profile = r->runs.items[at + 1]};
    struct problem *p = mem_try(1, sizeof *p);
    int rc = p ? problem_args_read(&a, p, e) : err_no_memory(e, "to calibrate");

    if (rc)
        goto out;
    *cluster = p->cluster;
    rc = calibration_add(c, &p->step_tables, p->measured_ms, e);
    if (rc)
        err_in_file(e, r->runs.items[at + 1]);
    problem_release(p);
out:
    free(p);
    return rc;
}

static double error_of(const struct calibration_part *one, const struct calibration_part *rest)
{
    return (one->modelled_ms + rest->modelled_ms) / (one->measured_ms + rest->measured_ms) - 1;
}

static void print_compared(const struct request *r, const struct calibration *c,
                           const struct cluster_device *was)
{
    double sum = 0;

    printf("ms of a step              measured |  the file    error\n");
    for (uint32_t k = 0; k < c->runs; k++) {
        const char *path = r->runs.items[2 * k], *slash = strrchr(path, '/');
        struct calibration_part rest = calibration_compare(c, k, 0, was),
                                products = calibration_compare(c, k, 1, was);
        double error = error_of(&products, &rest);
        printf("%-24.24s %10.3f | %9.3f %+7.1f%%\n", slash ? slash + 1 : path,
               rest.measured_ms + products.measured_ms, rest.modelled_ms + products.modelled_ms,
               100 * error);
        sum += fabs(error);
    }
    printf("mean error %.1f %% as the file has it, of %u\n", 100 * sum / c->runs, c->runs);
}

/* Measured beside modelled, as the file has it and as fitted; `now` NULL: nothing was fitted. */
static void print_runs(const struct request *r, const struct calibration *c,
                       const struct cluster_device *was, const struct cluster_device *now)
{
    double sum[2] = {0};

    if (!now) {
        print_compared(r, c, was);
        return;
    }
    printf("ms of a step              measured |  the file    error |    fitted    error | "
           "products: measured    fitted   the rest: measured    fitted\n");
    for (uint32_t k = 0; k < c->runs; k++) {
        const char *path = r->runs.items[2 * k], *slash = strrchr(path, '/');
        struct calibration_part before[2], after[2];
        for (int single = 0; single < 2; single++) {
            before[single] = calibration_compare(c, k, single, was);
            after[single] = calibration_compare(c, k, single, now);
        }
        double errors[] = {error_of(&before[1], &before[0]), error_of(&after[1], &after[0])};
        printf("%-24.24s %10.3f | %9.3f %+7.1f%% | %9.3f %+7.1f%% | %18.3f %9.3f %20.3f %9.3f\n",
               slash ? slash + 1 : path, before[0].measured_ms + before[1].measured_ms,
               before[0].modelled_ms + before[1].modelled_ms, 100 * errors[0],
               after[0].modelled_ms + after[1].modelled_ms, 100 * errors[1], after[1].measured_ms,
               after[1].modelled_ms, after[0].measured_ms, after[0].modelled_ms);
        sum[0] += fabs(errors[0]);
        sum[1] += fabs(errors[1]);
    }
    printf("mean error %.1f %% as the file has it, %.1f %% fitted, of %u\n", 100 * sum[0] / c->runs,
           100 * sum[1] / c->runs, c->runs);
}

/* More than a hundredth longer than measured, all runs together. */
static bool is_still_slow(const struct calibration *c, const struct cluster_device *now)
{
    double measured = 0, modelled = 0;

    for (uint32_t k = 0; k < c->runs; k++) {
        for (int single = 0; single < 2; single++) {
            struct calibration_part part = calibration_compare(c, k, single, now);
            measured += part.measured_ms;
            modelled += part.modelled_ms;
        }
    }
    return modelled > 1.01 * measured;
}

static void print_figures(const struct calibration *c, const struct cluster_device *was,
                          const struct cluster_device *now)
{
    const struct cluster_device *d[] = {was, now};

    printf("\n%s        reach  peak f32 TFLOP/s    share  launch us\n", was->name);
    for (int k = 0; k < 2; k++)
        printf("  %-9s %7.3f  %16.3f  %7.3f  %9.2f\n", k ? "fitted" : "the file",
               d[k]->matmul.reach > 0 ? d[k]->matmul.reach : 1, cluster_peak(d[k], PEAK_F32) / 1e12,
               d[k]->share > 0 ? d[k]->share : 1, 1e3 * d[k]->launch_ms);
    if ((now->matmul.reach > 0.999 || now->share > 0.999) && is_still_slow(c, now))
        puts("A figure is at its end: the file's peak or bandwidth is lower than the device's.");
}

static int fit_device(const struct request *r, struct calibration *c, struct cluster *cluster,
                      struct err *e)
{
    for (uint32_t k = 0; k < r->runs.count; k += 2) {
        int rc = add_run(r, k, c, cluster, e);
        if (rc)
            return rc;
    }
    if (cluster->types > 1)
        return err_set(e, ERR_INPUT, "%.100s has %u types of devices, expected one", cluster->name,
                       cluster->types);
    struct cluster_device was = cluster->type[0];
    if (!r->only_compare)
        calibration_fit(c, &cluster->type[0]);
    print_runs(r, c, &was, r->only_compare ? NULL : &cluster->type[0]);
    if (!r->only_compare)
        print_figures(c, &was, &cluster->type[0]);
    return 0;
}

static int calibrate(const struct request *r, struct err *e)
{
    struct cluster *cluster = mem_try(1, sizeof *cluster);
    struct calibration c = {0};
    struct str out = {0};
    int rc = cluster ? cluster_load(cluster, r->cluster, e) : err_no_memory(e, "to calibrate");

    if (rc)
        goto out;
    if (r->runs.count)
        rc = fit_device(r, &c, cluster, e);
    if (rc)
        goto out;
    if (r->collectives)
        rc = fit_link(r, cluster, e);
    if (rc || !r->out)
        goto out;
    str_add(&out, "# figures fitted by automap calibrate\n");
    cluster_write(cluster, &out);
    rc = out.failed ? err_no_memory(e, "for the cluster")
                    : hlo_file_write(r->out, out.text, out.size, FILE_REPLACE, e);
out:
    calibration_release(&c);
    str_release(&out);
    free(cluster);
    return rc;
}

static int run_calibrate(int argc, char **argv)
{
    const struct option_parser parser = {"calibrate", options, NULL};
    struct request r = {0};
    struct err e = {0};
    int code = options_parse(&parser, &r, argc, argv);

    if (code)
        goto out;
    if (!r.cluster || (!r.runs.count && !r.collectives)) {
        code = options_complain("calibrate", "a cluster, and a model with its profile are needed");
        goto out;
    }
    if (r.runs.count % 2) {
        code = options_complain("calibrate", "every model needs its profile behind it");
        goto out;
    }
    code = overwrite_check(r.out, r.force);
    if (code)
        goto out;
    if (calibrate(&r, &e)) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    }
out:
    text_list_release(&r.runs);
    return code;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .usage = "CLUSTER MODEL PROFILE [MODEL PROFILE ...]",
    .summary = "fit the figures of a cluster file to measured times",
    .about =
        "Fits the reach of matrix products (or, without matmul, the peaks), the share of the "
        "memory bandwidth and the launch overhead of a device to profiles that automap profile "
        "made of runs on it, and prints what is left: measured, as the file has it, fitted. "
        "With --collectives the link, too.",
    .options = options,
    .run = run_calibrate,
};
