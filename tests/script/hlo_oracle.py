"""What XLA makes of our files, and we of XLA's. hlo_oracle.py AUTOMAP SOURCE_DIR; exit 1 on a difference.

For each module (the shipped examples' protos, tests/data/proto, and functions lowered here):
  theirs -> ours   the text we print from XLA's proto is the text XLA prints (printed by us once more from XLA's
                   text, so that spelling does not matter and content does)
  ours -> theirs   XLA reads the proto we write and prints the text it printed from its own
  JSON             protobuf's own parser reads the JSON we write into the message we wrote as binary"""
import glob
import gzip
import os
import re
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
from google.protobuf import json_format
from jaxlib import _hlo

automap, source = sys.argv[1], sys.argv[2]
work = tempfile.mkdtemp()
options = _hlo.HloPrintOptions()
options.print_large_constants = True


def convert(data, ending, to):
    a, b = os.path.join(work, "in" + ending), os.path.join(work, "out" + to)
    with open(a, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    subprocess.run([automap, "convert", "--force", a, b], check=True, stderr=subprocess.DEVNULL)
    with open(b, "rb") as f:
        return f.read()


def theirs(proto):
    return _hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options)


def message_class():
    """HloModuleProto from the descriptors inside jaxlib; None when they are not where they used to be."""
    from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, message_factory, struct_pb2, timestamp_pb2
    import jaxlib
    library = os.path.join(os.path.dirname(jaxlib.__file__), "libjax_common.so")
    if not os.path.exists(library):
        return None
    with open(library, "rb") as f:
        data = f.read()
    pool = descriptor_pool.Default()
    for name in b"xla/service/metrics.proto", b"xla/xla_data.proto", b"xla/service/hlo.proto":
        begin = data.find(b"\n" + bytes([len(name)]) + name)
        best, end = None, begin
        while begin >= 0:  # a FileDescriptorProto, field by field, as far as it goes
            at = end + 1
            length = shift = 0
            while True:
                length |= (data[at] & 127) << shift
                at, shift = at + 1, shift + 7
                if data[at - 1] < 128:
                    break
            end = at + length
            one = descriptor_pb2.FileDescriptorProto()
            try:
                one.ParseFromString(data[begin:end])
            except Exception:
                break
            if one.name != name.decode() or best == one:
                break
            best = one
        if best is None:
            return None
        pool.Add(best)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("xla.HloModuleProto"))


def rows(text, table):
    found = re.search(table + r"\n((?:\d+ .*\n)*)", text)
    return [line.split(" ", 1)[1] for line in found[1].splitlines()] if found else []


def computations(text):
    """Header and computations. XLA numbers stack frames anew each time it reads a module, and callees of one caller
    may stand in either order: frames are replaced by the places they stand for, and computations are sorted."""
    text = text.decode() if isinstance(text, bytes) else text
    files, functions = rows(text, "FileNames"), rows(text, "FunctionNames")
    number = lambda row: [int(x) for x in re.findall(r"=(-?\d+)", row)]
    places = [(files[n[0] - 1], functions[n[1] - 1], n[2:]) for n in map(number, rows(text, "FileLocations"))]
    frames = [number(row) for row in rows(text, "StackFrames")]

    def chain(match):
        out, frame = [], int(match[1])
        while 0 < frame <= len(frames):
            out.append(places[frames[frame - 1][0] - 1])
            frame = frames[frame - 1][1] - 1
        return "stack=" + repr(out)

    text = re.sub(r"\n\nFileNames\n(.*\n)*?StackFrames\n(\d+ .*\n)*", "\n\n", text)
    return sorted(re.split(r"\n\n+", re.sub(r"stack_frame_id=(\d+)", chain, text).strip()))


def lowered():
    f32 = lambda *s: jax.ShapeDtypeStruct(s, jnp.float32)
    i32 = lambda *s: jax.ShapeDtypeStruct(s, jnp.int32)
    key = jax.ShapeDtypeStruct((2,), jnp.uint32)
    conv = lambda x, k: jax.lax.conv_general_dilated(x, k, (2, 1), [(1, 0), (0, 2)], (1, 2), (2, 1), ("NHWC", "HWIO", "NHWC"), feature_group_count=2)
    yield "conv", jax.grad(lambda x, k: conv(x, k).sum(), (0, 1)), (f32(2, 8, 8, 4), f32(3, 3, 2, 6))
    yield "attention", lambda q, k: jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k, precision="highest")), (f32(2, 4, 3, 8), f32(2, 5, 3, 8))
    yield "gather", jax.grad(lambda w, i: jnp.take(w, i, axis=0).sum()), (f32(10, 4), i32(3, 2))
    yield "scan", lambda x: jax.lax.scan(lambda c, y: (c * y, jnp.sin(c)), x[0], x), (f32(5, 3),)
    yield "cond", lambda p, x: jax.lax.cond(p, jnp.sin, jnp.cos, x), (jax.ShapeDtypeStruct((), jnp.bool_), f32(3))
    yield "switch", lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x), (i32(), f32(3))
    yield "sort", lambda x, y: jax.lax.sort((x, y), dimension=1, num_keys=2), (f32(4, 5), i32(4, 5))
    yield "linalg", lambda x: (jnp.linalg.cholesky(x), jax.scipy.linalg.solve_triangular(x, x, lower=True, trans=1)), (f32(4, 4),)
    yield "fft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x)), (f32(3, 16),)
    yield "rng", lambda k: (jax.random.normal(k, (3, 4)), jax.random.randint(k, (7,), 0, 9)), (key,)
    yield "pool", jax.grad(lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME").sum()), (f32(1, 5, 6, 2),)
    yield "types", lambda x: [x.astype(t) for t in (jnp.bfloat16, jnp.float16, jnp.int8, jnp.uint16, jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.complex64, jnp.bool_, jnp.int4)], (f32(3),)
    yield "constants", lambda x: (x + jnp.arange(12.).reshape(3, 4) / 7, jnp.array([[1 + 2j, 3]]), jnp.array([0.1, 2, -1e30], jnp.bfloat16), jnp.array([True, False])), (f32(3, 4),)
    yield "slices", lambda x, i: (x[1:7:2, ::-1], jax.lax.dynamic_slice(x, (i, 0), (2, 3)), jax.lax.dynamic_update_slice(x, x[:2], (i, 1)), jnp.pad(x, ((1, 2), (0, 0))), jnp.tile(x, (2, 1))), (f32(8, 5), i32())
    yield "topk", lambda x: jax.lax.top_k(x, 3), (f32(4, 9),)
    yield "reduce", lambda x: (x.argmax(1), x.cumsum(0), x.prod(), x.var(), jnp.isfinite(x).all(), jax.lax.population_count(x.astype(jnp.int32))), (f32(4, 5),)
    yield "while", lambda x: jax.lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2), (0, x)), (f32(3),)
    yield "remat", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (f32(3),)


def modules():
    for path in sorted(glob.glob(os.path.join(source, "examples/models/*.pb.gz"))):
        if os.path.getsize(path) < 300000:
            yield os.path.basename(path), gzip.open(path).read()
    for path in sorted(glob.glob(os.path.join(source, "tests/data/proto/*.pb"))):
        yield os.path.basename(path), open(path, "rb").read()
    for name, f, args in lowered():
        low = jax.jit(f).lower(*args)
        yield name, low.compiler_ir("hlo").as_serialized_hlo_module_proto()
        try:
            yield name + " compiled", low.compile().runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
        except Exception as e:  # some functions do not compile here: nothing of ours
            print("not compiled:", name, str(e)[:80])


def differ(name, step, a, b):
    a, b = computations(a), computations(b)
    if a == b:
        return False
    left, right = [x for x in a if x not in b], [x for x in b if x not in a]
    for x, y in list(zip(left, right))[:1]:
        for l, r in zip(x.split("\n"), y.split("\n")):
            if l != r:
                print(f"{name}: {step}:\n  {l[:400]}\n  {r[:400]}")
                break
    print(f"{name}: {step}: {len(left)} and {len(right)} computations differ")
    return True


Message = message_class()
print("JSON is checked" if Message else "JSON is not checked: no descriptors in this jaxlib")
bad = count = 0
for name, proto in modules():
    count += 1
    want = theirs(proto)
    bad += differ(name, "XLA's proto read by us", convert(want, ".txt", ".txt"), convert(proto, ".pb", ".txt"))
    ours = convert(proto, ".pb", ".pb")
    size, shift, at = 0, 0, 1  # our file is an HloProto: field 1 is the module
    while True:
        size |= (ours[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if ours[at - 1] < 128:
            break
    if Message:
        binary, json = Message.FromString(ours[at:at + size]), Message()
        json_format.Parse(convert(proto, ".pb", ".json"), json, ignore_unknown_fields=True)
        binary.DiscardUnknownFields()
        if binary != json and "nan" not in want:
            print(f"{name}: our JSON is another message than our proto")
            bad += 1
    try:
        bad += differ(name, "our proto read by XLA", want, theirs(ours[at:at + size]))
    except Exception as e:
        print(f"{name}: XLA refuses our proto: {str(e)[:300]}")
        bad += 1
print(f"{count} modules, {bad} differences")
sys.exit(bad != 0)
