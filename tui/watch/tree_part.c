#include "tui/watch/tree_part.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "layers", "blocks": of one of them the s is left out. */
static size_t without_plural(const char *word, size_t size)
{
    return size - (size >= 6 && (!memcmp(word + size - 6, "layers", 6) ||
                                 !memcmp(word + size - 6, "blocks", 6)));
}

/* "0" of "layers" -> "layer 0": a bare number is called by what it is a number of. */
static int read_number(const char *part, const char *parent, char out[static TREE_NAME_ROOM])
{
    size_t word = strlen(parent);
    int number = (int)strtol(part, NULL, 10);

    word = word > 24 ? 24 : without_plural(parent, word);
    snprintf(out, TREE_NAME_ROOM, "%.*s %d", (int)word, parent, number);
    return number;
}

int tree_part_read(const char *part, size_t size, const char *parent,
                   char out[static TREE_NAME_ROOM])
{
    size_t digits = 0;
    int number = -1;

    while (size > 1 && *part == '_') { /* "__layer_stack" */
        part++;
        size--;
    }
    if (size > TREE_NAME_ROOM - 12)
        size = TREE_NAME_ROOM - 12;
    while (digits < size && isdigit((unsigned char)part[size - 1 - digits]))
        digits++;
    if (parent && digits == size && digits < 7)
        return read_number(part, parent, out);
    size_t word = size - digits;
    bool apart =
        word > 0 && (part[word - 1] == '_' || part[word - 1] == '.' || part[word - 1] == '-');
    for (size_t i = 0; i + 1 < word; i++)
        apart = apart && !isdigit((unsigned char)part[i]);
    if (digits && digits < 7 && apart) {
        number = (int)strtol(part + word, NULL, 10);
        snprintf(out, TREE_NAME_ROOM, "%.*s %d", (int)without_plural(part, word - 1), part, number);
    } else {
        snprintf(out, TREE_NAME_ROOM, "%.*s", (int)size, part);
    }
    for (char *c = out; *c; c++) {
        if (*c == '_' && !isdigit((unsigned char)c[1]))
            *c = ' ';
    }
    return number;
}
