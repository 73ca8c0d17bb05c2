/* hlo/support/leased.h - a file's bytes where the system has them, without a copy.
 *
 * A file that changes under a reader would be read twice in two ways, and one that is cut off would
 * end the program; so it is mapped only under a lease of the kernel, which holds back whoever would
 * open it for writing or cut it, until leased_end. Where none is to be had (a writer has it open,
 * it belongs to another user, the file system has no leases), there is no mapping either. */
#ifndef AUTOMAP_HLO_SUPPORT_LEASED_H
#define AUTOMAP_HLO_SUPPORT_LEASED_H

#include <stdbool.h>
#include <stddef.h>

struct leased {
    char *text; /* may be written to: pages written become private copies */
    size_t size;
    size_t mapped; /* bytes of addresses */
    int file;
};

/* All of the plain file `file`, `size` bytes, followed by `pad` zero bytes or more. All of it was
 * read from the disk by then. False: read it instead; nothing is held. `file` stays the caller's,
 * and open until leased_end. */
bool leased_begin(struct leased *l, int file, size_t size, size_t pad);
void leased_end(struct leased *l);
/* Who has read [begin, end) and may not need it again frees the memory that its pages take; they
 * come back when they are read. Nothing in these pages, but for those of `begin` and `end`, was
 * written to. Any thread. */
void leased_behind(const char *begin, const char *end);

#endif
