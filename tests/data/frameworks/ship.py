"""Writes one dump of another framework, packed, without the names of the machine it was made on, and what is in it."""
import gzip
import json
import os
import re
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([\w\-]+)\(", re.M)


def neutral(text):
    text = re.sub(r'"[^"]*/site-packages/', '"site-packages/', text)
    return text.replace(HERE, "tests/data/frameworks")


def ship(name, text, **expected):
    """`expected`: parameter numbers of the variables and of the inputs, by name; taken from the framework, not from the text."""
    text = neutral(text)
    with open(os.path.join(HERE, name + ".gz"), "wb") as f:
        f.write(gzip.compress(text.encode(), 9, mtime=0))
    opcodes = Counter(re.findall(r'"opcode":\s*"([\w\-]+)"', text) if name.endswith("json") else INSTRUCTION.findall(text))
    record = dict(instructions=sum(opcodes.values()), opcodes=dict(sorted(opcodes.items())), **expected)
    path = os.path.join(HERE, "expect.json")
    known = json.load(open(path)) if os.path.exists(path) else {}
    known[name] = record
    with open(path, "w") as f:
        f.write("{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(known.items())) + "\n}\n")
    print(f"{name}: {record['instructions']} instructions")
