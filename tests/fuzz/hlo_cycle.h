/* What every reader of HLO promises for any bytes: an error that says something, or a module that
 * goes through proto and JSON and comes back with the same text. */
#ifndef AUTOMAP_TESTS_FUZZ_HLO_CYCLE_H
#define AUTOMAP_TESTS_FUZZ_HLO_CYCLE_H

#include "hlo/load.h"
#include "hlo/module/read.h"
#include "hlo/proto/write.h"
#include "hlo/support/text.h"
#include "hlo/text/write_text.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_error(const struct err *e)
{
    require(e->code < 0 && e->what[0]);
    require(text_is_clean(e->what, strlen(e->what)));
    require(e->caret < sizeof e->source);
}

/* `m` through a writer and back. NULL when a limit was in the way. */
static struct hlo_module *through(const struct hlo_module *m,
                                  int (*write)(const struct hlo_module *m, struct str *out,
                                               struct err *e))
{
    struct hlo_module *back = NULL;
    struct str bytes = {0};
    struct err e = {0};

    if (write(m, &bytes, &e)) {
        check_error(&e);
        err_print(&e, stderr);
        require(e.code == ERR_LIMIT || e.code == ERR_MEMORY || strstr(e.what, "left out"));
    } else if (hlo_load_memory("cycle", bytes.text, bytes.size, NULL, &back, &e)) {
        err_print(&e, stderr);
        require(e.code == ERR_LIMIT || e.code == ERR_MEMORY);
    } else {
        require(back->count == m->count && back->computation_count == m->computation_count);
        require(back->alias_count == m->alias_count && back->donor_count == m->donor_count);
    }
    str_release(&bytes);
    return back;
}

static struct str text_of(const struct hlo_module *m)
{
    struct str out = {0};
    struct err e = {0};

    require(!hlo_write_text(m, NULL, &out, &e));
    return out;
}

/* The first pass may put in what XLA always prints (the entry layout); from then on nothing
 * changes. */
static void check_cycle(const struct hlo_module *m)
{
    struct hlo_module *proto = through(m, hlo_write_proto);
    struct hlo_module *json = proto ? through(proto, hlo_write_json) : NULL;

    if (json) {
        struct str before = text_of(proto), after = text_of(json);
        /* JSON has one NaN, without sign and payload. */
        if (!strstr(before.text, "nan"))
            require(before.size == after.size && !memcmp(before.text, after.text, after.size));
        str_release(&before);
        str_release(&after);
    }
    hlo_free(proto);
    hlo_free(json);
}

typedef int (*reader)(char *input, size_t size, const struct hlo_load_options *o,
                      struct hlo_module **out, struct err *e);

static void check_reader(reader read, const void *data, size_t size)
{
    static const struct hlo_load_options any = {.module = -1};
    struct hlo_module *m = NULL;
    struct err e = {0};
    char *input = mem_alloc(size + HLO_INPUT_PAD);

    if (size)
        memcpy(input, data, size);
    if (read(input, size, &any, &m, &e)) {
        check_error(&e);
        return;
    }
    check_cycle(m);
    hlo_free(m);
}

#endif
