"""Tests of in-memory texts, records and tables, Parquet files, and the arguments of `read`."""

import pickle
import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import textkin as tk
from textkin.reading import Document

COLUMNS = {
    "id": [3, 4],
    "text": ["one", ""],
    "label": ["x", None],
    "year": [2015.0, None],
    "day": [date(2020, 1, 1), date(2020, 1, 2)],
}
DOCUMENTS = [
    Document("3", "one", "x", {"year": 2015.0, "day": date(2020, 1, 1)}),
    Document("4", "", None, {"year": None, "day": date(2020, 1, 2)}),
]


class FakeDataset:
    """The interface of a Hugging Face data set that `read` uses."""

    def __init__(self, columns):
        self.column_names = list(columns)
        self._columns = columns

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def __iter__(self):
        for cells in zip(*self._columns.values(), strict=True):
            yield dict(zip(self.column_names, cells, strict=True))


def as_parquet(columns, folder):
    path = folder / "a.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


TABLES = {
    "pandas": lambda columns, folder: pd.DataFrame(columns),
    "polars": lambda columns, folder: pl.DataFrame(columns),
    "fake dataset": lambda columns, folder: FakeDataset(columns),
    "parquet": as_parquet,
}


@pytest.fixture(params=TABLES)
def table(request, tmp_path):
    return lambda columns: TABLES[request.param](columns, tmp_path)


def test_all_table_types_give_the_same_documents(table):
    assert list(tk.read(table(COLUMNS))) == DOCUMENTS


def test_columns_can_be_named(table):
    columns = {"text": ["a", "b"], "body": ["one", "two"], "key": ["k1", "k2"], "class": [0, 1]}
    documents = list(tk.read(table(columns), text="body", id="key", label="class"))
    assert documents == [
        Document("k1", "one", 0, {"text": "a"}),
        Document("k2", "two", 1, {"text": "b"}),
    ]
    assert all(type(document.label) is int for document in documents)


def test_only_remaining_column_is_the_text(table):
    assert tk.read(table({"id": [1, 2], "body": ["one", "two"], "label": [0, 1]})).texts == [
        "one",
        "two",
    ]
    with pytest.raises(ValueError, match="there is no field 'text'; there are 'a', 'b'"):
        list(tk.read(table({"a": ["x"], "b": ["y"]})))


def test_column_name_with_delimiters_raises_unless_named(table):
    """Such a name results from a wrong delimiter, in pandas too."""
    for name in ("id;text", "id\ttext", "id|text", "id,text"):
        source = table({name: ["1;Bonjour"]})
        with pytest.raises(
            ValueError, match=r"looks like several names; pass .delimiter='(;|\\t|\||,)'"
        ):
            list(tk.read(source))
        with pytest.raises(ValueError, match="there is no field 'text'; there is"):
            list(tk.read(source, id=name))
        assert tk.read(source, text=name).texts == ["1;Bonjour"]
    assert tk.read(table({"id": [1], "what; and how": ["a"]})).texts == ["a"]


def test_missing_text_raises_or_is_skipped(table):
    source = table({"text": ["one", None, "three"], "n": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"(position 1|row 2): the text .field 'text'. is missing"):
        list(tk.read(source))
    documents = tk.read(source, errors="skip")
    assert documents.texts == ["one", "three"]
    assert documents.skipped.count == 1


def test_numbers_as_text_raise(table):
    with pytest.raises(TypeError, match=r"must be a string; got 1 \(int\)"):
        list(tk.read(table({"text": [1, 2], "n": [1, 2]})))


def test_missing_field_raises(table):
    for name in ("text", "id", "label"):
        with pytest.raises(ValueError, match="there is no field 'body'; there are 'id', 'text'"):
            list(tk.read(table(COLUMNS), **{name: "body"}))


def test_id_and_label_false_ignore_these_columns(table):
    columns = {"id": ["same", "same"], "text": ["one", "two"], "label": [["x"], ["y", "z"]]}
    first, second = tk.read(table(columns), id=False, label=False)
    assert first.id != second.id
    assert first.metadata["id"] == "same"
    assert list(second.metadata["label"]) == ["y", "z"]


def test_empty_table_gives_no_documents(table):
    documents = tk.read(table({"text": []}))
    assert list(documents) == []
    assert documents.skipped.count == 0


def test_progress_counts_rows(table, tmp_path):
    source = table({"text": ["t"] * 1000, "n": list(range(1000))})
    seen = []
    list(tk.read(source, progress=lambda done, total: seen.append((done, total))))
    total = source.stat().st_size if hasattr(source, "stat") else 1000
    assert seen == sorted(seen)
    assert len(seen) >= 4
    assert seen[-1] == (total, total)


@pytest.mark.parametrize("series", [pd.Series, pl.Series, np.array, tuple])
def test_series_and_sequences_of_texts_are_read(series):
    documents = list(tk.read(series(["one", "zwei", "三"])))
    assert documents == [Document("0", "one"), Document("1", "zwei"), Document("2", "三")]
    assert all(type(document.text) is str for document in documents)


def test_series_with_index_named_like_attributes_is_read():
    assert tk.read(pd.Series(["a", "b"], index=["read", "keys"])).texts == ["a", "b"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None]),
        pd.Series(["a", np.nan], dtype=object),
        pd.Series(["a", pd.NA], dtype="string"),
        pd.Series(["a", pd.NaT], dtype=object),
        pl.Series(["a", None]),
    ],
)
def test_every_missing_value_as_text_raises(column):
    with pytest.raises(ValueError, match="position 1: the text is missing"):
        list(tk.read(column))


def test_missing_metadata_and_labels_become_none():
    frame = pd.DataFrame(
        {
            "text": ["a"],
            "label": pd.Series([pd.NA], dtype="Int64"),
            "when": [pd.NaT],
            "n": [np.nan],
            "f": np.array([np.nan], dtype=np.float32),
        }
    )
    [document] = tk.read(frame)
    assert document == Document("0", "a", None, {"when": None, "n": None, "f": None})


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.complex64(1j), 1j),
        (np.longdouble("nan"), None),
        (np.datetime64("NaT"), None),
        (np.timedelta64("NaT"), None),
    ],
)
def test_numpy_numbers_in_metadata_become_python_numbers(value, kept):
    [document] = tk.read([{"text": "a", "value": value}])
    assert document.metadata["value"] == kept
    assert type(document.metadata["value"]) is type(kept)


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("2020-01-01T00:00:00.000000001", "ns"),
        np.datetime64("2020-01-01"),
        np.timedelta64(5, "ns"),
        np.bytes_(b"a"),
        np.array(3),
        np.array([1, 2]),
        pd.Timestamp("2020-01-01"),
        date(2020, 1, 1),
    ],
)
def test_other_metadata_are_unchanged(value):
    [document] = tk.read([{"text": "a", "value": value}])
    assert document.metadata["value"] is value


def test_duplicate_column_names_raise():
    frame = pd.DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(ValueError, match="names of the columns must be distinct"):
        list(tk.read(frame))


def test_invalid_parquet_file_raises(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(ValueError, match=r"a.parquet: is not valid Parquet \("):
        list(tk.read(tmp_path / "a.parquet"))


def test_corrupt_parquet_file_raises(tmp_path):
    columns = {"text": [f"text {i}" * 50 for i in range(500)]}
    path = as_parquet(columns, tmp_path)
    content = bytearray(path.read_bytes())
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.parquet(: is not valid Parquet|, row)"):
        list(tk.read(path))


def test_bytes_in_parquet_text_column_raise(tmp_path):
    with pytest.raises(TypeError, match=r"row 1: .* must be a string; got b'a' .bytes."):
        list(tk.read(as_parquet({"text": [b"a"]}, tmp_path)))


def test_missing_pyarrow_raises_error_with_install_command(tmp_path, monkeypatch):
    path = as_parquet({"text": ["a"]}, tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'textkin\[parquet\]'"):
        list(tk.read(path, errors="skip"))


def test_hugging_face_data_set_is_read():
    datasets = pytest.importorskip("datasets")
    source = datasets.Dataset.from_dict({"body": ["one", "two"], "label": [0, 1]})
    assert list(tk.read(source)) == [Document("0", "one", 0), Document("1", "two", 1)]
    with pytest.raises(TypeError, match=r"source\['train'\]"):
        tk.read(datasets.DatasetDict(train=source))
    stream = tk.read(source.to_iterable_dataset(), text="body")
    assert stream.texts == stream.texts == ["one", "two"]


def test_texts_records_and_documents_can_be_mixed():
    found = list(tk.read(["one", {"text": "two", "n": np.int64(2)}, Document("x", "three")]))
    assert found == [
        Document("0", "one"),
        Document("1", "two", metadata={"n": 2}),
        Document("x", "three"),
    ]
    assert type(found[1].metadata["n"]) is int
    assert list(tk.read(tk.read(found))) == found


def test_duplicate_texts_are_two_documents():
    assert tk.read(["a", "a"]).ids == ["0", "1"]


def test_duplicate_ids_raise():
    records = [{"id": 1, "text": "a"}, {"id": "1", "text": "b"}]
    with pytest.raises(ValueError, match="position 1: the ID '1' is used by position 0"):
        list(tk.read(records))
    assert tk.read(records, errors="skip").texts == ["a"]


def test_iterator_can_be_read_only_once():
    documents = tk.read(text for text in ["a", "b"])
    assert documents.texts == ["a", "b"]
    with pytest.raises(ValueError, match=r"was read already; .* list.textkin.read"):
        list(documents)
    endless = tk.read("text" for _ in iter(int, 1))
    assert next(iter(endless)).text == "text"


def test_exception_in_the_iterable_is_propagated():
    def broken():
        yield "a"
        raise RuntimeError("torn")

    with pytest.raises(RuntimeError, match="torn"):
        list(tk.read(broken(), errors="skip"))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (("a", "b"), "convert tuples to records"),
        (["a", "b"], "join tokens to a text first"),
        (b"a", "decode it first"),
        (3, r"got 3 \(int\)"),
        (True, r"got True \(bool\)"),
    ],
)
def test_invalid_item_raises(item, message):
    with pytest.raises(TypeError, match=f"position 0: expected a text.*{message}"):
        list(tk.read([item]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": "text"}, "got a mapping"),
        ({"a"}, "got a set, which has no order: pass it sorted"),
        (frozenset("a"), "got a frozenset, which has no order"),
        (b"a.txt", "got bytes. Pass the path"),
        (sys.stdout, "instead of the open file"),
        (None, "got NoneType"),
        (3, "got int"),
        (pl.DataFrame({"text": ["a"]}).lazy(), r"LazyFrame: pass what its collect\(\) returns"),
    ],
)
def test_invalid_source_raises(source, message):
    with pytest.raises(TypeError, match=message):
        tk.read(source)


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": 3},
        {"text": False},
        {"id": True},
        {"label": 0},
        {"errors": "ignore"},
        {"split": "sentence"},
        {"quoted": "yes"},
        {"delimiter": ""},
        {"delimiter": ";;"},
        {"delimiter": '"'},
        {"delimiter": "\n"},
        {"delimiter": 59},
        {"delimiter": b";"},
        {"max_bytes": 0},
        {"max_bytes": None},
        {"reader": "pdf"},
        {"progress": True},
    ],
)
def test_invalid_argument_raises(arguments):
    [name] = arguments
    with pytest.raises((ValueError, TypeError), match=f"^{name} must be"):
        tk.read(["a"], **arguments)


def test_reader_for_a_frame_raises():
    with pytest.raises(ValueError, match="reader must be None for a DataFrame"):
        tk.read(pd.DataFrame({"text": ["a"]}), reader=str)


def test_repr_shows_arguments_and_counts(tmp_path):
    documents = tk.read([None, "a"], text="body", errors="skip", split="paragraph")
    chosen = "Documents(<list>, text='body', errors='skip', split='paragraph')"
    assert repr(documents) == f"{chosen}: not read yet"
    assert documents.skipped is None
    list(documents)
    assert repr(documents) == f"{chosen}: 1 document, 1 skipped"
    assert repr(tk.read(tmp_path, pattern="*")).startswith(f"Documents('{tmp_path}', pattern='*')")
    assert "pandas DataFrame" in repr(tk.read(pd.DataFrame({"text": []})))


def test_unread_documents_can_be_pickled(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    assert pickle.loads(pickle.dumps(tk.read(tmp_path))).texts == ["one"]


def test_reading_imports_no_table_packages():
    code = """
import sys
sys.modules.update(dict.fromkeys(["pandas", "polars", "pyarrow", "datasets"]))  # unimportable
import textkin as tk
assert tk.read(["a", {"text": "b"}]).texts == ["a", "b"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
