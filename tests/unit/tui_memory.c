/* What the explorer took for a model goes back to the system when another is opened: after many it
 * is as large as after one. Sanitizers have a malloc of their own, which keeps what is freed: there
 * only that it runs is tested. */
#include "hlo/support/pages.h"
#include "tests/unit/explorer.h"
#include "tests/unit/other_malloc.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const double most_mb = 16; /* of pages that hold something small still in use */

static double resident_mb(void)
{
    unsigned long all, resident;
    FILE *in = fopen("/proc/self/statm", "r");

    assert_non_null(in);
    assert_int_equal(fscanf(in, "%lu %lu", &all, &resident), 2);
    fclose(in);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void open_model(struct app *app, const char *model)
{
    struct err e = {0};

    if (app_load(app, model, "v100-1x4", &e))
        fail_msg("%s: %s", model, e.what);
}

/* The least of some rounds: a thread that just then works for the model may hold more. */
static void closing_gives_back(void **state)
{
    struct app *app = explorer_open("mlp", "v100-1x4", 120, 40);
    double before = resident_mb(), least = INFINITY;

    (void)state;
    for (int n = 0; n < 3; n++) {
        open_model(app, "t5-3b");
        double open = resident_mb();
        open_model(app, "mlp");
        double closed = resident_mb();
        print_message("%.1f MB before, %.1f with the model, %.1f without\n", before, open, closed);
        least = fmin(least, closed);
    }
    if (!OTHER_MALLOC && least > before + most_mb)
        fail_msg("%.1f MB after a model that is closed, %.1f before it", least, before);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closing_gives_back)};

    pages_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
