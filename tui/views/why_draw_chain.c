/* Chains of ties: alone, side by side, or one below the other. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/decide/why.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "tui/screen/grid.h"
#include "tui/views/panel.h"
#include "tui/views/why_draw.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/shape_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDES_WIDTH = 90, OP_NAME = 40 };

int why_side_of(const struct why *v, int *row)
{
    int first = (int)v->answer.side[0].count;

    *row = v->cursor < first ? v->cursor : v->cursor - first;
    return v->cursor < first ? 0 : 1;
}

static const char *mark_of(const struct why *v, int side, size_t row, unsigned *style)
{
    static const struct {
        const char *sign;
        unsigned style;
    } ends[] = {
        [WHY_NEVER] = {"x", ROLE_ERR | BOLD},      [WHY_NO_FIT] = {"0", ROLE_CHOICE_0},
        [WHY_SPLIT] = {"1", ROLE_CHOICE_1 | BOLD}, [WHY_OPEN] = {"·", ROLE_DIM},
        [WHY_WHOLE] = {"0", ROLE_CHOICE_0},        [WHY_EXCLUDED] = {"1", ROLE_CHOICE_1 | BOLD}};
    const struct why_side *s = &v->answer.side[side];
    bool last = row + 1 == s->count && (v->answer.kind != WHY_EXCLUDED || side == 1);

    *style = ROLE_TITLE | BOLD;
    if (s->steps[row].dim == v->answer.dim && !(last && s->count == 1))
        return "?";
    *style = last ? ends[v->answer.kind].style : ROLE_TEXT;
    return last ? ends[v->answer.kind].sign : " ";
}

static void write_through(const struct why *v, const struct why_step *s, size_t row, char *op,
                          char *factor, size_t room)
{
    const struct problem *p = v->seen.problem;

    factor[0] = 0;
    if (s->through == HLO_NONE) {
        snprintf(op, room, "%s",
                 row                       ? "next step's value"
                 : s->dim == v->answer.dim ? "asked"
                                           : "meets here");
        return;
    }
    snprintf(op, room, "%s", hlo_op_info[hlo_at(p->m, s->through)->opcode].name);
    if (s->factor != UINT32_MAX)
        why_factor_name(&p->classes, s->through, s->factor, factor, room);
}

static hlo_id why_instruction(const struct why *v, const struct why_step *s)
{
    const struct problem *q = v->seen.problem;
    return s->through != HLO_NONE ? s->through
                                  : q->m->value_instruction[q->classes.dim_value[s->dim]];
}

/* "models.py:10", or the line of the file itself. */
static void write_source(const struct why *v, const struct why_step *s, char *out, size_t room)
{
    const struct hlo_module *m = v->seen.problem->m;
    hlo_id id = why_instruction(v, s);
    const struct hlo_meta *meta = hlo_meta(m, id);
    const char *slash = strrchr(meta->source_file, '/');

    if (meta->source_file[0])
        snprintf(out, room, "%.40s:%u", slash ? slash + 1 : meta->source_file, meta->source_line);
    else
        snprintf(out, room, "line %u", hlo_at(m, id)->line);
}

struct columns {
    int name, shape, shape_width, op, factor, source, op_name; /* source: its end; 0: left out */
};

static struct columns columns_for(const struct why *v, const struct why_side *s, int width,
                                  bool narrow)
{
    struct columns c = {.name = 2};
    int name = 8, shape = 0, op = 7, factor = 0, source = 0;
    char o[96], f[96], t[96];

    for (size_t n = 0; n < s->count; n++) {
        hlo_value value = v->seen.problem->classes.dim_value[s->steps[n].dim];
        int w = utf8_text_columns(why_value_name(v->seen.problem, value)),
            sw = shape_width(&v->seen, value);
        write_through(v, &s->steps[n], n, o, f, sizeof o);
        write_source(v, &s->steps[n], t, sizeof t);
        name = w > name ? w : name;
        shape = sw > shape ? sw : shape;
        op = n && utf8_text_columns(o) > op ? utf8_text_columns(o) : op;
        factor = utf8_text_columns(f) > factor ? utf8_text_columns(f) : factor;
        source = utf8_text_columns(t) > source ? utf8_text_columns(t) : source;
    }
    c.shape_width = narrow ? 0 : shape > width / 3 ? width / 3 : shape;
    int most = width * 2 / 5, gaps = c.shape_width ? 8 : 6;
    int left = width - c.name - c.shape_width - op - factor - source - gaps;
    most = left > most ? left : most;
    name = name > most ? most : name;
    c.shape = c.name + name + 2;
    c.op = c.shape + (narrow ? 0 : c.shape_width + 2);
    if (c.op + op + 2 + factor <= width)
        c.factor = c.op + op + 2;
    int x = (c.factor ? c.factor + factor : c.op + op) + 2 + source;
    if (x <= width)
        c.source = width;
    if (x + 2 + OP_NAME <= width) { /* the source stays beside what it explains */
        c.source = x;
        c.op_name = x + 2;
    }
    return c;
}

static void draw_step(const struct why *v, const struct pane *p, int y, int side, size_t row,
                      const struct columns *c)
{
    const struct why_step *s = &v->answer.side[side].steps[row];
    const struct problem *q = v->seen.problem;
    hlo_value value = q->classes.dim_value[s->dim];
    char op[96], factor[96], text[256];
    unsigned style;

    const char *mark = mark_of(v, side, row, &style);
    pane_text(p, 0, y, style, mark);
    text_cut_left(text, sizeof text, why_value_name(q, value), c->shape - c->name - 2);
    pane_text(p, c->name, y, *mark != ' ' ? ROLE_TITLE | BOLD : ROLE_TEXT, text);
    if (c->shape_width)
        shape_draw(&v->seen, value, p, c->shape, y, c->shape_width);
    write_through(v, s, row, op, factor, sizeof op);
    pane_cut(p, c->op, y, p->width - c->op, row ? ROLE_TEXT : ROLE_DIM, op);
    if (c->factor)
        pane_text(p, c->factor, y, ROLE_DIM, factor);
    if (c->source) {
        write_source(v, s, text, sizeof text);
        pane_right(p, c->source, y, ROLE_DIM, text);
    }
    if (c->op_name) {
        text_cut_left(text, sizeof text, hlo_meta(q->m, why_instruction(v, s))->op_name,
                      p->width - c->op_name);
        pane_text(p, c->op_name, y, ROLE_DIM, text);
    }
}

static void write_side_title(const struct panel *p, int side, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    const struct why_side *s = &a->side[side];
    const struct watch *w = p->scene->watch;
    char name[NAME_ROOM], ms[UNITS_ROOM];

    if (a->kind == WHY_EXCLUDED) {
        class_id k = side ? a->other : a->class;
        int move = watch_move_of(w, k), size;
        size = snprintf(out, room, "%s", class_name(&w->names, k, name));
        if (move != MOVE_NONE)
            snprintf(out + size, room - (size_t)size, ", %s %s alone",
                     w->move[move].saves_ms < 0 ? "costs" : "saves",
                     units_ms(ms, fabs(w->move[move].saves_ms)));
    } else if (s->count) {
        snprintf(out, room, "to dim %u",
                 why_dim_number(v->seen.problem, s->steps[s->count - 1].dim));
    }
}

/* One chain with its title, in its own room. */
static void draw_side(struct panel *p, const struct pane *pane, int side, bool two)
{
    struct why *v = p->state;
    const struct why_side *s = &v->answer.side[side];
    struct columns c = columns_for(v, s, pane->width, two && p->width >= SIDES_WIDTH);
    char title[NAME_ROOM + 48] = "";
    int row, at = why_side_of(v, &row), top = 0, rows = pane->height - 1;

    if (rows < 1)
        return;
    if (two) {
        write_side_title(p, side, title, sizeof title);
        pane_cut(pane, c.name, 0, pane->width - c.name, ROLE_TITLE | BOLD, title);
    } else {
        pane_text(pane, c.name, 0, ROLE_DIM, "value");
        pane_text(pane, c.shape, 0, ROLE_DIM, "shape");
        pane_text(pane, c.op, 0, ROLE_DIM, "through");
        if (c.source)
            pane_right(pane, c.source, 0, ROLE_DIM, "source");
        if (c.op_name)
            pane_text(pane, c.op_name, 0, ROLE_DIM, "op_name");
    }
    if (at == side && row >= rows)
        top = row - rows + 1;
    for (int y = 0; y < rows && (size_t)(top + y) < s->count; y++) {
        draw_step(v, pane, y + 1, side, (size_t)(top + y), &c);
        if (at != side || top + y != row)
            continue;
        pane_select(pane, y + 1, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + y + 1;
    }
    int more = (int)s->count - top - rows;
    if (more > 0)
        pane_right_format(pane, pane->width, 0, ROLE_DIM, "%d more", more);
}

void why_draw_chains(struct panel *p, const struct pane *pane)
{
    const struct why *v = p->state;
    int count[2] = {(int)v->answer.side[0].count, (int)v->answer.side[1].count};

    if (!count[1]) {
        if (count[0])
            draw_side(p, pane, 0, false);
        return;
    }
    if (pane->width >= SIDES_WIDTH) {
        int half = (pane->width - 4) / 2;
        struct pane left = pane_part(pane, 0, 0, half, pane->height);
        struct pane right = pane_part(pane, half + 4, 0, pane->width - half - 4, pane->height);
        draw_side(p, &left, 0, true);
        draw_side(p, &right, 1, true);
        return;
    }
    int low = count[1] + 1 < pane->height / 2 ? count[1] + 1 : pane->height / 2;
    int high = count[0] + 1 < pane->height - low ? count[0] + 1 : pane->height - low;
    struct pane above = pane_part(pane, 0, 0, pane->width, high);
    struct pane below = pane_part(pane, 0, high, pane->width, pane->height - high);
    draw_side(p, &above, 0, true);
    draw_side(p, &below, 1, true);
}

int why_chain_rows(const struct panel *p, int width)
{
    const struct why *v = p->state;
    int a = (int)v->answer.side[0].count, b = (int)v->answer.side[1].count;

    if (!b)
        return a ? a + 1 : 0;
    return width >= SIDES_WIDTH ? (a > b ? a : b) + 1 : a + b + 2;
}
