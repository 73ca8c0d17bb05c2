#include "engine/hybrid/pin_wishes.h"

#include "engine/cluster/cluster.h"
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/plan/explain.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_layer(const struct sections *s, const char *name, size_t size, struct err *e)
{
    char first[160] = "", last[160] = "", layer[160];

    for (uint32_t n = 0; n < s->count; n++) {
        sections_layer(s, n, layer, sizeof layer);
        if (!first[0])
            memcpy(first, layer, sizeof first);
        if (layer[0])
            memcpy(last, layer, sizeof last);
    }
    if (!first[0])
        return err_set(e, ERR_INPUT, "the model has no layers that a pin could name");
    return err_set(e, ERR_INPUT, "no layer %.*s; layers are %.80s .. %.80s",
                   (int)(size < 80 ? size : 80), name, first, last);
}

/* The sections that belong to a layer: [*first, *last]. */
static int find_layer(const struct sections *s, const char *name, size_t size, uint32_t *first,
                      uint32_t *last, struct err *e)
{
    char layer[160];
    bool found = false;

    for (uint32_t n = 0; n < s->count; n++) {
        sections_layer(s, n, layer, sizeof layer);
        if (strlen(layer) != size || strncmp(layer, name, size) != 0)
            continue;
        *first = found ? *first : n;
        *last = n;
        found = true;
    }
    return found ? 0 : no_layer(s, name, size, e);
}

/* A whole number up to the end of the text. */
static bool read_number(const char *text, uint32_t *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    *out = (uint32_t)n;
    return text[0] >= '0' && text[0] <= '9' && !*end && n <= CLUSTER_DEVICES_MOST;
}

static int set_server(const struct cluster *c, uint32_t server, struct hybrid_pin *out,
                      struct err *e)
{
    uint32_t before = 0, device = 0;

    for (uint32_t g = 0; g < c->groups; g++) {
        if (server < before + c->group[g].count) {
            out->device = device + (server - before) * c->group[g].devices;
            out->devices = c->group[g].devices;
            return 0;
        }
        before += c->group[g].count;
        device += c->group[g].count * c->group[g].devices;
    }
    return err_set(e, ERR_INPUT, "no server %u; the cluster has %u, from 0 on", server, before);
}

/* "LAYER:tp<=N" and the like; *found: the text is one. */
static int make_split(const struct sections *s, const char *text, struct hybrid_pin *out,
                      bool *found, struct err *e)
{
    static const struct {
        const char *mark;
        enum hybrid_pin_kind kind;
        bool is_most;
    } forms[] = {{":tp<=", HYBRID_PIN_TP, true},
                 {":tp=", HYBRID_PIN_TP, false},
                 {":dp<=", HYBRID_PIN_DP, true},
                 {":dp=", HYBRID_PIN_DP, false}};
    uint32_t number;

    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
        const char *at = strstr(text, forms[n].mark);
        if (!at)
            continue;
        *found = true;
        if (!read_number(at + strlen(forms[n].mark), &number) || !number)
            return err_set(e, ERR_INPUT, "\"%.80s\", expected a number of parts from 1 on", text);
        out->kind = forms[n].kind;
        out->least = forms[n].is_most ? 1 : number;
        out->most = number;
        return find_layer(s, text, (size_t)(at - text), &out->first, &out->last, e);
    }
    return 0;
}

/* ---- groups ---- */

static int add_named(struct hybrid_named *out, class_id class, uint32_t section, struct err *e)
{
    if (out->count == HYBRID_PIN_CLASSES_MOST)
        return err_set(e, ERR_LIMIT, "a pin of more than %d classes", HYBRID_PIN_CLASSES_MOST);
    out->section[out->count] = (uint16_t)section;
    out->class[out->count++] = class;
    return 0;
}

/* A class in the sections [first, end) that have it to themselves; one that sections share where
 * the layer has it. */
static int add_class(const struct sections *s, const struct hybrid_pin *pin, class_id class,
                     uint32_t first, uint32_t end, struct hybrid_named *out, struct err *e)
{
    bool is_local = false;
    int rc = 0;

    for (uint32_t at = 0; at < s->count && !is_local; at++)
        for (uint32_t m = s->local_base[at]; m < s->local_base[at + 1] && !is_local; m++) {
            is_local = s->local[m] == class;
            if (is_local && first <= at && at < end)
                rc = add_named(out, class, at, e);
        }
    return !is_local && sections_have(s, pin->first, pin->last + 1, class)
               ? add_named(out, class, pin->first, e)
               : rc;
}

/* All of a name without the number of a layer; the class of a name with one that the layer has;
 * NAME:DIM names one. */
static int find_classes(const struct sections *s, const char *name, const struct hybrid_pin *pin,
                        struct hybrid_named *out, struct err *e)
{
    const struct problem *p = s->problem;
    const struct classes *c = &p->classes;
    struct class_names names;
    char of[NAME_ROOM];
    dim_id d;

    if (!explain_find(p, name, &d, e)) {
        class_id k = c->class_of[d];
        return k != CLASS_NONE && c->info[k].reason == CLASS_ALLOWED
                   ? add_class(s, pin, k, pin->first, pin->last + 1, out, e)
                   : 0;
    }
    int rc = class_names_new(c, &p->roles, &names, e);
    if (rc)
        return rc;
    for (class_id k = 0; k < c->count && !rc; k++) {
        if (c->info[k].reason != CLASS_ALLOWED || (!c->info[k].var_dims && !c->info[k].input_dims))
            continue;
        if (!strcmp(hybrid_role_name(&names, k, of), name))
            rc = add_class(s, pin, k, 0, s->count, out, e);
        else if (!strcmp(class_name(&names, k, of), name))
            rc = add_class(s, pin, k, pin->first, pin->last + 1, out, e);
    }
    class_names_release(&names);
    return rc;
}

/* What stands behind the last "=": split, whole or a number of parts. */
static int read_parts(const char *text, struct hybrid_pin *out, struct err *e)
{
    uint32_t parts = 0;

    out->kind = HYBRID_PIN_GROUP;
    out->least = out->most = 1;
    if (!strcmp(text, "whole"))
        return 0;
    if (strcmp(text, "split") && (!read_number(text, &parts) || !parts))
        return err_set(e, ERR_INPUT, "\"%.80s\", expected split, whole or a number of parts", text);
    out->least = parts ? parts : 2;
    out->most = parts ? parts : CLUSTER_DEVICES_MOST;
    return 0;
}

/* "LAYER:NAME=split"; *found: the text is one. */
static int make_group(const struct sections *s, const char *text, struct hybrid_pin *out,
                      struct hybrid_named *named, bool *found, struct err *e)
{
    const char *colon = strchr(text, ':'), *equals = colon ? strrchr(colon, '=') : NULL;
    char name[512];

    *found = equals && (size_t)(equals - colon) < sizeof name;
    if (!*found)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(equals - colon - 1), colon + 1);
    int rc = read_parts(equals + 1, out, e);
    rc = rc ? rc : find_layer(s, text, (size_t)(colon - text), &out->first, &out->last, e);
    rc = rc ? rc : find_classes(s, name, out, named, e);
    if (rc)
        return rc;
    for (uint32_t n = 0; n < named->count; n++)
        if (out->first <= named->section[n] && named->section[n] <= out->last)
            return 0;
    return err_set(e, ERR_INPUT,
                   "\"%.80s\": %.*s has nothing of this name that can be split, "
                   "expected a name as V h shows it, or NAME:DIM of a variable",
                   name, (int)(colon - text < 80 ? colon - text : 80), text);
}

static int make_tp_most(const char *text, struct hybrid_pin *out, struct err *e)
{
    *out = (struct hybrid_pin){.kind = HYBRID_PIN_TP, .least = 1, .is_everywhere = true};
    return read_number(text, &out->most) && out->most
               ? 0
               : err_set(e, ERR_INPUT, "\"%.80s\", expected a number of parts from 1 on", text);
}

static int make_stage(const struct sections *s, const struct cluster *c, const char *text,
                      struct hybrid_pin *out, struct hybrid_named *named, struct err *e)
{
    size_t size = strcspn(text, "=@");
    uint32_t number;
    bool found = false;
    int rc = make_split(s, text, out, &found, e);

    rc = rc || found ? rc : make_group(s, text, out, named, &found, e);
    if (rc || found)
        return rc;
    if (!text[size] || !read_number(text + size + 1, &number))
        return err_set(e, ERR_INPUT,
                       "\"%.80s\", expected LAYER=DEVICES, LAYER@SERVER, LAYER:tp=N, LAYER:tp<=N, "
                       "the same with dp, or LAYER:NAME=split",
                       text);
    rc = find_layer(s, text, size, &out->first, &out->last, e);
    if (rc)
        return rc;
    if (text[size] == '=') {
        out->kind = HYBRID_PIN_DEVICES;
        out->devices = number;
        return 0;
    }
    out->kind = HYBRID_PIN_SERVER;
    return set_server(c, number, out, e);
}

static int make_keep(const struct sections *s, const char *text, struct hybrid_pin *out,
                     struct err *e)
{
    const char *dots = strstr(text, "..");
    uint32_t same;

    if (!dots)
        return err_set(e, ERR_INPUT, "\"%.80s\", expected LAYER..LAYER", text);
    out->kind = HYBRID_PIN_KEEP;
    int rc = find_layer(s, text, (size_t)(dots - text), &out->first, &same, e);
    if (rc)
        return rc;
    rc = find_layer(s, dots + 2, strlen(dots + 2), &same, &out->last, e);
    if (rc || out->first <= out->last)
        return rc;
    return err_set(e, ERR_INPUT, "\"%.80s\": the second layer comes before the first", text);
}

static int make_pin(const struct sections *s, const struct cluster *c, const struct hybrid_wish *w,
                    struct hybrid_pin *out, struct hybrid_named *named, struct err *e)
{
    int rc;

    *out = (struct hybrid_pin){0};
    if (w->kind == HYBRID_WISH_STAGE)
        return make_stage(s, c, w->text, out, named, e);
    if (w->kind == HYBRID_WISH_TP_MOST)
        return make_tp_most(w->text, out, e);
    if (w->kind == HYBRID_WISH_KEEP)
        return make_keep(s, w->text, out, e);
    out->kind = HYBRID_PIN_CUT;
    rc = find_layer(s, w->text, strlen(w->text), &out->first, &out->last, e);
    if (!rc && !out->first)
        return err_set(e, ERR_INPUT, "%.80s is where the first stage begins in any case", w->text);
    return rc;
}

int hybrid_pins_make(const struct sections *s, const struct cluster *c,
                     const struct hybrid_wish *wish, uint32_t count, struct hybrid_pins *out,
                     struct err *e)
{
    uint32_t groups = 0;

    *out = (struct hybrid_pins){0};
    if (count > HYBRID_PINS_MOST)
        return err_set(e, ERR_LIMIT, "more than %d pins", HYBRID_PINS_MOST);
    for (uint32_t n = 0; n < count; n++) {
        struct hybrid_named *named = mem_try(1, sizeof *named);
        int rc =
            named ? make_pin(s, c, &wish[n], &out->pin[n], named, e) : err_no_memory(e, "for pins");
        if (!rc && out->pin[n].kind == HYBRID_PIN_GROUP && groups == HYBRID_GROUP_PINS_MOST)
            rc = err_set(e, ERR_LIMIT, "more than %d pins of what a stage splits",
                         HYBRID_GROUP_PINS_MOST);
        if (!rc && out->pin[n].kind == HYBRID_PIN_GROUP) {
            out->pin[n].named = groups;
            out->named[groups++] = *named;
        }
        free(named);
        if (rc)
            return rc;
    }
    out->count = count;
    return 0;
}
