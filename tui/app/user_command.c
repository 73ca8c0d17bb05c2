#include "tui/app/user_command.h"

#include "engine/live/outcome.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_json.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/files/config.h"
#include "tui/files/shell_line.h"
#include "tui/files/user_files.h"
#include "tui/screen/keys.h"
#include "tui/views/panel.h"
#include "tui/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_MOST = 4096, TICK_MS = 50 };

struct user_commands {
    const struct user_command *commands;
    struct action actions[USER_COMMANDS_MOST];
    struct key_table keys;
    char dir[512], plan[528]; /* of {plan}; "": none was asked for */

    pid_t pid; /* beside the screen; 0: none */
    int from;  /* what it writes; -1 */
    int action;
    char output[OUTPUT_MOST];
    size_t size;
};

struct user_commands *user_commands_new(const struct app *a)
{
    int count = a->setup.command_count;
    struct user_commands *u;

    if (!count)
        return NULL;
    u = mem_alloc(sizeof *u);
    u->commands = a->setup.commands;
    u->from = -1;
    for (int n = 0; n < count; n++)
        u->actions[n] = (struct action){.name = u->commands[n].name,
                                        .group = "yours",
                                        .words = u->commands[n].about,
                                        .hint = u->commands[n].name,
                                        .vi = u->commands[n].key};
    u->keys = (struct key_table){"user", u->actions, count};
    return u;
}

const struct key_table *user_commands_keys(const struct user_commands *u)
{
    return u ? &u->keys : NULL;
}

static void drop_plan(struct user_commands *u)
{
    if (u->plan[0])
        unlink(u->plan);
    if (u->dir[0])
        rmdir(u->dir);
    u->plan[0] = u->dir[0] = 0;
}

static void drop_child(struct user_commands *u)
{
    if (u->from >= 0)
        close(u->from);
    u->from = -1;
    u->pid = 0;
    drop_plan(u);
}

/* Asks, then ends it: who leaves does not wait for a command that will not. */
static void end_child(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    kill(-pid, SIGTERM);
    for (int n = 0; n < 30; n++) {
        if (waitpid(pid, NULL, WNOHANG))
            return;
        nanosleep(&pause, NULL);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void user_commands_free(struct user_commands *u)
{
    if (!u)
        return;
    if (u->pid) {
        end_child(u->pid);
        drop_child(u);
    }
    drop_plan(u);
    free(u);
}

/* ---- values ---- */

/* The instruction a person looks at: of the view, else of the tree, else what makes the group. */
static hlo_id instruction_here(const struct app *a)
{
    const struct panel *p = app_top(a);
    hlo_id id = p && p->ops->instruction_here ? p->ops->instruction_here(p) : HLO_NONE;

    if (id == HLO_NONE && a->watch)
        id = a->watch->here;
    return id;
}

/* The group a person looks at: of the view, else of the linkage groups. */
static const char *group_here(const struct app *a)
{
    const struct panel *p = app_top(a);
    const struct watch *w = a->watch;
    int move = p && p->ops->move_here ? p->ops->move_here(p) : MOVE_NONE;

    if (move == MOVE_NONE && w)
        move = w->cursor;
    return w && move >= 0 && move < w->move_count ? w->move[move].name : NULL;
}

/* The plan that is shown, else the best, as a file that goes when the command has ended. */
static int write_plan(struct app *a, struct user_commands *u, struct err *e)
{
    const struct panel *p = app_top(a);
    const struct live_plan *shown = p && p->ops->plan_here ? p->ops->plan_here(p) : NULL;
    struct str text = {0};
    struct plan plan;
    int rc;

    shown = shown ? shown : a->watch ? a->watch->best : NULL;
    if (!shown)
        return err_set(e, ERR_INPUT, "there is no plan yet");
    rc = outcome_plan_shown(a->watch->shot, shown, &plan, e);
    if (rc)
        return rc;
    rc = plan_write_json(&plan, &text, e);
    plan_release(&plan);
    if (rc)
        goto out;
    const char *place = getenv("TMPDIR");
    if (!place || *place != '/' || strlen(place) + 32 > sizeof u->dir)
        place = "/tmp";
    snprintf(u->dir, sizeof u->dir, "%s/automap-plan-XXXXXX", place);
    if (!mkdtemp(u->dir)) {
        rc = err_set(e, ERR_IO, "%s: %s", u->dir, strerror(errno));
        u->dir[0] = 0;
        goto out;
    }
    snprintf(u->plan, sizeof u->plan, "%s/plan.json", u->dir);
    rc = file_write(u->plan, text.text, text.size, false, e);
out:
    str_release(&text);
    return rc;
}

/* The values its line asks for; one that is not there is said. */
static int find_values(struct app *a, struct user_commands *u, const char *line,
                       const char *values[static SHELL_PLACES], char number[static 16],
                       struct err *e)
{
    static const char *const lacks[SHELL_PLACES] = {
        [SHELL_GROUP] = "no linkage group is under the cursor",
        [SHELL_INSTRUCTION] = "no instruction is under the cursor",
        [SHELL_LINE] = "this instruction has no source line",
        [SHELL_FILE] = "this instruction has no source line"};
    hlo_id id = instruction_here(a);
    const struct hlo_meta *meta = id != HLO_NONE ? hlo_meta(a->problem->m, id) : NULL;

    values[SHELL_GROUP] = group_here(a);
    if (meta) {
        values[SHELL_INSTRUCTION] = hlo_name(a->problem->m, id);
        bool has_source = meta->source_file && meta->source_file[0];
        snprintf(number, 16, "%u", meta->source_line);
        values[SHELL_FILE] = has_source ? meta->source_file : NULL;
        values[SHELL_LINE] = has_source ? number : NULL;
    }
    if (shell_line_has(line, SHELL_PLAN)) {
        if (write_plan(a, u, e))
            return e->code;
        values[SHELL_PLAN] = u->plan;
    }
    for (int k = 0; k < SHELL_PLACES; k++) {
        if (!values[k] && shell_line_has(line, (enum shell_place)k))
            return err_set(e, ERR_INPUT, "%s", lacks[k]);
    }
    return 0;
}

/* ---- beside the screen ---- */

/* With a process group of its own, so that all of it can be ended. */
static int start_user(struct user_commands *u, char *line, struct err *e)
{
    char *args[] = {(char[]){"sh"}, (char[]){"-c"}, line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, pipes;
    int ends[2], rc;

    if (pipe(ends))
        return err_set(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE); /* ignored here, and by all that is started so */
    posix_spawnattr_setsigdefault(&how, &pipes);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn(&u->pid, "/bin/sh", &files, &how, args, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        u->pid = 0;
        return err_set(e, ERR_IO, "cannot start a shell: %s", strerror(rc));
    }
    u->from = ends[0];
    u->size = 0;
    fcntl(u->from, F_SETFL, O_NONBLOCK);
    fcntl(u->from, F_SETFD, FD_CLOEXEC);
    return 0;
}

/* The first line of what it wrote, and how it ended where that was not well. */
static void say_end(struct app *a, struct user_commands *u, int status)
{
    char said[256];
    size_t line = 0;

    while (line < u->size && u->output[line] != '\n')
        line++;
    text_clean(said, sizeof said, u->output, line);
    const char *name = u->commands[u->action].name;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        app_say(a, "%s", said[0] ? said : name);
    else if (WIFEXITED(status))
        app_say(a, "%s ended with %d%s%s", name, WEXITSTATUS(status), said[0] ? ": " : "", said);
    else
        app_say(a, "%s was ended by signal %d", name, WTERMSIG(status));
}

void user_commands_tick(struct app *a)
{
    struct user_commands *u = a->user;
    char more[512];
    ssize_t got;
    int status;

    if (!u || !u->pid)
        return;
    while ((got = read(u->from, more, sizeof more)) > 0) {
        size_t room = sizeof u->output - u->size, taken = (size_t)got < room ? (size_t)got : room;
        memcpy(u->output + u->size, more, taken);
        u->size += taken;
    }
    if (waitpid(u->pid, &status, WNOHANG) != u->pid)
        return;
    while ((got = read(u->from, u->output + u->size, sizeof u->output - u->size)) > 0)
        u->size += (size_t)got;
    say_end(a, u, status);
    drop_child(u);
}

double user_commands_next_ms(const struct app *a)
{
    return a->user && a->user->pid ? a->scene.now_ms + TICK_MS : -1;
}

/* ---- act ---- */

void user_commands_ended(struct app *a, int status)
{
    struct user_commands *u = a->user;

    u->size = 0;
    say_end(a, u, status);
    drop_plan(u);
}

void user_commands_act(struct app *a, int action)
{
    struct user_commands *u = a->user;
    const struct user_command *c = &u->commands[action];
    const char *values[SHELL_PLACES] = {NULL};
    struct str line = {0};
    char number[16] = "";
    struct err e = {0};

    if (u->pid) {
        app_say(a, "%s is still running", u->commands[u->action].name);
        return;
    }
    u->action = action;
    if (find_values(a, u, c->run, values, number, &e)) {
        app_say_err(a, &e);
        goto out;
    }
    shell_line_fill(c->run, values, &line);
    if (c->suspended) {
        str_clear(&a->wish_text);
        str_add_bytes(&a->wish_text, line.text, line.size);
        a->wish = APP_RUN;
        str_release(&line);
        return; /* the plan stays until it has ended */
    }
    if (!start_user(u, line.text, &e)) {
        app_say(a, "%s runs", c->name);
        str_release(&line);
        return;
    }
    app_say_err(a, &e);
out:
    drop_plan(u);
    str_release(&line);
}
