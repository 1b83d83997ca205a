"""The slow, obvious search: all distances, sorted; and corpora in which ties happen."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

COSTS = ("euclidean", "cosine", "sqeuclidean")
EXACT = ("auto", "brute", "prefetch")
COUNTERS = ("empty", "left_out", "refined", "solved", "not_reached")


def by_brute_force(distances, k=None, radius=np.inf, allowed=None):
    """Return indices and distances for each row: nearest first, ties by position, no infinity."""
    found = []
    for row in np.asarray(distances):
        order = np.argsort(row, kind="stable")
        order = order[np.isfinite(row[order]) & (row[order] <= radius)]
        if allowed is not None:
            order = order[allowed[order]]
        found.append((order[:k], row[order[:k]]))
    return found


def same_as(found, expected):
    """Check a search against the oracle, to the last bit, and that its statistics add up."""
    assert len(found) == len(expected)
    for query, (indices, distances) in enumerate(expected):
        np.testing.assert_array_equal(found[query][0], indices)
        np.testing.assert_array_equal(found[query][1], distances)
        count = len(indices)
        assert found.counts[query] == count
        np.testing.assert_array_equal(found.indices[query, :count], indices)
        assert np.all(found.indices[query, count:] == -1)
        assert np.all(np.isinf(found.distances[query, count:]))
    sums_are_right(found)


def sums_are_right(found):
    stats = found.stats
    removed = sum(stats.removed.values())
    fates = stats.empty + stats.left_out + removed + stats.solved + stats.not_reached
    np.testing.assert_array_equal(fates, stats.documents)
    assert np.all(stats.solved >= found.counts)
    assert np.all(stats.refined >= stats.removed["refined"])
    for name in COUNTERS:
        assert np.all(getattr(stats, name) >= 0)
    assert all(np.all(spent >= 0) for spent in stats.seconds.values())


@st.composite
def spaces(draw):
    """Vectors on a small lattice, so that many distances are equal, some nearly so."""
    dimension, words = draw(st.integers(2, 6)), draw(st.integers(3, 9))
    table = draw(arrays(np.float32, (words, dimension), elements=st.sampled_from([-1, 0, 1, 2])))
    table[~table.any(axis=1)] = 1
    nudge = draw(st.sampled_from([0.0, 1e-7, 1e-6, 1e-5]))
    nudged = draw(arrays(bool, words))
    table[nudged] *= np.float32(1 + nudge)
    return table


@st.composite
def corpora(draw):
    """Give vectors and bags: duplicates, multiples, empty rows, one word and all of them."""
    table = draw(spaces())
    rows = draw(st.integers(1, 12))
    bags = draw(arrays(np.float64, (rows, len(table)), elements=st.integers(0, 3).map(float)))
    if draw(st.booleans()):  # weights that float32 cannot hold
        bags = bags / 3
    return table, bags


@st.composite
def masses(draw, words):
    kind = draw(st.sampled_from(["nbow", "tfidf", "sif", "own"]))
    if kind != "own":
        return kind
    weights = draw(arrays(np.float64, words, elements=st.sampled_from([0.0, 0.1, 1.0, 2.5])))
    weights[0] = 1.0
    return weights


@st.composite
def movers(draw):
    """Give a fitted mover, its corpus, and queries, some of which are in the corpus."""
    from textkin import WordMover  # hypothesis keeps what a strategy sees until the very end

    table, bags = draw(corpora())
    bags[0, 0] += 1  # one word at least, for SIF to learn from
    queries = draw(
        arrays(
            np.float64,
            (draw(st.integers(1, 4)), len(table)),
            elements=st.integers(0, 2).map(float),
        )
    )
    queries = np.vstack([queries, bags[:1]])
    mover = WordMover(
        table,
        masses=draw(masses(len(table))),
        cost=draw(st.sampled_from(COSTS)),
        unit=draw(st.booleans()),
        empty="inf",
        n_jobs=draw(st.sampled_from([None, 2])),
    )
    return mover.fit(bags), bags, queries


def random_corpus(rng, documents, words, dimension=12, longest=20):
    """Return normal vectors and bags of 1 to `longest` different words."""
    table = rng.normal(size=(words, dimension)).astype(np.float32)
    bags = np.zeros((documents, words))
    for bag in bags:
        chosen = rng.choice(words, rng.integers(1, longest + 1), replace=False)
        bag[chosen] = rng.integers(1, 4, len(chosen))
    return table, bags
