"""Training steps of architectures that neither the examples nor anybody's zoo holds, from several packages, as jax prints
them: FOLDER/FRAMEWORK/NAME.long.hlo.gz, and NAME.vars.txt with the numbers of the trainable parameters, which the step itself
knows. What is read of them, planned and inserted by XLA:

    python tests/ref/steps/steps.py FOLDER [NAME ..]
    python tests/script/zoo_roles.py build/release/automap FOLDER
    python tests/script/xla_zoo.py . build/release/automap FOLDER --meshes 4,2x4

Needs jax, flax and optax; steps of packages that are missing (haiku, equinox, jraph, keras, numpyro, diffrax, distrax, jaxopt) are left
out, and said. No step is run: arrays are shapes."""
import gzip
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["KERAS_BACKEND"] = "jax"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from jaxlib import _jax  # noqa: E402

print_options = getattr(__import__("jaxlib", fromlist=["_hlo"]), "_hlo", _jax).HloPrintOptions
STEPS = {}


def step(framework):
    """Registers a builder: () -> (step, arguments, trainable), where trainable(path) says which leaves of the arguments are
    trained; None: those of the first argument."""
    def register(build):
        STEPS[build.__name__] = framework, build
        return build
    return register


def S(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


def ints(*dims):
    return S(*dims, dtype=jnp.int32)


def key():
    return S(2, dtype=jnp.uint32)


def shapes(function, *arguments):
    return jax.eval_shape(function, *arguments)


def trained(loss, optimizer, params, *batch, extra=None):
    """The usual step: (params, state, *batch) -> (params, state, loss)."""
    import optax

    def train(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        return (params, state, value) if extra is None else (params, state, value, extra(params))

    return train, (params, shapes(optimizer.init, params), *batch), None


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def donated(train, arguments):
    """The arguments that the step hands back renewed, in their places."""
    spec = lambda tree: jax.tree.map(lambda x: (x.shape, str(x.dtype)), tree)
    results = jax.eval_shape(train, *arguments)
    return [k for k, (a, r) in enumerate(zip(arguments, results)) if spec(a) == spec(r) and jax.tree.leaves(a)]


def write(folder, framework, name, built):
    train, arguments, trainable = built
    lowered = jax.jit(train, donate_argnums=donated(train, arguments), keep_unused=True).lower(*arguments)
    options = print_options()
    options.print_large_constants = True
    text = lowered.compiler_ir("hlo").as_hlo_module().to_string(options)
    place = os.path.join(folder, framework)
    os.makedirs(place, exist_ok=True)
    with gzip.GzipFile(os.path.join(place, name + ".long.hlo.gz"), "wb", mtime=0) as f:
        f.write(text.encode())
    trainable = trainable or (lambda path: path.startswith("[0]"))
    with open(os.path.join(place, name + ".vars.txt"), "w") as f:
        f.write("# parameter_number<TAB>name<TAB>shape\n")
        for number, (path, leaf) in enumerate(jax.tree_util.tree_leaves_with_path(arguments)):
            where = jax.tree_util.keystr(path)
            if trainable(where):
                f.write(f"{number}\t{where}\t{leaf.dtype}{list(leaf.shape)}\n")
    return len(text)


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    import dynamics  # noqa: F401
    import families  # noqa: F401
    import hub  # noqa: F401
    import images  # noqa: F401
    import keras_models  # noqa: F401
    import modern  # noqa: F401
    import optimizers  # noqa: F401
    import others  # noqa: F401
    import sequences  # noqa: F401
    import structured  # noqa: F401
    import trainers  # noqa: F401

    for name, (framework, build) in STEPS.items():
        if wanted and name not in wanted:
            continue
        try:
            built = build()
        except ImportError as missing:
            print(f"{framework}/{name}: left out, {missing}")
            continue
        print(f"{framework}/{name}: {write(folder, framework, name, built)} bytes of text", flush=True)


if __name__ == "__main__":
    sys.modules["steps"] = sys.modules["__main__"] # one table for all files
    main()
