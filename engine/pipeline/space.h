/* engine/pipeline/space.h - the paper's candidates (Auto-MAP 4.3): device cuts near the server
 * boundaries, pivots that follow from them.
 *
 * A plan has one stage per server unless another number is asked for. Device cut s is taken from
 * `radius` devices on each side of anchor s, the boundary of a server (or of equal parts of the
 * devices, when the number of stages is not that of the servers). Devices before a cut get their
 * share of the computation: the pivot is the cheapest cut (bytes both ways) within `snap` of all
 * computation from that share, the nearest on ties. So a pivot is a function of its device cut, and
 * a plan of its offsets from the anchors. Every stage holds a variable; pinned cuts stand. */
#ifndef AUTOMAP_ENGINE_PIPELINE_SPACE_H
#define AUTOMAP_ENGINE_PIPELINE_SPACE_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum { PIPE_RADIUS_MOST = 31 }; /* 2 radius + 1 actions fit a mask of 64 */

struct pipe_space_options {
    uint32_t stages; /* 0: one per server, 2 in a single server */
    uint32_t radius; /* 0: server boundaries alone */
    double snap;     /* part of all computation; 0: exactly by share */
    struct pipe_pins
        pins;          /* the nearest anchor stands on a pinned device, its pivot is the pin's */
    bool empty_stages; /* stages without a variable are allowed */
};
/* The paper's: one stage per server, radius 3, snapped within 2 %. */
struct pipe_space_options pipe_space_paper(void);

struct pipe_space {
    const struct pipe_instance *in;
    struct pipe_space_options options;
    uint32_t stages, width; /* width = 2 radius + 1 offsets a cut */
    uint32_t *anchor;       /* [stages + 1] devices */
    uint32_t *pivot;        /* [devices + 1] of a device cut */
    uint8_t *reaches; /* [stages][width] offset of cut s: the last stage can be reached from it */
    uint64_t size;    /* candidates that are plans; UINT64_MAX when there are more */
};

/* ERR_INPUT: radius too large; ERR_INFEASIBLE: more stages than devices or points, or no candidate
 * is a plan. O(devices points + stages width^2). */
int pipe_space_new(const struct pipe_instance *in, const struct pipe_space_options *o,
                   struct pipe_space *out, struct err *e) MUST_CHECK;
void pipe_space_free(struct pipe_space *s);

/* Cuts 1 .. stages-1 are decided in order. Bit a: after cut s - 1 stands on device `before`
 * (0 for s = 1), cut s may be anchor[s] + a - radius, and the rest can be completed. */
uint64_t pipe_space_legal(const struct pipe_space *s, uint32_t cut, uint32_t before);
static inline uint32_t pipe_space_device(const struct pipe_space *s, uint32_t cut, uint32_t offset)
{
    return s->anchor[cut] + offset - s->options.radius;
}

/* Completes device[0 .. cut-1] with the legal cuts nearest to their anchors (lowest on ties);
 * stands at cut = stages for a complete plan. */
void pipe_space_complete(const struct pipe_space *s, struct pipe_plan *p, uint32_t cut);

/* The next candidate in lexicographic order of offsets. Begin with p->stages = 0. False: no more.
 */
bool pipe_space_next(const struct pipe_space *s, struct pipe_plan *p);

/* Cuts that split the computation in the shares of the devices: for device cuts d[0 .. stages]
 * whose stage s weighs (devices' speed) x ratio^s. Fills pivot[1 .. stages-1], snapped; false when
 * they do not ascend. ratio 1: by speed alone; (M - 1) / M: the closed form without communication.
 */
bool pipe_pivots_by_share(const struct pipe_instance *in, struct pipe_plan *p, double ratio,
                          double snap);

#endif
