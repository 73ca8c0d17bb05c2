#include "engine/recompute/keeping.h"

#include "engine/recompute/cut.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for what stages keep";

void keep_problem_release(struct keep_problem *p)
{
    free(p->values);
    free(p->edges);
    memset(p, 0, sizeof *p);
}

void keep_choice_release(struct keep_choice *c)
{
    free(c->state);
    c->state = NULL;
}

/* ---- a choice ---- */

static void find_beside(const struct keep_problem *p, struct keep_choice *c, double *beside)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const struct keep_value *v = &p->values[k];
        if (c->state[k] == KEEP_AGAIN && v->is_needed)
            beside[v->group] += v->bytes;
    }
    for (uint32_t g = 0; g < p->groups; g++)
        c->beside = fmax(c->beside, beside[g]);
}

/* The one that keeps what keeps[value] says, and whatever is then used and held. O(edges). */
static int choice_of(const struct keep_problem *p, const uint8_t *keeps, struct keep_choice *out,
                     struct err *e)
{
    struct keep_choice c = {.state = mem_try((size_t)p->count + 1, 1)};
    double *beside = mem_try((size_t)p->groups + 1, sizeof *beside);

    if (!c.state || !beside) {
        free(c.state);
        free(beside);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (uint32_t k = 0; k < p->count; k++)
        c.state[k] = p->values[k].is_needed ? KEEP_AGAIN : KEEP_UNUSED;
    for (uint32_t k = p->count; k--;) { /* who reads comes before who is read */
        const struct keep_value *v = &p->values[k];
        if (c.state[k] == KEEP_UNUSED)
            continue;
        if (v->is_held || (keeps[k] && !v->is_passed)) {
            c.state[k] = KEEP_KEPT;
            c.bytes += v->bytes;
            continue;
        }
        c.ms += v->ms;
        for (uint32_t i = 0; i < v->read_count; i++)
            c.state[p->edges[v->reads + i]] = KEEP_AGAIN;
    }
    find_beside(p, &c, beside);
    free(beside);
    *out = c;
    return 0;
}

/* ---- the best at a price: a minimum cut ---- */

struct pricing {
    const struct keep_problem *p;
    struct cut cut;
    uint32_t *keep_arc, *again_arc; /* [count] UINT32_MAX: none */
    uint32_t *fixed, fixed_count;
    size_t fixed_room;
    uint8_t *keeps;
    double sum_ms, sum_bytes;
};

/* Node of a value that is used, of one that is computed again. */
static uint32_t used_node(uint32_t k)
{
    return 2 + 2 * k;
}

static uint32_t again_node(uint32_t k)
{
    return 3 + 2 * k;
}

static bool add_fixed(struct pricing *x, uint32_t from, uint32_t to)
{
    uint32_t arc = cut_add(&x->cut, from, to);

    if (arc == UINT32_MAX || !mem_grow(&x->fixed, &x->fixed_room, x->fixed_count, 1))
        return false;
    x->fixed[x->fixed_count++] = arc;
    return true;
}

static bool add_value(struct pricing *x, uint32_t k)
{
    const struct keep_value *v = &x->p->values[k];
    bool ok = !v->is_needed || add_fixed(x, 0, used_node(k));

    x->sum_ms += v->is_held ? 0 : v->ms;
    x->sum_bytes += v->is_passed && !v->is_held ? 0 : v->bytes; /* what has a keep_arc */
    if (v->is_passed && !v->is_held)
        ok = ok && add_fixed(x, used_node(k), again_node(k));
    else
        ok = ok && (x->keep_arc[k] = cut_add(&x->cut, used_node(k), again_node(k))) != UINT32_MAX;
    if (v->is_held)
        return ok && add_fixed(x, again_node(k), 1);
    ok = ok && (x->again_arc[k] = cut_add(&x->cut, again_node(k), 1)) != UINT32_MAX;
    for (uint32_t i = 0; i < v->read_count && ok; i++)
        ok = add_fixed(x, again_node(k), used_node(x->p->edges[v->reads + i]));
    return ok;
}

static void pricing_release(struct pricing *x)
{
    cut_release(&x->cut);
    free(x->keep_arc);
    free(x->again_arc);
    free(x->fixed);
    free(x->keeps);
}

static int pricing_new(const struct keep_problem *p, struct pricing *x, struct err *e)
{
    size_t room = (size_t)p->count + 1;
    int rc = cut_new(2 * p->count + 2, &x->cut, e);

    if (rc)
        return rc;
    x->p = p;
    x->keep_arc = mem_try(room, sizeof *x->keep_arc);
    x->again_arc = mem_try(room, sizeof *x->again_arc);
    x->keeps = mem_try(room, 1);
    bool ok = x->keep_arc && x->again_arc && x->keeps;
    if (ok) {
        memset(x->keep_arc, 0xff, room * sizeof *x->keep_arc);
        memset(x->again_arc, 0xff, room * sizeof *x->again_arc);
    }
    for (uint32_t k = 0; k < p->count && ok; k++)
        ok = add_value(x, k);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}

/* The best choice at so many ms per byte. */
static int best_at(struct pricing *x, double price, struct keep_choice *out, struct err *e)
{
    double scale = ldexp(1, 52) / (x->sum_ms + price * x->sum_bytes);

    for (uint32_t k = 0; k < x->fixed_count; k++)
        cut_set(&x->cut, x->fixed[k], CUT_INFINITE);
    for (uint32_t k = 0; k < x->p->count; k++) {
        const struct keep_value *v = &x->p->values[k];
        if (x->keep_arc[k] != UINT32_MAX)
            cut_set(&x->cut, x->keep_arc[k], (int64_t)(scale * price * v->bytes));
        if (x->again_arc[k] != UINT32_MAX)
            cut_set(&x->cut, x->again_arc[k], (int64_t)(scale * v->ms));
    }
    cut_solve(&x->cut);
    for (uint32_t k = 0; k < x->p->count; k++)
        x->keeps[k] =
            cut_is_source(&x->cut, used_node(k)) && !cut_is_source(&x->cut, again_node(k));
    return choice_of(x->p, x->keeps, out, e);
}

/* ---- the front ---- */

static const double ENDS = 1e-6, NEAR = 1e-9; /* of the price that makes both sums alike; of both */

void keep_front_release(struct keep_front *f)
{
    for (uint32_t k = 0; k < f->count; k++)
        keep_choice_release(&f->points[k]);
    free(f->points);
    memset(f, 0, sizeof *f);
}

static int add_point(struct keep_front *f, uint32_t at, struct keep_choice *c, struct err *e)
{
    if (!mem_grow(&f->points, &f->room, f->count, 1)) {
        keep_choice_release(c);
        return err_no_memory(e, MEMORY_FOR);
    }
    memmove(f->points + at + 1, f->points + at, (f->count - at) * sizeof *f->points);
    f->points[at] = *c;
    f->count++;
    return 0;
}

/* A point below the line between two neighbours goes between them. */
static int refine(struct keep_front *f, struct pricing *x, uint32_t k, bool *found, struct err *e)
{
    const struct keep_choice *a = &f->points[k], *b = &f->points[k + 1];
    double price = (b->ms - a->ms) / (a->bytes - b->bytes), line = a->ms + price * a->bytes;
    struct keep_choice c;

    *found = false;
    if (!(a->bytes > b->bytes && b->ms > a->ms))
        return 0;
    int rc = best_at(x, price, &c, e);
    if (rc)
        return rc;
    *found = c.ms + price * c.bytes < line * (1 - NEAR) && c.bytes < a->bytes && c.bytes > b->bytes;
    if (*found)
        return add_point(f, k + 1, &c, e);
    keep_choice_release(&c);
    return 0;
}

static int find_points(struct keep_front *f, struct pricing *x, struct err *e)
{
    double alike = x->sum_bytes > 0 && x->sum_ms > 0 ? x->sum_ms / x->sum_bytes : 1;
    int rc = 0;

    if (!(x->sum_ms + x->sum_bytes > 0)) /* nothing to choose */
        x->sum_ms = 1;
    for (int end = 0; end < 2 && !rc; end++) {
        struct keep_choice c;
        rc = best_at(x, end ? alike / ENDS : alike * ENDS, &c, e);
        if (!rc && end && !(c.bytes < f->points[0].bytes)) {
            keep_choice_release(&c);
            break;
        }
        rc = rc ? rc : add_point(f, f->count, &c, e);
    }
    for (uint32_t k = 0; k + 1 < f->count && !rc;) {
        bool found;
        rc = refine(f, x, k, &found, e);
        k += !found;
    }
    return rc;
}

int keep_front_new(const struct keep_problem *p, struct keep_front *out, struct err *e)
{
    struct pricing x = {0};
    int rc = pricing_new(p, &x, e);

    *out = (struct keep_front){.problem = p};
    rc = rc ? rc : find_points(out, &x, e);
    pricing_release(&x);
    if (rc)
        keep_front_release(out);
    return rc;
}

/* ---- within a limit ---- */

static double memory_of(const struct keep_choice *c, double times)
{
    return times * c->bytes + c->beside;
}

/* The first `groups` groups do as point k + 1, the others as point k. */
static int mix(const struct keep_front *f, uint32_t k, uint32_t groups, uint8_t *keeps,
               struct keep_choice *out, struct err *e)
{
    const struct keep_problem *p = f->problem;

    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t from = k + (k + 1 < f->count && p->values[n].group < groups);
        keeps[n] = f->points[from].state[n] == KEEP_KEPT;
    }
    return choice_of(p, keeps, out, e);
}

double keep_line(const struct keep_front *f, double bytes)
{
    if (bytes >= f->points[0].bytes)
        return f->points[0].ms;
    for (uint32_t k = 1; k < f->count; k++) {
        const struct keep_choice *a = &f->points[k - 1], *b = &f->points[k];
        if (bytes >= b->bytes)
            return a->ms + (b->ms - a->ms) * (a->bytes - bytes) / (a->bytes - b->bytes);
    }
    return INFINITY;
}

/* Those between point k and the next; the first of all too. */
static int each_between(const struct keep_front *f, uint32_t k, uint8_t *keeps,
                        int (*each)(void *self, struct keep_choice *c, bool *enough, struct err *e),
                        void *self, bool *enough, struct err *e)
{
    uint32_t groups = k + 1 < f->count ? f->problem->groups : 0;

    for (uint32_t g = k ? 1 : 0; g <= groups && !*enough; g++) {
        struct keep_choice c;
        int rc = mix(f, k, g, keeps, &c, e);
        rc = rc ? rc : each(self, &c, enough, e);
        if (rc)
            return rc;
    }
    return 0;
}

int keep_each(const struct keep_front *f,
              int (*each)(void *self, struct keep_choice *c, bool *enough, struct err *e),
              void *self, struct err *e)
{
    uint8_t *keeps = mem_try((size_t)f->problem->count + 1, 1);
    bool enough = false;
    int rc = keeps ? 0 : err_no_memory(e, MEMORY_FOR);

    for (uint32_t k = 0; k < f->count && !enough; k++) {
        rc = rc ? rc : each_between(f, k, keeps, each, self, &enough, e);
        if (rc)
            break;
    }
    free(keeps);
    return rc;
}

struct within {
    double times, room;
    struct keep_choice best; /* the first that fits, or of least memory */
    bool fits;
};

static int look_within(void *self, struct keep_choice *c, bool *enough, struct err *e)
{
    struct within *w = self;
    double bytes = memory_of(c, w->times);

    (void)e;
    w->fits = *enough = bytes <= w->room;
    if (!w->fits && w->best.state && bytes >= memory_of(&w->best, w->times)) {
        keep_choice_release(c);
        return 0;
    }
    keep_choice_release(&w->best);
    w->best = *c;
    return 0;
}

int keep_within(const struct keep_front *f, double times, double room, struct keep_choice *out,
                bool *fits, double *bound_ms, struct err *e)
{
    struct within w = {.times = times, .room = room};
    int rc = keep_each(f, look_within, &w, e);

    *bound_ms = keep_line(f, times > 0 ? room / times : INFINITY);
    *fits = w.fits;
    if (rc)
        keep_choice_release(&w.best);
    else
        *out = w.best;
    return rc;
}
