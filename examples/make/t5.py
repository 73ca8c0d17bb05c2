"""T5 (Raffel et al., 2020), encoder and decoder: norms have a scale only, one table of relative positions per stack,
the embedding is tied to the output, and a feed-forward layer is two width-1 convolutions, conv1 and conv2, with bias."""
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from common import Model, dense, f32, s32


class Size(NamedTuple):
    layers: int
    d_model: int
    d_ff: int
    heads: int
    d_head: int
    vocab: int = 32128
    buckets: int = 32
    batch: int = 32
    source: int = 512  # tokens the encoder reads
    target: int = 128  # tokens the decoder writes


SIZES = {
    "t5-tiny": Size(2, 32, 64, 4, 8, vocab=96, buckets=8, batch=8, source=16, target=12),
    "t5-base6": Size(6, 768, 3072, 12, 64),
    "t5-base12": Size(12, 768, 3072, 12, 64),
    "t5-3b": Size(24, 1024, 16384, 32, 128),
    "t5-11b": Size(24, 1024, 65536, 128, 128),
}


def attention_shapes(s):
    kernel = {"kernel": f32(s.d_model, s.heads * s.d_head)}
    return {"q": kernel, "k": kernel, "v": kernel, "o": {"kernel": f32(s.heads * s.d_head, s.d_model)}}


def stack_shapes(s, cross):
    scale = {"scale": f32(s.d_model)}
    layer = {"self_norm": scale, "self": attention_shapes(s), "ffn_norm": scale,
             "ffn": {"conv1": dense(s.d_model, s.d_ff), "conv2": dense(s.d_ff, s.d_model)}}
    if cross:
        layer |= {"cross_norm": scale, "cross": attention_shapes(s)}
    layers = {f"layer_{i:03}": layer for i in range(s.layers)}
    return layers | {"norm": scale, "relative_bias": f32(s.buckets, s.heads)}


def norm(p, x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * p["scale"]


def attention(s, p, x, memory, bias):
    """x [B,L,d], memory [B,M,d], bias [1,H,L,M] or None; T5 does not scale the scores."""

    def heads(kernel, y):
        return (y @ kernel).reshape(*y.shape[:2], s.heads, s.d_head)

    q, k, v = heads(p["q"]["kernel"], x), heads(p["k"]["kernel"], memory), heads(p["v"]["kernel"], memory)
    scores = jnp.einsum("blhd,bmhd->bhlm", q, k)
    weights = jax.nn.softmax(scores if bias is None else scores + bias)
    mixed = jnp.einsum("bhlm,bmhd->blhd", weights, v)
    return mixed.reshape(*x.shape[:2], -1) @ p["o"]["kernel"]


def feed_forward(p, x):
    hidden = jax.nn.relu(x @ p["conv1"]["kernel"] + p["conv1"]["bias"])
    return hidden @ p["conv2"]["kernel"] + p["conv2"]["bias"]


def relative_bias(table, length, causal):
    """Scores' bias [1,H,L,L]: near distances have a bucket each, far ones share buckets of growing width (up to 128)."""
    buckets = table.shape[0]
    distance = jnp.arange(length)[None, :] - jnp.arange(length)[:, None]
    first = 0
    if causal:
        distance = jnp.maximum(-distance, 0)
    else:
        buckets //= 2
        first = (distance > 0) * buckets
        distance = jnp.abs(distance)
    near = buckets // 2
    far = near + (jnp.log(jnp.maximum(distance, 1) / near) / math.log(128 / near) * (buckets - near)).astype(jnp.int32)
    bucket = first + jnp.where(distance < near, distance, jnp.minimum(far, buckets - 1))
    return table[bucket].transpose(2, 0, 1)[None]


def stack(s, p, x, memory=None):
    """One of the two stacks; the decoder is the one with a memory (the encoder's result)."""
    length, causal = x.shape[1], memory is not None
    with jax.named_scope("relative_bias"):
        bias = relative_bias(p["relative_bias"], length, causal)
    if causal:
        bias = bias + jnp.where(jnp.tri(length, dtype=bool), 0.0, -1e9)
    for i in range(s.layers):
        name = f"layer_{i:03}"
        layer = p[name]
        with jax.named_scope(name):
            with jax.named_scope("self"):
                y = norm(layer["self_norm"], x)
                x = x + attention(s, layer["self"], y, y, bias)
            if causal:
                with jax.named_scope("cross"):
                    x = x + attention(s, layer["cross"], norm(layer["cross_norm"], x), memory, None)
            with jax.named_scope("ffn"):
                x = x + feed_forward(layer["ffn"], norm(layer["ffn_norm"], x))
    return norm(p["norm"], x)


def t5(name):
    s = SIZES[name]

    def loss(params, batch):
        table = params["embedding"]
        with jax.named_scope("encoder"):
            memory = stack(s, params["encoder"], table[batch["source"]])
        with jax.named_scope("decoder"):
            y = stack(s, params["decoder"], table[batch["target"]], memory)
        with jax.named_scope("head"):
            logits = jnp.einsum("bld,vd->blv", y * s.d_model**-0.5, table)
            picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=-1)
            return -jnp.mean(picked)

    params = {"embedding": f32(s.vocab, s.d_model), "encoder": stack_shapes(s, False), "decoder": stack_shapes(s, True)}
    batch = {"source": s32(s.batch, s.source), "target": s32(s.batch, s.target), "labels": s32(s.batch, s.target)}
    layers = [f"{side}/layer_{i:03}" for side in ("encoder", "decoder") for i in range(s.layers)]
    return Model(name, params, batch, loss, layers)
