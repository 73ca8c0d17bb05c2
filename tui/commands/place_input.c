#include "tui/commands/place_input.h"

#include "engine/place/from_module.h"
#include "engine/place/graph_file.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/options/exit_code.h"
#include "tui/options/problem_args.h"

#include <stdio.h>
#include <string.h>

static int read_model(const struct problem_args *a, struct place_input *out, struct err *e)
{
    struct problem *p = mem_try(1, sizeof *p);
    int rc = p ? problem_args_read(a, p, e) : err_no_memory(e, "for the model");

    if (rc) {
        free(p);
        return rc;
    }
    out->problem = p;
    return place_graph_of_problem(p, 0, &out->graph, e);
}

/* *is: it was one, read or at fault. What cannot be read plain is left to the models' readers. */
static int read_graph(const char *path, bool *is, struct place_graph **out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read_plain(path, PLACE_FILE_BYTES_MAX, &text, e);
    const char *bytes = text.text ? text.text : "";

    *is = rc && rc != ERR_IO;
    if (rc)
        goto out;
    *is = place_graph_is(bytes, text.size) || !strcmp(path, "-");
    if (*is && place_graph_parse(bytes, text.size, out, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return *is ? rc : 0;
}

int place_input_read(const struct problem_args *a, struct place_input *out, struct err *e)
{
    bool is = false;
    int rc = 0;

    *out = (struct place_input){0};
    if (!a->cluster)
        rc = read_graph(a->model, &is, &out->graph, e);
    if (!is)
        rc = read_model(a, out, e);
    if (rc)
        goto out;
    out->fingerprint = place_fingerprint(out->graph);
out:
    if (rc)
        place_input_release(out);
    return rc;
}

void place_input_release(struct place_input *in)
{
    place_graph_free(in->graph);
    if (in->problem)
        problem_release(in->problem);
    free(in->problem);
    *in = (struct place_input){0};
}

int place_with_file(struct problem_args *a, const char *path,
                    int (*use)(const struct place_input *in, const struct place_saved *s,
                               void *context, struct err *e),
                    void *context)
{
    struct place_input in = {0};
    struct place_saved *s = NULL;
    struct err e = {0};
    int rc = problem_args_follow_plan(a, path, &e);

    if (rc)
        goto out;
    rc = place_input_read(a, &in, &e);
    if (rc)
        goto out;
    rc = place_file_load(path, in.problem, in.graph, &s, &e);
    if (rc)
        goto out;
    rc = use(&in, s, context, &e);
out:
    place_saved_free(s);
    place_input_release(&in);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}

struct place_document place_document_of(const struct place_input *in, const struct place_saved *s)
{
    return (struct place_document){.problem = in->problem,
                                   .graph = in->graph,
                                   .fingerprint = in->fingerprint,
                                   .job = &s->job,
                                   .pin = (const char *const *)s->pin,
                                   .pins = s->pins,
                                   .plan = s->plan,
                                   .load = s->load};
}
