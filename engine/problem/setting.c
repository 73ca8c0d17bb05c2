#include "engine/problem/setting.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <stdio.h>
#include <string.h>

/* ---- decisions by name ---- */

/* Glob with * (any run, slashes too) and ?. Linear in practice: only the last * is retried. */
static bool glob_matches(const char *pattern, size_t size, const char *name)
{
    size_t p = 0, star = SIZE_MAX;
    const char *retry = NULL;

    while (*name) {
        if (p < size && (pattern[p] == '?' || pattern[p] == *name) && pattern[p] != '*') {
            p++;
            name++;
        } else if (p < size && pattern[p] == '*') {
            star = p++;
            retry = name;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (p < size && pattern[p] == '*')
        p++;
    return p == size;
}

bool setting_names_param(const struct problem *p, uint32_t k, const char *pattern, size_t size)
{
    int64_t number;

    if (size > 1 && pattern[0] == '#')
        return hlo_parse_int(pattern + 1, size - 1, &number) &&
               p->roles.params[k].parameter == number;
    return glob_matches(pattern, size, p->roles.params[k].name);
}

/* 0, 1, or axis names put together; several-letter names separated by ','. */
static bool parse_axes(const struct problem *p, const char *text, label *out)
{
    const struct cluster_mesh *mesh = &p->mesh;

    *out = 0;
    if (!strcmp(text, "0"))
        return true;
    if (!strcmp(text, "1")) {
        *out = 1;
        return true;
    }
    while (*text) {
        uint32_t x = 0;
        size_t length = 0;
        for (; x < mesh->axes; x++) {
            length = strlen(mesh->axis[x].name);
            if (!strncmp(text, mesh->axis[x].name, length))
                break;
        }
        if (x == mesh->axes)
            return false;
        *out |= (label)(1u << x);
        text += length;
        text += *text == ',';
    }
    return *out != 0;
}

static bool can_split_along(const struct labels *l, class_id k, uint32_t axis)
{
    for (uint32_t a = 0; a < l->count; a++) {
        if ((a >> axis & 1) && label_is_admissible(l, k, (label)a))
            return true;
    }
    return false;
}

/* Why `dim` cannot be decided along `axis`. */
static int clash_error(const struct problem *p, uint32_t param, uint32_t dim, uint32_t axis,
                       const struct strict_clash *clash, struct err *e)
{
    const char *name = p->roles.params[param].name;
    const struct class_info *info = &p->classes.info[clash->class];
    int64_t axis_size = p->mesh.axis[axis].size;

    if (axis_size < 2)
        return err_set(e, ERR_INFEASIBLE,
                       "%.120s dim %u cannot be split over %s: it has one device", name, dim,
                       p->mesh.axis[axis].name);
    if (clash->other != CLASS_NONE)
        return err_set(e, ERR_INFEASIBLE,
                       "%.120s dim %u cannot be split: it meets another split class at %.120s",
                       name, dim, hlo_name(p->m, clash->place));
    if (info->reason != CLASS_ALLOWED)
        return err_set(e, ERR_INFEASIBLE, "%.120s dim %u can never be split: it %s %.120s", name,
                       dim, class_reason_text[info->reason], hlo_name(p->m, info->place));
    if (info->least / label_cuts(&p->labels, clash->class) < axis_size)
        return err_set(e, ERR_INFEASIBLE,
                       "%.120s dim %u cannot be split so: what is split with it has as few as %lld "
                       "elements",
                       name, dim, (long long)info->least / label_cuts(&p->labels, clash->class));
    if (!can_split_along(&p->labels, clash->class, axis))
        return err_set(e, ERR_INFEASIBLE,
                       "%.120s dim %u cannot be split over %s: %u does not divide all that is "
                       "split with it%s",
                       name, dim, p->mesh.axis[axis].name, p->mesh.axis[axis].size,
                       p->options.exact_divisibility ? "; --divisibility pad pads" : "");
    return err_set(e, ERR_INFEASIBLE,
                   "%.120s dim %u cannot be set so: an earlier decision says otherwise", name, dim);
}

/* "%dot.3" or "%while.2#5": a value of an instruction. */
static int set_value(const struct problem *p, struct strict *s,
                     const struct problem_setting *setting, struct err *e)
{
    char name[512];
    int64_t leaf = 0;

    snprintf(name, sizeof name, "%.*s", (int)setting->size, setting->pattern);
    char *mark = strrchr(name, '#');
    if (mark && hlo_parse_int(mark + 1, strlen(mark + 1), &leaf))
        *mark = 0;
    hlo_id id = hlo_find(p->m, name);
    if (id == HLO_NONE || leaf < 0 || leaf >= p->m->leaf_base[id + 1] - p->m->leaf_base[id])
        return err_set(e, ERR_INPUT, "no instruction \"%.100s\" with such a result", name);
    hlo_value v = hlo_value_of(p->m, id, (uint32_t)leaf);
    if (setting->dim >= hlo_value_shape(p->m, v)->rank)
        return err_set(e, ERR_INPUT, "%.100s has no dim %u", name, setting->dim);
    class_id k = p->classes.class_of[class_dim(&p->classes, v, setting->dim)];
    for (uint32_t x = 0; x < p->mesh.axes && k != CLASS_NONE; x++) {
        struct strict_clash clash;
        if (strict_decide(s, k, x, setting->over >> x & 1, &clash))
            continue;
        if (clash.other == CLASS_NONE)
            return err_set(e, ERR_INFEASIBLE, "%.100s dim %u can not be split so", name,
                           setting->dim);
        return err_set(e, ERR_INFEASIBLE, "%.100s dim %u meets another split class at %.100s", name,
                       setting->dim, hlo_name(p->m, clash.place));
    }
    return 0;
}

int setting_apply_to(const struct problem *p, struct strict *s, uint32_t param, uint32_t dim,
                     label over, struct err *e)
{
    class_id k = problem_param_class(p, param, dim);

    for (uint32_t x = 0; x < p->mesh.axes && k != CLASS_NONE; x++) {
        struct strict_clash clash;
        if (!strict_decide(s, k, x, over >> x & 1, &clash))
            return clash_error(p, param, dim, x, &clash, e);
    }
    return 0;
}

int setting_parse(const struct problem *p, const char *setting, struct problem_setting *out,
                  struct err *e)
{
    const char *equals = strrchr(setting, '='), *colon = equals;
    int64_t dim;

    while (colon && colon > setting && *colon != ':')
        colon--;
    if (!equals || colon == setting ||
        !hlo_parse_int(colon + 1, (size_t)(equals - colon) - 1, &dim) || dim < 0 ||
        dim > UINT32_MAX || !parse_axes(p, equals + 1, &out->over))
        return err_set(e, ERR_INPUT,
                       "setting \"%.100s\", expected NAME:DIM=0, NAME:DIM=1 or NAME:DIM=AXES",
                       setting);
    out->pattern = setting;
    out->size = (size_t)(colon - setting);
    out->dim = (uint32_t)dim;
    return 0;
}

bool setting_matches(const struct problem *p, const struct problem_setting *s, uint32_t param)
{
    return setting_names_param(p, param, s->pattern, s->size) &&
           s->dim < (uint32_t)hlo_value_shape(p->m, p->roles.params[param].value)->rank;
}

int setting_apply(const struct problem *p, struct strict *s, const char *setting, struct err *e)
{
    struct problem_setting parsed;
    uint32_t matches = 0;
    int rc = setting_parse(p, setting, &parsed, e);

    if (rc)
        return rc;
    if (parsed.pattern[0] == '%')
        return set_value(p, s, &parsed, e);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (!setting_matches(p, &parsed, k))
            continue;
        rc = setting_apply_to(p, s, k, parsed.dim, parsed.over, e);
        matches++;
        if (rc)
            return rc;
    }
    if (!matches)
        rc = err_set(e, ERR_INPUT,
                     "no parameter matches \"%.*s\" with a dim %u; inspect prints the names",
                     (int)parsed.size, setting, parsed.dim);
    return rc;
}
