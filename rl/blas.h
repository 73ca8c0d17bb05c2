/* rl/blas.h - the only door to OpenBLAS. Private to rl/.
 *
 * cblas.h brings complex.h, whose macro I would reach every file. One thread: more are slower at
 * these sizes, and a product's sum must not depend on their number. */
#ifndef AUTOMAP_RL_BLAS_H
#define AUTOMAP_RL_BLAS_H

#include "rl/error.h"

#include <cblas.h>
#undef I

static inline void rl_blas_one_thread(void)
{
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

/* One thread, and room for the buffer of its products. RL_E_MEMORY: there is none, and a product
 * would ask for it without end (OpenBLAS, driver/others/memory.c). */
int rl_blas_start(void) RL_MUST_CHECK;

/* The products add to c, which the caller initialises: clearing it or filling it with the bias is
 * far quicker than letting OpenBLAS scale it by 0 (9 % of an update, measured). c[m x n] += a[m x
 * k] b[n x k]^T, all row-major, leading dimension of c given. */
static inline void rl_gemm_nt(int m, int n, int k, const float *a, const float *b, float *c,
                              int ldc)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, 1, c, ldc);
}

/* c[m x n] += a[m x k] b[k x n]. */
static inline void rl_gemm_nn(int m, int n, int k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 1, c, n);
}

/* c[m x n] += a[k x m]^T b[k x n]. */
static inline void rl_gemm_tn(int m, int n, int k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, m, b, n, 1, c, n);
}

/* y[m] += a[m x n] x[n]. */
static inline void rl_gemv(int m, int n, const float *a, const float *x, float *y)
{
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, n, x, 1, 1, y, 1);
}

#endif
