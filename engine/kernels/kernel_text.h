/* engine/kernels/kernel_text.h - globs, configurations and expressions of kernel rules. Private to
 * engine/kernels. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_TEXT_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_TEXT_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* Whether the whole text matches a glob of * ? {a,b}; alternatives are globs without braces. At
 * most 4 pairs of braces and 511 bytes, else nothing matches. */
bool kernel_glob(const char *pattern, const char *text);

/* Finds the value at a path a.b.c in JSON or MLIR attribute text ({a = {b = 1 : i32}}): a word, a
 * number or the contents of a string, at most room - 1 characters. False: not found. */
bool kernel_config(const char *text, size_t size, const char *path, char *out, size_t room);

/* The same for a list of whole numbers, bare or as strings. False: no such list, or longer than
 * `room`. */
bool kernel_config_list(const char *text, size_t size, const char *path, int64_t *out, size_t room,
                        size_t *count);

enum { KERNEL_WORD = 64 };

struct kernel_value {
    bool is_number, is_missing;
    bool is_config; /* what the module's configuration says: a word there is no mistake of the rule,
                       and 0 where a number is needed */
    double number;
    char word[KERNEL_WORD];
};

/* Looks up a name: a size, a let, config.PATH. Unknown: the name stands for itself. Wrong: `e` says
 * why. */
enum kernel_found { KERNEL_UNKNOWN, KERNEL_FOUND, KERNEL_WRONG };
typedef enum kernel_found kernel_lookup(void *context, const char *name, struct kernel_value *out,
                                        struct err *e);
/* bytes(operand 2), elements(result 0), product(b): `of` is the text in brackets. */
typedef bool kernel_function(void *context, const char *name, const char *of, double *out);

struct kernel_scope {
    kernel_lookup *lookup;
    kernel_function *function;
    void *context;
};

/* ERR_INPUT says what is wrong, without a position: a word where a number is needed, too. A missing
 * configuration value is 0, except before `??`. */
bool kernel_is_true(const struct kernel_value *v); /* a number but 0, a word */
int kernel_evaluate(const char *text, const struct kernel_scope *scope, struct kernel_value *out,
                    struct err *e) MUST_CHECK;

#endif
