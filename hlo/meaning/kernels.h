/* hlo/meaning/kernels.h - what a rule said of one custom-call or other opaque kernel: along which
 * loop indices it can be split, and what it takes. Rules themselves are read elsewhere
 * (engine/kernels); a module holds what they came to: m->kernels[id], NULL without a rule. */
#ifndef AUTOMAP_HLO_MEANING_KERNELS_H
#define AUTOMAP_HLO_MEANING_KERNELS_H

#include "hlo/module/hlo.h"

enum { KERNEL_LEAVES_MOST = 32 };

struct hlo_kernel_factor {
    int64_t size;
    uint8_t kind, combiner; /* enum hlo_factor_kind, enum hlo_combiner */
    int8_t dims[KERNEL_LEAVES_MOST];
};

/* Part of a device's matrix peak that it reaches, by a word in the device's name; "": any other. */
struct hlo_kernel_reach {
    const char *device;
    double part;
};

struct hlo_kernel {
    const char *rule; /* its target pattern, and where it is from */
    const struct hlo_kernel_factor *factors;
    uint32_t factor_count, leaves;
    double flops, bytes; /* of one execution, whole; bytes < 0: those of operands and results */
    const struct hlo_kernel_reach *reach; /* NULL: memory only */
    uint32_t reach_count;
};

/* The rule's answer for instruction `id`, or NULL. */
static inline const struct hlo_kernel *hlo_kernel_of(const struct hlo_module *m, hlo_id id)
{
    return m->kernels ? m->kernels[id] : NULL;
}

/* What a device of this name reaches; 0: memory only. */
double hlo_kernel_reach_on(const struct hlo_kernel *k, const char *device);

#endif
