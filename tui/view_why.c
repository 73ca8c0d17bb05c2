/* Why: the first sentence is the answer, the chain below it is the proof. */
#include "tui/view_why.h"

#include "engine/units.h"
#include "tui/app.h"
#include "tui/price.h"
#include "tui/shape.h"
#include "tui/theme.h"
#include "tui/utf8.h"
#include "tui/why_find.h"

#include <stdio.h>
#include <string.h>

enum { SIDES_WIDTH = 90, SENTENCE_ROOM = 512 };
#define B "\1" /* switches bold on and off in a sentence */

struct why {
    dim_id dim;
    struct watch seen;        /* problem and statuses as they were when asked; the rest is not read */
    struct why_answer answer;
    struct price keep[2];     /* at best: SPLIT and others: with the class flipped; EXCLUDED: either split */
    uint64_t episode;
    bool stale;
    int cursor;               /* over the rows of side 0, then of side 1 */
    char name[NAME_ROOM];
};

enum { WHY_GO, WHY_SIDE, WHY_DIM, WHY_KEEP_1, WHY_KEEP_2 };
static const struct action why_actions[] = {
    [WHY_GO] = {"go", "in this view", "go to that instruction", "go there", "Enter", NULL},
    [WHY_SIDE] = {"side", "in this view", "other chain", "other chain", "Tab", NULL},
    [WHY_DIM] = {"next-dim", "in this view", "next dim of the value", "next dim", "d", NULL},
    [WHY_KEEP_1] = {"keep-1", "in this view", "keep the first, the second", "keep", "1", NULL},
    [WHY_KEEP_2] = {"keep-2", "in this view", NULL, NULL, "2", NULL},
};
static const struct key_table why_keys = {"why", why_actions, 5};

/* ---- asking ---- */

static void look_ahead(struct why *v, const struct watch *w)
{
    const struct why_answer *a = &v->answer;
    int own = watch_move_of(w, a->class), other = watch_move_of(w, a->other);

    memset(v->keep, 0, sizeof v->keep);
    if (a->kind == WHY_EXCLUDED && own != MOVE_NONE && other != MOVE_NONE) {
        v->keep[0] = price_at_best(w, own, 1);
        v->keep[1] = price_at_best(w, other, 1);
    } else if (a->kind != WHY_NEVER && own != MOVE_NONE) {
        v->keep[0] = price_at_best(w, own, a->kind != WHY_SPLIT);
    }
}

/* Asks about a dim under the statuses of now. */
static int ask(struct panel *p, dim_id d, struct err *e)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    size_t classes = w->problem->classes.count;
    struct why_answer answer;

    memcpy(v->seen.on, w->on, classes * sizeof *w->on);
    memcpy(v->seen.open, w->open, classes * sizeof *w->open);
    v->seen.moves = w->moves;
    if (why_find(&v->seen, d, &answer, e))
        return e->code;
    why_answer_release(&v->answer);
    v->answer = answer;
    v->dim = d;
    v->stale = false;
    v->episode = w->shot->episodes + (w->position != MOVE_NONE);
    v->cursor = answer.kind == WHY_SPLIT && answer.side[0].count ? (int)answer.side[0].count - 1 : 0;
    look_ahead(v, w);
    return 0;
}

static dim_id subject(const struct panel *from, const struct watch *w)
{
    hlo_id id = from && from->ops->instruction_here ? from->ops->instruction_here(from) : HLO_NONE;
    dim_id d = id != HLO_NONE ? why_dim_of_instruction(w, id) : DIM_NONE;

    if (d != DIM_NONE)
        return d;
    int move = from && from->ops->move_here ? from->ops->move_here(from) : w->cursor;
    if (move == MOVE_NONE || move >= w->move_count)
        return DIM_NONE;
    return why_dim_of_class(w->problem, w->moves->pool[w->moves->items[move].classes]);
}

static void close_why(struct panel *p)
{
    struct why *v = p->state;
    why_answer_release(&v->answer);
    free(v->seen.on);
    free(v->seen.open);
}

static int open_why(struct panel *p, const void *arg, struct err *e)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    dim_id d = w ? subject(arg, w) : DIM_NONE;

    if (d == DIM_NONE)
        return err_set(e, ERR_INPUT, "nothing is decided about this row");
    v->seen = *w;
    v->seen.on = mem_try((size_t)w->problem->classes.count + 1, sizeof *v->seen.on);
    v->seen.open = mem_try((size_t)w->problem->classes.count + 1, sizeof *v->seen.open);
    int rc = v->seen.on && v->seen.open ? ask(p, d, e) : err_set(e, ERR_MEMORY, "not enough memory to ask why");
    if (rc)
        close_why(p);
    return rc;
}

static void read_why(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    const class_id of[] = {v->answer.class, v->answer.other};

    v->stale = false;
    for (int i = 0; w && i < 2; i++) {
        if (of[i] != CLASS_NONE)
            v->stale |= w->on[of[i]] != v->seen.on[of[i]] || w->open[of[i]] != v->seen.open[of[i]];
    }
}

/* ---- words ---- */

static const char *value_name(const struct problem *p, hlo_value v)
{
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].value == v)
            return p->roles.params[k].name;
    }
    return hlo_name(p->m, p->m->value_instruction[v]);
}

static const char *dim_name(const struct problem *p, dim_id d)
{
    return value_name(p, p->classes.dim_value[d]);
}

static uint32_t dim_number(const struct problem *p, dim_id d)
{
    return d - p->classes.dim_base[p->classes.dim_value[d]];
}

static void write_sentence(const struct panel *p, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    const struct problem *q = v->seen.problem;
    const struct watch *w = p->scene->watch;
    char subject_text[300], class_text[NAME_ROOM], other[NAME_ROOM];
    const struct why_side *side = &a->side[0];

    snprintf(subject_text, sizeof subject_text, "Dim %u of " B "%.200s" B, dim_number(q, a->dim), dim_name(q, a->dim));
    if (a->class != CLASS_NONE)
        class_name(&w->names, a->class, class_text);
    if (a->kind == WHY_FREE) {
        snprintf(out, room, "%s is made of constants and scalars alone: every use makes the part it needs.", subject_text);
    } else if (a->kind == WHY_NEVER && a->shared != HLO_NONE) {
        snprintf(out, room, "%s can never be split: its class holds two dims of one value.", subject_text);
    } else if (a->kind == WHY_NEVER) {
        snprintf(out, room, "%s can never be split: its class %s " B "%.100s" B ".", subject_text,
                 class_reason_text[q->classes.info[a->class].reason], hlo_name(q->m, a->place));
    } else if (a->kind == WHY_EXCLUDED) {
        snprintf(out, room, B "%s" B " and " B "%s" B " can not both be split: %s.", class_text,
                 class_name(&w->names, a->other, other),
                 a->shared != HLO_NONE ? "both hold a dim of one value" : "they meet in one instruction");
    } else if (a->kind == WHY_SPLIT && side->count > 1) {
        dim_id end = side->steps[side->count - 1].dim;
        snprintf(out, room, "%s is split over %u: " B "%.160s" B " dim %u was decided 1.", subject_text,
                 q->labels.parts[v->seen.on[a->class]], dim_name(q, end), dim_number(q, end));
    } else if (a->kind == WHY_SPLIT) {
        snprintf(out, room, "%s is split over %u: it was decided 1.", subject_text, q->labels.parts[v->seen.on[a->class]]);
    } else {
        static const char *const words[] = {[WHY_NO_FIT] = "is whole: no split of this mesh fits its sizes",
                                            [WHY_OPEN] = "is not decided yet",
                                            [WHY_WHOLE] = "is whole: its class was decided 0"};
        snprintf(out, room, "%s %s.", subject_text, words[a->kind]);
    }
}

static void write_class(const struct panel *p, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    const struct watch *w = p->scene->watch;
    char name[NAME_ROOM], dims[UNITS_ROOM];

    out[0] = 0;
    if (a->class == CLASS_NONE)
        return;
    const struct class_info *i = &w->problem->classes.info[a->class];
    int move = watch_move_of(w, a->class);
    int size = snprintf(out, room, "in class " B "%s" B ": %s dims, %u of variables, %u of inputs", class_name(&w->names, a->class, name),
                        units_count(dims, i->dim_count), i->var_dims, i->input_dims);
    if (move != MOVE_NONE)
        snprintf(out + size, room - (size_t)size, "; decision %d of episode %llu", move + 1, (unsigned long long)v->episode);
}

/* Words that do not fit go to the next row. Returns the row behind. */
static int draw_words(const struct pane *p, int y, unsigned style, unsigned bold, const char *text)
{
    int x = 0;
    bool on = false;

    while (*text) {
        char word[SENTENCE_ROOM];
        size_t size = strcspn(text, " ");
        int columns = 0;
        for (size_t i = 0; i < size; i++)
            columns += text[i] != '\1' && ((unsigned char)text[i] & 0xc0) != 0x80;
        if (x > 0 && x + 1 + columns > p->width) {
            x = 0;
            y++;
        } else if (x > 0) {
            x++;
        }
        for (const char *s = text; s < text + size;) {
            size_t part = strcspn(s, B " ");
            snprintf(word, sizeof word, "%.*s", (int)part, s);
            x = pane_text(p, x, y, on ? bold : style, word);
            s += part;
            on = *s == '\1' ? !on : on;
            s += *s == '\1';
        }
        text += size + (text[size] == ' ');
    }
    return y + 1;
}

/* ---- chains ---- */

static int side_of(const struct why *v, int *row)
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
    } ends[] = {[WHY_NEVER] = {"x", ROLE_ERR | BOLD},   [WHY_NO_FIT] = {"0", ROLE_CHOICE_0},
                [WHY_SPLIT] = {"1", ROLE_CHOICE_1 | BOLD}, [WHY_OPEN] = {"·", ROLE_DIM},
                [WHY_WHOLE] = {"0", ROLE_CHOICE_0},     [WHY_EXCLUDED] = {"1", ROLE_CHOICE_1 | BOLD}};
    const struct why_side *s = &v->answer.side[side];
    bool last = row + 1 == s->count && (v->answer.kind != WHY_EXCLUDED || side == 1);

    *style = ROLE_TITLE | BOLD;
    if (s->steps[row].dim == v->answer.dim && !(last && s->count == 1))
        return "?";
    *style = last ? ends[v->answer.kind].style : ROLE_TEXT;
    return last ? ends[v->answer.kind].sign : " ";
}

static void write_through(const struct why *v, const struct why_step *s, size_t row, char *op, char *factor, size_t room)
{
    const struct problem *p = v->seen.problem;

    factor[0] = 0;
    if (s->through == HLO_NONE) {
        snprintf(op, room, "%s", row ? "next step's value" : s->dim == v->answer.dim ? "asked" : "meets here");
        return;
    }
    snprintf(op, room, "%s", hlo_op_info[hlo_at(p->m, s->through)->opcode].name);
    if (s->factor != UINT32_MAX)
        why_factor_name(&p->classes, s->through, s->factor, factor, room);
}

/* "models.py:10", or the line of the file itself. */
static void write_source(const struct why *v, const struct why_step *s, char *out, size_t room)
{
    const struct hlo_module *m = v->seen.problem->m;
    hlo_id id = s->through != HLO_NONE ? s->through : m->value_instruction[v->seen.problem->classes.dim_value[s->dim]];
    const struct hlo_meta *meta = hlo_meta(m, id);
    const char *slash = strrchr(meta->source_file, '/');

    if (meta->source_file[0])
        snprintf(out, room, "%.40s:%u", slash ? slash + 1 : meta->source_file, meta->source_line);
    else
        snprintf(out, room, "line %u", hlo_at(m, id)->line);
}

struct columns {
    int name, shape, shape_width, op, factor, source; /* source: its end; 0: left out */
};

static struct columns columns_for(const struct why *v, const struct why_side *s, int width, bool narrow)
{
    struct columns c = {.name = 2};
    int name = 8, shape = 0, op = 7, factor = 0, source = 0;
    char o[96], f[96], t[96];

    for (size_t n = 0; n < s->count; n++) {
        hlo_value value = v->seen.problem->classes.dim_value[s->steps[n].dim];
        int w = utf8_text_columns(value_name(v->seen.problem, value)), sw = shape_width(&v->seen, value);
        write_through(v, &s->steps[n], n, o, f, sizeof o);
        write_source(v, &s->steps[n], t, sizeof t);
        name = w > name ? w : name;
        shape = sw > shape ? sw : shape;
        op = n && utf8_text_columns(o) > op ? utf8_text_columns(o) : op;
        factor = utf8_text_columns(f) > factor ? utf8_text_columns(f) : factor;
        source = utf8_text_columns(t) > source ? utf8_text_columns(t) : source;
    }
    int most = width * (narrow ? 45 : 40) / 100;
    name = name > most ? most : name;
    c.shape = c.name + name + 2;
    c.shape_width = narrow ? 0 : shape > width / 3 ? width / 3 : shape;
    c.op = c.shape + (narrow ? 0 : c.shape_width + 2);
    if (c.op + op + 2 + factor <= width)
        c.factor = c.op + op + 2;
    if ((c.factor ? c.factor + factor : c.op + op) + 2 + source <= width)
        c.source = width;
    return c;
}

static void draw_step(const struct why *v, const struct pane *p, int y, int side, size_t row, const struct columns *c)
{
    const struct why_step *s = &v->answer.side[side].steps[row];
    const struct problem *q = v->seen.problem;
    hlo_value value = q->classes.dim_value[s->dim];
    char op[96], factor[96], text[256];
    unsigned style;

    const char *mark = mark_of(v, side, row, &style);
    pane_text(p, 0, y, style, mark);
    text_cut_left(text, sizeof text, value_name(q, value), c->shape - c->name - 2);
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
}

static void write_side_title(const struct panel *p, int side, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    const struct why_side *s = &a->side[side];
    const struct watch *w = p->scene->watch;
    char name[NAME_ROOM];

    if (a->kind == WHY_EXCLUDED) {
        class_id k = side ? a->other : a->class;
        int move = watch_move_of(w, k), size;
        size = snprintf(out, room, "%s", class_name(&w->names, k, name));
        if (move != MOVE_NONE)
            snprintf(out + size, room - (size_t)size, ", saves %.1f ms alone", w->move[move].saves_ms);
    } else if (s->count) {
        snprintf(out, room, "to dim %u", dim_number(v->seen.problem, s->steps[s->count - 1].dim));
    }
}

/* One chain with its title, in its own room. */
static void draw_side(struct panel *p, const struct pane *pane, int side, bool two)
{
    struct why *v = p->state;
    const struct why_side *s = &v->answer.side[side];
    struct columns c = columns_for(v, s, pane->width, two && p->width >= SIDES_WIDTH);
    char title[NAME_ROOM + 48] = "";
    int row, at = side_of(v, &row), top = 0, rows = pane->height - 1;

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

static void draw_chains(struct panel *p, const struct pane *pane)
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

static int chain_rows(const struct panel *p, int width)
{
    const struct why *v = p->state;
    int a = (int)v->answer.side[0].count, b = (int)v->answer.side[1].count;

    if (!b)
        return a ? a + 1 : 0;
    return width >= SIDES_WIDTH ? (a > b ? a : b) + 1 : a + b + 2;
}

/* ---- facts below ---- */

static void draw_flip(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    int x = pane_format(pane, 0, y, ROLE_DIM, "flip to %d", a->kind != WHY_SPLIT);

    x = x < 14 ? 14 : x + 2;
    if (a->flip_ms >= 0) {
        double change = a->flip_ms - a->step_ms;
        x = pane_format(pane, x, y, ROLE_TEXT, "%.1f ", a->flip_ms);
        x = pane_format(pane, x, y, change > 0.05 ? ROLE_WARN : ROLE_TEXT, "%+.1f", change);
        x = pane_text(pane, x, y, ROLE_DIM, " if the rest stays") + 3;
    } else {
        x = pane_text(pane, x, y, ROLE_DIM, "not beside the other splits") + 3;
    }
    if (v->keep[0].known && x + 16 <= pane->width) {
        x = pane_format(pane, x, y, ROLE_TEXT, "%.1f", v->keep[0].cost.step_ms);
        pane_text(pane, x, y, ROLE_DIM, v->keep[0].proven ? " at best, proven" : " at best");
    }
}

static int draw_split_facts(const struct panel *p, const struct pane *pane, int y)
{
    const struct why_answer *a = &((const struct why *)p->state)->answer;
    char count[UNITS_ROOM];

    int x = pane_text(pane, 0, y, ROLE_DIM, "it costs");
    x = pane_format(pane, 14, y, ROLE_TEXT, "%s all-reduces, %.1f ms", units_count(count, a->reduces), a->reduce_ms);
    x = pane_text(pane, x + 3, y, ROLE_DIM, "it saves ");
    pane_format(pane, x, y, ROLE_TEXT, "%.1f ms compute", a->compute_saved_ms);
    return y + 1;
}

static int draw_keep(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    const class_id of[] = {v->answer.class, v->answer.other};
    char name[NAME_ROOM];

    for (int i = 0; i < 2; i++) {
        if (watch_move_of(w, of[i]) == MOVE_NONE)
            continue;
        pane_format(pane, 0, y, ROLE_KEY, "%d", i + 1);
        int x = pane_text(pane, 2, y, ROLE_DIM, "keep ");
        x = pane_text(pane, x, y, ROLE_TEXT, class_name(&w->names, of[i], name));
        if (v->keep[i].known)
            pane_format(pane, x, y, ROLE_DIM, ": %s %.1f ms", v->keep[i].proven ? "optimum" : "best of exact",
                        v->keep[i].cost.step_ms);
        y++;
    }
    return y;
}

static int draw_forbidden(const struct panel *p, const struct pane *pane, int y)
{
    const struct classes *c = &p->scene->watch->problem->classes;
    class_id forbidden = 0, with_variables = 0;

    for (class_id k = 0; k < c->count; k++) {
        forbidden += c->info[k].reason != CLASS_ALLOWED;
        with_variables += c->info[k].reason != CLASS_ALLOWED && c->info[k].var_dims;
    }
    pane_format(pane, 0, y, ROLE_DIM, "%u of %u classes are forbidden; %u of them %s variables", forbidden, c->count,
                with_variables, with_variables == 1 ? "holds" : "hold");
    return y + 1;
}

static int draw_place(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct problem *q = v->seen.problem;
    const struct why_answer *a = &v->answer;

    if (a->place == HLO_NONE)
        return y;
    const char *name = a->shared != HLO_NONE ? value_name(q, a->shared) : hlo_name(q->m, a->place);
    int x = pane_text(pane, 2, y, ROLE_DIM, a->shared != HLO_NONE ? "value" : "place") + 2;
    x = pane_cut(pane, x, y, pane->width / 2, ROLE_TITLE | BOLD, name) + 2;
    hlo_value shown = a->shared != HLO_NONE ? a->shared : q->m->leaf_base[a->place];
    if (shown < q->m->leaf_base[q->m->value_instruction[shown] + 1])
        x = shape_draw(&v->seen, shown, pane, x, y, pane->width - x) + 2;
    if (a->shared != HLO_NONE && x + 20 < pane->width)
        pane_cut(pane, x, y, pane->width - x, ROLE_DIM, hlo_name(q->m, a->place));
    return y + 1;
}

static int fact_rows(const struct why *v)
{
    switch (v->answer.kind) {
    case WHY_SPLIT:
    case WHY_EXCLUDED:
        return 2;
    case WHY_OPEN:
    case WHY_WHOLE:
    case WHY_NEVER:
        return 1;
    default:
        return 0;
    }
}

static void draw_facts(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;

    switch (v->answer.kind) {
    case WHY_SPLIT:
        draw_flip(p, pane, draw_split_facts(p, pane, y));
        return;
    case WHY_OPEN:
    case WHY_WHOLE:
        draw_flip(p, pane, y);
        return;
    case WHY_EXCLUDED:
        draw_keep(p, pane, y);
        return;
    case WHY_NEVER:
        draw_forbidden(p, pane, y);
        return;
    default:
        return;
    }
}

static void draw_why(struct panel *p, const struct pane *pane)
{
    struct why *v = p->state;
    const struct problem *q = v->seen.problem;
    const char *title = v->answer.kind == WHY_NEVER ? "Never split" : v->answer.kind == WHY_EXCLUDED ? "Conflict" : "Why";
    char note[96], name[64], text[SENTENCE_ROOM];

    text_cut_left(name, sizeof name, dim_name(q, v->dim), 40);
    snprintf(note, sizeof note, "w on %s dim %u", name, dim_number(q, v->dim));
    pane_head(pane, 0, &(struct head){0, title, note, true});
    int gap = pane->height >= 16, y = 1 + gap;
    write_sentence(p, text, sizeof text);
    y = draw_words(pane, y, ROLE_TEXT, ROLE_TITLE | BOLD, text);
    write_class(p, text, sizeof text);
    y = draw_words(pane, y, ROLE_DIM, ROLE_TEXT, text) + gap;
    int placed = draw_place(p, pane, y);
    y = placed > y ? placed + gap : y;
    int facts = fact_rows(v), rows = chain_rows(p, pane->width), room = pane->height - y - facts - gap;
    rows = rows < room ? rows : room;
    struct pane body = pane_part(pane, 0, y, pane->width, rows > 0 ? rows : 0);
    if (rows > 1)
        draw_chains(p, &body);
    if (facts)
        draw_facts(p, pane, y + (rows > 0 ? rows : 0) + gap);
}

/* ---- acts ---- */

static int row_count(const struct why *v)
{
    return (int)(v->answer.side[0].count + v->answer.side[1].count);
}

static const struct why_step *step_here(const struct why *v)
{
    int row, side = side_of(v, &row);
    return v->cursor < row_count(v) ? &v->answer.side[side].steps[row] : NULL;
}

static bool move_why(struct panel *p, enum list_move move)
{
    struct why *v = p->state;
    struct list l = {0};

    list_fit(&l, row_count(v), p->height > 10 ? p->height - 10 : 1);
    l.cursor = v->cursor;
    bool moved = list_move(&l, move);
    v->cursor = (int)l.cursor;
    return moved;
}

static bool next_dim(struct panel *p)
{
    struct why *v = p->state;
    const struct classes *c = &v->seen.problem->classes;
    hlo_value value = c->dim_value[v->dim];
    dim_id d = v->dim + 1 < c->dim_base[value + 1] ? v->dim + 1 : c->dim_base[value];
    struct err e = {0};

    if (ask(p, d, &e))
        app_say_err(p->scene->app, &e);
    return true;
}

static bool keep_split(struct panel *p, int which)
{
    struct why *v = p->state;
    struct watch *w = p->scene->watch;
    int move = watch_move_of(w, which ? v->answer.other : v->answer.class);

    if (v->answer.kind != WHY_EXCLUDED || move == MOVE_NONE)
        return false;
    watch_send(w, "pin @%d=1", move);
    app_close_top(p->scene->app);
    return true;
}

static bool act_why(struct panel *p, int action)
{
    struct why *v = p->state;
    const struct why_step *s = step_here(v);
    int row;

    if (action == WHY_GO) {
        hlo_id place = s ? v->seen.problem->m->value_instruction[v->seen.problem->classes.dim_value[s->dim]] : HLO_NONE;
        if (place != HLO_NONE)
            app_go_to(p->scene->app, place);
        return place != HLO_NONE;
    }
    if (action == WHY_DIM)
        return next_dim(p);
    if (action == WHY_SIDE) {
        if (v->answer.side[1].count)
            v->cursor = side_of(v, &row) ? 0 : (int)v->answer.side[0].count;
        return true;
    }
    return keep_split(p, action == WHY_KEEP_2);
}

static bool works_why(const struct panel *p, int action)
{
    const struct why *v = p->state;

    if (action == WHY_SIDE)
        return v->answer.side[1].count > 0;
    if (action == WHY_KEEP_1 || action == WHY_KEEP_2)
        return v->answer.kind == WHY_EXCLUDED;
    return true;
}

static int move_here(const struct panel *p)
{
    const struct why *v = p->state;
    return p->scene->watch ? watch_move_of(p->scene->watch, v->answer.class) : MOVE_NONE;
}

static const char *name_here(const struct panel *p)
{
    struct why *v = p->state;
    const struct why_step *s = step_here(v);

    if (!s)
        return NULL;
    snprintf(v->name, sizeof v->name, "%s:%u", dim_name(v->seen.problem, s->dim), dim_number(v->seen.problem, s->dim));
    return v->name;
}

static void message_why(const struct panel *p, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_step *s = step_here(v);

    if (v->stale) {
        snprintf(out, room, "it is decided otherwise now. Esc, then w again shows it.");
        return;
    }
    if (!s)
        return;
    const struct hlo_module *m = v->seen.problem->m;
    hlo_id id = s->through != HLO_NONE ? s->through : m->value_instruction[v->seen.problem->classes.dim_value[s->dim]];
    const struct hlo_meta *meta = hlo_meta(m, id);
    if (meta->op_name[0])
        snprintf(out, room, "op_name  %s", meta->op_name);
    else
        snprintf(out, room, "%s  line %u of the file", hlo_name(m, id), hlo_at(m, id)->line);
}

const struct panel_ops view_why = {
    .name = "why",
    .title = "Why",
    .place = PLACE_FULL,
    .keys = &why_keys,
    .hints = "down=step go side next-dim keep-1 pin copy=copy escape",
    .size = sizeof(struct why),
    .open = open_why,
    .close = close_why,
    .read = read_why,
    .draw = draw_why,
    .act = act_why,
    .move = move_why,
    .works = works_why,
    .move_here = move_here,
    .name_here = name_here,
    .message = message_why,
};
