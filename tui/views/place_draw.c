#include "tui/views/place_draw.h"

#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/state.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/schedule_draw.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const unsigned device_roles[] = {ROLE_PLOT_0, ROLE_PLOT_1,   ROLE_PLOT_2,   ROLE_PLOT_3,
                                        ROLE_PLOT_4, ROLE_CHOICE_1, ROLE_CHOICE_2, ROLE_CHOICE_3};

static bool is_host(const struct place_shown *s, uint32_t d)
{
    return d >= s->look->state->accelerators;
}

unsigned place_draw_role(const struct place_shown *s, uint32_t d)
{
    size_t roles = sizeof device_roles / sizeof *device_roles;

    return is_host(s, d) ? ROLE_OK : device_roles[d % roles];
}

/* One sign a device: A .. Z, a .. z without h, then #; h for the host. */
static uint32_t sign_of(const struct place_shown *s, uint32_t d)
{
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgijklmnopqrstuvwxyz";

    return is_host(s, d) ? 'h' : d < sizeof signs - 1 ? (uint32_t)signs[d] : '#';
}

const char *place_node_name(const struct place_graph *g, uint32_t node, char out[static 32])
{
    if (g->name[node])
        return g->name[node];
    snprintf(out, 32, "node %" PRId64, g->id[node]);
    return out;
}

/* ---- the sentence ---- */

static const char *sets_word(bool latency, bool contiguous)
{
    return latency ? "pieces" : contiguous ? "contiguous" : "any sets";
}

void place_draw_sentence(const struct place_shown *s, const struct pane *p)
{
    const struct placement *plan = s->plan;
    bool latency = s->objective == PLACING_LATENCY;
    double value = s->moved ? place_look_value(s->look) : plan->value_ms;
    double bound = fmin(plan->bound_ms, plan->value_ms);
    uint32_t faults = place_look_faults(s->look);
    char ms[UNITS_ROOM], text[160];

    int x = pane_text(p, 0, 0, ROLE_TITLE | BOLD, units_ms(ms, value));
    x = pane_text(p, x, 0, ROLE_TEXT, latency ? " for one" : " a");
    x = pane_text(p, x, 0, ROLE_TEXT, s->of_model ? " batch" : " sample");
    if (s->moved) {
        x = pane_format(p, x + 3, 0, value > plan->value_ms ? ROLE_WARN : ROLE_OK, "%s ms",
                        units_change(ms, value - plan->value_ms, 2));
        x = pane_text(p, x, 0, ROLE_TEXT, " by hand");
    } else if (plan->proven) {
        x = pane_format(p, x + 3, 0, plan->written_in ? ROLE_TEXT : ROLE_OK, "proven, %s",
                        sets_word(latency, !s->any_sets));
        if (plan->written_in)
            x = pane_text(p, x, 0, ROLE_DIM, ", as its file says");
    } else if (bound > 0) {
        x = pane_format(p, x + 3, 0, ROLE_WARN, "%s %%",
                        units_change(ms, (value / bound - 1) * 100, 1));
        x = pane_format(p, x, 0, ROLE_TEXT, " over bound %s%s", units_ms(ms, bound),
                        plan->written_in ? " of its file" : "");
        snprintf(text, sizeof text, ", %s", plan->bound_by ? plan->bound_by : "");
        if (x + utf8_text_columns(text) + 24 < p->width)
            x = pane_text(p, x, 0, ROLE_DIM, text);
    }
    bool says_sets = !s->moved && plan->proven;
    snprintf(text, sizeof text, "%s%s%s%s", says_sets ? "" : sets_word(latency, !s->any_sets),
             says_sets ? "" : " · ", s->algorithm, s->done ? "" : "  searching ..");
    if (x + 3 + utf8_text_columns(text) + 8 < p->width)
        pane_text(p, x + 3, 0, ROLE_TEXT, text);
    pane_right(p, p->width, 0, faults ? ROLE_ERR : ROLE_OK,
               faults & PLACE_OVER_MEMORY ? "over memory"
               : faults                   ? "breaks a pin"
                                          : "fits");
}

/* ---- lanes ---- */

const struct place_rows *place_draw_rows(const struct place_shown *s)
{
    return &s->look->all[!s->names];
}

uint32_t place_draw_cursor(const struct place_shown *s)
{
    return s->names ? s->node : s->look->stands_for[s->node];
}

/* The cursor's row among those of its level. */
static uint32_t row_of_cursor(const struct place_shown *s)
{
    const struct place_rows *r = place_draw_rows(s);
    uint32_t node = place_draw_cursor(s), begin = r->at[s->look->level[node]], row = 0;

    while (r->row[begin + row] != node)
        row++;
    return row;
}

uint32_t place_draw_stage(const struct place_shown *s, uint32_t node)
{
    return s->plan->stage[place_look_device(s->look, node)];
}

static bool is_lit(const struct place_shown *s, uint32_t node)
{
    return s->stage == PLACE_NONE || place_draw_stage(s, node) == s->stage;
}

/* In the ideal that the stage completes: lit, or of a stage before. */
static bool is_reached(const struct place_shown *s, uint32_t node)
{
    return s->stage == PLACE_NONE || place_draw_stage(s, node) <= s->stage;
}

/* "stage 2 of 6, on B: 45 of 96 nodes by then": the ideal that it completes. */
static void describe_stage(const struct place_shown *s, char *out, size_t room)
{
    uint32_t stages = 0, on = PLACE_NONE, reached = 0;
    char name[16], count[UNITS_ROOM], all[UNITS_ROOM];

    for (uint32_t d = 0; d < s->plan->devices; d++) {
        uint32_t stage = s->plan->stage[d];
        stages = stage != PLACE_NONE && stage + 1 > stages ? stage + 1 : stages;
        on = stage == s->stage && on == PLACE_NONE ? d : on;
    }
    for (uint32_t v = 0; v < s->graph->nodes; v++)
        reached += is_reached(s, v);
    snprintf(out, room, "stage %u of %u, on %s: %s of %s nodes by then", s->stage + 1, stages,
             place_device_name(s->graph, on, name), units_count(count, reached),
             units_count(all, s->graph->nodes));
}

static void draw_node(const struct place_shown *s, const struct pane *p, int x, int y,
                      uint32_t node)
{
    uint32_t d = place_look_device(s->look, node);
    unsigned style = is_lit(s, node) ? place_draw_role(s, d) : ROLE_DIM;

    if (s->graph->fixed[node] != PLACE_NONE)
        style |= BOLD;
    if (node == place_draw_cursor(s))
        style = ROLE_TITLE | REVERSE | BOLD;
    else if (s->graph->color[node] == s->graph->color[s->node])
        style |= BACK(ROLE_SELECT_DIM) | MARK;
    pane_put(p, x, y, style, is_reached(s, node) ? sign_of(s, d) : '.');
}

/* The part of the model that most nodes of a level are of; NULL: none is known. */
static const char *layer_of_level(const struct place_shown *s, uint32_t level)
{
    const struct place_look *l = s->look;
    const char *layer[8] = {NULL};
    uint32_t of[8] = {0}, best = 0;

    const struct place_rows *r = &l->all[0];
    for (uint32_t i = r->at[level]; i < r->at[level + 1]; i++) {
        const char *text = s->graph->layer[r->row[i]];
        uint32_t k = 0;
        while (text && k < 8 && layer[k] && layer[k] != text)
            k++;
        if (!text || k == 8)
            continue;
        layer[k] = text;
        of[k]++;
        best = of[k] > of[best] ? k : best;
    }
    return layer[best];
}

/* A part's name in `room` columns: as it is, in words ("encoder layer 4"), short ("enc 4"); cut
 * only where it has no number to be known by, and there is room for something of it. "": none. */
static void name_layer(const char *name, int room, char *out, size_t out_room)
{
    enum { LAYER_LEAST = 8 };
    size_t size = 0;

    if (utf8_text_columns(name) <= room) {
        snprintf(out, out_room, "%s", name);
        return;
    }
    bool begins = true; /* what comes would be the first digit of a number */
    for (const char *c = name; *c && size + 1 < out_room; c++) {
        if (begins && *c == '0' && isdigit((unsigned char)c[1]))
            continue;
        out[size++] = *c == '/' || *c == '_' ? ' ' : *c;
        begins = !isdigit((unsigned char)*c);
    }
    out[size] = 0;
    if (utf8_text_columns(out) <= room)
        return;
    schedule_layer_text(name, "", out, out_room);
    if (utf8_text_columns(out) <= room)
        return;
    out[0] = 0;
    if (!strpbrk(name, "0123456789") && room >= LAYER_LEAST)
        text_cut_middle(out, out_room, name, room);
}

/* Parts of the model over the levels that begin them; a level of no known part goes with the one
 * before. */
static void draw_layers(const struct place_shown *s, const struct pane *p, uint32_t first, int wide)
{
    const char *now = NULL;
    uint32_t back = first;
    int begin = 0, columns = p->width / wide;

    while (back && !now)
        now = layer_of_level(s, --back);
    for (int k = 0; k <= columns; k++) {
        bool over = k == columns || first + (uint32_t)k >= s->look->levels;
        const char *here = over ? NULL : layer_of_level(s, first + (uint32_t)k);
        if (!over && (!here || here == now))
            continue;
        char name[64] = "";
        if (now)
            name_layer(now, (k - begin) * wide - 1, name, sizeof name);
        pane_text(p, begin * wide, 1, ROLE_DIM, name);
        if (over)
            return;
        begin = k;
        now = here;
    }
}

/* A node by name behind its device's letter. */
static void draw_named(const struct place_shown *s, const struct pane *p, int x, int y, int wide,
                       uint32_t node)
{
    char name[32];
    bool here = node == s->node;

    draw_node(s, p, x, y, node);
    pane_cut(p, x + 2, y, wide - 3,
             here              ? ROLE_TITLE | BOLD
             : is_lit(s, node) ? ROLE_TEXT
                               : ROLE_DIM,
             place_node_name(s->graph, node, name));
}

enum { NAMED_WIDE = 22 };

/* What is left out of the lanes, and how much of it is not where that is which stands for it. */
static void draw_left_out(const struct place_shown *s, const struct pane *p, int y)
{
    const struct place_look *l = s->look;
    uint32_t parted = 0;
    char a[UNITS_ROOM], b[UNITS_ROOM];
    int x = 0;

    for (uint32_t v = 0; v < s->graph->nodes; v++)
        parted += place_look_device(l, v) != place_look_device(l, l->stands_for[v]);
    if (l->weights)
        x = pane_format(p, 0, y, ROLE_DIM, "%s weight%s%s", units_count(a, l->weights),
                        l->weights == 1 ? "" : "s", l->equals ? " and " : "");
    if (l->equals)
        x = pane_format(p, x, y, ROLE_DIM, "%s of equal chains", units_count(a, l->equals));
    x = pane_format(p, x, y, ROLE_DIM, " left out, where %s are",
                    l->equals ? "users and equals" : "their users");
    if (parted)
        x = pane_format(p, x, y, ROLE_WARN, " but %s", units_count(b, parted));
    pane_text(p, x, y, ROLE_DIM, "; z shows all by name");
}

void place_draw_lanes(const struct place_shown *s, const struct pane *p)
{
    const struct place_look *l = s->look;
    char note[160], stage[80] = "a letter is a device", count[UNITS_ROOM], at[UNITS_ROOM];
    int wide = s->names ? NAMED_WIDE < p->width ? NAMED_WIDE : p->width : 1;
    const struct place_rows *r = place_draw_rows(s);
    uint32_t cursor = place_draw_cursor(s), level = l->level[cursor];
    uint32_t columns = (uint32_t)(p->width / wide);
    uint32_t first = level > columns / 2 ? level - columns / 2 : 0;
    int top_row = s->layered ? 2 : 1, rows = p->height - top_row;

    if (l->levels > columns && first + columns > l->levels)
        first = l->levels - columns;
    if (l->levels <= columns)
        first = 0;
    if (s->stage != PLACE_NONE)
        describe_stage(s, stage, sizeof stage);
    snprintf(note, sizeof note, "level %s of %s%s · %s", units_count(at, level + 1),
             units_count(count, l->levels), s->stage == PLACE_NONE ? ", left to right" : "", stage);
    if (rows < 1)
        return;
    pane_head(p, 0, &(struct head){0, "Operators", note, true});
    if (l->weights + l->equals && !s->names && rows > 3)
        draw_left_out(s, p, p->height - 1), rows -= 2;
    if (top_row == 2)
        draw_layers(s, p, first, wide);
    for (uint32_t k = 0; k < columns && first + k < l->levels; k++) {
        int x = (int)k * wide;
        uint32_t begin = r->at[first + k], nodes = r->at[first + k + 1] - begin;
        uint32_t top = 0, here = first + k == level ? row_of_cursor(s) : 0;
        if (here >= (uint32_t)rows)
            top = here - (uint32_t)rows + 1;
        for (int y = 0; y < rows && top + (uint32_t)y < nodes; y++) {
            bool more = (y == rows - 1 && top + (uint32_t)rows < nodes) || (y == 0 && top);
            if (more && r->row[begin + top + (uint32_t)y] != cursor)
                pane_put(p, x, y + top_row, ROLE_DIM, '+');
            else if (s->names)
                draw_named(s, p, x, y + top_row, wide, r->row[begin + top + (uint32_t)y]);
            else
                draw_node(s, p, x, y + top_row, r->row[begin + top + (uint32_t)y]);
        }
        if (first + k == level && here < (uint32_t)rows + top) {
            p->grid->cursor_x = p->x + x;
            p->grid->cursor_y = p->y + top_row + (int)(here - top);
        }
    }
}

/* ---- loads ---- */

int place_draw_rows_of_loads(const struct place_shown *s)
{
    return 2 + (int)s->look->state->devices;
}

/* The devices shown: the first ones; with more, those around the one that limits. Where the
 * cursor's is none of them, it takes the row at its end. */
static uint32_t first_shown(const struct place_shown *s, uint32_t rows)
{
    uint32_t devices = s->look->state->devices, limit = place_look_limit(s->look);

    if (devices <= rows)
        return 0;
    uint32_t first = limit > rows / 2 ? limit - rows / 2 : 0;
    return first + rows > devices ? devices - rows : first;
}

static int put_part(const struct pane *p, int x, int y, int end, unsigned style, uint32_t ch)
{
    for (; x < end; x++)
        pane_put(p, x, y, style, ch);
    return x;
}

static void draw_load(const struct place_shown *s, const struct pane *p, int y, uint32_t d,
                      double most, int bar)
{
    const struct place_state *state = s->look->state;
    const struct place_load *l = &state->load[d];
    const struct place_graph *g = s->graph;
    char name[16], text[UNITS_ROOM];
    double load = place_look_load(s->look, d), compute = l->compute_ms[0] + l->compute_ms[1];
    double in = l->in_ms[0] + l->in_ms[1], memory = g->type[place_type_of(g, d)].memory_bytes;
    int x = 5;

    const char *full = place_device_name(g, d, name);
    pane_format(p, 0, y, place_draw_role(s, d) | BOLD, "%c %s", (char)sign_of(s, d),
                full[1] ? full : "");
    if (most > 0) {
        x = put_part(p, x, y, 5 + (int)lround(compute / most * bar), place_draw_role(s, d), 0x2588);
        x = put_part(p, x, y, 5 + (int)lround((compute + in) / most * bar), ROLE_WARN, '<');
        x = put_part(p, x, y, 5 + (int)lround(fmin(1, load / most) * bar), ROLE_CHANGED, '>');
    }
    put_part(p, x, y, 5 + bar, ROLE_DIM, 0xb7);
    bool limits = load >= most && most > 0;
    pane_right_ms(p, bar + 16, y, limits ? ROLE_TITLE | BOLD : ROLE_TEXT, load);
    pane_right(p, bar + 25, y, ROLE_TEXT, units_count(text, l->positions));
    pane_right(p, bar + 34, y, l->bytes > memory ? ROLE_ERR : ROLE_TEXT,
               units_bytes(text, l->bytes));
    if (limits)
        pane_right(p, bar + 42, y, ROLE_TITLE | BOLD, "limits");
    else
        pane_right_ms(p, bar + 42, y, ROLE_DIM, most - load);
}

void place_draw_loads(const struct place_shown *s, const struct pane *p)
{
    const struct place_state *state = s->look->state;
    uint32_t rows = p->height > 2 ? (uint32_t)(p->height - 2) : 0, first;
    double most = 0;
    char note[64];
    int bar = p->width - 46;

    int size = rows < state->devices ? snprintf(note, sizeof note, "%u of ", rows) : 0;
    snprintf(note + size, sizeof note - (size_t)size, "%u devices · █ work < in > out · idle",
             state->devices);
    pane_head(p, 0, &(struct head){0, "Load", note, false});
    if (bar < 6)
        bar = 6;
    pane_right(p, bar + 16, 1, ROLE_DIM, "ms");
    pane_right(p, bar + 25, 1, ROLE_DIM, "classes");
    pane_right(p, bar + 34, 1, ROLE_DIM, "memory");
    pane_right(p, bar + 42, 1, ROLE_DIM, "room");
    for (uint32_t d = 0; d < state->devices; d++)
        most = fmax(most, place_look_load(s->look, d));
    first = first_shown(s, rows);
    p->grid->ms_scale = most;
    uint32_t here = place_look_device(s->look, s->node);
    for (uint32_t i = 0; i < rows && first + i < state->devices; i++) {
        bool before = i == 0 && here < first, behind = i == rows - 1 && here >= first + rows;
        draw_load(s, p, (int)i + 2, before || behind ? here : first + i, most, bar);
    }
}

/* ---- the node at the cursor ---- */

/* The node can be moved to device d. Latency: one core stands for all. */
static bool is_other(const struct place_shown *s, uint32_t d)
{
    return d != place_look_device(s->look, s->node) &&
           (!s->look->sample || d <= s->look->state->accelerators || d == s->target);
}

static void draw_prices(const struct place_shown *s, const struct pane *p, int y)
{
    enum { MORE = 9 }; /* columns of "4094 more" */
    uint32_t devices = s->look->state->devices, home = place_look_device(s->look, s->node);
    uint32_t left = 0;
    char name[16], ms[UNITS_ROOM], text[64];
    int x = 10;

    for (uint32_t d = 0; d < devices; d++)
        left += is_other(s, d);
    pane_text(p, 0, y, ROLE_DIM, "move to");
    for (uint32_t i = 0; i < devices; i++) {
        uint32_t d = (s->target + i) % devices; /* the target first */
        const struct place_price *price = &s->price[d];
        if (!is_other(s, d))
            continue;
        snprintf(text, sizeof text, "%s %s", place_device_name(s->graph, d, name),
                 price->faults & PLACE_OVER_MEMORY ? "over memory"
                 : price->faults & PLACE_CROWDED   ? "a copy is there"
                 : price->faults                   ? "not allowed"
                 : isinf(price->value_ms)          ? "a circle"
                 : price->value_ms > 1e4           ? "over 10 s"
                                                   : units_plain_ms(ms, price->value_ms));
        bool last = y == p->height - 1;
        int needed = utf8_text_columns(text) + (last && left > 1 ? 2 + MORE : 0);
        if (last && x + needed > p->width) {
            pane_format(p, x, y, ROLE_DIM, "%u more", left);
            return;
        }
        if (x + needed > p->width && i) {
            x = 10;
            y++;
        }
        left--;
        bool worse = price->value_ms > s->price[home].value_ms * (1 + 1e-9);
        unsigned style = price->faults || isinf(price->value_ms) ? ROLE_ERR
                         : worse                                 ? ROLE_WARN
                                                                 : ROLE_OK;
        x = 2 + pane_text(p, x, y, d == s->target ? style | REVERSE : style, text);
    }
}

/* The output that keeps the node where it is, and what it costs at each end: a long name gives way.
 */
static void draw_holder(const struct place_shown *s, const struct pane *p, int y)
{
    char name[32], ms[UNITS_ROOM], text[UNITS_ROOM + 16];

    if (s->holder == PLACE_NONE) {
        pane_cut(p, 10, y, p->width - 10, ROLE_TEXT, "nothing it reads or makes");
        return;
    }
    snprintf(text, sizeof text, ", %s an end", units_ms(ms, s->held_ms));
    int room = p->width - 10 - utf8_text_columns(text);
    const char *full = place_node_name(s->graph, s->holder, name);
    pane_cut(p, 10, y, room, ROLE_TEXT, full);
    int used = utf8_text_columns(full);
    pane_cut(p, 10 + (used < room ? used : room), y, p->width - 10, ROLE_TEXT, text);
}

void place_draw_node(const struct place_shown *s, const struct pane *p)
{
    const struct place_graph *g = s->graph;
    char name[32], device[16], ms[UNITS_ROOM], text[160];
    uint32_t v = s->node, users = g->user_at[v + 1] - g->user_at[v], together = 0;
    const char *pin = g->fixed[v] != PLACE_NONE ? "   pinned" : "";
    int y = 1;

    for (uint32_t u = 0; u < g->nodes; u++)
        together += g->color[u] == g->color[v] && u != v;
    snprintf(text, sizeof text, "on %s%s",
             place_device_name(g, place_look_device(s->look, v), device), pin);
    pane_head(p, 0, &(struct head){0, place_node_name(g, v, name), text, false});
    pane_text(p, 0, y, ROLE_DIM, "takes");
    pane_cut(p, 10, y++, p->width - 10, ROLE_TEXT, units_ms(ms, place_time(g, 0, v)));
    pane_text(p, 0, y, ROLE_DIM, "output");
    snprintf(text, sizeof text, "%s to send, %u user%s", units_ms(ms, g->send_ms[v]), users,
             users == 1 ? "" : "s");
    pane_cut(p, 10, y++, p->width - 10, ROLE_TEXT, text);
    if (y < p->height) {
        pane_text(p, 0, y, ROLE_DIM, "held by");
        draw_holder(s, p, y++);
    }
    if (together && y < p->height) {
        pane_text(p, 0, y, ROLE_DIM, "moves");
        pane_format(p, 10, y++, ROLE_TEXT, "with %u more of its class", together);
    }
    if (y < p->height)
        draw_prices(s, p, y);
}

/* ---- what was tried ---- */

static bool is_shorter(const struct place_tried *a, const struct place_tried *b)
{
    return a->fits != b->fits ? a->fits : a->value_ms < b->value_ms;
}

/* The best bound known of a kind of sets; one of any sets holds for contiguous ones too. */
static double bound_of(const struct place_shown *s, bool contiguous)
{
    double bound = 0;

    for (uint32_t i = 0; i < s->tries; i++) {
        const struct place_tried *t = &s->tried[i];
        if (t->objective == s->objective && (contiguous || !t->contiguous) && !t->written)
            bound = fmax(bound, t->bound_ms);
    }
    return bound;
}

static void draw_tried(const struct place_shown *s, const struct pane *p, int y,
                       const struct place_tried *t)
{
    double bound = bound_of(s, t->contiguous);
    char text[UNITS_ROOM], times[16];

    pane_cut(p, 0, y, p->width - 20, ROLE_TEXT, t->algorithm);
    pane_text(p, 11, y, ROLE_DIM, sets_word(t->objective == PLACING_LATENCY, t->contiguous));
    pane_right(p, p->width - 9, y, ROLE_TEXT, units_plain_ms(text, t->value_ms));
    if (!t->fits)
        pane_right(p, p->width, y, ROLE_ERR, "over");
    else if (t->proven)
        pane_right(p, p->width, y, t->written ? ROLE_DIM : ROLE_OK,
                   t->written ? "written" : "proven");
    else if (bound > 0 && t->value_ms < 10 * bound)
        pane_right(p, p->width, y, ROLE_WARN, units_percent(text, t->value_ms / bound - 1));
    else if (bound > 0) {
        snprintf(times, sizeof times, "x %.0f", fmin(t->value_ms / bound, 1e5));
        pane_right(p, p->width, y, ROLE_WARN, times);
    }
}

/* What others reach on this instance, for this objective. */
static int draw_published(const struct place_shown *s, const struct pane *p, int y)
{
    const struct place_published *n = s->published;
    const struct {
        bool latency;
        double ms;
        const char *who, *what;
    } rows[] = {{false, n->contiguous_ms, "contiguous", "optimum"},
                {false, n->any_ms, "any sets", "known"},
                {true, n->greedy_ms, "greedy", ""},
                {true, n->max_load_ms, "max load", ""}};
    char text[UNITS_ROOM];

    for (size_t k = 0; k < sizeof rows / sizeof *rows && y < p->height; k++) {
        if (rows[k].latency != (s->objective == PLACING_LATENCY) || !(rows[k].ms > 0))
            continue;
        pane_cut(p, 0, y, 10, ROLE_TEXT, "published");
        pane_text(p, 11, y, ROLE_DIM, rows[k].who);
        pane_right(p, p->width - 9, y, ROLE_TEXT, units_plain_ms(text, rows[k].ms));
        pane_right(p, p->width, y++, ROLE_DIM, rows[k].what);
    }
    return y;
}

void place_draw_tried(const struct place_shown *s, const struct pane *p)
{
    uint32_t at[PLACE_TRIED], count = 0;
    char text[UNITS_ROOM];
    int y = 1;

    pane_head(p, 0, &(struct head){0, "Plans tried", placing_objective_words[s->objective], false});
    for (uint32_t i = 0; i < s->tries; i++) {
        uint32_t k = count;
        if (s->tried[i].objective != s->objective)
            continue;
        for (; k && is_shorter(&s->tried[i], &s->tried[at[k - 1]]); k--)
            at[k] = at[k - 1];
        at[k] = i;
        count++;
    }
    for (uint32_t i = 0; i < count && y < p->height; i++)
        draw_tried(s, p, y++, &s->tried[at[i]]);
    bool stream = s->objective == PLACING_STREAM || s->objective == PLACING_LATENCY;
    if (s->published && stream && s->published->latency == (s->objective == PLACING_LATENCY))
        y = draw_published(s, p, y);
    if (y < p->height && s->plan->bound_ms > 0) {
        pane_cut(p, 0, y, p->width - 20, ROLE_DIM, s->plan->bound_by ? s->plan->bound_by : "bound");
        pane_right(p, p->width - 9, y, ROLE_DIM, units_plain_ms(text, s->plan->bound_ms));
        pane_right(p, p->width, y++, ROLE_DIM, "bound");
    }
    if (y + 1 < p->height)
        pane_cut(p, 0, y + 1, p->width, ROLE_DIM, "a another algorithm  A all  o aim  c sets");
}

/* ---- what crosses ---- */

/* "C to A B": the devices that make and read an output, in letters; as many as there is room. */
static void draw_ends(const struct place_shown *s, const struct pane *p, int x, int y, int end,
                      uint32_t node)
{
    const struct place_graph *g = s->graph;
    uint32_t home = place_look_device(s->look, node), drawn[8], count = 0;

    pane_put(p, x, y, place_draw_role(s, home), sign_of(s, home));
    x = pane_text(p, x + 2, y, ROLE_DIM, "to") + 1;
    for (uint32_t i = g->user_at[node]; i < g->user_at[node + 1] && x < end; i++) {
        uint32_t d = place_look_device(s->look, g->user[i]), k = 0;
        while (k < count && drawn[k] != d)
            k++;
        if (d == home || k < count)
            continue;
        if (count == sizeof drawn / sizeof *drawn) {
            pane_text(p, x, y, ROLE_DIM, "..");
            return;
        }
        drawn[count++] = d;
        pane_put(p, x, y, place_draw_role(s, d), sign_of(s, d));
        x += 2;
    }
}

void place_draw_crossings(const struct place_shown *s, const struct pane *p)
{
    char note[64], count[UNITS_ROOM], name[32], ms[UNITS_ROOM];

    snprintf(note, sizeof note, "%s · heaviest first · each end pays",
             units_count(count, s->crossings));
    pane_head(p, 0, &(struct head){0, "Transfers", note, false});
    for (int y = 1; y < p->height && (uint32_t)y <= s->crossings && y <= PLACE_CROSSINGS; y++) {
        const struct place_crossing *c = &s->crossing[y - 1];
        pane_cut(p, 0, y, p->width - 36, ROLE_TEXT, place_node_name(s->graph, c->node, name));
        draw_ends(s, p, p->width - 34, y, p->width - 12, c->node);
        pane_right(p, p->width, y, ROLE_TEXT, units_plain_ms(ms, c->ms));
    }
    if (!s->crossings)
        pane_text(p, 0, 1, ROLE_DIM, "none: everything is on one device");
}
