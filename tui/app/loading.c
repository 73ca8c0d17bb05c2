/* A large file, or a pipe, is read in a thread of its own: the screen says what is read and how far
 * that is, and one can go back at any time. What nobody waits for any more ends by itself. */
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/app/opening.h"
#include "tui/app/script.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGE = 128 << 10, FRAME_MS = 80 }; /* bytes; below it, it opens at once */

/* Who comes second frees: the thread when it was left, else the screen. */
enum loading_state { LOADING_RUNS, LOADING_DONE, LOADING_LEFT };

struct loading {
    struct opening *opening;
    double began_ms, phase_ms[READING_PHASES];
    double bytes; /* below 0: a pipe, of which nobody knows how much comes, nor when */
    int (*then)(struct app *a, void *context, struct err *e);
    void *context;
    atomic_int state;
    pthread_t thread;
};

static void free_loading(struct loading *l)
{
    opening_free(l->opening);
    free(l);
}

static void *run_loading(void *context)
{
    struct loading *l = context;
    int runs = LOADING_RUNS;

    opening_read(l->opening);
    if (!atomic_compare_exchange_strong(&l->state, &runs, LOADING_DONE))
        free_loading(l);
    return NULL;
}

static int finish_loading(struct app *a, struct opening *g, struct err *e)
{
    if (!g->rc)
        return g->finish(a, g, e);
    *e = g->err;
    return g->rc;
}

int loading_begin(struct app *a, struct opening *g, struct err *e)
{
    struct stat s;
    bool is_there = !stat(g->f.model, &s), is_pipe = is_there && S_ISFIFO(s.st_mode);
    bool is_large = is_pipe || (is_there && s.st_size >= LARGE);

    if (!a->setup.reads_beside || !is_large) {
        opening_read(g);
        int rc = finish_loading(a, g, e);
        opening_free(g);
        return rc;
    }
    struct loading *l = mem_alloc(sizeof *l);
    l->opening = g;
    l->bytes = is_pipe ? -1 : (double)s.st_size;
    if (thread_start(&l->thread, run_loading, l, "reading a model", e)) {
        free_loading(l);
        return e->code;
    }
    app_leave_loading(a); /* what was asked for last is what is wanted */
    a->loading = l;
    app_touch(a);
    return 0;
}

int app_when_loaded(struct app *a, int (*then)(struct app *a, void *context, struct err *e),
                    void *context, struct err *e)
{
    int rc;

    if (a->loading) {
        a->loading->then = then;
        a->loading->context = context;
        return 0;
    }
    while ((rc = then(a, context, e)) == APP_AGAIN) {
        (void)app_wait(a, 600);
        app_look(a);
    }
    return rc;
}

/* One more part of what is done behind the screen of what was read; the screen is drawn between
 * two. */
void app_after_loading(struct app *a)
{
    struct err e = {0};

    if (!a->then || a->loading || (a->session && !app_wait(a, 0)))
        return;
    int rc = a->then(a, a->then_context, &e);
    if (rc != APP_AGAIN)
        a->then = NULL;
    if (rc && rc != APP_AGAIN)
        app_say_err(a, &e);
    a->woken = a->session != NULL;
}

bool app_loading_error(const struct app *a, struct err *e)
{
    if (a->load_error.code)
        *e = a->load_error;
    return a->load_error.code != 0;
}

/* Where there is nothing to go back to the program ends. */
static void go_back(struct app *a, const struct err *e)
{
    if (a->problem || a->depth > 0) {
        if (e)
            app_say_err(a, e);
        else
            app_say(a, "reading was stopped; nothing has changed");
        return;
    }
    if (e)
        a->load_error = *e;
    a->done = true;
}

void app_finish_loading(struct app *a)
{
    struct loading *l = a->loading;
    struct err e = {0};

    if (!l || atomic_load(&l->state) != LOADING_DONE)
        return;
    pthread_join(l->thread, NULL);
    a->loading = NULL;
    if (finish_loading(a, l->opening, &e)) {
        go_back(a, &e);
    } else {
        a->then = l->then;
        a->then_context = l->context;
    }
    free_loading(l);
    app_touch(a);
}

void app_leave_loading(struct app *a)
{
    struct loading *l = a->loading;
    int runs = LOADING_RUNS;

    if (!l)
        return;
    a->loading = NULL;
    atomic_store(&l->opening->reading.stop, true);
    pthread_t thread = l->thread;
    if (atomic_compare_exchange_strong(&l->state, &runs, LOADING_LEFT)) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    free_loading(l);
}

bool app_loading_key(struct app *a, uint32_t key)
{
    enum { INTERRUPT = 3 };

    if (!a->loading)
        return false;
    if (key == 'q' || key == 'Q' || key == KEYC_ESC || key == INTERRUPT) {
        app_leave_loading(a);
        go_back(a, NULL);
    }
    return true;
}

double app_loading_next_ms(const struct app *a)
{
    return a->loading || a->then ? a->drawn_ms + FRAME_MS : -1;
}

static int draw_phase(const struct loading *l, const struct pane *p, int y, enum reading_phase k,
                      enum reading_phase now, double now_ms)
{
    static const char *const words[READING_PHASES] = {
        [READING_FILE] = "reading and parsing",
        [READING_ROLES] = "roles, layers, groups and costs",
    };
    double from = k ? l->phase_ms[k] : l->began_ms, end = k < now ? l->phase_ms[k + 1] : now_ms;
    char text[UNITS_ROOM];

    pane_put(p, 4, y,
             k < now    ? ROLE_OK
             : k == now ? ROLE_TITLE | BOLD
                        : ROLE_DIM,
             k < now    ? U'●'
             : k == now ? U'▶'
                        : U'·');
    pane_text(p, 6, y, k <= now ? ROLE_TEXT : ROLE_DIM, words[k]);
    if (k <= now)
        pane_right(p, 52, y, ROLE_DIM, units_ms(text, end - from));
    if (k == READING_FILE && k < now)
        pane_format(p, 55, y, ROLE_TEXT, "%s instructions",
                    units_count(text, atomic_load(&l->opening->reading.instructions)));
    return y + 1;
}

void app_draw_loading(struct app *a, const struct pane *p)
{
    struct loading *l = a->loading;
    enum reading_phase now = atomic_load(&l->opening->reading.phase);
    const char *slash = strrchr(l->opening->f.model, '/');
    double now_ms = a->scene.now_ms;
    char text[UNITS_ROOM];
    int y = p->height / 3;

    if (l->began_ms <= 0)
        l->began_ms = now_ms;
    for (int k = 1; k <= (int)now; k++)
        l->phase_ms[k] = l->phase_ms[k] > 0 ? l->phase_ms[k] : now_ms;
    int x = pane_text(p, 2, y, ROLE_TEXT, "opening ");
    x = pane_cut(p, x, y, p->width - x - 30, ROLE_TITLE | BOLD,
                 slash ? slash + 1 : l->opening->f.model);
    x = pane_format(p, x, y, ROLE_TEXT, ", %s",
                    l->bytes < 0 ? "a pipe" : units_bytes(text, l->bytes));
    pane_format(p, x + 3, y, ROLE_DIM, "%s", units_ms(text, now_ms - l->began_ms));
    y += 2;
    for (int k = 0; k < READING_PHASES; k++)
        y = draw_phase(l, p, y, (enum reading_phase)k, now, now_ms);
    pane_put(p, 4, y, ROLE_DIM, U'·');
    pane_text(p, 6, y, ROLE_DIM, "the first screen, before any search");
    pane_text(p, 2, y + 2, ROLE_KEY, "Esc");
    pane_text(p, 6, y + 2, ROLE_DIM, a->problem || a->depth ? "goes back" : "leaves");
}
