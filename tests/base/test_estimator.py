"""Saved estimators: equal after loading, and errors for invalid folders."""

import hashlib
import json
import pickle
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file, save_file
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from support import change_manifest
from textkin._base._estimator import (
    SavedEstimator,
    is_loadable,
    load_estimator,
    takes_texts,
)
from textkin._base._parameters import integer
from textkin.text import BagOfWords
from textkin.vectors import WordVectors


class Part(SavedEstimator, BaseEstimator):
    def fit(self, X):
        self.half_ = X / 2
        return self


class Whole(SavedEstimator, BaseEstimator):
    _constraints: ClassVar = {"size": integer(1)}

    def __init__(self, size=3, *, weights=None, name="a", random_state=None, factor=1.5):
        self.size = size
        self.weights = weights
        self.name = name
        self.random_state = random_state
        self.factor = factor

    def fit(self, X):
        self.doubled_ = X * 2
        self.counts_ = sparse.csr_array(X > 1)
        self.gains_ = [1.0, float("-inf"), 2]
        self.shape_ = X.shape
        self.parts_ = [Part().fit(X), Part().fit(X + 1)]
        self.names_ = np.array(["ß", "b\n"], dtype=object)
        self.n_iter_ = np.int64(4)
        self.converged_ = np.True_
        self._scratch = object()
        return self

    @property
    def readable_(self):
        return 1

    def _check_loaded(self):
        if self.doubled_.ndim != 2:
            raise ValueError("doubled_ must have two dimensions")


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(SavedEstimator, "_saved_classes", {"Whole": Whole, "Part": Part})


@pytest.fixture
def fitted():
    return Whole(weights=np.arange(3.0), factor=float("inf")).fit(np.arange(6.0).reshape(2, 3))


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "it")
    return tmp_path / "it"


def resign(folder):
    data = (folder / "arrays.safetensors").read_bytes()
    record = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(folder, lambda m: m.update(files={"arrays.safetensors": record}))


@pytest.mark.parametrize("load", [Whole.load, load_estimator], ids=["class", "any"])
def test_round_trip(fitted, saved, load):
    again = load(str(saved))
    assert type(again) is Whole
    assert (again.size, again.name, again.factor, again.random_state) == (3, "a", np.inf, None)
    assert_array_equal(again.weights, fitted.weights)
    assert_array_equal(again.doubled_, fitted.doubled_)
    assert again.gains_ == fitted.gains_
    assert again.shape_ == (2, 3)
    assert_array_equal(again.counts_.toarray(), fitted.counts_.toarray())
    assert_array_equal(again.parts_[1].half_, fitted.parts_[1].half_)
    assert_array_equal(again.names_, fitted.names_)
    assert (again.n_iter_, again.converged_) == (4, True)
    assert not hasattr(again, "_scratch")
    assert not again.doubled_.flags.writeable
    assert_array_equal(pickle.loads(pickle.dumps(again)).doubled_, fitted.doubled_)


def test_save_includes_word_vectors(fitted, tmp_path):
    fitted.weights = WordVectors(["ß", "b"], [[1, 2], [3, 4]])
    fitted.save(tmp_path / "it")
    again = Whole.load(tmp_path / "it").weights
    assert again.words == ("ß", "b")
    assert_array_equal(again.matrix, [[1, 2], [3, 4]])
    # Saved attributes of untrusted folders must follow the same rules.
    for words, told in (("matrix", "strings"), ({"strings": "name"}, "no strings|means nothing")):
        change_manifest(
            tmp_path / "it",
            lambda m, words=words: m["parameters"]["weights"]["parts"].update(words=words),
        )
        with pytest.raises(ValueError, match=f"is invalid|{told}"):
            Whole.load(tmp_path / "it")


def test_failed_fit_changes_nothing(fitted):
    before = fitted.doubled_
    with pytest.raises(TypeError):
        fitted.fit(np.array(["a"]))
    assert fitted.doubled_ is before


def test_saving_again_writes_identical_bytes(saved, tmp_path):
    Whole.load(saved).save(tmp_path / "again")
    for file in saved.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_save_without_arrays(tmp_path):
    part = Part()
    part.half_ = 0.5
    part.save(tmp_path / "part")
    assert Part.load(tmp_path / "part").half_ == 0.5


def test_save_keeps_only_fitted_attributes(tmp_path):
    with pytest.raises(NotFittedError):
        Whole().save(tmp_path / "it")
    assert list(tmp_path.iterdir()) == []


def test_save_unsupported_value_raises(fitted, tmp_path):
    fitted.random_state = np.random.RandomState(0)
    with pytest.raises(TypeError, match=r"random_state cannot be saved.*to a number or None"):
        fitted.save(tmp_path / "it")
    assert list(tmp_path.iterdir()) == []


def test_save_overwrites_nothing(fitted, saved):
    with pytest.raises(FileExistsError, match="exists already"):
        fitted.save(saved)


def test_load_other_class_raises(saved):
    with pytest.raises(ValueError, match=r"must have a saved Part; got a Whole\. Use Whole\.load"):
        Part.load(saved)


def test_load_missing_folder_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Whole.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="must be a folder created by the save of an estimator"):
        Whole.load(tmp_path)


DEEP: list = []
for _ in range(20):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format="textkin.word-vectors"), "does not contain a fitted estimator"),
        (lambda m: m.update(version=3), "Install a newer textkin"),
        (lambda m: m.update({"class": "os.system"}), "does not know"),
        (lambda m: m.update({"class": None}), "must have the class"),
        (lambda m: m.update(parameters=[]), "must have parameters"),
        (lambda m: m["parameters"].update(evil=1), "has no parameters"),
        (lambda m: m["parameters"].update(size=0), "size must be an integer at least 1"),
        (lambda m: m["fitted"].update(__class__=1), "with other names"),
        (lambda m: m["fitted"].update({"fit": 1}), "with other names"),
        (lambda m: m["fitted"].update(gains_=DEEP), "nested too deeply"),
        (lambda m: m["fitted"].update(gains_={"pickle": "x"}), "has an unknown entry"),
        (lambda m: m["fitted"].update(gains_={"float": "1e9"}), "has an unknown entry"),
        (lambda m: m["fitted"].update(gains_={"tensor": "gone"}), "has no 'gone'"),
        (lambda m: m["fitted"]["names_"].update(shape=[3]), "wrong shape"),
        (lambda m: m["fitted"]["names_"].update(shape=["2"]), "wrong shape"),
        (lambda m: m["fitted"].update(names_={"list": {"csr": "counts_"}}), "has an unknown entry"),
        (lambda m: m["fitted"].update(feature_names_in_=["a"]), "is invalid"),
        (lambda m: m["fitted"].update(n_features_in_=-1), "n_features_in_ must be"),
        (lambda m: m["fitted"].update(readable_=1), "is invalid"),
        (lambda m: m["fitted"]["counts_"].update(shape=[1, 1]), "is not a sparse array"),
        (lambda m: m["fitted"].update(doubled_=[1]), "is invalid"),
        (lambda m: m["fitted"].pop("doubled_"), "is invalid"),
        (
            lambda m: m["parameters"].update(name={"value": "Index", "parts": {}}),
            "not saved in parts",
        ),
        (lambda m: m["parameters"].update(name={"value": "os", "parts": {}}), "not saved in parts"),
        (
            lambda m: m["parameters"].update(name={"value": "WordVectors", "parts": {}}),
            "is invalid",
        ),
        (lambda m: m.update(files={}), "must have bytes and sha256"),
    ],
)
def test_load_invalid_manifest_raises(saved, change, message):
    change_manifest(saved, change)
    with pytest.raises(ValueError, match=message):
        Whole.load(saved)


def test_load_manifest_with_any_flipped_bit_raises(saved):
    file = saved / "manifest.json"
    data, manifest = file.read_bytes(), json.loads(file.read_text())
    for place in range(0, len(data), 11):
        for bit in (place % 8, (place + 3) % 8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            file.write_bytes(damaged)
            try:
                Whole.load(saved)
            except ValueError as error:
                assert str(saved) in str(error)  # noqa: PT017
            else:  # an uppercase letter in an escape
                assert json.loads(damaged) == manifest


def test_load_manifest_with_changed_number_raises(saved):
    file = saved / "manifest.json"
    file.write_text(file.read_text().replace('"size": 3', '"size": 4'))
    with pytest.raises(ValueError, match=r"the sha256 in manifest\.json differs"):
        Whole.load(saved)


@pytest.mark.parametrize("seal", [None, 3, "0" * 64, {}])
def test_load_manifest_without_valid_hash_raises(saved, seal):
    file = saved / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps({**manifest, "sha256": seal}))
    with pytest.raises(ValueError, match=r"the sha256 in manifest\.json differs"):
        Whole.load(saved)


def test_load_manifest_of_version_1_without_hash(fitted, saved):
    file = saved / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["sha256"]
    file.write_text(json.dumps({**manifest, "version": 1}))
    assert_array_equal(Whole.load(saved).doubled_, fitted.doubled_)


def test_load_corrupt_file_raises(saved):
    file = saved / "arrays.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match="sha256 of"):
        Whole.load(saved)
    file.write_bytes(data[:-1])
    with pytest.raises(ValueError, match="bytes; got"):
        Whole.load(saved)


def with_header(header, numbers=b"\0" * 16):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 8,
        with_header([]),
        with_header({"a": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 16]}}),
        with_header({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 32]}}),
        with_header({"a": {"dtype": "F64", "shape": [-1, -2], "data_offsets": [0, 16]}}),
        with_header({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}),
        with_header({"a": {"dtype": "F64", "shape": [2], "data_offsets": [16, 0]}}),
        with_header({"a": {"dtype": "O", "shape": [2], "data_offsets": [0, 16]}}),
        with_header({"a": 1}),
    ],
)
def test_load_invalid_safetensors_with_valid_hash_raises(saved, data):
    (saved / "arrays.safetensors").write_bytes(data)
    resign(saved)
    with pytest.raises(ValueError, match="corrupt"):
        Whole.load(saved)


def test_load_other_arrays_with_valid_hash_raises(saved):
    save_file({"doubled_": np.zeros(2)}, saved / "arrays.safetensors")
    resign(saved)
    with pytest.raises(ValueError, match="corrupt"):
        Whole.load(saved)


@pytest.mark.parametrize(
    "value",
    [
        np.array([True, False]),
        np.zeros(0),
        np.zeros((0, 3), dtype=np.float32),
        np.array([], dtype=object),
        np.array(["", "\ud800", "日本"], dtype=object),
        np.array([["a", "bcd"]]),
        sparse.csr_array(np.eye(2, dtype=np.bool_)),
    ],
    ids=repr,
)
def test_arrays_of_every_kind_are_restored(fitted, tmp_path, value):
    fitted.extra_ = value
    fitted.save(tmp_path / "it")
    again = Whole.load(tmp_path / "it").extra_
    assert again.dtype == value.dtype
    assert again.shape == value.shape
    assert_array_equal(*(getattr(side, "toarray", lambda s=side: s)() for side in (again, value)))


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2, dtype=np.int8),
        np.zeros(2, dtype=np.float16),
        np.zeros(2, dtype=complex),
        np.array([1, "a"], dtype=object),
        sparse.csr_array(np.eye(2, dtype=np.int8)),
    ],
    ids=repr,
)
def test_save_unsupported_dtype_raises(fitted, tmp_path, value):
    fitted.extra_ = value
    with pytest.raises(TypeError, match=f"extra_ cannot be saved: its dtype is {value.dtype}"):
        fitted.save(tmp_path / "it")
    assert list(tmp_path.iterdir()) == []


def test_long_lists_are_saved_as_arrays(fitted, tmp_path):
    fitted.weights = [0.1, float("nan"), float("-inf")] * 30_000
    fitted.gains_ = tuple(range(60_000))
    fitted.words_ = [f"a word {number}" for number in range(60_000)]
    fitted.mixed_ = [1, 2.5, None, True] * 50
    fitted.large_ = [2**70] * 101
    fitted.save(tmp_path / "it")
    assert (tmp_path / "it" / "manifest.json").stat().st_size < 20_000
    again = Whole.load(tmp_path / "it")
    assert repr(again.weights) == repr(fitted.weights)
    assert (again.gains_, again.words_) == (fitted.gains_, fitted.words_)
    assert (again.mixed_, again.large_) == (fitted.mixed_, fitted.large_)


@pytest.mark.parametrize(
    ("utf8", "ends"),
    [
        (np.array([255], dtype=np.uint8), np.array([0, 1, 1])),
        (np.array([97, 98], dtype=np.uint8), np.array([0, 3, 2])),
        (np.array([97, 98], dtype=np.uint8), np.array([1, 1, 2])),
        (np.array([97, 98], dtype=np.uint8), np.array([0, 1, 1])),
        (np.array([97, 98], dtype=np.uint8), np.zeros(0, dtype=np.int64)),
        (np.array([97, 98], dtype=np.uint8), np.array([0.0, 1.0, 2.0])),
        (np.array([97, 98], dtype=np.int32), np.array([0, 1, 2])),
    ],
)
def test_load_invalid_strings_with_valid_hash_raises(saved, utf8, ends):
    arrays = load_file(saved / "arrays.safetensors")
    arrays.update({"names_.utf8": utf8, "names_.ends": ends})
    save_file(arrays, saved / "arrays.safetensors")
    resign(saved)
    with pytest.raises(ValueError, match=r"corrupt.*strings"):
        Whole.load(saved)


def test_only_registered_classes_are_loadable():
    class Whole(SavedEstimator):
        """Class with the name of another one."""

    assert is_loadable(Part)
    assert not is_loadable(Whole)


class TextModel(BaseEstimator):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (None, False),
        (Part(), False),
        (BagOfWords(), True),
        (TextModel(), True),
        (BaseEstimator(), False),
        (make_pipeline(BagOfWords(), Part()), True),
        (make_pipeline(Part(), BagOfWords()), False),
        (object(), False),
    ],
)
def test_models_of_texts_are_recognized(model, wanted):
    assert takes_texts(model) is wanted
