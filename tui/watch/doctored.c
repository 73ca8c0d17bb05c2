#include "tui/watch/doctored.h"

#include "engine/cluster/cluster.h"
#include "engine/doctor/doctor.h"
#include "engine/live/thread.h"
#include "hlo/load.h"
#include "hlo/meaning/program.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

bool doctored_is(const char *path)
{
    struct hlo_module *m = NULL;
    struct err e;
    bool is = !hlo_load(path, NULL, &m, &e) && hlo_program_of(m).kind == HLO_PROGRAM_PARTITIONED;

    hlo_free(m);
    return is;
}

static double saved(const struct doctored_row *r)
{
    return r->now.ms - r->cured.ms;
}

static int compare(const void *a, const void *b)
{
    const struct doctored_row *p = a, *q = b;

    if (saved(p) != saved(q))
        return saved(p) > saved(q) ? -1 : 1;
    if (p->now.ms != q->now.ms)
        return p->now.ms > q->now.ms ? -1 : 1;
    return (p->of.first > q->of.first) - (p->of.first < q->of.first);
}

static int find_rows(struct doctored *d, struct err *e)
{
    const struct doctor *all = &d->doctor;

    d->rows = mem_try((size_t)all->row_count + 1, sizeof *d->rows);
    if (!d->rows)
        return err_no_memory(e, "for the collectives of the module");
    for (d->row_count = 0; d->row_count < all->row_count; d->row_count++) {
        struct doctored_row *r = &d->rows[d->row_count];
        r->of = all->rows[d->row_count];
        r->finding = &all->findings[r->of.first];
        doctor_sum(all, &r->of, &r->now, &r->cured);
        d->changes += r->finding->cure[0] != 0 || r->finding->planned.change;
    }
    qsort(d->rows, d->row_count, sizeof *d->rows, compare);
    doctor_sum(all, &(struct doctor_row){0, all->count}, &d->now, &d->cured);
    return 0;
}

/* `c` NULL: default devices. With `plans` the program is planned again, until `stop`. */
static int make(const char *path, const char *before, const struct cluster *c, bool plans,
                const atomic_bool *stop, struct doctored **out, struct err *e)
{
    struct doctored *d = mem_try(1, sizeof *d);
    struct hlo_module *program = NULL;

    *out = NULL;
    if (!d)
        return err_no_memory(e, "for a dump");
    int rc = hlo_load(path, NULL, &d->m, e);
    if (rc)
        goto out;
    rc = before ? hlo_load(before, NULL, &d->before, e) : 0;
    if (rc)
        goto out;
    rc = doctor_new(d->m, d->before, c, &d->doctor, e);
    if (rc) {
        err_in_file(e, path);
        goto out;
    }
    rc = before && plans ? hlo_load(before, NULL, &program, e) : 0;
    if (rc)
        goto out;
    rc = program ? doctor_replan(&d->doctor, program, stop, e) : 0;
    if (rc)
        goto out;
    rc = find_rows(d, e);
out:
    if (rc)
        doctored_free(d);
    else
        *out = d;
    return rc;
}

int doctored_open(const char *path, const char *before, const char *cluster, struct doctored **out,
                  struct err *e)
{
    struct cluster c;

    if (cluster && cluster_load(&c, cluster, e))
        return e->code;
    return make(path, before, cluster ? &c : NULL, false, NULL, out, e);
}

/* ---- planning again ---- */

struct doctored_job {
    char path[PATH_MAX], before[PATH_MAX];
    struct cluster cluster;
    struct doctored *made; /* of the thread until `done` */
    pthread_t thread;
    bool in_thread;
    atomic_bool stop, done;
};

static void *run(void *context)
{
    struct doctored_job *j = context;
    struct err e;

    if (make(j->path, j->before, &j->cluster, true, &j->stop, &j->made, &e))
        j->made = NULL;
    atomic_store(&j->done, true);
    return NULL;
}

int doctored_job_new(const struct doctored *from, bool in_thread, struct doctored_job **out,
                     struct err *e)
{
    struct doctored_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_no_memory(e, "for planning again");
    snprintf(j->path, sizeof j->path, "%s", from->m->file);
    snprintf(j->before, sizeof j->before, "%s", from->before->file);
    j->cluster = from->doctor.cluster;
    if (!in_thread)
        run(j);
    else if (thread_start(&j->thread, run, j, "planning again", e)) {
        free(j);
        return e->code;
    }
    j->in_thread = in_thread;
    *out = j;
    return 0;
}

void doctored_job_free(struct doctored_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    doctored_free(j->made);
    free(j);
}

bool doctored_job_take(struct doctored_job *j, struct doctored **out)
{
    *out = NULL;
    if (!atomic_load(&j->done))
        return false;
    *out = j->made;
    j->made = NULL;
    return true;
}

void doctored_free(struct doctored *d)
{
    if (!d)
        return;
    doctor_release(&d->doctor);
    free(d->rows);
    hlo_free(d->m);
    hlo_free(d->before);
    free(d);
}
