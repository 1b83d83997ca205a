"""Benchmarks run, compare answers, and write reports. Nothing is timed here."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support import ROOT, load_script, run_benchmark
from textkin import _core

BENCHMARKS = ROOT / "benchmarks"
N_PAIRS, ROUNDS = 6, 2


workloads, contenders, pairs, table, instructions = (
    load_script(f"benchmarks/{name}.py")
    for name in ("workloads", "contenders", "pairs", "table", "instructions")
)

BEGIN, END = table.markers("benchmark")


@pytest.fixture(scope="module")
def language():
    return workloads.Language()


# ---------------------------------------------------------------------- workloads


def test_synthetic_words_have_distinct_unit_vectors(language):
    assert language.vectors.shape == (30_000, 300)
    assert language.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(language.vectors, axis=1), 1, atol=1e-6)
    spectrum = np.linalg.svd(language.vectors[:3000], compute_uv=False)
    assert spectrum[0] > 3 * spectrum[-1]


@pytest.mark.parametrize(("name", "mean"), [("news", 71), ("reut", 37), ("twit", 10)])
def test_documents_have_the_stated_numbers_of_different_words(name, mean):
    lengths = workloads.SYNTHETIC[name]
    drawn = lengths.draw(np.random.default_rng(1), 100_000)
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert drawn.min() >= 2
    assert drawn.max() <= lengths.longest


def test_synthetic_document_has_exactly_the_given_words(language):
    lengths = np.array([2, 3, 40, 500])
    bags = language.bags(np.random.default_rng(1), lengths)
    assert bags.shape == (4, 30_000)
    np.testing.assert_array_equal(np.diff(bags.indptr), lengths)
    assert bags.has_canonical_format
    assert bags.data.min() >= 1
    assert bags.data.max() > 1


def test_synthetic_pairs_are_reproducible(language):
    first = workloads.synthetic_pairs("twit", 20, language=language)
    again = workloads.synthetic_pairs("twit", 20)
    other = workloads.synthetic_pairs("twit", 20, seed=8, language=language)
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert (first.first != again.first).nnz == 0
    assert (first.second != again.second).nnz == 0
    assert (first.first != other.first).nnz > 0


def test_tokens_repeat_words_by_their_counts(language):
    found = workloads.synthetic_pairs("reut", 5, language=language)
    for tokens, (columns, counts) in zip(
        found.tokens(found.first), workloads.documents(found.first), strict=True
    ):
        assert len(tokens) == counts.sum()
        assert set(tokens) == {f"w{column}" for column in columns}


def test_real_pairs_are_bags_over_unit_vectors(shared_data):
    found = workloads.real_pairs("r8", 20)
    assert len(found) == 20
    assert found.unique_words().min() >= 1
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    again = workloads.real_pairs("r8", 20)
    assert (found.first != again.first).nnz == 0


def test_real_pairs_over_vectors_of_300_dimensions(shared_data):
    found = workloads.real_pairs("twitter-300d", 10)
    assert len(found) == 10
    assert found.vectors.shape[1] == 300
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)


def test_real_pairs_without_data_are_reported_as_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(workloads, "DATA", tmp_path)
    assert workloads.real_pairs("r8", 20) is None
    assert "r8 is skipped" in capsys.readouterr().err


# ---------------------------------------------------------------------- measuring


@pytest.fixture(scope="module")
def result_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmark") / "pairs.json"
    sizes = ["--pairs", N_PAIRS, "--rounds", ROUNDS, "--workloads", "reut", "twit"]
    done = subprocess.run(  # as users start it; other tests do not
        [sys.executable, BENCHMARKS / "pairs.py", "--quick", *map(str, sizes), "--out", path],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "| reut (synthetic" in done.stdout
    return path


def test_result_has_environment_and_settings(result_file):
    result = json.loads(result_file.read_text())
    assert result["command"] == (
        f"python benchmarks/pairs.py --pairs {N_PAIRS} --rounds {ROUNDS} --workloads reut twit"
    )
    for key in ("date", "machine", "python", "numpy", "scipy", "textkin", "commit"):
        assert result[key]
    assert result["instruction_set"]
    assert str(Path.home()) not in result_file.read_text()
    assert str(result_file.parent) not in result_file.read_text()


def test_installed_contenders_give_equal_answers(result_file):
    result = json.loads(result_file.read_text())
    modules = {"gensim": "gensim", "POT": "ot", "pyemd": "pyemd"}
    missing = [name for name, module in modules.items() if not importlib.util.find_spec(module)]
    assert result["absent_peers"] == missing
    assert [workload["name"] for workload in result["workloads"]] == ["reut", "twit"]
    for workload in result["workloads"]:
        assert workload["pairs"] == N_PAIRS
        assert workload["mean_pivots"] > 0
        assert set(modules) - set(missing) <= set(workload["contenders"])
        ours = {name for name in workload["contenders"] if name.startswith("textkin_")}
        assert ours >= set(contenders.TEXTKIN)
        assert len(ours) == len(contenders.TEXTKIN) + len(_core.instruction_sets()) - 1
        assert ("POT_solver" in workload["contenders"]) == ("POT" not in missing)
        assert workload["solver_alone"]["mean_pivots"] > 0
        assert workload["solver_alone"]["nanoseconds_a_pivot"] > 0
        for contender in workload["contenders"].values():
            assert contender["largest_relative_difference"] < 1e-6
            assert len(contender["rounds"]) == ROUNDS
            assert contender["microseconds"]["median"] > 0
        ours = workload["contenders"]["textkin_distance"]
        assert ours["times_slower_than"]["textkin_distance"]["median"] == 1


@pytest.mark.parametrize("wrong", [1.001, np.nan])
def test_unequal_answers_stop_the_benchmark(wrong):
    answers = {"textkin_distance": lambda: [1.0, 1.0], "other": lambda: [1.0, wrong]}
    with pytest.raises(pairs.UnequalAnswersError, match="news, pair 1: other gives"):
        pairs.differences(answers, "news")


def test_peer_that_cannot_be_imported_is_omitted(language, monkeypatch):
    for module in ("gensim.models", "ot", "pyemd"):
        monkeypatch.setitem(sys.modules, module, None)
    few = workloads.synthetic_pairs("twit", 3, language=language)
    forced = [f"textkin_batch_{name}" for name in _core.instruction_sets()[:-1]]
    assert list(contenders.prepare(few)) == [*contenders.TEXTKIN, *forced]


def test_contenders_take_turns_in_each_position():
    names = list("abcdef")
    orders = [pairs.turn(names, number) for number in range(12)]
    assert all(sorted(order) == names for order in orders)
    assert len({tuple(order) for order in orders}) >= 6


# ---------------------------------------------------------------------- table


def test_table_replaces_the_text_between_the_markers(result_file, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):  # a second run gives the same page
        done = run_benchmark("table.py", "--result", result_file, "--write", page)
        assert done.returncode == 0, done.stderr
        lines = page.read_text().splitlines()
        assert lines[:2] == ["before", BEGIN]
        assert lines[-2:] == [END, "after"]
        assert "old" not in lines
        assert sum(line.startswith("| twit (synthetic, ") for line in lines) == 1
        assert "ratio to textkin's `distance`" in page.read_text()


@pytest.mark.parametrize("text", ["no markers", f"{BEGIN}\n", f"{END}\n{BEGIN}\n"])
def test_page_without_both_markers_raises_and_is_unchanged(result_file, tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    done = run_benchmark("table.py", "--result", result_file, "--write", page)
    assert done.returncode != 0
    assert "must have one line <!-- benchmark: begin -->" in done.stderr
    assert page.read_text() == text


def test_missing_peer_is_reported(result_file):
    result = json.loads(result_file.read_text())
    result["pyemd"] = None
    for workload in result["workloads"]:
        workload["contenders"].pop("pyemd", None)
    shown = table.render(result)
    assert "not installed" in shown
    assert "pyemd None" not in shown


# ---------------------------------------------------------------------- vector loading


def test_loading_is_measured_with_equal_answers(tmp_path):
    path = tmp_path / "loading.json"
    sizes = ["--quick", "--words", 300, "--dimension", 20, "--out", path]
    done = run_benchmark("vector_loading.py", *sizes)
    assert done.returncode == 0, done.stderr
    assert "| textkin, GloVe text, one thread |" in done.stdout
    result = json.loads(path.read_text())
    assert result["command"].endswith("--words 300 --dimension 20 --rounds 1")
    assert str(tmp_path) not in path.read_text()
    gensim = importlib.util.find_spec("gensim") is not None
    assert len(result["contenders"]) == (8 if gensim else 6)
    assert result["absent_peers"] == ([] if gensim else ["gensim"])
    for contender in result["contenders"].values():
        assert contender["seconds"]["median"] > 0
        assert contender["peak_megabytes"] > 10


# ---------------------------------------------------------------------- instructions

PROFILE = """events: Ir
fn=(1) textkin::Simplex<int>::climb(int, int)
12 30
+1 10
fn=(2) void textkin::Simplex<int, Small<4ul> >::pivot<4ul>(textkin::Simplex<int>::Candidate const&)
20 5
cfn=(1)
calls=2 12
* 40
-3 7
fn=(3) textkin::(anonymous namespace)::row_minima(int const*, unsigned long)
1 8
"""


def test_instructions_are_counted_for_the_function_only():
    counts = instructions.own_counts(PROFILE)
    found = {instructions.stem(name): count for name, count in counts.items()}
    assert found == {"climb": 40, "pivot": 12, "row_minima": 8}


def test_additional_instructions_are_reported(capsys):
    stored = {"news": {"avx2": {"thousands_a_pair": 100.0}}}
    same = {"news": {"avx2": {"thousands_a_pair": 101.0}}, "reut": {"avx2": {}}}
    more = {"news": {"avx2": {"thousands_a_pair": 103.0}}}
    assert instructions.compare(same, stored) == 0
    assert "WORSE" not in capsys.readouterr().out
    assert instructions.compare(more, stored) == 1
    assert "WORSE" in capsys.readouterr().out


def test_additional_instructions_of_a_search_are_reported(capsys):
    stored = {"search": {"avx2": {"thousands_a_query": 100.0}}}
    assert instructions.compare({"search": {"avx2": {"thousands_a_query": 101.0}}}, stored) == 0
    assert instructions.compare({"search": {"avx2": {"thousands_a_query": 103.0}}}, stored) == 1
    assert "WORSE" in capsys.readouterr().out


def test_instructions_of_other_compilers_are_not_compared():
    stored = {"pairs": 30, "compiler": "g++ 12"}
    assert instructions.why_incomparable(stored, 30, "g++ 12") is None
    assert "'g++ 12', not 'g++ 13'" in instructions.why_incomparable(stored, 30, "g++ 13")
    assert "--pairs 30, not 5" in instructions.why_incomparable(stored, 5, "g++ 12")
    assert "None" in instructions.why_incomparable({"pairs": 30}, 30, "g++ 12")


@pytest.mark.parametrize(
    ("counted", "header"),
    [
        (instructions.COUNTED, "search/batch.h"),
        (instructions.SEARCHES["search"], "search/search.h"),
        (instructions.SEARCHES["ranking"], "ranking/term_search.h"),
    ],
)
def test_counted_function_exists(counted, header):
    scope, name = counted.rstrip("*").rsplit("::", 1)
    namespace, *class_ = re.split("::(?=[A-Z])", scope)
    text = (ROOT / "src" / "core" / header).read_text()
    assert f"namespace {namespace} {{" in text
    assert re.search(rf"\w+ {name}\(", text)
    assert not class_ or f"class {class_[0]} {{" in text


def test_stored_guard_includes_both_searches():
    stored = json.loads((BENCHMARKS / "results" / "instructions-guard.json").read_text())
    assert set(instructions.SEARCHES) < set(stored["workloads"])
    for workload in instructions.SEARCHES:
        sets = stored["workloads"][workload]
        assert 0 < sets["avx2"]["thousands_a_query"] <= sets["baseline"]["thousands_a_query"]


def test_stored_instructions_include_every_workload():
    stored = json.loads((BENCHMARKS / "results" / "instructions.json").read_text())
    assert list(stored["workloads"]) == list(instructions.WORKLOADS)
    for sets in stored["workloads"].values():
        assert sets["avx2"]["thousands_a_pair"] < sets["baseline"]["thousands_a_pair"]


# ---------------------------------------------------------------------- counting


def test_counting_is_measured_with_equal_counts(tmp_path, shared_data, monkeypatch):
    counting = load_script("benchmarks/counting.py")
    path = tmp_path / "counting.json"
    monkeypatch.setattr(sys, "argv", ["counting.py", "--quick", "--out", str(path)])
    counting.main()
    report = json.loads(path.read_text(encoding="utf-8"))
    assert set(report["sets"]) == set(counting.SETS)
    for found in report["sets"].values():
        assert set(found["median_ratio"]) == set(counting.RATIOS)
        assert min(found["median_seconds"].values()) > 0
        assert found["tokens"] > found["words"] > 100


def test_unequal_counts_stop_the_run(monkeypatch):
    counting = load_script("benchmarks/counting.py")
    monkeypatch.setitem(counting.CONTENDERS, "counts", lambda: counting.BagOfWords("smart"))
    with pytest.raises(SystemExit, match="counts: words differ from scikit-learn's"):
        counting.check_equal(["the press", "the media"])


def test_python_edit_distance_is_correct():
    peers = load_script("benchmarks/distances.py")
    assert peers.long_integer_edits(list(b"kitten"), list(b"sitting")) == 3
    assert set(peers.cases(quick=True)) >= {"sparse L1", "dense L2"}
