/* A training step of any length, for benchmarks: residual blocks x + W2 tanh(W1 x), their
 * gradients, momentum. Names and scopes as JAX writes them. */
#include "hlo/support/mem.h"
#include "tui/commands/bench.h"

enum { PER_BLOCK = 24 };

static void add_header(struct str *out, int blocks)
{
    str_add(out, "HloModule jit_train_step, input_output_alias={ ");
    for (int n = 0; n < 4 * blocks; n++)
        str_format(out, "%s{%d}: (%d, {}, may-alias)", n ? ", " : "", n, n);
    str_add(out, " }\n\nENTRY main {\n");
}

static void add_parameters(struct str *out, int blocks)
{
    static const char *const kinds[4] = {"params", "params", "momentum", "momentum"};
    static const char *const shapes[4] = {"f32[512,2048]", "f32[2048,512]", "f32[512,2048]",
                                          "f32[2048,512]"};
    static const char *const names[4] = {"w1", "w2", "m1", "m2"};

    for (int kind = 0; kind < 4; kind++) {
        for (int n = 0; n < blocks; n++)
            str_format(out,
                       "  %s.%d = %s parameter(%d), metadata={op_name=\"%s['layers_%d']['%s']\"}\n",
                       names[kind], n, shapes[kind], kind * blocks + n, kinds[kind], n,
                       kind % 2 ? "out" : "in");
    }
    str_format(out,
               "  x.0 = f32[256,512] parameter(%d), metadata={op_name=\"batch['x']\"}\n"
               "  one = f32[] constant(1)\n  ones = f32[256,2048] broadcast(one), dimensions={}\n"
               "  rate = f32[] constant(0.001)\n"
               "  rate1 = f32[512,2048] broadcast(rate), dimensions={}\n"
               "  rate2 = f32[2048,512] broadcast(rate), dimensions={}\n",
               4 * blocks);
}

static void add_forward(struct str *out, int n)
{
    char scope[96];

    snprintf(scope, sizeof scope, "metadata={op_name=\"jit(train_step)/jvp(layers_%d)/mlp", n);
    str_format(out,
               "  h.%d = f32[256,2048] dot(x.%d, w1.%d), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={0}, %s/in/dot_general\"}\n"
               "  t.%d = f32[256,2048] tanh(h.%d), %s/tanh\"}\n"
               "  y.%d = f32[256,512] dot(t.%d, w2.%d), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={0}, %s/out/dot_general\"}\n"
               "  x.%d = f32[256,512] add(x.%d, y.%d), %s/add\"}\n",
               n, n, n, scope, n, n, scope, n, n, n, scope, n + 1, n, n, scope);
}

static void add_backward(struct str *out, int n)
{
    char scope[96];

    snprintf(scope, sizeof scope,
             "metadata={op_name=\"jit(train_step)/transpose(jvp(layers_%d))/mlp", n);
    str_format(out,
               "  gt.%d = f32[256,2048] dot(g.%d, w2.%d), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={1}, %s/out/dot_general\"}\n"
               "  dw2.%d = f32[2048,512] dot(t.%d, g.%d), lhs_contracting_dims={0}, "
               "rhs_contracting_dims={0}, %s/out/dot_general\"}\n"
               "  tt.%d = f32[256,2048] multiply(t.%d, t.%d), %s/mul\"}\n"
               "  om.%d = f32[256,2048] subtract(ones, tt.%d), %s/sub\"}\n"
               "  gh.%d = f32[256,2048] multiply(gt.%d, om.%d), %s/mul\"}\n",
               n, n + 1, n, scope, n, n, n + 1, scope, n, n, n, scope, n, n, scope, n, n, n, scope);
    str_format(out,
               "  dw1.%d = f32[512,2048] dot(x.%d, gh.%d), lhs_contracting_dims={0}, "
               "rhs_contracting_dims={0}, %s/in/dot_general\"}\n"
               "  gx.%d = f32[256,512] dot(gh.%d, w1.%d), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={1}, %s/in/dot_general\"}\n"
               "  g.%d = f32[256,512] add(g.%d, gx.%d), %s/add_any\"}\n",
               n, n, n, scope, n, n, n, scope, n, n + 1, n, scope);
}

static void add_update(struct str *out, int n, int which, const char *shape)
{
    char scope[64];

    snprintf(scope, sizeof scope, "metadata={op_name=\"jit(train_step)/update/");
    str_format(out,
               "  v%d.%d = %s multiply(m%d.%d, rate%d), %smul\"}\n"
               "  n%d.%d = %s add(v%d.%d, dw%d.%d), %sadd\"}\n"
               "  s%d.%d = %s multiply(n%d.%d, rate%d), %smul\"}\n"
               "  u%d.%d = %s subtract(w%d.%d, s%d.%d), %ssub\"}\n",
               which, n, shape, which, n, which, scope, which, n, shape, which, n, which, n, scope,
               which, n, shape, which, n, which, scope, which, n, shape, which, n, which, n, scope);
}

static void add_root(struct str *out, int blocks)
{
    static const char *const shapes[4] = {"f32[512,2048]", "f32[2048,512]", "f32[512,2048]",
                                          "f32[2048,512]"};
    static const char *const names[4] = {"u1", "u2", "n1", "n2"};

    str_add(out, "  ROOT out = (");
    for (int n = 0; n < 4 * blocks; n++)
        str_format(out, "%s%s", n ? ", " : "", shapes[n / blocks]);
    str_add(out, ") tuple(");
    for (int n = 0; n < 4 * blocks; n++)
        str_format(out, "%s%s.%d", n ? ", " : "", names[n / blocks], n % blocks);
    str_add(out, ")\n}\n");
}

bool bench_write_module(struct str *out, uint32_t instructions)
{
    int blocks = (int)((instructions + PER_BLOCK - 1) / PER_BLOCK);

    add_header(out, blocks);
    add_parameters(out, blocks);
    for (int n = 0; n < blocks; n++)
        add_forward(out, n);
    str_format(out, "  g.%d = f32[256,512] negate(x.%d)\n", blocks, blocks);
    for (int n = blocks; n-- > 0;)
        add_backward(out, n);
    for (int n = 0; n < blocks; n++) {
        add_update(out, n, 1, "f32[512,2048]");
        add_update(out, n, 2, "f32[2048,512]");
    }
    add_root(out, blocks);
    return !out->failed;
}
