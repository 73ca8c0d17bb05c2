/* automap cast SESSION: a search that was, as an asciicast: its time machine, from the first
 * episode to the last. */
#include "engine/live/journal.h"
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/app/app.h"
#include "tui/app/record.h"
#include "tui/app/script.h"
#include "tui/commands/commands.h"
#include "tui/files/sessions.h"
#include "tui/files/theme_file.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct request {
    const char *session, *out, *theme;
    uint32_t width, height, frames;
    bool force;
};

#define ARG(field) INTO(struct request, field)
static const struct option cast_rows[] = {
    {"SESSION", .values = VALUES_JOURNAL, ARG(session)},
    {"o", "FILE", "write it there (default: SESSION.cast)", .kind = OPTION_FILE,
     .values = VALUES_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"columns", "N", "of the screen (default: 120)", .kind = OPTION_WHOLE, ARG(width), .least = 20,
     .most = 500},
    {"rows", "N", "of the screen (default: 40)", .kind = OPTION_WHOLE, ARG(height), .least = 10,
     .most = 200},
    {"frames", "N", "at most, a tenth of a second each (default: 300)", .kind = OPTION_WHOLE,
     ARG(frames), .least = 2, .most = 100000},
    {"theme", "NAME", "colours (default: default)", .values = VALUES_THEME, ARG(theme)},
    {0},
};
#undef ARG
static const struct option_set cast_options[] = {{.rows = cast_rows}, {0}};

/* A copy that ends where the journal does: the session itself is not touched. */
static int copy_journal(const char *journal, const char *copy, struct err *e)
{
    struct journal_log log = {0};
    int rc = journal_read(journal, &log, e);

    if (rc)
        return rc;
    uint64_t last = log.record_count ? log.records[log.record_count - 1].step : 0;
    rc = journal_branch(&log, last, copy, e);
    journal_log_release(&log);
    return rc;
}

/* Every so many episodes a frame; the last one stays for a while. */
static int play_session(struct app *a, const struct request *r, const char *cast, struct err *e)
{
    uint64_t episodes = app_watch(a)->shot->episodes, shown = 0;
    const uint64_t frames = r->frames ? r->frames : 300;

    app_resize(a, r->width ? (int)r->width : 120, r->height ? (int)r->height : 40);
    int rc = app_open(a, &view_past, NULL, e);
    if (rc)
        return rc;
    app_key(a, 'g');
    rc = app_record_begin(a, cast, true, e);
    if (rc)
        return rc;
    for (uint64_t n = 0; n < frames && n <= episodes; n++) {
        uint64_t to = episodes < frames ? n : episodes * n / (frames - 1);
        for (; shown < to; shown++)
            app_key(a, 'l');
        app_touch(a);
        app_frame(a);
    }
    rc = app_failed(a, e);
    if (rc)
        return rc;
    return app_record_end(a) ? 0 : err_set(e, ERR_IO, "%.200s could not be written whole", cast);
}

/* A cast is there whole, or not at all. */
static int put_cast(const char *cast, const struct request *r, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(cast, SIZE_MAX, &text, e);

    rc = rc ? rc : file_write(r->out, text.text, text.size, true, e);
    str_release(&text);
    return rc;
}

/* What show_cast works in: a directory that is its own, and the files there. */
struct place {
    char dir[PATH_MAX], journal[PATH_MAX + 16], checkpoint[PATH_MAX + 32], cast[PATH_MAX + 16];
};

static int make_place(struct place *p, struct err *e)
{
    const char *dir = getenv("TMPDIR");

    if (snprintf(p->dir, sizeof p->dir, "%s/automap.XXXXXX", dir && *dir ? dir : "/tmp") >=
        (int)sizeof p->dir)
        return err_set(e, ERR_IO, "$TMPDIR is too long");
    if (!mkdtemp(p->dir))
        return err_set(e, ERR_IO, "cannot make %.200s: %s", p->dir, strerror(errno));
    snprintf(p->journal, sizeof p->journal, "%s/journal", p->dir);
    snprintf(p->cast, sizeof p->cast, "%s/cast", p->dir);
    if (!checkpoint_path(p->checkpoint, sizeof p->checkpoint, p->journal))
        p->checkpoint[0] = 0;
    return 0;
}

static void remove_place(const struct place *p)
{
    unlink(p->journal);
    unlink(p->cast);
    if (p->checkpoint[0])
        unlink(p->checkpoint);
    rmdir(p->dir);
}

static int show_cast(const struct request *r, const char *journal, struct err *e)
{
    struct app_setup setup = {.today = (int64_t)time(NULL)};
    struct app *a = NULL;
    struct place place;
    char data[PATH_MAX];
    int rc = theme_load(&setup.theme, r->theme ? r->theme : "default", e);

    if (rc)
        return rc;
    rc = make_place(&place, e);
    if (rc)
        return rc;
    rc = copy_journal(journal, place.journal, e);
    if (rc)
        goto out;
    setup.data_dir = file_data_dir(data, sizeof data) ? data : NULL;
    rc = app_new(&a, &setup, e);
    if (rc)
        goto out;
    rc = app_resume(a, place.journal, NULL, e);
    if (rc)
        goto out;
    rc = play_session(a, r, place.cast, e);
    if (rc)
        goto out;
    rc = put_cast(place.cast, r, e);
out:
    app_free(a);
    remove_place(&place);
    return rc;
}

static int run_cast(int argc, char **argv)
{
    const struct option_parser parser = {"cast", cast_options, NULL};
    struct request r = {0};
    char journal[PATH_MAX], state[PATH_MAX], out[PATH_MAX];
    struct err e = {0};
    int code = options_parse(&parser, &r, argc, argv);

    if (code)
        return code;
    if (!r.session)
        return options_complain("cast", "no session given; \"last\" is the newest");
    if (!session_find(journal, file_state_dir(state, sizeof state, false) ? state : NULL,
                      r.session))
        return options_complain("cast", "no session %.200s", r.session);
    if (!r.out) {
        const char *name = strrchr(journal, '/');
        snprintf(out, sizeof out, "%.*s.cast", PATH_MAX - 8, name ? name + 1 : journal);
        r.out = out;
    }
    code = overwrite_check(r.out, r.force);
    if (code)
        return code;
    if (!show_cast(&r, journal, &e)) {
        printf("%s\n", r.out);
        return EXIT_OK;
    }
    err_print(&e, stderr);
    return exit_code_of(&e);
}

const struct command command_cast = {
    .name = "cast",
    .usage = "SESSION",
    .summary = "play a past search into an asciicast",
    .about = "Plays the journal of a search, bit for bit, through the explorer's time machine and "
             "writes what it shows as an asciicast, version 2, which asciinema plays. SESSION is a "
             "journal, the name of one in sessions/, or last.",
    .options = cast_options,
    .run = run_cast,
};
