/* hlo/meaning/layers_internal.h - shared by layers.c (assigns instructions to layers),
 * layers_names.c and layers_repeat.c (find the layers). Private to hlo/. */
#ifndef AUTOMAP_HLO_MEANING_LAYERS_INTERNAL_H
#define AUTOMAP_HLO_MEANING_LAYERS_INTERNAL_H

#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/support/slots.h"

/* A place in the model: a layer, or something outside of layers (embedding, final norm). */
struct place {
    const char *name;
    bool is_layer;
    bool is_derived; /* appears in a scope marked as differentiated */
    uint32_t times;  /* trips of the loop that it is the body of; 0: none */
    hlo_id loop;     /* the first such loop */
    bool is_shared;  /* has a weight that several places share */
};
enum { PLACE_UNKNOWN = 0, PLACE_OUTSIDE = 1 }; /* the first two of the list */

struct places {
    struct place *items;
    size_t count, room;
    struct slots slots; /* of items, by name */
};

struct layering {
    struct hlo_roles_work *w;
    struct places places;
    uint32_t *of_param;    /* [param_count] place of each variable */
    uint32_t *of;          /* [m->count] place of each instruction */
    const uint32_t *depth; /* [m->count] longest path from a parameter, back edges left out */
    double *flops;         /* [m->count] of a step, in forward and backward pass; callers 0 */
    struct hlo_reach data; /* what depends on inputs */
    bool has_paths;        /* some variable has a name */
    const char **paths;    /* [param_count] of variables, without what is common to all; "" */
};

/* The place with this name, created if new. PLACE_UNKNOWN: out of memory. */
uint32_t hlo_place(struct layering *l, const char *name, size_t size, bool is_layer);

/* Find layers from loops over stacked weights, then from the paths of other weights, else from
 * repetition. They fill of_param, and `of` for instructions of such loops. */
bool hlo_layers_by_loop(struct layering *l);
bool hlo_layers_by_path(struct layering *l);
bool hlo_layers_by_repetition(struct layering *l);
/* Where nothing else is a layer: each matrix that a product or a convolution reads, if several
 * stand in lists, w/0 and w/1 or 0 and 1. */
bool hlo_layers_by_list(struct layering *l);
/* Until layers hold nine tenths of the flops of forward and backward pass, turns the largest place
 * outside into a layer too (layers_cover.c). */
bool hlo_layers_cover(struct layering *l);
/* Fills `of` from the scopes in op_name. */
bool hlo_layers_by_scope(struct layering *l, bool *found);

#endif
