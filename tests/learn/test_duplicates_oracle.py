"""`find_duplicates` compared with a reference implementation over all pairs."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textkin as tk
from textkin.learn import _equal_rows
from textkin.learn._equal_rows import PairBuffer, link_pairs
from textkin.learn._measure import make_measure
from textkin.transport import PairBlock

WORDS = ["cat", "dog", "purr", "bark", "stock", "share", "The"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=14)
METRICS = {"cosine": 0.42, "jaccard": 0.55, "l2": 0.71, "hellinger": 0.6, "edit": 1.5, "wmd": 2.6}
METRICS |= {"weighted-jaccard": 0.4, "rwmd": 2.1, "wcd": 1.7, "l1": 0.83, "squared-l2": 0.52}


def components(n, near):
    """Return the connected components of at least two documents."""
    group = [{at} for at in range(n)]
    for a in range(n):
        for b in range(n):
            if near(a, b) and group[a] is not group[b]:
                group[a] |= group[b]
                for member in group[b]:
                    group[member] = group[a]
    found = {id(one): one for one in group if len(one) > 1}
    return sorted(found.values(), key=lambda one: (-len(one), min(one)))


def central(members, matrix, threshold):
    """Return the document with the most neighbors, then the smallest distances, then the first."""

    def rank(a):
        near = [matrix[a, b] for b in members if b != a and matrix[a, b] <= threshold]
        return -len(near), round(sum(near), 9), a

    return min(members, key=rank)


def matrix_of(metric, texts):
    """Return all distances; infinity for empty documents."""
    if not any(set(text.split()) - {"The"} for text in texts) and metric != "edit":
        return np.full((len(texts), len(texts)), np.inf)
    rows = np.arange(len(texts))
    model = tk.TfIdf(idf="smooth") if metric in ("cosine", "l1", "l2", "squared-l2") else None
    return make_measure(metric, model=model).fit(texts).between(rows, rows)


@settings(max_examples=60)
@given(texts=TEXTS, metric=st.sampled_from(sorted(METRICS)))
def test_groups_equal_reference(texts, metric):
    threshold = METRICS[metric]
    matrix = matrix_of(metric, texts) if texts else np.empty((0, 0))
    found = tk.find_duplicates(texts, threshold, metric=metric)
    expected = components(len(texts), lambda a, b: matrix[a, b] <= threshold)
    assert [set(group.positions) for group in found] == expected
    assert [group.representative.position for group in found] == [
        central(sorted(members), matrix, threshold) for members in expected
    ]
    for number, group in enumerate(found):
        chosen = group[0].position
        assert {found.labels[at] for at in group.positions} == {number}
        np.testing.assert_allclose(
            [member.distance for member in group],
            [matrix[chosen, member.position] for member in group],
            rtol=1e-6,
            atol=1e-9,
        )
        far = [member.distance for member in group]
        assert far == sorted(far)
        assert group.diameter == far[-1]
    alone = set(range(len(texts))) - {at for group in expected for at in group}
    assert set(np.flatnonzero(found.labels == -1)) == alone
    assert sorted([*found.removed, *found.kept]) == list(range(len(texts)))
    assert len(found.removed) == sum(len(group) - 1 for group in expected)
    pairs = set(zip(found.pairs.rows.tolist(), found.pairs.columns.tolist(), strict=True))
    assert all(a < b and matrix[a, b] <= threshold for a, b in pairs)
    assert components(len(texts), lambda a, b: (a, b) in pairs) == expected
    with_nothing = [at for at in range(len(texts)) if np.isinf(matrix[at]).all()]
    assert found.empty.tolist() == with_nothing


@settings(max_examples=40)
@given(texts=TEXTS, others=TEXTS, metric=st.sampled_from(sorted(METRICS)))
def test_repeats_equal_reference(texts, others, metric):
    threshold = METRICS[metric]
    together = texts + others
    matrix = matrix_of(metric, together) if together else np.empty((0, 0))
    matrix = matrix[: len(texts), len(texts) :]
    found = tk.find_duplicates(texts, threshold, metric=metric, against=others)
    near = matrix <= threshold
    assert found.positions.tolist() == np.flatnonzero(near.any(axis=1)).tolist()
    assert found.counts.tolist() == near[found.positions].sum(axis=1).tolist()
    for repeat in found:
        row = matrix[repeat.position]
        expected = [at for at in np.argsort(row, kind="stable").tolist() if row[at] <= threshold]
        assert sorted(match.position for match in repeat.matches) == sorted(expected)
        assert repeat.count == len(repeat.matches) == len(expected)
        far = [match.distance for match in repeat.matches]
        np.testing.assert_allclose(far, row[expected], rtol=1e-6, atol=1e-9)
        assert repeat.matches[0] == repeat.nearest
    assert sorted([*found.removed, *found.kept]) == list(range(len(texts)))


def words_of(text, by):
    words = text.lower().split()
    if by == "text":
        return tuple(words)
    return tuple(sorted(Counter(word for word in words if word != "the").items()))


@given(texts=TEXTS, others=TEXTS, by=st.sampled_from(["text", "bag"]))
def test_equal_documents_have_the_same_words(texts, others, by):
    def equal(a, b):
        return words_of(a, by) == words_of(b, by) != ()

    found = tk.find_duplicates(texts, metric=by)
    expected = components(len(texts), lambda a, b: equal(texts[a], texts[b]))
    assert [group.positions for group in found] == [sorted(group) for group in expected]
    assert found.representatives.tolist() == [min(group) for group in expected]
    assert found.empty.tolist() == [at for at, text in enumerate(texts) if not words_of(text, by)]
    repeats = tk.find_duplicates(texts, metric=by, against=others)
    for at, text in enumerate(texts):
        there = [place for place, other in enumerate(others) if equal(text, other)]
        matches = [r.matches for r in repeats if r.position == at]
        assert [[m.position for m in one] for one in matches] == ([there] if there else [])


@given(
    n=st.integers(1, 12),
    pairs=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20),
    cuts=st.lists(st.integers(0, 20), max_size=4),
)
def test_groups_do_not_depend_on_pair_blocks(n, pairs, cuts):
    wanted = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < n})
    edges = sorted({0, len(wanted), *(cut for cut in cuts if cut < len(wanted))})
    blocks = [
        PairBlock(*np.array(wanted[a:b], dtype=np.int64).reshape(-1, 2).T, np.ones(b - a))
        for a, b in pairwise(edges)
    ]
    kept = PairBuffer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_equal_rows, "_BATCH", 1)
        groups = link_pairs(np.arange(n, dtype=np.int64), blocks, kept)
    near = {(a, b) for a, b in wanted}
    expected = components(n, lambda a, b: (a, b) in near)
    assert [set(groups.members(at).tolist()) for at in range(len(groups))] == expected
    assert len(kept.all()) == len(wanted)
