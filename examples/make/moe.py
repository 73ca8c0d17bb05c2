"""A stack of mixture-of-experts layers (Shazeer et al., 2017; Switch routing, Fedus et al., 2022): each token goes to
its best expert, up to a capacity; tokens are sent and fetched by one-hot products, as in GShard."""
import jax
import jax.numpy as jnp

from common import Model, f32, s32
from t5 import norm

LAYERS, WIDTH, D_FF, EXPERTS, VOCAB = 4, 512, 2048, 8, 32000
BATCH, LENGTH = 8, 256
CAPACITY = 2 * LENGTH // EXPERTS  # tokens of one sequence an expert takes


def route(p, x):
    """x [B,L,d] -> where each token goes [B,L,E,C] (0 or 1), its weight [B,L], and the load-balance loss."""
    gates = jax.nn.softmax(x @ p["router"]["kernel"])
    expert = jax.nn.one_hot(jnp.argmax(gates, axis=-1), EXPERTS)
    place = jnp.cumsum(expert, axis=1) * expert - 1
    send = jax.nn.one_hot(place.astype(jnp.int32), CAPACITY)
    balance = EXPERTS * jnp.mean(jnp.mean(expert, axis=1) * jnp.mean(gates, axis=1))
    return send, jnp.sum(gates * expert, axis=-1), balance


def experts(p, x):
    send, weight, balance = route(p, x)
    taken = jnp.einsum("blec,bld->ebcd", send, x)
    hidden = jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", taken, p["up"]["kernel"]) + p["up"]["bias"][:, None, None])
    out = jnp.einsum("ebcf,efd->ebcd", hidden, p["down"]["kernel"]) + p["down"]["bias"][:, None, None]
    return jnp.einsum("blec,ebcd->bld", send, out) * weight[..., None], balance


def loss(params, batch):
    x = params["embedding"][batch["tokens"]]
    balance = 0.0
    for i in range(LAYERS):
        name = f"moe_{i}"
        with jax.named_scope(name):
            y, b = experts(params[name], norm(params[name]["norm"], x))
            x, balance = x + y, balance + b
    with jax.named_scope("head"):
        logits = x @ params["head"]["kernel"]
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=-1)
        return 0.01 * balance - jnp.mean(picked)


def moe():
    layer = {"norm": {"scale": f32(WIDTH)}, "router": {"kernel": f32(WIDTH, EXPERTS)},
             "up": {"kernel": f32(EXPERTS, WIDTH, D_FF), "bias": f32(EXPERTS, D_FF)},
             "down": {"kernel": f32(EXPERTS, D_FF, WIDTH), "bias": f32(EXPERTS, WIDTH)}}
    layers = {f"moe_{i}": layer for i in range(LAYERS)}
    params = {"embedding": f32(VOCAB, WIDTH), "head": {"kernel": f32(WIDTH, VOCAB)}} | layers
    batch = {"tokens": s32(BATCH, LENGTH), "labels": s32(BATCH, LENGTH)}
    return Model("moe", params, batch, loss, list(layers))
