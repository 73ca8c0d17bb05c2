#!/usr/bin/env python3
"""Makes the modules of tests/data/recompute, and XLA's memory of each: xla.json.

One GPT of 8 layers in a scan, AdamW, under jax.checkpoint with names saved: all of them, none, some;
and without jax.checkpoint. XLA's figure is temp_size_in_bytes of the step compiled for one CPU
device. Made with jax 0.10.2: make.py OUT_DIR
"""
import functools, gzip, json, os, sys
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name as name

L, B, T, D, H, V = 8, 8, 512, 512, 8, 4096
NAMES = ['n1', 'q', 'k', 'v', 's', 'p', 'c', 'o', 'n2', 'u', 'g']


def norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def layer(x, w):
    n1 = name(norm(x, w['s1']), 'n1')
    q, k, v = (name(jnp.einsum('btd,dhe->bthe', n1, w[a]), a) for a in 'qkv')
    s = name(jnp.einsum('bqhe,bkhe->bhqk', q, k) * (D // H) ** -0.5, 's')
    s = jnp.where(jnp.tril(jnp.ones((T, T), bool)), s, -1e9)
    p = name(jax.nn.softmax(s, -1), 'p')
    c = name(jnp.einsum('bhqk,bkhe->bqhe', p, v), 'c')
    x = x + name(jnp.einsum('bqhe,hed->bqd', c, w['o']), 'o')
    n2 = name(norm(x, w['s2']), 'n2')
    u = name(n2 @ w['up'], 'u')
    g = name(jax.nn.gelu(u), 'g')
    return x + g @ w['down'], None


def make(policy):
    def body(x, w):
        return layer(x, w)

    if policy == 'names':
        body = jax.checkpoint(body, policy=jax.checkpoint_policies.save_only_these_names(*NAMES),
                              prevent_cse=False)
    elif policy == 'full':
        body = jax.checkpoint(body, prevent_cse=False)
    elif policy == 'selective':
        kept = [n for n in NAMES if n not in ('s', 'p')]
        body = jax.checkpoint(body, policy=jax.checkpoint_policies.save_only_these_names(*kept),
                              prevent_cse=False)

    def loss(params, tokens):
        x = params['embed'][tokens]
        x, _ = jax.lax.scan(body, x, params['layers'])
        logits = x @ params['head']
        return -jax.nn.log_softmax(logits)[..., 0].mean()

    def step(params, m, v, tokens):
        g = jax.grad(loss)(params, tokens)
        m = jax.tree.map(lambda a, b: .9 * a + .1 * b, m, g)
        v = jax.tree.map(lambda a, b: .99 * a + .01 * b * b, v, g)
        params = jax.tree.map(lambda a, b, c: a - 1e-3 * b / (jnp.sqrt(c) + 1e-8), params, m, v)
        return params, m, v

    return step


def shapes():
    f = lambda *s: jax.ShapeDtypeStruct(s, jnp.float32)
    e = D // H
    layers = {'s1': f(L, D), 's2': f(L, D), 'q': f(L, D, H, e), 'k': f(L, D, H, e),
              'v': f(L, D, H, e), 'o': f(L, H, e, D), 'up': f(L, D, 4 * D), 'down': f(L, 4 * D, D)}
    params = {'embed': f(V, D), 'head': f(D, V), 'layers': layers}
    return params, params, params, jax.ShapeDtypeStruct((B, T), jnp.int32)


def main(out):
    figures = {}
    for policy in ('plain', 'names', 'selective', 'full'):
        lowered = jax.jit(make(policy), donate_argnums=(0, 1, 2)).lower(*shapes())
        with gzip.GzipFile(os.path.join(out, f'gpt-{policy}.hlo.txt.gz'), 'wb', mtime=0) as f:
            f.write(lowered.as_text('hlo').encode())
        figures[policy] = lowered.compile().memory_analysis().temp_size_in_bytes
    with open(os.path.join(os.path.dirname(__file__), 'xla.json'), 'w') as f:
        json.dump({'jax': jax.__version__, 'temp_bytes': figures}, f, indent=1)
        f.write('\n')


main(sys.argv[1])
