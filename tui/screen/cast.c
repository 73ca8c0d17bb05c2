#include "tui/screen/cast.h"

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/paint.h"
#include "tui/screen/theme.h"

#include <stdio.h>
#include <string.h>

static void add_json(struct str *out, const char *text, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        unsigned char c = (unsigned char)text[n];
        if (c == '"' || c == '\\')
            str_format(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            str_format(out, "\\u%04x", c);
        else
            str_add_char(out, (char)c);
    }
}

static void add_event(struct str *out, double at_s, char kind, const char *data, size_t size)
{
    str_format(out, "[%.6f, \"%c\", \"", at_s, kind);
    add_json(out, data, size);
    str_add(out, "\"]\n");
}

void cast_begin(struct cast *c, int width, int height, const struct theme *t, int64_t since_1970,
                const char *title, struct str *out)
{
    *c = (struct cast){.width = width, .height = height};
    paint_init(&c->paint, t, DEPTH_TRUE, false);
    str_format(out, "{\"version\": 2, \"width\": %d, \"height\": %d", width, height);
    if (since_1970 > 0)
        str_format(out, ", \"timestamp\": %lld", (long long)since_1970);
    str_add(out, ", \"title\": \"");
    add_json(out, title, strlen(title));
    str_add(out, "\", \"env\": {\"TERM\": \"xterm-256color\"}}\n");
}

void cast_frame(struct cast *c, const struct grid *g, double at_s, struct str *out)
{
    struct str data = {0};
    char size[32];

    at_s = at_s > c->last_s ? at_s : c->last_s;
    if (g->width != c->width || g->height != c->height) {
        int length = snprintf(size, sizeof size, "%dx%d", g->width, g->height);
        add_event(out, at_s, 'r', size, (size_t)length);
        paint_forget(&c->paint);
        c->width = g->width;
        c->height = g->height;
    }
    paint_frame(&c->paint, g, &data);
    if (data.size && !data.failed) {
        add_event(out, at_s, 'o', data.text, data.size);
        c->last_s = at_s;
    }
    out->failed |= data.failed;
    str_release(&data);
}

void cast_release(struct cast *c)
{
    paint_release(&c->paint);
}
