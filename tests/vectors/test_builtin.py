"""Built-in vectors: file, quantization error, and quality."""

import hashlib
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from support import load_script
from textkin.text import tokenize
from textkin.vectors import WordVectors
from textkin.vectors._builtin import BUILTIN_PATHS, dequantize, quantize, read_packed

MAKE = "scripts/make_builtin_vectors.py"
GLOVE = BUILTIN_PATHS["glove"]

sound_rows = arrays(
    np.float32,
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    elements=st.floats(-(2.0**99), 2.0**99, width=32, allow_subnormal=False),
).map(lambda rows: np.where(rows.any(axis=1, keepdims=True), rows, np.float32(1)))


@given(sound_rows.filter(lambda rows: (np.abs(rows).max(axis=1) > 1e-30).all()))
def test_quantization_error_is_at_most_half_a_step(matrix):
    codes, scales = quantize(matrix)
    assert codes.dtype == np.int8
    assert scales.dtype == np.float32
    exact = codes.astype(np.float64) * scales[:, np.newaxis]
    assert (np.abs(exact - matrix) <= 0.5000001 * scales[:, np.newaxis]).all()
    assert (np.abs(codes).max(axis=1) == 127).all(), "so no row turns zero"
    assert_allclose(dequantize(codes, scales), exact, rtol=1e-7)


def test_codes_are_symmetric():
    codes, _ = quantize(np.float32([[-1, 0.5, 0.1]]))
    mirrored, _ = quantize(np.float32([[1, -0.5, -0.1]]))
    assert codes.tolist() == (-mirrored).tolist()


def test_row_too_small_to_scale_is_named():
    with pytest.raises(ValueError, match="row 1 is too close to zero"):
        quantize(np.float32([[1], [1e-40]]))


def test_builtin_is_read_once():
    vectors = WordVectors.builtin()
    assert vectors is WordVectors.builtin()
    assert (len(vectors), vectors.dimension) == (100_000, 100)
    assert vectors.words[:4] == ("the", ",", ".", "of"), "most frequent first"


def test_missing_words_match_the_documentation():
    vectors = WordVectors.builtin()
    assert not any(word.isdigit() or word[0].isdigit() for word in vectors.words)
    assert not any(len(word) == 1 and word.isalpha() for word in vectors.words)
    assert all(word == word.lower() for word in vectors.words)
    for character in ".'":
        assert [word for word in vectors.words if character in word] == [character]


def test_words_of_the_paper_have_vectors():
    words = ["Obama", "speaks", "media", "Illinois", "President", "greets", "press", "Chicago"]
    assert (WordVectors.builtin().lookup(words) >= 0).all()


def test_similar_words_have_similar_vectors():
    vectors = WordVectors.builtin()
    assert "france" in dict(vectors.nearest("Paris", 5))
    assert vectors.analogy("man", "king", "woman", 1)[0][0] == "queen"


@pytest.mark.parametrize("name", BUILTIN_PATHS)
def test_file_matches_the_readme(name):
    path = BUILTIN_PATHS[name]
    data = path.read_bytes()
    readme = (path.parent / "README.md").read_text(encoding="utf-8")
    described = readme.split(f"# {path.name}\n")[1].split("\n# ")[0]
    assert f"sha256: `{hashlib.sha256(data).hexdigest()}`" in described
    assert f"Size: {len(data):,} bytes" in described
    assert "**License.**" in described


def test_builtin_by_name():
    assert WordVectors.builtin("glove") is WordVectors.builtin()
    distilled = WordVectors.builtin("distilled")
    assert distilled is WordVectors.builtin("distilled")
    assert (len(distilled), distilled.dimension) == (60_000, 256)
    assert distilled.words[:4] == ("the", "of", "to", "and"), "most frequent first"
    known = set(WordVectors.builtin().words)
    assert all(word in known and tokenize(word) == [word] for word in distilled.words)
    assert np.abs(distilled.matrix.mean(axis=0, dtype=float)).max() < 1e-3, (
        "PCA centers the vectors"
    )
    assert "cats" in dict(distilled.nearest("cat", 5))


@pytest.mark.parametrize("name", ["GloVe", "", None, ["glove"]])
def test_unknown_name_lists_valid_names(name):
    with pytest.raises(ValueError, match="name must be one of 'glove', 'distilled'; got"):
        WordVectors.builtin(name)


def test_script_recreates_the_same_members(shared_data, tmp_path):
    """Archives may differ, because Python versions write different headers."""
    make = load_script(MAKE)
    words, matrix = make.read_source(shared_data / "vectors" / "glove6b-100d.npz")
    make.write_packed(tmp_path / "again.npz", words, matrix)
    with ZipFile(tmp_path / "again.npz") as again, ZipFile(GLOVE) as builtin:
        assert again.namelist() == builtin.namelist()
        for name in builtin.namelist():
            assert again.read(name) == builtin.read(name)


def test_script_reads_its_output_and_rejects_newlines(tmp_path):
    make = load_script(MAKE)
    matrix = np.float32([[1, 2], [3, -4]])
    restored = make.write_packed(tmp_path / "two.npz", ["a", "ß"], matrix)
    words, read = read_packed(tmp_path / "two.npz")
    assert words == ["a", "ß"]
    assert read.tobytes() == restored.tobytes()
    with pytest.raises(ValueError, match="newline"):
        make.write_packed(tmp_path / "bad.npz", ["a\nb", "c"], matrix)


@pytest.mark.parametrize(
    "changes",
    [
        {"codes": np.ones((2, 3), dtype=np.int16)},
        {"codes": np.ones((3, 3), dtype=np.int8)},
        {"codes": np.ones(2, dtype=np.int8)},
        {"scales": np.ones((2, 1), dtype=np.float32)},
        {"scales": np.ones(2)},
    ],
)
def test_packed_file_of_other_shapes_raises(tmp_path, changes):
    fields = {
        "words": np.frombuffer(b"a\nb", dtype=np.uint8),
        "codes": np.ones((2, 3), dtype=np.int8),
        "scales": np.ones(2, dtype=np.float32),
    }
    np.savez(tmp_path / "odd.npz", **(fields | changes))
    with pytest.raises(ValueError, match="not a packed vector file"):
        read_packed(tmp_path / "odd.npz")


def test_packed_file_is_not_unpickled(tmp_path):
    np.savez(tmp_path / "odd.npz", words=np.array([{}], dtype=object), codes=0, scales=0)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_packed(tmp_path / "odd.npz")


@pytest.mark.slow  # loads the source; `test_quantization_error_is_at_most_half_a_step` is fast
def test_quantized_vectors_rank_word_pairs_like_the_source(shared_data):
    rows = load_script("benchmarks/wordsim.py").measure(shared_data)
    assert [row["set"] for row in rows] == ["ws353", "men", "simlex999", "rw", "mturk771"]
    for row in rows:
        assert row["int8"] == pytest.approx(row["float"], abs=0.002), row["set"]
