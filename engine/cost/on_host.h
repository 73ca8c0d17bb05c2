/* engine/cost/on_host.h - values that the step keeps in host memory. Private to engine/cost.
 *
 * A value that a kernel of effect offload makes is there, and so is what is only cut out of it, put
 * into it or another name of it: a stack of offloaded values that a loop carries is on the host as
 * a whole (XLA's host offloader, xla/service/host_offloader.cc, moves it so). A kernel of effect
 * fetch brings back what it is given. */
#ifndef AUTOMAP_ENGINE_COST_ON_HOST_H
#define AUTOMAP_ENGINE_COST_ON_HOST_H

#include "hlo/module/hlo.h"

#include <stdbool.h>
#include <stdint.h>

/* Marks is_on_host[values], all 0 before, by buffers: buffer[v] is what v is kept in. O(values). */
void on_host_find(const struct hlo_module *m, const hlo_value *buffer, uint8_t *is_on_host);

#endif
