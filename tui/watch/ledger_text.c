#include "tui/watch/ledger_text.h"

#include "engine/cost/memory.h"
#include "engine/decide/names.h"
#include "engine/live/command.h"
#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/watch/figures.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one row ---- */

static const struct ledger *ledger_of(const struct watch *w)
{
    return w->shot->ledger;
}

/* "pin encoder self = 1" of "pin @3=1": rows keep the class, whatever decision it is by now. */
static void write_pin(const struct watch *w, const struct ledger_row *r, char *out, size_t room)
{
    const char *at = strchr(r->text, '@'), *equals = strchr(r->text, '=');
    int move = r->about < w->problem->classes.count ? watch_move_of(w, r->about) : MOVE_NONE;
    char name[NAME_ROOM];

    if (!at || r->about >= w->names.count) {
        snprintf(out, room, "%s", r->text);
        return;
    }
    snprintf(out, room, "%s %.80s%s%s", live_command_names[r->verb],
             move == MOVE_NONE ? class_name(&w->names, r->about, name) : w->move[move].name,
             equals ? " = " : "", equals ? equals + 1 : "");
}

static bool is_pin(const struct ledger_row *r)
{
    return r->verb == COMMAND_PIN || r->verb == COMMAND_UNPIN || r->verb == COMMAND_FORBID ||
           r->verb == COMMAND_BACKTRACK;
}

char *ledger_edit(const struct watch *w, const struct ledger_row *r, char *out, size_t room)
{
    const struct ledger_row *from = ledger_find(ledger_of(w), r->from);

    if (r->verb == COMMAND_VERB_COUNT)
        snprintf(out, room, "opened  %s, batch %lld", r->problem->cluster.name,
                 (long long)problem_batch_size(r->problem));
    else if (is_pin(r))
        write_pin(w, r, out, room);
    else if (r->verb == COMMAND_SET)
        snprintf(out, room, "%s", r->text + strlen("set "));
    else if (r->verb == COMMAND_SERVERS || !from)
        snprintf(out, room, "%s", r->text);
    else if (!figure_change(from->problem, r->problem, out, room))
        snprintf(out, room, "%s", r->text);
    return out;
}

char *ledger_proof(const struct ledger_row *r, bool brief, char out[static LEDGER_PROOF_ROOM])
{
    const struct live_plan *plan = r->optimum;
    const char *decided = watch_decides[r->decides];

    if (plan && plan->proven && plan->fits)
        snprintf(out, LEDGER_PROOF_ROOM, brief ? "proven optimum" : "proven over %s", decided);
    else if (plan && plan->proven)
        snprintf(out, LEDGER_PROOF_ROOM, "no split%s%s fits", brief ? "" : " of ",
                 brief ? "" : decided);
    else
        snprintf(out, LEDGER_PROOF_ROOM, "%s",
                 !plan        ? "no plan known"
                 : plan->fits ? "best found"
                              : "none found");
    return out;
}

bool ledger_command(const struct watch *w, const struct ledger_row *r, char *out, size_t room)
{
    const char *equals = strchr(r->text, '=');
    int move = r->about < w->problem->classes.count ? watch_move_of(w, r->about) : MOVE_NONE;

    if (r->verb == COMMAND_VERB_COUNT || strlen(r->text) >= LEDGER_TEXT_MOST)
        return false;
    if (!strchr(r->text, '@')) {
        snprintf(out, room, "%s", r->text);
        return true;
    }
    snprintf(out, room, "%s @%d%s", live_command_names[r->verb], move, equals ? equals : "");
    return move != MOVE_NONE;
}

static struct versus_side side_of(const struct ledger_row *r, const char *name)
{
    return (struct versus_side){name, r->figures.cost, r->figures.reduced_bytes};
}

/* "Row 4 takes 64 samples a step, row 0 32: a sample takes 6.34 ms instead of 6.42 ms, 1.3 % less."
 * Steps of other work are not held against each other. */
static char *sample_sentence(const struct versus_side *x, double samples_x,
                             const struct versus_side *y, double samples_y, char *out, size_t room)
{
    double was = x->cost.step_ms / samples_x, is = y->cost.step_ms / samples_y;
    char a[UNITS_ROOM], b[UNITS_ROOM], by[UNITS_ROOM];

    int size = snprintf(out, room, "%s takes %.0f samples a step, %s %.0f: a sample takes ",
                        y->name, samples_y, x->name, samples_x);
    if (size < 0 || (size_t)size >= room)
        return out;
    if (fabs(is / was - 1) < 5e-4)
        snprintf(out + size, room - (size_t)size, "as long, %s.", units_ms(a, is));
    else
        snprintf(out + size, room - (size_t)size, "%s instead of %s, %s %s.", units_ms(a, is),
                 units_ms(b, was), units_percent(by, fabs(is / was - 1)),
                 is < was ? "less" : "more");
    out[0] = (char)toupper((unsigned char)out[0]);
    return out;
}

char *ledger_sentence(const struct ledger_row *before, const struct ledger_row *r, char *out,
                      size_t room)
{
    char a[32], b[32];

    out[0] = 0;
    if (!before || !ledger_has_plan(before) || !ledger_has_plan(r))
        return out;
    snprintf(a, sizeof a, "row %u", before->number);
    snprintf(b, sizeof b, "row %u", r->number);
    const struct versus_side x = side_of(before, a), y = side_of(r, b);
    int64_t was = problem_batch_size(before->problem), is = problem_batch_size(r->problem);
    if (was != is && was > 0 && is > 0)
        return sample_sentence(&x, (double)was, &y, (double)is, out, room);
    return versus_sentence(&x, &y, out, room);
}

/* ---- all of them ---- */

/* No act up to it asks for other machines or other work. */
static bool is_free(const struct ledger *l, const struct ledger_row *r)
{
    for (; r && r->from != r->number; r = ledger_find(l, r->from)) {
        if (r->verb == COMMAND_CLUSTER || r->verb == COMMAND_BATCH || r->verb == COMMAND_ROLE ||
            r->verb == COMMAND_LOSS)
            return false;
    }
    return r;
}

/* The fastest row on the same cluster for the same batch and roles as row 0, and faster than that;
 * NULL: none is. */
static const struct ledger_row *best_free(const struct ledger *l)
{
    const struct ledger_row *best = &l->rows[0];

    for (uint32_t n = 1; n < l->count && ledger_has_plan(&l->rows[0]); n++) {
        const struct ledger_row *r = &l->rows[n];
        if (ledger_has_plan(r) && is_free(l, r) &&
            r->figures.cost.step_ms < best->figures.cost.step_ms * (1 - 1e-9))
            best = r;
    }
    return best == &l->rows[0] ? NULL : best;
}

static void add_sentence(const struct watch *w, struct str *out)
{
    const struct ledger *l = ledger_of(w);
    const struct ledger_row *start = &l->rows[0], *best = best_free(l);
    uint32_t alike = 0;
    char text[256], edit[LEDGER_EDIT_ROOM], ms[UNITS_ROOM];

    for (uint32_t n = 1; n < l->count; n++)
        alike += is_free(l, &l->rows[n]);
    if (!ledger_has_plan(start)) {
        str_format(out, "As opened, no plan fits; of %u changes below, those with a step have one.",
                   l->count - 1);
    } else if (best) {
        str_format(out, "%s It is the fastest without other machines or other work: %s.",
                   ledger_sentence(start, best, text, sizeof text),
                   ledger_edit(w, best, edit, sizeof edit));
    } else if (alike) {
        str_format(out,
                   alike == 1
                       ? "A step takes %s; the one change on the same machines is not faster."
                       : "A step takes %s; none of the %u changes on the same machines is faster.",
                   units_ms(ms, start->figures.cost.step_ms), alike);
    } else {
        str_format(out, "A step takes %s; all changes ask for other machines or other work.",
                   units_ms(ms, start->figures.cost.step_ms));
    }
    str_add(out, "\n\n");
}

static void add_number(struct str *out, bool there, double value, int decimals)
{
    char text[UNITS_ROOM];

    str_format(out, " %s |", there ? units_number(text, value, decimals) : "-");
}

static void add_change(struct str *out, bool there, double value, int decimals, bool far)
{
    char text[UNITS_ROOM];

    str_format(out, " %s%s |", there ? units_change(text, value, decimals) : "-",
               there && far ? "\\*" : "");
}

bool ledger_in_mb(const struct ledger *l)
{
    double most = 0;

    for (uint32_t n = 0; n < l->count; n++)
        most = ledger_has_plan(&l->rows[n]) ? fmax(most, l->rows[n].figures.memory.peak) : most;
    return most < 1e9;
}

static void add_row(const struct watch *w, const struct ledger_row *r, struct str *out)
{
    const struct ledger *l = ledger_of(w);
    double unit = ledger_in_mb(l) ? 1e6 : 1e9;
    int digits = ledger_in_mb(l) ? 1 : 2;
    const struct ledger_row *before = ledger_before(l, r);
    bool has = ledger_has_plan(r), both = has && before, far = before && before->number != r->from;
    const struct ledger_figures *f = &r->figures, *b = before ? &before->figures : NULL;
    int decimals = units_ms_decimals(l->rows[0].figures.cost.step_ms);
    char edit[LEDGER_EDIT_ROOM], proof[LEDGER_PROOF_ROOM];

    str_format(out, r->number ? "| %u | %u | %s |" : "| %u | %.0u | %s |", r->number, r->from,
               ledger_edit(w, r, edit, sizeof edit));
    add_number(out, before, b ? b->cost.step_ms : 0, decimals);
    add_number(out, has, f->cost.step_ms, decimals);
    add_change(out, both, b ? f->cost.step_ms - b->cost.step_ms : 0, decimals, far);
    add_number(out, has, f->memory.peak / unit, digits);
    add_change(out, both, b ? (f->memory.peak - b->memory.peak) / unit : 0, digits, far);
    str_format(out, " %s%s |\n", ledger_proof(r, false, proof),
               r == &l->rows[l->now] ? ", now" : "");
}

void ledger_page(const struct watch *w, const char *model, struct str *out)
{
    const struct ledger *l = ledger_of(w);
    char text[256];

    str_format(out, "# %s on %s: what if\n\n", model, l->rows[0].problem->cluster.name);
    add_sentence(w, out);
    str_format(
        out,
        "Each row is one change of the row it starts from; before and after are the "
        "proven optimum under the pins and options of either row.\n\n"
        "## Changes\n\n"
        "| # | from | edit | before, ms | after, ms | change | memory, %s | change | proof |\n"
        "|---:|---:|---|---:|---:|---:|---:|---:|---|\n",
        ledger_in_mb(l) ? "MB" : "GB");
    for (uint32_t n = 0; n < l->count; n++)
        add_row(w, &l->rows[n], out);
    str_add(out, "\n\\* against the last row before it that has a plan.\n\n## Row by row\n\n");
    for (uint32_t n = 1; n < l->count; n++) {
        ledger_sentence(ledger_before(l, &l->rows[n]), &l->rows[n], text, sizeof text);
        if (text[0])
            str_format(out, "%s\n\n", text);
    }
}
