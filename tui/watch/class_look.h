/* tui/watch/class_look.h - a class from inside: its dims of variables and inputs with what ties
 * them, the classes it can never be split with, the all-reduces it makes; and the classes that can
 * never be split. */
#ifndef AUTOMAP_TUI_WATCH_CLASS_LOOK_H
#define AUTOMAP_TUI_WATCH_CLASS_LOOK_H

#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

struct class_member {
    dim_id dim;
    const char *name; /* of the variable or input */
    uint32_t number;  /* which dim of it */
    uint8_t role;     /* enum hlo_role */
    uint16_t steps;   /* ties from the first member; 1: itself; 0: none leads there */
    hlo_id through;   /* the first instruction that uses the dim; HLO_NONE: none */
    uint32_t factor;  /* of it, into classes->factors; UINT32_MAX: it only passes it on */
};

/* Dims of variables, then of inputs, then of other arguments, each in the module's order. *out is
 * the caller's. O(class size + arguments). */
int class_members(const struct watch *w, class_id k, struct class_member **out, size_t *count,
                  struct err *e) MUST_CHECK;

/* All-reduces of a step in which a class is the only one split, on the first axis it fits on. */
struct class_reduces {
    double count, bytes, ms;
};
/* [classes]. O(factors). */
int class_reduces_all(const struct watch *w, struct class_reduces **out, struct err *e) MUST_CHECK;

/* Forbidden classes: those that hold dims of variables first, then of inputs, then by size. Returns
 * how many; ids into out [classes]. */
class_id class_forbidden(const struct problem *p, class_id *out);

/* "models.py:44", else the line in the file of the model. Returns out. */
char *instruction_source(const struct hlo_module *m, hlo_id id, char *out, size_t room);
/* The last module of its op_name: "attn"; "" without. */
char *instruction_scope(const struct tree *t, hlo_id id, char *out, size_t room);

#endif
