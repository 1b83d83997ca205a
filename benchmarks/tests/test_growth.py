"""Benchmark of growing collections: generation, measurement, and report. Nothing is timed here."""

import json
from dataclasses import replace

import numpy as np
import pytest

import textkin as tk
from support import load_script, run_benchmark

corpus, jobs, report, growth = (
    load_script(f"benchmarks/{name}.py")
    for name in ("growth_corpus", "growth_jobs", "growth_report", "growth")
)


@pytest.fixture(scope="module")
def source():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "BLOCK", 100)
        yield corpus.Synthetic("twit")


@pytest.fixture(scope="module")
def stored(source, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "collection", lambda kind: source)
        yield corpus.Stored.written(tmp_path_factory.mktemp("growth"), "twit", 250, 9)


# ---------------------------------------------------------------------- documents


def test_blocks_are_reproducible_and_different(source):
    first, second = (block for _, block in zip(range(2), source.blocks(), strict=False))
    again = next(source.blocks())
    assert (first.bags != again.bags).nnz == 0
    assert first.texts == again.texts
    assert set(first.texts).isdisjoint(second.texts)


def test_documents_have_the_drawn_number_of_different_words(source):
    rng = np.random.default_rng(0)
    lengths = np.array([1, 2, 10, 40])
    for _ in range(5):
        block = source._block(rng, lengths)
        assert np.all(np.diff(block.bags.indptr) <= lengths)
        assert np.diff(block.bags.indptr).sum() >= 50


def test_texts_have_the_words_of_the_bags_and_names_without_vectors(source):
    block = next(source.blocks())
    counted = tk.BagOfWords(vocabulary=source.vectors).transform(
        block.texts
    )  # without SMART stop words
    assert (counted != block.bags).nnz == 0
    words = {word for text in block.texts for word in text.split()}
    known = [number for number in source.vectors.lookup(sorted(words)) if number >= 0]
    assert 0 < len(words) - len(known) < 0.2 * len(words)


def test_queries_are_separate_and_about_as_long_as_the_mean(source):
    queries = source.queries(30)
    assert set(queries.texts).isdisjoint(next(source.blocks()).texts)
    lengths = np.diff(queries.bags.indptr)
    assert 9 <= lengths.mean() <= 11


def test_texts_of_the_cluster_have_words_of_the_built_in_vectors(monkeypatch):
    monkeypatch.setattr(corpus, "BLOCK", 50)
    block = next(corpus.Zipf().blocks())
    assert [len(text.split()) for text in block.texts] == [corpus.DRAWN] * 50
    assert 0.5 * corpus.DRAWN < block.bags.nnz / 50 < corpus.DRAWN  # without stop words
    assert (next(corpus.Zipf().blocks()).bags != block.bags).nnz == 0


def test_names_are_unlimited():
    few, many = (
        len(np.unique(corpus.name_numbers(np.random.default_rng(1), n))) for n in (4_000, 64_000)
    )
    assert np.log(many / few) / np.log(16) == pytest.approx(corpus.HEAPS, abs=0.04)


def test_groups_draw_their_words_by_weight():
    workloads = load_script("benchmarks/workloads.py")
    draws = [
        workloads.Draw(np.array([5, 6]), np.array([3.0, 1.0])),
        workloads.Draw(np.array([9]), np.array([1.0])),
    ]
    groups = np.repeat([0, 1], [4000, 10])
    drawn = corpus.Groups(draws)(np.random.default_rng(2), groups)
    assert set(drawn[4000:]) == {9}
    assert set(drawn[:4000]) == {5, 6}
    assert np.mean(drawn[:4000] == 5) == pytest.approx(0.75, abs=0.03)


def test_stored_collection_is_read_unchanged(source, stored):
    blocks = list(stored.blocks(250))
    assert [len(block) for block in blocks] == [100, 100, 50]
    first = next(source.blocks())
    assert blocks[0].texts == first.texts
    assert (blocks[0].bags != first.bags).nnz == 0
    documents = list(stored.documents(120))
    assert [one.text for one in documents] == [*blocks[0].texts, *blocks[1].texts[:20]]
    assert [one.id for one in documents] == [str(position) for position in range(120)]
    assert stored.bags(120).shape == (120, 30_000)
    assert (stored.bags(120)[100:] != blocks[1].bags[:20]).nnz == 0
    assert len(stored.queries()) == 9


def test_existing_collection_is_not_written_again(stored, monkeypatch):
    monkeypatch.setattr(corpus, "collection", None)  # would be called
    assert corpus.Stored.written(stored.folder.parent, "twit", 200, 9) == stored


def test_too_small_collection_raises(source, tmp_path, monkeypatch):
    class Short:
        vectors = source.vectors
        queries = source.queries

        def blocks(self):
            yield next(source.blocks())

    monkeypatch.setattr(corpus, "collection", lambda kind: Short())
    with pytest.raises(ValueError, match="150 documents requested; twit has 100"):
        corpus.Stored.written(tmp_path, "twit", 150, 3)


def test_real_texts_without_data_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "DATA", tmp_path)
    assert not corpus.is_here("real")
    assert corpus.is_here("twit")


# ---------------------------------------------------------------------- brute force


def test_nearest_of_all_parts_are_sorted_by_distance_then_position():
    parts = [
        jobs.Answer(np.array([[3, 1]]), np.array([[0.5, 2.0]]), {}),
        jobs.Answer(np.array([[8, 9]]), np.array([[0.1, 0.5]]), {}),
    ]
    found = jobs.best(parts, 3)
    assert found.indices.tolist() == [[8, 3, 9]]
    assert found.distances.tolist() == [[0.1, 0.5, 0.5]]


def test_brute_force_matches_exhaustive_search(stored):
    asked = jobs.Asked(2, 4, 3, 2)
    true = jobs.truth(stored, 250, asked)
    mover = tk.WordMover(stored.vectors().matrix).fit(stored.bags(250))
    found = mover.search(stored.queries().bags[2:4], k=10)
    assert true["wmd"]["indices"] == found.indices.tolist()
    assert true["wmd"]["scores"] == found.distances.tolist()
    wrong = jobs.Answer(found.indices[:, ::-1], found.distances, {})
    with pytest.raises(growth.UnequalAnswersError, match="brute force"):
        jobs.apart(wrong, true["wmd"], "nobody")


def test_search_in_rounds_finds_the_same_with_fewer_distances(stored, monkeypatch):
    monkeypatch.setattr(load_script("benchmarks/scaling_model.py"), "ROWS", (20, 40))
    asked = jobs.Asked(2, 4, 3, 2)
    true = jobs.truth(stored, 250, asked)  # the reference
    found = jobs.search_in_rounds(stored, 250, asked, 2, true)
    assert (found["workers"], found["blocks"]) == (2, 7)
    blind, _, third, fourth = found["solved"]
    assert blind >= 10 > max(third, fourth)
    assert found["refined"][0] > found["refined"][3]
    for name in ("refined", "solved"):
        assert np.all(np.array(found["slowest"][name]) >= found[name])
    true["wmd"]["scores"][0][0] /= 2
    with pytest.raises(growth.UnequalAnswersError, match="search in rounds"):
        jobs.search_in_rounds(stored, 250, asked, 2, true)


def test_brute_force_by_bm25_matches_the_formula():
    bags = tk.BagOfWords(stop_words=None)
    texts = ["a b b c", "b", "c c a d e", "f"]
    weighted = tk.BM25().fit(bags.fit_transform(texts))
    words = ["b", "c"]
    columns = bags.vocabulary_.lookup(words)
    expected = weighted.transform(bags.transform(texts))[:, columns].sum(axis=1)
    counts, lengths = jobs.counted_words(texts, words)
    found = jobs.best_by_bm25(["b c"], counts, lengths)
    order = np.lexsort((np.arange(4), -np.asarray(expected)))
    np.testing.assert_allclose(found.distances[0], np.asarray(expected)[order], rtol=1e-6)
    assert found.indices[0].tolist() == [*order[:3].tolist(), -1]


# ---------------------------------------------------------------------- numbers


def entry(documents, surface="mover", **numbers):
    return {"collection": "twit", "documents": documents, "surface": surface, **numbers}


def test_slopes_are_exponents():
    assert report.slope([(10, 3.0), (1000, 300.0)]) == pytest.approx(1)
    assert report.slope([(1, 2.0), (4, 4.0), (16, 8.0)]) == pytest.approx(0.5)
    bent = [(1, 1.0), (10, 1.0), (100, 10.0)]
    assert report.slope(bent) == pytest.approx(np.polyfit(*np.log(np.array(bent)).T, 1)[0])
    assert report.slope([(10, 1.0)]) is None
    assert report.slope([(10, 0.0), (20, 1.0)]) is None


def test_slopes_of_all_sizes_and_of_the_largest_two():
    sizes = [entry(n, build={"seconds": s}) for n, s in ((1, 1.0), (10, 1.0), (100, 10.0))]
    found = report.slopes(sizes)["build_seconds"]["twit mover"]
    assert found == {"all_sizes": 0.5, "largest_two": 1.0}


def test_figures_show_the_slope_of_each_curve():
    sizes = [
        entry(n, "index", bytes={"catalogue": 3e6 * n, "segments": 1e6 * n}, build={"seconds": 2.0})
        for n in (10, 100)
    ]
    drawn = report.figures(sizes)
    assert set(drawn) == {"growth-build", "growth-disk"}
    assert "twit index n^1.00" in drawn["growth-disk"]
    assert "100 400" in drawn["growth-disk"]  # sum of both, in the text alternative
    assert "twit index n^0.00" in drawn["growth-build"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0, "0"), (1234.5, "1,234"), (12.345, "12.3"), (0.01234, "0.0123"), (7, "7")],
)
def test_table_numbers_have_three_digits(value, shown):
    assert report.number(value) == shown


def test_costs_of_the_requested_sizes():
    few = growth.estimate(["twit"], [1_000_000], ["mover"])
    more = growth.estimate(["twit"], [1_000_000, 10_000_000], ["mover", "index"])
    assert more["total_seconds"] > 10 * few["total_seconds"]
    assert few["disk"] < more["disk"]
    assert growth.sizes_of("real", [10, 10**6, 10**7]) == [10, 390_000]
    assert growth.checked_of("news", 10_000) == 2
    assert growth.checked_of("news", 1_000_000) == 1


def test_insufficient_disk_or_memory_is_reported_first(tmp_path):
    cost = growth.estimate(["news"], [10_000], ["mover"])
    assert growth.refusal(cost, tmp_path) is None
    why = growth.refusal({**cost, "disk": 1e9}, tmp_path)
    assert "takes about 1000000000.0 GB of disk" in why
    assert "GB of memory" in growth.refusal({**cost, "memory": 1e9}, tmp_path)


# ---------------------------------------------------------------------- a run


def test_small_run_is_stored_and_not_measured_again(source, tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "alone", lambda job, *arguments: job(*arguments))
    monkeypatch.setattr(corpus, "collection", lambda kind: source)
    out = tmp_path / "growth.json"
    arguments = ["--collections", "twit", "--queries", 2, 3, 4, "--out", out, "--figures", tmp_path]
    done = run_benchmark("growth.py", "--sizes", 60, 150, *arguments)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    kept = [(one["surface"], one["documents"]) for one in found["measured"]]
    assert kept == [("mover", 60), ("mover", 150), ("index", 60), ("index", 150)]
    for one in found["measured"]:
        assert one["wmd"]["largest_relative_difference_from_brute"] < 1e-6
        assert one["wmd"]["solved"]["mean"] >= 10
        assert one["entries"] > 5 * one["documents"]
    mover, index = found["measured"][1::2]
    assert mover["wmd"]["solved"] == index["wmd"]["solved"]  # the same search
    assert index["words"] > mover["words"]  # names
    assert mover["rounds"]["blocks"] == 1  # blocks have a minimum size
    assert index["bytes"]["catalogue"] > index["text_megabytes"] * 1e6
    assert index["bm25"]["largest_relative_difference_from_brute"] < 1e-6
    assert set(found["slopes"]["refined"]) == {"twit mover"}
    assert (tmp_path / "growth-search.svg").read_text().startswith("<svg")
    assert "| twit, `Index` | documents |" in done.stdout

    def never(job, *arguments):
        raise AssertionError(job)

    monkeypatch.setattr(growth, "alone", never)
    again = run_benchmark("growth.py", "--sizes", 150, 60, *arguments)
    assert again.returncode == 0, again.stderr
    assert json.loads(out.read_text()) == found
    with pytest.raises(AssertionError, match="written"):
        run_benchmark("growth.py", "--sizes", 60, "--again", *arguments)


def test_missing_results_are_measured():
    asked = replace(jobs.Asked(), warm=2)
    assert (asked.singles, asked.rest) == (slice(2, 22), slice(22, 72))
    measured = [entry(60), entry(60, "index"), entry(150)]
    assert growth.missing(measured, "twit", 60, ["mover", "index"]) == []
    assert growth.missing(measured, "twit", 150, ["mover", "index"]) == ["index"]
    assert growth.missing(measured, "news", 60, ["mover"]) == ["mover"]
