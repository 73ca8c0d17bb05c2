#include "engine/plan/plan_settings.h"
#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/problem/setting.h"
#include "engine/text/json_pull.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTING_ROOM = 1024 };

/* A name that setting_apply takes for something else goes by its parameter's number. */
static bool is_plain(const char *name)
{
    return name[0] && name[0] != '#' && !strpbrk(name, "*?\n");
}

static void add_quoted(struct str *out, const char *text)
{
    str_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            str_add(out, "'\\''");
        else
            str_add_char(out, *text);
    }
    str_add_char(out, '\'');
}

/* "encoder/layer_000/self/q/kernel:1=1" */
static void write_setting(const struct plan *p, uint32_t param, uint32_t dim, label over,
                          struct str *out)
{
    const struct hlo_param_role *r = &p->problem->roles.params[param];
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1] = "1";

    if (p->problem->mesh.axes > 1)
        mesh_set_format(&p->problem->mesh, over, axes, sizeof axes);
    if (is_plain(r->name))
        str_format(out, "%s:%u=%s", r->name, dim, axes);
    else
        str_format(out, "#%u:%u=%s", r->parameter, dim, axes);
}

/* The state of decisions is part of the plan already: nothing to say. */
static bool is_said(const struct plan *p, const struct strict *s, class_id k)
{
    return s->on[k] == p->on[k];
}

static int say_setting(const struct str *setting, const char *before, struct str *out,
                       struct err *e)
{
    if (setting->failed)
        return err_no_memory(e, "for the plan");
    str_add(out, before);
    add_quoted(out, setting->text);
    return 0;
}

/* Parameter leaves in the order of what a setting calls them. */
struct called {
    const char *name; /* "": by number */
    uint32_t parameter, param;
};

static int by_name(const void *a, const void *b)
{
    const struct called *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order)
        return order;
    if (!*x->name && x->parameter != y->parameter)
        return x->parameter < y->parameter ? -1 : 1;
    return x->param < y->param ? -1 : x->param > y->param;
}

static bool is_same_name(const struct called *x, const struct called *y)
{
    return !strcmp(x->name, y->name) && (*x->name || x->parameter == y->parameter);
}

/* All parameter leaves, sorted; at[param] where each stands. */
static bool sort_names(const struct problem *q, struct called *all, uint32_t *at)
{
    uint32_t count = q->roles.param_count;

    if (!all || !at)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        const struct hlo_param_role *r = &q->roles.params[k];
        all[k] = (struct called){is_plain(r->name) ? r->name : "", r->parameter, k};
    }
    if (count)
        qsort(all, count, sizeof *all, by_name);
    for (uint32_t k = 0; k < count; k++)
        at[all[k].param] = k;
    return true;
}

/* What setting_apply would do for the setting of `param`, without a look at all others. */
static int apply_called(const struct plan *p, struct strict *s, const struct called *all,
                        uint32_t at, uint32_t dim, label over, struct err *e)
{
    const struct problem *q = p->problem;
    uint32_t first = at;

    while (first && is_same_name(&all[first - 1], &all[at]))
        first--;
    for (; first < q->roles.param_count && is_same_name(&all[first], &all[at]); first++) {
        uint32_t k = all[first].param;
        if (dim >= hlo_value_shape(q->m, q->roles.params[k].value)->rank)
            continue;
        int rc = setting_apply_to(q, s, k, dim, over, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int say_parameters(const struct plan *p, struct strict *s, const char *before,
                          struct str *out, struct err *e)
{
    const struct problem *q = p->problem;
    struct called *all = mem_try((size_t)q->roles.param_count + 1, sizeof *all);
    uint32_t *at = mem_try((size_t)q->roles.param_count + 1, sizeof *at);
    struct str setting = {0};
    int rc = sort_names(q, all, at) ? 0 : err_no_memory(e, "for the plan");

    if (rc)
        goto out;
    for (uint32_t k = 0; k < q->roles.param_count; k++) {
        uint32_t rank = hlo_value_shape(q->m, q->roles.params[k].value)->rank;
        for (uint32_t d = 0; d < rank; d++) {
            class_id c = problem_param_class(q, k, d);
            if (c == CLASS_NONE || !p->on[c] || is_said(p, s, c))
                continue;
            str_clear(&setting);
            write_setting(p, k, d, p->on[c], &setting);
            rc = say_setting(&setting, before, out, e);
            if (rc)
                goto out;
            rc = apply_called(p, s, all, at[k], d, p->on[c], e);
            if (rc)
                goto out;
        }
    }
out:
    str_release(&setting);
    free(all);
    free(at);
    return rc;
}

/* Classes without a parameter's dim, by their first value that goes by its name. */
static int say_values(const struct plan *p, struct strict *s, const char *before, struct str *out,
                      struct err *e)
{
    const struct problem *q = p->problem;
    struct str setting = {0};
    int rc = 0;

    for (hlo_value v = 0; v < q->m->value_count; v++) {
        hlo_id id = q->m->value_instruction[v];
        for (uint32_t d = 0; d < hlo_value_shape(q->m, v)->rank; d++) {
            class_id c = q->classes.class_of[class_dim(&q->classes, v, d)];
            char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1] = "1";
            if (c == CLASS_NONE || !p->on[c] || is_said(p, s, c) ||
                hlo_find(q->m, hlo_name(q->m, id)) != id)
                continue;
            if (q->mesh.axes > 1)
                mesh_set_format(&q->mesh, p->on[c], axes, sizeof axes);
            str_clear(&setting);
            str_format(&setting, "%%%s", hlo_name(q->m, id));
            if (q->m->leaf_base[id + 1] - q->m->leaf_base[id] > 1)
                str_format(&setting, "#%u", hlo_value_leaf(q->m, v));
            str_format(&setting, ":%u=%s", d, axes);
            rc = say_setting(&setting, before, out, e);
            if (rc)
                goto out;
            rc = setting_apply(q, s, setting.text, e);
            if (rc)
                goto out;
        }
    }
out:
    str_release(&setting);
    return rc;
}

int plan_settings_write(const struct plan *p, const char *before, struct str *out, struct err *e)
{
    struct strict s;
    int rc = strict_new(&p->problem->labels, &s, e);

    if (rc)
        return rc;
    rc = say_parameters(p, &s, before, out, e);
    if (rc)
        goto out;
    rc = say_values(p, &s, before, out, e);
    if (rc)
        goto out;
    for (class_id c = 0; c < p->problem->classes.count; c++) {
        if (!is_said(p, &s, c)) {
            rc = err_set(e, ERR_INPUT, "the plan splits values that go by no name");
            if (rc)
                goto out;
        }
    }
out:
    strict_release(&s);
    return rc;
}

/* Takes one quoted word, as add_quoted writes it. */
static const char *read_quoted(const char *at, char *word, size_t room)
{
    size_t size = 0;

    for (; *at; at++) {
        bool escaped = !strncmp(at, "'\\''", 4);
        if (*at == '\'' && !escaped)
            break;
        if (size + 1 >= room)
            return NULL;
        word[size++] = *at;
        at += escaped ? 3 : 0;
    }
    word[size] = 0;
    return *at == '\'' ? at + 1 : NULL;
}

static int each_of_json(const char *text, size_t size,
                        int (*take)(void *context, const char *setting, struct err *e),
                        void *context, struct err *e)
{
    struct json_pull j;
    char word[SETTING_ROOM];
    int rc = 0;

    json_open(&j, text, size, e);
    json_object(&j);
    while (!rc && json_key(&j)) {
        if (strcmp(j.key, "pins") != 0) {
            json_skip(&j);
            continue;
        }
        json_list(&j);
        while (!rc && json_item(&j)) {
            json_string(&j, word, sizeof word);
            rc = j.failed ? 0 : take(context, word, e);
        }
    }
    return rc ? rc : json_close(&j);
}

int plan_settings_each(const char *text, size_t size,
                       int (*take)(void *context, const char *setting, struct err *e),
                       void *context, struct err *e)
{
    static const char mark[] = "--set '";
    char word[SETTING_ROOM];
    int rc = 0;

    if (text[strspn(text, " \t\r\n")] == '{')
        return each_of_json(text, size, take, context, e);
    for (const char *at = text; !rc && (at = strstr(at, mark));) {
        const char *begin = at + strlen(mark);
        at = read_quoted(begin, word, sizeof word);
        if (!at) {
            err_set(e, ERR_INPUT, "a setting that does not end, expected '");
            return err_at(e, text, size, (size_t)(begin - text));
        }
        rc = take(context, word, e);
    }
    return rc;
}

struct applied {
    const struct plan *plan;
    struct strict *s;
    struct called *all; /* [param_count], sorted */
    uint32_t *at;       /* [param_count] where each stands in it */
};

/* The first that a setting of this plain name or number calls; param_count: none so. */
static uint32_t find_called(const struct applied *a, const char *name)
{
    struct called key = {.name = name};
    uint32_t low = 0, count = a->plan->problem->roles.param_count, high = count;
    int64_t number;

    if (!is_plain(name)) {
        if (name[0] != '#' || !hlo_parse_int(name + 1, strlen(name + 1), &number) || number < 0 ||
            number > UINT32_MAX)
            return count;
        key = (struct called){.name = "", .parameter = (uint32_t)number};
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_name(&a->all[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && is_same_name(&a->all[low], &key) ? low : count;
}

/* As setting_apply, but O(log parameters) where the setting calls them by their one name. */
static int apply_setting(void *context, const char *setting, struct err *e)
{
    struct applied *a = context;
    struct problem_setting parsed;
    char name[SETTING_ROOM];
    int rc = setting_parse(a->plan->problem, setting, &parsed, e);

    if (rc)
        return rc;
    snprintf(name, sizeof name, "%.*s", (int)parsed.size, parsed.pattern);
    uint32_t at = name[0] == '%' ? UINT32_MAX : find_called(a, name);
    return at < a->plan->problem->roles.param_count
               ? apply_called(a->plan, a->s, a->all, at, parsed.dim, parsed.over, e)
               : setting_apply(a->plan->problem, a->s, setting, e);
}

int plan_settings_check(const struct plan *p, const char *text, struct err *e)
{
    const struct problem *q = p->problem;
    struct strict s;
    struct applied a = {.plan = p,
                        .s = &s,
                        .all = mem_try((size_t)q->roles.param_count + 1, sizeof *a.all),
                        .at = mem_try((size_t)q->roles.param_count + 1, sizeof *a.at)};
    int rc = strict_new(&q->labels, &s, e);

    if (rc)
        goto out;
    rc = sort_names(q, a.all, a.at) ? plan_settings_each(text, strlen(text), apply_setting, &a, e)
                                    : err_no_memory(e, "for the plan");
    if (!rc && memcmp(s.on, p->on, q->classes.count * sizeof *s.on))
        rc = err_set(e, ERR_INPUT, "the export does not read back as the plan");
    strict_release(&s);
out:
    free(a.all);
    free(a.at);
    return rc;
}
