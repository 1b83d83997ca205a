"""``textkin classify`` from the user's view."""

import csv
import io
import json
import os
import re
import signal
import threading

import pytest

from textkin import Index, NearestNeighborClassifier, RocchioClassifier
from textkin.cli import main
from textkin.cli._output import Look, align
from textkin.cli._scores import Scores

NOTES = {
    "work/plan.txt": "Finish the report and call the client before the meeting.",
    "work/budget.md": "The budget of the project must be approved by the finance department.",
    "home/shopping.txt": "Buy milk, eggs, flour and butter at the market.",
    "home/garden.txt": "Water the tomatoes, cut the grass and plant the roses.",
    "new1.txt": "The client wants the report.",
    "new2.txt": "Bake a cake with flour, eggs and butter.",
}
RECORDS = [
    {"id": "a", "text": "cats purr", "topic": "pets", "split": "train"},
    {"id": "b", "text": "dogs bark", "topic": "pets", "split": "train"},
    {"id": "c", "text": "stocks fell", "topic": "money", "split": "train"},
    {"id": "d", "text": "banks sold shares", "topic": "money", "split": "train"},
    {"id": "e", "text": "kittens purr", "topic": "pets", "split": "test"},
    {"id": "f", "text": "investors sold stocks", "topic": "money", "split": "test"},
    {"id": "g", "text": "dogs sold", "topic": "money", "split": "test"},
]


def write_notes(folder, notes):
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_notes(tmp_path / "notes", NOTES)
    lines = [json.dumps(record) for record in RECORDS]
    (tmp_path / "all.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.jsonl").write_text("\n".join(lines[:4]) + "\n")
    (tmp_path / "test.jsonl").write_text("\n".join(lines[4:]) + "\n")
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command, and return its output."""

    def run(*arguments, code=0):
        assert main(["classify", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


def labels(text):
    """Return the IDs and labels of a table."""
    return dict(line.split()[:2] for line in text.split("\n\n")[0].splitlines()[1:])


def test_folder_labels_by_subfolder_and_classifies_other_files(run):
    said = run("notes", "-k", "1")
    assert labels(said.out) == {"new1.txt": "work", "new2.txt": "home"}
    assert "work/plan.txt" in said.out
    assert "accuracy" not in said.out
    assert re.fullmatch(
        r"textkin: 2 documents classified, trained on 4 with 2 labels \(wmd, k = 1\), in .* s\n",
        said.err,
    )


def test_file_inside_the_folder_is_not_trained_on(run):
    found = json.loads(run("notes", "notes/new1.txt", "-k", "1", "--json").out)
    assert found["training_documents"] == 4
    assert found["documents"][0]["label"] == "work"
    said = run("notes", "notes/home", "-k", "1")
    assert (
        "documents of both notes and notes/home are counted only in notes/home: 2 documents"
        in said.err
    )
    assert labels(said.out) == {"garden.txt": "work", "shopping.txt": "work"}


def test_unlabeled_label_means_no_label(run):
    said = run("notes", "--unlabeled", "home", "-k", "1")
    assert labels(said.out) == {
        "home/garden.txt": "work",
        "home/shopping.txt": "work",
        "new1.txt": "work",
        "new2.txt": "work",
    }


def test_records_match_the_library(run):
    found = json.loads(run("train.jsonl", "test.jsonl", "--label", "topic", "--json").out)
    classifier = NearestNeighborClassifier().fit(
        [one["text"] for one in RECORDS[:4]], [one["topic"] for one in RECORDS[:4]]
    )
    evidence = classifier.evidence([one["text"] for one in RECORDS[4:]])
    assert [one["label"] for one in found["documents"]] == evidence.labels
    assert [one["true"] for one in found["documents"]] == ["pets", "money", "money"]
    for told, one in zip(found["documents"], evidence, strict=True):
        assert told["share"] == one.score
        assert [n["distance"] for n in told["neighbors"]] == [n.distance for n in one.neighbors]
        assert [n["id"] for n in told["neighbors"]] == ["abcd"[n.index] for n in one.neighbors]
    assert found["k"] == 5
    assert found["metric"] == "wmd"
    assert found["labels"] == ["money", "pets"]
    right = sum(one["label"] == one["true"] for one in found["documents"])
    assert found["scores"]["right"] == right
    assert found["scores"]["accuracy"] == right / 3
    assert found["scores"]["error"] == pytest.approx(1 - right / 3)
    assert sum(map(sum, found["scores"]["confusion"])) == 3


def test_one_file_with_test_where(run):
    options = ["--label", "topic", "-k", "1", "--csv"]
    apart = run("train.jsonl", "test.jsonl", *options)
    assert run("all.jsonl", "--test-where", "split=test", *options).out == apart.out
    rows = [*csv.reader(io.StringIO(apart.out))]
    assert rows[0] == ["id", "label", "true", "share", "nearest", "distance"]
    assert [row[0] for row in rows[1:]] == ["e", "f", "g"]
    assert rows[1][1:5] == ["pets", "pets", "1.0", "a"]
    some = run("all.jsonl", "--test-where", "split=test", "--where", "not id=g", *options)
    assert some.out == "".join(apart.out.splitlines(keepends=True)[:-1])


def test_index_as_source(run, here):
    with Index.create("p.kin", language=None) as index:
        index.add(RECORDS)
    said = run("p.kin", "--label", "topic", "--test-where", "split=test", "--csv")
    assert said.out == run("train.jsonl", "test.jsonl", "--label", "topic", "--csv").out
    with Index.create("q.kin", language=None) as index:
        index.add({**one, "label": one["topic"]} for one in RECORDS[:4])
    assert run("q.kin", "test.jsonl", "--label", "label", "-k", "1").out.startswith("id")
    found = run("q.kin", "notes/new2.txt", "-k", "1").out
    assert labels(found).keys() == {"new2.txt"}


def test_scores_are_printed(run):
    out = run("train.jsonl", "test.jsonl", "--label", "topic", "-k", "1", "--metric", "cosine").out
    table, score, matrix = out.split("\n\n")
    assert table.splitlines()[0].split() == ["id", "label", "true", "votes", "nearest", "distance"]
    assert score == "accuracy 66.7 %, error 33.3 %: 2 of 3 are correct"
    assert matrix.splitlines() == [
        "          1  2    right",
        "1  money  1  1   50.0 %",
        "2  pets   .  1  100.0 %",
        "rows: true labels; columns: predicted labels",
    ]


def test_rocchio(run):
    options = ["train.jsonl", "test.jsonl", "--label", "topic", "--metric", "rocchio"]
    found = json.loads(run(*options, "--explain", "--json").out)
    texts = [one["text"] for one in RECORDS]
    rocchio = RocchioClassifier().fit(texts[:4], [one["topic"] for one in RECORDS[:4]])
    assert [one["label"] for one in found["documents"]] == rocchio.predict(texts[4:]).tolist()
    for one, cosines in zip(found["documents"], rocchio.similarity(texts[4:]), strict=True):
        assert one["cosine"] == max(cosines)
        assert one["explanation"]["score"] == pytest.approx(one["cosine"])
    assert found["metric"] == "rocchio"
    out = run(*options, "--explain").out
    assert "pets: cosine 0.5000 with the mean of the label\n  e  kittens purr\n" in out
    assert re.search(r"^ +purr .*0\.5", out, re.MULTILINE)
    assert run(*options, "--csv").out.startswith("id,label,true,cosine\ne,pets,pets,0.")


def test_explain(run, here):
    options = ["notes", "-k", "3", "--explain"]
    said = run(*options, "--html", "evidence.html")
    assert "work: 67 % of the votes of 3 neighbors\n  new1.txt" in said.out
    assert "why work/plan.txt:" in said.out
    assert re.search(r"▶ report .*at no cost", said.out)
    assert "wrote evidence.html" in said.err
    page = (here / "evidence.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "new1.txt" in page
    assert "<svg" in page
    found = json.loads(run(*options, "--json").out)["documents"][0]
    flow = found["explanation"]["flow"]
    assert sum(move["contribution"] for move in flow) == pytest.approx(
        found["neighbors"][0]["distance"]
    )


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (
            ["--metric", "rwmd", "--vote", "distance", "-k", "2"],
            {"metric": "rwmd", "vote": "distance"},
        ),
        (
            ["--metric", "jaccard", "--vote", "fall-back"],
            {"metric": "jaccard", "vote": "fall-back"},
        ),
        (["--metric", "cosine", "--model", "lsi", "--dimension", "2"], {"model": "lsi"}),
        (["--metric", "cosine", "--model", "bm25"], {"model": "bm25"}),
        (
            ["--metric", "l2", "--model", "pooling", "--vectors", "builtin:glove"],
            {"model": "pooling"},
        ),
        (["--vectors", "builtin:glove", "--keep-stop-words"], {"stop_words": None}),
        (["--metric", "cosine", "--tune", "--seed", "3", "--jobs", "1"], {"metric": "cosine"}),
    ],
)
def test_options_reach_the_library(run, options, settings):
    arguments = ["train.jsonl", "test.jsonl", "--label", "topic", "--json", *options]
    found = json.loads(run(*arguments).out)
    assert settings.items() <= found.items()
    assert len(found["documents"]) == 3
    if "--tune" in options:
        assert len(found["tuning"]["errors"]) == 19
        assert 1 <= found["k"] <= 19


def test_output_files(run, here):
    run("notes", "-o", "out.csv")
    assert (here / "out.csv").read_text().startswith("id,label,share,nearest,distance\nnew1.txt,")
    said = run("notes", "-o", "out.json")
    assert said.out == ""
    assert len(json.loads((here / "out.json").read_text())["documents"]) == 2
    run("notes", "-o", "out.txt")
    assert (here / "out.txt").read_text().startswith("id        label")


def test_empty_documents_and_unknown_true_labels(run, here):
    (here / "odd.csv").write_text("text,label\n,pets\ncats,birds\nstocks fell,money\n")
    (here / "train.csv").write_text(
        "text,label\ncats purr,pets\ndogs bark,pets\nstocks fell,money\n"
    )
    said = run("train.csv", "odd.csv", "-k", "1")
    assert labels(said.out) == {"odd.csv:2": "pets", "odd.csv:3": "pets", "odd.csv:4": "money"}
    assert "accuracy 66.7 %" in said.out
    assert "these true labels: birds" in said.err
    assert "1 of 3 documents have no words to compare; they get the most frequent label" in said.err
    (here / "other.csv").write_text("text,label\ncats,x\n")
    said = run("train.csv", "other.csv")
    assert "accuracy" not in said.out
    assert "TRAIN has none of the true labels of the documents" in said.err


def test_labels_of_all_types_become_texts(run, here):
    (here / "train.json").write_text(
        '[{"text": "cats purr", "label": 1}, {"text": "stocks fell", "label": 2.0},'
        '{"text": "dogs bark", "label": null}, {"text": "birds", "label": " "}]'
    )
    (here / "test.csv").write_text("text,label\ncats,1\nstocks,2\n")
    said = run("train.json", "test.csv", "-k", "1")
    assert "of train.json, ignored 2 documents without a label" in said.err
    assert "accuracy 100.0 %" in said.out


def test_hostile_text_does_not_control_the_terminal(run, here, monkeypatch):
    record = {"id": "x\x1b[31mred\u202e" + "y" * 200, "text": "cats purr", "label": "p\x07ets"}
    (here / "odd.jsonl").write_text(json.dumps(record) + "\n" + json.dumps({"text": "cats"}) + "\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    for options in ([], ["--explain"], ["--csv"], ["--json"]):
        out = run("odd.jsonl", *options).out
        assert not set("\x1b\x07\u202e") & set(re.sub(r"\x1b\[\d*m", "", out))
        if not options:
            assert all(len(line) <= 60 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["all.jsonl"], "No document of all.jsonl has a label: pass the field"),
        (["all.jsonl"], "The other fields are 'topic', 'split'."),
        (["all.jsonl", "--label", "topc"], "No document of all.jsonl has a field 'topc'"),
        (["all.jsonl", "--label", "topic"], "All 7 documents of all.jsonl have a label"),
        (["notes/home"], "put the files of each label in its own folder, such as"),
        (["nowhere"], "There is no file or folder 'nowhere'."),
        (["notes", "nowhere"], "There is no file or folder 'nowhere'."),
        (["notes", "notes"], "TRAIN and TEST must be different; got"),
        (["notes", "test.jsonl", "--test-where", "split=test"], "Remove one of them"),
        (
            ["notes", "--test-where", "split=test"],
            "--test-where: no document has the field 'split'",
        ),
        (["all.jsonl", "--where", "split="], "--where"),
        (["all.jsonl", "--where", "split=none"], "--where: no document fulfills split = none"),
        (["notes", "--metric", "nothing"], "--metric must be one of 'wmd'"),
        (["notes", "-k", "0"], "-k"),
        (["notes", "-k", "3", "--tune"], "got -k too. Remove one of them"),
        (["notes", "-k", "3", "--metric", "rocchio"], "-k is for neighbors"),
        (["notes", "--html", "x.html", "--metric", "rocchio"], "--html shows neighbors"),
        (["notes", "--model", "lsi"], "--metric 'wmd' compares words"),
        (
            ["notes", "--metric", "cosine", "--dimension", "3"],
            "--dimension must come with --model lsi",
        ),
        (["notes", "--metric", "cosine", "--vectors", "builtin:glove"], "--vectors must come with"),
        (["notes", "--stop-words", "nothing"], "--stop-words must be a file or one of"),
        (["notes", "--jobs", "0"], "--jobs must be a number of threads"),
        (["notes", "--json", "--csv"], "must not be combined"),
        (["all.jsonl", "--label", "topic", "-o", "all.jsonl"], "must not overwrite a source"),
        (["notes", "-o", "nowhere/x.csv"], "Folder 'nowhere' does not exist"),
        (["notes", "-o", "x", "--html", "x"], "must name different files"),
        (["notes", "--html", "notes"], "'notes' is a folder"),
        (["notes", "--no-id", "--id", "x"], "--id and --no-id must not be combined"),
    ],
)
def test_invalid_input_prints_one_line(run, here, arguments, message):
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}
    said = run(*arguments, code=2)
    assert said.out == ""
    [line] = [line for line in said.err.splitlines() if "note:" not in line]
    assert line.startswith("textkin: ")
    assert message in line
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before


def test_list_as_label_raises(run, here):
    (here / "lists.jsonl").write_text('{"id": "a", "text": "cats", "label": ["x"]}\n')
    assert "The label of 'a' must be a text or a number" in run("lists.jsonl", code=2).err


def test_unreadable_field_can_be_skipped(run, here):
    with (here / "train.jsonl").open("a") as file:
        file.write('{"text": 3}\n')
    arguments = ["train.jsonl", "test.jsonl", "--label", "topic"]
    assert "train.jsonl, line 5" in run(*arguments, code=2).err
    assert "skipped 1: train.jsonl, line 5" in run(*arguments, "--skip-errors").err


def test_an_interrupted_command_writes_nothing(run, here, monkeypatch):
    def stopped(*_arguments, **_options):
        threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Event().wait(20)

    monkeypatch.setattr(NearestNeighborClassifier, "evidence", stopped)
    said = run("notes", "-o", "out.json", "--html", "x.html", code=130)
    assert said.err == "textkin: interrupted. Nothing was written.\n"
    assert not (here / "out.json").exists()
    assert not (here / "x.html").exists()


def test_wide_matrix_becomes_list_of_confusions():
    names = [f"label {at}" for at in range(40)]
    scores = Scores.of([(names[at], names[at - at % 3]) for at in range(40)] * 2)
    lines = [*scores.lines(Look(terminal=True, width=80))]
    assert lines[0] == "accuracy 35.0 %, error 65.0 %: 28 of 80 are correct"
    assert lines[2].split() == ["documents", "true", "label", "predicted", "label"]
    assert lines[-1] == "and 16 other confusions; --json has the matrix"
    assert all(len(line) <= 80 for line in lines)


def test_numeric_labels_are_sorted_by_value():
    assert Scores.of([("10", "9"), ("9", "b"), ("nan", "1e3")]).labels == (
        "9", "10", "1e3", "b", "nan",
    )  # fmt: skip


def test_columns_fit_a_terminal_and_are_complete_in_a_pipe():
    rows = [["an identifier, rather long", "12"], ["b", "3"]]
    assert align(rows, Look(), right=[1], cut=[0])[1] == "b" + " " * 28 + "3"
    narrow = align(rows, Look(terminal=True, width=14), right=[1], cut=[0])
    assert narrow == ["an identi…  12", "b            3"]
    assert align([["a", "x" * 90]], Look(width=40), fill=True) == ["a  " + "x" * 36 + "…"]


def test_sources_are_not_overwritten(run, here):
    before = (here / "notes" / "work" / "plan.txt").read_text()
    said = run("notes", "-o", "notes/work/plan.txt", code=2)
    assert "--output must not overwrite a source" in said.err
    (here / "why.txt").symlink_to(here / "notes" / "work" / "plan.txt")
    assert (
        "must not overwrite a source" in run("notes", "test.jsonl", "--html", "why.txt", code=2).err
    )
    assert (here / "notes" / "work" / "plan.txt").read_text() == before
    for _ in range(2):  # next to a source, and exists
        run("notes", "-o", "notes/labels.csv", "-k", "1")
    assert "must not overwrite a source" in run(
        "notes", "-o", "notes/labels.csv", "--pattern", "**/*.[tc]*", code=2
    ).err  # fmt: skip


def test_index_folder_is_not_overwritten(run, here):
    with Index.create(here / "a.kin", language=None) as index:
        index.add([{"id": "a", "text": "cats purr", "label": "pets"}])
    for name in ("catalogue.sqlite", "new.csv"):
        said = run("a.kin", "test.jsonl", "-o", f"a.kin/{name}", code=2)
        assert "must not overwrite a source" in said.err
    assert len(Index.open(here / "a.kin")) == 1


def test_unknown_unlabeled_label_prints_note(run):
    assert "--unlabeled: no document has the label 'hom'." in run("notes", "--unlabeled", "hom").err
    assert "--unlabeled" not in run("notes", "--unlabeled", "home").err
    split = ("--label", "split", "--unlabeled", "test")  # a label of TEST only
    assert "--unlabeled" not in run("train.jsonl", "test.jsonl", *split).err


def test_rocchio_reports_documents_without_known_words(run, here):
    (here / "new.jsonl").write_text('{"id": "n", "text": "xyzzy"}\n{"id": "c", "text": "cats"}\n')
    said = run("train.jsonl", "new.jsonl", "--label", "topic", "--metric", "rocchio")
    assert (
        "1 of 2 documents have no words to compare; they get the most frequent label." in said.err
    )
    found = json.loads(
        run("train.jsonl", "new.jsonl", "--label", "topic", "--metric", "rocchio", "--json").out
    )
    assert [one["empty"] for one in found["documents"]] == [True, False]


def test_json_true_equals_csv_true(run, here):
    (here / "a.jsonl").write_text(
        '{"id": 1, "text": "cats", "label": true}\n{"id": 2, "text": "money", "label": false}\n'
    )
    (here / "b.csv").write_text("id,text,label\n1,cats,true\n2,money,false\n")
    assert "2 of 2 are correct" in run("a.jsonl", "b.csv", "-k", "1").out


def test_carriage_return_does_not_split_table_rows(run, here):
    records = [{"id": "a\rb", "text": "cats", "label": "x\ry"}, {"id": "c\r", "text": "cats"}]
    (here / "cr.jsonl").write_text("\n".join(map(json.dumps, records)))
    table = run("cr.jsonl", "--csv").out
    rows = list(csv.reader(io.StringIO(table, newline="")))
    assert [row[:2] for row in rows] == [["id", "label"], ["c\r", "x\ry"]]
    assert {len(row) for row in rows} == {5}


def test_skipped_records_are_reported_with_options(run, here):
    (here / "twice.jsonl").write_text((here / "train.jsonl").read_text() * 2)
    said = run("twice.jsonl", "test.jsonl", "--label", "topic", "--skip-errors")
    assert "--no-id generates IDs" in said.err
