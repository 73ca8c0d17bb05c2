#include "rl/serialize.h"

#include "rl/aligned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 3, ORDER = 0x01020304 };

struct head {
    char magic[8];
    uint32_t order, version, kind, unused;
    uint64_t size, checksum;
};

void rl_serialize_block(struct rl_serializer *w, void *p, size_t size)
{
    if (w->pass != RL_MEASURE && size > w->size - w->at)
        w->failed = true;
    if (w->failed)
        return;
    if (w->pass == RL_WRITE && size)
        memcpy(w->data + w->at, p, size);
    else if (w->pass == RL_READ && size)
        memcpy(p, w->data + w->at, size);
    w->at += size;
}

static uint32_t changed(const float *rows, size_t at, size_t stride)
{
    uint32_t word, before = 0;

    memcpy(&word, rows + at, sizeof word);
    if (at >= stride)
        memcpy(&before, rows + at - stride, sizeof before);
    return word ^ before;
}

/* A run: how many words are equal, how many then differ, and what those differ by. */
static size_t put_run(struct rl_serializer *w, const float *rows, size_t at, size_t count,
                      size_t stride)
{
    uint32_t words[RL_SPARSE_MOST];
    uint16_t run[2] = {0};

    while (run[0] < RL_SPARSE_MOST && at < count && !changed(rows, at, stride))
        run[0]++, at++;
    while (run[1] < RL_SPARSE_MOST && at < count && (words[run[1]] = changed(rows, at, stride)))
        run[1]++, at++;
    RL_ONE(w, run);
    RL_MANY(w, words, run[1]);
    return at;
}

static size_t take_run(struct rl_serializer *w, float *rows, size_t at, size_t count, size_t stride)
{
    uint32_t words[RL_SPARSE_MOST], before;
    uint16_t run[2] = {0};

    RL_ONE(w, run);
    w->failed |= (!run[0] && !run[1]) || run[0] > RL_SPARSE_MOST || run[1] > RL_SPARSE_MOST ||
                 run[0] + (size_t)run[1] > count - at;
    if (w->failed)
        return count;
    RL_MANY(w, words, run[1]);
    for (uint32_t n = 0; n < (uint32_t)run[0] + run[1]; n++, at++) {
        before = 0;
        if (at >= stride)
            memcpy(&before, rows + at - stride, sizeof before);
        before ^= n < run[0] ? 0 : words[n - run[0]];
        memcpy(rows + at, &before, sizeof before);
    }
    return w->failed ? count : at;
}

void rl_serialize_sparse(struct rl_serializer *w, float *rows, size_t count, size_t stride)
{
    for (size_t at = 0; at < count && !w->failed;)
        at = w->pass == RL_READ ? take_run(w, rows, at, count, stride)
                                : put_run(w, rows, at, count, stride);
}

void rl_serialize_flag(struct rl_serializer *w, bool *flag)
{
    unsigned char on = w->pass == RL_WRITE && *flag;

    RL_ONE(w, on);
    if (w->pass == RL_READ)
        *flag = on != 0;
}

static uint64_t checksum(const unsigned char *data, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 0x100000001b3u;
    return h;
}

void rl_bytes_release(struct rl_bytes *b)
{
    free(b->data);
    *b = (struct rl_bytes){0};
}

int rl_bytes_open(struct rl_bytes *out, size_t size, struct rl_serializer *w)
{
    *out = (struct rl_bytes){.size = sizeof(struct head) + size};
    out->data = rl_alloc_raw(out->size, 1);
    if (!out->data) {
        *out = (struct rl_bytes){0};
        return RL_E_MEMORY;
    }
    *w = (struct rl_serializer){
        .pass = RL_WRITE, .data = (unsigned char *)out->data + sizeof(struct head), .size = size};
    return RL_OK;
}

void rl_bytes_seal(struct rl_bytes *b, uint32_t kind)
{
    unsigned char *body = (unsigned char *)b->data + sizeof(struct head);
    size_t size = b->size - sizeof(struct head);
    struct head h = {.order = ORDER, .version = VERSION, .kind = kind, .size = size};

    memcpy(h.magic, "automap\n", sizeof h.magic);
    h.checksum = checksum(body, size);
    memcpy(b->data, &h, sizeof h);
}

int rl_bytes_check(const void *data, size_t size, uint32_t kind, struct rl_serializer *w)
{
    struct head h;

    if (size < sizeof h)
        return RL_E_FORMAT;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, "automap\n", sizeof h.magic) != 0)
        return RL_E_FORMAT;
    if (h.order != ORDER || h.version != VERSION)
        return RL_E_VERSION;
    if (h.kind != kind || h.size != size - sizeof h ||
        h.checksum != checksum((const unsigned char *)data + sizeof h, h.size))
        return RL_E_FORMAT;
    *w = (struct rl_serializer){.pass = RL_READ,
                                .data = (unsigned char *)(uintptr_t)data + sizeof h,
                                .size = size - sizeof h};
    return RL_OK;
}

static int read_all(FILE *f, struct rl_bytes *b)
{
    if (fseeko(f, 0, SEEK_END))
        return RL_E_IO;
    off_t size = ftello(f);
    if (size < 0 || fseeko(f, 0, SEEK_SET))
        return RL_E_IO;
    if ((uint64_t)size > (uint64_t)4 << 30)
        return RL_E_FORMAT;
    b->data = rl_alloc((size_t)size, 1);
    if (!b->data)
        return RL_E_MEMORY;
    b->size = fread(b->data, 1, (size_t)size, f);
    return b->size == (size_t)size ? RL_OK : RL_E_IO;
}

int rl_bytes_read(struct rl_bytes *b, const char *path)
{
    FILE *f = fopen(path, "rb");

    *b = (struct rl_bytes){0};
    if (!f)
        return RL_E_IO;
    int code = read_all(f, b), why = errno;
    fclose(f);
    errno = why;
    if (code)
        rl_bytes_release(b);
    return code;
}
