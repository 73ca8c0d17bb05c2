"""Training steps of Llama-like models of published runs, for `automap bench reality --runs frameworks.yaml --modules OUT`:
shapes alone, layers in a scan, bf16 compute, f32 master weights, AdamW, attention written out (`--attention fused` prices it
as the kernel that ran). What a layer keeps: the products of torchtitan's selective checkpointing (every second one), MaxText's
`minimal` (all but attention), or what it names.
usage: llama.py OUT [NAME ..]    (needs jax)"""
import sys

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from training import weights, write

TITAN = ("q", "v", "gate", "context")  # products 1, 3 and 5 of a layer, and attention
#        name             layers width heads groups of_head  ffn  vocabulary length batch keeps
RUNS = [("llama-8b-16",      32,  4096,  32,  8, 128, 14336, 128256, 8192,   16, TITAN),
        ("llama-8b-256",     32,  4096,  32,  8, 128, 14336, 128256, 8192,  256, TITAN),
        ("maxtext-64b",      64,  8192,  64, 64, 128, 28672,  32000, 2048,  192, "minimal"),
        ("maxtext-128b",     64,  8192, 128, 128, 128, 57344, 32000, 2048,  128, "minimal"),
        ("maxtext-256b",     64, 16384, 128, 128, 128, 57344, 32000, 2048,  512, "minimal"),
        ("llama2-70b-v6e",   80,  8192,  64,  8, 128, 28672,  32000, 4096,  512, ("q", "k", "v")),
        ("llama31-8b-v6e",   32,  4096,  32,  8, 128, 14336, 128256, 8192, 1024, ("q", "k", "v", "out")),
        ("llama31-70b-v6e",  80,  8192,  64,  8, 128, 28672, 128256, 8192, 1280, ("q", "k", "v"))]


def norm(x, scale):
    x = x.astype(jnp.float32)
    return (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale).astype(jnp.bfloat16)


def rotate(x, angle):
    a, b = jnp.split(x, 2, -1)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    shape = (1, x.shape[1]) + (1,) * (x.ndim - 3) + (cos.shape[-1],)
    cos, sin = cos.reshape(shape), sin.reshape(shape)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def layer(x, p, angle):
    t, e = x.shape[1], p["q"].shape[-1]
    w = {k: v.astype(jnp.bfloat16) for k, v in p.items() if not k.startswith("norm")}
    h = norm(x, p["norm1"])
    q = rotate(checkpoint_name(jnp.einsum("btd,dgre->btgre", h, w["q"]), "q"), angle)
    k = rotate(checkpoint_name(jnp.einsum("btd,dge->btge", h, w["k"]), "k"), angle)
    v = checkpoint_name(jnp.einsum("btd,dge->btge", h, w["v"]), "v")
    s = jnp.einsum("bqgre,bkge->bgrqk", q, k) * (1 / e ** 0.5)
    mask = jnp.tril(jnp.ones((t, t), bool))
    a = jax.nn.softmax(jnp.where(mask, s.astype(jnp.float32), -1e9), -1).astype(jnp.bfloat16)
    c = checkpoint_name(jnp.einsum("bgrqk,bkge->bqgre", a, v), "context")
    x = x + checkpoint_name(jnp.einsum("bqgre,gred->bqd", c, w["o"]), "out")
    h = norm(x, p["norm2"])
    gate = checkpoint_name(h @ w["gate"], "gate")
    return x + (jax.nn.silu(gate) * checkpoint_name(h @ w["up"], "up")) @ w["down"]


def loss(params, tokens, targets, keeps):
    policies = jax.checkpoint_policies
    policy = policies.dots_with_no_batch_dims_saveable if keeps == "minimal" else policies.save_only_these_names(*keeps)
    e = params["layers"]["q"].shape[-1]
    angle = jnp.arange(tokens.shape[1])[:, None] / 10000.0 ** (jnp.arange(e // 2) * 2 / e)
    x = params["embed"].astype(jnp.bfloat16)[tokens]
    x, _ = jax.lax.scan(jax.checkpoint(lambda x, p: (layer(x, p, angle), None), policy=policy), x, params["layers"])
    logits = (norm(x, params["norm"]) @ params["head"].astype(jnp.bfloat16)).astype(jnp.float32)
    return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]).mean()


def shapes(layers, width, heads, groups, e, ffn, vocabulary):
    f = weights
    p = {"norm1": f(layers, width), "norm2": f(layers, width), "q": f(layers, width, groups, heads // groups, e),
         "k": f(layers, width, groups, e), "v": f(layers, width, groups, e), "o": f(layers, groups, heads // groups, e, width),
         "gate": f(layers, width, ffn), "up": f(layers, width, ffn), "down": f(layers, ffn, width)}
    return {"embed": f(vocabulary, width), "head": f(width, vocabulary), "norm": f(width), "layers": p}


for name, *sizes, length, batch, keeps in RUNS:
    if sys.argv[2:] and name not in sys.argv[2:]:
        continue
    write(sys.argv[1], name, shapes(*sizes), batch, length, lambda p, x, y: loss(p, x, y, keeps))
