/* A program run to its end without a shell, for tests that look at what it prints. */
#ifndef AUTOMAP_TESTS_RUN_PROGRAM_H
#define AUTOMAP_TESTS_RUN_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs argv[0] (a path) with standard input empty; what it prints on standard output and standard
 * error goes to `out`, at most room - 1 bytes of it, and ends with 0. Gives its exit code, -1 where
 * it ended by a signal. */
static inline int run_program(const char *const argv[], char *out, size_t room)
{
    posix_spawn_file_actions_t files;
    int ends[2], status;
    size_t size = 0;
    ssize_t got;
    char rest[512];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    assert_int_equal(posix_spawn(&child, argv[0], &files, NULL, (char *const *)argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    while ((got = read(ends[0], size < room - 1 ? out + size : rest,
                       size < room - 1 ? room - 1 - size : sizeof rest)) > 0)
        size += size < room - 1 ? (size_t)got : 0;
    out[size] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
