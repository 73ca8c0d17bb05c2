"""PyTorch/XLA 2.9 (pip install torch torch_xla): convolution and batch norm with momentum, as text and as JSON.
Nothing is aliased, parameters are numbered in the order of their use, and batch-norm-training and -grad are native."""
import os

os.environ.update(PJRT_DEVICE="CPU", XLA_IR_DEBUG="1", XLA_HLO_DEBUG="1")
import torch
import torch_xla
from torch import nn

from ship import ship

device = torch_xla.device()
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(392, 10)).to(device)
weights = dict(model.named_parameters())
momenta = {f"momentum.{name}": torch.randn(p.shape).to(device) for name, p in weights.items()}
x, y = torch.randn(16, 3, 16, 16).to(device), torch.zeros(16, dtype=torch.long).to(device)
torch_xla.sync()

loss = nn.CrossEntropyLoss()(model(x), y)
gradients = torch.autograd.grad(loss, list(weights.values()))
new_momenta = [0.9 * m + g for m, g in zip(momenta.values(), gradients)]
new_weights = [w - 0.1 * m for w, m in zip(weights.values(), new_momenta)]
results = [loss, *new_weights, *new_momenta, *model.buffers()]

context = torch_xla._XLAC.lowering.LoweringContext("train_step")
context.build(results)


def numbers(tensors):
    return {context.tensor_parameter_id(t): name for name, t in tensors.items()}


roles = dict(variables=numbers(weights), optimizer=numbers(momenta), inputs=numbers({"x": x, "y": y}))
ship("pytorch_cnn.json", context.hlo_json(), **roles)
ship("pytorch_cnn.hlo.txt", torch_xla._XLAC._get_xla_tensors_hlo(results), **roles)
