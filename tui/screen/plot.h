/* tui/screen/plot.h - curves in cells: braille (2 x 4 dots a cell) or, in ASCII, and several curves
 * where no colour tells them apart (grid.h), one sign a cell.
 *
 * Readable axes: y labels right-aligned at top, bottom, the limit and round values between; below,
 * the first and last x, the unit of x and a legend; numbered marks of a person's acts in a row of
 * their own, where there is room for one, with one mark for neighbours that have none: "▲3–6".
 * Values that are not finite are gaps. In every column of dots a line spans from the least to the
 * greatest value there, so spikes stay visible at any width. O(points + cells). */
#ifndef AUTOMAP_TUI_SCREEN_PLOT_H
#define AUTOMAP_TUI_SCREEN_PLOT_H

#include "tui/screen/grid.h"

#include <stdbool.h>
#include <stddef.h>

enum plot_kind {
    PLOT_DOTS,  /* single points */
    PLOT_LINE,  /* joined */
    PLOT_STEPS, /* each value holds until the next: best so far */
};

struct plot_series {
    const double *y;
    const double *x; /* ascending; NULL: evenly from first to last x of the plot */
    size_t count;
    enum plot_kind kind;
    unsigned role;
    char sign;        /* in ASCII: raw '.', mean '*', best '+' */
    const char *name; /* in the legend; NULL: not there */
};

struct plot_mark {
    double x;
    int number; /* 0: no number */
};

struct plot {
    const struct plot_series *series; /* later ones lie over earlier ones */
    size_t series_count;
    double first_x, last_x;
    const char *unit_x; /* "ep": behind the last x */
    bool log_y, log_x; /* values <= 0 are gaps; of y PLOT_DECADES at most, lower ones at its foot */
    double low, high;  /* of y; NAN: from the values and the limit */
    double limit;      /* NAN: none; a dashed line */
    double limit_x;    /* from there on, or over the last eighth where that is longer */
    unsigned limit_role;
    const char *limit_name; /* "optimum" */
    const struct plot_mark *marks;
    size_t mark_count;
    bool ascii;
};

enum { PLOT_DECADES = 6 };

struct plot_drawn {
    size_t not_finite;         /* points left out as gaps */
    bool below;                /* values lie below the log axis: its lowest label begins with '<' */
    size_t above;              /* points over a fixed top, shown as '^' in their column */
    int first_column, columns; /* of the pane: where the curves are; 0 columns: too small */
};

struct plot_drawn plot_draw(const struct pane *p, const struct plot *plot);

/* A bias-corrected exponential moving average: out[i] of values 0..i with `weight` (0..1) on the
 * past. Skips gaps, which stay gaps. out may equal in. */
void plot_smooth(double *out, const double *in, size_t count, double weight);

/* 1, 2 or 5 times a power of ten: the least step with which `span` takes at most `most` steps. */
double plot_step(double span, int most);

#endif
