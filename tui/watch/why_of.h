/* tui/watch/why_of.h - whose splits a question is about: a plan the search holds, the relaxed plan
 * or the pipeline that was looked at, everything whole, or the episode being played. Best and exact
 * are the search's of the moment and follow it; any other plan stays the one it is. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_WHY_OF_H
#define AUTOMAP_TUI_WATCH_WHY_OF_H

#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
#include "engine/relaxed/relaxed.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"

enum why_of_kind {
    WHY_OF_BEST,
    WHY_OF_EXACT,
    WHY_OF_PLAN,
    WHY_OF_RELAXED,  /* may reshard: its values have statuses, its classes none */
    WHY_OF_PIPELINE, /* stages; what is split inside them is the batch */
    WHY_OF_WHOLE,
    WHY_OF_EPISODE
};

struct why_of {
    enum why_of_kind kind;
    struct live_plan *plan; /* borrowed; NULL: not a strict plan */
};

enum { WHY_OF_MOST = WATCH_PLANS_MOST + 6, WHY_OF_ROOM = 64 };

/* All there are to ask about, the plan of the headline first. Returns how many, at least 2. */
int why_of_list(const struct watch *w, struct why_of list[static WHY_OF_MOST]);

/* Best when there is one, else the episode: no plan is in the headline then. */
struct why_of why_of_default(const struct watch *w);
/* `plan`, of the problem of `w`, as the list has it, or one more; NULL: the default. */
struct why_of why_of_plan(const struct watch *w, struct live_plan *plan);
/* What `of` is now: best and exact are taken anew, what is no more becomes the default. */
struct why_of why_of_now(const struct watch *w, struct why_of of);
/* The one `step` (1, -1) behind `of` in the list, which goes round; of what is no longer in it the
 * first. */
struct why_of why_of_next(const struct watch *w, struct why_of of, int step);
bool why_of_is_same(struct why_of a, struct why_of b);

/* What is looked at, when it was made. The first lives with the watch's job; the second is filled
 * in. */
const struct relaxed_plan *why_of_relaxed(const struct watch *w);
const struct pipeline *why_of_pipeline(const struct watch *w, struct pipeline_plan *plan);
/* on, open: [classes]. Nothing is open but in an episode. O(classes). */
void why_of_read(const struct watch *w, struct why_of of, label *on, label *open);
double why_of_ms(const struct watch *w, struct why_of of);
/* "best plan, episode 27", "proven optimum", "batch split", "relaxed plan", "pipeline",
 * "episode 62, not a plan". Returns out.
 */
char *why_of_name(const struct watch *w, struct why_of of, char out[static WHY_OF_ROOM]);
/* The same in a word or two: "best", "optimum", "episode 62". */
char *why_of_brief(const struct watch *w, struct why_of of, char out[static WHY_OF_ROOM]);

#endif
