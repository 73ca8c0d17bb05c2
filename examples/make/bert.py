"""BERT (Devlin et al., 2019) of 48 layers, 1024 wide, with its masked-language-model head: 637 M parameters."""
from typing import NamedTuple

import jax
import jax.numpy as jnp

from common import Model, dense, f32, s32


class Size(NamedTuple):
    layers: int = 48
    width: int = 1024
    d_ff: int = 4096
    heads: int = 16
    vocab: int = 30522
    batch: int = 32
    length: int = 512


def norm_shapes(n):
    return {"scale": f32(n), "bias": f32(n)}


def shapes(s):
    d = s.width
    layer = {"self": {k: dense(d, d) for k in "qkvo"}, "self_norm": norm_shapes(d),
             "ffn": {"conv1": dense(d, s.d_ff), "conv2": dense(s.d_ff, d)}, "ffn_norm": norm_shapes(d)}
    embeddings = {"word": f32(s.vocab, d), "position": f32(s.length, d), "type": f32(2, d), "norm": norm_shapes(d)}
    head = {"dense": dense(d, d), "norm": norm_shapes(d), "bias": f32(s.vocab)}
    return {"embeddings": embeddings, "encoder": {f"layer_{i:03}": layer for i in range(s.layers)}, "mlm": head}


def norm(p, x):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-12) * p["scale"] + p["bias"]


def affine(p, x):
    return x @ p["kernel"] + p["bias"]


def attention(s, p, x):
    """x [B,L,d]"""
    q, k, v = (affine(p[name], x).reshape(*x.shape[:2], s.heads, -1) for name in "qkv")
    scores = jnp.einsum("blhd,bmhd->bhlm", q, k) * q.shape[-1] ** -0.5
    mixed = jnp.einsum("bhlm,bmhd->blhd", jax.nn.softmax(scores), v)
    return affine(p["o"], mixed.reshape(x.shape))


def bert48():
    s = Size()

    def loss(params, batch):
        with jax.named_scope("embeddings"):
            p = params["embeddings"]
            x = norm(p["norm"], p["word"][batch["tokens"]] + p["position"] + p["type"][batch["types"]])
        with jax.named_scope("encoder"):
            for name, p in params["encoder"].items():
                with jax.named_scope(name):
                    with jax.named_scope("self"):
                        x = norm(p["self_norm"], x + attention(s, p["self"], x))
                    with jax.named_scope("ffn"):
                        hidden = jax.nn.gelu(affine(p["ffn"]["conv1"], x))
                        x = norm(p["ffn_norm"], x + affine(p["ffn"]["conv2"], hidden))
        with jax.named_scope("mlm"):
            p = params["mlm"]
            x = norm(p["norm"], jax.nn.gelu(affine(p["dense"], x)))
            logits = jnp.einsum("bld,vd->blv", x, params["embeddings"]["word"]) + p["bias"]
            picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=-1)[..., 0]
            return -jnp.sum(picked * batch["weights"]) / jnp.sum(batch["weights"])

    size = s.batch, s.length
    batch = {"tokens": s32(*size), "types": s32(*size), "labels": s32(*size), "weights": f32(*size)}
    return Model("bert48", shapes(s), batch, loss, [f"encoder/layer_{i:03}" for i in range(s.layers)])
