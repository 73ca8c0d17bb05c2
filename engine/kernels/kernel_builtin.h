/* engine/kernels/kernel_builtin.h - the built-in rules, as the text of a rule file:
 * kernels.yaml, embedded by the build. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_BUILTIN_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_BUILTIN_H

extern const char kernel_builtin[];

#endif
