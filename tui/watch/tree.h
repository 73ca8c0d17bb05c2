/* tui/watch/tree.h - a module as a person thinks of it: phase, module, layer, instruction. Equal
 * layers (the same operations on the same shapes) form one series.
 *
 * The tree is built once from the names in the file (op_name, names of variables) or, where there
 * are none, from the layers found by hlo/meaning/roles.h; it never changes by itself. Times and
 * statuses are filled in from a watch. Views keep which nodes are open. UI thread only;
 * O(instructions). */
#ifndef AUTOMAP_TUI_WATCH_TREE_H
#define AUTOMAP_TUI_WATCH_TREE_H

#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/watch.h"
#include "tui/watch/wave.h"

enum { TREE_NONE = -1, TREE_NAME_ROOM = 64 };

enum tree_mark { TREE_MIXED, TREE_OPEN, TREE_WHOLE, TREE_SPLIT, TREE_NEXT };

struct tree_node {
    char name[TREE_NAME_ROOM]; /* "layer 3", "layers 0–2, 5" */
    int parent, depth;
    int first_child, next; /* in order of reading; TREE_NONE */
    int number;            /* of a layer; -1: none */
    int series;            /* layers in it; 0: no series */
    uint32_t first, count; /* its own instructions: tree->order[first ..], telling ones first */
    uint32_t telling;      /* of them: those that say something (dot, gather, variables ...) */
    uint32_t below;        /* instructions in all of it */
    hlo_id begins;         /* its first telling instruction: modules stand in this order */
    uint64_t hash;         /* of the operations and shapes below */
    double ms;             /* of all of it */
    uint16_t wave_first, wave_last; /* steps of the last wave in all of it; 0: none */
    uint8_t mark;                   /* enum tree_mark */
    bool differs;                   /* the best plan and the optimum differ in one of its own */
};

struct tree {
    const struct problem *problem;
    struct tree_node *nodes; /* parents before children */
    int count;
    size_t room;
    int first_root;
    hlo_id *order;            /* instructions by node */
    const char **names;       /* [instructions] what to call it, where that is not its own name */
    const char **full;        /* [instructions] the whole path of a parameter; NULL: no parameter */
    int *node_of;             /* [instructions] */
    const double *ms;         /* [instructions] the watch's; NULL: not read yet */
    double total_ms, most_ms; /* of the step, of the heaviest phase */
    uint64_t ms_version;
    uint64_t wave_decision; /* the wave that wave_first and wave_last are of */
    bool has_wave;
    struct arena arena;
};

int tree_new(const struct problem *p, struct tree **out, struct err *e) MUST_CHECK;
void tree_free(struct tree *t);
void tree_read(struct tree *t,
               const struct watch *w); /* times when the plan changed, marks always */

/* How the last wave lights a node, by the steps of all that is in it. */
enum wave_light tree_light(const struct tree_node *n, const struct wave *v);
bool tree_is_telling(const struct tree *t, hlo_id id); /* dot, gather, variables, named values */
/* "decoder/layer 0/cross", with `between` for the slash, without the series its layers stand in;
 * cut at `room`. Returns out. */
char *tree_path(const struct tree *t, int node, const char *between, char *out, size_t room);
bool tree_is_state(const struct tree *t, hlo_id id); /* a parameter that the optimizer keeps */
/* What to call it: a variable by the end of its path below its module, other parameters that are
 * one array by their path, the rest as the file does. */
const char *tree_instruction_name(const struct tree *t, hlo_id id);

#endif
