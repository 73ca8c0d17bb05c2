/* Network files from anyone: any bytes, and the shipped files with bytes of theirs changed or cut
 * off, the checksum made right first. Refused, or a network of finite weights that scores. */
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/search/move_features.h"
#include "engine/search/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 40, CHECKSUM_AT = 32, SIZE_AT = 24, FILE_MOST = 1 << 16, EDIT = 4 };

static const char *const shipped[] = {AUTOMAP_SOURCE_DIR "/examples/networks/pipeline.net",
                                      AUTOMAP_SOURCE_DIR "/examples/networks/operators.net"};

static void seal(unsigned char *file, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u, body = size - HEAD;

    for (size_t i = HEAD; i < size; i++)
        h = (h ^ file[i]) * 0x100000001b3u;
    memcpy(file + SIZE_AT, &body, sizeof body);
    memcpy(file + CHECKSUM_AT, &h, sizeof h);
}

/* "E": the first byte behind it chooses the file and whether it is cut; then edits of four bytes:
 * where, where, which bits, how many bytes on. Anything else is the file itself. */
static size_t make(const uint8_t *data, size_t size, unsigned char *file)
{
    if (size < 2 || data[0] != 'E') {
        size_t taken = size < FILE_MOST ? size : FILE_MOST;
        memcpy(file, data, taken);
        return taken;
    }
    FILE *f = fopen(shipped[data[1] & 1], "rb");
    size_t count = f ? fread(file, 1, FILE_MOST, f) : 0;
    if (f)
        fclose(f);
    for (size_t at = 2; at + EDIT <= size && count; at += EDIT) {
        size_t place = ((size_t)data[at] << 8 | data[at + 1]) % count;
        for (size_t n = 0; n <= data[at + 3] && place + n < count; n++)
            file[place + n] ^= data[at + 2];
    }
    if (data[1] & 2 && size >= 4)
        count = ((size_t)data[2] << 8 | data[3]) % (count + 1);
    return count;
}

static void ask(const struct rl_scorer *s, uint32_t features)
{
    float row[PIPE_INFER_FEATURES + MOVE_FEATURES] = {0}, score;

    if (s->features != features)
        abort();
    for (uint32_t n = 0; n < s->parameters; n++) {
        if (!isfinite(s->weight[n]))
            abort();
    }
    rl_scorer_score(s, row, 1,
                    &score); /* may overflow: then no candidate is better than the first */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char file[FILE_MOST];
    static char path[64];
    size_t count = make(data, size, file);
    struct pipe_net net;
    struct policy policy;

    if (count >= HEAD)
        seal(file, count);
    snprintf(path, sizeof path, "/tmp/fuzz_networks.%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    if (!f)
        return 0;
    (void)!fwrite(file, 1, count, f);
    fclose(f);
    if (!pipe_net_load(&net, path)) {
        if (!net.flat.parameters)
            ask(&net.scorer, PIPE_INFER_FEATURES);
        if (net.points > PIPE_NET_CURVE_MOST || !(net.temperature > 0))
            abort();
        pipe_net_free(&net);
    }
    if (!policy_load(&policy, path)) {
        ask(&policy.scorer, MOVE_FEATURES);
        if (policy.points > POLICY_CURVE_MOST)
            abort();
        policy_free(&policy);
    }
    unlink(path);
    return 0;
}
