/* Scopes and costs need nothing but the module: in a large one a second thread works them out while
 * the first follows the data. */
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/thread.h"

enum { BESIDE_LEAST = 10000 }; /* instructions; below, a thread costs more than it saves */

static void *work_beside(void *context)
{
    struct hlo_roles_work *w = context;

    w->beside_code = hlo_scopes_init(&w->scopes, w->m)
                         ? hlo_costs_new(w->m, &w->costs, &w->beside_err)
                         : err_no_memory(&w->beside_err, "for the scopes of the module");
    return NULL;
}

void hlo_roles_beside_begin(struct hlo_roles_work *w)
{
    beside_begin(&w->beside, w->m->count >= BESIDE_LEAST, work_beside, w);
}

int hlo_roles_beside_end(struct hlo_roles_work *w, struct err *e)
{
    beside_end(&w->beside);
    if (w->beside_code)
        *e = w->beside_err;
    return w->beside_code;
}
