/* Any bytes as an instance of the IOPDDL contest: an error with a sentence, or an instance that is
 * solved (its own check of cost and memory stands in iopddl_solve), proven to have no solution, or
 * left without one. */
#include "engine/relaxed/iopddl.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(struct iopddl *p)
{
    struct iopddl_options o = {.work = 20000, .seed = 1};
    struct iopddl_answer a;
    struct err e = {0};

    if (iopddl_solve(p, &o, &a, &e)) {
        require(e.code < 0 && e.what[0]);
        return;
    }
    require(!a.x || (a.cost >= 0 && a.cost >= a.bound * (1 - 1e-6) - 1e-6));
    for (uint32_t n = 0; a.x && n < p->energy.nodes; n++)
        require(a.x[n] < energy_labels(&p->energy, n));
    iopddl_answer_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iopddl *p;
    struct err e = {0};

    if (iopddl_parse((const char *)data, size, &p, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
        return 0;
    }
    if (p->energy.nodes < 2000 && p->energy.edge_count < 4000)
        solve(p);
    iopddl_free(p);
    return 0;
}
