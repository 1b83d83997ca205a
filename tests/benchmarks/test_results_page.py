"""The page of results is what the kept results give, and pages quote these as they are."""

import importlib.util
from pathlib import Path

import pytest

from textkin.evaluate import experiment, experiment_names, write_page
from textkin.evaluate._results import Results

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


def test_every_experiment_was_measured_in_full():
    for name in experiment_names():
        results = Results.load(KEPT / f"{name}.json")
        assert not results.quick
        assert [cell.missing for cell in results.cells if cell.missing] == []
        assert set(results.datasets) == set(experiment(name).datasets)
        wanted = {n for n, method in experiment(name).methods.items() if not method.optional}
        assert wanted <= set(results.methods), name


def test_the_page_is_made_of_the_kept_results(tmp_path):
    many = [(experiment(n), Results.load(KEPT / f"{n}.json")) for n in experiment_names()]
    page, *figures = write_page(many, tmp_path / "results.md")
    assert page.read_text() == (ROOT / "docs" / "results.md").read_text()
    names = {figure.name for figure in figures}
    assert names == {path.name for path in (ROOT / "docs" / "results").iterdir()}
    for figure in figures:
        assert figure.read_text() == (ROOT / "docs" / "results" / figure.name).read_text()


def test_pages_quote_results_as_they_are(quotes):
    results = quotes.read()
    quoted = 0
    for page in quotes.pages():
        text = page.read_text()
        quoted += len(quotes.QUOTE.findall(text))
        assert quotes.quoted(text, results) == text, f"{page.name}: python scripts/quote_results.py"
        stray = text.count("~ error -->") + text.count("~ map -->")
        assert stray <= len(quotes.QUOTE.findall(text)), f"{page.name}: a quote is not understood"
    assert quoted > 0


def test_a_quote_is_renewed(quotes):
    cells = [
        {"method": "WMD", "dataset": "r8", "values": {"error": 3.0, "by": {"a": 0.5}}},
        {"method": "WMD", "dataset": "r8", "values": {"error": 4.0, "by": {"a": 0.7}}},
        {"method": "WMD", "dataset": "r8", "values": None},
    ]
    results = {"knn": cells}
    assert quotes.quoted("9.00<!-- knn ~ WMD ~ r8 ~ error -->", results).startswith("3.50<!--")
    assert quotes.quoted("?<!-- knn ~ WMD ~ r8 ~ 100 * by.a -->", results).startswith("60.0<!--")
    assert quotes.quoted(".1<!-- knn ~ WMD ~ r8 ~ by.a -->", results).startswith(".6<!--")
    with pytest.raises(ValueError, match="no cell of 'RWMD'"):
        quotes.quoted("1<!-- knn ~ RWMD ~ r8 ~ error -->", results)
    with pytest.raises(ValueError, match="no results of 'sts'"):
        quotes.quoted("1<!-- sts ~ WMD ~ r8 ~ error -->", results)
