/* engine/live/series.h - append-only records, for curves and the log, that one writer extends while
 * others read.
 *
 * Blocks are reference-counted. The writer appends after everything a reader was given, so readers
 * need no lock. A full block is replaced: a curve's by one with points merged in pairs (the whole
 * run stays visible at half the detail), a log's by one with its newer half. So memory is
 * bounded. */
#ifndef AUTOMAP_ENGINE_LIVE_SERIES_H
#define AUTOMAP_ENGINE_LIVE_SERIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SERIES_POINTS = 16384, LOG_LINES = 1024, LOG_TEXT_ROOM = 160 };

struct point {
    double x; /* of the first point merged into this one */
    float mean, low, high;
    uint32_t merged; /* how many */
};

struct series_block {
    atomic_int references;
    struct point points[SERIES_POINTS];
};

struct series {
    struct series_block *block;
    uint32_t count;
    uint32_t stride; /* points merged into one so far */
};

bool series_new(struct series *s);                     /* false: out of memory */
void series_add(struct series *s, double x, double y); /* the writer */
struct series series_share(const struct series *s);    /* the writer, for a reader */
void series_release(struct series *s);

enum log_kind { LOG_INFO, LOG_BEST, LOG_PERSON, LOG_TROUBLE };

struct log_line {
    uint64_t episode;
    uint64_t updates; /* of the network by then */
    uint32_t act;     /* number of a person's act, the marker on the curves; else 0 */
    uint8_t kind;     /* enum log_kind */
    char text[LOG_TEXT_ROOM];
};

struct log_block {
    atomic_int references;
    struct log_line lines[LOG_LINES];
};

struct live_log {
    struct log_block *block;
    uint32_t count;
    uint64_t dropped; /* lines no longer held */
};

bool log_new(struct live_log *l);
void log_add(struct live_log *l, const struct log_line *line);
struct live_log log_share(const struct live_log *l);
void log_release(struct live_log *l);

#endif
