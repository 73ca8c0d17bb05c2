/* hlo/meaning/scope.h - modules and layers in op_name.
 *
 * jit(step)/transpose(jvp(encoder))/layer_000/self/dot_general has the scope encoder/layer_000/self
 * and the mark of a gradient. The scope leaves out wrappers of JAX and XLA, loop parts and the
 * operation's name. Of the names of operations that XLA has joined, a/b/mul;a/c/add, the first
 * counts.
 */
#ifndef AUTOMAP_HLO_MEANING_SCOPE_H
#define AUTOMAP_HLO_MEANING_SCOPE_H

#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

struct hlo_scope_marks {
    bool is_derived;    /* jvp(...): part of a differentiated function */
    bool is_transposed; /* transpose(...): a backward pass */
    bool is_recomputed; /* rematerialised: forward work repeated in the backward pass */
    bool is_gradient;   /* TensorFlow's gradients/, gradient_tape/ */
};

/* Appends the scope ("" at the top) to `out`. */
void hlo_scope_of_op_name(const char *op_name, struct str *out, struct hlo_scope_marks *marks);

/* Scope and marks of every meta of a module, read once. */
struct hlo_scopes {
    struct str text;               /* all scopes, each with a NUL behind it */
    size_t *at;                    /* [meta_count] where its scope begins in `text`; where that of
                                      the meta before does, if it is the same */
    uint32_t *layer;               /* [meta_count] hlo_layer_of_path of its scope */
    struct hlo_scope_marks *marks; /* [meta_count] */
};
bool hlo_scopes_init(struct hlo_scopes *s, const struct hlo_module *m); /* false: no memory */
void hlo_scopes_release(struct hlo_scopes *s);
static inline const char *hlo_scope_of(const struct hlo_scopes *s, uint32_t meta)
{
    return s->text.text + s->at[meta];
}

/* True for parts that name no module: while, body, branch_0_fun, closed_call. */
bool hlo_scope_is_structural(const char *part, size_t size);

/* The layer in a path of modules is the prefix up to the first part that ends in a number, plus
 * numbered containers right below it. Where no part does, it ends inside the last part or the one
 * above it: conv1_bn/gamma, but not gpt2_model/decoder/norm. A number that a word follows ends the
 * part, conv1_conv_1, unless it has a container. Returns the size of the prefix; 0: none. O(size).
 */
size_t hlo_layer_of_path(const char *path, size_t size);

#endif
