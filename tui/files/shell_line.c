#include "tui/files/shell_line.h"

#include "hlo/support/mem.h"

#include <string.h>

static const char *const shell_places[SHELL_PLACES] = {"group", "instruction", "plan", "line",
                                                       "file"};

/* The place that begins here, and its size; SHELL_PLACES: none does. */
static enum shell_place place_at(const char *at, size_t *size)
{
    enum shell_place k = SHELL_GROUP;

    if (*at != '{')
        return SHELL_PLACES;
    for (; k < SHELL_PLACES; k++) {
        size_t name = strlen(shell_places[k]);
        if (strncmp(at + 1, shell_places[k], name) != 0 || at[1 + name] != '}')
            continue;
        *size = name + 2;
        break;
    }
    return k;
}

static bool is_arithmetic(const char *at)
{
    return !strncmp(at, "((", 2) || !strncmp(at, "$[", 2);
}

const char *shell_line_trouble(const char *line)
{
    bool single = false, doubled = false, back = false, arithmetic = false, any = false;
    size_t size;

    for (const char *at = line; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return "has a control character: it is one line";
        if (place_at(at, &size) != SHELL_PLACES) {
            if (single || doubled)
                return "has a place within quotes: values bring their own";
            if (back)
                return "has a place within backquotes: $( ) does";
            if (arithmetic)
                return "has a place behind arithmetic, which would compute what a value says";
            any = true;
        }
        if (*at == '\\' && !single && at[1]) {
            if (place_at(at + 1, &size) != SHELL_PLACES)
                return "has a place behind a backslash, which would take its quote away";
            at++;
            continue;
        }
        single ^= *at == '\'' && !doubled;
        doubled ^= *at == '"' && !single;
        back ^= *at == '`' && !single;
        arithmetic |= !single && is_arithmetic(at);
    }
    if (single || doubled || back)
        return "has a quote that does not end";
    return any && strstr(line, "<<") ? "has a place beside a here-document, which quotes nothing"
                                     : NULL;
}

bool shell_line_has(const char *line, enum shell_place place)
{
    size_t size;

    for (const char *at = line; *at; at++) {
        if (place_at(at, &size) == place)
            return true;
    }
    return false;
}

static void add_quoted(const char *value, bool is_file, struct str *out)
{
    str_add(out, is_file && *value && strchr("-+", *value) ? "'./" : "'");
    for (; *value; value++) {
        bool control = (unsigned char)*value < ' ' || *value == 0x7f;
        if (*value == '\'')
            str_add(out, "'\\''");
        else
            str_add_bytes(out, control ? "?" : value, 1);
    }
    str_add(out, "'");
}

void shell_line_fill(const char *line, const char *const values[static SHELL_PLACES],
                     struct str *out)
{
    size_t size = 0;

    while (*line) {
        enum shell_place k = place_at(line, &size);
        if (k == SHELL_PLACES) {
            str_add_bytes(out, line++, 1);
            continue;
        }
        add_quoted(values[k] ? values[k] : "", k == SHELL_FILE || k == SHELL_PLAN, out);
        line += size;
    }
}
