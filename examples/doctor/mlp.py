"""A network of two layers on 8 devices, whose weights are split on the wrong sides; compiled, not run."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def mlp(x, up, down):
    return jax.nn.gelu(x @ up) @ down


def split(*axes):
    return NamedSharding(mesh, PartitionSpec(*axes))


arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((4096, 1024), (1024, 4096), (4096, 1024))]
step = jax.jit(mlp, in_shardings=(split("data"), split("model", None), split(None, "model")), out_shardings=split("data"))
step.lower(*arguments).compile()
