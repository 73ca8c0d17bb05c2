/* engine/hybrid/hybrid_pins.h - what a person fixes in a hybrid plan. A pin rules out stages by
 * their sections, devices and parts of the batch, so every program over stages keeps it, and so
 * does the bound.
 *
 *     cut    LAYER           a stage begins with this layer
 *     keep   LAYER..LAYER    no stage begins behind the first of them up to the last
 *     stage  LAYER=N         the stage that has the layer has N devices
 *     stage  LAYER@SERVER    it is on this server, counted from 0
 *     stage  LAYER:tp<=N     it splits a sample in N at most; tp=N: in N
 *     stage  LAYER:dp<=N     it splits the batch in N at most; dp=N: in N
 *     stage  LAYER:NAME=split  in the stage of the layer all of this name (as V h shows it, without
 *                            the number of a layer) is split, in every layer of the stage; with a
 *                            number, or NAME:DIM of a variable, that class is; =whole: it is not;
 *                            =N: in N. The layer has some of it. What sections share is meant where
 *                            the layer has it
 *     tp-most  N             every stage splits a sample in N at most */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_PINS_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_PINS_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"

#include <stdbool.h>
#include <stdint.h>

enum { HYBRID_PINS_MOST = 32, HYBRID_PIN_CLASSES_MOST = 2048, HYBRID_GROUP_PINS_MOST = 4 };

/* As it is asked for. */
enum hybrid_wish_kind { HYBRID_WISH_CUT, HYBRID_WISH_KEEP, HYBRID_WISH_STAGE, HYBRID_WISH_TP_MOST };
struct hybrid_wish {
    enum hybrid_wish_kind kind;
    const char *text; /* what stands above behind the word; borrowed */
};
extern const char *const hybrid_wish_names[];

enum hybrid_pin_kind {
    HYBRID_PIN_CUT,
    HYBRID_PIN_KEEP,
    HYBRID_PIN_DEVICES,
    HYBRID_PIN_SERVER,
    HYBRID_PIN_TP, /* devices / dp */
    HYBRID_PIN_DP,
    HYBRID_PIN_GROUP
};
struct hybrid_pin {
    enum hybrid_pin_kind kind;
    uint32_t first, last;     /* sections */
    uint32_t device, devices; /* SERVER: the server's; DEVICES: so many */
    uint32_t least, most;     /* TP, DP, GROUP: parts */
    bool is_everywhere;       /* TP, DP: every stage keeps it */
    uint32_t named;           /* GROUP: which of hybrid_pins.named */
};

/* The classes that a pin of a group is about, each where a stage may have it. */
struct hybrid_named {
    class_id class[HYBRID_PIN_CLASSES_MOST];   /* [count] */
    uint16_t section[HYBRID_PIN_CLASSES_MOST]; /* a stage that has this section keeps it there */
    uint32_t count;
};

struct hybrid_pins {
    struct hybrid_pin pin[HYBRID_PINS_MOST];
    uint32_t count;
    struct hybrid_named named[HYBRID_GROUP_PINS_MOST];
};

/* A stage of sections [i, j) on devices [a, b) keeps all pins. O(pins). */
bool hybrid_pins_allow(const struct hybrid_pins *p, uint32_t i, uint32_t j, uint32_t a, uint32_t b);

/* The same of a stage that splits the batch in dp. */
bool hybrid_pins_allow_split(const struct hybrid_pins *p, uint32_t i, uint32_t j, uint32_t devices,
                             uint32_t dp);
/* Some pin is about how stages are split. */
bool hybrid_pins_are_of_splits(const struct hybrid_pins *p);

/* Of pins of groups: bits of all; of those that a stage of sections [i, j) has to keep. */
uint32_t hybrid_pins_of_groups(const struct hybrid_pins *p);
uint32_t hybrid_pins_needed(const struct hybrid_pins *p, uint32_t i, uint32_t j);
static inline bool hybrid_pin_allows_parts(const struct hybrid_pin *p, uint32_t parts)
{
    return parts >= p->least && parts <= p->most;
}
/* A stage of sections [i, j) keeps them under the labels on[classes] over axes of these sizes. */
bool hybrid_pins_allow_labels(const struct hybrid_pins *p, uint32_t i, uint32_t j, const label *on,
                              const uint32_t *size, uint32_t axes);

#endif
