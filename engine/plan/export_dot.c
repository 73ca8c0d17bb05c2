#include "engine/plan/export_dot.h"

#include <string.h>

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

/* ---- writing ---- */

static void add_escaped(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_add_char(out, '\\');
        str_add_char(out, *text == '\n' ? ' ' : *text);
    }
}

/* All results, "; " between them. */
static void write_shapes(const struct plan *p, hlo_id id, struct str *out)
{
    const struct hlo_module *m = p->problem->m;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        str_add(out, v > m->leaf_base[id] ? "; " : "");
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

static void write_node(const struct plan *p, hlo_id id, const struct plan_collective *reduced,
                       struct str *out)
{
    const struct hlo_module *m = p->problem->m;
    struct str shapes = {0};

    write_shapes(p, id, &shapes);
    str_format(out, "    n%u [label=\"", id);
    add_escaped(out, hlo_name(m, id));
    str_add(out, "\\n");
    if (m->leaf_base[id + 1] - m->leaf_base[id] == 1)
        add_escaped(out, shapes.text);
    else
        str_format(out, "%u values", m->leaf_base[id + 1] - m->leaf_base[id]);
    if (reduced)
        str_format(out, "\\nall-reduce %.1f MB\", shape=\"ellipse", reduced->bytes / 1e6);
    str_add(out, "\", tooltip=\"");
    add_escaped(out, shapes.text ? shapes.text : "");
    str_add(out, "\"];\n");
    out->failed |= shapes.failed;
    str_release(&shapes);
}

static void write_edges(const struct plan *p, hlo_id id, struct str *out)
{
    const struct hlo_module *m = p->problem->m;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        if (is_drawn(p, from))
            str_format(out, "  n%u -> n%u%s;\n", from, id, is_split(p, from) ? " [style=bold]" : "");
    }
    for (uint32_t n = 0; n < hlo_at(m, id)->called_count; n++) {
        hlo_id root = m->computations[hlo_called(m, id, n)].root;
        if (is_drawn(p, root))
            str_format(out, "  n%u -> n%u [style=dashed];\n", root, id);
    }
}

/* Layer 0 holds what is in no layer; in loop bodies the computation is the box. */
static uint64_t box_of(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    hlo_comp c = hlo_at(m, id)->computation;

    return c == m->entry ? p->problem->roles.layer[id] : (uint64_t)p->problem->roles.layer_count + c;
}

static void write_box(const struct plan *p, uint64_t box, struct str *out)
{
    const struct hlo_roles *r = &p->problem->roles;

    str_format(out, "  subgraph cluster_%llu {\n    label=\"", (unsigned long long)box);
    add_escaped(out, box < r->layer_count ? r->layer_names[box]
                                          : p->problem->m->computations[box - r->layer_count].name);
    str_add(out, "\";\n");
}

/* Instructions of each box in order, by a counting sort over boxes. */
static int sort_by_box(const struct plan *p, hlo_id **order, uint32_t **first, uint32_t *boxes, struct err *e)
{
    const struct hlo_module *m = p->problem->m;

    *boxes = p->problem->roles.layer_count + m->computation_count;
    *first = mem_try((size_t)*boxes + 2, sizeof **first);
    *order = mem_try((size_t)m->count + 1, sizeof **order);
    if (!*first || !*order)
        return err_set(e, ERR_MEMORY, "not enough memory for the graph");
    for (hlo_id id = 0; id < m->count; id++)
        (*first)[box_of(p, id) + 2] += is_drawn(p, id);
    for (uint32_t b = 2; b < *boxes + 2; b++)
        (*first)[b] += (*first)[b - 1];
    for (hlo_id id = 0; id < m->count; id++) {
        if (is_drawn(p, id))
            (*order)[(*first)[box_of(p, id) + 1]++] = id;
    }
    return 0;
}

static void write_all(const struct plan *p, const struct plan_collective *list, size_t count,
                      const hlo_id *order, const uint32_t *first, uint32_t boxes, struct str *out)
{
    for (uint32_t b = 0; b < boxes; b++) {
        if (first[b] == first[b + 1])
            continue;
        if (b)
            write_box(p, b, out);
        for (uint32_t n = first[b]; n < first[b + 1]; n++) {
            size_t low = 0, high = count; /* collectives are in order of instructions */
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (list[middle].instruction < order[n])
                    low = middle + 1;
                else
                    high = middle;
            }
            bool reduced = low < count && list[low].instruction == order[n];
            write_node(p, order[n], reduced ? &list[low] : NULL, out);
        }
        str_add(out, b ? "  }\n" : "");
    }
    for (uint32_t n = 0; n < first[boxes]; n++)
        write_edges(p, order[n], out);
}

int export_dot(const struct plan *p, struct str *out, struct err *e)
{
    struct plan_collective *list = NULL;
    hlo_id *order = NULL;
    uint32_t *first = NULL, boxes = 0;
    size_t count = 0;
    int rc = plan_collectives(p, &list, &count, e);

    if (!rc)
        rc = sort_by_box(p, &order, &first, &boxes, e);
    if (!rc) {
        str_add(out, "digraph \"");
        add_escaped(out, p->problem->m->name);
        str_add(out, "\" {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", fontsize=9];\n");
        write_all(p, list, count, order, first, boxes, out);
        str_add(out, "}\n");
        if (out->failed)
            rc = err_set(e, ERR_MEMORY, "not enough memory for the graph");
    }
    free(list);
    free(order);
    free(first);
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
