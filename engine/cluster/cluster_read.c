#include "engine/cluster/cluster.h"
#include "engine/cluster/cluster_fields.h"
#include "engine/text/yaml.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct yaml_doc doc;
    struct cluster c;
    struct err *e;
};

static int read_section(struct reader *r, const struct yaml *node, const struct cluster_section *s,
                        void *base);

static int expect(struct reader *r, const struct yaml *node, enum yaml_kind kind, const char *what,
                  const char *example)
{
    if (node->kind == kind)
        return 0;
    err_set(r->e, ERR_INPUT, "%s for %s, expected %s such as %s", yaml_kind_name(node->kind), what,
            yaml_kind_name(kind), example);
    return yaml_at(&r->doc, node->mark, r->e);
}

/* `devices:`, a map of names to device types. */
static int read_types(struct reader *r, const struct yaml *node, const struct cluster_field *f)
{
    struct cluster *c = &r->c;
    int code = expect(r, node, YAML_MAP, f->key, f->example);

    for (const struct yaml *n = node->first; n && !code; n = n->next) {
        if (c->types == CLUSTER_TYPES_MOST) {
            err_set(r->e, ERR_LIMIT, "more than %d device types", CLUSTER_TYPES_MOST);
            return yaml_at(&r->doc, n->key_mark, r->e);
        }
        struct cluster_device *d = &c->type[c->types++];
        static const struct cluster_field name = {.key = "name", .kind = FIELD_NAME};
        code = cluster_field_set(c, &name, d->name, n->key, r->e);
        if (!code && strpbrk(n->key, ".* "))
            code = err_set(r->e, ERR_INPUT, "device type \"%.60s\", expected no dots or blanks",
                           n->key);
        if (code)
            return yaml_at(&r->doc, n->key_mark, r->e);
        code = read_section(r, n, &cluster_section_device, d);
    }
    if (!code && !c->types) {
        err_set(r->e, ERR_INPUT, "no device type, expected %s", f->example);
        code = yaml_at(&r->doc, node->mark, r->e);
    }
    return code;
}

/* Which device type an entry of servers has, where it does not say. */
static int settle_type(struct reader *r, const struct yaml *node)
{
    for (const struct yaml *n = node->first; n; n = n->next)
        if (!strcmp(n->key, "type"))
            return 0;
    if (r->c.types == 1)
        return 0;
    err_set(r->e, ERR_INPUT,
            "an entry of servers without type, expected type: %s or another of "
            "the %u device types",
            r->c.type[0].name, r->c.types);
    return yaml_at(&r->doc, node->mark, r->e);
}

/* `servers:`, a list of groups of equal servers. */
static int read_groups(struct reader *r, const struct yaml *node, const struct cluster_field *f)
{
    struct cluster *c = &r->c;
    int code = expect(r, node, YAML_LIST, f->key, f->example);

    for (const struct yaml *n = node->first; n && !code; n = n->next) {
        if (c->groups == CLUSTER_GROUPS_MOST) {
            err_set(r->e, ERR_LIMIT, "more than %d entries of servers", CLUSTER_GROUPS_MOST);
            return yaml_at(&r->doc, n->mark, r->e);
        }
        struct cluster_group *g = &c->group[c->groups++];
        g->count = 1;
        code = read_section(r, n, &cluster_section_group, g);
        if (!code)
            code = settle_type(r, n);
    }
    if (!code && !c->groups) {
        err_set(r->e, ERR_INPUT, "no server, expected %s", f->example);
        code = yaml_at(&r->doc, node->mark, r->e);
    }
    return code;
}

static int read_field(struct reader *r, const struct yaml *node, const struct cluster_field *f,
                      void *base)
{
    void *at = (char *)base + f->offset;
    int code;

    if (f->kind == FIELD_TYPES)
        return read_types(r, node, f);
    if (f->kind == FIELD_GROUPS)
        return read_groups(r, node, f);
    /* peak: 15.7 TFLOP/s is short for peak: {f32: 15.7 TFLOP/s} */
    if (f->section == &cluster_section_peak && node->kind == YAML_SCALAR) {
        f = f->section->fields;
        base = at;
    } else if (f->kind == FIELD_SECTION) {
        return read_section(r, node, f->section, at);
    }
    code = expect(r, node, YAML_SCALAR, f->key, f->example);
    if (code)
        return code;
    code = cluster_field_set(&r->c, f, base, node->text, r->e);
    return code ? yaml_at(&r->doc, node->mark, r->e) : 0;
}

static const struct yaml *map_entry(const struct yaml *map, const char *key)
{
    const struct yaml *n = map->first;

    while (n && strcmp(n->key, key) != 0)
        n = n->next;
    return n;
}

/* A map against its table: unknown keys first, then each field in the table's order. */
static int read_section(struct reader *r, const struct yaml *node, const struct cluster_section *s,
                        void *base)
{
    int code = expect(r, node, YAML_MAP, s->what, "{key: value}");

    for (const struct yaml *n = node->first; n && !code; n = n->next) {
        if (!cluster_field_find(s, n->key, r->e))
            code = yaml_at(&r->doc, n->key_mark, r->e);
    }
    for (const struct cluster_field *f = s->fields; f->key && !code; f++) {
        const struct yaml *n = map_entry(node, f->key);
        if (n) {
            code = read_field(r, n, f, base);
        } else if (f->is_required) {
            err_set(r->e, ERR_INPUT, "%s without %s, expected %s: %s", s->what, f->key, f->key,
                    f->example);
            code = yaml_at(&r->doc, node->mark, r->e);
        }
    }
    return code;
}

static int read_root(struct reader *r)
{
    const struct yaml *root = r->doc.root, *at;
    uint32_t group;
    int code = read_section(r, root, &cluster_section_top, &r->c);

    if (code)
        return code;
    code = cluster_check(&r->c, &group, r->e);
    if (!code)
        return 0;
    at = map_entry(root, "servers");
    if (group < r->c.groups)
        for (at = at->first; group--;)
            at = at->next;
    return yaml_at(&r->doc, at->mark, r->e);
}

int cluster_read(struct cluster *out, const char *yaml, size_t size, struct err *e)
{
    struct reader *r = NULL;
    int code;

    if (size > CLUSTER_FILE_MOST)
        return err_set(e, ERR_LIMIT, "a cluster file of more than %d kB", CLUSTER_FILE_MOST / 1024);
    r = mem_alloc(sizeof *r);
    r->e = e;
    code = yaml_read(&r->doc, yaml, size, e);
    if (!code)
        code = read_root(r);
    if (!code)
        *out = r->c;
    yaml_release(&r->doc);
    free(r);
    return code;
}

/* The file's name without folders and ending, as far as it makes a name. */
static void name_after(struct cluster *c, const char *path)
{
    const char *base = hlo_file_name(path);
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);

    text_clean(c->name, sizeof c->name, base, length);
}

int cluster_load(struct cluster *out, const char *path, struct err *e)
{
    char *text = mem_alloc(CLUSTER_FILE_MOST + 1);
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, CLUSTER_FILE_MOST + 1, f) : 0;
    int code = 0;

    if (!f || ferror(f))
        code = err_set(e, ERR_IO, "cannot read the cluster file: %s", strerror(errno));
    else
        code = cluster_read(out, text, size, e);
    if (f)
        fclose(f);
    free(text);
    if (code)
        return err_in_file(e, path);
    if (!out->name[0])
        name_after(out, path);
    return 0;
}

/* cluster_set: the path is walked down the same tables. */
struct setting {
    struct cluster *c;
    const char *value;
    struct err *e;
};

/* Cuts the next part of a path off. Returns false when it is too long. */
static bool next_part(const char **path, char part[static CLUSTER_NAME_ROOM])
{
    size_t length = strcspn(*path, ".");

    if (length >= CLUSTER_NAME_ROOM)
        return false;
    memcpy(part, *path, length);
    part[length] = '\0';
    *path += length + ((*path)[length] == '.');
    return true;
}

static int set_in_section(struct setting *s, const struct cluster_section *section, void *base,
                          const char *path)
{
    char part[CLUSTER_NAME_ROOM];

    for (;;) {
        const struct cluster_field *f = NULL;
        if (!next_part(&path, part))
            return err_set(s->e, ERR_INPUT, "a key of more than %d letters", CLUSTER_NAME_ROOM - 1);
        f = cluster_field_find(section, part, s->e);
        if (!f)
            return s->e->code;
        if (f->section == &cluster_section_peak && !*path)
            path = "f32";
        if (f->kind != FIELD_SECTION) {
            if (*path)
                return err_set(s->e, ERR_INPUT, "\"%s\" has no keys of its own, not \"%.40s\"",
                               f->key, path);
            return cluster_field_set(s->c, f, base, s->value, s->e);
        }
        if (!*path)
            return err_set(s->e, ERR_INPUT,
                           "\"%s\" is a section, expected one of its keys as in "
                           "%s.%s",
                           f->key, f->key, f->section->fields->key);
        base = (char *)base + f->offset;
        section = f->section;
    }
}

/* devices.NAME.rest and servers.NUMBER.rest, each with * for all. */
static int set_in_entries(struct setting *s, const char *what, const char *path)
{
    bool is_type = !strcmp(what, "devices"), is_found = false;
    uint32_t count = is_type ? s->c->types : s->c->groups;
    char part[CLUSTER_NAME_ROOM], number[16];

    if (!next_part(&path, part) || !*path)
        return err_set(s->e, ERR_INPUT, "expected a path such as %s",
                       is_type ? "devices.*.memory" : "servers.0.count");
    for (uint32_t i = 0; i < count; i++) {
        snprintf(number, sizeof number, "%u", i);
        const char *name = is_type ? s->c->type[i].name : number;
        if (strcmp(part, "*") != 0 && strcmp(part, name) != 0)
            continue;
        int code = set_in_section(s, is_type ? &cluster_section_device : &cluster_section_group,
                                  is_type ? (void *)&s->c->type[i] : (void *)&s->c->group[i], path);
        if (code)
            return code;
        is_found = true;
    }
    if (is_found)
        return 0;
    if (is_type)
        return err_set(s->e, ERR_INPUT, "no device type \"%s\", expected %s%s or *", part,
                       s->c->type[0].name, count > 1 ? ", another" : "");
    return err_set(s->e, ERR_INPUT, "no entry %s of servers, expected 0 to %u or *", part,
                   count - 1);
}

int cluster_set(struct cluster *c, const char *path, const char *value, struct err *e)
{
    struct cluster *copy = mem_alloc(sizeof *copy);
    struct setting s = {copy, value, e};
    char part[CLUSTER_NAME_ROOM] = "";
    const char *rest = path;
    uint32_t group;
    int code;

    *copy = *c;
    if (next_part(&rest, part) && (!strcmp(part, "devices") || !strcmp(part, "servers")))
        code = set_in_entries(&s, part, rest);
    else
        code = set_in_section(&s, &cluster_section_top, copy, path);
    if (!code)
        code = cluster_check(copy, &group, e);
    if (!code)
        *c = *copy;
    free(copy);
    return code;
}

int cluster_set_text(struct cluster *c, const char *setting, struct err *e)
{
    const char *equals = strchr(setting, '=');
    char path[200];

    if (!equals || (size_t)(equals - setting) >= sizeof path)
        return err_set(e, ERR_INPUT,
                       "--set \"%.60s\", expected PATH=VALUE such as network.bandwidth=100 Gbit/s",
                       setting);
    snprintf(path, sizeof path, "%.*s", (int)(equals - setting), setting);
    return cluster_set(c, path, equals + 1, e) ? err_in_file(e, setting) : 0;
}
