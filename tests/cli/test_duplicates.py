"""``textkin duplicates`` from the user's view."""

import csv
import io
import json

import pytest

from textkin import Index, find_duplicates
from textkin.cli import main

NOTES = {
    "a/plan.txt": "Finish the report, and call the client!",
    "a/list.txt": "Buy milk, eggs and flour.",
    "b/plan.txt": "finish THE report and call the client",
    "b/list.txt": "Flour, milk and eggs: buy.",
    "b/near.txt": "Purchase milk, eggs and flour.",
    "rose.txt": "Plant the roses.",
    "empty.txt": "",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command, and return its output."""

    def run(*arguments, code=0):
        assert main(["duplicates", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


def test_the_default_compares_all_words_in_order(run):
    found = json.loads(run("notes", "--json").out)
    assert [group["keep"] for group in found["groups"]] == ["a/plan.txt"]


def test_groups(run):
    said = run("notes", "--metric", "bag")
    assert said.out.splitlines() == [
        "group 0, 2 documents",
        "  keep  a/list.txt              Buy milk, eggs and flour.",
        "        b/list.txt  same words  Flour, milk and eggs: buy.",
        "",
        "group 1, 2 documents",
        "  keep  a/plan.txt             Finish the report, and call the client!",
        "        b/plan.txt  same text  finish THE report and call the client",
    ]
    assert said.err == (
        "textkin: note: 1 of 7 documents have no words to compare; they are not duplicates.\n"
        "textkin: 2 groups of duplicates; redundant: 2 of 7 documents\n"
    )


def test_similar_documents_match_the_library(run):
    found = json.loads(run("notes", "--metric", "wmd", "--radius", "2", "--json").out)
    names = sorted(NOTES)
    expected = find_duplicates([NOTES[name] for name in names], 2.0, "wmd")
    assert [
        [(one["id"], one["distance"]) for one in group["members"]] for group in found["groups"]
    ] == [[(names[one.position], one.distance) for one in group] for group in expected]
    assert found["removable"] == [names[at] for at in expected.removed]
    assert found["radius"] == 2.0
    assert found["empty"] == ["empty.txt"]
    assert "wmd " in found["groups"][0]["members"][-1]["reason"]


def test_ids_of_redundant_documents(run, here):
    assert run("notes", "--metric", "bag", "--ids").out == "b/list.txt\nb/plan.txt\n"
    run("notes", "--metric", "bag", "--ids", "-o", "ids.txt")
    assert (here / "ids.txt").read_text() == "b/list.txt\nb/plan.txt\n"


def test_csv(run):
    rows = [*csv.reader(io.StringIO(run("notes", "--metric", "text", "--csv").out))]
    assert rows == [
        ["group", "id", "keep", "distance", "reason"],
        ["0", "a/plan.txt", "yes", "0.0", ""],
        ["0", "b/plan.txt", "no", "0.0", "same text"],
    ]


def test_two_collections(run):
    said = run("notes/b", "--metric", "bag", "--against", "notes/a")
    assert said.out.splitlines() == [
        "id        repeats",
        "list.txt  list.txt  same words",
        "plan.txt  plan.txt  same text",
    ]
    assert said.err == "textkin: 2 of 3 documents repeat one of 2 other documents\n"
    found = json.loads(run("notes/b", "--metric", "bag", "--against", "notes/a", "--json").out)
    assert found["repeats"][0] == {
        "id": "list.txt",
        "repeats": "list.txt",
        "distance": 0.0,
        "reason": "same words",
        "count": 1,
    }
    assert found["removable"] == ["list.txt", "plan.txt"]
    rows = [
        *csv.reader(
            io.StringIO(run("notes/b", "--metric", "bag", "--against", "notes/a", "--csv").out)
        )
    ]
    assert rows[1] == ["list.txt", "list.txt", "0.0", "same words", "1"]
    said = run("notes", "--metric", "bag", "--against", "notes/a")  # inside the other folder
    assert [line.split()[0] for line in said.out.splitlines()[1:]] == ["b/list.txt", "b/plan.txt"]
    assert (
        "documents of both notes and notes/a are counted only in notes/a: 2 documents" in said.err
    )


def test_parts_of_one_file(run, here):
    records = [
        {"id": n, "text": text, "split": split}
        for n, (text, split) in enumerate(
            [("cats purr", "train"), ("cats purr", "test"), ("dogs", "test"), ("dogs", "test")]
        )
    ]
    (here / "all.jsonl").write_text("\n".join(map(json.dumps, records)))
    found = json.loads(run("all.jsonl", "--against-where", "split=train", "--json").out)
    assert [(one["id"], one["repeats"]) for one in found["repeats"]] == [("1", "0")]
    found = json.loads(run("all.jsonl", "--where", "split=test", "--json").out)
    assert [group["keep"] for group in found["groups"]] == ["2"]


def test_same_ids_in_several_sources_are_distinguished(run, here):
    (here / "x.csv").write_text("id,text\n1,Plant the roses\n")
    (here / "y.csv").write_text("text\nPlant the roses\n")
    with Index.create("p.kin", language=None) as index:
        index.add([{"id": "rose", "text": "Plant roses"}])
    found = json.loads(
        run("notes", "notes/../x.csv", "y.csv", "p.kin", "--metric", "bag", "--json").out
    )
    members = [[one["id"] for one in group["members"]] for group in found["groups"]]
    assert members == [
        ["notes/rose.txt", "notes/../x.csv:1", "y.csv:2", "p.kin:rose"],
        ["notes/a/list.txt", "notes/b/list.txt"],
        ["notes/a/plan.txt", "notes/b/plan.txt"],
    ]
    found = json.loads(run("notes/a/plan.txt", "notes/b/plan.txt", "--json").out)
    assert found["groups"][0]["keep"] == "notes/a/plan.txt"


def test_duplicates_can_be_deleted_from_an_index(run, here, capsys):
    with Index.create("p.kin", language=None) as index:
        index.add([{"id": name, "text": text} for name, text in NOTES.items()])
    ids = run("p.kin", "--metric", "bag", "--ids").out.split()
    assert ids == ["b/plan.txt", "b/list.txt"]
    assert main(["index", "delete", "p.kin", *ids]) == 0
    capsys.readouterr()
    assert run("p.kin", "--metric", "bag", "--ids").out == ""


def test_paragraphs(run, here):
    (here / "book.txt").write_text("Cats purr.\n\nDogs bark.\n\nCATS PURR\n")
    assert "keep  book.txt#1" in run("book.txt", "--split", "paragraph").out


def test_html(run, here):
    assert "wrote page.html" in run("notes", "--html", "page.html").err
    page = (here / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "b/plan.txt" in page


def test_exit_codes(run):
    assert run("notes/a").out == ""
    run("notes/a", "--fail")
    run("notes", "--fail", code=1)
    run("notes/b", "--against", "notes/a", "--fail", "--json", code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "There is no file or folder 'nowhere'."),
        (["notes", "--metric", "wmd"], "--metric 'wmd' needs a radius"),
        (["notes", "--radius", "1"], "--metric 'text' finds equal documents and takes no"),
        (["notes", "--metric", "wmd", "--radius", "-1"], "--radius must be"),
        (["notes", "--metric", "wmd", "--radius", "nan"], "--radius must be"),
        (["notes", "--metric", "nothing"], "--metric must be one of 'text', 'bag'"),
        (["notes", "--metric", "rwmd-query", "--radius", "1"], "rwmd"),
        (["notes", "--model", "lsi"], "got --metric text, which compares words"),
        (["notes", "--vectors", "builtin:glove"], "--vectors must come with"),
        (["notes", "--against", "notes"], "SOURCE and --against must be different"),
        (["notes", "--against", "rose", "--against-where", "a=1"], "must not be combined"),
        (["notes", "notes/rose.txt"], "'notes/rose.txt' is read twice"),
        (["notes", "--ids", "--json"], "--ids prints only IDs"),
        (["notes/rose.txt", "-o", "notes/rose.txt"], "must not overwrite a source"),
        (["notes", "--against-where", "year=1"], "--against-where: no document has the field"),
    ],
)
def test_invalid_input_prints_one_line(run, arguments, message):
    said = run(*arguments, code=2)
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line


def test_one_document_and_documents_without_words(run, here):
    assert "0 groups of duplicates; redundant: 0 of 1 document" in run("notes/rose.txt").err
    (here / "dots.txt").write_text("...")
    for by in (["bag"], ["text"], ["cosine", "--radius", "0.1"]):
        assert "0 groups" in run("notes/empty.txt", "dots.txt", "--metric", *by).err
    (here / "none.csv").write_text("id,text\n")
    assert (
        "No documents found in none.csv. Pass other files or folders."
        in run("none.csv", code=2).err
    )


def test_ctrl_c_while_writing_html_leaves_no_file(run, here, monkeypatch):
    def stopped(_self):
        raise KeyboardInterrupt

    monkeypatch.setattr("textkin.learn.Duplicates.to_html", stopped)
    said = run("notes", "--html", "page.html", "-o", "out.csv", code=130)
    assert said.err == "textkin: interrupted. Nothing was written.\n"
    assert not (here / "out.csv").exists()
    assert not (here / "page.html").exists()


def test_overlapping_sources_do_not_repeat_themselves(run, here):
    for name, text in {
        "a/x.txt": "cats purr",
        "a/in/y.txt": "dogs bark",
        "b/z.txt": "cats",
    }.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    said = run("a", "b", "--against", "a/in")
    assert said.out == ""
    assert "0 of 2 documents repeat one of 1 other document" in said.err
    said = run("a/x.txt", "b/z.txt", "--against", "a")
    assert said.out == ""
    assert "0 of 2 documents repeat one of 1 other document" in said.err


def test_against_where_all_raises(run, here):
    (here / "a.jsonl").write_text('{"id": 1, "text": "cats", "split": "train"}\n')
    said = run("a.jsonl", "--against-where", "split=train", code=2)
    assert "all documents (1) fulfill it" in said.err


def test_ids_with_table_output_raises(run, here):
    for name in ("ids.csv", "ids.json"):
        assert "--ids prints only IDs" in run("notes", "--ids", "-o", name, code=2).err
        assert not (here / name).exists()


def test_id_with_line_break_raises(run, here):
    rows = [{"id": id, "text": "the same words"} for id in ("a", "b\nc", "c")]
    (here / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "Use --json" in run("odd.jsonl", "--ids", code=2).err
