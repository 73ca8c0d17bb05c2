#include "engine/place/place_pins.h"

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a class is bound to ---- */

struct bound {
    uint8_t allowed;   /* kinds that all of it may be on */
    uint32_t fixed_by; /* a node of it that is pinned to a device, or PLACE_NONE */
};

static struct bound bound_of(const struct place_graph *g, uint32_t color)
{
    struct bound b = {0xff, PLACE_NONE};

    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->color[v] != color)
            continue;
        b.allowed &= g->allowed[v];
        b.fixed_by = g->fixed[v] != PLACE_NONE ? v : b.fixed_by;
    }
    return b;
}

static uint32_t device_of(const struct place_graph *g, const struct bound *b)
{
    return b->fixed_by == PLACE_NONE ? PLACE_NONE : g->fixed[b->fixed_by];
}

/* A pair pinned apart of which one is of color a and one of color b, or PLACE_NONE. */
static uint32_t pair_of(const struct place_graph *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < g->aparts; i++) {
        uint32_t x = g->color[g->apart[2 * i]], y = g->color[g->apart[2 * i + 1]];
        if ((x == a && y == b) || (x == b && y == a))
            return i;
    }
    return PLACE_NONE;
}

/* A node of either color that may not be on that device, or PLACE_NONE. */
static uint32_t kept_off(const struct place_graph *g, uint32_t a, uint32_t b, uint32_t device)
{
    for (uint32_t v = 0; v < g->nodes && device != PLACE_NONE; v++) {
        if ((g->color[v] == a || g->color[v] == b) &&
            !(g->allowed[v] >> place_type_of(g, device) & 1))
            return v;
    }
    return PLACE_NONE;
}

static int clash_of_kinds(const struct place_graph *g, uint32_t node, struct err *e)
{
    return err_set(e, ERR_INFEASIBLE,
                   "node %s would be left without a kind of device that may hold it and "
                   "all that shares its device",
                   place_who(g, node).text);
}

/* ---- pins by numbers ---- */

int place_pin_together(struct place_graph *g, uint32_t a, uint32_t b, struct err *e)
{
    uint32_t keep = g->color[a], gone = g->color[b];
    char x[16], y[16];

    if (keep == gone)
        return 0;
    struct bound ba = bound_of(g, keep), bb = bound_of(g, gone);
    uint32_t da = device_of(g, &ba), db = device_of(g, &bb), pair = pair_of(g, keep, gone);
    if (da != PLACE_NONE && db != PLACE_NONE && da != db)
        return err_set(e, ERR_INFEASIBLE,
                       "%s with %s clashes with %s on %s and %s"
                       " on %s",
                       place_who(g, a).text, place_who(g, b).text, place_who(g, ba.fixed_by).text,
                       place_device_name(g, da, x), place_who(g, bb.fixed_by).text,
                       place_device_name(g, db, y));
    if (pair != PLACE_NONE)
        return err_set(e, ERR_INFEASIBLE, "%s with %s clashes with %s apart from %s",
                       place_who(g, a).text, place_who(g, b).text,
                       place_who(g, g->apart[2 * pair]).text,
                       place_who(g, g->apart[2 * pair + 1]).text);
    if (!(ba.allowed & bb.allowed))
        return clash_of_kinds(g, a, e);
    uint32_t fixed_by = da != PLACE_NONE ? ba.fixed_by : bb.fixed_by;
    uint32_t fixed = da != PLACE_NONE ? da : db, off = kept_off(g, keep, gone, fixed);
    if (off != PLACE_NONE)
        return err_set(e, ERR_INFEASIBLE,
                       "%s with %s clashes with %s on %s, where %s"
                       " may not be",
                       place_who(g, a).text, place_who(g, b).text, place_who(g, fixed_by).text,
                       place_device_name(g, fixed, x), place_who(g, off).text);
    uint32_t last = --g->colors, moved = gone == last ? keep : gone;
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t c = g->color[v] == gone ? keep : g->color[v];
        g->color[v] = c == last ? moved : c;
    }
    return 0;
}

/* Any node that is pinned to the device, or PLACE_NONE; how many devices are pinned to. */
static uint32_t pinned_to(const struct place_graph *g, uint32_t device, uint32_t *devices)
{
    bool seen[PLACE_DEVICES_MAX] = {false};
    uint32_t found = PLACE_NONE;

    *devices = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->fixed[v] == PLACE_NONE)
            continue;
        *devices += !seen[g->fixed[v]];
        seen[g->fixed[v]] = true;
        found = g->fixed[v] == device ? v : found;
    }
    return found;
}

int place_pin_on(struct place_graph *g, uint32_t node, uint32_t device, struct err *e)
{
    struct bound b = bound_of(g, g->color[node]);
    uint32_t there = device_of(g, &b), devices, other = pinned_to(g, device, &devices);
    char x[16], y[16];

    if (there != PLACE_NONE && there != device)
        return err_set(e, ERR_INFEASIBLE, "%s on %s clashes with %s on %s, which shares its device",
                       place_who(g, node).text, place_device_name(g, device, x),
                       place_who(g, b.fixed_by).text, place_device_name(g, there, y));
    if (!(b.allowed >> place_type_of(g, device) & 1))
        return clash_of_kinds(g, node, e);
    if (other == PLACE_NONE && devices == PLACE_PINS_MAX)
        return err_set(e, ERR_LIMIT, "pins to more than %d devices", PLACE_PINS_MAX);
    if (other != PLACE_NONE && place_pin_together(g, node, other, e))
        return e->code;
    g->fixed[node] = device;
    return 0;
}

int place_pin_apart(struct place_graph *g, uint32_t a, uint32_t b, struct err *e)
{
    if (g->color[a] == g->color[b])
        return err_set(e, ERR_INFEASIBLE, "%s apart from %s clashes with what holds them together",
                       place_who(g, a).text, place_who(g, b).text);
    if (g->aparts == PLACE_PINS_MAX)
        return err_set(e, ERR_LIMIT, "more than %d pairs apart", PLACE_PINS_MAX);
    g->apart[2 * g->aparts] = a;
    g->apart[2 * g->aparts + 1] = b;
    g->aparts++;
    return 0;
}

int place_pin_off_host(struct place_graph *g, uint32_t node, struct err *e)
{
    struct bound b = bound_of(g, g->color[node]);
    uint8_t host = (uint8_t)(1u << (g->types - 1)), left = (uint8_t)(b.allowed & ~host);
    char x[16];

    if (device_of(g, &b) != PLACE_NONE && !(left >> place_type_of(g, device_of(g, &b)) & 1))
        return err_set(e, ERR_INFEASIBLE, "%s off host clashes with %s on %s",
                       place_who(g, node).text, place_who(g, b.fixed_by).text,
                       place_device_name(g, device_of(g, &b), x));
    if (!(left & (host - 1)))
        return clash_of_kinds(g, node, e);
    g->allowed[node] &= (uint8_t)~host;
    return 0;
}

/* ---- pins as words ---- */

int place_find_node(const struct place_graph *g, const char *word, size_t size, uint32_t *out,
                    struct err *e)
{
    uint32_t found = 0;
    char *end, text[PLACE_NAME_ROOM];

    *out = 0;

    if (size && size < sizeof text) {
        memcpy(text, word, size);
        text[size] = 0;
        long long id = strtoll(text, &end, 10);
        for (uint32_t v = 0; v < g->nodes; v++) {
            if ((!*end && end != text && g->id[v] == id) ||
                (g->name[v] && !strcmp(g->name[v], text))) {
                *out = v;
                found++;
            }
        }
        if (found == 1)
            return 0;
    }
    return err_set(e, ERR_INPUT,
                   found ? "%d nodes are called \"%.*s\", expected one: give its id"
                         : "%d nodes are called \"%.*s\", expected one",
                   (int)found, (int)(size < 80 ? size : 80), word);
}

static int find_device(const struct place_graph *g, const char *word, uint32_t *out, struct err *e)
{
    char name[16];

    for (*out = 0; *out < place_devices(g); ++*out) {
        if (!strcmp(place_device_name(g, *out, name), word))
            return 0;
    }
    return err_set(e, ERR_INPUT, "there is no device \"%.40s\", expected A, B .. or h", word);
}

static int pin_on(struct place_graph *g, uint32_t node, const char *rest, struct err *e)
{
    uint32_t device = 0;

    return find_device(g, rest, &device, e) ? e->code : place_pin_on(g, node, device, e);
}
static int pin_with(struct place_graph *g, uint32_t node, const char *rest, struct err *e)
{
    uint32_t other = 0;

    return place_find_node(g, rest, strlen(rest), &other, e)
               ? e->code
               : place_pin_together(g, node, other, e);
}
static int pin_apart(struct place_graph *g, uint32_t node, const char *rest, struct err *e)
{
    uint32_t other = 0;

    return place_find_node(g, rest, strlen(rest), &other, e) ? e->code
                                                             : place_pin_apart(g, node, other, e);
}
static int pin_off(struct place_graph *g, uint32_t node, const char *rest, struct err *e)
{
    if (strcmp(rest, "host") != 0)
        return err_set(e, ERR_INPUT, "off \"%.40s\", expected off host", rest);
    return place_pin_off_host(g, node, e);
}

static const struct {
    const char *words;
    int (*pin)(struct place_graph *, uint32_t, const char *, struct err *);
} forms[] = {
    {" apart from ", pin_apart}, {" with ", pin_with}, {" off ", pin_off}, {" on ", pin_on}};

int place_pin(struct place_graph *g, const char *text, struct err *e)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *at = strstr(text, forms[i].words);
        uint32_t node = 0;
        if (!at)
            continue;
        if (place_find_node(g, text, (size_t)(at - text), &node, e))
            return e->code;
        return forms[i].pin(g, node, at + strlen(forms[i].words), e);
    }
    return err_set(
        e, ERR_INPUT,
        "\"%.60s\" is not a pin, expected NODE on DEVICE, NODE with NODE, NODE apart from "
        "NODE or NODE off host",
        text);
}
