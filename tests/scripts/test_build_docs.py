"""Tests of the script that builds the site, and of the notebooks."""

import json

import pytest

from support import ROOT, load_script

build_docs = load_script("scripts/build_docs.py")
write_notebooks = load_script("scripts/write_notebooks.py")


def staged(text, page="docs/store.md"):
    return build_docs.with_staged_links(text, ROOT / page)


@pytest.fixture(autouse=True)
def stage(tmp_path, monkeypatch):
    monkeypatch.setattr(build_docs, "STAGED", tmp_path)


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("docs/store.md", "[a](web.md#options)", "[a](web.md#options)"),
        ("docs/store.md", "[a](../README.md)", "[a](index.rst)"),
        ("docs/store.md", "[a](../examples/index.py)", "[a](examples/index.md)"),
        ("docs/tutorials/first-steps.md", "[a](../install.md)", "[a](../install.md)"),
        ("CHANGELOG.md", "[a](docs/store.md)", "[a](store.md)"),
        ("benchmarks/README.md", "[a](../docs/web.md)", "[a](web.md)"),
        ("docs/store.md", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
    ],
    ids=["page", "readme", "example", "folder", "top", "benchmarks", "web"],
)
def test_links_lead_to_staged_pages(page, link, expected):
    assert staged(link, page) == expected


def test_linked_file_is_copied(tmp_path):
    assert staged("[a](../LICENSE)") == "[a](files/LICENSE.txt)"
    assert (tmp_path / "files/LICENSE.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_command_page_has_every_option(tmp_path):
    build_docs.write_command_page()
    page = (tmp_path / "commands.md").read_text()
    assert "### textkin index" in page
    assert "`--word-weights <nbow\\|sif>`" in page


def test_http_page_has_every_route(tmp_path):
    build_docs.write_http_page()
    page = (tmp_path / "http-api.md").read_text()
    assert "### POST /api/search" in page
    assert "Body: [SearchBody](#searchbody)." in page


def test_api_pages_have_public_names_once(tmp_path):
    build_docs.write_api_pages()
    pages = {path.stem: path.read_text().splitlines() for path in (tmp_path / "api").glob("*.rst")}
    assert "   WordMover" in pages["textkin"]
    assert "   WordMover" not in pages["textkin.transport"]
    assert "   optimal_transport" in pages["textkin.transport"]


def test_notebooks_are_in_step_with_tutorials():
    pages = sorted(write_notebooks.TUTORIALS.glob("*.md"))
    assert pages
    for page in pages:
        stored = page.with_suffix(".ipynb").read_text(encoding="utf-8")
        new = write_notebooks.notebook(page.read_text(encoding="utf-8"))
        assert stored == new, "run python scripts/write_notebooks.py"


def test_notebook_has_cells_of_text_code_and_commands():
    page = "# T\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nEnd.\n\n"
    page += "```console\n$ textkin x\nout\n```\n"
    cells = json.loads(write_notebooks.notebook(page))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown", "code"]
    assert cells[1]["outputs"][0]["text"] == ["1\n"]
    assert cells[3]["source"] == ["!textkin x"]
    assert cells[3]["outputs"][0]["text"] == ["out\n"]
