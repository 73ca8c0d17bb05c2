/* The StableHLO reader never crashes, and what it reads goes through the other forms and back; what
 * the writer makes of it is read again. */
#include "hlo/load.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo_cycle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_writer(const uint8_t *data, size_t size)
{
    struct hlo_module *m = NULL, *back = NULL;
    struct str text = {0};
    struct err e;

    if (hlo_load_memory("fuzz", (const char *)data, size, NULL, &m, &e))
        return;
    if (m->format == HLO_FORMAT_STABLEHLO && !hlo_write_stablehlo(m, NULL, &text, &e) &&
        hlo_load_memory("written", text.text, text.size, NULL, &back, &e) == ERR_INPUT) {
        err_print(&e, stderr);
        abort();
    }
    hlo_free(m);
    hlo_free(back);
    str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_writer(data, size);
    check_reader(hlo_read_stablehlo, data, size);
    return 0;
}
