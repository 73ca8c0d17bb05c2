"""A plain training script: a small language model in Flax NNX on one device. Nothing in it knows of automap."""
import jax
import numpy as np
import optax
from flax import nnx

VOCABULARY, WIDTH, LENGTH, BATCH, LAYERS = 256, 128, 32, 16, 2


class Block(nnx.Module):
    def __init__(self, rngs):
        self.before, self.between = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.LayerNorm(WIDTH, rngs=rngs)
        self.qkv = nnx.Linear(WIDTH, 3 * WIDTH, rngs=rngs)
        self.out = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
        self.up, self.down = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs), nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x):
        q, k, v = (t.reshape(*t.shape[:2], 4, -1) for t in jax.numpy.split(self.qkv(self.before(x)), 3, axis=-1))
        x = x + self.out(jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape))
        return x + self.down(nnx.gelu(self.up(self.between(x))))


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.blocks = nnx.Sequential(*[Block(rngs) for _ in range(LAYERS)])

    def __call__(self, tokens):
        return self.embed.attend(self.blocks(self.embed(tokens)))


graph, parameters = nnx.split(Model(nnx.Rngs(0)))
optimizer = optax.adamw(3e-3)


@jax.jit
def train_step(params, opt_state, tokens):
    def loss_of(params):
        return optax.softmax_cross_entropy_with_integer_labels(nnx.merge(graph, params)(tokens[:, :-1]), tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_of)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def batch(n):
    start = np.random.default_rng(n).integers(0, VOCABULARY, (BATCH, 1))
    return ((start + np.arange(LENGTH + 1)) % VOCABULARY).astype(np.int32)  # tokens that count on


def train(step, params, opt_state, steps=10):
    losses = []
    for n in range(steps):
        params, opt_state, loss = step(params, opt_state, batch(n))
        losses.append(float(loss))
    return losses


if __name__ == "__main__":
    print(train(train_step, parameters, optimizer.init(parameters)))
