/* Role: of a parameter five answers, then the dims that may be the batch; of a number that the step
 * computes, whether it is the loss. */
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/command.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/plan/plan.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

struct asked {
    uint32_t param; /* into roles.params */
    hlo_id number;  /* asked about the loss; HLO_NONE: about `param` */
    struct list list;
};

enum { ROLE_DO };
static const struct action role_actions[] = {
    [ROLE_DO] = {"do", "in this dialog", "make it so", "do it", "Enter", NULL},
};
static const struct key_table role_keys = {"role", role_actions, 1};

static const char *const meanings[HLO_ROLE_COUNT] = {
    [HLO_ROLE_VARIABLE] = "trained: its dims are decided",
    [HLO_ROLE_OPTIMIZER_STATE] = "moments and the like, split as its variable",
    [HLO_ROLE_INPUT] = "training data, labels",
    [HLO_ROLE_HYPER] = "learning rate, step count, key",
    [HLO_ROLE_OTHER_STATE] = "carried over and not trained",
};

static const struct hlo_param_role *role_of(const struct panel *p)
{
    const struct asked *a = p->state;
    return &p->scene->problem->roles.params[a->param];
}

static uint32_t rank_of(const struct panel *p)
{
    return hlo_value_shape(p->scene->problem->m, role_of(p)->value)->rank;
}

/* A scalar that could be what the step makes small. */
static bool is_number(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, id);

    return !s->rank && s->type != HLO_TUPLE && hlo_type_info[s->type].class == 'F';
}

static int open_role(struct panel *p, const void *arg, struct err *e)
{
    struct asked *a = p->state;
    const struct problem *q = p->scene->problem;
    hlo_id id = *(const hlo_id *)arg;

    a->number = HLO_NONE;
    for (a->param = 0; q && id != HLO_NONE && a->param < q->roles.param_count; a->param++) {
        if (q->m->value_instruction[q->roles.params[a->param].value] == id) {
            list_fit(&a->list, HLO_ROLE_COUNT + (int64_t)rank_of(p),
                     HLO_ROLE_COUNT + (int)rank_of(p));
            list_go(&a->list, role_of(p)->role);
            return 0;
        }
    }
    if (!q || id == HLO_NONE || !is_number(q->m, id))
        return err_set(e, ERR_INPUT,
                       "roles are of parameters (variables, inputs, state) and of the loss, one "
                       "number");
    a->number = id;
    list_fit(&a->list, 1, 1);
    return 0;
}

static void draw_one(const struct panel *p, const struct pane *pane, int y, int64_t n)
{
    const struct asked *a = p->state;
    const struct problem *q = p->scene->problem;
    struct pane row = pane_part(pane, 0, y, pane->width, 1);

    if (!row.height)
        return;
    if (n < HLO_ROLE_COUNT) {
        pane_text(&row, 2, 0, ROLE_TEXT, hlo_role_names[n]);
        pane_text(&row, 20, 0, ROLE_DIM, meanings[n]);
        if (n == role_of(p)->role)
            pane_right_format(&row, row.width, 0, ROLE_PIN | BOLD, "by %s",
                              hlo_role_source_names[role_of(p)->source]);
    } else {
        uint32_t dim = (uint32_t)(n - HLO_ROLE_COUNT);
        label over;
        class_id k = problem_param_class(q, a->param, dim);
        pane_format(&row, 2, 0, ROLE_TEXT, "batch: dim %u", dim);
        pane_format(&row, 20, 0, ROLE_DIM, "of size %lld",
                    (long long)hlo_value_shape(q->m, role_of(p)->value)->dims[dim]);
        if (k != CLASS_NONE && k == plan_batch_class(q, &over))
            pane_right(&row, row.width, 0, ROLE_PIN | BOLD, "is the batch");
        else if (k == CLASS_NONE || !label_is_splittable(&q->labels, k))
            pane_right(&row, row.width, 0, ROLE_DIM, "can never be split");
    }
    if (n != a->list.cursor)
        return;
    pane_select(&row, 0, ROLE_SELECT);
    pane->grid->cursor_x = row.x;
    pane->grid->cursor_y = row.y;
}

static void draw_loss(struct panel *p, const struct pane *pane)
{
    const struct asked *a = p->state;
    const struct problem *q = p->scene->problem;
    const struct hlo_roles *r = &q->roles;
    bool is_found = r->loss != HLO_NONE;
    hlo_id now = is_found ? q->m->value_instruction[r->loss] : HLO_NONE;
    int y = pane->height >= 8 ? 2 : 1;

    pane_head(pane, 0, &(struct head){0, "Role", "r", true});
    pane_cut(pane, 0, y, pane->width, ROLE_TITLE | BOLD, hlo_name(q->m, a->number));
    y += pane->height >= 8 ? 2 : 1;
    pane_text(pane, 2, y, ROLE_TEXT, "loss");
    pane_text(pane, 20, y, ROLE_DIM, "what the step makes small");
    if (now == a->number)
        pane_right(pane, pane->width, y, ROLE_PIN | BOLD, "it is");
    pane_select(pane, y, ROLE_SELECT);
    pane->grid->cursor_x = pane->x;
    pane->grid->cursor_y = pane->y + y;
    if (!is_found)
        pane_format(pane, 2, y + 1, ROLE_WARN, "not found: %s", r->loss_source);
    else
        pane_format(pane, 2, y + 1, r->loss_confidence == HLO_DOUBTFUL ? ROLE_WARN : ROLE_DIM,
                    "now %.60s, %s: %s", hlo_name(q->m, now),
                    hlo_confidence_names[r->loss_confidence], r->loss_source);
}

static void draw_role(struct panel *p, const struct pane *pane)
{
    struct asked *a = p->state;

    if (a->number != HLO_NONE) {
        draw_loss(p, pane);
        return;
    }
    struct str shape = {0};
    int y = pane->height >= 12 ? 2 : 1;

    pane_head(pane, 0, &(struct head){0, "Role", "r", true});
    hlo_write_shape(p->scene->problem->m, p->scene->problem->m->value_shape[role_of(p)->value],
                    false, &shape);
    int x = pane_cut(pane, 0, y, pane->width - 24, ROLE_TITLE | BOLD, role_of(p)->name);
    pane_text(pane, x + 2, y, ROLE_DIM, shape.text ? shape.text : "");
    str_release(&shape);
    const struct hlo_param_role *r = role_of(p);
    char said[512], cut[512];
    snprintf(said, sizeof said, "%s, %s: %s", hlo_role_names[r->role],
             hlo_confidence_names[r->confidence], r->evidence);
    pane_text(pane, 2, ++y, r->confidence == HLO_DOUBTFUL ? ROLE_WARN : ROLE_DIM,
              text_cut_words(cut, sizeof cut, said, pane->width - 2));
    y += pane->height >= 12 ? 2 : 1;
    list_fit(&a->list, a->list.count, pane->height - y);
    for (int n = 0; n < a->list.rows && a->list.top + n < a->list.count; n++)
        draw_one(p, pane, y + n, a->list.top + n);
}

static bool act_role(struct panel *p, int action)
{
    const struct asked *a = p->state;
    const struct hlo_param_role *r = a->number == HLO_NONE ? role_of(p) : NULL;
    char line[COMMAND_TEXT_ROOM], name[COMMAND_TEXT_ROOM / 2];
    const struct scene *scene = p->scene;

    (void)action;
    if (a->number != HLO_NONE) {
        snprintf(line, sizeof line, "loss %s", hlo_name(scene->problem->m, a->number));
        host_close(scene);
        (void)host_command(scene, line);
        return true;
    }
    if (r->name[0] != '#' && !strpbrk(r->name, "*?") && strlen(r->name) < sizeof name)
        snprintf(name, sizeof name, "%s", r->name);
    else
        snprintf(name, sizeof name, "#%u", r->parameter);
    if (a->list.cursor < HLO_ROLE_COUNT)
        snprintf(line, sizeof line, "role %s=%s", name, hlo_role_names[a->list.cursor]);
    else
        snprintf(line, sizeof line, "batch %s:%d", name, (int)(a->list.cursor - HLO_ROLE_COUNT));
    host_close(scene);
    (void)host_command(scene, line);
    return true;
}

static bool move_role(struct panel *p, enum list_move move)
{
    struct asked *a = p->state;
    return list_move(&a->list, move);
}

static void click_role(struct panel *p, int x, int y, bool twice)
{
    struct asked *a = p->state;
    int row = y - (p->height >= 12 ? 5 : 3);

    (void)x;
    if (row < 0 || a->list.top + row >= a->list.count)
        return;
    list_go(&a->list, a->list.top + row);
    if (twice)
        act_role(p, ROLE_DO);
}

static int rows_role(const struct panel *p, int width)
{
    const struct asked *a = p->state;

    (void)width;
    if (a->number != HLO_NONE)
        return 7;
    return 6 + HLO_ROLE_COUNT + (int)rank_of(p);
}

static void say_what(const struct panel *p, char *out, size_t room)
{
    (void)p;
    snprintf(out, room, "the search starts over with it; u undoes it at any time");
}

const struct panel_ops view_role = {
    .name = "role",
    .title = "Role",
    .place = PLACE_DIALOG,
    .keys = &role_keys,
    .hints = "do down=choose escape=leave",
    .size = sizeof(struct asked),
    .open = open_role,
    .draw = draw_role,
    .act = act_role,
    .move = move_role,
    .click = click_role,
    .dialog_rows = rows_role,
    .message = say_what,
};
