/* What the stage under the cursor of view_hybrid.c keeps for its backward pass and what it computes
 * again, chosen value by value: its front of memory against time, and rows by source line. */
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/views/hybrid_draw.h"

#include <math.h>
#include <stdio.h>

enum { FRONT_WIDTH = 34, SOURCE_WIDTH = 12, BESIDE_LEAST = 96 };

/* Of a step: every micro-batch takes so much longer. */
static double step_ms(const struct hybrid_picture *h, double ms)
{
    return ms * h->micro_batches;
}

static const char *word_of(const struct by_value_row *row)
{
    if (!row->again && row->host_bytes > 0)
        return row->kept_bytes > 0 ? "host, some" : "host";
    return !row->again ? "keep" : row->again < row->count ? "some layers" : "recompute";
}

static void draw_row(const struct hybrid_shown *s, const struct pane *p, int y,
                     const struct hybrid_picture_row *r)
{
    const struct hybrid_picture *h = s->picture;
    const struct hybrid_picture_stage *t = &h->stage[s->stage];
    const struct by_value_row *row = &r->row;
    int price = p->width, ms = price - 8, gb = ms - 9, name = gb - 8;
    double back = t->in_flight * row->bytes / 1e9;
    char text[160];

    pane_text(p, 0, y, row->again ? ROLE_CHOICE_1 : ROLE_TEXT, word_of(row));
    if (p->width >= BESIDE_LEAST - FRONT_WIDTH) {
        name -= SOURCE_WIDTH + 1;
        pane_cut(p, name + 1, y, SOURCE_WIDTH, ROLE_DIM, r->source);
    }
    snprintf(text, sizeof text, "%u × %s%s%s", row->count, row->scope, row->scope[0] ? " " : "",
             r->operation);
    pane_cut(p, 13, y, name - 14, ROLE_TEXT, text);
    pane_right_number(p, gb, y, ROLE_TEXT, t->in_flight * (row->kept_bytes + row->host_bytes) / 1e9,
                      3);
    if (row->ms > 0)
        pane_right_ms(p, ms, y, ROLE_TEXT, step_ms(h, row->ms));
    if (row->ms > 0 && back > 1e-9)
        pane_right_number(p, price, y, ROLE_TEXT, step_ms(h, row->ms) / back, 1);
}

static void draw_rows(const struct hybrid_shown *s, const struct pane *p)
{
    const struct hybrid_picture_stage *t = &s->picture->stage[s->stage];
    char title[48], note[128], a[UNITS_ROOM], b[UNITS_ROOM];
    int last = (int)t->kept_count - (p->height - 2);
    uint32_t first = (uint32_t)(s->scroll < last ? s->scroll : last > 0 ? last : 0);
    int price = p->width;

    snprintf(title, sizeof title, "Kept by stage %u", s->stage);
    if (t->recompute)
        snprintf(note, sizeof note, "its forward passes run again");
    else
        snprintf(note, sizeof note, "%u in flight · adds %s a step%s%s", t->in_flight,
                 units_ms(a, step_ms(s->picture, t->added_ms)),
                 t->host_bytes > 0 ? " · on the host " : "",
                 t->host_bytes > 0 ? units_bytes(b, t->in_flight * t->host_bytes) : "");
    pane_head(p, 0, &(struct head){0, title, note, false});
    pane_right(p, price - 17, 1, ROLE_DIM, "GB");
    pane_right(p, price - 8, 1, ROLE_DIM, "adds ms");
    pane_right(p, price, 1, ROLE_DIM, "ms/GB");
    for (int y = 2; y < p->height && first < t->kept_count; y++)
        draw_row(s, p, y, &t->kept[first++]);
}

static void draw_front(const struct hybrid_shown *s, const struct pane *p)
{
    const struct hybrid_picture_stage *t = &s->picture->stage[s->stage];
    int price = p->width, ms = price - 9, gb = ms - 10;
    double limit = t->limit_bytes;

    pane_head(p, 0, &(struct head){0, "Front", "memory against time", false});
    pane_right(p, gb, 1, ROLE_DIM, "GB");
    pane_right(p, ms, 1, ROLE_DIM, "adds ms");
    pane_right(p, price, 1, ROLE_DIM, "ms/GB");
    for (uint32_t n = 0; n < t->corner_count && 2 + (int)n < p->height; n++) {
        const struct by_value_corner *c = &t->corners[n];
        int y = 2 + (int)n;
        unsigned role = c->memory_bytes <= limit ? ROLE_TEXT : ROLE_DIM;
        pane_right_number(p, gb, y, role, c->memory_bytes / 1e9, 3);
        pane_right_ms(p, ms, y, role, step_ms(s->picture, c->added_ms));
        double less = n ? (c[-1].memory_bytes - c->memory_bytes) / 1e9 : 0;
        if (less > 1e-9)
            pane_right_number(p, price, y, role,
                              step_ms(s->picture, c->added_ms - c[-1].added_ms) / less, 1);
        if (n && c->memory_bytes <= limit && c[-1].memory_bytes > limit)
            pane_text(p, 0, y, ROLE_OK, "fits");
    }
}

void hybrid_draw_kept(const struct hybrid_shown *s, const struct pane *p)
{
    bool beside = p->width >= BESIDE_LEAST;
    int left = beside ? p->width - FRONT_WIDTH - 3 : p->width;
    struct pane one = pane_part(p, 0, 0, left, p->height),
                two = pane_part(p, left + 3, 0, FRONT_WIDTH, p->height);

    if (!s->picture->by_value) {
        pane_head(p, 0, &(struct head){0, "Kept for the backward pass", "by value", false});
        struct pane below = pane_part(p, 0, 1, p->width, p->height - 1);
        pane_sentence(&below, ROLE_DIM,
                      "stages keep all, or run their forward pass again; r until it says value by "
                      "value chooses for each value");
        return;
    }
    draw_rows(s, &one);
    if (!beside)
        return;
    for (int y = 1; y < p->height; y++)
        pane_text(p, left + 1, y, ROLE_BORDER, "│");
    draw_front(s, &two);
}
