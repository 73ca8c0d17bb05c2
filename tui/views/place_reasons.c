/* The lower part of the placement view on a tall screen: why things are where they are. */
#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/views/place_draw.h"

#include <stdio.h>

enum { NAME_LEAST = 16, PRICE_WIDE = 10 };

static void draw_price(const struct pane *p, int right, int y, const struct place_price *price,
                       double now)
{
    char ms[UNITS_ROOM];
    unsigned role = price->value_ms > now * (1 + 1e-9) ? ROLE_WARN : ROLE_OK;

    if (price->faults)
        pane_right(p, right, y, ROLE_ERR,
                   price->faults & PLACE_OVER_MEMORY ? "memory"
                   : price->faults & PLACE_CROWDED   ? "a copy"
                                                     : "not so");
    else
        pane_right(p, right, y, role, units_plain_ms(ms, price->value_ms));
}

void place_draw_reasons(const struct place_shown *s, const struct pane *p)
{
    uint32_t devices = s->look->state->devices, shown = devices;
    char name[32], device[16];

    while (shown && p->width - (int)shown * PRICE_WIDE < NAME_LEAST)
        shown--;
    int left = p->width - (int)shown * PRICE_WIDE;
    pane_head(p, 0,
              &(struct head){0, "Elsewhere",
                             s->of_model ? "per batch, if it moved" : "per sample, if it moved",
                             false});
    for (uint32_t d = 0; d < shown; d++)
        pane_right(p, left + ((int)d + 1) * PRICE_WIDE, 1, place_draw_role(s, d) | BOLD,
                   place_device_name(s->graph, d, device));
    for (uint32_t i = 0; i < s->reasons && (int)i + 2 < p->height; i++) {
        uint32_t node = s->reason_node[i], home = place_look_device(s->look, node);
        const struct place_price *price = s->reason + (size_t)i * devices;
        int y = (int)i + 2;
        pane_cut(p, 0, y, left - 1, ROLE_TEXT, place_node_name(s->graph, node, name));
        for (uint32_t d = 0; d < shown; d++) {
            int right = left + ((int)d + 1) * PRICE_WIDE;
            if (d == home)
                pane_right(p, right, y, ROLE_DIM, "is here");
            else
                draw_price(p, right, y, &price[d], price[home].value_ms);
        }
    }
    if (!s->reasons)
        pane_text(p, 0, 2, ROLE_DIM, "there is no work");
}

uint32_t place_draw_heaviest(const struct place_shown *s, uint32_t d, uint32_t out[PLACE_REASONS])
{
    const struct place_graph *g = s->graph;
    uint32_t type = d == PLACE_NONE ? 0 : place_type_of(g, d), count = 0;

    for (uint32_t v = 0; v < g->nodes; v++) {
        double ms = place_time(g, type, v);
        if ((d != PLACE_NONE && place_look_device(s->look, v) != d) || !(ms > 0) ||
            (count == PLACE_REASONS && ms <= place_time(g, type, out[count - 1])))
            continue;
        uint32_t k = count < PLACE_REASONS ? count++ : PLACE_REASONS - 1;
        for (; k && place_time(g, type, out[k - 1]) < ms; k--)
            out[k] = out[k - 1];
        out[k] = v;
    }
    return count;
}

void place_draw_limit(const struct place_shown *s, const struct pane *p)
{
    uint32_t d = place_look_limit(s->look), node[PLACE_REASONS],
             count = place_draw_heaviest(s, d, node);
    double load = place_look_load(s->look, d);
    char name[32], device[16], head[32], text[UNITS_ROOM];

    snprintf(head, sizeof head, "On %s", place_device_name(s->graph, d, device));
    pane_head(p, 0, &(struct head){0, head, "which limits", false});
    for (uint32_t i = 0; i < count && (int)i + 1 < p->height; i++) {
        double ms = place_time(s->graph, place_type_of(s->graph, d), node[i]);
        pane_cut(p, 0, (int)i + 1, p->width - 20, ROLE_TEXT,
                 place_node_name(s->graph, node[i], name));
        pane_right(p, p->width - 9, (int)i + 1, ROLE_TEXT, units_plain_ms(text, ms));
        pane_right(p, p->width, (int)i + 1, ROLE_DIM, units_percent(text, ms / load));
    }
}
