/* Panel 9: the network as a line down the left edge, servers hanging on it, their devices with the
 * memory the plan fills, and what the plan's all-reduces send over each kind of link in a step. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/fewer.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/cost_split.h"
#include "tui/watch/fewer_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 24 };

struct devices {
    struct cost_split split; /* for the traffic */
    struct cost_traffic traffic;
    struct cost_group *by_class; /* that make all-reduces; the longest first, at most TOLD */
    struct cost_traffic *of_class;
    size_t told, makers; /* shown; in all */
    bool stale;
    int cursor;  /* device */
    int top;     /* first line in sight */
    int per_row; /* as drawn last */
};

enum { DEVICES_LEFT, DEVICES_RIGHT, DEVICES_FEWER, DEVICES_ACTIONS };
static const struct action devices_actions[] = {
    [DEVICES_LEFT] = {"left", "in this panel", "device to the left, right", NULL, "h or Left",
                      "Left"},
    [DEVICES_RIGHT] = {"right", "in this panel", NULL, NULL, "l or Right", "Right"},
    [DEVICES_FEWER] = {"fewer", "in this panel", "take the fewer devices that are faster", "fewer",
                       "f", NULL},
};
static const struct key_table devices_keys = {"devices", devices_actions, DEVICES_ACTIONS};

static void read_devices(struct panel *p)
{
    struct devices *v = p->state;
    const struct watch *w = p->scene->watch;

    if (w && (v->split.watch != w || v->split.version != w->ms_version))
        v->stale = true;
}

/* Which classes make the traffic; without memory for it, none. */
static void tell_classes(struct devices *v, const struct watch *w)
{
    size_t count = 0;
    struct err e;

    free(v->by_class);
    v->by_class = NULL;
    v->told = v->makers = 0;
    if (cost_split_group(&v->split, NULL, 0, COST_BY_CLASS, &v->by_class, &count, &e))
        return;
    count = cost_fold_alike(w, COST_BY_CLASS, v->by_class, count);
    if (!v->of_class)
        v->of_class = mem_try(TOLD, sizeof *v->of_class);
    for (size_t n = 0; n < count && v->of_class; n++) {
        struct cost_group g = v->by_class[n];
        if (g.value >= w->problem->classes.count) /* what computes */
            continue;
        v->makers++;
        if (v->told == TOLD)
            continue;
        v->of_class[v->told] = cost_split_traffic(&v->split, g.value);
        v->of_class[v->told].inside_ms *= g.times; /* alike */
        v->of_class[v->told].across_ms *= g.times;
        v->by_class[v->told++] = g;
    }
}

static void make_devices(struct panel *p)
{
    struct devices *v = p->state;
    struct err e;

    if (!v->stale)
        return;
    v->stale = false;
    if (cost_split_read(&v->split, p->scene->watch, &e))
        host_say_err(p->scene, &e);
    v->traffic = cost_split_traffic(&v->split, CLASS_NONE);
    tell_classes(v, p->scene->watch);
    if (v->cursor >= (int)p->scene->problem->cluster.devices)
        v->cursor = 0;
}

static int open_devices(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    read_devices(p);
    return 0;
}

static void close_devices(struct panel *p)
{
    struct devices *v = p->state;
    cost_split_release(&v->split);
    free(v->by_class);
    free(v->of_class);
}

/* ---- lines ---- */

enum { INDENT = 5 };

/* Columns of one device: number, bar, figure. */
static int cell_width(const struct pane *p)
{
    return p->width >= 100 ? 22 : p->width >= 50 ? 18 : 14;
}

static int per_row(const struct pane *p)
{
    int count = (p->width - INDENT) / cell_width(p);
    return count < 1 ? 1 : count > 4 ? (count < 8 ? 4 : 8) : count;
}

static int lines_of(const struct cluster_group *g, int per)
{
    return 1 + ((int)g->devices + per - 1) / per;
}

/* A link, what goes over it in a step, how long that takes; the longest form that fits. */
static void draw_link(const struct pane *p, int x, int y, const char *name, double rate,
                      double bytes, double ms, double step_ms, bool network)
{
    char speed[UNITS_ROOM], sent[UNITS_ROOM], time[UNITS_ROOM], forms[4][256];
    const char *each = network ? "server" : "device";

    units_rate(speed, network ? rate * 8 : rate, network ? "bit/s" : "B/s");
    units_bytes(sent, bytes);
    units_ms(time, ms);
    if (bytes > 0) {
        snprintf(forms[0], sizeof forms[0], "%s %s   %s a %s each way   %s of a step", name, speed,
                 sent, each, time);
        snprintf(forms[1], sizeof forms[1], "%s %s   %s   %s", name, speed, sent, time);
        snprintf(forms[2], sizeof forms[2], "%s %s %s", name, sent, time);
        snprintf(forms[3], sizeof forms[3], "%s", time);
    } else {
        snprintf(forms[0], sizeof forms[0], "%s %s   quiet", name, speed);
        snprintf(forms[1], sizeof forms[1], "%s quiet", name);
        snprintf(forms[2], sizeof forms[2], "quiet");
        forms[3][0] = 0;
    }
    for (int n = 0; n < 4; n++) {
        if (x + utf8_text_columns(forms[n]) > p->width)
            continue;
        x = pane_text(p, x, y, ROLE_TEXT, forms[n]);
        break;
    }
    if (bytes > 0 && step_ms > 0 && x + 18 < p->width) {
        char percent[UNITS_ROOM];
        double share = ms / step_ms;
        int bar = p->width - x - 12 < 20 ? p->width - x - 12 : 20;
        pane_bar(p, x + 3, y, bar, share,
                 share < 1. / 3   ? ROLE_HEAT_0
                 : share < 2. / 3 ? ROLE_HEAT_1
                                  : ROLE_HEAT_2);
        pane_right(p, x + 3 + bar + 8, y, ROLE_DIM, units_percent(percent, share));
    }
}

/* Of figures of memory: GB, or MB where all of a device takes less than one. */
static double memory_unit(const struct watch *w)
{
    return w->memory.peak < 1e9 ? 1e6 : 1e9;
}

/* "GB of 16", "MB of 16 GB" */
static const char *memory_words(const struct watch *w, double limit, char *out, size_t room)
{
    bool small = memory_unit(w) < 1e9;
    snprintf(out, room, small ? "MB of %.4g GB" : "GB of %.4g", limit / 1e9);
    return out;
}

static void draw_device(const struct panel *p, const struct pane *pane, int x, int y, int device,
                        const struct cluster_device *type)
{
    const struct devices *v = p->state;
    double peak = p->scene->watch->memory.peak, share = peak / type->memory_bytes;
    int width = cell_width(pane) - 2, bar = width - 10;
    unsigned style = share > 1 ? ROLE_ERR : share > 0.8 ? ROLE_WARN : ROLE_PLOT_0;

    struct pane cell = pane_part(pane, x, y, width, 1);
    pane_right_format(&cell, 3, 0, ROLE_DIM, "%d", device);
    pane_repeat(&cell, 4, 0, bar, (struct cell){U'░', ROLE_BORDER});
    pane_bar(&cell, 4, 0, bar, share, style);
    pane_right_number(&cell, width, 0, share > 1 ? ROLE_ERR : ROLE_TEXT,
                      peak / memory_unit(p->scene->watch), 1);
    if (device != v->cursor)
        return;
    pane_select(&cell, 0, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
    if (p->focus) {
        pane->grid->cursor_x = cell.x;
        pane->grid->cursor_y = cell.y;
    }
}

/* What a walk over all servers hands to the line drawn. */
struct walk {
    int line, server, device, cursor_line;
};

static void draw_server(struct panel *p, const struct pane *pane, const struct cluster_group *g,
                        struct walk *k, bool last)
{
    const struct devices *v = p->state;
    const struct cluster *c = &p->scene->problem->cluster;
    const struct cluster_device *type = &c->type[g->type];
    int per = per_row(pane), y = k->line - v->top;
    bool lonely = c->servers == 1;

    if (!lonely)
        pane_text(pane, 0, y, ROLE_BORDER, last ? "└──" : "├──");
    int x = lonely ? 0 : 4;
    x = pane_format(pane, x, y, ROLE_TITLE | BOLD, "server %d", k->server);
    if (pane->width >= 60)
        x = pane_format(pane, x + 2, y, ROLE_DIM, "%u × %s", g->devices, type->name);
    if (g->link.bandwidth > 0)
        draw_link(pane, x + 3, y, g->link.name, g->link.bandwidth, v->traffic.inside_bytes,
                  v->traffic.inside_ms,
                  p->scene->watch->best ? p->scene->watch->best->cost.step_ms : 0, false);
    for (int i = 0; i < (int)g->devices; i++) {
        int row = k->line + 1 + i / per - v->top;
        if (i % per == 0 && !lonely && !last)
            pane_text(pane, 0, row, ROLE_BORDER, "│");
        if (k->device + i == v->cursor)
            k->cursor_line = row + v->top;
        if (row >= 0 && row < pane->height)
            draw_device(p, pane, INDENT + (i % per) * cell_width(pane), row, k->device + i, type);
    }
}

static void walk_servers(struct panel *p, const struct pane *pane, struct walk *k)
{
    struct devices *v = p->state;
    const struct cluster *c = &p->scene->problem->cluster;
    const struct pane nothing = pane_part(pane, 0, 0, 0, 0);

    *k = (struct walk){.line = 0};
    if (c->servers > 1) {
        if (v->top == 0)
            draw_link(pane, 0, 0, "network", c->network, v->traffic.across_bytes,
                      v->traffic.across_ms,
                      p->scene->watch->best ? p->scene->watch->best->cost.step_ms : 0, true);
        k->line = 1;
    }
    for (uint32_t g = 0; g < c->groups; g++) {
        for (uint32_t s = 0; s < c->group[g].count; s++) {
            int lines = lines_of(&c->group[g], per_row(pane));
            bool seen = k->line + lines > v->top && k->line < v->top + pane->height;
            if (seen ||
                (v->cursor >= k->device && v->cursor < k->device + (int)c->group[g].devices))
                draw_server(p, seen ? pane : &nothing, &c->group[g], k,
                            k->server == (int)c->servers - 1);
            if (!seen && v->cursor >= k->device && v->cursor < k->device + (int)c->group[g].devices)
                k->cursor_line = k->line + 1 + (v->cursor - k->device) / per_row(pane);
            k->line += lines;
            k->server++;
            k->device += (int)c->group[g].devices;
        }
    }
}

/* ---- below the servers, where there is room: what fills a device, what fills the links ---- */

static void draw_filling(const struct panel *p, const struct pane *pane)
{
    const struct watch *w = p->scene->watch;
    const struct memory_cost *m = &w->memory;
    double limit = watch_memory_limit(w), most = m->peak > limit ? m->peak : limit;
    char share[UNITS_ROOM], note[64], words[32];
    double unit = memory_unit(w);
    int y = 1;

    snprintf(note, sizeof note, "at the peak · %s", memory_words(w, limit, words, sizeof words));
    pane_head(pane, 0, &(struct head){0, "Memory of a device", note, false});
    for (int k = 0; k < MEMORY_KIND_COUNT; k++) {
        pane_text(pane, 0, y, ROLE_DIM, memory_kind_names[k]);
        pane_right_number(pane, 24, y, ROLE_TEXT, m->bytes[k] / unit, 2);
        pane_right(pane, 34, y, ROLE_DIM, units_percent(share, m->bytes[k] / limit));
        pane_bar(pane, 36, y++, pane->width - 37, m->bytes[k] / most, ROLE_PLOT_0);
    }
    bool over = m->peak > limit;
    pane_text(pane, 0, y, ROLE_TEXT, "all");
    pane_right_number(pane, 24, y, over ? ROLE_ERR : ROLE_TEXT, m->peak / unit, 2);
    pane_right(pane, 34, y, ROLE_DIM, units_percent(share, m->peak / limit));
    pane_format(pane, 36, y, over ? ROLE_ERR : ROLE_OK, over ? "over %.4g" : "fits in %.4g",
                limit / 1e9);
}

static void draw_makers(const struct panel *p, const struct pane *pane)
{
    const struct devices *v = p->state;
    const struct watch *w = p->scene->watch;
    const int across = pane->width, inside = across - 12, megabytes = inside - 12,
              count = megabytes - 9, name = count - 7;
    bool cards = w->problem->cluster.servers > 1;
    char text[NAME_ROOM], cut[NAME_ROOM];
    int rows = pane->height - 2;

    pane_head(pane, 0, &(struct head){0, "All-reduces", "by group · a step", false});
    pane_text(pane, 0, 1, ROLE_DIM, "group");
    pane_right(pane, count, 1, ROLE_DIM, "count");
    pane_right(pane, megabytes, 1, ROLE_DIM, "MB");
    pane_right(pane, inside, 1, ROLE_DIM, "inside ms");
    if (cards)
        pane_right(pane, across, 1, ROLE_DIM, "network ms");
    int shown = (int)v->told <= rows && v->told == v->makers ? (int)v->told
                : (int)v->told < rows                        ? (int)v->told
                                                             : rows - 1;
    for (int n = 0; n < shown; n++) {
        const struct cost_group *g = &v->by_class[n];
        cost_row_name(w, COST_BY_CLASS, g, text, sizeof text);
        pane_text(pane, 0, n + 2, ROLE_TEXT, watch_short_name(cut, sizeof cut, text, name));
        pane_right_number(pane, count, n + 2, ROLE_TEXT, g->reduces, 0);
        pane_right_number(pane, megabytes, n + 2, ROLE_TEXT, g->bytes / 1e6, 0);
        pane_right_ms(pane, inside, n + 2, ROLE_TEXT, v->of_class[n].inside_ms);
        if (cards)
            pane_right_ms(pane, across, n + 2, ROLE_TEXT, v->of_class[n].across_ms);
    }
    if (!v->makers)
        pane_text(pane, 0, 2, ROLE_DIM, "none: nothing is split");
    else if ((size_t)shown < v->makers && rows > 0)
        pane_format(pane, 0, shown + 2, ROLE_DIM, "%zu more", v->makers - (size_t)shown);
}

enum { FILLING = 56, FILLING_ROWS = MEMORY_KIND_COUNT + 2 };

static void draw_below(const struct panel *p, const struct pane *pane, int y)
{
    int makers = y + FILLING_ROWS + 1; /* one above the other where the columns are few */

    if (pane->height - y < FILLING_ROWS || pane->width < FILLING)
        return;
    if (pane->width < 2 * FILLING) {
        struct pane above = pane_part(pane, 0, y, pane->width, FILLING_ROWS),
                    below = pane_part(pane, 0, makers, pane->width, pane->height - makers);
        draw_filling(p, &above);
        if (below.height >= 4)
            draw_makers(p, &below);
        return;
    }
    struct pane left = pane_part(pane, 0, y, FILLING, pane->height - y),
                right = pane_part(pane, FILLING + 4, y,
                                  pane->width - FILLING - 4 < 84 ? pane->width - FILLING - 4 : 84,
                                  pane->height - y);
    draw_filling(p, &left);
    draw_makers(p, &right);
}

/* "28.3 ms on 8 of 16: servers 0, mesh 8; f takes them", where fewer devices are faster. */
static void draw_fewer(const struct watch *w, const struct pane *pane, int y)
{
    const struct fewer *f = fewer_found(w);
    char ms[UNITS_ROOM];

    if (!f || y < 0 || y >= pane->height)
        return;
    int x = pane_format(pane, 0, y, ROLE_WARN | BOLD, "%s", units_ms(ms, f->step_ms));
    x = pane_format(pane, x + 1, y, ROLE_WARN, "on %u of %u: servers %s, mesh %s", f->devices,
                    f->of, f->servers, f->mesh);
    x = pane_text(pane, x + 2, y, ROLE_KEY, "f");
    pane_text(pane, x + 1, y, ROLE_DIM, f->devices == 1 ? "takes it" : "takes them");
}

static void draw_devices(struct panel *p, const struct pane *pane)
{
    struct devices *v = p->state;
    struct walk k;

    if (!p->scene->watch || pane->width < 20)
        return;
    make_devices(p);
    v->per_row = per_row(pane);
    walk_servers(p, pane, &k);
    int top = v->top;
    if (k.cursor_line < top + 1)
        top = k.cursor_line - 2 > 0 ? k.cursor_line - 2 : 0;
    if (k.cursor_line >= top + pane->height)
        top = k.cursor_line - pane->height + 1;
    if (top > k.line - pane->height)
        top = k.line > pane->height ? k.line - pane->height : 0;
    if (top != v->top) {
        v->top = top;
        pane_clear(pane);
        walk_servers(p, pane, &k);
    }
    draw_fewer(p->scene->watch, pane, k.line - v->top);
    draw_below(p, pane, k.line - v->top + 1 + (fewer_found(p->scene->watch) != NULL));
}

static void head_devices(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct watch *w = p->scene->watch;
    char limit[UNITS_ROOM];

    if (!w)
        return;
    const struct cluster *c = &w->problem->cluster;
    memory_words(w, w->problem->step_tables.device.memory_bytes, limit, sizeof limit);
    if (p->width >= 60)
        snprintf(note, room, "%u in %u %s · %s · %s", c->devices, c->servers,
                 c->servers == 1 ? "server" : "servers", watch_plan_word(w), limit);
    else
        snprintf(note, room, "%s", limit);
    h->note = note;
}

/* ---- acts ---- */

static bool step_by(struct panel *p, int steps)
{
    struct devices *v = p->state;
    int to = v->cursor + steps,
        count = p->scene->problem ? (int)p->scene->problem->cluster.devices : 0;

    if (to < 0 || to >= count)
        return false;
    v->cursor = to;
    return true;
}

/* An act like any edit of the cluster: u takes it back. */
static bool take_fewer(struct panel *p)
{
    struct watch *w = p->scene->watch;
    const struct fewer *f = w ? fewer_found(w) : NULL;
    char command[128];

    if (!f) {
        host_say(p->scene, w && fewer_is_asked(w) ? "still looking for fewer devices"
                                                  : "no fewer devices are known to be faster");
        return true;
    }
    fewer_command(f, command, sizeof command);
    watch_send(w, "%s", command);
    return true;
}

static bool act_devices(struct panel *p, int action)
{
    if (action == DEVICES_FEWER)
        return take_fewer(p);
    return step_by(p, action == DEVICES_LEFT ? -1 : 1);
}

static bool move_devices(struct panel *p, enum list_move move)
{
    struct devices *v = p->state;
    int count = p->scene->problem ? (int)p->scene->problem->cluster.devices : 0,
        page = v->per_row * (p->height > 2 ? p->height / 2 : 1);

    switch (move) {
    case LIST_UP:
    case LIST_DOWN:
        return step_by(p, move == LIST_UP ? -v->per_row : v->per_row);
    case LIST_FIRST:
    case LIST_LAST:
        v->cursor = move == LIST_FIRST || !count ? 0 : count - 1;
        return true;
    default:
        return step_by(p, move == LIST_PAGE_UP || move == LIST_HALF_UP ? -page : page);
    }
}

/* Its place in the mesh: the last axis varies fastest. */
static void message_devices(const struct panel *p, char *out, size_t room)
{
    const struct devices *v = p->state;
    const struct watch *w = p->scene->watch;
    char place[96] = "", state[UNITS_ROOM], rest[UNITS_ROOM];
    size_t size = 0;
    uint32_t left = (uint32_t)v->cursor, at[MESH_AXES_MOST] = {0};

    if (!w || left >= w->problem->cluster.devices)
        return;
    const struct cluster_mesh *m = &w->problem->mesh;
    for (uint32_t x = m->axes; x-- > 0; left /= m->axis[x].size)
        at[x] = left % m->axis[x].size;
    for (uint32_t x = 0; x < m->axes && size + 24 < sizeof place; x++)
        size +=
            (size_t)snprintf(place + size, sizeof place - size, " %s = %u", m->axis[x].name, at[x]);
    const struct cluster_device *type = cluster_type_of(&w->problem->cluster, (uint32_t)v->cursor);
    double kept = w->memory.bytes[MEMORY_PARAMETERS] + w->memory.bytes[MEMORY_OPTIMIZER];
    snprintf(out, room,
             "device %d, %s in server %u, mesh%s: %s parameters and moments, %s more at the peak",
             v->cursor, type->name, cluster_server_of(&w->problem->cluster, (uint32_t)v->cursor),
             place, units_bytes(state, kept), units_bytes(rest, w->memory.peak - kept));
}

const struct panel_ops view_devices = {
    .name = "devices",
    .title = "Devices",
    .place = PLACE_LAYOUT,
    .id = PANEL_DEVICES,
    .keys = &devices_keys,
    .hints = "run decide down=choose fewer +plans=views zoom command help",
    .size = sizeof(struct devices),
    .open = open_devices,
    .close = close_devices,
    .read = read_devices,
    .draw = draw_devices,
    .head = head_devices,
    .act = act_devices,
    .move = move_devices,
    .message = message_devices,
};
