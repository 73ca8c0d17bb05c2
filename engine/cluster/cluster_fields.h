/* engine/cluster/cluster_fields.h - the keys of a cluster file, as tables shared by the reader,
 * cluster_set and error messages. Private to engine/cluster. */
#ifndef AUTOMAP_ENGINE_CLUSTER_CLUSTER_FIELDS_H
#define AUTOMAP_ENGINE_CLUSTER_CLUSTER_FIELDS_H

#include "engine/cluster/cluster.h"
#include "engine/text/quantity.h"
#include "hlo/support/err.h"

#include <stdbool.h>

enum field_kind {
    FIELD_QUANTITY, /* double, with a unit */
    FIELD_COUNT,    /* uint32_t from 1 to most */
    FIELD_PART,     /* double from 0 to 1, a plain number */
    FIELD_PROTOCOL, /* bool: plain or nccl */
    FIELD_NAME,     /* char[CLUSTER_NAME_ROOM]: letters, digits, - _ . + and blanks */
    FIELD_ABOUT,    /* char[CLUSTER_ABOUT_ROOM], any text, cleaned */
    FIELD_TYPE,     /* uint32_t: index of a device type, by name */
    FIELD_LINK,     /* enum link_kind */
    FIELD_SHAPE,    /* sizes of a torus, 4x4 */
    FIELD_SECTION,  /* a map with fields of its own */
    FIELD_TYPES,    /* map of names to device types */
    FIELD_GROUPS,   /* list of groups of servers */
};

struct cluster_field {
    const char *key;
    enum field_kind kind;
    bool is_required;
    const char *example;
    size_t offset; /* in the section's struct */
    enum quantity quantity;
    uint32_t most;
    const struct cluster_section *section;
};

struct cluster_section {
    const char *what;                   /* "a device type" */
    const struct cluster_field *fields; /* ends with key NULL; at most 16 */
};

extern const struct cluster_section cluster_section_top, cluster_section_device,
    cluster_section_group, cluster_section_peak;

/* The field named `key`, or NULL with an error that names the nearest one. */
const struct cluster_field *cluster_field_find(const struct cluster_section *s, const char *key,
                                               struct err *e);

/* Sets a field from text, except for the last three kinds. `base` is the section's struct within
 * `c`, whose device types are known. */
int cluster_field_set(const struct cluster *c, const struct cluster_field *f, void *base,
                      const char *text, struct err *e);

/* Checks what no single field can: links between several devices, sizes of a torus, totals.
 * Fills servers and devices. On error `*group` is the group at fault, c->groups for the whole. */
int cluster_check(struct cluster *c, uint32_t *group, struct err *e);

#endif
