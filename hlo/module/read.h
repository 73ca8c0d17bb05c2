/* hlo/module/read.h - the readers behind hlo_load, one per form.
 *
 * hlo_load reads the file, decompresses gzip, recognises the form by its beginning and calls one of
 * these. All five keep this contract:
 * - `input` comes from malloc and holds `size` bytes followed by HLO_INPUT_PAD zero bytes, so a
 * scanner may look ahead without a check. The reader takes it over, even on failure, and usually
 * passes it on to hlo_builder_new. Where it is lent, from leased_begin, it stays the caller's, and
 * nothing of the module points at it.
 * - `o` is never NULL; only o->module matters here (-1: the largest of a file with several).
 * - The reader fills name, format, header fields, aliases, tables of the module; hlo_load fills
 *   file, is_gzipped and input_bytes afterwards.
 * - Errors carry line and column (text, JSON, proto text) or byte (proto); hlo_load adds the file.
 */
#ifndef AUTOMAP_HLO_MODULE_READ_H
#define AUTOMAP_HLO_MODULE_READ_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct hlo_load_options {
    int64_t max_bytes; /* after decompression; 0: HLO_BYTES_MAX */
    int32_t module;    /* of a file with several: 0-based; -1: the largest */
    size_t apart;      /* HLO text of so many bytes is read by two threads; 0: as many as pay */
    bool is_lent;      /* set by hlo_load, for HLO text: it is the caller's, see below */
};
#define HLO_BYTES_MAX ((int64_t)1 << 30)

enum { HLO_INPUT_PAD = 64 };

/* Deepest nesting of anything: operands inside operands, tuples, braces, messages. */
enum { HLO_NESTING_MAX = 200 };

int hlo_read_text(char *input, size_t size, const struct hlo_load_options *o,
                  struct hlo_module **out, struct err *e) MUST_CHECK;
int hlo_read_json(char *input, size_t size, const struct hlo_load_options *o,
                  struct hlo_module **out, struct err *e) MUST_CHECK;
int hlo_read_proto(char *input, size_t size, const struct hlo_load_options *o,
                   struct hlo_module **out, struct err *e) MUST_CHECK;
int hlo_read_proto_text(char *input, size_t size, const struct hlo_load_options *o,
                        struct hlo_module **out, struct err *e) MUST_CHECK;

int hlo_read_stablehlo(char *input, size_t size, const struct hlo_load_options *o,
                       struct hlo_module **out, struct err *e) MUST_CHECK;

/* Limit of the module's arena for an input of this size, for hlo_builder_new. A line of 20 bytes
 * can make an instruction of some 200 bytes; a tuple shape of 1 MB is interned once. */
static inline size_t hlo_memory_limit(size_t input_size)
{
    return ((size_t)64 << 20) + input_size * 48;
}

#endif
