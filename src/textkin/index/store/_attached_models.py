"""Models attached to an index: validation, computation of document vectors, loading.

A model consists of textkin estimators, which are stored in the folder of the index, or it is any
other object that computes vectors of texts or bags. For such an object, only vectors are stored.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    BagEstimator,
    Bags,
    Float32Array,
    Float64Array,
    Int64Array,
    SavedEstimator,
    abbreviate,
    format_count,
    hinted,
    is_loadable,
    one_of,
    takes_texts,
)
from textkin.exceptions import DamagedIndexError, ParameterError, ParameterTypeError
from textkin.index.store._embeddings import as_array, check_ids, check_rows
from textkin.index.store._model_folders import explain_if_detached, load_steps, save_steps
from textkin.index.store._model_records import (
    METRICS,
    MOST_DIMENSIONS,
    MOST_STEPS,
    NAME,
    RANKING_NAMES,
    ModelRecord,
    check_undamaged,
)
from textkin.index.store._vector_files import DTYPES
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import stop_list

if TYPE_CHECKING:
    from textkin.index.store._session import Session
    from textkin.index.store._settings import AnalyzerSettings
    from textkin.index.store._snapshot import Snapshot
    from textkin.index.store._writer import Writer

__all__ = ["AttachedModels", "InputType", "LoadedModel", "Offer", "check_offer"]

_LONGEST = 200  # maximum length of a description, in characters
_BLOCK = 2048  # documents passed to a model at a time
_GIVEN_BLOCK = 1 << 14  # given vectors stored at a time
_METRIC = one_of(*METRICS)
_DTYPE = one_of(*DTYPES)

InputType: TypeAlias = Literal["auto", "bags", "texts"]
_INPUT_TYPE = one_of("auto", "bags", "texts")


class LoadedModel:
    """Attached model in memory, which computes vectors of documents and queries.

    Parameters
    ----------
    name : str
        Name of the model.
    takes : {"bags", "texts"}
        Input of the model.
    apply : callable
        Function that returns one row of numbers per bag or text.
    columns : int
        Number of words that the model knows; columns of later words are ignored.
    dimensions : int or None
        Number of dimensions of the vectors; None if not known yet.
    word_weights : ndarray of shape (dimensions, columns), or None
        Word weights of each dimension, or None if unknown.
    alone : bool
        True if only one thread at a time may use the model.
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
        """Return the vector of each document, computed from bags or from texts.

        A bag without a word that the model knows gets the zero vector; the model does not see it.

        Raises
        ------
        ValueError
            If the result is not an array of finite numbers with one row per document.
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
                f"The model {self.name!r} must return dense vectors; got a sparse matrix. Add a "
                "model such as LSI as the next step of a pipeline. For TfIdf and BM25 use "
                "search(ranking=TfIdf())."
            )
        array = as_array(made)
        if array.dtype.kind not in "fiu" or array.ndim != 2 or array.shape[0] != number:
            raise ValueError(
                f"The model {self.name!r} must return an array of numbers with one row for each of "
                f"{number} {self.takes}; got {type(made).__name__} of shape {array.shape}."
            )
        if self.dimensions is not None and array.shape[1] != self.dimensions:
            raise ValueError(
                f"The model {self.name!r} must return vectors of {self.dimensions} dimensions, as "
                f"before; got {array.shape[1]}. Pass the model that was attached."
            )
        if not 1 <= array.shape[1] <= MOST_DIMENSIONS:
            raise ValueError(
                f"The model {self.name!r} must return vectors of 1 to {MOST_DIMENSIONS:,} "
                f"dimensions; got {array.shape[1]:,}."
            )
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(array, np.float32)
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ValueError(
                f"The model {self.name!r} must return numbers that are finite in float32; got NaN, "
                f"infinity or a number that is too large, for document {row} of the batch."
            )
        return vectors


@dataclass(frozen=True)
class Offer:
    """Model that a user passes to `attach` or `open`, after validation.

    Attributes
    ----------
    name : str
        Name of the model in the index.
    model : object
        The model, unchanged.
    takes : {"bags", "texts"}
        Input of the model.
    steps : list of estimators
        Estimators of textkin; empty if only vectors can be stored.
    description : str
        Readable description.
    """

    name: str
    model: Any
    takes: str
    steps: list[Any]
    description: str

    def fit_on(self, documents: Callable[[], Bags | list[str]], n_jobs: int | None) -> None:
        """Fit the model to the documents of the index, unless it is fitted."""
        if self.steps and not all(map(_is_fitted, self.steps)):
            with _use_threads(self.steps, n_jobs):
                self.model.fit(documents())

    def check_words(self, bags: Bags) -> None:
        """Raise if the model was fitted to other columns than the words of the index."""
        first = self.steps[0] if self.steps else self.model
        columns = self.columns(bags.shape[1])
        if hasattr(first, "feature_names_in_"):
            raise ValueError(
                f"The model {self.name!r} must be fitted on columns without names, because an "
                "index has word IDs. Fit it on index.bags(), or attach it before it is fitted."
            )
        if columns > bags.shape[1]:
            raise ValueError(
                f"The model {self.name!r} was fitted on {columns:,} columns, but the index has "
                f"{bags.shape[1]:,} words. Fit it on index.bags(), or attach it before it is "
                "fitted."
            )

    def columns(self, n_words: int) -> int:
        """Return the number of input columns of the model; if not fitted, `n_words`."""
        if self.takes == "texts":
            return 0
        first = self.steps[0] if self.steps else self.model
        return int(getattr(first, "n_features_in_", n_words))

    def load(self, n_words: int, dimensions: int | None = None) -> LoadedModel:
        """Return the model as a `LoadedModel`, without storing it."""
        call = getattr(self.model, "encode", None) if self.takes == "texts" else None
        call = call or getattr(self.model, "transform", None) or self.model
        columns = self.columns(n_words)
        weights = _word_weights(self.model, columns)
        return LoadedModel(self.name, self.takes, call, columns, dimensions, weights)


def _check_name(name: str) -> None:
    """Raise if a model name is invalid, or the name of a built-in ranking."""
    if not isinstance(name, str):
        raise ParameterTypeError("name", "a str", type(name).__name__)
    if NAME.fullmatch(name) is None:
        raise ParameterError(
            "name",
            "1 to 64 letters (a to z), digits, '.', '_' or '-', and start with a letter, a digit "
            "or '_'",
            repr(name),
        )
    if name in RANKING_NAMES:
        raise ValueError(
            f"name must not be the name of a built-in ranking "
            f"({', '.join(RANKING_NAMES)}); got {name!r}."
        )


def check_offer(name: str, model: object, input_type: InputType) -> Offer:
    """Validate a model that a user passes, and return it as an `Offer`.

    Raises
    ------
    TypeError, ValueError
        If the object cannot be used as a model.
    """
    _INPUT_TYPE.check("input_type", input_type)
    if isinstance(model, type) or not (
        callable(getattr(model, "transform", None))
        or callable(getattr(model, "encode", None))
        or callable(model)
    ):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise ParameterTypeError(
            "model",
            "an estimator, a pipeline, anything with transform or encode, or a function of a "
            "list of texts",
            str(what),
        )
    steps = _steps(model)
    if steps:
        takes = "texts" if takes_texts(steps[0]) else "bags"
        if input_type not in ("auto", takes):
            raise ValueError(
                f"input_type must be 'auto' or {takes!r} for {type(steps[0]).__name__}; got "
                f"{input_type!r}."
            )
        return Offer(name, model, takes, steps, _described(*steps))
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)  # only estimators of textkin are fitted automatically
    takes = input_type
    if input_type == "auto" and isinstance(model, SavedEstimator):
        takes = "texts" if takes_texts(model) else "bags"
    elif input_type == "auto":
        # A model that counts words itself was not fitted on columns.
        columns = not callable(getattr(model, "encode", None)) and hasattr(model, "n_features_in_")
        takes = "bags" if columns else "texts"
    return Offer(name, model, takes, [], _described(model))


def _steps(model: object) -> list[Any]:
    """Return the textkin estimators in a model or pipeline, or [] for other objects."""
    parts = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    ours = [
        isinstance(part, SavedEstimator)
        and (isinstance(part, BagEstimator) or (at == 0 and takes_texts(part)))
        and is_loadable(type(part))
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


def _with_words(description: str, analyzer: "AnalyzerSettings") -> str:
    """Add the words that the analyzer of an index counts to the description of a model."""
    if analyzer.normalizer is None:
        words = "lowercase words" if analyzer.lowercase else "words as written"
    else:
        words = {"stem": "stems"}.get(analyzer.normalizer, "lemmas")
        words += f" ({analyzer.language})" if analyzer.language else ""
    low, high = analyzer.ngram_range
    if (low, high) != (1, 1):
        words = f"{low}- to {high}-grams of {words}" if low < high else f"{low}-grams of {words}"
    if isinstance(analyzer.stop_words, str):
        words += f" without {analyzer.stop_words}"
    elif analyzer.stop_words is not None:
        words += f" without {len(analyzer.stop_words)} stop words"
    end = f", over {words}"
    room = _LONGEST - len(end)
    shown = description if len(description) <= room else f"{description[: room - 3]}..."
    return shown + end


def _called(model: object) -> str:
    if isinstance(model, Pipeline):
        return " > ".join(type(step).__name__ for _, step in model.steps)
    name = getattr(model, "__name__", None)
    return name if isinstance(name, str) else type(model).__name__


@contextmanager
def _use_threads(steps: Sequence[Any], n_jobs: int | None) -> Iterator[None]:
    """Set `n_jobs` of estimators within a ``with`` block."""
    having = [step for step in steps if n_jobs is not None and "n_jobs" in step.get_params()]
    before = [step.n_jobs for step in having]
    try:
        for step in having:
            step.n_jobs = n_jobs
        yield
    finally:
        for step, old in zip(having, before, strict=True):
            step.n_jobs = old


@contextmanager
def _pinned_stop_words(steps: Sequence[Any]) -> Iterator[None]:
    """Add the version to names of stop lists temporarily, so that later versions are not read."""
    named = [step for step in steps if isinstance(step.get_params().get("stop_words"), str)]
    before = [step.stop_words for step in named]
    try:
        for step in named:
            step.stop_words = stop_list(step.stop_words).pinned
        yield
    finally:
        for step, old in zip(named, before, strict=True):
            step.stop_words = old


def _word_weights(model: object, columns: int) -> Float64Array | None:
    if isinstance(model, SavedEstimator) and not isinstance(model, BagEstimator):
        return None  # the columns of such a model are vector dimensions, not words
    found = getattr(model, "components_", None)
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.shape[1] == columns:
        return found
    return None


class AttachedModels:
    """Models attached to an open index, loaded on first use; thread-safe.

    Parameters
    ----------
    folder : Path
        Folder of the index.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mutex = threading.Lock()
        self._loaded_models: dict[ModelRecord, LoadedModel] = {}
        self._provided: dict[str, tuple[ModelRecord, object]] = {}

    def attach(
        self,
        session: "Session",
        name: str,
        model: object,
        *,
        embeddings: object = None,
        ids: object = None,
        metric: str,
        dtype: str = "float32",
        input_type: InputType,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ) -> None:
        """Store a model, and a given or computed vector for each document."""
        _check_name(name)
        _METRIC.check("metric", metric)
        _DTYPE.check("dtype", dtype)
        if n_jobs is not None:
            effective_jobs(n_jobs)
        offer = None if model is None else check_offer(name, model, input_type)
        rows = None if embeddings is None else check_rows(embeddings, "embeddings", dtype=dtype)
        if rows is None and ids is not None:
            raise ParameterError(
                "ids", "None without embeddings", "a list", "Pass `embeddings` with `ids`."
            )
        wanted = None if rows is None or ids is None else check_ids(ids, len(rows))
        if offer is not None and offer.takes == "bags":
            offer = replace(offer, description=_with_words(offer.description, session.analyzer))
        with session.writing() as writer:
            there = writer.models().get(name)
            if there is not None and not there.damage:
                raise ValueError(
                    f"name must be new; the index already has a model {name!r}. Remove it "
                    f"with detach({name!r})."
                )
            snapshot = session.snapshot()  # up to date, because the writer lock is held
            if rows is not None:
                self._attach_rows(
                    writer, snapshot, name, rows, wanted, offer, metric, dtype, progress, there
                )
            else:
                assert offer is not None
                if not len(snapshot) and (offer.steps or offer.takes == "bags"):
                    raise ValueError(
                        "The index must have documents before this model is attached, because the "
                        "model is fitted on them or takes their words. Add documents first."
                    )
                self._attach(writer, snapshot, offer, metric, dtype, n_jobs, progress, there)
            if there is not None:
                session.drop_model(there)

    def _attach_rows(
        self,
        writer: "Writer",
        snapshot: "Snapshot",
        name: str,
        rows: NDArray[Any],
        ids: list[str] | None,
        offer: Offer | None,
        metric: str,
        dtype: str,
        progress: ProgressCallback | None,
        replaced: ModelRecord | None,
    ) -> None:
        """Store document vectors that the user computed."""
        every = _positions(snapshot)
        if ids is None:
            rows = check_rows(rows, "embeddings", len(every), dtype=dtype)
            positions = every
        else:
            positions = _positions_of(writer, ids)
        if offer is not None:
            if offer.takes == "bags":
                raise ParameterError(
                    "encoder",
                    "an encoder of texts if embeddings are passed",
                    "an encoder of bags",
                    f"Pass it alone: `attach({name!r}, model)` computes the vectors.",
                )
            offer = replace(offer, name=name, steps=[])
            probe = offer.load(snapshot.state.words).vectors(None, ["a"])
            if probe.shape[1] != rows.shape[1]:
                raise ParameterError(
                    "encoder",
                    f"an encoder of {rows.shape[1]} dimensions, as embeddings",
                    f"{probe.shape[1]}",
                    "Pass the encoder that made the vectors.",
                )
        record = _foreign_record(writer, snapshot, name, metric, rows.shape[1], offer)
        missing = np.setdiff1d(every, positions)
        order = np.argsort(positions, kind="stable")
        blocks = _given_blocks(positions[order], rows, order, progress)
        writer.attach(record, blocks, dtype, missing.tolist(), replaced)
        if offer is not None:
            self.provide(record, offer)

    def embed(
        self,
        session: "Session",
        name: str,
        *,
        embeddings: object = None,
        ids: object = None,
        progress: ProgressCallback | None,
    ) -> int:
        """Store missing or given document vectors; return how many were stored."""
        with session.writing() as writer:
            record = _attached(writer, name)
            check_undamaged(record)
            if record.steps:
                raise ValueError(
                    f"name must be a model whose vectors you supply; {name!r} is stored in the "
                    "index, and every document has its vector."
                )
            if embeddings is None:
                if ids is not None:
                    raise ParameterError(
                        "ids", "None without embeddings", "a list", "Pass `embeddings` with `ids`."
                    )
                positions = writer.missing_positions(record)
                blocks = _encoded_blocks(self.load(record), session.snapshot(), positions, progress)
            else:
                if ids is None:
                    raise ParameterError(
                        "ids", "the IDs of the documents of embeddings", "None", "Pass `ids=ids`."
                    )
                dtype = writer.dtypes()[name]
                rows = check_rows(embeddings, "embeddings", None, record.dimensions, dtype)
                positions = _positions_of(writer, check_ids(ids, len(rows)))
                order = np.argsort(positions, kind="stable")
                blocks = _given_blocks(positions[order], rows, order, progress)
            writer.set_vectors(record, blocks)
            session.publish(writer)
        return len(positions)

    def _attach(
        self,
        writer: "Writer",
        snapshot: "Snapshot",
        offer: Offer,
        metric: str,
        dtype: str,
        n_jobs: int | None,
        progress: ProgressCallback | None,
        replaced: ModelRecord | None,
    ) -> None:
        bags = snapshot.bags() if offer.takes == "bags" else None
        n_words = snapshot.state.words
        if bags is not None:
            counted = bags
            offer.fit_on(lambda: counted, n_jobs)
            offer.check_words(bags)
        else:
            offer.fit_on(lambda: [document.text for document in snapshot.documents()], n_jobs)
        record = _foreign_record(writer, snapshot, offer.name, metric, 0, offer)
        record = replace(record, columns=offer.columns(n_words), steps=len(offer.steps))
        writer.sweep_models()  # remove files that a crash may have left under this number
        steps = []
        if offer.steps:
            with _pinned_stop_words(offer.steps):
                digest = save_steps(self._folder, record.number, offer.steps)
            record = replace(record, sha256=digest)
        try:
            if offer.steps:
                steps = load_steps(self._folder, record)
                model = _load(record, steps)
            else:
                model = offer.load(n_words)
            with _use_threads(steps, n_jobs):
                model.dimensions = _dimensions(model, snapshot, bags)
                record = replace(record, dimensions=model.dimensions)
                blocks = _blocks(model, snapshot, bags, progress)
                writer.attach(record, blocks, dtype, replaced=replaced)
        except BaseException:
            writer.sweep_models()
            raise
        if not offer.steps:
            self.provide(record, offer)

    def detach(self, session: "Session", name: str) -> None:
        """Remove a model, its document vectors, and its files; raise KeyError if unknown."""
        with session.writing() as writer:
            record = _attached(writer, name)
            writer.detach(record)
            session.drop_model(record)

    def describe(self, snapshot: "Snapshot") -> dict[str, str]:
        """Return a one-line description of each model of a snapshot, by name."""
        return {
            name: self._description(record, snapshot) for name, record in snapshot.models.items()
        }

    def _description(self, record: ModelRecord, snapshot: "Snapshot") -> str:
        if record.damage:
            return f"corrupt: {record.damage}"
        try:
            missing, dtype = snapshot.count_missing(record), snapshot.vector_dtype(record)
        except DamagedIndexError as error:
            return f"corrupt: {error.problems[0]}"
        told = f"{record.description}: {record.dimensions} dimensions, {record.metric}"
        told += f", {dtype}" if dtype != "float32" else ""
        if missing:
            told += f"; {format_count(missing, 'document')} without a vector"
        return told if self.can_apply(record) else f"{told}; only vectors are stored"

    def provide_all(self, models: Mapping[str, object], records: Mapping[str, ModelRecord]) -> None:
        """Register the models that a user passes to `Index.open`, by name."""
        for name, model in models.items():
            record = records.get(name)
            if record is None:
                there = ", ".join(map(repr, records)) or "none"
                raise ParameterError(
                    "models",
                    f"names of models attached to the index ({there})",
                    repr(name),
                    "Attach a model with `index.attach(name, model)`.",
                )
            if record.steps:
                raise ValueError(
                    f"models must contain only models from other libraries; got {name!r}, which "
                    "the index stores and loads itself."
                )
            if record.damage:
                continue  # the error is raised when the model is used
            takes: InputType = "bags" if record.takes == "bags" else "texts"
            self.provide(record, check_offer(name, model, takes))

    def provide(self, record: ModelRecord, offer: Offer) -> None:
        """Register a model whose estimator is not stored in the index folder."""
        columns = offer.columns(record.columns)
        if record.takes == "bags" and columns != record.columns:
            raise ValueError(
                f"The model {record.name!r} must have {record.columns:,} columns, as when it was "
                f"attached; got {columns:,}."
            )
        applied = offer.load(record.columns, record.dimensions)
        with self._mutex:
            self._loaded_models[record] = applied
            self._provided[record.name] = record, offer.model

    def provided(self) -> list[tuple[ModelRecord, object]]:
        """Return the models that the user passed, with their records."""
        with self._mutex:
            return list(self._provided.values())

    def restore(
        self, given: Iterable[tuple[ModelRecord, object]], records: Mapping[str, ModelRecord]
    ) -> None:
        """Register the models that were registered in another session of the index.

        A model is skipped if its record is no longer attached.
        """
        there = {record.written(): record for record in records.values()}
        kept = {old.name: model for old, model in given if old.written() in there}
        self.provide_all(kept, records)

    def forget(self, record: ModelRecord) -> None:
        """Release the memory of a model that was detached."""
        with self._mutex:
            self._loaded_models.pop(record, None)
            if self._provided.get(record.name, (None, None))[0] == record:
                del self._provided[record.name]

    def can_apply(self, record: ModelRecord) -> bool:
        """Return True if a model can encode new texts: stored, or passed by the user."""
        return record.steps > 0 or record in self._loaded_models

    def load(self, record: ModelRecord) -> LoadedModel:
        """Return a model as `LoadedModel`, read from the folder on first use.

        Raises
        ------
        ValueError
            If the model is neither in the folder nor provided by the user.
        DamagedIndexError
            If its files or its row in the catalog are corrupt.
        """
        with self._mutex:
            found = self._loaded_models.get(record)
            if found is None:
                found = self._read(record)
                for other in list(self._loaded_models):  # drop models of an index that was replaced
                    if other.steps and other.file != record.file:
                        del self._loaded_models[other]
                self._loaded_models[record] = found
            return found

    def _read(self, record: ModelRecord) -> LoadedModel:
        check_undamaged(record)
        if not record.steps:
            raise hinted(
                ValueError,
                f"The index stores only the vectors of the model {record.name!r} "
                f"({record.description}), so it cannot encode a text.",
                f"Pass the encoder with `Index.open(path, models={{{record.name!r}: model}})`, or "
                "the vector of the query with `index.search(embedding=vector)`; or use a document "
                "as the query, `index.similar(id)`.",
            )
        with explain_if_detached(self._folder, record):
            return _load(record, load_steps(self._folder, record))


def _load(record: ModelRecord, steps: Sequence[Any]) -> LoadedModel:
    """Combine the stored estimators of a model into a `LoadedModel`."""

    def apply(documents: Any) -> Any:  # noqa: ANN401 (what the steps take and give)
        for step in steps:
            documents = step.transform(documents)
        return documents

    weights = _word_weights(steps[-1], record.columns)
    known = record.dimensions or None
    return LoadedModel(
        record.name, record.takes, apply, record.columns, known, weights, alone=False
    )


def _attached(writer: "Writer", name: str) -> ModelRecord:
    record = writer.models().get(name)
    if record is None:
        attached = ", ".join(map(repr, writer.models())) or "none"
        raise KeyError(f"no model has the name {name!r}; attached: {attached}.")
    return record


def _foreign_record(
    writer: "Writer",
    snapshot: "Snapshot",
    name: str,
    metric: str,
    dimensions: int,
    offer: Offer | None,
) -> ModelRecord:
    """Create the catalog record of a model that is not stored in the folder."""
    with snapshot.catalog() as catalog:
        file = catalog.file
    return ModelRecord(
        number=writer.state.number + 1,
        name=name,
        takes="texts" if offer is None else offer.takes,
        metric=metric,
        columns=0,
        dimensions=dimensions,
        steps=0,
        sha256="",
        description="embeddings" if offer is None else offer.description,
        file=file,
    )


def _positions(snapshot: "Snapshot") -> Int64Array:
    """Return the catalog positions of all documents, in ascending order."""
    found = [part.segment.positions[part.live] for part in snapshot.parts]
    positions: Int64Array = np.concatenate(found).astype(np.int64)
    return positions


def _positions_of(writer: "Writer", ids: Sequence[str]) -> Int64Array:
    """Return the catalog positions of document IDs; raise if an ID does not exist."""
    known = writer.positions_of(ids)
    unknown = next((id for id in ids if id not in known), None)
    if unknown is not None:
        raise ParameterError(
            "ids",
            "IDs of documents of the index",
            abbreviate(unknown),
            "Test with `id in index`, and omit the rows of other documents.",
        )
    return np.array([known[id] for id in ids], np.int64)


def _given_blocks(
    positions: Int64Array, rows: NDArray[Any], order: Int64Array, progress: ProgressCallback | None
) -> Iterator[tuple[Int64Array, NDArray[Any]]]:
    """Yield blocks of positions with the vectors that the user gave for them."""
    straight = len(order) < 2 or bool((np.diff(order) == 1).all())
    for start in range(0, len(positions), _GIVEN_BLOCK):
        some = slice(start, start + _GIVEN_BLOCK)
        yield positions[some], rows[some] if straight else rows[order[some]]
        if progress is not None:
            progress(min(start + _GIVEN_BLOCK, len(positions)), len(positions))


def _encoded_blocks(
    model: LoadedModel,
    snapshot: "Snapshot",
    positions: Int64Array,
    progress: ProgressCallback | None,
) -> Iterator[tuple[Int64Array, NDArray[Any]]]:
    """Yield blocks of positions with the vectors that a model computes for them."""
    every = _positions(snapshot)
    bags = snapshot.bags() if model.takes == "bags" else None
    for start in range(0, len(positions), _BLOCK):
        some = positions[start : start + _BLOCK]
        if bags is None:
            yield some, model.vectors(None, snapshot.texts(some.tolist()))
        else:
            yield some, model.vectors(bags[np.searchsorted(every, some)], None)
        if progress is not None:
            progress(start + len(some), len(positions))


def _dimensions(model: LoadedModel, snapshot: "Snapshot", bags: Bags | None) -> int:
    """Return a model's number of dimensions, from the vector of one document."""
    if bags is None:
        first = next(snapshot.documents(), None)
        return int(model.vectors(None, ["a" if first is None else first.text]).shape[1])
    known = bags[:, : model.columns]
    filled = np.flatnonzero(np.diff(known.indptr))
    if not len(filled):
        raise ValueError(
            f"The index must have a document with a word that the model {model.name!r} knows; add "
            "such documents first."
        )
    return int(model.vectors(known[filled[:1]], None).shape[1])


def _blocks(
    model: LoadedModel, snapshot: "Snapshot", bags: Bags | None, progress: ProgressCallback | None
) -> Iterator[tuple[Int64Array, Float32Array]]:
    """Yield blocks of positions and computed vectors of all documents."""
    positions = _positions(snapshot)
    documents = None if bags is not None else snapshot.documents()
    for start in range(0, len(positions), _BLOCK):
        some = positions[start : start + _BLOCK]
        if documents is None:
            assert bags is not None
            vectors = model.vectors(bags[start : start + _BLOCK], None)
        else:
            texts = [document.text for document in islice(documents, len(some))]
            vectors = model.vectors(None, texts)
        yield some, vectors
        if progress is not None:
            progress(start + len(some), len(positions))
