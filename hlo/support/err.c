#include "hlo/support/err.h"

#include "hlo/support/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int set_error(struct err *e, enum err_code code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static int set_error(struct err *e, enum err_code code, const char *format, va_list args)
{
    char raw[sizeof e->what];

    memset(e, 0, sizeof *e);
    e->code = code;
    vsnprintf(raw, sizeof raw, format, args);
    text_clean(e->what, sizeof e->what, raw, strlen(raw));
    return code;
}

int err_set(struct err *e, enum err_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_error(e, code, format, args);
    va_end(args);
    return code;
}

int err_no_memory(struct err *e, const char *format, ...)
{
    char purpose[sizeof e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(purpose, sizeof purpose, format, args);
    va_end(args);
    return err_set(e, ERR_MEMORY, "not enough memory %s", purpose);
}

int err_in_file(struct err *e, const char *file)
{
    text_clean(e->file, sizeof e->file, file, strlen(file));
    return e->code;
}

int err_at(struct err *e, const char *text, size_t size, size_t at)
{
    size_t begin = 0;

    if (at > size)
        at = size;
    e->line = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            e->line++;
            begin = i + 1;
        }
    }
    e->col = (uint32_t)(at - begin) + 1;

    /* Show at most 150 bytes of the line, the place within the first 100 of them. */
    size_t end = at;
    while (end < size && text[end] != '\n' && text[end] != '\r' && end - begin < 100000)
        end++;
    size_t from = at - begin > 100 ? at - 100 : begin;
    size_t length = end - from > 150 ? 150 : end - from;
    text_clean_columns(e->source, sizeof e->source, text + from, length);
    e->caret = (uint32_t)(at - from);
    return e->code;
}

void err_format(const struct err *e, char *out, size_t size)
{
    char place[sizeof e->file + 64] = "";

    if (e->line)
        snprintf(place, sizeof place, "%s:%u:%u: ", e->file[0] ? e->file : "input", e->line,
                 e->col);
    else if (e->has_byte)
        snprintf(place, sizeof place, "%s: byte %llu: ", e->file[0] ? e->file : "input",
                 (unsigned long long)e->byte);
    else if (e->file[0])
        snprintf(place, sizeof place, "%s: ", e->file);
    snprintf(out, size, "%s%s", place, e->what);
}

void err_print(const struct err *e, FILE *out)
{
    char line[sizeof e->file + sizeof e->what + 64];

    err_format(e, line, sizeof line);
    fprintf(out, "%s\n", line);
    if (e->source[0])
        fprintf(out, "  %s\n  %*s^\n", e->source, (int)e->caret, "");
}

void err_bug(const char *file, int line, const char *condition)
{
    fprintf(stderr, "automap: bug at %s:%d: %s\n", file, line, condition);
    abort();
}
