"""What every model shares: Adam, the training step, lowering without data, and the files written.

Nothing is computed: parameters are shapes (jax.ShapeDtypeStruct), so the largest model lowers in seconds.
"""
import gzip
import json
import os
import re
from collections import Counter
from typing import Any, Callable, NamedTuple

import jax
import jax.numpy as jnp

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")
LIMIT = 1 << 20  # bytes of one shipped file
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(?=examples/make/)|.*/site-packages/")


class Model(NamedTuple):
    """A model to ship: `loss(params, batch)` is a scalar, or (scalar, new state) when `state` is given."""
    name: str
    params: Any  # nested dict of shapes: the trainable variables
    batch: Any  # nested dict of shapes: the candidate inputs
    loss: Callable
    layers: list  # layer names, in forward order
    state: Any = None  # what a step updates but no gradient reaches (moving averages)
    rate: bool = False  # the learning rate is an argument (a hyper-parameter), not a constant
    proto: bool = True  # ship the binary form too


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def s32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def dense(n_in, n_out):
    return {"kernel": f32(n_in, n_out), "bias": f32(n_out)}


def adam(params, grads, opt, rate):
    """Kingma and Ba, 2015, algorithm 1."""
    b1, b2, eps = 0.9, 0.999, 1e-8
    count = opt["count"] + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, opt["m"], grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, opt["v"], grads)
    c1, c2 = 1 - b1**count, 1 - b2**count
    params = jax.tree.map(lambda p, m, v: p - rate * (m / c1) / (jnp.sqrt(v / c2) + eps), params, m, v)
    return params, {"m": m, "v": v, "count": count}


def training_step(model):
    """(function, example arguments): forward, backward, update; the state is donated."""

    def update(params, opt, grads, rate):
        with jax.named_scope("adam"):
            return adam(params, grads, opt, rate)

    def train_step(params, opt, batch):
        loss, grads = jax.value_and_grad(model.loss)(params, batch)
        return *update(params, opt, grads, 1e-3), loss

    def train_step_rate(params, opt, batch, rate):
        loss, grads = jax.value_and_grad(model.loss)(params, batch)
        return *update(params, opt, grads, rate), loss

    def train_step_state(params, opt, state, batch):
        (loss, state), grads = jax.value_and_grad(model.loss, has_aux=True)(params, state, batch)
        return *update(params, opt, grads, 1e-3), state, loss

    opt = {"m": model.params, "v": model.params, "count": s32()}
    if model.state is not None:
        return jax.jit(train_step_state, donate_argnums=(0, 1, 2)), (model.params, opt, model.state, model.batch)
    if model.rate:
        return jax.jit(train_step_rate, donate_argnums=(0, 1)), (model.params, opt, model.batch, f32())
    return jax.jit(train_step, donate_argnums=(0, 1)), (model.params, opt, model.batch)


def parameters(step, args):
    """One record per entry parameter, in the order in which JAX flattens the arguments."""
    names = list(step.__wrapped__.__code__.co_varnames[: len(args)])
    records = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(args)[0]:
        root, keys = names[path[0].idx], [k.key for k in path[1:]]
        role = {"params": "variable", "opt": "optimizer", "state": "state", "batch": "input", "rate": "hyper"}[root]
        record = dict(number=len(records), name="/".join([root, *keys]), shape=list(leaf.shape), role=role)
        if record["name"] == "opt/count":
            record["role"] = "hyper"
        elif role == "optimizer":
            record["of"] = next(r["number"] for r in records if r["name"] == "/".join(["params", *keys[1:]]))
        records.append(record)
    return records


INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([\w\-]+)\(", re.M)
OP_NAME = re.compile(INSTRUCTION.pattern + r'.*op_name="jit\(\w+\)/([^"]*)"', re.M)


def scopes(model, entry):
    """Counts of the entry's instructions by phase, those of the heavy ones, and by layer: of those whose op_name tells."""
    phases, heavy, layers = Counter(), Counter(), {name: Counter() for name in model.layers}
    for opcode, path in OP_NAME.findall(entry):
        marks = [("update", "adam/"), ("backward", "transpose(jvp("), ("forward", "jvp(")]
        phase = next((phase for phase, mark in marks if path.startswith(mark)), None)
        if phase is None:
            continue
        phases[phase] += 1
        heavy[phase] += opcode in ("dot", "convolution")
        path = re.sub(r"^(transpose\()?jvp\((.*?)\)+", r"\2", path)
        if layer := next((name for name in model.layers if path.startswith(name + "/")), None):
            layers[layer][phase] += 1
    return dict(phases=phases, heavy=+heavy, layers=layers)


def expectation(model, text, entry, records):
    """What a reader of the file has to find."""
    opcodes = Counter(INSTRUCTION.findall(text))
    variables = [r for r in records if r["role"] == "variable"]
    return dict(name=model.name, instructions=sum(opcodes.values()), computations=len(re.findall(r"^\S.*\{$", text, re.M)),
                opcodes=dict(sorted(opcodes.items())), variables=len(variables),
                trainable_dims=sum(len(r["shape"]) for r in variables),
                trainable_elements=sum(f32(*r["shape"]).size for r in variables), **scopes(model, entry), parameters=records)


def compact_json(value, indent=0):
    """JSON with one line for each key, and for each parameter."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join("    " + json.dumps(v) for v in value) + "\n  ]"
    if isinstance(value, dict) and indent == 0:
        return "{\n" + ",\n".join(f"  {json.dumps(k)}: {compact_json(v, 1)}" for k, v in value.items()) + "\n}\n"
    return json.dumps(value)


def write(name, data, packed=True):
    data = data.encode() if isinstance(data, str) else data
    leak = re.search(rb"/(home|root|usr|opt|tmp|Users)/|site-packages|" + re.escape(os.getcwd().encode()), data)
    assert not leak, f"{name}: names this machine: {data[max(0, leak.start() - 60):leak.end() + 60]}"
    data = gzip.compress(data, 9, mtime=0) if packed else data
    if len(data) > LIMIT:
        print(f"  {name}: {len(data):,} bytes, too large, not written")
        return
    with open(os.path.join(MODELS, name), "wb") as f:
        f.write(data)


def make(model):
    step, args = training_step(model)
    lowered = step.lower(*args)
    module = lowered.compiler_ir("hlo")
    plain, full = lowered.as_text(dialect="hlo"), lowered.as_text(dialect="hlo", debug_info=True)
    records = parameters(step, args)
    entry = full[full.index("\nENTRY "):]
    shapes = {int(n): dims for dims, n in re.findall(r" = \w+\[([\d,]*)\]\S* parameter\((\d+)\)", entry)}
    assert [shapes[r["number"]] for r in records] == [",".join(map(str, r["shape"])) for r in records], "an argument was dropped"
    expect = expectation(model, plain, entry, records)
    write(f"{model.name}.hlo.txt.gz", plain)
    write(f"{model.name}.meta.hlo.txt.gz", full)
    if model.proto:
        write(f"{model.name}.pb.gz", module.as_serialized_hlo_module_proto())
    write(f"{model.name}.vars", "".join(f"{r['number']} {r['name'].removeprefix('params/')}\n" for r in records if r["role"] == "variable"), packed=False)
    write(f"{model.name}.expect.json", compact_json(expect), packed=False)
    print(f"{model.name}: {expect['instructions']:,} instructions, {expect['variables']:,} variables, "
          f"{expect['trainable_dims']:,} dims, {expect['trainable_elements'] / 1e6:,.1f} M, {len(plain) / 1e6:.2f} / {len(full) / 1e6:.2f} MB")
