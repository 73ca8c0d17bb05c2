/* engine/kernels/kernel_like.h - kernels that are products or convolutions under another name.
 * Private to engine/kernels. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_LIKE_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_LIKE_H

#include "engine/kernels/kernel_match.h"

enum { KERNEL_LIKE_ROOM = 768 };

/* What `like` says of an instruction, in the words of a rule. */
struct kernel_like {
    char dims[KERNEL_LIKE_ROOM];
    char summed; /* indices whose names begin with it leave partial sums */
    double flops;
};

/* Whether `like` is a word for an operation, and the words there are. */
bool kernel_like_is(const char *like);
extern const char kernel_like_words[];

/* dot: operands lhs, rhs, then any of the result's shape (added), of its last dim (bias), and
 * others, which stay whole; results: the product, another of its shape, others. Dimension numbers
 * are lists at `numbers`.lhs_batch_dimensions and so on in the configuration
 * (xla_data.proto, DotDimensionNumbers).
 * convolution, convolution-input, convolution-filter: the forward pass and its gradients by input
 * and filter, with the forward pass's dim_labels (xla/service/gpu/cudnn: GetGpuConvConfig). Batch
 * and features split, not positions. False: not of that form. */
bool kernel_like_of(const struct kernel_match *k, const char *like, const char *numbers,
                    struct kernel_like *out);

#endif
