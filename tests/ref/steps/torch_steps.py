"""Training steps of PyTorch/XLA, as its lazy tensors trace them, beside those of steps.py:

    PJRT_DEVICE=CPU python tests/ref/steps/torch_steps.py FOLDER [NAME ..]

Writes FOLDER/torch_xla/NAME.get_xla_tensors_hlo.hlo.gz and NAME.vars.txt. Needs torch and torch_xla."""
import gzip
import os
import re
import sys

import torch
import torch_xla
from torch import nn

STEPS = {}


def step(build):
    """Registers a builder: () -> (model, make optimizer, loss of model and batch, batch)."""
    STEPS[build.__name__] = build
    return build


@step
def torch_encoder():
    """nn.TransformerEncoder with learned places, its mean classified."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(256, 64), nn.Parameter(torch.zeros(24, 64))
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, 0.1, "gelu", batch_first=True, norm_first=True), 2)
            self.head = nn.Linear(64, 5)

        def forward(self, t):
            return self.head(self.encoder(self.words(t) + self.places).mean(1))

    loss = lambda m, t, y: nn.functional.cross_entropy(m(t), y)
    return Net(), lambda p: torch.optim.AdamW(p, 1e-3), loss, (torch.zeros(8, 24, dtype=torch.long), torch.zeros(8, dtype=torch.long))


@step
def torch_residual():
    """Bottlenecks with grouped convolutions and squeeze and excitation, batch norms."""
    class Block(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(w, w, 1, bias=False), nn.BatchNorm2d(w), nn.SiLU(), nn.Conv2d(w, w, 3, 1, 1, groups=4, bias=False),
                                      nn.BatchNorm2d(w), nn.SiLU())
            self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(w, w // 4, 1), nn.ReLU(), nn.Conv2d(w // 4, w, 1), nn.Sigmoid())

        def forward(self, x):
            h = self.body(x)
            return x + h * self.squeeze(h)

    net = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.SiLU(), Block(32), nn.MaxPool2d(2), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(32, 10))
    loss = lambda m, x, y: nn.functional.cross_entropy(m(x), y, label_smoothing=0.1)
    return net, lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=1e-4), loss, (torch.zeros(8, 3, 32, 32), torch.zeros(8, dtype=torch.long))


@step
def torch_decoder():
    """Causal attention by hand, tied words, RMSProp."""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.n1, self.n2 = nn.LayerNorm(64), nn.LayerNorm(64)
            self.qkv, self.out, self.up, self.down = nn.Linear(64, 192), nn.Linear(64, 64), nn.Linear(64, 256), nn.Linear(256, 64)

        def forward(self, x):
            b, t, d = x.shape
            q, k, v = (y.view(b, t, 4, 16).transpose(1, 2) for y in self.qkv(self.n1(x)).split(64, -1))
            near = (q @ k.transpose(-2, -1) / 4).masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), -1e9)
            x = x + self.out((near.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
            return x + self.down(nn.functional.gelu(self.up(self.n2(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.blocks, self.norm = nn.Embedding(256, 64), nn.ModuleList([Block(), Block()]), nn.LayerNorm(64)

        def forward(self, t):
            x = self.words(t)
            for block in self.blocks:
                x = block(x)
            return self.norm(x) @ self.words.weight.T

    loss = lambda m, t, y: nn.functional.cross_entropy(m(t).view(-1, 256), y.view(-1))
    words = torch.zeros(8, 32, dtype=torch.long)
    return Net(), lambda p: torch.optim.RMSprop(p, 1e-3), loss, (words, words.clone())


def write(folder, name, built):
    """The second step: the optimizer has its state then."""
    device = torch_xla.device()
    model, optimizer, loss, batch = built
    model.to(device).train()
    optimizer = optimizer(model.parameters())
    for turn in range(2):
        own = [x.clone().to(device) for x in batch]
        torch_xla.sync()
        numbers = {torch_xla._XLAC._unsafe_buffer_pointer(p): n for n, p in model.named_parameters()}
        optimizer.zero_grad(set_to_none=True)
        value = loss(model, *own)
        value.backward()
        optimizer.step()
        state = [x for s in optimizer.state.values() for x in s.values() if torch.is_tensor(x) and x.device == device]
        results = [value, *model.parameters(), *(b for b in model.buffers()), *state]
        text = torch_xla._XLAC._get_xla_tensors_hlo(results)
        _, values = torch_xla._XLAC._get_tensors_xla_device_data_node(results)
        paths = [numbers.get(torch_xla._XLAC._unsafe_buffer_pointer(t)) for t in values]
        torch_xla.sync()
    place = os.path.join(folder, "torch_xla")
    os.makedirs(place, exist_ok=True)
    with gzip.GzipFile(os.path.join(place, name + ".get_xla_tensors_hlo.hlo.gz"), "wb", mtime=0) as f:
        f.write(text.encode())
    entry = text[text.index("\nENTRY"):]
    assert len(re.findall(r" parameter\(\d+\)", entry)) >= len(numbers)
    with open(os.path.join(place, name + ".vars.txt"), "w") as f:
        f.write("# parameter_number<TAB>name<TAB>shape\n")
        for number, (path, t) in enumerate(zip(paths, values)):
            if path:
                f.write(f"{number}\t{path}\tf32{list(t.shape)}\n")
    return len(text)


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    for name, build in STEPS.items():
        if not wanted or name in wanted:
            print(f"torch_xla/{name}: {write(folder, name, build())} bytes of text", flush=True)


if __name__ == "__main__":
    main()
