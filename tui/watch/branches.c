#include "tui/watch/branches.h"

#include "engine/live/journal.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "tui/files/sessions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static double ms_of(const struct journal_record *r)
{
    double ms;

    memcpy(&ms, &r->ms, sizeof ms);
    return ms;
}

/* What moves the search on or stops it is no act. */
static bool is_act(const char *command)
{
    static const char *const drives[] = {"run", "pause", "decide", "episode", "pace", "quit"};
    size_t size = strcspn(command, " ");

    for (size_t n = 0; n < sizeof drives / sizeof *drives; n++) {
        if (strlen(drives[n]) == size && !strncmp(drives[n], command, size))
            return false;
    }
    return true;
}

/* What was done and found where `b` goes its own way. */
static void take_points(const struct journal_log *b, struct past_branch *out)
{
    out->points = 0;
    out->best_ms = 0;
    for (size_t n = 0; n < b->record_count; n++) {
        const struct journal_record *r = &b->records[n];
        bool best = r->kind == 'b', told = journal_is_command(r) && is_act(b->text + r->command);
        out->last = r->step > out->last ? r->step : out->last;
        if (best)
            out->best_ms = ms_of(r);
        if (r->step >= out->parts && (best || told) && out->points < BRANCH_POINTS)
            out->point[out->points++] = (struct branch_point){r->step, best ? ms_of(r) : 0};
    }
}

int branches_find(struct past_branch out[static BRANCHES_MOST], int *more, const char *state_dir,
                  const char *journal, const struct journal_log *log, const atomic_bool *stop)
{
    struct session_name names[SESSIONS_MOST];
    const char *own = hlo_file_name(journal), *dot = strrchr(own, '.');
    size_t same = dot ? (size_t)(dot - own) : strlen(own); /* MODEL.CLUSTER */
    int all = state_dir ? session_names(names, state_dir) : 0, count = 0;
    char path[PATH_MAX];

    *more = 0;
    for (int n = 0; n < all && !atomic_load(stop); n++) {
        struct journal_log other = {0};
        struct err e = {0};
        uint64_t parts;
        if (!strcmp(names[n].text, own) || strncmp(names[n].text, own, same) != 0 ||
            !session_find(path, state_dir, names[n].text) || !journal_starts_as(log, path))
            continue;
        if (!journal_read(path, &other, &e) && journal_parts(log, &other, &parts)) {
            if (count < BRANCHES_MOST) {
                struct past_branch *b = &out[count++];
                *b = (struct past_branch){.parts = parts};
                memcpy(b->name, names[n].text, sizeof b->name);
                take_points(&other, b);
            } else {
                ++*more;
            }
        }
        journal_log_release(&other);
    }
    return count;
}
