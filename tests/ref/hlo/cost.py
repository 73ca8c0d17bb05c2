"""Writes cost.json: what XLA's HloCostAnalysis says of every shipped model (python tests/ref/hlo/cost.py; needs jax 0.10).

"total" is XLA's figure for the whole module. XLA adds in single precision, so a total of many terms is only good to
about 1e-3. "opcodes" is exact to single precision of each term: every distinct instruction of the entry computation is
analysed in a module of its own, and the results are added in double precision (a call or loop counts its callees,
a loop body once). An instruction that reads the same value twice is given two parameters, which XLA counts alike."""
import glob
import gzip
import json
import os
import re
from collections import Counter

import jax
import jaxlib
from jaxlib import _hlo, _jax

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = {"flops": "flops", "transcendentals": "transcendentals", "bytes": "bytes accessed"}
FREE = {"parameter", "constant", "get-tuple-element"}
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%\S+ = ((?:\(.*?\)|\S+) ([\w\-]+))\((.*?)\)((?:, [\w\-]+=.*)?)$")


def analyse(module):
    found = _jax.hlo_module_cost_analysis(jax.devices()[0].client, module)
    return [int(found.get(key, 0)) for key in KEYS.values()]


def alone(callees, head, operands, attributes):
    """A module whose entry is one instruction; its operands are parameters."""
    shapes = [s.strip(" ,") for s in re.sub(r"/\*.*?\*/", "", operands).split("%0")[:-1]]
    lines = [f"  %p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes)]
    lines.append(f"  ROOT %r = {head}({', '.join(f'%p{i}' for i in range(len(shapes)))}){attributes}")
    return callees + "ENTRY %alone {\n" + "\n".join(lines) + "\n}\n"


def by_opcode(module):
    options = _hlo.HloPrintOptions()
    options.print_operand_shape, options.print_metadata, options.print_backend_config = True, False, False
    callees, entry = re.split(r"^ENTRY ", module.to_string(options), flags=re.M)
    callees = re.sub(r"^HloModule.*$", "HloModule alone", callees, flags=re.M)
    kinds, opcodes = Counter(), {}
    for line in entry.split("\n"):
        if match := INSTRUCTION.match(line):
            head, opcode, operands, attributes = match.groups()
            kinds[opcode, head, re.sub(r"%[\w.\-]+", "%0", operands), attributes] += 1
    for (opcode, head, operands, attributes), count in kinds.items():
        if opcode in FREE:
            continue
        cost = analyse(_hlo.hlo_module_from_text(alone(callees, head, operands, attributes)))
        opcodes[opcode] = [a + count * b for a, b in zip(opcodes.get(opcode, [0, 0, 0]), cost)]
    return {opcode: dict(zip(KEYS, opcodes[opcode])) for opcode in sorted(opcodes)}


def main():
    models = {}
    for path in sorted(glob.glob(os.path.join(HERE, "../../../examples/models/*.hlo.txt.gz"))):
        name = os.path.basename(path).removesuffix(".hlo.txt.gz")
        if name.endswith(".meta"):
            continue
        with gzip.open(path, "rt") as f:
            module = _hlo.hlo_module_from_text(f.read())
        total, opcodes = analyse(module), by_opcode(module)
        for i, key in enumerate(KEYS):
            exact = sum(o[key] for o in opcodes.values())
            assert abs(total[i] - exact) <= 2e-3 * exact, (name, key, total[i], exact)
        models[name] = {"total": dict(zip(KEYS, total)), "opcodes": opcodes}
        print(name, models[name]["total"])
    with open(os.path.join(HERE, "cost.json"), "w") as f:
        lines = [f'  {json.dumps(n)}: {{"total": {json.dumps(m["total"])}, "opcodes": {{\n' + ",\n".join(
            f"    {json.dumps(o)}: {json.dumps(c)}" for o, c in m["opcodes"].items()) + "}}" for n, m in models.items()]
        f.write(f'{{"origin": "HloCostAnalysis of jaxlib {jaxlib.__version__}, by cost.py", "models": {{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
