#include "rl/threads.h"

#include "rl/blas.h"

/* OpenBLAS's own, exported by its builds with threads (driver/others/blas_server.c). */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void rl_threads_stop(void)
{
    rl_blas_one_thread(); /* first: with one thread set, none is started again */
    if (blas_thread_shutdown_)
        blas_thread_shutdown_();
}
