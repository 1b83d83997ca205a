"""Tests of single files: the documents of each format, and the errors for corrupt files."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textkin as tk
from textkin.reading import Document
from textkin.reading._formats import _decode_items

RECORDS = [
    {"id": "a", "text": "Cats purr.", "label": "pets", "year": 2015},
    {"id": "b", "text": "Stocks\nfell, “again”.", "label": "money", "year": 2020},
]
DOCUMENTS = [Document(r["id"], r["text"], r["label"], {"year": r["year"]}) for r in RECORDS]


def as_json_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def as_table(records, delimiter=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


@pytest.fixture
def put(tmp_path):
    """Return a function that writes a file, compressed if its name says so."""

    def write(name, content):
        content = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "A.JSONL"])
def test_json_records_are_read(put, name, packed):
    content = json.dumps(RECORDS) if name == "a.json" else as_json_lines(RECORDS)
    assert list(tk.read(put(name + packed, content))) == DOCUMENTS


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("a.tab", "\t")])
def test_table_records_are_read(put, name, delimiter, packed):
    path = put(name + packed, as_table(RECORDS, delimiter))
    strings = [
        Document(d.id, d.text, d.label, {"year": str(d.metadata["year"])}) for d in DOCUMENTS
    ]
    assert list(tk.read(str(path), quoted=True)) == strings


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a", "a.txt.gz", "a.gz", ".hidden", "a.log"])
def test_other_file_is_one_document(put, name):
    assert list(tk.read(put(name, "one\n\ntwo\n"))) == [Document(name, "one\n\ntwo\n")]


def test_empty_file_is_an_empty_text(put):
    assert list(tk.read(put("a.txt", ""))) == [Document("a.txt", "")]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", ""), ("a.jsonl", "\n \n"), ("a.json", "[]"), ("a.csv", "id,text\n")],
)
def test_file_without_records_gives_no_documents(put, name, content):
    documents = tk.read(put(name, content))
    assert list(documents) == []
    assert documents.skipped.count == 0


def test_missing_ids_are_file_and_line(put):
    assert tk.read(put("a.jsonl", '"one"\n\n{"text": "two"}')).ids == ["a.jsonl:1", "a.jsonl:3"]
    lines = 'text\n"one\nmore"\n\ntwo\n'
    assert tk.read(put("a.csv", lines)).ids == ["a.csv:2", "a.csv:5"]
    assert tk.read(put("a.json", '["one", {"text": "two"}]')).ids == ["a.json:1", "a.json:2"]
    assert tk.read(put("b.json", '{"text": "two"}')).ids == ["b.json"]


def test_json_lines_end_at_line_feeds_only(put):
    assert tk.read(put("a.jsonl", '"a\u2028b\x85c"\r\n"d"\r\n')).texts == ["a\u2028b\x85c", "d"]


def test_only_other_column_of_a_table_is_the_text(put):
    path = put("a.csv", "id,body,label\n1,one,x\n")
    assert list(tk.read(path)) == [Document("1", "one", "x")]
    with pytest.raises(ValueError, match="line 2: there is no field 'text'; there are 'a', 'b'"):
        list(tk.read(put("b.csv", "a,b\n1,2\n")))


def test_json_lines_without_text_field_raise(put):
    """JSON records have no common header, so the text field is never guessed."""
    with pytest.raises(ValueError, match=r"a.jsonl, line 1: there is no field 'text'; there are"):
        list(tk.read(put("a.jsonl", '{"id": 1, "title": "one"}\n')))


DAMAGE = {
    "broken JSON": ("a.jsonl", '"one"\n{"text": \n"three"\n', "line 2: is not valid JSON"),
    "deep JSON": ("a.jsonl", f'"one"\n{"[" * 100_000}\n"three"', "line 2: is not valid JSON"),
    "huge number": ("a.jsonl", f'"one"\n{"9" * 5000}\n"three"', "line 2: is not valid JSON"),
    "missing": ("a.jsonl", '"one"\n{"text": null}\n"three"', "line 2: .*'text'. is missing"),
    "NaN": ("a.jsonl", '"one"\n{"text": NaN}\n"three"', "line 2: .*'text'. is missing"),
    "null": ("a.jsonl", '"one"\nnull\n"three"', "line 2: the text is missing"),
    "number": ("a.jsonl", '"one"\n{"text": 5}\n"three"', "line 2: .* string; got 5 .int."),
    "no record": ("a.jsonl", '"one"\n["x"]\n"three"', "line 2: expected a text, a record"),
    "half a pair": ("a.jsonl", '"one"\n"\\ud800"\n"three"', "line 2: the text is not valid Unic"),
    "no id": ("a.jsonl", '"one"\n{"id": null, "text": ""}\n"three"', "line 2: the ID .*missing"),
    "empty id": ("a.jsonl", '"one"\n{"id": "", "text": ""}\n"three"', "line 2: the ID .*missing"),
    "odd id": ("a.jsonl", '"one"\n{"id": 1.5, "text": ""}\n"three"', "line 2: .*got 1.5 .float"),
    "yes as id": ("a.jsonl", '"one"\n{"id": true, "text": ""}\n"three"', "line 2: .*got True"),
    "id again": (
        "a.jsonl",
        '"one"\n{"id": "a.jsonl:1", "text": ""}\n"three"',
        "line 2: the ID 'a.jsonl:1' is used by .*a.jsonl, line 1; IDs must be distinct",
    ),
    "labels": (
        "a.jsonl",
        '"one"\n{"label": ["x", "y"], "text": ""}\n"three"',
        "line 2: the label .* .label=False. keeps it",
    ),
    "ragged": (
        "a.csv",
        "text,n\none,1\ntwo\nthree,3\n",
        "line 3: has 1 field, but the header has 2",
    ),
    "too many": ("a.csv", "text,n\none,1\na,b,c\nthree,3\n", "line 3: has 3 fields"),
    "stray quote": ("a.csv", 'text\none\n"a"b\nthree\n', "line 3: is not valid CSV.*quoted=False"),
    "bad item": ("a.json", '["one", 2, "three"]', "record 2: expected a text"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_corrupt_record_raises_with_position_or_is_skipped(put, damage):
    name, content, message = DAMAGE[damage]
    path = put(name, content)
    with pytest.raises((ValueError, TypeError), match=f"{name}, {message}") as caught:
        list(tk.read(path))
    assert str(caught.value).startswith(str(path))
    assert "errors='skip'" in str(caught.value)
    documents = tk.read(path, errors="skip")
    assert documents.texts == ["one", "three"]
    assert documents.skipped.count == 1
    [reason] = documents.skipped.reasons
    assert str(caught.value).startswith(reason)


WHOLE = {
    "not JSON": ("a.json", "{", "is not valid JSON"),
    "deep": ("a.json", "[" * 100_000, "is not valid JSON"),
    "JSON Lines": ("a.json", "{}\n{}\n", "JSON Lines must be named .jsonl"),
    "no header": ("a.csv", "", "is empty; the first line must name the columns"),
    "same names": ("a.csv", "text,text\n1,2\n", "several columns named 'text'"),
    "bad header": ("a.csv", b"t\xe9xt\n1\n", "its header is not valid utf-8"),
}


@pytest.mark.parametrize("damage", WHOLE)
def test_unreadable_file_raises(put, damage):
    name, content, message = WHOLE[damage]
    with pytest.raises(ValueError, match=f"{name}: .*{message}"):
        list(tk.read(put(name, content)))


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "a.csv.gz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "not gzip"])
def test_corrupt_gzip_raises(tmp_path, name, damage):
    content = gzip.compress(as_json_lines(RECORDS * 500).encode())
    broken = {
        "cut": content[:-20],
        "flipped": content[:100] + bytes([content[100] ^ 255]) + content[101:],
        "not gzip": b"plain",
    }[damage]
    (tmp_path / name).write_bytes(broken)
    with pytest.raises(ValueError, match=rf"{name}(, line \d+)?: "):
        list(tk.read(tmp_path / name, id=False))


def test_skipping_everything_raises(put):
    path = put("a.jsonl", '{"body": "one"}\n{"body": "two"}\n')
    with pytest.raises(ValueError, match=r"all were skipped \(2\). The first: .*line 1: there"):
        list(tk.read(path, errors="skip"))


def test_only_first_skip_reasons_are_kept(put):
    documents = tk.read(put("a.jsonl", '"one"\n' + "{\n" * 1000), errors="skip")
    assert documents.texts == ["one"]
    assert documents.skipped.count == 1000
    assert len(documents.skipped.reasons) == 20


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl", "a.csv"])
def test_document_above_max_bytes_raises(put, name, packed):
    content = {"a.csv": "text\nshort\n{}\n", "a.json": '["{}"]', "a.jsonl": '"short"\n"{}"\n"z"'}
    path = put(name + packed, content.get(name, "{}").format("x" * 1000))
    assert "x" * 1000 in tk.read(path).texts
    with pytest.raises(ValueError, match="is longer than the limit of 900; pass a larger"):
        list(tk.read(path, max_bytes=900))


def test_json_lines_resume_after_a_line_above_max_bytes(put):
    for length in range(8, 14):  # the limit is before, at, and after the end of the line
        path = put("a.jsonl", f'"short"\n"{"x" * length}"\n"z"\n')
        documents = tk.read(path, max_bytes=10, errors="skip")
        assert documents.texts == ["short", "z"], length
        assert "line 2: is longer" in documents.skipped.reasons[0]


def run_with_little_memory(folder, code, *names):
    """Run code in a process that may use 120 MB more than after loading textkin."""
    start = """
import resource, sys
import textkin as tk
tk.read([])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (120 << 20),) * 2)
"""
    done = subprocess.run(
        [sys.executable, "-c", start + code, *names], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_small_compressed_file_does_not_exhaust_memory(tmp_path):
    """Read 256 MB in one line in a process with less than half of that memory."""
    code = """
for name in sys.argv[1:]:
    try:
        list(tk.read(name, max_bytes=1 << 20))
    except ValueError as error:
        assert "longer than the limit of" in str(error), error
    else:
        raise AssertionError(name)
"""
    names = ["a.txt.gz", "a.jsonl.gz", "a.csv.gz"]
    block = gzip.compress(b"x" * (1 << 22))
    for name in names:
        first = gzip.compress(b"text\n" if name == "a.csv.gz" else b'"')
        (tmp_path / name).write_bytes(first + block * 64)
    run_with_little_memory(tmp_path, code, *names)


def test_list_of_small_records_does_not_exhaust_memory(tmp_path):
    """Read 16 MB of JSON, whose records would take 400 MB if decoded at once."""
    (tmp_path / "a.json").write_text('["one"' + ",{}" * (5 << 20) + "]")
    run_with_little_memory(tmp_path, 'assert next(iter(tk.read("a.json"))).text == "one"')


def test_fields_above_the_default_limit_of_csv_are_read(put):
    assert tk.read(put("a.csv", f"text\n{'x' * 300_000}\n")).texts == ["x" * 300_000]


def test_quotation_marks_in_tsv_are_plain_text_by_default(put):
    path = put("a.tsv", 'id\ttext\n1\t"Hello," she said.\n2\t6" nails\n')
    assert tk.read(path).texts == ['"Hello," she said.', '6" nails']


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_output_of_csv_module_round_trips(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("text", "note"), *rows])
    found = [(d.text, d.metadata["note"]) for d in tk.read(path)]
    assert found == rows


@settings(max_examples=50)
@given(st.lists(CELLS, max_size=5), st.booleans())
def test_output_of_json_module_round_trips(tmp_path_factory, texts, ascii_only):
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    content = "".join(json.dumps({"text": t}, ensure_ascii=ascii_only) + "\n" for t in texts)
    path.write_bytes(content.encode())
    assert tk.read(path).texts == texts


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=4), st.sampled_from([None, 1]), st.data())
def test_items_of_a_list_equal_decoding_at_once(items, indent, data):
    text = json.dumps(items, indent=indent)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 2, len(text))))
    text = text[:start] + data.draw(st.text('[]{},:" \n1', max_size=2)) + text[end:]
    text = f"[{text.removeprefix('[')}"
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"\(char \d+\)"):
            list(_decode_items(text, 1))
    else:
        assert list(_decode_items(text, 1)) == expected


def test_items_before_a_syntax_error_are_read(put):
    path = put("a.json", '["one", {"text": "two"}, {"text": ]')
    documents = tk.read(path, errors="skip")
    assert documents.texts == ["one", "two"]
    assert documents.skipped.reasons == (
        f"{path}: is not valid JSON (Expecting value: line 1 column 35 (char 34)); JSON Lines must "
        "be named .jsonl; lines after record 2 are not read",
    )


def test_reader_returns_a_text_a_record_or_several(put):
    path = put("a.html", "<p>one</p><p>two</p>")

    def paragraphs_of(path):
        return path.read_text().removeprefix("<p>").removesuffix("</p>").split("</p><p>")

    assert list(tk.read(path, reader=lambda p: "text")) == [Document("a.html", "text")]
    assert list(tk.read(path, reader=paragraphs_of)) == [
        Document("a.html:1", "one"),
        Document("a.html:2", "two"),
    ]
    record = {"text": "one", "pages": 3}
    assert list(tk.read(path, reader=lambda p: record)) == [
        Document("a.html", "one", metadata={"pages": 3})
    ]
    assert list(tk.read(path, reader=lambda p: Document("x", "y"))) == [Document("x", "y")]


def test_open_file_returned_by_reader_is_closed(put):
    path = put("a.txt", "one\ntwo\n")
    opened = []

    def reader(path):
        opened.append(path.open())
        return opened[-1]

    assert tk.read(path, reader=reader).texts == ["one\n", "two\n"]
    assert opened[0].closed


def test_exception_in_a_reader_names_the_file(put):
    path = put("a.pdf", "%PDF")

    def broken(path):
        raise KeyError("page")

    def breaks(path):
        yield "one"
        raise RuntimeError("torn")

    with pytest.raises(ValueError, match=r"a.pdf: the reader failed: KeyError: 'page'") as caught:
        list(tk.read(path, reader=broken))
    assert isinstance(caught.value.__cause__, KeyError)
    documents = tk.read(path, reader=breaks, errors="skip")
    assert documents.texts == ["one"]
    assert "after record 1: RuntimeError: torn" in documents.skipped.reasons[0]


@pytest.mark.parametrize("frame", [pd.read_csv, pl.read_csv], ids=["pandas", "polars"])
def test_reader_may_return_a_table(put, frame):
    """A DataFrame needs its own branch, because iteration gives column names."""
    path = put("one.csv", "id,body,n\n7,cats,1\n8,dogs,2\n")
    assert list(tk.read(path, reader=frame, text="body")) == [
        Document("7", "cats", metadata={"n": 1}),
        Document("8", "dogs", metadata={"n": 2}),
    ]
    column = tk.read(path, reader=lambda path: frame(path)["body"])
    assert list(column) == [Document("one.csv:1", "cats"), Document("one.csv:2", "dogs")]
    only = tk.read(path, reader=lambda path: frame(path)[["id", "body"]])
    assert only.texts == ["cats", "dogs"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text", "got bytes"),
        (None, "got NoneType"),
        ({"one", "two"}, "got a set, which has no order"),
        (pl.DataFrame({"text": ["a"]}).lazy(), r"got LazyFrame: pass what its collect\(\) returns"),
        ([Path("b.pdf")], "expected a text, a record"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "columns must be distinct"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_invalid_result_of_a_reader_raises(put, content, message):
    with pytest.raises((TypeError, ValueError), match=f"a.pdf.*: .*{message}"):
        list(tk.read(put("a.pdf", ""), reader=lambda path: content))


@pytest.mark.parametrize(
    "source", ["", "no such file.txt", "A text, not a path.", "x" * 5000, "nul\0", "line\nline"]
)
def test_string_is_a_path(source):
    with pytest.raises(FileNotFoundError, match="to read texts, pass a list of them"):
        tk.read(source)


def test_pipes_and_devices_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for path in (tmp_path / "pipe.txt", "/dev/zero"):
        with pytest.raises(ValueError, match="is not a regular file"):
            list(tk.read(path))


def test_file_deleted_before_reading_raises(put):
    path = put("a.txt", "one")
    documents = tk.read(path, progress=lambda done, total: None)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"a.txt"):
        list(documents)


def test_each_iteration_reads_the_file_again(put):
    path = put("a.jsonl", '"one"\n')
    documents = tk.read(path)
    first, second = iter(documents), iter(documents)
    assert next(first).text == next(second).text == "one"
    put("a.jsonl", '"two"\n"three"\n')
    assert documents.texts == ["two", "three"]


def test_reading_is_lazy(put):
    lines = iter(tk.read(put("a.jsonl", '"one"\n"two"\n{')))
    assert [next(lines).text, next(lines).text] == ["one", "two"]
    with pytest.raises(ValueError, match="line 3"):
        next(lines)


def test_progress_counts_bytes_to_the_end(put):
    path = put("a.jsonl.gz", "".join(f'"text {i}"\n' for i in range(2000)))
    seen = []
    list(tk.read(path, progress=lambda done, total: seen.append((done, total))))
    size = path.stat().st_size
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)
    assert {total for _, total in seen} == {size}


def test_exception_in_progress_callback_stops_reading(put):
    path = put("a.jsonl", '"text"\n' * 2000)

    def stop(done, total):
        raise KeyboardInterrupt

    documents = tk.read(path, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        list(documents)
    assert documents.skipped is None


def test_shared_data_sets_are_read(shared_data):
    news = tk.read(shared_data / "classification" / "r8.jsonl.gz")
    assert len(set(news.ids)) == 7674
    assert len(set(news.labels)) == 8
    pairs = tk.read(shared_data / "sts" / "sts2013-test.tsv.gz", text="sentence1", label="gold")
    assert len(list(pairs)) == 2250
    cranfield = shared_data / "retrieval" / "cran"
    documents = list(tk.read(cranfield, pattern="docs.*"))
    assert len(documents) == 1400
    assert sum(not document.text for document in documents) == 2
