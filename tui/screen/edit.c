#include "tui/screen/edit.h"

#include "hlo/support/mem.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <stdlib.h>
#include <string.h>

void edit_set(struct edit *e, const char *text)
{
    size_t size = strlen(text);
    if (size >= sizeof e->text) {
        size = sizeof e->text - 1;
        while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
            size--;
    }
    memmove(e->text, text, size);
    e->text[size] = 0;
    e->size = e->at = size;
}

static void erase(struct edit *e, size_t from, size_t to)
{
    memmove(e->text + from, e->text + to, e->size - to + 1);
    e->size -= to - from;
    e->at = from;
}

static void insert(struct edit *e, uint32_t key)
{
    char bytes[UTF8_ROOM];
    size_t size = utf8_put(bytes, key);
    if (e->size + size >= sizeof e->text)
        return;
    memmove(e->text + e->at + size, e->text + e->at, e->size - e->at + 1);
    memcpy(e->text + e->at, bytes, size);
    e->size += size;
    e->at += size;
}

static size_t after(const struct edit *e)
{
    const char *s = e->text + e->at;
    utf8_next(&s);
    return (size_t)(s - e->text);
}

static size_t word_before(const struct edit *e)
{
    size_t at = e->at;
    while (at > 0 && e->text[at - 1] == ' ')
        at--;
    while (at > 0 && e->text[at - 1] != ' ')
        at--;
    return at;
}

enum {
    CTRL_A = 1,
    CTRL_B,
    CTRL_D = 4,
    CTRL_E,
    CTRL_F,
    CTRL_H = 8,
    CTRL_K = 11,
    CTRL_U = 21,
    CTRL_W = 23
};

bool edit_key(struct edit *e, uint32_t key)
{
    switch (key) {
    case CTRL_A:
    case KEYC_HOME:
        e->at = 0;
        return true;
    case CTRL_E:
    case KEYC_END:
        e->at = e->size;
        return true;
    case CTRL_B:
    case KEYC_LEFT:
        e->at = e->at ? utf8_before(e->text, e->at) : 0;
        return true;
    case CTRL_F:
    case KEYC_RIGHT:
        e->at = after(e);
        return true;
    case CTRL_H:
    case KEYC_BACKSPACE:
        if (e->at)
            erase(e, utf8_before(e->text, e->at), e->at);
        return true;
    case CTRL_D:
    case KEYC_DELETE:
        erase(e, e->at, after(e));
        return true;
    case CTRL_K:
        erase(e, e->at, e->size);
        return true;
    case CTRL_U:
        erase(e, 0, e->at);
        return true;
    case CTRL_W:
        erase(e, word_before(e), e->at);
        return true;
    default:
        break;
    }
    if (key < ' ' || (key >= 0x7f && key < 0xa0) || key >= KEY_FIRST_NAMED || !utf8_columns(key))
        return false;
    insert(e, key);
    return true;
}

int edit_draw(const struct edit *e, const struct pane *p, int x, int y, unsigned style)
{
    const char *s = e->text;
    int cursor = 0, room = p->width - x - 1;

    while (s < e->text + e->at)
        cursor += utf8_columns(utf8_next(&s));
    int skip = room > 0 && cursor > room ? cursor - room : 0;
    struct pane part = pane_part(p, x, y, p->width - x, 1);
    pane_text(&part, -skip, 0, style, e->text);
    return x + cursor - skip;
}

void history_add(struct history *h, const char *line)
{
    h->at = h->count;
    if (!*line || (h->count && !strcmp(h->lines[h->count - 1], line)))
        return;
    if (h->count == EDIT_HISTORY) {
        free(h->lines[0]);
        memmove(h->lines, h->lines + 1, (EDIT_HISTORY - 1) * sizeof *h->lines);
        h->count--;
    }
    size_t size = strlen(line) + 1;
    h->lines[h->count] = mem_alloc(size);
    memcpy(h->lines[h->count++], line, size);
    h->at = h->count;
}

const char *history_step(struct history *h, int step)
{
    int at = h->at + step;
    if (at < 0)
        return NULL;
    h->at = at < h->count ? at : h->count;
    return h->at < h->count ? h->lines[h->at] : "";
}

void history_release(struct history *h)
{
    for (int i = 0; i < h->count; i++)
        free(h->lines[i]);
    *h = (struct history){0};
}

static uint32_t lower_letter(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool has_capital(const char *text)
{
    uint32_t c;
    while ((c = utf8_next(&text))) {
        if (c >= 'A' && c <= 'Z')
            return true;
    }
    return false;
}

static bool is_boundary(uint32_t before, uint32_t c)
{
    return !before || before == ' ' || before == '/' || before == '.' || before == '_' ||
           before == '-' || (before >= 'a' && before <= 'z' && c >= 'A' && c <= 'Z');
}

int fuzzy_score(const char *pattern, const char *text, uint64_t *hits)
{
    bool exact = has_capital(pattern), run = false;
    uint32_t before = 0, c, wanted = utf8_next(&pattern);
    int score = 1, index = 0;

    if (hits)
        *hits = 0;
    while (wanted && (c = utf8_next(&text))) {
        bool same = exact ? c == wanted : lower_letter(c) == lower_letter(wanted);
        if (same) {
            score += 2 + (is_boundary(before, c) ? 6 : 0) + (run ? 4 : 0) + (index == 0 ? 4 : 0);
            if (hits && index < 64)
                *hits |= UINT64_C(1) << index;
            wanted = utf8_next(&pattern);
        }
        run = same;
        before = c;
        index++;
    }
    if (wanted)
        return 0;
    int rest = utf8_text_columns(text);
    return score * 64 - (index + rest < 64 ? index + rest : 63);
}
