#include "engine/pipeline/pipe_net.h"

#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/pipe_infer.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "rl/error.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

#include <math.h>

enum {
    KIND_PIPE_NET = 16,
    KIND_FLAT_NET = 20,
    FEATURE_LIST = 2 /* of pipe_infer.c, with every change of what a feature means */
};

/* What it was trained with, and how that went. */
void pipe_net_serialize_curve(struct rl_serializer *w, struct pipe_net *n)
{
    RL_ONE(w, n->seed);
    RL_ONE(w, n->environments);
    RL_ONE(w, n->range);
    RL_ONE(w, n->families);
    RL_ONE(w, n->tuned);
    RL_ONE(w, n->temperature);
    RL_ONE(w, n->loss);
    RL_ONE(w, n->points);
    w->failed |=
        n->points > PIPE_NET_CURVE_MOST || !(n->temperature > 0) || !isfinite(n->temperature);
    for (uint32_t k = 0; !w->failed && k < n->points; k++) {
        RL_ONE(w, n->curve[k].environments);
        RL_ONE(w, n->curve[k].loss);
        RL_ONE(w, n->curve[k].gap);
    }
}

void pipe_net_serialize(struct rl_serializer *w, struct pipe_net *n)
{
    uint32_t list = FEATURE_LIST, features = PIPE_INFER_FEATURES;

    RL_ONE(w, list);
    RL_ONE(w, features);
    w->failed |= list != FEATURE_LIST || features != PIPE_INFER_FEATURES;
    pipe_net_serialize_curve(w, n);
    if (w->failed)
        return;
    if (w->pass == RL_READ)
        rl_scorer_free(&n->scorer);
    rl_scorer_serialize(w, &n->scorer);
    w->failed |= n->scorer.features != PIPE_INFER_FEATURES;
}

static void serialize_flat_file(struct rl_serializer *w, struct pipe_net *n)
{
    pipe_net_serialize_curve(w, n);
    if (!w->failed)
        flat_net_serialize(w, &n->flat);
}

static const struct {
    uint32_t kind;
    void (*serialize)(struct rl_serializer *w, struct pipe_net *n);
} files[] = {{KIND_PIPE_NET, pipe_net_serialize}, {KIND_FLAT_NET, serialize_flat_file}};
enum { FILES = sizeof files / sizeof *files };

int pipe_net_load(struct pipe_net *n, const char *path)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    int code = rl_bytes_read(&bytes, path), kind = 0;

    *n = (struct pipe_net){0};
    if (code)
        goto out;
    do
        code = rl_bytes_check(bytes.data, bytes.size, files[kind].kind, &w);
    while (code == RL_E_FORMAT && ++kind < FILES);
    if (code)
        goto out;
    files[kind].serialize(&w, n);
    code = w.failed || w.at != w.size ? RL_E_FORMAT : RL_OK;
out:
    rl_bytes_release(&bytes);
    if (code)
        pipe_net_free(n);
    return code;
}

int pipe_net_save(const struct pipe_net *n, const char *path, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct pipe_net copy = *n;
    struct rl_bytes bytes;
    int kind = n->flat.parameters != NULL;

    files[kind].serialize(&measure, &copy);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the network's file");
    files[kind].serialize(&w, &copy);
    rl_bytes_seal(&bytes, files[kind].kind);
    int rc = hlo_file_write(path, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

void pipe_net_free(struct pipe_net *n)
{
    rl_scorer_free(&n->scorer);
    flat_net_free(&n->flat);
    *n = (struct pipe_net){0};
}
