#include "tui/screen/layout.h"

enum { MARGIN = 1, DIVIDER = 3, GAP = 3, LEAST_WIDTH = 20, LEAST_ROWS = 4, COLUMNS = 3, SLOTS = 3 };

struct slot {
    int panel;   /* -1: no further slot */
    int rows;    /* least height; the first slot of a column takes what is left */
    bool beside; /* to the right of the slot before, not below it */
};

struct column {
    int share; /* of 1000; 0: no further column */
    struct slot upper[SLOTS], lower[SLOTS];
};

struct preset {
    int width, height; /* from here on */
    int lower_rows;    /* 0: as many as lower_height gives, -1: no lower band */
    struct column columns[COLUMNS];
};

#define END          \
    {                \
        -1, 0, false \
    }
static const struct preset presets[] = {
    {180,
     44,
     0,
     {{312, {{PANEL_GRAPH, 4, false}, END}, {{PANEL_REWARD, 4, false}, END}},
      {344,
       {{PANEL_GROUPS, 4, false}, {PANEL_DECISION, 8, false}, {PANEL_WHY, 6, false}},
       {{PANEL_LOSS, 4, false}, {PANEL_MEMORY, 4, true}, END}},
      {344,
       {{PANEL_FOCUS, 4, false}, {PANEL_COST, 13, false}, END},
       {{PANEL_LOG, 4, false}, END}}}},
    {110,
     30,
     0,
     {{480, {{PANEL_GRAPH, 4, false}, END}, {{PANEL_REWARD, 4, false}, END}},
      {520,
       {{PANEL_GROUPS, 4, false}, {PANEL_DECISION, 9, false}, END},
       {{PANEL_LOSS, 4, false}, {PANEL_LOG, 4, true}, END}}}},
    {72,
     40,
     13,
     {{560,
       {{PANEL_GRAPH, 4, false}, END},
       {{PANEL_REWARD, 4, false}, {PANEL_LOSS, 6, false}, END}},
      {440,
       {{PANEL_GROUPS, 4, false}, END},
       {{PANEL_DECISION, 4, false}, {PANEL_LOG, 6, false}, END}}}},
    {72,
     20,
     0,
     {{560, {{PANEL_GRAPH, 4, false}, END}, {{PANEL_REWARD, 4, false}, END}},
      {440, {{PANEL_GROUPS, 4, false}, END}, {{PANEL_DECISION, 4, false}, END}}}},
    {72,
     14,
     -1,
     {{560, {{PANEL_GRAPH, 4, false}, END}, {END}}, {440, {{PANEL_GROUPS, 4, false}, END}, {END}}}},
};

/* Whose place a focused panel takes when it has none. */
static const enum panel_id kin[PANEL_COUNT] = {
    [PANEL_COMPARE] = PANEL_GROUPS,  [PANEL_GRAPH] = PANEL_GRAPH,   [PANEL_GROUPS] = PANEL_GROUPS,
    [PANEL_FOCUS] = PANEL_GRAPH,     [PANEL_REWARD] = PANEL_GRAPH,  [PANEL_LOSS] = PANEL_REWARD,
    [PANEL_DECISION] = PANEL_GROUPS, [PANEL_LOG] = PANEL_DECISION,  [PANEL_COST] = PANEL_GROUPS,
    [PANEL_DEVICES] = PANEL_GROUPS,  [PANEL_MEMORY] = PANEL_REWARD, [PANEL_WHY] = PANEL_DECISION,
    [PANEL_LANES] = PANEL_GRAPH,
};

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static bool is_there(const struct layout_wish *wish, int panel)
{
    return panel >= 0 && (wish->with >> panel & 1);
}

static void place_panel(struct layout *l, int panel, struct rect area)
{
    if (l->panel_count == LAYOUT_MOST_PANELS)
        return;
    l->panels[l->panel_count].id = (enum panel_id)panel;
    l->panels[l->panel_count++].area = area;
}

/* Slots that exist, in order. */
static int present(const struct layout_wish *wish, const struct slot *slots, struct slot *out)
{
    int count = 0;
    for (int i = 0; i < SLOTS && slots[i].panel >= 0; i++) {
        if (is_there(wish, slots[i].panel))
            out[count++] = slots[i];
    }
    return count;
}

static void place_beside(struct layout *l, const struct slot *s, struct rect area)
{
    int left = (area.width - GAP) / 2;
    if (left < LEAST_WIDTH) {
        place_panel(l, s[0].panel, area);
        return;
    }
    place_panel(l, s[0].panel, (struct rect){area.x, area.y, left, area.height});
    place_panel(l, s[1].panel,
                (struct rect){area.x + left + GAP, area.y, area.width - left - GAP, area.height});
}

/* One below the other. The first takes what the others leave, but not more than it wishes; what
 * is then over goes to the last. Slots for which no rows are left go. */
static void place_stack(struct layout *l, const struct layout_wish *wish, const struct slot *s,
                        struct rect area, int count)
{
    int gap = area.height >= 12 ? 1 : 0, rest = area.height;
    while (count > 1) {
        rest = area.height;
        for (int i = 1; i < count; i++)
            rest -= s[i].rows + gap;
        if (rest >= LEAST_ROWS)
            break;
        count--;
    }
    int first = count > 1 ? rest : area.height, over = 0;
    int wished = count > 0 ? wish->rows[s[0].panel] : 0;
    if (count > 1 && wished >= LEAST_ROWS && wished < first) {
        over = first - wished;
        first = wished;
    }
    for (int i = 0, y = area.y; i < count; i++) {
        int rows = (i ? s[i].rows : first) + (i == count - 1 ? over : 0);
        place_panel(l, s[i].panel, (struct rect){area.x, y, area.width, rows});
        y += rows + gap;
    }
}

static void place_slots(struct layout *l, const struct layout_wish *wish, const struct slot *slots,
                        struct rect area)
{
    struct slot s[SLOTS];
    int count = present(wish, slots, s);

    if (count > 1 && s[1].beside)
        place_beside(l, s, area);
    else if (count > 0)
        place_stack(l, wish, s, area, count);
}

static int lower_height(const struct preset *p, int height)
{
    if (p->lower_rows)
        return p->lower_rows > 0 ? p->lower_rows : 0;
    return height < 32 ? 6 : height < 44 ? 8 : clamp(8 + (height - 44) * 6 / 16, 8, 20);
}

static void add_rule(struct layout *l, int x, struct rect band)
{
    if (band.height < 2 || l->rule_count == LAYOUT_MOST_RULES)
        return;
    l->rules[l->rule_count].x = x;
    l->rules[l->rule_count].y = band.y + 1;
    l->rules[l->rule_count++].height = band.height - 1;
}

/* Columns in which something is: others give their width away. */
static int columns_used(const struct preset *p, const struct layout_wish *wish,
                        const struct column **used)
{
    struct slot s[SLOTS];
    int count = 0;

    for (int i = 0; i < COLUMNS && p->columns[i].share; i++) {
        if (present(wish, p->columns[i].upper, s) || present(wish, p->columns[i].lower, s))
            used[count++] = &p->columns[i];
    }
    return count;
}

/* Their widths, the dividers between them taken off. */
static void column_widths(const struct column **used, int count, const struct layout_wish *wish,
                          int *widths)
{
    int left = wish->width - 2 * MARGIN - (count - 1) * DIVIDER, taken = 0, shares = 0;

    for (int i = 0; i < count; i++)
        shares += used[i]->share;
    for (int i = 0; i < count; i++) {
        widths[i] = i < count - 1 ? (left * used[i]->share + shares / 2) / shares : left - taken;
        taken += widths[i];
    }
    if (count > 1) {
        int moved = clamp(wish->split, LEAST_WIDTH - widths[0], widths[1] - LEAST_WIDTH);
        widths[0] += moved;
        widths[1] -= moved;
    }
}

/* One column: where one of its halves is empty the other has all of it. */
static void place_column(struct layout *l, const struct layout_wish *wish, const struct column *c,
                         struct rect up, struct rect down)
{
    struct slot s[SLOTS];
    struct rect whole = {up.x, up.y, up.width, l->middle.height};
    bool upper = present(wish, c->upper, s) > 0,
         lower = down.height && present(wish, c->lower, s) > 0;

    if (upper)
        place_slots(l, wish, c->upper, lower ? up : whole);
    if (lower)
        place_slots(l, wish, c->lower, upper ? down : whole);
}

static void place_preset(struct layout *l, const struct layout_wish *wish, const struct preset *p)
{
    const struct column *used[COLUMNS];
    int widths[COLUMNS], lower = lower_height(p, wish->height), gap = lower && wish->height >= 36;
    int count = columns_used(p, wish, used);
    struct rect m = l->middle;

    column_widths(used, count, wish, widths);
    for (int i = 0, x = m.x; i < count; i++) {
        struct rect up = {x, m.y, widths[i], m.height - lower - gap};
        struct rect down = {x, m.y + m.height - lower, widths[i], lower};
        place_column(l, wish, used[i], up, down);
        x += widths[i] + DIVIDER;
        if (i < count - 1) {
            add_rule(l, x - 2, up);
            add_rule(l, x - 2, down);
        }
    }
}

/* The focused panel must be in sight: it takes the place of its kin, of the kin's kin, or of the
 * first panel. */
static void seat_focus(struct layout *l, const struct layout_wish *wish)
{
    if (!is_there(wish, (int)wish->focus) || layout_panel(l, wish->focus) || !l->panel_count)
        return;
    enum panel_id host = wish->focus;
    for (int step = 0; step < 3; step++) {
        host = kin[host];
        for (int i = 0; i < l->panel_count; i++) {
            if (l->panels[i].id == host) {
                l->panels[i].id = wish->focus;
                return;
            }
        }
    }
    l->panels[0].id = wish->focus;
}

/* Rows at both edges, from the outside in; what is left is the middle. */
static void frame_panels(struct layout *l, const struct layout_wish *wish, bool tabs)
{
    int inner = wish->width - 2 * MARGIN, top = 0, bottom = wish->height;
    bool small = wish->width < 60 || wish->height < 15, tall = wish->height >= 36;
    int strip = small                                      ? 0
                : wish->height >= 50 && wish->width >= 180 ? 4
                : wish->height >= 20                       ? 2
                                                           : 1;

    if (!small)
        l->title = (struct rect){MARGIN, top++, inner, 1};
    l->headline = (struct rect){MARGIN, top++, inner, 1};
    l->message = (struct rect){MARGIN, --bottom, inner, 1};
    if (!small && tabs)
        l->tabs = (struct rect){MARGIN, --bottom, inner, 1};
    else if (!small)
        l->hints = (struct rect){MARGIN, --bottom, inner, 1};
    l->body = (struct rect){MARGIN, top, inner, bottom - top};
    if (strip) {
        bottom -= strip + tall;
        l->strip = (struct rect){MARGIN, bottom, inner, strip};
        bottom -= wish->height >= 22;
    }
    top += tall;
    l->middle = (struct rect){MARGIN, top, inner, bottom - top};
}

static const struct preset *preset_for(const struct layout_wish *wish)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (wish->width >= presets[i].width && wish->height >= presets[i].height)
            return &presets[i];
    }
    return NULL;
}

void layout_plan(struct layout *out, const struct layout_wish *wish)
{
    const struct preset *p = preset_for(wish);

    *out = (struct layout){.kind = LAYOUT_GRID, .width = wish->width, .height = wish->height};
    if (wish->width < 40 || wish->height < 10) {
        out->kind = LAYOUT_LINE;
        out->message = (struct rect){0, 0, wish->width, 1};
        out->body = (struct rect){0, 0, wish->width, wish->height};
        return;
    }
    if (wish->zoom)
        p = NULL;
    frame_panels(out, wish, p ? p->lower_rows < 0 : wish->height < 20 || wish->width < 72);
    if (p) {
        place_preset(out, wish, p);
        seat_focus(out, wish);
    } else if (is_there(wish, (int)wish->focus)) {
        out->kind = LAYOUT_ONE;
        place_panel(out, (int)wish->focus, out->middle);
    }
}

const struct rect *layout_panel(const struct layout *l, enum panel_id id)
{
    for (int i = 0; i < l->panel_count; i++) {
        if (l->panels[i].id == id)
            return &l->panels[i].area;
    }
    return NULL;
}
