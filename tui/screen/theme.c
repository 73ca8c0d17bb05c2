#include "tui/screen/theme.h"

static const char *const role_names[ROLE_COUNT] = {
#define X(upper, lower) #lower,
    THEME_ROLES(X)
#undef X
};

const char *role_name(enum role role)
{
    return role_names[role];
}

struct look theme_look(const struct theme *t, unsigned style)
{
    unsigned fg = style & 0xff, bg = style >> 8 & 0xff;
    struct look look = t->roles[fg < ROLE_COUNT ? fg : 0];
    struct look back = t->roles[bg < ROLE_COUNT ? bg : 0];

    if (style & BOLD)
        look.attr |= BOLD;
    if (style & REVERSE)
        look.attr |= REVERSE;
    if (bg && look.bg.kind == COLOUR_DEFAULT) {
        if (back.bg.kind != COLOUR_DEFAULT)
            look.bg = back.bg;
        else if (back.attr & REVERSE || style & MARK)
            look.attr |= REVERSE;
    }
    if (look.bg.kind == COLOUR_DEFAULT && t->paint)
        look.bg = t->background;
    return look;
}
