"""``textkin cluster`` from the user's view."""

import csv
import io
import json
import re

import pytest

from textkin import DocumentClustering, Index
from textkin.cli import main

TEXTS = {
    "cat": "Cats purr on the mat",
    "kitten": "A kitten sleeps on the mat",
    "play": "The cat and the kitten play",
    "stocks": "Stocks fell sharply",
    "shares": "Investors sold their shares of stocks",
    "market": "The market of stocks and shares fell",
    "empty": "",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [json.dumps({"id": id, "text": text, "n": len(id)}) for id, text in TEXTS.items()]
    (tmp_path / "all.jsonl").write_text("\n".join(records))
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command, and return its output."""

    def run(*arguments, code=0):
        assert main(["cluster", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {}),
        (["--method", "kmedoids"], {"method": "kmedoids"}),
        (
            ["--method", "agglomerative", "--linkage", "single", "--metric", "rwmd"],
            {"method": "agglomerative", "linkage": "single", "metric": "rwmd"},
        ),
        (["--metric", "l2", "--seed", "3", "--words", "2"], {"metric": "l2", "n_words": 2}),
        (["--keep-stop-words", "--jobs", "1"], {"stop_words": None}),
    ],
)
def test_clusters_match_the_library(run, options, settings):
    seed = 3 if "--seed" in options else 0
    expected = DocumentClustering(2, random_state=seed, **settings).fit([*TEXTS.values()])
    found = json.loads(run("all.jsonl", "-n", "2", *options, "--json").out)
    ids = [*TEXTS]
    assert len(found["clusters"]) == 2
    for told, cluster in zip(found["clusters"], expected.clusters_, strict=True):
        assert told["number"] == cluster.number
        assert told["size"] == cluster.size
        assert told["central"] == ids[cluster.central]
        assert [one["word"] for one in told["words"]] == [word for word, _ in cluster.words]
        assert [one["id"] for one in told["members"]] == [ids[at] for at in cluster.members]
        assert [one["distance"] for one in told["members"]] == cluster.distances.tolist()
    assert found["in_no_cluster"] == ["empty"]
    rows = [*csv.reader(io.StringIO(run("all.jsonl", "-n", "2", *options, "--csv").out))]
    assert rows[0] == ["id", "cluster", "distance"]
    assert [row[:2] for row in rows[1:]] == [
        [id, str(label)] for id, label in zip(ids, expected.labels_.tolist(), strict=True)
    ]
    assert rows[-1] == ["empty", "-1", ""]


def test_lines(run):
    said = run("all.jsonl", "-n", "2", "--method", "kmedoids")
    first, second = said.out.split("\n\n")
    assert re.match(r"cluster 0, 3 documents, mean distance \d\.\d{4} to the center\n", first)
    assert "\n  words    " in first
    assert re.search(r"\n  central  (play|cat|kitten)\n           \w", first + second)
    assert said.err == (
        "textkin: note: no words to compare, so in no cluster (-1): 1 document.\n"
        "textkin: 7 documents in 2 clusters\n"
    )


def test_distance_threshold(run):
    options = ["--method", "agglomerative", "--distance-threshold"]
    assert len(json.loads(run("all.jsonl", *options, "0", "--json").out)["clusters"]) == 6
    assert len(json.loads(run("all.jsonl", *options, "99", "--json").out)["clusters"]) == 1


def test_default_number_depends_on_documents(run):
    assert "7 documents in 3 clusters" in run("all.jsonl").err


def test_sources_of_all_kinds(run, here):
    with Index.create("p.kin", language=None) as index:
        index.add([{"id": id, "text": text, "n": len(id)} for id, text in TEXTS.items()])
    options = ["-n", "2", "--csv"]
    assert run("p.kin", *options).out == run("all.jsonl", *options).out
    some = run("p.kin", *options, "--where", "n<=5").out
    assert [row.split(",")[0] for row in some.splitlines()[1:]] == ["cat", "play", "empty"]
    names = []
    for id, text in TEXTS.items():
        names.append(f"{id}.txt")
        (here / names[-1]).write_text(text)
    found = run(*names, *options).out
    assert found.replace(".txt", "") == run("all.jsonl", *options).out


def test_svg_and_html(run, here):
    said = run("all.jsonl", "-n", "2", "--svg", "c.svg", "--html", "c.html", "-o", "c.csv")
    assert said.out == ""
    for name in ("c.svg", "c.html", "c.csv"):
        assert f"wrote {name}" in said.err
    assert (here / "c.svg").read_text().startswith("<svg")
    assert (here / "c.html").read_text().startswith("<!DOCTYPE html>")
    assert (here / "c.csv").read_text().startswith("id,cluster,distance\ncat,")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "There is no file or folder 'nowhere'."),
        (["all.jsonl", "-n", "7"], "-n must be at most 6, the number of documents with something"),
        (["all.jsonl", "-n", "0"], "-n"),
        (
            ["all.jsonl", "-n", "2", "--distance-threshold", "1"],
            "-n and --distance-threshold must not be combined",
        ),
        (
            ["all.jsonl", "--distance-threshold", "1"],
            "--distance-threshold must come with --method agglomerative",
        ),
        (["all.jsonl", "--linkage", "single"], "--linkage must come with --method agglomerative"),
        (["all.jsonl", "--metric", "wmd"], "--metric must be 'cosine' or 'euclidean' for k-means"),
        (["all.jsonl", "--metric", "nothing"], "--metric must be one of 'wmd'"),
        (["all.jsonl", "--vectors", "builtin:glove"], "--model pooling"),
        (["all.jsonl", "--model", "lsi", "--dimension", "30"], "--dimension must be at most 7"),
        (["all.jsonl", "--svg", "x", "--html", "x"], "--svg and --html must name different files"),
        (["all.jsonl", "--where", "id=empty"], "no word can be learned: the texts (1)"),
        (["all.jsonl", "--json", "--csv"], "must not be combined"),
    ],
)
def test_invalid_input_prints_one_line(run, here, arguments, message):
    said = run(*arguments, code=2)
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line
    assert not (here / "x").exists()


def test_equal_documents_without_a_number(run, here):
    rows = [{"id": str(at), "text": "Cats purr on the mat"} for at in range(20)]
    (here / "same.jsonl").write_text("\n".join(map(json.dumps, rows)))
    [only] = json.loads(run("same.jsonl", "--json").out)["clusters"]
    assert only["size"] == 20
