"""Writes torch_update.json: ten updates of a small DQN by PyTorch, for seven choices of its parts.

    python make_torch.py > torch_update.json

Everything is computed in float64 by autograd, torch.nn.utils.clip_grad_norm_ and torch.optim.Adam.
The network's last layer has one row per action and then one for the value of the state.
"""
import json
import sys

import torch

OBS, H1, H2, ACTIONS, BATCH, UPDATES, COPY_EVERY = 6, 16, 12, 5, 8, 10, 4
CASES = {
    "plain": {},
    "double": {"double": True},
    "squared": {"huber": False},
    "dueling": {"dueling": True},
    "masked": {"double": True, "masks": True},
    "all": {"double": True, "dueling": True, "masks": True, "weights": True},
    "clipped": {"double": True, "weights": True, "clip": 0.05},
}

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def f32(x):
    """What float32 can hold, so that both sides start from the same numbers."""
    return x.float().double()


def net():
    return torch.nn.Sequential(
        torch.nn.Linear(OBS, H1), torch.nn.ReLU(), torch.nn.Linear(H1, H2), torch.nn.ReLU(),
        torch.nn.Linear(H2, ACTIONS + 1))


def flat(model):
    return [round(v, 10) for p in model.parameters() for v in p.detach().flatten().tolist()]


start = net()
with torch.no_grad():
    for p in start.parameters():
        p.copy_(f32(p))


def batch():
    legal = torch.rand(BATCH, ACTIONS) < 0.6
    action = torch.randint(0, ACTIONS, (BATCH,))
    legal[torch.arange(BATCH), action] = True
    next_legal = torch.rand(BATCH, ACTIONS) < 0.5
    next_legal[torch.arange(BATCH), torch.randint(0, ACTIONS, (BATCH,))] = True
    discount = f32(0.9 ** torch.randint(1, 4, (BATCH,)))
    discount[torch.rand(BATCH) < 0.25] = 0
    weight = f32(torch.rand(BATCH) * 0.9 + 0.1)
    return {"now": f32(torch.randn(BATCH, OBS)), "next": f32(torch.randn(BATCH, OBS)),
            "action": action, "reward": f32(torch.randn(BATCH) * 2), "discount": discount,
            "weight": weight, "legal": legal, "next_legal": next_legal}


batches = [batch() for _ in range(UPDATES)]


def q_of(model, x, legal, case):
    out = model(x)
    advantage, value = out[:, :ACTIONS], out[:, ACTIONS:]
    if not case.get("dueling"):
        return advantage
    mean = (advantage * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    return value + advantage - mean


def update(online, target, opt, b, case):
    every = torch.ones(BATCH, ACTIONS, dtype=torch.bool)
    legal = b["legal"] if case.get("masks") else every
    next_legal = b["next_legal"] if case.get("masks") else every
    with torch.no_grad():
        value = q_of(target, b["next"], next_legal, case)
        choose = q_of(online, b["next"], next_legal, case) if case.get("double") else value
        best = choose.masked_fill(~next_legal, float("-inf")).argmax(1)
        goal = b["reward"] + b["discount"] * value[torch.arange(BATCH), best]
    q = q_of(online, b["now"], legal, case)[torch.arange(BATCH), b["action"]]
    weight = b["weight"] if case.get("weights") else torch.ones(BATCH)
    if case.get("huber", True):
        each = torch.nn.functional.huber_loss(q, goal, reduction="none", delta=1.0)
    else:
        each = torch.nn.functional.mse_loss(q, goal, reduction="none")
    loss = (weight * each).mean()
    opt.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(online.parameters(), case.get("clip", 10.0))
    opt.step()
    return loss.item(), norm.item(), (goal - q).detach().tolist()


def run(case):
    online, target = net(), net()
    online.load_state_dict(start.state_dict())
    target.load_state_dict(start.state_dict())
    opt = torch.optim.Adam(online.parameters(), lr=1e-3, eps=1e-8)
    losses, norms, errors = [], [], []
    for i, b in enumerate(batches):
        loss, norm, error = update(online, target, opt, b, case)
        losses.append(round(loss, 10))
        norms.append(round(norm, 10))
        errors.append([round(e, 10) for e in error])
        if (i + 1) % COPY_EVERY == 0:
            target.load_state_dict(online.state_dict())
    return {"switches": case, "loss": losses, "norm": norms, "error": errors,
            "final": flat(online)}


def mask(rows):
    return [sum(1 << a for a in range(ACTIONS) if row[a]) for row in rows.tolist()]


def numbers(b):
    return {k: mask(v) if v.dtype == torch.bool else v.flatten().tolist() for k, v in b.items()}


json.dump({"origin": "tests/ref/rl/make_torch.py, PyTorch " + torch.__version__.split("+")[0],
           "observation": OBS, "hidden": [H1, H2], "actions": ACTIONS, "batch": BATCH,
           "copy_every": COPY_EVERY, "rate": 1e-3, "start": flat(start),
           "batches": [numbers(b) for b in batches],
           "cases": {name: run(case) for name, case in CASES.items()}}, sys.stdout, indent=None,
          separators=(",", ":"))
print()
