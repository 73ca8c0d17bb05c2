#include "tui/screen/match.h"

#include "hlo/support/mem.h"
#include "tui/screen/edit.h"
#include "tui/screen/words.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum match_kind { MATCH_REGEX, MATCH_FUZZY, MATCH_WORDS };
enum { WORDS_MOST = 16, TEXT_ROOM = 1024 };

struct match {
    char typed[EDIT_ROOM];
    const char *pattern; /* behind the signs */
    bool inverted, any_case;
    enum match_kind kind;
    char word[WORDS_MOST][WORD_ROOM];
    int words;
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

static bool is_regex(const char *p)
{
    size_t size = strlen(p);
    return strstr(p, ".*") || strstr(p, ".+") || strchr(p, '|') || *p == '^' ||
           (size && p[size - 1] == '$');
}

static void read_words(struct match *m)
{
    char words[EDIT_ROOM + 8];
    size_t at = 0;

    words_write(words, sizeof words, m->pattern);
    while (m->words < WORDS_MOST && words_next(words, &at, m->word[m->words]))
        m->words++;
}

struct match *match_new(const char *pattern)
{
    struct match *m = mem_alloc(sizeof *m);

    snprintf(m->typed, sizeof m->typed, "%s", pattern);
    m->pattern = m->typed;
    m->inverted = *m->pattern == '!';
    m->pattern += m->inverted;
    m->kind = *m->pattern == '~' ? MATCH_FUZZY : MATCH_WORDS;
    m->pattern += m->kind == MATCH_FUZZY;
    if (!*m->pattern) {
        free(m);
        return NULL;
    }
    m->any_case = !has_capital(m->pattern);
    if (m->kind == MATCH_WORDS && is_regex(m->pattern) &&
        !regcomp(&m->regex, m->pattern, REG_EXTENDED | REG_NOSUB | (m->any_case ? REG_ICASE : 0)))
        m->kind = MATCH_REGEX;
    read_words(m);
    return m;
}

void match_free(struct match *m)
{
    if (m && m->kind == MATCH_REGEX)
        regfree(&m->regex);
    free(m);
}

/* A number is whole: "layer 1" is not in "layer 12". */
static bool cuts_number(const char *text, const char *at, size_t size)
{
    bool before = at > text && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)*at);
    return before || (isdigit((unsigned char)at[size - 1]) && isdigit((unsigned char)at[size]));
}

/* As typed: "[768", "12/4", which are no words. */
static bool holds_plain(const struct match *m, const char *text)
{
    size_t size = strlen(m->pattern);

    for (const char *at = text; *at; at++) {
        if (!(m->any_case ? strncasecmp(at, m->pattern, size) : strncmp(at, m->pattern, size)) &&
            !cuts_number(text, at, size))
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

/* Every word in one of the texts. */
static bool has_words(const struct match *m, const char *const *texts, int count)
{
    char words[TEXT_ROOM];
    uint32_t found = 0;

    for (int n = 0; n < count; n++) {
        if (!texts[n])
            continue;
        words_write(words, sizeof words, texts[n]);
        for (int i = 0; i < m->words; i++)
            found |= (uint32_t)(words_hit(words, m->word[i]) != WORDS_NONE) << i;
    }
    return m->words && found == (1u << m->words) - 1;
}

bool match_texts(const struct match *m, const char *const *texts, int count)
{
    bool in = !m;

    for (int n = 0; n < count && !in; n++)
        in = is_in(m, texts[n]);
    if (m && !in && m->kind == MATCH_WORDS && m->any_case)
        in = has_words(m, texts, count);
    return !m || in != m->inverted;
}

bool match_any(const struct match *m, const char *a, const char *b, const char *c)
{
    const char *const texts[] = {a, b, c};
    return match_texts(m, texts, 3);
}

bool match_text(const struct match *m, const char *text)
{
    return match_any(m, text, NULL, NULL);
}

const char *match_pattern(const struct match *m)
{
    return m->typed;
}
