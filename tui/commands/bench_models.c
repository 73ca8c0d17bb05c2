#include "tui/commands/bench_models.h"

#include "hlo/support/err.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>

static int list_shipped(struct bench_models *out, const char *bench, const char *data)
{
    struct example_model list[EXAMPLES_MOST];
    _Static_assert(sizeof list[0].name == sizeof out->name[0], "names of one size");
    struct err e;

    if (!data[0]) {
        fprintf(stderr, "automap %s: no shipped models, expected MODEL\n", bench);
        return EXIT_INPUT;
    }
    if (examples_models(list, &out->count, data, &e)) {
        err_print(&e, stderr);
        return EXIT_INPUT;
    }
    for (int k = 0; k < out->count; k++)
        memcpy(out->name[k], list[k].name, sizeof out->name[k]);
    return EXIT_OK;
}

const struct option_set bench_model_options[] = {
    {.rows = (const struct option[]){{"MODEL", .values = VALUES_MODEL, .kind = OPTION_LIST}, {0}}},
    {0}};

int bench_models_read(struct bench_models *out, const char *bench, int argc, char **argv)
{
    const struct option_parser parser = {bench, bench_model_options, NULL};
    struct text_list asked = {0};
    int code = options_parse(&parser, &asked, argc, argv);

    if (code == EXIT_OK)
        code = bench_models_find(out, bench, &asked);
    text_list_release(&asked);
    return code;
}

int bench_models_find(struct bench_models *out, const char *bench, const struct text_list *asked)
{
    char data[512] = "";
    struct err e;
    int code = EXIT_OK, count = (int)asked->count;

    if (count > EXAMPLES_MOST) {
        fprintf(stderr, "automap %s: %d models, expected at most %d\n", bench, count,
                EXAMPLES_MOST);
        return EXIT_USAGE;
    }
    if (!file_data_dir(data, sizeof data))
        data[0] = '\0';
    out->count = count;
    if (!count)
        code = list_shipped(out, bench, data);
    for (int k = 0; k < out->count && code == EXIT_OK; k++) {
        const char *name = count ? asked->items[k] : out->name[k];
        if (!examples_model_path(out->path[k], sizeof out->path[k], data, name)) {
            err_set(&e, ERR_INPUT, "automap %s: no model \"%.200s\"", bench, name);
            err_print(&e, stderr);
            return EXIT_INPUT;
        }
        if (count)
            file_stem(out->name[k], sizeof out->name[k], name);
    }
    return code;
}
