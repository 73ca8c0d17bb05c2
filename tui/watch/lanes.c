#include "tui/watch/lanes.h"

#include "hlo/module/hlo.h"
#include "tui/watch/tree.h"

#include <string.h>

struct making {
    const struct tree *t;
    const hlo_id *rows;
    int count, most;
    struct lanes *out;
    int until[LANES_MOST]; /* last row its value is used in; -1: free */
    hlo_id carries[LANES_MOST];
};

/* The row of an instruction; -1: not in the window. */
static int row_of(const struct making *k, hlo_id id)
{
    int low = 0, high = k->count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (k->rows[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->count && k->rows[low] == id ? low : -1;
}

/* Rows that use a value, plain operations passed through, and how many more uses there are. */
struct uses {
    int rows[LANES_USERS], count, lost;
};

static void add_use(struct uses *u, int row, int from)
{
    if (row - from > LANES_REACH) {
        u->lost++;
        return;
    }
    for (int i = 0; i < u->count; i++) {
        if (u->rows[i] == row)
            return;
    }
    if (u->count == LANES_USERS)
        u->lost++;
    else
        u->rows[u->count++] = row;
}

static void find_uses(const struct making *k, hlo_id id, struct uses *u)
{
    enum { VISITS = 64 };
    const struct hlo_module *m = k->t->problem->m;
    hlo_id queue[VISITS], last = k->rows[k->count - 1];
    int head = 0, tail = 0;

    *u = (struct uses){.count = 0};
    queue[tail++] = id;
    int own = row_of(k, id);
    while (head < tail) {
        hlo_id at = queue[head++];
        for (uint32_t n = 0; n < hlo_at(m, at)->user_count; n++) {
            hlo_id user = hlo_user(m, at, n);
            int row = row_of(k, user);
            bool seen = false;
            for (int i = 0; i < tail && row < 0; i++)
                seen |= queue[i] == user;
            if (row >= 0)
                add_use(u, row, own);
            else if (user > last)
                u->lost++;
            else if (!seen && tail < VISITS)
                queue[tail++] = user;
            if (n >= 4 * LANES_USERS) {
                u->lost += (int)(hlo_at(m, at)->user_count - n - 1);
                break;
            }
        }
    }
}

static int free_lane(const struct making *k)
{
    for (int lane = 0; lane < k->most - 1; lane++) { /* the last is for rows without one */
        if (k->until[lane] < 0)
            return lane;
    }
    return -1;
}

/* A line across row `row` between two lanes. */
static void join_rows(struct making *k, int row, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;

    for (int lane = low; lane <= high; lane++) {
        k->out->cell[row][lane] |=
            (uint8_t)((lane > low ? LANE_LEFT : 0) | (lane < high ? LANE_RIGHT : 0));
    }
}

/* What passes or ends in this row. */
static int take_up(struct making *k, int row, const bool *used)
{
    int own = -1;

    for (int lane = 0; lane < k->most; lane++) {
        if (k->until[lane] < 0)
            continue;
        k->out->owner[row][lane] = k->carries[lane];
        k->out->cell[row][lane] |= LANE_UP;
        if (k->until[lane] > row)
            k->out->cell[row][lane] |= LANE_DOWN;
        else if (used[lane] && own < 0)
            own = lane;
    }
    return own;
}

static void make_row(struct making *k, int row, uint64_t (*reads)[LANES_ROWS / 64])
{
    struct lanes *out = k->out;
    struct uses u;
    bool used[LANES_MOST] = {false};

    for (int lane = 0; lane < k->most; lane++)
        used[lane] = k->until[lane] >= 0 && (reads[lane][row / 64] >> row % 64 & 1);
    int own = take_up(k, row, used);
    for (int lane = 0; lane < k->most; lane++) {
        if (k->until[lane] == row)
            k->until[lane] = -1;
    }
    find_uses(k, k->rows[row], &u);
    int lane = own >= 0 && k->until[own] < 0 ? own : free_lane(k),
        at = lane >= 0 ? lane : k->most - 1;
    for (int n = 0; n < k->most; n++) {
        if (used[n] && n != at)
            join_rows(k, row, n, at);
    }
    out->cell[row][at] |= LANE_NODE;
    out->width = at + 1 > out->width ? at + 1 : out->width;
    out->lost[row] = (uint16_t)u.lost;
    if (!u.count)
        return;
    if (lane < 0) {
        out->lost[row] = (uint16_t)(u.count + u.lost);
        return;
    }
    int last = 0;
    memset(reads[lane], 0, sizeof reads[lane]);
    for (int i = 0; i < u.count; i++) {
        last = u.rows[i] > last ? u.rows[i] : last;
        reads[lane][u.rows[i] / 64] |= (uint64_t)1 << u.rows[i] % 64;
    }
    k->until[lane] = last;
    k->carries[lane] = k->rows[row];
    out->cell[row][lane] |= LANE_DOWN;
    out->owner[row][lane] = k->rows[row];
}

void lanes_make(const struct tree *t, const hlo_id *rows, int count, int most, struct lanes *out)
{
    struct making k = {.t = t, .rows = rows, .out = out};
    uint64_t reads[LANES_MOST][LANES_ROWS / 64] = {{0}};

    k.count = count < LANES_ROWS ? count : LANES_ROWS;
    k.most = most < LANES_MOST ? most : LANES_MOST;
    memset(out, 0, sizeof *out);
    memset(out->owner, 0xff, sizeof out->owner);
    memset(k.until, 0xff, sizeof k.until);
    out->row_count = k.count;
    out->width = 1;
    for (int row = 0; row < k.count; row++)
        make_row(&k, row, reads);
}
