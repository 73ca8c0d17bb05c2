#include "engine/plan/strict_json.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

int strict_axes_json(const struct problem *p, const cJSON *names, label *out)
{
    const cJSON *name;

    *out = 0;
    cJSON_ArrayForEach(name, names)
    {
        uint32_t x = 0;
        while (x < p->mesh.axes && strcmp(name->valuestring, p->mesh.axis[x].name))
            x++;
        if (x == p->mesh.axes || *out >> x & 1)
            return -1;
        *out |= (label)(1u << x);
    }
    return 0;
}

struct decision {
    class_id class;
    label split, whole;
    uint8_t by;
};

hlo_value strict_parameter_json(const struct problem *p, const cJSON *o)
{
    double parameter = json_number(o, "parameter"), leaf = json_number(o, "leaf");
    uint32_t low = 0, high = p->roles.param_count; /* they ascend by parameter, then by leaf */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct hlo_param_role *r = &p->roles.params[middle];
        if (r->parameter < parameter || (r->parameter == parameter && r->leaf < leaf))
            low = middle + 1;
        else
            high = middle;
    }
    const struct hlo_param_role *r = &p->roles.params[low];
    bool is_found = low < p->roles.param_count && r->parameter == parameter && r->leaf == leaf;
    return is_found ? r->value : HLO_NONE;
}

static hlo_value value_of_instruction(const struct problem *p, const cJSON *o)
{
    hlo_id id = hlo_find(p->m, json_text(o, "instruction"));
    double leaf = json_number(o, "leaf");

    if (id == HLO_NONE || leaf >= p->m->leaf_base[id + 1] - p->m->leaf_base[id])
        return HLO_NONE;
    return hlo_value_of(p->m, id, (uint32_t)leaf);
}

static int parse_decision(const struct problem *p, const cJSON *o, int at, struct decision *out,
                          struct err *e)
{
    bool is_parameter = json_get(o, "parameter");
    const char *who = is_parameter ? "parameter" : "instruction";

    if (is_parameter == (json_get(o, "instruction") != NULL))
        return err_set(e, ERR_INPUT,
                       "decisions[%d]: expected either \"parameter\" or \"instruction\"", at);
    hlo_value v = is_parameter ? strict_parameter_json(p, o) : value_of_instruction(p, o);
    if (v == HLO_NONE)
        return err_set(e, ERR_INPUT, "decisions[%d].%s: the model has none such", at, who);
    if (json_number(o, "dim") >= hlo_value_shape(p->m, v)->rank)
        return err_set(e, ERR_INPUT, "decisions[%d].dim: %.0f, expected less than the rank, %u", at,
                       json_number(o, "dim"), hlo_value_shape(p->m, v)->rank);
    out->class = p->classes.class_of[class_dim(&p->classes, v, (uint32_t)json_number(o, "dim"))];
    if (out->class == CLASS_NONE)
        return err_set(e, ERR_INPUT, "decisions[%d]: this dim is free, nothing is decided about it",
                       at);
    if (strict_axes_json(p, json_get(o, "split"), &out->split))
        return err_set(e, ERR_INPUT, "decisions[%d].split: expected names of axes, each once", at);
    if (strict_axes_json(p, json_get(o, "whole"), &out->whole) || out->split & out->whole)
        return err_set(e, ERR_INPUT,
                       "decisions[%d].whole: expected names of axes, each once, not those of split",
                       at);
    for (out->by = 0; out->by < PLAN_BY_COUNT; out->by++) {
        if (!strcmp(json_text(o, "by"), plan_by_names[out->by]))
            return 0;
    }
    return err_set(e, ERR_INPUT, "decisions[%d].by: \"%.40s\" is nobody known", at,
                   json_text(o, "by"));
}

static int impose(const struct problem *p, struct strict *s, const struct decision *d, int at,
                  bool split, struct err *e)
{
    label over = split ? d->split : d->whole;
    struct strict_clash clash;

    for (uint32_t x = 0; x < p->mesh.axes; x++) {
        if (!(over >> x & 1) || strict_decide(s, d->class, x, split, &clash))
            continue;
        const struct class_info *info = &p->classes.info[clash.class];
        if (clash.other != CLASS_NONE)
            return err_set(e, ERR_INPUT, "decisions[%d]: clashes with another decision at %.120s",
                           at, hlo_name(p->m, clash.place));
        if (info->reason != CLASS_ALLOWED)
            return err_set(e, ERR_INPUT, "decisions[%d]: can never be split: it %s %.120s", at,
                           class_reason_text[info->reason], hlo_name(p->m, info->place));
        return err_set(e, ERR_INPUT, "decisions[%d]: cannot be %s along %s", at,
                       split ? "split" : "whole", p->mesh.axis[x].name);
    }
    return 0;
}

/* Splits first: what they make whole by propagation is then settled. */
static int impose_all(const struct problem *p, struct strict *s, const struct decision *list,
                      int count, struct err *e)
{
    for (int pass = 1; pass >= 0; pass--) {
        for (int k = 0; k < count; k++) {
            int rc = impose(p, s, &list[k], k, pass, e);
            if (rc)
                return rc;
        }
    }
    return 0;
}

int strict_read_json(const struct problem *p, const cJSON *root, struct plan *out, struct err *e)
{
    const cJSON *o, *all = json_get(root, "decisions");
    int count = cJSON_GetArraySize(all), at = 0, rc;
    struct decision *list = mem_try((size_t)count + 1, sizeof *list);
    struct strict s = {0};

    if (!list) {
        rc = err_no_memory(e, "to read the plan");
        goto out;
    }
    rc = strict_new(&p->labels, &s, e);
    if (rc)
        goto out;
    cJSON_ArrayForEach(o, all)
    {
        rc = parse_decision(p, o, at, &list[at], e);
        if (rc)
            goto out;
        at++;
    }
    rc = impose_all(p, &s, list, count, e);
    if (rc)
        goto out;
    rc = plan_from_strict(p, &s, PLAN_BY_DECISION, out, e);
    if (rc)
        goto out;
    for (int k = 0; k < count; k++)
        out->by[list[k].class] = list[k].by;
out:
    strict_release(&s);
    free(list);
    return rc;
}
