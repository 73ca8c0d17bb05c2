"""Small steps whose memory hangs on one rule each: written to FOLDER as HLO text, with what XLA's CPU compiler plans for them
(memory scheduler) printed, for the table in tests/unit/engine_memory.c. Needs jax 0.10:
    python tests/ref/memory/small.py tests/data/memory
"""
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp

HERE = os.path.dirname(os.path.abspath(__file__))


def convolution(dims):
    """Two layers of a convolution with ReLU: weight gradients read activations through transposed copies."""
    def step(w, x):
        def loss(w):
            h = x
            for k in w:
                h = jax.nn.relu(jax.lax.conv_general_dilated(h, k, (1, 1), "SAME", dimension_numbers=dims) * 2)
            return jnp.mean(h * h)
        value, gradient = jax.value_and_grad(loss)(w)
        return [a - 0.1 * g for a, g in zip(w, gradient)], value
    return step


def dropout(w, x, key):
    """Masks are drawn by loops, whole, and kept from the forward to the backward pass."""
    def loss(w):
        h = x
        for n, k in enumerate(w):
            keep = jax.random.bernoulli(jax.random.fold_in(key, n), 0.9, h.shape)
            h = jnp.tanh(jnp.where(keep, h, 0) @ k)
        return jnp.mean(h * h)
    value, gradient = jax.value_and_grad(loss)(w)
    return [a - 0.1 * g for a, g in zip(w, gradient)], value


def pooling(w, x):
    """The gradient of max-pooling holds an index array per dim."""
    def loss(w):
        h = jax.nn.relu(x * w)
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return jnp.mean(h * h)
    value, gradient = jax.value_and_grad(loss)(w)
    return w - 0.1 * gradient, value


def f32(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


STEPS = {
    "conv_channels_last": (convolution(("NHWC", "HWIO", "NHWC")), [f32(3, 3, 32, 32)] * 4, f32(8, 32, 32, 32)),
    "conv_channels_first": (convolution(("NCHW", "OIHW", "NCHW")), [f32(32, 32, 3, 3)] * 4, f32(8, 32, 32, 32)),
    "dropout": (dropout, [f32(128, 128)] * 6, f32(2048, 128), jax.ShapeDtypeStruct((2,), jnp.uint32)),
    "pooling": (pooling, f32(64), f32(8, 64, 64, 64)),
}


def main():
    for name, (step, *args) in STEPS.items():
        path = os.path.join(sys.argv[1], name + ".hlo.txt")
        text = jax.jit(step, donate_argnums=0).lower(*args).as_text("hlo")
        with open(path, "w") as f:
            f.write(re.sub(r", metadata=\{[^{}]*\}", "", text))
        found = subprocess.run([sys.executable, os.path.join(HERE, "memory.py"), "--one", path, "1"], capture_output=True, text=True)
        print(name, found.stdout.strip() or found.stderr[-300:])


main()
