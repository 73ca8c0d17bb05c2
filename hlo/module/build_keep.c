/* Texts that a module keeps of the text it is read from: copied when they are met, while they are
 * near, so that nothing needs the input when it is finished. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/read.h"
#include "hlo/support/mem.h"

#include <stdint.h>
#include <string.h>

enum { PIECE = 1 << 16 };

static bool is_of_input(const struct hlo_builder *b, const char *text)
{
    return (uintptr_t)text - (uintptr_t)b->input < b->input_size;
}

/* One after another in pieces of the arena, each text with a NUL behind it; what reads words may
 * read past the last. */
const char *hlo_build_keep(struct hlo_builder *b, const char *text, size_t size)
{
    if (!b->is_text || !is_of_input(b, text))
        return text;
    if (size >= b->keep_left) {
        size_t room = size < PIECE ? PIECE : size + 1;
        b->keep_at = arena_get(&b->m->arena, room + HLO_INPUT_PAD, 1);
        b->keep_left = b->keep_at ? room : 0;
        if (!b->keep_at)
            return NULL;
    }
    char *copy = memcpy(b->keep_at, text, size); /* the piece was zeroed */
    b->keep_at += size + 1;
    b->keep_left -= size + 1;
    return copy;
}
