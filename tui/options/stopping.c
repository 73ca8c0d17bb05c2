#include "tui/options/stopping.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* A handler gets no context, so this is the process's. */
static atomic_bool asked;
static struct sigaction before[SIGNALS];

static void on_signal(int number)
{
    (void)number;
    atomic_store(&asked, true);
}

const atomic_bool *stopping_begin(void)
{
    /* no SA_RESTART: it would go on waiting for the other end of a pipe */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    atomic_store(&asked, false);
    for (int n = 0; n < SIGNALS; n++) {
        sigaction(signals[n], NULL, &before[n]);
        if (signals[n] != SIGHUP || before[n].sa_handler != SIG_IGN) /* as nohup wants it */
            sigaction(signals[n], &action, NULL);
    }
    return &asked;
}

bool stopping_end(void)
{
    for (int n = 0; n < SIGNALS; n++)
        sigaction(signals[n], &before[n], NULL);
    return atomic_load(&asked);
}
