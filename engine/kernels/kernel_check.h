/* engine/kernels/kernel_check.h - what can be said of a rule before it meets an instruction.
 * Private to engine/kernels. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_CHECK_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_CHECK_H

#include "engine/text/yaml.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { KERNEL_NAMES_MOST = 32, KERNEL_LETS_MOST = 16, KERNEL_NAME_ROOM = 16 };

/* Keys, kinds of values, counts, combiners, and that every name is an index of `dims`, every
 * expression one that gives a number where one is needed. Errors have line and column. */
int kernel_rule_check(const struct yaml_doc *d, const struct yaml *rule, struct err *e) MUST_CHECK;

/* The same of attention: {forward: REACH, backward: REACH}. */
int kernel_attention_check(const struct yaml_doc *d, const struct yaml *attention,
                           struct err *e) MUST_CHECK;

/* The combiner called so; HLO_COMBINE_NONE: none is. */
enum hlo_combiner kernel_combiner(const char *name);

/* The effect called so; KERNEL_COMPUTES: none is. */
enum hlo_kernel_effect kernel_effect(const char *name);

/* Whether `dims` name this index, though of a leaf that may be missing. */
bool kernel_dims_have(const char *dims, const char *name);

/* The next word before `end`, past blanks; NULL: there is none. */
const char *kernel_word(const char **at, const char *end, size_t *size);

#endif
