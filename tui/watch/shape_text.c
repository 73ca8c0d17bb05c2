#include "tui/watch/shape_text.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "tui/screen/theme.h"
#include "tui/watch/wave.h"

#include <stdio.h>
#include <string.h>

enum { DIM_ROOM = 96 };

/* "12/4", "768/xy", "768?", "12/8!"; *style says which. */
static void write_dim(const struct watch *w, hlo_value v, uint32_t d, char out[static DIM_ROOM],
                      unsigned *style)
{
    const struct problem *p = w->problem;
    const struct hlo_shape *s = hlo_value_shape(p->m, v);
    dim_id dim = class_dim(&p->classes, v, d);
    class_id k = p->classes.class_of[dim];
    label on = watch_on(w, dim);
    int size = snprintf(out, DIM_ROOM, "%lld", (long long)s->dims[d]);

    *style = ROLE_TEXT;
    if (k == CLASS_NONE)
        return;
    if (on) {
        *style = ROLE_CHOICE_1 | BOLD;
        if (p->mesh.axes == 1) {
            size += snprintf(out + size, DIM_ROOM - (size_t)size, "/%u", p->labels.parts[on]);
        } else {
            char axes[MESH_NAME_ROOM * 2];
            mesh_set_format(&p->mesh, on, axes, sizeof axes);
            size += snprintf(out + size, DIM_ROOM - (size_t)size, "/%s", axes);
        }
        if (s->dims[d] % p->labels.parts[on])
            size += snprintf(out + size, DIM_ROOM - (size_t)size, "!");
    }
    if (watch_open(w, dim))
        snprintf(out + size, DIM_ROOM - (size_t)size, "?");
    if (wave_light(&w->wave, dim) == WAVE_FRONT)
        *style = ROLE_CHANGED | BOLD;
}

static int walk_shape(const struct watch *w, hlo_value v, bool typed, const struct pane *p, int x,
                      int y, int width)
{
    const struct hlo_shape *s = hlo_value_shape(w->problem->m, v);
    char text[DIM_ROOM];
    unsigned style;
    int start = x;
    bool is_cut = p && walk_shape(w, v, typed, NULL, 0, 0, 0) > width;

    snprintf(text, sizeof text, "%s", typed ? hlo_type_info[s->type].name : "");
    x = p ? pane_text(p, x, y, ROLE_DIM, text) : x + (int)strlen(text);
    x = p ? pane_put(p, x, y, ROLE_DIM, '[') : x + 1;
    for (uint32_t d = 0; d < s->rank; d++) {
        write_dim(w, v, d, text, &style);
        int columns = (int)strlen(text) + (d > 0);
        int after = d + 1 < s->rank ? 4 : 1; /* " ..]" or "]" */
        if (is_cut && x - start + columns + after > width) {
            x = pane_text(p, x, y, ROLE_DIM, d ? " .." : "..");
            break;
        }
        if (d)
            x++;
        x = p ? pane_text(p, x, y, style, text) : x + (int)strlen(text);
    }
    return p ? pane_put(p, x, y, ROLE_DIM, ']') : x + 1;
}

int shape_draw(const struct watch *w, hlo_value v, const struct pane *p, int x, int y, int width)
{
    return width < 8 ? x : walk_shape(w, v, true, p, x, y, width);
}

int shape_width(const struct watch *w, hlo_value v)
{
    return walk_shape(w, v, true, NULL, 0, 0, 0);
}

int shape_draw_dims(const struct watch *w, hlo_value v, const struct pane *p, int x, int y,
                    int width)
{
    return width < 4 ? x : walk_shape(w, v, false, p, x, y, width);
}

int shape_dims_width(const struct watch *w, hlo_value v)
{
    return walk_shape(w, v, false, NULL, 0, 0, 0);
}

int shape_plain_width(const struct watch *w, hlo_value v)
{
    const struct hlo_shape *s = hlo_value_shape(w->problem->m, v);
    int width = (int)strlen(hlo_type_info[s->type].name) + 2;
    char text[DIM_ROOM];

    for (uint32_t d = 0; d < s->rank; d++)
        width += snprintf(text, sizeof text, "%lld", (long long)s->dims[d]) + (d > 0);
    return s->rank ? width + 2 : width;
}
