/* The loop between the application and the terminal. */
#include "engine/cost/step_tables.h"
#include "hlo/support/clock.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/app/user_command.h"
#include "tui/files/config.h"
#include "tui/screen/grid.h"
#include "tui/screen/term.h"

#include <signal.h>

static double now_ms(void)
{
    return clock_seconds() * 1e3;
}

static void grant(struct app *a, struct term *t, const char *text, enum app_wish wish)
{
    if (wish == APP_COPY)
        term_copy(t, text);
    else if (wish == APP_STOP)
        term_stop(t);
    else if (wish == APP_REDRAW)
        term_set_theme(t, app_theme(a));
    else if (wish == APP_MOUSE)
        term_set_mouse(t, app_wants_mouse(a));
    else if (wish == APP_RUN)
        user_commands_ended(a, term_run(t, text));
}

/* Hands over what was typed. Returns the signal that ends the program, or 0. */
static int take_events(struct app *a, struct term *t)
{
    struct term_event event;
    const char *text;

    while (term_next(t, &event)) {
        int width, height;
        switch (event.kind) {
        case TERM_KEY:
            app_key(a, event.key);
            break;
        case TERM_PASTED:
            app_pasted(a, event.key);
            break;
        case TERM_MOUSE:
            if (event.button == TERM_WHEEL_UP || event.button == TERM_WHEEL_DOWN)
                app_wheel(a, event.x, event.y, event.button == TERM_WHEEL_UP ? -1 : 1);
            else
                app_click(a, event.x, event.y, event.button == TERM_DOUBLE);
            break;
        case TERM_RESIZE:
            term_size(t, &width, &height);
            app_resize(a, width, height);
            break;
        case TERM_END:
            return event.signal;
        }
        grant(a, t, text, app_take_wish(a, &text));
        if (app_is_done(a))
            return 0;
    }
    return 0;
}

int app_loop(struct app *a, struct term *t)
{
    int width, height, ended = 0;

    term_size(t, &width, &height);
    app_resize(a, width, height);
    while (!ended && !app_is_done(a)) {
        app_time(a, now_ms());
        if (app_theme_changed(a))
            term_set_theme(t, app_theme(a));
        const struct grid *g = term_is_ready(t) ? app_frame(a) : NULL;
        if (g && term_show(t, g) < 0)
            return (ended = take_events(a, t)) ? ended : SIGHUP;
        if (app_is_done(a)) /* what was to be read was no model */
            return 0;
        const char *news = app_take_news(a);
        if (news && a->setup.notify != NOTIFY_OFF)
            term_notify(t, a->setup.notify == NOTIFY_OSC777, news);
        double next = app_next_ms(a), now = now_ms();
        int wait = next < 0 ? -1 : next <= now ? 10 : (int)(next - now) + 1;
        if (term_wait(t, app_wake_fd(a), wait))
            app_woken(a);
        ended = take_events(a, t);
    }
    return ended;
}
