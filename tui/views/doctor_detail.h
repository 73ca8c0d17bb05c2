/* tui/views/doctor_detail.h - what the doctor's view says below its table. Private to
 * view_doctor.c. */
#ifndef AUTOMAP_TUI_VIEWS_DOCTOR_DETAIL_H
#define AUTOMAP_TUI_VIEWS_DOCTOR_DETAIL_H

#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/watch/doctored.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doctor_view {
    struct doctored *dump;    /* owned */
    struct doctored_job *job; /* plans the program again; NULL: it has, or there is none */
    struct list list;
    bool uses; /* the collectives of the row one by one, in place of the way to the cause */
};

/* Rows of the table: behind those of collectives stand those of calls that are unknown. */
uint32_t doctor_rows_of(const struct doctored *d);
/* NULL: row `row` is no such call. */
const struct doctor_opaque *doctor_call_at(const struct doctor_view *v, int64_t row);
/* NULL: the cursor is on no collective. */
const struct doctored_row *doctor_row_here(const struct doctor_view *v);

/* Words into `out`, which they return: "t5.py:63", "no source"; the innermost line of an
 * instruction that a person may have written, or ""; "×24 ×6" of collectives and trips. */
char *doctor_line_text(char *out, size_t room, bool has, const struct hlo_frame *f);
char *doctor_source_text(const struct doctor *d, hlo_id id, char *out, size_t room);
char *doctor_times_text(char *out, size_t room, const struct doctored_row *r);
/* "After all 3 planned changes". */
char *doctor_after_text(char *out, size_t room, const struct doctor_together *t);
/* "collectives", and of what where the plan has others than the dump. */
const char *doctor_now_text(const struct doctored *d);
const char *doctor_kind_name(enum collective_kind kind);

/* These return the next free row. */
int doctor_draw_detail(const struct doctor_view *v, const struct pane *p);
int doctor_draw_warnings(const struct doctored *d, const struct pane *p, int y);
void doctor_draw_after(const struct doctored *d, const struct pane *p, int y);

/* Markdown, appended. `is_planning`: the program is planned again, and what that finds is missing.
 */
void doctor_write_page(const struct doctored *d, bool is_planning, struct str *out);

enum { DOCTOR_WARNINGS_MOST = 5 };
int doctor_warnings_of(const struct doctored *d, char out[DOCTOR_WARNINGS_MOST][200]);

#endif
