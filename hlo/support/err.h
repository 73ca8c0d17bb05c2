/* hlo/support/err.h - how every room above libc reports bad input and a hostile environment.
 *
 * A function that can fail returns 0 or a negative ERR_* and takes `struct err *e` last. The error
 * is written once, where the cause is known, and is left alone on success. `e` is never NULL.
 * err_print shows it as
 *     FILE:LINE:COL: what was wrong, what was expected
 *     the source line, cut to the part around the error
 *          ^
 * Text put into an error is cleaned (hlo/support/text.h), so it is safe to print on a terminal. */
#ifndef AUTOMAP_HLO_SUPPORT_ERR_H
#define AUTOMAP_HLO_SUPPORT_ERR_H

#include <stdint.h>
#include <stdio.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INPUT = -1,      /* a file or an argument is wrong: exit code 2 */
    ERR_IO = -2,         /* the environment failed: cannot open, disk full: exit code 2 */
    ERR_LIMIT = -3,      /* a documented limit was reached: exit code 2 */
    ERR_MEMORY = -4,     /* an allocation sized by input failed: exit code 2 */
    ERR_INFEASIBLE = -5, /* well formed, but no plan can satisfy it: exit code 4 */
    ERR_USAGE = -6,      /* the command line asks for something impossible: exit code 1 */
    ERR_STOPPED = -7,    /* stopped before there was an answer: exit code 3 */
};

struct err {
    enum err_code code;
    uint32_t line, col; /* 1-based; 0: the error has no line (binary input, whole file) */
    uint64_t byte;      /* offset in the input where line is 0 and has_byte is set */
    int has_byte;
    char file[256];   /* name as the user gave it, or "" */
    char what[512];   /* one sentence, lower case, no full stop */
    char source[160]; /* the part of the source line around the error, or "" */
    uint32_t caret;   /* column of the caret within `source`, 0-based */
};

/* Writes the code and the message into `e`, clears the rest and returns `code`. */
int err_set(struct err *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set with ERR_MEMORY: "not enough memory " and then what for, as in "for the report". */
int err_no_memory(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets e->file and keeps the rest. Returns e->code. */
int err_in_file(struct err *e, const char *file);

/* Fills line, col and the source excerpt from the byte offset `at` of `text`. O(at). Returns
 * e->code. */
int err_at(struct err *e, const char *text, size_t size, size_t at);

/* Prints as described above, with a final newline. */
void err_print(const struct err *e, FILE *out);

/* The first line of err_print, without the newline, into `out` (`size` bytes with the NUL). */
void err_format(const struct err *e, char *out, size_t size);

/* A bug in automap itself: prints file, line and condition to stderr and aborts. Never for
 * input. */
#define BUG_ON(condition) ((condition) ? err_bug(__FILE__, __LINE__, #condition) : (void)0)
void err_bug(const char *file, int line, const char *condition) __attribute__((noreturn));

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
