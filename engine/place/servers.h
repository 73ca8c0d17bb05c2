/* engine/place/servers.h - contiguous plans over two levels: servers with fast links inside.
 *
 *     best[s][I] = min over J below I of max(best[s - 1][J], inside(J, I))
 *     inside(J, I)                    the best chain of one server's devices from J to I
 *
 * (Tarnawski et al., appendix: accelerator hierarchies.) Servers, and devices inside a server, take
 * differences of a chain of ideals. J and I fix what every device pays: a net's other end is on the
 * same server exactly when it lies between J and I. A chain over all I at once, in which only a
 * server's last device pays for far transfers, is a lower bound of inside(J, I); pairs that cannot
 * win by it are skipped. */
#ifndef AUTOMAP_ENGINE_PLACE_SERVERS_H
#define AUTOMAP_ENGINE_PLACE_SERVERS_H

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

/* Whether the program over two levels applies: one kind of accelerators on equal servers, no cores,
 * no copies, passes together, no pins to devices or apart, far never cheaper than near. */
bool place_servers_apply(const struct place_graph *g, const struct place_rules *r);

/* The best plan below q->below_ms over the ideals of f, as a chain whose stage s is device
 * (*device)[s], both freed by the caller; *out is NULL where there is none. Of q only rules,
 * below_ms, pairs and stop count. Contracts as place_program; ERR_LIMIT when the ideals are too
 * many for a table of pins. O(pairs of ideals one server apart x that of one server). */
int place_servers_program(const struct place_prepared *p, const struct place_family *f,
                          const struct place_question *q, struct place_chain **out,
                          uint32_t **device, struct place_effort *effort, struct err *e) MUST_CHECK;

#endif
