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
    BRIEF = 3,
    LONG = 8 /* letters before a number, of which as many stay */
};

/* A name and how it reads now. */
struct reading {
    const char *name;
    const char *text;
    int at; /* in the set */
};

struct set {
    struct reading *r;  /* [count] sorted by how they read */
    uint32_t *words;    /* [count] of a name, those that tell it apart */
    const int *columns; /* [count] */
    int count;
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

/* How words are written: whole; brief, "c3" of "conv3", "dec" of "decoder"; or tight, "d" of
 * "decoder", a number close behind it. */
enum style { WHOLE, BRIEFLY, TIGHT };

static bool is_number(const char *word)
{
    return *word >= '0' && *word <= '9';
}

/* The part of a word that stays; *skip: letters left out behind the first. */
static size_t letters_kept(const char *word, size_t letters, enum style style, size_t *skip)
{
    size_t digit = digits_from(word, letters), end = letters;

    *skip = 0;
    if (style == WHOLE || is_number(word))
        return letters;
    if (digit == letters)
        return style == TIGHT ? 1 : letters > BRIEF_FROM ? BRIEF : letters;
    while (style == TIGHT && !is_number(word + end - 1))
        end--;
    size_t first = digit > LONG && style == BRIEFLY ? BRIEF : 1; /* "Mul0" of "MultiHead_0" */
    *skip = digit > first ? digit - first : 0;
    return end - *skip;
}

static void add_word(char *out, size_t *size, const char *word, size_t letters, enum style style)
{
    size_t skip, kept = letters_kept(word, letters, style, &skip);
    bool close = style == TIGHT && *size && is_number(word) && !is_number(out + *size - 1);

    if (*size + letters + 2 > APART_ROOM)
        return;
    if (*size && !close)
        out[(*size)++] = ' ';
    size_t begin = skip ? digits_from(word, letters) - skip : 0;
    memcpy(out + *size, word, begin);
    memcpy(out + *size + begin, word + begin + skip, kept - begin);
    *size += kept;
    if (style == TIGHT && out[*size - 1] == ',')
        (*size)--;
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
        if (n && (words >> n & 1) && is_number(s))
            nouns |= UINT32_C(1) << (n - 1);
        s += strcspn(s, " ");
    }
    return words | nouns;
}

/* How the words of a name are written: a bit of each that is; of no mask: left out. */
struct written {
    uint32_t words[TIGHT + 1]; /* by style */
};

/* Returns the columns of it. */
static int join_words(const char *name, const struct written *w, char out[static APART_ROOM])
{
    size_t size = 0;
    int n = 0;

    for (const char *s = name; *s && n < MASK_BITS; s += *s == ' ', n++) {
        size_t letters = strcspn(s, " ");
        for (enum style style = WHOLE; letters && style <= TIGHT; style++) {
            if (w->words[style] >> n & 1)
                add_word(out, &size, s, letters, style);
        }
        s += letters;
    }
    while (size && out[size - 1] == ',')
        size--;
    out[size] = 0;
    return utf8_text_columns(out);
}

/* What has room: its brief words whole, then other words whole, then briefly, those in front first.
 */
static void fill_up(const char *name, struct written *w, int columns, char out[static APART_ROOM])
{
    for (int n = 0; n < 3 * MASK_BITS; n++) {
        struct written more = *w;
        uint32_t word = UINT32_C(1) << n % MASK_BITS, has = w->words[WHOLE] | w->words[BRIEFLY];
        bool upgrade = n < MASK_BITS;
        if (upgrade != !!(has & word) || (w->words[WHOLE] & word))
            continue;
        more.words[BRIEFLY] &= ~word;
        more.words[n < 2 * MASK_BITS ? WHOLE : BRIEFLY] |= word;
        if (join_words(name, &more, out) <= columns)
            *w = more;
    }
    join_words(name, w, out);
}

/* The words that tell a name apart, as whole as they fit. */
static void write_words(const char *name, uint32_t words, int columns, char out[static APART_ROOM])
{
    uint32_t nouns = with_nouns(name, words);
    struct written tries[] = {{{[WHOLE] = nouns}},   {{[BRIEFLY] = nouns}}, {{[WHOLE] = words}},
                              {{[BRIEFLY] = words}}, {{[TIGHT] = nouns}},   {{[TIGHT] = words}}};

    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        if (join_words(name, &tries[k], out) > columns)
            continue;
        if (!tries[k].words[TIGHT])
            fill_up(name, &tries[k], columns, out);
        return;
    }
    join_words(name, &tries[3], out);
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
        int columns = s->columns[r[n].at];
        write_words(r[n].name, words, columns, text);
        s->shorten(s->next[r[n].at], text, columns);
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

void short_names_beside(const char *const *names, const int *columns, int count,
                        shorten_name *shorten, char (*out)[SHORT_NAME_ROOM])
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
        shorten(out[n], names[n], columns[n]);
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

void short_names(const char *const *names, int count, int columns, shorten_name *shorten,
                 char (*out)[SHORT_NAME_ROOM])
{
    int *all = mem_alloc(((size_t)count + 1) * sizeof *all);

    for (int n = 0; n < count; n++)
        all[n] = columns;
    short_names_beside(names, all, count, shorten, out);
    free(all);
}
