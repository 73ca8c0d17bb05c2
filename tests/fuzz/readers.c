/* Any bytes as one of the smaller files and lines that automap reads; the first byte says which, by
 * a row of the table below. Refused with a sentence, or taken and used. Networks are good ones with
 * bytes of the input laid over them, sealed again so that what lies behind the checksum is
 * reached. */
#include "engine/cost/trace.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/kernels/kernel_rules.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/live/search_state.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/place/from_module.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pins.h"
#include "engine/plan/relaxed_pins.h"
#include "engine/problem/setting.h"
#include "engine/search/policy.h"
#include "hlo/meaning/factors.h"
#include "rl/serialize.h"
#include "tests/fuzz/problem.h"
#include "tui/files/recent.h"
#include "tui/files/theme_file.h"
#include "tui/files/tour.h"
#include "tui/files/user_files.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MOST = 24 };

static char folder[] = "/tmp/automap-readers-XXXXXX";

static void check_error(const struct err *e)
{
    require(e->code < 0 && e->what[0] && e->caret < sizeof e->source);
}

/* ---- files, for those that read no memory ---- */

static void leave(void)
{
    static const char *const names[] = {"recent",         "file.yaml", "examples/tours/t.yaml",
                                        "examples/tours", "examples",  ""};
    char path[sizeof folder + 32];

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[n]);
        if (remove(path)) /* most are never made */
            continue;
    }
}

static const char *file_of(const char *name, const void *bytes, size_t size)
{
    static char path[sizeof folder + 32];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    require((f = fopen(path, "wb")) != NULL);
    require(fwrite(bytes, 1, size, f) == size);
    fclose(f);
    return path;
}

static void enter(void)
{
    char path[sizeof folder + 32];

    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/examples", folder);
    require(!mkdir(path, 0700));
    snprintf(path, sizeof path, "%s/examples/tours", folder);
    require(!mkdir(path, 0700));
    atexit(leave);
}

/* ---- rows ---- */

static void read_vars(const char *text, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    const char *path = file_of("file.yaml", text, size);
    struct hlo_vars vars;
    struct hlo_roles roles;
    struct err e = {0};

    if (hlo_vars_load(path, &vars, &e)) {
        check_error(&e);
        return;
    }
    for (uint32_t n = 0; n < vars.count; n++)
        require(vars.names[n] && vars.places[n].line <= size + 1);
    if (!hlo_roles_new(p->m, &vars, &roles, &e))
        hlo_roles_release(&roles);
    else
        check_error(&e);
    hlo_vars_release(&vars);
}

static void read_theme(const char *text, size_t size)
{
    struct theme theme;
    struct err e = {0};

    if (theme_parse(&theme, text, size, &e)) {
        check_error(&e);
        return;
    }
    for (unsigned role = 0; role < ROLE_COUNT; role++)
        (void)theme_look(&theme, role);
}

static void read_recent(const char *text, size_t size)
{
    static struct recent list[RECENT_MOST];

    (void)file_of("recent", text, size);
    int count = recent_load(list, folder);
    require(count >= 0 && count <= RECENT_MOST);
    for (int n = 0; n < count; n++) {
        char day[16];
        require(list[n].path[0] && list[n].time >= 0);
        recent_day(day, list[n].time, 1795262400);
    }
    struct recent more = {.time = 1, .cluster = "c", .path = "m"};
    recent_add(folder, &more);
    require(recent_load(list, folder) >= 1 && !strcmp(list[0].path, "m"));
}

static void read_tour(const char *text, size_t size)
{
    struct tour *tour;
    struct err e = {0};

    (void)file_of("examples/tours/t.yaml", text, size);
    if (tour_load(&tour, folder, "t", &e)) {
        check_error(&e);
        return;
    }
    require(tour->title && tour->about && tour->model);
    require(tour->step_count >= 1 && tour->step_count <= TOUR_STEPS_MOST);
    tour_free(tour);
}

/* Custom-calls and an opcode that rules are about. */
static const char kernels_model[] =
    "HloModule k\nENTRY main {\n  q = f32[2,8,4,16] parameter(0)\n  k = f32[2,8,4,16] "
    "parameter(1)\n"
    "  a = f32[2,4,8,16] custom-call(q, k), custom_call_target=\"attention\", "
    "backend_config={\"scale\": 2, \"mask\": {\"type\": \"CAUSAL\"}}\n"
    "  b = (f32[2,4,8,16], f32[2,4,8]) custom-call(a), custom_call_target=\"pair\", "
    "metadata={op_name=\"jit(f)/flash\"}\n"
    "  c = f32[2,4,8,16] get-tuple-element(b), index=0\n"
    "  t = (f32[2,4,8,2], s32[2,4,8,2]) topk(c), k=2, largest=true\n"
    "  ROOT r = f32[2,4,8,2] get-tuple-element(t), index=0\n}\n";

static void read_kernels(const char *text, size_t size)
{
    const char *path = file_of("file.yaml", text, size);
    struct hlo_factors factors = {0};
    struct kernel_rules *rules = NULL;
    struct hlo_module *m;
    struct err e = {0};

    require(!hlo_load_memory("k", kernels_model, sizeof kernels_model - 1, NULL, &m, &e));
    if (kernel_rules_read(path, &rules, &e) || kernel_rules_apply(rules, m, &e)) {
        check_error(&e);
        goto out;
    }
    for (hlo_id id = 0; id < m->count; id++) {
        struct str rule = {0};
        if (kernel_is_unknown(m, id))
            kernel_rule_write(m, id, &rule);
        str_release(&rule);
        (void)!hlo_factors_of(m, id, &factors, &e);
    }
out:
    hlo_factors_release(&factors);
    kernel_rules_free(rules);
    hlo_free(m);
}

static void read_partitioner(const char *text, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    const char *path = file_of("file.yaml", text, size);
    struct partitioner table;
    struct err e = {0};

    if (partitioner_read(path, &table, &e))
        check_error(&e);
    else
        for (hlo_id id = 0; id < p->m->count; id++) {
            const char *why = partitioner_runs_whole(&table, p->m, id);
            require(!why || why[0]);
            (void)partitioner_sums_everywhere(&table, p->m, id);
        }
    partitioner_release(&table);
}

static void read_trace(const char *text, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    const char *path = file_of("file.yaml", text, size);
    struct trace_match match;
    struct trace trace;
    struct err e = {0};

    if (trace_read(path, 3, &trace, &e)) {
        check_error(&e);
        return;
    }
    if (!trace_match(&trace, p->m, NULL, &match, &e)) {
        for (hlo_id id = 0; id < p->m->count; id++)
            require(!(match.ms[id] != match.ms[id]));
        trace_match_release(&match);
    }
    trace_release(&trace);
}

static void read_hybrid(const char *text, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    struct hybrid plan, again;
    struct err e = {0};

    if (hybrid_file_parse(p, text, size, &plan, &e)) {
        check_error(&e);
        return;
    }
    cJSON *o = hybrid_json(&plan);
    char *once = cJSON_Print(o), *twice;
    require(once && !hybrid_file_parse(p, once, strlen(once), &again, &e));
    cJSON_Delete(o);
    o = hybrid_json(&again);
    require((twice = cJSON_Print(o)) != NULL && !strcmp(once, twice));
    cJSON_Delete(o);
    cJSON_free(once);
    cJSON_free(twice);
    hybrid_release(&plan);
    hybrid_release(&again);
}

static void read_placement(const char *text, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    struct place_graph *g;
    struct place_saved *saved;
    struct err e = {0};

    require(!place_graph_of_problem(p, 0, &g, &e));
    if (place_file_parse(text, size, "plan.json", p, g, &saved, &e))
        check_error(&e);
    else
        place_saved_free(saved);
    place_graph_free(g);
}

/* ---- lines ---- */

static void each_line(const char *text, void (*take)(void *context, const char *line),
                      void *context)
{
    char line[1024];

    for (int n = 0; *text && n < LINES_MOST; n++) {
        size_t size = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line), text);
        take(context, line);
        text += size + (text[size] == '\n');
    }
}

struct set_on {
    const struct problem *p;
    struct strict strict;
    struct relaxed_pins pins;
};

static void take_setting(void *context, const char *line)
{
    struct set_on *s = context;
    struct problem_setting parts;
    struct err e = {0};

    if (setting_parse(s->p, line, &parts, &e))
        check_error(&e);
    if (setting_apply(s->p, &s->strict, line, &e))
        check_error(&e);
    if (relaxed_pins_set(s->p, line, line[0] == '#', &s->pins, &e))
        check_error(&e);
}

static void read_settings(const char *text, size_t size)
{
    struct set_on s = {.p = the_problem(STEP_MODEL)};
    struct cluster_mesh mesh;
    struct err e = {0};

    (void)size;
    require(!strict_new(&s.p->labels, &s.strict, &e));
    each_line(text, take_setting, &s);
    strict_release(&s.strict);
    relaxed_pins_release(&s.pins);
    if (mesh_parse(&mesh, &s.p->cluster, text, &e))
        check_error(&e);
}

static void take_pin(void *context, const char *line)
{
    struct err e = {0};

    if (place_pin(context, line, &e))
        check_error(&e);
}

static void read_pins(const char *text, size_t size)
{
    struct place_graph *g;
    struct err e = {0};

    (void)size;
    require(!place_graph_of_problem(the_problem(STEP_MODEL), 0, &g, &e));
    each_line(text, take_pin, g);
    place_graph_free(g);
}

/* A line is what it prints; a search takes it or refuses it, and goes on. */
static void take_command(void *context, const char *line)
{
    struct search_state *s = context;
    struct live_command command, again;
    struct str text = {0};
    struct err e = {0};

    if (live_command_parse(line, &command, &e)) {
        check_error(&e);
        return;
    }
    live_command_print(&command, &text);
    require(!live_command_parse(text.text, &again, &e));
    require(again.verb == command.verb && !strcmp(again.text, command.text));
    require(again.number == command.number);
    str_release(&text);
    if (command.verb == COMMAND_QUIT)
        return;
    if (search_state_apply(s, &command, &e))
        check_error(&e);
    for (int n = 0; n < 3 && search_state_wants_step(s); n++)
        search_state_step(s);
}

static void read_commands(const char *text, size_t size)
{
    struct search_options o = {.algorithm = SEARCH_GREEDY, .seed = 3};
    struct search_state *s = mem_alloc(sizeof *s);
    struct err e;

    (void)size;
    require(!search_state_new(the_problem(STEP_MODEL), &o, s, &e));
    each_line(text, take_command, s);
    snapshot_release(search_state_snapshot(s));
    search_state_release(s);
    free(s);
}

/* ---- networks ---- */

/* Two bytes of place, then what is laid over the good file. */
static const char *net_file(const char *name, uint32_t kind, const char *over, size_t size)
{
    enum { HEAD = 40 };
    char path[PATH_MAX], data_dir[PATH_MAX - 64];
    struct rl_bytes bytes = {0};

    require(file_data_dir(data_dir, sizeof data_dir));
    snprintf(path, sizeof path, "%s/examples/networks/%s", data_dir, name);
    require(!rl_bytes_read(&bytes, path) && bytes.size > HEAD);
    size_t at = size < 2 ? 0 : (unsigned char)over[0] | (size_t)(unsigned char)over[1] << 8;
    at = HEAD + at % (bytes.size - HEAD);
    for (size_t n = 2; n < size && at + n - 2 < bytes.size; n++)
        ((char *)bytes.data)[at + n - 2] ^= over[n];
    rl_bytes_seal(&bytes, kind);
    const char *file = file_of("file.yaml", bytes.data, bytes.size);
    rl_bytes_release(&bytes);
    return file;
}

static void read_pipe_net(const char *text, size_t size)
{
    enum { KIND_PIPE_NET = 16 };
    struct pipe_net net = {0};

    if (!pipe_net_load(&net, net_file("pipeline.net", KIND_PIPE_NET, text, size)))
        require(net.points <= PIPE_NET_CURVE_MOST);
    pipe_net_free(&net);
}

static void read_policy(const char *text, size_t size)
{
    enum { KIND_POLICY = 18 };
    struct policy policy = {0};

    if (!policy_load(&policy, net_file("operators.net", KIND_POLICY, text, size)))
        require(policy.points <= POLICY_CURVE_MOST);
    policy_free(&policy);
}

static const struct reader {
    char letter;
    void (*read)(const char *text, size_t size);
} readers[] = {
    {'v', read_vars},      {'t', read_theme},       {'r', read_recent}, {'o', read_tour},
    {'k', read_kernels},   {'p', read_partitioner}, {'x', read_trace},  {'h', read_hybrid},
    {'l', read_placement}, {'s', read_settings},    {'f', read_pins},   {'c', read_commands},
    {'n', read_pipe_net},  {'y', read_policy},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool entered;

    if (!entered)
        enter();
    entered = true;
    if (!size)
        return 0;
    for (size_t n = 0; n < sizeof readers / sizeof *readers; n++) {
        if (readers[n].letter != (char)data[0])
            continue;
        char *text = mem_alloc(size);
        memcpy(text, data + 1, size - 1);
        readers[n].read(text, size - 1);
        free(text);
    }
    return 0;
}
