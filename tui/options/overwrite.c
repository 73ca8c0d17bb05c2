#include "tui/options/overwrite.h"

#include "hlo/support/err.h"
#include "hlo/support/text.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096 };
static const char NAME[] = "automap";

/* Empty, or with our name at its head. What cannot be read is not ours. */
static bool is_ours(const char *path)
{
    char head[HEAD];
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(head, 1, sizeof head, f) : 0;
    bool failed = !f || ferror(f);

    if (f)
        fclose(f);
    for (size_t n = 0; n + sizeof NAME - 1 <= size; n++) {
        if (!memcmp(head + n, NAME, sizeof NAME - 1))
            return true;
    }
    return !failed && size == 0;
}

static bool person_agrees(const char *path)
{
    char answer[8] = "", shown[256];

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return false;
    text_clean(shown, sizeof shown, path, strlen(path));
    fprintf(stderr, "%s is there already and not one that automap wrote. Replace it? [y/N] ",
            shown);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int overwrite_check(const char *path, bool force)
{
    struct stat st;
    struct err e;

    if (!path || !strcmp(path, "-") || force || stat(path, &st) || !S_ISREG(st.st_mode) ||
        is_ours(path) || person_agrees(path))
        return EXIT_OK;
    err_set(&e, ERR_IO, "is there already, and not one that automap wrote; --force replaces it");
    err_in_file(&e, path);
    err_print(&e, stderr);
    return EXIT_INPUT;
}
