"""What XLA's partitioners run whole though it could be split: each operation as jax lowers it, split along each batch dim on
four simulated devices by itself, with jax_use_shardy_partitioner off (GSPMD) and on. A line an operation: what either inserts.
The tables of engine/decide/partitioner_builtin.c are these lines. Needs jax 0.10:
    python tests/ref/partitioner/measure.py [NAME ..]
"""
import os
import re
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
S = jax.ShapeDtypeStruct
f32 = jnp.float32


def convolution(groups, batch_groups=1, per=2):
    features = 8
    kernel = (3, 3, features // groups, 8) if batch_groups == 1 else (3, 3, features, 8 * batch_groups)
    x = S((8 * batch_groups, 8, 8, features), f32)
    return (lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups, batch_group_count=batch_groups)), [x, S(kernel, f32)]


def turned():
    """As the gradient of each example alone has it, f01b_i01o->01bf: what XLA inserts is no gather and loses parts."""
    dims = lax.ConvDimensionNumbers((3, 0, 1, 2), (3, 0, 1, 2), (2, 3, 0, 1))
    return (lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "VALID", dimension_numbers=dims, feature_group_count=8)), [
        S((8, 8, 8, 4), f32), S((1, 3, 3, 8), f32)]


def pool(dtype):
    return (jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID").astype(f32) ** 2)),
            [S((8, 64), dtype)], (0,), (0,))


def largest_magnitude():
    """A choice that is no plain order of the two elements; of lax no function makes it."""
    from jax._src.lax.windowed_reductions import _select_and_scatter

    choose = lambda a, b: lax.ge(lax.abs(a), lax.abs(b))
    return (lambda x, s: _select_and_scatter(x, choose, (1, 2), (1, 2), ((0, 0), (0, 0)), s, jnp.zeros((), f32), lax.add),
            [VECTOR, S((8, 32), f32)], (0, 0), (0,))


# name: (function, shapes, [(dims of operands that are split, dims of results that are)]): None is whole
MATRIX, VECTOR = S((8, 16, 16), f32), S((8, 64), f32)
OPS = {
    "fft": (lambda x: jnp.fft.fft(x), [VECTOR], (0,), (0,)),
    "rfft2": (lambda x: jnp.fft.rfft2(x), [MATRIX], (0,), (0,)),
    "top_k": (lambda x: lax.top_k(x, 4), [VECTOR], (0,), (0, 0)),
    "approx_max_k": (lambda x: lax.approx_max_k(x, 4), [VECTOR], (0,), (0, 0)),
    "sort": (lambda x: jnp.sort(x, axis=1), [VECTOR], (0,), (0,)),
    "argsort": (lambda x: jnp.argsort(x, axis=1), [VECTOR], (0,), (0,)),
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), [VECTOR], (0,), (0,)),
    "cumprod": (lambda x: jnp.cumprod(x, axis=1), [VECTOR], (0,), (0,)),
    "cholesky": (lambda x: lax.linalg.cholesky(x), [MATRIX], (0,), (0,)),
    "triangular_solve": (lambda a, b: lax.linalg.triangular_solve(a, b), [MATRIX, MATRIX], (0, 0), (0,)),
    "eigh": (lambda x: jnp.linalg.eigh(x), [MATRIX], (0,), (0, 0)),
    "qr": (lambda x: jnp.linalg.qr(x), [MATRIX], (0,), (0, 0)),
    "svd": (lambda x: jnp.linalg.svd(x), [MATRIX], (0,), (0, 0, 0)),
    "lu": (lambda x: lax.linalg.lu(x)[0], [MATRIX], (0,), (0,)),
    "convolution, batch": (*convolution(1), (0, None), (0,)),
    "convolution, features": (*convolution(1), (None, 3), (3,)),
    "depthwise convolution, features": (*convolution(8), (3, 3), (3,)),
    "grouped convolution, batch": (*convolution(2), (0, None), (0,)),
    "depthwise convolution that turns its dims, features": (*turned(), (0, 3), (3,)),
    "convolution with batch groups, features": (*convolution(1, 2), (None, 3), (3,)),
    "select_and_scatter": pool(f32),
    "select_and_scatter of f16": pool(jnp.float16),
    "select_and_scatter of bf16": pool(jnp.bfloat16),
    "select_and_scatter by magnitude": largest_magnitude(),
    "gather, rows of a batch": (jax.vmap(lambda x, i: x[i]), [VECTOR, S((8, 5), jnp.int32)], (0, 0), (0,)),
    "scatter, rows of a batch": (jax.vmap(lambda x, i, u: x.at[i].add(u)), [VECTOR, S((8, 5), jnp.int32), S((8, 5), f32)],
                                 (0, 0, 0), (0,)),
    "scatter, updates": (lambda x, i, u: x.at[i].add(u), [S((64, 4), f32), S((8,), jnp.int32), S((8, 4), f32)],
                         (None, 0, 0), (None,)),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (0, i), (8, 4)), [VECTOR, S((), jnp.int32)], (0, None), (0,)),
    "dynamic_update_slice": (lambda x, u, i: lax.dynamic_update_slice(x, u, (0, i)), [VECTOR, S((8, 4), f32), S((), jnp.int32)],
                             (0, 0, None), (0,)),
    "reverse": (lambda x: lax.rev(x, (1,)), [VECTOR], (0,), (0,)),
    "reduce_window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 4), (1, 1), "SAME"), [VECTOR], (0,), (0,)),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 8, 7), [VECTOR], (0,), (0,)),
    "argmax": (lambda x: jnp.argmax(x, 1), [VECTOR], (0,), (0,)),
    "ragged_dot, features": (lambda a, b, g: lax.ragged_dot(a, b, g), [S((16, 8), f32), S((4, 8, 16), f32), S((4,), jnp.int32)],
                             (None, 2, None), (1,)),
    "rng_bit_generator": (lambda k: jax.random.bits(jax.random.wrap_key_data(k, impl="rbg"), (8, 64)), [S((4,), jnp.uint32)],
                          (None,), (0,)),
}


# batch norm has no function in jax: its own text, batch split, for both partitioners (Shardy reads sdy.sharding, GSPMD
# mhlo.sharding).
NORM = """module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x4x8xf32> ANNOTATED, %s: tensor<8xf32>, %o: tensor<8xf32>) -> (tensor<8x4x8xf32> ANNOTATED) {
    %r, %m, %v = "stablehlo.batch_norm_training"(%a, %s, %o) {epsilon = 1.0e-3 : f32, feature_index = 2 : i64}
      : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    return %r : tensor<8x4x8xf32>
  }
}
"""
SHARDINGS = {True: '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}', False: '{mhlo.sharding = "{devices=[4,1,1]<=[4]}"}'}


def norm(shardy):
    from jaxlib import _jax

    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = 4
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, shardy
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(4).reshape(1, 4))
    with tempfile.TemporaryDirectory() as folder:
        build.debug_options.xla_dump_to, build.debug_options.xla_dump_hlo_as_text = folder, True
        build.debug_options.xla_dump_hlo_pass_re = "spmd-partitioning"
        devices = jax.devices()
        module = NORM.replace("ANNOTATED", SHARDINGS[shardy])
        module = module if shardy else re.sub(r"  sdy.mesh.*\n", "", module)
        devices[0].client.compile_and_load(module, _jax.DeviceList(tuple(devices)), options)
        return dumped(folder)


def dumped(folder):
    name = next(f for f in os.listdir(folder) if "after_spmd-partitioning" in f)
    with open(os.path.join(folder, name)) as f:
        found = re.findall(rf" ({KINDS})\(", f.read())
    return {kind: found.count(kind) for kind in sorted(set(found))}


def inserted(function, shapes, operands, results):
    """{kind: count} right after partitioning."""
    mesh = Mesh(np.array(jax.devices()), ("x",))
    place = lambda dim: NamedSharding(mesh, PartitionSpec(*([None] * dim + ["x"])) if dim is not None else PartitionSpec())
    made = jax.eval_shape(function, *shapes)
    out = jax.tree.unflatten(jax.tree.structure(made), [place(d) for d in results])
    with tempfile.TemporaryDirectory() as folder:
        step = jax.jit(function, in_shardings=tuple(place(d) for d in operands), out_shardings=out)
        step.lower(*shapes).compile({"xla_dump_to": folder, "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": "spmd-partitioning"})
        return dumped(folder)


def told(name, shardy):
    """A word of the table, from a process of its own: XLA aborts on some of them."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        jax.config.update("jax_use_shardy_partitioner", shardy)
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            found = norm(shardy) if name == NAME_OF_NORM else inserted(*OPS[name])
            word = ", ".join(f"{count} {kind}" for kind, count in found.items()) or "split"
        except BaseException as error:  # noqa: B036: the child must not return into the parent's loop
            word = "refused: " + str(error).split("\n")[0][:60]
        os.write(send, word.encode())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as f:
        word = f.read()
    os.waitpid(child, 0)
    return word or "XLA aborts"


NAME_OF_NORM = "batch_norm_training, batch"


def main():
    import jaxlib

    print(f"jaxlib {jaxlib.__version__}\n{'':42}{'GSPMD':24}Shardy")
    for name in [*OPS, NAME_OF_NORM]:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        words = [told(name, shardy) for shardy in (False, True)]
        print(f"{name:42}{words[0]:24}{words[1]}", flush=True)


main()
