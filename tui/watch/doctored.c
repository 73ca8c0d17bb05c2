#include "tui/watch/doctored.h"

#include "engine/cluster/cluster.h"
#include "engine/doctor/doctor.h"
#include "hlo/load.h"
#include "hlo/meaning/program.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool doctored_is(const char *path)
{
    struct hlo_module *m = NULL;
    struct err e;
    bool is = !hlo_load(path, NULL, &m, &e) && hlo_program_of(m).kind != HLO_PROGRAM_WHOLE;

    hlo_free(m);
    return is;
}

static int compare_plans(const void *a, const void *b)
{
    const struct doctored_row *p = a, *q = b;
    const char *x = p->finding->planned.change, *y = q->finding->planned.change;

    return strcmp(x ? x : "", y ? y : "");
}

/* What a row's change saves: the planned one's, where there is one, for its plan knows what it
 * makes of the rest. That saves over all rows that name it, in proportion to what they take;
 * `all_ms`: what those take together. */
static void find_gain(struct doctored *d, struct doctored_row *r, double all_ms)
{
    const struct doctor_finding *f = r->finding;
    double cured = f->cure_is_priced ? r->now.ms - r->cured.ms : 0;
    double planned = f->planned.change && all_ms > 0
                         ? (f->planned.now_ms - f->planned.ms) * r->now.ms / all_ms
                         : 0;

    planned = planned < r->now.ms ? planned : r->now.ms; /* the dump is not the plan */
    r->gain_ms = fmax(f->planned.change ? planned : cured, 0);
    r->is_planned = f->planned.change && planned > 0;
    d->gain_ms += r->gain_ms;
    d->changes += r->gain_ms > 0;
    if (d->doctor.together.changes && !f->planned.change)
        d->apart_ms += r->gain_ms;
}

/* Where changes were planned, what all of them save in one plan and what others save of rows that
 * have none: rows that share a change are not added up. */
static void find_gain_together(struct doctored *d)
{
    const struct doctor_together *t = &d->doctor.together;

    if (!t->changes)
        return;
    double planned = fmin(fmax(t->now_ms - t->ms, 0), d->now.ms);
    d->apart_ms = fmin(d->apart_ms, d->now.ms - planned);
    d->gain_ms = planned + d->apart_ms;
}

static void find_gains(struct doctored *d)
{
    uint32_t end;

    qsort(d->rows, d->row_count, sizeof *d->rows, compare_plans);
    for (uint32_t from = 0; from < d->row_count; from = end) {
        double all_ms = 0;
        for (end = from; end < d->row_count && !compare_plans(&d->rows[from], &d->rows[end]); end++)
            all_ms += d->rows[end].now.ms;
        for (uint32_t n = from; n < end; n++)
            find_gain(d, &d->rows[n], all_ms);
    }
    find_gain_together(d);
}

static int compare_findings(const void *a, const void *b)
{
    const struct doctored_row *p = a, *q = b;

    if (p->gain_ms != q->gain_ms)
        return p->gain_ms > q->gain_ms ? -1 : 1;
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
    doctor_sum(all, &(struct doctor_row){0, all->count}, &d->now, &d->cured);
    for (d->row_count = 0; d->row_count < all->row_count; d->row_count++) {
        struct doctored_row *r = &d->rows[d->row_count];
        r->of = all->rows[d->row_count];
        r->finding = &all->findings[r->of.first];
        doctor_sum(all, &r->of, &r->now, &r->cured);
    }
    find_gains(d);
    qsort(d->rows, d->row_count, sizeof *d->rows, compare_findings);
    return 0;
}

int doctored_open(const struct doctored_files *f, struct doctored **out, struct err *e)
{
    struct hlo_module *twins[2] = {NULL, NULL}, *copies[2] = {NULL, NULL};
    struct doctored *d = mem_try(1, sizeof *d);
    struct cluster c;

    *out = NULL;
    if (!d)
        return err_no_memory(e, "for a dump");
    int rc = f->cluster ? cluster_load(&c, f->cluster, e) : 0;
    if (rc)
        goto out;
    rc = hlo_load_twice(f->dump, NULL, copies, e);
    if (rc)
        goto out;
    d->m = copies[0];
    rc = f->before ? hlo_load_twice(f->before, NULL, twins, e) : 0;
    if (rc)
        goto out;
    d->before = twins[0];
    d->program = twins[1];
    rc = doctor_new(d->m, d->before, f->cluster ? &c : NULL, &d->doctor, e);
    if (rc) {
        err_in_file(e, f->dump);
        goto out;
    }
    struct hlo_module *copy = copies[1];
    copies[1] = NULL; /* taken over */
    rc = doctor_compute(&d->doctor, copy, f->kernels, e);
    if (rc)
        goto out;
    rc = find_rows(d, e);
out:
    hlo_free(copies[1]);
    if (rc)
        doctored_free(d);
    else
        *out = d;
    return rc;
}

/* ---- planning again ---- */

struct doctored_job {
    const struct doctored *from;
    struct hlo_module *program; /* of the thread */
    struct doctored *made;      /* of the thread until `done` */
    pthread_t thread;
    bool in_thread;
    atomic_bool stop, done;
};

static int make_again(struct doctored_job *j, struct err *e)
{
    struct doctored *d = mem_try(1, sizeof *d);
    struct hlo_module *program = j->program;

    j->program = NULL;
    if (!d || !program || atomic_load(&j->stop)) {
        free(d);
        hlo_free(program);
        return err_set(e, ERR_INPUT, "there is nothing to plan");
    }
    d->m = j->from->m;
    d->before = j->from->before;
    d->borrows = true;
    j->made = d;
    if (doctor_new(d->m, d->before, &j->from->doctor.cluster, &d->doctor, e)) {
        hlo_free(program);
        return e->code;
    }
    int rc = doctor_compute_as(&d->doctor, &j->from->doctor, e);
    if (rc) {
        hlo_free(program);
        return rc;
    }
    rc = doctor_replan(&d->doctor, program, &j->stop, e);
    return rc ? rc : find_rows(d, e);
}

static void *run_doctor(void *context)
{
    struct doctored_job *j = context;
    struct err e;

    if (make_again(j, &e)) {
        doctored_free(j->made);
        j->made = NULL;
    }
    atomic_store(&j->done, true);
    return NULL;
}

int doctored_job_new(struct doctored *from, bool in_thread, struct doctored_job **out,
                     struct err *e)
{
    struct doctored_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_no_memory(e, "for planning again");
    j->from = from;
    j->program = from->program;
    if (!in_thread)
        run_doctor(j);
    else if (thread_start(&j->thread, run_doctor, j, "planning again", e)) {
        free(j);
        return e->code;
    }
    from->program = NULL;
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

void doctored_succeed(struct doctored *old, struct doctored *next)
{
    old->borrows = true;
    next->borrows = false;
    doctored_free(old);
}

void doctored_free(struct doctored *d)
{
    if (!d)
        return;
    doctor_release(&d->doctor);
    free(d->rows);
    if (!d->borrows) {
        hlo_free(d->m);
        hlo_free(d->before);
    }
    hlo_free(d->program);
    free(d);
}
