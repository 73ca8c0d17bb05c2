#include "engine/decide/name_path.h"

#include "hlo/meaning/scope.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *text, size_t size, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == size && !memcmp(*words, text, size))
            return true;
    }
    return false;
}

/* Names of what layers are kept in. */
static const char *const containers[] = {"layer", "layers", "block", "blocks", "h", NULL};

/* Splits "layer_012" into word and number; false: no number, or one that is part of a name ("fc7",
 * "conv1_2"). */
static bool split_number(const char *part, size_t size, size_t *word, int32_t *number)
{
    size_t digits = 0;

    while (digits < size && isdigit((unsigned char)part[size - 1 - digits]))
        digits++;
    if (!digits || digits > 6)
        return false;
    size_t end = size - digits;
    while (end > 0 && (part[end - 1] == '_' || part[end - 1] == '.' || part[end - 1] == '-'))
        end--;
    for (size_t n = 0; n < end; n++) {
        if (isdigit((unsigned char)part[n]))
            return false;
    }
    if (end == size - digits && end > 0 && !is_word(part, end, containers))
        return false;
    *word = end;
    *number = (int32_t)strtol(part + size - digits, NULL, 10);
    return true;
}

/* "layer", "DecoderBlock", or only a number: a module of several parts. "moe_3" is one itself. */
static bool holds_parts(const char *word, size_t size)
{
    static const char *const ends[] = {"ayer", "lock", NULL}; /* in either case */

    return !size || (size > 4 && is_word(word + size - 4, 4, ends));
}

static void add_word(struct name_path *p, const char *text, size_t size)
{
    while (size > 1 && *text == '_') { /* "__layer_stack" */
        text++;
        size--;
    }
    if (p->count == PATH_WORDS || !size)
        return;
    char *to = p->words[p->count++];
    snprintf(to, PATH_WORD_ROOM, "%.*s", (int)size, text);
    for (char *c = to; *c; c++) {
        if (*c == '_' && !isdigit((unsigned char)c[1]))
            *c = ' ';
    }
}

void name_path_read(struct name_path *p, const char *path)
{
    size_t total = strlen(path), layer_end = hlo_layer_of_path(path, total);

    *p = (struct name_path){.layer = -1};
    for (size_t at = 0; at < total;) {
        size_t size = strcspn(path + at, "/"), word = size;
        int32_t number = -1;
        if (size == 1 && path[at] == '~') { /* a method of haiku's: names nothing */
            at += 2;
            continue;
        }
        bool numbered = at < layer_end && split_number(path + at, size, &word, &number);
        if (!numbered)
            word = size;
        if (!is_word(path + at, word, containers))
            add_word(p, path + at, word);
        if (numbered) {
            p->layer = number;
            p->above = p->count;
            p->is_layer = holds_parts(path + at, word);
        }
        at += size + 1;
    }
}

uint32_t name_path_same(const struct name_path *a, const struct name_path *b, uint32_t most)
{
    uint32_t n = 0;

    while (n < most && n < (uint32_t)a->count && n < (uint32_t)b->count &&
           !strcmp(a->words[n], b->words[n]))
        n++;
    return n;
}

bool name_path_is_kind(const char *word)
{
    static const char *const kinds[] = {"kernel", "weight", "bias",     "scale", "w",     "b",
                                        "vector", "mean",   "variance", "table", "input", NULL};
    size_t size = strcspn(word, "_");

    return (!word[size] || !word[size + 1 + strspn(word + size + 1, "0123456789")]) &&
           is_word(word, size, kinds);
}

static bool is_place(const struct name_path *p, uint32_t n)
{
    return p->layer >= 0 && n >= (uint32_t)p->above && n + 1 < (uint32_t)p->count &&
           !p->words[n][strspn(p->words[n], "0123456789")] && !name_path_is_kind(p->words[n + 1]);
}

bool name_path_ends_at_layer(const struct name_path *p, uint32_t words)
{
    return p->is_layer && (words == (uint32_t)p->above ||
                           (words > 0 && words < (uint32_t)p->count && is_place(p, words - 1)));
}

void name_path_join_before(const struct name_path *p, uint32_t words, char *out, size_t room)
{
    name_path_join(p, words && is_place(p, words - 1) ? words - 1 : words, out, room);
}

void name_path_join(const struct name_path *p, uint32_t count, char *out, size_t room)
{
    size_t size = 0;

    out[0] = '\0';
    for (uint32_t n = 0; n < count && size + PATH_WORD_ROOM < room; n++) {
        if (n + 1 == count || !is_place(p, n))
            size += (size_t)snprintf(out + size, room - size, "%s%s", size ? " " : "", p->words[n]);
    }
}

const char *name_path_word(const struct name_path *p, uint32_t at)
{
    if (at < (uint32_t)p->count && is_place(p, at))
        at++;
    return at < (uint32_t)p->count ? p->words[at] : NULL;
}

uint32_t name_path_telling(const struct name_path *p)
{
    int least = p->layer < 0, count = p->count;

    while (count > least && name_path_is_kind(p->words[count - 1]))
        count--;
    return (uint32_t)count;
}

bool name_path_is_table(const struct name_path *p, bool *by_use)
{
    static const char *const tables[] = {"embedding", "embed", "wte", "word",
                                         "shared",    "token", "tok", NULL};
    static const char *const others[] = {"position", "wpe", "pos", "type", "relative", NULL};
    const char *last = p->count ? p->words[p->count - 1] : "";
    bool table = false;

    *by_use = !strncmp(last, "table", 5);
    if (!strncmp(last, "kernel", 6)) /* it multiplies */
        return false;
    for (int n = 0; n < p->count; n++) {
        for (const char *const *o = others; *o; o++) {
            if (strstr(p->words[n], *o))
                return false;
        }
        for (const char *const *t = tables; *t; t++)
            table |= !strncmp(p->words[n], *t, strlen(*t));
    }
    return table || *by_use;
}

static bool ends_word(char c)
{
    return !c || c == ' ' || c == '_';
}

size_t name_path_common(const char *const *words, uint32_t count)
{
    size_t common = strlen(words[0]);

    for (uint32_t n = 1; n < count; n++) {
        size_t same = 0;
        while (same < common && words[n][same] == words[0][same])
            same++;
        while (same && !(ends_word(words[n][same]) && ends_word(words[0][same])))
            same--;
        common = same;
    }
    return common;
}
