#include "engine/search/policy.h"

#include "engine/search/game.h"
#include "engine/search/move_features.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/serialize.h"

#include <math.h>
#include <string.h>

enum { KIND_POLICY = 18, FEATURE_LIST = 1 /* with every change of what a feature means */ };

bool policy_choose(const struct rl_scorer *net, struct game *g, double heat, struct rl_rng *rng)
{
    float rows[2 * MOVE_FEATURES], score[2];
    uint32_t legal = move_describe(g, rows);

    if (legal != 3)
        return legal == 2;
    rl_scorer_score(net, rows, 2, score);
    double more = (double)score[1] - (double)score[0];
    if (!(heat > 0))
        return more > 0;
    return rl_rng_unit(rng) < 1 / (1 + exp(-more / heat));
}

static double worth_of_move(struct game *g, bool split)
{
    struct game_place here = game_here(g);
    double worth = game_play(g, split);

    game_return(g, &here);
    return worth;
}

/* `net` NULL: greedily. The worth of where it ends. */
static double play_way(const struct rl_scorer *net, struct game *g, uint8_t *way, uint32_t *count)
{
    struct game_place here = game_here(g);
    uint64_t decisions = g->decisions;
    size_t wave = g->wave;

    for (*count = 0; !game_is_over(g); ++*count) {
        uint32_t legal = game_legal(g);
        bool split = legal == 2;
        if (legal == 3)
            split = net ? policy_choose(net, g, 0, NULL)
                        : worth_of_move(g, true) > worth_of_move(g, false);
        (void)game_play(g, split);
        way[*count] = split;
    }
    double worth = game_score(g);
    game_return(g, &here);
    g->decisions = decisions;
    g->wave = wave;
    return worth;
}

uint32_t policy_way(const struct rl_scorer *net, struct game *g, uint8_t *way)
{
    uint32_t count;
    double greedy = play_way(NULL, g, way, &count), own = play_way(net, g, way, &count);

    if (greedy > own + 1e-9)
        (void)play_way(NULL, g, way, &count);
    return count;
}

/* ---- the file ---- */

void policy_serialize(struct rl_serializer *w, struct policy *p)
{
    uint32_t list = FEATURE_LIST, features = MOVE_FEATURES;

    RL_ONE(w, list);
    RL_ONE(w, features);
    w->failed |= list != FEATURE_LIST || features != MOVE_FEATURES;
    RL_ONE(w, p->seed);
    RL_ONE(w, p->rounds);
    RL_ONE(w, p->models);
    RL_ONE(w, p->temperature);
    RL_ONE(w, p->points);
    w->failed |=
        p->points > POLICY_CURVE_MOST || !(p->temperature > 0) || !isfinite(p->temperature);
    if (w->failed)
        return;
    for (uint32_t n = 0; n < p->points; n++) {
        RL_ONE(w, p->curve[n].episodes);
        RL_ONE(w, p->curve[n].loss);
        RL_ONE(w, p->curve[n].gap);
    }
    if (w->pass == RL_READ)
        rl_scorer_free(&p->scorer);
    rl_scorer_serialize(w, &p->scorer);
    w->failed |= p->scorer.features != MOVE_FEATURES;
}

int policy_load(struct policy *p, const char *path)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    int code = rl_bytes_read(&bytes, path);

    *p = (struct policy){0};
    if (!code)
        code = rl_bytes_check(bytes.data, bytes.size, KIND_POLICY, &w);
    if (!code) {
        policy_serialize(&w, p);
        code = w.failed || w.at != w.size ? RL_E_FORMAT : RL_OK;
    }
    rl_bytes_release(&bytes);
    if (code)
        policy_free(p);
    return code;
}

int policy_save(const struct policy *p, const char *path, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct policy copy = *p;
    struct rl_bytes bytes;

    policy_serialize(&measure, &copy);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the network's file");
    policy_serialize(&w, &copy);
    rl_bytes_seal(&bytes, KIND_POLICY);
    int rc = hlo_file_write(path, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

void policy_free(struct policy *p)
{
    rl_scorer_free(&p->scorer);
    *p = (struct policy){0};
}
