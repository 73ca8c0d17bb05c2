/* Files written whole or not at all: a rename, so that no half file is ever seen. */
#include "hlo/support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int file, const char *text, size_t size, struct err *e)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = write(file, text + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
        at += (size_t)n;
    }
    return 0;
}

/* For what is no plain file (a pipe, a terminal, /dev/null): no rename. */
static int write_through(const char *path, const char *text, size_t size, struct err *e)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (file < 0)
        return err_set(e, ERR_IO, "cannot be opened: %.200s", strerror(errno));
    int rc = write_all(file, text, size, e);
    if (close(file) && !rc)
        rc = err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    return rc;
}

static int write_beside(const char *path, const char *text, size_t size, struct err *e)
{
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid());

    if (length < 0 || length >= (int)sizeof temporary)
        return err_set(e, ERR_IO, "the name is longer than %d bytes", PATH_MAX);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    int rc = write_all(file, text, size, e);
    if (!rc && fsync(file))
        rc = err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    if (close(file) && !rc)
        rc = err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    if (!rc && rename(temporary, path))
        rc = err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    if (rc)
        unlink(temporary);
    return rc;
}

/* A link is followed: the file behind it is the one replaced. */
int hlo_file_write(const char *path, const char *text, size_t size, struct err *e)
{
    struct stat status;
    char real[PATH_MAX];

    if (stat(path, &status))
        return write_beside(path, text, size, e);
    if (S_ISDIR(status.st_mode))
        return err_set(e, ERR_IO, "this is a directory, expected a file");
    if (!S_ISREG(status.st_mode))
        return write_through(path, text, size, e);
    if (!realpath(path, real))
        return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    return write_beside(real, text, size, e);
}

int hlo_file_read(const char *path, size_t most, struct str *out, struct err *e)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    char chunk[16384];
    size_t n;
    int rc = 0;

    if (!f) {
        err_set(e, ERR_IO, "cannot be read: %.200s", strerror(errno));
        return err_in_file(e, path);
    }
    while (!rc && (n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        if (n > most - out->size)
            rc = err_set(e, ERR_LIMIT, "is larger than %zu bytes", most);
        else
            str_add_bytes(out, chunk, n);
    }
    if (!rc && ferror(f))
        rc = err_set(e, ERR_IO, "cannot be read: %.200s", strerror(errno));
    if (!rc && out->failed)
        rc = err_set(e, ERR_MEMORY, "not enough memory to read it");
    if (!is_stdin)
        fclose(f);
    return rc ? err_in_file(e, path) : 0;
}
