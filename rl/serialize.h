/* rl/serialize.h - structures to bytes and back: one walk over a structure measures, writes or
 * reads it, so the order of the walk is the format.
 *
 *     void serialize_thing(struct rl_serializer *w, struct thing *t) { RL_ONE(w, t->count); ... }
 *
 * Sealed bytes have a head: "automap\n", byte order (that of the machine, refused on another),
 * version, kind, size of the body, FNV-1a checksum of the body. What a walk reads is no more than
 * bytes: whoever walks checks ranges before anything is used. */
#ifndef AUTOMAP_RL_SERIALIZE_H
#define AUTOMAP_RL_SERIALIZE_H

#include "rl/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rl_pass { RL_MEASURE, RL_WRITE, RL_READ };

struct rl_serializer {
    enum rl_pass pass;
    unsigned char *data;
    size_t size, at;
    bool failed; /* past the end of `data`; or what was read is wrong, as its walker found */
};

void rl_serialize_block(struct rl_serializer *w, void *p, size_t size);
#define RL_ONE(w, lvalue) rl_serialize_block(w, &(lvalue), sizeof(lvalue))
#define RL_MANY(w, pointer, count) \
    rl_serialize_block(w, pointer, (size_t)(count) * sizeof *(pointer))
/* Rows of `stride` words that differ little from one to the next, as observations do: each word is
 * delta-coded against the previous row, and runs of equal ones are counted. Takes at least
 * count / RL_SPARSE_MOST words, so that few bytes cannot ask for much memory. */
enum { RL_SPARSE_MOST = 4096 };
void rl_serialize_sparse(struct rl_serializer *w, float *rows, size_t count, size_t stride);
/* Any other byte than 0 and 1 is no bool: read as 1. */
void rl_serialize_flag(struct rl_serializer *w, bool *flag);

/* Bytes that grow; start from {0}, free with rl_bytes_release. */
struct rl_bytes {
    void *data;
    size_t size;
};
void rl_bytes_release(struct rl_bytes *b);

/* Room for a head and a body of `size` bytes, and the walk that writes it. */
int rl_bytes_open(struct rl_bytes *out, size_t size, struct rl_serializer *w) RL_MUST_CHECK;
void rl_bytes_seal(struct rl_bytes *b, uint32_t kind);
/* Checks the head and the checksum; the walk that reads the body. RL_E_FORMAT, RL_E_VERSION. */
int rl_bytes_check(const void *data, size_t size, uint32_t kind,
                   struct rl_serializer *w) RL_MUST_CHECK;

int rl_bytes_read(struct rl_bytes *b, const char *path) RL_MUST_CHECK; /* at most 4 GiB */

#endif
