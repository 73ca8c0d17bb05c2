/* engine/decide/name_path.h - the path of a variable as the words its classes are named by.
 *
 * `encoder/layer_003/self/q/kernel` is the words encoder, self, q, kernel and layer 3. What layers
 * are kept in (`layers`, `block`) is no word; `_` before a letter becomes a blank. */
#ifndef AUTOMAP_ENGINE_DECIDE_NAME_PATH_H
#define AUTOMAP_ENGINE_DECIDE_NAME_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATH_WORDS = 12, PATH_WORD_ROOM = 48 };

struct name_path {
    char words[PATH_WORDS][PATH_WORD_ROOM];
    int count;
    int above;     /* words before the layer's number */
    int32_t layer; /* -1: none */
    bool is_layer; /* that of a module of several parts: "layer_3", "blocks/3", not "moe_3" */
};

void name_path_read(struct name_path *p, const char *path);

/* How many words both begin with, at most `most`. */
uint32_t name_path_same(const struct name_path *a, const struct name_path *b, uint32_t most);

/* The first `count` words with a blank between. A number below the layer's that only says the place
 * of the module behind it (`layer_1/1/DenseReluDense`) is left out. */
void name_path_join(const struct name_path *p, uint32_t count, char *out, size_t room);
/* The same, with another word to follow. */
void name_path_join_before(const struct name_path *p, uint32_t count, char *out, size_t room);

/* The first `words` words lead to a layer, not into it. */
bool name_path_ends_at_layer(const struct name_path *p, uint32_t words);

/* Word `at`, or the module behind it where it only says its place; NULL: the path ends before. */
const char *name_path_word(const struct name_path *p, uint32_t at);

bool name_path_is_kind(const char *word); /* "kernel", and "kernel_3" of several */

/* Words without those at the end that say what kind of array it is, not which: kernel, bias_2. One
 * is left where the path has no layer. */
uint32_t name_path_telling(const struct name_path *p);

/* Dim 0 of this matrix is rows of a table that are looked up: it is named as one. *by_use: only by
 * how it is used (hlo/meaning/roles.h), as a table of positions is too. */
bool name_path_is_table(const struct name_path *p, bool *by_use);

/* What all of `words` begin with, up to a blank, `_` or the end: "ffn" of "ffn" and "ffn output".
 * Returns its size; 0: nothing. */
size_t name_path_common(const char *const *words, uint32_t count);

#endif
