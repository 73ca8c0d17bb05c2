/* engine/decide/names.h - what a person calls a class, from the names in the file.
 *
 * One rule. The path its variables share: `encoder self`, with the number of the layer when it
 * holds dims of one layer only: `decoder cross 3`. A path is shared when all begin alike and three
 * in four go on alike; or, of at most 8 dims, when two thirds have it. Rows of an embedding: `vocab
 * 32128`. One variable: its path and size. No shared path: `width 768` for the class that holds
 * most dims, `size 128` for others. Without variables: `batch 32`, or the input's name and the
 * size; without inputs too, an instruction and its dim. A parameter that the file only numbers has
 * the path of the module that reads it. Names of classes with variables or inputs are unique: the
 * size, the dim, the whole path, at last a number is added.
 *
 * Text is that of the file, cleaned when it was read; `_` is a blank. Immutable: any thread reads.
 */
#ifndef AUTOMAP_ENGINE_DECIDE_NAMES_H
#define AUTOMAP_ENGINE_DECIDE_NAMES_H

#include "engine/decide/classes.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum { NAME_ROOM = 160 };

struct class_name {
    const char *base; /* "decoder cross" */
    int32_t layer;    /* 3; -1: not of one layer */
    int64_t size;     /* tells it from others called so: `moe 3, 2048`; 0: not needed */
};

struct class_names {
    struct class_name *items; /* [classes] */
    class_id count;
    struct arena arena;
};

/* O(members + classes log classes). */
int class_names_new(const struct classes *c, const struct hlo_roles *roles, struct class_names *out,
                    struct err *e) MUST_CHECK;
void class_names_release(struct class_names *n);

/* "decoder cross 3". Returns out. */
char *class_name(const struct class_names *n, class_id k, char out[static NAME_ROOM]);

/* Several classes that are decided as one: "decoder cross 0-2 5"; when their bases differ, the
 * first and how many more: "conv1_1 and 3 more". */
char *class_names_joined(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM]);

#endif
