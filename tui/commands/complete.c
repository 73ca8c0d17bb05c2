/* What may stand in place of a word of a command line: the shells ask for it (automap manual
 * complete), so that completions are never behind the program. */
#include "hlo/support/err.h"
#include "hlo/support/text.h"
#include "tui/commands/commands.h"
#include "tui/options/option.h"

#include "rl/settings.h"
#include "tui/files/examples.h"
#include "tui/files/sessions.h"
#include "tui/files/theme_file.h"
#include "tui/files/tour.h"
#include "tui/files/user_files.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* What was typed of the word, and what stands before a value in it: "--algo=". */
struct asked {
    const char *typed, *before;
    int before_size;
};

static void offer_value(const struct asked *a, const char *value, const char *words)
{
    if (strncmp(value, a->typed, strlen(a->typed)) != 0)
        return;
    printf("%.*s%s", a->before_size, a->before, value);
    if (words && *words)
        printf("\t%.*s", (int)strcspn(words, ".;:\n"), words);
    putchar('\n');
}

/* The name of a file. One that a terminal would obey, or a command would take for an option, is
 * left out. */
static void offer_name(const struct asked *a, const char *name, const char *words)
{
    if (text_is_clean(name, strlen(name)) && (*name != '-' || a->before_size))
        offer_value(a, name, words);
}

/* ---- values ---- */

static void offer_models(const struct asked *a, const char *data)
{
    struct example_model list[EXAMPLES_MOST];
    struct err e;
    int count = 0;

    if (data && examples_models(list, &count, data, &e))
        count = 0;
    for (int n = 0; n < count; n++)
        offer_name(a, list[n].name, list[n].about);
}

static void offer_clusters(const struct asked *a, const char *data)
{
    struct example_cluster list[EXAMPLES_MOST];
    int count = data ? examples_clusters(list, data) : 0;

    for (int n = 0; n < count; n++)
        offer_name(a, list[n].name, list[n].label);
}

static void offer_tours(const struct asked *a, const char *data)
{
    struct tour_name names[TOURS_MOST];
    int count = tour_names(names, data);

    for (int n = 0; n < count; n++)
        offer_name(a, names[n].name, NULL);
}

static void offer_journals(const struct asked *a, const char *data)
{
    struct session_name names[SESSIONS_MOST];
    char dir[PATH_MAX];
    int count = file_state_dir(dir, sizeof dir, false) ? session_names(names, dir) : 0;

    (void)data;
    offer_value(a, "last", "the newest");
    for (int n = 0; n < count; n++)
        offer_name(a, names[n].text, NULL);
}

static void offer_themes(const struct asked *a, const char *data)
{
    (void)data;
    for (size_t n = 0; theme_builtin(n); n++)
        offer_value(a, theme_builtin(n), NULL);
}

static void offer_settings(const struct asked *a, const char *data)
{
    char name[64];

    (void)data;
    for (const struct rl_setting *s = rl_setting_table; s->name; s++) {
        snprintf(name, sizeof name, "%s=", s->name);
        offer_value(a, name, s->summary);
    }
}

static const struct {
    void (*offer)(const struct asked *a, const char *data); /* NULL: none by name */
    bool files;
} sources[] = {
    [VALUES_NONE] = {NULL, false},
    [VALUES_FILE] = {NULL, true},
    [VALUES_MODEL] = {offer_models, true},
    [VALUES_CLUSTER] = {offer_clusters, true},
    [VALUES_JOURNAL] = {offer_journals, true},
    [VALUES_TOUR] = {offer_tours, false},
    [VALUES_THEME] = {offer_themes, true},
    [VALUES_SETTING] = {offer_settings, false},
};

static void offer_values(const struct asked *a, const struct option *o)
{
    char data[PATH_MAX];
    bool there = file_data_dir(data, sizeof data);

    for (size_t n = 0; n < o->name_count; n++)
        offer_value(a, o->names[n], NULL);
    for (size_t n = 0; o->value_at && o->value_at(n); n++)
        offer_value(a, o->value_at(n), NULL);
    if (sources[o->values].offer)
        sources[o->values].offer(a, there ? data : NULL);
    if (sources[o->values].files || o->kind == OPTION_FILE)
        puts("+files");
}

/* ---- options and arguments ---- */

static bool is_argument(const struct option *o)
{
    return isupper((unsigned char)o->name[0]);
}

/* The next row from *i on of the option that `word` names, up to a '='. */
static bool find_row(const struct command *c, const char *word, size_t *i, struct option *o)
{
    char name[48];
    size_t size = strcspn(word, "=");

    while (option_at(c->options, (*i)++, o)) {
        option_spelling(o, name);
        if (!is_argument(o) && strlen(name) == size && !strncmp(name, word, size))
            return true;
    }
    return false;
}

static bool takes_value(const struct command *c, const char *word)
{
    struct option o;
    size_t i = 0;

    return word[0] == '-' && !strchr(word, '=') && find_row(c, word, &i, &o) && o.value;
}

static void offer_values_of(const struct command *c, const char *option, const struct asked *a)
{
    struct option o;

    for (size_t i = 0; find_row(c, option, &i, &o);)
        offer_values(a, &o);
}

static void offer_options(const struct command *c, const struct asked *a)
{
    char name[48];
    struct option o;

    for (size_t i = 0; option_at(c->options, i, &o); i++) {
        size_t first = 0;
        option_spelling(&o, name);
        if (!is_argument(&o) && find_row(c, name, &first, &(struct option){0}) && first == i + 1)
            offer_value(a, name, o.help);
    }
    offer_value(a, "--help", "what the command takes");
}

/* Values of the argument that comes behind `count` others; a list takes all that are left. */
static void offer_argument(const struct command *c, int count, const struct asked *a)
{
    struct option o;

    for (size_t i = 0; option_at(c->options, i, &o); i++) {
        bool has_values = o.values || o.name_count || o.value_at;
        if (is_argument(&o) && has_values && (o.kind == OPTION_LIST || count-- == 0)) {
            offer_values(a, &o);
            return;
        }
    }
}

static void offer_commands(const struct command *const *list, const struct asked *a)
{
    for (; *list; list++)
        offer_value(a, command_word(*list), (*list)->summary);
}

static void complete_arguments(const struct command *c, int count, char **words)
{
    char *last = words[count - 1], *equals = last[0] == '-' ? strchr(last, '=') : NULL;
    struct asked a = {last, "", 0};
    int arguments = 0;

    if (equals) {
        a = (struct asked){equals + 1, last, (int)(equals + 1 - last)};
        offer_values_of(c, last, &a);
        return;
    }
    if (count > 1 && takes_value(c, words[count - 2])) {
        offer_values_of(c, words[count - 2], &a);
        return;
    }
    if (last[0] == '-') {
        offer_options(c, &a);
        return;
    }
    for (int n = 0; n + 1 < count; n++) {
        arguments += words[n][0] != '-' || !words[n][1];
        n += takes_value(c, words[n]);
    }
    offer_argument(c, arguments, &a);
}

/* Bash takes "--algo=dqn" apart at the sign; the words without it. */
static int join_values(int count, char **words)
{
    static char nothing[] = "";
    int kept = 0;

    for (int n = 0; n < count; n++) {
        if (strcmp(words[n], "=") != 0)
            words[kept++] = words[n];
        else if (n + 1 == count)
            words[kept++] = nothing;
    }
    return kept;
}

void command_complete(int count, char **words)
{
    const struct command *c = &command_explore;

    count = join_values(count, words);
    if (count < 1)
        return;
    const struct command *named = count > 1 ? command_find(commands, words[0]) : NULL;
    if (count == 1)
        offer_commands(commands, &(struct asked){words[0], "", 0});
    for (; named; named = c->parts && count > 1 ? command_find(c->parts, words[0]) : NULL) {
        c = named;
        count--;
        words++;
    }
    if (c->parts)
        offer_commands(c->parts, &(struct asked){words[count - 1], "", 0});
    else
        complete_arguments(c, count, words);
}
