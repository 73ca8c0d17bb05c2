"""Writes NAME.pb and NAME.hlo.txt from NAME.in.hlo: the proto as XLA writes it, and the text XLA prints
when it reads that proto. Run with jax installed: python3 tests/data/proto/make.py [NAME...]"""
import glob
import os
import sys

from jaxlib import _hlo

HERE = os.path.dirname(os.path.abspath(__file__))
for path in sorted(glob.glob(os.path.join(HERE, "*.in.hlo"))):
    name = path[:-len(".in.hlo")]
    if sys.argv[1:] and os.path.basename(name) not in sys.argv[1:]:
        continue
    with open(path) as f:
        proto = _hlo.hlo_module_from_text(f.read()).as_serialized_hlo_module_proto()
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    with open(name + ".pb", "wb") as f:
        f.write(proto)
    with open(name + ".hlo.txt", "w") as f:
        f.write(_hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options))
