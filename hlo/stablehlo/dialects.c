#include "hlo/stablehlo/dialects.h"

#include "hlo/support/lex.h"

#include <string.h>

static const char *const names[] = {"stablehlo", "mhlo", "chlo", "sdy", "func", "vhlo"};
enum { DIALECTS = sizeof names / sizeof *names };

/* `dialect.op` of a known dialect at p, alone or in quotes before an argument list: its number,
 * else -1. */
static int dialect_at(const char *p, bool is_quoted)
{
    for (int n = 0; n < DIALECTS; n++) {
        size_t size = strlen(names[n]);
        if (strncmp(p, names[n], size) != 0 || p[size] != '.')
            continue;
        const char *end = p + size + 1;
        while (lex_is(*end, LEX_NAME))
            end++;
        if (end == p + size + 1)
            return -1;
        const char *next = lex_skip(end);
        if (*next == '=') /* an attribute */
            return -1;
        return (is_quoted ? end[0] == '"' && end[1] == '(' : *end == ' ' || *end == '(') ? n : -1;
    }
    return -1;
}

void hlo_stablehlo_dialects(const char *text, struct str *out)
{
    uint32_t counts[DIALECTS] = {0};
    bool is_first = true;
    char before = '\n';

    for (const char *p = text; *p; before = *p++) {
        if (p[0] == '/' && p[1] == '/')
            p += strcspn(p, "\n");
        if (!*p)
            break;
        int n =
            lex_is(before, LEX_NAME) || strchr("#!@%.", before) ? -1 : dialect_at(p, before == '"');
        if (n >= 0)
            counts[n]++;
    }
    for (int n = 0; n < DIALECTS; n++) {
        if (!counts[n])
            continue;
        str_format(out, "%s%s %u", is_first ? "" : ", ", names[n], counts[n]);
        is_first = false;
    }
}
