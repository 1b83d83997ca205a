"""Models that cannot be attached to an index."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD

from support import load_script
from textkin import LSI, FisherKernel, Index, TfIdf
from textkin.index import NAMES
from textkin.index.store import RANKING_NAMES

helpers = load_script("tests/index/attached_models.py")
model, RECORDS, MORE = helpers.model, helpers.RECORDS, helpers.MORE
lengths, vectors, change = helpers.lengths, helpers.vectors, helpers.change
Encoder, Other = helpers.Encoder, helpers.Other


class TestRefused:
    """Check that attaching raises, and changes nothing."""

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "a/b", "-x", "é", "a b", "a" * 65, "a\n", "x\0"]
    )
    def test_names(self, filled: Index, name: str) -> None:
        with pytest.raises(ValueError, match="name must be 1 to 64"):
            filled.attach(name, LSI(2))

    @pytest.mark.parametrize("name", ["bm25", "tfidf", "wmd", "hybrid"])
    def test_names_of_rankings(self, filled: Index, name: str) -> None:
        with pytest.raises(ValueError, match="built-in ranking"):
            filled.attach(name, LSI(2))

    def test_names_of_rankings_are_reserved(self) -> None:
        assert RANKING_NAMES == NAMES

    def test_existing_name_raises(self, filled: Index) -> None:
        filled.attach("x.1_2-y", LSI(2))
        with pytest.raises(ValueError, match=r"already has.*detach\('x\.1_2-y'\)"):
            filled.attach("x.1_2-y", LSI(2))
        with pytest.raises(KeyError, match=r"no model has the name 'z'; attached: 'x\.1_2-y'"):
            filled.detach("z")
        with pytest.raises(TypeError, match="name must be a str"):
            filled.attach(1, LSI(2))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("made", "error", "told"),
        [
            (3, TypeError, "got int"),
            (LSI, TypeError, "the class LSI"),
            (TfIdf(), ValueError, "must return dense vectors"),
            (FisherKernel([2], random_state=0), ValueError, "must return dense vectors"),
            (LSI(5000), ValueError, "n_components must be at most"),
            (LSI(2, random_state=np.random.RandomState(0)), TypeError, "cannot be saved"),
            (TruncatedSVD(2), ValueError, "not fitted"),
            (
                lambda texts: [[1.0]],
                ValueError,
                "one row for each of 1 texts|one row for each of 21",
            ),
            (lambda texts: [None] * len(texts), ValueError, "array of numbers"),
            (lambda texts: [["a"]] * len(texts), ValueError, "array of numbers"),
            (lambda texts: np.full((len(texts), 2), np.nan), ValueError, "NaN"),
            (lambda texts: np.full((len(texts), 2), 1e39), ValueError, "finite in float32"),
            (lambda texts: np.ones((len(texts), 0)), ValueError, "1 to 65,536 dimensions; got 0"),
            (lambda texts: np.ones((len(texts), 70_000)), ValueError, "got 70,000"),
            (LSI(1).fit(np.eye(9000)), ValueError, "fitted on 9,000 columns"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_models(self, filled: Index, made: object, error: type[Exception], told: str) -> None:
        with pytest.raises(error, match=told):
            filled.attach("own", made)
        assert filled.models() == {}
        assert model.model_files(filled.path) == []
        filled.verify()
        filled.add(MORE)

    def test_choices(self, filled: Index) -> None:
        with pytest.raises(ValueError, match="metric must be"):
            filled.attach("own", LSI(2), metric="l2")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="input_type must be"):
            filled.attach("own", LSI(2), input_type="words")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="'auto' or 'bags' for LSI"):
            filled.attach("own", LSI(2), input_type="texts")

    def test_empty_index_raises(self, index: Index) -> None:
        with pytest.raises(ValueError, match="must have documents"):
            index.attach("own", LSI(2))
        index.add(["", ""])
        with pytest.raises(ValueError, match=r"n_features|feature|word"):
            index.attach("own", LSI(1))
        index.attach("own", lengths)
        index.verify()

    def test_columns_with_names(self, filled: Index) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(filled.bags().toarray(), columns=list(filled.vocabulary()))
        with pytest.raises(ValueError, match="columns without names"):
            filled.attach("own", LSI(2).fit(frame))

    def test_model_errors_propagate_from_add(self, filled: Index) -> None:
        def moody(texts: list[str]) -> np.ndarray:
            if any("stop" in text for text in texts):
                raise RuntimeError("no")
            return lengths(texts)

        filled.attach("own", moody)
        before = filled.ids
        with pytest.raises(RuntimeError, match="no"):
            filled.add([*MORE, {"id": "x", "text": "stop"}])
        assert filled.ids == before
        filled.add(MORE)
        filled.verify()
