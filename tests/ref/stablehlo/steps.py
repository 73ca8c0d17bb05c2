"""Where a training step comes from, by name:

    t5-tiny                    one of examples/make, as it is shipped
    t5-base12@small            the same layers, narrow, with few examples: to be run where the real one is only compiled
    gru_reverse                one of programs.py, more_programs.py, odd_programs.py or more_idioms.py
    .../zoo/flax/NAME.hlo.gz   HLO that a framework printed: XLA's own translation of it to StableHLO is the step
    .../NAME.hlo.gz@small      the same text with small sizes (smaller.py)

step(name) gives a jitted step, its arguments' shapes, and numbers of the trainable arguments where a list says them."""
import dataclasses
import gzip
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../examples/make")]


from smaller import smaller  # noqa: E402


def is_text(name):
    return name.partition("@")[0].endswith(".gz")


def shipped_names():
    import make

    return list(make.MODELS)


def shrink():
    """Small figures in the place of the shipped ones; every layer stays."""
    import bert
    import moe
    import resnet
    import scan
    import t5
    import vgg

    for name, size in list(t5.SIZES.items()):
        t5.SIZES[name] = size._replace(d_model=32, d_ff=64, heads=4, d_head=8, vocab=96, buckets=8, batch=8, source=16, target=12)
    bert.Size.__new__.__defaults__ = (48, 32, 64, 4, 96, 8, 16)
    for module, figures in ((scan, dict(WIDTH=64, D_FF=128, HEADS=4, VOCAB=96, BATCH=8, LENGTH=32)),
                            (resnet, dict(BATCH=8)),
                            (moe, dict(WIDTH=64, D_FF=128, VOCAB=96, LENGTH=32, CAPACITY=8)),
                            (vgg, dict(BLOCKS=[(2, 8), (2, 8), (4, 16), (4, 16), (4, 16)],
                                       DENSE=[("fc6", 7 * 7 * 16, 64), ("fc7", 64, 64), ("fc8", 64, 16)]))):
        for key, value in figures.items():
            assert hasattr(module, key), (module, key)
            setattr(module, key, value)


def shipped(name):
    import common
    import make

    kind, _, small = name.partition("@")
    if small:
        shrink()
    model = make.MODELS[kind]() if not small or kind != "vgg19" else make.vgg19(batch=8)
    return common.training_step(model)


def from_hlo(name):
    """The HLO as a jitted step of its arguments in a row."""
    import jax
    import jax.export
    import jax.numpy as jnp
    from jax._src.export import _export
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    path, _, small = name.partition("@")
    hlo = getattr(__import__("jaxlib", fromlist=["_hlo"]), "_hlo", _jax)
    with gzip.open(path, "rt") as f:
        text = f.read()
    if small:
        text = smaller(text, os.path.basename(path).split(".")[0])
    if tuple(int(n) for n in jax.__version__.split(".")[:2]) < (0, 10):  # knows no tables of stack frames
        text = re.sub(r"\n(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d.*\n)*", "\n", text)
        text = re.sub(r" stack_frame_id=\d+", "", text)
    bytes_ = _jax.mlir.hlo_to_stablehlo(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    context = mlir.make_ir_context()
    with context:
        module = ir.Module.parse(bytes_)
        main = next(f for f in module.body.operations if "sym_name" in f.attributes and f.attributes["sym_name"].value == "main")
        args = [of_type(t, ir) for t in main.type.inputs]
        results = [of_type(t, ir) for t in main.type.results]
        packed = _export._module_to_bytecode(module)
    like = jax.export.export(jax.jit(lambda *a: [jnp.zeros(r.shape, r.dtype) for r in results], keep_unused=True))(*args)
    exported = dataclasses.replace(like, mlir_module_serialized=packed)
    variables = re.sub(r"\.[^/]*$", "", re.sub(r"\.gz$", "", path)).split(".")[0] + ".vars.txt"
    return jax.jit(lambda *a: exported.call(*a)), args, variables if os.path.exists(variables) else None


def of_type(type_, ir):
    import jax
    import numpy as np

    tensor = ir.RankedTensorType(type_)
    name = str(tensor.element_type)
    names = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i1": "bool"}
    dtype = names.get(name) or re.sub(r"^ui", "uint", re.sub(r"^i", "int", name))
    return jax.ShapeDtypeStruct(tuple(tensor.shape), jax.numpy.dtype(dtype) if dtype == "bfloat16" else np.dtype(dtype))


def step(name):
    if is_text(name):
        return from_hlo(name)
    if name.partition("@")[0] in shipped_names():
        return *shipped(name), None
    import programs

    if name not in programs.PROGRAMS:
        import more_programs  # noqa: F401: adds to them
        import more_idioms  # noqa: F401
        import odd_programs  # noqa: F401
    return *programs.PROGRAMS[name](), None
