/* hlo/support/err.h - how every room above libc reports bad input and a hostile environment.
 *
 * A function that can fail returns 0 or a negative ERR_* and takes `struct err *e` last. The error
 * is written once, by the place that knows, and is untouched on success. `e` is never NULL.
 * err_print shows it as
 *     FILE:LINE:COL: what was wrong, what was expected
 *     the source line, cut around the place
 *          ^
 * Text put into an error is cleaned (see hlo/support/text.h): it may go to a terminal as it is. */
#ifndef AUTOMAP_HLO_SUPPORT_ERR_H
#define AUTOMAP_HLO_SUPPORT_ERR_H

#include <stdint.h>
#include <stdio.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INPUT = -1,      /* a file or an argument says something wrong: exit code 2 */
    ERR_IO = -2,         /* the environment failed: cannot open, disk full: exit code 2 */
    ERR_LIMIT = -3,      /* a documented limit was reached: exit code 2 */
    ERR_MEMORY = -4,     /* an allocation sized by input failed: exit code 2 */
    ERR_INFEASIBLE = -5, /* well formed, and no plan can satisfy it: exit code 4 */
    ERR_USAGE = -6,      /* the command line asks for what cannot be: exit code 1 */
    ERR_STOPPED = -7,    /* asked to end before there was an answer: exit code 3 */
};

struct err {
    enum err_code code;
    uint32_t line, col; /* 1-based; 0: the error has no line (binary input, whole file) */
    uint64_t byte;      /* offset in the input where line is 0 and has_byte is set */
    int has_byte;
    char file[256];   /* name as the user gave it, or "" */
    char what[512];   /* one sentence, lower case, no full stop */
    char source[160]; /* the source line around the place, or "" */
    uint32_t caret;   /* column of the caret within `source`, 0-based */
};

/* Writes code and sentence into `e` and returns `code`; everything else is cleared. */
int err_set(struct err *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set with ERR_MEMORY: "not enough memory " and what it was for, as "for the report". */
int err_no_memory(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills file; keeps the rest. Returns e->code. */
int err_in_file(struct err *e, const char *file);

/* Fills line, col and the source excerpt from the byte offset `at` of `text`. O(at). Returns
 * e->code. */
int err_at(struct err *e, const char *text, size_t size, size_t at);

/* Prints as described above, with a final newline. */
void err_print(const struct err *e, FILE *out);

/* As err_print's first line, without the newline, into `out`. */
void err_format(const struct err *e, char *out, size_t size);

/* A bug in automap itself: prints place and condition to stderr and aborts. Never for input. */
#define BUG_ON(condition) ((condition) ? err_bug(__FILE__, __LINE__, #condition) : (void)0)
void err_bug(const char *file, int line, const char *condition) __attribute__((noreturn));

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
