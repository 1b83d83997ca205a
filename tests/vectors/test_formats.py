"""Formats of vector files: detection by content, selection of words, and reported repairs."""

import gzip
import json
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from support import VECTOR_FORMATS, vector_files
from textkin.exceptions import VectorFileWarning
from textkin.vectors import Repairs, WordVectors

WORDS = ("the", "naïve", "New_York")
MATRIX = np.array([[1, -2.5, 0.125], [0, 3, 1e-3], [-4, 5, 0.1]], dtype=np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return vector_files(tmp_path_factory.mktemp("formats"))


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_all_formats_give_bit_identical_vectors(files, name):
    vectors = WordVectors.load(files[name])
    assert vectors.words == WORDS
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.tobytes() == MATRIX.tobytes()
    assert not vectors.matrix.flags.writeable
    assert not vectors.repairs
    assert vectors["NAÏVE"].tolist() == MATRIX[1].tolist()


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_file_name_is_ignored(files, tmp_path, name):
    path = tmp_path / "vectors.dat"
    path.write_bytes(files[name].read_bytes())
    (tmp_path / "words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    assert WordVectors.load(path).words == WORDS


@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_limit_and_words_select_rows(files, name):
    assert WordVectors.load(files[name], max_words=2).words == WORDS[:2]
    assert WordVectors.load(files[name], max_words=99).words == WORDS
    chosen = WordVectors.load(files[name], words=["NEW_YORK", "The's", "unicorn"])
    assert chosen.words == ("the", "New_York"), "what a lookup of these words can find"
    assert_array_equal(chosen.matrix, MATRIX[[0, 2]])
    assert WordVectors.load(files[name], words={"the", "naïve"}, max_words=1).words == ("the",)
    with pytest.raises(ValueError, match="contains none of the requested words"):
        WordVectors.load(files[name], words=["unicorn"])


def test_limit_and_words_of_a_saved_folder(tmp_path):
    WordVectors(WORDS, MATRIX).save(tmp_path / "saved")
    assert WordVectors.load(tmp_path / "saved", max_words=1).words == ("the",)
    assert WordVectors.load(tmp_path / "saved", words=["the"]).words == ("the",)
    assert WordVectors.load(tmp_path / "saved", format="textkin").words == WORDS


@pytest.mark.parametrize("name", ["npy", "safetensors, words in metadata"])
def test_float32_tables_stay_mapped(files, name):
    assert is_mapped(WordVectors.load(files[name]).matrix)


@pytest.mark.parametrize("dtype", ["f2", "f8", ">f4", "i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_numeric_types_are_converted(tmp_path, dtype, order):
    matrix = np.array([[1, 2], [3, 4], [5, 6]], dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", matrix)
    (tmp_path / "words.json").write_text('{"b": 1, "a": 0, "c": 2}')
    np.savez(tmp_path / "a.npz", matrix=matrix, vocab=np.array([b"a", b"b", b"c"]))
    for name in ("a.npy", "a.npz"):
        vectors = WordVectors.load(tmp_path / name)
        assert vectors.words == ("a", "b", "c")
        assert_array_equal(vectors.matrix, matrix)


def test_bfloat16(tmp_path):
    numbers = np.array([[1, -2], [0.5, 3]], dtype=np.float32)
    halves = (numbers.view(np.uint32) >> 16).astype("<u2").tobytes()
    header = json.dumps(
        {
            "__metadata__": {"words": '["a", "b"]'},
            "x": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]},
        }
    ).encode()
    path = tmp_path / "b.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + halves)
    assert_array_equal(WordVectors.load(path).matrix, numbers)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("array.words.txt", "a\r\nb"),
        ("array.words.json", '["a", "b"]'),
        ("array.txt", "\ufeffa\nb\n"),
        ("words.txt", "a\nb"),
        ("vocab.txt", "a\nb"),
        ("tokenizer.json", '{"model": {"vocab": {"b": 1, "a": 0}}}'),
        ("tokenizer.json", '{"model": {"vocab": [["a", -1.5], ["b", -2.0]]}}'),
    ],
)
def test_word_list_next_to_an_array(tmp_path, name, content):
    np.save(tmp_path / "array.npy", np.eye(2, dtype=np.float32))
    save_file({"x": np.eye(2, dtype=np.float32)}, tmp_path / "array.safetensors")
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert WordVectors.load(tmp_path / "array.npy").words == ("a", "b")
    assert WordVectors.load(tmp_path / "array.safetensors").words == ("a", "b")


@pytest.mark.parametrize("name", ["a.b.npy", "a.b.npy.gz", "a.b.safetensors.gz"])
def test_word_list_next_to_an_array_with_dots_in_its_name(tmp_path, name):
    np.save(tmp_path / "a.b.npy", np.eye(2, dtype=np.float32))
    save_file({"x": np.eye(2, dtype=np.float32)}, tmp_path / "a.b.safetensors")
    for file in ("a.b.npy", "a.b.safetensors"):
        (tmp_path / f"{file}.gz").write_bytes(gzip.compress((tmp_path / file).read_bytes()))
    (tmp_path / "a.b.words.txt").write_text("x\ny\n")
    assert WordVectors.load(tmp_path / name).words == ("x", "y")


@pytest.mark.parametrize("joined", [b"a\nb", b"a\nb\n"])
def test_word_list_with_or_without_final_newline(tmp_path, joined):
    raw = np.frombuffer(joined, dtype=np.uint8)
    np.savez(tmp_path / "x.npz", words=raw, vectors=np.eye(2))
    assert WordVectors.load(tmp_path / "x.npz").words == ("a", "b")


def test_array_without_word_list_raises(tmp_path):
    np.save(tmp_path / "array.npy", np.eye(2))
    with pytest.raises(ValueError, match=r"array\.words\.txt"):
        WordVectors.load(tmp_path / "array.npy")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("a\nb")
    inner = tmp_path / "inner"
    inner.mkdir()
    np.save(inner / "array.npy", np.eye(2))
    (inner / "words.txt").symlink_to(tmp_path / "elsewhere" / "secret")
    with pytest.raises(ValueError, match="has no words"):
        WordVectors.load(inner / "array.npy")


def test_real_gensim_files(tmp_path):
    gensim = pytest.importorskip("gensim.models.keyedvectors")
    kv = gensim.KeyedVectors(vector_size=3)
    kv.add_vectors(list(WORDS), MATRIX)
    kv.save_word2vec_format(tmp_path / "kv.bin", binary=True)
    kv.save_word2vec_format(tmp_path / "kv.txt", binary=False)
    kv.save_word2vec_format(tmp_path / "glove.txt", binary=False, write_header=False)
    for name in ("kv.bin", "kv.txt", "glove.txt"):
        vectors = WordVectors.load(tmp_path / name)
        order = [vectors.words.index(word) for word in WORDS]
        assert_array_equal(vectors.matrix[order], MATRIX)
    assert WordVectors.from_gensim(kv).words == WORDS
    kv.save(str(tmp_path / "kv.kv"))
    with pytest.raises(ValueError, match="is a pickle, which could run code"):
        WordVectors.load(tmp_path / "kv.kv")


def test_shared_data_vectors(shared_data):
    path = shared_data / "vectors" / "googlenews-300d-26k.npz"
    vectors = WordVectors.load(path, max_words=1000, cache=False)
    with np.load(path) as arrays:
        assert list(vectors.words) == arrays["words"].tobytes().decode().split("\n")[:1000]
        assert_array_equal(vectors.matrix, arrays["vectors"][:1000].astype(np.float32))


def test_from_dict():
    vectors = WordVectors.from_dict({"up": [1, 0.5], "down": np.array([-1, 0.5])})
    assert vectors.words == ("up", "down")
    assert vectors["down"].tolist() == [-1, 0.5]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, ValueError, "at least one word"),
        ([("a", [1])], TypeError, "must be a mapping"),
        ({"a": [1, 2], "b": [1]}, ValueError, r"got shape \(1,\) for 'b'"),
        ({"a": 1}, ValueError, "must be 1-D"),
        ({"a": [0, 0]}, ValueError, "is zero"),
        ({3: [1, 2]}, TypeError, "must be strings"),
    ],
)
def test_from_dict_invalid_raises(given, error, message):
    with pytest.raises(error, match=message):
        WordVectors.from_dict(given)


# ---------------------------------------------------------------------- repairs


def arrays_of(words, matrix, folder):
    np.savez(folder / "r.npz", words=np.array(words), vectors=np.array(matrix, dtype=np.float32))
    return folder / "r.npz"


def text_of(words, matrix, folder):
    lines = (f"{w} {' '.join(map(str, row))}\n" for w, row in zip(words, matrix, strict=True))
    (folder / "r.txt").write_text("".join(lines), encoding="utf-8")
    return folder / "r.txt"


def binary_of(words, matrix, folder):
    rows = np.array(matrix, dtype=np.float32)
    body = b"".join(w.encode() + b" " + r.tobytes() for w, r in zip(words, rows, strict=True))
    (folder / "r.bin").write_bytes(f"{len(rows)} {rows.shape[1]}\n".encode() + body)
    return folder / "r.bin"


@pytest.mark.parametrize("write", [arrays_of, text_of, binary_of])
def test_repairs_are_equal_in_all_formats(tmp_path, write):
    words = ["a", "", "b", "a", "c", "b", "d"]
    matrix = [[1, 2], [3, 4], [5, 6], [7, 8], [0, 0], [1, 1], [9, 9]]
    path = write(words, matrix, tmp_path)
    with pytest.warns(VectorFileWarning, match="2 repeated words, 1 zero vector, 1 empty word"):
        vectors = WordVectors.load(path)
    assert vectors.words == ("a", "b", "d")
    assert vectors.matrix.tolist() == [[1, 2], [5, 6], [9, 9]]
    assert vectors.repairs == Repairs(duplicate=2, zero=1, empty=1)
    with pytest.warns(VectorFileWarning, match=r": 1 empty word\."):
        assert WordVectors.load(path, max_words=2).repairs == Repairs(empty=1)
    with pytest.raises(ValueError, match=r"(line|row) 4: repeats the word 'a'"):
        WordVectors.load(path, duplicates="error")


@pytest.mark.parametrize("write", [arrays_of, text_of, binary_of])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinite_numbers(tmp_path, write, bad):
    path = write(["a", "b", "c", "d"], [[1, 2], [1, bad], [bad, bad], [3, 4]], tmp_path)
    with pytest.raises(ValueError, match=r"(line|row) 2.*NaN.*errors=\"skip\""):
        WordVectors.load(path)
    with pytest.warns(VectorFileWarning, match="2 vectors with NaN or infinite numbers"):
        vectors = WordVectors.load(path, errors="skip")
    assert vectors.words == ("a", "d")
    assert vectors.repairs == Repairs(not_finite=2)
    assert WordVectors.load(path, max_words=1).words == ("a",), "what is beyond is not read"


def test_no_valid_entries_raises(tmp_path):
    for write in (arrays_of, text_of, binary_of):
        with pytest.raises(ValueError, match="no word vectors left: 2 zero vectors"):
            WordVectors.load(write(["a", "b"], [[0, 0], [0, 0]], tmp_path))


def test_words_that_are_not_utf8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("ok 1 2\nna\u00efve 3 4\nna\u00e9ve 5 6\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"line 2: has a word that is not UTF-8: b'na\\xefve'"):
        WordVectors.load(path)
    with pytest.warns(VectorFileWarning, match="2 words that are not UTF-8"):
        assert WordVectors.load(path, errors="skip").words == ("ok",)
    with pytest.warns(VectorFileWarning, match="1 repeated word"):
        assert WordVectors.load(path, encoding_errors="replace").words == ("ok", "na\ufffdve")


def test_repairs_can_be_pickled_and_printed(tmp_path):
    import pickle

    path = text_of(["a", "a"], [[1], [2]], tmp_path)
    with pytest.warns(VectorFileWarning):
        vectors = WordVectors.load(path)
    assert pickle.loads(pickle.dumps(vectors)).repairs == Repairs(duplicate=1)
    assert str(Repairs()) == "nothing"
    assert str(Repairs(malformed=1, miscounted=2000)).startswith("1 line that is not")


def test_valid_file_has_no_warning(files):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WordVectors.load(files["glove"])


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_words": 0}, ValueError, "max_words must be"),
        ({"max_words": 1.5}, ValueError, "max_words must be"),
        ({"words": "the"}, TypeError, "got the string 'the'"),
        ({"words": [3]}, TypeError, "words must be strings"),
        ({"words": []}, ValueError, "at least one word"),
        ({"errors": "ignore"}, ValueError, "errors must be one of 'raise', 'skip'"),
        ({"encoding_errors": "x"}, ValueError, "encoding_errors must be"),
        ({"duplicates": "last"}, ValueError, "duplicates must be"),
        ({"format": "csv"}, ValueError, "format must be one of"),
        ({"format": "static"}, ValueError, "a static model is a folder"),
        ({"format": "word2vec-text"}, ValueError, "no header of two integers"),
        ({"format": "word2vec"}, ValueError, "must start with a header"),
        ({"format": "npz"}, ValueError, "not a supported zip archive"),
        ({"format": "npy"}, ValueError, "invalid NumPy header"),
        ({"format": "safetensors"}, ValueError, "safetensors header"),
        ({"cache": 1}, TypeError, "cache must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
    ],
)
def test_arguments_are_checked(files, options, error, message):
    with pytest.raises(error, match=message):
        WordVectors.load(files["glove"], **options)


def test_folder_with_format_raises(tmp_path):
    with pytest.raises(ValueError, match="is a folder; format must be None"):
        WordVectors.load(tmp_path, format="glove")


def test_progress_ends_at_the_file_size(files):
    for name in ("glove", "word2vec", "glove, gzipped", "npy"):
        seen = []
        WordVectors.load(
            files[name], progress=lambda done, total, seen=seen: seen.append((done, total))
        )
        assert seen[-1][0] == seen[-1][1] > 0


def test_exception_in_progress_stops_reading(files):
    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        WordVectors.load(files["glove"], progress=enough)


def test_static_models_name_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    save_file({"embeddings": np.eye(2, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ImportError, match=r"pip install 'textkin\[static\]'"):
        WordVectors.load(tmp_path)
