"""Writes actions.json: one double-Q update over more actions than a word has bits, by numpy in float64.

    python make_actions.py > actions.json

Weights, observations and sets come from formulas that the test repeats (rl_actions.c), so that the file holds results alone.
Of every row: the Q of all actions by their sum and by the one taken, the next action chosen among the legal ones, the error;
then loss, gradient norm and a projection of the gradient. The gradient is written out by hand from the loss, layer by layer.
"""
import json

import numpy as np

OBS, HIDDEN, BATCH, DELTA = 5, 7, 6, 1.0


def wave(count, step, shift):
    return np.sin(np.arange(count) * step + shift).astype(np.float32).astype(np.float64)


def legal_set(actions, row, more):
    a = np.arange(actions)
    return (a * 7 + row * 3 + more) % 5 < 2


def heads(parameters, x):
    w1, b1, w2, b2 = parameters
    hidden = np.maximum(x @ w1.T + b1, 0)
    return hidden, hidden @ w2.T + b2


def q_of(head, legal, dueling):
    if not dueling:
        return head[:-1]
    return head[-1] + head[:-1] - head[:-1][legal].mean()


def network(actions, shift):
    # one row per action and one for the value of the state
    return [wave(HIDDEN * OBS, 0.37, shift).reshape(HIDDEN, OBS), wave(HIDDEN, 0.51, shift),
            wave((actions + 1) * HIDDEN, 0.73, shift).reshape(actions + 1, HIDDEN), wave(actions + 1, 0.91, shift)]


def update(actions, dueling):
    online, target = network(actions, 0.1), network(actions, 0.7)
    now, after = (wave(BATCH * OBS, s, 0.2).reshape(BATCH, OBS) for s in (0.29, 0.43))
    gradient = [np.zeros_like(p) for p in online]
    rows, loss = [], 0.0
    for r in range(BATCH):
        action = (r * 67 + 5) % actions
        legal, following = legal_set(actions, r, 0), legal_set(actions, r, 1)
        legal[action] = True
        if r == 4:
            following = np.arange(actions) == actions - 1  # the last alone
        hidden, head = heads(online, now[r])
        q = q_of(head, legal, dueling)
        choice = q_of(heads(online, after[r])[1], following, dueling)
        value = q_of(heads(target, after[r])[1], following, dueling)
        best = int(np.flatnonzero(following)[np.argmax(choice[following])])
        discount = 0.0 if r == 5 else 0.6
        error = 0.25 * r + discount * value[best] - q[action]
        loss += (error**2 / 2 if abs(error) <= DELTA else DELTA * (abs(error) - DELTA / 2)) / BATCH
        slope = -np.clip(error, -DELTA, DELTA) / BATCH
        d = np.zeros(actions + 1)
        if dueling:
            d[:-1][legal] = -slope / legal.sum()
            d[-1] = slope
        d[action] += slope
        gradient[2] += np.outer(d, hidden)
        gradient[3] += d
        back = (d @ online[2]) * (hidden > 0)
        gradient[0] += np.outer(back, now[r])
        gradient[1] += back
        rows.append({"sum": float(q.sum()), "q": float(q[action]), "next": best, "error": float(error)})
    flat = np.concatenate([g.flatten() for g in gradient])
    return {"actions": actions, "dueling": dueling, "rows": rows, "loss": float(loss), "norm": float(np.linalg.norm(flat)),
            "projection": float(flat @ np.cos(np.arange(flat.size)))}


print(json.dumps([update(a, d) for a in (65, 128, 160, 1000) for d in (False, True)], indent=1))
