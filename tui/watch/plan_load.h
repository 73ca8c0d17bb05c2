/* tui/watch/plan_load.h - plans read from files, beside those a search finds: a strict plan is one
 * more of them, a relaxed one, a pipeline and a hybrid plan take the place of those that were
 * worked out here, a placement waits for its view.
 *
 * A file is read as strictly as any command reads it (engine/plan/plan_file.h): a plan made for
 * another model, cluster, mesh or other options is refused, and the difference named. Its figures
 * are worked out anew. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_PLAN_LOAD_H
#define AUTOMAP_TUI_WATCH_PLAN_LOAD_H

#include "engine/live/snapshot.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

enum {
    PLANS_LOADED_MOST = 8,
    PLANS_OF_MOMENTS = 2,
    WATCH_PLANS_MOST = PLANS_MOST + PLANS_LOADED_MOST + PLANS_OF_MOMENTS
};

enum plan_loaded {
    PLAN_LOADED_STRICT,
    PLAN_LOADED_RELAXED,
    PLAN_LOADED_PIPELINE,
    PLAN_LOADED_HYBRID,
    PLAN_LOADED_PLACE
};

struct loaded_plan {
    char *path;
    struct live_plan
        *plan; /* NULL: not a strict plan; it is the watch's relaxed plan, or pipeline */
};
struct loaded_plans {
    struct loaded_plan items[PLANS_LOADED_MOST];
    int count;
    struct live_plan *moment[PLANS_OF_MOMENTS]; /* of the past; NULL: none */
};

/* Whether the file begins like a plan of any kind, and no model; false too when it cannot be read.
 */
bool plan_load_is(const char *path);

/* Reads it in; a file read before is read anew. What it was goes to *kind. ERR_LIMIT when there are
 * PLANS_LOADED_MOST already. */
int plan_load(struct watch *w, const char *path, enum plan_loaded *kind, struct err *e) MUST_CHECK;
/* Reads into `w` what `from`, of another problem, holds; returns how many fit it no more, the last
 * reason in `e`. */
int plan_load_again(struct watch *w, const struct watch *from, struct err *e);
void plan_load_release(struct watch *w);

/* The strict plan read from that file; NULL: none. Borrowed. */
const struct live_plan *plan_load_of(const struct watch *w, const char *path);
/* The best plan of a moment of the past becomes one more, until NULL takes it away; a plan there is
 * that has the same splits from the same episode stands for it. `which` < PLANS_OF_MOMENTS. */
void plan_load_moment(struct watch *w, int which, struct live_plan *plan);
struct live_plan *plan_load_of_moment(const struct watch *w, int which); /* NULL: none */
/* All strict plans there are: the search's in their order, then those from files. Borrowed until
 * the next read of the watch. Returns how many. */
uint32_t plan_load_all(const struct watch *w, struct live_plan *out[static WATCH_PLANS_MOST]);
/* "exact, 45 cases", "dqn, episode 1,353", "batch split", the name of a file. Returns out. */
char *plan_found_by(const struct live_plan *plan, char *out, size_t room);
/* Whether one of them splits nothing, as the baseline without pins: "everything whole" is no other
 * plan then. O(plans x classes). */
bool plan_load_has_whole(const struct watch *w);
/* The fastest of them that its search lets fit, of whatever space. Borrowed as above. NULL: none.
 */
struct live_plan *plan_load_best(const struct watch *w);

#endif
