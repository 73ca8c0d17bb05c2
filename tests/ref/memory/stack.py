"""Memory of layers in a loop whose variables and optimizer state lie in pieces on 8 devices, as XLA plans it: stack.py OUT writes
the step as OUT/stack.hlo.txt and prints bytes of a device (arguments and temporaries) where everything is whole and where
everything is in pieces: gradients are then scattered as each layer makes them, and a layer is gathered at a time. Needs jax 0.10."""
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 "
                           "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED")
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

LAYERS, SAMPLES, WIDTH, INNER = 8, 4096, 1024, 4096


def array(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def loss(params, x, y):
    def layer(x, p):
        return x + jnp.tanh(x @ p["up"]) @ p["down"], None
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, params)
    return jnp.mean((x - y) ** 2)


def step(params, momentum, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum, value


def main():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    of = lambda *axes: NamedSharding(mesh, PartitionSpec(*axes))  # noqa: E731
    params = {"up": array(LAYERS, WIDTH, INNER), "down": array(LAYERS, INNER, WIDTH)}
    args = params, params, array(SAMPLES, WIDTH), array(SAMPLES, WIDTH)
    text = jax.jit(step, donate_argnums=(0, 1)).lower(*args).compiler_ir("hlo").get_hlo_module().to_string()
    with open(os.path.join(sys.argv[1], "stack.hlo.txt"), "w") as f:
        f.write(text.replace(os.path.abspath(__file__), "stack.py") + "\n")
    for name, held in (("whole", of()), ("in pieces", of(None, "x"))):
        low = jax.jit(step, donate_argnums=(0, 1), in_shardings=(held, held, of("x"), of("x")), out_shardings=(held, held, of())).lower(*args)
        m = low.compile().memory_analysis()
        print(name, m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes + m.temp_size_in_bytes)


main()
