#include "tui/views/memory_draw.h"

#include "engine/cost/memory.h"
#include "engine/decide/names.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double memory_limit(const struct scene *s)
{
    return s->watch ? watch_memory_limit(s->watch) : s->problem->step_tables.device.memory_bytes;
}

/* ---- curves ---- */

/* The phase of most instructions under a column: a lone constant of the update does not name it. */
static int phase_of_column(const struct scene *s, const struct memory_curve *c, int column,
                           int columns)
{
    uint32_t counts[HLO_PHASE_COUNT] = {0};
    uint32_t from = (uint32_t)((uint64_t)c->count * (uint32_t)column / (uint32_t)columns);
    uint32_t end = (uint32_t)((uint64_t)c->count * ((uint32_t)column + 1) / (uint32_t)columns);
    int most = HLO_PHASE_OTHER;

    for (uint32_t n = from; n < end; n++)
        counts[s->problem->roles.phase[memory_at(s->watch, n)]]++;
    for (int phase = 0; phase < HLO_PHASE_COUNT; phase++) {
        if (counts[phase] > counts[most])
            most = phase;
    }
    return most;
}

/* Where the longest run of columns of `phase` begins; -1: it has none. */
static int longest_run(const struct scene *s, const struct memory_curve *c, int phase, int columns)
{
    int most = 0, run = 0, from = -1;

    for (int column = 0; column < columns; column++) {
        run = phase_of_column(s, c, column, columns) == phase ? run + 1 : 0;
        if (run > most) {
            most = run;
            from = column - run + 1;
        }
    }
    return from;
}

/* Phases where the most of them begins, and the position looked at: "▲ 374 of 1,490  peak". */
static void draw_places(const struct scene *s, const struct memory_curve *c, const uint32_t *cursor,
                        const struct pane *p, int y, const struct plot_drawn *d)
{
    int from = -1, end = -1, last = -1;
    char here[80], at[UNITS_ROOM], of[UNITS_ROOM];

    if (!d->columns || c->count < 2)
        return;
    if (cursor) {
        snprintf(here, sizeof here, "▲ %s of %s%s", units_count(at, *cursor),
                 units_count(of, c->count), *cursor == c->peak ? "  peak" : "");
        from = d->first_column + (int)((double)*cursor / (c->count - 1) * (d->columns - 1));
        end = from + utf8_text_columns(here);
        if (end > p->width) {
            pane_right(p, from + 1, y, ROLE_CHANGED, "▲");
            here[0] = 0;
            end = from + 1;
        } else {
            int x = pane_text(p, from, y, ROLE_CHANGED, "▲");
            pane_text(p, x, y, ROLE_TEXT, here + strlen("▲"));
        }
    }
    for (int phase = 0; phase < HLO_PHASE_OTHER; phase++) {
        int column = longest_run(s, c, phase, d->columns), x = d->first_column + column;
        int width = utf8_text_columns(hlo_phase_names[phase]);
        if (column < 0)
            continue;
        x = x <= last ? last + 1 : x;
        x = x + width > p->width ? p->width - width : x;
        if (x < end + 2 && x + width + 1 >= from)
            x = x < from ? from - 2 - width : end + 2; /* beside the position looked at */
        if (x > last && x >= 0 && x + width <= p->width)
            last = pane_text(p, x, y, ROLE_DIM, hlo_phase_names[phase]);
    }
}

struct memory_unit memory_unit_of(const struct memory_curve *c)
{
    double peak = c->total[c->peak];

    return peak >= 999.5e6   ? (struct memory_unit){1e9, "GB"}
           : peak >= 999.5e3 ? (struct memory_unit){1e6, "MB"}
                             : (struct memory_unit){1e3, "kB"};
}

/* Kinds one above the other: what is kept, with gradients, all. [count] each, the last of both. */
static void sum_kinds(const struct memory_curve *c, double unit, double *state, double *gradients,
                      double *total)
{
    for (uint32_t n = 0; n < c->count; n++) {
        const double *k = c->kinds[n];
        state[n] = (k[MEMORY_PARAMETERS] + k[MEMORY_OPTIMIZER]) / unit;
        gradients[n] = state[n] + k[MEMORY_GRADIENTS] / unit;
        total[n] = c->total[n] / unit;
    }
}

int memory_draw_curves(const struct scene *s, const struct memory_curve *c,
                       const struct memory_curve *other, const uint32_t *cursor,
                       const struct pane *p, int rows)
{
    uint32_t others = other ? other->count : 0;
    double *state = mem_alloc((3 * (size_t)c->count + others + 1) * sizeof *state),
           *gradients = state + c->count, *total = gradients + c->count, *beside = total + c->count;
    double unit = memory_unit_of(c).bytes, most = c->total[c->peak] / unit,
           limit = memory_limit(s) / unit;
    struct plot_series series[4];
    size_t count = 0;
    bool narrow =
        p->width < 48; /* room for two names in the legend; the limit's stands in the head */

    sum_kinds(c, unit, state, gradients, total);
    if (other) {
        most = fmax(most, other->total[other->peak] / unit);
        for (uint32_t n = 0; n < others; n++)
            beside[n] = other->total[n] / unit;
        series[count++] = (struct plot_series){.y = beside,
                                               .count = other->count,
                                               .kind = PLOT_LINE,
                                               .role = ROLE_PLOT_3,
                                               .sign = '+',
                                               .name = "other plan"};
    }
    if (!other && !narrow)
        series[count++] = (struct plot_series){.y = gradients,
                                               .count = c->count,
                                               .kind = PLOT_LINE,
                                               .role = ROLE_PLOT_1,
                                               .sign = 'g',
                                               .name = "state and gradients"};
    if (!other)
        series[count++] = (struct plot_series){.y = state,
                                               .count = c->count,
                                               .kind = PLOT_LINE,
                                               .role = ROLE_PLOT_4,
                                               .sign = 's',
                                               .name = "state"};
    series[count++] = (struct plot_series){.y = total,
                                           .count = c->count,
                                           .kind = PLOT_LINE,
                                           .role = ROLE_PLOT_0,
                                           .sign = '*',
                                           .name = "all"};
    bool near = limit < 3 * most;
    struct plot plot = {.series = series,
                        .series_count = count,
                        .first_x = 0,
                        .last_x = c->count > 1 ? c->count - 1 : 1,
                        .low = 0,
                        .high = fmax(most, near ? limit : 0) * 1.02,
                        .limit = near ? limit : NAN,
                        .limit_role = ROLE_ERR,
                        .limit_name = narrow ? NULL : "limit",
                        .ascii = s->ascii};
    struct pane area = pane_part(p, 0, 0, p->width, rows - (rows > 3));
    struct plot_drawn d = plot_draw(&area, &plot);
    free(state);
    if (rows > 3)
        draw_places(s, c, cursor, p, rows - 1, &d);
    return rows;
}

/* ---- words ---- */

/* "encoder self": modules on the way to its instruction, without phase and layers. */
static void write_module(const struct watch *w, hlo_value v, char *out, size_t room)
{
    const struct tree *t = w->tree;
    int path[16], depth = 0;
    size_t size = 0;

    for (int n = t->node_of[w->problem->m->value_instruction[v]]; n != TREE_NONE && depth < 16;
         n = t->nodes[n].parent)
        path[depth++] = n;
    out[0] = 0;
    for (int i = depth - 2; i >= 0; i--) {
        const struct tree_node *node = &t->nodes[path[i]];
        bool numbered = node->number >= 0 || strspn(node->name, "0123456789") == strlen(node->name);
        if (!numbered && !node->series && size + strlen(node->name) + 2 < room)
            size += (size_t)snprintf(out + size, room - size, "%s%s", size ? " " : "", node->name);
    }
}

/* Module and operation in at most `columns`: the module gives way. */
static void write_group(const struct watch *w, const struct memory_group *g, int columns, char *out,
                        size_t room)
{
    hlo_id id = w->problem->m->value_instruction[g->value];
    char module[TREE_NAME_ROOM * 2], brief[TREE_NAME_ROOM * 2], operation[64];

    if (g->kind == MEMORY_PARAMETERS) {
        snprintf(out, room, "parameters, moments");
        return;
    }
    snprintf(operation, sizeof operation, "%s%s",
             hlo_op_info[hlo_at(w->problem->m, id)->opcode].name,
             g->kind == MEMORY_GRADIENTS ? " gradient" : "");
    write_module(w, g->value, module, sizeof module);
    int rest = columns - utf8_text_columns(operation) - 1;
    snprintf(out, room, "%s%s%s",
             rest > 2 ? watch_short_name(brief, sizeof brief, module, rest) : "",
             module[0] && rest > 2 ? " " : "", operation);
}

/* "models.py:44", without directories. */
void memory_write_source(const struct hlo_module *m, hlo_value v, char *out, size_t room)
{
    const struct hlo_meta *meta = hlo_meta(m, m->value_instruction[v]);
    const char *slash = strrchr(meta->source_file, '/');

    out[0] = 0;
    if (meta->source_file[0])
        snprintf(out, room, "%s:%u", slash ? slash + 1 : meta->source_file, meta->source_line);
    else if (hlo_at(m, m->value_instruction[v])->line)
        snprintf(out, room, "line %u", hlo_at(m, m->value_instruction[v])->line);
}

/* f32[32 12 512 512], as it is unsplit. */
static void write_shape(const struct hlo_module *m, hlo_value v, char *out, size_t room)
{
    const struct hlo_shape *s = hlo_value_shape(m, v);
    size_t size = (size_t)snprintf(out, room, "%s[", hlo_type_info[s->type].name);

    for (uint32_t d = 0; d < s->rank && size + 24 < room; d++)
        size += (size_t)snprintf(out + size, room - size, "%s%lld", d ? " " : "",
                                 (long long)s->dims[d]);
    snprintf(out + size, room - size, "]");
}

static void write_life(uint32_t first, uint32_t last, bool always, char *out, size_t room)
{
    char from[UNITS_ROOM], to[UNITS_ROOM];

    if (always)
        snprintf(out, room, "always");
    else
        snprintf(out, room, "%s–%s", units_count(from, first), units_count(to, last));
}

/* ---- lists ---- */

/* Where columns end; 0: left out. */
struct columns {
    int name, shape, source, count, gb, bar, life;
    int wide; /* columns of a shape */
};

/* `shape`, `life`: columns of the longest. */
static struct columns columns_for(int width, int shape, int life)
{
    struct columns c = {0};
    int x = width;

    if (width >= 66) {
        c.life = x;
        x -= life + 2;
    }
    if (width >= 90) {
        c.bar = x - 8;
        x -= 9;
    }
    c.gb = x;
    c.count = x - 7;
    x = c.count - 6;
    if (width >= 112) {
        c.source = x - 20;
        x -= 22;
    }
    if (width >= 50) {
        c.shape = x - shape;
        c.wide = shape;
        x -= shape + 2;
    }
    c.name = x;
    return c;
}

enum { SHAPE_MOST = 22, LIFE_LEAST = 10 }; /* "first–last" */

static struct columns group_columns(const struct memory_view *v, const struct watch *w, int width)
{
    int shape = 5, life = LIFE_LEAST; /* "shape" */
    char text[192];

    for (size_t n = 0; n < v->group_count; n++) {
        const struct memory_group *g = &v->groups[n];
        if (g->kind == MEMORY_PARAMETERS)
            continue;
        write_shape(w->problem->m, g->value, text, sizeof text);
        int columns = utf8_text_columns(text);
        shape = columns > shape ? columns : shape;
        write_life(g->first, g->last, g->always, text, sizeof text);
        columns = utf8_text_columns(text);
        life = columns > life ? columns : life;
    }
    return columns_for(width, shape < SHAPE_MOST ? shape : SHAPE_MOST, life);
}

void memory_select(const struct pane *pane, int y, bool own)
{
    pane_select(pane, y, own ? ROLE_SELECT : ROLE_SELECT_DIM);
    if (!own)
        return;
    pane->grid->cursor_x = pane->x;
    pane->grid->cursor_y = pane->y + y;
}

static void draw_group(const struct watch *w, const struct pane *p, int y,
                       const struct memory_group *g, double most, double unit,
                       const struct columns *c)
{
    char text[192], number[UNITS_ROOM];

    int columns = g->kind == MEMORY_PARAMETERS ? c->count - 8 : c->name;
    write_group(w, g, columns, text, sizeof text);
    pane_cut(p, 0, y, columns, ROLE_TEXT, text);
    if (c->shape && g->kind != MEMORY_PARAMETERS) {
        write_shape(w->problem->m, g->value, text, sizeof text);
        pane_cut(p, c->shape, y, c->wide, ROLE_DIM, text);
    }
    if (c->source && g->kind != MEMORY_PARAMETERS) {
        memory_write_source(w->problem->m, g->value, text, sizeof text);
        pane_cut(p, c->source, y, 20, ROLE_DIM, text);
    }
    pane_right(p, c->count, y, ROLE_TEXT, units_count(number, g->count));
    pane_right_number(p, c->gb, y, ROLE_TEXT, g->bytes / unit, 2);
    if (c->bar)
        pane_bar(p, c->gb + 1, y, 8, g->bytes / most, ROLE_PLOT_0);
    if (c->life) {
        write_life(g->first, g->last, g->always, text, sizeof text);
        pane_right(p, c->life, y, ROLE_DIM, text);
    }
}

/* "38 more shapes", and a loop's own values. */
static void draw_rest(const struct memory_view *v, const struct pane *p, int y, size_t from,
                      const struct columns *c)
{
    uint32_t count = 0;
    double bytes = v->inner, unit = memory_unit_of(&v->curve).bytes;
    char number[UNITS_ROOM];

    for (size_t n = from; n < v->group_count; n++) {
        count += v->groups[n].count;
        bytes += v->groups[n].bytes;
    }
    if (from < v->group_count)
        pane_format(p, 0, y, ROLE_DIM, "%zu more shapes%s", v->group_count - from,
                    v->inner > 0 ? " and inside of a loop" : "");
    else if (v->inner > 0)
        pane_text(p, 0, y, ROLE_DIM, "inside of a loop or branch");
    else
        return;
    if (count)
        pane_right(p, c->count, y, ROLE_DIM, units_count(number, count));
    pane_right_number(p, c->gb, y, ROLE_DIM, bytes / unit, 2);
}

static void draw_titles(const struct pane *p, const struct columns *c, const char *unit,
                        bool counted)
{
    if (c->shape)
        pane_text(p, c->shape, 1, ROLE_DIM, "shape");
    if (c->source)
        pane_text(p, c->source, 1, ROLE_DIM, "source");
    if (counted)
        pane_right(p, c->count, 1, ROLE_DIM, "count");
    pane_right(p, c->gb, 1, ROLE_DIM, unit);
    if (c->life)
        pane_right(p, c->life, 1, ROLE_DIM, "first–last");
}

void memory_draw_groups(const struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    struct columns c = group_columns(v, p->scene->watch, pane->width);
    struct list *l = &v->list[MEMORY_LIST_GROUPS];
    struct head h = {0, v->cursor == v->curve.peak ? "At the peak" : "Live there", "by shape",
                     v->shown == MEMORY_LIST_GROUPS};

    struct memory_unit unit = memory_unit_of(&v->curve);
    pane_head(pane, 0, &h);
    draw_titles(pane, &c, unit.name, true);
    list_fit(l, (int64_t)v->group_count, pane->height - 3);
    for (int y = 0; y < pane->height - 3 && l->top + y < l->count; y++) {
        draw_group(p->scene->watch, pane, y + 2, &v->groups[l->top + y], v->groups[0].bytes,
                   unit.bytes, &c);
        if (l->top + y == l->cursor)
            memory_select(pane, y + 2, v->shown == MEMORY_LIST_GROUPS);
    }
    int64_t end = l->top + l->rows < l->count ? l->top + l->rows : l->count;
    draw_rest(v, pane, 2 + (int)(end - l->top), (size_t)end, &c);
}

void memory_draw_values(const struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    struct columns c = columns_for(pane->width, SHAPE_MOST, 12);
    struct list *l = &v->list[MEMORY_LIST_VALUES];
    char text[192], note[64], count[UNITS_ROOM];

    write_group(w, &v->groups[v->opened], pane->width / 2, text, sizeof text);
    snprintf(note, sizeof note, "%s values", units_count(count, v->groups[v->opened].count));
    pane_head(pane, 0, &(struct head){0, text, note, v->shown == MEMORY_LIST_VALUES});
    struct memory_unit unit = memory_unit_of(&v->curve);
    draw_titles(pane, &c, unit.name, false);
    list_fit(l, v->value_count, pane->height - 2);
    for (int y = 0; y < pane->height - 2 && l->top + y < l->count; y++) {
        const struct memory_value *value = &v->values[l->top + y];
        const char *beside = memory_storing_words[value->storing];
        snprintf(text, sizeof text, "%.150s%s%s",
                 tree_instruction_name(w->tree, w->problem->m->value_instruction[value->value]),
                 *beside && !c.shape ? ", " : "", c.shape ? "" : beside);
        pane_cut(pane, 0, y + 2, c.name, ROLE_TEXT, text);
        if (c.shape) {
            write_shape(w->problem->m, value->value, text, sizeof text);
            pane_cut(pane, c.shape, y + 2, 22, ROLE_DIM, *beside ? beside : text);
        }
        memory_write_source(w->problem->m, value->value, text, sizeof text);
        if (c.source)
            pane_cut(pane, c.source, y + 2, 20, ROLE_DIM, text);
        pane_right_number(pane, c.gb, y + 2, ROLE_TEXT, value->bytes / unit.bytes, 3);
        if (c.life) {
            write_life(value->first, value->last, v->groups[v->opened].always, text, sizeof text);
            pane_right(pane, c.life, y + 2, ROLE_DIM, text);
        }
        if (l->top + y == l->cursor)
            memory_select(pane, y + 2, true);
    }
}

/* Columns of the highest peak. */
static int peak_columns(const struct memory_view *v, double unit)
{
    char number[UNITS_ROOM];
    double most = 0;

    for (int n = 0; n < v->flips_done; n++)
        most = fmax(most, v->flips[n].peak);
    return utf8_text_columns(units_number(number, most / unit, 1));
}

void memory_draw_flips(const struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    struct list *l = &v->list[MEMORY_LIST_FLIPS];
    struct memory_unit unit = memory_unit_of(&v->curve);
    int step = pane->width, fits = step - 11, peak = fits - 6, digits = peak_columns(v, unit.bytes);
    char name[NAME_ROOM], note[48], peak_title[16];

    snprintf(note, sizeof note, "one decision, by %s", unit.name);
    snprintf(peak_title, sizeof peak_title, "peak %s", unit.name);

    if (v->flips_done < v->flip_count)
        snprintf(note, sizeof note, "%d of %d priced", v->flips_done, v->flip_count);
    pane_head(pane, 0, &(struct head){0, "Best flip", note, v->shown == MEMORY_LIST_FLIPS});
    pane_right(pane, peak, 1, ROLE_DIM, peak_title);
    pane_right(pane, step, 1, ROLE_DIM, "step ms");
    list_fit(l, v->flips_done, pane->height - 2);
    for (int y = 0; y < pane->height - 2 && l->top + y < l->count && v->moves == w->moves; y++) {
        const struct memory_flip *f = &v->flips[l->top + y];
        bool over = f->peak > memory_limit(p->scene);
        watch_move_name(w, f->move, name, sizeof name, peak - digits - 1 - 4);
        int x = pane_text(pane, 0, y + 2, ROLE_TEXT, name);
        x = pane_text(pane, x, y + 2, ROLE_DIM, " = ");
        pane_text(pane, x, y + 2, f->split ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0,
                  f->split ? "1" : "0");
        pane_right_number(pane, peak, y + 2, ROLE_TEXT, f->peak / unit.bytes, 1);
        pane_text(pane, peak + 1, y + 2, over ? ROLE_ERR : ROLE_OK, over ? "over" : "fits");
        pane_right_ms(pane, step, y + 2, ROLE_TEXT, f->step_ms);
        if (l->top + y == l->cursor)
            memory_select(pane, y + 2, v->shown == MEMORY_LIST_FLIPS);
    }
}
