"""Writes the large dumps that `automap bench read` is measured on: a training step of T5 1.1 large (Raffel et al., 2020; Hugging
Face's Flax model, weights as shapes alone) with LAYERS layers in encoder and decoder, as HLO text with metadata and without.

usage: python large_t5.py LAYERS FOLDER     (45 layers: 173,392 instructions, 46 and 13 MB)
needs: pip install jax==0.4.30 jaxlib==0.4.30 flax==0.8.5 transformers==4.44.2 optax==0.2.3 'numpy<2'"""
import os
import sys

import jax
import jax.numpy as jnp
import optax
from jaxlib import xla_client
from transformers import FlaxT5ForConditionalGeneration, T5Config

layers, folder = int(sys.argv[1]), sys.argv[2]
config = T5Config(vocab_size=32128, d_model=1024, d_kv=64, d_ff=2816, num_layers=layers, num_decoder_layers=layers, num_heads=16,
                  feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0)
model = FlaxT5ForConditionalGeneration(config, _do_init=False)
params = jax.eval_shape(lambda key: model.init_weights(key, (1, 8)), jax.random.PRNGKey(0))
optimizer = optax.adamw(1e-4)


def train_step(params, state, batch, key):
    def loss(params):
        inputs = {k: batch[k] for k in ("input_ids", "attention_mask", "decoder_input_ids")}
        logits = model(**inputs, params=params, dropout_rng=key, train=True).logits
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


batch = {k: jax.ShapeDtypeStruct((8, 128), jnp.int32) for k in ("input_ids", "attention_mask", "decoder_input_ids", "labels")}
lowered = jax.jit(train_step, donate_argnums=(0, 1)).lower(params, jax.eval_shape(optimizer.init, params), batch,
                                                           jax.ShapeDtypeStruct((2,), jnp.uint32))
module = lowered.compiler_ir("hlo").get_hlo_module()
for name, has_metadata in (("plain", False), ("metadata", True)):
    options = xla_client._xla.HloPrintOptions.short_parsable()
    options.print_metadata = has_metadata
    with open(os.path.join(folder, f"t5-{layers}.{name}.hlo"), "w") as f:
        f.write(module.to_string(options))
