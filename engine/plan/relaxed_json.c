#include "engine/plan/relaxed_json.h"

#include "engine/cluster/mesh.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct json_field relaxed_instruction_keys[] = {
    {"instruction", JSON_TEXT, NULL}, {"does", JSON_TEXTS, NULL}, {0}};
const struct json_field relaxed_value_keys[] = {
    {"instruction", JSON_TEXT, NULL}, {"leaf", JSON_WHOLE, NULL},  {"made", JSON_TEXTS, NULL},
    {"held", JSON_TEXTS, NULL},       {"ended", JSON_TEXTS, NULL}, {0}};
const struct json_field relaxed_reshard_keys[] = {{"value", JSON_TEXT, NULL},
                                                  {"leaf", JSON_WHOLE, NULL},
                                                  {"user", JSON_TEXT, NULL},
                                                  {"operand", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                  {"becomes", JSON_TEXT | JSON_OPTIONAL, NULL},
                                                  {"inside", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                  {"step", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                  {"from", JSON_TEXT, NULL},
                                                  {"to", JSON_TEXT, NULL},
                                                  {"kind", JSON_TEXT, NULL},
                                                  {"axes", JSON_TEXT, NULL},
                                                  {"times", JSON_WHOLE, NULL},
                                                  {"bytes", JSON_NUMBER, NULL},
                                                  {"ms", JSON_NUMBER, NULL},
                                                  {0}};

static const char *const partial_words[] = {"passed on", "combined at once"};

/* ---- words ---- */

enum { WORD_ROOM = 24, PASS_LEAF = 128, PASS_ALL = 255 }; /* a byte of relaxed_plan->choice */

/* A number 0 .. most behind `word`; -1: `text` is no such. */
static int number_behind(const char *text, const char *word, int most)
{
    size_t n = strlen(word);
    int64_t number;

    if (strncmp(text, word, n) || !hlo_parse_int(text + n, strlen(text + n), &number) ||
        number < 0 || number > most)
        return -1;
    return (int)number;
}

static void write_choice(unsigned byte, char *out)
{
    if (byte == 0)
        snprintf(out, WORD_ROOM, "whole");
    else if (byte == PASS_ALL)
        snprintf(out, WORD_ROOM, "passes");
    else if (byte >= PASS_LEAF)
        snprintf(out, WORD_ROOM, "passes %u", byte - PASS_LEAF);
    else
        snprintf(out, WORD_ROOM, "factor %u", byte - 1);
}

static int read_choice(const char *text)
{
    int n;

    if (!strcmp(text, "whole") || !strcmp(text, "passes"))
        return *text == 'w' ? 0 : PASS_ALL;
    if ((n = number_behind(text, "factor ", PASS_LEAF - 2)) >= 0)
        return n + 1;
    return (n = number_behind(text, "passes ", PASS_ALL - PASS_LEAF - 1)) >= 0 ? PASS_LEAF + n : -1;
}

static void write_status(unsigned byte, char *out)
{
    if (byte == STATUS_WHOLE)
        snprintf(out, WORD_ROOM, "whole");
    else if (byte == STATUS_PARTIAL)
        snprintf(out, WORD_ROOM, "partial");
    else
        snprintf(out, WORD_ROOM, "dim %u", byte - 1);
}

static int read_status(const char *text)
{
    if (!strcmp(text, "whole") || !strcmp(text, "partial"))
        return *text == 'w' ? STATUS_WHOLE : STATUS_PARTIAL;
    int n = number_behind(text, "dim ", HLO_RANK_MAX - 1);
    return n < 0 ? -1 : n + 1;
}

static void add_words(const struct problem *p, uint32_t bytes, void (*write)(unsigned, char *),
                      const char *key, cJSON *o)
{
    cJSON *words = cJSON_AddArrayToObject(o, key);
    char word[WORD_ROOM];

    for (uint32_t x = 0; x < p->mesh.axes; x++) {
        write(status_on(bytes, x), word);
        cJSON_AddItemToArray(words, cJSON_CreateString(word));
    }
}

/* A word per axis; false when they are not. */
static bool read_words(const struct problem *p, const cJSON *words, int (*read)(const char *),
                       uint32_t *out)
{
    uint32_t x = 0;
    const cJSON *word;

    *out = 0;
    if ((uint32_t)cJSON_GetArraySize(words) != p->mesh.axes)
        return false;
    cJSON_ArrayForEach(word, words)
    {
        int byte = read(word->valuestring);
        if (byte < 0)
            return false;
        *out = status_with(*out, x++, (unsigned)byte);
    }
    return true;
}

/* ---- writing ---- */

static void add_instructions(const struct plan *p, cJSON *o)
{
    const struct hlo_module *m = p->problem->m;
    cJSON *all = cJSON_AddArrayToObject(o, "instructions");

    for (hlo_id id = 0; id < m->count; id++) {
        if (!p->relaxed->choice[id])
            continue;
        cJSON *i = cJSON_CreateObject();
        cJSON_AddStringToObject(i, "instruction", hlo_name(m, id));
        add_words(p->problem, p->relaxed->choice[id], write_choice, "does", i);
        cJSON_AddItemToArray(all, i);
    }
}

/* Values that are stored, carried, resharded for all their uses, or handed out. */
static void add_values(const struct plan *p, cJSON *o)
{
    const struct hlo_module *m = p->problem->m;
    const struct relaxed_plan *r = p->relaxed;
    cJSON *all = cJSON_AddArrayToObject(o, "values");

    for (hlo_value v = 0; v < m->value_count; v++) {
        hlo_id id = m->value_instruction[v];
        bool is_flow = hlo_is_flow(m, id);
        if (r->origin[v] != v || !((is_flow && r->made[v]) || r->held[v] ||
                                   (r->ended[v] && r->ended[v] != (status)STATUS_UNKNOWN)))
            continue;
        cJSON *i = cJSON_CreateObject();
        cJSON_AddStringToObject(i, "instruction", hlo_name(m, id));
        cJSON_AddNumberToObject(i, "leaf", hlo_value_leaf(m, v));
        add_words(p->problem, r->made[v], write_status, "made", i);
        add_words(p->problem, r->held[v], write_status, "held", i);
        add_words(p->problem, r->ended[v], write_status, "ended", i);
        cJSON_AddItemToArray(all, i);
    }
}

static void add_shape(const struct plan *p, const struct relaxed_reshard *r, status s,
                      const char *key, cJSON *o)
{
    struct str text = {0};

    status_write(hlo_value_shape(p->problem->m, r->value), &p->problem->mesh, s, &text);
    cJSON_AddStringToObject(o, key, text.text ? text.text : "");
    str_release(&text);
}

static void add_reshards(const struct plan *p, cJSON *o)
{
    const struct hlo_module *m = p->problem->m;
    cJSON *all = cJSON_AddArrayToObject(o, "reshards");
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];

    for (uint32_t k = 0; k < p->relaxed->reshard_count; k++) {
        const struct relaxed_reshard *r = &p->relaxed->reshards[k];
        cJSON *i = cJSON_CreateObject();
        mesh_set_format(&p->problem->mesh, r->over, axes, sizeof axes);
        cJSON_AddStringToObject(i, "value", hlo_name(m, m->value_instruction[r->value]));
        cJSON_AddNumberToObject(i, "leaf", hlo_value_leaf(m, r->value));
        cJSON_AddStringToObject(i, "user", r->user == HLO_NONE ? "" : hlo_name(m, r->user));
        if (r->user != HLO_NONE)
            cJSON_AddNumberToObject(i, "operand", r->leaf);
        if (r->step)
            cJSON_AddNumberToObject(i, "step", r->step);
        if (r->is_inside)
            cJSON_AddNumberToObject(i, "inside", 1);
        cJSON_AddStringToObject(
            i, "becomes",
            r->becomes == HLO_NONE ? "" : hlo_name(m, m->value_instruction[r->becomes]));
        add_shape(p, r, r->from, "from", i);
        add_shape(p, r, r->to, "to", i);
        cJSON_AddStringToObject(i, "kind", reshard_kind_names[r->kind]);
        cJSON_AddStringToObject(i, "axes", axes);
        cJSON_AddNumberToObject(i, "times", r->times);
        cJSON_AddNumberToObject(i, "bytes", r->bytes);
        cJSON_AddNumberToObject(i, "ms", r->ms);
        cJSON_AddItemToArray(all, i);
    }
}

void relaxed_add_json(const struct plan *p, cJSON *o)
{
    const struct relaxed_plan *r = p->relaxed;

    cJSON_AddStringToObject(o, "bound_kind", relaxed_bound_names[r->bound_kind]);
    cJSON_AddNumberToObject(o, "gap",
                            p->bound_ms > 0 ? fmax(0, p->cost.step_ms / p->bound_ms - 1) : 0);
    cJSON_AddNumberToObject(o, "strict_ms", r->strict_ms);
    cJSON_AddBoolToObject(o, "strict_proven", r->strict_proven);
    cJSON_AddStringToObject(o, "strict_scope",
                            p->memory_limit > 0 ? "strict plans on this mesh with the same pins, "
                                                  "within the memory limit"
                                                : "strict plans on this mesh with the same pins");
    cJSON_AddStringToObject(o, "partial_results", partial_words[r->reduce_at_once]);
    add_reshards(p, o);
    add_instructions(p, o);
    add_values(p, o);
}

/* ---- reading ---- */

struct reading {
    const struct problem *p;
    uint32_t *choice;            /* [instructions] */
    status *made, *held, *ended; /* [values] */
    bool *is_listed;             /* [instructions], then [values] */
    struct err *e;
};

static int wrong_key(struct reading *r, const char *key, int at, const char *what)
{
    return err_set(r->e, ERR_INPUT, "%s[%d]%s", key, at, what);
}

static int read_instruction(struct reading *r, const cJSON *o, int at)
{
    const char *name = json_text(o, "instruction");
    hlo_id id = hlo_find(r->p->m, name);

    if (id == HLO_NONE)
        return wrong_key(r, "instructions", at, ".instruction: the model has none such");
    if (r->is_listed[id])
        return wrong_key(r, "instructions", at, ".instruction: listed twice");
    r->is_listed[id] = true;
    if (!read_words(r->p, json_get(o, "does"), read_choice, &r->choice[id]))
        return wrong_key(
            r, "instructions", at,
            ".does: expected per axis \"whole\", \"factor N\", \"passes\" or \"passes N\"");
    return 0;
}

static int read_value(struct reading *r, const cJSON *o, int at)
{
    const struct hlo_module *m = r->p->m;
    hlo_id id = hlo_find(m, json_text(o, "instruction"));
    double leaf = json_number(o, "leaf");

    if (id == HLO_NONE || leaf >= m->leaf_base[id + 1] - m->leaf_base[id])
        return wrong_key(r, "values", at, ": the model has none such");
    hlo_value v = hlo_value_of(m, id, (uint32_t)leaf);
    if (r->is_listed[m->count + v])
        return wrong_key(r, "values", at, ": listed twice");
    r->is_listed[m->count + v] = true;
    if (!read_words(r->p, json_get(o, "made"), read_status, &r->made[v]) ||
        !read_words(r->p, json_get(o, "held"), read_status, &r->held[v]) ||
        !read_words(r->p, json_get(o, "ended"), read_status, &r->ended[v]))
        return wrong_key(r, "values", at,
                         ": expected statuses, per axis \"whole\", \"dim N\" or \"partial\"");
    return 0;
}

/* Every listed status is what the plan has. */
static int check_values(struct reading *r, const struct relaxed_plan *plan, const cJSON *list)
{
    const struct hlo_module *m = r->p->m;
    const cJSON *o;
    int at = 0;

    cJSON_ArrayForEach(o, list)
    {
        hlo_id id = hlo_find(m, json_text(o, "instruction"));
        hlo_value v = hlo_value_of(m, id, (uint32_t)json_number(o, "leaf"));
        if (r->made[v] != plan->made[v] || r->held[v] != plan->held[v] ||
            r->ended[v] != plan->ended[v])
            return wrong_key(r, "values", at, ": not what the instructions say");
        at++;
    }
    return 0;
}

static int impose(struct reading *r, const cJSON *root, bool at_once, struct relaxed_plan *plan)
{
    struct relaxed_options o = {.reduce_at_once = at_once};
    struct relaxed_decisions d = {r->choice, r->made, r->held, r->ended};
    struct relaxed *solver;
    int rc = relaxed_new(r->p, &o, &solver, r->e);

    if (rc)
        return rc;
    rc = relaxed_price_decisions(solver, &d, plan, r->e);
    relaxed_free(solver);
    if (rc)
        goto out;
    rc = check_values(r, plan, json_get(root, "values"));
out:
    if (rc)
        relaxed_plan_release(plan);
    return rc;
}

static int read_partial(const cJSON *root, bool *at_once, struct err *e)
{
    const cJSON *word = json_get(root, "partial_results");

    for (int k = 0; k < 2 && word; k++) {
        *at_once = k;
        if (!strcmp(word->valuestring, partial_words[k]))
            return 0;
    }
    return err_set(e, ERR_INPUT, "partial_results: expected \"%s\" or \"%s\"", partial_words[0],
                   partial_words[1]);
}

static int read_lists(struct reading *r, const cJSON *root)
{
    const cJSON *o;
    int rc = 0, at = 0;

    cJSON_ArrayForEach(o, json_get(root, "instructions")) rc =
        rc ? rc : read_instruction(r, o, at++);
    at = 0;
    cJSON_ArrayForEach(o, json_get(root, "values")) rc = rc ? rc : read_value(r, o, at++);
    return rc;
}

/* What no plan is below, as the file has it: a bound above its own plan is none. */
static void read_bound(const cJSON *root, struct relaxed_plan *plan)
{
    const cJSON *bound = json_get(root, "bound_ms"), *kind = json_get(root, "bound_kind");
    double ms = cJSON_IsNumber(bound) ? bound->valuedouble : 0;
    bool is_tied = kind && !strcmp(kind->valuestring, relaxed_bound_names[RELAXED_TIED]);

    plan->bound_ms = ms > 0 && ms <= plan->cost.step_ms * (1 + 1e-9) ? ms : 0;
    plan->bound_kind = is_tied ? RELAXED_TIED : RELAXED_GLOBAL;
    plan->gap = plan->bound_ms > 0 ? fmax(0, plan->cost.step_ms / plan->bound_ms - 1) : 0;
}

int relaxed_read_json(const struct problem *p, const cJSON *root, struct plan *out, struct err *e)
{
    size_t values = p->m->value_count;
    struct reading r = {.p = p,
                        .choice = mem_try((size_t)p->m->count + 1, sizeof *r.choice),
                        .made = mem_try(values + 1, sizeof *r.made),
                        .held = mem_try(values + 1, sizeof *r.held),
                        .ended = mem_try(values + 1, sizeof *r.ended),
                        .is_listed = mem_try(p->m->count + values + 1, sizeof *r.is_listed),
                        .e = e};
    struct relaxed_plan plan;
    bool at_once = false;
    int rc = r.choice && r.made && r.held && r.ended && r.is_listed
                 ? read_partial(root, &at_once, e)
                 : err_no_memory(e, "to read the plan");

    if (rc)
        goto out;
    rc = read_lists(&r, root);
    if (rc)
        goto out;
    rc = impose(&r, root, at_once, &plan);
    if (rc)
        goto out;
    const cJSON *strict = json_get(root, "strict_ms");
    plan.strict_ms = strict ? strict->valuedouble : 0;
    plan.strict_proven = cJSON_IsTrue(json_get(root, "strict_proven"));
    read_bound(root, &plan);
    rc = plan_from_relaxed(&plan, out, e);
out:
    free(r.choice);
    free(r.made);
    free(r.held);
    free(r.ended);
    free(r.is_listed);
    return rc;
}
