#include "tui/watch/layered.h"

#include <stdlib.h>
#include <string.h>

enum line { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

static int middle(const struct layered_node *n)
{
    return n->x + n->width / 2;
}

/* ---- bends ---- */

static int add_bend(struct layered *l, int level)
{
    if (l->node_count == LAYERED_NODES)
        return -1;
    l->nodes[l->node_count] =
        (struct layered_node){.level = level, .width = 1, .height = 1, .is_bend = true};
    return l->node_count++;
}

/* Edges over several levels become chains of bends; all edges from one node share theirs. */
static void add_bends(struct layered *l)
{
    int count = l->edge_count, first[LAYERED_NODES][LAYERED_LEVELS];

    memset(first, -1, sizeof first);
    for (int i = 0; i < count; i++) {
        int from = l->edges[i].from, source = from, to = l->edges[i].to;
        for (int level = l->nodes[from].level + 1; level < l->nodes[to].level; level++) {
            int *bend = &first[source][(level + LAYERED_LEVELS) % LAYERED_LEVELS];
            bool fresh = *bend < 0;
            if (fresh)
                *bend = add_bend(l, level);
            if (*bend < 0 || l->edge_count == LAYERED_EDGES)
                return;
            if (fresh)
                l->edges[l->edge_count++] = (struct layered_edge){from, *bend};
            from = *bend;
        }
        l->edges[i].from = from;
    }
}

/* ---- columns ---- */

struct row {
    int items[LAYERED_NODES], count;
};

static void collect_level(const struct layered *l, int level, struct row *r)
{
    r->count = 0;
    for (int n = 0; n < l->node_count; n++) {
        if (l->nodes[n].level == level)
            r->items[r->count++] = n;
    }
}

/* Where its neighbours one level nearer to the centre stand, on average. */
static void wished_place(struct layered *l, int n, int inner, double otherwise)
{
    double sum = 0;
    int count = 0;

    for (int i = 0; i < l->edge_count; i++) {
        const struct layered_edge *e = &l->edges[i];
        int other = e->from == n ? e->to : e->to == n ? e->from : -1;
        if (other < 0 || l->nodes[other].level != inner)
            continue;
        sum += middle(&l->nodes[other]);
        count++;
    }
    l->nodes[n].want = count ? sum / count : otherwise;
}

static void sort_by_wish(struct layered *l, struct row *r)
{
    for (int i = 1; i < r->count; i++) { /* stable; rows are short */
        int n = r->items[i], at = i;
        for (; at > 0 && l->nodes[r->items[at - 1]].want > l->nodes[n].want + 1e-9; at--)
            r->items[at] = r->items[at - 1];
        r->items[at] = n;
    }
}

/* Left to right at their wishes, nodes that touch as one block around the mean of its wishes. */
static void pack_row(struct layered *l, const struct row *r, int width)
{
    struct {
        double at;
        int first, count, width;
        double sum;
    } blocks[LAYERED_NODES];
    int count = 0;

    for (int i = 0; i < r->count; i++) {
        const struct layered_node *n = &l->nodes[r->items[i]];
        blocks[count].first = i;
        blocks[count].count = 1;
        blocks[count].width = n->width;
        blocks[count].sum = n->want - n->width / 2;
        blocks[count++].at = n->want - n->width / 2;
        for (; count > 1 &&
               blocks[count - 2].at + blocks[count - 2].width + LAYERED_GAP > blocks[count - 1].at;
             count--) {
            int before = blocks[count - 2].width + LAYERED_GAP;
            blocks[count - 2].sum += blocks[count - 1].sum - blocks[count - 1].count * before;
            blocks[count - 2].count += blocks[count - 1].count;
            blocks[count - 2].width = before + blocks[count - 1].width;
            blocks[count - 2].at = blocks[count - 2].sum / blocks[count - 2].count;
        }
    }
    int least = 0;
    for (int b = 0; b < count; b++) {
        int x = (int)(blocks[b].at + 0.5), after = 0;
        for (int k = b; k < count; k++)
            after += blocks[k].width + (k > b ? LAYERED_GAP : 0);
        x = x + after > width ? width - after : x;
        x = x < least ? least : x;
        least = x + blocks[b].width + LAYERED_GAP;
        for (int i = 0; i < blocks[b].count; i++) {
            struct layered_node *n = &l->nodes[r->items[blocks[b].first + i]];
            n->x = x;
            x += n->width + LAYERED_GAP;
        }
    }
}

static void place_level(struct layered *l, int level, int inner, int width)
{
    struct row r;

    collect_level(l, level, &r);
    for (int i = 0; i < r.count; i++)
        wished_place(l, r.items[i], inner, width / 2.);
    sort_by_wish(l, &r);
    pack_row(l, &r, width);
}

/* The centre in the middle, others of its level to both sides. */
static void place_centre(struct layered *l, int centre, int width)
{
    struct layered_node *c = &l->nodes[centre];
    int left, right;

    c->x = (width - c->width) / 2;
    left = c->x - LAYERED_GAP;
    right = c->x + c->width + LAYERED_GAP;
    for (int n = 0; n < l->node_count; n++) {
        struct layered_node *o = &l->nodes[n];
        if (o->level || n == centre)
            continue;
        if (right + o->width <= width) {
            o->x = right;
            right += o->width + LAYERED_GAP;
        } else {
            left -= o->width;
            o->x = left;
            left -= LAYERED_GAP;
        }
    }
}

static int count_edges(const struct layered *l, int node, bool from)
{
    int count = 0;
    for (int i = 0; i < l->edge_count; i++)
        count += (from ? l->edges[i].from : l->edges[i].to) == node;
    return count;
}

/* A line between two nodes that have no other is straight where they overlap. */
static void straighten(struct layered *l)
{
    for (int away = 0; away < LAYERED_LEVELS / 2; away++) {
        for (int i = 0; i < l->edge_count; i++) {
            struct layered_node *from = &l->nodes[l->edges[i].from],
                                *to = &l->nodes[l->edges[i].to];
            bool down = from->level == away && from->level >= 0;
            const struct layered_node *inner = down ? from : to;
            struct layered_node *outer = down ? to : from;
            if ((!down && to->level != -away) || count_edges(l, l->edges[i].from, true) > 1 ||
                count_edges(l, l->edges[i].to, false) > 1)
                continue;
            if (inner->port > outer->x && inner->port < outer->x + outer->width - 1)
                outer->port = inner->port;
        }
    }
}

/* Two ends of different lines in one column of a gap would look like one line. */
static void set_ports(struct layered *l)
{
    for (int n = 0; n < l->node_count; n++)
        l->nodes[n].port = middle(&l->nodes[n]);
    straighten(l);
    for (int i = 0; i < l->edge_count; i++) {
        struct layered_node *to = &l->nodes[l->edges[i].to];
        for (int k = 0; k < l->edge_count; k++) {
            const struct layered_edge *other = &l->edges[k];
            const struct layered_node *from = &l->nodes[other->from];
            if (from->level != to->level - 1 || other->from == l->edges[i].from ||
                other->to == l->edges[i].to || from->port != to->port)
                continue;
            bool joined = false;
            for (int j = 0; j < l->edge_count; j++)
                joined |= l->edges[j].from == other->from && l->edges[j].to == l->edges[i].to;
            if (!joined && to->width >= 5)
                to->port += 2;
        }
    }
}

/* ---- lines of one gap ---- */

struct net { /* edges drawn as one line */
    int by_from, node;
    int low, high; /* columns */
    int track;
};

struct nets {
    struct net items[LAYERED_EDGES];
    int of[LAYERED_EDGES]; /* by edge; -1: not in this gap */
    int count, tracks;
};

static int net_of(struct nets *s, int by_from, int node)
{
    for (int n = 0; n < s->count; n++) {
        if (s->items[n].by_from == by_from && s->items[n].node == node)
            return n;
    }
    s->items[s->count] = (struct net){by_from, node, 1 << 20, -1, 0};
    return s->count++;
}

/* A net that ends in a column goes above one that begins there, and lines do not touch. */
static void choose_tracks(struct nets *s)
{
    s->tracks = 0;
    for (int n = 0; n < s->count; n++) {
        struct net *a = &s->items[n];
        if (a->low == a->high)
            continue;
        for (bool again = true; again;) {
            again = false;
            for (int k = 0; k < n; k++) {
                const struct net *b = &s->items[k];
                if (b->low < b->high && b->track == a->track && a->low <= b->high + 1 &&
                    b->low <= a->high + 1) {
                    a->track++;
                    again = true;
                }
            }
        }
        s->tracks = a->track + 1 > s->tracks ? a->track + 1 : s->tracks;
    }
}

static void find_nets(const struct layered *l, int level, struct nets *s)
{
    s->count = 0;
    for (int i = 0; i < l->edge_count; i++) {
        const struct layered_node *from = &l->nodes[l->edges[i].from],
                                  *to = &l->nodes[l->edges[i].to];
        s->of[i] = -1;
        if (from->level != level || to->level != level + 1)
            continue;
        bool fan = count_edges(l, l->edges[i].from, true) > 1 &&
                   count_edges(l, l->edges[i].to, false) == 1;
        s->of[i] = net_of(s, fan, fan ? l->edges[i].from : l->edges[i].to);
        struct net *n = &s->items[s->of[i]];
        int ends[] = {from->port, to->port};
        for (int k = 0; k < 2; k++) {
            n->low = ends[k] < n->low ? ends[k] : n->low;
            n->high = ends[k] > n->high ? ends[k] : n->high;
        }
    }
    choose_tracks(s);
}

/* ---- rows ---- */

static int level_height(const struct layered *l, int level)
{
    int height = 0;
    for (int n = 0; n < l->node_count; n++) {
        if (l->nodes[n].level == level && l->nodes[n].height > height)
            height = l->nodes[n].height;
    }
    return height;
}

static int rows_of(const struct layered *l, int first, int last)
{
    struct nets s;
    int rows = 0;

    for (int level = first; level <= last; level++) {
        rows += level_height(l, level);
        if (level == last)
            continue;
        find_nets(l, level, &s);
        rows += s.tracks > 1 ? s.tracks : 1;
    }
    return rows;
}

static void place_rows(struct layered *l, int height)
{
    struct nets s;
    int low = 0, high = 0, y;

    for (int n = 0; n < l->node_count; n++) {
        low = l->nodes[n].level < low ? l->nodes[n].level : low;
        high = l->nodes[n].level > high ? l->nodes[n].level : high;
    }
    while (low < high && rows_of(l, low, high) > height) {
        if (-low >= high)
            low++;
        else
            high--;
    }
    l->first = low;
    l->last = high;
    l->height = rows_of(l, low, high);
    y = 0;
    for (int n = 0; n < l->node_count; n++)
        l->nodes[n].y = -1;
    for (int level = low; level <= high; level++) {
        int own = level_height(l, level);
        l->top[level - low] = y;
        for (int n = 0; n < l->node_count; n++) {
            if (l->nodes[n].level == level)
                l->nodes[n].y = y + (own - l->nodes[n].height) / 2;
        }
        find_nets(l, level, &s);
        l->gap[level - low] = s.tracks > 1 ? s.tracks : 1;
        y += own + l->gap[level - low];
    }
}

void layered_place(struct layered *l, int centre, int width, int height)
{
    int low = 0, high = 0;

    add_bends(l);
    for (int n = 0; n < l->node_count; n++) {
        low = l->nodes[n].level < low ? l->nodes[n].level : low;
        high = l->nodes[n].level > high ? l->nodes[n].level : high;
    }
    place_centre(l, centre, width);
    for (int level = -1; level >= low; level--)
        place_level(l, level, level + 1, width);
    for (int level = 1; level <= high; level++)
        place_level(l, level, level - 1, width);
    set_ports(l);
    place_rows(l, height);
}

/* ---- drawing ---- */

static void add_line(const struct pane *p, int x, int y, unsigned style, int mask)
{
    static const uint32_t signs[] = {' ',  U'│', U'│', U'│', U'─', U'┘', U'┐', U'┤',
                                     U'─', U'└', U'┌', U'├', U'─', U'┴', U'┬', U'┼'};
    if (x < 0 || y < 0 || x >= p->width || y >= p->height)
        return;
    const struct cell *cell =
        p->grid->cells + (size_t)(p->y + y) * (size_t)p->grid->width + (size_t)(p->x + x);
    for (int k = 1; k < 16; k++) { /* 1 and 2 look like 3: a line that ends is drawn through */
        if (signs[k] == cell->ch && k != UP && k != DOWN && k != LEFT && k != RIGHT) {
            mask |= k;
            break;
        }
    }
    pane_put(p, x, y, style, signs[mask]);
}

static void draw_edge(const struct pane *p, int x0, int x1, int top, int track, int bottom,
                      unsigned style)
{
    for (int y = top; y < track; y++)
        add_line(p, x0, y, style, UP | DOWN);
    if (x0 == x1) {
        add_line(p, x0, track, style, UP | DOWN);
    } else {
        int step = x1 > x0 ? 1 : -1;
        add_line(p, x0, track, style, UP | (x1 > x0 ? RIGHT : LEFT));
        for (int x = x0 + step; x != x1; x += step)
            add_line(p, x, track, style, LEFT | RIGHT);
        add_line(p, x1, track, style, DOWN | (x1 > x0 ? LEFT : RIGHT));
    }
    for (int y = track + 1; y < bottom; y++)
        add_line(p, x1, y, style, UP | DOWN);
}

void layered_draw_edges(const struct layered *l, const struct pane *p, unsigned style)
{
    struct nets s;

    for (int level = l->first; level < l->last; level++) {
        int base = l->top[level - l->first], next = l->top[level - l->first + 1];
        int above = next - l->gap[level - l->first];
        find_nets(l, level, &s);
        for (int i = 0; i < l->edge_count; i++) {
            if (s.of[i] < 0)
                continue;
            const struct layered_node *from = &l->nodes[l->edges[i].from],
                                      *to = &l->nodes[l->edges[i].to];
            int top = from->is_bend ? base : from->y + from->height;
            draw_edge(p, from->port, to->port, top, above + s.items[s.of[i]].track,
                      to->is_bend ? next : to->y, style);
        }
    }
}

int layered_neighbour(const struct layered *l, int from, int dx, int dy)
{
    const struct layered_node *f = &l->nodes[from];
    int best = -1, best_distance = 1 << 20;

    for (int n = 0; n < l->node_count; n++) {
        const struct layered_node *o = &l->nodes[n];
        int across = middle(o) - middle(f), down = o->level - f->level;
        if (n == from || o->is_bend || o->y < 0)
            continue;
        if (dx ? down || across * dx <= 0 : down * dy <= 0)
            continue;
        int distance = abs(across) + abs(down) * 400;
        for (int i = 0; dy && i < l->edge_count; i++) { /* along an edge first */
            if ((l->edges[i].from == from && l->edges[i].to == n) ||
                (l->edges[i].to == from && l->edges[i].from == n))
                distance -= 300;
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = n;
        }
    }
    return best;
}
