"""Files of judgments and runs: reading, writing, and errors with file and line."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.evaluate import average_precision, read_qrels, read_run, write_qrels, write_run

WORDS = st.text("a9#-é日", min_size=1, max_size=3)
QRELS = st.dictionaries(WORDS, st.dictionaries(WORDS, st.integers(-1, 3), min_size=1), min_size=1)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RUNS = st.dictionaries(WORDS, st.dictionaries(WORDS, SCORES, min_size=1), min_size=1)


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n",
        "q1\t0\td1\t1\r\nq1\t0\td2\t0\r\n\r\nq2\t0\td1\t2",
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td1\t2\n",
        "q1 d1 1\nq1 d2 0\nq2 d1 2\nq2 d1 2\n",
    ],
    ids=["trec", "tabs", "beir", "three columns"],
)
def test_judgments_with_three_or_four_columns(tmp_path, content):
    path = tmp_path / "qrels.tsv"
    for file in (path, path.with_name("qrels.tsv.gz")):
        file.write_bytes(gzip.compress(content.encode()) if file != path else content.encode())
        assert read_qrels(file) == {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}


def test_ids_between_tabs_can_have_spaces(tmp_path):
    path = tmp_path / "qrels.tsv"
    path.write_text("what is it\tdoc 7\t1\n")
    assert read_qrels(path) == {"what is it": {"doc 7": 1}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trec")


@settings(max_examples=10)
@given(qrels=QRELS, run=RUNS)
def test_written_files_are_read_back(folder, qrels, run):
    write_qrels(folder / "qrels", qrels)
    write_run(folder / "run.gz", run, tag="x")
    assert read_qrels(folder / "qrels") == qrels
    assert read_run(folder / "run.gz") == run


def test_ranked_lists_are_written_in_order(tmp_path):
    path = tmp_path / "run"
    write_run(path, {"q": ["b", "a", "c"]})
    assert path.read_text().splitlines()[0] == "q Q0 b 1 3.0 textkin"
    assert list(read_run(path)["q"]) == ["b", "a", "c"]
    qrels = {"q": {"a": 1}}
    assert average_precision(qrels, read_run(path)) == average_precision(qrels, {"q": list("bac")})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q 0 d 1\nq d\n", "line 2: a judgment must have 3 fields .* got 2"),
        ("q 0 d 1\nq 0 e yes\n", "line 2: the grade must be an integer; got 'yes'"),
        ("q 0 d 0.5\n", r"line 1: the grade must be an integer; got '0\.5'"),
        ("q 0 d 1\n\nq 0 d 2\n", "line 3: document 'd' has grade 2 for query 'q', and 1 further"),
        ("q\t\t1\n", "line 1: field 2 is empty"),
        ("a b c\n", "There are no judgments"),
        ("", "There are no judgments"),
        (b"q 0 \xff 1\n", "line 1: is not valid utf-8"),
        ("q 0 d\0 1\n", r"line 1: contains a NUL, so it is not text\. Repair"),
        ("q 0 " + "d" * (1 << 20) + " 1\n", "is longer than the limit of 1048576. Repair"),
        ("q d 0.5\nq e 1\n", r"line 1: the grade must be an integer; got '0\.5'"),
        ("q 0 d 1_0\n", "line 1: the grade must be an integer; got '1_0'"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else "bytes",
)
def test_invalid_judgments_raise(tmp_path, content, message):
    path = tmp_path / "qrels.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message) as caught:
        read_qrels(path)
    assert "qrels.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q Q0 d 1 0.5\n", "line 1: an answer must have 6 fields .* got 5"),
        ("q Q0 d 1 high x\n", "line 1: the score must be a finite number; got 'high'"),
        ("q Q0 d 1 1_0 x\n", "line 1: the score must be a finite number; got '1_0'"),
        ("q Q0 d 1 inf x\n", "line 1: the score must be a finite number; got 'inf'"),
        ("q Q0 d 1 2 x\nq Q0 d 2 1 x\n", "line 2: document 'd' comes twice for query 'q'"),
        ("\n", "There are no answers"),
    ],
)
def test_invalid_runs_raise(tmp_path, content, message):
    path = tmp_path / "run.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_run(path)


def test_missing_truncated_or_too_large_files_raise(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing"):
        read_qrels(tmp_path / "nothing")
    with pytest.raises(ValueError, match="is a folder"):
        read_qrels(tmp_path)
    path = tmp_path / "qrels.gz"
    path.write_bytes(gzip.compress(b"q 0 d 1\n" * 100)[:-10])
    with pytest.raises(ValueError, match="cannot be read"):
        read_qrels(path)
    path.write_bytes(gzip.compress(b"q 0 d 1\n" * 1000))
    with pytest.raises(ValueError, match="line 12: the documents up to here exceed max_bytes=100"):
        read_qrels(path, max_bytes=100)


def test_failed_write_leaves_the_file_unchanged(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")
    for write, wrong in (
        (write_qrels, {"q 1": {"d": 1}}),
        (write_qrels, {"q": {"": 1}}),
        (write_qrels, {"q": {"d": 0.5}}),
        (write_run, {"q": ["a\tb"]}),
        (write_run, {"q": {"d": float("inf")}}),
        (write_run, {"q": ["a\0b"]}),
        (write_run, {"q": ["\ud800"]}),
    ):
        with pytest.raises(ValueError, match="must be"):
            write(path, wrong)
    with pytest.raises(TypeError, match="run must hold the ids of queries, strings; got 7"):
        write_run(path, {7: ["a"]})
    with pytest.raises(ValueError, match="ties must be one of 'descending', 'ascending'"):
        write_run(path, {"q": {"a": 1}}, ties="random")
    with pytest.raises(FileNotFoundError, match=r"There is no folder '.*nowhere'; make it first"):
        write_run(tmp_path / "nowhere" / "run", {"q": ["a"]})
    with pytest.raises(IsADirectoryError, match=r"is a folder, and no file can take its name"):
        write_qrels(tmp_path, {"q": {"d": 1}})
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
