/* Bytes from a file, standard input or memory; gzip undone; form found by content; reader called.
 */
#include "hlo/load.h"
#include "hlo/foreign.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/leased.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "hlo/support/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    HEAD_BYTES = 1 << 16, /* enough to tell HLO from nonsense before reading all of it */
    DETECT_BYTES = 4096,
    CHUNK_BYTES = 1 << 20,
    HALVES_LEAST = 8 << 20, /* of a file; below, a thread costs more than it saves */
    LEASED_LEAST = 1 << 20, /* of a file of text; below, reading costs nothing */
};

/* ---- bytes ---- */

struct bytes {
    char *data; /* room + HLO_INPUT_PAD */
    size_t size, room;
    bool is_lent; /* the file's own, from leased_begin */
};

static int reserve(struct bytes *b, size_t room, struct err *e)
{
    if (room <= b->room)
        return 0;
    char *grown =
        room > SIZE_MAX - HLO_INPUT_PAD ? NULL : mem_resize(b->data, room + HLO_INPUT_PAD);
    if (!grown)
        return err_no_memory(e, "for %zu bytes of input", room);
    b->data = grown;
    b->room = room;
    return 0;
}

static int too_large(int64_t most, struct err *e)
{
    return err_set(e, ERR_LIMIT, "more than %lld bytes of input, expected less (see --max-bytes)",
                   (long long)most);
}

/* Room for more: doubled, one byte past `most` at most so that an overlong input shows. */
static int grow_bytes(struct bytes *b, size_t most, struct err *e)
{
    size_t want = b->room < HEAD_BYTES ? HEAD_BYTES : b->room * 2;

    if (b->size < b->room)
        return 0;
    return reserve(b, want > most + 1 ? most + 1 : want, e);
}

/* ---- what is it? ---- */

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

static bool starts_with(const char *p, const char *end, const char *with)
{
    size_t size = strlen(with);

    return (size_t)(end - p) >= size && !memcmp(p, with, size);
}

static bool is_binary(const char *p, const char *end)
{
    for (; p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f' && c != 0x1b)
            return true;
    }
    return false;
}

/* `field:` or `message {` of the messages a file may begin with. */
static bool is_proto_text(const char *p, const char *end)
{
    static const char *const messages[] = {"hlo_module", "hlo", "computations",
                                           "host_program_shape"};
    const char *word = p;

    while (p < end && ((*p >= 'a' && *p <= 'z') || *p == '_'))
        p++;
    size_t size = (size_t)(p - word);
    p = skip_blank(p, end);
    if (!size || p == end)
        return false;
    if (*p == ':')
        return true;
    for (size_t n = 0; *p == '{' && n < sizeof messages / sizeof *messages; n++) {
        if (strlen(messages[n]) == size && !memcmp(messages[n], word, size))
            return true;
    }
    return false;
}

/* MLIR: comments, then `#alias = ..` or `!type = ..`, a module or a function. */
static bool is_mlir(const char *p, const char *end)
{
    static const char *const words[] = {"module @",           "module {",      "module attributes",
                                        "builtin.module",     "func.func",     "sdy.mesh",
                                        "\"builtin.module\"", "\"func.func\"", "{-#"};

    while (starts_with(p, end, "//")) {
        while (p < end && *p != '\n')
            p++;
        p = skip_blank(p, end);
    }
    if (p < end && (*p == '#' || *p == '!')) {
        const char *name = ++p;
        while (p < end && *p != ' ' && *p != '\n' && *p != '=')
            p++;
        return p > name && starts_with(skip_blank(p, end), end, "=");
    }
    for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
        if (starts_with(p, end, words[n]))
            return true;
    }
    return false;
}

static const char *find_text(const char *p, const char *end, const char *what)
{
    size_t size = strlen(what);

    for (; (size_t)(end - p) >= size; p++) {
        if (!memcmp(p, what, size))
            return p;
    }
    return NULL;
}

static bool contains_text(const char *p, const char *end, const char *what)
{
    return find_text(p, end, what) != NULL;
}

/* " of version 1.15.0", as portable artifacts have it near their beginning, or nothing. */
static void version_words(const char *head, const char *end, char *out, size_t room)
{
    static const char mark[] = "StableHLO_v";
    const char *at = find_text(head, end, mark);
    int size = 0;

    at = at ? at + strlen(mark) : end;
    while (size < 16 && at + size < end &&
           ((at[size] >= '0' && at[size] <= '9') || at[size] == '.'))
        size++;
    snprintf(out, room, "%s%.*s", size ? " of version " : "", size, at);
}

/* A flatbuffer, which a jax.export is, begins with where its root lies: near, at a multiple of 4. A
 * proto begins with the tag of a message or text, which is none. */
static bool is_flatbuffer(const char *head, const char *end)
{
    return end - head >= 4 && head[0] % 4 == 0 && !head[2] && !head[3];
}

/* MLIR that is no text: told apart, with the line of Python that makes text of it. */
static int refuse_bytecode(const struct bytes *b, struct err *e)
{
    const char *head = b->data, *end = head + (b->size < HEAD_BYTES ? b->size : HEAD_BYTES);
    bool is_artifact = contains_text(head, end, "StableHLO_v");
    char version[40];

    version_words(head, end, version, sizeof version);

    if (!starts_with(head, end, "ML\xefR"))
        return !is_flatbuffer(head, end) || !contains_text(head, end, "ML\xefR")
                   ? 0
                   : err_set(e, ERR_INPUT,
                             "this is a serialized jax.export%s, expected text: python -c \"import "
                             "jax.export; print(jax.export.deserialize(open('FILE', 'rb').read())"
                             ".mlir_module())\"",
                             version);
    return err_set(
        e, ERR_INPUT,
        "this is %s%s, expected text: python -c \"from jax._src.interpreters import mlir; "
        "c = mlir.make_ir_context(); from jaxlib.mlir%s; "
        "print(%s(%sopen('FILE', 'rb').read()%s))\"",
        is_artifact ? "a StableHLO portable artifact" : "MLIR bytecode", version,
        is_artifact ? ".dialects import stablehlo" : " import ir",
        is_artifact ? "stablehlo.deserialize_portable_artifact" : "ir.Module.parse",
        is_artifact ? "c, " : "", is_artifact ? "" : ", c");
}

static int detect(const struct bytes *b, enum hlo_format *out, struct err *e)
{
    const char *end = b->data + (b->size < DETECT_BYTES ? b->size : DETECT_BYTES);
    const char *p = skip_blank(b->data, end);

    if (starts_with(p, end, "\xef\xbb\xbf"))
        p = skip_blank(p + 3, end);
    if (!b->size || (p == end && b->size <= DETECT_BYTES))
        return err_set(e, ERR_INPUT, "the input is empty, expected HLO or StableHLO");
    /* A proto begins with a newline, as it happens, and its length: no blank before something. */
    if (foreign_refuse(b->data, (size_t)(end - b->data), e) ||
        (p > b->data && !is_binary(b->data, end) && foreign_refuse(p, (size_t)(end - p), e)))
        return e->code;
    if (is_binary(b->data, end)) {
        if (refuse_bytecode(b, e))
            return e->code;
        char first = b->data[0]; /* the tags of fields 1, 2, 3 holding a message or text */
        *out = HLO_FORMAT_PROTO;
        return first == 0x0a || first == 0x12 || first == 0x1a
                   ? 0
                   : err_set(e, ERR_INPUT,
                             "this is not HLO, expected HLO as text, JSON or "
                             "proto, or StableHLO as text (the first byte is 0x%02x)",
                             (unsigned char)first);
    }
    if (is_mlir(p, end)) {
        *out = HLO_FORMAT_STABLEHLO;
        return 0;
    }
    *out = *p == '{'               ? HLO_FORMAT_JSON
           : is_proto_text(p, end) ? HLO_FORMAT_PROTO_TEXT
                                   : HLO_FORMAT_TEXT;
    return 0;
}

static bool is_gzip(const struct bytes *b)
{
    return b->size >= 2 && (unsigned char)b->data[0] == 0x1f && (unsigned char)b->data[1] == 0x8b;
}

/* ---- gzip ---- */

static int inflate_step(z_stream *z, struct bytes *out, size_t most, bool *done, struct err *e)
{
    if (grow_bytes(out, most, e))
        return e->code;
    size_t room = out->room - out->size;
    z->next_out = (Bytef *)out->data + out->size;
    z->avail_out = room > CHUNK_BYTES ? CHUNK_BYTES : (uInt)room;
    uInt before = z->avail_out;
    int rc = inflate(z, Z_NO_FLUSH);
    out->size += before - z->avail_out;
    if (rc == Z_STREAM_END) {
        /* Another member may follow; anything else behind the end is left alone, as gzip does. */
        *done = z->avail_in < 2 || z->next_in[0] != 0x1f || z->next_in[1] != 0x8b;
        return *done || inflateReset(z) == Z_OK ? 0 : err_set(e, ERR_MEMORY, "zlib cannot go on");
    }
    if (rc == Z_MEM_ERROR)
        return err_no_memory(e, "to unpack gzip");
    if (rc == Z_BUF_ERROR || (rc == Z_OK && !z->avail_in && z->avail_out))
        return err_set(e, ERR_INPUT, "gzip data ends early, expected more: the file is cut off");
    return rc == Z_OK ? 0
                      : err_set(e, ERR_INPUT, "gzip data is damaged (%.100s)",
                                z->msg ? z->msg : "no zlib stream");
}

static int unpack_gzip(const struct bytes *in, size_t most, struct bytes *out, struct err *e)
{
    z_stream z = {.next_in = (Bytef *)in->data, .avail_in = (uInt)in->size};
    bool done = false, looked = false;
    enum hlo_format format;
    int rc = 0;

    if (in->size > UINT32_MAX)
        return too_large(UINT32_MAX, e);
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return err_no_memory(e, "to unpack gzip");
    size_t guess = in->size < most / 8 ? in->size * 8 : most;
    rc = reserve(out, guess < HEAD_BYTES ? HEAD_BYTES : guess, e);
    if (rc)
        goto out;
    while (!done) {
        rc = inflate_step(&z, out, most, &done, e);
        if (rc)
            goto out;
        if (!looked && out->size >= DETECT_BYTES) {
            looked = true;
            rc = detect(out, &format, e);
        }
        if (rc)
            goto out;
        if (out->size > most)
            rc = too_large((int64_t)most, e);
        if (rc)
            goto out;
    }
out:
    inflateEnd(&z);
    return rc;
}

/* ---- reading ---- */

struct origin {
    const char *name;
    size_t most, apart;
    int32_t module;
};

/* A part of a file: `size` bytes from byte `at` on. */
struct part {
    int file;
    char *to;
    size_t at, size, got;
};

static void *read_part(void *context)
{
    struct part *p = context;

    while (p->got < p->size) {
        ssize_t n = pread(p->file, p->to + p->got, p->size - p->got, (off_t)(p->at + p->got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p->got += (size_t)n;
    }
    return NULL;
}

/* What is left of a large plain file of `expected` bytes, for which there is room: the second half
 * by a second thread. Stops short at an error or an end; who reads on meets it again. */
static int read_halves(int file, size_t expected, struct bytes *b, struct err *e)
{
    size_t left = expected > b->size ? expected - b->size : 0;

    if (left < HALVES_LEAST || lseek(file, 0, SEEK_CUR) != (off_t)b->size)
        return 0;
    struct part first = {file, b->data + b->size, b->size, left / 2, 0};
    struct part second = {file, first.to + first.size, first.at + first.size, left - left / 2, 0};
    struct beside beside;
    beside_begin(&beside, true, read_part, &second);
    read_part(&first);
    beside_end(&beside);
    b->size += first.got + (first.got == first.size ? second.got : 0);
    return lseek(file, (off_t)b->size, SEEK_SET) < 0 ? hlo_file_failed("cannot be read", e) : 0;
}

static int read_bytes(const struct origin *from, int file, size_t expected, struct bytes *b,
                      struct err *e)
{
    bool looked = false;
    int rc = reserve(b, expected < HEAD_BYTES ? HEAD_BYTES : expected + 1, e);

    while (!rc) {
        if ((rc = grow_bytes(b, from->most, e)))
            break;
        size_t room = b->room - b->size;
        if (!looked && room > HEAD_BYTES)
            room = HEAD_BYTES;
        ssize_t n = read(file, b->data + b->size, room);
        if (n < 0 && errno == EISDIR)
            return err_set(e, ERR_IO,
                           "this is a directory, expected a file; of a dump of XLA the largest "
                           "*before_optimizations.txt");
        if (n < 0)
            return hlo_file_failed("cannot be read", e);
        if (!n)
            break;
        b->size += (size_t)n;
        if (!looked && b->size >= DETECT_BYTES && !is_gzip(b)) {
            enum hlo_format format;
            looked = true;
            rc = detect(b, &format, e);
            rc = rc ? rc : read_halves(file, expected, b, e);
        }
        if (!rc && b->size > from->most)
            rc = too_large((int64_t)from->most, e);
    }
    return rc;
}

static int (*const readers[])(char *, size_t, const struct hlo_load_options *, struct hlo_module **,
                              struct err *) = {
    [HLO_FORMAT_TEXT] = hlo_read_text,           [HLO_FORMAT_JSON] = hlo_read_json,
    [HLO_FORMAT_PROTO] = hlo_read_proto,         [HLO_FORMAT_PROTO_TEXT] = hlo_read_proto_text,
    [HLO_FORMAT_STABLEHLO] = hlo_read_stablehlo,
};

/* Takes `b` over, but for what is lent. */
static int read_module(const struct origin *from, struct bytes *b, bool gzipped,
                       struct hlo_module **out, struct err *e)
{
    struct hlo_load_options o = {.max_bytes = (int64_t)from->most,
                                 .module = from->module,
                                 .apart = from->apart,
                                 .is_lent = b->is_lent};
    enum hlo_format format = HLO_FORMAT_TEXT;
    struct hlo_module *m = NULL;
    size_t size = b->size;
    int rc = detect(b, &format, e);

    if (rc) {
        free(b->is_lent ? NULL : b->data);
        return rc;
    }
    if (!b->is_lent)
        memset(b->data + size, 0, HLO_INPUT_PAD);
    if (size >= 3 && !memcmp(b->data, "\xef\xbb\xbf", 3))
        memset(b->data, ' ', 3);
    rc = readers[format](b->data, size, &o, &m, e);
    if (rc)
        return rc;
    char *name = arena_get(&m->arena, strlen(from->name) + 1, 1);
    if (!name) {
        hlo_free(m);
        return err_no_memory(e, "for this module");
    }
    text_clean(name, strlen(from->name) + 1, from->name, strlen(from->name));
    m->file = name;
    m->is_gzipped = gzipped;
    m->input_bytes = size;
    *out = m;
    return 0;
}

/* `raw` taken over: unpacked where it is gzip. */
static int load_bytes(const struct origin *from, struct bytes *raw, struct hlo_module **out,
                      struct err *e)
{
    struct bytes plain = {0};

    if (!is_gzip(raw))
        return read_module(from, raw, false, out, e);
    int rc = unpack_gzip(raw, from->most, &plain, e);
    free(raw->data);
    if (rc) {
        free(plain.data);
        return rc;
    }
    return read_module(from, &plain, true, out, e);
}

static struct origin origin_of(const char *name, const struct hlo_load_options *o)
{
    int64_t most =
        o && o->max_bytes > 0 && o->max_bytes < HLO_BYTES_MAX ? o->max_bytes : HLO_BYTES_MAX;
    return (struct origin){name, (size_t)most, o ? o->apart : 0, o ? o->module : -1};
}

/* The same once more, for a module of its own. */
static int load_copy(const struct origin *from, const struct bytes *raw, struct hlo_module **out,
                     struct err *e)
{
    struct bytes copy = {0};
    int rc = reserve(&copy, raw->size ? raw->size : 1, e);

    if (rc)
        return rc;
    if (raw->size)
        memcpy(copy.data, raw->data, raw->size);
    copy.size = raw->size;
    return load_bytes(from, &copy, out, e);
}

/* A long file of HLO text, read where the system has it. False: it is not to be had so. */
static bool load_leased(const struct origin *from, int file, size_t size, struct hlo_module **out,
                        struct err *e, int *rc)
{
    enum hlo_format format;
    struct err ignored = {0};
    struct leased l;

    if (size < LEASED_LEAST || size > from->most || lseek(file, 0, SEEK_CUR) ||
        !leased_begin(&l, file, size, HLO_INPUT_PAD))
        return false;
    struct bytes b = {.data = l.text, .size = size, .is_lent = true};
    bool is_text = !is_gzip(&b) && !detect(&b, &format, &ignored) && format == HLO_FORMAT_TEXT;
    if (is_text)
        *rc = read_module(from, &b, false, out, e);
    leased_end(&l);
    return is_text;
}

/* `twin` NULL: one module is enough. */
static int load_file(const struct origin *from, int file, struct hlo_module **out,
                     struct hlo_module **twin, struct err *e)
{
    struct bytes raw = {0};
    struct stat status;
    size_t expected = 0;
    int rc = 0;

    if (fstat(file, &status))
        return err_set(e, ERR_IO, "cannot be read: %.200s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return err_set(e, ERR_IO, "this is a directory, expected a file");
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        /* Nonsense is told from its head even when it is too large to be read. */
        expected = (size_t)status.st_size > from->most ? from->most : (size_t)status.st_size;
        if (!twin && load_leased(from, file, (size_t)status.st_size, out, e, &rc))
            return rc;
    }
    rc = read_bytes(from, file, expected, &raw, e);
    if (rc)
        goto out;
    rc = twin ? load_copy(from, &raw, twin, e) : 0;
    if (rc)
        goto out;
    return load_bytes(from, &raw, out, e); /* takes the bytes */
out:
    free(raw.data);
    return rc;
}

static int load(const char *path, const struct hlo_load_options *o, struct hlo_module **out,
                struct hlo_module **twin, struct err *e)
{
    struct origin from = origin_of(path, o);
    bool is_stdin = !strcmp(path, "-");
    int file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc;

    *out = NULL;
    if (file < 0)
        rc = hlo_file_failed("cannot be opened", e);
    else
        rc = load_file(&from, file, out, twin, e);
    if (file >= 0 && !is_stdin)
        close(file);
    return rc ? err_in_file(e, is_stdin ? "standard input" : path) : 0;
}

int hlo_load(const char *path, const struct hlo_load_options *o, struct hlo_module **out,
             struct err *e)
{
    return load(path, o, out, NULL, e);
}

int hlo_load_twice(const char *path, const struct hlo_load_options *o, struct hlo_module *out[2],
                   struct err *e)
{
    out[1] = NULL;
    int rc = load(path, o, &out[0], &out[1], e);
    if (rc) {
        hlo_free(out[1]);
        out[1] = NULL;
    }
    return rc;
}

int hlo_load_memory(const char *name, const void *data, size_t size,
                    const struct hlo_load_options *o, struct hlo_module **out, struct err *e)
{
    struct origin from = origin_of(name, o);
    struct bytes raw = {0};
    int rc =
        size > from.most ? too_large((int64_t)from.most, e) : reserve(&raw, size ? size : 1, e);

    *out = NULL;
    if (rc)
        goto out;
    if (size)
        memcpy(raw.data, data, size);
    raw.size = size;
    rc = load_bytes(&from, &raw, out, e);
out:
    return rc ? err_in_file(e, name) : 0;
}
