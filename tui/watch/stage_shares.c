#include "tui/watch/stage_shares.h"

#include "engine/text/units.h"
#include "hlo/meaning/roles.h"

#include <stdio.h>

static bool uses(const struct pipe_tie *t, const struct pipe_plan *p, uint32_t stage)
{
    return t->next[p->pivot[stage]] < p->pivot[stage + 1];
}

/* Marks the other stages that have a use. Returns how many. */
static uint32_t mark_others(const struct pipe_tie *t, const struct pipe_plan *p, uint32_t own,
                            bool others[static PIPE_STAGES_MOST])
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < p->stages; s++) {
        if (s == own || !uses(t, p, s))
            continue;
        others[s] = true;
        count++;
    }
    return count;
}

/* "stage 3 has", "stages 1, 3 have" */
static void write_others(const bool *others, uint32_t stages, char *out, size_t room)
{
    uint32_t count = 0;
    size_t size;

    for (uint32_t s = 0; s < stages; s++)
        count += others[s];
    size = (size_t)snprintf(out, room, count == 1 ? "stage" : "stages");
    for (uint32_t s = 0, n = 0; s < stages && size < room; s++) {
        if (others[s])
            size += (size_t)snprintf(out + size, room - size, "%s %u", n++ ? "," : "", s);
    }
    if (size < room)
        snprintf(out + size, room - size, count == 1 ? " has" : " have");
}

char *stage_shares_text(const struct pipeline *l, const struct pipe_plan *p, uint32_t stage,
                        char *out, size_t room)
{
    const struct pipe_tie *largest = NULL;
    bool others[PIPE_STAGES_MOST] = {0};
    uint32_t count = 0;
    double ms = 0, bytes = 0;
    char has[256], t[UNITS_ROOM], b[UNITS_ROOM];

    for (uint32_t n = 0; n < l->all.ties; n++) {
        const struct pipe_tie *tie = &l->all.tie[n];
        if (!uses(tie, p, stage) || !mark_others(tie, p, stage, others))
            continue;
        largest = !largest || tie->gradient_bytes > largest->gradient_bytes ? tie : largest;
        ms += tie->sync_ms;
        bytes += tie->gradient_bytes;
        count++;
    }
    out[0] = 0;
    if (!largest)
        return out;
    const struct hlo_param_role *r = &l->problem->roles.params[largest->variable];
    write_others(others, p->stages, has, sizeof has);
    snprintf(out, room, "%s add up the gradient of %.200s%s, %s, which %s too", units_ms(t, ms),
             r->module ? r->module : r->name, count > 1 ? " and others" : "", units_bytes(b, bytes),
             has);
    return out;
}
