"""A small transformer in JAX: sampling, supervised learning and one step of GRPO."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy

HEAD_WIDTH = 32
MAX_GRADIENT_NORM = 1.0


class Model:
    """Parameters and the state of Adam. Sequences are a prompt, padded with 0 on the left, and an answer of `answer` tokens."""

    def __init__(self, layers, width, vocabulary, answer, end, seed):
        self.shape = (answer, end)
        self.key = jax.random.PRNGKey(seed)
        self.parameters = _create_parameters(self._next_key(), layers, width, vocabulary)
        self.forget_moments()

    def copy(self, seed):
        """A model with the same parameters, which samples from a seed of its own."""
        other = object.__new__(Model)
        other.shape, other.key, other.parameters = self.shape, jax.random.PRNGKey(seed), self.parameters
        other.forget_moments()
        return other

    def sample(self, prompts):
        """Samples an answer to each prompt, at temperature 1: an array of tokens, with 0 after the end. `entropy` is then the mean of
        the tokens' distributions, in nats."""
        prompts = prompts[:, -_count_columns(prompts[:, ::-1]) :]
        tokens, entropies = map(numpy.asarray, _sample(self.parameters, self._next_key(), jnp.asarray(prompts), self.shape))
        self.entropy = float(entropies[tokens != 0].mean())
        return tokens

    def learn(self, prompts, answers, advantages, rate):
        """One step of Adam up the mean over all tokens of advantage × log-probability. With advantages of 1: supervised learning."""
        prompts, answers = prompts[:, -_count_columns(prompts[:, ::-1]) :], answers[:, : _count_columns(answers)]
        batch = (jnp.asarray(prompts), jnp.asarray(answers), jnp.asarray(advantages, jnp.float32))
        self.updates += 1
        self.parameters, self.moments = _update(self.parameters, self.moments, self.updates, rate, batch)

    def save(self, path):
        numpy.savez(path, *[numpy.asarray(part) for part in jax.tree.leaves(self.parameters)])

    def load(self, path):
        with numpy.load(path) as parts:
            self.parameters = jax.tree.unflatten(jax.tree.structure(self.parameters), [jnp.asarray(parts[name], jnp.float32) for name in parts.files])

    def _next_key(self):
        self.key, key = jax.random.split(self.key)
        return key

    def forget_moments(self):
        zeros = jax.tree.map(jnp.zeros_like, self.parameters)
        self.moments, self.updates = (zeros, zeros), 0


def _count_columns(tokens):
    """The columns before the padding, rounded up so that few programs are compiled. Positions are relative, so padding may go."""
    last = numpy.flatnonzero((tokens != 0).any(axis=0))[-1]
    return min(8 * (last // 8 + 1), tokens.shape[1])


def _create_parameters(key, layers, width, vocabulary):
    keys = iter(jax.random.split(key, 2 + 4 * layers))

    def matrix(*shape, scale):
        return scale * jax.random.normal(next(keys), shape)

    def block():
        return {
            "attention_in": matrix(width, 3 * width, scale=width**-0.5),
            "attention_out": matrix(width, width, scale=(2 * layers * width) ** -0.5),
            "in": matrix(width, 4 * width, scale=width**-0.5),
            "out": matrix(4 * width, width, scale=(8 * layers * width) ** -0.5),
        }

    return {
        "tokens": matrix(vocabulary, width, scale=width**-0.5),
        "blocks": [block() for _ in range(layers)],
    }


def _normalize(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def _split_heads(x):
    return x.reshape(*x.shape[:-1], x.shape[-1] // HEAD_WIDTH, HEAD_WIDTH)


def _rotate(heads, places):
    """Rotary positions: `heads` is (batch, places, heads, width of a head)."""
    half = heads.shape[-1] // 2
    angles = places[:, None, None] * 10_000.0 ** (-jnp.arange(half) / half)
    left, right = heads[..., :half], heads[..., half:]
    return jnp.concatenate([left * jnp.cos(angles) - right * jnp.sin(angles), left * jnp.sin(angles) + right * jnp.cos(angles)], -1)


def _attend(block, x, places, keys, values, visible):
    """`x`: (batch, queries, width); `keys` and `values`: (batch, places, heads, width of a head)."""
    queries = _rotate(_split_heads((_normalize(x) @ block["attention_in"])[..., : x.shape[-1]]), places)
    scores = jnp.einsum("bqhd,bkhd->bhqk", queries, keys) / math.sqrt(HEAD_WIDTH)
    shares = jax.nn.softmax(jnp.where(visible, scores, -1e9))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", shares, values).reshape(x.shape)
    x = x + mixed @ block["attention_out"]
    return x + jax.nn.gelu(_normalize(x) @ block["in"]) @ block["out"]


def _keys_and_values(block, x, places):
    keys, values = jnp.split((_normalize(x) @ block["attention_in"])[..., x.shape[-1] :], 2, axis=-1)
    return _rotate(_split_heads(keys), places), _split_heads(values)


def _embed(parameters, tokens):
    return parameters["tokens"][tokens] * parameters["tokens"].shape[1] ** 0.5


def _logits(parameters, x):
    return _normalize(x) @ parameters["tokens"].T * x.shape[-1] ** 0.5


def _read(parameters, tokens):
    """Reads whole sequences: their last hidden states, and the keys and values of each block."""
    length = tokens.shape[1]
    x, places = _embed(parameters, tokens), jnp.arange(length)
    causal = jnp.tril(jnp.ones((length, length), bool))
    visible = (causal & (tokens != 0)[:, None, :])[:, None]
    memory = []
    for block in parameters["blocks"]:
        memory.append(_keys_and_values(block, x, places))
        x = _attend(block, x, places, *memory[-1], visible)
    return x, memory


@functools.partial(jax.jit, static_argnums=3)
def _sample(parameters, key, prompts, shape):
    prompt, (answer, end) = prompts.shape[1], shape
    x, memory = _read(parameters, prompts)
    padding = ((0, 0), (0, answer), (0, 0), (0, 0))
    memory = [tuple(jnp.pad(part, padding) for part in parts) for parts in memory]
    places = jnp.arange(prompt + answer)
    is_text = jnp.concatenate([prompts != 0, jnp.ones((len(prompts), answer), bool)], axis=1)

    def step(state, k):
        memory, x, over, key = state
        key, draw = jax.random.split(key)
        likely = jax.nn.log_softmax(_logits(parameters, x))
        entropies = -jnp.sum(jnp.exp(likely) * likely, axis=-1)
        tokens = jnp.where(over, 0, jax.random.categorical(draw, likely))
        x, place = _embed(parameters, tokens)[:, None], (prompt + k)[None]
        visible = (is_text & (places <= prompt + k))[:, None, None]
        longer = []
        for block, (keys, values) in zip(parameters["blocks"], memory):
            new = _keys_and_values(block, x, place)
            kept = tuple(jax.lax.dynamic_update_slice_in_dim(old, one, prompt + k, 1) for old, one in zip((keys, values), new))
            longer.append(kept)
            x = _attend(block, x, place, *kept, visible)
        return (longer, x[:, 0], over | (tokens == end), key), (tokens, entropies)

    tokens, entropies = jnp.zeros((answer, len(prompts)), jnp.int32), jnp.zeros((answer, len(prompts)))

    def go_on(progress):
        return (progress[0] < answer) & ~progress[1][2].all()

    def write(progress):
        k, state, tokens, entropies = progress
        state, (new, entropy) = step(state, k)
        return k + 1, state, tokens.at[k].set(new), entropies.at[k].set(entropy)

    state = (memory, x[:, -1], jnp.zeros(len(prompts), bool), key)
    _, _, tokens, entropies = jax.lax.while_loop(go_on, write, (0, state, tokens, entropies))
    return tokens.T, entropies.T


def _loss(parameters, batch):
    prompts, answers, advantages = batch
    x, _ = _read(parameters, jnp.concatenate([prompts, answers], axis=1))
    logits = _logits(parameters, x[:, prompts.shape[1] - 1 : -1])
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), answers[..., None], axis=-1)[..., 0]
    counts = answers != 0
    return -jnp.sum(chosen * counts * advantages[:, None]) / jnp.sum(counts)


@jax.jit
def _update(parameters, moments, updates, rate, batch):
    gradient = jax.grad(_loss)(parameters, batch)
    norm = jnp.sqrt(sum(jnp.sum(part * part) for part in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda part: part * jnp.minimum(1, MAX_GRADIENT_NORM / (norm + 1e-9)), gradient)
    means = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, moments[0], gradient)
    squares = jax.tree.map(lambda old, new: 0.99 * old + 0.01 * new * new, moments[1], gradient)

    def move(part, mean, square):
        return part - rate * (mean / (1 - 0.9**updates)) / (jnp.sqrt(square / (1 - 0.99**updates)) + 1e-8)

    return jax.tree.map(move, parameters, means, squares), (means, squares)
