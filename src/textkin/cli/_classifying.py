"""What ``textkin classify`` does: who teaches, who is asked, and what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from textkin.cli._corpora import (
    Reading,
    fields_told,
    fulfil,
    is_index,
    labelled,
    outside,
    read_documents,
)
from textkin.cli._measuring import Measuring
from textkin.cli._opened import documents_told
from textkin.cli._predictions import Classified, Prediction
from textkin.cli._printing import note, one_line
from textkin.learn import NearestNeighborClassifier, RocchioClassifier
from textkin.learn._voting import VoteName
from textkin.run import progress_bar, working
from textkin.text import Document

__all__ = ["Task"]

_NEIGHBORS = 5


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked for.

    Attributes
    ----------
    train, test : Path
        Sources; None for `test` takes the documents of `train` that have no label.
    label : str or None
        The field of the label.
    unlabelled : frozenset of str
        Labels that are none.
    held_out : tuple of str
        Which documents of `train` are asked, if there is no `test`.
    where : tuple of str
        What all documents must be like.
    rocchio : bool
        Whether labels have prototypes; else neighbours vote.
    k, tune, vote
        Of the neighbours.
    reading : Reading
        How files are read.
    measuring : Measuring
        What documents are compared by.
    """

    train: Path
    test: Path | None
    label: str | None
    unlabelled: frozenset[str]
    held_out: tuple[str, ...]
    where: tuple[str, ...]
    rocchio: bool
    k: int | None
    tune: bool
    vote: VoteName | None
    reading: Reading
    measuring: Measuring

    def __post_init__(self) -> None:
        if self.tune and self.k is not None:
            raise ValueError("--tune chooses k: leave -k out.")
        if self.held_out and self.test is not None:
            raise ValueError("--test-where chooses documents of TRAIN: leave TEST out.")
        if self.rocchio:
            for option, given in (("-k", self.k), ("--tune", self.tune), ("--vote", self.vote)):
                if given:
                    raise ValueError(f"{option} is for neighbours, and --by rocchio has none.")
        if self.test is not None and self.test.exists() and self.test.samefile(self.train):
            raise ValueError(
                f"TRAIN and TEST are the same, {str(self.test)!r}. Name it once: documents with a "
                "label teach, those without one are classified; --test-where chooses others."
            )

    def run(self) -> Classified:
        """Read, learn and classify."""
        teachers, asked = self._documents()
        started = perf_counter()
        settings = self.measuring.settings(len(teachers))
        labels = [document.label for document in teachers]
        learn = self._by_prototypes if self.rocchio else self._by_neighbors
        predictions, told = learn(teachers, labels, asked, settings)
        return Classified(
            predictions,
            labels=tuple(sorted({str(label) for label in labels})),
            n_teachers=len(teachers),
            settings={
                "train": str(self.train),
                "test": None if self.test is None else str(self.test),
                **self.measuring.record(),
                **({"by": "rocchio"} if self.rocchio else {}),
                **told,
            },
            seconds=perf_counter() - started,
        )

    # Who teaches, and who is asked

    def _documents(self) -> tuple[list[Document], list[Document]]:
        known, labels = self._read(self.train)
        if self.test is None:
            self._tell_unused(labels)
            return self._parted(known)
        known = outside(known, self.train, self.test)
        found, more = self._read(self.test)
        self._tell_unused(labels | more)
        asked = outside(found, self.test, self.train)
        teachers = [document for document in known if document.label is not None]
        if not teachers:
            raise ValueError(self._no_labels(known))
        if len(known) > len(teachers):
            note(
                f"of {self.train}, {documents_told(len(known) - len(teachers))} without a label "
                "left out."
            )
        if not asked:
            raise ValueError(f"All documents of {self.test} teach: none is left to classify.")
        return teachers, asked

    def _parted(self, known: list[Document]) -> tuple[list[Document], list[Document]]:
        """Part the documents of one source."""
        if self.held_out:
            held = fulfil(known, self.held_out, "--test-where")
        else:
            held = [document.label is None for document in known]
        asked = [document for document, out in zip(known, held, strict=True) if out]
        rest = [document for document, out in zip(known, held, strict=True) if not out]
        teachers = [document for document in rest if document.label is not None]
        if not teachers:
            raise ValueError(self._no_labels(known))
        if not asked:
            raise ValueError(
                f"All {len(known):,} documents of {self.train} have a label: there is none to "
                "classify. Name TEST, or choose some with --test-where or --unlabelled."
            )
        if len(rest) > len(teachers):
            note(f"{documents_told(len(rest) - len(teachers))} without a label left out.")
        return teachers, asked

    def _read(self, path: Path) -> tuple[list[Document], set[str]]:
        """Return the documents of a source, and the labels that it has, those for none too."""
        found = labelled(path, read_documents([path], self.reading), self.label)
        labels = {str(one.label) for one in found if one.label is not None}
        found = [replace(one, label=None) if one.label in self.unlabelled else one for one in found]
        kept = fulfil(found, self.where)
        return [document for document, there in zip(found, kept, strict=True) if there], labels

    def _tell_unused(self, labels: set[str]) -> None:
        """Tell slips of the pen: the documents that were meant would teach."""
        for label in sorted(self.unlabelled - labels):
            note(f"--unlabelled: no document has the label {one_line([label])!r}.")

    def _no_labels(self, known: Sequence[Document]) -> str:
        if self.label is not None:
            return f"No document of {self.train} has a field {self.label!r}. {fields_told(known)}"
        way_out = "name the field of the label with --label"
        if self.train.is_dir() and not is_index(self.train):
            way_out = (
                "put the files of each label in a folder of its own, such as "
                f"{self.train / 'sports' / 'a.txt'}, or {way_out}"
            )
        return f"No document of {self.train} has a label: {way_out}. {fields_told(known)}"

    # How they are asked

    def _by_neighbors(
        self,
        teachers: list[Document],
        labels: list[Any],
        asked: list[Document],
        settings: dict[str, Any],
    ) -> tuple[list[Prediction], dict[str, Any]]:
        classifier = NearestNeighborClassifier(
            self.measuring.by or "wmd",
            n_neighbors=self.k or _NEIGHBORS,
            vote=self.vote or "majority",
            tune=self.tune,
            random_state=self.measuring.seed,
            **settings,
        )
        with progress_bar("Learning") as tell:
            classifier.fit(teachers, labels, progress=tell)
        with progress_bar("Classifying") as tell:
            evidence = classifier.evidence(asked, progress=tell)
        told: dict[str, Any] = {
            "k": int(classifier.n_neighbors_),
            "vote": self.vote or "majority",
        }
        if classifier.tuning_ is not None:
            told["tuning"] = {
                "errors": classifier.tuning_.errors.tolist(),
                "gamma": float(classifier.gamma_),
                "held_out": classifier.tuning_.n_validation,
            }
        found = [
            Prediction(document, str(one.label), float(one.score), one)
            for document, one in zip(asked, evidence, strict=True)
        ]
        return found, told

    def _by_prototypes(
        self,
        teachers: list[Document],
        labels: list[Any],
        asked: list[Document],
        settings: dict[str, Any],
    ) -> tuple[list[Prediction], dict[str, Any]]:
        classifier = RocchioClassifier(**settings)
        with working("Learning"):
            classifier.fit(teachers, labels)
        with working("Classifying"):
            chosen = classifier.predict(asked).tolist()
            cosines = classifier.similarity(asked)
        found = [
            Prediction(document, str(label), float(row.max()), None, classifier, not row.any())
            for document, label, row in zip(asked, chosen, cosines, strict=True)
        ]
        return found, {}
