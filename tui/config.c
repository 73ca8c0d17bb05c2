#include "tui/config.h"

#include "tui/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_mode(struct config *c, int node, struct err *e)
{
    const char *text = doc_scalar(c->doc, node);
    if (!text || (strcmp(text, "vi") != 0 && strcmp(text, "plain") != 0))
        return doc_err(c->doc, node, e, "mode is vi or plain");
    c->mode = !strcmp(text, "plain") ? KEYS_PLAIN : KEYS_VI;
    return 0;
}

static int read_mouse(struct config *c, int node, struct err *e)
{
    const char *text = doc_scalar(c->doc, node);
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        return doc_err(c->doc, node, e, "mouse is true or false");
    c->mouse = !strcmp(text, "true");
    return 0;
}

static int read_theme(struct config *c, int node, struct err *e)
{
    const char *text = doc_scalar(c->doc, node);
    if (!text || strlen(text) >= sizeof c->theme)
        return doc_err(c->doc, node, e, "theme is a name or a path");
    memcpy(c->theme, text, strlen(text) + 1);
    return 0;
}

static int read_keys(struct config *c, int node, struct err *e)
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
        int (*read)(struct config *c, int node, struct err *e);
    } settings[] = {
        {"theme", read_theme}, {"mode", read_mode}, {"mouse", read_mouse}, {"keys", read_keys}};
    int key, value;

    for (int i = 0; doc_pair(c->doc, doc_root(c->doc), i, &key, &value); i++) {
        const char *name = doc_scalar(c->doc, key);
        size_t s = 0;
        while (s < 4 && (!name || strcmp(settings[s].key, name) != 0))
            s++;
        if (s == 4)
            return doc_err(c->doc, key, e,
                           "unknown key \"%.40s\"; there are theme, mode, mouse and keys",
                           name ? name : "?");
        if (settings[s].read(c, value, e))
            return e->code;
    }
    return 0;
}

int config_load(struct config *c, const char *path, struct err *e)
{
    char *text = NULL, dir[sizeof c->path - 16];
    size_t size = 0;

    *c = (struct config){.mode = KEYS_VI, .mouse = true};
    if (path)
        snprintf(c->path, sizeof c->path, "%s", path);
    else if (file_config_dir(dir, sizeof dir))
        snprintf(c->path, sizeof c->path, "%s/config.yaml", dir);
    if (!c->path[0] || (!path && !file_is_there(c->path))) {
        c->path[0] = 0;
        return 0;
    }
    if (file_read(&text, &size, c->path, DOC_MOST, e))
        return e->code;
    if (doc_parse(&c->doc, text, size, e) || read_all(c, e)) {
        err_in_file(e, c->path);
        config_release(c);
    }
    free(text);
    return e->code;
}

void config_release(struct config *c)
{
    doc_free(c->doc);
    c->doc = NULL;
}
