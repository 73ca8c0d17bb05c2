#include "engine/pipeline/space.h"

#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

struct pipe_space_options pipe_space_paper(void)
{
    return (struct pipe_space_options){.radius = 3, .snap = 0.02};
}

/* ---- computation before a cut, on one device of the first type ---- */
static double work_before(const struct pipe_instance *in, uint32_t cut)
{
    return in->forward_ms[0][cut] + in->backward_ms[0][cut];
}

/* What one device of type t gets done while one of the first type does 1. */
static double speed_of(const struct pipe_instance *in, uint32_t t)
{
    uint32_t row = pipe_row(in, t, 1), n = in->points;
    double took = in->forward_ms[row][n] + in->backward_ms[row][n];

    return took > 0 ? work_before(in, n) / took : 1;
}

static double cut_bytes(const struct pipe_instance *in, uint32_t cut)
{
    return in->forward_bytes[cut] + in->backward_bytes[cut];
}

/* The first cut with at least `work` before it, 1 .. points - 1. */
static uint32_t first_cut(const struct pipe_instance *in, double work)
{
    uint32_t low = 1, high = in->points - 1;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (work_before(in, mid) >= work)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* The cheapest cut within `room` of `work`, or the nearest when there is none. */
static uint32_t snap_cut(const struct pipe_instance *in, double work, double room)
{
    uint32_t at = first_cut(in, work), best;

    if (at > 1 && work - work_before(in, at - 1) <= fabs(work_before(in, at) - work))
        at--;
    best = at;
    for (uint32_t i = first_cut(in, work - room);
         i < in->points && work_before(in, i) <= work + room; i++) {
        double gain = cut_bytes(in, best) - cut_bytes(in, i);
        double near = fabs(work_before(in, best) - work) - fabs(work_before(in, i) - work);
        if (work_before(in, i) >= work - room && (gain > 0 || (gain == 0 && near > 0)))
            best = i;
    }
    return best;
}

bool pipe_pivots_by_share(const struct pipe_instance *in, struct pipe_plan *p, double ratio,
                          double snap)
{
    double weight[PIPE_STAGES_MOST], all = 0, before = 0, factor = 1;
    double work = work_before(in, in->points);

    for (uint32_t s = 0; s < p->stages; s++, factor *= ratio) {
        weight[s] = 0;
        for (uint32_t d = p->device[s]; d < p->device[s + 1]; d++)
            weight[s] += factor * speed_of(in, in->type_of[d]);
        all += weight[s];
    }
    p->pivot[0] = 0;
    p->pivot[p->stages] = in->points;
    for (uint32_t s = 1; s < p->stages; s++) {
        before += weight[s - 1];
        p->pivot[s] = in->points > 1 ? snap_cut(in, work * before / all, work * snap) : 1;
    }
    return pipe_plan_is_valid(in, p);
}

/* ---- the candidates ---- */
/* As many anchors as cuts: server boundaries when there is one stage a server, else equal parts. */
static void set_anchors(struct pipe_space *s)
{
    const struct pipe_instance *in = s->in;

    for (uint32_t n = 0; n <= s->stages; n++)
        s->anchor[n] = s->stages == in->servers ? in->boundary[n]
                                                : (uint32_t)((uint64_t)in->devices * n / s->stages);
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static void move_anchors_to_pins(struct pipe_space *s)
{
    for (uint32_t p = 0; p < s->options.pins.count && s->stages > 1; p++) {
        uint32_t device = s->options.pins.pin[p].device, best = 1;
        for (uint32_t n = 2; n < s->stages; n++)
            if (distance(s->anchor[n], device) < distance(s->anchor[best], device))
                best = n;
        s->anchor[best] = device;
    }
}

static void set_pivots(struct pipe_space *s)
{
    const struct pipe_instance *in = s->in;
    double work = work_before(in, in->points), all = 0, before = 0;

    for (uint32_t d = 0; d < in->devices; d++)
        all += speed_of(in, in->type_of[d]);
    for (uint32_t d = 1; d < in->devices; d++) {
        before += speed_of(in, in->type_of[d - 1]);
        s->pivot[d] =
            in->points > 1 ? snap_cut(in, work * before / all, work * s->options.snap) : 1;
    }
    for (uint32_t n = 0; n < s->options.pins.count; n++)
        s->pivot[s->options.pins.pin[n].device] = s->options.pins.pin[n].pivot;
    s->pivot[in->devices] = in->points;
}

/* Whether devices [a, b) with their pivots make a stage. */
static bool is_stage(const struct pipe_space *s, uint32_t a, uint32_t b)
{
    const struct pipe_instance *in = s->in;

    return a < b && s->pivot[a] < s->pivot[b] && (b == in->devices || s->pivot[b] < in->points) &&
           pipe_pins_allow(&s->options.pins, s->pivot[a], s->pivot[b], a, b) &&
           (s->options.empty_stages || in->variables[s->pivot[a]] < in->variables[s->pivot[b]]);
}

static bool is_device(const struct pipe_space *s, uint32_t cut, uint32_t offset)
{
    uint32_t shifted = s->anchor[cut] + offset;

    return shifted > s->options.radius && shifted - s->options.radius < s->in->devices;
}

/* From the last cut to the first: which offsets lead to a plan, and how many plans there are. */
static int find_reaching(struct pipe_space *s, struct err *e)
{
    uint32_t w = s->width;
    double *plans = mem_try((size_t)s->stages * w, sizeof *plans), all = 0;

    if (!plans)
        return err_no_memory(e, "for %u stages", s->stages);
    if (s->stages == 1)
        all = is_stage(s, 0, s->in->devices);
    for (uint32_t c = s->stages - 1; c > 0; c--) {
        for (uint32_t o = 0; o < w; o++) {
            double sum = 0;
            if (!is_device(s, c, o))
                continue;
            uint32_t d = pipe_space_device(s, c, o);
            if (c + 1 == s->stages)
                sum = is_stage(s, d, s->in->devices);
            for (uint32_t n = 0; n < w && c + 1 < s->stages; n++)
                if (s->reaches[(c + 1) * w + n] && is_stage(s, d, pipe_space_device(s, c + 1, n)))
                    sum += plans[(c + 1) * w + n];
            plans[c * w + o] = sum;
            s->reaches[c * w + o] = sum > 0;
            if (c == 1 && is_stage(s, 0, d))
                all += sum;
        }
    }
    free(plans);
    s->size = all < 1e18 ? (uint64_t)all : UINT64_MAX;
    return s->size ? 0
                   : err_set(e, ERR_INFEASIBLE,
                             "no way to cut near the server boundaries gives %u stages with a "
                             "variable each",
                             s->stages);
}

static int check_options(const struct pipe_instance *in, const struct pipe_space *s, struct err *e)
{
    if (s->options.radius > PIPE_RADIUS_MOST)
        return err_set(e, ERR_INPUT, "radius %u, expected at most %d", s->options.radius,
                       PIPE_RADIUS_MOST);
    if (!(s->options.snap >= 0 && s->options.snap <= 1))
        return err_set(e, ERR_INPUT, "snap %g, expected 0 to 1", s->options.snap);
    if (!pipe_pins_are_valid(in, &s->options.pins))
        return err_set(e, ERR_INFEASIBLE, "the pinned cuts cannot all stand in one plan");
    if (s->stages > in->devices || s->stages > in->points)
        return err_set(e, ERR_INFEASIBLE, "%u stages of %u devices and %u points", s->stages,
                       in->devices, in->points);
    return 0;
}

int pipe_space_new(const struct pipe_instance *in, const struct pipe_space_options *o,
                   struct pipe_space *out, struct err *e)
{
    struct pipe_space s = {.in = in, .options = *o, .width = 2 * o->radius + 1};
    int rc;

    s.stages = o->stages ? o->stages : in->servers > 1 ? in->servers : in->devices > 1 ? 2 : 1;
    rc = check_options(in, &s, e);
    if (rc)
        return rc;
    s.anchor = mem_try(s.stages + 1, sizeof *s.anchor);
    s.pivot = mem_try(in->devices + 1, sizeof *s.pivot);
    s.reaches = mem_try((size_t)s.stages * s.width, 1);
    if (!s.anchor || !s.pivot || !s.reaches) {
        pipe_space_free(&s);
        return err_no_memory(e, "for %u stages", s.stages);
    }
    set_anchors(&s);
    move_anchors_to_pins(&s);
    set_pivots(&s);
    rc = find_reaching(&s, e);
    if (rc)
        pipe_space_free(&s);
    else
        *out = s;
    return rc;
}

void pipe_space_free(struct pipe_space *s)
{
    free(s->anchor);
    free(s->pivot);
    free(s->reaches);
    memset(s, 0, sizeof *s);
}

uint64_t pipe_space_legal(const struct pipe_space *s, uint32_t cut, uint32_t before)
{
    uint64_t legal = 0;

    for (uint32_t o = 0; o < s->width; o++)
        if (s->reaches[cut * s->width + o] && is_stage(s, before, pipe_space_device(s, cut, o)))
            legal |= (uint64_t)1 << o;
    return legal;
}

static void set_cut(const struct pipe_space *s, struct pipe_plan *p, uint32_t cut, uint32_t device)
{
    p->device[cut] = device;
    p->pivot[cut] = s->pivot[device];
}

static void set_ends(const struct pipe_space *s, struct pipe_plan *p)
{
    p->stages = s->stages;
    set_cut(s, p, 0, 0);
    set_cut(s, p, s->stages, s->in->devices);
}

void pipe_space_complete(const struct pipe_space *s, struct pipe_plan *p, uint32_t cut)
{
    set_ends(s, p);
    for (uint32_t c = cut ? cut : 1; c < s->stages; c++) {
        uint64_t legal = pipe_space_legal(s, c, p->device[c - 1]);
        uint32_t radius = s->options.radius, best = radius, far = UINT32_MAX;
        for (uint32_t o = 0; o < s->width; o++) {
            uint32_t away = o > radius ? o - radius : radius - o;
            if (legal >> o & 1 && away < far) {
                far = away;
                best = o;
            }
        }
        set_cut(s, p, c, pipe_space_device(s, c, best));
    }
}

/* Sets cuts c .. stages-1 to their first legal offsets. */
static void set_first(const struct pipe_space *s, struct pipe_plan *p, uint32_t cut)
{
    for (uint32_t c = cut; c < s->stages; c++) {
        uint64_t legal = pipe_space_legal(s, c, p->device[c - 1]);
        uint32_t o = 0;
        while (!(legal >> o & 1))
            o++;
        set_cut(s, p, c, pipe_space_device(s, c, o));
    }
}

bool pipe_space_next(const struct pipe_space *s, struct pipe_plan *p)
{
    if (!p->stages) {
        set_ends(s, p);
        set_first(s, p, 1);
        return true;
    }
    for (uint32_t c = s->stages - 1; c > 0; c--) {
        uint64_t legal = pipe_space_legal(s, c, p->device[c - 1]);
        for (uint32_t o = p->device[c] - s->anchor[c] + s->options.radius + 1; o < s->width; o++) {
            if (legal >> o & 1) {
                set_cut(s, p, c, pipe_space_device(s, c, o));
                set_first(s, p, c + 1);
                return true;
            }
        }
    }
    return false;
}
