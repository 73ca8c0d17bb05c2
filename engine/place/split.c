#include "engine/place/split.h"

#include "engine/place/graph_file.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/text/json_pull.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <inttypes.h>
#include <string.h>

struct named {
    int64_t id;
    uint32_t node;
};

struct splitting {
    struct json_pull j;
    const struct place_graph *g;
    struct placement *p;
    struct named *ids;
    uint32_t *of_color; /* by color: its device */
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static uint32_t find_split_node(const struct splitting *s, int64_t id)
{
    struct named key = {id, 0};
    const struct named *hit = bsearch(&key, s->ids, s->g->nodes, sizeof *s->ids, compare_named);

    return hit ? hit->node : PLACE_NONE;
}

static void put_node(struct splitting *s, uint32_t device)
{
    const struct place_graph *g = s->g;
    int64_t id = json_integer(&s->j, INT64_MIN + 1, INT64_MAX);
    uint32_t v = s->j.failed ? 0 : find_split_node(s, id);

    if (s->j.failed)
        return;
    if (v == PLACE_NONE) {
        json_wrong(&s->j, "node %" PRId64 " is not in the graph", id);
        return;
    }
    uint32_t *of = &s->of_color[g->color[v]];
    if (s->p->device[v] != PLACE_NONE)
        json_wrong(&s->j, "node %" PRId64 " a second time", id);
    else if (*of != PLACE_NONE && *of != device)
        json_wrong(&s->j, "node %" PRId64 " is on another device than its color class", id);
    s->p->device[v] = *of = device;
}

/* One entry of "fpgas" or "cpus". */
static void read_device(struct splitting *s, uint32_t device)
{
    struct json_pull *j = &s->j;

    json_object(j);
    while (json_key(j)) {
        if (!strcmp(j->key, "nodes")) {
            json_list(j);
            while (json_item(j))
                put_node(s, device);
        } else if (!strcmp(j->key, "copies")) {
            s->p->copies[device] = (uint32_t)json_integer(j, 1, PLACE_DEVICES_MAX);
        } else {
            json_skip(j);
        }
    }
}

static void read_devices(struct splitting *s, uint32_t first, uint32_t count, const char *what)
{
    struct json_pull *j = &s->j;
    uint32_t used = 0;

    json_list(j);
    while (json_item(j)) {
        if (used >= count) {
            json_wrong_at(j, j->at, "more %s than the %u the graph allows", what, count);
            return;
        }
        read_device(s, first + used++);
    }
}

static void read_all(struct splitting *s)
{
    struct json_pull *j = &s->j;
    uint32_t cores = s->g->type[s->g->types - 1].count, all = place_devices(s->g);

    json_object(j);
    while (json_key(j)) {
        if (!strcmp(j->key, "fpgas"))
            read_devices(s, 0, all - cores, "accelerators");
        else if (!strcmp(j->key, "cpus"))
            read_devices(s, all - cores, cores, "cores");
        else
            json_skip(j);
    }
}

static void complete_by_color(struct splitting *s)
{
    const struct place_graph *g = s->g;

    for (uint32_t v = 0; v < g->nodes; v++) {
        if (s->p->device[v] == PLACE_NONE)
            s->p->device[v] = s->of_color[g->color[v]];
        if (s->p->device[v] == PLACE_NONE)
            json_wrong_at(&s->j, s->j.size,
                          "node %" PRId64 " is on no device, and so is its color class", g->id[v]);
    }
}

static int price_split(struct splitting *s, const struct place_rules *rules, struct err *e)
{
    struct place_load *load = mem_try((size_t)place_devices(s->g) + 1, sizeof *load);
    int rc = load ? placement_check_copies(s->p, s->g, e) : err_no_memory(e, "for a split");

    if (rc)
        goto out;
    rc = placement_value(s->p, s->g, rules, load, e);
    s->p->algo = "split";
out:
    free(load);
    return rc;
}

int place_split_parse(const char *text, size_t size, const struct place_graph *g,
                      const struct place_rules *rules, struct placement **out, struct err *e)
{
    struct splitting s = {.g = g};
    int rc = placement_new(g, &s.p, e);

    if (rc)
        return rc;
    s.ids = mem_try((size_t)g->nodes + 1, sizeof *s.ids);
    s.of_color = mem_try((size_t)g->colors + 1, sizeof *s.of_color);
    if (!s.ids || !s.of_color) {
        rc = err_no_memory(e, "for a split");
        goto out;
    }
    for (uint32_t v = 0; v < g->nodes; v++)
        s.ids[v] = (struct named){g->id[v], v};
    qsort(s.ids, g->nodes, sizeof *s.ids, compare_named);
    memset(s.of_color, 0xff, g->colors * sizeof *s.of_color);
    memset(s.p->device, 0xff, g->nodes * sizeof *s.p->device);
    json_open(&s.j, text, size, e);
    read_all(&s);
    rc = json_close(&s.j);
    if (rc)
        goto out;
    complete_by_color(&s);
    rc = s.j.failed ? e->code : price_split(&s, rules, e);
out:
    free(s.ids);
    free(s.of_color);
    if (rc)
        placement_free(s.p);
    else
        *out = s.p;
    return rc;
}

int place_split_read(const char *path, const struct place_graph *g, const struct place_rules *rules,
                     struct placement **out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read_plain(path, PLACE_FILE_BYTES_MAX, &text, e);

    if (rc)
        goto out;
    if ((rc = place_split_parse(text.text ? text.text : "", text.size, g, rules, out, e)))
        err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

/* ---- writing ---- */

static void write_device(const struct placement *p, const struct place_graph *g, uint32_t d,
                         double load, struct str *out)
{
    bool first = true;

    str_format(out, "{\"load\": %.17g, ", load);
    if (p->copies[d] > 1)
        str_format(out, "\"copies\": %u, ", p->copies[d]);
    str_add(out, "\"nodes\": [");
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (p->device[v] != d)
            continue;
        str_format(out, first ? "%" PRId64 : ", %" PRId64, g->id[v]);
        first = false;
    }
    str_add(out, "]}");
}

static void write_devices(const struct placement *p, const struct place_graph *g,
                          const struct place_rules *r, const struct place_load *load,
                          uint32_t begin, uint32_t end, struct str *out)
{
    for (uint32_t d = begin; d < end; d++) {
        uint32_t c = p->copies[d] ? p->copies[d] : 1;
        str_add(out, d > begin ? ",\n  " : "\n  ");
        write_device(p, g, d, place_device_ms(g, r, &load[d], c), out);
    }
}

void place_split_write(const struct placement *p, const struct place_graph *g,
                       const struct place_rules *rules, const struct place_load *load,
                       bool is_latency, struct str *out)
{
    uint32_t all = place_devices(g), cores = g->type[g->types - 1].count;

    str_format(out, "{\"%s\": %.17g,\n \"fpgas\": [", is_latency ? "totalLatency" : "maxLoad",
               p->value_ms);
    write_devices(p, g, rules, load, 0, all - cores, out);
    str_add(out, "],\n \"cpus\": [");
    write_devices(p, g, rules, load, all - cores, all, out);
    str_add(out, "]}\n");
}
