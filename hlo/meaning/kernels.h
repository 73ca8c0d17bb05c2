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

struct hlo_kernel {
    const char *rule; /* where the matching rule comes from, for messages */
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

/* The share that a device of this name reaches; 0: bound by memory only. */
double hlo_kernel_reach_on(const struct hlo_kernel *k, const char *device);

#endif
