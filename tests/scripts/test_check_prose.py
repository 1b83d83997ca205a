"""Check of the prose: forbidden phrases in texts, and what does not count as prose."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def prose():
    spec = importlib.util.spec_from_file_location(
        "check_prose", ROOT / "scripts" / "check_prose.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("a.py", '"""Return what nobody knows."""\n', [(1, "nobody"), (1, "nobody knows")]),
        ("a.py", "x = 1\n# A dear call,\n# for nothing.\n", [(2, "dear"), (3, "for nothing")]),
        ("a.py", 'raise ValueError(f"{x} is refused as {y}")\n', [(1, "refused")]),
        ("a.py", '"""One line.\n\nThe colour\nof it.\n"""\n', [(3, "colour")]),
        ("a.md", "# Title\n\nThe normalised neighbours.\n", [(3, "neighbours"), (3, "normalised")]),
        ("a.md", "It lasts for\never; for  ever is here.\n", [(2, "for ever")]),
        ("a.cpp", "int x; // learnt\n/* one\n   centre */\n", [(1, "learnt"), (3, "centre")]),
        (
            "a.js",
            'const x = 1; // beside\nsay("This cannot be asked");\n',
            [(1, "beside"), (2, "cannot be asked")],
        ),
        ("a.html", '<p title="a grey bar">\n', [(1, "grey")]),
    ],
)
def test_forbidden_phrase_is_found_with_its_line(prose, path, source, found):
    hits = prose.hits_in(path, source)
    assert [(hit.line, hit.found) for hit in hits] == found
    assert all(hit.path == path and hit.instead for hit in hits)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "neighbours = colour[learnt]\n"),  # names
        ("a.py", 'x = "catalogue"\n'),  # a key without a space
        ("a.py", '"""Read ``the colour`` of `grey`.\n\n>>> learnt(for_nothing)\n"""\n'),
        ("a.py", '"""Read.\n\n    colour, grey : str\n        Name.\n"""\n'),
        ("a.py", 'f"The file is {neighbours} in catalogue.sqlite"\n'),
        ("a.md", "Text\n\n```python\nlearnt colour\n```\n\n    grey code\n\n`colour`\n"),
        ("a.md", "See [page](grey-page.md#learnt) <!-- colour --> https://x.org/favour\n"),
        ("a.cpp", 'auto colour = "grey";\n'),
        ("a.json", '{"colour": "learnt for nothing"}'),
        ("a.md", "Exercise, advertising, promises, surprises, and revised sizes.\n"),
        ("a.md", "The analysis of modeling, canceling, centers, and the gray catalog.\n"),
    ],
)
def test_code_and_standard_words_pass(prose, path, source):
    assert prose.hits_in(path, source) == []


def test_folder_with_more_phrases_than_allowed_fails(prose):
    hits = [prose.Hit(f"{folder}/a.py", 1, "x", "y") for folder in ("old", "old", "new")]
    assert prose.excess(hits, {"old": 2}) == hits[2:]
    assert prose.excess(hits, {"old": 1}) == hits
    assert prose.excess(hits[:2], {"old": 2}) == []


def test_untracked_files_are_not_read(prose, tmp_path, capsys):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "new.md").write_text("A grey page.\n")
    assert prose.main(tmp_path) == 0
    subprocess.run(["git", "add", "new.md"], cwd=tmp_path, check=True)
    assert prose.main(tmp_path) == 1
    assert capsys.readouterr().out == "new.md:1: 'grey'; write: gray\n"


def test_texts_of_this_repository_pass(prose, capsys):
    assert prose.main() == 0, capsys.readouterr().out
