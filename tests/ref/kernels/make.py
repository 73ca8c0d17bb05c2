#!/usr/bin/env python3
"""Makes the modules of tests/data/kernels that JAX can lower without the hardware: make.py OUT_DIR

Kernels appear as they do in users' files. Bodies of Pallas kernels, which nothing reads, are left
out. Made with jax 0.10.2. The others (TransformerEngine, cuBLAS, cuDNN after compilation) are
written by hand in tests/unit/engine_kernels.c, after the sources that make them.
"""
import gzip
import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import layer_norm, softmax
from jax.experimental.pallas.ops.tpu.megablox import gmm
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
from jax.sharding import Mesh, PartitionSpec as P

shape = jax.ShapeDtypeStruct


def emit(name, f, *args, platform="cpu", debug_info=True):
    text = jax.jit(f).trace(*args).lower(lowering_platforms=(platform,)).as_text("hlo", debug_info=debug_info)
    text = re.sub(r'"body": "[^"]*"', '"body": ""', text).replace(os.path.abspath(__file__), "make.py")
    with gzip.GzipFile(os.path.join(sys.argv[1], name + ".hlo.txt.gz"), "wb", mtime=0) as out:
        out.write(text.encode())


def splash(heads, t, single):
    mask = masks.MultiHeadMask([masks.CausalMask((t, t)) for _ in range(heads)])
    make = kernel.make_splash_mqa if single else kernel.make_splash_mha
    run = make(mask, head_shards=1, q_seq_shards=1)
    return lambda q, k, v: jnp.sum(jax.vmap(run)(q, k, v))


q, k = shape((4, 8, 256, 128), jnp.bfloat16), shape((4, 256, 128), jnp.bfloat16)
emit("splash", jax.grad(splash(8, 256, False), argnums=(0, 1, 2)), q, q, q, platform="tpu")
emit("splash-nameless", splash(8, 256, False), q, q, q, platform="tpu", debug_info=False)
emit("splash-mqa", splash(8, 256, True), q, k, k, platform="tpu")


def linalg(a, b):
    spd = a @ a.swapaxes(-1, -2)
    return (jnp.linalg.cholesky(spd), jnp.linalg.qr(b)[0], jnp.linalg.svd(b, full_matrices=False)[1],
            jnp.linalg.eigh(spd)[0], jax.lax.linalg.lu(a)[0], jax.scipy.linalg.solve_triangular(a, b))


emit("linalg", linalg, shape((8, 16, 16), jnp.float32), shape((8, 16, 4), jnp.float32))


def callback(x):
    return jnp.sum(jax.pure_callback(lambda a: np.sin(a), shape(x.shape, x.dtype), x * 2))


emit("callback", callback, shape((8, 128), jnp.float32))


def offloaded(x, w):
    h = jnp.tanh(x @ w)
    kept = jax.device_put(h, jax.memory.Space.Host)
    far = jnp.sin(h @ w) @ w
    return jnp.sum(jax.device_put(kept, jax.memory.Space.Device) * jnp.sum(far * far))


emit("offload", offloaded, shape((1024, 1024), jnp.float32), shape((1024, 1024), jnp.float32), platform="tpu")
emit("empty", lambda x: jax.lax.dynamic_update_slice(jax.lax.empty((64, 32), jnp.float32), x, (0, 0)),
     shape((32, 32), jnp.float32), platform="tpu")
emit("scaled", jax.nn.scaled_matmul, shape((2, 64, 128), jnp.float8_e4m3fn), shape((2, 32, 128), jnp.float8_e4m3fn),
     shape((2, 64, 4), jnp.float8_e8m0fnu), shape((2, 32, 4), jnp.float8_e8m0fnu), platform="cuda")
emit("approx", lambda x: jax.lax.approx_max_k(x, 8), shape((16, 4096), jnp.float32), platform="tpu")



def experts(x, w, sizes):
    return gmm(x, w, sizes, preferred_element_type=jnp.float32).sum()


emit("gmm", jax.value_and_grad(experts, argnums=(0, 1)), shape((1024, 512), jnp.bfloat16),
     shape((8, 512, 1536), jnp.bfloat16), shape((8,), jnp.int32), platform="tpu")


def spectral(a):
    return (jnp.linalg.eig(a)[0], jax.lax.linalg.schur(a)[0], jax.lax.linalg.hessenberg(a)[0],
            jax.lax.linalg.tridiagonal(a)[0])


def solvers(a):
    return (jnp.linalg.cholesky(a), jax.lax.linalg.lu(a)[0], jnp.linalg.qr(a)[0], jnp.linalg.eigh(a)[0],
            jnp.linalg.svd(a)[1], jax.lax.linalg.tridiagonal(a)[0])


emit("spectral", spectral, shape((8, 16, 16), jnp.float32))
emit("rocm", solvers, shape((8, 16, 16), jnp.float32), platform="rocm")
emit("tridiagonal", jax.lax.linalg.tridiagonal_solve, *[shape((8, 64), jnp.float32)] * 3,
     shape((8, 64, 4), jnp.float32), platform="cuda")
emit("norms", lambda x, w, b: softmax.softmax(layer_norm.layer_norm(x, w, b)), shape((4, 128, 512), jnp.float32),
     shape((512,), jnp.float32), shape((512,), jnp.float32), platform="cuda")
jax.config.update("jax_threefry_gpu_kernel_lowering", True)
emit("threefry", lambda k: jax.random.normal(k, (64, 128)), shape((2,), jnp.uint32), platform="cuda")
jax.config.update("jax_threefry_gpu_kernel_lowering", False)

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("dp", "tp"))


def manual(x, w):
    inner = jax.shard_map(lambda x, w: jax.lax.psum(x @ w, "tp"), mesh=mesh, in_specs=(P(None, "tp"), P("tp", None)),
                          out_specs=P(None, None), axis_names={"tp"})
    y = inner(jnp.tanh(x), w)
    return jnp.sum(y * y)


with jax.set_mesh(mesh):
    emit("shard-map", jax.grad(manual, argnums=1), shape((16, 64), jnp.float32), shape((64, 32), jnp.float32))
