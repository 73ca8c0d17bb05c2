"""Small training steps with loops, for modules of stages: models.py FOLDER writes dropout.hlo, recurrent.hlo, stack.hlo, choice.hlo,
samples.hlo, inside.hlo, centred.hlo, clipped.hlo, depthwise.hlo, private.hlo.

dropout: random bits (threefry, a loop in JAX) in every layer. recurrent: a loop over time inside of one layer, and a branch.
stack: the layers themselves in a loop. choice: all layers in one branch. samples: what is another for every sample - random bits
that one instruction draws, positions in the batch, constants. inside: random bits drawn inside a loop. centred: a mean of the batch that
its samples read, inside a loop. clipped: gradients are scaled by the norm of all of them.
depthwise: convolutions over time, a kernel for each feature. private: gradients of every sample, each clipped by its own norm; those of
its convolutions are made in a group for each sample. Needs jax 0.10."""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, BATCH, WIDTH, TIME = 4, 16, 32, 4
KEY = jax.ShapeDtypeStruct((2,), jnp.uint32)


def array(*dims, kind=jnp.float32):
    return jax.ShapeDtypeStruct(dims, kind)


def dense(p, x):
    return x @ p["kernel"] + p["bias"]


def weights(n=None):
    lead = () if n is None else (n,)
    return {"kernel": array(*lead, WIDTH, WIDTH), "bias": array(*lead, WIDTH)}


def trained(loss):
    """Momentum; of the recurrence none, so that no state is there to be held in pieces."""
    decay = 0.0 if loss is recurrent else 0.9
    both = by_sample if loss is private else jax.value_and_grad(loss)

    def train_step(params, state, *data):
        value, grads = both(params, *data)
        if loss is clipped:
            norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
            grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 0.01 / norm), grads)
        if decay:
            grads = state = jax.tree.map(lambda v, g: decay * v + g, state, grads)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), state, value
    return train_step


def dropout(params, x, y, key):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            keep = jax.random.bernoulli(jax.random.fold_in(key, n), 0.9, x.shape)
            x = jnp.where(keep, jnp.tanh(dense(params[f"layer_{n}"], x)) / 0.9, 0.0)
    return jnp.mean((x - y) ** 2)


def recurrent(params, x, y):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            p = params[f"layer_{n}"]
            if n == 1:
                h, _ = jax.lax.scan(lambda h, _: (jnp.tanh(dense(p, h) + x), None), jnp.zeros_like(x), None, length=TIME)
                x = x + h
            elif n == 2:
                x = jax.lax.cond(p["bias"][0] > 0, lambda x: jnp.tanh(dense(p, x)), lambda x: dense(p, jnp.sin(x)), x)
            else:
                x = jnp.tanh(dense(p, x))
    return jnp.mean((x - y) ** 2)


def stack(params, x, y):
    def layer(x, p):
        with jax.named_scope("layer"):
            return x + jnp.tanh(dense(p, x)), None
    with jax.named_scope("layers"):
        x, _ = jax.lax.scan(layer, x, params)
    return jnp.mean((x - y) ** 2)


def choice(params, x, y):
    def many(x):
        for n in range(LAYERS):
            x = jnp.tanh(dense(params[f"layer_{n}"], x))
        return x
    return jnp.mean((jax.lax.cond(params["layer_0"]["bias"][0] > 0, many, jnp.sin, x) - y) ** 2)


def clipped(params, x, y):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            x = jnp.tanh(dense(params[f"layer_{n}"], x))
    return jnp.mean((x - y) ** 2)


def depthwise(params, x, y):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            p = params[f"layer_{n}"]
            h = jax.lax.conv_general_dilated(x, p["kernel"][:TIME, None], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"),
                                             feature_group_count=WIDTH)
            x = x + jnp.tanh(dense(p, h))
    return jnp.mean((x - y) ** 2)


def private(params, x, y):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            p = params[f"layer_{n}"]
            h = jax.lax.conv_general_dilated(x, p["kernel"][None], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
            x = x + jnp.tanh(h + p["bias"])
    return jnp.mean((x - y) ** 2)


def by_sample(params, *data):
    values, grads = jax.vmap(lambda *one: jax.value_and_grad(private)(params, *(d[None] for d in one)))(*data)
    norm = jnp.sqrt(sum(jnp.sum(g * g, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)))
    return values.mean(), jax.tree.map(lambda g: jnp.tensordot(jnp.minimum(1.0, 0.1 / norm), g, 1) / BATCH, grads)


def samples(params, x, y, key):
    key = jax.random.wrap_key_data(key, impl="rbg")
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            keep = jax.random.bernoulli(jax.random.fold_in(key, n), 0.9, x.shape)
            x = jnp.where(keep, jnp.tanh(dense(params[f"layer_{n}"], x)) / 0.9, 0.0) + 0.01 * jnp.arange(BATCH)[:, None]
    return jnp.mean((x - y) ** 2 * np.linspace(0.5, 1.5, BATCH, dtype="f4")[:, None])


def inside(params, x, y, key):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            p = params[f"layer_{n}"]

            def again(x, t):
                keep = jax.random.bernoulli(jax.random.fold_in(key, t + TIME * n), 0.9, x.shape)
                return jnp.where(keep, jnp.tanh(dense(p, x)), 0.0), None
            x, _ = jax.lax.scan(again, x, jnp.arange(TIME))
    return jnp.mean((x - y) ** 2)


def centred(params, x, y):
    for n in range(LAYERS):
        with jax.named_scope(f"layer_{n}"):
            p = params[f"layer_{n}"]
            x, _ = jax.lax.scan(lambda x, _: (jnp.tanh(dense(p, x)) - jax.lax.stop_gradient(x.mean(0)), None), x, None, length=TIME)
    return jnp.mean((x - y) ** 2)


def main(folder):
    apart = {f"layer_{n}": weights() for n in range(LAYERS)}
    data = [array(BATCH, WIDTH), array(BATCH, WIDTH)]
    for loss, params, inputs in ((dropout, apart, [*data, KEY]), (recurrent, apart, data), (stack, weights(LAYERS), data),
                                 (choice, apart, data), (samples, apart, [*data, jax.ShapeDtypeStruct((4,), jnp.uint32)]),
                                 (inside, apart, [*data, KEY]), (centred, apart, data), (clipped, apart, data),
                                 (depthwise, apart, [array(BATCH, 2 * TIME, WIDTH)] * 2),
                                 (private, apart, [array(BATCH, 2 * TIME, WIDTH)] * 2)):
        state = None if loss is recurrent else params
        step = jax.jit(trained(loss), keep_unused=True).lower(params, state, *inputs)
        with open(os.path.join(folder, loss.__name__ + ".hlo"), "w") as f:
            f.write(step.compiler_ir("hlo").get_hlo_module().to_string().replace(os.path.abspath(__file__), "models.py") + "\n")


if __name__ == "__main__":
    jax.config.update("jax_threefry_partitionable", False)
    main(sys.argv[1])
