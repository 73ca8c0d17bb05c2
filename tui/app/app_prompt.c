/* The message line as a prompt: commands with completion and history, and search. */
#include "tui/app/app_internal.h"
#include "tui/app/colon.h"
#include "tui/app/script.h"
#include "tui/screen/edit.h"
#include "tui/screen/keys.h"
#include "tui/screen/match.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"

#include <string.h>

void app_prompt_open(struct app *a, enum prompt kind)
{
    a->prompt = kind;
    if (kind == PROMPT_QUIT)
        return;
    edit_set(&a->line, "");
    a->history[kind - 1].at = a->history[kind - 1].count;
}

/* "2 pins are not saved.  s save  q quit  Esc stay" */
static void answer_quit(struct app *a, uint32_t key)
{
    bool saves = key == 's' && app_unsaved_pins(a);

    if (!saves && key != 'q' && key != 'b' && key != 3 && key != KEYC_ESC)
        return;
    a->prompt = PROMPT_NONE;
    if (key == 'q' || key == 3)
        a->done = true;
    else if (key == 'b')
        (void)app_command(a, "start");
    else if (saves)
        app_act(a, &common_keys, ACT_EXPORT);
}

static void run_prompt(struct app *a)
{
    enum prompt kind = a->prompt;
    char text[EDIT_ROOM];

    memcpy(text, a->line.text, sizeof text);
    a->prompt = PROMPT_NONE;
    history_add(&a->history[kind - 1], text);
    if (kind == PROMPT_COMMAND) {
        if (text[0])
            app_command(a, text);
        return;
    }
    if (kind == PROMPT_FILTER) { /* it was followed key by key; what it left is said once more */
        struct panel *p = app_top(a);
        if (p && p->filter)
            app_set_filter(a, p, text);
        return;
    }
    if (text[0])
        memcpy(a->pattern, text, sizeof text);
    app_act(a, &common_keys, ACT_SEARCH_NEXT);
}

/* Tab: as far as all commands that begin so agree; the row above lists them. */
static void complete_prompt(struct app *a)
{
    char most[EDIT_ROOM] = "";
    int count = colon_complete(a, a->line.text, most, sizeof most);

    if (count == 0)
        app_say(a, "nothing begins with %s", a->line.text);
    else if (strlen(most) > a->line.size)
        edit_set(&a->line, most);
}

void app_prompt_key(struct app *a, uint32_t key)
{
    if (a->prompt == PROMPT_QUIT) {
        answer_quit(a, key);
        return;
    }
    struct history *h = &a->history[a->prompt - 1];
    bool filters = a->prompt == PROMPT_FILTER;
    if (key == KEYC_ESC || key == 3 || (key == KEYC_BACKSPACE && !a->line.size)) {
        a->prompt = PROMPT_NONE;
        edit_set(&a->line, "");
    } else if (key == KEYC_ENTER) {
        run_prompt(a);
    } else if (key == KEYC_TAB && a->prompt == PROMPT_COMMAND) {
        complete_prompt(a);
    } else if (key == KEYC_UP || key == KEYC_DOWN) {
        const char *line = history_step(h, key == KEYC_UP ? -1 : 1);
        if (line)
            edit_set(&a->line, line);
    } else {
        edit_key(&a->line, key);
    }
    struct panel *p = app_top(a);
    if (filters && p && p->ops->filter &&
        strcmp(a->line.text, p->filter ? match_pattern(p->filter) : "") != 0)
        app_set_filter(a, p, a->line.text);
}
