"""Measures of labels and clusters: METHODS 19.3 by hand, and scikit-learn on random labels."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import metrics

from textkin.evaluate import accuracy, ari, error, macro_f1, nmi

LABELS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abxy")), min_size=1, max_size=20
)
MEASURES = [accuracy, error, macro_f1, ari, nmi]


@settings(max_examples=40)
@given(LABELS)
def test_labels_are_judged_as_scikit_learn_does(pairs):
    true, said = map(list, zip(*pairs, strict=True))
    assert accuracy(true, said) == pytest.approx(metrics.accuracy_score(true, said))
    assert error(true, said) == pytest.approx(1 - metrics.accuracy_score(true, said))
    wanted = metrics.f1_score(true, said, average="macro", zero_division=0)
    assert macro_f1(true, said) == pytest.approx(wanted)


@settings(max_examples=40)
@given(LABELS)
@example([("a", "a")])
@example([("a", "a"), ("a", "b")])
@example([("a", "a"), ("b", "b")])
def test_partitions_are_judged_as_scikit_learn_does(pairs):
    labels, clusters = map(list, zip(*pairs, strict=True))
    wanted = metrics.adjusted_rand_score(labels, clusters)
    assert ari(labels, clusters) == pytest.approx(wanted, abs=1e-12)
    for mean in ("arithmetic", "geometric"):
        wanted = metrics.normalized_mutual_info_score(labels, clusters, average_method=mean)
        assert nmi(labels, clusters, mean=mean) == pytest.approx(wanted, abs=1e-12)


def test_the_partitions_of_methods():
    """METHODS 19.3."""
    labels, clusters = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]
    assert ari(labels, clusters) == pytest.approx(1.2 / 3.7, abs=1e-12)
    assert nmi(labels, clusters) == pytest.approx(0.4787040, abs=5e-8)
    assert nmi(labels, clusters, mean="geometric") == pytest.approx(0.4791388, abs=5e-8)


@pytest.mark.parametrize("labels", [["x"], ["x"] * 5, ["x", "y", "z"]], ids=len)
def test_equal_trivial_partitions_agree(labels):
    assert ari(labels, labels) == 1
    assert nmi(labels, labels) == 1


def test_names_do_not_matter_to_partitions():
    labels, clusters = [0, 0, 1, 1, 2], ["b", "a", "a", "a", None]
    renamed = [{"b": 7, "a": 8, None: True}[cluster] for cluster in clusters]
    assert ari(labels, clusters) == ari(clusters, labels) == ari(labels, renamed)
    assert nmi(labels, clusters) == nmi(labels, renamed)


def test_the_index_of_many_documents_does_not_overflow():
    labels = np.repeat([0, 1], 50_000)
    assert ari(labels, labels) == 1
    assert ari(labels, np.tile([0, 1], 50_000)) == pytest.approx(0, abs=1e-4)


def test_labels_come_as_lists_arrays_columns_and_of_any_type():
    pandas = pytest.importorskip("pandas")
    true, said = ["a", "b", "b"], ["a", "a", "b"]
    for make in (tuple, iter, np.array, pandas.Series, lambda x: np.array(x, dtype=object)):
        assert error(make(true), make(said)) == pytest.approx(1 / 3)
    assert accuracy([1, True, 1.0, np.float64(1)], [1, 1, 1, 1]) == 1
    assert accuracy([None, ("a", 1)], [None, ("a", 2)]) == 0.5


class Missing:
    """As pandas.NA: equal to nothing, and neither true nor false."""

    def __eq__(self, other):
        return self

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__

    def __repr__(self):
        return "<NA>"


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("first", "second", "kind", "message"),
    [
        ([1, 2], [1], ValueError, "must have one label a document; got 2 and 1"),
        ([], [], ValueError, "at least one label; got none"),
        ("ab", ["a", "b"], TypeError, "must be a list of labels; got str"),
        ({"a": 1}, [1], TypeError, "must be a list of labels; got dict"),
        (5, [1], TypeError, "must be a list of labels; got int"),
        ([[1], [2]], [1, 2], TypeError, "got list for document 0"),
        (np.zeros((2, 2)), [1, 2], ValueError, r"got an array of shape \(2, 2\)"),
        ([1.0, float("nan")], [1, 2], ValueError, "got NaN for document 1"),
        ([1, Missing()], [1, 2], ValueError, "got <NA> for document 1"),
    ],
)
def test_what_is_no_list_of_labels_is_refused(measure, first, second, kind, message):
    with pytest.raises(kind, match=message):
        measure(first, second)


def test_the_mean_of_entropies_is_one_of_two():
    with pytest.raises(ValueError, match="mean must be one of 'arithmetic', 'geometric'"):
        nmi([1], [1], mean="max")
