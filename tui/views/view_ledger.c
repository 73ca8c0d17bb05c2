/* V w, what if: every change of the problem as a row, with the proven optimum before and after;
 * back to any of them. */
#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/host.h"
#include "tui/views/ledger_draw.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/watch.h"

#include <stdio.h>

enum { LEDGER_GO, LEDGER_AGAIN, LEDGER_MARK, LEDGER_BATCH, LEDGER_BACK };
static const struct action ledger_actions[] = {
    [LEDGER_GO] = {"go", "in this view", "back to this row", "go there", "Enter", NULL},
    [LEDGER_AGAIN] = {"again", "in this view", "the same edit where you are", "same edit here", "+",
                      NULL},
    [LEDGER_MARK] = {"mark", "in this view", "mark a row to hold others against", "mark", "m or *",
                     NULL},
    [LEDGER_BATCH] = {"batch", "in this view", "twice the batch", "batch x2", "x", NULL},
    [LEDGER_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table ledger_keys = {"what-if", ledger_actions,
                                             sizeof ledger_actions / sizeof *ledger_actions};

const struct ledger *ledger_of(const struct panel *p)
{
    return p->scene->watch ? p->scene->watch->shot->ledger : NULL;
}

const struct ledger_row *ledger_here(const struct panel *p)
{
    const struct ledger_view *v = p->state;
    const struct ledger *l = ledger_of(p);

    return l && v->list.cursor < l->count ? &l->rows[v->list.cursor] : NULL;
}

const struct ledger_row *ledger_against(const struct panel *p)
{
    const struct ledger_view *v = p->state;
    const struct ledger_row *r = ledger_here(p);

    if (r && v->marked != LEDGER_UNMARKED && v->marked != r->number)
        return ledger_find(ledger_of(p), v->marked);
    return r ? ledger_before(ledger_of(p), r) : NULL;
}

/* The cursor follows where a person is. */
static void read_ledger(struct panel *p)
{
    struct ledger_view *v = p->state;
    const struct ledger *l = ledger_of(p);

    if (!l)
        return;
    list_fit(&v->list, l->count, v->list.rows ? v->list.rows : 1);
    if (!v->read || v->now != l->rows[l->now].number)
        list_go(&v->list, l->now);
    v->read = true;
    v->now = l->rows[l->now].number;
}

static int open_ledger(struct panel *p, const void *arg, struct err *e)
{
    struct ledger_view *v = p->state;

    (void)arg;
    if (!ledger_of(p))
        return err_set(e, ERR_INPUT, "no search is open");
    v->marked = LEDGER_UNMARKED;
    read_ledger(p);
    return 0;
}

static void mark(struct panel *p)
{
    struct ledger_view *v = p->state;
    uint32_t number = ledger_here(p)->number;

    v->marked = v->marked == number ? LEDGER_UNMARKED : number;
    if (v->marked == LEDGER_UNMARKED)
        host_say(p->scene, "rows are held against the ones they start from");
    else
        host_say(p->scene, "rows are held against row %u; m on it takes the mark away", number);
}

static bool act_ledger(struct panel *p, int action)
{
    const struct ledger_row *r = ledger_here(p);
    struct watch *w = p->scene->watch;
    char line[LEDGER_EDIT_ROOM];

    if (action == LEDGER_BACK) {
        host_close(p->scene);
    } else if (!r) {
        return false;
    } else if (action == LEDGER_MARK) {
        mark(p);
    } else if (action == LEDGER_BATCH) {
        (void)host_command(p->scene, "batch x2");
    } else if (action == LEDGER_AGAIN) {
        if (ledger_command(w, r, line, sizeof line))
            (void)host_command(p->scene, line);
        else
            host_say(p->scene, "this row is no edit that can be made again here");
    } else if (r == &ledger_of(p)->rows[ledger_of(p)->now]) {
        host_say(p->scene, "row %u is where you are", r->number);
    } else {
        watch_send(w, "row %u", r->number);
        host_say(p->scene, "back to row %u: its problem, pins and options; the search starts there",
                 r->number);
    }
    return true;
}

static bool move_ledger(struct panel *p, enum list_move move)
{
    struct ledger_view *v = p->state;
    return list_move(&v->list, move);
}

static bool page_ledger(const struct panel *p, struct str *out)
{
    if (ledger_of(p) && out)
        ledger_page(p->scene->watch, p->scene->model_name, out);
    return ledger_of(p) != NULL;
}

/* What w asks about: the decision the row is about, under the row's best plan, where its problem is
 * the one that is open. */
static int move_here(const struct panel *p)
{
    const struct ledger_row *r = ledger_here(p);
    const struct watch *w = p->scene->watch;

    return r && r->problem == w->problem ? watch_move_of(w, r->about) : MOVE_NONE;
}

static struct live_plan *plan_here(const struct panel *p)
{
    const struct ledger_row *r = ledger_here(p);

    return r && r->problem == p->scene->watch->problem ? r->optimum : NULL;
}

static void message_ledger(const struct panel *p, char *out, size_t room)
{
    const struct ledger_row *r = ledger_here(p);
    char proof[LEDGER_PROOF_ROOM], edit[LEDGER_EDIT_ROOM];

    if (!r)
        return;
    if (!((const struct ledger_view *)p->state)->tells)
        ledger_sentence(ledger_against(p), r, out, room);
    if (!out[0])
        snprintf(out, room, "row %u: %s; %s", r->number,
                 ledger_edit(p->scene->watch, r, edit, sizeof edit), ledger_proof(r, false, proof));
}

/* What is remembered across an edit: the mark, and the row of the cursor. */
static void *remember_ledger(const struct panel *p)
{
    struct ledger_view *kept = mem_try(1, sizeof *kept);

    if (kept)
        *kept = *(const struct ledger_view *)p->state;
    return kept;
}

static void recall_ledger(struct panel *p, const void *memory)
{
    struct ledger_view *v = p->state;
    v->marked = ((const struct ledger_view *)memory)->marked;
}

const struct panel_ops view_ledger = {
    .name = "what-if",
    .title = "What if",
    .place = PLACE_FULL,
    .of_search = true,
    .anew = true,
    .keys = &ledger_keys,
    .hints = "down=row go again mark batch undo options why export=page back",
    .size = sizeof(struct ledger_view),
    .open = open_ledger,
    .read = read_ledger,
    .remember = remember_ledger,
    .recall = recall_ledger,
    .draw = ledger_draw,
    .act = act_ledger,
    .move = move_ledger,
    .move_here = move_here,
    .plan_here = plan_here,
    .page = page_ledger,
    .message = message_ledger,
};
