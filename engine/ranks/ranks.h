/* engine/ranks/ranks.h - the processes of one job: this one alone, or the ranks that mpirun
 * started.
 *
 * A job is made of items that do not depend on each other. Ranks draw them, one after the other,
 * from a counter that rank 0 holds (MPI_Fetch_and_op), so a rank that is slow, or has drawn long
 * items, draws fewer. Results come to rank 0, in the order of the items: they do not depend on how
 * many ranks there are. A rank that waits may draw items to come and prepare them. The first item
 * of a rank is its own number, without a draw: where the network has no remote atomics, a draw
 * waits until rank 0 is between items. All ranks make the same calls in the same order.
 *
 * Whatever waits looks at a flag: after a signal, or once a rank has given up, calls return false
 * and the job can be left. Without -DAUTOMAP_MPI=ON there is one rank. One job a process, main
 * thread only. */
#ifndef AUTOMAP_ENGINE_RANKS_RANKS_H
#define AUTOMAP_ENGINE_RANKS_RANKS_H

#include "hlo/support/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_AHEAD_MOST = 128 };

struct ranks {
    uint32_t self, count;
    const atomic_bool *stop;          /* NULL: never */
    struct ranks_job *job;            /* MPI's; NULL: alone */
    uint64_t done;                    /* items of all calls so far, which numbers those to come */
    uint64_t ahead[RANKS_AHEAD_MOST]; /* numbers drawn and not done yet, ascending */
    uint32_t ahead_count;
    /* Called while ranks_share waits, with the number of an item that this rank will do: an item of
     * the next calls of ranks_do, counted from the first item of all. False: nothing can be
     * prepared any more. NULL: nothing is. */
    bool (*prepare)(void *self, uint64_t number);
    void *prepare_self;
};

/* What a rank found out about an item; `data` is from malloc and owned, may be NULL. */
struct ranks_result {
    void *data;
    size_t size; /* at most RANKS_RESULT_MOST */
};
#define RANKS_RESULT_MOST ((size_t)1 << 30)

/* Joins the job if mpirun started this process; else it is alone. ERR_USAGE: mpirun did, and this
 * program was built without MPI; ERR_MEMORY. */
int ranks_join(struct ranks *r, const atomic_bool *stop, struct err *e) MUST_CHECK;
/* `whole`: all ranks have come to the end of the job. If not, rank 0 ends the others, and the
 * process, with `code`; the rest wait for that. */
void ranks_leave(struct ranks *r, bool whole, int code);

/* Copies what rank 0 has to the others. */
bool ranks_share(struct ranks *r, void *data, size_t size) MUST_CHECK;

/* Does one item; false: it stopped, or could not. */
typedef bool ranks_work(void *self, uint32_t item, struct ranks_result *out);
/* Does items 0 .. count - 1, each on one rank. On rank 0 out[count], zeroed by the caller, then has
 * all results; on others those that they drew. The caller releases them, also after false: it was
 * stopped, or a rank could not go on. */
bool ranks_do(struct ranks *r, uint32_t count, ranks_work *work, void *self,
              struct ranks_result *out) MUST_CHECK;
void ranks_release(struct ranks_result *results, uint32_t count);

#endif
