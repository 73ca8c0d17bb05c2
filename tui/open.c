/* Opening a model on a cluster: what the start screen, `:open` and the command line do. */
#include "engine/cost/cluster.h"
#include "hlo/hlo.h"
#include "hlo/text.h"
#include "tui/app_internal.h"
#include "tui/examples.h"
#include "tui/recent.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* "t5-base6" of ".../t5-base6.meta.hlo.txt.gz". */
static void name_model(struct app *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t size = strcspn(base, ".");

    text_clean(a->model_name, sizeof a->model_name, base, size ? size : strlen(base));
    a->scene.model_name = a->model_name;
}

static int load_cluster(struct app *a, const char *name, struct cluster **out, struct err *e)
{
    char path[PATH_MAX];
    struct cluster *c = mem_alloc(sizeof *c);

    if (!name || !*name) {
        cluster_default(c);
    } else if (!examples_cluster_path(path, sizeof path, a->setup.data_dir, name)) {
        free(c);
        return err_set(e, ERR_IO, "no cluster %.200s: neither a file nor shipped", name);
    } else if (cluster_load(c, path, e)) {
        free(c);
        return e->code;
    }
    *out = c;
    return 0;
}

static int open_panels(struct app *a, struct err *e)
{
    for (int i = 0; panel_list[i]; i++) {
        if (panel_list[i]->place == PLACE_LAYOUT && app_open(a, panel_list[i], NULL, e))
            return e->code;
    }
    return 0;
}

int app_load(struct app *a, const char *model, const char *cluster, struct err *e)
{
    char path[PATH_MAX], absolute[PATH_MAX];
    struct hlo_module *m = NULL;
    struct cluster *c = NULL;
    struct recent r = {.time = a->setup.today, .gap = -1};

    snprintf(r.cluster, sizeof r.cluster, "%s", cluster ? cluster : ""); /* the view that gave it goes */
    if (!examples_model_path(path, sizeof path, a->setup.data_dir, model))
        return err_set(e, ERR_IO, "no model %.200s: neither a file nor shipped", model);
    if (load_cluster(a, cluster, &c, e))
        return e->code;
    if (hlo_load(path, NULL, &m, e)) {
        free(c);
        return e->code;
    }
    hlo_free(a->module);
    free(a->cluster);
    a->scene.module = a->module = m;
    a->scene.cluster = a->cluster = c;
    name_model(a, path);
    while (a->depth > 0)
        app_drop_top(a);
    a->focus = PANEL_GRAPH;
    if (a->setup.state_dir && realpath(path, absolute) && strlen(absolute) < sizeof r.path) {
        memcpy(r.path, absolute, strlen(absolute) + 1);
        recent_add(a->setup.state_dir, &r);
    }
    return open_panels(a, e);
}
