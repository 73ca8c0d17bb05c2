/* The games of the classroom: as pictures, from what the learner observes of them, and what is
 * earned in them. */
#include "tui/views/class_draw.h"

#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "rl/games.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/panel.h"
#include "tui/watch/game_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- dots: 2 x 4 in a cell ---- */

struct dots {
    struct pane cells;
    uint8_t *bits; /* [height x width] of the cells */
};

static struct dots dots_new(const struct pane *p, int y, int height)
{
    struct dots d = {.cells = pane_part(p, 0, y, p->width, height)};

    d.bits = mem_alloc((size_t)(d.cells.width + 1) * (size_t)(d.cells.height + 1));
    return d;
}

static void dot(struct dots *d, int x, int y)
{
    static const uint8_t bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};

    if (x < 0 || y < 0 || x >= 2 * d->cells.width || y >= 4 * d->cells.height)
        return;
    d->bits[(size_t)(y / 4) * (size_t)d->cells.width + (size_t)(x / 2)] |= bit[y % 4][x % 2];
}

static void line(struct dots *d, double x0, double y0, double x1, double y1)
{
    int steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0))) + 1;

    for (int n = 0; n <= steps; n++)
        dot(d, (int)lround(x0 + (x1 - x0) * n / steps), (int)lround(y0 + (y1 - y0) * n / steps));
}

/* Shows and frees them. */
static void dots_show(struct dots *d, bool ascii, unsigned style)
{
    for (int y = 0; y < d->cells.height; y++) {
        for (int x = 0; x < d->cells.width; x++) {
            uint8_t bits = d->bits[(size_t)y * (size_t)d->cells.width + (size_t)x];
            if (bits)
                pane_put(&d->cells, x, y, style, ascii ? '#' : 0x2800u + bits);
        }
    }
    free(d->bits);
}

/* ---- games ---- */

/* Its world is 4.8 wide; the pole is 1 long, 2 here, that a lean is seen. */
static void draw_cartpole(const struct game_look *k, bool ascii, const struct pane *p)
{
    int ground = p->height - 2;
    struct dots d = dots_new(p, 1, ground - 1);
    double wide = 2 * d.cells.width, unit = wide / 5.2, floor = 4 * d.cells.height - 1;
    double x = wide / 2 + (double)k->seen[0] * unit, top = floor - 6;
    double length = fmin(2 * unit, top - 1), angle = (double)k->seen[2];

    line(&d, 0.2 * unit, floor, wide - 0.2 * unit, floor);
    for (int side = -1; side <= 1; side += 2)
        line(&d, x + side * 8, top, x + side * 8, floor - 1);
    line(&d, x - 8, top, x + 8, top);
    line(&d, x - 8, floor - 1, x + 8, floor - 1);
    for (int thick = 0; thick < 2; thick++)
        line(&d, x + thick, top, x + thick + length * sin(angle), top - length * cos(angle));
    dots_show(&d, ascii, ROLE_TITLE);
    pane_text(p, 1, ground, ROLE_DIM, "-2.4");
    pane_text(p, p->width / 2, ground, ROLE_DIM, "0");
    pane_right(p, p->width - 1, ground, ROLE_DIM, "+2.4");
    pane_format(p, 0, ground + 1, ROLE_TEXT,
                p->width >= 66 ? "position %+.2f   speed %+.2f   angle %+.1f°   angular speed %+.2f"
                               : "at %+.2f  moving %+.2f  leaning %+.1f°   turning %+.2f",
                (double)k->seen[0], (double)k->seen[1], angle * 180 / 3.14159265358979,
                (double)k->seen[3]);
}

static void draw_mountaincar(const struct game_look *k, bool ascii, const struct pane *p)
{
    struct dots d = dots_new(p, 1, p->height - 2);
    double wide = 2 * d.cells.width, high = 4 * d.cells.height - 4;

    for (int n = 0; n < (int)wide; n++) {
        double at = -1.2 + 1.8 * n / wide;
        dot(&d, n, (int)(3 + high - high * (0.5 + 0.45 * sin(3 * at))));
    }
    double x = (double)k->seen[0], y = 1 + high - high * (0.5 + 0.45 * sin(3 * x));
    for (int n = -3; n <= 3; n++)
        line(&d, wide * (x + 1.2) / 1.8 + n, y - 2, wide * (x + 1.2) / 1.8 + n, y);
    dots_show(&d, ascii, ROLE_TITLE);
    pane_format(p, 0, p->height - 1, ROLE_TEXT, "position %+.2f   speed %+.3f   the flag at +0.50",
                x, (double)k->seen[1]);
}

static void draw_acrobot(const struct game_look *k, bool ascii, const struct pane *p)
{
    struct dots d = dots_new(p, 1, p->height - 2);
    double x = d.cells.width, y = 2 * d.cells.height, unit = y / 2 - 1;
    double first = atan2((double)k->seen[1], (double)k->seen[0]);
    double second = first + atan2((double)k->seen[3], (double)k->seen[2]);
    double elbow = x + unit * sin(first), low = y + unit * cos(first);

    line(&d, x, y, elbow, low);
    line(&d, elbow, low, elbow + unit * sin(second), low + unit * cos(second));
    for (int n = 0; n < 2 * d.cells.width; n += 4)
        dot(&d, n, (int)(y - unit));
    dots_show(&d, ascii, ROLE_TITLE);
    pane_text(p, 0, p->height - 1, ROLE_TEXT, "its end has to come above the dotted line");
}

/* bsuite's board: a ball falls, a paddle moves in the last row. Where there are fewer rows than the
 * board has, those that the ball falls through stand for two. */
static void draw_catch(const struct game_look *k, const struct pane *p)
{
    enum { COLUMNS = 5 };
    int rows = (int)k->inputs / COLUMNS, room = p->height - 1 < rows ? p->height - 1 : rows;

    for (int y = 0; y < room; y++)
        for (int x = 0; x < COLUMNS; x++)
            pane_put(p, 4 + 3 * x, 1 + y, ROLE_DIM, U'·');
    for (int n = 0; n < rows * COLUMNS && n < GAME_SEEN; n++) {
        int row = n / COLUMNS, last = rows - 1, y = row == last ? room - 1 : row;
        if (row < last && room < rows)
            y = row * (room - 1) / last;
        if (k->seen[n] > 0)
            pane_put(p, 4 + 3 * (n % COLUMNS), 1 + y, ROLE_TITLE | BOLD, row == last ? U'█' : U'●');
    }
}

/* Any other: what is observed, number by number. */
static void draw_numbers(const struct game_look *k, const struct pane *p)
{
    uint32_t most = p->height > 2 ? 2 * (uint32_t)(p->height - 2) : 2;

    for (uint32_t n = 0; n < k->inputs && n < GAME_SEEN && n < most; n++)
        pane_format(p, n % 2 ? p->width / 2 : 0, 1 + (int)(n / 2), ROLE_TEXT, "observed %-3u %+.3f",
                    n, (double)k->seen[n]);
}

void class_draw_game(const struct game_look *k, bool ascii, const struct pane *p)
{
    char note[64];

    snprintf(note, sizeof note, "decision %u of this episode", k->length + 1);
    pane_head(p, 0, &(struct head){0, k->game->name, note, false});
    if (p->height < 6)
        return;
    if (k->game->begin == rl_cartpole_begin)
        draw_cartpole(k, ascii, p);
    else if (k->game->begin == rl_mountaincar_begin)
        draw_mountaincar(k, ascii, p);
    else if (k->game->begin == rl_acrobot_begin)
        draw_acrobot(k, ascii, p);
    else if (k->game->begin == rl_catch_begin)
        draw_catch(k, p);
    else
        draw_numbers(k, p);
}

/* A letter for each angle and angular speed: what it would do in the middle, at rest. */
void class_draw_learned(const struct game_look *k, const struct pane *p)
{
    static const char letters[] = " LR";

    if (k->game->begin != rl_cartpole_begin || !k->push[0][0]) {
        pane_head(p, 0, &(struct head){0, "The game", NULL, false});
        struct pane body = pane_part(p, 0, 1, p->width, p->height - 1);
        pane_sentence(&body, ROLE_TEXT,
                      k->game->is_probe ? rl_probe_table[k->game->variant].summary
                                        : k->game->summary);
        return;
    }
    pane_head(p, 0, &(struct head){0, "What it learned", "push by angle, speed", false});
    for (int y = 0; y < GAME_SPINS && y + 2 < p->height; y++) {
        for (int x = 0; x < GAME_ANGLES && x + 2 < p->width; x++) {
            uint8_t push = k->push[y][x];
            pane_put(p, 2 + x, 1 + y, push == 2 ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0,
                     (uint32_t)letters[push]);
        }
    }
    int y = GAME_SPINS + 1 < p->height ? GAME_SPINS + 1 : p->height - 1, x = GAME_ANGLES + 4;
    pane_text(p, 2, y, ROLE_DIM, "left             angle        right");
    if (x + 11 <= p->width) {
        pane_text(p, x, 1, ROLE_DIM, "swings right");
        pane_text(p, x, y - 1, ROLE_DIM, "swings left");
    }
}

const char *const *class_actions(const struct game_look *k)
{
    static const char *const pushes[] = {"push left", "push right"},
                             *const cars[] = {"push left", "coast", "push right"},
                             *const torques[] = {"torque -1", "no torque", "torque +1"},
                             *const paddles[] = {"left", "stay", "right"};

    return k->game->begin == rl_cartpole_begin      ? pushes
           : k->game->begin == rl_mountaincar_begin ? cars
           : k->game->begin == rl_acrobot_begin     ? torques
           : k->game->begin == rl_catch_begin       ? paddles
                                                    : NULL;
}

/* ---- what it earns ---- */

bool class_game_about(const struct game_look *k, struct panel_about *out)
{
    char count[UNITS_ROOM];

    out->name = k->game->name;
    snprintf(out->words, sizeof out->words, "%u number%s, %u actions", k->inputs,
             k->inputs == 1 ? "" : "s", k->actions);
    snprintf(out->what, sizeof out->what, "DQN · preset %s", k->game->preset);
    out->state = k->running ? ABOUT_RUNS : ABOUT_STANDS;
    if (!k->running)
        snprintf(out->pace, sizeof out->pace, "paused");
    else if (k->pace > 0)
        snprintf(out->pace, sizeof out->pace, "%g decisions/s", k->pace);
    else
        snprintf(out->pace, sizeof out->pace, "full speed");
    snprintf(out->where, sizeof out->where, "episode %s",
             units_count(count, (int64_t)k->episodes + 1));
    return true;
}

bool class_draw_earned(const struct game_look *k, const struct pane *row)
{
    uint64_t ended = k->episodes < GAME_LAST ? k->episodes : GAME_LAST;
    char count[UNITS_ROOM], epsilon[24];
    int x;

    if (isfinite(k->mean)) {
        x = pane_format(row, 0, 0, ROLE_TITLE | BOLD, "%.4g", k->mean);
        x = pane_format(row, x, 0, ROLE_TEXT, " mean of the last %s episode%s",
                        units_count(count, (int64_t)ended), ended == 1 ? "" : "s");
    } else {
        x = pane_text(row, 0, 0, ROLE_DIM, "no episode has ended yet");
    }
    x = pane_format(row, x, 0, ROLE_DIM, "   the best about %.4g", k->game->best_reward);
    snprintf(epsilon, sizeof epsilon, "ε %.2f", k->epsilon);
    if (isfinite(k->last_forced) && x + 24 + utf8_text_columns(epsilon) < row->width)
        x = pane_format(row, x, 0, ROLE_PIN, "   by hand %.4g", k->last_forced);
    if (x + 3 + utf8_text_columns(epsilon) <= row->width)
        pane_right(row, row->width, 0, ROLE_TEXT, epsilon);
    return true;
}

void class_draw_game_runs(const struct game_look *k, bool alone, bool ascii,
                          const struct pane *pane)
{
    const struct game_run *runs[] = {&k->now, &k->before};
    struct class_runs r = {.title = "Reward",
                           .note = "mean of the last 100 episodes",
                           .unit = "decisions",
                           .now = {runs[0]->x, runs[0]->mean, NULL, runs[0]->count, "this"},
                           .last_x = fmax(1, (double)runs[0]->decisions),
                           .limit = k->game->best_reward,
                           .limit_name = "best",
                           .ascii = ascii};

    if (runs[1]->count && !alone) {
        r.before = (struct class_run){runs[1]->x, runs[1]->mean, NULL, runs[1]->count, "before"};
        r.last_x = fmax(r.last_x, (double)runs[1]->decisions);
    }
    class_draw_runs(&r, pane);
}
