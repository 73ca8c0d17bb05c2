#include "tui/watch/doctored.h"

#include "engine/cluster/cluster.h"
#include "engine/doctor/doctor.h"
#include "hlo/load.h"
#include "hlo/meaning/program.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

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
        d->changes += r->finding->cure[0] != 0;
    }
    qsort(d->rows, d->row_count, sizeof *d->rows, compare);
    doctor_sum(all, &(struct doctor_row){0, all->count}, &d->now, &d->cured);
    return 0;
}

int doctored_open(const char *path, const char *before, const char *cluster, struct doctored **out,
                  struct err *e)
{
    struct doctored *d = mem_try(1, sizeof *d);
    struct cluster c;
    int rc = d ? 0 : err_no_memory(e, "for a dump");

    *out = NULL;
    if (rc)
        return rc;
    *d = (struct doctored){0};
    rc = hlo_load(path, NULL, &d->m, e);
    if (rc)
        goto out;
    rc = before ? hlo_load(before, NULL, &d->before, e) : 0;
    if (rc)
        goto out;
    rc = cluster ? cluster_load(&c, cluster, e) : 0;
    if (rc)
        goto out;
    rc = doctor_new(d->m, d->before, cluster ? &c : NULL, &d->doctor, e);
    if (rc) {
        err_in_file(e, path);
        goto out;
    }
    rc = find_rows(d, e);
out:
    if (rc)
        doctored_free(d);
    else
        *out = d;
    return rc;
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
