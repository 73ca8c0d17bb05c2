/* engine/decide/names.h - names classes as a person would, from the names in the file.
 *
 * A class is named after the path its variables share: `encoder self`, plus the layer's number if
 * it holds dims of one layer only: `decoder cross 3`. A path is shared when all begin alike and
 * three in four continue alike, or, with at most 8 dims, when two thirds have it. One that ends at
 * the layer goes on with what the next words begin with, or up to three of them: `encoder
 * intermediate output 3`. Other cases: `vocab 32128` for the rows of an embedding; path and size
 * for one variable; without a shared path what the modules' names begin with, up to a number,
 * `conv4 block2_1`, or the one layer they are in, `layer 3, 3072`, else `width 768` for the class
 * with most dims, `size 128` for others; without variables `batch 32` or the input's name and size;
 * without inputs an instruction and its dim. A parameter that the file only numbers takes the path
 * of the module that reads it. What the paths of all variables begin or end with, such as the
 * model's own name, is left out. Names of classes with variables or inputs are unique: where needed
 * the size, the next words, the dim, the whole path or at last a number is added; the only one that
 * can be split keeps its name. Behind another number a layer is called one: `kernel dim 2, layer
 * 3`.
 *
 * Text from the file was cleaned when it was read; `_` becomes a blank. Immutable: any thread may
 * read. */
#ifndef AUTOMAP_ENGINE_DECIDE_NAMES_H
#define AUTOMAP_ENGINE_DECIDE_NAMES_H

#include "engine/decide/classes.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum { NAME_ROOM = 160 };

struct class_name {
    const char *base; /* "decoder cross" */
    int32_t layer;    /* 3; -1: several layers or none */
    int64_t size;     /* distinguishes it from others with this name: `moe 3, 2048`; 0: not
                         needed */
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

/* The name of several classes decided as one: "decoder cross 0-2 5"; if their bases differ, the
 * first and the number of others: "conv1_1 and 3 more". Returns out. */
char *class_names_joined(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM]);

/* The same without the layers, where they differ in the layer alone: what several decisions of a
 * series have in common. Returns out. */
char *class_names_series(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM]);

#endif
