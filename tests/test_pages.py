"""Tests of the Python examples in pages: they run and print the shown output."""

import difflib

import pytest

from support import load_script

run_pages = load_script("scripts/run_pages.py")


@pytest.mark.parametrize("page", run_pages.pages(), ids=lambda page: page.name)
def test_examples_print_the_shown_output(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = page.read_text(encoding="utf-8")
    if missing := run_pages.missing_packages(text):
        pytest.skip(f"the page needs {', '.join(missing)}")
    new = run_pages.updated(text, page.name)
    assert run_pages.changed_figures(new, page) == {}, "python scripts/run_pages.py --write"
    difference = difflib.unified_diff(text.splitlines(), new.splitlines(), lineterm="", n=0)
    assert new == text, "\n".join(["python scripts/run_pages.py --write:", *difference])


def test_output_without_a_block_raises():
    with pytest.raises(ValueError, match="prints '3"):
        run_pages.updated("```python\nprint(1 + 2)\n```\n", "page.md")


def test_output_is_inserted():
    page = "```python\nx = 2\n```\n\n```python\nprint(x)\n```\n\n```text\nold\n```\n"
    assert run_pages.updated(page, "page.md") == page.replace("old", "2")


def test_command_output_is_inserted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    page = "```console\n$ textkin --version\nold\n```\n"
    assert "$ textkin --version\ntextkin " in run_pages.updated(page, "page.md")


def test_failed_command_raises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="exit status"):
        run_pages.updated("```console\n$ textkin search none.kin dogs\n```\n", "page.md")


def test_changed_figure_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "docs" / "page.md"
    (page.parent / "images").mkdir(parents=True)
    (page.parent / "images" / "a.svg").write_text("old")
    text = "![A figure](images/a.svg)"
    assert run_pages.changed_figures(text, page) == {}
    (tmp_path / "a.svg").write_text("new")
    assert list(run_pages.changed_figures(text, page)) == [page.parent / "images" / "a.svg"]


def test_missing_packages_are_named():
    assert run_pages.missing_packages("<!-- needs: numpy no_such_package -->\n") == [
        "no_such_package"
    ]
