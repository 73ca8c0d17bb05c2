#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/text/units.h"
#include "tui/files/examples.h"
#include "tui/files/recent.h"
#include "tui/files/sessions.h"
#include "tui/files/user_files.h"
#include "tui/screen/theme.h"
#include "tui/views/actions.h"
#include "tui/views/host.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

struct start {
    struct example_model models[EXAMPLES_MOST];
    struct example_cluster clusters[EXAMPLES_MOST];
    struct recent recents[RECENT_MOST];
    bool resumes[RECENT_MOST]; /* its search was left, and can go on */
    int model_count, cluster_count, recent_count;
    char letters[EXAMPLES_MOST]; /* opens the row at once */
    struct list models_seen;     /* cursor and window of the examples */
    int recents_shown;
    int recent; /* the chosen recent row; -1: the cursor is on an example */
    int cluster, first_cluster;
};

enum { START_NEXT_CLUSTER, START_LAST_CLUSTER, START_OPEN, START_ANEW, START_FILE, START_QUIT };
static const struct action start_actions[] = {
    [START_NEXT_CLUSTER] = {"cluster", "start", "next cluster, last", "cluster",
                            "Tab or l or Right", "Tab or Right"},
    [START_LAST_CLUSTER] = {"cluster-last", "start", NULL, NULL, "S-Tab or h or Left",
                            "S-Tab or Left"},
    [START_OPEN] = {"open", "start", "open the chosen one", "open", "Enter", NULL},
    [START_ANEW] = {"anew", "start", "open the chosen one anew, not where it was left", "anew", "A",
                    NULL},
    [START_FILE] = {"file", "start", "open a file", "open", "o", NULL},
    [START_QUIT] = {"quit", "start", "quit", "quit", "q", NULL},
};
static const struct key_table start_keys = {"start", start_actions, 6};

/* Letters for the examples: those that no key of this screen means. */
static void give_letters(struct start *s, const struct keymap *m)
{
    int given = 0;
    for (uint32_t c = 'a'; c <= 'z' && given < s->model_count; c++) {
        const struct key_table *t;
        int action;
        enum key_match match = keymap_find(m, &start_keys, &c, 1, &t, &action);
        bool steers =
            match == KEY_ACTION && t == &common_keys && action <= ACT_REDO; /* no search yet */
        if (match == KEY_NONE || steers)
            s->letters[given++] = (char)c;
    }
}

static void look_at_sessions(struct start *s)
{
    for (int i = 0; i < s->recent_count; i++) {
        struct recent *r = &s->recents[i];
        uint64_t steps;
        double best_ms;
        s->resumes[i] = r->session[0] && session_glance(r->session, &steps, &best_ms);
        if (s->resumes[i] && r->best_ms <= 0) /* it ended without telling */
            r->best_ms = best_ms;
    }
}

static int open_start(struct panel *p, const void *arg, struct err *e)
{
    struct start *s = p->state;
    const struct scene *scene = p->scene;

    (void)arg;
    s->recent = -1;
    if (scene->data_dir) {
        if (examples_models(s->models, &s->model_count, scene->data_dir, e))
            return e->code;
        s->cluster_count = examples_clusters(s->clusters, scene->data_dir);
    }
    s->recent_count = recent_load(s->recents, scene->state_dir);
    look_at_sessions(s);
    give_letters(s, p->scene->keymap);
    return 0;
}

/* What Enter would open. */
static const char *chosen_model(const struct start *s)
{
    if (s->recent >= 0)
        return s->recents[s->recent].path;
    return s->model_count ? s->models[s->models_seen.cursor].name : NULL;
}

static const char *chosen_cluster(const struct start *s)
{
    if (s->recent >= 0)
        return s->recents[s->recent].cluster;
    return s->cluster_count ? s->clusters[s->cluster].name : NULL;
}

static bool is_resumed(const struct start *s)
{
    return s->recent >= 0 && s->resumes[s->recent];
}

/* A search that was left goes on where it was, unless it is wanted anew. */
static void open_chosen(struct panel *p, bool anew)
{
    const struct scene *scene = p->scene;
    struct start *s = p->state;
    struct err e = {0};
    int rc;

    if (!chosen_model(s)) {
        host_say(scene, "no examples here; o opens a file");
        return;
    }
    if (is_resumed(s) && !anew)
        rc = host_resume(scene, s->recents[s->recent].session, NULL, &e);
    else
        rc = host_load(scene, chosen_model(s), chosen_cluster(s), &e);
    if (rc)
        host_say_err(scene, &e);
    else if (scene->watch && scene->watch->shot->state != LIVE_RUNNING)
        host_act(scene, &common_keys, ACT_RUN);
}

enum { CLUSTER_WIDTH = 19, PAGE_WIDTH = 116 }; /* wider, the eye loses the row */

static int cards_in(int width)
{
    return width / CLUSTER_WIDTH > 1 ? width / CLUSTER_WIDTH : 1;
}

/* Rows of each part for a height: examples keep theirs longest. */
struct parts {
    int top, models, recents, clusters; /* rows; 0: not there */
    int cluster_rows;                   /* of cards */
    bool sentence;
};

static struct parts divide(const struct start *s, int width, int height)
{
    struct parts d = {.top = height >= 18 ? 3 : height >= 12 ? 2 : 0, .sentence = height >= 8};
    int rest = height - d.top - 1 - (d.sentence ? height >= 18 ? 2 : 1 : 0);

    d.clusters = !s->cluster_count ? 0 : height >= 20 ? 3 : height >= 14 ? 1 : 0;
    rest -= d.clusters ? d.clusters + 2 : 0;
    d.recents = height < 16 || !s->recent_count ? 0 : height >= 20 ? 2 : 1;
    if (height >= 32)
        d.recents = 5;
    if (d.recents > s->recent_count)
        d.recents = s->recent_count;
    rest -= d.recents ? d.recents + 2 : 0;
    if (height >= 16)
        rest -= d.recents ? 1 : 2; /* the line that opens a file */
    d.models = rest < s->model_count ? rest : s->model_count;
    if (d.models < 1)
        d.models = 1;
    rest -= d.models;
    d.cluster_rows = 1;
    while (d.clusters && d.cluster_rows * cards_in(width) < s->cluster_count &&
           rest >= d.clusters + 1) {
        d.cluster_rows++;
        rest -= d.clusters + 1;
    }
    return d;
}

static void select_row(const struct pane *pane, int y)
{
    struct pane row = pane_part(pane, 0, y, pane->width, 1);
    pane_select(&row, 0, ROLE_SELECT);
    pane->grid->cursor_x = pane->x;
    pane->grid->cursor_y = pane->y + y;
}

static void draw_model(const struct start *s, const struct pane *pane, int y, int i)
{
    const struct example_model *m = &s->models[i];
    bool chosen = s->recent < 0 && s->models_seen.cursor == i;
    char count[UNITS_ROOM];
    int end = pane->width;

    if (s->letters[i])
        pane_format(pane, 0, y, ROLE_KEY, "%c", s->letters[i]);
    pane_cut(pane, 3, y, 12, chosen ? ROLE_TITLE | BOLD : ROLE_TEXT, m->name);
    if (pane->width >= 50) {
        pane_right(pane, end, y, ROLE_TEXT, units_count(count, m->dims));
        pane_right(pane, end - 9, y, ROLE_TEXT, units_count(count, m->variables));
        end = pane_right(pane, end - 18, y, ROLE_TEXT, units_count(count, m->instructions));
    }
    if (pane->width >= 70)
        pane_cut(pane, 17, y, end - 19, ROLE_DIM, m->about);
    if (chosen)
        select_row(pane, y);
}

static int draw_models(struct start *s, const struct pane *pane, int y, int rows)
{
    const char *note = pane->width >= 50 ? "instructions · variables · dims" : "";
    pane_head(pane, y++, &(struct head){0, "Examples", note, true});
    if (!s->model_count)
        pane_text(pane, 0, y, ROLE_DIM, "none found; $AUTOMAP_DATA_DIR says where they are");
    int shown = s->model_count > rows && rows > 2 ? rows - 1 : rows;
    list_fit(&s->models_seen, s->model_count, shown);
    for (int i = 0; i < shown && s->models_seen.top + i < s->model_count; i++)
        draw_model(s, pane, y + i, (int)s->models_seen.top + i);
    if (shown < rows)
        pane_format(pane, 3, y + shown, ROLE_DIM, "%d more", s->model_count - shown);
    return y + rows;
}

static void draw_recent(const struct start *s, const struct pane *pane, int y, int i, int64_t today)
{
    const struct recent *r = &s->recents[i];
    char name[sizeof r->path], day[16], ms[UNITS_ROOM], gap[UNITS_ROOM];
    int end = pane->width;

    file_stem(name, sizeof name, r->path);
    if (r->gap >= 0)
        pane_right(pane, end, y, ROLE_TEXT, units_percent(gap, r->gap));
    if (r->best_ms > 0)
        pane_right(pane, end - 9, y, ROLE_TEXT, units_ms(ms, r->best_ms));
    pane_format(pane, 0, y, ROLE_KEY, "%d", i + 1);
    /* From 88 columns on there is room for day and word, and more for the names. */
    int more = pane->width > 88 ? pane->width - 88 : 0, cluster = 29 + more * 2 / 3;
    pane_cut(pane, 3, y, pane->width >= 70 ? cluster - 5 : pane->width - 14,
             s->recent == i ? ROLE_TITLE | BOLD : ROLE_TEXT, name);
    if (pane->width >= 70) {
        file_stem(name, sizeof name, r->cluster);
        pane_cut(pane, cluster, y, 11 + more / 3, ROLE_DIM, name);
        bool wide = pane->width >= 88;
        recent_day(day, r->time, today);
        pane_text(pane, 41 + more, y, ROLE_DIM, s->resumes[i] && !wide ? "paused" : day);
        if (s->resumes[i] && wide)
            pane_text(pane, 54 + more, y, ROLE_DIM, "paused");
    }
    if (s->recent == i)
        select_row(pane, y);
}

static int draw_recents(const struct panel *p, const struct pane *pane, int y, int rows)
{
    const struct start *s = p->state;

    if (rows)
        pane_head(pane, y++,
                  &(struct head){0, "Go on with", pane->width >= 50 ? "best · gap" : "", false});
    for (int i = 0; i < rows; i++)
        draw_recent(s, pane, y++, i, p->scene->today);
    const char *key = keymap_keys(p->scene->keymap, &start_keys, START_FILE, 0);
    pane_text(pane, 0, y, ROLE_KEY, key ? key : ":open");
    pane_text(pane, 3, y, ROLE_DIM, "open a file: HLO text, JSON or .pb, also gzipped");
    return y + 1;
}

static void draw_cluster(const struct start *s, const struct pane *pane, int i, int rows)
{
    const struct example_cluster *c = &s->clusters[i];
    bool chosen = s->cluster == i && s->recent < 0;
    char times[64];

    pane_cut(pane, 2, 0, CLUSTER_WIDTH - 3, chosen ? ROLE_TITLE | BOLD : ROLE_TEXT, c->name);
    if (chosen)
        pane_text(pane, 0, 0, ROLE_TEXT, "▸");
    if (rows > 1)
        pane_text(pane, 2, 1, ROLE_DIM, text_times(times, sizeof times, c->label));
    if (rows > 2)
        pane_cut(pane, 2, 2, CLUSTER_WIDTH - 3, ROLE_DIM, c->link);
    for (int y = 0; chosen && y < rows; y++) {
        struct pane row = pane_part(pane, 0, y, CLUSTER_WIDTH - 3, 1);
        pane_select(&row, 0, ROLE_SELECT);
    }
}

static int draw_clusters(struct start *s, const struct pane *pane, int y, int rows, int card_rows)
{
    int across = cards_in(pane->width), fit = across * card_rows;
    char note[48];

    if (s->cluster < s->first_cluster)
        s->first_cluster = s->cluster;
    if (s->cluster >= s->first_cluster + fit)
        s->first_cluster = s->cluster - fit + 1;
    snprintf(note, sizeof note, "%s%d of %d · Tab changes%s", s->first_cluster ? "‹ " : "",
             s->cluster + 1, s->cluster_count,
             s->first_cluster + fit < s->cluster_count ? " ›" : "");
    pane_head(pane, y++, &(struct head){0, "Cluster", note, false});
    for (int i = 0; i < fit && s->first_cluster + i < s->cluster_count; i++) {
        struct pane part = pane_part(pane, i % across * CLUSTER_WIDTH, y + i / across * (rows + 1),
                                     CLUSTER_WIDTH, rows);
        draw_cluster(s, &part, s->first_cluster + i, rows);
    }
    return y + card_rows * (rows + 1) - 1;
}

static void draw_sentence(const struct start *s, const struct pane *pane, int y)
{
    char name[sizeof s->recents[0].path], cut[256];
    const char *model = chosen_model(s), *cluster = chosen_cluster(s);
    const char *then = is_resumed(s) ? " where you left it" : " and starts the search";

    if (!model)
        return;
    file_stem(name, sizeof name, model);
    int x = pane_text(pane, 0, y, ROLE_KEY, "Enter");
    x = pane_text(pane, x, y, ROLE_TEXT, is_resumed(s) ? " goes on with " : " opens ");
    x = pane_text(pane, x, y, ROLE_TEXT, text_cut_middle(cut, sizeof cut, name, pane->width / 2));
    if (cluster && *cluster) {
        file_stem(name, sizeof name, cluster);
        x = pane_text(pane, pane_text(pane, x, y, ROLE_TEXT, " on "), y, ROLE_TEXT, name);
    }
    if (x + (int)strlen(then) <= pane->width)
        pane_text(pane, x, y, ROLE_TEXT, then);
}

static void draw_start(struct panel *p, const struct pane *whole)
{
    struct start *s = p->state;
    const struct pane page = pane_part(whole, 0, 0,
                                       whole->width < PAGE_WIDTH ? whole->width : PAGE_WIDTH,
                                       whole->height),
                      *pane = &page;
    struct parts d = divide(s, pane->width, pane->height);
    int y = d.top > 2 ? 1 : 0, blank = pane->height >= 16;

    if (d.top) {
        int x = pane_text(pane, 0, y, ROLE_TITLE | BOLD, "automap");
        if (pane->width >= 60)
            pane_text(pane, x + 2, y, ROLE_DIM,
                      "how to distribute one training step over a cluster");
    }
    y = draw_models(s, pane, d.top, d.models) + blank;
    s->recents_shown = d.recents;
    if (blank)
        y = draw_recents(p, pane, y, d.recents) + 1;
    if (d.clusters)
        y = draw_clusters(s, pane, y, d.clusters, d.cluster_rows) + blank;
    if (d.sentence)
        draw_sentence(s, pane, y);
}

static bool act_start(struct panel *p, int action)
{
    struct start *s = p->state;

    switch (action) {
    case START_NEXT_CLUSTER:
    case START_LAST_CLUSTER:
        s->recent = -1;
        if (s->cluster_count)
            s->cluster = (s->cluster + (action == START_NEXT_CLUSTER ? 1 : s->cluster_count - 1)) %
                         s->cluster_count;
        return true;
    case START_OPEN:
    case START_ANEW:
        open_chosen(p, action == START_ANEW);
        return true;
    case START_FILE:
        host_ask(p->scene, "open ");
        return true;
    default:
        (void)host_command(p->scene, "quit");
        return true;
    }
}

/* The examples and, below them, the recent rows are one list. */
static bool move_start(struct panel *p, enum list_move move)
{
    struct start *s = p->state;

    if (s->recent >= 0 && move == LIST_DOWN) {
        s->recent += s->recent + 1 < s->recents_shown;
    } else if (s->recent >= 0) {
        s->recent = move == LIST_UP ? s->recent - 1 : -1;
        if (move == LIST_FIRST)
            list_move(&s->models_seen, move);
    } else if (!list_move(&s->models_seen, move) && move == LIST_DOWN && s->recents_shown) {
        s->recent = 0;
    }
    return true;
}

static bool key_start(struct panel *p, uint32_t key)
{
    struct start *s = p->state;

    if (key >= '1' && key <= '9' && (int)(key - '1') < s->recent_count) {
        s->recent = (int)(key - '1');
        open_chosen(p, false);
        return true;
    }
    for (int i = 0; i < s->model_count; i++) {
        if (s->letters[i] && (uint32_t)s->letters[i] == key) {
            s->recent = -1;
            list_go(&s->models_seen, i);
            open_chosen(p, false);
            return true;
        }
    }
    return false;
}

const struct panel_ops view_start = {
    .name = "start",
    .title = "start",
    .place = PLACE_START,
    .keys = &start_keys,
    .hints = "down=choose cluster open file=file help tour find=commands quit",
    .size = sizeof(struct start),
    .open = open_start,
    .draw = draw_start,
    .key = key_start,
    .act = act_start,
    .move = move_start,
};
