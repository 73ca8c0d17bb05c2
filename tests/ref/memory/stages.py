"""Memory of pipeline stages: ours against XLA's CPU compiler (memory scheduler), a program of its own per stage.

Two stages, GPipe: K micro-batches go forward, then K back, then the update. Each stage is written here by hand where the
proven optimum cuts the model (examples/make has its parts). What passes between stages is no argument or result of the
programs, which would live all the time: what is sent ends in a sum, what arrives is made from a number. That sum is part of
what the backward passes start from, so that all forward passes come first. Needs jax 0.10:
    python tests/ref/memory/stages.py SOURCE AUTOMAP [MODEL ...]
"""
import json
import os
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
SOURCE, AUTOMAP = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "examples/make"))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import bert  # noqa: E402
import mlp as perceptron  # noqa: E402
from common import adam, f32  # noqa: E402

K = 4
CLUSTER = """name: two
devices:
  d: {memory: 16 GB, peak: {f32: 100 GFLOP/s, f16: 100 GFLOP/s}, bandwidth: 100 GB/s, launch: 5 us}
servers:
  - {devices: 2, link: {name: L, kind: ring, bandwidth: 130 GB/s, latency: 15 us}}
"""


def mlp_stages(model):
    """Cut behind the first product ("before add.50")."""
    layer = lambda p, x: x @ p["kernel"] + p["bias"]

    def first(p, batch, arrived):
        return batch["images"] @ p["kernel"]

    def last(p, batch, x):
        x = jnp.tanh(x + p["bias"])
        x = layer(p["layer_2"], jnp.tanh(layer(p["layer_1"], x)))
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), batch["labels"][:, None], axis=1))

    p = model.params
    rest = {"bias": p["layer_0"]["bias"], "layer_1": p["layer_1"], "layer_2": p["layer_2"]}
    return [(first, {"kernel": p["layer_0"]["kernel"]}, ["images"], None), (last, rest, ["labels"], f32(128 // K, 512))]


def bert_stages(model, cut=25):
    """Cut in layer 25, behind the product of queries and keys ("before mul.8706"): that and the layer's input are sent."""
    s = bert.Size()
    heads = lambda p, x: bert.affine(p, x).reshape(*x.shape[:2], s.heads, -1)

    def behind_attention(p, x, mixed):
        x = bert.norm(p["self_norm"], x + bert.affine(p["self"]["o"], mixed.reshape(x.shape)))
        return bert.norm(p["ffn_norm"], x + bert.affine(p["ffn"]["conv2"], jax.nn.gelu(bert.affine(p["ffn"]["conv1"], x))))

    def mix(p, x, scores):
        return behind_attention(p, x, jnp.einsum("bhlm,bmhd->blhd", jax.nn.softmax(scores * 64**-0.5), heads(p["self"]["v"], x)))

    def scores_of(p, x):
        return jnp.einsum("blhd,bmhd->bhlm", heads(p["q"], x), heads(p["k"], x))

    def first(p, batch, arrived):
        e = p["embeddings"]
        x = bert.norm(e["norm"], e["word"][batch["tokens"]] + e["position"] + e["type"][batch["types"]])
        for layer in p["layers"]:
            x = mix(layer, x, scores_of(layer["self"], x))
        return x, scores_of(p["cut"], x)

    def last(p, batch, arrived):
        x, scores = arrived
        x = mix(p["cut"], x, scores)
        for layer in p["layers"]:
            x = mix(layer, x, scores_of(layer["self"], x))
        x = bert.norm(p["mlm"]["norm"], jax.nn.gelu(bert.affine(p["mlm"]["dense"], x)))
        logits = jnp.einsum("bld,vd->blv", x, p["word"]) + p["mlm"]["bias"]
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][..., None], axis=-1)[..., 0]
        return -jnp.sum(picked * batch["weights"]) / jnp.sum(batch["weights"])

    p, layers = model.params, list(model.params["encoder"].values())
    halves = lambda layer, names: {**layer, "self": {k: layer["self"][k] for k in names}}
    begin = {"embeddings": p["embeddings"], "layers": layers[:cut], "cut": {k: layers[cut]["self"][k] for k in "qk"}}
    end = {"cut": halves(layers[cut], "vo"), "layers": layers[cut + 1:], "mlm": p["mlm"], "word": p["embeddings"]["word"]}
    sent = f32(s.batch // K, s.length, s.width), f32(s.batch // K, s.heads, s.length, s.length)
    return [(first, begin, ["tokens", "types"], None), (last, end, ["labels", "weights"], sent)]


MODELS = {"mlp": (perceptron.mlp, mlp_stages), "bert48": (bert.bert48, bert_stages)}


def total(tree):
    return sum(jnp.sum(x) for x in jax.tree.leaves(tree))


def program(stage, batch_of):
    """The stage's step with K micro-batches in flight, compiled: its memory statistics."""
    run, params, inputs, arrives = stage

    def filled(number, shape):
        return jax.tree.map(lambda s: jnp.full(s.shape, number), shape)

    def step(params, opt, batches, numbers):
        back, done = [], 0.0
        for batch in batches:
            arrived = filled(numbers[0] + 1e-30 * done, arrives)
            result, vjp = jax.vjp(run, params, batch, arrived) if arrives else jax.vjp(lambda p: run(p, batch, None), params)
            back.append((vjp, jax.eval_shape(lambda: result)))
            done += total(result)
        grads = None
        for vjp, shape in back:
            found = vjp(filled(numbers[1] + 1e-30 * done, shape))
            done += total(found[2]) if arrives else 0.0
            grads = jax.tree.map(jnp.add, grads, found[0]) if grads else found[0]
            done += 1e-30 * total(grads)
        return *adam(params, grads, opt, 1e-3), done

    batches = [{k: jax.ShapeDtypeStruct((s.shape[0] // K, *s.shape[1:]), s.dtype) for k, s in batch_of.items() if k in inputs}] * K
    opt = {"m": params, "v": params, "count": jax.ShapeDtypeStruct((), jnp.int32)}
    lowered = jax.jit(step, donate_argnums=(0, 1)).lower(params, opt, batches, f32(2))
    compiled = lowered.compile({"xla_backend_optimization_level": 0, "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"})
    return compiled.memory_analysis()


def main():
    for name in sys.argv[3:] or MODELS:
        build, cut = MODELS[name]
        model = build()
        with tempfile.TemporaryDirectory() as folder:
            cluster, plan = os.path.join(folder, "two.yaml"), os.path.join(folder, "pipe.json")
            with open(cluster, "w") as f:
                f.write(CLUSTER)
            subprocess.run([AUTOMAP, "search", f"{SOURCE}/examples/models/{name}.hlo.txt.gz", cluster, "--kind", "pp", "--stages", "2",
                            "--micro-batches", str(K), "--schedule", "gpipe", "--algo", "exact", "--memory-limit", "none", "--plan", plan],
                           check=True, stdout=subprocess.DEVNULL)
            with open(plan) as f:
                ours = json.load(f)
        print(name, "cut before", ours["pivots"][0]["instruction"])
        for n, stage in enumerate(cut(model)):
            m, own = program(stage, model.batch), ours["stages"][n]["memory_bytes"]
            peak = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes + m.temp_size_in_bytes
            print(f"  stage {n}: {own / 1e6:9.2f} MB, XLA {peak / 1e6:9.2f} MB ({m.argument_size_in_bytes / 1e6:.2f} arguments), "
                  f"{100 * (own / peak - 1):+6.1f} %", flush=True)


main()
