/* Other programs that a benchmark is held against. */
#include "tui/commands/bench.h"

#include <spawn.h>
#include <unistd.h>

extern char **environ;

FILE *bench_start(const char *const *argv, const char *input, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe(ends))
        return NULL;
    posix_spawn_file_actions_init(&actions);
    if (input)
        posix_spawn_file_actions_addopen(&actions, 0, input, 0, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int code = posix_spawnp(child, argv[0], &actions, NULL, (char **)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code) {
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}
