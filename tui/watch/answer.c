#include "tui/watch/answer.h"

#include "engine/cluster/collectives.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdarg.h>
#include <stdio.h>

void answer_clear(struct answer *a)
{
    a->count = 0;
    str_clear(&a->text);
    a->failed = false;
}

void answer_release(struct answer *a)
{
    free(a->rows);
    str_release(&a->text);
    *a = (struct answer){0};
}

const char *answer_cell(const struct answer *a, const struct answer_row *r, uint32_t cell)
{
    return cell < r->cells ? a->text.text + r->cell[cell] : "";
}

static struct answer_row *new_row(struct answer *a, enum answer_kind kind, hlo_id at)
{
    if (!mem_grow(&a->rows, &a->room, a->count, 1)) {
        a->failed = true;
        return NULL;
    }
    a->rows[a->count] = (struct answer_row){.kind = (uint8_t)kind, .at = at};
    return &a->rows[a->count++];
}

static void add_cell(struct answer *a, struct answer_row *r, const char *text)
{
    r->cell[r->cells++] = a->text.size;
    str_add(&a->text, text);
    str_add_char(&a->text, '\0');
}

void answer_say(struct answer *a, const char *format, ...)
{
    char text[1024];
    va_list args;
    struct answer_row *r = new_row(a, ANSWER_SENTENCE, HLO_NONE);

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r)
        add_cell(a, r, text);
}

void answer_head(struct answer *a, const char *title, const char *note)
{
    struct answer_row *r = new_row(a, ANSWER_HEAD, HLO_NONE);

    if (!r)
        return;
    add_cell(a, r, title);
    add_cell(a, r, note);
}

void answer_row(struct answer *a, enum answer_kind kind, hlo_id at, ...)
{
    struct answer_row *r = new_row(a, kind, at);
    const char *cell;
    va_list args;

    va_start(args, at);
    while (r && r->cells < ANSWER_CELLS && (cell = va_arg(args, const char *)))
        add_cell(a, r, cell);
    va_end(args);
}

char *answer_kinds(const uint32_t counts[static COLLECTIVE_COUNT],
                   char out[static ANSWER_KINDS_ROOM])
{
    size_t size = 0;
    char count[UNITS_ROOM];

    snprintf(out, ANSWER_KINDS_ROOM, "no collective");
    for (int k = 0; k < COLLECTIVE_COUNT && size < ANSWER_KINDS_ROOM; k++) {
        if (counts[k])
            size += (size_t)snprintf(out + size, ANSWER_KINDS_ROOM - size, "%s%s %s%s",
                                     size ? ", " : "", units_count(count, counts[k]),
                                     collective_name((enum collective_kind)k),
                                     counts[k] == 1 ? "" : "s");
    }
    return out;
}
