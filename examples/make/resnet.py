"""A small residual network (He et al., 2016: 20 layers for 32 x 32 images) with batch norm: its moving averages are
state that a step updates and no gradient reaches."""
import jax
import jax.numpy as jnp

from common import Model, dense, f32, s32

WIDTHS, BLOCKS = [16, 32, 64], 3
CLASSES, BATCH = 10, 256


def blocks():
    """(name, input features, output features, stride)"""
    n_in = WIDTHS[0]
    for s, n_out in enumerate(WIDTHS):
        for b in range(BLOCKS):
            yield f"stage{s + 1}_block{b + 1}", n_in, n_out, 2 if s and not b else 1
            n_in = n_out


def convolution(p, x, stride=1):
    return jax.lax.conv_general_dilated(x, p["kernel"], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(p, state, x):
    """Normalised x and the new moving averages."""
    mean, variance = jnp.mean(x, axis=(0, 1, 2)), jnp.var(x, axis=(0, 1, 2))
    kept = {"mean": 0.9 * state["mean"] + 0.1 * mean, "variance": 0.9 * state["variance"] + 0.1 * variance}
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"], kept


def block(p, state, x, stride):
    kept = {}
    y, kept["norm1"] = batch_norm(p["norm1"], state["norm1"], convolution(p["conv1"], x, stride))
    y, kept["norm2"] = batch_norm(p["norm2"], state["norm2"], convolution(p["conv2"], jax.nn.relu(y)))
    return jax.nn.relu(y + (convolution(p["shortcut"], x, stride) if "shortcut" in p else x)), kept


def loss(params, state, batch):
    kept = {}
    with jax.named_scope("stem"):
        x, kept["stem"] = batch_norm(params["stem"]["norm"], state["stem"], convolution(params["stem"], batch["images"]))
        x = jax.nn.relu(x)
    for name, _, _, stride in blocks():
        with jax.named_scope(name):
            x, kept[name] = block(params[name], state[name], x, stride)
    with jax.named_scope("head"):
        logits = jnp.mean(x, axis=(1, 2)) @ params["head"]["kernel"] + params["head"]["bias"]
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][:, None], axis=1)
        return -jnp.mean(picked), kept


def resnet20():
    def norm(n):
        return {"scale": f32(n), "bias": f32(n)}

    def averages(n):
        return {"mean": f32(n), "variance": f32(n)}

    params = {"stem": {"kernel": f32(3, 3, 3, WIDTHS[0]), "norm": norm(WIDTHS[0])}, "head": dense(WIDTHS[-1], CLASSES)}
    state = {"stem": averages(WIDTHS[0])}
    for name, n, m, stride in blocks():
        params[name] = {"conv1": {"kernel": f32(3, 3, n, m)}, "norm1": norm(m), "conv2": {"kernel": f32(3, 3, m, m)}, "norm2": norm(m)}
        params[name] |= {"shortcut": {"kernel": f32(1, 1, n, m)}} if n != m else {}
        state[name] = {"norm1": averages(m), "norm2": averages(m)}
    batch = {"images": f32(BATCH, 32, 32, 3), "labels": s32(BATCH)}
    layers = ["stem", *(b[0] for b in blocks()), "head"]
    return Model("resnet20", params, batch, loss, layers, state=state)
