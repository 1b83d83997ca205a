"""Tests of decoding, for whole files and for lines."""

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textkin as tk
from textkin.reading._encoding import decode_text

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


def reference_detect(content):
    """Decode by the documented rule of "detect"."""
    for encoding in ("utf-8", "cp1252", "latin-1"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            pass
    raise AssertionError("every byte is valid Latin-1")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def write_kind(folder, kind, text, encoding, mark=b""):
    path = folder / kind
    path.write_bytes(mark + KINDS[kind].format(text).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", MARKED)
def test_byte_order_mark_decides_encoding(tmp_path, kind, encoding):
    path = write_kind(tmp_path, kind, TEXT, encoding, MARKED[encoding])
    for chosen in (None, "detect", encoding):
        assert tk.read(path, encoding=chosen).texts == [TEXT]


def test_utf8_without_mark_is_read(tmp_path, kind):
    path = write_kind(tmp_path, kind, TEXT, "utf-8")
    assert tk.read(path).texts == [TEXT]
    assert tk.read(path, encoding="detect").texts == [TEXT]


def test_invalid_utf8_raises_error_with_position(tmp_path, kind):
    path = write_kind(tmp_path, kind, "naïve", "cp1252")
    where = KINDS[kind].split("{}")[0].replace("{{", "{").split("\n")[-1]
    with pytest.raises(ValueError, match=rf"a\.\w+.*byte {len(where) + 2}\b.*0xef.*'cp1252'"):
        tk.read(path).texts  # noqa: B018
    assert tk.read(path, encoding="cp1252").texts == ["naïve"]
    assert tk.read(path, encoding="detect").texts == ["naïve"]


def test_bytes_undefined_in_windows_1252_are_latin_1(tmp_path, kind):
    path = write_kind(tmp_path, kind, "a\x81é", "latin-1")
    assert tk.read(path, encoding="detect").texts == ["a\x81é"]


def test_detect_reads_compressed_files(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress('{"text": "é"}\n'.encode("cp1252")))
    assert tk.read(tmp_path / "a.jsonl.gz", encoding="detect").texts == ["é"]


@given(st.binary(max_size=40).filter(lambda b: b"\0" not in b and b[:2] not in (b"\xff\xfe",)))
def test_detect_equals_reference(content):
    if any(content.startswith(mark) for mark in MARKED.values()):
        return
    expected = reference_detect(content).replace("\r\n", "\n").replace("\r", "\n")
    assert decode_text(content, "detect") == expected


@given(st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"])))
def test_every_marked_encoding_round_trips(text):
    for encoding, mark in MARKED.items():
        if encoding == "utf-16-le" and text.startswith("\0"):
            continue
        assert decode_text(mark + text.encode(encoding), None) == text


def test_invalid_bytes_affect_only_their_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n{"text": "na\xefve"}\n{"text": "three"}\n')
    documents = tk.read(path, errors="skip")
    assert documents.texts == ["one", "three"]
    assert documents.skipped.count == 1
    assert documents.skipped.reasons[0].startswith(f"{path}, line 2: is not valid utf-8")


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_truncated_utf16_raises(tmp_path, name):
    content = "text\nabc\n" if name == "a.csv" else '"abc"\n"x"'
    (tmp_path / name).write_bytes(codecs.BOM_UTF16_LE + content.encode("utf-16-le")[:-1])
    with pytest.raises(ValueError, match=r"a\.\w+.* is not valid utf-16-le"):
        list(tk.read(tmp_path / name))


def test_nul_character_raises(tmp_path, kind):
    path = write_kind(tmp_path, kind, "a\0b", "utf-8")
    with pytest.raises(ValueError, match=r"contains a NUL, so it is not text; pass .reader."):
        list(tk.read(path))


def test_line_ends_in_plain_text_become_lf(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert tk.read(tmp_path / "a.txt").texts == ["one\ntwo\nthree\n"]


@pytest.mark.parametrize("name", ["klingon", "zlib", "rot13", "utf-8\0", "undefined", ""])
def test_unknown_encoding_raises(name):
    with pytest.raises(ValueError, match="encoding must be the name of a text encoding"):
        tk.read(["a"], encoding=name)


def test_encoding_that_is_not_a_string_raises():
    with pytest.raises(TypeError, match="encoding must be a string or None; got 8"):
        tk.read(["a"], encoding=8)
