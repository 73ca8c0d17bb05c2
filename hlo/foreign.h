/* hlo/foreign.h - files that people have beside HLO, told apart by how they begin.
 *
 * Each is answered with what it is and one command that makes something readable of it. Magic
 * numbers are those of the formats' own specifications; of profiles, models and dumps the first
 * fields that their writers (XLA, TensorFlow, JAX, PyTorch, ONNX) put down. */
#ifndef AUTOMAP_HLO_FOREIGN_H
#define AUTOMAP_HLO_FOREIGN_H

#include "hlo/support/err.h"

#include <stddef.h>

/* An error that names the format when data[0 .. size), the beginning of a file, is one of them;
 * else 0. O(size). */
int foreign_refuse(const char *data, size_t size, struct err *e) MUST_CHECK;

#endif
