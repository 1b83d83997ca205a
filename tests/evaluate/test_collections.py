"""Readers of retrieval collections in folders, and of scored pairs of sentences and words."""

import json

import numpy as np
import pytest

import textkin as tk
from textkin.evaluate import PairData, RetrievalData, read_pairs, read_retrieval, sts_scores


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def beir(folder, **files):
    """Write a collection in the format of BEIR; a file of None is omitted."""
    given = {
        "corpus.jsonl": lines(
            {"_id": "d1", "title": "Cats", "text": "They purr.", "metadata": {}},
            {"_id": "d2", "title": "", "text": "Dogs bark."},
            {"_id": "d3", "title": "Birds", "text": ""},
        ),
        "queries.jsonl": lines(*({"_id": f"q{n}", "text": f"query {n}"} for n in (1, 2, 3))),
        "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td2\t2\nq2\td1\t0\n",
        **files,
    }
    for name, content in given.items():
        if content is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return folder


def test_read_retrieval_of_a_beir_folder(tmp_path):
    data = read_retrieval(beir(tmp_path))
    assert data.ids == ["d1", "d2", "d3"]
    assert data.documents == ["Cats\nThey purr.", "Dogs bark.", "Birds"]
    assert data.queries == {"q1": "query 1", "q2": "query 2", "q3": "query 3"}
    assert data.qrels == {"q1": {"d1": 1}, "q2": {"d2": 2, "d1": 0}}
    assert data.splits == {"test": ("q2",), "train": ("q1",)}
    assert data.judged == ["q1", "q2"]
    assert repr(data) == ("RetrievalData(3 documents, 3 queries, 3 judgments, parts test, train)")


def test_folder_with_one_judgment_file_and_parts_in_queries(tmp_path):
    folder = beir(
        tmp_path,
        **{
            "corpus.jsonl": None,
            "docs.jsonl": lines({"id": 7, "text": "one"}, {"id": "8", "text": "two"}),
            "queries.jsonl": lines({"id": "1", "text": "q", "split": "dev"}),
            "qrels/train.tsv": None,
            "qrels/test.tsv": None,
            "qrels.tsv": "1\t7\t1\n",
        },
    )
    data = read_retrieval(folder)
    assert (data.ids, data.titles) == (["7", "8"], ["", ""])
    assert (data.qrels, data.splits) == ({"1": {"7": 1}}, {"dev": ("1",)})


def test_part_has_only_its_queries(tmp_path):
    data = read_retrieval(beir(tmp_path))
    for part in (data.part("test"), data.part(["q2"])):
        assert (part.queries, part.qrels) == ({"q2": "query 2"}, {"q2": {"d2": 2, "d1": 0}})
        assert part.ids == data.ids
    with pytest.raises(ValueError, match=r"name of a part \('test', 'train'\); got 'dev'"):
        data.part("dev")
    with pytest.raises(ValueError, match="There is no query 'q9'"):
        data.part(["q1", "q9"])


@pytest.mark.parametrize("line", ["q1\td9\t1", "q9\td1\t1"], ids=["document", "query"])
def test_judgments_with_unknown_ids_raise_or_are_excluded(tmp_path, line):
    folder = beir(tmp_path, **{"qrels/train.tsv": f"q1\td1\t1\n{line}\n"})
    kind = "document 'd9'" if "d9" in line else "query 'q9'"
    message = f"train.tsv: 1 judgment of unknown documents or queries, such as {kind}"
    with pytest.raises(ValueError, match=message):
        read_retrieval(folder)
    assert read_retrieval(folder, unknown="drop").qrels["q1"] == {"d1": 1}
    kept = read_retrieval(folder, unknown="keep")
    assert sum(map(len, kept.qrels.values())) == 4
    assert kept.splits["train"] == ("q1",)
    with pytest.raises(ValueError, match="unknown must be one of 'error', 'drop', 'keep'"):
        read_retrieval(folder, unknown="skip")


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({"corpus.jsonl": None}, FileNotFoundError, "must be in corpus.jsonl or docs.jsonl"),
        ({"docs.jsonl": "{}"}, ValueError, "there are corpus.jsonl and docs.jsonl. Move one away"),
        ({"queries.jsonl": None}, FileNotFoundError, "The queries of .* must be in queries.jsonl"),
        (
            {"qrels/test.tsv": None, "qrels/train.tsv": None, "qrels/notes.md": "x"},
            FileNotFoundError,
            "must be in files such as",
        ),
        ({"qrels/test.txt": "q1 d1 1"}, ValueError, "there is also test.tsv"),
        (
            {"qrels/test.tsv": "q1\td1\t2\n"},
            ValueError,
            "train.tsv: document 'd1' has grade 1 for query 'q1', and 2 in another file",
        ),
        ({"qrels.tsv": "q1\td1\t2\n"}, ValueError, "there are qrels.tsv and a folder qrels"),
        ({"queries.jsonl": ""}, ValueError, "There are no queries in '.*queries.jsonl'"),
        ({"corpus.jsonl": ""}, ValueError, "There are no documents in '.*corpus.jsonl'"),
        ({"queries.jsonl": "{nonsense\n"}, ValueError, r"queries.jsonl, line 1: .*\)\. Repair"),
        (
            {"queries.jsonl": '{"_id": "q1"}\n'},
            ValueError,
            r"no field 'text'; there is '_id'\. Repair",
        ),
        (
            {"corpus.jsonl": lines({"_id": "a", "text": "x", "title": 5})},
            ValueError,
            "corpus.jsonl, line 1: the title must be a string; got 5",
        ),
        (
            {"corpus.jsonl": lines({"_id": "a", "text": "x"}, {"_id": "a", "text": "y"})},
            ValueError,
            r"corpus.jsonl, line 2: the ID 'a' is used by .*, line 1; IDs must be distinct\. ",
        ),
    ],
)
def test_invalid_folders_raise(tmp_path, files, kind, message):
    with pytest.raises(kind, match=message):
        read_retrieval(beir(tmp_path, **files))


def test_missing_or_too_large_folders_raise(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        read_retrieval(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"corpus.jsonl, line 2: .* exceed max_bytes=20"):
        read_retrieval(beir(tmp_path), max_bytes=20)


def test_progress_counts_documents(tmp_path):
    told = []
    folder = beir(tmp_path)
    read_retrieval(folder, progress=lambda done, total: told.append((done, total)))
    size = (folder / "corpus.jsonl").stat().st_size
    assert told[-1] == (size, size)


def test_read_pairs_of_a_table(tmp_path):
    path = tmp_path / "sts.tsv"
    path.write_text(
        'dataset\tgold\tsentence1\tsentence2\nx\t5\t"A cat.\tA "cat"\ny\t0.5\ta\tb\nx\t0\t\tc\n'
    )
    data = read_pairs(path)
    assert (data.first, data.second) == (['"A cat.', "a", ""], ['A "cat"', "b", "c"])
    assert (data.gold.tolist(), data.sets) == ([5, 0.5, 0], ["x", "y", "x"])
    assert {name: part.gold.tolist() for name, part in data.by_set().items()} == {
        "x": [5, 0],
        "y": [0.5],
    }
    assert sts_scores(data.sets, data.gold, data.gold).to_dict()["Mean"] == pytest.approx(2 / 3)
    assert repr(data) == "PairData(3 pairs, 2 sets)"


def test_pairs_of_words_without_sets():
    rows = iter([{"word1": "cat", "word2": "dog", "gold": 7}])
    data = read_pairs(rows, first="word1", second="word2")
    assert (data.first, data.second, data.sets) == (["cat"], ["dog"], ["pairs"])
    assert read_pairs([{"sentence1": "a", "sentence2": "b", "gold": 1, "dataset": ""}]).sets == [
        "pairs"
    ]


def test_pairs_of_an_unusual_file_by_read(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("gold;a;b\n1;x;y\nhigh;x;y\n")
    unusual = tk.read(path, text="a", delimiter=";", id=False)
    with pytest.raises(ValueError, match=r"pairs\.csv, line 3: 'gold' must be a finite number"):
        read_pairs(unusual, second="b")
    path.write_text("gold;a;b\n1;x;y\n2;z\n")
    with pytest.raises(ValueError, match=r"line 3: .* .textkin.read\(\.\.\., errors='skip'\)"):
        read_pairs(unusual, second="b")
    skipping = tk.read(path, text="a", delimiter=";", id=False, errors="skip")
    data = read_pairs(skipping, second="b")
    assert (data.first, data.second) == (["x"], ["y"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gold\tsentence1\tsentence2\nhigh\ta\tb\n", "line 2: 'gold' must be a finite number"),
        ("gold\tsentence1\tsentence2\nnan\ta\tb\n", "line 2: 'gold' must be a finite number"),
        ("score\tsentence1\tsentence2\n1\ta\tb\n", "no field 'gold'; .* 'score', 'sentence2'"),
        ("gold\tsentence1\tother\n1\ta\tb\n", "line 2: there is no field 'sentence2'; apart from"),
        ("gold\tword1\tword2\n1\ta\tb\n", "no field 'sentence1'.* as in .first='word1'., .second="),
        ("gold\tsentence1\tsentence2\n1\ta\n", "line 2: has 2 fields, but the header has 3"),
        ("gold\tsentence1\tsentence2\n", "There are no pairs in"),
    ],
)
def test_invalid_pairs_files_raise(tmp_path, content, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_pairs(path)
    assert "pairs.tsv" in str(caught.value)


def test_inconsistent_pairs_raise(tmp_path):
    with pytest.raises(TypeError, match="must be lists of texts; got one text"):
        PairData("a", "b", np.zeros(1))
    with pytest.raises(ValueError, match=r"got 2, 1, shape \(2,\) and 2"):
        PairData(["a", "b"], ["c"], np.zeros(2))
    with pytest.raises(ValueError, match="got nan for pair 1"):
        PairData(["a", "b"], ["c", "d"], np.array([1, np.nan]))
    with pytest.raises(ValueError, match="first, second and gold must be three columns"):
        read_pairs([{"a": "x", "gold": 1}], first="a", second="a")
    path = tmp_path / "pairs.csv"
    path.write_text("gold,sentence1,sentence2\n1,aaaa,bbbb\n")
    with pytest.raises(ValueError, match="exceed max_bytes=8"):
        read_pairs(path, max_bytes=8)


def test_real_collections_and_pairs(shared_data):
    data = read_retrieval(shared_data / "retrieval" / "cacm")
    assert repr(data) == "RetrievalData(3204 documents, 64 queries, 796 judgments)"
    assert len(data.judged) == 52
    pairs = read_pairs(shared_data / "sts" / "sts2012-test.tsv.gz")
    assert [len(part) for part in pairs.by_set().values()] == [750, 750, 459, 750, 399]
    assert isinstance(data, RetrievalData)
