#include "tui/options/pipeline_args.h"

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/space.h"
#include "engine/pipeline/tabulate.h"
#include "hlo/module/attr.h"
#include "hlo/support/err.h"
#include "rl/error.h"
#include "tui/files/user_files.h"
#include <limits.h>
#include <unistd.h>

#include "engine/text/quantity.h"
#include "tui/options/problem_args.h"

#include <string.h>

static int take_points(void *args, const struct option *o, const char *value, struct err *e)
{
    struct pipeline_args *a = args;
    bool is_equal = value[0] == '=';
    uint64_t n;

    if (!strcmp(value, "all")) {
        a->options.points = PIPE_CUTS_ALL;
        return 0;
    }
    a->options.points = is_equal ? PIPE_CUTS_EQUAL : PIPE_CUTS_CHEAPEST;
    if (!quantity_whole(value + is_equal, PIPE_POINTS_MOST, &n) || n < 2)
        return option_expected(o, value, e);
    a->options.point_count = (uint32_t)n;
    return 0;
}

/* "8:dot.17", "8:25%". */
static int take_pin(void *args, const struct option *o, const char *value, struct err *e)
{
    struct pipeline_args *a = args;
    struct pipeline_pin *pin = &a->options.pin[a->options.pins];
    const char *colon = strchr(value, ':');
    int64_t device;

    if (!colon || !colon[1] || a->options.pins == PIPELINE_PINS_MOST ||
        !hlo_parse_int(value, (size_t)(colon - value), &device) || device < 1 ||
        device >= PIPE_DEVICES_MOST)
        return option_expected(o, value, e);
    *pin = (struct pipeline_pin){.device = (uint32_t)device, .place = colon + 1};
    a->options.pins++;
    return 0;
}

#define ARG(field) INTO(struct pipeline_args, field)
const struct option pipeline_options[] = {
    {"stages", "S", "of a pipeline; default any number; the paper's candidates: servers",
     .sort = SORT_PIPELINE, .is_kept = true, .kind = OPTION_WHOLE, ARG(options.stages), .least = 1,
     .most = PIPE_STAGES_MOST},
    {"schedule", "NAME",
     "eager (default), 1f1b, gpipe: the order of passes, which decides how many micro-batches are "
     "in flight",
     .sort = SORT_PIPELINE, .is_kept = true, .kind = OPTION_CHOICE, ARG(options.schedule),
     .names = pipe_schedule_names, .name_count = PIPE_SCHEDULE_COUNT},
    {"recompute", NULL, "each stage keeps only its input and runs its forward pass again",
     .sort = SORT_PIPELINE, .is_kept = true, ARG(options.recompute)},
    {"points", "all|N|=N",
     "where to cut: anywhere; at the cheapest cut of each of N parts of equal compute (default "
     "128); between N parts of equal compute",
     .sort = SORT_PIPELINE, .is_kept = true, .take = take_points,
     .names = (const char *const[]){"all"}, .name_count = 1,
     .expected = "all, a number, or = and a number"},
    {"radius", "R", "device cuts of the candidates: R around server boundaries; default 3",
     .sort = SORT_RADIUS, .is_kept = true, .kind = OPTION_WHOLE, ARG(search.space.radius),
     .most = PIPE_RADIUS_MOST},
    {"pin-cut", "DEVICE:PLACE",
     "make a stage begin at DEVICE with the forward instruction PLACE, or at a share of the "
     "forward computation (8:25%), in every algorithm; repeatable",
     .sort = SORT_PIPELINE, .is_kept = true, .take = take_pin,
     .expected = "DEVICE:PLACE such as 8:25%, at most 32 of them"},
    {"net", "FILE",
     "the network for --algo infer, written by automap pretrain; default: the shipped one",
     .sort = SORT_RADIUS, .is_kept = true, .kind = OPTION_FILE, .values = VALUES_FILE,
     ARG(net_file)},
    {0},
};
#undef ARG

void pipeline_args_init(struct pipeline_args *a)
{
    *a = (struct pipeline_args){.search.space = pipe_space_paper()};
}

int pipeline_args_load_net(struct pipeline_args *a, struct err *e)
{
    char data[PATH_MAX - 64], shipped[PATH_MAX];
    const char *path = a->net_file;

    if (!path) {
        if (!file_data_dir(data, sizeof data))
            return 0;
        snprintf(shipped, sizeof shipped, "%s/examples/networks/pipeline.net", data);
        if (access(shipped, R_OK))
            return 0;
        path = shipped;
    }
    int code = pipe_net_load(&a->net, path);
    if (code)
        return err_set(e, code == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%.200s: %s", path,
                       code == RL_E_FORMAT ? "not a network of this version's features, or damaged"
                                           : rl_error_text(code));
    a->search.net = &a->net;
    return 0;
}

void pipeline_args_release(struct pipeline_args *a)
{
    pipe_net_free(&a->net);
    a->search.net = NULL;
}

bool pipeline_args_algorithm(const char *name, enum pipe_algorithm *out)
{
    for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++) {
        if (strcmp(pipe_search_names[k], name))
            continue;
        *out = (enum pipe_algorithm)k;
        return true;
    }
    return false;
}
