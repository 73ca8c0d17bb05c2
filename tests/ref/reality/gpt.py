"""Training steps of GPT models of published runs, for `automap bench reality --runs own.yaml --modules OUT`: shapes alone,
layers in a scan, bf16 compute, f32 master weights, AdamW, tied embedding; full: every layer is recomputed.
usage: gpt.py OUT [NAME ..]    (needs jax)"""
import sys

import jax
import jax.numpy as jnp

from training import weights, write

#        name            layers width heads length batch recompute   batch of all devices
RUNS = [("gpt-1.3b-2k",   24, 2048, 16, 2048,  64, False),
        ("gpt-1.3b-8k",   24, 2048, 16, 8192,  16, False),
        ("gpt-2.7b-2k",   32, 2560, 32, 2048,  32, False),
        ("gpt-2.7b-8k",   32, 2560, 32, 8192,   8, False),
        ("gpt-1.7b-full", 24, 2304, 24, 2048, 512, True),
        ("gpt-3.6b-full", 30, 3072, 32, 2048, 512, True),
        ("gpt-7.5b-full", 36, 4096, 32, 2048, 512, True),
        ("gpt-18.4b-full", 40, 6144, 48, 2048, 1024, True),
        ("gpt-39b-full",  48, 8192, 64, 2048, 1536, True),        # these in stages: engine/hybrid/MEASUREMENTS.md
        ("gpt-76b-full",  60, 10240, 80, 2048, 1792, True),
        ("gpt-146b-full", 80, 12288, 96, 2048, 2304, True),
        ("gpt-310b-full", 96, 16384, 128, 2048, 2160, True),
        ("gpt-530b-full", 105, 20480, 128, 2048, 2520, True),
        ("gpt-1t-full",  128, 25600, 160, 2048, 3072, True),
        ("gpt-175b-full", 96, 12288, 96, 2048, 1536, True),
        ("mt-nlg-530b-full", 105, 20480, 128, 2048, 1920, True),
        ("bloom-176b-full", 70, 14336, 112, 2048, 2048, True)]
VOCABULARY = {"bloom-176b-full": 250880}
USUAL = 51200  # of all others


def norm(x, scale, bias):
    x = x.astype(jnp.float32)
    x = x - x.mean(-1, keepdims=True)
    x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return (x * scale + bias).astype(jnp.bfloat16)


def layer(x, p, heads):
    b, t, d = x.shape
    p = {k: v if k.startswith("ln") else v.astype(jnp.bfloat16) for k, v in p.items()}
    h = norm(x, p["ln1_scale"], p["ln1_bias"])
    q, k, v = (jnp.einsum("btd,dhe->bthe", h, p[n]) + p[n + "_bias"] for n in "qkv")
    s = jnp.einsum("bqhe,bkhe->bhqk", q, k) * (1 / (d // heads) ** 0.5)
    mask = jnp.tril(jnp.ones((t, t), bool))
    a = jax.nn.softmax(jnp.where(mask, s.astype(jnp.float32), -1e9), -1).astype(jnp.bfloat16)
    x = x + jnp.einsum("bhqk,bkhe,hed->bqd", a, v, p["o"], optimize="optimal") + p["o_bias"]
    h = norm(x, p["ln2_scale"], p["ln2_bias"])
    return x + jax.nn.gelu(h @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]


def loss(params, tokens, targets, heads, full):
    x = params["embed"].astype(jnp.bfloat16)[tokens] + params["positions"].astype(jnp.bfloat16)
    body = lambda x, p: (layer(x, p, heads), None)
    x, _ = jax.lax.scan(jax.checkpoint(body) if full else body, x, params["layers"])
    x = norm(x, params["ln_scale"], params["ln_bias"])
    logits = jnp.einsum("btd,vd->btv", x, params["embed"].astype(jnp.bfloat16)).astype(jnp.float32)
    return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]).mean()


def shapes(layers, width, heads, length, vocabulary):
    f, e = weights, width // heads
    p = {"ln1_scale": f(layers, width), "ln1_bias": f(layers, width), "ln2_scale": f(layers, width), "ln2_bias": f(layers, width),
         "o": f(layers, heads, e, width), "o_bias": f(layers, width), "up": f(layers, width, 4 * width), "up_bias": f(layers, 4 * width),
         "down": f(layers, 4 * width, width), "down_bias": f(layers, width)}
    for n in "qkv":
        p[n], p[n + "_bias"] = f(layers, width, heads, e), f(layers, heads, e)
    return {"embed": f(vocabulary, width), "positions": f(length, width), "ln_scale": f(width), "ln_bias": f(width), "layers": p}


for name, layers, width, heads, length, batch, full in RUNS:
    if sys.argv[2:] and name not in sys.argv[2:]:
        continue
    params = shapes(layers, width, heads, length, VOCABULARY.get(name, USUAL))
    write(sys.argv[1], name, params, batch, length, lambda p, x, y: loss(p, x, y, heads, full))
