/* hlo/support/mem.h - arena, growing array and growing string for the rooms hlo, engine and tui.
 *
 * Small fixed allocations abort on failure (mem_alloc). Whatever is sized by input uses the forms
 * that can fail: they return NULL or false and leave the old contents alone. */
#ifndef AUTOMAP_HLO_SUPPORT_MEM_H
#define AUTOMAP_HLO_SUPPORT_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *mem_alloc(size_t size)
    __attribute__((malloc, returns_nonnull)); /* zeroed; aborts when out of memory */
void *mem_try(size_t count, size_t size);     /* zeroed; NULL on failure or overflow */
/* The same for what will be written all over, as tables of hashes are: its pages come at once, not
 * one by one, to be read first and then again to be written. */
void *mem_try_whole(size_t count, size_t size);
void *mem_resize(void *p, size_t size); /* realloc, in large pages where it is large */

/* An arena: many small pieces freed together. Not thread-safe. Pieces are zeroed and aligned to 16
 * bytes. `limit` bounds the sum of all pieces; past it, or out of memory, arena_get returns
 * NULL. */
struct arena {
    struct arena_block *last;
    size_t used;  /* bytes handed out */
    size_t held;  /* bytes taken from the system */
    size_t limit; /* 0: none */
};
void *arena_get(struct arena *a, size_t count, size_t size);
char *arena_text(struct arena *a, const char *text, size_t size); /* copy with a final NUL */
/* Takes over a block from malloc and frees it with the arena. False out of memory: not taken over.
 */
bool arena_adopt(struct arena *a, void *block, size_t size);
/* All pieces of `from` become pieces of `a`, where they are; `from` is empty then. */
void arena_join(struct arena *a, struct arena *from);
void arena_release(struct arena *a);

/* Makes room for `more` further items: works on (pointer, count, room) triples of any type.
 *     if (!mem_grow(&list.items, &list.room, list.count, 1)) return err_set(e, ERR_MEMORY, ...); */
#define mem_grow(items, room, count, more)     \
    (mem_has_room(*(room), (count), (more)) || \
     mem_grow_bytes((void **)(items), (room), (count), (more), sizeof **(items)))
static inline bool mem_has_room(size_t room, size_t count, size_t more)
{
    return count <= room && more <= room - count;
}
bool mem_grow_bytes(void **items, size_t *room, size_t count, size_t more, size_t size);

/* A string that grows, always NUL-terminated once written to. `failed` sticks: check it once, at
 * the end. `limit` bounds its size (0: none). When memory runs out below STR_SMALL bytes, the
 * program ends with a message rather than show half a name or half a line. */
enum { STR_SMALL = 1 << 16 };
struct str {
    char *text;
    size_t size, room, limit;
    bool failed;
};
void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const char *text, size_t size);
void str_add_char(struct str *s, char c);
void str_add_int(struct str *s, int64_t value);
/* In quotes, with a backslash before quotes and backslashes: a literal of C, Python or JSON, of
 * text that was cleaned when it was read. */
void str_add_quoted(struct str *s, const char *text);
void str_format(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_clear(struct str *s); /* keeps the room */
void str_release(struct str *s);

uint64_t mem_hash(const void *data, size_t size,
                  uint64_t seed); /* same on every machine of one endianness */

#endif
