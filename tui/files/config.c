#include "tui/files/config.h"

#include "hlo/support/err.h"
#include "tui/files/shell_line.h"
#include "tui/files/user_files.h"
#include "tui/screen/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_mode(struct config *c, const struct yaml *node, struct err *e)
{
    const char *text = node->text;
    if (!text || (strcmp(text, "vi") != 0 && strcmp(text, "plain") != 0))
        return yaml_wrong(&c->doc, node->mark, e, "mode is vi or plain");
    c->mode = !strcmp(text, "plain") ? KEYS_PLAIN : KEYS_VI;
    return 0;
}

static int read_mouse(struct config *c, const struct yaml *node, struct err *e)
{
    const char *text = node->text;
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        return yaml_wrong(&c->doc, node->mark, e, "mouse is true or false");
    c->mouse = !strcmp(text, "true");
    return 0;
}

static int read_notify(struct config *c, const struct yaml *node, struct err *e)
{
    static const char *const names[] = {
        [NOTIFY_OFF] = "off", [NOTIFY_OSC9] = "osc9", [NOTIFY_OSC777] = "osc777"};

    for (int k = NOTIFY_OFF; node->text && k <= NOTIFY_OSC777; k++) {
        if (strcmp(node->text, names[k]) != 0)
            continue;
        c->notify = (enum notify_how)k;
        return 0;
    }
    return yaml_wrong(&c->doc, node->mark, e, "notify is off, osc9 or osc777");
}

static int read_theme(struct config *c, const struct yaml *node, struct err *e)
{
    const char *text = node->text;
    if (!text || strlen(text) >= sizeof c->theme)
        return yaml_wrong(&c->doc, node->mark, e, "theme is a name or a path");
    memcpy(c->theme, text, strlen(text) + 1);
    return 0;
}

static int read_keys(struct config *c, const struct yaml *node, struct err *e)
{
    (void)c;
    (void)node;
    (void)e; /* applied by keymap_configure, which knows the actions */
    return 0;
}

static int read_text(const struct config *c, const struct yaml *node, const char **at,
                     struct err *e)
{
    if (!node->text || !node->text[0])
        return yaml_wrong(&c->doc, node->mark, e, "%s of a command is a text", node->key);
    *at = node->text;
    return 0;
}

static int read_how(const struct config *c, const struct yaml *node, bool *suspended, struct err *e)
{
    const char *text = node->text ? node->text : "";

    *suspended = !strcmp(text, "suspended");
    return *suspended || !strcmp(text, "inline")
               ? 0
               : yaml_wrong(&c->doc, node->mark, e, "how is inline or suspended");
}

/* Names are one word, keys are not those of another. */
static int check_command(const struct config *c, const struct yaml *node,
                         const struct user_command *u, struct err *e)
{
    struct key_sequence keys;

    if (!u->name || !u->key || !u->run)
        return yaml_wrong(&c->doc, node->mark, e, "a command has name, key and run");
    if (strspn(u->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(u->name))
        return yaml_wrong(&c->doc, node->mark, e, "the name \"%.40s\": a-z, 0-9 and - only",
                          u->name);
    if (!key_sequence_parse(&keys, u->key))
        return yaml_wrong(&c->doc, node->mark, e, "no key \"%.40s\"", u->key);
    for (int n = 0; n < c->command_count; n++) {
        if (!strcmp(c->commands[n].name, u->name) || !strcmp(c->commands[n].key, u->key))
            return yaml_wrong(&c->doc, node->mark, e,
                              "\"%.40s\" and \"%.40s\" have one name or key", c->commands[n].name,
                              u->name);
    }
    const char *trouble = shell_line_trouble(u->run);
    return trouble ? yaml_wrong(&c->doc, node->mark, e, "run of %.40s %s", u->name, trouble) : 0;
}

static int read_command(struct config *c, const struct yaml *node, struct err *e)
{
    struct user_command u = {.about = ""};

    if (node->kind != YAML_MAP)
        return yaml_wrong(&c->doc, node->mark, e, "a command is a map: name, key, run, how, about");
    for (const struct yaml *v = node->first; v; v = v->next) {
        const char **text = !strcmp(v->key, "name")    ? &u.name
                            : !strcmp(v->key, "key")   ? &u.key
                            : !strcmp(v->key, "run")   ? &u.run
                            : !strcmp(v->key, "about") ? &u.about
                                                       : NULL;
        if (!text && strcmp(v->key, "how") != 0)
            return yaml_wrong(&c->doc, v->key_mark, e,
                              "unknown key \"%.40s\"; there are name, key, run, how and about",
                              v->key);
        if (text ? read_text(c, v, text, e) : read_how(c, v, &u.suspended, e))
            return e->code;
    }
    if (check_command(c, node, &u, e))
        return e->code;
    if (!u.about[0])
        u.about = u.name;
    c->commands[c->command_count++] = u;
    return 0;
}

static int read_commands(struct config *c, const struct yaml *node, struct err *e)
{
    if (node->kind != YAML_LIST || node->count > USER_COMMANDS_MOST)
        return yaml_wrong(&c->doc, node->mark, e, "commands is a list of at most %d",
                          USER_COMMANDS_MOST);
    for (const struct yaml *v = node->first; v; v = v->next) {
        if (read_command(c, v, e))
            return e->code;
    }
    return 0;
}

static int read_all(struct config *c, struct err *e)
{
    static const struct {
        const char *key;
        int (*read)(struct config *c, const struct yaml *node, struct err *e);
    } settings[] = {{"theme", read_theme}, {"mode", read_mode},     {"mouse", read_mouse},
                    {"keys", read_keys},   {"notify", read_notify}, {"commands", read_commands}};
    enum { COUNT = sizeof settings / sizeof *settings };

    if (c->doc.root && c->doc.root->kind != YAML_MAP)
        return yaml_wrong(&c->doc, c->doc.root->mark, e,
                          "settings are a map: theme, mode, mouse, keys, notify, commands");
    for (const struct yaml *v = c->doc.root ? c->doc.root->first : NULL; v; v = v->next) {
        size_t s = 0;
        while (s < COUNT && strcmp(settings[s].key, v->key) != 0)
            s++;
        if (s == COUNT)
            return yaml_wrong(
                &c->doc, v->key_mark, e,
                "unknown key \"%.40s\"; there are theme, mode, mouse, keys, notify and commands",
                v->key);
        if (settings[s].read(c, v, e))
            return e->code;
    }
    return 0;
}

int config_load(struct config *c, const char *path, struct err *e)
{
    char dir[sizeof c->path - 16];
    size_t size = 0;

    *c = (struct config){.mode = KEYS_VI, .mouse = true};
    if (path)
        snprintf(c->path, sizeof c->path, "%s", path);
    else if (file_config_dir(dir, sizeof dir))
        snprintf(c->path, sizeof c->path, "%s/config.yaml", dir);
    if (!path && (!c->path[0] || !file_is_there(c->path))) {
        c->path[0] = 0;
        return 0;
    }
    if (file_read(&c->text, &size, c->path, SETTINGS_MOST, e))
        return e->code;
    bool blank = strspn(c->text, " \t\r\n") == size;
    if ((!blank && yaml_read(&c->doc, c->text, size, e)) || read_all(c, e)) {
        err_in_file(e, c->path);
        config_release(c);
        return e->code;
    }
    return 0;
}

void config_release(struct config *c)
{
    if (c->doc.root)
        yaml_release(&c->doc);
    free(c->text);
    c->doc = (struct yaml_doc){0};
    c->text = NULL;
}
