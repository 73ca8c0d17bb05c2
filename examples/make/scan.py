"""A decoder-only transformer whose layers are one loop (jax.lax.scan over stacked weights [layers, ...]) with
rematerialisation: the backward loop computes each layer's forward again."""
import functools

import jax
import jax.numpy as jnp

from common import Model, f32, s32
from t5 import norm

LAYERS, WIDTH, D_FF, HEADS, VOCAB = 24, 1024, 4096, 16, 32000
BATCH, LENGTH = 16, 1024


def attention(p, x):
    q, k, v = ((x @ p[name]["kernel"]).reshape(*x.shape[:2], HEADS, -1) for name in "qkv")
    scores = jnp.einsum("blhd,bmhd->bhlm", q, k) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tri(x.shape[1], dtype=bool), scores, -1e9)
    return jnp.einsum("bhlm,bmhd->blhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["o"]["kernel"]


@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
def layer(x, p):
    with jax.named_scope("layers"):
        x = x + attention(p["self"], norm(p["self_norm"], x))
        y = norm(p["ffn_norm"], x)
        return x + (jax.nn.silu(y @ p["ffn"]["gate"]["kernel"]) * (y @ p["ffn"]["up"]["kernel"])) @ p["ffn"]["down"]["kernel"], None


def loss(params, batch):
    x, _ = jax.lax.scan(layer, params["embedding"][batch["tokens"]], params["layers"])
    with jax.named_scope("head"):
        logits = norm(params["norm"], x) @ params["head"]["kernel"]
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=-1)
        return -jnp.mean(picked)


def decoder_scan():
    def stacked(n_in, n_out):
        return {"kernel": f32(LAYERS, n_in, n_out)}

    scale = {"scale": f32(LAYERS, WIDTH)}
    layers = {"self": {k: stacked(WIDTH, WIDTH) for k in "qkvo"}, "self_norm": scale, "ffn_norm": scale,
              "ffn": {"gate": stacked(WIDTH, D_FF), "up": stacked(WIDTH, D_FF), "down": stacked(D_FF, WIDTH)}}
    params = {"embedding": f32(VOCAB, WIDTH), "layers": layers, "norm": {"scale": f32(WIDTH)}, "head": {"kernel": f32(WIDTH, VOCAB)}}
    batch = {"tokens": s32(BATCH, LENGTH), "labels": s32(BATCH, LENGTH)}
    return Model("decoder-scan", params, batch, loss, ["layers"])
