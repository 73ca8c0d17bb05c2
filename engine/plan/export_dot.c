#include "engine/plan/export_dot.h"

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Where a collective is drawn; `b` is 0 where it says nothing. */
enum place {
    AT_NODE, /* a: the instruction whose result is reduced, or that holds what is stored in pieces
              */
    ON_HELD, /* a: the value, on its way to what all its uses find */
    ON_USE,  /* a: the user, b: its operand leaf */
    ON_END,  /* a: the value, b: what it becomes (relaxed_reshard) */
};
struct note {
    enum place place;
    uint32_t a, b, order; /* order: of the plan, which is that of a walk's steps */
    uint8_t kind;         /* enum collective_kind */
    double bytes;
};

struct dot {
    const struct plan *plan;
    struct note *notes; /* by place, a, b, order */
    size_t note_count;
    hlo_id *order;          /* what is drawn, box by box */
    uint32_t *first, boxes; /* [boxes + 1] into order */
    struct str *out;
};

/* ---- what is drawn ---- */

/* A value of some class: the plan says something about it. */
static bool speaks_of(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    const struct classes *c = &p->problem->classes;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        if (!c->is_free[v])
            return true;
    }
    return false;
}

/* Computations that a step runs: the entry, bodies and branches. Reducers are only applied. */
static bool is_run(const struct hlo_module *m, hlo_comp c)
{
    const struct hlo_computation *comp = &m->computations[c];

    if (c == m->entry)
        return true;
    for (uint32_t k = 0; k < comp->caller_count; k++) {
        uint16_t op = hlo_at(m, comp->callers[k])->opcode;
        if (op == HLO_OP_WHILE || op == HLO_OP_CONDITIONAL || op == HLO_OP_CALL)
            return true;
    }
    return false;
}

static bool is_drawn(const struct plan *p, hlo_id id)
{
    return speaks_of(p, id) && is_run(p->problem->m, hlo_at(p->problem->m, id)->computation);
}

/* ---- collectives by place ---- */

static int by_place(const void *x, const void *y)
{
    const struct note *n = x, *o = y;

    if (n->place != o->place)
        return n->place < o->place ? -1 : 1;
    if (n->a != o->a)
        return n->a < o->a ? -1 : 1;
    if (n->b != o->b)
        return n->b < o->b ? -1 : 1;
    return (n->order > o->order) - (n->order < o->order);
}

static struct note place_of(const struct plan *p, uint32_t number, const struct plan_collective *c)
{
    struct note n = {
        .place = AT_NODE, .a = c->instruction, .order = number, .kind = c->kind, .bytes = c->bytes};
    const struct relaxed_reshard *r = p->relaxed ? &p->relaxed->reshards[number] : NULL;

    if (!r || r->is_inside)
        return n;
    n.place = r->user != HLO_NONE ? ON_USE : r->becomes != HLO_NONE ? ON_END : ON_HELD;
    n.a = n.place == ON_USE ? r->user : r->value;
    n.b = n.place == ON_USE ? r->leaf : n.place == ON_END ? r->becomes : 0;
    return n;
}

static int find_notes(struct dot *g, struct err *e)
{
    struct plan_collective *list;
    int rc = plan_collectives(g->plan, &list, &g->note_count, e);

    if (rc)
        return rc;
    g->notes = mem_try(g->note_count + 1, sizeof *g->notes);
    for (size_t n = 0; g->notes && n < g->note_count; n++)
        g->notes[n] = place_of(g->plan, (uint32_t)n, &list[n]);
    free(list);
    if (!g->notes)
        return err_no_memory(e, "for the graph");
    qsort(g->notes, g->note_count, sizeof *g->notes, by_place);
    return 0;
}

/* The notes of a place with b in [b, b + count): the first of them, and how many. */
static const struct note *notes_at(const struct dot *g, enum place place, uint32_t a, uint32_t b,
                                   uint32_t count, size_t *found)
{
    struct note key = {.place = place, .a = a, .b = b};
    size_t low = 0, high = g->note_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&g->notes[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*found = 0; low + *found < g->note_count; ++*found) {
        const struct note *n = &g->notes[low + *found];
        if (n->place != place || n->a != a || n->b - b >= count)
            break;
    }
    return &g->notes[low];
}

/* ---- writing ---- */

static void add_escaped(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_add_char(out, '\\');
        str_add_char(out, *text == '\n' ? ' ' : *text);
    }
}

/* "all-gather 33 MB", a line each. */
static void add_notes(const struct note *notes, size_t count, struct str *out)
{
    char bytes[UNITS_ROOM];

    for (size_t n = 0; n < count; n++)
        str_format(out, "%s%s %s", n ? "\\n" : "", collective_name(notes[n].kind),
                   units_bytes(bytes, notes[n].bytes));
}

/* All results, "; " between them. */
static void write_shapes(const struct plan *p, hlo_id id, struct str *out)
{
    const struct hlo_module *m = p->problem->m;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        str_add(out, v > m->leaf_base[id] ? "; " : "");
        if (p->relaxed)
            relaxed_write_shape(p->relaxed, v, out);
        else
            plan_write_shape(p, v, out);
    }
}

static bool is_split(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        for (uint32_t d = 0; d < hlo_value_shape(m, v)->rank; d++) {
            if (plan_dim_label(p, v, d))
                return true;
        }
    }
    return false;
}

static void write_node(const struct dot *g, hlo_id id)
{
    const struct hlo_module *m = g->plan->problem->m;
    struct str shapes = {0}, *out = g->out;
    size_t found;
    const struct note *notes = notes_at(g, AT_NODE, id, 0, 1, &found);

    write_shapes(g->plan, id, &shapes);
    str_format(out, "    n%u [label=\"", id);
    add_escaped(out, hlo_name(m, id));
    str_add(out, "\\n");
    if (m->leaf_base[id + 1] - m->leaf_base[id] == 1)
        add_escaped(out, shapes.text ? shapes.text : "");
    else
        str_format(out, "%u values", m->leaf_base[id + 1] - m->leaf_base[id]);
    if (found) {
        str_add(out, "\\n");
        add_notes(notes, found, out);
        str_add(out, "\", shape=\"ellipse");
    }
    str_add(out, "\", tooltip=\"");
    add_escaped(out, shapes.text ? shapes.text : "");
    str_add(out, "\"];\n");
    out->failed |= shapes.failed;
    str_release(&shapes);
}

/* ---- edges ---- */

/* What ends an edge: " [style=bold, color=red, label=\"all-gather 33 MB\"];" */
static void end_edge(const struct dot *g, const char *style, const struct note *notes, size_t count)
{
    if (*style || count)
        str_format(g->out, " [%s%s", style, *style && count ? ", " : "");
    if (count) {
        str_add(g->out, "color=red, label=\"");
        add_notes(notes, count, g->out);
        str_add_char(g->out, '"');
    }
    str_add(g->out, *style || count ? "];\n" : ";\n");
}

/* The value that uses find in another status than it is made in, or by way of a collective. */
static bool is_held_otherwise(const struct dot *g, hlo_value v)
{
    const struct relaxed_plan *x = g->plan->relaxed;
    size_t found;

    if (!x || x->origin[v] != v)
        return false;
    notes_at(g, ON_HELD, v, 0, 1, &found);
    return found || x->held[v] != x->made[v];
}

/* A note beside the node: what all its uses find, and how it becomes that. */
static void write_held(const struct dot *g, hlo_id id)
{
    const struct problem *p = g->plan->problem;

    for (hlo_value v = p->m->leaf_base[id]; v < p->m->leaf_base[id + 1]; v++) {
        size_t found;
        if (!is_held_otherwise(g, v))
            continue;
        const struct note *notes = notes_at(g, ON_HELD, v, 0, 1, &found);
        str_format(g->out, "  h%u [shape=note, label=\"", v);
        add_escaped(g->out, hlo_name(p->m, id));
        str_add(g->out, " for its uses\\n");
        status_write(hlo_value_shape(p->m, v), &p->mesh, g->plan->relaxed->held[v], g->out);
        str_format(g->out, "\"];\n  n%u -> h%u", id, v);
        end_edge(g, found ? "" : "label=\"slice\"", notes, found);
    }
}

/* The array that operand `from` is, where `user` finds it as in write_held; HLO_NONE: as it is
 * made. */
static hlo_value held_for(const struct dot *g, hlo_id from, hlo_id user)
{
    const struct problem *p = g->plan->problem;
    uint32_t results = p->m->leaf_base[user + 1] - p->m->leaf_base[user];
    bool reads = !hlo_is_flow(p->m, user) && class_leaf_count(&p->classes, user) > results;

    if (!g->plan->relaxed || !reads || p->m->leaf_base[from + 1] - p->m->leaf_base[from] != 1)
        return HLO_NONE;
    hlo_value v = g->plan->relaxed->origin[p->m->leaf_base[from]];
    return v != HLO_NONE && is_held_otherwise(g, v) && is_drawn(g->plan, p->m->value_instruction[v])
               ? v
               : HLO_NONE;
}

static void write_edges(const struct dot *g, hlo_id id)
{
    const struct hlo_module *m = g->plan->problem->m;
    uint32_t leaf = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        uint32_t leaves = hlo_shape(m, from)->leaf_count;
        size_t found;
        const struct note *notes = notes_at(g, ON_USE, id, leaf, leaves, &found);
        leaf += leaves;
        if (!is_drawn(g->plan, from))
            continue;
        hlo_value held = held_for(g, from, id);
        str_format(g->out, held == HLO_NONE ? "  n%u -> n%u" : "  h%u -> n%u",
                   held == HLO_NONE ? from : held, id);
        end_edge(g, is_split(g->plan, from) ? "style=bold" : "", notes, found);
    }
    for (uint32_t n = 0; n < hlo_at(m, id)->called_count; n++) {
        hlo_id root = m->computations[hlo_called(m, id, n)].root;
        if (is_drawn(g->plan, root))
            str_format(g->out, "  n%u -> n%u [style=dashed];\n", root, id);
    }
}

/* Ways to storage, to what loops carry and to what the step hands out. */
static void write_ends(const struct dot *g)
{
    const struct hlo_module *m = g->plan->problem->m;
    size_t found;

    for (size_t n = 0; n < g->note_count; n += found) {
        const struct note *at = &g->notes[n];
        found = 1;
        if (at->place != ON_END)
            continue;
        at = notes_at(g, ON_END, at->a, at->b, 1, &found);
        str_format(g->out, "  n%u -> n%u", m->value_instruction[at->a],
                   at->b == at->a ? m->computations[m->entry].root : m->value_instruction[at->b]);
        end_edge(g, "style=dashed, constraint=false", at, found);
    }
}

/* ---- boxes ---- */

/* Layer 0 holds what is in no layer; in loop bodies the computation is the box. */
static uint64_t box_of(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    hlo_comp c = hlo_at(m, id)->computation;

    return c == m->entry ? p->problem->roles.layer[id]
                         : (uint64_t)p->problem->roles.layer_count + c;
}

static void write_box(const struct dot *g, uint64_t box)
{
    const struct hlo_roles *r = &g->plan->problem->roles;

    str_format(g->out, "  subgraph cluster_%llu {\n    label=\"", (unsigned long long)box);
    add_escaped(g->out, box < r->layer_count
                            ? r->layer_names[box]
                            : g->plan->problem->m->computations[box - r->layer_count].name);
    str_add(g->out, "\";\n");
}

/* Instructions of each box in order, by a counting sort over boxes. */
static int sort_by_box(struct dot *g, struct err *e)
{
    const struct plan *p = g->plan;
    const struct hlo_module *m = p->problem->m;

    g->boxes = p->problem->roles.layer_count + m->computation_count;
    g->first = mem_try((size_t)g->boxes + 2, sizeof *g->first);
    g->order = mem_try((size_t)m->count + 1, sizeof *g->order);
    if (!g->first || !g->order)
        return err_no_memory(e, "for the graph");
    for (hlo_id id = 0; id < m->count; id++)
        g->first[box_of(p, id) + 2] += is_drawn(p, id);
    for (uint32_t b = 2; b < g->boxes + 2; b++)
        g->first[b] += g->first[b - 1];
    for (hlo_id id = 0; id < m->count; id++) {
        if (is_drawn(p, id))
            g->order[g->first[box_of(p, id) + 1]++] = id;
    }
    return 0;
}

static void write_all(const struct dot *g)
{
    str_add(g->out, "digraph \"");
    add_escaped(g->out, g->plan->problem->m->name);
    str_add(g->out,
            "\" {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", fontsize=9];\n");
    for (uint32_t b = 0; b < g->boxes; b++) {
        if (g->first[b] == g->first[b + 1])
            continue;
        if (b)
            write_box(g, b);
        for (uint32_t n = g->first[b]; n < g->first[b + 1]; n++)
            write_node(g, g->order[n]);
        str_add(g->out, b ? "  }\n" : "");
    }
    for (uint32_t n = 0; n < g->first[g->boxes]; n++) {
        write_held(g, g->order[n]);
        write_edges(g, g->order[n]);
    }
    write_ends(g);
    str_add(g->out, "}\n");
}

int export_dot(const struct plan *p, struct str *out, struct err *e)
{
    struct dot g = {.plan = p, .out = out};
    int rc = find_notes(&g, e);

    if (rc)
        goto out;
    rc = sort_by_box(&g, e);
    if (rc)
        goto out;
    write_all(&g);
    if (out->failed)
        rc = err_no_memory(e, "for the graph");
out:
    free(g.notes);
    free(g.order);
    free(g.first);
    return rc;
}

/* ---- reading it again ---- */

/* "    n12 [label=": its number. Without sscanf, which looks for the end of the whole text. */
static bool is_node(const char *line, hlo_id *id)
{
    char *end;

    if (strncmp(line, "    n", 5))
        return false;
    *id = (hlo_id)strtoul(line + 5, &end, 10);
    return end > line + 5 && !strncmp(end, " [label=\"", 9);
}

/* The text after `mark` in [at, end). */
static const char *behind(const char *at, const char *end, const char *mark)
{
    size_t size = strlen(mark);

    for (; at + size <= end; at++) {
        if (!memcmp(at, mark, size))
            return at + size;
    }
    return NULL;
}

/* The next node of a text and its tooltip; false: no more. */
static bool next_node(const char **at, hlo_id *id, const char **shapes, size_t *size)
{
    while (**at) {
        const char *line = *at, *end = line + strcspn(line, "\n");
        *at = *end ? end + 1 : end;
        if (!is_node(line, id))
            continue;
        *shapes = behind(line, end, "\", tooltip=\"");
        if (!*shapes || end - 3 < *shapes || strncmp(end - 3, "\"];", 3))
            return false;
        *size = (size_t)(end - 3 - *shapes);
        return true;
    }
    return false;
}

int export_dot_check(const struct plan *p, const char *text, size_t size, struct err *e)
{
    const struct hlo_module *m = p->problem->m;
    struct str expected = {0};
    const char *at = text, *shapes;
    size_t length, found = 0, drawn = 0;
    hlo_id id;
    bool fits = strlen(text) == size;

    while (fits && next_node(&at, &id, &shapes, &length)) {
        str_clear(&expected);
        fits = id < m->count && is_drawn(p, id);
        if (fits)
            write_shapes(p, id, &expected);
        fits = fits && expected.size == length && !memcmp(expected.text, shapes, length);
        found++;
    }
    for (id = 0; id < m->count; id++)
        drawn += is_drawn(p, id);
    str_release(&expected);
    if (!fits || found != drawn)
        return err_set(e, ERR_INPUT, "the export does not read back as the plan");
    return 0;
}
