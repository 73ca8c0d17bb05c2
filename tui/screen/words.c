#include "tui/screen/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Letters of any script; signs such as the dash of "layers 0–5" and "›" are none. */
static bool is_letter(const unsigned char *c)
{
    if (*c < 0x80)
        return isalpha(*c);
    return !(c[0] == 0xe2 && (c[1] == 0x80 || c[1] == 0x86)) && !(c[0] == 0xc2) &&
           !(c[0] == 0xc3 && c[1] == 0x97);
}

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t words_write(char *out, size_t room, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t size = 0;

    while (*c && size + 3 < room) {
        const unsigned char *begin = c;
        if (isdigit(*c)) {
            while (*c == '0' && isdigit(c[1]))
                c++;
            for (begin = c; isdigit(*c);)
                c++;
        } else if (is_letter(c)) {
            for (bool in = true; in && *c;) {
                c++;
                while (is_tail(*c))
                    c++;
                in = *c && is_letter(c);
            }
        } else {
            c++;
            while (is_tail(*c))
                c++;
            continue;
        }
        if (!size)
            out[size++] = ' ';
        while (begin < c && size + 2 < room)
            out[size++] = (char)(*begin < 0x80 ? tolower(*begin) : *begin), begin++;
        out[size++] = ' ';
    }
    if (room)
        out[size] = 0;
    return size;
}

enum words_hit words_hit(const char *words, const char *word)
{
    size_t size = strlen(word);
    bool number = isdigit((unsigned char)*word);
    enum words_hit best = WORDS_NONE;

    for (const char *at = words; size && (at = strstr(at, word)); at++) {
        bool starts = at > words && at[-1] == ' ';
        if (starts && at[size] == ' ')
            return WORDS_WHOLE;
        if (number)
            continue;
        enum words_hit hit = starts ? WORDS_START : size > 2 ? WORDS_MIDDLE : WORDS_NONE;
        best = hit > best ? hit : best;
    }
    return best;
}

const char *words_next(const char *words, size_t *at, char out[static WORD_ROOM])
{
    *at += strspn(words + *at, " ");
    size_t size = strcspn(words + *at, " ");

    if (!size)
        return NULL;
    snprintf(out, WORD_ROOM, "%.*s", (int)(size < WORD_ROOM ? size : WORD_ROOM - 1), words + *at);
    *at += size;
    return out;
}
