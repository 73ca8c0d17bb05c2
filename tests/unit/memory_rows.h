/* tests/unit/memory_rows.h - what XLA's memory scheduler needs, measured: tests/ref/memory. */
#ifndef AUTOMAP_TESTS_UNIT_MEMORY_ROWS_H
#define AUTOMAP_TESTS_UNIT_MEMORY_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

/* Calls `check` with every row, or with those of unsplit plans only (`whole`); there are `least` or
 * more. */
static inline void each_memory_row(bool whole, uint32_t least, void (*check)(const cJSON *row))
{
    static char line[4096];
    FILE *f = fopen(AUTOMAP_SOURCE_DIR "/tests/ref/memory/memory.jsonl", "r");
    uint32_t count = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        cJSON *row = cJSON_Parse(line);
        assert_non_null(row);
        if (!whole || !cJSON_GetArraySize(cJSON_GetObjectItem(row, "settings"))) {
            check(row);
            count++;
        }
        cJSON_Delete(row);
    }
    fclose(f);
    assert_true(count >= least);
}

/* Bytes of a device while a whole model runs, but for its outputs. */
static inline double memory_row_peak(const cJSON *row)
{
    return cJSON_GetObjectItem(row, "arguments")->valuedouble +
           cJSON_GetObjectItem(row, "temporaries")->valuedouble;
}

#endif
