/* Every window from 1x1 to 250x80 gets a layout in which nothing overlaps and nothing is too small;
 * three sizes are as drawn. */
#include "tui/screen/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

enum { W = 260, H = 90 };

struct board {
    unsigned char owner[H][W];
    int width, height;
};

static void claim(struct board *b, struct rect r, unsigned char owner, const char *what)
{
    if (!r.height)
        return;
    if (r.x < 0 || r.y < 0 || r.width < 1 || r.x + r.width > b->width || r.y + r.height > b->height)
        fail_msg("%dx%d: %s lies outside: %d,%d %dx%d", b->width, b->height, what, r.x, r.y,
                 r.width, r.height);
    for (int y = r.y; y < r.y + r.height; y++) {
        for (int x = r.x; x < r.x + r.width; x++) {
            if (b->owner[y][x])
                fail_msg("%dx%d: %s overlaps %d at %d,%d", b->width, b->height, what,
                         b->owner[y][x], x, y);
            b->owner[y][x] = owner;
        }
    }
}

static void check(const struct layout_wish *wish)
{
    static struct board b;
    struct layout l;
    memset(&b, 0, sizeof b);
    b.width = wish->width;
    b.height = wish->height;
    layout_plan(&l, wish);
    claim(&b, l.title, 101, "title");
    claim(&b, l.headline, 102, "headline");
    claim(&b, l.strip, 103, "strip");
    claim(&b, l.tabs, 104, "tabs");
    claim(&b, l.hints, 105, "hints");
    claim(&b, l.message, 106, "message");
    assert_int_equal(l.message.height, 1);
    for (int i = 0; i < l.panel_count; i++) {
        struct rect r = l.panels[i].area;
        char what[32];
        snprintf(what, sizeof what, "panel %d", (int)l.panels[i].id);
        if (r.width < 20 || r.height < 4)
            fail_msg("%dx%d: %s is %dx%d", b.width, b.height, what, r.width, r.height);
        claim(&b, r, (unsigned char)(1 + l.panels[i].id), what);
        assert_true(wish->with >> l.panels[i].id & 1);
    }
    for (int i = 0; i < l.rule_count; i++)
        claim(&b, (struct rect){l.rules[i].x, l.rules[i].y, 1, l.rules[i].height}, 107, "rule");
    if (wish->width >= 40 && wish->height >= 10) {
        assert_true(l.headline.height == 1);
        assert_non_null(layout_panel(&l, wish->focus));
    } else {
        assert_int_equal(l.kind, LAYOUT_LINE);
    }
    assert_true(l.body.width >= 1 && l.body.height >= 1);
}

static void test_every_size(void **state)
{
    (void)state;
    const unsigned all = (1u << PANEL_COUNT) - 1;
    for (int height = 1; height <= 80; height++) {
        for (int width = 1; width <= 250; width++) {
            for (int focus = 0; focus < PANEL_COUNT; focus++)
                check(&(struct layout_wish){
                    .width = width, .height = height, .with = all, .focus = (enum panel_id)focus});
            check(&(struct layout_wish){
                .width = width, .height = height, .with = all, .focus = PANEL_LOG, .zoom = true});
            for (int split = -300; split <= 300; split += 75)
                check(&(struct layout_wish){.width = width,
                                            .height = height,
                                            .with = all,
                                            .focus = PANEL_GRAPH,
                                            .split = split});
        }
    }
}

static void test_panels_that_are_not_there(void **state)
{
    (void)state;
    for (unsigned with = 0; with < 1u << PANEL_COUNT; with += 3) {
        for (int width = 40; width <= 220; width += 9) {
            struct layout_wish wish = {
                .width = width, .height = 20 + width / 5, .with = with | 2, .focus = PANEL_GRAPH};
            wish.rows[PANEL_GROUPS] = (int)(with % 40);
            check(&wish);
        }
    }
}

static void check_panel(const struct layout *l, enum panel_id id, struct rect r)
{
    const struct rect *got = layout_panel(l, id);
    assert_non_null(got);
    if (memcmp(got, &r, sizeof r))
        fail_msg("%dx%d: panel %d at %d,%d %dx%d", l->width, l->height, (int)id, got->x, got->y,
                 got->width, got->height);
}

static struct layout plan(int width, int height)
{
    struct layout l;
    struct layout_wish wish = {
        .width = width, .height = height, .with = (1u << PANEL_COUNT) - 1, .focus = PANEL_GRAPH};
    wish.rows[PANEL_GROUPS] = 11;
    layout_plan(&l, &wish);
    return l;
}

/* The drawn screens: 80x24, 120x40 and 200x60. */
static void test_as_drawn(void **state)
{
    (void)state;
    struct layout l = plan(80, 24);
    check_panel(&l, PANEL_GRAPH, (struct rect){1, 2, 42, 11});
    check_panel(&l, PANEL_GROUPS, (struct rect){46, 2, 33, 11});
    check_panel(&l, PANEL_REWARD, (struct rect){1, 13, 42, 6});
    check_panel(&l, PANEL_DECISION, (struct rect){46, 13, 33, 6});
    assert_int_equal(l.strip.y, 20);
    assert_int_equal(l.strip.height, 2);
    assert_int_equal(l.rules[0].x, 44);
    assert_int_equal(l.panel_count, 4);

    l = plan(120, 40);
    check_panel(&l, PANEL_GRAPH, (struct rect){1, 3, 55, 22});
    check_panel(&l, PANEL_GROUPS, (struct rect){59, 3, 60, 11});
    check_panel(&l, PANEL_DECISION, (struct rect){59, 15, 60, 10});
    check_panel(&l, PANEL_LOSS, (struct rect){59, 26, 28, 8});
    check_panel(&l, PANEL_LOG, (struct rect){90, 26, 29, 8});
    assert_int_equal(l.strip.y, 35);

    l = plan(200, 60);
    check_panel(&l, PANEL_GRAPH, (struct rect){1, 3, 60, 34});
    check_panel(&l, PANEL_GROUPS, (struct rect){64, 3, 66, 11});
    check_panel(&l, PANEL_DECISION, (struct rect){64, 15, 66, 8});
    check_panel(&l, PANEL_WHY, (struct rect){64, 24, 66, 13});
    check_panel(&l, PANEL_FOCUS, (struct rect){133, 3, 66, 20});
    check_panel(&l, PANEL_COST, (struct rect){133, 24, 66, 13});
    check_panel(&l, PANEL_REWARD, (struct rect){1, 38, 60, 14});
    check_panel(&l, PANEL_MEMORY, (struct rect){98, 38, 32, 14});
    check_panel(&l, PANEL_LOG, (struct rect){133, 38, 66, 14});
    assert_int_equal(l.strip.y, 53);
    assert_int_equal(l.strip.height, 4);

    l = plan(60, 15);
    assert_int_equal(l.kind, LAYOUT_ONE);
    check_panel(&l, PANEL_GRAPH, (struct rect){1, 2, 58, 10});
    assert_int_equal(l.strip.y, 12);
    assert_int_equal(l.tabs.y, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_panels_that_are_not_there),
        cmocka_unit_test(test_as_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
