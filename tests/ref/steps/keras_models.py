"""Keras' own models on JAX, small pictures: the stateless step that fit() compiles, with running averages and random seeds as state."""
import jax
import jax.numpy as jnp
from steps import S, ints, step


def fitted(model, optimizer, loss, x, y):
    """(trained, other, optimizer's variables, x, y) -> the same renewed, the loss."""
    import keras

    optimizer.build(model.trainable_variables)
    lose = keras.losses.get(loss) if isinstance(loss, str) else loss

    def train(trained, other, opt, x, y):
        def compute(trained):
            said, new = model.stateless_call(trained, other, x, training=True)
            return jnp.mean(lose(y, said)), new

        (value, other), g = jax.value_and_grad(compute, has_aux=True)(trained)
        trained, opt = optimizer.stateless_apply(opt, g, trained)
        return trained, other, opt, value

    shape = lambda vs: [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in vs]
    return train, (shape(model.trainable_variables), shape(model.non_trainable_variables), shape(optimizer.variables), x, y), None


def pictured(make, optimizer, **more):
    import keras

    model = make(weights=None, input_shape=(32, 32, 3), classes=10, **more)
    loss = keras.losses.SparseCategoricalCrossentropy()
    return fitted(model, optimizer, loss, S(8, 32, 32, 3), ints(8))


@step("keras-jax")
def keras_mobilenet_v2():
    import keras

    return pictured(keras.applications.MobileNetV2, keras.optimizers.SGD(0.1, 0.9), alpha=0.35)


@step("keras-jax")
def keras_mobilenet_v3():
    import keras

    return pictured(keras.applications.MobileNetV3Small, keras.optimizers.Adam(1e-3), alpha=0.75, minimalistic=True)


@step("keras-jax")
def keras_convnext():
    import keras

    return pictured(keras.applications.ConvNeXtTiny, keras.optimizers.AdamW(1e-3))


@step("keras-jax")
def keras_translation():
    """A GRU reads, another writes and looks back."""
    import keras
    from keras import layers as L

    a, b = (keras.Input((16,), dtype="int32") for _ in range(2))
    said, h = L.GRU(64, return_sequences=True, return_state=True)(L.Embedding(256, 32)(a))
    x = L.GRU(64, return_sequences=True)(L.Embedding(256, 32)(b), initial_state=h)
    x = L.Dropout(0.1)(L.LayerNormalization()(x + L.MultiHeadAttention(4, 16)(x, said)))
    model = keras.Model([a, b], L.Dense(256)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return fitted(model, keras.optimizers.Adam(1e-3, clipnorm=1.0), loss, [ints(8, 16), ints(8, 16)], ints(8, 16))


@step("keras-jax")
def keras_unet():
    """Down with strides, up with transposed convolutions, batch norms, what was kept beside."""
    import keras
    from keras import layers as L

    i = x = keras.Input((32, 32, 3))
    kept = []
    for w in (16, 32):
        x = L.ReLU()(L.BatchNormalization()(L.Conv2D(w, 3, padding="same", use_bias=False)(x)))
        kept.append(x)
        x = L.SpatialDropout2D(0.1)(L.Conv2D(w, 3, 2, padding="same")(x))
    for w in (32, 16):
        x = L.Conv2DTranspose(w, 3, 2, padding="same")(x)
        x = L.ReLU()(L.BatchNormalization()(L.SeparableConv2D(w, 3, padding="same")(L.Concatenate()([x, kept.pop()]))))
    model = keras.Model(i, L.Conv2D(1, 1)(x))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return fitted(model, keras.optimizers.Nadam(1e-3), loss, S(8, 32, 32, 3), S(8, 32, 32, 1))
