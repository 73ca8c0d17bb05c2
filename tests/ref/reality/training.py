"""A training step of a language model, shapes alone, written for `automap bench reality`: AdamW on f32 master weights. Needs jax."""
import gzip
import os

import jax
import jax.numpy as jnp


def weights(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def write(folder, name, params, batch, length, loss):
    """FOLDER/NAME.hlo.txt.gz, of loss(params, tokens, targets)."""
    def step(params, m, v, count, tokens, targets):
        value, grads = jax.value_and_grad(loss)(params, tokens, targets)
        count = count + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, grads)
        rate = 1e-4 * jnp.sqrt(1 - 0.95 ** count) / (1 - 0.9 ** count)
        params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8) - 1e-5 * p, params, m, v)
        return params, m, v, count, value
    tokens = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    low = jax.jit(step, donate_argnums=(0, 1, 2)).lower(params, params, params, weights(), tokens, tokens)
    text = low.compiler_ir("hlo").get_hlo_module().to_string()
    with gzip.open(os.path.join(folder, name + ".hlo.txt.gz"), "wt") as f:
        f.write(text)
    print(name, len(text))
