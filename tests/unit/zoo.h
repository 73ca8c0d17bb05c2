/* tests/unit/zoo.h - models of many frameworks, where they are: $AUTOMAP_SHARED/zoo, else
 * ../shared/zoo beside the checkout. Not shipped; without them there are none. */
#ifndef AUTOMAP_TESTS_UNIT_ZOO_H
#define AUTOMAP_TESTS_UNIT_ZOO_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Paths of those of at most `bytes` as they lie on the disk; globfree() by the caller. */
static inline size_t zoo_models(glob_t *found, const char **out, size_t room, long bytes)
{
    const char *shared = getenv("AUTOMAP_SHARED");
    char pattern[512];
    size_t count = 0;

    snprintf(pattern, sizeof pattern, "%.480s/zoo/*/*.hlo.gz",
             shared ? shared : AUTOMAP_SOURCE_DIR "/../shared");
    if (glob(pattern, 0, NULL, found))
        return 0;
    for (size_t n = 0; n < found->gl_pathc && count < room; n++) {
        struct stat s;
        if (!stat(found->gl_pathv[n], &s) && s.st_size <= bytes)
            out[count++] = found->gl_pathv[n];
    }
    return count;
}

#endif
