/* Any module that can be read can be explained: sums are finite, sentences are there. */
#include "engine/doctor/doctor.h"
#include "hlo/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hlo_module *m = NULL;
    struct doctor d;
    struct err e;

    if (hlo_load_memory("fuzz", data, size, NULL, &m, &e))
        return 0;
    if (!doctor_new(m, m, NULL, &d, &e)) {
        for (uint32_t k = 0; k < d.count; k++) {
            const struct doctor_finding *f = &d.findings[k];
            if (!isfinite(f->once.bytes) || !isfinite(f->once.ms) || f->once.sent < 0 ||
                !f->because[0] || f->id >= m->count || (f->has_line && !f->line.file))
                abort();
        }
        doctor_release(&d);
    } else if (!e.what[0]) {
        abort();
    }
    hlo_free(m);
    return 0;
}
