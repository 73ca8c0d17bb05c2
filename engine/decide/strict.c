#include "engine/decide/strict.h"

#include "engine/decide/classes.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Axes that no admissible label can still add to `on` without touching `off`. */
static label closed_axes(const struct labels *l, class_id k, label on, label off)
{
    label open = 0;

    for (uint32_t a = 0; a < l->count; a++) {
        if (label_is_admissible(l, k, (label)a) && (a & on) == on && !(a & off))
            open |= (label)a;
    }
    return (label)~open & (label)(l->count - 1);
}

int strict_new(const struct labels *l, struct strict *out, struct err *e)
{
    struct strict s = {.labels = l, .all = (label)(l->count - 1)};
    class_id count = l->classes->count;

    s.on = mem_try(count, sizeof *s.on);
    s.off = mem_try(count, sizeof *s.off);
    if (!s.on || !s.off || !mem_grow(&s.trail, &s.trail_room, 0, (size_t)count * l->axes + 1)) {
        strict_release(&s);
        return err_no_memory(e, "for the decisions of this module");
    }
    for (class_id k = 0; k < count; k++)
        s.off[k] = closed_axes(l, k, 0, 0);
    *out = s;
    return 0;
}

void strict_release(struct strict *s)
{
    free(s->on);
    free(s->off);
    free(s->trail);
    memset(s, 0, sizeof *s);
}

/* Every change adds an axis to on or off, so the trail holds at most classes x axes entries. */
static void change_label(struct strict *s, class_id k, label on, label off)
{
    off |= closed_axes(s->labels, k, on, off) & (label)~on;
    if (on == s->on[k] && off == s->off[k])
        return;
    s->trail[s->trail_count++] = (struct strict_change){k, s->on[k], s->off[k]};
    s->on[k] = on;
    s->off[k] = off;
}

static bool refuse_clash(const struct strict *s, class_id k, label bit, bool split,
                         struct strict_clash *clash)
{
    const struct classes *c = s->labels->classes;
    const struct class_info *info = &c->info[k];

    if (!clash)
        return false;
    *clash = (struct strict_clash){k, CLASS_NONE, info->place};
    for (uint32_t n = 0; split && n < info->meet_count; n++) {
        const struct class_meet *meet = &c->meets[info->meets + n];
        if (s->on[meet->other] & bit) {
            clash->other = meet->other;
            clash->place = meet->place;
            break;
        }
    }
    return false;
}

bool strict_decide(struct strict *s, class_id k, uint32_t axis, bool split,
                   struct strict_clash *clash)
{
    const struct classes *c = s->labels->classes;
    label bit = (label)(1u << axis);

    if ((split ? s->off[k] : s->on[k]) & bit)
        return refuse_clash(s, k, bit, split, clash);
    if ((split ? s->on[k] : s->off[k]) & bit)
        return true;
    if (!split) {
        change_label(s, k, s->on[k], s->off[k] | bit);
        return true;
    }
    change_label(s, k, s->on[k] | bit, s->off[k]);
    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        class_id other = c->meets[c->info[k].meets + n].other;
        change_label(s, other, s->on[other], s->off[other] | bit);
    }
    return true;
}

void strict_undo(struct strict *s, size_t mark)
{
    while (s->trail_count > mark) {
        const struct strict_change *c = &s->trail[--s->trail_count];
        s->on[c->class] = c->on;
        s->off[c->class] = c->off;
    }
}
