/* To be preloaded: the allocation numbered $FAIL_FROM and all later ones fail (0 or unset: none);
 * with $FAIL_ONCE set, that one alone.
 * With $FAIL_COUNT_TO set, the number of allocations made is written to that file at the end. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong made;
static unsigned long from;
static int once;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_FROM");

    atomic_store(&made, 0); /* what the loader took is not the program's */
    once = getenv("FAIL_ONCE") != NULL;
    from = text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT_TO");
    char text[32];
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0)
        return;
    int size = snprintf(text, sizeof text, "%lu\n", atomic_load(&made));
    if (write(file, text, (size_t)size) != size)
        _exit(99);
    close(file);
}

static int fails(void)
{
    unsigned long number = atomic_fetch_add(&made, 1) + 1;

    if (!from || number < from || (once && number > from))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
