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
    double gain_ms;  /* of the planned change, or where none is of the cure; 0: none */
    bool is_planned; /* it is the planned one */
};

struct doctored {
    struct hlo_module *m, *before; /* before NULL: not given */
    struct hlo_module *program;    /* `before` once more, to be planned; NULL: given away */
    bool borrows;                  /* m and before are another's */
    struct doctor doctor;
    struct doctored_row *rows;
    uint32_t row_count, changes; /* changes: rows with a gain */
    struct doctor_total now, cured;
    double gain_ms;  /* what can go: by all planned changes in one plan, and apart_ms; where none is
                        planned, of all rows */
    double apart_ms; /* of it by changes of rows that no plan has: of the program, not of a split */
};

/* NULL: none. */
struct doctored_files {
    const char *dump, *before, *cluster;
    const char *kernels; /* rules for calls that are unknown (engine/kernels) */
};
/* Reads the files. Errors of hlo_load, cluster_load, kernel_rules_read and doctor_new, with the
 * file's name. Free with doctored_free. */
int doctored_open(const struct doctored_files *f, struct doctored **out, struct err *e) MUST_CHECK;
void doctored_free(struct doctored *d); /* NULL ok */

/* True: the file holds a module that a compiler has partitioned: nothing that could be planned.
 * False also when it cannot be read. */
bool doctored_is(const char *path);

/* The same dump again, with changes found by planning its program anew (doctor_replan), made in a
 * thread of its own from the modules of `from`, which must outlive it; its `program` is taken.
 * Without one nothing comes of it. `in_thread` false: all of it before this returns, for pictures.
 */
struct doctored_job;
int doctored_job_new(struct doctored *from, bool in_thread, struct doctored_job **out,
                     struct err *e) MUST_CHECK;
void doctored_job_free(struct doctored_job *j); /* stops and joins; NULL ok */
/* True once it has ended; *out is then the caller's, or NULL: it came to nothing. */
bool doctored_job_take(struct doctored_job *j, struct doctored **out);
/* `next`, of a job from `old`, takes its place and its modules; `old` is freed. */
void doctored_succeed(struct doctored *old, struct doctored *next);

#endif
