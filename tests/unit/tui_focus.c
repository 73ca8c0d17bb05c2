/* What stands around an instruction, drawn in layers and in lanes: for every instruction of a real
 * module the drawing keeps to its rules. */
#include "hlo/load.h"
#include "tui/watch/lanes.h"
#include "tui/watch/layered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define MODELS AUTOMAP_SOURCE_DIR "/examples/models/"

static struct problem problem;
static struct tree *tree;

static int load(void **state)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct hlo_module *m;
    struct err e;

    (void)state;
    cluster_default(cluster);
    if (hlo_load(MODELS "decoder-scan.meta.hlo.txt.gz", NULL, &m, &e) ||
        problem_new(m, NULL, cluster, &o, &problem, &e) || tree_new(&problem, &tree, &e)) {
        err_print(&e, stderr);
        return 1;
    }
    free(cluster);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    tree_free(tree);
    problem_release(&problem);
    return 0;
}

static bool is_operand(hlo_id id, hlo_id user)
{
    hlo_id ids[64];
    uint32_t count = around_operands(tree, user, true, 0, ids, 64);

    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (ids[i] == id)
            return true;
    }
    count = around_users(tree, id, true, 0, ids, 64); /* a root is used by what calls it */
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (ids[i] == user)
            return true;
    }
    return count > 64;
}

/* Every edge is one of the module, and leads down. */
static void test_around(void **state)
{
    static struct around a;

    (void)state;
    for (hlo_id id = 0; id < problem.m->count; id += 3) {
        for (int radius = 1; radius <= AROUND_RADIUS; radius++) {
            around_find(tree, id, radius, radius == 2, 0, &a);
            assert_true(a.node_count >= 1 && a.node_count <= AROUND_NODES && a.nodes[0].id == id);
            assert_int_equal(a.nodes[0].level, 0);
            for (int i = 0; i < a.edge_count; i++) {
                const struct around_node *from = &a.nodes[a.edges[i].from],
                                         *to = &a.nodes[a.edges[i].to];
                assert_true(from->level < to->level);
                if (!from->more && !to->more)
                    assert_true(is_operand(from->far, to->id) || is_operand(from->id, to->far) ||
                                is_operand(from->id, to->id) || is_operand(from->far, to->far));
            }
        }
    }
}

/* The pages of a hub are its users, each once. */
static void test_hub(void **state)
{
    hlo_id page[4], all[512];

    (void)state;
    for (hlo_id id = 0; id < problem.m->count; id++) {
        uint32_t count = around_users(tree, id, true, 0, all, 512);
        for (uint32_t skip = 0; skip < count && count <= 512; skip += 4) {
            assert_int_equal(around_users(tree, id, true, skip, page, 4), count);
            for (uint32_t i = 0; i < 4 && skip + i < count; i++)
                assert_int_equal(page[i], all[skip + i]);
        }
    }
}

static void put_nodes(struct layered *l, const struct around *a)
{
    memset(l, 0, sizeof *l);
    for (int n = 0; n < a->node_count; n++)
        l->nodes[l->node_count++] = (struct layered_node){
            .level = a->nodes[n].level, .width = 3 + n % 5, .height = n ? 1 : 4};
    for (int i = 0; i < a->edge_count; i++)
        l->edges[l->edge_count++] = (struct layered_edge){a->edges[i].from, a->edges[i].to};
}

static bool holds_line(const struct grid *g, int x, int y)
{
    uint32_t c = g->cells[(size_t)y * (size_t)g->width + (size_t)x].ch;
    return c >= 0x2500 && c < 0x2580;
}

/* Nodes of one level do not overlap, and both ends of every edge in sight touch a line. */
static void test_layered(void **state)
{
    enum { WIDTH = 900, HEIGHT = 60 };
    static struct around a;
    static struct layered l;
    struct grid g = {0};

    (void)state;
    grid_resize(&g, WIDTH, HEIGHT);
    struct pane pane = pane_whole(&g);
    for (hlo_id id = 0; id < problem.m->count; id += 7) {
        around_find(tree, id, 3, true, 0, &a);
        put_nodes(&l, &a);
        layered_place(&l, 0, WIDTH, id % 2 ? HEIGHT : 9);
        grid_blank(&g);
        layered_draw_edges(&l, &pane, 0);
        assert_true(l.height <= (id % 2 ? HEIGHT : 9));
        assert_true(l.nodes[0].y >= 0);
        for (int n = 0; n < l.node_count; n++) {
            for (int k = 0; k < n; k++) {
                const struct layered_node *x = &l.nodes[n], *y = &l.nodes[k];
                assert_true(x->level != y->level || x->x + x->width <= y->x ||
                            y->x + y->width <= x->x);
            }
        }
        for (int i = 0; i < l.edge_count; i++) {
            const struct layered_node *from = &l.nodes[l.edges[i].from],
                                      *to = &l.nodes[l.edges[i].to];
            assert_int_equal(from->level + 1, to->level);
            if (from->y < 0 || to->y < 0)
                continue;
            assert_true(holds_line(&g, from->port, from->y + from->height));
            assert_true(holds_line(&g, to->port, to->y - 1));
        }
    }
    grid_release(&g);
}

/* A lane that leaves a row downwards arrives in the row below. */
static void test_lanes(void **state)
{
    static struct lanes s;
    hlo_id rows[LANES_ROWS];
    int count = 0;

    (void)state;
    for (hlo_id id = 0; id < problem.m->count; id++) {
        if (hlo_at(problem.m, id)->computation == problem.m->entry)
            rows[count++ % LANES_ROWS] = id;
        if (count == 0 || count % LANES_ROWS)
            continue;
        for (int most = 2; most <= LANES_MOST; most += 11) {
            int nodes = 0;
            lanes_make(tree, rows, LANES_ROWS, most, &s);
            assert_true(s.width <= most);
            for (int row = 0; row < LANES_ROWS; row++) {
                for (int lane = 0; lane < most; lane++) {
                    nodes += (s.cell[row][lane] & LANE_NODE) != 0;
                    bool down = s.cell[row][lane] & LANE_DOWN;
                    if (row + 1 < LANES_ROWS)
                        assert_int_equal(down, (s.cell[row + 1][lane] & LANE_UP) != 0);
                    else
                        assert_false(down);
                }
            }
            assert_int_equal(nodes, LANES_ROWS);
        }
    }
    assert_true(count > LANES_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_layered),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
