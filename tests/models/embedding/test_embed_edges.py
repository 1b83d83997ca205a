"""Edge cases of the trainer of the core: interruption, invalid arrays, and very little text."""

import numpy as np
import pytest

from embedding_reference import call_arguments, infer, train, two_topic_texts
from support import interrupted
from textkin import _core

MODES = ["skipgram", "cbow", "dbow", "dm"]


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption_leaves_the_tables_unchanged(threads):
    texts = two_topic_texts(4000)
    given_arrays = call_arguments(texts, [5] * 20, 16, 5, "dbow")
    before = {name: given_arrays[name].copy() for name in ("words", "outputs", "documents")}

    def fail(done, total):
        assert 0 <= done < total == len(given_arrays["ids"]) * 1000
        raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        train(given_arrays, "dbow", epochs=1000, threads=threads, progress=fail)
    assert interrupted(lambda: train(given_arrays, "dbow", epochs=1000, threads=threads))
    with pytest.raises(RuntimeError, match="seen enough"):
        infer(given_arrays, "dbow", epochs=1000, threads=threads, progress=fail)
    for name, array in before.items():
        np.testing.assert_array_equal(given_arrays[name], array)


def test_progress_ends_with_all_words_of_all_epochs():
    given_arrays = call_arguments([[0, 1], [], [1]], [1, 2], 4, 1, "skipgram")
    calls = []
    train(given_arrays, "skipgram", epochs=7, progress=lambda *of: calls.append(of))
    assert calls[-1] == (21, 21)


def test_divergence_raises_and_leaves_the_tables_unchanged():
    given_arrays = call_arguments(two_topic_texts(), [5] * 20, 8, 5, "cbow")
    before = given_arrays["words"].copy()
    with pytest.raises(ValueError, match=r"diverged.*alpha below 100000\.0"):
        train(given_arrays, "cbow", mean=False, alpha=1e5, epochs=20)
    np.testing.assert_array_equal(given_arrays["words"], before)


def bad(name, value):
    return lambda a: a.update({name: value(a[name]) if callable(value) else value})


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (bad("ids", lambda x: x + 20), {}, "below 20"),
        (bad("ids", lambda x: -x - 1), {}, "at least 0"),
        (bad("offsets", lambda x: x + 1), {}, "start at 0"),
        (bad("offsets", lambda x: x[[0, 2, 1, *range(3, len(x))]]), {}, "must not decrease"),
        (bad("offsets", lambda x: x[:0]), {}, "start at 0"),
        (bad("keep", lambda x: x[1:]), {}, "number for each word"),
        (bad("keep", lambda x: x * np.nan), {}, "from 0 to 1"),
        (bad("words", lambda x: x[1:]), {}, "row for each count"),
        (bad("words", lambda x: x * np.inf), {}, "finite to begin with"),
        (bad("words", lambda x: np.ascontiguousarray(x[:, :0])), {}, "dimensions"),
        (bad("outputs", lambda x: x[1:]), {}, "row for each word, or each inner node"),
        (bad("documents", lambda x: x[1:]), {}, "row for each document"),
        (bad("documents", None), {}, "documents must be given for 'dbow' and 'dm'"),
        (bad("documents", lambda x: x), {"mode": "cbow"}, "and only for them"),
        (bad("documents", lambda x: x), {"mode": "glove"}, "got 'glove'"),
        (bad("documents", lambda x: x), {"window": 0}, "window must be from 1"),
        (bad("documents", lambda x: x), {"alpha": np.nan}, "alpha and min_alpha"),
        (bad("documents", lambda x: x), {"min_alpha": np.inf}, "alpha and min_alpha"),
        (bad("documents", lambda x: x), {"alpha": -1.0}, "alpha and min_alpha"),
    ],
)
def test_invalid_arrays_raise(change, options, message):
    given_arrays = call_arguments(two_topic_texts(5), [5] * 20, 4, 0, "dbow")
    change(given_arrays)
    with pytest.raises(ValueError, match=message):
        train(given_arrays, **({"mode": "dbow"} | options))


def test_arrays_of_other_dtypes_raise():
    for name in ("ids", "offsets", "keep", "words", "outputs", "documents"):
        given_arrays = call_arguments(two_topic_texts(5), [5] * 20, 4, 0, "dbow")
        given_arrays[name] = given_arrays[name].astype(np.float64)
        with pytest.raises(TypeError):
            train(given_arrays, "dbow")


def test_invalid_counts_raise():
    for counts, negative, message in [
        ([-1, 2], 0, "at least 0"),
        ([2**60, 1], 0, "2\\^60 at most"),
        ([0, 0], 1, "some count"),
        ([1, 1], 1001, "at most 1000"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.OutputLayer(np.array(counts), negative)
    with pytest.raises(ValueError, match="draws none"):
        _core.OutputLayer(np.array([1, 2]), 0).draw(3, 0)


def test_inference_in_a_mode_without_documents_raises():
    given_arrays = call_arguments(two_topic_texts(5), [5] * 20, 4, 0, "dbow")
    with pytest.raises(ValueError, match="'dbow' or 'dm'"):
        infer(given_arrays, "skipgram")
    with pytest.raises(ValueError, match="seeds"):
        infer(given_arrays, "dbow", seeds=np.zeros(2, dtype=np.uint64))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("negative", [0, 3])
def test_very_little_text_can_be_trained(mode, negative):
    for texts, counts in [
        ([], [1]),
        ([[]], [1]),
        ([[0]], [1]),
        ([[0, 0], []], [2]),
        ([[], []], []),
    ]:
        given_arrays = call_arguments(texts, counts, 3, negative, mode)
        train(given_arrays, mode, epochs=2, threads=2, train_words=True)
        assert np.isfinite(given_arrays["outputs"]).all()
    given_arrays = call_arguments([[0, 1]], [1, 1], 3, negative, mode)
    before = given_arrays["words"].copy()
    train(given_arrays, mode, epochs=0)
    np.testing.assert_array_equal(given_arrays["words"], before)
