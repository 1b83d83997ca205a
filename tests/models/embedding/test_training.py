"""`train_word_vectors`: learned similarities, errors, and comparison with a plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from support import interrupted
from textkin import _core
from textkin.models import train_word_vectors
from textkin.models.embedding._training import Training, keep_probabilities, mix_seeds, random_rows
from textkin.models.embedding._training_corpus import Corpus
from textkin.vectors import WordVectors

ANIMALS = ["the cat and the kitten purr", "a kitten and a cat sleep", "the cat and a kitten play"]
MONEY = ["the stocks and the shares fell", "a share and a stock rose", "shares and stocks trade"]
TEXTS = ANIMALS * 30 + MONEY * 30
MODELS = ["skipgram", "cbow"]
LOSSES = ["negative", "hierarchical"]
QUICK = {"epochs": 20, "min_count": 1, "random_state": 0, "subsample": 0}


def two_topic_sentences():
    """Yield sentences with words from one half of the alphabet or the other."""
    random = np.random.default_rng(0)
    halves = np.array(list("abcdefghij")), np.array(list("klmnopqrst"))
    return [random.choice(halves[number % 2], 8).tolist() for number in range(400)]


def separation(vectors):
    """Return the mean cosine of words of one topic minus the mean between topics."""
    unit = vectors.unit().matrix
    topic = np.array([word < "k" for word in vectors.words])
    same = topic[:, None] == topic
    cosines = unit @ unit.T
    np.fill_diagonal(same, val=False)
    return cosines[same].mean() - cosines[topic[:, None] != topic].mean()


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", MODELS)
def test_words_of_one_topic_are_similar(model, loss, n_jobs):
    corpus = two_topic_sentences()
    vectors = train_word_vectors(corpus, 16, architecture=model, loss=loss, **QUICK, n_jobs=n_jobs)
    assert separation(vectors) > 0.5


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", MODELS)
def test_seed_gives_bit_identical_vectors(model, loss):
    options = {"architecture": model, "loss": loss, **QUICK, "epochs": 2}
    first = train_word_vectors(TEXTS, 8, **options)
    again = train_word_vectors(iter(TEXTS), 8, **options, n_jobs=1)
    assert first.words == again.words
    assert_array_equal(first.matrix, again.matrix)
    other = train_word_vectors(TEXTS, 8, **{**options, "random_state": 1})
    assert not np.array_equal(first.matrix, other.matrix)


def test_both_subsampling_formulas():
    counts = np.array([99, 1])  # f = 0.99 and 0.01
    assert_allclose(keep_probabilities(counts, 1e-3, "paper")[1], 0.3162278, atol=5e-8)
    assert_allclose(keep_probabilities(counts, 1e-3, "released")[1], 0.4162278, atol=5e-8)
    assert keep_probabilities(counts, 0.5, "paper").tolist() == [np.float32(np.sqrt(0.5 / 0.99)), 1]
    assert keep_probabilities(counts, 0).tolist() == [1, 1]
    trained = [
        train_word_vectors(
            TEXTS, 4, subsample=0.01, subsample_rule=rule, min_count=1, random_state=0
        )
        for rule in ("released", "paper")
    ]
    assert not np.array_equal(trained[0].matrix, trained[1].matrix)


@settings(max_examples=30)
@given(
    documents=st.lists(st.lists(st.integers(0, 6), max_size=9), min_size=1, max_size=5),
    dimension=st.integers(1, 20),
    mode=st.sampled_from(["skipgram", "cbow", "dbow", "dm"]),
    train_words=st.booleans(),
    mean=st.booleans(),
)
def test_training_equals_a_plain_loop(documents, dimension, mode, train_words, mean):
    ids = np.array([word for words in documents for word in words], np.int32)
    offsets = np.cumsum([0, *map(len, documents)])
    counts = np.bincount(ids, minlength=7) + 1
    corpus = Corpus([], counts, ids, offsets)
    training = Training(
        mode=mode,
        loss="hierarchical",
        n_negative=5,
        window=1,
        subsample=0,
        subsample_rule="paper",
        epochs=2,
        learning_rate=0.3,
        min_learning_rate=0.3,
        train_words=train_words,
        mean=mean,
    )
    words = random_rows(mix_seeds(1, 0, 7), dimension)
    outputs = random_rows(mix_seeds(2, 0, 6), dimension)
    own = (
        random_rows(mix_seeds(3, 0, len(documents)), dimension) if mode in ("dbow", "dm") else None
    )
    plain = [None if table is None else table.astype(np.float64) for table in (words, outputs, own)]
    for _ in range(2):
        plain_epoch(documents, counts, mode, train_words, mean, 0.3, *plain)
    training.train(corpus, words, outputs, own, seed=0, n_threads=1, progress=None)
    for table, expected in zip((words, outputs, own), plain, strict=True):
        if table is not None:
            assert_allclose(table, expected, rtol=1e-4, atol=1e-6)


def plain_epoch(documents, counts, mode, train_words, mean, rate, words, outputs, own):
    """Run one epoch step by step; a window of one word and a tree make it deterministic."""
    starts, nodes, right = _core.OutputLayer(counts, 0).paths()

    def step(inputs, word):
        hidden = np.sum(inputs, axis=0) / (len(inputs) if mean else 1)
        path = slice(starts[word], starts[word + 1])
        slopes = rate * (1 - right[path] - 1 / (1 + np.exp(-outputs[nodes[path]] @ hidden)))
        error = slopes @ outputs[nodes[path]]
        outputs[nodes[path]] += np.outer(slopes, hidden)
        for row in inputs:
            row += error

    for d, ids in enumerate(documents):
        for i, word in enumerate(ids):
            around = [ids[j] for j in (i - 1, i + 1) if 0 <= j < len(ids)]
            if mode == "skipgram" or (mode == "dbow" and train_words):
                for near in around:
                    step([words[word]], near)
            if mode == "dbow":
                step([own[d]], word)
            if mode == "dm" or (mode == "cbow" and around):
                step([*([own[d]] if mode == "dm" else []), *(words[near] for near in around)], word)


def test_initial_vectors_depend_only_on_seed_and_position():
    rows = random_rows(mix_seeds(7, 0, 2000), 4)
    assert rows.dtype == np.float32
    assert np.abs(rows).max() < 0.5 / 4
    assert rows.all()
    assert_allclose(rows.mean(axis=0), 0, atol=0.01)
    assert_allclose(rows.var(), (1 / 4) ** 2 / 12, rtol=0.05)
    assert len(np.unique(rows)) > 7900
    # Each row depends on its own seed, and each seed only on its position.
    assert_array_equal(random_rows(mix_seeds(7, 5, 3), 4), rows[5:8])
    # The first numbers of splitmix64 from state 1234567, by its authors.
    assert mix_seeds(1234567, 0, 2).tolist() == [6457827717110365317, 3203168211198807973]


def test_progress_counts_tokens_and_can_stop():
    told = []
    train_word_vectors(TEXTS, 4, **QUICK, progress=lambda done, total: told.append((done, total)))
    n_tokens = sum(len(text.split()) for text in TEXTS)
    assert told[-1] == (20 * n_tokens, 20 * n_tokens)
    assert sorted(told) == told

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        train_word_vectors(TEXTS, 4, **QUICK, progress=stop)


def test_ctrl_c_interrupts_training():
    assert interrupted(lambda: train_word_vectors(TEXTS, 100, **{**QUICK, "epochs": 2000}))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"dimension": 0}, ValueError, "dimension must be an integer at least 1"),
        ({"architecture": "glove"}, ValueError, "architecture must be one of 'skipgram', 'cbow'"),
        ({"loss": "softmax"}, ValueError, "loss must be one of"),
        ({"n_negative": 0}, ValueError, "n_negative must be"),
        ({"window": 0}, ValueError, "window must be"),
        ({"window": 2.5}, TypeError, "window must be an integer"),
        ({"subsample": -1}, ValueError, "subsample must be"),
        ({"subsample_rule": "x"}, ValueError, "subsample_rule must be"),
        ({"min_count": 0}, ValueError, "min_count must be"),
        ({"max_words": 1}, ValueError, "max_words must be None or an integer at least 2"),
        ({"epochs": 0}, ValueError, "epochs must be"),
        (
            {"learning_rate": 0},
            ValueError,
            "must be a number above 0 and at most 1000",
        ),
        ({"learning_rate": float("nan")}, ValueError, "learning_rate must be"),
        ({"learning_rate": 1e-5}, ValueError, r"min_learning_rate must be at most .* \(1e-05\)"),
        ({"lowercase": "yes"}, ValueError, "lowercase must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"random_state": "x"}, ValueError, "cannot be used to seed"),
        ({"stop_words": "nowhere"}, ValueError, "nowhere"),
    ],
)
def test_invalid_options_raise(options, error, said):
    with pytest.raises(error, match=said):
        train_word_vectors(TEXTS, **options)


def test_corpus_without_learnable_words_raises():
    with pytest.raises(ValueError, match=r"at least 5 times.* smaller .min_count., or more text"):
        train_word_vectors(["a small corpus"])
    with pytest.raises(ValueError, match="a text with two learned words"):
        train_word_vectors(["one", "two", "one", "two three"], 4, min_count=2)
    with pytest.raises(TypeError, match="Bags have no word order"):
        train_word_vectors(np.eye(3))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", MODELS)
def test_too_large_learning_rate_raises(model, loss):
    with pytest.raises(ValueError, match=r"diverged.*smaller .learning_rate.; got 1000"):
        train_word_vectors(TEXTS, 4, architecture=model, loss=loss, **QUICK, learning_rate=1000)


def test_trained_vectors_behave_like_other_word_vectors(tmp_path):
    vectors = train_word_vectors(TEXTS, 4, **QUICK)
    vectors.save(tmp_path / "own")
    assert_array_equal(WordVectors.load(tmp_path / "own").matrix, vectors.matrix)
    assert type(vectors) is WordVectors
