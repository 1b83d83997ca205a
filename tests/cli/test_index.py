"""``textkin index`` from the user's view."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from datetime import datetime
from decimal import Decimal

import numpy as np
import pytest

from textkin import Index
from textkin.cli import main
from textkin.exceptions import IndexWarning


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Create a folder of documents and a file of records in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "a.txt").write_text("Cats purr.\n")
    (tmp_path / "docs" / "sub" / "b.md").write_text("Dogs bark at cats.\n")
    (tmp_path / "records.jsonl").write_text(
        '{"id": "r1", "text": "Stocks fell.", "label": "money", "year": 2020}\n'
        '{"id": "r2", "text": "Rain fell.", "label": "weather"}\n'
    )
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command that must succeed, and return its output."""

    def run(*arguments, code=0):
        assert main(["index", *arguments]) == code
        return capsys.readouterr().out

    return run


def ids(path="p.kin"):
    with Index.open(path) as index:
        return index.ids


def test_adding_a_folder_again_adds_only_changes(run, here, capsys):
    assert main(["index", "add", "p.kin", "docs"]) == 0
    said = capsys.readouterr()
    assert said.out == "2 added; p.kin has 2 documents\n"
    assert said.err == "textkin: note: p.kin did not exist; created it with default settings.\n"
    assert run("add", "p.kin", "docs") == "2 unchanged; p.kin has 2 documents\n"
    (here / "docs" / "a.txt").write_text("Cats sleep.\n")
    assert run("add", "p.kin", "docs") == "1 updated, 1 unchanged; p.kin has 2 documents\n"
    assert ids() == ["sub/b.md", "a.txt"]


def test_mirror_deletes_missing_documents(run, here):
    run("add", "p.kin", "docs", "records.jsonl")
    (here / "docs" / "a.txt").unlink()
    told = run("add", "p.kin", "docs", "records.jsonl", "--mirror")
    assert told == "3 unchanged, 1 deleted; p.kin has 3 documents\n"
    assert run("add", "p.kin", "docs", "--mirror", "--json")
    assert ids() == ["sub/b.md"]


def test_mirror_of_unreadable_source_deletes_nothing(run, here, capsys):
    run("add", "p.kin", "docs")
    (here / "broken.jsonl").write_text('{"id": "x", "text": "fine"}\n{"id"\n')
    assert main(["index", "add", "p.kin", "broken.jsonl", "--mirror"]) == 2
    assert "broken.jsonl, line 2: is not valid JSON" in capsys.readouterr().err
    assert ids() == ["a.txt", "sub/b.md"]


def test_add_as_json(run, here):
    (here / "records.jsonl").write_text('{"id": "r1", "body": "x"}\n{"id": "r2", "body": 2}\n')
    found = json.loads(
        run("add", "p.kin", "records.jsonl", "--text", "body", "--skip-errors", "--json")
    )
    [reason] = found["skipped"].pop("reasons")
    assert reason.startswith("records.jsonl, line 2: the text (field 'body') must be a string")
    assert found == {
        "index": "p.kin",
        "created": True,
        "added": 1,
        "updated": 0,
        "unchanged": 0,
        "deleted": 0,
        "documents": 1,
        "skipped": {"count": 1, "hidden": 0},
    }


def test_skipped_records_are_reported(run, here, capsys):
    lines = [f'{{"id": "{number}", "text": {number}}}\n' for number in range(5)]
    (here / "many.jsonl").write_text("".join(lines) + '{"id": "good", "text": "x"}\n')
    assert main(["index", "add", "p.kin", "many.jsonl", "--skip-errors"]) == 0
    said = capsys.readouterr()
    assert said.out == "1 added; p.kin has 1 document\n"
    told = said.err.splitlines()[-1]
    assert told.startswith("textkin: note: skipped 5: many.jsonl, line 1: the text")
    assert told.endswith("; and 2 more")


@pytest.mark.parametrize("folder", [False, True])
def test_failed_add_leaves_no_index(run, here, capsys, folder):
    (here / "posts.csv").write_text("id,title,body,date\n1,Cats,They purr,2020\n")
    if folder:
        (here / "p.kin").mkdir()
    run("add", "p.kin", "docs", "posts.csv", code=2)
    said = capsys.readouterr()  # of nothing: `run` has read the output
    assert said.err == ""
    assert (here / "p.kin").exists() == folder
    run("add", "p.kin", "docs")
    run("add", "p.kin", "posts.csv", code=2)
    assert len(ids()) == 2


def test_unreadable_file_among_several_can_be_skipped(run, here, capsys):
    (here / "bad.txt").write_bytes(b"\xff\xfe\x00")
    arguments = ["index", "add", "p.kin", "bad.txt", "docs", "--skip-errors"]
    assert main(arguments) == 0
    assert "skipped 1: bad.txt" in capsys.readouterr().err
    assert ids() == ["a.txt", "sub/b.md"]
    assert main(["index", "add", "q.kin", "bad.txt", "--skip-errors"]) == 2
    assert "all were skipped" in capsys.readouterr().err
    assert not (here / "q.kin").exists()


def test_same_id_in_two_sources_raises(run, here, capsys):
    (here / "other").mkdir()
    (here / "other" / "a.txt").write_text("Another one.\n")
    assert main(["index", "add", "p.kin", "docs", "other"]) == 2
    said = capsys.readouterr().err
    assert "other: the ID 'a.txt' must be unique; a document of docs has it too" in said
    assert "--skip-errors" in said
    assert main(["index", "add", "p.kin", "docs", "other", "--skip-errors"]) == 0
    assert "skipped 1: other: the ID 'a.txt' must be unique" in capsys.readouterr().err
    with Index.open("p.kin") as index:
        assert index["a.txt"].text == "Cats purr.\n"


def test_reading_options(run, here):
    (here / "t.csv").write_text('key;body;kind\n1;one "two;k\n')
    told = run(
        "add", "p.kin", "t.csv", "--text", "body", "--id", "key", "--label", "kind",
        "--delimiter", ";", "--unquoted", "--jobs", "1", "--timeout", "1", "--max-bytes", "99",
    )  # fmt: skip
    assert told == "1 added; p.kin has 1 document\n"
    with Index.open("p.kin") as index:
        assert index["1"].to_dict() == {"id": "1", "text": 'one "two', "label": "k"}
    run("add", "q.kin", "records.jsonl", "--no-id", "--no-label")
    with Index.open("q.kin") as index:
        assert index.ids == ["records.jsonl:1", "records.jsonl:2"]
        assert index["records.jsonl:2"].metadata == {"id": "r2", "label": "weather"}
    (here / "docs" / "c.txt").write_bytes("one\n\ntwo é\n".encode("latin-1"))
    run(
        "add", "r.kin", "docs", "records.jsonl",
        "--pattern", "*.txt", "--pattern", "c*", "--encoding", "latin-1", "--split", "paragraph",
    )  # fmt: skip
    assert ids("r.kin") == ["a.txt#1", "c.txt#1", "c.txt#2", "r1#1", "r2#1"]


def test_parquet_dates_become_texts(run, here):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    when = [datetime(2015, 7, 6, 12, 30), None]
    price = [Decimal("1.50"), Decimal("2.00")]
    table = pa.table({"id": ["a", "b"], "text": ["x", "y"], "when": when, "price": price})
    parquet.write_table(table, here / "t.parquet")
    run("add", "p.kin", "t.parquet")
    with Index.open("p.kin") as index:
        assert index["a"].metadata == {"when": "2015-07-06T12:30:00", "price": "1.50"}
        assert index["b"].metadata == {"when": None, "price": "2.00"}


def test_create_sets_text_settings(run, here, capsys):
    told = run("create", "p.kin", "--stop-words", "smart", "--keep-case", "--ngrams", "1-2")
    assert told == "created p.kin: case-sensitive, stop words: smart:1, sequences of 1 to 2 words\n"
    (here / "own.txt").write_text("the\nof\n")
    told = run("create", "q.kin", "--stop-words", "own.txt", "--ngrams", "2")
    assert told == "created q.kin: lower case, stop words: 2 custom words, sequences of 2 words\n"
    found = json.loads(run("create", "r.kin", "--normalizer", "wordnet", "--json"))
    assert (found["normalizer"], found["documents"], found["vectors"]) == ("wordnet", 0, "built-in")


def pets(here):
    """Write documents with a title and a body."""
    (here / "pets.jsonl").write_text(
        '{"id": "a", "title": "Cats purr", "body": "A tune"}\n'
        '{"id": "b", "title": null, "body": "Dogs bark at cats"}\n'
    )


def test_text_fields_of_a_new_index(run, here, capsys):
    pets(here)
    told = run("create", "p.kin", "--text", "title=3", "--text", "body")
    assert told.startswith("created p.kin: text fields title (weight 3) and body, lower case, ")
    assert run("add", "p.kin", "pets.jsonl") == "2 added; p.kin has 2 documents\n"
    again = ("add", "p.kin", "pets.jsonl", "--text", "body", "--text")
    assert run(*again, "title") == "2 unchanged; p.kin has 2 documents\n"
    assert run(*again, "title=3") == "2 unchanged; p.kin has 2 documents\n"
    assert "texts     text fields title (weight 3) and body, lower case" in run("info", "p.kin")
    assert json.loads(run("info", "p.kin", "--json"))["text_fields"] == {"title": 3, "body": 1}
    assert json.loads(run("get", "p.kin", "a", "--json")) == {
        "id": "a",
        "title": "Cats purr",
        "body": "A tune",
    }
    assert run("get", "p.kin", "a").endswith("\n\nCats purr\n\nA tune\n")
    (here / "copied.jsonl").write_text(run("list", "p.kin", "--json"))
    assert run("add", "p.kin", "copied.jsonl") == "2 unchanged; p.kin has 2 documents\n"


def test_several_text_options_index_every_field(run, here, capsys):
    pets(here)
    assert main(["index", "add", "p.kin", "pets.jsonl", "--text", "title", "--text", "body"]) == 0
    assert capsys.readouterr().err == (
        "textkin: note: p.kin did not exist; created it with default settings and the text fields "
        "title and body.\n"
    )
    with Index.open("p.kin") as index:
        assert index.info().text_fields == {"title": 1, "body": 1}
        assert index.search("purr").ids == index.search("tune").ids == ["a"]
        assert index["b"].fields == {"title": "", "body": "Dogs bark at cats"}
    assert main(["index", "add", "q.kin", "pets.jsonl", "--text", "body", "--text", "ttle=2"]) == 0
    assert "note: no document has a text in the field 'ttle'.\n" in capsys.readouterr().err
    run("add", "r.kin", "pets.jsonl", "--text", "body")  # one field: as metadata otherwise
    with Index.open("r.kin") as index:
        assert (index["a"].text, index["a"].metadata) == ("A tune", {"title": "Cats purr"})


def test_search_shows_the_fields_that_match(run, here, capsys):
    pets(here)
    run("add", "p.kin", "pets.jsonl", "--text", "title=3", "--text", "body")
    capsys.readouterr()
    assert main(["search", "p.kin", "cats"]) == 0
    assert [line.split("  ")[-1].strip() for line in capsys.readouterr().out.splitlines()] == [
        "a",
        "Cats purr",
        "Cats purr A tune",
        "matches: title 1",
        "b",
        "Dogs bark at cats",
        "matches: body 1",
    ]
    assert main(["search", "p.kin", "title:cats", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["id"], hit["fields"]) == ("a", {"title": 1})
    assert main(["search", "p.kin", "title:>=5"]) == 2
    assert "a word or phrase after the prefix of the text field 'title'" in capsys.readouterr().err


def test_other_commands_join_several_text_fields(here, capsys):
    (here / "pairs.csv").write_text("head,body\nCats,purr\nCats purr,\nCats,bark\n")
    assert main(["duplicates", "pairs.csv", "--text", "head", "--text", "body"]) == 0
    assert "1 group of duplicates" in capsys.readouterr().err
    assert main(["duplicates", "pairs.csv", "--text", "head", "--text", "tail"]) == 2
    assert "there is no field 'tail'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["title=2", "body"], "which has the text fields title (weight 3) and body; got title=2"),
        (["title"], "Omit --text, or create another index: textkin index create PATH --text title"),
        (["title", "body", "year"], "--text must agree with p.kin"),
        (["body", "body"], "--text must name each field once; got 'body' twice"),
        (["body=2.5", "title"], "--text must be FIELD, or FIELD=WEIGHT with an integer"),
        (["=2"], "--text must be FIELD, or FIELD=WEIGHT"),
        (["body=", "title"], "--text must be FIELD, or FIELD=WEIGHT"),
    ],
)
def test_text_options_must_agree_with_the_index(run, here, capsys, given, message):
    pets(here)
    run("create", "p.kin", "--text", "title=3", "--text", "body")
    options = [option for one in given for option in ("--text", one)]
    assert main(["index", "add", "p.kin", "pets.jsonl", *options]) == 2
    assert message in capsys.readouterr().err
    assert ids() == []


@pytest.mark.parametrize("given", [["title", "body"], ["body=3"], ["text=1", "body"]])
def test_plain_index_takes_one_text_option(run, here, capsys, given):
    pets(here)
    run("create", "p.kin")
    options = [option for one in given for option in ("--text", one)]
    assert main(["index", "add", "p.kin", "pets.jsonl", *options]) == 2
    assert (
        "--text must agree with p.kin, which was created without text fields; got "
        f"{', '.join(given)}. Pass one --text without a weight, or create another index: textkin "
        f"index create PATH {' '.join(options)}"
    ) in capsys.readouterr().err
    assert ids() == []


@pytest.mark.parametrize("weight", ["0", "1001"])
def test_weight_out_of_range_creates_no_index(run, here, capsys, weight):
    pets(here)
    for command in ("create", "p.kin"), ("add", "p.kin", "pets.jsonl"):
        assert main(["index", *command, "--text", f"body={weight}"]) == 2
        told = capsys.readouterr().err
        assert f"--text must be names with integer weights from 1 to 1,000; got {weight}" in told
    assert not (here / "p.kin").exists()


def test_files_without_the_text_fields_are_rejected(run, here, capsys):
    run("create", "p.kin", "--text", "title", "--text", "body")
    assert main(["index", "add", "p.kin", "docs"]) == 2
    told = capsys.readouterr().err
    assert "the document has one text, and the index has the text fields 'title' and 'body'" in told
    assert "read with --text title --text body" in told
    assert main(["index", "add", "p.kin", "records.jsonl"]) == 2
    assert "there is no field 'title' or 'body'" in capsys.readouterr().err


def test_create_with_a_language(run):
    pytest.importorskip("Stemmer")
    told = run("create", "p.kin", "--normalizer", "stem", "--language", "german")
    assert told == "created p.kin: lower case, stop words: none, stem german\n"


def test_create_with_lemma_language(run):
    pytest.importorskip("simplemma")
    found = json.loads(
        run("create", "p.kin", "--normalizer", "lemma", "--language", "de", "--json")
    )
    assert (found["normalizer"], found["language"]) == ("lemma", "de")


def test_create_with_custom_vectors(run, here):
    (here / "glove.txt").write_text("cat 1 0.5\ndog 0.2 0.9\n")
    run("create", "p.kin", "--vectors", "glove.txt")
    assert "vectors   own\n" in run("info", "p.kin")
    with Index.open("p.kin") as index:
        assert index.vectors.words == ("cat", "dog")


def test_info(run):
    run("add", "p.kin", "docs")
    told = run("info", "p.kin")
    assert "documents 2\nwords     6 in total, 5 distinct\n" in told
    assert "texts     lower case, stop words: none, language: en (rankings by words use " in told
    assert "use stems, without the words of the stop list 'search:1')\nvectors   built-in\n" in told
    found = json.loads(run("info", "p.kin", "--json"))
    assert (found["documents"], found["recent"], found["segments"]) == (2, 2, 0)


def test_get_and_list(run, here):
    run("add", "p.kin", "records.jsonl")
    assert run("get", "p.kin", "r1") == (
        "id        r1\nlabel     money\nyear      2020\n\nStocks fell.\n"
    )
    first = {"year": 2020, "id": "r1", "text": "Stocks fell.", "label": "money"}
    assert json.loads(run("get", "p.kin", "r1", "--json")) == first
    assert run("list", "p.kin") == "r1\nr2\n"
    lines = run("list", "p.kin", "--json")
    assert json.loads(lines.splitlines()[0]) == first
    (here / "again.jsonl").write_text(lines)
    assert run("add", "p.kin", "again.jsonl") == "2 unchanged; p.kin has 2 documents\n"
    assert run("create", "empty.kin")
    assert run("list", "empty.kin") == ""


def test_list_many_ids(run, here):
    (here / "many.jsonl").write_text("".join(f'{{"text": "{n}"}}\n' for n in range(2345)))
    run("add", "p.kin", "many.jsonl")
    assert run("list", "p.kin").splitlines() == [f"many.jsonl:{n}" for n in range(1, 2346)]


def test_documents_do_not_control_the_terminal(run, here, monkeypatch):
    (here / "evil.jsonl").write_text(json.dumps({"id": "e\x1b[2J", "text": "a\x1b[31m\r\tb\nc"}))
    run("add", "p.kin", "evil.jsonl")
    assert "\x1b" in run("list", "p.kin")  # a pipe gets the unchanged text
    monkeypatch.setattr("textkin.cli._output.sys.stdout.isatty", lambda: True, raising=False)
    for command in (["list", "p.kin"], ["get", "p.kin", "e\x1b[2J"]):
        told = run(*command)
        assert "\x1b" not in told
        assert "\r" not in told
    assert told.endswith(" \tb\nc\n")


def test_delete(run, monkeypatch, capsys):
    run("add", "p.kin", "docs", "records.jsonl")
    assert main(["index", "delete", "p.kin", "r1", "nothing"]) == 2
    said = capsys.readouterr().err
    assert said == (
        "textkin: no document has the ID 'nothing'; nothing was deleted. --ignore-missing skips "
        "such IDs.\n"
    )
    told = run("delete", "p.kin", "r1", "nothing", "--ignore-missing")
    assert told == "1 deleted; p.kin has 3 documents\n"
    lines = io.TextIOWrapper(io.BytesIO(b"a.txt\r\n\nsub/b.md\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", lines)
    found = json.loads(run("delete", "p.kin", "-", "--json"))
    assert found == {"index": "p.kin", "deleted": 2, "documents": 1}
    assert ids() == ["r2"]


def test_compact_and_copy(run, here):
    run("add", "p.kin", "docs")
    assert run("compact", "p.kin").startswith("compacted p.kin: ")
    assert json.loads(run("compact", "p.kin", "--json"))["bytes"] > 0
    assert run("copy", "p.kin", "q.kin").startswith("copied 2 documents, ")
    assert ids("q.kin") == ids()
    assert json.loads(run("copy", "p.kin", "r.kin", "--json"))["documents"] == 2


# ---------------------------------------------------------------------- corruption


@pytest.fixture
def segment(run, here):
    """Return the file of the only segment of an index."""
    run("add", "p.kin", "docs")
    run("compact", "p.kin")
    [path] = (here / "p.kin" / "segments").iterdir()
    return path


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_verify(run, segment, capsys):
    assert run("verify", "p.kin") == "intact: 2 documents, 1 segment\n"
    flip(segment, -1)
    assert main(["index", "verify", "p.kin"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith(f"corrupt: segments/{segment.name} has changed since it was written")
    assert said.err == (
        "textkin: p.kin is corrupt. No data is lost: textkin index verify --repair rebuilds the "
        "segments.\n"
    )
    found = json.loads(run("verify", "p.kin", "--json", code=1))
    assert (found["sound"], len(found["problems"]), found["repaired"]) == (False, 1, [])
    told = run("verify", "p.kin", "--repair").splitlines()
    assert told[0].startswith(f"repaired: segments/{segment.name}")
    assert told[1:] == ["intact: 2 documents, 1 segment"]
    assert json.loads(run("verify", "p.kin", "--json"))["sound"] is True


def test_unrepairable_corruption(run, segment, here, capsys):
    catalogue = here / "p.kin" / "catalogue.sqlite"
    data = catalogue.read_bytes()
    assert data.count(b"Cats purr.") == 1
    catalogue.write_bytes(data.replace(b"Cats purr.", b"Cats hiss."))
    assert main(["index", "verify", "p.kin", "--repair"]) == 1
    said = capsys.readouterr()
    assert "the document 'a.txt' has changed since it was added" in said.out
    assert "restore them from a backup" in said.err
    catalogue.write_bytes(b"nonsense" * 1000)
    assert main(["index", "info", "p.kin"]) == 2
    assert "is corrupt" in capsys.readouterr().err


def test_missing_segment_prints_note_not_python_warning(run, segment, capsys):
    segment.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error", IndexWarning)
        assert main(["index", "info", "p.kin"]) == 0
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("textkin: note: ")
    assert "p.kin/segments: missing or corrupt: 00000000.safetensors" in line
    assert line.endswith("no data is lost.")


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nothing"], "nothing is not an index: it has no catalogue.sqlite. Create one"),
        (["add", "docs", "records.jsonl"], "docs is not an index"),
        (["add", "p.kin", "nothing.txt"], "There is no file or folder 'nothing.txt'."),
        (["add", "p.kin"], "Missing argument"),
        (["add", "p.kin", "records.jsonl", "--text", "x"], "there is no field 'x'; there are"),
        (
            ["add", "p.kin", "records.jsonl", "--text", "x"],
            "such as --text body. Fix the document, or",
        ),
        (["add", "p.kin", "records.jsonl", "--pattern", "*"], "--pattern selects files"),
        (["add", "p.kin", "records.jsonl", "--id", "a", "--no-id"], "--id and --no-id must not"),
        (["add", "p.kin", "docs", "--pattern", "*.pdf"], "Pass another --pattern, such as"),
        (["add", "p.kin", "docs", "--encoding", "klingon"], "encoding"),
        (["add", "p.kin", "docs", "--jobs", "0"], "--jobs must be a number"),
        (["add", "p.kin", "docs", "--split", "word"], "'paragraph'"),
        (["create", "docs"], "docs exists already and is not overwritten"),
        (["create", "p.kin", "--stop-words", "smrt"], "must be a file or one of glasgow,"),
        (["create", "p.kin", "--ngrams", "2-1"], "or a range such as 1-3; got '2-1'"),
        (["create", "p.kin", "--ngrams", "two"], "--ngrams must be"),
        (["create", "p.kin", "--language", "xx"], "language must be the code or the name"),
        (
            ["create", "p.kin", "--language", "de", "--normalizer", "wordnet"],
            "language must be None with normalizer",
        ),
        (["create", "p.kin", "--vectors", "nothing"], "'nothing' does not exist."),
        (["get", "p.kin"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_invalid_input_prints_one_line_and_creates_nothing(here, capsys, arguments, message):
    assert main(["index", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line
    assert "errors=" not in line
    assert sorted(os.listdir()) == ["docs", "records.jsonl"]


def test_unknown_id_prints_one_line(run, capsys):
    run("create", "p.kin")
    assert main(["index", "get", "p.kin", "x"]) == 2
    assert capsys.readouterr().err == (
        "textkin: No document of p.kin has the ID 'x'. To list all IDs, run "
        "textkin index list p.kin.\n"
    )


def test_second_writer_gets_hint_about_timeout(run, capsys):
    run("create", "p.kin")
    with Index.open("p.kin") as index, index._session.writing():
        assert main(["index", "add", "p.kin", "docs", "--timeout", "0"]) == 2
    said = capsys.readouterr().err
    assert f"p.kin is being written by process {os.getpid()}" in said
    assert "open it with a longer --timeout" in said


def test_error_reports_kept_documents(run, here, monkeypatch, capsys):
    monkeypatch.setattr("textkin.index.store._ingest._BATCH_DOCUMENTS", 2)
    lines = [f'{{"id": "{number}", "text": "x"}}\n' for number in range(5)]
    (here / "five.jsonl").write_text("".join(lines) + "broken\n")
    assert main(["index", "add", "p.kin", "five.jsonl"]) == 2
    assert "Kept: the first 4 documents, up to ID '3'." in capsys.readouterr().err
    assert ids() == ["0", "1", "2", "3"]

    def full(*_):
        raise OSError(28, "No space left on device", "p.kin")

    monkeypatch.setattr("textkin.index.store._writer.Writer.add", full)
    assert main(["index", "add", "p.kin", "docs"]) == 2
    assert capsys.readouterr().err == (
        "textkin: p.kin: No space left on device. Nothing was added.\n"
    )


def test_ctrl_c_reports_kept_documents(run, here, monkeypatch, capsys):
    monkeypatch.setattr("textkin.index.store._ingest._BATCH_DOCUMENTS", 2)

    def documents(_):
        yield from ({"id": str(number), "text": "x"} for number in range(3))
        raise KeyboardInterrupt

    monkeypatch.setattr("textkin.cli._documents.Sources.__iter__", documents)
    assert main(["index", "add", "p.kin", "docs"]) == 130
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "textkin: interrupted. Kept: the first 2 documents, up to ID '1'."
    assert ids() == ["0", "1"]


def test_ctrl_c_in_other_commands(run, monkeypatch, capsys):
    run("add", "p.kin", "docs")

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Index, "delete", stop)
    assert main(["index", "delete", "p.kin", "a.txt"]) == 130
    assert capsys.readouterr().err == (
        "textkin: interrupted. Either all or no documents were deleted.\n"
    )
    monkeypatch.setattr(Index, "info", stop)
    assert main(["index", "info", "p.kin"]) == 130
    assert capsys.readouterr().err == "textkin: interrupted.\n"


@pytest.mark.slow
def test_real_ctrl_c_keeps_acknowledged_documents(here):
    """Interrupt a separate process after it has acknowledged documents."""
    with (here / "many.jsonl").open("w") as file:
        for number in range(300_000):
            file.write(f'{{"id": "{number}", "text": "word{number} and more"}}\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "textkin", "index", "add", "p.kin", "many.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Background processes ignore Ctrl-C by default; this one must not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while process.poll() is None:
        time.sleep(0.05)
        if (here / "p.kin" / "catalogue.sqlite").exists():
            with Index.open("p.kin") as index:
                if len(index):
                    break
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130, said
    kept = len(ids())
    assert 0 < kept < 300_000
    assert f"textkin: interrupted. Kept: the first {kept} documents, up to ID '{kept - 1}'" in said


def test_help_without_a_command(capsys):
    assert main(["index"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {name} " in told for name in ("create", "add", "delete", "verify", "copy"))
    assert "..." not in told.split("Commands:")[1]


class TestEmbeddings:
    """``textkin index attach`` and ``detach``."""

    @pytest.fixture
    def rows(self, run, here):
        run("add", "p.kin", "docs")
        np.save("v.npy", np.array([[1.0, 0.5], [0.5, 1.0]], np.float32))
        return here

    def test_attach_search_and_detach(self, run, rows, capsys):
        said = run("attach", "p.kin", "mini", "v.npy")
        assert said == "attached mini to p.kin: 2 documents of 2 dimensions\n"
        assert "mini: embeddings: 2 dimensions, cosine; only vectors are stored" in run(
            "info", "p.kin"
        )
        assert main(["similar", "p.kin", "a.txt", "--ranking", "mini"]) == 0
        assert "0.8000" in capsys.readouterr().out
        assert main(["search", "p.kin", "cats", "--ranking", "mini"]) == 2
        assert "textkin similar" in capsys.readouterr().err
        assert main(["index", "add", "p.kin", "records.jsonl"]) == 0
        said = capsys.readouterr()
        assert said.out == "2 added; p.kin has 4 documents\n"
        assert "textkin: note: Documents were added without vectors of 'mini'" in said.err
        assert "2 documents without a vector" in run("info", "p.kin")
        assert json.loads(run("info", "p.kin", "--json"))["unembedded"] == {"mini": 2}
        assert run("detach", "p.kin", "mini") == "detached mini; p.kin has no models\n"
        assert main(["index", "detach", "p.kin", "mini"]) == 2
        assert "no model has the name 'mini'" in capsys.readouterr().err

    def test_ids_and_options(self, run, rows, capsys):
        (rows / "ids.txt").write_text("\ufeffa.txt\r\n\n")
        np.save("v.npy", np.ones((1, 3)))
        options = ("--ids", "ids.txt", "--metric", "euclidean", "--dtype", "float16", "--json")
        told = json.loads(run("attach", "p.kin", "mini", "v.npy", *options))
        assert (told["embedded"], told["unembedded"], told["dimensions"]) == (1, 1, 3)
        assert "euclidean, float16; 1 document without a vector" in run("info", "p.kin")
        run("verify", "p.kin")
        (rows / "ids.txt").write_bytes(b"\xff\n")
        assert main(["index", "attach", "p.kin", "other", "v.npy", "--ids", "ids.txt"]) == 2
        assert "ids.txt must be UTF-8" in capsys.readouterr().err

    def test_ids_may_have_any_characters_but_line_feeds(self, run, rows):
        (rows / "odd.jsonl").write_text(json.dumps({"id": "a\x85b\u2028c", "text": "cats"}))
        run("add", "odd.kin", "odd.jsonl")
        (rows / "ids.txt").write_text("a\x85b\u2028c\n", encoding="utf-8", newline="")
        np.save("v.npy", np.ones((1, 3)))
        assert run("attach", "odd.kin", "mini", "v.npy", "--ids", "ids.txt")

    @pytest.mark.parametrize(
        ("write", "told"),
        [
            (lambda path: path.write_text("x"), "must be a NumPy file"),
            (lambda path: path.unlink(), "it does not exist"),
            (lambda path: np.save(path, np.array([{}])), "must be a NumPy file"),
            (lambda path: np.save(path, np.ones((3, 2))), "with 2 rows"),
            (lambda path: np.save(path, np.full((2, 2), np.nan)), "NaN"),
            (lambda path: np.save(path, np.ones(2)), "shape (2,)"),
            (lambda path: path.write_bytes(path.read_bytes()[:-3]), "must be a NumPy file"),
        ],
    )
    def test_bad_files_attach_nothing(self, run, rows, capsys, write, told):
        write(rows / "v.npy")
        assert main(["index", "attach", "p.kin", "mini", "v.npy"]) == 2
        said = capsys.readouterr().err
        assert told in said
        assert "pickle" not in said
        assert json.loads(run("info", "p.kin", "--json"))["models"] == {}
