/* An asciicast, read again by cJSON and by a terminal of a few sequences: after every event the
 * screen is the grid that was recorded, sign by sign, also after a resize. */
#include "hlo/support/mem.h"
#include "tui/files/theme_file.h"
#include "tui/screen/cast.h"
#include "tui/screen/grid.h"
#include "tui/screen/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* ---- a terminal ---- */

struct terminal {
    uint32_t cells[64][200];
    int width, height, x, y;
};

static void wipe(struct terminal *t)
{
    for (int y = 0; y < 64; y++) {
        for (int x = 0; x < 200; x++)
            t->cells[y][x] = ' ';
    }
}

/* ESC [ numbers letter: moves and wipes; colours are looked over, what is unknown fails. */
static const char *take_escape(struct terminal *t, const char *s)
{
    int numbers[8] = {0}, count = 0;

    assert_int_equal(*s, '[');
    s++;
    bool private = *s == '?';
    s += private;
    while ((*s >= '0' && *s <= '9') || *s == ';' || *s == ':') {
        if (*s == ';' || *s == ':')
            count++;
        else if (count < 8)
            numbers[count] = numbers[count] * 10 + (*s - '0');
        s++;
    }
    if (*s == 'H') {
        t->y = numbers[0] ? numbers[0] - 1 : 0;
        t->x = numbers[1] ? numbers[1] - 1 : 0;
    } else if (*s == 'G') {
        t->x = numbers[0] ? numbers[0] - 1 : 0;
    } else if (*s == 'C') {
        t->x += numbers[0] ? numbers[0] : 1;
    } else if (*s == 'J') {
        wipe(t);
    } else if (*s == 'K') {
        for (int x = t->x; x < t->width; x++)
            t->cells[t->y][x] = ' ';
    } else if (*s != 'm' && !(private && (*s == 'h' || *s == 'l'))) {
        fail_msg("an unknown sequence ends with %c", *s);
    }
    return s + 1;
}

static void feed(struct terminal *t, const char *s)
{
    while (*s) {
        if (*s == '\033') {
            s = take_escape(t, s + 1);
            continue;
        }
        if (*s == '\r' || *s == '\n') {
            t->y += *s == '\n';
            t->x = *s == '\r' ? 0 : t->x;
            s++;
            continue;
        }
        uint32_t ch = utf8_next(&s);
        assert_true(ch >= ' ');
        if (!utf8_columns(ch))
            continue;
        assert_true(t->x < t->width && t->y < t->height);
        t->cells[t->y][t->x++] = ch;
        if (utf8_columns(ch) == 2)
            t->cells[t->y][t->x++] = 0;
    }
}

static void assert_shows(const struct terminal *t, const struct grid *g)
{
    for (int y = 0; y < g->height; y++) {
        for (int x = 0; x < g->width; x++) {
            uint32_t want = g->cells[y * g->width + x].ch;
            if (t->cells[y][x] != want)
                fail_msg("row %d, column %d shows %u, not %u", y, x, t->cells[y][x], want);
        }
    }
}

/* ---- recordings ---- */

/* One line of the file as JSON. */
static cJSON *next_line(const char **at)
{
    const char *end = strchr(*at, '\n');
    char *line;

    assert_non_null(end);
    line = strndup(*at, (size_t)(end - *at));
    cJSON *o = cJSON_ParseWithOpts(line, NULL, true);
    if (!o)
        fail_msg("no JSON: %s", line);
    free(line);
    *at = end + 1;
    return o;
}

static void draw_some(struct grid *g, unsigned *dice)
{
    static const uint32_t signs[] = {'a', '"', '\\', U'█', U'─', U'é', U'⠿', U'世', '~', '/'};

    for (int n = 0; n < 40; n++) {
        struct pane p = pane_whole(g);
        *dice = *dice * 1664525 + 1013904223;
        unsigned r = *dice >> 8;
        pane_put(&p, (int)(r % (unsigned)(g->width - 1)), (int)(r / 256 % (unsigned)g->height),
                 (r / 65536 % ROLE_COUNT) | (r & 1 ? BOLD : 0) | (r & 2 ? BACK(ROLE_SELECT) : 0),
                 signs[r / 1024 % 10]);
    }
    g->cursor_x = (int)(*dice >> 10) % g->width;
    g->cursor_y = *dice & 64 ? -1 : (int)(*dice >> 12) % g->height;
    if (g->cursor_x < 0)
        g->cursor_x = 0;
    if (g->cursor_y < -1)
        g->cursor_y = 0;
}

static void test_every_frame_comes_back(void **state)
{
    struct terminal *t = mem_alloc(sizeof *t);
    struct theme theme;
    struct grid g = {0};
    struct cast c;
    struct str out = {0};
    unsigned dice = 7;
    struct err e;

    (void)state;
    assert_int_equal(theme_load(&theme, "default", &e), 0);
    cast_begin(&c, 80, 24, &theme, 1700000000, "a \"title\"", &out);
    const char *at = out.text;
    cJSON *head = next_line(&at);
    assert_int_equal(cJSON_GetObjectItem(head, "version")->valueint, 2);
    assert_int_equal(cJSON_GetObjectItem(head, "width")->valueint, 80);
    assert_int_equal(cJSON_GetObjectItem(head, "height")->valueint, 24);
    assert_string_equal(cJSON_GetObjectItem(head, "title")->valuestring, "a \"title\"");
    cJSON_Delete(head);
    t->width = 80;
    t->height = 24;
    wipe(t);
    double last = 0;
    grid_resize(&g, 80, 24);
    for (int n = 0; n < 300; n++) {
        size_t before = out.size;
        bool resized = n % 50 == 49;
        if (resized)
            grid_resize(&g, 20 + n % 150, 5 + n % 50);
        if (n % 10 != 3) /* now and then nothing changes: no line */
            draw_some(&g, &dice);
        cast_frame(&c, &g, n == 100 ? 0 : n * 0.25, &out);
        assert_false(out.failed);
        at = out.text + before;
        if (n % 10 == 3 && !resized)
            assert_int_equal(out.size, before);
        while (*at) {
            cJSON *o = next_line(&at);
            double when = cJSON_GetArrayItem(o, 0)->valuedouble;
            const char *kind = cJSON_GetArrayItem(o, 1)->valuestring;
            const char *data = cJSON_GetArrayItem(o, 2)->valuestring;
            assert_int_equal(cJSON_GetArraySize(o), 3);
            assert_true(when >= last);
            last = when;
            if (!strcmp(kind, "r")) {
                assert_int_equal(sscanf(data, "%dx%d", &t->width, &t->height), 2);
                wipe(t);
            } else {
                assert_string_equal(kind, "o");
                feed(t, data);
            }
            cJSON_Delete(o);
        }
        assert_shows(t, &g);
    }
    cast_release(&c);
    grid_release(&g);
    str_release(&out);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_frame_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
