#include "tui/files/config.h"

#include "hlo/support/err.h"
#include "tui/files/user_files.h"

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

static int read_all(struct config *c, struct err *e)
{
    static const struct {
        const char *key;
        int (*read)(struct config *c, const struct yaml *node, struct err *e);
    } settings[] = {{"theme", read_theme},
                    {"mode", read_mode},
                    {"mouse", read_mouse},
                    {"keys", read_keys},
                    {"notify", read_notify}};
    enum { COUNT = sizeof settings / sizeof *settings };

    if (c->doc.root && c->doc.root->kind != YAML_MAP)
        return yaml_wrong(&c->doc, c->doc.root->mark, e,
                          "settings are a map: theme, mode, mouse, keys, notify");
    for (const struct yaml *v = c->doc.root ? c->doc.root->first : NULL; v; v = v->next) {
        size_t s = 0;
        while (s < COUNT && strcmp(settings[s].key, v->key) != 0)
            s++;
        if (s == COUNT)
            return yaml_wrong(
                &c->doc, v->key_mark, e,
                "unknown key \"%.40s\"; there are theme, mode, mouse, keys and notify", v->key);
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
