#include "tui/screen/list.h"

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value > high ? (high < low ? low : high) : value < low ? low : value;
}

static void keep_in_sight(struct list *l)
{
    l->cursor = clamp(l->cursor, 0, l->count - 1);
    if (l->cursor < l->top)
        l->top = l->cursor;
    if (l->cursor >= l->top + l->rows)
        l->top = l->cursor - l->rows + 1;
    l->top = clamp(l->top, 0, l->count - l->rows);
}

void list_fit(struct list *l, int64_t count, int rows)
{
    l->count = count < 0 ? 0 : count;
    l->rows = rows < 1 ? 1 : rows;
    keep_in_sight(l);
}

bool list_move(struct list *l, enum list_move move)
{
    int64_t before = l->cursor;
    const int64_t steps[] = {
        [LIST_UP] = -1,
        [LIST_DOWN] = 1,
        [LIST_PAGE_UP] = -l->rows,
        [LIST_PAGE_DOWN] = l->rows,
        [LIST_HALF_UP] = -(l->rows + 1) / 2,
        [LIST_HALF_DOWN] = (l->rows + 1) / 2,
        [LIST_FIRST] = -l->count,
        [LIST_LAST] = l->count,
    };
    l->cursor += steps[move];
    keep_in_sight(l);
    return l->cursor != before;
}

void list_go(struct list *l, int64_t cursor)
{
    l->cursor = cursor;
    if (cursor < l->top || cursor >= l->top + l->rows)
        l->top = cursor - l->rows / 2;
    keep_in_sight(l);
}
