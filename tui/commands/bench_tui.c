/* automap bench tui: key press to the bytes of a frame, with the search running; what the screen
 * costs the search; what is written when nothing happens. */
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "tui/app/app.h"
#include "tui/app/script.h"
#include "tui/commands/bench.h"
#include "tui/commands/commands.h"
#include "tui/files/theme_file.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/paint.h"
#include "tui/watch/watch.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 2000, INSTRUCTIONS_MOST = 1000000 };
enum { PAIRS_LEAST = 8, PAIRS_MOST = 4000, WARM_PAIRS = 6, FIRST_DECISIONS = 500 };
#define POLL_SECONDS 0.002
static const double FRAME_TARGET_MS = 33, SLOWER_TARGET = 0.03, FRAME_SECONDS = 0.25;

struct bench {
    struct app *app;
    const struct app_setup *setup;
    struct paint paint;
    struct str bytes;
    double start; /* of the clock that the application sees */
    size_t written;
};

static const struct grid *frame(struct bench *b)
{
    app_time(b->app, (bench_now() - b->start) * 1e3);
    const struct grid *g = app_frame(b->app);
    if (g) {
        str_clear(&b->bytes);
        paint_frame(&b->paint, g, &b->bytes);
        b->written += b->bytes.size;
    }
    return g;
}

static void sleep_seconds(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* Processor seconds of all threads but the calling one: the search's. */
static double other_seconds(void)
{
    return clock_process_seconds() - bench_own();
}

/* KEYS of them in turn, each with its frame. */
static void time_keys(struct bench *b, const char *what, const uint32_t *keys, size_t count)
{
    static double ms[KEYS], own[KEYS];

    for (int n = 0; n < KEYS; n++) {
        double start = bench_now(), start_own = bench_own();
        app_key(b->app, keys[(size_t)n % count]);
        app_woken(b->app);
        frame(b);
        ms[n] = (bench_now() - start) * 1e3;
        own[n] = (bench_own() - start_own) * 1e3;
    }
    sort_doubles(ms, KEYS);
    sort_doubles(own, KEYS);
    printf("%-16s %6.2f ms p50   %6.2f ms p99   %6.2f ms most   target p99 <= %.0f ms: %s\n", what,
           ms[KEYS / 2], ms[KEYS * 99 / 100], ms[KEYS - 1], FRAME_TARGET_MS,
           ms[KEYS * 99 / 100] <= FRAME_TARGET_MS ? "met" : "missed");
    printf("  on a processor %6.2f ms p50   %6.2f ms p99   %6.2f ms most\n", own[KEYS / 2],
           own[KEYS * 99 / 100], own[KEYS - 1]);
}

/* In the tree and the other panels. */
static void time_panels(struct bench *b)
{
    static const uint32_t keys[] = {'j', 'j', 'j', 'l',      'j', KEYC_PAGE_DOWN, 'k', 'x',
                                    't', 'G', 'g', KEYC_TAB, '1'};

    time_keys(b, "key to frame", keys, sizeof keys / sizeof *keys);
}

/* In the placement view, its plans still coming in: levels, nodes, devices, moves, why. */
static void time_placement(struct bench *b)
{
    static const uint32_t keys[] = {'l', 'l', 'j', KEYC_TAB, 'l', 'm', 'w', 'h', ']', 'k', '0'};

    app_key(b->app, 'V');
    app_key(b->app, 'l');
    sleep_seconds(1); /* there is a plan */
    time_keys(b, "placement", keys, sizeof keys / sizeof *keys);
    app_key(b->app, KEYC_ESC);
}

/* ---- what watching costs the search ---- */

/* Processor seconds that the search takes for `count` decisions, with one frame halfway or none.
 */
static double run_slice(struct bench *b, double count, double halfway, bool watched)
{
    double start = other_seconds();
    char decide[48];
    struct err e;

    snprintf(decide, sizeof decide, "decide %.0f", count);
    if (app_send(b->app, decide, &e))
        return 0;
    while (!app_wait(b->app, POLL_SECONDS)) {
        if (!watched || other_seconds() - start < halfway)
            continue;
        app_woken(b->app);
        frame(b);
        watched = false;
    }
    return other_seconds() - start;
}

/* A bench of its own on the same model, searching from the same seed. */
static int open_twin(const struct bench *from, const char *model, struct bench *out, struct err *e)
{
    *out = (struct bench){.start = from->start, .setup = from->setup};
    paint_init(&out->paint, &from->setup->theme, DEPTH_TRUE, false);
    int rc = app_new(&out->app, from->setup, e);
    if (rc)
        return rc;
    rc = app_load(out->app, model, NULL, e);
    if (rc)
        return rc;
    app_resize(out->app, 200, 60);
    frame(out);
    return 0;
}

static void close_twin(struct bench *b)
{
    app_free(b->app);
    str_release(&b->bytes);
    paint_release(&b->paint);
}

/* Two searches of one seed make the same decisions, a slice each in turn, one of them watched: the
 * pairs do equal work, so that their ratios hold where the machine is busy and the learner's work
 * grows. Slices take as long as four frames a second leave; the watched one goes first in every
 * second pair. The median, and the range that holds it in 95 of 100 runs by the signs alone. */
static int time_search(struct bench *from, const char *model, double seconds, struct err *e)
{
    double ratio[PAIRS_MOST], count = FIRST_DECISIONS;
    struct bench twin[2] = {{0}, {0}};
    int pairs = (int)(seconds / FRAME_SECONDS) + PAIRS_LEAST;
    int rc = open_twin(from, model, &twin[0], e);

    rc = rc ? rc : open_twin(from, model, &twin[1], e);
    if (rc)
        goto out;
    pairs = pairs < PAIRS_MOST ? pairs : PAIRS_MOST;
    for (int n = -WARM_PAIRS; n < pairs; n++) {
        double took[2];
        for (int k = 0; k < 2; k++) {
            int is_watched = k ^ (n & 1);
            took[is_watched] = run_slice(&twin[is_watched], count, FRAME_SECONDS / 2, is_watched);
        }
        if (n >= 0)
            ratio[n] = took[1] / took[0];
        if (took[0] > 0)
            count = fmax(1, floor(count * fmin(fmax(FRAME_SECONDS / took[0], 0.5), 2)));
    }
    sort_doubles(ratio, (size_t)pairs);
    int off = (int)(0.98 * sqrt(pairs)) + 1, low = pairs / 2 - off, high = pairs / 2 + off;
    double slower = ratio[pairs / 2] - 1;
    printf("search           %5.2f %% slower watched, %.2f to %.2f %% by %d pairs; target <= %.0f "
           "%%: %s\n",
           slower * 100, (ratio[low > 0 ? low : 0] - 1) * 100,
           (ratio[high < pairs ? high : pairs - 1] - 1) * 100, pairs, SLOWER_TARGET * 100,
           slower <= SLOWER_TARGET ? "met" : "missed");
out:
    close_twin(&twin[0]);
    close_twin(&twin[1]);
    return rc;
}

/* While it learns, four frames a second. */
static void time_writing(struct bench *b, double seconds)
{
    double start = bench_now();

    b->written = 0;
    while (bench_now() - start < seconds) {
        sleep_seconds(FRAME_SECONDS);
        app_woken(b->app);
        frame(b);
    }
    printf("bytes written    %6.1f kB/s while it learns\n",
           (double)b->written / 1e3 / (bench_now() - start));
}

static void time_idle(struct bench *b)
{
    struct err e;

    if (app_tell(b->app, "pause", &e))
        return;
    for (int calm = 0, n = 0; calm < 50 && n < 500; n++) { /* what still moves comes to rest */
        b->written = 0;
        sleep_seconds(0.01);
        frame(b);
        calm = b->written ? 0 : calm + 1;
    }
    b->written = 0;
    for (int n = 0; n < 100; n++) {
        sleep_seconds(0.01);
        frame(b);
    }
    printf("bytes written    %6zu when nothing happens, target 0: %s\n", b->written,
           b->written ? "missed" : "met");
}

static int run_tui(struct bench *b, const char *model, double seconds, struct err *e)
{
    double start = bench_now(), start_own = bench_own();

    if (app_load(b->app, model, NULL, e))
        return e->code;
    app_resize(b->app, 200, 60);
    frame(b);
    double first = bench_now() - start, own = bench_own() - start_own;
    printf("%s, %u instructions\nfirst screen     %6.2f s, %.2f on a processor   target <= 0.6 s: "
           "%s\n",
           model, app_watch(b->app)->problem->m->count, first, own,
           first <= 0.6 ? "met" : "missed");
    if (app_tell(b->app, "run", e))
        return e->code;
    time_panels(b);
    time_placement(b);
    time_writing(b, seconds);
    time_idle(b);
    int rc = time_search(b, model, seconds, e);
    if (rc)
        return rc;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("memory           %6.0f MB at most\n", (double)use.ru_maxrss / 1e3);
    return 0;
}

/* The generated module lies in a file while it is opened. */
static int run_generated(struct bench *b, uint32_t instructions, double seconds, struct err *e)
{
    char path[] = "/tmp/automap-bench-XXXXXX.hlo.txt";
    struct str text = {0};
    int fd = mkstemps(path, 8);

    if (fd < 0)
        return err_set(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    close(fd);
    int rc =
        bench_write_module(&text, instructions) ? 0 : err_set(e, ERR_MEMORY, "not enough memory");
    rc = rc ? rc : file_write(path, text.text, text.size, true, e);
    str_release(&text);
    rc = rc ? rc : run_tui(b, path, seconds, e);
    unlink(path);
    return rc;
}

struct request {
    const char *model;
    double seconds;
    uint32_t instructions; /* 0: not given */
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"MODEL", .values = VALUES_MODEL, ARG(model)},
    {"instructions", "N", "a training step of that length instead, made here", .kind = OPTION_WHOLE,
     ARG(instructions), .least = 1, .most = INSTRUCTIONS_MOST},
    {"seconds", "S", "of every measurement (default: 2)", .kind = OPTION_REAL, ARG(seconds),
     .least = 0.25, .most = 600},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_bench(int argc, char **argv)
{
    struct app_setup setup = {.mode = KEYS_VI};
    struct bench b = {.start = bench_now(), .setup = &setup};
    char data[PATH_MAX];
    const struct option_parser parser = {"bench tui", options, NULL};
    struct request r = {.seconds = 2};
    struct err e;

    int code = options_parse(&parser, &r, argc, argv);
    if (code)
        return code;
    setup.data_dir = file_data_dir(data, sizeof data) ? data : NULL;
    int rc = theme_load(&setup.theme, "default", &e);
    if (rc)
        goto out;
    rc = app_new(&b.app, &setup, &e);
    if (rc)
        goto out;
    paint_init(&b.paint, &setup.theme, DEPTH_TRUE, false);
    rc = r.instructions ? run_generated(&b, r.instructions, r.seconds, &e)
                        : run_tui(&b, r.model ? r.model : "t5-11b", r.seconds, &e);
    paint_release(&b.paint);
out:
    if (rc)
        err_print(&e, stderr);
    app_free(b.app);
    str_release(&b.bytes);
    return rc ? EXIT_INPUT : EXIT_OK;
}

const struct command bench_tui = {
    .name = "bench tui",
    .usage = "[MODEL]",
    .summary = "key press to frame, what watching costs a search, bytes written",
    .about =
        "Measures key press to frame, in the panels and in the placement view, bytes written, and "
        "what watching costs a search: two searches of one seed decide in turn, one of them "
        "watched, four pairs a second; the median of the ratios, and the range it is in 95 times "
        "of 100.",
    .options = options,
    .run = run_bench,
};
