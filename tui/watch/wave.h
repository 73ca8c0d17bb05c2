/* tui/watch/wave.h - the last decision's wave, value by value: what it settled, in the order it
 * happened.
 *
 * Step 1 are the dims of variables that were decided, step 2 what they are tied to, and so on
 * through the class; then, one step each, the classes that it excluded. In slow motion the screen
 * lights up the steps one after another, in at most a second, and then rests. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_WAVE_H
#define AUTOMAP_TUI_WATCH_WAVE_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"

struct watch;

enum wave_light { WAVE_DARK, WAVE_LIT, WAVE_FRONT };

struct wave {
    uint16_t *step;    /* [dims of values] from 1; 0: not in it. NULL: none was made yet */
    uint32_t steps;    /* 0: no wave */
    uint32_t shown;    /* steps lit by now */
    uint32_t values;   /* dims in it */
    uint64_t decision; /* which one */
    uint32_t move;     /* what was decided */
    label axes;        /* that it settles */
    double begun_ms;   /* when its first step was lit; < 0: at rest, or by hand */
    double step_ms;
};

/* Takes the wave of the watch's snapshot: all of it lit, at rest. O(classes of the wave). */
void wave_read(struct wave *v, const struct watch *w);
void wave_release(struct wave *v);

void wave_play(struct wave *v, double now_ms, double step_ms); /* from its first step on */
bool wave_tick(struct wave *v, double now_ms); /* true: something is lit that was not */
double wave_next_ms(const struct wave *v);     /* when wave_tick wants to be called; < 0: never */
void wave_step_by(struct wave *v, int steps);  /* by hand */

/* Settled by the wave, but not yet lit. */
static inline bool wave_is_ahead(const struct wave *v, dim_id d)
{
    return v->steps && v->step[d] > v->shown;
}
static inline enum wave_light wave_light(const struct wave *v, dim_id d)
{
    return !v->steps || !v->step[d] || v->step[d] > v->shown ? WAVE_DARK
           : v->step[d] == v->shown                          ? WAVE_FRONT
                                                             : WAVE_LIT;
}
enum wave_light wave_light_of(const struct wave *v, const struct classes *c, hlo_id id);

#endif
