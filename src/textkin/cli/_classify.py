"""``textkin classify``: labels from the nearest labeled documents, with explanations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._documents import (
    Reading,
    describe_fields,
    label_documents,
    passes,
    read_documents,
    without_shared,
)
from textkin.cli._errors import note, reword_errors
from textkin.cli._options import (
    CsvOption,
    DelimiterOption,
    DimensionOption,
    EncodingOption,
    HtmlOption,
    IdOption,
    JobsOption,
    JsonOption,
    KeepStopWordsOption,
    MaxBytesOption,
    MetricOptions,
    ModelOption,
    NoIdOption,
    OutputOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    StopWordsOption,
    TextOption,
    VectorsOption,
    WhereOption,
)
from textkin.cli._output import Look, Output, align, draw, format_documents, one_line
from textkin.cli._scores import Scores
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.explain import Evidence
    from textkin.learn import RocchioClassifier
    from textkin.reading import Document

__all__ = ["classify"]

_NEIGHBORS = 5
_PARTS = 8  # number of parts of an explanation


class Vote(StrEnum):
    """Values of the option --vote: how neighbors vote."""

    majority = "majority"
    distance = "distance"
    fall_back = "fall-back"
    exponential = "exponential"


def classify(
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Labeled documents: file, folder, or index.")
    ],
    test: Annotated[
        Path | None,
        typer.Argument(
            metavar="TEST", help="Documents to classify (default: TRAIN without a label)."
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="wmd, rwmd, wcd, cosine, l1, l2, hellinger, jaccard, edit, or rocchio.",
        ),
    ] = "wmd",
    k: Annotated[
        int | None,
        typer.Option("--k", "-k", min=1, help="Number of voting neighbors (default: 5)."),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose k from 1 to 19 on a fifth of TRAIN.")
    ] = False,
    vote: Annotated[Vote | None, typer.Option(help="Voting scheme (default: majority).")] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field with the label (default: label, or sub-folder)."),
    ] = None,
    unlabeled: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="Label that means 'no label', such as inbox; repeatable."
        ),
    ] = None,
    held_out: Annotated[
        list[str] | None,
        typer.Option(
            "--test-where",
            metavar="EXPR",
            help="Documents of TRAIN to classify, as in 'split=test' (without TEST).",
        ),
    ] = None,
    where: WhereOption = None,
    model: ModelOption = None,
    dimension: DimensionOption = None,
    vectors: VectorsOption = None,
    stop_words: StopWordsOption = "smart",
    keep_stop_words: KeepStopWordsOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the voting neighbors, and why they are similar.")
    ] = False,
    text: TextOption = None,
    id: IdOption = None,
    no_id: NoIdOption = False,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    skip_errors: SkipErrorsOption = False,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Random seed of --tune.")
    ] = 0,
    jobs: JobsOption = -1,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Label documents by their nearest neighbors, and explain why.

    The label of a document is its field 'label', or its sub-folder: TRAIN/sports/a.txt has the
    label 'sports'. With one argument, the documents with a label train the classifier, and the
    documents without a label are classified. If TEST has labels, the predictions are scored.
    The metric 'rocchio' compares a document with the mean of each label.
    """
    if metric == "rocchio" and html is not None:
        raise ValueError("--html shows neighbors; --metric rocchio has none. Use --explain.")
    with reword_errors("Nothing was written."):
        task = _Task(
            train=train,
            test=test,
            label=label,
            unlabeled=frozenset(unlabeled or ()),
            held_out=tuple(held_out or ()),
            where=tuple(where or ()),
            rocchio=metric == "rocchio",
            k=k,
            tune=tune,
            vote=None if vote is None else vote.value,
            reading=Reading.of(
                text=text,
                id=id,
                no_id=no_id,
                pattern=pattern,
                encoding=encoding,
                delimiter=delimiter,
                quoted=quoted,
                max_bytes=max_bytes,
                skip_errors=skip_errors,
            ),
            options=MetricOptions(
                metric="cosine" if metric == "rocchio" else metric,
                model=model,
                dimension=dimension,
                vectors=vectors,
                stop_words=stop_words,
                keep_stop_words=keep_stop_words,
                seed=seed,
                jobs=jobs,
            ),
        )
        sources = [train] if test is None else [train, test]
        output_of = Output.of(
            sources, json=json, csv=csv, output=output, pattern=pattern or (), html=html
        )
        task.run().show(output_of, explain=explain)


@dataclass(frozen=True, slots=True)
class _Task:
    """One run of the command: input documents, and settings of the classifier.

    Attributes
    ----------
    train, test : Path
        Sources. If `test` is None, classify the documents of `train` without a label.
    label : str or None
        Field with the label. If None, the field ``label`` or the sub-folder.
    unlabeled : frozenset of str
        Labels that mean "no label".
    held_out : tuple of str
        Conditions for the documents of `train` to classify, if `test` is None.
    where : tuple of str
        Conditions that all documents must fulfill.
    rocchio : bool
        If True, compare with the prototype of each label; otherwise, let neighbors vote.
    k, tune, vote
        Number of neighbors, whether to tune it, and voting scheme.
    reading : Reading
        Options for reading files.
    options : MetricOptions
        Metric, and the options of the metric.
    """

    train: Path
    test: Path | None
    label: str | None
    unlabeled: frozenset[str]
    held_out: tuple[str, ...]
    where: tuple[str, ...]
    rocchio: bool
    k: int | None
    tune: bool
    vote: Any
    reading: Reading
    options: MetricOptions

    def __post_init__(self) -> None:
        if self.tune and self.k is not None:
            raise ValueError("--tune chooses k; got -k too. Remove one of them.")
        if self.held_out and self.test is not None:
            raise ValueError("--test-where selects from TRAIN; got TEST too. Remove one of them.")
        if self.rocchio:
            for option, given in (("-k", self.k), ("--tune", self.tune), ("--vote", self.vote)):
                if given:
                    raise ValueError(
                        f"{option} is for neighbors; --metric rocchio has none. Remove it."
                    )
        if self.test is not None and self.test.exists() and self.test.samefile(self.train):
            raise ValueError(
                f"TRAIN and TEST must be different; got {str(self.test)!r} twice. Leave TEST out "
                "to classify the documents without a label, or select some with --test-where."
            )

    def run(self) -> "_Result":
        """Read the documents, train the classifier, and return its predictions."""
        teachers, asked = self._documents()
        started = perf_counter()
        settings = self.options.settings(len(teachers))
        labels = [document.label for document in teachers]
        learn = self._by_prototypes if self.rocchio else self._by_neighbors
        predictions, told = learn(teachers, labels, asked, settings)
        return _Result(
            predictions,
            labels=tuple(sorted({str(label) for label in labels})),
            n_teachers=len(teachers),
            settings={
                "train": str(self.train),
                "test": None if self.test is None else str(self.test),
                **self.options.record(),
                **({"metric": "rocchio"} if self.rocchio else {}),
                **told,
            },
            seconds=perf_counter() - started,
        )

    # Training documents and documents to classify

    def _documents(self) -> "tuple[list[Document], list[Document]]":
        known, labels = self._read(self.train)
        if self.test is None:
            self._tell_unused(labels)
            return self._parted(known)
        known = without_shared(known, self.train, self.test)
        found, more = self._read(self.test)
        self._tell_unused(labels | more)
        asked = without_shared(found, self.test, self.train)
        teachers = [document for document in known if document.label is not None]
        if not teachers:
            raise ValueError(self._no_labels(known))
        if len(known) > len(teachers):
            note(
                f"of {self.train}, ignored {format_documents(len(known) - len(teachers))} without "
                "a label."
            )
        if not asked:
            raise ValueError(
                f"TEST must have documents that TRAIN does not have; all documents of {self.test} "
                "are in TRAIN."
            )
        return teachers, asked

    def _parted(self, known: "list[Document]") -> "tuple[list[Document], list[Document]]":
        """Split labeled and unlabeled documents of one source into training and test documents."""
        if self.held_out:
            held = passes(known, self.held_out, "--test-where")
        else:
            held = [document.label is None for document in known]
        asked = [document for document, out in zip(known, held, strict=True) if out]
        rest = [document for document, out in zip(known, held, strict=True) if not out]
        teachers = [document for document in rest if document.label is not None]
        if not teachers:
            raise ValueError(self._no_labels(known))
        if not asked:
            raise ValueError(
                f"All {len(known):,} documents of {self.train} have a label, so there is nothing "
                "to classify. Pass TEST, or select some with --test-where or --unlabeled."
            )
        if len(rest) > len(teachers):
            note(f"ignored {format_documents(len(rest) - len(teachers))} without a label.")
        return teachers, asked

    def _read(self, path: Path) -> "tuple[list[Document], set[str]]":
        """Return the documents of a source, and the set of labels that they have."""
        found = label_documents(path, read_documents([path], self.reading), self.label)
        labels = {str(one.label) for one in found if one.label is not None}
        found = [replace(one, label=None) if one.label in self.unlabeled else one for one in found]
        kept = passes(found, self.where)
        return [document for document, there in zip(found, kept, strict=True) if there], labels

    def _tell_unused(self, labels: set[str]) -> None:
        """Print a note for each value of --unlabeled that is not a label of a document."""
        for label in sorted(self.unlabeled - labels):
            note(f"--unlabeled: no document has the label {one_line([label])!r}.")

    def _no_labels(self, known: "Sequence[Document]") -> str:
        if self.label is not None:
            return (
                f"No document of {self.train} has a field {self.label!r}. {describe_fields(known)}"
            )
        from textkin.index import is_index

        way_out = "pass the field with the label as --label"
        if self.train.is_dir() and not is_index(self.train):
            way_out = (
                "put the files of each label in its own folder, such as "
                f"{self.train / 'sports' / 'a.txt'}, or {way_out}"
            )
        return f"No document of {self.train} has a label: {way_out}. {describe_fields(known)}"

    # Classifiers

    def _by_neighbors(
        self,
        teachers: "list[Document]",
        labels: list[Any],
        asked: "list[Document]",
        settings: dict[str, Any],
    ) -> tuple[list["_Prediction"], dict[str, Any]]:
        with working("Loading"):
            from textkin.learn import NearestNeighborClassifier

        classifier = NearestNeighborClassifier(
            self.options.metric or "wmd",
            n_neighbors=self.k or _NEIGHBORS,
            vote=self.vote or "majority",
            tune=self.tune,
            random_state=self.options.seed,
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
            _Prediction(document, str(one.label), float(one.score), one)
            for document, one in zip(asked, evidence, strict=True)
        ]
        return found, told

    def _by_prototypes(
        self,
        teachers: "list[Document]",
        labels: list[Any],
        asked: "list[Document]",
        settings: dict[str, Any],
    ) -> tuple[list["_Prediction"], dict[str, Any]]:
        with working("Loading"):
            from textkin.learn import RocchioClassifier

        classifier = RocchioClassifier(**settings)
        with working("Learning"):
            classifier.fit(teachers, labels)
        with working("Classifying"):
            chosen = classifier.predict(asked).tolist()
            cosines = classifier.similarity(asked)
        found = [
            _Prediction(document, str(label), float(row.max()), None, classifier, not row.any())
            for document, label, row in zip(asked, chosen, cosines, strict=True)
        ]
        return found, {}


@dataclass(frozen=True, slots=True)
class _Prediction:
    """Document with its predicted label and the evidence for it.

    Attributes
    ----------
    document : Document
        Document; its own label, if any, is the true label.
    label : str
        Predicted label.
    score : float
        Fraction of the votes, or cosine with the mean of the label.
    evidence : Evidence or None
        Voting neighbors. If None, `prototypes` made the prediction.
    prototypes : RocchioClassifier or None
        Classifier that compared the document with the mean of each label.
    alone : bool
        True if the document has no words in common with any label.
    """

    document: "Document"
    label: str
    score: float
    evidence: "Evidence | None" = None
    prototypes: "RocchioClassifier | None" = None
    alone: bool = False

    @property
    def empty(self) -> bool:
        """True if the document has no known words, so that it got the most frequent label."""
        return self.alone if self.evidence is None else self.evidence.empty

    @property
    def truth(self) -> str:
        """True label of the document, or "" if it has none."""
        return "" if self.document.label is None else str(self.document.label)

    @property
    def nearest(self) -> tuple[str, str]:
        """ID and distance of the nearest training document as text, or two empty strings."""
        if self.evidence is None or not self.evidence.neighbors:
            return "", ""
        nearest = self.evidence.neighbors[0]
        return nearest.name, f"{nearest.distance:.4f}"

    def lines(self, look: Look) -> list[str]:
        """Return the evidence for the predicted label as lines of text."""
        if self.evidence is not None:
            text = self.evidence.to_text(explained=1, width=look.width, unicode=look.unicode)
            return text.splitlines()
        assert self.prototypes is not None
        head = f"{self.label}: cosine {self.score:.4f} with the mean of the label"
        parts = self.prototypes.explain(self.document)
        return [
            one_line([head], look.width),
            f"  {one_line([self.document.id, self.document.text], look.width - 2)}",
            draw(parts, limit=_PARTS, indent=2, look=look),
        ]

    def record(self, *, explain: bool) -> dict[str, Any]:
        """Return document ID, label, and evidence as a dict of JSON types."""
        found: dict[str, Any] = {"id": self.document.id, "label": self.label}
        if self.document.label is not None:
            found["true"] = self.truth
        if self.evidence is None:
            assert self.prototypes is not None
            found |= {"cosine": self.score, "empty": self.empty}
            if explain:
                found["explanation"] = self.prototypes.explain(self.document).to_dict()
            return found
        told = self.evidence.to_dict()
        found |= {name: told[name] for name in ("share", "shares", "empty", "neighbors")}
        if explain and self.evidence.neighbors:
            reason = self.evidence.explain(0)
            found["explanation"] = None if reason is None else reason.to_dict()
        return found


@dataclass(frozen=True)
class _Result:
    """Predicted labels of all documents, and their output as text, CSV, or JSON.

    Attributes
    ----------
    predictions : list of _Prediction
        One prediction per document.
    labels : tuple of str
        Labels of the training documents.
    n_teachers : int
        Number of training documents.
    settings : dict
        Options, and the values chosen by tuning.
    seconds : float
        Time of training and classification, in seconds.
    """

    predictions: list[_Prediction]
    labels: tuple[str, ...]
    n_teachers: int
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @cached_property
    def scores(self) -> Scores | None:
        """Accuracy and confusion matrix, or None if documents have no true labels."""
        pairs = [(one.truth, one.label) for one in self.predictions if one.truth]
        if not pairs:
            return None
        if not any(truth in self.labels for truth, _ in pairs):
            return None
        return Scores.of(pairs)

    def show(self, output: Output, *, explain: bool) -> None:
        """Write the predictions in the requested format, and print notes and a summary."""
        output.put(
            lines=lambda look: self._lines(look, explain=explain),
            record=lambda: self._record(explain=explain),
            table=self._table,
            html=self._page,
        )
        if not output.tells_all:
            self._tell()

    @property
    def _voted(self) -> bool:
        return any(one.evidence is not None for one in self.predictions)

    def _lines(self, look: Look, *, explain: bool) -> Iterator[str]:
        if explain:
            for at, one in enumerate(self.predictions):
                yield from [""] if at else []
                yield from one.lines(look)
        else:
            yield from self._rows(look)
        if self.scores is not None:
            yield ""
            yield from self.scores.lines(look)

    def _rows(self, look: Look) -> list[str]:
        scored = self.scores is not None
        heads = ["id", "label", *(["true"] if scored else [])]
        heads += ["votes", "nearest", "distance"] if self._voted else ["cosine"]
        rows = [heads]
        for one in self.predictions:
            row = [one.document.id, one.label, *([one.truth] if scored else [])]
            if self._voted:
                nearest = one.nearest  # a document without words has no neighbors
                row += [f"{100 * one.score:.0f} %" if any(nearest) else "", *nearest]
            else:
                row += [f"{one.score:.4f}"]
            rows.append(row)
        at = 3 if scored else 2
        right = (at, at + 2)
        return align(rows, look, right=right, cut=[n for n in range(at + 2) if n != at])

    def _table(self) -> Iterator[Sequence[object]]:
        truths = any(one.truth for one in self.predictions)
        heads = ["id", "label", *(["true"] if truths else [])]
        yield [*heads, *(["share", "nearest", "distance"] if self._voted else ["cosine"])]
        for one in self.predictions:
            row: list[object] = [one.document.id, one.label, *([one.truth] if truths else [])]
            row.append(repr(one.score))
            if self._voted:
                assert one.evidence is not None
                nearest = one.evidence.neighbors[:1]
                row += [nearest[0].name, repr(nearest[0].distance)] if nearest else ["", ""]
            yield row

    def _record(self, *, explain: bool) -> dict[str, Any]:
        return {
            **self.settings,
            "labels": list(self.labels),
            "training_documents": self.n_teachers,
            "seconds": self.seconds,
            "scores": None if self.scores is None else self.scores.record(),
            "documents": [one.record(explain=explain) for one in self.predictions],
        }

    def _page(self) -> str:
        from textkin.explain import EvidenceList

        found = EvidenceList([one.evidence for one in self.predictions if one.evidence is not None])
        return found.to_html(title=f"{self.settings['test'] or self.settings['train']}: labels")

    def _tell(self) -> None:
        number = len(self.predictions)
        unknown = {one.truth for one in self.predictions if one.truth} - set(self.labels)
        if self.scores is None and unknown:
            note("TRAIN has none of the true labels of the documents; nothing is scored.")
        elif unknown:
            shown = one_line(sorted(unknown), 40)
            note(f"TRAIN has no document with these true labels: {one_line([shown], 200)}")
        empty = sum(one.empty for one in self.predictions)
        if empty:
            note(
                f"{empty:,} of {format_documents(number)} have no words to compare; they get the "
                "most frequent label."
            )
        how = self.settings["metric"]
        if self._voted:
            chosen = " chosen" if "tuning" in self.settings else ""
            how += f", k = {self.settings['k']}{chosen}"
        labels = "1 label" if len(self.labels) == 1 else f"{len(self.labels):,} labels"
        typer.echo(
            f"textkin: {format_documents(number)} classified, trained on {self.n_teachers:,} with "
            f"{labels} ({how}), in {self.seconds:.1f} s",
            err=True,
        )
