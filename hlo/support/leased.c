#define _GNU_SOURCE /* F_SETLEASE */
#include "hlo/support/leased.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(F_SETLEASE) && defined(F_SETSIG) && defined(MADV_POPULATE_READ)
static bool lease(int file, size_t size)
{
    struct stat now;

    /* Who waits for the lease makes the kernel send a signal; by itself SIGURG does nothing. */
    if (fcntl(file, F_SETSIG, SIGURG) || fcntl(file, F_SETLEASE, F_RDLCK))
        return false;
    if (!fstat(file, &now) && S_ISREG(now.st_mode) && now.st_size == (off_t)size)
        return true;
    fcntl(file, F_SETLEASE, F_UNLCK);
    return false;
}

/* The file over the begin of empty pages: what is left of them is the pad. */
static char *map(int file, size_t size, size_t mapped)
{
    char *text = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (text == MAP_FAILED)
        return NULL;
    if (mmap(text, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED &&
        !madvise(text, size, MADV_POPULATE_READ)) /* a bad disk is an error here, no signal later */
        return text;
    munmap(text, mapped);
    return NULL;
}

bool leased_begin(struct leased *l, int file, size_t size, size_t pad)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *l = (struct leased){.file = file};
    if (!size || !lease(file, size))
        return false;
    l->mapped = (size + pad + page - 1) / page * page;
    l->text = map(file, size, l->mapped);
    l->size = size;
    if (!l->text)
        fcntl(file, F_SETLEASE, F_UNLCK);
    return l->text;
}

void leased_end(struct leased *l)
{
    if (!l->text)
        return;
    munmap(l->text, l->mapped);
    fcntl(l->file, F_SETLEASE, F_UNLCK);
    *l = (struct leased){0};
}

void leased_behind(const char *begin, const char *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)begin + page - 1) / page * page,
              last = (uintptr_t)end / page * page;

    if (first < last)
        madvise((char *)first, last - first, MADV_DONTNEED);
}
#else
bool leased_begin(struct leased *l, int file, size_t size, size_t pad)
{
    (void)size, (void)pad;
    *l = (struct leased){.file = file};
    return false;
}

void leased_end(struct leased *l)
{
    (void)l;
}

void leased_behind(const char *begin, const char *end)
{
    (void)begin, (void)end;
}
#endif
