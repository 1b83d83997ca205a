"""Models of an index: what can be one, and how it is applied.

A model is made of estimators of textkin, which lie in the folder of the index, or it is anything
else that makes vectors of texts or bags. Of the latter only the vectors are kept.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from textkin._saving import SavedEstimator
from textkin._typing import Bags, Float32Array, Float64Array
from textkin._validation import one_of
from textkin.index._model_folders import load_steps, told_if_detached
from textkin.index._model_records import (
    MOST_DIMENSIONS,
    MOST_STEPS,
    ModelRecord,
    refuse_damaged,
)
from textkin.weighting._rows import TakesBags

__all__ = ["Applied", "Models", "Offer", "On", "applied_steps", "offered", "threads_of"]

_LONGEST = 200  # of a description

On: TypeAlias = Literal["auto", "bags", "texts"]
_ON = one_of("auto", "bags", "texts")


class Applied:
    """A model that can be applied.

    Parameters
    ----------
    name : str
        What users call it.
    takes : {"bags", "texts"}
        What it makes vectors of.
    apply : callable
        Returns a row of numbers for each bag or text.
    columns : int
        Words that it knows; later ones are cut off.
    dimensions : int or None
        Of its vectors; None if that is not known yet.
    word_weights : ndarray of shape (dimensions, columns), or None
        What each dimension says of words, where that is known.
    alone : bool
        Whether only one thread at a time may use it.
    """

    def __init__(
        self,
        name: str,
        takes: str,
        apply: Callable[[Any], Any],
        columns: int,
        dimensions: int | None = None,
        word_weights: Float64Array | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self.name = name
        self.takes = takes
        self.columns = columns
        self.dimensions = dimensions
        self.word_weights = word_weights
        self._apply = apply
        self._mutex = threading.Lock() if alone else None

    def vectors(self, bags: Bags | None, texts: Sequence[str] | None) -> Float32Array:
        """Return a vector for each document, of what the model takes.

        A bag without a word that the model knows is the zero vector, whatever the model says.

        Raises
        ------
        ValueError
            If the model gives anything but finite numbers, a row of the same length for each.
        """
        if self.takes == "texts":
            assert texts is not None
            return self._checked(list(texts), len(texts))
        assert bags is not None
        known = bags[:, : self.columns] if bags.shape[1] > self.columns else bags
        filled = np.flatnonzero(np.diff(known.indptr))
        if len(filled) == known.shape[0]:
            return self._checked(known, known.shape[0])
        found = self._checked(known[filled], len(filled))
        whole = np.zeros((known.shape[0], found.shape[1]), np.float32)
        whole[filled] = found
        return whole

    def _checked(self, given: Any, number: int) -> Float32Array:  # noqa: ANN401 (bags or texts)
        if not number:
            return np.zeros((0, self.dimensions or 0), np.float32)
        if self._mutex is None:
            made = self._apply(given)
        else:
            with self._mutex:
                made = self._apply(given)
        if sparse.issparse(made):
            raise ValueError(
                f"The model {self.name!r} gives sparse vectors; an index keeps dense ones. Put a "
                "model such as LSI behind it; TfIdf and BM25 rank by themselves, "
                "search(by=TfIdf())."
            )
        try:
            array = np.asarray(made)
        except ValueError:  # rows of different lengths
            array = np.empty(0, object)
        if array.dtype.kind not in "fiu" or array.ndim != 2 or array.shape[0] != number:
            raise ValueError(
                f"The model {self.name!r} must give an array of numbers with a row for each of "
                f"{number} {self.takes}; got {type(made).__name__} of the shape {array.shape}."
            )
        if self.dimensions is not None and array.shape[1] != self.dimensions:
            raise ValueError(
                f"The model {self.name!r} must give vectors of {self.dimensions} dimensions, as "
                f"it did before; got {array.shape[1]}. Is it another model?"
            )
        if not 1 <= array.shape[1] <= MOST_DIMENSIONS:
            raise ValueError(
                f"The model {self.name!r} must give vectors of 1 to {MOST_DIMENSIONS:,} "
                f"dimensions; got {array.shape[1]:,}."
            )
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(array, np.float32)
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ValueError(
                f"The model {self.name!r} gives NaN, infinity or a number that is too large for "
                f"float32, for document {row} of those that it was given."
            )
        return vectors


@dataclass(frozen=True)
class Offer:
    """A model that a user offers.

    Attributes
    ----------
    name : str
        What it shall be called.
    model : object
        As it was given.
    takes : {"bags", "texts"}
        What it makes vectors of.
    steps : list of estimators
        Those of textkin; none if only its vectors can be kept.
    description : str
        What it is, for people.
    """

    name: str
    model: Any
    takes: str
    steps: list[Any]
    description: str

    def fit_on(self, documents: Callable[[], Bags | list[str]], n_jobs: int | None) -> None:
        """Fit estimators of textkin on what they take, unless all are fitted."""
        if self.steps and not all(map(_is_fitted, self.steps)):
            with threads_of(self.steps, n_jobs):
                self.model.fit(documents())

    def check_words(self, bags: Bags) -> None:
        """Check that the columns which a model was fitted on are our words."""
        first = self.steps[0] if self.steps else self.model
        columns = self.columns(bags.shape[1])
        if hasattr(first, "feature_names_in_"):
            raise ValueError(
                f"The model {self.name!r} was fitted on columns with names; an index has word "
                "numbers. Fit it on index.bags(), or attach it before it is fitted."
            )
        if columns > bags.shape[1]:
            raise ValueError(
                f"The model {self.name!r} was fitted on {columns:,} columns, and the index has "
                f"{bags.shape[1]:,} words: it was fitted on something else. Fit it on "
                "index.bags(), or attach it before it is fitted."
            )

    def columns(self, n_words: int) -> int:
        """Return how many words it knows: as many as it was fitted on, or all of now."""
        if self.takes == "texts":
            return 0
        first = self.steps[0] if self.steps else self.model
        return int(getattr(first, "n_features_in_", n_words))

    def applied(self, n_words: int, dimensions: int | None = None) -> Applied:
        """Return it as it was given; for one that is not kept in the folder."""
        call = getattr(self.model, "encode", None) if self.takes == "texts" else None
        call = call or getattr(self.model, "transform", None) or self.model
        columns = self.columns(n_words)
        weights = _word_weights(self.model, columns)
        return Applied(self.name, self.takes, call, columns, dimensions, weights)


def offered(name: str, model: object, on: On) -> Offer:
    """Find out what a user offers as a model.

    Raises
    ------
    TypeError, ValueError
        If it cannot be one.
    """
    _ON.check("on", on)
    if isinstance(model, type) or not (
        callable(getattr(model, "transform", None))
        or callable(getattr(model, "encode", None))
        or callable(model)
    ):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            "model must be an estimator, a pipeline, anything with transform or encode, or a "
            f"function of a list of texts; got {what}."
        )
    steps = _steps(model)
    if steps:
        takes = "texts" if steps[0]._takes_texts else "bags"
        if on not in ("auto", takes):
            raise ValueError(
                f"{type(steps[0]).__name__} takes {takes}; on must be 'auto' or {takes!r}."
            )
        return Offer(name, model, takes, steps, _described(*steps))
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)  # an estimator of others is the user's to fit
    takes = on
    if on == "auto" and isinstance(model, SavedEstimator):
        takes = "texts" if model._takes_texts else "bags"
    elif on == "auto":
        # What counts words itself has not seen columns.
        columns = not callable(getattr(model, "encode", None)) and hasattr(model, "n_features_in_")
        takes = "bags" if columns else "texts"
    return Offer(name, model, takes, [], _described(model))


def _steps(model: object) -> list[Any]:
    """Return the estimators of textkin that a model is made of; none if it is something else."""
    parts = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    ours = [
        isinstance(part, SavedEstimator)
        and (isinstance(part, TakesBags) or (at == 0 and part._takes_texts))
        and SavedEstimator._saved_classes.get(type(part).__name__) is type(part)
        for at, part in enumerate(parts)
    ]
    return parts if all(ours) and len(parts) <= MOST_STEPS else []


def _is_fitted(estimator: object) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _described(*models: object) -> str:
    told = [
        repr(model) if isinstance(model, SavedEstimator) else _called(model) for model in models
    ]
    whole = " ".join(" > ".join(told).split())
    whole = "".join(sign if sign.isprintable() else "?" for sign in whole)
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 3]}..."


def _called(model: object) -> str:
    if isinstance(model, Pipeline):
        return " > ".join(type(step).__name__ for _, step in model.steps)
    name = getattr(model, "__name__", None)
    return name if isinstance(name, str) else type(model).__name__


@contextmanager
def threads_of(steps: Sequence[Any], n_jobs: int | None) -> Iterator[None]:
    """Let estimators that can use so many threads for a moment."""
    having = [step for step in steps if n_jobs is not None and "n_jobs" in step.get_params()]
    before = [step.n_jobs for step in having]
    try:
        for step in having:
            step.n_jobs = n_jobs
        yield
    finally:
        for step, old in zip(having, before, strict=True):
            step.n_jobs = old


def _word_weights(model: object, columns: int) -> Float64Array | None:
    if isinstance(model, SavedEstimator) and not isinstance(model, TakesBags):
        return None  # components of word vectors: their columns are no words
    found = getattr(model, "components_", None)
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.shape[1] == columns:
        return found
    return None


class Models:
    """The models of an open index that can be applied; safe to be used by several threads.

    Parameters
    ----------
    folder : Path
        The index.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mutex = threading.Lock()
        self._applied: dict[ModelRecord, Applied] = {}
        self._given: dict[str, tuple[ModelRecord, object]] = {}

    def give_all(self, models: Mapping[str, object], records: Mapping[str, ModelRecord]) -> None:
        """Take the models that a user gives again when the index is opened."""
        for name, model in models.items():
            record = records.get(name)
            if record is None:
                there = ", ".join(map(repr, records)) or "none"
                raise ValueError(
                    f"models must be those that are attached to the index ({there}); got {name!r}. "
                    "attach(name, model) adds one."
                )
            if record.steps:
                raise ValueError(
                    f"The model {name!r} lies in the index, which loads it by itself; give only "
                    "models that are not of textkin."
                )
            if record.damage:
                continue  # told when it is used
            on: On = "bags" if record.takes == "bags" else "texts"
            self.give(record, offered(name, model, on))

    def give(self, record: ModelRecord, offer: Offer) -> None:
        """Take a model of which only the vectors are kept."""
        columns = offer.columns(record.columns)
        if record.takes == "bags" and columns != record.columns:
            raise ValueError(
                f"The model {record.name!r} was attached with {record.columns:,} columns; the one "
                f"that is given has {columns:,}."
            )
        applied = offer.applied(record.columns, record.dimensions)
        with self._mutex:
            self._applied[record] = applied
            self._given[record.name] = record, offer.model

    def given(self) -> list[tuple[ModelRecord, object]]:
        """Return the models that were given, and for which; others may have their names now."""
        with self._mutex:
            return list(self._given.values())

    def give_again(
        self, given: Iterable[tuple[ModelRecord, object]], records: Mapping[str, ModelRecord]
    ) -> None:
        """Take what another `Models` of the index was given, or one of the index it is a copy of.

        What is attached no more is left out, and so is what another model has the name of.
        """
        there = {record.written(): record for record in records.values()}
        kept = {old.name: model for old, model in given if old.written() in there}
        self.give_all(kept, records)

    def forget(self, record: ModelRecord) -> None:
        """Forget a model that is no more."""
        with self._mutex:
            self._applied.pop(record, None)
            if self._given.get(record.name, (None, None))[0] == record:
                del self._given[record.name]

    def can_apply(self, record: ModelRecord) -> bool:
        """Return whether a model is in the folder, or was given."""
        return record.steps > 0 or record in self._applied

    def applied(self, record: ModelRecord) -> Applied:
        """Return a model, loaded once.

        Raises
        ------
        ValueError
            If it is not kept in the folder and was not given.
        DamagedIndexError
            If its files are damaged, or its row in the catalogue is.
        """
        with self._mutex:
            found = self._applied.get(record)
            if found is None:
                found = self._loaded(record)
                for other in list(self._applied):  # of an index that lay here before
                    if other.steps and other.file != record.file:
                        del self._applied[other]
                self._applied[record] = found
            return found

    def _loaded(self, record: ModelRecord) -> Applied:
        refuse_damaged(record)
        if not record.steps:
            raise ValueError(
                f"Of the model {record.name!r} ({record.description}) only the vectors are in the "
                f"index: give it again, Index.open(path, models={{{record.name!r}: model}}). "
                "Without it there are similar(id) and delete, but no search for a text and no "
                f"add or update; detach({record.name!r}) removes it."
            )
        with told_if_detached(self._folder, record):
            return applied_steps(record, load_steps(self._folder, record))


def applied_steps(record: ModelRecord, steps: Sequence[Any]) -> Applied:
    """Return estimators of textkin as one model; its dimensions may not be known yet."""

    def apply(documents: Any) -> Any:  # noqa: ANN401 (what the steps take and give)
        for step in steps:
            documents = step.transform(documents)
        return documents

    weights = _word_weights(steps[-1], record.columns)
    known = record.dimensions or None
    return Applied(record.name, record.takes, apply, record.columns, known, weights, alone=False)
