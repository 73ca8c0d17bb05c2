/* Random keys, clicks, resizes and lines at the explorer with a search running, on shipped
 * models and on one with hostile names: it draws every time, and nothing it draws moves a cursor or
 * turns text around. AUTOMAP_SECONDS sets how long (4; 600 under the address sanitizer for the long
 * run), AUTOMAP_SEED where the dice begin; a failure names its seed. */
#include "rl/rng.h"
#include "tui/app/colon.h"
#include "tui/app/script.h"
#include "tui/files/theme_file.h"
#include "tui/files/user_files.h"
#include "tui/screen/paint.h"
#include "tui/screen/utf8.h"
#include "tui/views/views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_BETWEEN_LOOKS = 64 };

struct player {
    struct app *app;
    struct app_setup setup;
    struct paint paint;
    struct rl_rng rng;
    double clock_ms;
    uint64_t events, frames, apps;
};

static char start_dir[PATH_MAX], work_dir[] = "/tmp/automap-random-XXXXXX";

/* ---- a model with names that mean harm ---- */

static const char *const harm[] = {
    "long",
    "\033[2J\033]0;title\007",
    "\033P$q\033\\",
    "%s%n%n%999999d",
    "a\tb\rc\bd",
    "\xe2\x80\xae"
    "desrever",
    "zero\xe2\x80\x8bwidth\xe2\x81\xa6",
    "\xff\xfe\xc0\xaf",
    "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
    "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
    "\xe6\xbc\xa2\xe5\xad\x97/\xe4\xb8\xad",
    "\x9b"
    "31m",
    "\xc2\x9b"
    "31m",
    "../../etc/passwd",
};

static void add_name(struct str *s, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\' || *name == '\n')
            str_add_char(s, '\\');
        str_add_char(s, *name == '\n' ? 'n' : *name);
    }
}

static void write_hostile(const char *path)
{
    struct str s = {0};
    struct err e = {0};
    size_t count = sizeof harm / sizeof *harm;

    str_add(&s, "HloModule hostile\n\nENTRY main {\n  v0 = f32[16,16] parameter(0)\n");
    for (size_t n = 0; n < count; n++) {
        str_format(&s, "  w%zu = f32[16,16] parameter(%zu), metadata={op_name=\"params['", n,
                   n + 1);
        add_name(&s, harm[n]);
        for (int k = 0; n == 0 && k < 10000; k++)
            str_add_char(&s, 'x');
        str_add(&s, "']\"}\n");
        str_format(&s,
                   "  v%zu = f32[16,16] dot(v%zu, w%zu), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}, metadata={op_name=\"jit(step)/",
                   n + 1, n, n);
        add_name(&s, harm[n]);
        str_add(&s, "/dot_general\" source_file=\"");
        add_name(&s, harm[n]);
        str_add(&s, "\" source_line=7}\n");
    }
    str_format(&s, "  ROOT out = f32[16,16] tanh(v%zu)\n}\n", count);
    assert_int_equal(file_write(path, s.text, s.size, true, &e), 0);
    str_release(&s);
}

/* ---- what is drawn ---- */

static bool is_harmless(uint32_t c)
{
    return c == '\n' ||
           (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x200b && c <= 0x200f) &&
            !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069));
}

static void check_frame(struct player *p, const struct grid *g)
{
    struct str text = {0}, bytes = {0};

    p->frames++;
    if (g->cursor_y >= g->height || g->cursor_x > g->width)
        fail_msg("cursor at %d,%d of %dx%d", g->cursor_x, g->cursor_y, g->width, g->height);
    paint_frame(&p->paint, g, &bytes);
    str_release(&bytes);
    if (p->frames % 8 == 0) {
        grid_text(g, &text);
        for (const char *at = text.text, *end = at + text.size; at < end;) {
            uint32_t c = utf8_next(&at);
            if (!is_harmless(c))
                fail_msg("U+%04X is drawn", c);
        }
    }
    str_release(&text);
}

/* ---- playing ---- */

static uint32_t below(struct player *p, uint32_t n)
{
    return rl_rng_below(&p->rng, n);
}

static void begin_app(struct player *p)
{
    static const char *const models[] = {"mlp", "t5-tiny", "vgg19", "hostile.hlo", "hostile.hlo"};
    struct err e = {0};

    p->apps++;
    write_hostile("hostile.hlo"); /* an export may have gone over it */
    p->setup.mode = below(p, 4) ? KEYS_VI : KEYS_PLAIN;
    p->setup.ascii = !below(p, 4);
    p->setup.seed = below(p, 1000);
    assert_int_equal(app_new(&p->app, &p->setup, &e), 0);
    if (below(p, 4) == 0) {
        assert_int_equal(app_open(p->app, &view_start, NULL, &e), 0);
    } else if (app_load(p->app, models[below(p, 5)], below(p, 3) ? NULL : "a-2x8-v100", &e)) {
        fail_msg("%s", e.what);
    }
    app_resize(p->app, 1 + (int)below(p, 200), 1 + (int)below(p, 60));
}

static uint32_t any_key(struct player *p)
{
    static const char often[] = "jkhlzwpbuxXtvfegGnN/:? 0123456789,.{}[]PZcsroaimdyVTW";

    switch (below(p, 6)) {
    case 0:
        return KEY_FIRST_NAMED + below(p, KEYC_LAST_NAMED - KEY_FIRST_NAMED + 1);
    case 1:
        return 1 + below(p, 126);
    case 2:
        return below(p, 20) ? KEYC_ENTER : 0x80 + below(p, 0x30000);
    default:
        return (unsigned char)often[below(p, sizeof often - 1)];
    }
}

/* A line of the completion list, with something behind it where it takes more. */
static void any_line(struct player *p)
{
    static const char *const more[] = {"",
                                       "1",
                                       "0",
                                       "@1=1",
                                       "hostile.hlo",
                                       "x",
                                       "*",
                                       "cost",
                                       "a.svg",
                                       "999999999999999999999",
                                       "%s",
                                       "/",
                                       "reward paper",
                                       "network.bandwidth=1 Gbit/s"};
    struct colon_line line;
    int i = (int)below(p, 80);

    while (i && !colon_line(p->app, i, &line))
        i = (int)below(p, (uint32_t)i);
    if (!colon_line(p->app, i, &line))
        return;
    if (line.takes)
        strncat(line.text, more[below(p, sizeof more / sizeof *more)],
                sizeof line.text - strlen(line.text) - 1);
    app_command(p->app, line.text);
}

static void any_event(struct player *p)
{
    int x = (int)below(p, 220) - 10, y = (int)below(p, 80) - 10;
    const char *wish;

    switch (below(p, 40)) {
    case 0:
        app_resize(p->app, 1 + (int)below(p, 250), 1 + (int)below(p, 80));
        break;
    case 1:
    case 2:
        app_click(p->app, x, y, below(p, 2));
        break;
    case 3:
        app_wheel(p->app, x, y, (int)below(p, 9) - 4);
        break;
    case 4:
        app_pasted(p->app, any_key(p));
        break;
    case 5:
        any_line(p);
        break;
    case 6:
        app_settle(p->app, 0.001);
        break;
    default:
        app_key(p->app, any_key(p));
    }
    (void)app_take_wish(p->app, &wish);
    p->events++;
}

static void play(struct player *p, double seconds)
{
    struct timespec now, begun;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        if (app_is_done(p->app)) {
            app_free(p->app);
            begin_app(p);
        }
        any_event(p);
        p->clock_ms += below(p, 60);
        app_time(p->app, p->clock_ms);
        app_woken(p->app);
        const struct grid *g = app_frame(p->app);
        if (g)
            check_frame(p, g);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9 <
             seconds);
}

static void test_random(void **state)
{
    const char *asked = getenv("AUTOMAP_SECONDS"), *seed = getenv("AUTOMAP_SEED");
    struct player *p = mem_alloc(sizeof *p);
    char data[PATH_MAX];
    struct err e = {0};

    (void)state;
    assert_true(file_data_dir(data, sizeof data));
    p->setup.data_dir = data;
    p->setup.state_dir = work_dir;
    p->setup.keep_journal = true;
    p->setup.today = 1795262400;
    assert_int_equal(theme_load(&p->setup.theme, "default", &e), 0);
    paint_init(&p->paint, &p->setup.theme, DEPTH_TRUE, false);
    uint64_t dice = seed ? strtoull(seed, NULL, 10) : 1;
    print_message("seed %llu\n", (unsigned long long)dice);
    rl_rng_seed(&p->rng, dice, 0);
    begin_app(p);
    play(p, asked ? strtod(asked, NULL) : 4);
    app_free(p->app);
    paint_release(&p->paint);
    print_message("%llu events, %llu frames, opened %llu times\n", (unsigned long long)p->events,
                  (unsigned long long)p->frames, (unsigned long long)p->apps);
    assert_true(p->frames > 100);
    free(p);
}

/* It may write files: in a directory of its own. */
static int enter(void **state)
{
    (void)state;
    return !getcwd(start_dir, sizeof start_dir) || !mkdtemp(work_dir) || chdir(work_dir) ||
           setenv("XDG_STATE_HOME", work_dir, 1) || setenv("HOME", work_dir, 1);
}

static void remove_tree(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0))
            remove_tree(fd, entry->d_name);
    }
    if (d)
        closedir(d);
    unlinkat(at, name, AT_REMOVEDIR);
}

static int leave(void **state)
{
    (void)state;
    int rc = chdir(start_dir);
    remove_tree(AT_FDCWD, work_dir);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, enter, leave);
}
