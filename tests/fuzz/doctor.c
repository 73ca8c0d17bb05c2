/* Any module that can be read can be explained, and its program planned again: sums are finite,
 * sentences are there. Behind a line "// before" stands the program before partitioning; without
 * one the module is taken for its own. */
#define _GNU_SOURCE /* memmem */
#include "engine/doctor/doctor.h"
#include "hlo/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_MOST = 400 }; /* instructions that are planned again here */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct doctor *d)
{
    for (uint32_t k = 0; k < d->count; k++) {
        const struct doctor_finding *f = &d->findings[k];
        const struct doctor_planned *p = &f->planned;
        if (!isfinite(f->once.bytes) || !isfinite(f->once.ms) || f->once.sent < 0 ||
            !f->because[0] || f->id >= d->m->count || (f->has_line && !f->line.file))
            abort();
        if (p->change && (!p->change[0] || !isfinite(p->ms) || !isfinite(p->bytes)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "\n// before\n";
    const uint8_t *cut = memmem(data, size, line, sizeof line - 1);
    const uint8_t *second = cut ? cut + sizeof line - 1 : data;
    size_t first_size = cut ? (size_t)(cut - data) : size;
    size_t second_size = cut ? size - (size_t)(second - data) : size;
    struct hlo_module *m = NULL, *copy = NULL, *before = NULL, *program = NULL;
    struct doctor d = {0};
    struct err e;

    if (hlo_load_memory("fuzz", data, first_size, NULL, &m, &e) ||
        hlo_load_memory("fuzz", data, first_size, NULL, &copy, &e) ||
        hlo_load_memory("before", second, second_size, NULL, &before, &e) ||
        hlo_load_memory("before", second, second_size, NULL, &program, &e))
        goto out;
    if (doctor_new(m, before, NULL, &d, &e)) {
        if (!e.what[0])
            abort();
        goto out;
    }
    if (program->count < PROGRAM_MOST) {
        (void)!doctor_replan(&d, program, NULL, &e);
        program = NULL;
    }
    if (copy->count < PROGRAM_MOST) {
        (void)!doctor_compute(&d, copy, NULL, &e);
        copy = NULL;
        if (d.has_compute && !(isfinite(d.compute_ms) && d.compute_ms >= 0))
            abort();
    }
    check(&d);
out:
    doctor_release(&d);
    hlo_free(m);
    hlo_free(copy);
    hlo_free(before);
    hlo_free(program);
    return 0;
}
