/* The text reader never crashes, and what it reads it writes and reads again to the same text. Two
 * threads read what one reads, or fail with its error. */
#include "hlo/load.h"
#include "hlo/module/read.h"
#include "hlo/text/write_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hlo_module *read_text(const void *data, size_t size, size_t apart, struct err *e)
{
    struct hlo_load_options o = {.module = -1, .apart = apart};
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

/* `alone`: what one thread made of it, written; NULL: `e`. */
static void check_apart(const uint8_t *data, size_t size, const struct str *alone,
                        const struct err *e)
{
    struct err f = {0};
    struct hlo_module *m = read_text(data, size, 1, &f);
    struct str text = {0};

    if (!m != !alone)
        abort();
    if (m)
        write_text(m, &text);
    if (alone ? text.size != alone->size || memcmp(text.text, alone->text, text.size)
              : strcmp(e->what, f.what) || e->line != f.line || e->col != f.col)
        abort();
    hlo_free(m);
    str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct hlo_module *m = read_text(data, size, SIZE_MAX, &e);
    struct str first = {0}, second = {0};

    if (!m) {
        if (!e.code || !e.what[0])
            abort();
        check_apart(data, size, NULL, &e);
        return 0;
    }
    write_text(m, &first);
    hlo_free(m);
    check_apart(data, size, &first, &e);
    m = read_text(first.text, first.size, SIZE_MAX, &e);
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
