#include "engine/live/problem_edits.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/live/clash.h"
#include "engine/live/command.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/problem/setting.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

enum { EDITS_MOST = 64 * 1024 }; /* bytes of their lines */

static const char MEMORY_FOR[] = "for the edit";

/* ---- what is asked for ---- */

/* "v100-1x4" is no longer what its file says. */
static void mark_edited(struct cluster *c)
{
    size_t size = strlen(c->name);

    if (size && c->name[size - 1] != '+' && size + 1 < sizeof c->name)
        memcpy(c->name + size, "+", 2);
}

/* "network.bandwidth=100 Gbit/s" */
static int read_cluster(const struct problem *p, const char *text, struct cluster *out,
                        struct err *e)
{
    char path[200];
    const char *equals = strchr(text, '=');

    if (!equals || (size_t)(equals - text) >= sizeof path)
        return err_set(e, ERR_INPUT,
                       "cluster %.60s, expected PATH=VALUE such as network.bandwidth=100 Gbit/s",
                       text);
    size_t size = (size_t)(equals - text);
    while (size && text[size - 1] == ' ')
        size--;
    snprintf(path, sizeof path, "%.*s", (int)size, text);
    *out = p->cluster;
    int rc = cluster_set(out, path, equals + 1 + strspn(equals + 1, " "), e);
    if (rc)
        return rc;
    if (cluster_fingerprint(out) == cluster_fingerprint(&p->cluster))
        rc = err_set(e, ERR_INPUT, "cluster %.80s: it is so already", text);
    if (rc)
        return rc;
    mark_edited(out);
    return rc;
}

/* "0-1" or "0:4 2x2": the servers that stay, and their mesh; without one a single axis. */
static int read_servers(const struct problem *p, const char *text, struct cluster *out,
                        char mesh[static 64], struct err *e)
{
    char list[512];
    size_t size = strcspn(text, " ");
    const char *rest = text + size + strspn(text + size, " ");

    snprintf(list, sizeof list, "%.*s", (int)(size < sizeof list ? size : 0), text);
    if (strlen(rest) >= 64)
        return err_set(e, ERR_INPUT, "mesh %.60s, expected sizes such as 2x8", rest);
    memcpy(mesh, rest, strlen(rest) + 1);
    *out = p->cluster;
    if (cluster_keep(out, list, e))
        return e->code = ERR_INPUT;
    if (cluster_fingerprint(out) == cluster_fingerprint(&p->cluster))
        return err_set(e, ERR_INPUT, "servers %.60s: these are all there are", text);
    mark_edited(out);
    return 0;
}

/* "encoder*kernel=variable" */
static int read_roles(const struct problem *p, const char *text, uint8_t *roles, struct err *e)
{
    const char *equals = strrchr(text, '=');
    uint32_t matches = 0, changes = 0;
    int role = 0;

    while (equals && role < HLO_ROLE_COUNT && strcmp(hlo_role_names[role], equals + 1) != 0)
        role++;
    if (!equals || role == HLO_ROLE_COUNT)
        return err_set(e, ERR_INPUT,
                       "role %.80s, expected NAME= variable, input, optimizer state, "
                       "hyper-parameter or other state",
                       text);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        roles[k] = p->roles.params[k].role;
        if (!setting_names_param(p, k, text, (size_t)(equals - text)))
            continue;
        changes += roles[k] != role;
        roles[k] = (uint8_t)role;
        matches++;
    }
    if (!matches)
        return err_set(e, ERR_INPUT, "no parameter matches \"%.*s\"", (int)(equals - text), text);
    return changes ? 0 : err_set(e, ERR_INPUT, "role %.80s: it is so already", text);
}

/* "64", "x2" or "/2": how many samples. False: it is a NAME:DIM. */
static bool is_batch_size(const char *text)
{
    size_t at = *text == 'x' || *text == '/';

    return text[at] && strspn(text + at, "0123456789") == strlen(text + at);
}

static int read_batch_size(const struct problem *p, const char *text, int64_t *out, struct err *e)
{
    bool times = *text == 'x', part = *text == '/';
    const char *digits = text + (times || part);
    int64_t now = problem_batch_size(p), n;

    if (!now)
        return err_set(e, ERR_INPUT, "batch %.40s: no dim of the inputs is the batch", text);
    if (!hlo_parse_int(digits, strlen(digits), &n) || n < 1 || n > BATCH_MOST)
        return err_set(e, ERR_INPUT, "batch %.40s, expected 1 to %d samples", text, BATCH_MOST);
    if (part && now % n)
        return err_set(e, ERR_INPUT, "batch %.40s: %lld samples are not divisible by it", text,
                       (long long)now);
    if (times && now > BATCH_MOST / n)
        return err_set(e, ERR_INPUT, "batch %.40s: more than %d samples", text, BATCH_MOST);
    *out = times ? now * n : part ? now / n : n;
    return *out == now ? err_set(e, ERR_INPUT, "batch %.40s: it is so already", text) : 0;
}

static int read_batch(const struct problem *p, const char *text, struct problem_change *out,
                      struct err *e)
{
    char setting[COMMAND_TEXT_ROOM + 2];
    struct problem_setting s;

    if (!strrchr(text, ':'))
        return err_set(e, ERR_INPUT,
                       "batch %.60s, expected samples such as 64, x2 or /2, or NAME:DIM", text);
    snprintf(setting, sizeof setting, "%s=0", text);
    int rc = setting_parse(p, setting, &s, e);
    if (rc)
        return rc;
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (!setting_matches(p, &s, k))
            continue;
        class_id class = problem_param_class(p, k, s.dim);
        if (class == CLASS_NONE || !label_is_splittable(&p->labels, class))
            return err_set(e, ERR_INFEASIBLE,
                           "%.100s dim %u can never be split, so it is not a batch",
                           p->roles.params[k].name, s.dim);
        out->batch_param = k;
        out->batch_dim = s.dim;
        return 0;
    }
    return rc ? rc : err_set(e, ERR_INPUT, "no parameter matches \"%.100s\"", text);
}

static int read_batching(const struct problem *p, const struct live_command *c,
                         struct batch_and_zero *out, struct err *e)
{
    bool micro = c->verb == COMMAND_MICRO;
    int64_t n, least = micro, most = micro ? UINT16_MAX : 3;

    *out = problem_batch_and_zero(p);
    if (!hlo_parse_int(c->text, strlen(c->text), &n) || n < least || n > most)
        return err_set(e, ERR_INPUT, "%s %.40s, expected a number from %lld to %lld",
                       live_command_names[c->verb], c->text, (long long)least, (long long)most);
    if (micro)
        out->micro_batches = (uint32_t)n;
    else
        out->zero = (uint8_t)n;
    return 0;
}

/* ---- pins on another problem ---- */

/* A dim of a parameter that class `k` holds: how a pin is told again. */
static bool find_member(const struct problem *p, class_id k, uint32_t *param, uint32_t *dim)
{
    for (*param = 0; *param < p->roles.param_count; ++*param) {
        uint32_t rank = hlo_value_shape(p->m, p->roles.params[*param].value)->rank;
        for (*dim = 0; *dim < rank; ++*dim) {
            if (problem_param_class(p, *param, *dim) == k)
                return true;
        }
    }
    return false;
}

static int carry_pins(const struct problem *from, const struct problem *to, struct act *a,
                      struct err *e)
{
    for (uint32_t n = 0; n < a->pin_count; n++) {
        struct game_pin *pin = &a->pins[n].pin;
        uint32_t param, dim;
        if (!find_member(from, pin->class, &param, &dim))
            return err_set(e, ERR_INFEASIBLE, "a pin cannot be told there; unpin first");
        class_id k = problem_param_class(to, param, dim);
        if (pin->axis >= to->mesh.axes || k == CLASS_NONE || !label_is_splittable(&to->labels, k))
            return err_set(e, ERR_INFEASIBLE,
                           "the pin of %.100s dim %u cannot hold there; unpin it first",
                           from->roles.params[param].name, dim);
        pin->class = k;
    }
    if (!pins_hold(&to->labels, a->pins, a->pin_count))
        return err_set(e, ERR_INFEASIBLE, "the pins cannot hold there; unpin first");
    return 0;
}

/* ---- the edit ---- */

static int derive_edited(const struct problem *from, const struct live_command *command,
                         struct problem *out, struct err *e)
{
    struct problem_change change = {.batch_param = BATCH_AS_FOUND};
    struct cluster *cluster = mem_try(1, sizeof *cluster);
    struct batch_and_zero batching;
    char mesh[64];
    uint8_t *roles = mem_try((size_t)from->roles.param_count + 1, 1);
    int rc = cluster && roles ? 0 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    if (command->verb == COMMAND_CLUSTER) {
        rc = read_cluster(from, command->text, cluster, e);
        change.cluster = cluster;
    } else if (command->verb == COMMAND_SERVERS) {
        rc = read_servers(from, command->text, cluster, mesh, e);
        change.cluster = cluster;
        change.mesh = mesh;
    } else if (command->verb == COMMAND_ROLE) {
        rc = read_roles(from, command->text, roles, e);
        change.roles = roles;
    } else if (command->verb == COMMAND_MICRO || command->verb == COMMAND_ZERO) {
        rc = read_batching(from, command, &batching, e);
        change.batching = &batching;
    } else if (command->verb == COMMAND_LOSS) {
        change.loss = command->text;
    } else if (command->verb == COMMAND_BATCH) {
        rc = is_batch_size(command->text)
                 ? read_batch_size(from, command->text, &change.batch_size, e)
                 : read_batch(from, command->text, &change, e);
    } else {
        change.mesh = strcmp(command->text, "one") ? command->text : "";
        if (strlen(change.mesh) >= sizeof from->options.mesh)
            rc = err_set(e, ERR_INPUT, "mesh %.60s, expected sizes such as 2x8", command->text);
    }
    if (rc)
        goto out;
    rc = problem_derive(from, &change, out, e);
out:
    free(cluster);
    free(roles);
    return rc;
}

/* What `command` makes of `from`, whose own edits are `before`. */
static int make_edited(const struct problem *from, const char *before,
                       const struct live_command *command, struct live_problem **out, struct err *e)
{
    struct live_problem *edited = mem_try(1, sizeof *edited);
    struct str edits = {0};

    if (!edited)
        return err_no_memory(e, MEMORY_FOR);
    int rc = derive_edited(from, command, &edited->problem, e);
    if (rc) {
        free(edited);
        return rc;
    }
    atomic_init(&edited->references, 1);
    str_add(&edits, before);
    live_command_print(command, &edits);
    str_add_char(&edits, '\n');
    edited->edits = edits.text;
    if (edits.failed || edits.size > EDITS_MOST) {
        live_problem_release(edited);
        return edits.failed ? err_no_memory(e, MEMORY_FOR)
                            : err_set(e, ERR_LIMIT, "too many edits; undo some first");
    }
    *out = edited;
    return 0;
}

int edits_apply(struct search_state *c, const struct live_command *command, struct err *e)
{
    const struct live_problem *in_force = c->acts[c->act].edited;
    struct live_problem *edited;
    struct act next;
    int rc = make_edited(c->problem, in_force ? in_force->edits : "", command, &edited, e);

    if (rc)
        return rc;
    if (!act_copy(&c->acts[c->act], &next)) {
        live_problem_release(edited);
        return err_no_memory(e, MEMORY_FOR);
    }
    next.options = c->options;
    live_problem_release(next.edited);
    next.edited = edited;
    next.verb = command->verb;
    snprintf(next.text, sizeof next.text, "%s %.80s", live_command_names[command->verb],
             command->text);
    rc = carry_pins(c->problem, &edited->problem, &next, e);
    if (rc) {
        act_release(&next);
        return rc;
    }
    rc = act_push(c, &next, e);
    char ms[UNITS_ROOM];
    if (rc)
        return rc;
    state_say(c, LOG_INFO, "the search starts over: %u decisions, baseline %s",
              search_game(c->search)->move_count, units_ms(ms, c->baseline_ms));
    return rc;
}

struct live_problem *edits_redo(const struct search_state *c, const char *edits)
{
    struct live_problem *made = NULL, *next;
    struct live_command command;
    struct err e;

    while (*edits) {
        size_t size = strcspn(edits, "\n");
        char line[COMMAND_TEXT_ROOM + 16];
        snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : 0), edits);
        bool fails = live_command_parse(line, &command, &e) || command.verb < COMMAND_CLUSTER ||
                     command.verb > COMMAND_BATCH ||
                     make_edited(made ? &made->problem : c->base, made ? made->edits : "", &command,
                                 &next, &e);
        live_problem_release(made);
        if (fails)
            return NULL;
        made = next;
        edits += size + (edits[size] == '\n');
    }
    return made;
}

void edits_carry_plan(struct search_state *c, const struct problem *from,
                      const struct live_plan *kept)
{
    const struct problem *p = c->problem;
    const struct classes *old = &from->classes, *new = &p->classes;
    struct strict s;
    struct err e;

    live_plan_replace(&c->before, NULL);
    if (!kept || from->mesh.axes != p->mesh.axes || old->count != new->count ||
        old->dim_count != new->dim_count ||
        memcmp(old->class_of, new->class_of, old->dim_count * sizeof *old->class_of) ||
        strict_new(&p->labels, &s, &e))
        return;
    bool holds = true;
    for (class_id k = 0; k < new->count &&holds; k++) {
        for (uint32_t x = 0; x < p->mesh.axes && holds; x++)
            holds = !(kept->on[k] >> x & 1) || strict_decide(&s, k, x, true, NULL);
    }
    if (holds)
        live_plan_replace(&c->before, state_make_plan(c, kept->on, "before the edit"));
    strict_release(&s);
}
