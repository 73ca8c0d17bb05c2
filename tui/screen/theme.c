#include "tui/screen/theme.h"

#include <math.h>

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

static double linear(uint8_t value)
{
    double s = value / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

double colour_contrast(struct colour a, struct colour b)
{
    double la = 0.2126 * linear(a.r) + 0.7152 * linear(a.g) + 0.0722 * linear(a.b);
    double lb = 0.2126 * linear(b.r) + 0.7152 * linear(b.g) + 0.0722 * linear(b.b);
    double high = la > lb ? la : lb, low = la > lb ? lb : la;
    return (high + 0.05) / (low + 0.05);
}
