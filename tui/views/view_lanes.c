/* Lanes: telling instructions in the order of the module, one a row; values as lines down to their
 * uses. Lanes are made for a block of rows around the window, so that they stand still while it
 * moves within the block. */
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/wave.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/lanes.h"
#include "tui/watch/shape_text.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 128 };

struct lanes_view {
    const struct tree *tree; /* the rows are of it; only compared */
    hlo_id *rows;            /* [count] ascending */
    uint32_t count;
    bool all; /* plain operations too */
    struct list list;
    int64_t first; /* list row of lanes.cell[0]; -1: none made */
    int most;      /* lanes they were made for */
    struct lanes lanes;
};

enum { LANES_CENTRE, LANES_TRIVIAL };
static const struct action lanes_actions[] = {
    [LANES_CENTRE] = {"tree", "in this panel", "show it in the tree", "tree", "Enter", NULL},
    [LANES_TRIVIAL] = {"trivial", "in this panel", "all operations", "all", "t", NULL},
};
static const struct key_table lanes_keys = {"lanes", lanes_actions, 2};

static void make_rows(struct lanes_view *v)
{
    const struct hlo_module *m = v->tree->problem->m;

    v->count = 0;
    v->first = -1;
    for (hlo_id id = 0; id < m->count && v->rows; id++) {
        bool applied = m->computations[hlo_at(m, id)->computation].caller_count == 0 &&
                       hlo_at(m, id)->computation != m->entry;
        if (!applied && (v->all || tree_is_telling(v->tree, id)))
            v->rows[v->count++] = id;
    }
    list_fit(&v->list, v->count, v->list.rows);
}

/* The row of an instruction, else the next one. */
static int64_t row_of(const struct lanes_view *v, hlo_id id)
{
    int64_t low = 0, high = v->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (v->rows[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->count ? low : (int64_t)v->count - 1;
}

static void read_lanes(struct panel *p)
{
    struct lanes_view *v = p->state;
    const struct watch *w = p->scene->watch;

    if (!w || v->tree == w->tree)
        return;
    free(v->rows);
    v->tree = w->tree;
    v->rows = mem_try((size_t)w->problem->m->count + 1, sizeof *v->rows);
    make_rows(v);
}

static int open_lanes(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    read_lanes(p);
    return 0;
}

static void close_lanes(struct panel *p)
{
    struct lanes_view *v = p->state;
    free(v->rows);
}

/* Lanes for the block around the window. */
static void make_lanes(struct lanes_view *v, int rows, int most)
{
    int64_t first = v->list.top / BLOCK * BLOCK;

    if (v->first >= 0 && v->most == most && v->list.top >= v->first &&
        (v->list.top + rows <= v->first + v->lanes.row_count ||
         v->first + v->lanes.row_count == v->count))
        return;
    if (v->list.top + rows > first + LANES_ROWS)
        first = v->list.top;
    v->first = first;
    v->most = most;
    int64_t count = v->count - first < LANES_ROWS ? v->count - first : LANES_ROWS;
    lanes_make(v->tree, v->rows + first, (int)count, most, &v->lanes);
}

static void draw_lanes_row(const struct lanes_view *v, const struct pane *p, int y, int row,
                           hlo_id here)
{
    static const uint32_t signs[] = {U' ', U'│', U'│', U'│', U'─', U'┘', U'┐', U'┤',
                                     U'─', U'└', U'┌', U'├', U'─', U'┴', U'┬', U'┼'};
    const uint8_t *cell = v->lanes.cell[row];

    for (int lane = 0; lane < v->lanes.width; lane++) {
        bool lit = v->lanes.owner[row][lane] == here;
        unsigned style = lit ? ROLE_BORDER_FOCUS | BOLD : ROLE_BORDER;
        int mask =
            (cell[lane] & 3) | (cell[lane] & LANE_LEFT ? 4 : 0) | (cell[lane] & LANE_RIGHT ? 8 : 0);
        if (cell[lane] & LANE_NODE)
            pane_put(p, 2 * lane, y, lit ? style : ROLE_TEXT, U'●');
        else
            pane_put(p, 2 * lane, y, style, signs[mask]);
        if (cell[lane] & LANE_RIGHT)
            pane_put(p, 2 * lane + 1, y, ROLE_BORDER, U'─');
    }
}

enum { SHAPE_LEAST = 7 }; /* "f32[..]" */

static void draw_words(const struct lanes_view *v, const struct watch *w, const struct pane *p,
                       int y, hlo_id id, int lost)
{
    static const struct {
        const char *sign;
        unsigned style;
    } marks[] = {{" ", 0}, {"·", ROLE_DIM}, {"0", ROLE_CHOICE_0}, {"1", ROLE_CHOICE_1 | BOLD}};
    const struct hlo_module *m = w->problem->m;
    int x = 2 * v->lanes.width + 1, status = watch_status(w, id), end = p->width;

    pane_text(p, x, y, marks[status + 2].style, marks[status + 2].sign);
    if (wave_light_of(&w->wave, &w->problem->classes, id) != WAVE_DARK)
        pane_text(p, x + 1, y, ROLE_CHANGED | BOLD, "~");
    if (w->ms[id] >= pane_ms_least(p)) {
        pane_right_ms(p, end, y, ROLE_TEXT, w->ms[id]);
        end -= 8;
    }
    const char *name = tree_instruction_name(v->tree, id);
    int room = end - x - 3, own = utf8_text_columns(name), shape = 0;
    if (m->leaf_base[id + 1] - m->leaf_base[id] == 1)
        shape = shape_width(w, m->leaf_base[id]);
    int name_room = own < room ? own : room; /* names first: a shape is cut, or left out */
    x = pane_cut(p, x + 2, y, name_room, ROLE_TEXT, name) + 2;
    if (shape && end - 1 - x >= (shape < SHAPE_LEAST ? shape : SHAPE_LEAST))
        x = shape_draw(w, m->leaf_base[id], p, x, y, end - 1 - x);
    if (lost && x + 10 < end)
        pane_format(p, x + 2, y, ROLE_DIM, "+%d later", lost);
}

static void draw_lanes(struct panel *p, const struct pane *pane)
{
    struct lanes_view *v = p->state;
    const struct watch *w = p->scene->watch;
    int most = pane->width / (pane->width < 50 ? 8 : 6) + 1;
    most = most < LANES_MOST ? most : LANES_MOST;

    if (!w || !v->rows || !v->count || most < 2)
        return;
    list_fit(&v->list, v->count, pane->height);
    if (w->here != HLO_NONE && (!p->focus || v->rows[v->list.cursor] != w->here))
        list_go(&v->list, row_of(v, w->here));
    make_lanes(v, pane->height, most);
    hlo_id here = v->rows[v->list.cursor];
    for (int y = 0; y < pane->height && v->list.top + y < v->list.count; y++) {
        int row = (int)(v->list.top + y - v->first);
        if (row >= v->lanes.row_count)
            break;
        draw_lanes_row(v, pane, y, row, here);
        draw_words(v, w, pane, y, v->rows[v->list.top + y], v->lanes.lost[row]);
        if (v->list.top + y != v->list.cursor)
            continue;
        struct pane words = pane_part(pane, 2 * v->lanes.width + 1, y, pane->width, 1);
        pane_select(&words, 0, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
        if (p->focus) {
            pane->grid->cursor_x = words.x;
            pane->grid->cursor_y = words.y;
        }
    }
}

static void head_lanes(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct lanes_view *v = p->state;
    char count[UNITS_ROOM];

    snprintf(note, room, p->width >= 50 ? "%s %s in order · ms" : "%s %s",
             units_count(count, v->count), v->all ? "operations" : "telling operations");
    h->note = note;
}

static void follow_lane(struct panel *p)
{
    const struct lanes_view *v = p->state;
    if (v->rows && v->list.cursor < v->count)
        p->scene->watch->here = v->rows[v->list.cursor];
}

static bool move_lanes(struct panel *p, enum list_move move)
{
    struct lanes_view *v = p->state;

    if (!p->scene->watch || !v->count)
        return false;
    bool moved = list_move(&v->list, move);
    follow_lane(p);
    return moved;
}

static void click_lanes(struct panel *p, int x, int y, bool twice)
{
    struct lanes_view *v = p->state;
    (void)x;
    if (!p->scene->watch || !v->count)
        return;
    list_go(&v->list, v->list.top + y);
    follow_lane(p);
    if (twice)
        host_go_to(p->scene, v->rows[v->list.cursor]);
}

static bool act_lanes(struct panel *p, int action)
{
    struct lanes_view *v = p->state;

    if (!v->tree || !v->rows || !v->count)
        return false;
    if (action == LANES_TRIVIAL) {
        v->all = !v->all;
        make_rows(v);
    } else {
        host_go_to(p->scene, v->rows[v->list.cursor]);
    }
    return true;
}

static void go_to_lanes(struct panel *p, hlo_id id)
{
    struct lanes_view *v = p->state;

    read_lanes(p);
    if (v->rows && v->count)
        list_go(&v->list, row_of(v, id));
    follow_lane(p);
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct lanes_view *v = p->state;
    return v->rows && v->list.cursor < v->count ? v->rows[v->list.cursor] : HLO_NONE;
}

/* Where it stands, told by ids: an edited problem has the same instructions. */
struct lanes_memory {
    hlo_id cursor, top;
    bool all;
};

static void *remember_lanes(const struct panel *p)
{
    const struct lanes_view *v = p->state;
    struct lanes_memory *m = v->rows && v->count ? mem_try(1, sizeof *m) : NULL;

    if (m)
        *m = (struct lanes_memory){v->rows[v->list.cursor], v->rows[v->list.top], v->all};
    return m;
}

static void recall_lanes(struct panel *p, const void *memory)
{
    const struct lanes_memory *m = memory;
    struct lanes_view *v = p->state;

    if (!v->rows)
        return;
    v->all = m->all;
    make_rows(v);
    v->list.top = row_of(v, m->top);
    v->list.cursor = row_of(v, m->cursor);
}

static int move_here(const struct panel *p)
{
    hlo_id id = instruction_here(p);
    return id == HLO_NONE || !p->scene->watch ? MOVE_NONE
                                              : watch_move_of_instruction(p->scene->watch, id);
}

static const char *name_here(const struct panel *p)
{
    hlo_id id = instruction_here(p);
    return id == HLO_NONE || !p->scene->problem ? NULL : hlo_name(p->scene->problem->m, id);
}

static bool find_lanes(struct panel *p, const struct match *pattern, int step)
{
    struct lanes_view *v = p->state;

    for (int64_t i = step ? 1 : 0; i <= v->count; i++) {
        int64_t at = (v->list.cursor + (step < 0 ? -i : i) + v->count) % v->count;
        if (match_text(pattern, tree_instruction_name(v->tree, v->rows[at])) ||
            match_text(pattern, hlo_name(v->tree->problem->m, v->rows[at]))) {
            list_go(&v->list, at);
            follow_lane(p);
            return true;
        }
    }
    return false;
}

static void message_lanes(const struct panel *p, char *out, size_t room)
{
    hlo_id id = instruction_here(p);

    if (id == HLO_NONE || !p->scene->problem)
        return;
    uint32_t users = hlo_at(p->scene->problem->m, id)->user_count;
    const char *variable = watch_parameter_name(p->scene->watch, id);
    if (variable)
        snprintf(out, room, "%s  used by %u", variable, users);
    else
        snprintf(out, room, "%s  used by %u  %s", hlo_name(p->scene->problem->m, id), users,
                 hlo_meta(p->scene->problem->m, id)->op_name);
}

static const struct list *list_here(const struct panel *p)
{
    const struct lanes_view *v = p->state;
    return &v->list;
}

const struct panel_ops view_lanes = {
    .name = "lanes",
    .title = "Lanes",
    .place = PLACE_LAYOUT,
    .id = PANEL_LANES,
    .keys = &lanes_keys,
    .hints = "run decide why pin down=choose tree trivial graph-view search command help",
    .size = sizeof(struct lanes_view),
    .open = open_lanes,
    .close = close_lanes,
    .read = read_lanes,
    .list = list_here,
    .draw = draw_lanes,
    .head = head_lanes,
    .act = act_lanes,
    .move = move_lanes,
    .click = click_lanes,
    .find = find_lanes,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .go_to = go_to_lanes,
    .remember = remember_lanes,
    .recall = recall_lanes,
    .name_here = name_here,
    .message = message_lanes,
};
