#include "tui/commands/plan_stability.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/memory_peak.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static const char *const unit_names[STABILITY_COUNT] = {"B/s", "B/s", "B", "samples"};

static char *figure(char out[static UNITS_ROOM], int k, double value)
{
    if (k == STABILITY_BATCH)
        return units_count(out, (int64_t)value);
    if (k == STABILITY_MEMORY)
        return units_bytes(out, value);
    return units_rate(out, value, "B/s");
}

static void write_label(const struct plan *plan, label over, struct str *out)
{
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];

    if (!over) {
        str_add(out, "whole");
    } else if (plan->problem->mesh.axes == 1) {
        str_format(out, "/%u", plan->problem->labels.parts[over]);
    } else {
        mesh_set_format(&plan->problem->mesh, over, axes, sizeof axes);
        str_format(out, "/%s", axes);
    }
}

enum { NAMED = 3 };

/* The decisions in which another plan differs: the first few by name. */
static void write_differences(const struct plan *plan, const label *on, struct str *out)
{
    uint32_t count = 0;

    for (class_id k = 0; k < plan->problem->classes.count; k++) {
        if (on[k] == plan->on[k])
            continue;
        if (count++ >= NAMED)
            continue;
        str_add(out, count > 1 ? ", " : "");
        plan_peak_write_class(plan, k, out);
        str_add_char(out, ' ');
        write_label(plan, on[k], out);
    }
    if (count > NAMED)
        str_format(out, " and %u more", count - NAMED);
}

static void print_side(const struct plan *plan, const struct stability *s, int k, bool up)
{
    const struct stability_side *side = up ? &s->up[k] : &s->down[k];
    char value[UNITS_ROOM], ms[UNITS_ROOM];
    struct str changes = {0};
    const char *beyond = k == STABILITY_BATCH ? (up ? "from" : "at") : up ? "above" : "below";

    if (side->end == STABILITY_HOLDS)
        return;
    if (side->on)
        write_differences(plan, side->on, &changes);
    printf("                     %s %s", beyond, figure(value, k, side->value));
    if (side->end == STABILITY_NO_LONGER)
        printf(" it %s%s", k == STABILITY_MEMORY ? "does not fit" : "is not possible",
               side->on ? ";" : ", nor is any other found");
    if (side->on)
        printf(" %s: %s", units_ms(ms, side->step_ms), changes.text ? changes.text : "");
    printf("\n");
    str_release(&changes);
}

void plan_stability_print(const struct plan *plan, const struct stability *s)
{
    char now[UNITS_ROOM], low[UNITS_ROOM], high[UNITS_ROOM];

    printf("%s\n",
           s->is_best
               ? "the plan stays the best while one figure moves, the others staying:"
               : "the plan is not the best as things are; beyond these another is better still:");
    for (int k = 0; k < STABILITY_COUNT; k++) {
        const struct stability_side *down = &s->down[k], *up = &s->up[k];
        if (s->now[k] <= 0)
            continue;
        if (k == STABILITY_MEMORY && down->value > s->now[k]) {
            printf("  %-18s %s now: too little for this plan\n", stability_names[k],
                   figure(now, k, s->now[k]));
            print_side(plan, s, k, false);
            continue;
        }
        printf("  %-18s %s now; from %s to %s\n", stability_names[k], figure(now, k, s->now[k]),
               down->end == STABILITY_HOLDS ? "as little as was looked at"
                                            : figure(low, k, down->value),
               up->end == STABILITY_HOLDS ? "as much as was looked at"
                                          : figure(high, k, up->value));
        print_side(plan, s, k, false);
        print_side(plan, s, k, true);
    }
    printf("\n");
}

static cJSON *side_json(const struct plan *plan, const struct stability_side *side)
{
    static const char *const ends[] = {"holds", "breaks", "no longer possible"};
    cJSON *o = cJSON_CreateObject(), *changes;

    cJSON_AddStringToObject(o, "end", ends[side->end]);
    if (side->end == STABILITY_HOLDS)
        return o;
    cJSON_AddNumberToObject(o, "value", side->value);
    if (!side->on)
        return o;
    cJSON_AddNumberToObject(o, "step_time_ms", side->step_ms);
    changes = cJSON_AddArrayToObject(o, "changes");
    for (class_id k = 0; k < plan->problem->classes.count; k++) {
        struct str name = {0}, from = {0}, to = {0};
        if (side->on[k] == plan->on[k])
            continue;
        plan_peak_write_class(plan, k, &name);
        write_label(plan, plan->on[k], &from);
        write_label(plan, side->on[k], &to);
        cJSON *c = cJSON_CreateObject();
        cJSON_AddStringToObject(c, "decision", name.text ? name.text : "");
        cJSON_AddStringToObject(c, "from", from.text ? from.text : "");
        cJSON_AddStringToObject(c, "to", to.text ? to.text : "");
        cJSON_AddItemToArray(changes, c);
        str_release(&name);
        str_release(&from);
        str_release(&to);
    }
    return o;
}

int plan_stability_json(const struct plan *plan, const struct stability *s, struct str *out,
                        struct err *e)
{
    cJSON *o = cJSON_CreateObject(), *figures;

    cJSON_AddStringToObject(o, "schema", "automap.stability/1");
    cJSON_AddStringToObject(o, "model", plan->problem->file->name);
    cJSON_AddStringToObject(o, "cluster", plan->problem->cluster.name);
    cJSON_AddNumberToObject(o, "step_time_ms", plan->cost.step_ms);
    cJSON_AddBoolToObject(o, "is_best", s->is_best);
    figures = cJSON_AddArrayToObject(o, "figures");
    for (int k = 0; k < STABILITY_COUNT; k++) {
        cJSON *f = cJSON_CreateObject();
        if (s->now[k] <= 0) {
            cJSON_Delete(f);
            continue;
        }
        cJSON_AddStringToObject(f, "name", stability_names[k]);
        cJSON_AddStringToObject(f, "unit", unit_names[k]);
        cJSON_AddNumberToObject(f, "now", s->now[k]);
        cJSON_AddItemToObject(f, "down", side_json(plan, &s->down[k]));
        cJSON_AddItemToObject(f, "up", side_json(plan, &s->up[k]));
        cJSON_AddItemToArray(figures, f);
    }
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return err_set(e, ERR_MEMORY, "not enough memory to print the stability");
    str_add(out, text);
    str_add_char(out, '\n');
    cJSON_free(text);
    return out->failed ? err_set(e, ERR_MEMORY, "not enough memory to print the stability") : 0;
}
