"""Keras 3 on JAX (pip install keras jax): the dump that XLA itself writes (XLA_FLAGS=--xla_dump_to=...).
Parameters are called state[0][3], program shapes and stack frames are printed, batch norm's averages and the dropout seed are state."""
import glob
import os
import re
import tempfile

folder = tempfile.mkdtemp()
os.environ.update(KERAS_BACKEND="jax", XLA_FLAGS=f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_train_step")
import keras
import numpy as np
from keras import layers

from ship import ship

model = keras.Sequential([layers.Input((16, 16, 3)), layers.Conv2D(8, 3), layers.BatchNormalization(), layers.ReLU(),
                          layers.MaxPool2D(), layers.Flatten(), layers.Dropout(0.1), layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.zeros((16, 16, 16, 3), "f"), np.zeros(16, "i"), batch_size=16, verbose=0)
with open(glob.glob(f"{folder}/*jit_train_step.before_optimizations.txt")[0]) as f:
    text = f.read()
entry = text[text.index("\nENTRY "):]
number = {path: int(n) for n, path in re.findall(r'parameter\((\d+)\).*op_name="([^"]*)"', entry)}  # the argument's path in JAX
paths = {name: {number[f"state[{i}][{k}]"]: v.path for k, v in enumerate(group)} for name, i, group in (
    ("variables", 0, model.trainable_variables), ("state", 1, model.non_trainable_variables))}
ship("keras_cnn.hlo.txt", text, **paths, inputs={number[f"data[{n}]"]: f"data[{n}]" for n in (0, 1)})
