"""Attaching models to an index: vectors of all its documents, and of those that come later."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

import numpy as np

from textkin._typing import Bags, Float32Array, Int64Array
from textkin._validation import one_of
from textkin.index._life import OpenIndex
from textkin.index._model_folders import load_steps, save_steps
from textkin.index._model_records import METRICS, NAME, ModelRecord
from textkin.index._models import (
    Applied,
    Offer,
    On,
    applied_steps,
    offered,
    threads_of,
)
from textkin.index._snapshot import Snapshot
from textkin.index._writer import Writer
from textkin.index.ranking._choosing import NAMES
from textkin.index.ranking._models import forget_vectors
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["AttachingIndex"]

_BLOCK = 2048  # documents that a model gets at a time
_METRIC = one_of(*METRICS)


class AttachingIndex(OpenIndex):
    """An open index that keeps vectors of its documents, made by models."""

    @property
    def models(self) -> dict[str, str]:
        """The attached models by their names, and what each is."""
        return self._described(self._snapshot())

    def attach(
        self,
        name: str,
        model: object,
        *,
        metric: Literal["cosine", "inner"] = "cosine",
        on: On = "auto",
        progress: ProgressCallback | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Attach a model: its vectors rank documents, ``search(query, by=name)``.

        Every document gets a vector, and so does each one that is added or updated later, in the
        same transaction.

        Parameters
        ----------
        name : str
            What to call it: up to 64 letters, digits, ``.``, ``_`` and ``-``. One that is damaged
            in the catalogue is replaced.
        model : estimator, pipeline, or anything that makes vectors
            A model of textkin over bags (`LSI`, `LDA`, `PLSA`) or over texts (`Pooling`,
            `FisherVector`, `ParagraphVector`), or a scikit-learn `Pipeline` of estimators of
            textkin such as ``make_pipeline(TfIdf(), LSI(100))``: it is saved in the folder, and
            loaded from there. If it is not fitted, it is fitted on `bags`, or on the texts.

            Or anything else with ``encode`` (of sentence-transformers), with ``transform``, or a
            function of a list of texts: only its vectors are kept, and it must be given again,
            ``Index.open(path, models={name: model})``.
        metric : {"cosine", "inner"}, default="cosine"
            How vectors are compared: by their cosine, or by their inner product.
        on : {"auto", "bags", "texts"}, default="auto"
            What the model takes. "auto": what a model of textkin takes, bags for transformers of
            others that were fitted on columns, texts for all else.
        progress : callable, default=None
            Gets (done, total) documents.
        n_jobs : int or None, default=None
            Threads for models of textkin that can use several; None: as the model says.

        Raises
        ------
        ValueError, TypeError
            If the name or the model cannot be used; nothing is attached then.

        See Also
        --------
        detach : Remove it.
        textkin.index.ranking.ModelRanking : The ranking, with an approximate search.

        Notes
        -----
        Columns are numbers of words, which never change; words that come after a model was fitted
        are cut off. A document without any word that the model has a column for gets the zero
        vector, which is never found, whatever the model makes of an empty bag. Vectors are kept as
        float32, in the catalogue: four bytes for each document and dimension.

        A model that is not of textkin must be the same when it is given again. Only the number of
        its dimensions is checked.

        Examples
        --------
        >>> import tempfile
        >>> import textkin as tk
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = tk.Index.create(f"{folder.name}/news.kin")
        >>> print(index.add(["oil prices rise", "prices of crude oil", "the cup final"]))
        3 added
        >>> index.attach("lsi", tk.LSI(2, random_state=0))
        >>> index.models
        {'lsi': 'LSI(n_components=2, random_state=0): 2 dimensions, cosine'}
        >>> index.search("crude", k=2, by="lsi").ids
        ['0', '1']
        >>> index.close()
        >>> folder.cleanup()
        """
        _check_name(name)
        _METRIC.check("metric", metric)
        if n_jobs is not None:
            effective_jobs(n_jobs)
        offer = offered(name, model, on)
        with self._writing() as writer:
            there = writer.models().get(name)
            if there is not None and not there.damage:
                raise ValueError(
                    f"The index has a model {name!r} already; detach({name!r}) removes it."
                )
            snapshot = self._snapshot()  # of now: nobody else can write
            if not len(snapshot):
                raise ValueError(
                    "The index has no documents; add some before a model is attached, which is "
                    "fitted on them or must show the size of its vectors."
                )
            self._attach(writer, snapshot, offer, metric, progress, n_jobs, there)
            if there is not None:
                self._forget_model(there)

    def _attach(
        self,
        writer: Writer,
        snapshot: Snapshot,
        offer: Offer,
        metric: str,
        progress: ProgressCallback | None,
        n_jobs: int | None,
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
        with snapshot.catalogue() as catalogue:
            file = catalogue.file
        record = ModelRecord(
            number=writer.state.number + 1,
            name=offer.name,
            takes=offer.takes,
            metric=metric,
            columns=offer.columns(n_words),
            dimensions=0,
            steps=len(offer.steps),
            sha256="",
            description=offer.description,
            file=file,
        )
        writer.sweep_models()  # what a crash may have left under this number
        steps = []
        if offer.steps:
            record = replace(record, sha256=save_steps(self.path, record.number, offer.steps))
        try:
            if offer.steps:
                steps = load_steps(self.path, record)
                applied = applied_steps(record, steps)
            else:
                applied = offer.applied(n_words)
            with threads_of(steps, n_jobs):
                applied.dimensions = _dimensions(applied, snapshot, bags)
                record = replace(record, dimensions=applied.dimensions)
                writer.attach(record, _blocks(applied, snapshot, bags, progress), replaced)
        except BaseException:
            writer.sweep_models()
            raise
        if not offer.steps:
            self._models.give(record, offer)

    def detach(self, name: str) -> None:
        """Remove a model, with its vectors and its files.

        Parameters
        ----------
        name : str
            What it is called.

        Raises
        ------
        KeyError
            If no model has the name.
        """
        with self._writing() as writer:
            record = writer.models().get(name)
            if record is None:
                raise KeyError(_unknown(name, list(writer.models())))
            writer.detach(record)
            self._forget_model(record)

    def _forget_model(self, record: ModelRecord) -> None:
        self._models.forget(record)
        forget_vectors(self._kept, record)

    def _described(self, snapshot: Snapshot) -> dict[str, str]:
        return {name: self._told(record) for name, record in snapshot.models.items()}

    def _told(self, record: ModelRecord) -> str:
        if record.damage:
            return f"damaged: {record.damage}"
        told = f"{record.description}: {record.dimensions} dimensions, {record.metric}"
        given = self._models.can_apply(record)
        return told if given else f"{told}; it is not given, only its vectors"


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str; got {type(name).__name__}.")
    if NAME.fullmatch(name) is None:
        raise ValueError(
            "name must be 1 to 64 letters (a to z), digits, '.', '_' or '-', and begin with a "
            f"letter, a digit or '_'; got {name!r}."
        )
    if name in NAMES:
        raise ValueError(
            f"name must not be that of a ranking which every index has ({', '.join(NAMES)}); "
            f"got {name!r}."
        )


def _unknown(name: object, there: Sequence[str]) -> str:
    attached = ", ".join(map(repr, there)) or "none"
    return f"no model is called {name!r}; attached: {attached}."


def _dimensions(applied: Applied, snapshot: Snapshot, bags: Bags | None) -> int:
    """Return the size of a model's vectors, by that of one document."""
    if bags is None:
        return int(applied.vectors(None, [next(snapshot.documents()).text]).shape[1])
    known = bags[:, : applied.columns]
    filled = np.flatnonzero(np.diff(known.indptr))
    if not len(filled):
        raise ValueError(
            f"No document has a word that the model {applied.name!r} knows; attach it when there "
            "are some."
        )
    return int(applied.vectors(known[filled[:1]], None).shape[1])


def _blocks(
    applied: Applied, snapshot: Snapshot, bags: Bags | None, progress: ProgressCallback | None
) -> Iterator[tuple[list[int], Float32Array]]:
    """Give the vectors of all documents with their positions, some at a time."""
    parts = [part.segment.positions[part.live] for part in snapshot.parts]
    positions: Int64Array = np.concatenate(parts)
    documents = None if bags is not None else snapshot.documents()
    for start in range(0, len(positions), _BLOCK):
        some = positions[start : start + _BLOCK].tolist()
        if documents is None:
            assert bags is not None
            vectors = applied.vectors(bags[start : start + _BLOCK], None)
        else:
            texts = [document.text for document in islice(documents, len(some))]
            vectors = applied.vectors(None, texts)
        yield some, vectors
        if progress is not None:
            progress(start + len(some), len(positions))
