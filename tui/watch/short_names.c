#include "tui/watch/short_names.h"
#include "hlo/support/mem.h"
#include "tui/screen/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS_ADDED = 4,
    MASK_BITS = 32,
    APART_ROOM = 256,
    BRIEF_FROM = 4, /* a word of more letters than that is cut to */
    BRIEF = 3
};

/* A name and how it reads now. */
struct reading {
    const char *name;
    const char *text;
    int at; /* in the set */
};

struct set {
    struct reading *r; /* [count] sorted by how they read */
    uint32_t *words;   /* [count] of a name, those that tell it apart */
    int count, columns;
    shorten_name *shorten;
    char (*out)[SHORT_NAME_ROOM], (*next)[SHORT_NAME_ROOM];
};

static int compare_readings(const void *x, const void *y)
{
    const struct reading *a = x, *b = y;
    int order = strcmp(a->text, b->text);

    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static bool has_word(const char *name, const char *word, size_t size)
{
    for (const char *s = name; *s; s += *s == ' ') {
        size_t here = strcspn(s, " ");
        if (here == size && !memcmp(s, word, size))
            return true;
        s += here;
    }
    return false;
}

static bool all_have(const struct reading *r, int count, const char *word, size_t size)
{
    for (int n = 0; n < count; n++) {
        if (!has_word(r[n].name, word, size))
            return false;
    }
    return true;
}

static size_t digits_from(const char *word, size_t letters)
{
    size_t n = 0;

    while (n < letters && !(word[n] >= '0' && word[n] <= '9'))
        n++;
    return n;
}

/* Brief: "c3" of "conv3", "dec" of "decoder". */
static void add_word(char *out, size_t *size, const char *word, size_t letters, bool is_brief)
{
    size_t digit = digits_from(word, letters);

    if (*size + letters + 2 > APART_ROOM)
        return;
    if (*size)
        out[(*size)++] = ' ';
    if (is_brief && digit == letters && letters > BRIEF_FROM)
        letters = BRIEF;
    if (is_brief && digit > 1 && digit < letters) {
        out[(*size)++] = *word;
        word += digit;
        letters -= digit;
    }
    memcpy(out + *size, word, letters);
    *size += letters;
}

/* The first word that not all of the readings have joins those that tell the name apart. */
static uint32_t add_telling(const char *name, uint32_t words, const struct reading *r, int count)
{
    int n = 0;

    for (const char *s = name; *s && n < MASK_BITS; s += *s == ' ', n++) {
        size_t letters = strcspn(s, " ");
        if (letters && !(words >> n & 1) && !all_have(r, count, s, letters))
            return words | UINT32_C(1) << n;
        s += letters;
    }
    return words;
}

/* Those words, and what the numbers among them are numbers of: "cross 1-22". */
static uint32_t with_nouns(const char *name, uint32_t words)
{
    uint32_t nouns = 0;
    int n = 0;

    for (const char *s = name; *s && n < MASK_BITS; s += *s == ' ', n++) {
        if (n && (words >> n & 1) && *s >= '0' && *s <= '9')
            nouns |= UINT32_C(1) << (n - 1);
        s += strcspn(s, " ");
    }
    return words | nouns;
}

static void join_words(const char *name, uint32_t words, bool is_brief, char out[static APART_ROOM])
{
    size_t size = 0;
    int n = 0;

    for (const char *s = name; *s && n < MASK_BITS; s += *s == ' ', n++) {
        size_t letters = strcspn(s, " ");
        if (words >> n & 1)
            add_word(out, &size, s, letters, is_brief);
        s += letters;
    }
    out[size] = 0;
}

/* Readings that are alike: each gets a word more of its own. */
static void tell_apart(const struct set *s, const struct reading *r, int count)
{
    char text[APART_ROOM];

    for (int n = 0; n < count; n++) {
        uint32_t words = add_telling(r[n].name, s->words[r[n].at], r, count);
        if (words == s->words[r[n].at])
            continue;
        s->words[r[n].at] = words;
        uint32_t tries[] = {with_nouns(r[n].name, words), words};
        for (int k = 0; k < 4; k++) {
            join_words(r[n].name, tries[k / 2], k % 2, text);
            if (utf8_text_columns(text) <= s->columns)
                break;
        }
        s->shorten(s->next[r[n].at], text, s->columns);
    }
}

static void add_words(const struct set *s)
{
    qsort(s->r, (size_t)s->count, sizeof *s->r, compare_readings);
    for (int n = 0, end; n < s->count; n = end) {
        for (end = n + 1; end < s->count && !strcmp(s->r[end].text, s->r[n].text);)
            end++;
        if (end > n + 1)
            tell_apart(s, s->r + n, end - n);
    }
    memcpy(s->out, s->next, (size_t)s->count * sizeof *s->out);
}

void short_names(const char *const *names, int count, int columns, shorten_name *shorten,
                 char (*out)[SHORT_NAME_ROOM])
{
    size_t room = (size_t)count + 1;
    struct set s = {.r = mem_alloc(room * sizeof *s.r),
                    .words = mem_alloc(room * sizeof *s.words),
                    .count = count,
                    .columns = columns,
                    .shorten = shorten,
                    .out = out,
                    .next = mem_alloc(room * sizeof *s.next)};

    for (int n = 0; n < count; n++) {
        shorten(out[n], names[n], columns);
        memcpy(s.next[n], out[n], sizeof *out);
        s.r[n] = (struct reading){names[n], out[n], n};
        s.words[n] = 0;
    }
    for (int k = 0; k < WORDS_ADDED; k++)
        add_words(&s);
    free(s.r);
    free(s.words);
    free(s.next);
}
