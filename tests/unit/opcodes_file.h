/* tests/unit/opcodes_file.h - reading tests/ref/hlo/opcodes.hlo: modules between separators, and
 * lines "// KIND NAME: REST" that say what is known of instruction NAME. */
#ifndef AUTOMAP_TESTS_OPCODES_FILE_H
#define AUTOMAP_TESTS_OPCODES_FILE_H

#include "hlo/load.h"
#include "hlo/module/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static inline char *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    char *text = mem_alloc((size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, in), size);
    fclose(in);
    return text;
}

typedef void (*opcodes_fact)(const struct hlo_module *m, const char *name, const char *rest,
                             void *context);

static inline void opcodes_module(const char *text, size_t size, const char *head,
                                  opcodes_fact fact, void *context)
{
    struct hlo_module *m = NULL;
    struct err e;

    if (hlo_load_memory("opcodes.hlo", text, size, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail_msg("in %.200s", text);
    }
    for (const char *line = text; (line = strstr(line, head)) && line < text + size;) {
        char name[64], rest[1024];
        line += strlen(head);
        assert_int_equal(sscanf(line, "%63[^:]: %1023[^\n]", name, rest), 2);
        fact(m, name, rest, context);
    }
    hlo_free(m);
}

/* Calls `fact` for every line that starts with `head` ("// factors "), with its module. */
static inline void opcodes_each(const char *head, opcodes_fact fact, void *context)
{
    static const char separator[] = "// -----\n";
    char *text = read_all(AUTOMAP_SOURCE_DIR "/tests/ref/hlo/opcodes.hlo");

    for (char *part = text, *end; part; part = end) {
        end = strstr(part, separator);
        opcodes_module(part, end ? (size_t)(end - part) : strlen(part), head, fact, context);
        if (end)
            end += sizeof separator - 1;
    }
    free(text);
}

static inline hlo_id opcodes_find(const struct hlo_module *m, const char *name)
{
    hlo_id id = hlo_find(m, name);

    if (id == HLO_NONE)
        fail_msg("no instruction %s", name);
    return id;
}

#endif
