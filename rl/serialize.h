/* rl/serialize.h - structures to bytes and back. One function walks a structure to measure, write
 * or read it, so the order of the walk is the format.
 *
 *     void serialize_thing(struct rl_serializer *w, struct thing *t) { RL_ONE(w, t->count); ... }
 *
 * Sealed bytes have a head: "automap\n", byte order (that of the machine, refused on another),
 * version, kind, size of the body, FNV-1a checksum of the body. A walk reads raw bytes: the caller
 * checks ranges before using anything. */
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
    bool failed; /* read past the end of `data`, or the caller found a bad value */
};

void rl_serialize_block(struct rl_serializer *w, void *p, size_t size);
#define RL_ONE(w, lvalue) rl_serialize_block(w, &(lvalue), sizeof(lvalue))
#define RL_MANY(w, pointer, count) \
    rl_serialize_block(w, pointer, (size_t)(count) * sizeof *(pointer))
/* Rows of `stride` words that differ little from one to the next, as observations do: each word is
 * XORed with the one above it in the previous row, and runs of zeros are counted. The result has at
 * least count / RL_SPARSE_MOST words, so a few bytes cannot demand much memory. */
enum { RL_SPARSE_MOST = 4096 };
void rl_serialize_sparse(struct rl_serializer *w, float *rows, size_t count, size_t stride);
/* A byte other than 0 reads as true. */
void rl_serialize_flag(struct rl_serializer *w, bool *flag);

/* Bytes that grow; start from {0}, free with rl_bytes_release. */
struct rl_bytes {
    void *data;
    size_t size;
};
void rl_bytes_release(struct rl_bytes *b);

/* Makes room for a head and a body of `size` bytes, and starts the walk that writes the body. */
int rl_bytes_open(struct rl_bytes *out, size_t size, struct rl_serializer *w) RL_MUST_CHECK;
void rl_bytes_seal(struct rl_bytes *b, uint32_t kind);
/* Checks the head and the checksum, and starts the walk that reads the body. RL_E_FORMAT,
 * RL_E_VERSION. */
int rl_bytes_check(const void *data, size_t size, uint32_t kind,
                   struct rl_serializer *w) RL_MUST_CHECK;

int rl_bytes_read(struct rl_bytes *b, const char *path) RL_MUST_CHECK; /* at most 4 GiB */

#endif
