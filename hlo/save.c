/* hlo_save: the writers behind file names, and gzip. */
#include "hlo/load.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/proto/write.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
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

static int save_proto(const struct hlo_module *m, const struct hlo_write_options *o,
                      struct str *out, struct err *e)
{
    (void)o;
    return hlo_write_proto(m, out, e);
}

static int save_stablehlo(const struct hlo_module *m, const struct hlo_write_options *o,
                          struct str *out, struct err *e)
{
    struct stablehlo_write_options options = {.no_locations = o && o->no_metadata};

    return hlo_write_stablehlo(m, &options, out, e);
}

static const struct ending {
    const char *name;
    int (*write)(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                 struct err *e);
} endings[] = {
    {".txt", save_text}, {".hlo", save_text},       {".json", save_json},
    {".pb", save_proto}, {".mlir", save_stablehlo},
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
        return err_no_memory(e, "to pack gzip");
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
        return err_no_memory(e, "to pack gzip");
    *text = packed;
    return 0;
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
        rc = err_set(e, ERR_INPUT,
                     "the ending names no form, expected .txt, .hlo, .json, .pb or .mlir, each "
                     "also with .gz");
    else
        rc = ending->write(m, o, &text, e);
    if (rc)
        goto out;
    if (gzipped)
        rc = compress_text(&text, e);
    if (rc)
        goto out;
    rc = hlo_file_write(path, text.text, text.size, FILE_REPLACE, e);
out:
    str_release(&text);
    return rc ? err_in_file(e, path) : 0;
}

uint32_t hlo_whole_functions(const struct hlo_module *m, hlo_id *first)
{
    uint32_t count = 0;

    *first = HLO_NONE;
    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_attr *a = hlo_at(m, id)->opcode == HLO_OP_CUSTOM_CALL
                                       ? hlo_attr(m, id, HLO_ATTR_CUSTOM_CALL_TARGET)
                                       : NULL;
        if (!a || a->size < 6 || memcmp(a->text, "\"chlo.", 6) != 0)
            continue;
        *first = count++ ? *first : id;
    }
    return count;
}
