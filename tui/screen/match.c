#include "tui/screen/match.h"

#include "hlo/support/mem.h"
#include "tui/screen/edit.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum match_kind { MATCH_REGEX, MATCH_FUZZY, MATCH_PLAIN };

struct match {
    char typed[EDIT_ROOM];
    const char *pattern; /* behind the signs */
    bool inverted, any_case;
    enum match_kind kind;
    regex_t regex;
};

static bool has_capital(const char *s)
{
    for (; *s; s++) {
        if (*s >= 'A' && *s <= 'Z')
            return true;
    }
    return false;
}

struct match *match_new(const char *pattern)
{
    struct match *m = mem_alloc(sizeof *m);

    snprintf(m->typed, sizeof m->typed, "%s", pattern);
    m->pattern = m->typed;
    m->inverted = *m->pattern == '!';
    m->pattern += m->inverted;
    m->kind = *m->pattern == '~' ? MATCH_FUZZY : MATCH_REGEX;
    m->pattern += m->kind == MATCH_FUZZY;
    if (!*m->pattern) {
        free(m);
        return NULL;
    }
    m->any_case = !has_capital(m->pattern);
    if (m->kind == MATCH_REGEX &&
        regcomp(&m->regex, m->pattern, REG_EXTENDED | REG_NOSUB | (m->any_case ? REG_ICASE : 0)))
        m->kind = MATCH_PLAIN;
    return m;
}

void match_free(struct match *m)
{
    if (m && m->kind == MATCH_REGEX)
        regfree(&m->regex);
    free(m);
}

/* As typed: "[768" is no regular expression, but stands in shapes. */
static bool holds_plain(const struct match *m, const char *text)
{
    size_t size = strlen(m->pattern);

    for (; *text; text++) {
        if (m->any_case ? !strncasecmp(text, m->pattern, size) : !strncmp(text, m->pattern, size))
            return true;
    }
    return false;
}

static bool is_in(const struct match *m, const char *text)
{
    if (!text)
        return false;
    return m->kind == MATCH_REGEX   ? !regexec(&m->regex, text, 0, NULL, 0)
           : m->kind == MATCH_FUZZY ? fuzzy_score(m->pattern, text, NULL) > 0
                                    : holds_plain(m, text);
}

bool match_any(const struct match *m, const char *a, const char *b, const char *c)
{
    return !m || (is_in(m, a) || is_in(m, b) || is_in(m, c)) != m->inverted;
}

bool match_text(const struct match *m, const char *text)
{
    return match_any(m, text, NULL, NULL);
}

const char *match_pattern(const struct match *m)
{
    return m->typed;
}
