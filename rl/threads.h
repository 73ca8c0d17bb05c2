/* rl/threads.h - OpenBLAS without threads of its own. */
#ifndef AUTOMAP_RL_THREADS_H
#define AUTOMAP_RL_THREADS_H

/* OpenBLAS starts a thread per processor when the program does, and each waits for work by turning
 * on its processor for some 30 ms. Here they never get any: this ends them. Once, at the start of
 * main. Where OpenBLAS has no such door it only sets the number of threads. */
void rl_threads_stop(void);

#endif
