/* What reading a large module took and gave back is used again: the next one needs next to no new
 * pages, each of which costs more than what is then done with its bytes. Sanitizers have a malloc
 * of their own: there only that it runs is tested. */
#include "hlo/load.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/pages.h"
#include "tests/unit/other_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/resource.h>

enum { TEXT_BYTES = 10 << 20, FAULTS_MOST = 1000 };

static void write_module(struct str *text)
{
    str_add(text, "HloModule large\n\nENTRY main {\n  value.0 = f32[8,8]{1,0} parameter(0)\n");
    for (int n = 1; text->size < TEXT_BYTES; n++)
        str_format(text, "  value.%d = f32[8,8]{1,0} add(value.%d, value.0)\n", n, n - 1);
    str_add(text, "}\n");
    assert_false(text->failed);
}

static long faults(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static long read_and_free(const struct str *text)
{
    struct hlo_module *m = NULL;
    struct hlo_roles roles;
    struct err e = {0};
    long before = faults();

    if (hlo_load_memory("large", text->text, text->size, NULL, &m, &e) ||
        hlo_roles_new(m, NULL, &roles, &e))
        fail_msg("%s", e.what);
    hlo_roles_release(&roles);
    hlo_free(m);
    return faults() - before;
}

static void memory_is_used_again(void **state)
{
    struct str text = {0};

    (void)state;
    write_module(&text);
    long first = read_and_free(&text), second = read_and_free(&text);
    print_message("%ld page faults, then %ld\n", first, second);
    if (!OTHER_MALLOC && second > FAULTS_MOST)
        fail_msg("%ld page faults of the second module, expected %d at most", second, FAULTS_MOST);
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_used_again)};

    pages_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
