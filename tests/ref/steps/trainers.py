"""Ways to train: copies and teachers, frozen halves, rollouts, several passes, line searches, local losses, sums by scans; and
two steps of inference."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


def layers(*sizes):
    return [{"w": S(a, b), "b": S(b)} for a, b in zip(sizes, sizes[1:])]


def run(p, x, act=jax.nn.relu):
    for layer in p[:-1]:
        x = act(x @ layer["w"] + layer["b"])
    return x @ p[-1]["w"] + p[-1]["b"]


@step("flax")
def ensemble():
    """Eight networks at once by vmap, each with its own rows, optimizer state and learning rate."""
    import optax

    tx = optax.inject_hyperparams(optax.adam)(learning_rate=1e-3)
    wide = lambda tree: jax.tree.map(lambda x: S(8, *x.shape, dtype=x.dtype), tree)
    one = layers(32, 64, 64, 10)

    def single(p, opt, x, y):
        value, g = jax.value_and_grad(lambda p: cross_entropy(run(p, x), y))(p)
        u, opt = tx.update(g, opt, p)
        return optax.apply_updates(p, u), opt, value

    def train(params, opt, x, y, rows):
        params, opt, values = jax.vmap(lambda p, o, r: single(p, o, x[r], y[r]))(params, opt, rows)
        return params, opt, values

    return train, (wide(one), wide(shapes(tx.init, one)), S(256, 32), ints(256), ints(8, 128)), None


@step("flax")
def preference():
    """Two answers judged by a frozen copy and by the model: the better one has to gain (four passes, one gradient)."""
    import optax

    params = {"words": S(256, 64), "mix": [{"q": S(64, 64), "k": S(64, 64), "v": S(64, 64), "up": S(64, 128), "down": S(128, 64)}
                                           for _ in range(2)], "norm": S(64)}
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-5))

    def logs(p, t, mask):
        x, causal = p["words"][t], jnp.tril(jnp.ones((t.shape[1], t.shape[1])))
        for b in p["mix"]:
            near = jnp.where(causal > 0, jnp.einsum("bqd,bkd->bqk", x @ b["q"], x @ b["k"]) / 8, -1e9)
            x = x + jax.nn.softmax(near) @ (x @ b["v"])
            x = x + jax.nn.gelu(x @ b["up"]) @ b["down"]
        said = jax.nn.log_softmax((x * p["norm"]) @ p["words"].T)[:, :-1]
        return jnp.sum(jnp.take_along_axis(said, t[:, 1:, None], -1)[..., 0] * mask[:, 1:], -1)

    def train(params, frozen, opt, good, bad, good_mask, bad_mask):
        base = logs(frozen, good, good_mask) - logs(frozen, bad, bad_mask)

        def loss(p):
            gain = logs(p, good, good_mask) - logs(p, bad, bad_mask) - base
            return -jnp.mean(jax.nn.log_sigmoid(0.1 * gain)), jnp.mean(gain > 0)

        (value, right), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, value, right

    t, m = ints(8, 24), S(8, 24)
    return train, (params, params, shapes(tx.init, params), t, t, m, m), None


@step("flax")
def policy_rollout():
    """The environment runs inside of the step: actions drawn by a scan, returns summed backwards, the gradient of their logs."""
    import optax

    params, tx = {"actor": layers(4, 64, 64, 2), "critic": layers(4, 64, 1)}, optax.adam(3e-4)

    def move(s, a):
        x, v, t, w = s.T
        f = jnp.where(a == 1, 10.0, -10.0)
        c, n = jnp.cos(t), jnp.sin(t)
        h = (f + 0.05 * w**2 * n) / 1.1
        alpha = (9.8 * n - c * h) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        return jnp.stack([x + 0.02 * v, v + 0.02 * (h - 0.05 * alpha * c / 1.1), t + 0.02 * w, w + 0.02 * alpha], 1)

    def train(params, opt, s, k):
        def loss(p):
            def go(s, k):
                said = run(p["actor"], s, jnp.tanh)
                a = jax.random.categorical(k, said)
                after = jax.lax.stop_gradient(move(s, a))
                over = (jnp.abs(after[:, 0]) > 2.4) | (jnp.abs(after[:, 2]) > 0.2)
                log = jnp.take_along_axis(jax.nn.log_softmax(said), a[:, None], 1)[:, 0]
                return jnp.where(over[:, None], 0.0, after), (log, run(p["critic"], s)[:, 0], 1.0 - over)

            last, (log, value, alive) = jax.lax.scan(go, s, jax.random.split(k, 16))
            _, gain = jax.lax.scan(lambda g, a: ((r := a + 0.99 * a * g), r), jnp.zeros(s.shape[0]), alive, reverse=True)
            better = jax.lax.stop_gradient(gain - value)
            return -jnp.mean(log * better) + 0.5 * jnp.mean((gain - value) ** 2), last

        (value, s), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, s, jax.random.split(k)[0], value

    return train, (params, shapes(tx.init, params), S(64, 4), key()), None


@step("flax")
def summed_by_scan():
    """Parts of a batch one after another in a scan, gradients summed in float32 beside bfloat16 weights, one update."""
    import optax

    bf = jnp.bfloat16
    params = jax.tree.map(lambda x: S(*x.shape, dtype=bf), layers(64, 128, 128, 16))
    tx = optax.adamw(1e-3, mu_dtype=bf)
    masters = jax.tree.map(lambda x: S(*x.shape), params)

    def train(masters, opt, x, y):
        light = jax.tree.map(lambda m: m.astype(bf), masters)

        def part(c, b):
            value, g = jax.value_and_grad(lambda p: cross_entropy(run(p, b[0].astype(bf)).astype(jnp.float32), b[1]))(light)
            return (c[0] + value, jax.tree.map(lambda s, g: s + g.astype(jnp.float32), c[1], g)), None

        zero = jax.tree.map(jnp.zeros_like, masters)
        (value, g), _ = jax.lax.scan(part, (0.0, zero), (x, y))
        u, opt = tx.update(jax.tree.map(lambda g: g / 4, g), opt, masters)
        return optax.apply_updates(masters, u), opt, value / 4

    return train, (masters, shapes(tx.init, masters), S(4, 32, 64), ints(4, 32)), None


@step("flax")
def line_search():
    """L-BFGS with a zoom line search: the loss is computed in loops until the step is good."""
    import optax

    params, tx = layers(16, 32, 4), optax.lbfgs(memory_size=4, linesearch=optax.scale_by_zoom_linesearch(5))

    def train(params, opt, x, y):
        f = lambda p: cross_entropy(run(p, x, jnp.tanh), y)
        value, g = optax.value_and_grad_from_state(f)(params, state=opt)
        u, opt = tx.update(g, opt, params, value=value, grad=g, value_fn=f)
        return optax.apply_updates(params, u), opt, value

    return train, (params, shapes(tx.init, params), S(64, 16), ints(64)), None


@step("flax")
def natural_gradient():
    """Each layer's gradient between the inverses of what goes in and what comes back (running averages, Cholesky solves)."""
    params = [S(32, 64), S(64, 64), S(64, 10)]
    factors = [(S(w.shape[0], w.shape[0]), S(w.shape[1], w.shape[1])) for w in params]

    def train(params, factors, x, y):
        def loss(p, shift):
            seen, h = [], x
            for k, (w, s) in enumerate(zip(p, shift)):
                seen.append(h)
                h = h @ w + s
                h = jnp.tanh(h) if k < 2 else h
            return cross_entropy(h, y), seen

        shift = [jnp.zeros((x.shape[0], w.shape[1])) for w in params]
        (value, seen), (g, back) = jax.value_and_grad(loss, (0, 1), has_aux=True)(params, shift)
        new, kept = [], []
        for w, d, (a, b), h, e in zip(params, g, factors, seen, back):
            a, b = 0.95 * a + 0.05 * h.T @ h / 128, 0.95 * b + 0.05 * 128 * e.T @ e
            solve = lambda m, r: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(m + 0.03 * jnp.eye(m.shape[0])), r)
            new.append(w - 0.01 * solve(b, solve(a, d).T).T)
            kept.append((a, b))
        return new, kept, value

    return train, (params, factors, S(128, 32), ints(128)), None


@step("flax")
def local_losses():
    """Forward-forward: every layer has a loss of its own and hands on what it says without a gradient."""
    import optax

    params, tx = layers(64, 128, 128, 128), optax.adam(1e-3)

    def train(params, opts, good, bad):
        new, kept, losses = [], [], []
        for p, opt in zip(params, opts):
            def loss(p):
                a, b = (jax.nn.relu(h / (jnp.linalg.norm(h, axis=-1, keepdims=True) + 1e-4) @ p["w"] + p["b"]) for h in (good, bad))
                return jnp.mean(jax.nn.softplus(2 - jnp.mean(a**2, -1)) + jax.nn.softplus(jnp.mean(b**2, -1) - 2)), (a, b)

            (value, (good, bad)), g = jax.value_and_grad(loss, has_aux=True)(p)
            u, opt = tx.update(g, opt)
            new.append(optax.apply_updates(p, u))
            kept.append(opt)
            losses.append(value)
        return new, kept, jnp.stack(losses)

    return train, (params, [shapes(tx.init, p) for p in params], S(128, 64), S(128, 64)), None


@step("haiku")
def teacher():
    """A large frozen network's soft answers for a small one; the labels count a little."""
    import haiku as hk
    import optax

    def net(widths):
        def forward(x):
            for w in widths:
                x = jax.nn.relu(hk.LayerNorm(-1, True, True)(hk.Conv2D(w, 3, 2)(x)))
            return hk.Linear(10)(x.mean((1, 2)))
        return hk.without_apply_rng(hk.transform(forward))

    big, small, x, tx = net([32, 64, 128]), net([8, 16, 32]), S(32, 16, 16, 3), optax.yogi(1e-3)
    teach, params = shapes(big.init, key(), x), shapes(small.init, key(), x)

    def train(params, teach, opt, x, y):
        soft = jax.nn.softmax(big.apply(teach, x) / 4)

        def loss(p):
            said = small.apply(p, x)
            return 0.1 * cross_entropy(said, y) - 16 * jnp.mean(jnp.sum(soft * jax.nn.log_softmax(said / 4), -1))

        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt)
        return optax.apply_updates(params, u), opt, value

    return train, (params, teach, shapes(tx.init, params), x, ints(32)), None


@step("flax")
def physics():
    """A network obeys a differential equation: second derivatives in place and time by forward mode, edges beside them."""
    import optax

    def u(p, x, t):
        return run(p, jnp.stack([x, t]), jnp.tanh)[0]

    def loss(p, x, t, x0, u0):
        ut = jax.vmap(jax.grad(u, 2), (None, 0, 0))(p, x, t)
        ux = jax.vmap(jax.jacfwd(u, 1), (None, 0, 0))(p, x, t)
        uxx = jax.vmap(jax.jacfwd(jax.grad(u, 1), 1), (None, 0, 0))(p, x, t)
        v = jax.vmap(u, (None, 0, 0))
        inside = ut + v(p, x, t) * ux - 0.003 * uxx
        return jnp.mean(inside**2) + jnp.mean((v(p, x0, 0 * x0) - u0) ** 2) + jnp.mean(v(p, jnp.sign(x0), t[: x0.shape[0]]) ** 2)

    return trained(loss, optax.adam(1e-3), layers(2, 64, 64, 64, 1), S(256), S(256), S(64), S(64))


@step("flax")
def cycle():
    """Two generators and two judges of pictures, each pair with its own optimizer: there and back must be the same picture."""
    import flax.linen as nn
    import optax

    class Paint(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.GroupNorm(4)(nn.Conv(16, (3, 3), 2)(x)))
            for _ in range(2):
                x = x + nn.GroupNorm(4)(nn.Conv(16, (3, 3))(nn.relu(nn.GroupNorm(4)(nn.Conv(16, (3, 3))(x)))))
            return jnp.tanh(nn.ConvTranspose(3, (3, 3), (2, 2))(x))

    class Judge(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Conv(1, (3, 3))(nn.leaky_relu(nn.Conv(16, (4, 4), 2)(x)))

    paint, judge, x = Paint(), Judge(), S(8, 16, 16, 3)
    made = {"ab": shapes(paint.init, key(), x), "ba": shapes(paint.init, key(), x)}
    judges = {"a": shapes(judge.init, key(), x), "b": shapes(judge.init, key(), x)}
    tg, td = optax.adam(2e-4, 0.5), optax.adam(1e-4, 0.5)

    def train(made, judges, og, od, a, b):
        def paints(p):
            fb, fa = paint.apply(p["ab"], a), paint.apply(p["ba"], b)
            fool = jnp.mean((judge.apply(judges["b"], fb) - 1) ** 2) + jnp.mean((judge.apply(judges["a"], fa) - 1) ** 2)
            same = jnp.mean(jnp.abs(paint.apply(p["ba"], fb) - a)) + jnp.mean(jnp.abs(paint.apply(p["ab"], fa) - b))
            return fool + 10 * same, (fa, fb)

        (lg, (fa, fb)), g = jax.value_and_grad(paints, has_aux=True)(made)
        u, og = tg.update(g, og)
        made = optax.apply_updates(made, u)

        def judging(p):
            one = lambda p, true, false: jnp.mean((judge.apply(p, true) - 1) ** 2) + jnp.mean(judge.apply(p, false) ** 2)
            return one(p["a"], a, fa) + one(p["b"], b, fb)

        ld, g = jax.value_and_grad(judging)(judges)
        u, od = td.update(g, od)
        return made, optax.apply_updates(judges, u), og, od, lg, ld

    return train, (made, judges, shapes(tg.init, made), shapes(td.init, judges), x, x), lambda p: p.startswith(("[0]", "[1]"))


@step("flax")
def synchronised_norm():
    """vmap stands for devices: batch norm averages over the axis it names, and so do the gradients (pmean)."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for w in (16, 32):
                x = nn.relu(nn.BatchNorm(False, axis_name="d")(nn.Conv(w, (3, 3), 2)(x)))
            return nn.Dense(10)(x.mean((1, 2)))

    net, tx, x = Net(), optax.sgd(0.1, 0.9), S(4, 8, 16, 16, 3)
    both = shapes(lambda k: Net().init(k, jnp.zeros((8, 16, 16, 3))), key())

    def train(params, stats, opt, x, y):
        def one(x, y):
            def loss(p):
                out, new = net.apply({"params": p, "batch_stats": stats}, x, mutable=["batch_stats"])
                return cross_entropy(out, y), new["batch_stats"]

            (value, new), g = jax.value_and_grad(loss, has_aux=True)(params)
            return jax.lax.pmean((value, new, g), "d")

        value, new, g = jax.tree.map(lambda x: x[0], jax.vmap(one, axis_name="d")(x, y))
        u, opt = tx.update(g, opt)
        return optax.apply_updates(params, u), new, opt, value

    return train, (both["params"], both["batch_stats"], shapes(tx.init, both["params"]), x, ints(4, 8)), None


@step("flax")
def sound_spectra():
    """A vocoder's losses: short Fourier spectra of several lengths between sound made and sound heard."""
    import optax

    params = {"conv": [S(5, 20, 64), S(5, 64, 64), S(5, 64, 64)], "out": S(64, 16)}

    def spectrum(x, n):
        at = jnp.arange(0, x.shape[1] - n + 1, n // 2)[:, None] + jnp.arange(n)
        return jnp.abs(jnp.fft.rfft(x[:, at] * jnp.hanning(n))) + 1e-5

    def loss(p, frames, sound):
        h = frames
        for w in p["conv"]:
            h = jax.nn.leaky_relu(jax.lax.conv_general_dilated(h, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))
        made = jnp.tanh(h @ p["out"]).reshape(h.shape[0], -1)
        total = 0.0
        for n in (32, 64, 128):
            a, b = spectrum(made, n), spectrum(sound, n)
            total += jnp.linalg.norm(b - a) / jnp.linalg.norm(b) + jnp.mean(jnp.abs(jnp.log(a) - jnp.log(b)))
        return total / 3

    return trained(loss, optax.adamw(2e-4, 0.8, 0.99), params, S(8, 32, 20), S(8, 512))


@step("flax")
def halves():
    """Different rates for a body and a head, a slow average, the gradient's noise and norms logged, labels smoothed and mixed."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, k):
            for n in range(3):
                h = nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
                x = x + h * jax.random.bernoulli(jax.random.fold_in(k, n), 0.9, (x.shape[0], 1)) / 0.9
            return nn.Dense(10, name="head")(x)

    net, x = Net(), S(64, 64)
    params = shapes(net.init, key(), x, key())
    label = lambda p: jax.tree_util.tree_map_with_path(lambda path, _: "head" if "head" in jax.tree_util.keystr(path) else "body", p)
    tx = optax.multi_transform({"body": optax.chain(optax.adaptive_grad_clip(0.01), optax.sgd(0.01, 0.9)), "head": optax.adamw(1e-3)}, label)

    def train(state, x, y, k):
        k1, k2, k3 = jax.random.split(k, 3)
        much = jax.random.beta(k1, 0.8, 0.8)
        order = jax.random.permutation(k2, 64)
        true = optax.smooth_labels(jax.nn.one_hot(y, 10), 0.1)
        x, true = much * x + (1 - much) * x[order], much * true + (1 - much) * true[order]

        def loss(p):
            said = net.apply(p, x, k3)
            return jnp.mean(optax.softmax_cross_entropy(said, true)), said

        (value, said), g = jax.value_and_grad(loss, has_aux=True)(state["params"])
        u, opt = tx.update(g, state["opt"], state["params"])
        params = optax.apply_updates(state["params"], u)
        logged = {"loss": value, "right": jnp.mean(jnp.argmax(said, -1) == y), "gradient": optax.global_norm(g),
                  "weights": optax.global_norm(params), "ratio": optax.global_norm(u) / optax.global_norm(params)}
        slow = optax.incremental_update(params, state["slow"], 0.01)
        return {"params": params, "slow": slow, "opt": opt, "count": state["count"] + 1}, logged

    state = {"params": params, "slow": params, "opt": shapes(tx.init, params), "count": ints()}
    return train, (state, x, ints(64), key()), lambda path: path.startswith("[0]['params']")


@step("flax")
def tasks():
    """One body, a head for the task that the batch says (switch), its loss among three."""
    import optax

    params = {"body": layers(32, 128, 64), "heads": [layers(64, 10), layers(64, 32, 1), layers(64, 4)]}

    def loss(p, task, x, y):
        h = jax.nn.relu(run(p["body"], x))
        a, b, c = p["heads"]
        return jax.lax.switch(task, [lambda h: cross_entropy(run(a, h), y), lambda h: jnp.mean((run(b, h)[:, 0] - y) ** 2),
                                     lambda h: jnp.mean(optax.sigmoid_binary_cross_entropy(run(c, h), (y[:, None] >> jnp.arange(4)) & 1))], h)

    return trained(loss, optax.adam(1e-3), params, ints(), S(128, 32), ints(128))


@step("flax")
def words_one_by_one():
    """Inference: one word for every text, keys and values of the words before kept in place."""
    width, heads, head, long = 64, 4, 16, 64
    layer = {"qkv": S(width, 3, heads, head), "out": S(heads, head, width), "up": S(width, 256), "down": S(256, width)}
    params = {"words": S(512, width), "layers": [layer] * 3}

    def step_(params, kept, at, word, k):
        x, new = params["words"][word], []
        for p, (ks, vs) in zip(params["layers"], kept):
            q, k1, v1 = jnp.moveaxis(jnp.einsum("bd,dxhe->bxhe", x, p["qkv"]), 1, 0)
            ks, vs = (jax.lax.dynamic_update_slice(c, n[:, None], (0, at, 0, 0)) for c, n in ((ks, k1), (vs, v1)))
            near = jnp.where(jnp.arange(long) <= at, jnp.einsum("bhe,bthe->bht", q, ks) / 4, -1e9)
            x = x + jnp.einsum("bht,bthe,hed->bd", jax.nn.softmax(near), vs, p["out"])
            x = x + jax.nn.gelu(x @ p["up"]) @ p["down"]
            new.append((ks, vs))
        top, which = jax.lax.top_k(x @ params["words"].T, 16)
        picked = jax.random.categorical(k, top / 0.7)
        return jnp.take_along_axis(which, picked[:, None], 1)[:, 0], new, at + 1

    cache = [(S(16, long, heads, head), S(16, long, heads, head))] * 3
    return step_, (params, cache, ints(), ints(16), key()), None


@step("flax")
def beams():
    """Inference: beams of a recurrent decoder, the best of all their next words kept, until the end or sixteen words."""
    params = {"words": S(256, 64), "cell": S(128, 192), "head": S(64, 256)}

    def search(params, h):
        b, k = h.shape[0], 4

        def cell(h, w):
            z, r, c = jnp.split(jnp.concatenate([h, params["words"][w]], -1) @ params["cell"], 3, -1)
            z = jax.nn.sigmoid(z)
            return z * h + (1 - z) * jnp.tanh(c * jax.nn.sigmoid(r))

        def go(c):
            n, h, w, score, said = c
            h = cell(h, w)
            log = score[..., None] + jax.nn.log_softmax(h @ params["head"])
            score, top = jax.lax.top_k(log.reshape(b, -1), k)
            of, w = top // 256, top % 256
            pick = lambda x: jnp.take_along_axis(x, of.reshape(b, k, *[1] * (x.ndim - 2)), 1)
            return n + 1, pick(h), w, score, pick(said).at[:, :, n].set(w)

        start = 0, jnp.repeat(h[:, None], k, 1), jnp.zeros((b, k), jnp.int32), jnp.tile(jnp.array([0.0] + [-1e9] * (k - 1)), (b, 1)), \
            jnp.zeros((b, k, 16), jnp.int32)
        c = jax.lax.while_loop(lambda c: (c[0] < 16) & ~jnp.all(c[2] == 1), go, start)
        return c[4], c[3]

    return search, (params, S(32, 64)), None
