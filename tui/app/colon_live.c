#include "tui/app/colon_live.h"

#include "engine/decide/names.h"
#include "engine/live/command.h"
#include "engine/live/options.h"
#include "engine/live/session.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "tui/app/app_internal.h"
#include "tui/views/host.h"
#include "tui/watch/figures.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

/* A name as typed: blanks at its ends off, "–" as "-". */
static void plain_name(char *out, size_t room, const char *name, size_t size)
{
    size_t used = 0;

    while (size && name[size - 1] == ' ')
        size--;
    for (size_t i = 0; i < size && used + 1 < room; i++) {
        if (!strncmp(name + i, "–", strlen("–"))) {
            out[used++] = '-';
            i += strlen("–") - 1;
        } else {
            out[used++] = name[i];
        }
    }
    out[used] = 0;
}

static int move_by_name(const struct watch *w, const char *name)
{
    char plain[NAME_ROOM];

    for (int n = 0; n < w->move_count; n++) {
        plain_name(plain, sizeof plain, w->move[n].name, strlen(w->move[n].name));
        if (!strcmp(plain, name))
            return n;
    }
    return MOVE_NONE;
}

static bool speaks_of_a_move(int verb)
{
    return verb == COMMAND_PIN || verb == COMMAND_UNPIN || verb == COMMAND_FORBID ||
           verb == COMMAND_BACKTRACK;
}

/* "pin decoder cross 1-5 = 0" -> "pin @3=0"; other lines as they are. */
static void with_number(const struct watch *w, int verb, const char *line, char *out, size_t room)
{
    char name[NAME_ROOM];
    const char *rest = line + strcspn(line, " "), *equals = strrchr(rest, '=');

    snprintf(out, room, "%s", line);
    if (!speaks_of_a_move(verb))
        return;
    rest += strspn(rest, " ");
    size_t size = equals && equals > rest ? (size_t)(equals - rest) : strlen(rest);
    plain_name(name, sizeof name, rest, size);
    int move = move_by_name(w, name);
    if (move == MOVE_NONE)
        return; /* NAME:DIM, or @N */
    int used = snprintf(out, room, "%s @%d", live_command_names[verb], move);
    if (equals)
        snprintf(out + used, room - (size_t)used, "=%s", equals + 1 + strspn(equals + 1, " "));
}

/* The batch of the learner has the name of a figure. */
static bool is_option(const char *name)
{
    struct live_option o;
    size_t n = 0;

    while (live_option_at(n, &o) && strcmp(o.name, name) != 0)
        n++;
    return live_option_at(n, &o);
}

/* "set link bandwidth=25 GB/s", as the options call it, -> "cluster servers.*.link.bandwidth=25
 * GB/s"; "set zero 1" -> "zero 1". False: it names no figure. */
static bool as_figure(const struct problem *p, const char *line, char *out, size_t room)
{
    const char *name = line + strlen("set");
    size_t longest = 0;
    struct figure f;

    if (strncmp(line, "set ", strlen("set ")) != 0)
        return false;
    name += strspn(name, " ");
    for (size_t n = 0; figure_at(p, n, &f); n++) {
        size_t size = strlen(f.name);
        const char *value = name + size;
        if (size <= longest || strncmp(name, f.name, size) != 0 || !*value ||
            !strchr(" =", *value) || is_option(f.name))
            continue;
        longest = size;
        snprintf(out, room, "%s%s", f.command, value + strspn(value, " ="));
    }
    return longest > 0;
}

/* The verb of a line; COMMAND_VERB_COUNT: it has none. */
static int verb_of(const char *line)
{
    size_t size = strcspn(line, " ");
    int verb = 0;

    while (verb < COMMAND_VERB_COUNT && (strlen(live_command_names[verb]) != size ||
                                         memcmp(live_command_names[verb], line, size) != 0))
        verb++;
    return verb;
}

bool colon_live_hint(const char *line, char *out, size_t room)
{
    int verb = verb_of(line);
    struct live_command c;
    struct err e;

    if (verb == COMMAND_VERB_COUNT)
        return false;
    if (live_command_parse(line, &c, &e) || live_command_parse(live_command_names[verb], &c, &e))
        snprintf(out, room, "%s", e.what);
    else
        snprintf(out, room, "%s", live_command_names[verb]);
    return true;
}

bool colon_live(struct app *a, const char *line)
{
    char text[COMMAND_TEXT_ROOM], figure[COMMAND_TEXT_ROOM];
    int verb = verb_of(line);
    struct live_command c;
    struct err e;

    if (verb == COMMAND_VERB_COUNT || verb == COMMAND_QUIT)
        return false;
    if (!a->watch) {
        app_say(a, "no search is open");
        return true;
    }
    if (as_figure(a->watch->problem, line, figure, sizeof figure)) {
        verb = verb_of(figure);
        line = figure;
    }
    with_number(a->watch, verb, line, text, sizeof text);
    if (speaks_of_a_move(verb) && !strpbrk(text, ":@") && strchr(line, ' ')) {
        app_say(a, "%.80s: no linkage group has that name; Tab completes, NAME:DIM is a variable's",
                line);
        return true;
    }
    if (live_command_parse(text, &c, &e))
        app_say_err(a, &e);
    else
        session_send(a->session, &c);
    return true;
}

/* "set reward paper": a line for each value, or one that wants a number. */
static bool option_line(int *i, struct colon_line *line)
{
    struct live_option o;

    for (size_t n = 0; live_option_at(n, &o); n++) {
        const char *value = o.values ? o.values : "";
        do {
            size_t size = strcspn(value, " ");
            if ((*i)-- == 0) {
                *line = (struct colon_line){.words = o.summary, .keys = "", .takes = !o.values};
                snprintf(line->text, sizeof line->text, "set %s %.*s", o.name, (int)size, value);
                return true;
            }
            value += size + (value[size] == ' ');
        } while (*value);
    }
    return false;
}

/* As its command, then, of all figures, as the options call it. */
static bool figure_line(const struct problem *p, int *i, struct colon_line *line)
{
    struct figure f;

    for (int again = 0; again < 2; again++) {
        for (size_t n = 0; figure_at(p, n, &f); n++) {
            if ((again && is_option(f.name)) || (*i)-- != 0)
                continue;
            *line =
                (struct colon_line){.words = f.summary, .keys = "", .takes = true, .again = again};
            if (again)
                snprintf(line->text, sizeof line->text, "set %s ", f.name);
            else
                snprintf(line->text, sizeof line->text, "%s", f.command);
            return true;
        }
    }
    return false;
}

struct plain_line {
    const char *text, *words;
};

static bool plain_line(const struct plain_line *lines, int count, int *i, struct colon_line *line)
{
    if (*i >= count) {
        *i -= count;
        return false;
    }
    *line = (struct colon_line){.words = lines[*i].words, .keys = "", .takes = true};
    snprintf(line->text, sizeof line->text, "%s", lines[*i].text);
    return true;
}

/* "pin decoder self = 1": of every decision, from the one under the cursor on. */
static bool move_line(const struct watch *w, int *i, struct colon_line *line)
{
    static const struct {
        const char *verb, *end, *words;
        bool pins, split;
    } of_move[] = {{"pin", " = 1", "split, and keep it so", true, true},
                   {"pin", " = 0", "whole, and keep it so", true, false},
                   {"backtrack", "", "set back, then fine-tune", false, false}};
    enum { OF_MOVE = sizeof of_move / sizeof *of_move };
    char name[NAME_ROOM];

    if (*i >= w->move_count * OF_MOVE) {
        *i -= w->move_count * OF_MOVE;
        return false;
    }
    int k = *i % OF_MOVE;
    int move = (w->cursor + *i / OF_MOVE) % w->move_count;
    plain_name(name, sizeof name, w->move[move].name, strlen(w->move[move].name));
    *line = (struct colon_line){.words = of_move[k].words,
                                .keys = "",
                                .pins = of_move[k].pins,
                                .split = of_move[k].split,
                                .move = move};
    snprintf(line->text, sizeof line->text, "%s %.60s%s", of_move[k].verb, name, of_move[k].end);
    return true;
}

bool colon_live_line(struct app *a, int *i, struct colon_line *line)
{
    static const struct plain_line often[] = {{"episode ", "so many episodes, then pause"},
                                              {"decide ", "so many decisions, then pause"},
                                              {"pace ", "decisions a second; 0 full speed"}};
    static const struct plain_line seldom[] = {
        {"set epsilon ", "share of random decisions"},
        {"servers ", "use only these of the cluster, such as 0 or 0-1 2x8; 0:4: four devices"},
        {"again ", "OPTION VALUE: as set, but from the start, beside the run before"},
        {"loss ", "the instruction that makes the loss, or #3 for leaf 3 of the result"},
        {"role ", "NAME=variable, input, optimizer state, hyper-parameter or other state"},
        {"batch x2", "twice the batch; batch 64, batch /2, or NAME:DIM, which is it"},
        {"row ", "back to that row of the ledger (V w)"}};

    if (!a->watch)
        return false;
    return plain_line(often, sizeof often / sizeof *often, i, line) ||
           move_line(a->watch, i, line) || option_line(i, line) ||
           plain_line(seldom, sizeof seldom / sizeof *seldom, i, line);
}

bool colon_live_figure(struct app *a, int *i, struct colon_line *line)
{
    return a->watch && figure_line(a->watch->problem, i, line);
}
