#include "hlo/support/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void out_of_memory(void)
{
    static const char words[] = "automap: out of memory\n";

    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        abort();
    abort();
}

void *mem_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

enum { LARGE_PAGE = 2 << 20 };

/* Asks for large pages where `size` is worth it: a fault of 4 KB each costs more than what is then
 * done with the bytes. Changes nothing else. */
static void prefer_large_pages(void *p, size_t size)
{
    uintptr_t begin = ((uintptr_t)p + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)p + size) & ~(uintptr_t)(LARGE_PAGE - 1);

#ifdef MADV_HUGEPAGE
    if (begin < end)
        madvise((char *)p + (begin - (uintptr_t)p), end - begin, MADV_HUGEPAGE);
#else
    (void)begin, (void)end;
#endif
}

void *mem_try(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL; /* as calloc does, but AddressSanitizer's ends the program */
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (p && size && count >= LARGE_PAGE / size)
        prefer_large_pages(p, count * size);
    return p;
}

enum { WHOLE_LEAST = 1 << 18 }; /* bytes; below, few pages are saved */

void *mem_try_whole(size_t count, size_t size)
{
    char *p = mem_try(count, size);

#ifdef MADV_POPULATE_WRITE
    if (p && size && count >= WHOLE_LEAST / size) {
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)p;
        uintptr_t begin = (at + page - 1) / page * page, end = (at + count * size) / page * page;
        madvise(p + (begin - at), end - begin, MADV_POPULATE_WRITE); /* else they come one by one */
    }
#endif
    return p;
}

void *mem_resize(void *p, size_t size)
{
    void *grown = realloc(p, size);

    if (grown)
        prefer_large_pages(grown, size);
    return grown;
}

struct arena_block {
    struct arena_block *before;
    void *adopted; /* a foreign block: size and used are 0 */
    size_t size, used;
    _Alignas(16) char bytes[];
};

enum { BLOCK_FIRST = 4096, BLOCK_MOST = 4 << 20 };

void *arena_get(struct arena *a, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - 64) / size)
        return NULL;
    size_t need = (count * size + 15) & ~(size_t)15;
    if (a->limit && (need > a->limit || a->used > a->limit - need))
        return NULL;
    if (!a->last || a->last->size - a->last->used < need) {
        size_t next = a->last ? a->last->size * 2 : BLOCK_FIRST;
        if (next > BLOCK_MOST)
            next = BLOCK_MOST;
        if (next < need)
            next = need;
        struct arena_block *block = mem_try(1, sizeof *block + next);
        if (!block)
            return NULL;
        block->size = next;
        block->before = a->last;
        a->last = block;
        a->held += sizeof *block + next;
    }
    void *piece = a->last->bytes + a->last->used;
    a->last->used += need;
    a->used += need;
    return piece;
}

char *arena_text(struct arena *a, const char *text, size_t size)
{
    char *copy = arena_get(a, size + 1, 1);

    if (copy && size)
        memcpy(copy, text, size);
    return copy;
}

/* Adopted blocks go behind the current one, which stays open. */
bool arena_adopt(struct arena *a, void *block, size_t size)
{
    struct arena_block *note = calloc(1, sizeof *note);

    if (!note)
        return false;
    note->adopted = block;
    if (a->last) {
        note->before = a->last->before;
        a->last->before = note;
    } else {
        a->last = note;
    }
    a->used += size;
    a->held += size;
    return true;
}

/* Behind the current block, which stays open, as adopted ones. */
void arena_join(struct arena *a, struct arena *from)
{
    struct arena_block *oldest = from->last;

    while (oldest && oldest->before)
        oldest = oldest->before;
    if (oldest && a->last) {
        oldest->before = a->last->before;
        a->last->before = from->last;
    } else if (oldest) {
        a->last = from->last;
    }
    a->used += from->used;
    a->held += from->held;
    *from = (struct arena){.limit = from->limit};
}

void arena_release(struct arena *a)
{
    for (struct arena_block *block = a->last; block;) {
        struct arena_block *before = block->before;
        free(block->adopted);
        free(block);
        block = before;
    }
    memset(a, 0, sizeof *a);
}

bool mem_grow_bytes(void **items, size_t *room, size_t count, size_t more, size_t size)
{
    if (count <= *room && more <= *room - count)
        return true;
    size_t want = *room < 8 ? 8 : *room + *room / 2;
    if (more > SIZE_MAX / 2 - count)
        return false;
    if (want < count + more)
        want = count + more;
    if (want > SIZE_MAX / size)
        return false;
    void *grown = mem_resize(*items, want * size);
    if (!grown)
        return false;
    *items = grown;
    *room = want;
    return true;
}

static bool str_reserve(struct str *s, size_t more)
{
    if (s->failed || (s->limit && (s->size > s->limit || more > s->limit - s->size)) ||
        more > SIZE_MAX - 1) {
        s->failed = true;
        return false;
    }
    if (mem_grow(&s->text, &s->room, s->size, more + 1))
        return true;
    if (s->size + more < STR_SMALL)
        out_of_memory();
    s->failed = true;
    return false;
}

void str_add_bytes(struct str *s, const char *text, size_t size)
{
    if (!str_reserve(s, size))
        return;
    if (size)
        memcpy(s->text + s->size, text, size);
    s->size += size;
    s->text[s->size] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
    str_add_bytes(s, &c, 1);
}

void str_add_quoted(struct str *s, const char *text)
{
    str_add_char(s, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_add_char(s, '\\');
        str_add_char(s, *text);
    }
    str_add_char(s, '"');
}

void str_add_int(struct str *s, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        digits[--at] = '-';
    str_add_bytes(s, digits + at, sizeof digits - at);
}

void str_format(struct str *s, const char *format, ...)
{
    va_list args, again;
    size_t left = s->failed || s->room < s->size + 1 ? 0 : s->room - s->size;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(left ? s->text + s->size : NULL, left, format, args);
    va_end(args);
    char first = left ? s->text[s->size] : '\0';
    if (left)
        s->text[s->size] = '\0'; /* as it was, until there is known to be room */
    if (length >= 0 && str_reserve(s, (size_t)length)) {
        if ((size_t)length < left)
            s->text[s->size] = first;
        else
            vsnprintf(s->text + s->size, (size_t)length + 1, format, again);
        s->size += (size_t)length;
    }
    va_end(again);
}

void str_clear(struct str *s)
{
    s->size = 0;
    s->failed = false;
    if (s->text)
        s->text[0] = '\0';
}

void str_release(struct str *s)
{
    free(s->text);
    memset(s, 0, sizeof *s);
}

/* The 1 to 7 bytes at p as the low bytes of a word; fixed sizes, as copies of any size are calls.
 */
static uint64_t tail_word(const unsigned char *p, size_t size)
{
    uint64_t word = 0;

    if (size >= 4) {
        uint32_t low, high; /* they overlap, and agree where they do */
        memcpy(&low, p, 4);
        memcpy(&high, p + size - 4, 4);
        return low | (uint64_t)high << 8 * (size - 4);
    }
    for (size_t n = 0; n < size; n++)
        word |= (uint64_t)p[n] << 8 * n;
    return word;
}

/* Multiply-and-fold over 8 bytes at a time (the finaliser is SplitMix64's). */
uint64_t mem_hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (size * 0x9e3779b97f4a7c15u);

    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    if (size) {
        h = (h ^ tail_word(p, size)) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}
