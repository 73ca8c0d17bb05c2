/* tui/watch/cost_split.h - the step time of a plan, taken apart: what computes, and which class
 * makes which all-reduce; grouped by phase, layer, operation, class or instruction. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_COST_SPLIT_H
#define AUTOMAP_TUI_WATCH_COST_SPLIT_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

enum cost_key {
    COST_BY_PHASE,
    COST_BY_LAYER,
    COST_BY_OPCODE,
    COST_BY_CLASS,
    COST_BY_INSTRUCTION,
    COST_KEY_COUNT
};
extern const char *const cost_key_names[COST_KEY_COUNT]; /* "phase" */

struct cost_item {
    hlo_id id;
    class_id class;        /* that makes this all-reduce; CLASS_NONE: computing */
    label over;            /* axes it goes over */
    double ms;             /* all executions of a step */
    double reduces, bytes; /* all-reduces of a step, their local bytes; 0 when computing */
};

struct cost_split {
    const struct watch *watch; /* borrowed */
    struct cost_item *items;   /* by instruction */
    size_t count;
    uint64_t version; /* of the watch's ms they are of */
};

struct cost_filter {
    enum cost_key key;
    uint32_t value;
};

struct cost_group {
    uint32_t value; /* phase, layer, opcode, class or instruction */
    uint32_t instructions;
    uint32_t times, first,
        last; /* 2 and more: so many alike, sums; numbers of the first and last */
    double compute_ms, network_ms, reduces, bytes;
};

/* Takes the plan the watch shows times of (its best, else everything whole) when that has changed.
 * O(instructions). */
int cost_split_read(struct cost_split *s, const struct watch *w, struct err *e) MUST_CHECK;
void cost_split_release(struct cost_split *s);

/* Items that pass all filters, by `key`; the longest first, phases and layers in their order. *out
 * is the caller's. O(items + groups log groups). */
int cost_split_group(const struct cost_split *s, const struct cost_filter *filters, int count,
                     enum cost_key key, struct cost_group **out, size_t *groups,
                     struct err *e) MUST_CHECK;

/* Layers that differ in their number alone and take the same within 2 in 100, and linkage groups
 * alike in a series, become one group each, in place of the first. Returns how many there are then.
 * O(groups log groups). */
size_t cost_fold_alike(const struct watch *w, enum cost_key key, struct cost_group *groups,
                       size_t count);

/* What the all-reduces send in a step, each way: a device on the links inside its server, a server
 * on its network card; and how long each part takes. inside_ms + across_ms is all their time. */
struct cost_traffic {
    double inside_bytes, inside_ms, across_bytes, across_ms;
};
struct cost_traffic cost_split_traffic(const struct cost_split *s,
                                       class_id made_by); /* CLASS_NONE: all of them */

/* What a group is called. Returns out. */
char *cost_group_name(const struct watch *w, enum cost_key key, uint32_t value, char *out,
                      size_t room);

/* The same of a folded one: "encoder/layer 0–5 ×6". */
char *cost_row_name(const struct watch *w, enum cost_key key, const struct cost_group *g, char *out,
                    size_t room);

/* How the time of one instruction comes about: "1.2 GFLOP at 15.7 TFLOP/s 0.1 ms, 8 MB at ...". */
void cost_explain(const struct watch *w, hlo_id id, char *out, size_t room);

#endif
