/* The sentence, the class, the place, and the figures below the chain. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/views/panel.h"
#include "tui/views/why_draw.h"
#include "tui/watch/answer.h"
#include "tui/watch/shape_text.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"

#include <stdio.h>
#include <string.h>

#define B "\1" /* switches bold on and off in a sentence */

/* ---- words ---- */

const char *why_value_name(const struct problem *p, hlo_value v)
{
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        if (r->value == v)
            return r->module ? r->module : r->name;
    }
    return hlo_name(p->m, p->m->value_instruction[v]);
}

const char *why_file_name(const struct problem *p, hlo_value v)
{
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].value == v)
            return p->roles.params[k].name;
    }
    return hlo_name(p->m, p->m->value_instruction[v]);
}

const char *why_dim_name(const struct problem *p, dim_id d)
{
    return why_value_name(p, p->classes.dim_value[d]);
}

uint32_t why_dim_number(const struct problem *p, dim_id d)
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

    snprintf(subject_text, sizeof subject_text, "Dim %u of " B "%.200s" B,
             why_dim_number(q, a->dim), why_dim_name(q, a->dim));
    if (a->class != CLASS_NONE)
        class_name(&w->names, a->class, class_text);
    if (a->kind == WHY_FREE) {
        watch_say_free(w, q->classes.dim_value[a->dim], subject_text, out, room);
    } else if (a->kind == WHY_NEVER && a->shared != HLO_NONE) {
        snprintf(out, room, "%s can never be split: its class holds two dims of one value.",
                 subject_text);
    } else if (a->kind == WHY_NEVER) {
        snprintf(out, room, "%s can never be split: its class %s " B "%.100s" B ".", subject_text,
                 class_reason_text[q->classes.info[a->class].reason], hlo_name(q->m, a->place));
    } else if (a->kind == WHY_EXCLUDED) {
        char more[64] = "";
        class_name(&w->names, a->other, other);
        if (a->excluders > 1)
            snprintf(more, sizeof more, ", as %s %u more that exclude%s it",
                     a->excluders == 2 ? "is" : "are", a->excluders - 1,
                     a->excluders == 2 ? "s" : "");
        snprintf(out, room,
                 "%s is whole, for " B "%s" B " is split%s. " B "%s" B " and " B "%s" B
                 " can not both be split: %s.",
                 subject_text, other, more, class_text, other,
                 a->shared != HLO_NONE ? "both hold a dim of one value"
                                       : "they meet in one instruction");
    } else if (a->kind == WHY_SPLIT && side->count > 1) {
        dim_id end = side->steps[side->count - 1].dim;
        snprintf(out, room, "%s is split over %u: " B "%.160s" B " dim %u was decided 1.",
                 subject_text, q->labels.parts[v->seen.on[a->class]], why_dim_name(q, end),
                 why_dim_number(q, end));
    } else if (a->kind == WHY_SPLIT) {
        snprintf(out, room, "%s is split over %u: it was decided 1.", subject_text,
                 q->labels.parts[v->seen.on[a->class]]);
    } else {
        static const char *const words[] = {[WHY_NO_FIT] =
                                                "is whole: no split of this mesh fits its sizes",
                                            [WHY_OPEN] = "is not decided yet",
                                            [WHY_WHOLE] = "is whole: its class was decided 0"};
        bool reached = a->kind != WHY_WHOLE || watch_move_of(w, a->class) != MOVE_NONE;
        snprintf(out, room, "%s %s.", subject_text,
                 reached ? words[a->kind] : "is whole: no decision of this search is about it");
    }
}

static void write_class(const struct panel *p, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_answer *a = &v->answer;
    const struct watch *w = p->scene->watch;
    char name[NAME_ROOM], dims[UNITS_ROOM], inputs[32] = "";

    out[0] = 0;
    if (a->class == CLASS_NONE)
        return;
    const struct class_info *i = &w->problem->classes.info[a->class];
    int move = watch_move_split(w, v->seen.on, a->class);
    if (i->input_dims)
        snprintf(inputs, sizeof inputs, ", %u of inputs", i->input_dims);
    int size = snprintf(out, room, "in class " B "%s" B ": %s dims, %u of variables%s",
                        class_name(&w->names, a->class, name), units_count(dims, i->dim_count),
                        i->var_dims, inputs);
    if (move != MOVE_NONE)
        snprintf(out + size, room - (size_t)size, "; decision %d of %d", move + 1, w->move_count);
}

int why_draw_words(const struct pane *p, int y, unsigned style, unsigned bold, const char *text)
{
    int x = 0;
    bool on = false;

    while (*text) {
        char word[WHY_SENTENCE_ROOM];
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

int why_draw_answer(const struct panel *p, const struct pane *pane, int y)
{
    char text[WHY_SENTENCE_ROOM];

    write_sentence(p, text, sizeof text);
    y = why_draw_words(pane, y, ROLE_TEXT, ROLE_TITLE | BOLD, text);
    write_class(p, text, sizeof text);
    return why_draw_words(pane, y, ROLE_DIM, ROLE_TEXT, text);
}

/* ---- facts below ---- */

static void draw_split_facts(const struct panel *p, const struct pane *pane, int y)
{
    const struct why_answer *a = &((const struct why *)p->state)->answer;
    char count[UNITS_ROOM], ms[UNITS_ROOM], kinds[ANSWER_KINDS_ROOM];

    pane_text(pane, 0, y, ROLE_DIM, "it costs");
    int x = pane_format(pane, 14, y, ROLE_TEXT, "%s, %s", answer_kinds(a->makes, kinds),
                        units_ms(ms, a->makes_ms));
    x = pane_text(pane, x + 3, y, ROLE_DIM, "it saves ");
    pane_format(pane, x, y, ROLE_TEXT, "%s compute", units_ms(ms, a->compute_saved_ms));
    pane_text(pane, 0, y + 1, ROLE_DIM, "it excludes");
    x = pane_format(pane, 14, y + 1, ROLE_TEXT, "%s ", units_count(count, a->meets));
    pane_text(pane, x, y + 1, ROLE_DIM,
              a->meets == 1 ? "class along this axis" : "classes along this axis");
}

static int draw_keep(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    const class_id of[] = {v->answer.class, v->answer.other};
    char name[NAME_ROOM], ms[UNITS_ROOM];

    for (int i = 0; i < 2; i++) {
        if (watch_move_of(w, of[i]) == MOVE_NONE)
            continue;
        pane_format(pane, 0, y, ROLE_KEY, "%d", i + 1);
        int x = pane_text(pane, 2, y, ROLE_DIM, "keep ");
        x = pane_text(pane, x, y, ROLE_TEXT, class_name(&w->names, of[i], name));
        if (v->keep[i].known)
            pane_format(pane, x, y, ROLE_DIM, ": %s %s",
                        v->keep[i].proven ? "optimum" : "best of exact",
                        units_ms(ms, v->keep[i].cost.step_ms));
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
    char some[UNITS_ROOM], all[UNITS_ROOM];
    pane_format(pane, 0, y, ROLE_DIM, "%s of %s classes are forbidden; %u of them %s variables",
                units_count(some, forbidden), units_count(all, c->count), with_variables,
                with_variables == 1 ? "holds" : "hold");
    return y + 1;
}

int why_draw_place(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct problem *q = v->seen.problem;
    const struct why_answer *a = &v->answer;

    if (a->place == HLO_NONE)
        return y;
    const char *name =
        a->shared != HLO_NONE ? why_value_name(q, a->shared) : hlo_name(q->m, a->place);
    int x = pane_text(pane, 2, y, ROLE_DIM, a->shared != HLO_NONE ? "value" : "place") + 2;
    x = pane_cut(pane, x, y, pane->width / 2, ROLE_TITLE | BOLD, name) + 2;
    hlo_value shown = a->shared != HLO_NONE ? a->shared : q->m->leaf_base[a->place];
    if (shown < q->m->leaf_base[q->m->value_instruction[shown] + 1])
        x = shape_draw(&v->seen, shown, pane, x, y, pane->width - x) + 2;
    if (a->shared != HLO_NONE && a->place != q->m->value_instruction[a->shared] &&
        x + 20 < pane->width)
        pane_cut(pane, x, y, pane->width - x, ROLE_DIM, hlo_name(q->m, a->place));
    return y + 1;
}

int why_fact_rows(const struct why *v)
{
    switch (v->answer.kind) {
    case WHY_SPLIT:
    case WHY_EXCLUDED:
        return 2;
    case WHY_NEVER:
        return 1;
    default:
        return 0;
    }
}

void why_draw_facts(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;

    switch (v->answer.kind) {
    case WHY_SPLIT:
        draw_split_facts(p, pane, y);
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
