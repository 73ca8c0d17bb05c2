"""VGG-19 (Simonyan and Zisserman, 2015): 16 convolutions, 3 dense layers, 144 M parameters."""
import jax
import jax.numpy as jnp

from common import Model, dense, f32, s32

BLOCKS = [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]  # convolutions, features
DENSE = [("fc6", 7 * 7 * 512, 4096), ("fc7", 4096, 4096), ("fc8", 4096, 1000)]


def convolutions():
    n_in = 3
    for b, (count, n_out) in enumerate(BLOCKS):
        for i in range(count):
            yield f"conv{b + 1}_{i + 1}", n_in, n_out, i == count - 1
            n_in = n_out


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def loss(params, batch):
    x = batch["images"]
    for name, _, _, last in convolutions():
        with jax.named_scope(name):
            x = jax.lax.conv_general_dilated(x, params[name]["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + params[name]["bias"])
            x = max_pool(x) if last else x
    x = x.reshape(x.shape[0], -1)
    for name, _, _ in DENSE:
        with jax.named_scope(name):
            x = x @ params[name]["kernel"] + params[name]["bias"]
            x = jax.nn.relu(x) if name != "fc8" else x
    picked = jnp.take_along_axis(jax.nn.log_softmax(x), batch["labels"][:, None], axis=1)
    return -jnp.mean(picked)


def vgg19(batch=128):
    params = {name: {"kernel": f32(3, 3, n, m), "bias": f32(m)} for name, n, m, _ in convolutions()}
    params |= {name: dense(n, m) for name, n, m in DENSE}
    return Model("vgg19", params, {"images": f32(batch, 224, 224, 3), "labels": s32(batch)}, loss, list(params))
