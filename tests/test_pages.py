"""Tests of the examples in pages: each block runs and prints the shown output, or has a reason."""

import difflib

import pytest

from support import load_script

run_pages = load_script("scripts/run_pages.py")


@pytest.mark.parametrize("page", run_pages.pages(), ids=lambda page: page.name)
def test_each_block_runs_or_has_a_reason(page):
    assert run_pages.unchecked_blocks(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("    textkin demo\n", "    textkin demo"),
        ("```\nx = 1\n```\n", "```"),
        ("```text\nan output without code\n```\n", "```text"),
        ("- a list\n\n  ```json\n  {}\n  ```\n", "  ```json"),
        ("```sh\ntextkin demo\nmake test\n```\n", "make test"),
        ("```console\n$ ls\nmails\n```\n", "$ ls"),
        ("<!-- not run: no time -->\n\n```python\nx\n```\n", "not run: no time"),
    ],
)
def test_block_without_reason_is_found(block, line):
    page = f"# Page\n\n```python\nx = 2\n```\n\nText.\n\n{block}\nText.\n"
    assert run_pages.unchecked_blocks(page) == [line]


def test_block_with_reason_is_accepted():
    page = "# Page\n\n<!-- not run: GPU -->\n\n```python\nraise SystemExit\n```\n"
    assert run_pages.unchecked_blocks(page) == []
    assert run_pages.updated(page, "page.md") == page


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


def test_commands_of_a_script_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (
        "Save this as `a.txt`:\n\n```text\nCats purr\n```\n\n"
        "```sh\ntextkin index add a.kin a.txt   # a comment\n```\n"
    )
    assert run_pages.updated(page, "page.md") == page
    assert (tmp_path / "a.kin").is_dir()
    with pytest.raises(ValueError, match="exit status"):
        run_pages.updated("```sh\ntextkin search none.kin dogs\n```\n", "page.md")


def test_setup_defines_names():
    page = "<!-- setup\nx = 2\n-->\n\n```python\nprint(x)\n```\n\n```text\nold\n```\n"
    assert run_pages.updated(page, "page.md") == page.replace("old", "2")


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
