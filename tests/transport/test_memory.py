"""Memory limit of the exact transport problems of `WordMover`, `TokenMover`, and rankings."""

import numpy as np
import pytest
from scipy import sparse

import textkin as tk
from textkin import _core
from textkin.index import TransportRanking
from textkin.transport import SearchOptions, TokenMover, WordMover
from textkin.vectors import WordVectors

# Two documents without a common word, each on a line and 0.25 apart from the other. One problem can
# take 38 MB, and problems of up to 32 MB are not limited.
WORDS = 1400
TABLE = 1 + np.arange(2 * WORDS, dtype=np.float32).reshape(-1, 1) // 2
TABLE[1::2] += 0.25
BAGS = np.zeros((2, 2 * WORDS))
BAGS[0, ::2] = BAGS[1, 1::2] = 1
TOO_LITTLE, ENOUGH = "36MB", "40MB"
REFUSED = (
    r"between 1400 and 1400 distinct words or points can take 38\.\d MiB; the limit is 36\.0 MiB\. "
    r"Keep fewer words \(max_words_per_document\), or pass a larger memory=\."
)

CALLS = {
    "distance": lambda mover: mover.distance(BAGS[:1], BAGS[1:]),
    "distance of CSR bags": lambda mover: mover.distance(*_csr()),
    "pairwise": lambda mover: mover.pairwise(BAGS),
    "paired": lambda mover: mover.paired(BAGS[:1], BAGS[1:]),
    "bounds": lambda mover: mover.bounds(BAGS[:1], BAGS[1:]),
    "explain": lambda mover: mover.explain(BAGS[:1], BAGS[1:]),
    "pairwise_below": lambda mover: list(mover.pairwise_below(BAGS, 1.0)),
    "pairwise_neighbors": lambda mover: list(mover.pairwise_neighbors(BAGS, 1)),
    "search": lambda mover: mover.fit(BAGS[1:]).search(BAGS[:1], 1),
    "brute search": lambda mover: mover.fit(BAGS[1:]).search(BAGS[:1], 1, algorithm="brute"),
    "prefetch": lambda mover: mover.fit(BAGS[1:]).search(BAGS[:1], 1, algorithm="prefetch"),
    "kneighbors": lambda mover: mover.fit(BAGS[1:]).kneighbors(BAGS[:1], 1),
}


def _csr():
    return sparse.csr_array(BAGS[:1]), sparse.csr_array(BAGS[1:])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_memory_below_one_problem_raises_and_names_the_sizes(call):
    with pytest.raises(MemoryError, match=REFUSED):
        call(WordMover(TABLE, memory=TOO_LITTLE))


def test_memory_above_one_problem_gives_the_same_distances():
    limited, free = WordMover(TABLE, memory=ENOUGH), WordMover(TABLE)
    distance = free.distance(BAGS[:1], BAGS[1:])
    assert distance == pytest.approx(0.25, rel=1e-6)
    assert limited.distance(BAGS[:1], BAGS[1:]) == distance
    assert limited.explain(BAGS[:1], BAGS[1:]).distance == distance
    assert limited.fit(BAGS).search(BAGS[:1], 2).distances.ravel().tolist() == [0, distance]


def test_threads_share_the_memory_of_a_call():
    many = np.repeat(BAGS, 2, axis=0)
    one = WordMover(TABLE).paired(many, many[[2, 3, 0, 1]])
    shared = WordMover(TABLE, memory=ENOUGH, n_jobs=4).paired(many, many[[2, 3, 0, 1]])
    np.testing.assert_array_equal(shared, one)


def test_small_problems_ignore_the_memory_limit():
    few = BAGS * (np.arange(2 * WORDS) < 80)
    mover = WordMover(TABLE, memory=1)
    assert mover.distance(few[:1], few[1:]) == WordMover(TABLE).distance(few[:1], few[1:])
    assert mover.fit(few[1:]).search(few[:1], 1).distances.ravel() == pytest.approx([0.25])


def test_memory_of_token_mover_limits_one_problem():
    a, b = TABLE[::2], TABLE[1::2]
    mover = TokenMover(cost="euclidean", memory=TOO_LITTLE)
    for call in (
        lambda: mover.distance(a, b),
        lambda: mover.explain(a, b),
        lambda: mover.fit([b]).search([a], 1),
    ):
        with pytest.raises(MemoryError, match="1400 and 1400 distinct words or points"):
            call()


def test_certificate_of_a_search_uses_the_memory_of_the_search():
    found = WordMover(TABLE, memory=ENOUGH).fit(BAGS[1:]).search(BAGS[:1], 1)
    found.certificate(0).verify()


def test_memory_of_a_ranking_limits_one_problem(tmp_path):
    names = [f"w{i}" for i in range(2 * WORDS)]
    vectors = WordVectors(names, TABLE)
    with tk.Index.create(tmp_path / "long.kin", vectors=vectors, language=None) as index:
        index.add([" ".join(names[1::2])])
        query = " ".join(names[::2])
        free = index.search(query, ranking=TransportRanking("wmd"))
        assert free[0].score == pytest.approx(0.25, rel=1e-6)
        limited = TransportRanking("wmd", memory=TOO_LITTLE)
        with pytest.raises(MemoryError, match=REFUSED):
            index.search(query, ranking=limited)
        enough = index.search(query, ranking=TransportRanking("wmd", memory=ENOUGH))
        assert [hit.score for hit in enough] == [hit.score for hit in free]


def test_default_memory_limits_tables_and_problems_separately():
    assert WordMover().memory is None
    assert SearchOptions().memory is None
    assert SearchOptions().table_memory == _core.TABLE_MEMORY == 512 << 20
    assert SearchOptions(memory=5).table_memory == 5
