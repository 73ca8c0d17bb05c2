"""Models of transformers (Flax), two layers each, as its own training scripts train them: dropout drawn in the step, a mask of
what is padding, decay of the matrices alone."""
import jax
import jax.numpy as jnp
from steps import S, ints, key, shapes, step

WIDTH = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256)
B, L, V = 8, 32, 512
JOINED = dict(d_model=128, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
              encoder_ffn_dim=256, decoder_ffn_dim=256, vocab_size=V)


def made(model, first):
    """The parameters' shapes of a model that was not initialised."""
    return shapes(lambda k: model.init_weights(k, first), key())


def decayed(params):
    import flax

    flat = flax.traverse_util.flatten_dict(params)
    return flax.traverse_util.unflatten_dict({k: k[-1] not in ("bias", "scale") for k in flat})


def weighed(logits, labels, mask):
    """The scripts' loss: cross-entropy of one-hot labels, where something is to be said."""
    import optax

    told = optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, logits.shape[-1])) * mask
    return told.sum() / mask.sum()


def tuned(model, params, loss, *batch, state=None):
    """(params, opt, key, *batch) -> the same renewed and the loss; `loss(params, key, *batch)`."""
    import optax

    warm = optax.join_schedules([optax.linear_schedule(0, 1e-4, 100), optax.linear_schedule(1e-4, 0, 900)], [100])
    tx = optax.adamw(warm, weight_decay=0.01, mask=decayed)

    def train(params, opt, k, *batch):
        k, drawn = jax.random.split(k)
        value, g = jax.value_and_grad(loss)(params, drawn, *batch)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, k, {"loss": value, "learning_rate": warm(opt[0].count)}

    return train, (params, shapes(tx.init, params), key(), *batch), None


def masked(kind, **more):
    """A masked language model: three of seven words in twenty are guessed."""
    import transformers as t

    config = getattr(t, kind + "Config")(**{**WIDTH, "vocab_size": V, "max_position_embeddings": 64, **more})
    model = getattr(t, f"Flax{kind}ForMaskedLM")(config, input_shape=(1, L), _do_init=False)

    def loss(p, k, words, mask, labels):
        logits = model(words, attention_mask=mask, params=p, dropout_rng=k, train=True).logits
        return weighed(logits, labels, jnp.where(labels > 0, 1.0, 0.0))

    return tuned(model, made(model, (1, L)), loss, ints(B, L), ints(B, L), ints(B, L))


def causal(kind, name=None, **more):
    import transformers as t

    config = getattr(t, kind + "Config")(**{**WIDTH, "vocab_size": V, "max_position_embeddings": 64, **more})
    model = getattr(t, "Flax" + (name or kind + "ForCausalLM"))(config, input_shape=(1, L), _do_init=False)

    def loss(p, k, words, mask):
        logits = model(words, attention_mask=mask, params=p, dropout_rng=k, train=True).logits
        return weighed(logits[:, :-1], words[:, 1:], mask[:, 1:].astype(jnp.float32))

    return tuned(model, made(model, (1, L)), loss, ints(B, L), ints(B, L))


def translated(kind, source, **more):
    """An encoder and a decoder; labels are shifted in the step."""
    import transformers as t

    config = getattr(t, kind + "Config")(**{**JOINED, "max_position_embeddings": 64, **more})
    model = getattr(t, f"Flax{kind}ForConditionalGeneration")(config, _do_init=False)

    def loss(p, k, given, labels):
        before = jnp.concatenate([jnp.full((B, 1), 2), labels[:, :-1]], 1)
        logits = model(given, decoder_input_ids=before, params=p, dropout_rng=k, train=True).logits
        return weighed(logits, labels, (labels != 1).astype(jnp.float32))

    first = (1, *source.shape[1:]) if len(source.shape) > 2 else (1, L)
    return tuned(model, made(model, first), loss, source, ints(B, L))


def pictures(kind, **more):
    import optax
    import transformers as t

    model = getattr(t, f"Flax{kind}ForImageClassification")(getattr(t, kind + "Config")(num_labels=10, **more), _do_init=False)
    params = made(model, (1, 32, 32, 3))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adafactor(1e-3, min_dim_size_to_factor=64))

    def train(params, opt, k, x, y):
        k, drawn = jax.random.split(k)
        loss = lambda p: weighed(model(x, params=p, dropout_rng=drawn, train=True).logits, y, jnp.ones(y.shape))
        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, k, value

    return train, (params, shapes(tx.init, params), key(), S(B, 3, 32, 32), ints(B)), None


@step("hf-flax")
def hf_electra():
    return masked("Electra", embedding_size=64)


@step("hf-flax")
def hf_big_bird():
    return masked("BigBird", attention_type="original_full")


@step("hf-flax")
def hf_distilbert():
    return masked("DistilBert", dim=128, n_layers=2, n_heads=4, hidden_dim=256)


@step("hf-flax")
def hf_gptj():
    return causal("GPTJ", n_embd=128, n_layer=2, n_head=4, n_positions=64, rotary_dim=16)


@step("hf-flax")
def hf_gpt_neo():
    return causal("GPTNeo", num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=8)


@step("hf-flax")
def hf_mistral():
    return causal("Mistral", num_key_value_heads=2, sliding_window=16)


@step("hf-flax")
def hf_gemma():
    return causal("Gemma", num_key_value_heads=1, head_dim=32)


@step("hf-flax")
def hf_bart():
    return translated("Bart", ints(B, L))


@step("hf-flax")
def hf_pegasus():
    return translated("Pegasus", ints(B, L))


@step("hf-flax")
def hf_whisper():
    return translated("Whisper", S(B, 80, 64), max_source_positions=32, max_target_positions=64, pad_token_id=1)


@step("hf-flax")
def hf_clip():
    """Two towers, every text against every picture, both ways."""
    import transformers as t

    small = dict(WIDTH, vocab_size=V, max_position_embeddings=L)
    config = t.CLIPConfig(text_config=dict(small, eos_token_id=2), vision_config=dict(WIDTH, image_size=32, patch_size=8), projection_dim=64)
    model = t.FlaxCLIPModel(config, _do_init=False)
    params = shapes(lambda k: model.init_weights(k, ((1, L), (1, 32, 32, 3))), key())

    def loss(p, k, words, pictures, mask):
        near = model(words, pictures, mask, params=p, dropout_rng=k, train=True).logits_per_text
        own = jnp.arange(B)
        one = lambda x: -jnp.mean(jax.nn.log_softmax(x)[own, own])
        return (one(near) + one(near.T)) / 2

    return tuned(model, params, loss, ints(B, L), S(B, 3, 32, 32), ints(B, L))


@step("hf-flax")
def hf_wav2vec2():
    """A convolution over sound, then a transformer; some frames are hidden and have to be told from others."""
    import transformers as t

    config = t.Wav2Vec2Config(**WIDTH, conv_dim=(64, 64, 64), conv_stride=(5, 4, 4), conv_kernel=(10, 8, 4), num_feat_extract_layers=3,
                              vocab_size=32, feat_extract_norm="layer", do_stable_layer_norm=True, num_conv_pos_embeddings=16,
                              num_conv_pos_embedding_groups=4, codevector_dim=64, proj_codevector_dim=64, num_codevectors_per_group=32)
    model = t.FlaxWav2Vec2ForPreTraining(config, _do_init=False)
    params = shapes(lambda k: model.init_weights(k, (1, 1024)), key())

    def loss(p, k, sound, hidden):
        k1, k2 = jax.random.split(k)
        out = model(sound, mask_time_indices=hidden, params=p, dropout_rng=k1, gumbel_rng=k2, train=True)
        a, b = out.projected_states, out.projected_quantized_states
        near = jnp.einsum("bth,bsh->bts", a, b) / 0.1
        told = -jnp.diagonal(jax.nn.log_softmax(near), axis1=1, axis2=2) * hidden
        return told.sum() / hidden.sum() + 0.1 * (64 - out.codevector_perplexity) / 64

    return tuned(model, params, loss, S(B, 1024), S(B, 12, dtype=jnp.bool_))


@step("hf-flax")
def hf_regnet():
    """Grouped convolutions with running averages of the batch."""
    import optax
    import transformers as t

    config = t.RegNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], groups_width=8, layer_type="y", num_labels=10)
    model = t.FlaxRegNetForImageClassification(config, input_shape=(1, 32, 32, 3), _do_init=False)
    all_ = shapes(lambda k: model.init_weights(k, (1, 32, 32, 3)), key())
    tx = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1, 0.9, nesterov=True))

    def train(params, stats, opt, x, y):
        def loss(p):
            out, new = model(x, params={"params": p, "batch_stats": stats}, train=True)
            return weighed(out.logits, y, jnp.ones(y.shape)), new["batch_stats"]

        (value, stats), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), stats, opt, value

    return train, (all_["params"], all_["batch_stats"], shapes(tx.init, all_["params"]), S(B, 3, 32, 32), ints(B)), None


@step("hf-flax")
def hf_gpt2():
    return causal("GPT2", "GPT2LMHeadModel", n_embd=128, n_layer=2, n_head=4, n_positions=64)


@step("hf-flax")
def hf_xglm():
    return causal("XGLM", d_model=128, ffn_dim=256, num_layers=2, attention_heads=4)


@step("hf-flax")
def hf_roberta():
    return masked("Roberta")


@step("hf-flax")
def hf_mbart():
    return translated("MBart", ints(B, L))


@step("hf-flax")
def hf_blenderbot():
    return translated("BlenderbotSmall", ints(B, L))


@step("hf-flax")
def hf_vit():
    """Pictures in patches, labelled; factored second moments, the gradient clipped."""
    return pictures("ViT", **WIDTH, image_size=32, patch_size=8)


@step("hf-flax")
def hf_dinov2():
    return pictures("Dinov2", **WIDTH, image_size=32, patch_size=8)
