#include "tui/options/pipeline_args.h"

#include "tui/options/args.h"

#include <stdio.h>
#include <string.h>

static int take_schedule(struct pipeline_args *a, const char *value)
{
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        if (strcmp(pipe_schedule_names[k], value))
            continue;
        a->options.schedule = (enum pipe_schedule_kind)k;
        return 1;
    }
    return args_wrong("--schedule", value, "eager, 1f1b or gpipe");
}

static int take_points(struct pipeline_args *a, const char *value)
{
    bool is_equal = value[0] == '=';
    int64_t n;

    if (!strcmp(value, "all")) {
        a->options.points = PIPE_CUTS_ALL;
        return 1;
    }
    a->options.points = is_equal ? PIPE_CUTS_EQUAL : PIPE_CUTS_CHEAPEST;
    if (!hlo_parse_int(value + is_equal, strlen(value) - is_equal, &n) || n < 2 ||
        n > PIPE_POINTS_MOST)
        return args_wrong("--points", value, "all, a number, or = and a number");
    a->options.point_count = (uint32_t)n;
    return 1;
}

static int take_number(const char *option, const char *value, uint32_t least, uint32_t most,
                       uint32_t *out)
{
    char expected[48];
    int64_t n;

    snprintf(expected, sizeof expected, "a number from %u to %u", least, most);
    if (!hlo_parse_int(value, strlen(value), &n) || n < least || n > most)
        return args_wrong(option, value, expected);
    *out = (uint32_t)n;
    return 1;
}

/* "8:dot.17", "8:25%". */
static int take_pin(struct pipeline_args *a, const char *value)
{
    struct pipeline_pin *pin = &a->options.pin[a->options.pins];
    const char *colon = strchr(value, ':');
    int64_t device;

    if (!colon || !colon[1] || a->options.pins == PIPELINE_PINS_MOST ||
        !hlo_parse_int(value, (size_t)(colon - value), &device) || device < 1 ||
        device >= PIPE_DEVICES_MOST)
        return args_wrong("--pin-cut", value, "DEVICE:PLACE such as 8:25%, at most 32 of them");
    *pin = (struct pipeline_pin){.device = (uint32_t)device, .place = colon + 1};
    a->options.pins++;
    return 1;
}

void pipeline_args_init(struct pipeline_args *a)
{
    *a = (struct pipeline_args){.search.space = pipe_space_paper()};
}

int pipeline_args_take(struct pipeline_args *a, int argc, char **argv, int *at)
{
    const char *value;

    if (!strcmp(argv[*at], "--recompute"))
        return a->options.recompute = true, 1;
    if ((value = args_value("--pin-cut", argc, argv, at)))
        return take_pin(a, value);
    if ((value = args_value("--batch", argc, argv, at)))
        return take_number("--batch", value, 1, 1 << 24, &a->options.batch);
    if ((value = args_value("--stages", argc, argv, at)))
        return take_number("--stages", value, 1, PIPE_STAGES_MOST, &a->options.stages);
    if ((value = args_value("--radius", argc, argv, at)))
        return take_number("--radius", value, 0, PIPE_RADIUS_MOST, &a->search.space.radius);
    if ((value = args_value("--schedule", argc, argv, at)))
        return take_schedule(a, value);
    if ((value = args_value("--points", argc, argv, at)))
        return take_points(a, value);
    return 0;
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
