/* hlo_save: the writers behind file names, gzip, and a rename so that no half file is ever seen. */
#include "hlo/hlo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int save_text(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                     struct err *e)
{
    return hlo_write_text(m, o, out, e);
}

static int save_json(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                     struct err *e)
{
    (void)o;
    return hlo_write_json(m, out, e);
}

static int save_proto(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                      struct err *e)
{
    (void)o;
    return hlo_write_proto(m, out, e);
}

static const struct ending {
    const char *name;
    int (*write)(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                 struct err *e);
} endings[] = {
    {".txt", save_text}, {".hlo", save_text}, {".json", save_json}, {".pb", save_proto},
};

static const struct ending *find_ending(const char *path, size_t size)
{
    for (size_t n = 0; n < sizeof endings / sizeof *endings; n++) {
        size_t length = strlen(endings[n].name);
        if (size > length && !memcmp(path + size - length, endings[n].name, length))
            return &endings[n];
    }
    return NULL;
}

/* Replaces the text by its gzip. zlib writes no time: the same module gives the same bytes. */
static int compress_text(struct str *text, struct err *e)
{
    z_stream z = {.next_in = (Bytef *)text->text};
    struct str packed = {0};
    size_t left = text->size;
    int rc = Z_OK;

    if (deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(e, ERR_MEMORY, "not enough memory to pack gzip");
    while (rc == Z_OK && !packed.failed) {
        unsigned char chunk[16384];
        if (!z.avail_in) {
            z.avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
            left -= z.avail_in;
        }
        z.next_out = chunk;
        z.avail_out = sizeof chunk;
        rc = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
        str_add_bytes(&packed, (const char *)chunk, sizeof chunk - z.avail_out);
    }
    deflateEnd(&z);
    bool failed = packed.failed || rc != Z_STREAM_END;
    str_release(failed ? &packed : text);
    if (failed)
        return err_set(e, ERR_MEMORY, "not enough memory to pack gzip");
    *text = packed;
    return 0;
}

static int write_all(int file, const struct str *text, struct err *e)
{
    for (size_t at = 0; at < text->size;) {
        ssize_t n = write(file, text->text + at, text->size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
        at += (size_t)n;
    }
    return 0;
}

/* For what is no plain file (a pipe, a terminal, /dev/null): no rename. */
static int write_through(const char *path, const struct str *text, struct err *e)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (file < 0)
        return err_set(e, ERR_IO, "cannot be opened: %.200s", strerror(errno));
    int rc = write_all(file, text, e);
    if (close(file) && !rc)
        rc = err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    return rc;
}

static int write_beside(const char *path, const struct str *text, struct err *e)
{
    char temporary[PATH_MAX];
    int size = snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid());

    if (size < 0 || size >= (int)sizeof temporary)
        return err_set(e, ERR_IO, "the name is longer than %d bytes", PATH_MAX);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    int rc = write_all(file, text, e);
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
static int write_file(const char *path, const struct str *text, struct err *e)
{
    struct stat status;
    char real[PATH_MAX];

    if (stat(path, &status))
        return write_beside(path, text, e);
    if (S_ISDIR(status.st_mode))
        return err_set(e, ERR_IO, "this is a directory, expected a file");
    if (!S_ISREG(status.st_mode))
        return write_through(path, text, e);
    if (!realpath(path, real))
        return err_set(e, ERR_IO, "cannot be written: %.200s", strerror(errno));
    return write_beside(real, text, e);
}

int hlo_save(const struct hlo_module *m, const char *path, const struct hlo_write_options *o,
             struct err *e)
{
    size_t size = strlen(path);
    bool gzipped = size > 3 && !strcmp(path + size - 3, ".gz");
    const struct ending *ending = find_ending(path, gzipped ? size - 3 : size);
    struct str text = {0};
    int rc;

    if (!ending)
        rc = err_set(e, ERR_INPUT, "the ending names no form, expected .txt, .hlo, .json or .pb, each "
                     "also with .gz");
    else
        rc = ending->write(m, o, &text, e);
    if (!rc && gzipped)
        rc = compress_text(&text, e);
    if (!rc)
        rc = write_file(path, &text, e);
    str_release(&text);
    return rc ? err_in_file(e, path) : 0;
}
