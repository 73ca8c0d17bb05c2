"""Writes other spellings of shipped models by XLA's own printer (pip install jax); XLA's own parser accepts each.

NAME.long.hlo.txt      as until 2025: %names, operand shapes, program shapes
NAME.short.hlo.txt     no layouts
NAME.nameless.hlo.txt  instructions are numbered in the order of their computation, parameters too: only data flow tells roles"""
import gzip
import os

from jaxlib import _hlo

HERE = os.path.dirname(os.path.abspath(__file__))
FORMS = {
    "long": dict(print_operand_shape=True),
    "short": dict(print_percent=False, print_program_shape=False, include_layout_in_shapes=False, print_metadata=False),
    "nameless": dict(canonicalize_instruction_names=True, print_program_shape=False, print_metadata=False),
}
WANTED = {"mlp": FORMS, "decoder-scan": FORMS, "t5-tiny": ["nameless"], "resnet20": ["nameless"], "moe": ["nameless"]}

for name, forms in WANTED.items():
    with gzip.open(os.path.join(HERE, "../../../examples/models", name + ".meta.hlo.txt.gz"), "rt") as f:
        module = _hlo.hlo_module_from_text(f.read())
    for form in forms:
        options = _hlo.HloPrintOptions()
        for switch, value in FORMS[form].items():
            setattr(options, switch, value)
        text = module.to_string(options)
        _hlo.hlo_module_from_text(text)
        with open(os.path.join(HERE, f"{name}.{form}.hlo.txt.gz"), "wb") as f:
            f.write(gzip.compress(text.encode(), 9, mtime=0))
