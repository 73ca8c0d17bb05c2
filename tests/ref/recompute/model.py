"""A small GPT whose layers run in a scan, each value on a line of its own: what follow.py rewrites."""
import jax, jax.numpy as jnp

L, B, T, D, H, V = 8, 8, 256, 256, 4, 1024


def body(x, w):
    a = x - x.mean(-1, keepdims=True)
    n1 = a * jax.lax.rsqrt((a * a).mean(-1, keepdims=True) + 1e-5) * w['s1']
    q = jnp.einsum('btd,dhe->bthe', n1, w['q'])
    k = jnp.einsum('btd,dhe->bthe', n1, w['k'])
    v = jnp.einsum('btd,dhe->bthe', n1, w['v'])
    s = jnp.einsum('bqhe,bkhe->bhqk', q, k)
    s = jnp.where(jnp.tril(jnp.ones((T, T), bool)), s * (D // H) ** -0.5, -1e9)
    e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
    p = e / e.sum(-1, keepdims=True)
    c = jnp.einsum('bhqk,bkhe->bqhe', p, v)
    o = jnp.einsum('bqhe,hed->bqd', c, w['o'])
    x = x + o
    b = x - x.mean(-1, keepdims=True)
    n2 = b * jax.lax.rsqrt((b * b).mean(-1, keepdims=True) + 1e-5) * w['s2']
    u = n2 @ w['up']
    g = jnp.tanh(u)
    x = x + g @ w['down']
    return x, None


def run(x, layers):
    return jax.lax.scan(body, x, layers)[0]


def loss(params, tokens):
    x = run(params['embed'][tokens], params['layers'])
    return -jax.nn.log_softmax(x @ params['head'])[..., 0].mean()


def step(params, m, tokens):
    g = jax.grad(loss)(params, tokens)
    m = jax.tree.map(lambda a, b: .9 * a + .1 * b, m, g)
    return jax.tree.map(lambda a, b: a - 1e-2 * b, params, m), m


def params(rng):
    e = D // H
    f = lambda *s: (rng.standard_normal(s) * s[-2] ** -0.5).astype('float32')
    layers = {'s1': f(L, D) * 0 + 1, 's2': f(L, D) * 0 + 1, 'q': f(L, D, H, e), 'k': f(L, D, H, e),
              'v': f(L, D, H, e), 'o': f(L, H, e, D), 'up': f(L, D, 4 * D), 'down': f(L, 4 * D, D)}
    return {'embed': f(V, D), 'head': f(D, V), 'layers': layers}
