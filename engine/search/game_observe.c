/* What the learner sees of a position, and what it saw. */
#include "engine/search/game.h"

#include <math.h>
#include <string.h>

uint32_t game_observation_size(const struct game *g)
{
    return (g->options.paper_state ? 1 : 3) * g->move_count + 1;
}

static void observe_plainly(const struct game *g, float *out)
{
    for (uint32_t n = 0; n < g->move_count; n++)
        out[n] = (float)game_status(g, n);
    out[g->move_count] = (float)g->position;
}

void game_observed(const struct game *g, const float *seen, int8_t *status, uint32_t *position)
{
    uint32_t moves = g->move_count, at = 0;
    bool plain = g->options.paper_state;

    for (uint32_t n = 0; n < moves; n++)
        status[n] = plain ? (int8_t)seen[n] : seen[n] != 0 ? 1 : seen[moves + n] != 0 ? 0 : -1;
    while (!plain && at < moves && seen[2 * moves + at] == 0)
        at++;
    *position = plain ? (uint32_t)seen[moves] : at;
}

void game_observe(const struct game *g, float *out)
{
    if (g->options.paper_state) {
        observe_plainly(g, out);
        return;
    }
    memset(out, 0, game_observation_size(g) * sizeof *out);
    for (uint32_t n = 0; n < g->move_count; n++) {
        int s = game_status(g, n);
        out[n] = s == 1;
        out[g->move_count + n] = s == 0;
    }
    if (g->position < g->move_count)
        out[2 * g->move_count + g->position] = 1;
    out[3 * g->move_count] = (float)log(game_pinned_ms(g) / game_step_ms(g));
}
