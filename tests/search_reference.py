"""Reference implementation of the search (sort all distances), and random corpora with ties."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

COSTS = ("euclidean", "cosine", "sqeuclidean")
EXACT = ("auto", "brute", "prefetch")
COUNTERS = ("empty", "left_out", "refined", "solved", "not_reached")


def search_options(name):
    """Return the keywords of a search: `algorithm` for the exact distance, `metric` for a bound."""
    return {"metric" if name.startswith(("wcd", "rwmd")) else "algorithm": name}


def by_brute_force(distances, k=None, radius=np.inf, allowed=None):
    """Return finite distances and their indices for each row, sorted by distance and position."""
    found = []
    for row in np.asarray(distances):
        order = np.argsort(row, kind="stable")
        order = order[np.isfinite(row[order]) & (row[order] <= radius)]
        if allowed is not None:
            order = order[allowed[order]]
        found.append((order[:k], row[order[:k]]))
    return found


def assert_same_results(found, expected):
    """Check that results are bit-identical to the reference, with consistent statistics."""
    assert len(found) == len(expected)
    for query, (indices, distances) in enumerate(expected):
        np.testing.assert_array_equal(found[query].indices, indices)
        np.testing.assert_array_equal(found[query].distances, distances)
        count = len(indices)
        assert found.counts[query] == count
        np.testing.assert_array_equal(found.indices[query, :count], indices)
        assert np.all(found.indices[query, count:] == -1)
        assert np.all(np.isinf(found.distances[query, count:]))
    assert_statistics_add_up(found)


def assert_statistics_add_up(found):
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
def vector_tables(draw):
    """Draw vectors on a small lattice, so that many distances are equal or almost equal."""
    dimension, words = draw(st.integers(2, 6)), draw(st.integers(3, 9))
    table = draw(arrays(np.float32, (words, dimension), elements=st.sampled_from([-1, 0, 1, 2])))
    table[~table.any(axis=1)] = 1
    nudge = draw(st.sampled_from([0.0, 1e-7, 1e-6, 1e-5]))
    nudged = draw(arrays(bool, words))
    table[nudged] *= np.float32(1 + nudge)
    return table


@st.composite
def corpora(draw):
    """Draw vectors and bags, including duplicates, multiples, and rows of no, one, or all words."""
    table = draw(vector_tables())
    rows = draw(st.integers(1, 12))
    bags = draw(arrays(np.float64, (rows, len(table)), elements=st.integers(0, 3).map(float)))
    if draw(st.booleans()):  # these weights exceed the range of float32
        bags = bags / 3
    return table, bags


@st.composite
def word_weights(draw, words):
    kind = draw(st.sampled_from(["nbow", "tfidf", "sif", "own"]))
    if kind != "own":
        return kind
    weights = draw(arrays(np.float64, words, elements=st.sampled_from([0.0, 0.1, 1.0, 2.5])))
    weights[0] = 1.0
    return weights


@st.composite
def movers(draw):
    """Draw a fitted mover, its corpus, and queries, some of which are in the corpus."""
    # a module-level import would be kept alive by hypothesis until the end
    from textkin import WordMover

    table, bags = draw(corpora())
    bags[0, 0] += 1  # SIF needs at least one word to fit
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
        word_weights=draw(word_weights(len(table))),
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
