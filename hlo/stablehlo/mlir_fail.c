/* What was expected where something else stands. */
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hlo_mlir_memory(struct mlir_module *m)
{
    return err_set(m->e, ERR_MEMORY, "not enough memory for this module");
}

static int __attribute__((format(printf, 3, 0)))
fail(struct mlir_module *m, size_t at, const char *format, va_list args)
{
    char what[sizeof m->e->what], clean[sizeof m->e->what];

    vsnprintf(what, sizeof what, format, args);
    text_clean(clean, sizeof clean, what, strlen(what));
    err_set(m->e, ERR_INPUT, "%s", clean);
    return err_at(m->e, m->input, m->size, at);
}

int hlo_mlir_fail(struct mlir_module *m, size_t at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fail(m, at, format, args);
    va_end(args);
    return rc;
}

int hlo_mlir_parse_fail(struct mlir_parser *p, const char *at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = fail(p->m, (size_t)(at - p->m->input), format, args);
    va_end(args);
    return rc;
}

int hlo_mlir_parse_place(struct mlir_parser *p, const char *at, int code)
{
    if (code && !p->m->e->line)
        err_at(p->m->e, p->m->input, p->m->size, (size_t)(at - p->m->input));
    return code;
}

int hlo_mlir_word_size(const char *at)
{
    int size = 0;

    while (size < 60 && at[size] && !lex_is(at[size], LEX_BLANK) && at[size] != ',')
        size++;
    return size;
}

bool hlo_mlir_eat(struct mlir_parser *p, const char *text)
{
    size_t size = strlen(text);

    mlir_skip(p);
    if (strncmp(p->at, text, size) ||
        (lex_is(text[0], LEX_START) && text[size - 1] != ':' && lex_is(p->at[size], LEX_NAME)))
        return false;
    p->at += size;
    return true;
}

int hlo_mlir_parse_expect(struct mlir_parser *p, const char *what, const char *why)
{
    if (hlo_mlir_eat(p, what))
        return 0;
    if (!*p->at)
        return hlo_mlir_parse_fail(p, p->at, "end of the file, expected %s %s", what, why);
    return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected %s %s", MLIR_WORD(p->at), what,
                               why);
}
