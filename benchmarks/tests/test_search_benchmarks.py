"""Search benchmarks: runs, equal answers, and figures. Nothing is timed here."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support import ROOT, load_script, run_benchmark

BENCHMARKS = ROOT / "benchmarks"

workloads, search_workloads, contenders, search, search_table, table, scaling = (
    load_script(f"benchmarks/{name}.py")
    for name in (
        "workloads",
        "search_workloads",
        "search_contenders",
        "search",
        "search_table",
        "table",
        "search_scaling",
    )
)


def installed(module):
    return importlib.util.find_spec(module) is not None


@pytest.fixture(scope="module")
def language():
    return workloads.Language()


@pytest.fixture(scope="module")
def corpus(language):
    return search_workloads.synthetic_corpus("twit", 60, 12, language=language)


# ---------------------------------------------------------------------- workloads


def test_queries_are_about_as_long_as_the_mean_document(corpus, language):
    assert corpus.documents.shape == (60, 30_000)
    lengths = np.diff(corpus.queries.indptr)
    assert len(lengths) == 12
    assert lengths.min() >= 9
    assert lengths.max() <= 11
    again = search_workloads.synthetic_corpus("twit", 60, 12, language=language)
    assert (corpus.documents != again.documents).nnz == 0
    assert (corpus.queries != again.queries).nnz == 0


def test_labeled_set_keeps_its_split_and_has_no_empty_document(shared_data):
    found = search_workloads.classified_corpus("twitter", n_documents=50, n_queries=10)
    assert found.documents.shape[0] == len(found.labels) == 50
    assert found.queries.shape[0] == len(found.query_labels) == 10
    assert np.diff(found.documents.indptr).min() >= 1
    assert set(found.query_labels) <= {"positive", "negative", "neutral"}


@pytest.mark.parametrize("name", search_workloads.COLLECTIONS)
def test_every_collection_has_texts(shared_data, name):
    texts = search_workloads.read_collection(name)
    first = [next(texts) for _ in range(20)]
    assert np.mean([len(text.split()) for text in first]) > 3
    assert not any("\t" in text for text in first if name == "gcide_definitions")


def test_missing_data_is_not_invented(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(search_workloads, "DATA", tmp_path)
    assert search_workloads.classified_corpus("r8") is None
    assert search_workloads.mixed_corpus(3) is None
    assert "r8 is skipped" in capsys.readouterr().err


# ---------------------------------------------------------------------- contenders


@pytest.mark.parametrize("portion", [3, 256])
def test_script_matches_brute_force(corpus, portion, monkeypatch):
    pytest.importorskip("ot")
    monkeypatch.setattr(contenders.Script, "PORTION", portion)
    # including equal documents
    few = replace(corpus, documents=corpus.documents[[*range(60), 3, 3]])
    queries = few.documents[[3, 9]] + few.documents[[5, 7]]
    found = contenders.Script(few, 5)(queries)
    brute = contenders.Textkin(few, 5, algorithm="brute", fresh=False)(queries)
    apart = search.largest_difference("script", found, brute, "here")
    assert apart < 1e-6
    assert 10 <= found.work["solved"] < 2 * 62


def test_bounds_of_the_script_never_exceed_the_distance(corpus):
    pytest.importorskip("ot")
    script = contenders.Script(corpus, 5)
    exact = np.array([[0.0, 1e-3], [0.7, 1.9]])
    worst = exact**2 + script._slack  # the largest rounding error of a product
    assert np.all(script._root(worst) <= exact + 1e-15)


def test_peers_that_cannot_be_imported_are_omitted(corpus, monkeypatch):
    for module in ("ot", "gensim.models"):
        monkeypatch.setitem(sys.modules, module, None)
    ready = contenders.make(corpus, 3, ["textkin", "script", "gensim"])
    assert list(ready) == ["textkin"]


# ---------------------------------------------------------------------- comparing


def answer(indices, distances):
    return contenders.Answer(np.array([indices]), np.array([distances]), {})


def test_documents_at_the_same_distance_may_be_swapped():
    expected = answer([4, 2, 7], [1.0, 1.0, 3.0])
    assert search.largest_difference("x", answer([2, 4, 7], [1.0, 1.0, 3.0]), expected, "") == 0
    other = answer([4, 2, 9], [1.0, 1.0, 3.0 * (1 + 1e-7)])  # ties with the last
    assert search.largest_difference("x", other, expected, "") < 1e-6


@pytest.mark.parametrize(
    ("indices", "distances", "message"),
    [
        ([4, 7, 2], [1.0, 2.0, 3.0], "round 1, query 0: x has document 7 at rank 2"),
        ([4, 9, 7], [1.0, 2.0, 3.0], "x has document 9 at rank 2"),
        ([4, 2, 7], [1.0, 2.0, 3.1], "round 1: distances of x differ from distances of"),
        ([4, 2, 7], [1.0, np.nan, 3.0], "distances of x differ"),
    ],
)
def test_unequal_answers_stop_the_benchmark(indices, distances, message):
    expected = answer([4, 2, 7], [1.0, 2.0, 3.0])
    with pytest.raises(search.UnequalAnswersError, match=message):
        search.largest_difference("x", answer(indices, distances), expected, "news, round 1")


def test_ratios_use_the_common_queries():
    base = np.array([[1.0, 2.0], [3.0, 5.0]])
    slow = np.array([[10.0, np.nan], [np.nan, np.nan]])
    batch = np.array([[0.5], [2.0]])
    np.testing.assert_allclose(search.ratios(slow, base), [10])
    np.testing.assert_allclose(search.ratios(slow, batch), [20])
    np.testing.assert_allclose(search.ratios(base, batch), [3, 2])
    np.testing.assert_allclose(search.ratios(base, base), [1, 1])


# ---------------------------------------------------------------------- search


@pytest.fixture(scope="module")
def result_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmark") / "search.json"
    sizes = ["--documents", 40, "-k", 4, "--rounds", 2, "--single", 2, "--batch", 3]
    done = run_benchmark("search.py", "--quick", *sizes, "--workloads", "twit", "--out", path)
    assert done.returncode == 0, done.stderr
    assert "| twit (40 of " in done.stdout
    return path


def test_search_result_has_environment_and_settings(result_file):
    result = json.loads(result_file.read_text())
    assert result["command"] == (
        "python benchmarks/search.py --documents 40 -k 4 --rounds 2 --single 2 --batch 3 "
        "--workloads twit"
    )
    for key in ("date", "machine", "python", "numpy", "textkin", "commit", "instruction_set"):
        assert result[key]
    assert str(Path.home()) not in result_file.read_text()
    assert str(result_file.parent) not in result_file.read_text()


def test_installed_contenders_found_the_same(result_file):
    result = json.loads(result_file.read_text())
    peers = {"script": "ot", "gensim": "gensim"}
    missing = [name for name, module in peers.items() if not installed(module)]
    assert len(result["absent_peers"]) == len(missing)
    [workload] = result["workloads"]
    found = workload["contenders"]
    assert set(found) == set(contenders.MAKERS) - set(missing)
    for contender in found.values():
        assert contender["largest_relative_difference"] < 1e-6
        assert contender["milliseconds"]["median"] > 0
        assert set(contender["times_slower_than"]) == set(search.BASES)
    assert found["textkin"]["queries"] == 4
    assert found["textkin_batch"]["queries"] == 6
    assert found["textkin_brute"]["work_a_query"]["solved"] == 40
    assert found["textkin"]["times_slower_than"]["textkin"]["median"] == 1


def test_exhaustive_contenders_skip_large_collections(language, monkeypatch):
    monkeypatch.setattr(search, "MOST_FOR_SLOW", 10)
    monkeypatch.setattr(search, "Language", lambda: language)
    result = search.report(["twit"], 20, 2, 1, 1, 2)
    [workload] = result["workloads"]
    assert not set(workload["contenders"]) & set(contenders.SLOW)
    assert search_table.render(result).count("not tried") == len(contenders.SLOW)


def test_invalid_sizes_raise(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["search.py", "--documents", "5", "-k", "6"])
    with pytest.raises(SystemExit, match="2"):
        search.main()
    assert "-k must be at most --documents" in capsys.readouterr().err


def test_missing_peer_is_reported(result_file):
    result = json.loads(result_file.read_text())
    result["gensim"] = None
    result["workloads"][0]["contenders"].pop("gensim", None)
    shown = search_table.render(result)
    assert "not installed" in shown
    assert "gensim None" not in shown


def test_each_table_is_between_its_markers(result_file, tmp_path):
    page = tmp_path / "page.md"
    (begin, end), (other, _) = table.markers("search"), table.markers("benchmark")
    page.write_text(f"{other}\nkept\n{begin}\nold\n{end}\n")
    for _ in range(2):
        done = run_benchmark("table.py", "--result", result_file, "--write", page)
        assert done.returncode == 0, done.stderr
        lines = page.read_text().splitlines()
        assert lines[:3] == [other, "kept", begin]
        assert lines[-1] == end
        assert "old" not in lines
        assert sum(line.startswith("| twit (40 of ") for line in lines) == 1


def test_page_without_markers_raises(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n")
    done = run_benchmark("table.py", "--write", page)
    assert done.returncode != 0
    assert "must have the markers of a table" in done.stderr
    assert page.read_text() == "text\n"


@pytest.mark.parametrize(
    "page", ["README.md", "docs/performance.md", "docs/task-measurements.md"], ids=Path
)
def test_tables_of_pages_equal_the_stored_results(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    stored = [table.RESULTS / f"{kind}.json" for kind in table.TABLES]
    assert table.write(text, stored, all_of_them=False) == text


# ---------------------------------------------------------------------- scaling


def test_growth_is_measured_in_separate_processes(tmp_path, shared_data):
    path = tmp_path / "scaling.json"
    sizes = ["--sizes", 30, 50, "--queries", 4, "--single", 2, "-k", 3]
    done = run_benchmark("search_scaling.py", *sizes, "--collections", "brown", "--out", path)
    assert done.returncode == 0, done.stderr
    assert "| 50 | " in done.stdout
    result = json.loads(path.read_text())
    assert [one["documents"] for one in result["sizes"]] == [30, 50]
    for one in result["sizes"]:
        assert one["largest_relative_difference_from_brute"] < 1e-6
        assert 3 <= one["solved"]["mean"] <= one["documents"]
        assert one["megabytes"]["peak"] > 10
    assert str(tmp_path) not in path.read_text()


def test_all_queries_of_a_labeled_set_are_searched(shared_data, monkeypatch):
    monkeypatch.setattr(scaling, "PORTION", 4)
    few = search_workloads.classified_corpus("twitter", n_documents=40, n_queries=10)
    found = scaling.report_set(few, 5, 1)
    assert (found["documents"], found["queries"]) == (40, 10)
    assert found["total_seconds"] > 0
    assert 5 <= found["solved"]["mean"] <= 40
    assert list(found["error_of_vote_percent"]) == ["1", "3", "5"]
    assert "exact top-5" in scaling.set_summary({"k": 5, **found})


def test_tied_vote_goes_to_the_nearest_class():
    labels = np.array(["a", "b", "b", "a", "c"])
    found = np.array([[4, 0, 1], [0, 1, 2], [3, -1, -1], [-1, -1, -1]])
    right = np.array(["c", "b", "a", "a"])
    assert scaling.error_of_vote(labels, found, right) == 0.25  # an unanswered query is wrong
