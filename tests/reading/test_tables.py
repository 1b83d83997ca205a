"""Tests of corrupt CSV and TSV files: skipped rows, reported errors, and where reading resumes."""

import csv
import gzip
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import textkin as tk
from textkin.reading import Document
from textkin.reading._document import BadRow
from textkin.reading._encoding import LineReader
from textkin.reading._tables import parse_records

DIALECT = {"delimiter": ",", "quoting": csv.QUOTE_MINIMAL, "strict": True}


@pytest.fixture
def put(tmp_path):
    """Return a function that writes a CSV file."""

    def write(content):
        path = tmp_path / "a.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def reference_records(text):
    """Read one record after another; if a record is broken, skip only its first line."""
    lines = text.splitlines(keepends=True)
    start = 0
    while start < len(lines):
        reader = csv.reader(lines[start:], **DIALECT)
        try:
            cells, taken = next(reader), reader.line_num
        except csv.Error:
            cells, taken = None, 1
        if cells != []:
            yield start + 1, cells
        start += taken


@given(st.text(st.sampled_from('ab",\n'), max_size=40))
@example('a","\n' * 20)
def test_resuming_after_a_broken_record_equals_reference(text):
    lines = LineReader(io.BytesIO(text.encode()), None, 1000, newline="")
    found = [(n, None if isinstance(c, BadRow) else c) for n, c in parse_records(lines, DIALECT)]
    assert found == list(reference_records(text))


class CountedLines(LineReader):
    """Line reader that counts how many lines were read."""

    count = 0

    def __next__(self):
        self.count += 1
        return super().__next__()


@pytest.mark.parametrize("max_bytes", [3000, 1 << 26])
def test_no_line_is_read_more_than_a_few_times(max_bytes):
    """Read lines that each open a quotation up to the end of the file, after closing one."""
    lines = CountedLines(io.BytesIO(b'a","\n' * 2000), None, max_bytes, newline="")
    assert len(list(parse_records(lines, DIALECT))) == 2000
    assert lines.count < 4 * 2000


def test_stray_quotation_mark_affects_only_its_row(put):
    """It used to start a field up to the end of the file, which lost almost all documents."""
    rows = [f"{n},text {n}" for n in range(1, 20_001)]
    rows[9] = '10,"5"" disk'
    documents = tk.read(put("\n".join(["id,text", *rows])), errors="skip")
    assert documents.ids == [str(n) for n in range(1, 20_001) if n != 10]
    assert documents.skipped.count == 1
    assert "a.csv, line 11: is not valid CSV (unexpected end" in documents.skipped.reasons[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("max_bytes", range(20, 40))
def test_stray_quotation_mark_with_any_max_bytes_affects_only_its_row(put, end, max_bytes):
    rows = ["id,text", "1,one", '2,"two', *(f"{n},row {n}" for n in range(3, 30)), '30,"a', 'b"']
    documents = tk.read(put(end.join(rows)), errors="skip", max_bytes=max_bytes)
    expected = ["1", *map(str, range(3, 31))]
    assert [(d.id, d.text) for d in documents] == [
        (n, {"1": "one", "30": f"a{end}b"}.get(n, f"row {n}")) for n in expected
    ]
    [reason] = documents.skipped.reasons
    assert f"line 3: is longer than the limit of {max_bytes}" in reason


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("length", range(5, 16))
def test_reading_resumes_after_a_line_above_max_bytes(put, end, length):
    rows = ["text", "x" * length, "short", "x" * length, "end"]
    documents = tk.read(put(end.join(rows)), errors="skip", max_bytes=10)
    fits = length + len(end) <= 10
    whole = ["x" * length] * fits
    assert documents.texts == [*whole, "short", *whole, "end"]
    assert documents.ids == ["a.csv:2"] * fits + ["a.csv:3"] + ["a.csv:4"] * fits + ["a.csv:5"]
    assert documents.skipped.count == 2 * (not fits)


def test_two_stray_marks_around_rows_affect_only_their_rows(put):
    """The quoted part is valid CSV with too few fields, but each of its lines is a row."""
    path = put('id,size,text\n1,"5,disk\n2,4,key\n\n3,6,"pen, red"\n4,7",lamp\n5,1,end\n')
    documents = tk.read(path, errors="skip")
    assert documents.texts == ["key", "pen, red", "lamp", "end"]
    assert documents.skipped.count == 1
    path = put('id,text,n\n1,"5,x\n2,two,2\n3,6"\n4,four,4\n')
    documents = tk.read(path, errors="skip")
    assert documents.ids == ["4"]
    assert documents.skipped.reasons == (
        f"{path}, line 2: has 2 fields, but the header has 3; it continues to line 4; if its "
        "quotation marks are plain text, pass `quoted=False`",
    )


@pytest.mark.parametrize("names", ["text,n", "text"])
def test_lines_of_a_quoted_text_are_never_rows(put, names):
    """An extra field or an invalid byte must not turn quoted lines into documents."""
    good = "good,1" if names == "text,n" else "good"
    for letter in (b'"Hello Ann, Bob\nand all,\nbye",1,2', b'"Hello\n\xff\nbye"'):
        path = put(names.encode() + b"\n" + letter + b"\n" + good.encode() + b"\n")
        documents = tk.read(path, errors="skip")
        assert documents.texts == ["good"]
        assert documents.skipped.count == 1
        assert "line 2: " in documents.skipped.reasons[0]
        assert "it continues to line 4" in documents.skipped.reasons[0]


def test_unclosed_quotation_is_reported_with_its_first_line(put):
    path = put('text\none\n"two\n' + "three\n" * 100)
    with pytest.raises(ValueError, match=r"a.csv, line 3: is not valid CSV .*quoted=False"):
        list(tk.read(path))
    with pytest.raises(ValueError, match=r"a.csv, line 3: is longer .*quoted=False"):
        list(tk.read(path, max_bytes=50))
    assert len(tk.read(path, quoted=False).texts) == 102
    assert len(tk.read(path, errors="skip").texts) == 101


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "§"])
def test_delimiters_are_recognized(tmp_path, name, delimiter, packed):
    content = delimiter.join(["id", "text"]) + "\n" + delimiter.join(["1", "Bonjour"]) + "\n"
    path = tmp_path / (name + packed)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert list(tk.read(path, delimiter=delimiter)) == [Document("1", "Bonjour")]
    assert list(tk.read(tmp_path, pattern="*", delimiter=delimiter)) == [Document("1", "Bonjour")]


def test_unexpected_semicolons_are_reported(put):
    with pytest.raises(ValueError, match=r"line 2: there is no field 'text'; .*delimiter=';'"):
        list(tk.read(put("id;text\n1;Bonjour\n")))
    with pytest.raises(
        ValueError, match=r"line 2: has 2 fields, but the header has 1; .*delimiter=';'"
    ):
        list(tk.read(put("id;text\n1;Bonjour, Anne\n")))
    with pytest.raises(ValueError, match=r"all were skipped \(2\).*delimiter=';'"):
        list(tk.read(put("id;text\n1;Bonjour\n2;Salut\n"), errors="skip"))


def test_delimiter_for_other_files_raises(tmp_path):
    (tmp_path / "a.txt").write_text("id;text\n")
    with pytest.raises(ValueError, match=r"delimiter is for files that end in .csv.*got 'a.txt'"):
        tk.read(tmp_path / "a.txt", delimiter=";")
