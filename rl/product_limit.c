#include "rl/product_limit.h"

#include "rl/aligned.h"
#include "rl/blas.h"
#include "rl/error.h"

/* out[m x n] = a[m x k] b[k x n], with either operand stored transposed. */
static void limit_product(struct rl_limit *l, bool ta, bool tb, int m, int n, int k)
{
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
                k, 1, l->a, ta ? m : k, l->b, tb ? k : n, 0, l->c, n);
    l->flops += 2.0 * m * n * k;
}

int rl_limit_init(struct rl_limit *l, const struct rl_net *net, uint32_t batch)
{
    size_t widest = net->width[0] > net->widest ? net->width[0] : net->widest;
    size_t most = widest * (widest > batch ? widest : batch);

    *l = (struct rl_limit){.net = *net, .batch = batch};
    l->a = rl_alloc(most, sizeof *l->a);
    l->b = rl_alloc(most, sizeof *l->b);
    l->c = rl_alloc(most, sizeof *l->c);
    if (!l->a || !l->b || !l->c) {
        rl_limit_release(l);
        return RL_E_MEMORY;
    }
    for (size_t i = 0; i < most; i++)
        l->a[i] = l->b[i] = 1e-3f * (float)(i % 7);
    int code = rl_blas_start();
    if (code)
        rl_limit_release(l);
    return code;
}

void rl_limit_release(struct rl_limit *l)
{
    free(l->a);
    free(l->b);
    free(l->c);
    *l = (struct rl_limit){0};
}

void rl_limit_run(struct rl_limit *l)
{
    int rows = (int)l->batch;

    l->flops = 0;
    for (uint32_t i = 0; i < l->net.layers; i++) {
        int in = (int)l->net.width[i];
        int out = i + 1 == l->net.layers ? (int)l->net.actions : (int)l->net.width[i + 1];
        for (int pass = 0; pass < 3; pass++)
            limit_product(l, false, true, rows, out, in);
        limit_product(l, true, false, out, in, rows);
        if (i)
            limit_product(l, false, false, rows, in, out);
    }
}
