/* Any bytes as a profile: an error with a sentence, or a time from 0 to 10^9 ms for at least one
 * instruction and -1 for the others. */
#include "engine/cost/measured.h"
#include "hlo/load.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "HloModule m\nENTRY main {\n  a = f32[4,8] parameter(0)\n  b = f32[8,2] parameter(1)\n"
    "  ROOT d.1 = f32[4,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hlo_module *m;
    struct err e = {0};
    double *ms;
    char *text = malloc(size + 1);

    require(text && !hlo_load_memory("m", model, sizeof model - 1, NULL, &m, &e));
    memcpy(text, data, size);
    text[size] = '\0';
    if (measured_read(m, text, size, &ms, &e)) {
        require(!ms && e.code < 0 && e.what[0] && e.line <= size + 1);
    } else {
        bool any = false;
        for (hlo_id id = 0; id < m->count; id++) {
            require(ms[id] == -1 || (ms[id] >= 0 && ms[id] <= 1e9));
            any |= ms[id] >= 0;
        }
        require(any);
    }
    free(ms);
    free(text);
    hlo_free(m);
    return 0;
}
