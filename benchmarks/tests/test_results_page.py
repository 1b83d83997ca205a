"""Results page: generated from stored results, which other pages quote unchanged."""

import importlib.util
from pathlib import Path

import pytest

from papers.experiments import experiment, experiment_names
from papers.report import write_page
from papers.results import Results

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "experiments"


@pytest.fixture(scope="module")
def quotes():
    spec = importlib.util.spec_from_file_location(
        "quote_results", ROOT / "scripts" / "quote_results.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_experiment_was_measured_completely():
    for name in experiment_names():
        results = Results.load(KEPT / f"{name}.json")
        assert not results.quick
        assert [cell.missing for cell in results.cells if cell.missing] == []
        assert set(results.datasets) == set(experiment(name).datasets)
        wanted = {n for n, method in experiment(name).methods.items() if not method.optional}
        assert wanted <= set(results.methods), name


def test_pages_match_the_stored_results(tmp_path):
    many = [(experiment(n), Results.load(KEPT / f"{n}.json")) for n in experiment_names()]
    page, *others = write_page(many, tmp_path / "results.md")
    assert page.read_text() == (ROOT / "docs" / "results.md").read_text()
    names = {other.name for other in others}
    assert names == {path.name for path in (ROOT / "docs" / "results").iterdir()}
    for other in others:
        assert other.read_text() == (ROOT / "docs" / "results" / other.name).read_text()


def test_pages_quote_stored_results(quotes):
    results = quotes.read()
    quoted = 0
    for page in quotes.pages():
        text = page.read_text()
        quoted += len(quotes.QUOTE.findall(text))
        assert quotes.updated(text, results) == text, (
            f"{page.name}: python scripts/quote_results.py"
        )
        assert quotes.unread(text) == [], page.name
    assert quoted > 0


def test_quote_is_updated(quotes):
    cells = [
        {"method": "WMD", "dataset": "r8", "values": {"error": 3.0, "by": {"a": 0.5}}},
        {"method": "WMD", "dataset": "r8", "values": {"error": 4.0, "by": {"a": 0.7}}},
        {"method": "WMD", "dataset": "r8", "values": None},
    ]
    results = {"knn": cells}
    assert quotes.quoted("9.00<!-- knn ~ WMD ~ r8 ~ error -->", results).startswith("3.50<!--")
    assert quotes.quoted("?<!-- knn ~ WMD ~ r8 ~ 100 * by.a -->", results).startswith("60.0<!--")
    assert quotes.quoted(".1<!-- knn ~ WMD ~ r8 ~ by.a -->", results).startswith(".6<!--")
    bold = "**9.0**<!-- knn ~ WMD ~ r8 ~ error -->"
    assert quotes.quoted(bold, results) == bold.replace("9.0", "3.5")
    with pytest.raises(ValueError, match="no cell of 'RWMD'"):
        quotes.quoted("1<!-- knn ~ RWMD ~ r8 ~ error -->", results)
    with pytest.raises(ValueError, match="no results of 'sts'"):
        quotes.quoted("1<!-- sts ~ WMD ~ r8 ~ error -->", results)


def test_quote_of_a_benchmark_is_updated(quotes, tmp_path):
    (tmp_path / "speed.json").write_text('{"rows": [{"r8, tf-idf": {"share": 0.123}}]}')
    page = "9.0<!-- speed.json ~ 100 * rows / 0 / r8, tf-idf / share -->"
    assert quotes.quoted_benchmarks(page, tmp_path).startswith("12.3<!--")
    with pytest.raises(ValueError, match=r"no number 'rows / 1' in speed\.json"):
        quotes.quoted_benchmarks("1<!-- speed.json ~ rows / 1 -->", tmp_path)
    with pytest.raises(ValueError, match=r"in slow\.json"):
        quotes.quoted_benchmarks("1<!-- slow.json ~ rows -->", tmp_path)


def test_pages_have_the_stamp_of_every_quoted_benchmark(quotes):
    missing = {page.name: quotes.unstamped(page.read_text()) for page in quotes.pages()}
    assert {name: files for name, files in missing.items() if files} == {}


def test_stamp_is_updated(quotes, tmp_path):
    run = '{"commit": "0123456789ab", "date": "2026-11-15 10:00 UTC"}'
    dirty = '{"commit": "abcdef012345-dirty", "date": "2026-11-16 10:00 UTC"}'
    (tmp_path / "speed.json").write_text(f'{{"parts": [{run}, {dirty}], "rate": 7}}')
    page = "?<!-- speed.json ~ parts / 0 / stamp --> 1<!-- speed.json ~ rate -->"
    page = quotes.stamped(page, tmp_path)
    assert page.startswith("commit 0123456, 2026-11-15<!-- speed.json ~ parts / 0 / stamp -->")
    assert quotes.quoted_benchmarks(page, tmp_path) == page.replace(" 1<!--", " 7<!--")
    moved = quotes.stamped(page.replace("parts / 0", "parts / 1"), tmp_path)
    assert moved.startswith("commit abcdef0 with changes, 2026-11-16<!--")
    with pytest.raises(ValueError, match=r"'stamp' in speed\.json"):
        quotes.stamped("?<!-- speed.json ~ stamp -->", tmp_path)


def test_unread_quote_is_reported(quotes):
    assert quotes.unread("1<!-- knn ~ WMD ~ r8 ~ error --> 2<!-- a.json ~ b --><!-- note -->") == []
    assert quotes.unread("1<!-- a.json ~ b --> one<!-- a.json ~ b -->") == ["<!-- a.json ~ b -->"]


def test_quote_without_a_stamp_is_reported(quotes, tmp_path):
    (tmp_path / "speed.json").write_text('{"commit": "0", "date": "", "rate": 7}')
    (tmp_path / "bare.json").write_text('{"rate": 7}')
    page = "7<!-- speed.json ~ rate --> 7<!-- bare.json ~ rate -->"
    assert quotes.unstamped(page, tmp_path) == ["speed.json"]
    assert quotes.unstamped(page + "?<!-- speed.json ~ stamp -->", tmp_path) == []
