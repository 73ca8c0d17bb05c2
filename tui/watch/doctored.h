/* tui/watch/doctored.h - a partitioned or compiled module that is open, with what engine/doctor
 * says of it: all that the doctor's view shows. */
#ifndef AUTOMAP_TUI_WATCH_DOCTORED_H
#define AUTOMAP_TUI_WATCH_DOCTORED_H

#include "engine/cluster/cluster.h"
#include "engine/doctor/doctor.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of engine/doctor with its sums, those first that lose most by staying. */
struct doctored_row {
    const struct doctor_finding *finding; /* the first of them */
    struct doctor_row of;
    struct doctor_total now, cured;
};

struct doctored {
    struct hlo_module *m, *before; /* before NULL: not given */
    struct doctor doctor;
    struct doctored_row *rows;
    uint32_t row_count, changes; /* changes: rows that have one */
    struct doctor_total now, cured;
};

/* Reads the files; `before` and `cluster` NULL: none. Errors of hlo_load, cluster_load and
 * doctor_new, with the file's name. Free with doctored_free. */
int doctored_open(const char *path, const char *before, const char *cluster, struct doctored **out,
                  struct err *e) MUST_CHECK;
void doctored_free(struct doctored *d); /* NULL ok */

/* True: the file holds a module of several partitions with collectives in it, or one that is
 * compiled: nothing that could be planned. False also when it cannot be read. */
bool doctored_is(const char *path);

#endif
