/* HLO text as a module; whatever goes wrong fails the test. Includes cmocka. */
#ifndef AUTOMAP_TESTS_READ_TEXT_H
#define AUTOMAP_TESTS_READ_TEXT_H

#include "hlo/load.h"
#include "hlo/support/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static inline struct hlo_module *read_text(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

#endif
