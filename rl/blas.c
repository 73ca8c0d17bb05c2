#include "rl/blas.h"

#include <stddef.h>
#include <sys/mman.h>

/* OpenBLAS maps this much, or allocates it, for each product that runs at the same time; what it
 * has it keeps for the next. */
enum { BUFFER_BYTES = (32 << 22) + (1 << 20) };

int rl_blas_start(void)
{
    static const float one = 1;
    float sum = 0;

    rl_blas_one_thread();
    void *room =
        mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return RL_E_MEMORY;
    munmap(room, BUFFER_BYTES);
    rl_gemm_nt(1, 1, 1, &one, &one, &sum, 1); /* takes it at once */
    return RL_OK;
}
