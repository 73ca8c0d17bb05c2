/* The text reader never crashes, and what it reads it writes and reads again to the same text. */
#include "hlo/load.h"
#include "hlo/module/read.h"
#include "hlo/text/write_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hlo_module *read_text(const void *data, size_t size, struct err *e)
{
    struct hlo_load_options o = {0, -1};
    struct hlo_module *m = NULL;
    char *input = calloc(1, size + HLO_INPUT_PAD);

    if (!input)
        abort();
    if (size)
        memcpy(input, data, size);
    return hlo_read_text(input, size, &o, &m, e) ? NULL : m;
}

static void write_text(const struct hlo_module *m, struct str *out)
{
    struct err e;

    if (hlo_write_text(m, NULL, out, &e))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct hlo_module *m = read_text(data, size, &e);
    struct str first = {0}, second = {0};

    if (!m) {
        if (!e.code || !e.what[0])
            abort();
        return 0;
    }
    write_text(m, &first);
    hlo_free(m);
    m = read_text(first.text, first.size, &e);
    if (!m) {
        err_print(&e, stderr);
        abort();
    }
    write_text(m, &second);
    hlo_free(m);
    if (first.size != second.size || memcmp(first.text, second.text, first.size))
        abort();
    str_release(&first);
    str_release(&second);
    return 0;
}
