/* What a person asks of the search in the hybrid view: pins and options. */
#include "engine/cluster/cluster.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "tui/views/host.h"
#include "tui/views/hybrid_draw.h"
#include "tui/views/panel.h"
#include "tui/views/view_hybrid.h"
#include "tui/watch/hybrid_job.h"

#include <stdio.h>
#include <string.h>

/* ---- pins ---- */

static uint32_t find_pin(const struct hybrid_asked *a, enum hybrid_wish_kind kind, const char *text)
{
    uint32_t n = 0;

    while (n < a->held_count && (a->held[n].kind != kind || strcmp(a->held[n].text, text) != 0))
        n++;
    return n;
}

static bool toggle(struct panel *p, const struct hybrid_held *pin)
{
    struct hybrid_view *v = p->state;
    struct hybrid_asked *a = &v->asked;
    uint32_t n = find_pin(a, pin->kind, pin->text);
    char text[sizeof pin->text + 48];

    hybrid_pin_text(pin, text, sizeof text);
    if (n == a->held_count && n == HYBRID_PINS_MOST) {
        host_say(p->scene, "no more than %d pins", HYBRID_PINS_MOST);
        return true;
    }
    if (n < a->held_count) {
        memmove(&a->held[n], &a->held[n + 1], (--a->held_count - n) * sizeof *a->held);
        host_say(p->scene, "no longer pinned: %s", text);
    } else {
        a->held[a->held_count++] = *pin;
        host_say(p->scene, "pinned: %s; u lets it go", text);
    }
    hybrid_view_start(p);
    return true;
}

static bool pin_cut(struct panel *p)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture_stage *t = &v->shown.picture->stage[v->shown.stage];
    struct hybrid_held pin = {.kind = HYBRID_WISH_CUT};

    if (!v->shown.stage || !t->first_layer[0]) {
        host_say(p->scene, v->shown.stage ? "no layer begins here that has a name"
                                          : "the first stage begins here in any case");
        return true;
    }
    snprintf(pin.text, sizeof pin.text, "%s", t->first_layer);
    return toggle(p, &pin);
}

static bool pin_never(struct panel *p)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture_stage *t = &v->shown.picture->stage[v->shown.stage];
    struct hybrid_held pin = {.kind = HYBRID_WISH_KEEP};

    if (!v->shown.stage || !t->first_layer[0] || !t[-1].last_layer[0]) {
        host_say(p->scene, "there is no cut between two layers here");
        return true;
    }
    snprintf(pin.text, sizeof pin.text, "%s..%s", t[-1].last_layer, t->first_layer);
    return toggle(p, &pin);
}

/* The server of a device; UINT32_MAX: the devices are not of one. */
static uint32_t server_of(const struct cluster *c, uint32_t device, uint32_t end)
{
    uint32_t first = 0, server = 0;

    for (uint32_t g = 0; g < c->groups; g++) {
        uint32_t own = c->group[g].devices, all = own * c->group[g].count;
        if (device < first + all) {
            uint32_t in = (device - first) / own;
            return end <= first + (in + 1) * own ? server + in : UINT32_MAX;
        }
        first += all;
        server += c->group[g].count;
    }
    return UINT32_MAX;
}

static bool pin_stage(struct panel *p, bool is_server)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture_stage *t = &v->shown.picture->stage[v->shown.stage];
    uint32_t server = server_of(&p->scene->problem->cluster, t->device, t->end_device);
    struct hybrid_held pin = {.kind = HYBRID_WISH_STAGE};

    if (!t->first_layer[0] || (is_server && server == UINT32_MAX)) {
        host_say(p->scene, t->first_layer[0] ? "the stage has several servers"
                                             : "no layer of this stage has a name");
        return true;
    }
    snprintf(pin.text, sizeof pin.text, is_server ? "%s@%u" : "%s=%u", t->first_layer,
             is_server ? server : t->end_device - t->device);
    return toggle(p, &pin);
}

/* What the stage does now stays so. */
static bool pin_split(struct panel *p, bool is_data)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture_stage *t = &v->shown.picture->stage[v->shown.stage];
    struct hybrid_held pin = {.kind = HYBRID_WISH_STAGE};

    if (!t->first_layer[0]) {
        host_say(p->scene, "no layer of this stage has a name");
        return true;
    }
    snprintf(pin.text, sizeof pin.text, "%s:%s=%u", t->first_layer, is_data ? "dp" : "tp",
             is_data ? t->dp : t->tp);
    return toggle(p, &pin);
}

/* The layer of the stage whose class is under the cursor, for the class may not be in the first. */
static bool pin_class(struct panel *p)
{
    struct hybrid_view *v = p->state;
    const struct hybrid_picture *h = v->shown.picture;
    const struct hybrid_picture_stage *t = &h->stage[v->shown.stage];
    const struct hybrid_picture_role *r = v->shown.role < h->roles ? &h->role[v->shown.role] : NULL;
    struct hybrid_held pin = {.kind = HYBRID_WISH_STAGE}, other = pin;

    if (!t->first_layer[0] || !r || r->in[v->shown.stage].class == CLASS_NONE) {
        host_say(p->scene, t->first_layer[0] ? "the stage has nothing of this name"
                                             : "no layer of this stage has a name");
        return true;
    }
    bool is_split = r->in[v->shown.stage].parts > 1;
    snprintf(pin.text, sizeof pin.text, "%s:%s=%s", t->first_layer, r->name,
             is_split ? "whole" : "split");
    snprintf(other.text, sizeof other.text, "%s:%s=%s", t->first_layer, r->name,
             is_split ? "split" : "whole");
    bool is_held = find_pin(&v->asked, other.kind, other.text) < v->asked.held_count;
    return toggle(p, is_held ? &other : &pin); /* held as it is: let go */
}

bool hybrid_view_pin(struct panel *p, int action)
{
    switch (action) {
    case HYBRID_VIEW_CUT:
        return pin_cut(p);
    case HYBRID_VIEW_KEEP:
        return pin_never(p);
    case HYBRID_VIEW_DEVICES:
    case HYBRID_VIEW_SERVER:
        return pin_stage(p, action == HYBRID_VIEW_SERVER);
    case HYBRID_VIEW_PIN_TENSOR:
    case HYBRID_VIEW_PIN_DATA:
        return pin_split(p, action == HYBRID_VIEW_PIN_DATA);
    case HYBRID_VIEW_PIN_CLASS:
        return pin_class(p);
    default:
        return false;
    }
}

/* ---- options ---- */

/* The next divisor of the batch among the powers of two and the batch; 0, any, behind the last. */
static uint32_t next_batches(const struct hybrid_view *v)
{
    uint32_t batch = v->shown.picture->batch, m = v->asked.options.micro_batches;

    for (m = m ? 2 * m : 1; m < batch; m *= 2)
        if (batch % m == 0)
            return m;
    return v->asked.options.micro_batches == batch ? 0 : batch;
}

static uint32_t next_power(uint32_t n)
{
    return n == 8 ? 0 : n ? 2 * n : 1;
}

static const char *number_or_any(uint32_t n, char out[static 16])
{
    if (n)
        snprintf(out, 16, "%u", n);
    else
        snprintf(out, 16, "any");
    return out;
}

static void next_schedule(struct panel *p)
{
    struct hybrid_options *o = &((struct hybrid_view *)p->state)->asked.options;

    if (!o->is_schedule_given) {
        o->is_schedule_given = true;
        o->schedule = PIPE_EAGER;
    } else if (o->schedule + 1 < PIPE_SCHEDULE_COUNT) {
        o->schedule = (enum pipe_schedule_kind)(o->schedule + 1);
    } else {
        o->is_schedule_given = false;
    }
    host_say(p->scene, "schedule: %s",
             o->is_schedule_given ? pipe_schedule_names[o->schedule] : "any, interleaved too");
}

/* Where it helps, never, everywhere; then value by value, which is shown at once. */
static void next_recompute(struct panel *p)
{
    static const char *const recompute[] = {"where it helps", "never", "everywhere"};
    struct hybrid_view *v = p->state;
    struct hybrid_options *o = &v->asked.options;

    if (!o->keeps_values && o->recompute == STAGE_RECOMPUTE_ALL) {
        o->keeps_values = true;
        o->recompute = 0;
        v->part = PART_KEPT;
        host_say(p->scene, "what stages keep is chosen value by value");
        return;
    }
    o->recompute = o->keeps_values ? 0 : (enum stage_recompute)(o->recompute + 1);
    o->keeps_values = false;
    host_say(p->scene, "forward passes run again %s", recompute[o->recompute]);
}

bool hybrid_view_option(struct panel *p, int action)
{
    struct hybrid_view *v = p->state;
    struct hybrid_options *o = &v->asked.options;
    char text[16];

    switch (action) {
    case HYBRID_VIEW_STAGES:
        o->stages = o->stages ? 0 : v->shown.picture->groups;
        host_say(p->scene, "stages: %s", number_or_any(o->stages, text));
        break;
    case HYBRID_VIEW_BATCHES:
        o->micro_batches = next_batches(v);
        host_say(p->scene, "micro-batches: %s", number_or_any(o->micro_batches, text));
        break;
    case HYBRID_VIEW_SCHEDULE:
        next_schedule(p);
        break;
    case HYBRID_VIEW_RECOMPUTE:
        next_recompute(p);
        break;
    case HYBRID_VIEW_ZERO:
        o->zero = o->zero == ZERO_LEVEL_MOST ? HYBRID_ZERO_ANY : o->zero + 1;
        if (o->zero < 0)
            host_say(p->scene, o->zero == HYBRID_ZERO_ANY ? "ZeRO 1, 2 or 3, whichever is shortest"
                                                          : "ZeRO 1; 2 and 3 where nothing fits");
        else
            host_say(p->scene, "ZeRO %d", o->zero);
        break;
    case HYBRID_VIEW_TENSOR:
        o->tp = next_power(o->tp);
        host_say(p->scene, "tensor parallel in every stage: %s", number_or_any(o->tp, text));
        break;
    case HYBRID_VIEW_DATA:
        o->dp = next_power(o->dp);
        host_say(p->scene, "replicas of every stage: %s", number_or_any(o->dp, text));
        break;
    case HYBRID_VIEW_ALIKE:
        o->is_uniform = !o->is_uniform;
        host_say(p->scene, o->is_uniform ? "all stages alike" : "every stage in its own way");
        break;
    default:
        return false;
    }
    hybrid_view_start(p);
    return true;
}
