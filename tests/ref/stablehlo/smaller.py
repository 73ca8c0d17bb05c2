"""The same HLO text with other sizes, so that a step can be run where the real one is only compiled: every number of a table is
another one wherever it is the size of a dim, a bound of a slice, a pad or an integer constant. Whether the sizes fit each other XLA
says, which infers every shape again."""
import json
import re


def by(divisor, *numbers):
    return {n: n // divisor for n in numbers}


# Of models in the zoo: a number and what stands in its place. A number of elements is divided as often as its dims are.
SIZES = {
    "linen_scan_remat_12layer": by(8, 768, 3072, 512, 64) | {32000: 512},
    "gpt2_small": by(8, 768, 3072, 64) | {1024: 64, 50257: 501},
    "llama_2layer": by(32, 4096, 11008, 128, 64, 256) | by(16, 1024, 2048) | {32000: 512},
    "gemma_2layer": by(8, 1024, 4096, 256, 128) | {32000: 512},
    "bert_4layer_lora": by(4, 768, 3072, 64, 128, 512) | {30522: 512},
    "albert_base": by(4, 768, 3072, 64, 128, 512) | {30000: 512},
    "t5_2layer": by(4, 768, 3072, 64, 128) | by(16, 2048, 196608, 393216, 786432, 1572864, 3145728, 4096, 8192, 16384) | {32128: 512},
    "bert_2layer": by(4, 768, 3072, 64, 128, 512) | by(16, 8192, 16384, 393216, 786432) | {30522: 512},
    "bert_base_pretrain": by(8, 512, 768, 3072, 64) | by(64, 131072, 262144, 6291456, 12582912) | {30522: 512},
    "beit_base_2layer": by(8, 768, 3072, 64),
    "default_6layer_unrolled": by(8, 512, 1024, 2048, 64, 32) | {32000: 512},
    "hk_resnet50": by(8, 64, 128, 256, 512, 1024, 2048, 9408, 2048000) | {32: 8} | by(
        64, 4096, 16384, 32768, 36864, 65536, 131072, 147456, 262144, 524288, 589824, 1048576, 2097152, 2359296),
    "densenet121": by(4, *range(32, 1025, 32)),  # 32, 64, .. channels
}
PICTURE = "224,224"  # stays: 224 channels do not
TYPE = r"\b(?:pred|[sucf]\d+|bf16|f8\w+)\["


class Smaller:
    def __init__(self, sizes):
        self.sizes = sizes

    def size(self, n):
        """A number in the table, or one less than one."""
        return self.sizes.get(n, self.sizes[n + 1] - 1 if n + 1 in self.sizes else n)

    def numbers(self, text, pattern=r"\d+"):
        return re.sub(pattern, lambda m: str(self.size(int(m[0]))), text)

    def type(self, text):
        """f32[8,16]; a picture's two sizes are no numbers of channels."""
        name, _, dims = text.partition("[")
        return name + "[" + PICTURE.join(self.numbers(part) for part in dims.split(PICTURE))

    def window(self, found):
        """Only of windows that run over a whole dim: a kernel's size stays."""
        return self.numbers(found[0], r"(?<=[=x_])\d+(?=[x_} ])") if self.over_all(found[0]) else found[0]

    def over_all(self, text):
        return any(int(n) in self.sizes for n in re.findall(r"\d+", re.search(r"size=([\dx]+)", text)[1]))

    def line(self, text):
        head, mark, metadata = text.partition(", metadata={")
        if " constant({" in head:
            head = self.table(head)
        elif re.search(r" [su]\d+\[\] constant\(", head):
            head = re.sub(r"(?<= constant\()\d+", lambda m: str(self.size(int(m[0]))), head)
        head = re.sub(TYPE + r"[\d,<=]+\]", lambda m: self.type(m[0]), head)
        head = re.sub(r"\b(?:slice|(?:dynamic_)?slice_sizes)=\{[^}]*\}", lambda m: self.numbers(m[0]), head)
        head = re.sub(r"\bpadding=[-\dx_]+", lambda m: self.numbers(m[0], r"(?<=[=x_-])\d+"), head)
        return re.sub(r"\bwindow=\{[^}]*\}", self.window, head) + mark + metadata

    def table(self, text):
        """An array: its first part; a short one of integers may be one of sizes."""
        found = re.search(r" (\w+)\[([\d,]*)\]\S* constant\((\{.*\})\)", text)
        if "..." in found[3]:
            return text
        of = json.loads(re.sub(r"-?\b(?:inf|nan)\b", "0", found[3].replace("{", "[").replace("}", "]")))
        dims = [self.size(int(d)) for d in found[2].split(",")]
        short = found[1] in ("s32", "s64") and len(found[3]) < 80
        return text.replace(found[3], self.part(of, dims, short))

    def part(self, of, dims, sizes):
        if not isinstance(of, list):
            return str(self.size(of) if sizes else of).lower()
        return "{" + ", ".join(self.part(x, dims[1:], sizes) for x in of[: dims[0]]) + "}"


def smaller(text, model):
    of = Smaller(SIZES[model])
    return "\n".join(map(of.line, text.replace("bf16[", "f32[").split("\n")))
