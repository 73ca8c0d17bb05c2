"""A multi-layer perceptron on flattened 28 x 28 images; the learning rate is an argument."""
import jax
import jax.numpy as jnp

from common import Model, dense, f32, s32

SIZES = [784, 512, 256, 10]


def loss(params, batch):
    x = batch["images"]
    for i in range(len(SIZES) - 1):
        name = f"layer_{i}"
        with jax.named_scope(name):
            x = x @ params[name]["kernel"] + params[name]["bias"]
            x = jnp.tanh(x) if i < len(SIZES) - 2 else x
    picked = jnp.take_along_axis(jax.nn.log_softmax(x), batch["labels"][:, None], axis=1)
    return -jnp.mean(picked)


def mlp():
    params = {f"layer_{i}": dense(n, m) for i, (n, m) in enumerate(zip(SIZES, SIZES[1:]))}
    return Model("mlp", params, {"images": f32(128, 784), "labels": s32(128)}, loss, list(params), rate=True)
