"""Writes examples/models: python examples/make/make.py [NAME ...]   (needs jax 0.10; all models by default)"""
import subprocess
import sys

from bert import bert48
from common import make
from mlp import mlp
from moe import moe
from resnet import resnet20
from scan import decoder_scan
from t5 import SIZES, t5
from vgg import vgg19

MODELS = {"mlp": mlp, "vgg19": vgg19, "resnet20": resnet20, "decoder-scan": decoder_scan, "moe": moe, "bert48": bert48}
MODELS |= {name: (lambda name=name: t5(name)) for name in SIZES}


def main(names):
    unknown = set(names) - set(MODELS)
    if unknown:
        sys.exit(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    if len(names) == 1:
        return make(MODELS[names[0]]())
    for name in names or MODELS:  # XLA numbers the modules of a process, and the number is in the file: one process each
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
