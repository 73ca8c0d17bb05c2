"""Training steps of Keras on TensorFlow, as `tf.function(jit_compile=True)` hands them to XLA, beside those of steps.py:

    python tests/ref/steps/tensorflow_steps.py FOLDER [NAME ..]

Writes FOLDER/tensorflow/NAME.get_compiler_ir.hlo.gz and NAME.vars.txt. Needs tensorflow."""
import gzip
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as L  # noqa: E402

STEPS = {}


def step(build):
    """Registers a builder: () -> (model, optimizer, loss, batch)."""
    STEPS[build.__name__] = build
    return build


@step
def tf_separable():
    """Inverted bottlenecks: depthwise convolutions, running averages, residues."""
    x = i = keras.Input((32, 32, 3), batch_size=8)
    x = L.ReLU(6)(L.BatchNormalization()(L.Conv2D(16, 3, 2, padding="same", use_bias=False)(x)))
    for wide in (16, 16):
        y = L.ReLU(6)(L.BatchNormalization()(L.Conv2D(64, 1, use_bias=False)(x)))
        y = L.ReLU(6)(L.BatchNormalization()(L.DepthwiseConv2D(3, padding="same", use_bias=False)(y)))
        x = x + L.BatchNormalization()(L.Conv2D(wide, 1, use_bias=False)(y))
    model = keras.Model(i, L.Dense(10)(L.GlobalAveragePooling2D()(x)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return model, keras.optimizers.SGD(0.1, 0.9), loss, (np.zeros((8, 32, 32, 3), "f"), np.zeros(8, "i"))


@step
def tf_attention():
    """Words and places, two encoder layers, pooled, dropout from TensorFlow's stateless generator."""
    i = keras.Input((24,), batch_size=8, dtype="int32")
    x = L.Embedding(256, 64)(i) + L.Embedding(24, 64)(keras.ops.cumsum(keras.ops.ones_like(i), 1) - 1)
    for _ in range(2):
        x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 16)(x, x))
        x = L.LayerNormalization()(x + L.Dense(64)(L.Dense(128, "gelu")(x)))
    model = keras.Model(i, L.Dense(5)(L.GlobalAveragePooling1D()(x)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return model, keras.optimizers.AdamW(1e-3), loss, (np.zeros((8, 24), "i"), np.zeros(8, "i"))


@step
def tf_crossing():
    """Tables of categories, products of features with themselves (a cross network), a deep side."""
    ins = [keras.Input((), batch_size=64, dtype="int32") for _ in range(4)]
    x = L.Concatenate()([L.Embedding(500, 16)(i) for i in ins])
    deep, cross = x, x
    for _ in range(2):
        cross = x * L.Dense(64)(cross) + cross
        deep = L.Dense(64, "relu")(deep)
    model = keras.Model(ins, L.Dense(1)(L.Concatenate()([cross, deep])))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return model, keras.optimizers.Adagrad(0.01), loss, ([np.zeros(64, "i") for _ in range(4)], np.zeros((64, 1), "f"))


@step
def tf_sequence_pairs():
    """An LSTM reads, another writes from its last state and looks back by attention."""
    a, b = (keras.Input((16,), batch_size=8, dtype="int32") for _ in range(2))
    said, h, c = L.LSTM(64, return_sequences=True, return_state=True)(L.Embedding(128, 32)(a))
    x = L.LSTM(64, return_sequences=True)(L.Embedding(128, 32)(b), initial_state=[h, c])
    model = keras.Model([a, b], L.Dense(128)(L.Concatenate()([x, L.Attention()([x, said])])))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return model, keras.optimizers.RMSprop(1e-3), loss, ([np.zeros((8, 16), "i")] * 2, np.zeros((8, 16), "i"))


def write(folder, name, built):
    model, optimizer, loss, (x, y) = built
    optimizer.build(model.trainable_variables)

    @tf.function(jit_compile=True)
    def train(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        g = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(g, model.trainable_variables))
        return value

    x, y = tf.nest.map_structure(tf.constant, x), tf.constant(y)
    text = train.experimental_get_compiler_ir(x, y)(stage="hlo")
    made = train.get_concrete_function(x, y)
    place = os.path.join(folder, "tensorflow")
    os.makedirs(place, exist_ok=True)
    with gzip.GzipFile(os.path.join(place, name + ".get_compiler_ir.hlo.gz"), "wb", mtime=0) as f:
        f.write(text.encode())
    own = {id(v.value.handle): v.path for v in model.trainable_variables}
    outer = {id(inner): outside for outside, inner in made.graph.captures}
    with open(os.path.join(place, name + ".vars.txt"), "w") as f:
        f.write("# parameter_number<TAB>name<TAB>shape\n")
        for number, t in enumerate(made.inputs):
            path = own.get(id(outer.get(id(t))))
            if path:
                shape = next(v.shape for v in model.trainable_variables if v.path == path)
                f.write(f"{number}\t{path}\tf32{list(shape)}\n")
    return len(text)


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    for name, build in STEPS.items():
        if not wanted or name in wanted:
            print(f"tensorflow/{name}: {write(folder, name, build())} bytes of text", flush=True)


if __name__ == "__main__":
    main()
