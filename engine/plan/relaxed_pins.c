/* engine/plan/relaxed_pins.c - decisions of people and of strict plans, as pins. */
#include "engine/plan/relaxed_pins.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/problem/setting.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static int add_pin(struct relaxed_pins *list, uint32_t param, uint32_t dim, uint32_t axis,
                   uint8_t kind, struct err *e)
{
    if (!mem_grow(&list->items, &list->room, list->count, 1))
        return err_no_memory(e, "for the decisions");
    list->items[list->count++] = (struct relaxed_pin){param, dim, axis, kind};
    return 0;
}

static int add_dim(const struct problem *p, uint32_t param, const struct problem_setting *s,
                   bool stored, struct relaxed_pins *list, struct err *e)
{
    const struct hlo_shape *shape = hlo_value_shape(p->m, p->roles.params[param].value);

    if (s->dim >= shape->rank)
        return err_set(e, ERR_INPUT, "%.200s has no dim %u: %u dims", p->roles.params[param].name,
                       s->dim, shape->rank);
    for (uint32_t x = 0; x < p->mesh.axes; x++) {
        int rc = 0;
        if (s->over >> x & 1)
            rc = add_pin(list, param, s->dim, x, stored ? RELAXED_STORED : RELAXED_SPLIT, e);
        else if (!s->over)
            rc = add_pin(list, param, s->dim, x, RELAXED_WHOLE, e);
        if (rc)
            return rc;
    }
    return 0;
}

int relaxed_pins_set(const struct problem *p, const char *setting, bool stored,
                     struct relaxed_pins *list, struct err *e)
{
    struct problem_setting s;
    uint32_t before = list->count;
    int rc = setting_parse(p, setting, &s, e);

    if (rc)
        return rc;
    if (stored && !s.over)
        return err_set(e, ERR_INPUT,
                       "\"%.100s\": what is stored in pieces is split, expected =1 or axes",
                       setting);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        rc = setting_matches(p, &s, k) ? add_dim(p, k, &s, stored, list, e) : 0;
        if (rc)
            return rc;
    }
    if (list->count == before)
        return err_set(e, ERR_INPUT, "no parameter matches \"%.*s\"", (int)s.size, s.pattern);
    return 0;
}

int relaxed_pins_of_plan(const struct plan *from, struct relaxed_pins *list, struct err *e)
{
    const struct problem *p = from->problem;
    int rc = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        for (uint32_t d = 0; d < hlo_value_shape(p->m, p->roles.params[k].value)->rank; d++) {
            class_id c = problem_param_class(p, k, d);
            bool chosen = c != CLASS_NONE && from->by[c] != PLAN_BY_NOBODY &&
                          from->by[c] != PLAN_BY_PROPAGATION;
            for (uint32_t x = 0; x < p->mesh.axes && !rc; x++) {
                if (c != CLASS_NONE && from->on[c] >> x & 1)
                    rc = add_pin(list, k, d, x, RELAXED_SPLIT, e);
                else if (chosen && from->decided[c] >> x & 1)
                    rc = add_pin(list, k, d, x, RELAXED_WHOLE, e);
            }
        }
    }
    return rc;
}

void relaxed_pins_release(struct relaxed_pins *list)
{
    free(list->items);
    memset(list, 0, sizeof *list);
}
