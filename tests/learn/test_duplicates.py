"""Tests of `find_duplicates`: kinds of documents, edge cases, errors, and drawings."""

import gzip
import json
import pickle

import numpy as np
import pytest
from scipy import sparse

import textkin as tk
from support import interrupted
from textkin.corpus import TokenVectors
from textkin.learn import Duplicates, Repeats, _duplicates
from textkin.learn._equal_rows import PairBuffer
from textkin.reading import Document

TEXTS = [
    "Cats purr on the mat.",
    "Stocks fell sharply on Monday",
    "the",
    "On the mat: cats, PURR!",
    "Stocks fell sharply on Tuesday",
    "cats\tpurr  on the \uff4dat",
    "",
    "Monday: stocks fell, sharply",
]


def positions(found):
    return [group.positions for group in found]


def test_text_ignores_punctuation_and_case():
    found = tk.find_duplicates(TEXTS, metric="text")
    assert positions(found) == [[0, 5]]
    assert found[0][1].reason == "same text"
    assert found.empty.tolist() == [6]  # "the" counts as a word here
    assert found.labels.tolist() == [0, -1, -1, -1, -1, 0, -1, -1]
    assert found.removed.tolist() == [5]
    assert (found.metric, found.radius, found.n_documents) == ("text", None, 8)


def test_default_metric_compares_words_in_order():
    texts = [
        "I don't want Tom to see that.",
        "Tom said that he didn't know why.",
        "i DON'T want Tom to see that",
        "That I don't want Tom to see.",
    ]
    assert positions(tk.find_duplicates(texts)) == [[0, 2]]
    assert tk.find_duplicates(texts).metric == "text"
    lists = [["a", "b"], ["b", "a"], ["a", "b"]]
    assert positions(tk.find_duplicates(lists)) == [[0, 2]]
    assert len(tk.find_duplicates(texts[1:2], against=texts)) == 1
    assert tk.find_duplicates(tk.BagOfWords().fit_transform(texts)).metric == "bag"
    with pytest.raises(ValueError, match="'text' finds equal documents and takes no radius"):
        tk.find_duplicates(texts, 0.1)


def test_bag_ignores_word_order():
    found = tk.find_duplicates(TEXTS, metric="bag")
    assert positions(found) == [[0, 3, 5], [1, 7]]
    assert [member.reason for member in found[0]] == ["representative", "same words", "same text"]
    assert found.empty.tolist() == [2, 6]
    assert found.kept.tolist() == [0, 1, 2, 4, 6]
    assert positions(
        tk.find_duplicates(["a b", "b a a", "a b a"], metric="bag", stop_words=None)
    ) == [[1, 2]]


def test_scripts_without_spaces_and_long_words():
    texts = ["東京都に行く", "東京都 に行く", "Straße", "STRASSE", "x" * 100_000, "X" * 100_000]
    assert positions(tk.find_duplicates(texts, metric="text")) == [[4, 5]]
    assert positions(tk.find_duplicates(["ﬁne naïve", "FINE nai\u0308ve"], metric="text")) == [
        [0, 1]
    ]


def test_chains_link_documents_beyond_the_radius():
    line = np.array([[0.0], [1.0], [2.0], [9.0], [3.0]])
    found = tk.find_duplicates(line, 1.0, metric="l2")
    assert positions(found) == [[0, 1, 2, 4]]
    group = found[0]
    assert group.representative.position == 1  # as central as 2, and comes first
    assert [(m.position, m.distance) for m in group] == [(1, 0.0), (0, 1.0), (2, 1.0), (4, 2.0)]
    assert group[1].reason == "l2 1 <= 1"
    assert group[3].reason == "l2 2, linked by others"
    assert group.diameter == 2.0


def test_equal_documents_count_individually_for_the_representative():
    found = tk.find_duplicates(np.array([[0.0], [1.0], [2.0], [2.0], [2.0]]), 1.0, metric="l1")
    assert found[0].representative.position == 1  # similar to all documents
    found = tk.find_duplicates(np.array([[0.0], [1.0], [2.5], [2.5], [3.0]]), 1.5, metric="l1")
    assert found[0].representative.position == 2  # 1 has as many neighbors, but at larger distances
    found = tk.find_duplicates(np.array([[0.0], [2.5], [2.5], [3.0]]), 2.5, metric="l1")
    assert found[0].representative.position == 1
    assert found[0].positions == [0, 1, 2, 3]


def test_all_kinds_of_documents_are_accepted(tmp_path):
    documents = [Document(f"d{at}", text) for at, text in enumerate(TEXTS)]
    found = tk.find_duplicates(iter(documents), metric="bag")
    assert [member.id for member in found[0]] == ["d0", "d3", "d5"]
    with tk.Index.create(tmp_path / "index", language=None) as index:
        index.add(documents)
        for by, threshold in (("bag", None), ("cosine", 0.1), ("wmd", 0.5)):
            assert positions(tk.find_duplicates(index, threshold, by))[0] == [0, 3, 5]
    lists = [["a", "b"], ["b", "a"], [], ["a", "b"], ["A", "b"]]
    assert positions(tk.find_duplicates(lists, metric="text")) == [[0, 3]]
    assert positions(tk.find_duplicates(lists, metric="bag")) == [[0, 1, 3]]
    assert positions(tk.find_duplicates(lists, 0.1, metric="cosine")) == [[0, 1, 3]]
    bags = tk.BagOfWords().fit_transform(TEXTS)
    for rows in (bags, sparse.csr_matrix(bags), bags.toarray(), bags.toarray().tolist()):
        assert positions(tk.find_duplicates(rows)) == [[0, 3, 5], [1, 7]]
        assert tk.find_duplicates(rows).empty.tolist() == [2, 6]
        assert positions(tk.find_duplicates(rows, 0.01, metric="cosine")) == [[0, 3, 5], [1, 7]]
    tokens = [
        TokenVectors([[1, 0], [0, 1]]),
        TokenVectors([[0, 1], [1, 0]]),
        TokenVectors([[1, 1]]),
    ]
    found = tk.find_duplicates(tokens, 1e-6, metric=tk.TokenMover())
    assert positions(found) == [[0, 1]]
    assert found[0][1].reason == "TokenMover 0 <= 1e-06"


def test_bag_ignores_stored_zeros_and_entry_order():
    first = sparse.csr_array((np.array([1.0, 2.0, 0.0]), [0, 2, 1], [0, 3]), shape=(1, 3))
    second = sparse.csr_array((np.array([2.0, 1.0]), [2, 0], [0, 2]), shape=(1, 3))
    assert positions(tk.find_duplicates(sparse.vstack([first, second]))) == [[0, 1]]
    assert len(tk.find_duplicates(second, against=first)) == 1


def test_duplicates_between_two_sets():
    texts = ["Stocks fell", "rain", "MAT cats purr", "the"]
    found = tk.find_duplicates(texts, metric="bag", against=TEXTS)
    assert found.positions.tolist() == found.removed.tolist() == [2]
    assert found.kept.tolist() == [0, 1, 3]
    assert found.empty.tolist() == [3]
    assert (found.n_documents, found.n_against, found.share) == (4, len(TEXTS), 0.25)
    [repeat] = found
    assert [match.position for match in repeat.matches] == [0, 3, 5]
    assert {match.reason for match in repeat.matches} == {"same words"}
    assert repeat.explain() is None
    near = tk.find_duplicates(["Shares fell sharply on Monday"], 2.0, metric="wmd", against=TEXTS)
    assert [match.position for match in near[0].matches] == [1, 7, 4]
    moved = [(move.source, move.target) for move in near[0].explain().moves if move.cost]
    assert moved == [("shares", "stocks")]
    assert near[0].explain(4).distance == pytest.approx(near[0].matches[2].distance)
    # Words that occur in only one set count: the two documents are not equal.
    assert not len(
        tk.find_duplicates(["cats purr on the mat, zebra"], 0.1, "cosine", against=TEXTS)
    )
    one_sided = tk.find_duplicates(["cats"], 0.1, metric="rwmd-query", against=TEXTS)
    assert [match.position for match in one_sided[0].matches] == [0, 3, 5]


def test_leaks_of_real_sets_equal_known_counts(shared_data):
    for name, stop_words, expected in (("twitter", None, 99), ("classic", "smart", 99)):
        path = shared_data / "classification" / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        train, test = ([r["text"] for r in records if r["split"] == s] for s in ("train", "test"))
        found = tk.find_duplicates(test, metric="bag", against=train, stop_words=stop_words)
        assert len(found) == expected


def test_explanations_sum_to_the_distance():
    found = tk.find_duplicates(TEXTS, 1.0, metric="wmd")
    assert positions(found)[0] == [0, 3, 5]
    stocks = next(group for group in found if 4 in group.positions)
    why = stocks.explain(4)
    assert {(m.source, m.target) for m in why.moves if m.cost} == {("tuesday", "monday")}
    assert why.distance == pytest.approx(next(m.distance for m in stocks if m.position == 4))
    by_words = tk.find_duplicates(TEXTS, 0.6, metric="cosine")
    group = next(group for group in by_words if 4 in group.positions)
    assert group.explain(group[-1]).score == pytest.approx(1 - group[-1].distance)  # the cosine
    with pytest.raises(ValueError, match="one of the group"):
        group.explain(2)
    with pytest.raises(ValueError, match="has 8 documents; got 8"):
        tk.find_duplicates(["cats purr mat"], metric="bag", against=TEXTS)[0].explain(8)


@pytest.mark.parametrize("by", ["text", "bag", "cosine", "jaccard", "l1", "edit", "wmd", "rwmd"])
def test_empty_and_single_document_sets(by):
    threshold = None if by in ("text", "bag") else 0.1
    for texts in ([], ["one text"], [""], ["", ""], ["the cat", "a dog"]):
        found = tk.find_duplicates(texts, threshold, by)
        assert len(found) == len(found.pairs) == 0
        assert found.kept.tolist() == list(range(len(texts)))
        assert found.empty.tolist() == [at for at, text in enumerate(texts) if not text]
        assert str(found).startswith("Duplicates: 0 groups")
        for others in ([], ["one text"], [""]):
            repeats = tk.find_duplicates(texts, threshold, by, against=others)
            assert len(repeats) == (texts == others == ["one text"])
            assert repeats.n_against == len(others)


@pytest.mark.parametrize("by", ["text", "bag", "cosine", "edit", "wmd"])
def test_ten_thousand_equal_documents_need_little_memory(by):
    texts = ["a short text that came again"] * 10_000 + ["zebra"]
    found = tk.find_duplicates(texts, None if by in ("text", "bag") else 0.05, by)
    assert len(found) == 1
    assert len(found[0]) == 10_000
    assert len(found.pairs) == 9_999
    repeats = tk.find_duplicates(texts, found.radius, by, against=texts)
    assert len(repeats.pairs) == 2
    assert repeats.counts.tolist() == [10_000] * 10_000 + [1]


@pytest.mark.parametrize("by", ["bag", "cosine", "l1", "l2", "jaccard", "hellinger", "wmd"])
def test_equal_documents_have_nonzero_tfidf_weights(by):
    """Check a regression: with the default idf, words of all documents have weight 0."""
    found = tk.find_duplicates(["cats purr"] * 3, None if by == "bag" else 0.0, by)
    assert positions(found) == [[0, 1, 2]]
    assert found[0].representative.position == 0
    assert [member.reason for member in found[0][1:]] == ["same text"] * 2


def test_too_many_pairs_are_not_kept(monkeypatch):
    monkeypatch.setattr(_duplicates, "PairBuffer", lambda: PairBuffer(3))
    line = np.arange(6.0)[:, None]
    found = tk.find_duplicates(line, 2.0, metric="l2")
    assert positions(found) == [[0, 1, 2, 3, 4, 5]]
    assert [m.distance for m in found[0]] == [0, 1, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="smaller radius"):
        _ = found.pairs
    repeats = tk.find_duplicates(line, 2.0, metric="l2", against=line)
    assert repeats.counts.tolist() == [3, 4, 5, 5, 4, 3]
    assert [repeat.nearest.position for repeat in repeats] == list(range(6))
    with pytest.raises(ValueError, match="smaller radius"):
        _ = repeats[0].matches


def test_invalid_arguments_raise():
    find = tk.find_duplicates
    for by in ("cosine", "wmd", tk.WordMover()):
        with pytest.raises(ValueError, match="needs a radius, the largest distance"):
            find(TEXTS, metric=by)
    with pytest.raises(ValueError, match="takes no radius"):
        find(TEXTS, 0.1)
    for wrong in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="radius must be a finite number at least 0"):
            find(TEXTS, wrong, metric="cosine")
    with pytest.raises(TypeError, match="radius must be"):
        find(TEXTS, "0.1", metric="cosine")
    with pytest.raises(ValueError, match="metric must be one of 'text', 'bag' or one of 'wmd'"):
        find(TEXTS, 0.1, metric="cosinus")
    for one_sided in ("rwmd-query", tk.WordMover(metric="rwmd-document")):
        with pytest.raises(ValueError, match="depends on the order of the two documents"):
            find(TEXTS, 1.0, metric=one_sided)
    with pytest.raises(ValueError, match=r"model must be None .* only for near duplicates"):
        find(TEXTS, model=tk.LSI(2))
    with pytest.raises(TypeError, match=r"texts .* for metric='text'.*'bag'"):
        find(np.eye(3), metric="text")
    with pytest.raises(TypeError, match="against must be texts, like documents; got rows"):
        find(TEXTS, against=np.eye(3))
    with pytest.raises(TypeError, match="against must be texts, like documents; got lists"):
        find(TEXTS, against=[["a"]])
    with pytest.raises(ValueError, match="same columns as documents, 3; got 2"):
        find(np.eye(3), against=np.eye(2))
    with pytest.raises(TypeError, match="position 1 holds list"):
        find(["a text", ["a", "list"]])
    with pytest.raises(TypeError, match="position 1 holds NoneType"):
        find(["a text", None])
    with pytest.raises(TypeError, match="documents must hold many documents; got one text"):
        find("a text")
    with pytest.raises(ValueError, match="NaN"):
        find(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="one row per document"):
        find(np.arange(3.0), 1.0, metric="l2")


def test_progress_and_interruption():
    told = []
    tk.find_duplicates(
        TEXTS, 0.2, "cosine", progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (3, 3)  # excludes copies and empty documents
    tk.find_duplicates(TEXTS, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (8, 8)
    random = np.random.default_rng(0)
    rows = random.random((2000, 60))
    assert interrupted(lambda: tk.find_duplicates(rows, 0.01, metric="l1"))


@pytest.mark.parametrize("by", ["wmd", "cosine"])
def test_pickled_results_can_explain(by):
    found = tk.find_duplicates(TEXTS, 1.0, by)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_records() == found.to_records()
    for group, same in zip(found, again, strict=True):
        assert same.explain(same[1]).score == group.explain(group[1]).score


def test_threads_give_the_same():
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, (700, 6)).astype(float)
    one, two = (tk.find_duplicates(rows, 0.05, "cosine", n_jobs=jobs) for jobs in (1, 2))
    assert one.to_records() == two.to_records()
    assert len(one) > 5


def test_models_make_the_vectors():
    found = tk.find_duplicates(TEXTS, 0.05, metric="cosine", model=tk.Pooling(stop_words="smart"))
    assert [0, 3, 5] in positions(found)
    assert found.empty.tolist() == [2, 6]
    found = tk.find_duplicates(TEXTS, 0.05, metric="cosine", model=tk.LSI(3, random_state=0))
    assert [0, 3, 5] in positions(found)


def test_records_copies_and_drawings():
    documents = [
        Document("<b>&", "Cats <script>purr</script>\x1b[31m"),
        Document("plain", "script 31m cats script purr"),
        Document("other", "zebra"),
    ]
    found = tk.find_duplicates(documents, metric="bag")
    assert found.to_records() == [
        {
            "group": 0,
            "representative": 0,
            "position": position,
            "id": documents[position].id,
            "distance": 0.0,
            "reason": reason,
        }
        for position, reason in ((0, "representative"), (1, "same words"))
    ]
    again = pickle.loads(pickle.dumps(found))
    assert again.to_records() == found.to_records()
    for drawn in (found._repr_html_(), found.to_html()):
        assert "<script" not in drawn
        assert ">&lt;b&gt;&amp;</td>" in drawn
        assert "\x1b" not in drawn
    assert "\x1b" not in str(found)
    lines = tk.find_duplicates(TEXTS, metric="bag").to_text(limit=1, width=50).splitlines()
    assert lines == [
        "Duplicates: 2 groups, 3 of 8 documents to remove (the same words)",
        "Group 0, 3 documents",
        "  0  representative  Cats purr on the mat.",
        "  and 2 more",
        "and 1 more group",
    ]
    repeats = tk.find_duplicates(["stocks fell sharply, monday"], metric="bag", against=TEXTS)
    assert str(repeats).splitlines() == [
        "Repeats: 1 of 1 documents duplicate some of the 8 others (the same words)",
        "  0  1  same words  stocks fell sharply, monday",
    ]
    assert repr(repeats[0]) == "Repeat(0 of 1, same words, 2 in all)"
    assert repeats.to_records()[0]["against"] == 1
    with pytest.raises(ValueError, match="limit must be"):
        found.to_text(limit=0)
    with pytest.raises(IndexError, match="position must be below 1; got 4"):
        _ = repeats[4]
    assert isinstance(found, Duplicates)
    assert isinstance(repeats, Repeats)
    assert found[-1].positions == found[len(found) - 1].positions
    assert [group.number for group in tk.find_duplicates(TEXTS, metric="bag")[:2]] == [0, 1]


def test_zero_rows_of_sparse_matrices_are_duplicates():
    rows = np.zeros((50, 3))
    rows[7, 1] = 2.0
    for X in (rows, sparse.csr_array(rows)):
        found = tk.find_duplicates(X, 0.5, metric="l1")
        assert positions(found) == [[at for at in range(50) if at != 7]]
        assert len(found.pairs) == 48  # pairs with the first document, not all pairs


@pytest.mark.parametrize(("by", "threshold"), [("wmd", 0.5), ("edit", 1), ("bag", None)])
def test_mixed_texts_and_word_lists_raise_with_the_position(by, threshold):
    """Check a regression: transport accepted the documents and later failed to explain them."""
    with pytest.raises(TypeError, match=r"documents must all be texts.* position 1 holds list"):
        tk.find_duplicates(["cats purr", ["cats", "purr"]], threshold, metric=by)
    with pytest.raises(
        TypeError, match=r"against must all be lists of words.* position 1 holds str"
    ):
        tk.find_duplicates([["cats"]], threshold, metric=by, against=[["cats"], "cats"])


def test_equal_token_arrays_have_a_reason():
    """Check a regression: reasons looked for words, which arrays do not have."""
    tokens = np.eye(3, dtype=np.float32)
    found = tk.find_duplicates([tokens, tokens[:1], tokens[::-1]], 0.1, metric=tk.TokenMover())
    assert positions(found) == [[0, 2]]
    assert found[0][1].reason == "TokenMover 0 <= 0.1"
    assert "TokenMover 0 <= 0.1" in found.to_text()


def test_integers_above_the_precision_of_float32_differ():
    rows = np.array([[2**24, 1], [2**24 + 1, 1], [2**24, 1]])
    for given in (rows, sparse.csr_array(rows), rows.astype(np.int32)):
        (group,) = tk.find_duplicates(given)
        assert group.positions == [0, 2]
