/* Saved learners from anyone: the checksum is made right first, so that what lies behind it is
 * reached. Whatever is taken must act and learn without harm. */
#include "rl/action_set.h"
#include "rl/rl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 40, CHECKSUM_AT = 32, SIZE_AT = 24 };

static void seal(unsigned char *data, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u, body = size - HEAD;

    for (size_t i = HEAD; i < size; i++)
        h = (h ^ data[i]) * 0x100000001b3u;
    memcpy(data + SIZE_AT, &body, sizeof body);
    memcpy(data + CHECKSUM_AT, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    struct rl_agent *a;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (size >= HEAD)
        seal(copy, size);
    if (!rl_agent_load(&a, copy, size)) {
        const struct rl_shape *shape = rl_agent_shape(a);
        uint64_t legal[RL_WORDS_MAX];
        rl_put_all(legal, shape->action_count);
        float *seen = calloc(shape->observation_size, sizeof *seen);
        if (seen) {
            (void)rl_agent_choose(a, seen, legal, NULL);
            (void)!rl_agent_train(a, 1, NULL);
        }
        free(seen);
    }
    rl_agent_free(a);
    free(copy);
    return 0;
}
