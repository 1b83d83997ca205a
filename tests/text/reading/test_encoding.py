"""Bytes to text: the stated rule, whole files and lines alike."""

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textkin as tk
from textkin.text.reading._encoding import decoded

TEXT = "Zoë said “naïve” – 東京 😀"
MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
KINDS = {
    "a.txt": "{}",
    "a.jsonl": '{{"text": "{}"}}\n',
    "a.json": '[{{"text": "{}"}}]',
    "a.csv": "text\n{}\n",
    "a.tsv": "text\n{}\n",
}


def slow_detect(content):
    """The rule of "detect", as it is stated."""
    for encoding in ("utf-8", "cp1252", "latin-1"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            pass
    raise AssertionError("every byte is valid Latin-1")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def written(folder, kind, text, encoding, mark=b""):
    path = folder / kind
    path.write_bytes(mark + KINDS[kind].format(text).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", MARKED)
def test_a_byte_order_mark_decides(tmp_path, kind, encoding):
    path = written(tmp_path, kind, TEXT, encoding, MARKED[encoding])
    for chosen in (None, "detect", encoding):
        assert tk.read(path, encoding=chosen).texts == [TEXT]


def test_utf8_without_a_mark(tmp_path, kind):
    path = written(tmp_path, kind, TEXT, "utf-8")
    assert tk.read(path).texts == [TEXT]
    assert tk.read(path, encoding="detect").texts == [TEXT]


def test_what_is_not_utf8_is_an_error_that_says_where(tmp_path, kind):
    path = written(tmp_path, kind, "naïve", "cp1252")
    where = KINDS[kind].split("{}")[0].replace("{{", "{").split("\n")[-1]
    with pytest.raises(ValueError, match=rf"a\.\w+.*byte {len(where) + 2}\b.*0xef.*'cp1252'"):
        tk.read(path).texts  # noqa: B018
    assert tk.read(path, encoding="cp1252").texts == ["naïve"]
    assert tk.read(path, encoding="detect").texts == ["naïve"]


def test_bytes_that_windows_1252_lacks_are_latin_1(tmp_path, kind):
    path = written(tmp_path, kind, "a\x81é", "latin-1")
    assert tk.read(path, encoding="detect").texts == ["a\x81é"]


def test_detect_reads_compressed_files_twice(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress('{"text": "é"}\n'.encode("cp1252")))
    assert tk.read(tmp_path / "a.jsonl.gz", encoding="detect").texts == ["é"]


@given(st.binary(max_size=40).filter(lambda b: b"\0" not in b and b[:2] not in (b"\xff\xfe",)))
def test_detect_against_the_slow_rule(content):
    if any(content.startswith(mark) for mark in MARKED.values()):
        return
    expected = slow_detect(content).replace("\r\n", "\n").replace("\r", "\n")
    assert decoded(content, "detect") == expected


@given(st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"])))
def test_texts_come_back_from_every_marked_encoding(text):
    for encoding, mark in MARKED.items():
        if encoding == "utf-16-le" and text.startswith("\0"):
            continue
        assert decoded(mark + text.encode(encoding), None) == text


def test_bad_bytes_spoil_only_their_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n{"text": "na\xefve"}\n{"text": "three"}\n')
    documents = tk.read(path, errors="skip")
    assert documents.texts == ["one", "three"]
    assert documents.skipped.count == 1
    assert documents.skipped.reasons[0].startswith(f"{path}, line 2: is not valid utf-8")


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_utf16_that_is_cut_in_the_middle(tmp_path, name):
    content = "text\nabc\n" if name == "a.csv" else '"abc"\n"x"'
    (tmp_path / name).write_bytes(codecs.BOM_UTF16_LE + content.encode("utf-16-le")[:-1])
    with pytest.raises(ValueError, match=r"a\.\w+.* is not valid utf-16-le"):
        list(tk.read(tmp_path / name))


def test_nul_is_no_text(tmp_path, kind):
    path = written(tmp_path, kind, "a\0b", "utf-8")
    with pytest.raises(ValueError, match="holds a NUL, so it is no text; pass reader="):
        list(tk.read(path))


def test_every_end_of_line_is_lf_in_plain_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert tk.read(tmp_path / "a.txt").texts == ["one\ntwo\nthree\n"]


@pytest.mark.parametrize("name", ["klingon", "zlib", "rot13", "utf-8\0", "undefined", ""])
def test_what_is_no_text_encoding(name):
    with pytest.raises(ValueError, match="encoding must be the name of a text encoding"):
        tk.read(["a"], encoding=name)


def test_an_encoding_that_is_no_string():
    with pytest.raises(TypeError, match="encoding must be a string or None; got 8"):
        tk.read(["a"], encoding=8)
