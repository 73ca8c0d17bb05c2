#include "tui/views/groups_columns.h"

enum { CHOICE_WIDTH = 4, TITLE_WIDTH = 5, DIMS_WIDTH = 5, FIGURE = 10, FIGURE_TIGHT = 8 };

/* Of a column: at least so many, and a gap before the widest. */
static int field(int least, int widest)
{
    return widest < least ? least : widest + 1;
}

static struct groups_columns columns_beside_name(int width, const struct groups_widest *widest)
{
    struct groups_columns c = {.best = width < 30 ? 0 : 5};

    if (width >= GROUPS_WITH_ALL) {
        c.settles = width - FIGURE;
        c.turned = width - 2 * FIGURE;
    }
    if (width >= GROUPS_WITH_REDUCES)
        c.reduces = width;
    width = c.turned    ? c.turned - field(FIGURE, widest->turned)
            : c.reduces ? c.reduces - FIGURE
                        : width;
    c.in_best = width;
    c.alone = width >= 50 ? width - field(9, widest->in_best) : 0;
    width = c.alone ? c.alone : width;
    c.name = c.best ? width >= 50 ? 12 : 10 : 5;
    int tight = c.in_best >= GROUPS_TITLED ? 9 : 8, name = widest->name < 24 ? widest->name : 24;
    int figure = c.alone ? widest->alone : widest->in_best, before = field(6, widest->dims);
    bool dims = tight + name + before <= width - field(10, figure);
    c.dims = dims ? width - field(10, figure) : 0;
    c.name_end = dims ? c.dims - before : width - field(9, figure);
    if (c.name_end - c.name < widest->name && c.best) {
        c.best = 4;
        c.name = tight;
    }
    return c;
}

static int at_least(int column, int least)
{
    return column > least ? column : least;
}

/* Each of the first columns begins behind the widest of the one before. */
static void part_columns(struct groups_columns *c, const struct groups_widest *widest)
{
    int behind = widest->now + 1;

    if (c->best) {
        c->best = at_least(c->best, behind);
        behind = c->best + widest->choice + 1;
    }
    if (c->exact) {
        c->exact = at_least(c->exact, behind);
        behind = c->exact + widest->choice + 1;
    }
    c->name = at_least(c->name, behind);
}

struct groups_columns groups_columns_for(int width, const struct groups_widest *widest,
                                         bool has_dims)
{
    struct groups_columns c = columns_beside_name(width, widest);

    part_columns(&c, widest);
    if (width < GROUPS_WITH_EXACT)
        return c;
    c.best = CHOICE_WIDTH;
    c.exact = c.best + TITLE_WIDTH;
    c.name = c.exact + TITLE_WIDTH + 1;
    part_columns(&c, widest);
    c.dims = c.alone - field(FIGURE_TIGHT, widest->alone);
    c.name_end = c.dims - field(DIMS_WIDTH, widest->dims);
    if (c.name_end - c.name < widest->name && width < GROUPS_WITH_REDUCES && !has_dims) {
        c.name_end = c.dims;
        c.dims = 0;
    }
    return c;
}
