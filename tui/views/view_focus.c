/* Panel 3: the neighbourhood of one instruction (tui/watch/around.h), drawn in layers
 * (tui/watch/layered.h). While other panels have the keys it follows what a person looks at there;
 * with the keys, its cursor goes from value to value, Enter makes one the centre, and the way back
 * is kept. */
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/wave.h"

#include "engine/decide/why.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/around.h"
#include "tui/watch/layered.h"
#include "tui/watch/shape_text.h"

#include <stdio.h>
#include <string.h>

enum { TRAIL = 64, LABEL_ROOM = 64, NAME_WIDE = 28, NAME_SHORT = 14, BOX_MOST = 44 };

struct focus {
    const struct tree *tree; /* of which problem; only compared */
    hlo_id centre;           /* HLO_NONE: nothing yet */
    int radius;
    bool all;            /* plain operations and constants too */
    uint32_t skip;       /* neighbours of a hub passed over */
    hlo_id cursor;       /* the instruction chosen; may be the centre */
    hlo_id trail[TRAIL]; /* centres: back from trail[at], forward behind it */
    int at, trail_count;
    struct around around;   /* of centre, radius, all, skip */
    struct layered drawing; /* as drawn last: nodes as in `around`, then bends */
    bool stale;
    char title[32];
};

enum {
    FOCUS_LEFT,
    FOCUS_RIGHT,
    FOCUS_CENTRE,
    FOCUS_OPERAND,
    FOCUS_USER,
    FOCUS_BACK,
    FOCUS_FORWARD,
    FOCUS_WIDER,
    FOCUS_NARROWER,
    FOCUS_TRIVIAL
};
static const struct action focus_actions[] = {
    [FOCUS_LEFT] = {"left", "in this panel", "value to the left, right", NULL, "h or Left", "Left"},
    [FOCUS_RIGHT] = {"right", "in this panel", NULL, NULL, "l or Right", "Right"},
    [FOCUS_CENTRE] = {"centre", "in this panel",
                      "make it the centre; the centre: show it in the tree", "centre", "Enter",
                      NULL},
    [FOCUS_OPERAND] = {"operand", "in this panel", "go to operand, user", "operand, user", "i",
                       NULL},
    [FOCUS_USER] = {"user", "in this panel", NULL, NULL, "I", NULL},
    [FOCUS_BACK] = {"back", "in this panel", "jump back, forward", "back", "C-o or Backspace",
                    NULL},
    [FOCUS_FORWARD] = {"forward", "in this panel", NULL, NULL, "]", NULL},
    [FOCUS_WIDER] = {"radius-up", "in this panel", "radius", "radius", "+", NULL},
    [FOCUS_NARROWER] = {"radius-down", "in this panel", NULL, NULL, "-", NULL},
    [FOCUS_TRIVIAL] = {"trivial", "in this panel", "all operations", "all", "t", NULL},
};
static const struct key_table focus_keys = {"focus", focus_actions,
                                            sizeof focus_actions / sizeof *focus_actions};

/* ---- what is shown ---- */

static void show_instruction(struct focus *f, hlo_id id)
{
    f->centre = f->cursor = id;
    f->skip = 0;
    f->stale = true;
}

/* A step that can be taken back. */
static void go_to_instruction(struct panel *p, hlo_id id)
{
    struct focus *f = p->state;

    if (id == HLO_NONE || id == f->centre)
        return;
    if (f->at == TRAIL - 1) {
        memmove(f->trail, f->trail + 1, (TRAIL - 1) * sizeof *f->trail);
        f->at--;
    }
    f->trail[f->at] = f->centre;
    f->trail[++f->at] = id;
    f->trail_count = f->at + 1;
    show_instruction(f, id);
    p->scene->watch->here = id;
}

static void read_focus(struct panel *p)
{
    struct focus *f = p->state;
    const struct watch *w = p->scene->watch;

    if (!w || (f->tree == w->tree && (p->focus || f->centre == w->here)))
        return;
    if (f->tree != w->tree)
        *f = (struct focus){.tree = w->tree, .centre = HLO_NONE, .radius = f->radius};
    if (w->here == HLO_NONE || w->here >= w->problem->m->count)
        return;
    f->at = f->trail_count = 0;
    f->trail[f->trail_count++] = w->here;
    show_instruction(f, w->here);
}

static int open_focus(struct panel *p, const void *arg, struct err *e)
{
    struct focus *f = p->state;
    (void)arg;
    (void)e;
    f->radius = 2;
    f->centre = HLO_NONE;
    read_focus(p);
    return 0;
}

/* What is shown, told by ids: an edited problem has the same instructions. */
struct focus_memory {
    hlo_id centre, cursor, trail[TRAIL];
    int radius, at, trail_count;
    bool all;
};

static void *remember_focus(const struct panel *p)
{
    const struct focus *f = p->state;
    struct focus_memory *m = f->centre == HLO_NONE ? NULL : mem_try(1, sizeof *m);

    if (!m)
        return NULL;
    *m = (struct focus_memory){.centre = f->centre,
                               .cursor = f->cursor,
                               .radius = f->radius,
                               .at = f->at,
                               .trail_count = f->trail_count,
                               .all = f->all};
    memcpy(m->trail, f->trail, sizeof m->trail);
    return m;
}

static void recall_focus(struct panel *p, const void *memory)
{
    const struct focus_memory *m = memory;
    struct focus *f = p->state;

    if (!f->tree)
        return;
    f->radius = m->radius;
    f->all = m->all;
    f->at = m->at;
    f->trail_count = m->trail_count;
    memcpy(f->trail, m->trail, sizeof f->trail);
    show_instruction(f, m->centre);
    f->cursor = m->cursor;
}

/* ---- words of a node ---- */

static bool has_shape(const struct hlo_module *m, hlo_id id)
{
    return m->leaf_base[id + 1] - m->leaf_base[id] == 1;
}

/* A factor of `user` through which dims of its operand `id` go: one of a split dim, else of an open
 * one; UINT32_MAX: none. */
static uint32_t factor_between(const struct watch *w, hlo_id id, hlo_id user)
{
    const struct classes *c = &w->problem->classes;
    const struct hlo_module *m = c->m;
    uint32_t found = UINT32_MAX, leaf = 0;

    if (!class_leaf_count(c, user))
        return found;
    for (uint32_t n = 0; n < hlo_at(m, user)->operand_count && hlo_operand(m, user, n) != id; n++) {
        hlo_id o = hlo_operand(m, user, n);
        leaf += m->leaf_base[o + 1] - m->leaf_base[o];
    }
    for (uint32_t k = c->factor_base[user];
         k < c->factor_base[user + 1] && leaf < class_leaf_count(c, user); k++) {
        class_id class = c->factors[k].class;
        if (class == CLASS_NONE || c->leaf_dims[c->factors[k].dims + leaf] < 0)
            continue;
        if (w->on[class])
            return k;
        if (w->open[class] && found == UINT32_MAX)
            found = k;
    }
    return found;
}

/* How a value meets the centre, and what its instruction reduces: "rhs", "reduces 12.6 MB". */
static void write_note(const struct watch *w, const struct around *a, int n,
                       char out[static LABEL_ROOM])
{
    const struct around_node *node = &a->nodes[n];
    struct instruction_cost cost =
        step_tables_instruction(&w->problem->step_tables, node->id, w->on);
    hlo_id centre = a->nodes[0].id;
    uint32_t factor = UINT32_MAX;
    char bytes[UNITS_ROOM];

    out[0] = 0;
    if (node->degree) {
        const struct hlo_instruction *i = hlo_at(w->problem->m, node->id);
        bool users = i->user_count >= i->operand_count;
        snprintf(out, LABEL_ROOM, "%s %s",
                 units_count(bytes, users ? i->user_count : i->operand_count),
                 users ? "users" : "operands");
    } else if (cost.reduced_count) {
        snprintf(out, LABEL_ROOM, "reduces %s", units_bytes(bytes, cost.reduced_bytes));
    } else if (node->folded == 1) {
        for (int i = 0; i < a->edge_count; i++) {
            if (a->edges[i].from == n && a->edges[i].to == 0)
                factor = factor_between(w, node->id, centre);
        }
        if (factor != UINT32_MAX)
            why_factor_name(&w->problem->classes, centre, factor, out, LABEL_ROOM);
    }
    if (n && node->elsewhere && !out[0])
        snprintf(out, LABEL_ROOM, "+%u", node->elsewhere);
}

/* What one node shows, by how much room its level has: 0 everything .. 3 a short name. */
struct words {
    char name[NAME_WIDE * 4 + 32], note[LABEL_ROOM];
    int name_width, shape_width, note_width;
};

static void write_words(const struct watch *w, const struct around *a, int n, int brevity,
                        struct words *out)
{
    const struct around_node *node = &a->nodes[n];
    char cut[NAME_WIDE * 4 + 1], count[UNITS_ROOM];

    *out = (struct words){.note = ""};
    if (node->more) {
        snprintf(out->name, sizeof out->name, "%s more", units_count(count, node->more));
    } else {
        text_cut_middle(cut, sizeof cut, tree_instruction_name(w->tree, node->id),
                        brevity < 3 ? NAME_WIDE : NAME_SHORT);
        snprintf(out->name, sizeof out->name, "%s", cut);
        if (node->folded > 1)
            snprintf(out->note, sizeof out->note, "%u folded", node->folded);
        else if (brevity < 1)
            write_note(w, a, n, out->note);
        if (brevity < 2 && node->folded == 1 && has_shape(w->problem->m, node->id))
            out->shape_width = shape_dims_width(w, w->problem->m->leaf_base[node->id]);
    }
    out->name_width = utf8_text_columns(out->name) + 2;
    out->note_width = out->note[0] ? utf8_text_columns(out->note) + 2 : 0;
}

static int width_of(const struct words *t)
{
    return t->name_width + (t->shape_width ? t->shape_width + 1 : 0) + t->note_width;
}

/* ---- placing ---- */

static int box_rows(const struct pane *pane)
{
    return pane->height >= 9 ? 4 : 3;
}

static int box_width(const struct watch *w, hlo_id id, const struct pane *pane)
{
    int name = utf8_text_columns(tree_instruction_name(w->tree, id)), shape = 5;

    if (has_shape(w->problem->m, id))
        shape = shape_width(w, w->problem->m->leaf_base[id]);
    int width = 3 + (name > shape ? name : shape) + 3;
    width = width > BOX_MOST ? BOX_MOST : width;
    return width > pane->width ? pane->width : width;
}

/* Lines that only pass a level take room there, too. */
static int passing(const struct around *a, int level)
{
    int count = 0;

    for (int n = 0; n < a->node_count; n++) {
        bool passes = false;
        for (int i = 0; i < a->edge_count; i++)
            passes |= a->edges[i].from == n && a->nodes[n].level < level &&
                      a->nodes[a->edges[i].to].level > level;
        count += passes;
    }
    return count;
}

/* The most words with which a level fits; nodes that do not fit even so are dropped, the last
 * first. */
static int fit_level(const struct watch *w, const struct focus *f, const struct pane *pane,
                     int level, bool *shown)
{
    struct words t;
    int half = (pane->width - box_width(w, f->centre, pane)) / 2 - LAYERED_GAP;
    int room = level ? pane->width + LAYERED_GAP : half;

    room -= passing(&f->around, level) * (1 + LAYERED_GAP);
    for (int brevity = 0; brevity < 4; brevity++) {
        int width = 0;
        for (int n = 0; n < f->around.node_count; n++) {
            if (f->around.nodes[n].level != level || (level == 0 && n == 0))
                continue;
            write_words(w, &f->around, n, brevity, &t);
            int own = width_of(&t) + LAYERED_GAP;
            if (brevity == 3 && width + own > room)
                shown[n] = false;
            else
                width += own;
            if (width > room)
                break;
        }
        if (width <= room)
            return brevity;
    }
    return 3;
}

static void place(struct focus *f, const struct watch *w, const struct pane *pane, int *brevity)
{
    struct around *a = &f->around;
    struct layered *l = &f->drawing;
    struct words t;
    bool shown[AROUND_NODES];
    int levels[2 * AROUND_LEVELS + 1];

    memset(l, 0, sizeof *l);
    memset(shown, 1, sizeof shown);
    for (int level = -AROUND_LEVELS; level <= AROUND_LEVELS; level++)
        levels[level + AROUND_LEVELS] = fit_level(w, f, pane, level, shown);
    for (int n = 0; n < a->node_count; n++) {
        struct layered_node *to = &l->nodes[l->node_count++];
        brevity[n] = levels[a->nodes[n].level + AROUND_LEVELS];
        write_words(w, a, n, brevity[n], &t);
        *to = (struct layered_node){.level = a->nodes[n].level, .width = width_of(&t), .height = 1};
        if (!shown[n])
            *to = (struct layered_node){
                .level = a->nodes[n].level, .width = 0, .height = 0, .is_bend = true};
    }
    l->nodes[0].width = box_width(w, f->centre, pane);
    l->nodes[0].height = box_rows(pane);
    for (int i = 0; i < a->edge_count; i++) {
        if (shown[a->edges[i].from] && shown[a->edges[i].to])
            l->edges[l->edge_count++] = (struct layered_edge){a->edges[i].from, a->edges[i].to};
    }
    layered_place(l, 0, pane->width, pane->height);
}

/* ---- drawing ---- */

static unsigned mark_style(int status)
{
    return status == 1 ? ROLE_CHOICE_1 | BOLD : status == 0 ? ROLE_CHOICE_0 : ROLE_DIM;
}

static const char *mark_sign(int status)
{
    return status == 1 ? "1" : status == 0 ? "0" : status == -1 ? "·" : " ";
}

static void draw_node(const struct focus *f, const struct watch *w, const struct pane *p, int n,
                      int brevity)
{
    const struct around_node *node = &f->around.nodes[n];
    const struct layered_node *at = &f->drawing.nodes[n];
    struct words t;
    int status = node->more ? -2 : watch_status(w, node->id);

    write_words(w, &f->around, n, brevity, &t);
    pane_repeat(p, at->x, at->y, at->width, (struct cell){' ', 0});
    pane_text(p, at->x, at->y, mark_style(status), mark_sign(status));
    if (!node->more && wave_light_of(&w->wave, &w->problem->classes, node->id) != WAVE_DARK)
        pane_text(p, at->x + 1, at->y, ROLE_CHANGED | BOLD, "~");
    unsigned style = node->more                                   ? ROLE_DIM
                     : kernel_is_unknown(w->problem->m, node->id) ? ROLE_ERR
                                                                  : ROLE_TEXT;
    int x = pane_text(p, at->x + 2, at->y, style, t.name);
    if (t.shape_width)
        x = shape_draw_dims(w, w->problem->m->leaf_base[node->id], p, x + 1, at->y, t.shape_width);
    if (t.note[0])
        pane_text(p, x + 2, at->y, ROLE_DIM, t.note);
}

static bool has_edge(const struct layered *l, bool above)
{
    for (int i = 0; i < l->edge_count; i++) {
        if ((above ? l->edges[i].to : l->edges[i].from) == 0)
            return above ? l->first < 0 : l->last > 0;
    }
    return false;
}

static void draw_centre(const struct focus *f, const struct watch *w, const struct pane *p)
{
    const struct layered_node *c = &f->drawing.nodes[0];
    const struct hlo_module *m = w->problem->m;
    int right = c->x + c->width - 1, bottom = c->y + c->height - 1,
        status = watch_status(w, f->centre);
    struct cell heavy = {U'━', ROLE_BORDER_FOCUS};

    struct pane inside = pane_part(p, c->x + 1, c->y + 1, c->width - 2, c->height - 2);
    pane_clear(&inside);
    pane_repeat(p, c->x + 1, c->y, c->width - 2, heavy);
    pane_repeat(p, c->x + 1, bottom, c->width - 2, heavy);
    for (int y = c->y + 1; y < bottom; y++) {
        pane_put(p, c->x, y, ROLE_BORDER_FOCUS, U'┃');
        pane_put(p, right, y, ROLE_BORDER_FOCUS, U'┃');
    }
    pane_put(p, c->x, c->y, ROLE_BORDER_FOCUS, U'┏');
    pane_put(p, right, c->y, ROLE_BORDER_FOCUS, U'┓');
    pane_put(p, c->x, bottom, ROLE_BORDER_FOCUS, U'┗');
    pane_put(p, right, bottom, ROLE_BORDER_FOCUS, U'┛');
    if (has_edge(&f->drawing, true))
        pane_put(p, c->port, c->y, ROLE_BORDER_FOCUS, U'┷');
    if (has_edge(&f->drawing, false))
        pane_put(p, c->port, bottom, ROLE_BORDER_FOCUS, U'┯');
    pane_text(&inside, 1, 0, mark_style(status), mark_sign(status));
    if (wave_light_of(&w->wave, &w->problem->classes, f->centre) != WAVE_DARK)
        pane_text(&inside, 2, 0, ROLE_CHANGED | BOLD, "~");
    const char *name = tree_instruction_name(w->tree, f->centre);
    pane_cut(&inside, 3, 0, inside.width - 4, ROLE_TITLE | BOLD, name);
    if (inside.height > 1 && has_shape(m, f->centre))
        shape_draw(w, m->leaf_base[f->centre], &inside, 3, 1, inside.width - 3);
    else if (inside.height > 1)
        pane_text(&inside, 3, 1, ROLE_DIM, "tuple");
}

static int cursor_node(const struct focus *f)
{
    for (int n = 0; n < f->around.node_count; n++) {
        const struct around_node *node = &f->around.nodes[n];
        if (f->drawing.nodes[n].y >= 0 && !f->drawing.nodes[n].is_bend &&
            (node->more ? f->cursor == HLO_NONE : node->id == f->cursor))
            return n;
    }
    return 0;
}

static void draw_cursor(const struct panel *p, const struct pane *pane)
{
    const struct focus *f = p->state;
    const struct layered_node *n = &f->drawing.nodes[cursor_node(f)];
    bool box = n == &f->drawing.nodes[0];
    struct pane part = pane_part(pane, n->x + box, n->y + box, n->width - 2 * box, 1);

    pane_select(&part, 0, ROLE_SELECT);
    pane->grid->cursor_x = part.x;
    pane->grid->cursor_y = part.y;
}

static void draw_focus(struct panel *p, const struct pane *pane)
{
    struct focus *f = p->state;
    const struct watch *w = p->scene->watch;
    int brevity[AROUND_NODES];

    read_focus(p);
    if (!w || f->centre == HLO_NONE || pane->height < 3 || pane->width < 12)
        return;
    if (f->stale)
        around_find(w->tree, f->centre, f->radius, f->all, f->skip, &f->around);
    f->stale = false;
    place(f, w, pane, brevity);
    int spare = (pane->height - f->drawing.height) / 2;
    struct pane inside = pane_part(pane, 0, spare > 1 ? 1 : 0, pane->width, pane->height);
    layered_draw_edges(&f->drawing, &inside, ROLE_BORDER);
    for (int n = 1; n < f->around.node_count; n++) {
        if (f->drawing.nodes[n].y >= 0 && !f->drawing.nodes[n].is_bend)
            draw_node(f, w, &inside, n, brevity[n]);
    }
    draw_centre(f, w, &inside);
    if (p->focus)
        draw_cursor(p, &inside);
}

static void head_focus(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct focus *f = p->state;
    const struct watch *w = p->scene->watch;
    char cut[NAME_WIDE * 4 + 1];

    if (!w || f->centre == HLO_NONE)
        return;
    text_cut_middle(cut, sizeof cut, tree_instruction_name(w->tree, f->centre), NAME_WIDE);
    int size = p->width >= 56 ? snprintf(note, room, "%s · ", cut) : 0;
    size += snprintf(note + size, room - (size_t)size, "radius %d%s", f->radius,
                     f->all ? " · all" : "");
    uint32_t elsewhere = f->stale ? 0 : f->around.nodes[0].elsewhere;
    if (elsewhere && p->width >= 40)
        snprintf(note + size, room - (size_t)size, " · %u more %s in other phases", elsewhere,
                 elsewhere == 1 ? "use" : "uses");
    h->note = note;
}

/* ---- acts ---- */

static void choose_box(struct panel *p, int dx, int dy)
{
    struct focus *f = p->state;
    int from = cursor_node(f), to = layered_neighbour(&f->drawing, from, dx, dy);

    if (to >= 0)
        f->cursor = f->around.nodes[to].id;
    else if (dy && from) /* beyond what is drawn: it becomes the centre */
        go_to_instruction(p, f->around.nodes[from].id);
}

static void step_to(struct panel *p, bool up)
{
    struct focus *f = p->state;
    hlo_id next = HLO_NONE;
    uint32_t count = up ? around_operands(f->tree, f->centre, f->all, 0, &next, 1)
                        : around_users(f->tree, f->centre, f->all, 0, &next, 1);

    if (count)
        go_to_instruction(p, next);
    else
        host_say(p->scene, up ? "it has no operands" : "nothing uses it");
}

static void travel(struct panel *p, int step)
{
    struct focus *f = p->state;

    if (f->at + step < 0 || f->at + step >= f->trail_count) {
        host_say(p->scene, step < 0 ? "nowhere to go back to" : "nowhere to go forward to");
        return;
    }
    f->at += step;
    show_instruction(f, f->trail[f->at]);
    p->scene->watch->here = f->centre;
}

static void centre_on(struct panel *p)
{
    struct focus *f = p->state;
    const struct around_node *node = &f->around.nodes[cursor_node(f)];

    if (node->more) {
        f->skip += AROUND_HUB - 2;
        f->cursor = f->centre;
        f->stale = true;
    } else if (node->id == f->centre && f->skip) {
        show_instruction(f, f->centre);
    } else if (node->id == f->centre) {
        host_go_to(p->scene, f->centre);
    } else {
        go_to_instruction(p, node->folded > 1 ? node->far : node->id);
    }
}

static bool act_focus(struct panel *p, int action)
{
    struct focus *f = p->state;
    int radius = f->radius + (action == FOCUS_WIDER) - (action == FOCUS_NARROWER);

    if (!p->scene->watch || f->centre == HLO_NONE)
        return false;
    if (action == FOCUS_LEFT || action == FOCUS_RIGHT)
        choose_box(p, action == FOCUS_LEFT ? -1 : 1, 0);
    else if (action == FOCUS_CENTRE)
        centre_on(p);
    else if (action == FOCUS_OPERAND || action == FOCUS_USER)
        step_to(p, action == FOCUS_OPERAND);
    else if (action == FOCUS_BACK || action == FOCUS_FORWARD)
        travel(p, action == FOCUS_BACK ? -1 : 1);
    else if (action == FOCUS_TRIVIAL)
        f->all = !f->all;
    else if (radius < 1 || radius > AROUND_RADIUS)
        host_say(p->scene, "the radius is 1 to %d", AROUND_RADIUS);
    else
        f->radius = radius;
    f->stale = true;
    return true;
}

static bool move_focus(struct panel *p, enum list_move move)
{
    struct focus *f = p->state;

    if (!p->scene->watch || f->centre == HLO_NONE || f->stale)
        return false;
    bool up = move == LIST_UP || move == LIST_PAGE_UP || move == LIST_HALF_UP || move == LIST_FIRST;
    if (move == LIST_UP || move == LIST_DOWN)
        choose_box(p, 0, up ? -1 : 1);
    else
        step_to(p, up);
    return true;
}

static void click_focus(struct panel *p, int x, int y, bool twice)
{
    struct focus *f = p->state;
    int spare = (p->height - f->drawing.height) / 2;

    for (int n = 0; n < f->around.node_count && !f->stale; n++) {
        const struct layered_node *at = &f->drawing.nodes[n];
        int row = y - (spare > 1 ? 1 : 0);
        if (at->y < 0 || at->is_bend || x < at->x || x >= at->x + at->width || row < at->y ||
            row >= at->y + at->height)
            continue;
        f->cursor = f->around.nodes[n].id;
        if (twice)
            centre_on(p);
    }
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct focus *f = p->state;
    return f->cursor == HLO_NONE ? f->centre : f->cursor;
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

static void go_to_focus(struct panel *p, hlo_id id)
{
    go_to_instruction(p, id);
}

static void message_focus(const struct panel *p, char *out, size_t room)
{
    const struct focus *f = p->state;
    hlo_id id = instruction_here(p);
    char place[128] = "", run[128] = "";
    static const char UNKNOWN[] = "  no kernel rule: runs whole, work unknown";

    if (id == HLO_NONE || !p->scene->problem || f->stale)
        return;
    const struct hlo_module *m = p->scene->problem->m;
    const struct hlo_meta *meta = hlo_meta(m, id);
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct around_node *node = &f->around.nodes[cursor_node(f)];
    if (node->folded > 1)
        snprintf(run, sizeof run, "  one end of %u to %.80s", node->folded, hlo_name(m, node->far));
    if (meta->source_file[0])
        snprintf(place, sizeof place, "  %.100s:%u", meta->source_file, meta->source_line);
    const char *variable = watch_parameter_name(p->scene->watch, id);
    if (variable) {
        snprintf(out, room, "%s  used by %u%s", variable, i->user_count, run);
        return;
    }
    snprintf(out, room, "%s  %s of %u, used by %u%s%s%s  %s", hlo_name(m, id),
             hlo_op_info[i->opcode].name, i->operand_count, i->user_count,
             kernel_is_unknown(m, id) ? UNKNOWN : "", run, place, meta->op_name);
}

const struct panel_ops view_focus = {
    .name = "focus",
    .title = "Focus",
    .place = PLACE_LAYOUT,
    .id = PANEL_FOCUS,
    .keys = &focus_keys,
    .hints = "run decide why pin down=choose centre operand back radius-up trivial command help",
    .size = sizeof(struct focus),
    .open = open_focus,
    .read = read_focus,
    .draw = draw_focus,
    .head = head_focus,
    .act = act_focus,
    .move = move_focus,
    .click = click_focus,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .go_to = go_to_focus,
    .remember = remember_focus,
    .recall = recall_focus,
    .name_here = name_here,
    .message = message_focus,
};
