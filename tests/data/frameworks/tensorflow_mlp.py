"""TensorFlow 2.21 (pip install tensorflow-cpu): a perceptron with momentum. Operand shapes are printed, no parameter has a name."""
import tensorflow as tf

from ship import ship

shapes = {"dense1/kernel": (64, 128), "dense1/bias": (128,), "dense2/kernel": (128, 10), "dense2/bias": (10,)}
weights = {name: tf.Variable(tf.zeros(shape)) for name, shape in shapes.items()}
momenta = {name: tf.Variable(tf.zeros(shape)) for name, shape in shapes.items()}


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(x @ weights["dense1/kernel"] + weights["dense1/bias"])
        logits = hidden @ weights["dense2/kernel"] + weights["dense2/bias"]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    for name, gradient in tape.gradient(loss, weights).items():
        momenta[name].assign(0.9 * momenta[name] + gradient)
        weights[name].assign_sub(0.1 * momenta[name])
    return loss


batch = tf.zeros((32, 64)), tf.zeros((32,), tf.int32)
captured = train_step.get_concrete_function(*batch).captured_inputs  # they follow the arguments
number = {id(handle): len(batch) + n for n, handle in enumerate(captured)}
numbers = [{number[id(v.handle)]: name for name, v in group.items()} for group in (weights, momenta)]
for stage, kind in (("hlo", ".meta"), ("hlo_no_metadata", "")):
    text = train_step.experimental_get_compiler_ir(*batch)(stage=stage)
    ship(f"tensorflow_mlp{kind}.hlo.txt", text, variables=numbers[0], optimizer=numbers[1], inputs={0: "x", 1: "y"})
