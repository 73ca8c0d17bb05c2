#include "engine/pipeline/pipe_shares.h"

#include "engine/pipeline/pipe_instance.h"

/* Of the cuts from `least` to `most` the one of fewest bytes within `snap` of the share, the
 * nearest on ties; the share's own where none is that near. */
static uint32_t share_pivot(const struct pipe_infer *f, double share, double snap, uint32_t least,
                            uint32_t most)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t low = least, high = most;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (f->work[mid] < share)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > least && share - f->work[low - 1] < f->work[low] - share)
        low--;
    uint32_t best = low;
    for (uint32_t i = low; i-- > least && share - f->work[i] <= snap;)
        best = in->forward_bytes[i] < in->forward_bytes[best] ? i : best;
    for (uint32_t i = low + 1; i <= most && f->work[i] - share <= snap; i++)
        best = in->forward_bytes[i] < in->forward_bytes[best] ? i : best;
    return best;
}

/* The first device cut behind a place; cut_count: none. */
static uint32_t first_cut(const struct pipe_infer *f, double device)
{
    uint32_t low = 0, high = f->cut_count;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (f->cuts[mid] > device)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* The device cut nearest to an equal part of what is left behind `device`, that leaves `more`. */
static uint32_t share_device(const struct pipe_infer *f, uint32_t device, uint32_t left)
{
    uint32_t devices = f->goal->in->devices;
    double wanted = device + (double)(devices - device) / (left + 1);
    uint32_t low = first_cut(f, device), high = f->cut_count - left;

    high = high < f->cut_count ? high : f->cut_count - 1;
    if (low > high)
        return devices;
    uint32_t at = first_cut(f, wanted);
    at = at < low ? low : at > high ? high : at;
    return at > low && wanted - f->cuts[at - 1] <= f->cuts[at] - wanted ? f->cuts[at - 1]
                                                                        : f->cuts[at];
}

/* Where the stage that begins at `device` ends, by equal shares, with `left` stages to come. */
uint32_t pipe_share_next(const struct pipe_infer *f, uint32_t device, uint32_t left)
{
    return left > 1 ? share_device(f, device, left - 1) : f->goal->in->devices;
}

/* What so many devices do in the time of one, also where there is no whole number of them. */
double pipe_share_speed(const struct pipe_infer *f, double devices)
{
    uint32_t n = (uint32_t)devices;
    double low = f->speed[n ? n : 1];

    return n && n < f->goal->in->devices ? low + (devices - n) * (f->speed[n + 1] - low) : low;
}

/* Decides cuts `cut` .. by equal shares of what is left. False where they do not ascend. */
bool pipe_share_complete(const struct pipe_infer *f, struct pipe_plan *p, uint32_t cut, double snap)
{
    for (; cut < p->stages; cut++) {
        uint32_t left = p->stages - cut, from = p->pivot[cut - 1], device = p->device[cut - 1];
        uint32_t to = share_device(f, device, left);
        if (from + 1 > f->goal->in->points - left || to >= f->goal->in->devices)
            return false;
        double own = pipe_share_speed(f, to - device);
        double share =
            own / (own + left * pipe_share_speed(f, (double)(f->goal->in->devices - to) / left));
        p->device[cut] = to;
        p->pivot[cut] = share_pivot(f, f->work[from] + (1 - f->work[from]) * share, snap, from + 1,
                                    f->goal->in->points - left);
    }
    return true;
}
