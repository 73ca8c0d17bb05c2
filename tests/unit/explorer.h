/* tests/unit/explorer.h - the explorer without a terminal: a model opened, keys typed, the screen
 * as text. */
#ifndef AUTOMAP_TESTS_UNIT_EXPLORER_H
#define AUTOMAP_TESTS_UNIT_EXPLORER_H

#include "tui/app/script.h"
#include "tui/files/theme_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* On `cluster` (NULL: the default devices), seed 3; NULL: no search of the model can be opened, *e
 * says why. */
static inline struct app *explorer_try(const char *model, const char *cluster, int width,
                                       int height, struct err *e)
{
    struct app_setup setup = {.data_dir = AUTOMAP_SOURCE_DIR, .seed = 3};
    struct app *app;

    assert_int_equal(theme_load(&setup.theme, "default", e), 0);
    assert_int_equal(app_new(&app, &setup, e), 0);
    if (app_load(app, model, cluster, e)) {
        app_free(app);
        return NULL;
    }
    if (!app_watch(app)) { /* written for each device: the doctor shows it */
        app_free(app);
        (void)err_set(e, ERR_INPUT, "a dump, which nobody searches");
        return NULL;
    }
    app_resize(app, width, height);
    return app;
}

static inline struct app *explorer_open(const char *model, const char *cluster, int width,
                                        int height)
{
    struct err e = {0};
    struct app *app = explorer_try(model, cluster, width, height, &e);

    if (!app)
        fail_msg("%s", e.what);
    return app;
}

/* \r is Enter, \t Tab, \033 Esc; others stand for themselves. */
static inline void explorer_key(struct app *app, char key)
{
    app_key(app, key == '\r'     ? KEYC_ENTER
                 : key == '\t'   ? KEYC_TAB
                 : key == '\033' ? KEYC_ESC
                                 : (uint32_t)(unsigned char)key);
}

static inline void explorer_type(struct app *app, const char *keys)
{
    for (; *keys; keys++)
        explorer_key(app, *keys);
}

/* The screen drawn anew; "" when there is none. */
static inline const char *explorer_text(struct app *app, struct str *out)
{
    app_touch(app);
    const struct grid *g = app_frame(app);
    str_clear(out);
    if (g)
        grid_text(g, out);
    return out->text ? out->text : "";
}

#endif
