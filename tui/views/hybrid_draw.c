#include "tui/views/hybrid_draw.h"

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/schedule_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

/* "e18" of "enc 18". */
static void shorten(char *text)
{
    char *blank = strchr(text, ' ');

    if (blank && blank > text)
        memmove(text + 1, blank + 1, strlen(blank));
}

static const char REST[] = "rest";

/* A layer with a name of its own, as an embedding has. */
static bool is_unnumbered(const char *text)
{
    return !text[strcspn(text, "0123456789")];
}

/* "enc 0–8", "enc 18–dec 5" of a stage, "e18–d5" where there is less room. */
static void layers_text(const struct hybrid_picture_stage *s, int columns, char *out, size_t room)
{
    char first[48], last[48];

    schedule_layer_text(s->first_layer, REST, first, sizeof first);
    schedule_layer_text(s->last_layer, REST, last, sizeof last);
    size_t same = strcspn(first, " ");
    if (!strcmp(first, last))
        snprintf(out, room, "%s", first);
    else if (first[same] && !strncmp(first, last, same + 1))
        snprintf(out, room, "%s–%s", first, last + same + 1);
    else
        snprintf(out, room, "%s–%s", first, last);
    if (utf8_text_columns(out) <= columns || strncmp(first, last, same + 1) == 0)
        return;
    shorten(first);
    shorten(last);
    if (is_unnumbered(first) && !is_unnumbered(last))
        snprintf(first, sizeof first, "%s", REST);
    else if (is_unnumbered(last) && !is_unnumbered(first))
        snprintf(last, sizeof last, "%s", REST);
    snprintf(out, room, "%s–%s", first, last);
}

int hybrid_ms_decimals(const struct hybrid_picture *h)
{
    return units_ms_decimals(h->step_ms);
}

int hybrid_gb_decimals(const struct hybrid_picture *h)
{
    double most = 0;

    for (uint32_t n = 0; n < h->stages; n++)
        most = h->stage[n].memory_bytes > most ? h->stage[n].memory_bytes : most;
    return units_ms_decimals(most / 1e9); /* the same rule for any unit */
}

void hybrid_mesh_text(uint32_t dp, uint32_t tp, bool recompute, int columns, char *out, size_t room)
{
    snprintf(out, room, "%u × %u%s", dp, tp, recompute ? " recomputed" : "");
    if (recompute && utf8_text_columns(out) > columns)
        snprintf(out, room, "%u × %u re", dp, tp);
}

void hybrid_pin_text(const struct hybrid_held *h, char *out, size_t room)
{
    size_t end = strcspn(h->text, "=@");

    if (h->kind == HYBRID_WISH_CUT)
        snprintf(out, room, "cut before %s", h->text);
    else if (h->kind == HYBRID_WISH_KEEP)
        snprintf(out, room, "no cut in %s", h->text);
    else if (strchr(h->text, ':'))
        snprintf(out, room, "stage of %.*s: %s", (int)strcspn(h->text, ":"), h->text,
                 strchr(h->text, ':') + 1);
    else if (h->text[end] == '@')
        snprintf(out, room, "stage of %.*s on server %s", (int)end, h->text, h->text + end + 1);
    else
        snprintf(out, room, "stage of %.*s on %s devices", (int)end, h->text,
                 h->text[end] ? h->text + end + 1 : "");
}

/* ---- the sentence ---- */

static int add_words(const struct pane *p, int x, unsigned style, const char *text)
{
    if (x + utf8_text_columns(text) > p->width)
        return x;
    return pane_text(p, x, 0, style, text);
}

static int add_bound(const struct hybrid_picture *h, const struct pane *p, int x)
{
    char ms[UNITS_ROOM], text[160], zero[HYBRID_ZERO_ROOM];
    double over = (h->step_ms / h->bound_ms - 1) * 100;

    if (!(h->bound_ms > 0 && h->is_certified))
        return x;
    snprintf(text, sizeof text, "   %.1f %% %s bound %s%s", fabs(over),
             over >= 0 ? "over" : "below", units_ms(ms, h->bound_ms),
             h->is_said ? ", as the file says" : "");
    x = add_words(p, x, over < 0.05 ? ROLE_OK : ROLE_TEXT, text);
    snprintf(text, sizeof text, " of strict plans%s cut between %u sections, %s",
             h->chunks > 1 ? ", interleaved or not," : " not interleaved,", h->sections,
             hybrid_zero_words(h->zero_asked, h->zero, zero));
    if (x + utf8_text_columns(text) + 40 <= p->width)
        x = pane_text(p, x, 0, ROLE_DIM, text);
    return x;
}

void hybrid_draw_sentence(const struct hybrid_shown *s, const struct pane *p)
{
    const struct hybrid_picture *h = s->picture;
    char ms[UNITS_ROOM], text[160];
    int x = pane_text(p, 0, 0, ROLE_TITLE | BOLD, units_ms(ms, h->step_ms));

    x = add_words(p, x, ROLE_TEXT, " simulated");
    if (!s->seen.done)
        x = add_words(p, x, ROLE_WARN, "   searching ..");
    if (s->seen.by_hand)
        x = add_words(p, x, ROLE_WARN, "   by hand");
    else
        x = add_bound(h, p, x);
    if (h->length_ms > 0 && x + 40 <= p->width) {
        snprintf(text, sizeof text, "   L %.*f", hybrid_ms_decimals(h), h->length_ms);
        x = add_words(p, x, ROLE_TEXT, text);
    }
    snprintf(text, sizeof text, "   %u × %u samples   ZeRO %u", h->micro_batches,
             h->batch / (h->micro_batches ? h->micro_batches : 1), h->zero);
    x = add_words(p, x, ROLE_TEXT, text);
    if (s->asked.held_count) {
        snprintf(text, sizeof text, "   %u pin%s", s->asked.held_count,
                 s->asked.held_count == 1 ? "" : "s");
        add_words(p, x, ROLE_PIN, text);
    }
}

/* ---- stages ---- */

/* Where a stage's column lies. */
struct columns {
    int label, width;      /* of the words before; of one column */
    uint32_t first, count; /* stages in sight */
};

static struct columns columns_for(const struct hybrid_shown *s, int width)
{
    enum { LEAST = 10, MOST = 20 };
    struct columns c = {.label = width >= 110 ? 24 : width >= 70 ? 17 : 12};
    uint32_t all = s->picture->stages;

    c.width = (width - c.label) / (int)(all ? all : 1);
    c.width = c.width < LEAST ? LEAST : c.width > MOST ? MOST : c.width;
    c.count = (uint32_t)((width - c.label) / c.width);
    c.count = c.count < 1 ? 1 : c.count < all ? c.count : all;
    c.first = s->stage < c.count / 2 ? 0 : s->stage - c.count / 2;
    if (c.first + c.count > all)
        c.first = all - c.count;
    int spare = width - c.label - (int)c.count * c.width, longest = 0;
    for (uint32_t r = 0; r < s->picture->roles; r++) {
        int columns = utf8_text_columns(s->picture->role[r].name) + 2;
        longest = columns > longest ? columns : longest;
    }
    bool grows = longest > c.label && spare > 0 && c.count == all;
    if (grows) /* names whole where columns stand empty */
        c.label += longest - c.label < spare ? longest - c.label : spare;
    return c;
}

static int end_of(const struct columns *c, uint32_t stage)
{
    return c->label + (int)(stage - c->first + 1) * c->width - 1;
}

static unsigned style_of(const struct hybrid_shown *s, uint32_t stage, unsigned role)
{
    return stage == s->stage ? role | BOLD | BACK(ROLE_SELECT_DIM) : role;
}

static bool is_pinned(const struct hybrid_asked *a, const char *layer, enum hybrid_wish_kind kind)
{
    size_t size = strlen(layer);

    for (uint32_t n = 0; n < a->held_count && size; n++)
        if (a->held[n].kind == kind && !strncmp(a->held[n].text, layer, size) &&
            strchr("=@", a->held[n].text[size])) /* its end too */
            return true;
    return false;
}

/* The devices as squares, replica by replica: "■■■■ ■■■■" is 2 × 4; else "2 × ■■■■", "64 dev.". */
static void draw_squares(const struct hybrid_picture_stage *t, const struct pane *p, int end, int y,
                         int room, unsigned style)
{
    uint32_t devices = t->dp * t->tp;
    int wide = (int)(devices + t->dp) - 1, x;

    uint32_t replicas = t->dp;
    char times[16];
    if (wide > room) {
        replicas = 1;
        wide = snprintf(times, sizeof times, "%u x ", t->dp) + (int)t->tp;
        if (wide > room) {
            pane_right_format(p, end, y, style, "%u dev.", devices);
            return;
        }
        pane_format(p, end - wide, y, style, "%u × ", t->dp);
    }
    x = end - (replicas == t->dp ? wide : (int)t->tp);
    for (uint32_t n = 0; n < replicas; n++, x++)
        for (uint32_t k = 0; k < t->tp; k++)
            x = pane_put(p, x, y, style, U'■');
}

static void draw_stage_head(const struct hybrid_shown *s, const struct pane *p,
                            const struct columns *c, uint32_t n)
{
    const struct hybrid_picture_stage *t = &s->picture->stage[n];
    int end = end_of(c, n);
    bool cut = n && is_pinned(&s->asked, t->first_layer, HYBRID_WISH_CUT);
    bool held = is_pinned(&s->asked, t->first_layer, HYBRID_WISH_STAGE);
    char text[32];

    snprintf(text, sizeof text, "%s%u%s", cut ? "P|" : "", n, held ? " P" : "");
    pane_right(p, end, 1, n == s->stage ? ROLE_TITLE | BOLD | REVERSE : ROLE_TITLE | BOLD, text);
    if (n == s->stage) {
        p->grid->cursor_x = p->x + end - 1;
        p->grid->cursor_y = p->y + 1;
    }
    snprintf(text, sizeof text, t->end_device - t->device > 1 ? "%u–%u" : "%u", t->device,
             t->end_device - 1);
    pane_right(p, end, 2, style_of(s, n, ROLE_TEXT), text);
    draw_squares(t, p, end, 3, c->width - 2, style_of(s, n, ROLE_PLOT_0));
}

static void draw_stage_figures(const struct hybrid_shown *s, const struct pane *p,
                               const struct columns *c, uint32_t n)
{
    const struct hybrid_picture *h = s->picture;
    const struct hybrid_picture_stage *t = &h->stage[n];
    int end = end_of(c, n);
    char text[100], cut[100];
    bool over = t->memory_bytes > t->limit_bytes, slow = n == h->slowest;

    hybrid_mesh_text(t->dp, t->tp, t->recompute, c->width - 2, text, sizeof text);
    pane_right(p, end, 4, style_of(s, n, ROLE_TEXT), text);
    layers_text(t, c->width - 1, text, sizeof text);
    pane_right(p, end, 5, style_of(s, n, ROLE_TEXT),
               text_cut_middle(cut, sizeof cut, text, c->width - 1));
    snprintf(text, sizeof text, "%s%.*f", slow ? "▸" : "", hybrid_ms_decimals(h),
             t->forward_ms + t->backward_ms);
    pane_right(p, end, 6, style_of(s, n, slow ? ROLE_WARN : ROLE_TEXT), text);
    pane_right_number(p, end, 7, style_of(s, n, ROLE_TEXT), t->once_ms, hybrid_ms_decimals(h));
    pane_right_number(p, end, 8, style_of(s, n, over ? ROLE_ERR : ROLE_TEXT), t->memory_bytes / 1e9,
                      hybrid_gb_decimals(h));
}

static void draw_role(const struct hybrid_shown *s, const struct pane *p, const struct columns *c,
                      uint32_t r, int y)
{
    const struct hybrid_picture_role *role = &s->picture->role[r];
    char text[32];

    pane_cut(p, 1, y, c->label - 2, r == s->role ? ROLE_TITLE | BOLD : ROLE_TEXT, role->name);
    if (r == s->role)
        pane_put(p, 0, y, ROLE_TITLE | BOLD, U'▸');
    for (uint32_t n = c->first; n < c->first + c->count; n++) {
        const struct hybrid_picture_cell *cell = &role->in[n];
        const struct hybrid_picture_cell *last = n > c->first ? &role->in[n - 1] : NULL;
        unsigned style = ROLE_DIM;
        if (cell->class == CLASS_NONE)
            snprintf(text, sizeof text, " ");
        else if (last && last->class != CLASS_NONE && last->parts == cell->parts &&
                 last->is_mixed == cell->is_mixed)
            snprintf(text, sizeof text, "=");
        else if (cell->parts == 1)
            snprintf(text, sizeof text, "–");
        else {
            style = ROLE_CHOICE_1;
            snprintf(text, sizeof text, "%u%s", cell->parts, cell->is_mixed ? "~" : "");
        }
        pane_right(p, end_of(c, n), y, style_of(s, n, style), text);
    }
}

#define STAGES_TITLE "Stages and their mesh"

/* " · 3 of 6 roles", where that fits into `columns` of the note. */
static void add_hidden_roles(uint32_t roles, int rows, int columns, char *note, size_t room)
{
    char more[40];
    size_t size = strlen(note);

    if ((int)roles <= rows)
        return;
    snprintf(more, sizeof more, " · %d of %u roles", rows, roles);
    if (utf8_text_columns(note) + utf8_text_columns(more) <= columns)
        snprintf(note + size, room - size, "%s", more);
}

void hybrid_draw_stages(const struct hybrid_shown *s, const struct pane *p)
{
    static const char *const labels[] = {
        "stage", "devices", "", "data × tensor", "layers", "F + B, ms", "once a step, ms", "GB"};
    const struct hybrid_picture *h = s->picture;
    struct columns c = columns_for(s, p->width);
    char note[128], limit[UNITS_ROOM] = "";
    double most = h->stages ? h->stage[0].limit_bytes : INFINITY;
    uint32_t devices = h->stages ? h->stage[h->stages - 1].end_device - h->stage[0].device : 0;

    if (isfinite(most))
        snprintf(limit, sizeof limit, "%.*f GB", most < 10e9 ? units_ms_decimals(most / 1e9) : 0,
                 most / 1e9);
    if (h->groups < h->stages)
        snprintf(note, sizeof note, "%u stages, %u on each of %u groups of devices%s%s", h->stages,
                 h->chunks, h->groups, limit[0] ? " of " : "", limit);
    else
        snprintf(note, sizeof note, "%u stage%s on %u device%s%s%s · ms", h->stages,
                 h->stages == 1 ? "" : "s", devices, devices == 1 ? "" : "s",
                 limit[0] ? " of " : "", limit);
    int rows = p->height > HYBRID_STAGE_ROWS ? p->height - HYBRID_STAGE_ROWS : 0;
    add_hidden_roles(h->roles, rows, p->width - utf8_text_columns(STAGES_TITLE) - 4, note,
                     sizeof note);
    pane_head(p, 0, &(struct head){0, STAGES_TITLE, note, true});
    for (int y = 0; y < HYBRID_STAGE_ROWS - 1; y++)
        pane_cut(p, 0, y + 1, c.label - 1, ROLE_DIM, labels[y]);
    for (int y = 2; y < p->height && y < HYBRID_STAGE_ROWS + (int)h->roles; y++)
        pane_repeat(p, end_of(&c, s->stage) - c.width + 1, y, c.width - 1,
                    (struct cell){' ', ROLE_TEXT | BACK(ROLE_SELECT_DIM)});
    for (uint32_t n = c.first; n < c.first + c.count; n++) {
        draw_stage_head(s, p, &c, n);
        draw_stage_figures(s, p, &c, n);
    }
    if (c.first)
        pane_text(p, c.label - 2, 1, ROLE_DIM, "<");
    if (c.first + c.count < h->stages)
        pane_text(p, end_of(&c, c.first + c.count - 1) + 1, 1, ROLE_DIM, ">");
    uint32_t top = rows > 0 && (int)s->role >= rows ? s->role - (uint32_t)rows + 1 : 0;
    for (int y = 0; y < rows && top + (uint32_t)y < h->roles; y++)
        draw_role(s, p, &c, top + (uint32_t)y, HYBRID_STAGE_ROWS + y);
}

/* ---- timeline ---- */

/* "0–5 of 9 · ": rows in sight, where not all are. */
static const char *rows_in_sight(const struct hybrid_shown *s, int rows, char *out, size_t room)
{
    uint32_t all = s->picture->groups, cursor = s->stage % all,
             shown = rows > 1 ? (uint32_t)rows : 1;
    uint32_t top = cursor >= shown ? cursor - shown + 1 : 0;

    out[0] = 0;
    if (all > shown)
        snprintf(out, room, "%u–%u of %u · ", top, top + shown - 1, all);
    return out;
}

void hybrid_draw_timeline(const struct hybrid_shown *s, const struct pane *p, bool spaced)
{
    const struct hybrid_picture *h = s->picture;
    double(*sent)[2] = mem_alloc((h->stages + 1) * sizeof *sent);
    struct schedule_shown shown = {.schedule = &h->timeline,
                                   .rows = h->groups,
                                   .cursor = s->stage % h->groups,
                                   .spaced = spaced,
                                   .signs = s->signs,
                                   .sent = (const double(*)[2])sent};
    char note[160], batches[40], sight[40];

    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_picture_stage *t = &h->stage[n];
        sent[n][0] = t->forward_ms > 0 ? t->forward_collective_ms / t->forward_ms : 0;
        sent[n][1] = t->backward_ms > 0 ? t->backward_collective_ms / t->backward_ms : 0;
    }
    snprintf(note, sizeof note, "%s%s%s · %s · ms",
             rows_in_sight(s, spaced ? GRID_MOST : p->height - 3, sight, sizeof sight),
             h->chunks > 1 ? "1f1b, interleaved" : pipe_schedule_names[h->schedule],
             h->chunks > 1 ? " · a row a group" : "",
             schedule_batches_text(h->micro_batches, batches));
    pane_head(p, 0, &(struct head){0, "Timeline", note, false});
    struct pane below = pane_part(p, 0, 1, p->width, p->height - 1);
    if (h->timeline.count)
        schedule_draw(&shown, &below);
    else
        pane_text(&below, 0, 0, ROLE_DIM, "too many passes to draw");
    free(sent);
}
