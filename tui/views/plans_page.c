/* Two plans compared, as a page for others: the sentence, parts, layers, decisions. */
#include "engine/decide/names.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/views/panel.h"
#include "tui/views/plans_draw.h"
#include "tui/watch/layer_diff.h"
#include "tui/watch/other_plans.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/watch.h"

#include <stdio.h>

static void add_parts(const struct plans *v, struct str *out)
{
    struct plans_part parts[PLANS_PARTS];
    int count = plans_parts(v, 2, parts);
    char a[UNITS_ROOM], b[UNITS_ROOM], change[UNITS_ROOM];

    str_add(out, "## Parts\n\n| | A | B | B - A |\n|---|---:|---:|---:|\n");
    for (int n = 0; n < count; n++)
        str_format(out, "| %s | %s | %s | %s |\n", parts[n].name,
                   units_number(a, parts[n].a, parts[n].decimals),
                   units_number(b, parts[n].b, parts[n].decimals),
                   units_change(change, parts[n].b - parts[n].a, parts[n].decimals));
}

static void add_layers(const struct plans *v, struct str *out)
{
    size_t equal = 0;
    char a[UNITS_ROOM], b[UNITS_ROOM], change[UNITS_ROOM];

    str_add(out, "\n## Per layer\n\nms of a step, of one layer, forward and backward together.\n\n"
                 "| layer | alike | A | of it network | B | of it network | B - A |\n"
                 "|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t n = 0; n < v->layer_count; n++) {
        const struct layer_difference *d = &v->layers[n];
        char sent[2][UNITS_ROOM];
        equal += layer_change(d) == 0;
        if (layer_change(d) == 0)
            continue;
        str_format(out, "| %s | ×%u | %s | %s | %s | %s | %s |\n", d->name, d->times,
                   units_number(a, d->compute[0] + d->network[0], 3),
                   units_number(sent[0], d->network[0], 3),
                   units_number(b, d->compute[1] + d->network[1], 3),
                   units_number(sent[1], d->network[1], 3),
                   units_change(change, layer_change(d) / d->times, 3));
    }
    str_format(out, "\n%zu equal.\n", equal);
}

/* "+24.83, 2 others whole": what stands in its way can not stay split. */
static void write_price(const struct plan_difference *d, char *out, size_t room)
{
    char change[UNITS_ROOM];

    if (!d->priced)
        snprintf(out, room, "A can not take it");
    else if (!d->along)
        snprintf(out, room, "%s", units_change(change, d->price_ms, 2));
    else
        snprintf(out, room, "%s, %u other%s whole", units_change(change, d->price_ms, 2), d->along,
                 d->along == 1 ? "" : "s");
}

static void add_decisions(const struct panel *p, struct str *out)
{
    const struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    char name[NAME_ROOM], where[128], price[UNITS_ROOM + 32];

    str_add(out, "\n## Decisions that differ\n\n| group | dims | split in A | split in B | "
                 "A with this one of B, ms | where |\n|---|---:|---:|---:|---:|---|\n");
    for (size_t n = 0; n < v->difference_count; n++) {
        const struct plan_difference *d = &v->differences[n];
        plans_where(w, d, where, sizeof where);
        write_price(d, price, sizeof price);
        str_format(out, "| %s | %u | %u of %u | %u of %u | %s | %s |\n",
                   d->move == MOVE_NONE ? class_name(&w->names, d->class, name)
                                        : w->move[d->move].name,
                   d->dims, d->a, d->classes, d->b, d->classes, price, where);
    }
    if (!v->difference_count)
        str_add(out, "\nNone.\n");
}

void plans_page(const struct panel *p, struct str *out)
{
    const struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    char verdict[256], a[48], b[48];

    plans_found_by(&v->rows[v->a], a, sizeof a);
    plans_found_by(&v->rows[v->b], b, sizeof b);
    str_format(out, "# %s on %s: two plans compared\n\n%s\n\nA is %s, B is %s; seed %llu.\n\n",
               p->scene->model_name, w->problem->cluster.name,
               plans_verdict(v, verdict, sizeof verdict), a, b,
               (unsigned long long)w->shot->options.seed);
    add_parts(v, out);
    if (plans_compared(v) != OTHER_NONE) {
        str_format(out, "\nNot compared decision by decision: %s.\n",
                   plans_undecided[plans_compared(v)]);
        return;
    }
    add_layers(v, out);
    add_decisions(p, out);
}
