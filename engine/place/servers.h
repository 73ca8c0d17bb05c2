/* engine/place/servers.h - contiguous plans over two levels: servers with fast links inside.
 *
 *     best[s][c][I] = min over J below I of max(best[s'][c'][J], block(J, I))
 *     block(J, I)     the best chain of one server's devices from J to I, cores in between; one
 *                     core; or one stage with copies on all devices of several servers
 *
 * (Tarnawski et al., appendix: accelerator hierarchies.) Servers, and devices inside a server, take
 * differences of a chain of ideals: of all accelerators those of a server come one after another.
 * The host's cores belong to no server: they may stand anywhere, and what they move is near.
 * Copies of a stage share a server, or take all of several, and then send their weights far.
 *
 * J and I fix what every accelerator pays but for nets whose other end may be on a core: they are
 * near to begin with, which is a bound below, and where the best plan took that for granted a
 * position is decided both ways, on a core and not (branch and bound). A chain over all I at once,
 * in which only a server's last device pays for far transfers, is a bound of block(J, I); pairs
 * that cannot win by it are skipped. */
#ifndef AUTOMAP_ENGINE_PLACE_SERVERS_H
#define AUTOMAP_ENGINE_PLACE_SERVERS_H

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

/* Whether the program over two levels applies: every kind of accelerators fills whole servers, and
 * far is never cheaper than near. */
bool place_servers_apply(const struct place_graph *g);

/* As place_program, with devices in the chain. ERR_LIMIT: too many ideals or devices for a table.
 * O(pairs of ideals one server apart x those of one server) a decision. */
int place_servers_program(const struct place_prepared *p, const struct place_family *f,
                          const struct place_question *q, struct place_chain **out,
                          struct place_effort *effort, struct err *e) MUST_CHECK;

#endif
