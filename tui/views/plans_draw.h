/* tui/views/plans_draw.h - the plans of V p as its drawing sees them: rows ranked, two of them
 * compared. UI thread; private to the view. */
#ifndef AUTOMAP_TUI_VIEWS_PLANS_DRAW_H
#define AUTOMAP_TUI_VIEWS_PLANS_DRAW_H

#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/watch/layer_diff.h"
#include "tui/watch/other_plans.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/watch.h"

enum { PLAN_ROWS_MOST = WATCH_PLANS_MOST + 1 + OTHER_PLANS_MOST };

struct plan_row {
    struct live_plan *plan;      /* kept; NULL: everything whole, or of another kind */
    struct plan_figures figures; /* of stages the step and the memory alone, else NAN */
    bool marked;
    struct other_plan other; /* OTHER_NONE: it is none */
};

struct plans {
    struct pipeline_plan staged; /* of the pipeline's row when `w` asks about it */
    struct plan_row rows[PLAN_ROWS_MOST];
    int count;
    label *whole;
    struct list list, below; /* plans; differences */
    bool comparing;
    int a, b;
    struct plan_difference *differences;
    size_t difference_count;
    struct layer_difference *layers;
    size_t layer_count;
    const struct live_moves *moves; /* the differences are of these; only compared */
};

/* One line of what two plans cost. */
struct plans_part {
    const char *name;
    double a, b;
    int decimals;
};
enum { PLANS_PARTS = 10 + 2 * HLO_PHASE_COUNT };

label *plans_labels(const struct plans *v, int row); /* of a strict plan */
double plans_memory_limit(const struct panel *p);    /* bytes */
/* The kind of the two compared that is furthest from strict: what can be compared hangs on it. */
enum other_kind plans_compared(const struct plans *v);
/* Why plans of that kind are not compared decision by decision. */
extern const char *const plans_undecided[OTHER_KINDS];
/* NULL: not solved. */
const struct relaxed_plan *plans_relaxed(const struct watch *w, struct relaxed_look *look);

/* Parts of the two that are compared, the step first, times under half a last decimal left out.
 * Returns how many. */
int plans_parts(const struct plans *v, int decimals, struct plans_part out[static PLANS_PARTS]);
/* "exact, 45 cases"; "dqn, episode 353". */
void plans_found_by(const struct plan_row *r, char *out, size_t room);
/* "models.py:15–16  ffn"; "line 2264" where the file has no sources. */
void plans_where(const struct watch *w, const struct plan_difference *d, char *out, size_t room);
/* The two compared in one sentence. Returns out. */
char *plans_verdict(const struct plans *v, char *out, size_t room);
/* The comparison as Markdown, which begins with that sentence. Appended. */
void plans_page(const struct panel *p, struct str *out);

void plans_draw_list(struct panel *p, const struct pane *pane);
void plans_draw_compare(struct panel *p, const struct pane *pane);

#endif
