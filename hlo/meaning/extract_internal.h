/* hlo/meaning/extract_internal.h - what the files of hlo_extract share. Private to them.
 *
 * Regions are filled one by one, callees first: computations that loops, branches and fusions hold,
 * then the entry. In each, tuples are looked through: `made` says which instruction gives an array,
 * and what takes or gives a tuple gets one made for it. */
#ifndef AUTOMAP_HLO_MEANING_EXTRACT_INTERNAL_H
#define AUTOMAP_HLO_MEANING_EXTRACT_INTERNAL_H

#include "hlo/meaning/extract.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

/* A free instruction as some use needs it. */
struct extract_wanted {
    hlo_id id;
    uint64_t cut;  /* dims that are shorter */
    uint32_t next; /* of the same instruction, + 1 */
    hlo_id made;
};

enum extract_called {
    CALLED_NOT,
    CALLED_APPLIED, /* reducers, comparators: copied word for word */
    CALLED_HELD     /* bodies and branches: a region of its own */
};

struct extractor {
    const struct hlo_module *m;
    const struct hlo_part *part;
    struct hlo_builder *b;
    struct err *e;
    struct hlo_factors factors;
    hlo_comp *computation; /* copies; HLO_NONE: none */
    uint8_t *is_called;    /* [computations] enum extract_called */
    hlo_id *holder;        /* [computations] the instruction that runs what is held */
    uint32_t *first;       /* [count] into wanted, + 1 */
    struct extract_wanted *wanted;
    size_t wanted_count, wanted_room;
    hlo_id *made;       /* [values] the instruction that gives it; HLO_NONE: not yet */
    uint64_t *made_cut; /* [values] inputs that are free: dims that are shorter */
    uint64_t *varies;   /* [values] free: dims along which not all is known to be the same */
    uint64_t *parts;    /* [values] NULL, or what hlo_extract_parts finds */
    hlo_value *of;
    size_t of_room, of_count;
    hlo_id *operands;
    size_t operand_room;
    hlo_comp *called;
    size_t called_room;
    hlo_comp at;       /* what is being filled */
    bool is_annotated; /* its instructions stand for values that have splits */
};

#define EXTRACT_MEMORY "to take a part out of a module"

int extract_refuse(const struct extractor *x, hlo_id id, const char *why) MUST_CHECK;
bool extract_is_array(const struct hlo_shape *s);

/* ---- what is made and what is wanted: extract.c ---- */

int extract_prepare(struct extractor *x) MUST_CHECK;
int extract_want_all(struct extractor *x) MUST_CHECK;
void extract_release(struct extractor *x);

/* ---- free values that are not the same for every sample: extract_varying.c ---- */

/* Fills `varies`; nothing where sizes stay. */
int extract_find_varying(struct extractor *x) MUST_CHECK;
/* Some use takes a micro-batch's part of `v`, which is another for each. */
int extract_want_part(struct extractor *x, hlo_value v, uint64_t cut) MUST_CHECK;

/* ---- sizes: extract_cut.c ---- */

/* Dims of value `v` that are cut; none of a free one. */
uint64_t extract_cut_of(const struct extractor *x, hlo_value v);
int extract_build_array(struct extractor *x, hlo_id id, const struct hlo_shape *s, uint64_t cut,
                        hlo_shape_id *out) MUST_CHECK;
/* The shape `s` of values `first` .. of `id`; `cut` is that of a free array. */
int extract_build_shape(struct extractor *x, hlo_id id, const struct hlo_shape *s, hlo_value first,
                        uint64_t cut, hlo_shape_id *out) MUST_CHECK;
/* The same as in the source, for what is applied. */
int extract_copy_shape(struct extractor *x, hlo_shape_id id, hlo_shape_id *out) MUST_CHECK;
/* How operand n of `id` is needed, when its result is free and cut so, or not free. The factors are
 * those of `id`. */
uint64_t extract_operand_cut(const struct extractor *x, hlo_id id, uint32_t n, bool is_free,
                             uint64_t cut);
/* Sizes and slices among the attributes of `d`. */
int extract_cut_attrs(struct extractor *x, hlo_id id, bool is_free, uint64_t cut,
                      struct hlo_draft *d, struct hlo_attr *list) MUST_CHECK;

/* ---- copies: extract_copy.c ---- */

struct hlo_draft extract_draft_of(const struct extractor *x, hlo_id id);
/* Attributes but those that speak of splits and of the source. */
int extract_set_attrs(struct extractor *x, hlo_id id, struct hlo_draft *d, struct hlo_attr *list,
                      uint32_t room) MUST_CHECK;
int extract_set_called(struct extractor *x, hlo_id id, struct hlo_draft *d) MUST_CHECK;
/* `of`: the value that the first leaf of it stands for. */
int extract_add_draft(struct extractor *x, const struct hlo_draft *d, hlo_value of,
                      hlo_id *out) MUST_CHECK;
/* A computation that is applied, word for word. */
int extract_copy_applied(struct extractor *x, hlo_comp from) MUST_CHECK;

/* ---- what loops, branches and fusions hold: extract_held.c ---- */

/* The value inside, or carried, that leaf `leaf` of operand `n` of a holder becomes; HLO_NONE: it
 * decides which branch is taken. */
hlo_value extract_goal(const struct hlo_module *m, hlo_id id, uint32_t n, uint32_t leaf);
/* Operand `n` of a holder as it wants it. */
int extract_held_operand(struct extractor *x, hlo_id id, uint32_t n, hlo_id *out) MUST_CHECK;
/* The arrays of the tuple that `made` gives, which stands for `id`, become known. */
int extract_add_elements(struct extractor *x, hlo_id id, hlo_id made) MUST_CHECK;
int extract_add_parameter(struct extractor *x, hlo_id id) MUST_CHECK;
int extract_held_root(struct extractor *x, hlo_comp c) MUST_CHECK;

/* The instruction that gives `v`, a free one with these dims cut. */
int extract_find_made(struct extractor *x, hlo_id user, hlo_value v, uint64_t cut,
                      hlo_id *out) MUST_CHECK;

#endif
