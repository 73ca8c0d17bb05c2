/* Any bytes typed at the explorer: a terminal decodes them, keys and `:` lines act, frames are
 * drawn. No slash is typed, so that every file it writes is in a folder of its own. */
#define _GNU_SOURCE /* posix_openpt */
#include "tests/fuzz/problem.h"
#include "tui/app/script.h"
#include "tui/files/theme_file.h"
#include "tui/screen/paint.h"
#include "tui/screen/term.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TYPED_MOST = 400, FRAME_EVERY = 8, WIDTH = 120, HEIGHT = 40 };

static char folder[] = "/tmp/automap-explorer-XXXXXX";
static int keyboard = -1; /* the terminal's far end */
static struct term *term;
static struct app_setup setup;
static struct paint paint;

/* The terminal's end is called when a sanitizer ends the program, and libFuzzer, which would keep
 * the input, is not: so it stands in the folder. */
static void keep_input(const char *typed, size_t size)
{
    int fd = open(".typed", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    require(fd >= 0 && write(fd, typed, size) == (ssize_t)size && !close(fd));
}

/* All but the model go: the next input begins as this one did. */
static void clear_folder(bool leaving)
{
    DIR *d = opendir(folder);

    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (entry->d_name[0] != '.' && (leaving || strcmp(entry->d_name, "step.hlo") != 0))
            require(!unlinkat(dirfd(d), entry->d_name, 0));
    }
    if (d)
        closedir(d);
}

static void leave(void)
{
    clear_folder(true);
    unlink(".typed");
    require(!chdir("/") && !rmdir(folder));
}

static void open_terminal(void)
{
    struct winsize window = {.ws_row = HEIGHT, .ws_col = WIDTH};
    struct term_options o = {.theme = &setup.theme, .depth = DEPTH_256, .mouse = true};
    struct err e = {0};
    int shown = dup(STDERR_FILENO), end;

    require((keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) >= 0);
    require(!grantpt(keyboard) && !unlockpt(keyboard));
    require((end = open(ptsname(keyboard), O_RDWR | O_NOCTTY)) >= 0);
    require(!ioctl(end, TIOCSWINSZ, &window));
    require(dup2(end, STDIN_FILENO) >= 0 && dup2(end, STDOUT_FILENO) >= 0);
    require(!setenv("TERM", "xterm-256color", 1));
    require(!term_open(&term, &o, &e));
    require(shown >= 0 && dup2(shown, STDERR_FILENO) >= 0); /* findings are read there */
}

static void enter(void)
{
    struct err e = {0};
    FILE *f;

    require(mkdtemp(folder) && !chdir(folder));
    require(!setenv("HOME", folder, 1) && !setenv("XDG_STATE_HOME", folder, 1));
    atexit(leave);
    require((f = fopen("step.hlo", "w")) != NULL && fputs(STEP_MODEL, f) >= 0 && !fclose(f));
    require(!theme_load(&setup.theme, "default", &e));
    setup.data_dir = folder;
    setup.today = 1795262400;
    paint_init(&paint, &setup.theme, DEPTH_TRUE, false);
    open_terminal();
}

static void draw(struct app *a)
{
    const struct grid *g = app_frame(a);
    struct str bytes = {0};

    if (!g)
        return;
    require(g->cursor_y < g->height && g->cursor_x <= g->width);
    paint_frame(&paint, g, &bytes);
    str_release(&bytes);
}

static void take(struct app *a, const struct term_event *event)
{
    if (event->kind == TERM_KEY)
        app_key(a, event->key);
    else if (event->kind == TERM_PASTED)
        app_pasted(a, event->key);
    else if (event->kind == TERM_MOUSE && event->button >= TERM_WHEEL_UP)
        app_wheel(a, event->x, event->y, event->button == TERM_WHEEL_UP ? -1 : 1);
    else if (event->kind == TERM_MOUSE)
        app_click(a, event->x, event->y, event->button == TERM_DOUBLE);
}

static void play(struct app *a)
{
    struct term_event event;
    const char *text;
    int keys = 0;

    while (!app_is_done(a) && term_next(term, &event)) {
        take(a, &event);
        (void)app_take_wish(a, &text);
        app_time(a, 100.0 * ++keys);
        if (keys % FRAME_EVERY == 0) {
            app_woken(a);
            draw(a);
        }
    }
    if (!app_is_done(a))
        draw(a);
    while (term_next(term, &event)) /* nothing is left for the next input */
        continue;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char typed[TYPED_MOST], dropped[4096];
    struct app *a;
    struct err e = {0};

    if (keyboard < 0)
        enter();
    size = size < sizeof typed ? size : sizeof typed;
    for (size_t n = 0; n < size; n++)
        typed[n] = data[n] == '/' ? '.' : (char)data[n];
    require(!app_new(&a, &setup, &e) && !app_load(a, "step.hlo", NULL, &e));
    app_resize(a, WIDTH, HEIGHT);
    keep_input(typed, size);
    while (read(keyboard, dropped, sizeof dropped) > 0)
        continue;
    require(write(keyboard, typed, size) == (ssize_t)size);
    play(a);
    app_free(a);
    clear_folder(false);
    return 0;
}
