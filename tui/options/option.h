/* tui/options/option.h - the options of a command as a table, one row each, from which parsing,
 * --help, the man page and shell completions are made. */
#ifndef AUTOMAP_TUI_OPTIONS_OPTION_H
#define AUTOMAP_TUI_OPTIONS_OPTION_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_TEXT,   /* const char *, of the command line; not empty where something is expected */
    OPTION_FILE,   /* the same, never empty */
    OPTION_LIST,   /* struct text_list: may be given several times */
    OPTION_WHOLE,  /* uint8_t to uint64_t, from least to most; 2e5 is one, too */
    OPTION_REAL,   /* double, from least to most */
    OPTION_CHOICE, /* bool, or an enum: the index of a name */
};

/* What completion offers besides `names`. */
enum option_values {
    VALUES_NONE,
    VALUES_FILE,
    VALUES_MODEL, /* shipped ones, and files */
    VALUES_CLUSTER,
    VALUES_JOURNAL,
    VALUES_TOUR,
    VALUES_THEME,
    VALUES_SETTING, /* of the learner, NAME= */
};

struct option {
    const char
        *name; /* "mesh": --mesh; "o": -o; "MODEL": an argument without a name, by its place */
    const char *value; /* how help spells the value; NULL: a switch, which sets a bool */
    const char *help;  /* NULL: help omits it */
    enum option_kind kind;
    enum option_values values;
    size_t offset, size; /* of the field: INTO */
    double least, most;
    const char *const *names; /* possible values, or some of them */
    size_t name_count;
    const char *(*value_at)(size_t i); /* the same from a table; NULL: no i-th. NULL: no table */
    const char *expected;              /* what is said of a wrong value; NULL: as the kind says */
    /* Replaces the kind's parser; returns 0, an error, or OPTION_PASS to leave the value to another
     * row. `args` is the struct that INTO refers to. */
    int (*take)(void *args, const struct option *o, const char *value, struct err *e);
    /* Appends the value that `take` read; nothing where the option says no more than its default.
     */
    void (*tell)(const void *args, struct str *out);
    int sort;     /* for struct option_parser.taken */
    bool is_kept; /* needed again to continue a search */
    bool has_no;  /* --no-NAME is --NAME off */
};

enum { OPTION_PASS = 1 };

#define INTO(type, field) .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)
#define NAMES(array) .names = array, .name_count = sizeof array / sizeof *array

/* Rows of a command; the fields of `rows` lie `at` bytes into its arguments. */
struct option_set {
    const struct option *rows; /* ends with name NULL; NULL: behind the last set */
    size_t at;
    bool (*row)(size_t i, struct option *out); /* in place of rows: the i-th; false: no i-th */
};

/* The i-th option of all sets. O(i). */
bool option_at(const struct option_set *sets, size_t i, struct option *out);

struct option_parser {
    const char *command; /* for messages: "plan" */
    const struct option_set *sets;
    /* After an option was taken; its value, NULL for a switch. NULL: nobody asks. */
    void (*taken)(void *args, const struct option *o, const char *value);
};

/* Reads "--name value", "--name=value", "--switch" and plain arguments into `args`; skips argv[0].
 * Returns EXIT_OK, or another exit code after a message on stderr. */
int options_parse(const struct option_parser *p, void *args, int argc, char **argv) MUST_CHECK;

/* Appends the value that the field of a row holds, as the command line spells it. False: the field
 * is as it is without the option, or the row has a `take` and no `tell`. A switch that is on
 * appends nothing and is true. `args` is what INTO counts from. */
bool option_told(const struct option *o, const void *args, struct str *out);

/* A number in the fewest digits that read back as the same. */
void option_tell_real(double value, struct str *out);

/* Fills `e` with ERR_USAGE: "--name value, expected ...". Returns its code. */
int option_expected(const struct option *o, const char *value, struct err *e);

/* "--mesh", "-o", "MODEL". */
const char *option_spelling(const struct option *o, char out[static 48]);

/* Prints the rows as help: name and value, then the help text, folded. */
void options_print(const struct option_set *sets, FILE *out);
/* Text in lines of at most `width` columns, each but the first behind `indent` blanks. */
void print_folded(const char *text, int width, int indent, FILE *out);

/* One line on stderr: "automap COMMAND: ...; automap COMMAND --help tells more". Escape sequences
 * are removed, because an argument may be a name from a file. Returns EXIT_USAGE. */
int options_complain(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values of an option that may be repeated; the list is owned, its texts are the command line's. */
struct text_list {
    const char **items;
    uint32_t count;
    size_t room;
};
/* `value` is borrowed. */
int text_list_add(struct text_list *l, const char *value, struct err *e) MUST_CHECK;
void text_list_release(struct text_list *l);

#endif
