/* hlo/foreign.h - recognises files that are not HLO, by how they begin.
 *
 * The error says what the file is and gives one command that makes something readable from it.
 * Magic numbers come from the formats' own specifications; profiles, models and dumps are known by
 * the first fields that their writers (XLA, TensorFlow, JAX, PyTorch, ONNX) write. */
#ifndef AUTOMAP_HLO_FOREIGN_H
#define AUTOMAP_HLO_FOREIGN_H

#include "hlo/support/err.h"

#include <stddef.h>

/* ERR_INPUT with the name of the format if data[0 .. size), the beginning of a file, is one of
 * them; else 0. O(size). */
int foreign_refuse(const char *data, size_t size, struct err *e) MUST_CHECK;

#endif
