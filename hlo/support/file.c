/* Files written whole or not at all: a rename, so that no half file is ever seen. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "hlo/support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

const char *hlo_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int hlo_file_failed(const char *what, struct err *e)
{
    if (errno == EINTR)
        return err_set(e, ERR_STOPPED, "stopped while waiting for it");
    return err_set(e, ERR_IO, "%s: %.200s", what, strerror(errno));
}

static int not_written(struct err *e)
{
    return hlo_file_failed("cannot be written", e);
}

static int write_all(int file, const char *text, size_t size, struct err *e)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = write(file, text + at, size - at);
        if (n < 0)
            return not_written(e);
        at += (size_t)n;
    }
    return 0;
}

/* For what is no plain file (a pipe, a terminal, /dev/null): no rename. */
static int write_through(const char *path, const char *text, size_t size, struct err *e)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (file < 0)
        return hlo_file_failed("cannot be opened", e);
    int rc = write_all(file, text, size, e);
    if (close(file) && !rc)
        rc = not_written(e);
    return rc;
}

/* A file on its way: in the directory of its target, without a name where the file system can do
 * that, so that a crash leaves nothing behind; else under one that nobody can guess or plant. */
struct draft {
    int dir, file;
    bool named;
    char name[40];
};

static void draft_name(struct draft *d)
{
    unsigned char lot[8];

    if (getrandom(lot, sizeof lot, 0) != (ssize_t)sizeof lot)
        memset(lot, 0, sizeof lot); /* O_EXCL and link still refuse a planted name */
    snprintf(d->name, sizeof d->name, ".automap-%02x%02x%02x%02x%02x%02x%02x%02x.part", lot[0],
             lot[1], lot[2], lot[3], lot[4], lot[5], lot[6], lot[7]);
}

static int draft_open(struct draft *d, const char *dir, mode_t mode, struct err *e)
{
    d->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->dir < 0)
        return not_written(e);
    d->file = openat(d->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    for (int tries = 0; d->file < 0 && tries < 4; tries++) {
        draft_name(d);
        d->file =
            openat(d->dir, d->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        d->named = d->file >= 0;
        if (d->file < 0 && errno != EEXIST)
            break;
    }
    if (d->file < 0)
        return not_written(e);
    return 0;
}

/* Gives the nameless file `name`. A name that is taken is an error, EEXIST. */
static int draft_link(const struct draft *d, const char *name)
{
    char self[64];

    if (d->named)
        return linkat(d->dir, d->name, d->dir, name, 0);
    snprintf(self, sizeof self, "/proc/self/fd/%d", d->file);
    return linkat(AT_FDCWD, self, d->dir, name, AT_SYMLINK_FOLLOW);
}

static int draft_place(struct draft *d, const char *base, bool replace, struct err *e)
{
    if (!replace) {
        if (!draft_link(d, base))
            return 0;
        return errno == EEXIST ? err_set(e, ERR_IO, "is there already") : not_written(e);
    }
    if (!d->named) {
        draft_name(d);
        if (draft_link(d, d->name))
            return not_written(e);
        d->named = true;
    }
    if (renameat(d->dir, d->name, d->dir, base))
        return not_written(e);
    d->named = false;
    return 0;
}

static int draft_write(struct draft *d, const char *text, size_t size, const struct stat *old,
                       unsigned how, struct err *e)
{
    int rc = write_all(d->file, text, size, e);

    if (rc)
        return rc;
    if (old && fchmod(d->file, old->st_mode & 0777))
        return not_written(e);
    return !(how & FILE_QUICK) && fsync(d->file) ? not_written(e) : 0;
}

static int draft_close(struct draft *d, int rc, unsigned how, struct err *e)
{
    if (d->file >= 0 && close(d->file) && !rc)
        rc = not_written(e);
    if (d->named)
        unlinkat(d->dir, d->name, 0);
    if (!rc && !(how & FILE_QUICK))
        (void)fsync(d->dir); /* some file systems cannot; the file itself is safe */
    if (d->dir >= 0)
        close(d->dir);
    return rc;
}

/* `old`: the file that is replaced; NULL: none. */
static int write_beside(const char *path, const char *text, size_t size, const struct stat *old,
                        unsigned how, struct err *e)
{
    struct draft d = {.dir = -1, .file = -1};
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    int length = slash ? snprintf(dir, sizeof dir, "%.*s", (int)(slash - path) + 1, path)
                       : snprintf(dir, sizeof dir, ".");
    if (length < 0 || length >= (int)sizeof dir)
        return err_set(e, ERR_IO, "the name is longer than %d bytes", PATH_MAX);
    int rc = draft_open(&d, dir, old || how & FILE_PRIVATE ? 0600 : 0666, e);
    if (rc)
        goto out;
    rc = draft_write(&d, text, size, how & FILE_PRIVATE ? NULL : old, how, e);
    if (rc)
        goto out;
    rc = draft_place(&d, slash ? slash + 1 : path, how & FILE_REPLACE, e);
out:
    return draft_close(&d, rc, how, e);
}

/* A link is followed: the file behind it is the one replaced. */
int hlo_file_write(const char *path, const char *text, size_t size, unsigned how, struct err *e)
{
    struct stat old;
    char real[PATH_MAX];

    if (stat(path, &old))
        return write_beside(path, text, size, NULL, how, e);
    if (S_ISDIR(old.st_mode))
        return err_set(e, ERR_IO, "this is a directory, expected a file");
    if (!S_ISREG(old.st_mode))
        return write_through(path, text, size, e);
    if (!(how & FILE_REPLACE))
        return err_set(e, ERR_IO, "is there already");
    if (!realpath(path, real))
        return not_written(e);
    return write_beside(real, text, size, &old, how, e);
}

int hlo_file_read(const char *path, size_t most, struct str *out, struct err *e)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    char chunk[16384];
    size_t n;
    int rc = 0;

    if (!f) {
        hlo_file_failed("cannot be read", e);
        return err_in_file(e, path);
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        if (n > most - out->size)
            rc = err_set(e, ERR_LIMIT, "is larger than %zu bytes", most);
        else
            str_add_bytes(out, chunk, n);
        if (rc)
            goto out;
    }
    if (ferror(f))
        rc = hlo_file_failed("cannot be read", e);
    if (rc)
        goto out;
    if (out->failed)
        rc = err_no_memory(e, "to read it");
out:
    if (!is_stdin)
        fclose(f);
    return rc ? err_in_file(e, path) : 0;
}

/* Appends what the gzip stream `in` holds, members after another as gzip does. */
static int unpack_file(const struct str *in, size_t most, struct str *out, struct err *e)
{
    z_stream z = {.next_in = (Bytef *)in->text, .avail_in = (uInt)in->size};
    char chunk[16384];
    int rc = 0, status = Z_OK;

    if (in->size > UINT32_MAX || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return err_set(e, ERR_MEMORY, "not enough memory to unpack gzip");
    while (status != Z_STREAM_END) {
        z.next_out = (Bytef *)chunk;
        z.avail_out = sizeof chunk;
        status = inflate(&z, Z_NO_FLUSH);
        size_t n = sizeof chunk - z.avail_out;
        if (n > most - out->size)
            rc = err_set(e, ERR_LIMIT, "is larger than %zu bytes", most);
        else
            str_add_bytes(out, chunk, n);
        if (status == Z_STREAM_END && z.avail_in >= 2 && z.next_in[0] == 0x1f)
            status = inflateReset(&z);
        else if (status != Z_OK && status != Z_STREAM_END)
            rc = err_set(e, ERR_INPUT, "gzip data is damaged or ends early");
        if (rc)
            goto out;
    }
out:
    inflateEnd(&z);
    return rc;
}

int hlo_file_read_plain(const char *path, size_t most, struct str *out, struct err *e)
{
    struct str raw = {0};
    int rc = hlo_file_read(path, most, &raw, e);

    if (!rc && raw.size >= 2 && !memcmp(raw.text, "\x1f\x8b", 2)) {
        rc = unpack_file(&raw, most, out, e);
        if (!rc && out->failed)
            rc = err_set(e, ERR_MEMORY, "not enough memory to read it");
        if (rc)
            err_in_file(e, path);
    } else if (!rc) {
        str_release(out);
        *out = raw;
        return 0;
    }
    str_release(&raw);
    return rc;
}

int hlo_file_head(const char *path, size_t room, char *out, size_t *size, struct err *e)
{
    gzFile file = gzopen(path, "rb"); /* reads what is not compressed as it is */
    int got;

    *size = 0;
    if (!file) {
        hlo_file_failed("cannot be read", e);
        return err_in_file(e, path);
    }
    got = gzread(file, out, (unsigned)room);
    gzclose(file);
    if (got < 0) {
        err_set(e, ERR_INPUT, "damaged gzip data");
        return err_in_file(e, path);
    }
    *size = (size_t)got;
    return 0;
}
