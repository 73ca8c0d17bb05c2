#include "tui/views/class_draw.h"

#include "engine/decide/names.h"
#include "engine/live/watched.h"
#include "engine/text/units.h"
#include "rl/action_set.h"
#include "rl/env.h"
#include "rl/settings.h"
#include "tui/screen/theme.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_shown(const struct class_shown *s, enum class_part part)
{
    return s->lesson && s->part >= part;
}

static bool is_learned(const struct class_shown *s, enum class_part part)
{
    return is_shown(s, part) && s->lesson->updates > 0;
}

/* The least decimals, from 3 on, with which the rounded figures still add up on the screen. */
static int sum_decimals(double a, double b, double sum)
{
    for (int d = 3; d < 8; d++) {
        double unit = pow(10, -d);
        if (fabs(round(a / unit) + round(b / unit) - round(sum / unit)) < 0.5)
            return d;
    }
    return 8;
}

/* As it is printed with `d` decimals, and never as -0.000. */
static double plain(double value, int d)
{
    return fabs(value) < 0.5 * pow(10, -d) ? 0 : value;
}

static const char *action_name(const struct class_shown *s, uint32_t action, char out[static 24])
{
    snprintf(out, 24, "%u%s%s", action, s->actions ? " " : "",
             s->actions ? s->actions[action] : "");
    return out;
}

/* ---- look, choose, act, store ---- */

static void draw_network(const struct class_shown *s, const struct pane *p, int y)
{
    int x = pane_format(p, 0, y, ROLE_TEXT, "state %u", s->inputs);

    for (int n = 0; n < RL_HIDDEN_MAX && s->settings->hidden[n]; n++)
        x = pane_format(p, x, y, ROLE_TEXT, " ▸ %u", s->settings->hidden[n]);
    pane_text(p, x, y, ROLE_TEXT, " ▸ Q of every legal action");
}

/* Ends of the columns. */
struct answers {
    int q, visits, step, bar;
};

/* Bars grow from zero, which has a column where some are below it. low <= 0 <= high. */
static void draw_q(const struct pane *p, int y, double q, double low, double high, unsigned role)
{
    int line = low < 0, room = p->width - line;
    double unit = high > low ? room / (high - low) : 0;
    int zero = (int)(-low * unit + 0.5), below = (int)(-q * unit + 0.5);

    if (line)
        pane_put(p, zero, y, ROLE_BORDER, U'│');
    if (q < 0)
        pane_repeat(p, zero - below, y, below, (struct cell){U'█', role});
    else
        pane_bar(p, zero + line, y, room - zero, high > 0 ? q / high : 0, role);
}

static void draw_answer(const struct class_shown *s, const struct pane *p, int y, uint32_t action,
                        const struct answers *c, double low, double high)
{
    const struct rl_lesson *l = s->lesson;
    bool legal = rl_has(l->legal, action), taken = is_shown(s, CLASS_CHOOSE) && action == l->action;
    unsigned role = s->live ? (action ? ROLE_CHOICE_1 : ROLE_CHOICE_0) : ROLE_TEXT;
    char name[24], text[UNITS_ROOM];

    pane_text(p, 0, y, role | (taken ? BOLD : 0), action_name(s, action, name));
    if (taken)
        pane_put(p, c->q - 9, y, ROLE_NEXT | BOLD, U'▸');
    if (legal)
        pane_right_number(p, c->q, y, ROLE_TEXT, (double)l->q[action], 3);
    else
        pane_right(p, c->q, y, ROLE_DIM, "-");
    if (s->live) {
        pane_right(p, c->visits, y, ROLE_TEXT, units_count(text, s->live->visits[action]));
        if (s->live->price[action] < 0)
            pane_right(p, c->step, y, ROLE_DIM, "masked");
        else
            pane_right(
                p, c->step, y, ROLE_TEXT,
                units_change(text, s->live->price[action] - s->live->step_ms, pane_ms_decimals(p)));
    }
    struct pane bar = pane_part(p, c->bar, 0, p->width - c->bar, p->height);
    if (legal && bar.width >= 4)
        draw_q(&bar, y, (double)l->q[action], low, high, role);
}

/* The action is among the `most` to be seen: the one taken and, of the others, those of largest
 * Q. */
static bool is_in_sight(const struct class_shown *s, uint32_t action, uint32_t most)
{
    const struct rl_lesson *l = s->lesson;
    uint32_t before = 0;

    if (s->action_count <= most || action == l->action)
        return true;
    for (uint32_t a = 0; a < s->action_count; a++)
        before += a == l->action || (a != action && rl_has(l->legal, a) &&
                                     (l->q[a] > l->q[action] || !rl_has(l->legal, action)));
    return before < most;
}

static int draw_answers(const struct class_shown *s, const struct pane *p, int y)
{
    const struct rl_lesson *l = s->lesson;
    struct answers c = {.q = 24, .visits = 33, .step = 43, .bar = s->live ? 45 : 26};
    double low = 0, high = 0;

    pane_right(p, c.q, y, ROLE_DIM, "Q");
    if (s->live) {
        pane_right(p, c.visits, y, ROLE_DIM, "visits");
        pane_right(p, c.step, y, ROLE_DIM, "step ms");
    }
    y++;
    for (uint32_t a = 0; a < s->action_count; a++) {
        if (!rl_has(l->legal, a))
            continue;
        low = fmin(low, (double)l->q[a]);
        high = fmax(high, (double)l->q[a]);
    }
    enum { BELOW = 6 }; /* the dice, the reward and what is stored */
    int room = p->height - y - BELOW > 3 ? p->height - y - BELOW : 3;
    uint32_t hidden = 0,
             most = s->action_count > (uint32_t)room ? (uint32_t)room - 1 : (uint32_t)room;
    for (uint32_t n = 0; n < s->action_count && y < p->height; n++) {
        uint32_t a = s->live ? s->action_count - 1 - n : n; /* split stands above whole */
        if (is_in_sight(s, a, most))
            draw_answer(s, p, y++, a, &c, low, high);
        else
            hidden++;
    }
    if (hidden && y < p->height)
        pane_format(p, 0, y++, ROLE_DIM, "%u more, of smaller Q", hidden);
    return y;
}

/* The largest Q of the legal actions, and how far it is above the next. */
static uint32_t greedy_action(const struct rl_lesson *l, uint32_t count, double *margin)
{
    uint32_t best = UINT32_MAX;
    double second = -INFINITY;

    for (uint32_t a = 0; a < count; a++) {
        if (!rl_has(l->legal, a))
            continue;
        if (best == UINT32_MAX || l->q[a] > l->q[best]) {
            second = best == UINT32_MAX ? second : (double)l->q[best];
            best = a;
        } else {
            second = fmax(second, (double)l->q[a]);
        }
    }
    *margin = best == UINT32_MAX ? 0 : (double)l->q[best] - second;
    return best;
}

static int draw_dice(const struct class_shown *s, const struct pane *p, int y)
{
    const struct rl_lesson *l = s->lesson;
    char name[24];
    double margin;
    uint32_t greedy = greedy_action(l, s->action_count, &margin);

    if (!l->chosen) {
        pane_format(p, 0, y++, ROLE_TEXT, "%s: %s",
                    s->live && s->live->led ? "led: the network of all models decided"
                                            : "decided by hand",
                    action_name(s, l->action, name));
    } else if (l->explored) {
        pane_format(p, 0, y++, ROLE_TEXT, "explored: draw %.3f under ε %.3f, by lot: %s", l->draw,
                    l->epsilon, action_name(s, l->action, name));
    } else {
        pane_format(p, 0, y++, ROLE_TEXT, "greedy: draw %.3f over ε %.3f, largest Q: %s", l->draw,
                    l->epsilon, action_name(s, l->action, name));
    }
    if (greedy == UINT32_MAX)
        return y;
    if (!isfinite(margin))
        pane_text(p, 0, y++, ROLE_DIM, "the only legal action: the others are masked");
    else if (greedy == l->action)
        pane_format(p, 0, y++, ROLE_DIM, "margin %.3f over the next best", margin);
    else
        pane_format(p, 0, y++, ROLE_DIM, "greedy would have been %s, margin %.3f",
                    action_name(s, greedy, name), margin);
    return y;
}

/* Rows that draw_dice takes. */
static int rows_of_dice(const struct class_shown *s)
{
    double margin;

    return greedy_action(s->lesson, s->action_count, &margin) == UINT32_MAX ? 1 : 2;
}

/* The least decimals, from 1 on, with which the step times on the screen give the reward as it is
 * rounded there. */
static int ratio_decimals(double before, double after, double reward)
{
    int d = 1;

    for (; d < 6; d++) {
        double unit = pow(10, -d);
        double shown = log(round(before / unit) / round(after / unit));
        if (fabs(shown - reward) < 0.5e-4)
            break;
    }
    return d;
}

/* "reward 0.1230 = ln(667.4 / 590.1)": where the step times say the same. */
static int draw_reward(const struct class_shown *s, const struct pane *p, int y)
{
    const struct rl_lesson *l = s->lesson;
    double price = s->live ? s->live->price[l->action] : -1;

    if (!s->live) {
        pane_format(p, 0, y, ROLE_TEXT, "reward %.4g%s", l->reward,
                    l->end == RL_TERMINATED  ? "; the episode ends"
                    : l->end == RL_TRUNCATED ? "; cut short, the state has a value still"
                                             : "");
        return y + 1;
    }
    int x = pane_format(p, 0, y, ROLE_TEXT, "reward %.4f", l->reward);
    if (price > 0 && fabs(log(s->live->step_ms / price) - l->reward) < 1e-5) {
        int d = ratio_decimals(s->live->step_ms, price, l->reward);
        pane_format(p, x, y, ROLE_DIM, " = ln(%.*f / %.*f), step before/after", d, s->live->step_ms,
                    d, price);
    } else if (l->end == RL_TERMINATED) {
        pane_text(p, x, y, ROLE_DIM, ", with what the whole plan is worth");
    } else if (l->end == RL_TRUNCATED) {
        pane_text(p, x, y, ROLE_DIM, "; cut short, the state has a value still");
    }
    return y + 1;
}

static void draw_stored(const struct class_shown *s, const struct pane *p, int y)
{
    pane_format(p, 0, y, ROLE_TEXT,
                s->settings->prioritized ? "stored with priority %.3g, the largest so far"
                                         : "stored as the newest",
                pow(s->lesson->priority, s->settings->alpha));
}

/* The dice, the reward and what is stored, as far as there is room, from the part `first` on. */
static void draw_choosing(const struct class_shown *s, const struct pane *p, int y,
                          enum class_part first)
{
    int apart = p->height > 12;

    if (first <= CLASS_CHOOSE && is_shown(s, CLASS_CHOOSE) && y < p->height)
        y = draw_dice(s, p, y) + apart;
    if (first <= CLASS_ACT && is_shown(s, CLASS_ACT) && y < p->height)
        y = draw_reward(s, p, y);
    if (is_shown(s, CLASS_STORE) && y < p->height)
        draw_stored(s, p, y);
}

static const char *decision_name(const struct watch *w, const struct live_lesson *l,
                                 char out[static NAME_ROOM])
{
    return l && w && l->move < (uint32_t)w->move_count
               ? watch_move_name(w, (int)l->move, out, NAME_ROOM, 40)
               : NULL;
}

/* What is still to come, as it was at the decision before, dim: from row y on, below its name. */
static void draw_last_choice(const struct class_shown *s, const struct pane *p, int y)
{
    struct class_shown old = *s;
    struct pane below = pane_part(p, 0, y, p->width, p->height - y);
    char name[NAME_ROOM], count[UNITS_ROOM];

    if (!s->last || s->part >= CLASS_STORE || below.height < 2)
        return;
    old.lesson = &s->last->rl;
    old.live = s->live ? s->last : NULL;
    old.part = CLASS_COPY;
    const char *shown = decision_name(s->watch, old.live, name);
    pane_format(&below, 0, 0, ROLE_DIM, "before: decision %s%s%s",
                units_count(count, (int64_t)old.lesson->decision), shown ? ", " : "",
                shown ? shown : "");
    draw_choosing(&old, &below, 1, s->part + 1);
    pane_dim(&below);
}

void class_draw_choice(const struct class_shown *s, const struct pane *p)
{
    char note[64], name[NAME_ROOM];
    int y = 1;
    const char *shown = decision_name(s->watch, s->live, name);

    if (shown)
        snprintf(note, sizeof note, "%s", shown);
    else
        snprintf(note, sizeof note, "dueling %s", s->settings->dueling ? "on" : "off");
    pane_head(p, 0, &(struct head){0, "Look and choose", note, false});
    draw_network(s, p, y++);
    if (!s->lesson) {
        pane_text(p, 0, y + 1, ROLE_DIM,
                  s->watch && !s->watch->move_count ? "nothing to decide: no class can be split"
                                                    : ", makes the first decision");
        return;
    }
    int apart = p->height > 12;
    y = draw_answers(s, p, y) + apart;
    draw_choosing(s, p, y, CLASS_CHOOSE);
    if (is_shown(s, CLASS_CHOOSE))
        y += rows_of_dice(s) + apart;
    draw_last_choice(s, p, y + is_shown(s, CLASS_ACT));
}

/* ---- target, step, copy ---- */

static void put_word(const struct pane *p, int y, const char *word)
{
    pane_text(p, 0, y, ROLE_DIM, word);
}

static int draw_target(const struct rl_lesson_row *r, const struct pane *p, int y)
{
    double value = r->discount * r->next_value;
    int d = sum_decimals(r->reward, value, r->is_bounded ? r->reward + value : r->target);

    put_word(p, y, "target");
    pane_text(p, 9, y++, ROLE_TEXT, "reward + discount × value of the next state");
    if (r->discount == 0)
        pane_format(p, 9, y++, ROLE_TEXT, "%.*f, the episode ends in this window", d,
                    plain(r->reward, d));
    else
        pane_format(p, 9, y++, ROLE_TEXT, "%.*f + %.4g × %.*f = %.*f", d, plain(r->reward, d),
                    r->discount, d, plain(r->next_value, d), d, plain(r->reward + value, d));
    if (r->is_bounded)
        pane_format(p, 9, y++, ROLE_TEXT, "raised to %.*f: so much its episode did earn", d,
                    r->target);
    return y;
}

static int draw_value(const struct class_shown *s, const struct rl_lesson_row *r,
                      const struct pane *p, int y)
{
    char name[24];
    int d = sum_decimals(r->next_value, r->next_largest - r->next_value, r->next_largest);

    put_word(p, y, "value");
    if (r->discount == 0) {
        pane_text(p, 9, y++, ROLE_DIM, "nothing follows");
        return y;
    }
    action_name(s, r->next_action, name);
    if (!s->settings->double_q) {
        pane_format(p, 9, y++, ROLE_TEXT, "the largest of the %s network:",
                    s->settings->target_network ? "target" : "online");
        pane_format(p, 9, y++, ROLE_TEXT, "%s, %.*f", name, d, r->next_value);
        return y;
    }
    pane_format(p, 9, y++, ROLE_TEXT, "double: online picks %s (Q %.*f),", name, d, r->next_choice);
    pane_format(p, 9, y++, ROLE_TEXT, "the %s network values it: %.*f",
                s->settings->target_network ? "target" : "same", d, r->next_value);
    pane_format(p, 9, y++, ROLE_DIM, "without double: its largest %.*f, %+.*f", d, r->next_largest,
                d, r->next_largest - r->next_value);
    return y;
}

static int draw_error(const struct class_shown *s, const struct rl_lesson_row *r,
                      const struct pane *p, int y)
{
    const struct rl_settings *t = s->settings;
    int d = sum_decimals(r->q, r->error, r->target);
    char name[24];

    put_word(p, y, "had");
    pane_format(p, 9, y++, ROLE_TEXT, "Q(state, %s) = %.*f", action_name(s, r->action, name), d,
                r->q);
    put_word(p, y, "error");
    int x = pane_format(p, 9, y, ROLE_TEXT, "%.*f - %.*f = %+.*f", d, plain(r->target, d), d,
                        plain(r->q, d), d, plain(r->error, d));
    if (p->width - x > 22)
        pane_format(p, x, y, ROLE_DIM, "   %s",
                    !t->huber                          ? "squared"
                    : fabs(r->error) <= t->huber_delta ? "Huber: squared part"
                                                       : "Huber: linear part");
    return y + 1;
}

static int draw_priority(const struct class_shown *s, const struct rl_lesson_row *r,
                         const struct pane *p, int y)
{
    const struct rl_settings *t = s->settings;

    put_word(p, y, "priority");
    if (!t->prioritized) {
        pane_text(p, 9, y++, ROLE_DIM, "off: every row is as likely");
        return y;
    }
    pane_format(p, 9, y++, ROLE_TEXT, "(%.3f + %.0e)^%.2g = %.3f   was %.3f",
                r->priority - t->priority_floor, t->priority_floor, t->alpha,
                pow(r->priority, t->alpha), pow(r->priority_before, t->alpha));
    put_word(p, y, "weight");
    pane_format(p, 9, y++, ROLE_TEXT, "importance %.3f, β %.2f%s", r->weight, s->lesson->beta,
                t->importance ? "" : ", off");
    return y;
}

static int draw_step(const struct class_shown *s, const struct pane *p, int y)
{
    const struct rl_lesson *l = s->lesson;
    const struct rl_settings *t = s->settings;

    char cut[32] = "", adam[32];

    put_word(p, y, "then");
    if (t->clip && l->figures.gradient_norm > t->clip_norm)
        snprintf(cut, sizeof cut, " cut to %.3g", t->clip_norm);
    int x = pane_format(p, 9, y++, ROLE_TEXT, "%u rows, loss %.2g, gradient %.2g%s", l->batch,
                        l->figures.loss, l->figures.gradient_norm, cut);
    int size = snprintf(adam, sizeof adam, ", Adam %.0e", t->learning_rate);
    if (x + size <= p->width)
        pane_text(p, x, y - 1, ROLE_TEXT, adam);
    else
        pane_text(p, 9, y++, ROLE_TEXT, adam + 2);
    return y;
}

static void draw_copy(const struct class_shown *s, const struct pane *p, int y)
{
    const struct rl_settings *t = s->settings;
    uint64_t left =
        t->target_every > s->lesson->since_copy ? t->target_every - s->lesson->since_copy : 0;

    if (!t->target_network)
        pane_text(p, 9, y, ROLE_DIM, "no target network: it bootstraps from itself");
    else if (t->target_tau > 0)
        pane_format(p, 9, y, ROLE_TEXT, "target network moved by %.3g of the way", t->target_tau);
    else if (!s->lesson->since_copy)
        pane_text(p, 9, y, ROLE_CHANGED | BOLD,
                  "the target network is a copy of the online one now");
    else
        pane_format(p, 9, y, ROLE_TEXT, "target network copied in %llu update%s",
                    (unsigned long long)left, left == 1 ? "" : "s");
}

/* When the next update is due. */
static uint64_t next_update(const struct class_shown *s)
{
    const struct rl_settings *t = s->settings;
    uint64_t next = s->lesson->decision + 1;

    next = next < t->learn_start ? t->learn_start : next;
    return (next + t->train_every - 1) / t->train_every * t->train_every;
}

/* The update seen before, as it was, dim, from row y on: what is due now takes its place. */
static void draw_before(const struct class_shown *s, const struct pane *p, int y, bool sampled)
{
    struct class_shown old = *s;
    struct pane below = pane_part(p, 0, y, p->width, p->height - y);
    char title[64], update[UNITS_ROOM];

    old.lesson = s->before;
    old.lesson_move = s->before_move;
    old.before = NULL;
    old.part = CLASS_COPY;
    old.focus = false;
    snprintf(title, sizeof title, "%s, update %s", sampled ? "the sample before" : "the one before",
             units_count(update, (int64_t)s->before->update));
    if (sampled)
        class_draw_sample(&old, &below, s->top);
    else
        class_draw_update(&old, &below);
    pane_repeat(&below, 0, 0, below.width, (struct cell){' ', ROLE_TEXT});
    pane_text(&below, 0, 0, ROLE_DIM, title);
    pane_dim(&below);
}

void class_draw_update(const struct class_shown *s, const struct pane *p)
{
    char title[48], every[64], next[UNITS_ROOM];
    int y = 1;

    snprintf(title, sizeof title, "The update, row %u of the sample", s->row + 1);
    pane_head(p, 0,
              &(struct head){0, is_learned(s, CLASS_TARGET) ? title : "The update",
                             is_learned(s, CLASS_TARGET) ? "j k row" : NULL, false});
    if (s->lesson && !s->lesson->updates) {
        if (s->lesson->decision < s->settings->learn_start)
            snprintf(every, sizeof every, "the first");
        else if (s->settings->train_every == 1)
            snprintf(every, sizeof every, "one a decision, next");
        else
            snprintf(every, sizeof every, "one in %u decisions, next", s->settings->train_every);
        pane_format(p, 0, y, ROLE_TEXT, "none due: %s at decision %s", every,
                    units_count(next, (int64_t)next_update(s)));
        if (s->before && s->row < s->before->rows)
            draw_before(s, p, y + 1, false);
        return;
    }
    if (!is_learned(s, CLASS_TARGET) || s->row >= s->lesson->rows) {
        pane_text(p, 0, y, ROLE_DIM, "comes with part 6, the target");
        if (s->before && s->row < s->before->rows)
            draw_before(s, p, y + 1, false);
        return;
    }
    const struct rl_lesson_row *r = &s->lesson->row[s->row];
    y = draw_target(r, p, y);
    y = draw_value(s, r, p, y);
    y = draw_error(s, r, p, y);
    if (!is_shown(s, CLASS_STEP))
        return;
    y = draw_priority(s, r, p, y);
    y = draw_step(s, p, y);
    if (is_shown(s, CLASS_COPY))
        draw_copy(s, p, y);
}

/* ---- the sample ---- */

/* Ends of the columns; 0: left out. */
struct sampled {
    int age, decision, action, reward, next, target, q, error, priority, weight;
};

enum { SAMPLED_MOST = 132 }; /* columns: in wider ones a row is lost on the way to its figures */

static struct sampled sampled_for(const struct class_shown *s, int width)
{
    bool wide = width >= 104, narrow = width < 72;
    struct sampled c = {.age = narrow ? 0 : 11, .decision = narrow ? 5 : 13};

    c.weight = narrow ? 0 : width;
    c.priority = wide ? width - 9 : 0;
    c.error = wide ? c.priority - 12 : narrow ? width : width - 9;
    c.q = c.error - 9;
    c.target = c.q - 9;
    c.next = narrow ? 0 : c.target - 9;
    c.reward = (c.next ? c.next : c.target) - 9;
    c.action = wide || !s->live ? c.reward - 20 : 0;
    if (!s->live)
        c.decision = 0;
    return c;
}

static void draw_sampled_titles(const struct class_shown *s, const struct pane *p,
                                const struct sampled *c, int y)
{
    const struct {
        int end;
        const char *word;
        enum class_part part;
    } columns[] = {
        {c->age, "ago", CLASS_SAMPLE},     {c->reward, "reward", CLASS_SAMPLE},
        {c->next, "next", CLASS_TARGET},   {c->target, "target", CLASS_TARGET},
        {c->q, "Q", CLASS_TARGET},         {c->error, "error", CLASS_TARGET},
        {c->weight, "weight", CLASS_STEP}, {c->priority, "priority", CLASS_STEP},
    };

    for (size_t n = 0; n < sizeof columns / sizeof *columns; n++) {
        if (columns[n].end && is_shown(s, columns[n].part))
            pane_right(p, columns[n].end, y, ROLE_DIM, columns[n].word);
    }
    if (c->decision)
        pane_text(p, c->decision, y, ROLE_DIM, "decision");
    if (c->action)
        pane_text(p, c->action, y, ROLE_DIM, "action");
}

static void draw_sampled(const struct class_shown *s, const struct pane *p, const struct sampled *c,
                         int y, uint32_t n)
{
    const struct rl_lesson_row *r = &s->lesson->row[n];
    const uint32_t *moves = s->lesson_move ? s->lesson_move : s->live ? s->live->row_move : NULL;
    char age[UNITS_ROOM], name[NAME_ROOM], action[24];

    pane_right_format(p, 3, y, ROLE_DIM, "%u", n + 1);
    if (c->age)
        pane_right(p, c->age, y, ROLE_TEXT, units_count(age, r->age));
    if (moves && s->watch && moves[n] < (uint32_t)s->watch->move_count) {
        int room = (c->action ? c->action : c->reward - 8) - c->decision - 1;
        pane_text(p, c->decision, y, ROLE_TEXT,
                  watch_move_name(s->watch, (int)moves[n], name, sizeof name, room));
    }
    if (c->action)
        pane_text(p, c->action, y, ROLE_TEXT, action_name(s, r->action, action));
    pane_right_number(p, c->reward, y, ROLE_TEXT, r->reward, 3);
    if (is_shown(s, CLASS_TARGET)) {
        if (c->next && r->discount == 0)
            pane_right(p, c->next, y, ROLE_DIM, "end");
        else if (c->next)
            pane_right_number(p, c->next, y, ROLE_TEXT, r->next_value, 3);
        int x = pane_right_number(p, c->target, y, ROLE_TEXT, r->target, 3);
        if (r->is_bounded)
            pane_put(p, x - 1, y, ROLE_TEXT, '^');
        pane_right_number(p, c->q, y, ROLE_TEXT, r->q, 3);
        pane_right_format(p, c->error, y, ROLE_TEXT, "%+.3f", r->error);
    }
    if (is_shown(s, CLASS_STEP)) {
        if (c->priority && s->settings->prioritized)
            pane_right_number(p, c->priority, y, ROLE_TEXT, pow(r->priority, s->settings->alpha),
                              3);
        if (c->weight)
            pane_right_number(p, c->weight, y, ROLE_TEXT, r->weight, 2);
    }
}

void class_draw_sample(const struct class_shown *s, const struct pane *p, int64_t top)
{
    char note[96];
    struct sampled c = sampled_for(s, p->width < SAMPLED_MOST ? p->width : SAMPLED_MOST);
    bool any = is_learned(s, CLASS_SAMPLE);

    if (any)
        snprintf(note, sizeof note, "%u of %u · %s%s",
                 s->lesson->rows < (uint32_t)(p->height - 2) ? s->lesson->rows
                                                             : (uint32_t)(p->height - 2),
                 s->lesson->batch, s->settings->prioritized ? "by priority" : "all as likely",
                 p->width >= 100 ? " · ^ raised to the best return known" : "");
    pane_head(p, 0, &(struct head){0, "Sampled from memory", any ? note : NULL, s->focus});
    if (!any) {
        pane_text(p, 0, 1, ROLE_DIM,
                  s->lesson && !s->lesson->updates ? "no update, no sample"
                                                   : "comes with part 5, the sample");
        if (s->before && p->height > 4)
            draw_before(s, p, 2, true);
        return;
    }
    draw_sampled_titles(s, p, &c, 1);
    for (int y = 2; y < p->height && top + y - 2 < (int64_t)s->lesson->rows; y++) {
        uint32_t n = (uint32_t)(top + y - 2);
        draw_sampled(s, p, &c, y, n);
        if (n != s->row)
            continue;
        pane_select(p, y, ROLE_SELECT);
        p->grid->cursor_x = p->x;
        p->grid->cursor_y = p->y + y;
    }
}

/* ---- the message ---- */

char *class_sentence(const struct class_shown *s, char *out, size_t room)
{
    static const char *const sentences[CLASS_PARTS] = {
        "every legal action gets a Q: what the rest of the episode is worth",
        "a draw under ε takes an action by lot, else the largest Q is taken",
        "the action is carried out; what it earns at once is the reward",
        "the decision goes into the memory it is learned from",
        "rows are drawn: likelier, the more wrong Q was about them",
        "the target is what Q should be, by the reward and what follows",
        "one step of the gradient makes the errors smaller",
        "the network that values what follows becomes a copy, now and then",
    };

    if (!s->lesson)
        snprintf(out, room, ", makes a decision part by part, . a whole update");
    else
        snprintf(out, room, "part %d of 8: %s", (int)s->part + 1, sentences[s->part]);
    return out;
}
