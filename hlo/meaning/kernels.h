/* hlo/meaning/kernels.h - what a rule says about one custom-call or other opaque kernel: the loop
 * indices it can be split along, and its cost. engine/kernels reads the rules; a module holds the
 * results in m->kernels[id], NULL without a rule. */
#ifndef AUTOMAP_HLO_MEANING_KERNELS_H
#define AUTOMAP_HLO_MEANING_KERNELS_H

#include "hlo/module/hlo.h"

enum { KERNEL_LEAVES_MOST = 32 };

struct hlo_kernel_factor {
    int64_t size;
    uint8_t kind, combiner; /* enum hlo_factor_kind, enum hlo_combiner */
    int8_t dims[KERNEL_LEAVES_MOST];
};

/* The share of a device's matrix peak that a kernel reaches, by a word in the device's name; "":
 * any other device. */
struct hlo_kernel_reach {
    const char *device;
    double part;
};

enum hlo_kernel_effect {
    KERNEL_COMPUTES,
    KERNEL_IDENTITY,  /* passes its operand on: a flow */
    KERNEL_ALLOCATES, /* memory whose contents do not matter: a free value */
    KERNEL_ON_HOST,   /* runs in host memory: operands and results cross the link to the host */
    KERNEL_TO_HOST,   /* keeps its operand in host memory from then on */
    KERNEL_TO_DEVICE  /* the way back */
};

struct hlo_kernel {
    const char *rule; /* where the matching rule comes from, for messages */
    const struct hlo_kernel_factor *factors;
    uint32_t factor_count, leaves;
    double flops, bytes; /* of one execution, whole; bytes < 0: those of operands and results */
    double workspace;    /* bytes while it runs, whole */
    const int8_t *place; /* [results] the operand whose memory a result takes where that ends; -1;
                            NULL: none */
    uint8_t effect;      /* enum hlo_kernel_effect */
    const struct hlo_kernel_reach *reach; /* NULL: memory only */
    uint32_t reach_count;
};

/* The rule's answer for instruction `id`, or NULL. */
static inline const struct hlo_kernel *hlo_kernel_of(const struct hlo_module *m, hlo_id id)
{
    return m->kernels ? m->kernels[id] : NULL;
}

/* What instruction `id` does beside computing: KERNEL_COMPUTES where no rule says more. */
static inline enum hlo_kernel_effect hlo_kernel_effect_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_kernel *k = hlo_kernel_of(m, id);

    return k ? (enum hlo_kernel_effect)k->effect : KERNEL_COMPUTES;
}

/* The operand of a custom-call in whose memory result leaf `leaf` is, by its rule, else by the
 * module (output_to_operand_aliasing of operands that are arrays); -1: none. */
int hlo_kernel_place(const struct hlo_module *m, hlo_id id, uint32_t leaf);

/* The share that a device of this name reaches; 0: bound by memory only. */
double hlo_kernel_reach_on(const struct hlo_kernel *k, const char *device);

#endif
