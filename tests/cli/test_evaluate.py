"""``textkin evaluate`` from the user's view."""

import csv
import io
import json

import pytest

from textkin.cli import main
from textkin.evaluate import evaluate_labels, evaluate_pairs, evaluate_search

TEXTS = {
    "pets": ["Cats purr", "Dogs bark at night", "A kitten naps", "The puppy runs"],
    "money": ["Stocks fell", "Banks sold shares", "The market rose", "Investors sold"],
}
PAIRS = (
    "sentence1\tsentence2\tgold\n"
    "A cat sleeps\tA kitten sleeps\t4.5\n"
    "A cat sleeps\tStocks fell\t0\n"
    "Shares fell\tStocks fell\t4\n"
)


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [{"body": text, "topic": label} for label in TEXTS for text in TEXTS[label]]
    (tmp_path / "all.jsonl").write_text(lines(records))
    for label, texts in TEXTS.items():
        for number, text in enumerate(texts):
            side = "test" if number == 3 else "train"
            path = tmp_path / "notes" / side / label / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    folder = tmp_path / "news"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        lines([{"_id": "d1", "text": "Cats purr."}, {"_id": "d2", "text": "Dogs bark."}])
    )
    queries = [{"_id": "q1", "text": "a dog barks"}, {"_id": "q2", "text": "purring cats"}]
    (folder / "queries.jsonl").write_text(lines(queries))
    (folder / "qrels" / "test.tsv").write_text("query\tdocument\tscore\nq1\td2\t1\nq2\td1\t1\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\nq2 0 d1 1\nq2 0 d9 1\n")
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command, and return its output."""

    def run(*arguments, code=0):
        assert main(["evaluate", *arguments]) == code, capsys.readouterr().err
        said = capsys.readouterr()
        return said.err if code else said.out

    return run


def test_help_without_a_command(run):
    said = run()
    assert all(name in said for name in ("labels", "search", "pairs"))


def test_labels_prints_a_table_with_all_methods(run):
    said = run("labels", "all.jsonl", "--text", "body", "--label", "topic")
    header, _, titles, *rows = said.splitlines()
    assert header == "8 documents, 2 classes, 6 training documents, 2 test documents"
    assert titles.split()[:4] == ["method", "accuracy", "error", "macro-F1"]
    assert [row.split()[0] for row in rows[:4]] == ["knn-wmd", "knn-tfidf", "rocchio", "svm-tfidf"]
    assert "Held out 2 of 8 documents at random, class by class, with seed 0." in said


def test_labels_as_json_match_the_library(run, here):
    said = json.loads(run("labels", "notes", "--method", "rocchio", "--json"))
    found = evaluate_labels(here / "notes", methods="rocchio")
    assert said["data"] == {
        "documents": 8,
        "classes": 2,
        "training_documents": 6,
        "test_documents": 2,
    }
    [method] = said["methods"]
    assert method["scores"] == found["rocchio"].scores


def test_labels_of_two_sources_in_a_file(run, here):
    asked = ["labels", "notes/train", "notes/test", "--method", "rocchio", "--method", "knn-wmd"]
    assert run(*asked, "-o", "found.csv") == ""
    first, second = csv.DictReader(io.StringIO((here / "found.csv").read_text()))
    assert [first["method"], second["method"]] == ["rocchio", "knn-wmd"]
    assert float(second["accuracy"]) == 1.0
    assert first["p_value"] == ""


def test_search_prints_a_table(run, here):
    said = run("search", "news", "--part", "test", "--ranking", "bm25", "--ranking", "wmd")
    assert said.startswith("2 documents, 2 judged queries\n")
    found = evaluate_search(here / "news", part="test", rankings=["bm25", "wmd"])
    assert f"wmd     {found['wmd'].scores['map']:.3f}" in said


def test_search_of_three_files(run):
    asked = ["search", "news/corpus.jsonl", "--queries", "news/queries.jsonl"]
    asked += ["--qrels", "qrels.txt", "--ranking", "wmd", "--csv"]
    said = run(*asked, "--unknown", "drop")
    assert "wmd,1.0,1.0,1.0,1.0,,," in said
    told = run(*asked, code=2)
    assert "1 judgment of unknown documents or queries, such as document 'd9'." in told
    assert "Pass --unknown drop to exclude them, or --unknown keep to count them" in told


def test_pairs_prints_a_table(run, here):
    said = run("pairs", "pairs.tsv")
    assert said.startswith("3 pairs, 1 set\n")
    found = evaluate_pairs(here / "pairs.tsv")
    for name in ("pooling", "wmd", "tfidf"):
        assert f"{found[name].scores['pearson']:.3f}" in said
    text = PAIRS.replace("sentence1", "a").replace("sentence2", "b").replace("gold", "score")
    (here / "other.tsv").write_text(text)
    columns = ["--first", "a", "--second", "b", "--gold", "score"]
    again = json.loads(run("pairs", "other.tsv", *columns, "--method", "wmd", "--json"))
    assert again["methods"][0]["scores"] == found["wmd"].scores


def test_unreadable_records_are_skipped_on_request(run, here):
    with (here / "all.jsonl").open("a") as file:
        file.write("{broken\n")
    asked = ["labels", "all.jsonl", "--text", "body", "--label", "topic", "--method", "rocchio"]
    assert "or leave such records out by --skip-errors." in run(*asked, code=2)
    assert run(*asked, "--skip-errors").startswith("8 documents")


# Wordings of new versions of Typer, and of 0.26.
TOO_SMALL = "greater than or equal to 100", "5 is not in the range x>=100"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["knn"], "No such command 'knn'. Try 'textkin evaluate --help'."),
        (["labels", "nowhere.csv"], "There is no file or folder 'nowhere.csv'."),
        (["labels", "empty.jsonl"], "There are no documents in 'empty.jsonl'."),
        (["labels", "all.jsonl"], "pass the name of the field with the text, such as --text body."),
        (["labels", "all.jsonl", "--text", "body"], "or in the field that you pass as --label."),
        (["labels", "notes", "--label", "stars"], "no document has 'stars'. Leave --label out"),
        (["labels", "notes/train", "notes/train"], "PATH and TEST must be different; got"),
        (["labels", "notes", "--method", "magic"], "'magic' is not one of 'knn-wmd'"),
        (["labels", "notes", "--jobs", "0"], "--jobs must be a number of threads"),
        (["labels", "notes/train/pets"], "there is no label."),
        (
            ["labels", "notes", "--json", "--csv"],
            "--json and --csv must not be combined. Pass one of them.",
        ),
        (["search", "nowhere"], "There is no folder 'nowhere'."),
        (["search", "news/corpus.jsonl"], "Pass --queries and --qrels with a file of documents."),
        (["search", "news", "--qrels", "qrels.txt"], "--qrels must come with --queries; got"),
        (
            ["search", "news", "--part", "dev"],
            "--part must be the name of a part ('test'); got 'dev'",
        ),
        (["search", "news", "--ranking", "magic"], "'magic' is not one of 'bm25'"),
        (["search", "news", "-k", "5"], TOO_SMALL),
        (["pairs", "nowhere.tsv"], "There is no file or folder 'nowhere.tsv'."),
        (["pairs", "empty.tsv"], "the first line must name the columns"),
        (["pairs", "header.tsv"], "There are no pairs in 'header.tsv'."),
        (["pairs", "pairs.tsv", "--gold", "score"], "there is no field 'score'"),
        (["pairs", "pairs.tsv", "--first", "a"], "as in --first word1, --second word2"),
    ],
)
def test_invalid_input_prints_one_line(run, here, arguments, said):
    for name in ("empty.jsonl", "empty.tsv"):
        (here / name).touch()
    (here / "header.tsv").write_text("sentence1\tsentence2\tgold\n")
    before = sorted(here.rglob("*"))
    told = run(*arguments, code=2)
    assert any(one in told for one in ([said] if isinstance(said, str) else said))
    assert told.startswith("textkin: ")
    assert told.count("\n") == 1
    assert sorted(here.rglob("*")) == before
