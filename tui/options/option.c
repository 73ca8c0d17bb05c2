#include "tui/options/option.h"

#include "engine/text/quantity.h"
#include "hlo/support/text.h"
#include "tui/options/exit_code.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_ROOM = 4096, NAME_ROOM = 48, HELP_WIDTH = 80, HELP_INDENT = 29 };

int options_complain(const char *command, const char *format, ...)
{
    char raw[LINE_ROOM], line[LINE_ROOM];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    text_clean(line, sizeof line, raw, strlen(raw));
    fprintf(stderr, "automap %s: %s; automap %s --help tells more\n", command, line, command);
    return EXIT_USAGE;
}

int text_list_add(struct text_list *l, const char *value, struct err *e)
{
    if (!mem_grow(&l->items, &l->room, l->count, 1))
        return err_no_memory(e, "for the command line");
    l->items[l->count++] = value;
    return 0;
}

void text_list_release(struct text_list *l)
{
    free(l->items);
    *l = (struct text_list){0};
}

/* ---- rows ---- */

static bool row_of(const struct option_set *s, size_t i, struct option *out)
{
    if (s->row)
        return s->row(i, out);
    for (size_t n = 0; s->rows[n].name; n++) {
        if (n == i) {
            *out = s->rows[n];
            return true;
        }
    }
    return false;
}

bool option_at(const struct option_set *sets, size_t i, struct option *out)
{
    for (; sets && (sets->rows || sets->row); sets++) {
        size_t n = 0;
        for (; row_of(sets, n, out); n++) {
            if (n == i)
                return true;
        }
        i -= n;
    }
    return false;
}

static bool is_argument(const struct option *o)
{
    return isupper((unsigned char)o->name[0]);
}

const char *option_spelling(const struct option *o, char out[static 48])
{
    snprintf(out, NAME_ROOM, "%s%s", is_argument(o) ? "" : o->name[1] ? "--" : "-", o->name);
    for (char *c = out; (c = strchr(c, '_'));)
        *c = '-';
    return out;
}

/* ---- values ---- */

static void list_names(const struct option *o, char *out, size_t room)
{
    size_t size = 0;

    for (size_t n = 0; n < o->name_count && size < room; n++) {
        const char *between = !n ? "" : n + 1 == o->name_count ? " or " : ", ";
        size += (size_t)snprintf(out + size, room - size, "%s%s", between, o->names[n]);
    }
}

int option_expected(const struct option *o, const char *value, struct err *e)
{
    char name[NAME_ROOM], expected[256] = "a value";

    if (o->expected)
        snprintf(expected, sizeof expected, "%s", o->expected);
    else if (o->kind == OPTION_CHOICE)
        list_names(o, expected, sizeof expected);
    else if (o->kind == OPTION_FILE)
        snprintf(expected, sizeof expected, "a file");
    else if (o->kind == OPTION_WHOLE || o->kind == OPTION_REAL)
        snprintf(expected, sizeof expected, "a %snumber from %.12g to %.12g",
                 o->kind == OPTION_WHOLE ? "whole " : "", o->least, o->most);
    return err_set(e, ERR_USAGE, "%s %.200s, expected %s", option_spelling(o, name),
                   value[0] ? value : "has no value", expected);
}

static void store_whole(void *field, size_t size, uint64_t n)
{
    if (size == 1)
        *(uint8_t *)field = (uint8_t)n;
    else if (size == 4)
        *(uint32_t *)field = (uint32_t)n;
    else
        *(uint64_t *)field = n;
}

static bool take_whole(const struct option *o, void *field, const char *value)
{
    double real;
    uint64_t n;

    if (!quantity_whole(value, UINT64_MAX, &n)) {
        if (!quantity_real(value, 0, 0x1p53, &real) || real != floor(real))
            return false;
        n = (uint64_t)real;
    }
    if ((double)n < o->least || (double)n > o->most)
        return false;
    store_whole(field, o->size, n);
    return true;
}

static bool take_choice(const struct option *o, void *field, const char *value)
{
    for (size_t n = 0; n < o->name_count; n++) {
        if (!strcmp(o->names[n], value)) {
            store_whole(field, o->size, n);
            return true;
        }
    }
    return false;
}

static int take_value(const struct option *o, void *args, const char *value, struct err *e)
{
    void *field = (char *)args + o->offset;
    bool is_fine = true;

    if (o->take)
        return o->take(args, o, value, e);
    if (!o->value && !is_argument(o)) {
        *(bool *)field = true;
        return 0;
    }
    switch (o->kind) {
    case OPTION_LIST:
        return text_list_add(field, value, e);
    case OPTION_FILE:
    case OPTION_TEXT:
        is_fine = value[0] || (o->kind == OPTION_TEXT && !o->expected);
        *(const char **)field = value;
        break;
    case OPTION_WHOLE:
        is_fine = take_whole(o, field, value);
        break;
    case OPTION_REAL:
        is_fine = quantity_real(value, o->least, o->most, field);
        break;
    case OPTION_CHOICE:
        is_fine = take_choice(o, field, value);
        break;
    }
    return is_fine ? 0 : option_expected(o, value, e);
}

void option_tell_real(double value, struct str *out)
{
    char text[32];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    str_add(out, text);
}

static uint64_t stored_whole(const void *field, size_t size)
{
    return size == 1   ? *(const uint8_t *)field
           : size == 4 ? *(const uint32_t *)field
                       : *(const uint64_t *)field;
}

bool option_told(const struct option *o, const void *args, struct str *out)
{
    const void *field = (const char *)args + o->offset;
    size_t before = out->size;
    uint64_t n;

    if (o->take) {
        if (o->tell)
            o->tell(args, out);
        return out->size > before;
    }
    if (!o->value && !is_argument(o))
        return *(const bool *)field;
    switch (o->kind) {
    case OPTION_LIST:
        return false;
    case OPTION_FILE:
    case OPTION_TEXT:
        if (*(const char *const *)field)
            str_add(out, *(const char *const *)field);
        break;
    case OPTION_WHOLE:
        n = stored_whole(field, o->size);
        if (n)
            str_format(out, "%" PRIu64, n);
        break;
    case OPTION_REAL:
        if (*(const double *)field != 0)
            option_tell_real(*(const double *)field, out);
        break;
    case OPTION_CHOICE:
        n = stored_whole(field, o->size);
        if (n && n < o->name_count)
            str_add(out, o->names[n]);
        break;
    }
    return out->size > before;
}

/* ---- a command line ---- */

struct reading {
    const struct option_parser *p;
    void *args;
    int argc, at;
    char **argv;
    struct err e;
};

/* Offers `value` to one row. */
static int offer_option(struct reading *r, const struct option_set *s, const struct option *o,
                        const char *value)
{
    int rc = take_value(o, (char *)r->args + s->at, value, &r->e);

    if (rc)
        return rc;
    if (r->p->taken)
        r->p->taken(r->args, o, value);
    return rc;
}

static bool is_filled(const struct option *o, const void *args)
{
    return !o->take && o->kind != OPTION_LIST &&
           *(const char *const *)((const char *)args + o->offset);
}

/* The first argument without a name that is not given yet and takes it. */
static int read_argument(struct reading *r)
{
    struct option o;

    for (const struct option_set *s = r->p->sets; s->rows || s->row; s++) {
        for (size_t i = 0; row_of(s, i, &o); i++) {
            if (!is_argument(&o) || is_filled(&o, (char *)r->args + s->at))
                continue;
            int rc = offer_option(r, s, &o, r->argv[r->at]);
            if (rc != OPTION_PASS)
                return rc;
        }
    }
    return err_set(&r->e, ERR_USAGE, "one argument too many: %.200s", r->argv[r->at]);
}

static int complain_unknown(struct reading *r, const char *name, size_t size)
{
    const char *names[256], *word = r->argv[r->at];
    char wanted[NAME_ROOM], near[NAME_ROOM];
    struct option o, best = {0};
    size_t count = 0;

    for (size_t i = 0; count + 1 < sizeof names / sizeof *names && option_at(r->p->sets, i, &o);
         i++)
        names[count++] = o.name;
    names[count] = NULL;
    snprintf(wanted, sizeof wanted, "%.*s", (int)size, name);
    best.name = quantity_nearest(wanted, names);
    if (!best.name || is_argument(&best))
        return err_set(&r->e, ERR_USAGE, "no option %.200s", word);
    return err_set(&r->e, ERR_USAGE, "no option %.200s, did you mean %s", word,
                   option_spelling(&best, near));
}

/* Names from a table of C may have '_' for '-'. */
static bool is_named(const struct option *o, const char *name, size_t size)
{
    bool same = !is_argument(o) && strlen(o->name) == size;

    for (size_t n = 0; n < size && same; n++)
        same = o->name[n] == name[n] || (o->name[n] == '_' && name[n] == '-');
    return same;
}

/* Adds to the complaint of one row what the row before it, of the same name, would have taken. */
static int complain_of_both(struct reading *r, const struct option *passed)
{
    char names[128] = "";
    struct err last = r->e;

    list_names(passed, names, sizeof names);
    return err_set(&r->e, last.code, "%s, or %s", last.what, names);
}

/* The rows of that name are asked in order; one that passes leaves it to the next. */
static int read_option(struct reading *r)
{
    const char *word = r->argv[r->at], *name = word + 1 + (word[1] == '-');
    size_t size = strcspn(name, "=");
    const char *given = name[size] ? name + size + 1 : NULL;
    bool is_no = !strncmp(word, "--no-", 5);
    struct option o, passed = {0};

    for (const struct option_set *s = r->p->sets; s->rows || s->row; s++) {
        for (size_t i = 0; row_of(s, i, &o); i++) {
            bool off = o.has_no && is_no && is_named(&o, name + 3, size - 3);
            const char *value = off ? "off" : given;
            if (!off && !(is_named(&o, name, size) && (word[1] == '-') == (o.name[1] != 0)))
                continue;
            if (given && (off || !o.value))
                return err_set(&r->e, ERR_USAGE, "%.*s takes no value", (int)(name + size - word),
                               word);
            if (o.value && !value && r->at + 1 >= r->argc)
                return err_set(&r->e, ERR_USAGE, "%s needs a value, %s", word, o.value);
            if (o.value && !value)
                value = given = r->argv[++r->at];
            int rc = offer_option(r, s, &o, value);
            if (rc != OPTION_PASS)
                return rc && passed.name_count ? complain_of_both(r, &passed) : rc;
            passed = o;
        }
    }
    return complain_unknown(r, name, size);
}

int options_parse(const struct option_parser *p, void *args, int argc, char **argv)
{
    struct reading r = {.p = p, .args = args, .argc = argc, .argv = argv};

    for (r.at = 1; r.at < argc; r.at++) {
        const char *word = argv[r.at];
        int rc = word[0] == '-' && word[1] ? read_option(&r) : read_argument(&r);
        if (!rc)
            continue;
        if (r.e.code == ERR_USAGE)
            return options_complain(p->command, "%s", r.e.what);
        err_print(&r.e, stderr);
        return exit_code_of(&r.e);
    }
    return EXIT_OK;
}

/* ---- help ---- */

void print_folded(const char *text, int width, int indent, FILE *out)
{
    int column = indent;

    while (*text) {
        size_t size = strcspn(text, " \n");
        if (column > indent && column + 1 + (int)size > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", (int)size, text);
        text += size;
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] == '\n' ? 0 : indent, "");
            column = indent;
        }
        text += *text != 0;
    }
    fputc('\n', out);
}

void options_print(const struct option_set *sets, FILE *out)
{
    char name[NAME_ROOM];
    struct option o;

    for (size_t i = 0; option_at(sets, i, &o); i++) {
        if (!o.help)
            continue;
        int column = fprintf(out, "  %s%s%s", option_spelling(&o, name), o.value ? " " : "",
                             o.value ? o.value : "");
        if (column >= HELP_INDENT)
            fprintf(out, "\n%*s", HELP_INDENT, "");
        else
            fprintf(out, "%*s", HELP_INDENT - column, "");
        print_folded(o.help, HELP_WIDTH, HELP_INDENT, out);
    }
}
