/* Answers about a plan whose values may change their split between uses. */
#include "engine/plan/explain_reshard.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"
#include "tui/watch/answer.h"
#include "tui/watch/class_look.h"
#include "tui/watch/part.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum { USES_SHOWN = 64 };

static const char *name_of(const struct watch *w, hlo_value v)
{
    for (uint32_t k = 0; k < w->problem->roles.param_count; k++) {
        const struct hlo_param_role *r = &w->problem->roles.params[k];
        if (r->value == v)
            return r->module ? r->module : r->name;
    }
    return hlo_name(w->problem->m, w->problem->m->value_instruction[v]);
}

static const char *status_text(const struct watch *w, hlo_value v, status s, struct str *out)
{
    str_clear(out);
    status_write(hlo_value_shape(w->problem->m, v), &w->problem->mesh, s, out);
    return out->text ? out->text : "";
}

/* Whether `to` is cut out of `from` on each device, which sends nothing. */
static bool is_cut(status from, status to)
{
    bool is = from != to;

    for (uint32_t axis = 0; axis < STATUS_AXES_MOST; axis++)
        is &= status_on(from, axis) == status_on(to, axis) || status_on(from, axis) == STATUS_WHOLE;
    return is;
}

/* "; sub.347 takes its piece of it, which sends nothing" */
static void write_cutters(const struct watch *w, const struct relaxed_plan *x, hlo_value v,
                          struct str *out)
{
    struct relaxed_use uses[USES_SHOWN];
    uint32_t count = relaxed_uses(x, x->origin[v] == HLO_NONE ? v : x->origin[v], uses, USES_SHOWN);
    uint32_t cut = 0;
    hlo_id last = HLO_NONE;

    for (uint32_t n = 0; n < count && n < USES_SHOWN; n++) {
        status asks = x->leaf[w->problem->classes.leaf_base[uses[n].id] + uses[n].leaf];
        if (!is_cut(x->held[v], asks))
            continue;
        last = uses[n].id;
        cut++;
    }
    if (cut == 1)
        str_format(out, "; %s takes its piece of it, which sends nothing",
                   hlo_name(w->problem->m, last));
    else if (cut)
        str_format(out, "; %u of them take their piece of it, which sends nothing", cut);
}

static void say_made(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                     hlo_value v)
{
    hlo_id maker = w->problem->m->value_instruction[v];
    struct str made = {0}, held = {0}, how = {0}, cutters = {0};

    status_text(w, v, x->made[v], &made);
    status_text(w, v, x->held[v], &held);
    relaxed_write_choice(x, maker, &how);
    if (hlo_at(w->problem->m, maker)->opcode == HLO_OP_PARAMETER)
        answer_say(a, "It is stored as %s.", made.text);
    else
        answer_say(a, "It is made as %s: %s runs %s.", made.text, hlo_name(w->problem->m, maker),
                   how.text);
    write_cutters(w, x, v, &cutters);
    const char *rest = cutters.text ? cutters.text : "";
    if (x->held[v] == x->made[v])
        answer_say(a, "Its uses find it so%s.", rest);
    else
        answer_say(a, "Its uses find it as \1%s\1: it is resharded once for all of them%s.",
                   held.text, rest);
    str_release(&cutters);
    str_release(&made);
    str_release(&held);
    str_release(&how);
}

/* The use that reshard `of` (NULL: none) is for is marked. */
static void add_uses(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                     hlo_value v, const struct relaxed_reshard *of)
{
    struct relaxed_use uses[USES_SHOWN];
    uint32_t count = relaxed_uses(x, x->origin[v] == HLO_NONE ? v : x->origin[v], uses, USES_SHOWN);
    char note[64], source[64];
    struct str asks = {0}, how = {0};

    snprintf(note, sizeof note, "%u %s it", count, count == 1 ? "instruction reads" : "read");
    answer_head(a, "Uses", note);
    answer_row(a, ANSWER_TITLES, HLO_NONE, "use", "asks for", "it runs", "source", NULL);
    for (uint32_t n = 0; n < count && n < USES_SHOWN; n++) {
        hlo_id id = uses[n].id;
        status s = x->leaf[w->problem->classes.leaf_base[id] + uses[n].leaf];
        str_clear(&how);
        relaxed_write_choice(x, id, &how);
        answer_row(a, ANSWER_ROW, id, tree_instruction_name(w->tree, id),
                   status_text(w, v, s, &asks), how.text,
                   instruction_source(w->problem->m, id, source, sizeof source), NULL);
        if (a->count)
            a->rows[a->count - 1].marked = of && of->user == id && of->leaf == uses[n].leaf;
    }
    if (count > USES_SHOWN)
        answer_say(a, "and %u more", count - USES_SHOWN);
    str_release(&asks);
    str_release(&how);
}

static void add_reshard_row(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                            const struct relaxed_reshard *r)
{
    char bytes[UNITS_ROOM], ms[UNITS_ROOM];
    struct str way = {0}, from = {0};

    relaxed_write_way(x, r, &way);
    status_text(w, r->value, r->from, &from);
    str_add(&from, " to ");
    status_write(hlo_value_shape(w->problem->m, r->value), &w->problem->mesh, r->to, &from);
    answer_row(a, ANSWER_ROW, w->problem->m->value_instruction[r->value],
               reshard_kind_names[r->kind], name_of(w, r->value), from.text, way.text,
               units_bytes(bytes, r->bytes), units_ms(ms, r->ms), NULL);
    str_release(&way);
    str_release(&from);
}

static void reshard_titles(struct answer *a)
{
    answer_row(a, ANSWER_TITLES, HLO_NONE, "collective", "of", "changes", "for", ">bytes", ">time",
               NULL);
}

void answer_relaxed_value(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                          hlo_value v)
{
    struct str made = {0};
    double ms = 0;
    uint32_t count = 0;
    char note[96], time[UNITS_ROOM];

    if (x->origin[v] == HLO_NONE) {
        char name[160], text[400];
        snprintf(name, sizeof name, "\1%.150s\1", name_of(w, v));
        watch_say_free(w, v, name, text, sizeof text);
        answer_say(a, "%s", text);
        return;
    }
    answer_say(a, "\1%s\1 is \1%s\1 in the relaxed plan, of %s a step.", name_of(w, v),
               status_text(w, v, x->made[v], &made), units_ms(time, x->cost.step_ms));
    str_release(&made);
    say_made(a, w, x, v);
    add_uses(a, w, x, v, NULL);
    for (uint32_t n = 0; n < x->reshard_count; n++) {
        count += x->reshards[n].value == x->origin[v];
        ms += x->reshards[n].value == x->origin[v] ? x->reshards[n].ms : 0;
    }
    snprintf(note, sizeof note, "%u, %s a step", count, units_ms(time, ms));
    answer_head(a, "What is sent because of that", count ? note : "nothing");
    if (count)
        reshard_titles(a);
    for (uint32_t n = 0; n < x->reshard_count; n++) {
        if (x->reshards[n].value == x->origin[v])
            add_reshard_row(a, w, x, &x->reshards[n]);
    }
}

void answer_reshard(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                    uint32_t number)
{
    const struct relaxed_reshard *r = &x->reshards[number];
    char bytes[UNITS_ROOM], ms[UNITS_ROOM];
    struct str from = {0}, to = {0}, way = {0};

    relaxed_write_way(x, r, &way);
    status_text(w, r->value, r->from, &from);
    status_text(w, r->value, r->to, &to);
    answer_say(a, "\1%s\1 of \1%s\1, %s, %s a step.", reshard_kind_names[r->kind],
               name_of(w, r->value), units_bytes(bytes, r->bytes), units_ms(ms, r->ms));
    if (r->from == r->to)
        answer_say(a, "It adds up parts %s; the value stays \1%s\1.", way.text, to.text);
    else
        answer_say(a, "The value exists as \1%s\1 and is needed as \1%s\1 %s.", from.text, to.text,
                   way.text);
    say_made(a, w, x, r->value);
    add_uses(a, w, x, r->value, r);
    str_release(&from);
    str_release(&to);
    str_release(&way);
}

/* ---- a part ---- */

static int longest_first(const void *a, const void *b)
{
    const struct relaxed_reshard *const *x = a, *const *y = b;
    if ((*x)->ms != (*y)->ms)
        return (*x)->ms > (*y)->ms ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

void answer_relaxed_part(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                         const struct part *part)
{
    const struct hlo_module *m = w->problem->m;
    const struct relaxed_reshard **in = mem_try((size_t)x->reshard_count + 1, sizeof *in);
    uint32_t split = 0, whole = 0, count = 0;
    double ms = 0;
    char time[UNITS_ROOM], note[96], name[300];

    if (!in) {
        a->failed = true;
        return;
    }
    for (hlo_id id = 0; id < m->count; id++) {
        if (w->problem->costs.times[id] == 0 || !part_holds(w, part, id))
            continue;
        split += x->choice[id] != 0;
        whole += x->choice[id] == 0;
    }
    for (uint32_t n = 0; n < x->reshard_count; n++) {
        hlo_id at = x->reshards[n].user != HLO_NONE ? x->reshards[n].user
                                                    : m->value_instruction[x->reshards[n].value];
        if (!part_holds(w, part, at))
            continue;
        in[count++] = &x->reshards[n];
        ms += x->reshards[n].ms;
    }
    qsort(in, count, sizeof *in, longest_first);
    answer_say(a, "In \1%s\1, %u instructions run split and %u whole in the relaxed plan.",
               part_name(w, part, name, sizeof name), split, whole);
    snprintf(note, sizeof note, "%u, %s a step · the longest first", count, units_ms(time, ms));
    answer_head(a, "What is sent in it", count ? note : "nothing");
    if (count)
        reshard_titles(a);
    for (uint32_t n = 0; n < count && n < USES_SHOWN; n++)
        add_reshard_row(a, w, x, in[n]);
    if (count > USES_SHOWN)
        answer_say(a, "and %u more", count - USES_SHOWN);
    free(in);
}
