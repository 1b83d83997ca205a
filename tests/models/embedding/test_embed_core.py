"""The trainer of the core compared with a reference without random choices, part by part."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedding_reference import (
    call_arguments,
    infer,
    reference_step,
    reference_train,
    sigmoid,
    train,
    two_topic_texts,
)
from textkin import _core

MODES = ["skipgram", "cbow", "dbow", "dm"]


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    usual = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(usual)


@given(
    dimension=st.integers(1, 70),
    inputs=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    outputs=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=25),
    mean=st.booleans(),
    first_only=st.booleans(),
    rate=st.sampled_from([0.0, 0.025, 1.0]),
    size=st.sampled_from([0.0, 1e-3, 0.3, 3.0]),
    name=st.sampled_from(_core.instruction_sets()),
)
def test_step_equals_the_formula(dimension, inputs, outputs, mean, first_only, rate, size, name):
    rng = np.random.default_rng(dimension)
    left = (size * rng.normal(size=(5, dimension))).astype(np.float32)
    right = rng.normal(size=(10, dimension)).astype(np.float32)
    if first_only:  # the first input is a document, which has its own vector
        inputs = [0, *(row or 1 for row in inputs[1:])]
    rows = [row for row, _ in outputs]
    labels = np.array([label for _, label in outputs], dtype=np.float32)
    wanted_left, wanted_right = left.astype(float), right.astype(float)
    if rows:
        reference_step(wanted_left, inputs, wanted_right, rows, labels, rate, mean, first_only)
    usual = _core.instruction_set()
    _core.use_instruction_set(name)
    try:
        _core.take_embedding_step(
            left,
            np.array(inputs, dtype=np.int32),
            right,
            np.array(rows, dtype=np.int32),
            labels,
            rate=rate,
            mean=mean,
            first_input_only=first_only,
        )
    finally:
        _core.use_instruction_set(usual)
    # Products of 70 terms of up to 50 in float32, with a few hundred roundings in all.
    np.testing.assert_allclose(left, wanted_left, rtol=1e-5, atol=3e-5)
    np.testing.assert_allclose(right, wanted_right, rtol=1e-5, atol=3e-5)


def test_large_products_are_clipped_to_30():
    for value, label in product([29.0, 31.0, 1e30, -29.0, -31.0, -1e30], [0.0, 1.0]):
        left = np.array([[value]], dtype=np.float32)
        right = np.ones((1, 1), dtype=np.float32)
        row = np.zeros(1, dtype=np.int32)
        labels = np.array([label], dtype=np.float32)
        _core.take_embedding_step(
            left, row, right, row, labels, rate=1.0, mean=False, first_input_only=False
        )
        slope = label - np.float32(sigmoid(np.clip(value, -30, 30)))
        np.testing.assert_allclose(right[0, 0], 1 + slope * value, rtol=1e-5, atol=1e-6)


@given(
    texts=st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=5),
    mode=st.sampled_from(MODES),
    negative=st.sampled_from([0, 1, 3]),
    window=st.integers(1, 9),
    mean=st.booleans(),
    train_words=st.booleans(),
    dimension=st.integers(1, 20),
)
def test_training_equals_a_plain_loop(texts, mode, negative, window, mean, train_words, dimension):
    # Only word 0 has a count for sampling, so that nothing is random.
    counts = [9, 0, 0, 0, 0, 0] if negative else [3, 1, 4, 1, 5, 9]
    fast = call_arguments(texts, counts, dimension, negative, mode)
    slow = {
        name: None if fast[name] is None else fast[name].astype(float)
        for name in ("words", "outputs", "documents")
    }
    train(fast, mode, window=window, mean=mean, train_words=train_words)
    reference_train(
        texts,
        fast["layer"],
        **slow,
        mode=mode,
        window=window,
        mean=mean,
        rate=0.1,
        train_words=train_words,
    )
    for name, wanted in slow.items():
        if wanted is not None:
            np.testing.assert_allclose(fast[name], wanted, rtol=1e-3, atol=1e-3, err_msg=name)


def test_huffman_tree_of_three_words():
    starts, nodes, right = _core.OutputLayer(np.array([3, 2, 2]), 0).paths()
    activations = np.array([-1.2, 0.3])  # the root is the last node
    found = [
        np.prod(sigmoid(activations[nodes[a:b]] * (1 - 2.0 * right[a:b])))
        for a, b in pairwise(starts)
    ]
    np.testing.assert_allclose(found, [0.5744425, 0.0985060, 0.3270515], atol=5e-8)


@given(
    counts=st.lists(st.integers(0, 10**12), min_size=1, max_size=40),
    activations=st.integers(0, 2**32 - 1),
)
def test_leaf_probabilities_of_a_tree_sum_to_one(counts, activations):
    layer = _core.OutputLayer(np.array(counts), 0)
    assert layer.n_outputs == len(counts) - 1
    starts, nodes, right = layer.paths()
    x = np.random.default_rng(activations).normal(size=len(counts))
    leaves = [np.prod(sigmoid(x[nodes[a:b]] * (1 - 2.0 * right[a:b]))) for a, b in pairwise(starts)]
    assert sum(leaves) == pytest.approx(1)


def test_negative_samples_follow_counts_to_the_power_of_0_75():
    counts = np.array([1, 0, 10, 100, 1000, 0])
    drawn = _core.OutputLayer(counts, 5).draw(400_000, 3)
    found = np.bincount(drawn, minlength=6) / len(drawn)
    wanted = counts**0.75 / (counts**0.75).sum()
    np.testing.assert_allclose(found, wanted, atol=5 * 0.5 / np.sqrt(len(drawn)))
    assert found[1] == found[5] == 0


def test_window_sizes_are_uniform():
    # Each text has its own words: the first points along one axis, the others along another.
    # The first word reaches the last only if the sampled window of the last is 2 (of 1 or 2).
    n = 2000
    texts = [[3 * d, 3 * d + 1, 3 * d + 2] for d in range(n)]
    given_arrays = call_arguments(texts, [0] * (3 * n) + [1], 2, 1, "skipgram")
    given_arrays["words"][:] = [0, 1]
    given_arrays["words"][0 : 3 * n : 3] = [1, 0]
    given_arrays["outputs"][:] = 0
    train(given_arrays, "skipgram", alpha=1e-3, min_alpha=1e-3, dynamic_window=True)
    reached = given_arrays["outputs"][2 : 3 * n : 3, 0] > 1e-4  # other effects are far smaller
    assert reached.mean() == pytest.approx(0.5, abs=0.06)


def test_words_are_dropped_before_windows_are_made():
    texts = [[0, 3, 1, 3, 3, 2, 4], [3], [2, 3, 1]]
    thinned = call_arguments(texts, [2, 2, 2, 5, 1], 6, 0, "dm")
    thinned["keep"][3] = 0
    without = call_arguments(
        [[w for w in text if w != 3] for text in texts], [2, 2, 2, 5, 1], 6, 0, "dm"
    )
    train(thinned, "dm")
    train(without, "dm")
    for name in ("words", "outputs", "documents"):
        np.testing.assert_array_equal(thinned[name], without[name])


def test_words_are_kept_with_their_probability():
    given_arrays = call_arguments([[0]] * 4000 + [[1]] * 4000, [1, 1], 3, 0, "dbow")
    given_arrays["keep"][:] = [0.3, 1]
    before = given_arrays["documents"].copy()
    train(given_arrays, "dbow")
    moved = (given_arrays["documents"] != before).any(axis=1)
    assert moved[:4000].mean() == pytest.approx(0.3, abs=0.04)
    assert moved[4000:].all()


def test_learning_rate_falls_with_processed_words():
    n = 10
    given_arrays = call_arguments([[0]] * n, [1, 1], 1, 0, "dbow")
    given_arrays["outputs"][:] = 1e-3  # small enough to be almost constant
    given_arrays["documents"][:] = 0
    epochs = 4
    train(given_arrays, "dbow", alpha=0.008, min_alpha=0.004, epochs=epochs)
    place = np.arange(n)[:, None] + n * np.arange(epochs)
    rates = (0.008 - 0.004 * place / (n * epochs)).sum(axis=1)
    np.testing.assert_allclose(given_arrays["documents"][:, 0], 0.5e-3 * rates, rtol=1e-3)
    # Each inferred document has its own learning rate.
    given_arrays["documents"][:] = 0
    given_arrays["outputs"][:] = 1e-3
    infer(given_arrays, "dbow", alpha=0.008, min_alpha=0.004, epochs=epochs)
    rate = (0.008 - 0.004 * np.arange(epochs) / epochs).sum()
    np.testing.assert_allclose(given_arrays["documents"][:, 0], 0.5e-3 * rate, rtol=1e-3)


def mean_cosine(vectors, same):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    group = np.arange(len(unit)) // 10
    pairs = np.triu((group[:, None] == group) == same, 1)
    return (unit @ unit.T)[pairs].mean()


@pytest.mark.parametrize("negative", [0, 5], ids=["tree", "drawn"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2])
def test_words_of_one_topic_become_similar(mode, negative, threads):
    texts = two_topic_texts(600)
    counts = np.bincount(np.concatenate(texts))
    given_arrays = call_arguments(texts, counts, 10, negative, mode)
    given_arrays["words"] /= 20
    given_arrays["outputs"][:] = 0
    if given_arrays["documents"] is not None:
        given_arrays["documents"] /= 20
    options = {"epochs": 5, "window": 5, "train_words": True, "threads": threads}
    train(given_arrays, mode, alpha=0.05, min_alpha=0.005, **options)
    words = given_arrays["words"]
    assert mean_cosine(words, same=True) > mean_cosine(words, same=False) + 0.3
    if mode == "dbow":  # with dm, the context is enough, and documents need not learn the topic
        by_topic = np.concatenate(
            [given_arrays["documents"][0:20:2], given_arrays["documents"][1:20:2]]
        )
        assert mean_cosine(by_topic, same=True) > mean_cosine(by_topic, same=False) + 0.3


@pytest.mark.parametrize("mode", MODES)
def test_single_thread_is_bit_identical(mode):
    texts = two_topic_texts(1500)  # two pieces
    counts = np.bincount(np.concatenate(texts))
    found = []
    for seed in (1, 1, 2):
        given_arrays = call_arguments(texts, counts, 5, 2, mode)
        given_arrays["keep"][:] = 0.7
        train(given_arrays, mode, dynamic_window=True, epochs=2, seed=seed)
        found.append(given_arrays["outputs"])
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize("negative", [0, 5], ids=["tree", "drawn"])
@pytest.mark.parametrize("mode", ["dbow", "dm"])
@pytest.mark.parametrize("dimension", [1, 8, 21])
def test_inferred_document_does_not_depend_on_its_batch(mode, negative, dimension, instruction_set):
    texts = [*two_topic_texts(30), [], [3]]
    given_arrays = call_arguments(texts, [5] * 20, dimension, negative, mode)
    given_arrays["keep"][:] = 0.8
    for name in ("words", "outputs"):  # read-only, like loaded vectors
        given_arrays[name].flags.writeable = False
    before = given_arrays["documents"].copy()
    infer(given_arrays, mode)
    together = given_arrays["documents"]
    np.testing.assert_array_equal(together[30], before[30])  # unchanged without words
    assert (together[:30] != before[:30]).any(axis=1).all()
    again = given_arrays | {"documents": before.copy()}
    infer(again, mode, threads=3)
    np.testing.assert_array_equal(again["documents"], together)
    for d in (0, 7, 29, 31):
        alone = given_arrays | {
            "ids": np.array(texts[d], dtype=np.int32),
            "offsets": np.array([0, len(texts[d])]),
            "documents": before[d : d + 1].copy(),
        }
        infer(alone, mode, seeds=np.array([d], dtype=np.uint64))
        np.testing.assert_array_equal(alone["documents"][0], together[d])


@pytest.mark.parametrize("mode", ["dbow", "dm"])
def test_inference_equals_training_steps_of_the_document(mode):
    texts = [[0, 1, 2, 3, 1], [2, 2]]
    given_arrays = call_arguments(texts, [3, 1, 4, 1], 11, 0, mode)
    wanted = given_arrays["documents"].astype(float)
    for d, text in enumerate(texts):
        for i, word in enumerate(text):
            near = [] if mode == "dbow" else [*text[max(0, i - 2) : i], *text[i + 1 : i + 3]]
            starts, nodes, right = given_arrays["layer"].paths()
            path = slice(starts[word], starts[word + 1])
            inputs = np.vstack([wanted[d], given_arrays["words"][near]])
            rows = list(range(len(inputs)))
            outputs = given_arrays["outputs"].astype(float)
            reference_step(inputs, rows, outputs, nodes[path], 1.0 - right[path], 0.1, True, True)
            wanted[d] = inputs[0]
    infer(given_arrays, mode, dynamic_window=False, epochs=1, min_alpha=0.1)
    np.testing.assert_allclose(given_arrays["documents"], wanted, rtol=1e-4, atol=1e-5)
