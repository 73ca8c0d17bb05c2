/* Lists of trainable variables: a JSON array, a YAML list or plain lines. */
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

enum {
    LIST_BYTES_MAX = 16 << 20,
    LIST_NAMES_MAX = 1 << 20,
};

struct reader {
    const char *path;
    const char *text;
    size_t size, at;
    struct hlo_vars *out;
    size_t room;
    size_t line_begin; /* of the last name */
    uint32_t line;     /* from 1 */
    struct err *e;
};

static int fail_in_list(struct reader *r, size_t at, const char *what)
{
    err_set(r->e, ERR_INPUT, "%s", what);
    err_at(r->e, r->text, r->size, at);
    return err_in_file(r->e, r->path);
}

/* Room for one more name and its place. */
static bool grow_names(struct reader *r)
{
    struct hlo_vars *v = r->out;
    size_t room = r->room ? r->room * 2 : 64;

    if (v->count < r->room)
        return true;
    const char **names = arena_get(&v->arena, room, sizeof *names);
    struct hlo_vars_place *places = arena_get(&v->arena, room, sizeof *places);
    if (!names || !places)
        return false;
    if (v->count) {
        memcpy(names, v->names, v->count * sizeof *names);
        memcpy(places, v->places, v->count * sizeof *places);
    }
    v->names = names;
    v->places = places;
    r->room = room;
    return true;
}

/* Names come in the order of the text. */
static struct hlo_vars_place place_of(struct reader *r, size_t at)
{
    const char *newline;

    while ((newline = memchr(r->text + r->line_begin, '\n', at - r->line_begin))) {
        r->line_begin = (size_t)(newline + 1 - r->text);
        r->line++;
    }
    return (struct hlo_vars_place){r->line, (uint32_t)(at - r->line_begin) + 1};
}

static int add_name(struct reader *r, const char *name, size_t size, size_t at)
{
    if (!size)
        return fail_in_list(r, at, "an empty name, expected the name or number of a parameter");
    if (r->out->count >= LIST_NAMES_MAX)
        return err_set(r->e, ERR_LIMIT, "more than %d names in a list of variables",
                       (int)LIST_NAMES_MAX);
    char *copy = grow_names(r) ? arena_text(&r->out->arena, name, size) : NULL;
    if (!copy)
        return err_no_memory(r->e, "for the list of variables");
    r->out->places[r->out->count] = place_of(r, at);
    r->out->names[r->out->count++] = copy;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r, bool lines)
{
    while (r->at < r->size) {
        char c = r->text[r->at];
        if (c == '#' && (!r->at || is_blank(r->text[r->at - 1]) || r->text[r->at - 1] == '\n')) {
            while (r->at < r->size && r->text[r->at] != '\n')
                r->at++;
        } else if (is_blank(c) || (lines && c == '\n')) {
            r->at++;
        } else {
            break;
        }
    }
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind "\u": a code point of the basic plane as UTF-8. */
static bool add_code_point(struct reader *r, struct str *s)
{
    unsigned code = 0;

    for (int n = 0; n < 4; n++, r->at++) {
        int digit = r->at < r->size ? hex(r->text[r->at]) : -1;
        if (digit < 0)
            return false;
        code = code * 16 + (unsigned)digit;
    }
    if (!code || (code >= 0xd800 && code < 0xe000))
        return false;
    if (code >= 0x800)
        str_add_char(s, (char)(0xe0 | code >> 12));
    if (code >= 0x80)
        str_add_char(s, (char)(code >= 0x800 ? 0x80 | (code >> 6 & 63) : 0xc0 | code >> 6));
    str_add_char(s, (char)(code >= 0x80 ? 0x80 | (code & 63) : code));
    return true;
}

static bool add_escape(struct reader *r, struct str *s)
{
    static const char from[] = "\"\\/'ntrbf", to[] = "\"\\/'\n\t\r\b\f";
    char c = r->at < r->size ? r->text[r->at++] : '\0';
    const char *known = c ? strchr(from, c) : NULL;

    if (c == 'u')
        return add_code_point(r, s);
    if (known)
        str_add_char(s, to[known - from]);
    return known != NULL;
}

/* "JSON or YAML" or 'YAML' with '' for a quote. */
static int read_quoted(struct reader *r)
{
    char quote = r->text[r->at];
    size_t begin = r->at++;
    struct str s = {0};
    int code = 0;

    for (;;) {
        if (r->at >= r->size || r->text[r->at] == '\n') {
            code = fail_in_list(r, begin, "a quoted name without an end, expected a closing quote");
            break;
        }
        char c = r->text[r->at++];
        if (c == quote && quote == '\'' && r->at < r->size && r->text[r->at] == quote) {
            r->at++;
        } else if (c == quote) {
            break;
        } else if (c == '\\' && quote == '"') {
            if (!add_escape(r, &s)) {
                code = fail_in_list(
                    r, r->at - 1,
                    "an unknown escape in a name, expected one of \\\" \\\\ \\/ \\n \\t \\uXXXX");
                break;
            }
            continue;
        }
        str_add_char(&s, c);
    }
    if (!code && s.failed)
        code = err_no_memory(r->e, "for the list of variables");
    if (!code)
        code = add_name(r, s.text, s.size, begin);
    str_release(&s);
    return code;
}

/* A bare name up to `stops`, a comment or the end of the line. */
static int read_bare(struct reader *r, const char *stops)
{
    size_t begin = r->at, end;

    while (r->at < r->size && r->text[r->at] != '\n' && !strchr(stops, r->text[r->at]) &&
           !(r->text[r->at] == '#' && r->at > begin && is_blank(r->text[r->at - 1])))
        r->at++;
    for (end = r->at; end > begin && is_blank(r->text[end - 1]);)
        end--;
    if (memchr(r->text + begin, '\0', end - begin))
        return fail_in_list(r, begin, "a zero byte in a name, expected text");
    return add_name(r, r->text + begin, end - begin, begin);
}

static int read_item(struct reader *r, const char *stops)
{
    bool is_quoted = r->at < r->size && (r->text[r->at] == '"' || r->text[r->at] == '\'');

    return is_quoted ? read_quoted(r) : read_bare(r, stops);
}

/* [a, "b", 3] */
static int read_flow_list(struct reader *r)
{
    size_t begin = r->at++;
    int code = 0;

    for (skip_blanks(r, true); !code; skip_blanks(r, true)) {
        if (r->at < r->size && r->text[r->at] == ']') {
            r->at++;
            break;
        }
        if (r->at < r->size && strchr("[{,", r->text[r->at]))
            return fail_in_list(
                r, r->at,
                "a list or object in the list, expected the name or number of a parameter");
        code = r->at < r->size ? read_item(r, ",]")
                               : fail_in_list(r, begin, "a list without an end, expected \"]\"");
        skip_blanks(r, true);
        if (!code && r->at < r->size && r->text[r->at] == ',')
            r->at++;
        else if (!code && r->at < r->size && r->text[r->at] != ']')
            code = fail_in_list(r, r->at, "no comma between names, expected \",\" or \"]\"");
    }
    skip_blanks(r, true);
    if (!code && r->at < r->size &&
        strncmp(r->text + r->at, "...", r->size - r->at < 3 ? r->size - r->at : 3))
        code = fail_in_list(r, r->at, "text behind the list, expected the end of the file");
    return code;
}

static int end_line(struct reader *r)
{
    skip_blanks(r, false);
    if (r->at < r->size && r->text[r->at] != '\n')
        return fail_in_list(r, r->at, "text behind a name, expected the end of the line");
    return 0;
}

/* "- a" lines: all of them or none. Plain lines: a name, a number, or both ("12 encoder/kernel").
 */
static int read_lines(struct reader *r)
{
    int code = 0, dashed = -1;

    for (skip_blanks(r, true); !code && r->at < r->size; skip_blanks(r, true)) {
        const char *rest = r->text + r->at;
        bool is_dash =
            *rest == '-' && r->at + 1 < r->size && (is_blank(rest[1]) || rest[1] == '\n');
        if (dashed < 0)
            dashed = is_dash;
        if (is_dash != dashed)
            return fail_in_list(
                r, r->at,
                dashed ? "a line without \"- \" in a list of such lines, expected \"- NAME\""
                       : "a line with \"- \" among plain lines, expected a name alone");
        if (is_dash) {
            r->at += 2;
            skip_blanks(r, false);
        }
        code = read_item(r, "");
        if (!code)
            code = end_line(r);
    }
    return code;
}

static int read_list(struct reader *r)
{
    if (r->size >= 3 && !memcmp(r->text, "\357\273\277", 3))
        r->at = 3;
    skip_blanks(r, true);
    if (r->size - r->at >= 3 && !memcmp(r->text + r->at, "---", 3) &&
        (r->size - r->at == 3 || strchr(" \t\r\n", r->text[r->at + 3]))) {
        r->at += 3;
        skip_blanks(r, true);
    }
    if (r->at < r->size && r->text[r->at] == '{')
        return fail_in_list(r, r->at, "an object, expected a list of names");
    int code = r->at < r->size && r->text[r->at] == '[' ? read_flow_list(r) : read_lines(r);
    if (!code && !r->out->count)
        code = fail_in_list(r, r->at, "a list without names, expected the trainable variables");
    return code;
}

static int read_file(const char *path, struct str *text, struct err *e)
{
    char block[4096];
    FILE *in = fopen(path, "rb");
    size_t got;

    if (!in) {
        err_set(e, ERR_IO, "cannot open the list of variables");
        return err_in_file(e, path);
    }
    text->limit = LIST_BYTES_MAX;
    while ((got = fread(block, 1, sizeof block, in)) > 0 && !text->failed)
        str_add_bytes(text, block, got);
    bool is_broken = ferror(in) != 0;
    fclose(in);
    if (is_broken)
        err_set(e, ERR_IO, "cannot read the list of variables");
    else if (text->failed)
        err_set(e, ERR_LIMIT, "a list of variables of more than %d MiB", LIST_BYTES_MAX >> 20);
    else
        return 0;
    return err_in_file(e, path);
}

int hlo_vars_load(const char *path, struct hlo_vars *out, struct err *e)
{
    struct str text = {0};
    int code = read_file(path, &text, e);

    *out = (struct hlo_vars){0};
    if (!code) {
        struct reader r = {.path = path,
                           .text = text.text ? text.text : "",
                           .size = text.size,
                           .out = out,
                           .e = e,
                           .line = 1};
        code = read_list(&r);
        out->file = arena_text(&out->arena, path, strlen(path));
        if (!code && !out->file)
            code = err_no_memory(e, "for the list of variables");
    }
    str_release(&text);
    if (code)
        hlo_vars_release(out);
    return code;
}

void hlo_vars_release(struct hlo_vars *v)
{
    arena_release(&v->arena);
    *v = (struct hlo_vars){0};
}
