"""Memory of the example models on one device, as XLA's CPU compiler plans it (memory scheduler).

Needs jax 0.10; prints the JSON kept beside this file: python tests/ref/memory/memory.py > tests/ref/memory/memory.json
"""
import gzip
import json
import pathlib
import sys

import jax
import numpy as np
from jaxlib import _jax

try:
    from jaxlib import _hlo
except ImportError:
    _hlo = _jax

MODELS = ["mlp", "t5-tiny", "vgg19", "moe", "decoder-scan", "resnet20", "t5-base6"]


def stats(text):
    options = _jax.CompileOptions()
    options.executable_build_options.device_assignment = _jax.DeviceAssignment.create(np.zeros((1, 1), int))
    options.env_option_overrides = [("xla_backend_optimization_level", 0),
                                    ("xla_cpu_scheduler_type", "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED")]
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    client = jax.devices()[0].client
    program = client.compile_and_load(_jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList(tuple(jax.devices()[:1])), options)
    m = program.get_compiled_memory_stats()
    return {"arguments": m.argument_size_in_bytes, "outputs": m.output_size_in_bytes,
            "aliased": m.alias_size_in_bytes, "temporaries": m.temp_size_in_bytes}


root = pathlib.Path(__file__).resolve().parents[3] / "examples" / "models"
out = {"origin": "XLA CPU, jax " + jax.__version__}
for name in MODELS:
    out[name] = stats(gzip.open(root / (name + ".hlo.txt.gz"), "rt").read())
json.dump(out, sys.stdout, indent=1)
print()
