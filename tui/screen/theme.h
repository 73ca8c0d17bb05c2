/* tui/screen/theme.h - colours by role: what a cell's style looks like. tui/files/theme_file.h
 * reads them. */
#ifndef AUTOMAP_TUI_SCREEN_THEME_H
#define AUTOMAP_TUI_SCREEN_THEME_H

#include "tui/screen/grid.h"

#include <stdbool.h>

/* role, what it is for. 0 is the terminal's plain text. */
#define THEME_ROLES(X)            \
    X(TEXT, text)                 \
    X(DIM, dim)                   \
    X(TITLE, title)               \
    X(BORDER, border)             \
    X(BORDER_FOCUS, border_focus) \
    X(KEY, key)                   \
    X(SELECT, select)             \
    X(SELECT_DIM, select_dim)     \
    X(NEXT, next)                 \
    X(MATCH, match)               \
    X(OK, ok)                     \
    X(WARN, warn)                 \
    X(ERR, err)                   \
    X(PIN, pin)                   \
    X(CHANGED, changed)           \
    X(MASKED, masked)             \
    X(CHOICE_0, choice_0)         \
    X(CHOICE_1, choice_1)         \
    X(CHOICE_2, choice_2)         \
    X(CHOICE_3, choice_3)         \
    X(PLOT_0, plot_0)             \
    X(PLOT_1, plot_1)             \
    X(PLOT_2, plot_2)             \
    X(PLOT_3, plot_3)             \
    X(PLOT_4, plot_4)             \
    X(BLOCK_0, block_0)           \
    X(BLOCK_1, block_1)           \
    X(BLOCK_2, block_2)           \
    X(HEAT_0, heat_0)             \
    X(HEAT_1, heat_1)             \
    X(HEAT_2, heat_2)

enum role {
#define X(upper, lower) ROLE_##upper,
    THEME_ROLES(X)
#undef X
        ROLE_COUNT
};

enum colour_kind { COLOUR_DEFAULT, COLOUR_NAMED, COLOUR_RGB };

struct colour {
    enum colour_kind kind;
    uint8_t index;   /* COLOUR_NAMED: 0..15 */
    uint8_t r, g, b; /* the colour, or for a named one what xterm shows */
};

struct look {
    struct colour fg, bg;
    unsigned attr; /* BOLD | REVERSE */
};

struct theme {
    char name[32], summary[96];
    struct colour background;
    bool paint;
    struct look roles[ROLE_COUNT];
};

const char *role_name(enum role role);

/* What a cell of this style looks like: roles resolved, MARK applied. Where the style has no
 * background role, bg is the theme's painted background or COLOUR_DEFAULT. */
struct look theme_look(const struct theme *t, unsigned style);

#endif
