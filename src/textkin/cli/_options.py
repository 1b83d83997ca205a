"""Options and arguments that several commands share."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textkin.cli._errors import note, reword_errors
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.index import Index
    from textkin.vectors import WordVectors

__all__ = [
    "TIMEOUT",
    "CsvOption",
    "DelimiterOption",
    "DimensionOption",
    "EncodingOption",
    "HtmlOption",
    "IdOption",
    "IndexArgument",
    "JobsOption",
    "JsonOption",
    "KeepStopWordsOption",
    "MaxBytesOption",
    "MetricOptions",
    "Model",
    "ModelOption",
    "NoIdOption",
    "OutputOption",
    "PatternOption",
    "QuotedOption",
    "SkipErrorsOption",
    "SourcesArgument",
    "SourcesOrIndexes",
    "SplitOption",
    "StopWordsOption",
    "TextOption",
    "TimeoutOption",
    "VectorsOption",
    "WeightedTextOption",
    "WhereOption",
    "check_folder_is_new",
    "check_jobs",
    "is_builtin",
    "load_vectors",
    "open_index",
    "stop_words_of",
]

TIMEOUT = 10.0
_BUILTIN = "builtin:"
_DIMENSION = 100
_TRANSPORT = ("wmd", "rwmd", "wcd")


class Model(StrEnum):
    """Values of the option --model: models of document vectors."""

    tfidf = "tfidf"
    bm25 = "bm25"
    lsi = "lsi"
    pooling = "pooling"


class Split(StrEnum):
    """Values of the option --split: whole texts or paragraphs as documents."""

    paragraph = "paragraph"


IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of the index.")]
TimeoutOption = Annotated[
    float,
    typer.Option(min=0, metavar="SECONDS", help="Maximum time to wait for another writer."),
]
SourcesArgument = typer.Argument(
    metavar="SOURCE...",
    help="Folders, or text, JSON Lines, JSON, CSV, TSV, Parquet; also .gz.",
)
SourcesOrIndexes = typer.Argument(
    metavar="SOURCE...",
    help="Folders, or text, JSON Lines, JSON, CSV, TSV, Parquet; or indexes.",
)
TextOption = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD", help="Field with the text (default: text); repeat for several."),
]
WeightedTextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="FIELD[=WEIGHT]",
        help="Field with text, as in --text title=3 --text body (default: text).",
    ),
]
PatternOption = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Files in folders, as in '**/*.csv' (default: .txt, .md)."),
]
EncodingOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="File encoding, or 'detect' (default: UTF-8).")
]
DelimiterOption = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Field delimiter of CSV and TSV files.")
]
QuotedOption = Annotated[
    bool | None,
    typer.Option("--quoted/--unquoted", help="Interpret quotation marks in CSV, or keep them."),
]
MaxBytesOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Maximum size of a document (default: 64 MiB)."),
]
SkipErrorsOption = Annotated[
    bool, typer.Option("--skip-errors", help="Skip unreadable files and records, with a note.")
]
IdOption = Annotated[
    str | None, typer.Option(metavar="FIELD", help="Field with the ID (default: id).")
]
NoIdOption = Annotated[
    bool, typer.Option("--no-id", help="Use file and line as the ID, not a field.")
]
SplitOption = Annotated[Split | None, typer.Option(help="Make each paragraph a document.")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="EXPR",
        help="Filters such as 'year>=2015 and lang in (en, de)'; all must hold.",
    ),
]
ModelOption = Annotated[
    Model | None,
    typer.Option(help="Document vectors for metrics such as cosine (default: tfidf)."),
]
DimensionOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Dimension of --model lsi (default: at most 100)."),
]
StopWordsOption = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE", help="Stop words to ignore: a list such as smart, or a file."
    ),
]
KeepStopWordsOption = Annotated[
    bool, typer.Option("--keep-stop-words", help="Keep stop words such as 'the' and 'of'.")
]
VectorsOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="PATH",
        help="Vector file or folder, or builtin:distilled (default: builtin:glove).",
    ),
]
JobsOption = Annotated[int, typer.Option(metavar="N", help="Number of threads; -1 uses all cores.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the result as CSV.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the result to a file; .json and .csv set the format.",
    ),
]
HtmlOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report.")]


@contextmanager
def open_index(index: Path, timeout: float = TIMEOUT, kept: str = "") -> "Iterator[Index]":
    """Open an index for a ``with`` block, and reword its errors with option names."""
    with reword_errors(kept):
        with working("Loading"):
            from textkin.index import Index

            opened = Index.open(index, timeout=timeout)
        with opened:
            yield opened


def stop_words_of(given: str | None) -> str | Path | None:
    """Return the value of --stop-words: the name of a list, or the path of a file."""
    from textkin.text import stop_lists

    if given is None:
        return None
    names = dict.fromkeys(found.name for found in stop_lists())
    if given.partition(":")[0] in names:
        return given
    if Path(given).is_file():
        return Path(given)
    raise ValueError(f"--stop-words must be a file or one of {', '.join(names)}; got {given!r}.")


def check_jobs(jobs: int) -> None:
    """Raise if the value of --jobs is 0."""
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")


def check_folder_is_new(target: Path) -> None:
    """Raise if a folder to be created exists, or cannot be created."""
    if target.is_symlink() or (
        target.exists() and not (target.is_dir() and not any(target.iterdir()))
    ):
        raise FileExistsError(f"{str(target)!r} must not exist. Pass another folder.")
    above = next(folder for folder in (target.absolute(), *target.absolute().parents)
                 if folder.exists())  # fmt: skip
    if not above.is_dir():
        raise NotADirectoryError(f"{str(target)!r} cannot be created: {str(above)!r} is a file.")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"{str(target)!r} cannot be created: {str(above)!r} is read-only.")


def is_builtin(path: Path) -> bool:
    """Return True if a path means built-in vectors such as "builtin:glove"."""
    return str(path).startswith(_BUILTIN) and not os.path.lexists(path)


def load_vectors(
    path: Path | None,
    *,
    max_words: int | None = None,
    errors: Literal["raise", "skip"] = "raise",
    cache: bool = True,
) -> "WordVectors":
    """Return word vectors from a path, or built-in vectors by name."""
    with working("Loading"):
        from textkin.exceptions import VectorFileWarning
        from textkin.vectors import WordVectors

        if path is None or is_builtin(path):
            name: Any = "glove" if path is None else str(path).removeprefix(_BUILTIN)
            vectors = WordVectors.builtin(name)
            if max_words is None or max_words >= len(vectors):
                return vectors
            return WordVectors(vectors.words[:max_words], vectors.matrix[:max_words])
    if not os.path.lexists(path):
        raise FileNotFoundError(f"{str(path)!r} does not exist. Pass a vector file or folder.")
    with progress_bar(f"Reading {path.name}") as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", VectorFileWarning)
        vectors = WordVectors.load(
            path, max_words=max_words, errors=errors, cache=cache, n_jobs=-1, progress=progress
        )
    if vectors.repairs:
        note(f"{path}: skipped {vectors.repairs}")
    return vectors


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """Values of the options for comparing documents: metric, model, vectors, stop words.

    Attributes
    ----------
    metric : str or None
        Name of the metric. If None, the default of the command.
    model : Model or None
        Model that computes document vectors, for vector metrics.
    dimension : int or None
        Dimension of the model.
    vectors : Path or None
        Word vectors, for transport and for pooling.
    stop_words : str
        Name of a stop-word list, or a file.
    keep_stop_words : bool
        If True, use all words, including stop words.
    seed : int
        Random seed.
    jobs : int
        Number of threads.
    """

    metric: str | None = None
    model: Model | None = None
    dimension: int | None = None
    vectors: Path | None = None
    stop_words: str = "smart"
    keep_stop_words: bool = False
    seed: int = 0
    jobs: int = -1

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        if self.dimension is not None and self.model is not Model.lsi:
            raise ValueError("--dimension must come with --model lsi.")
        if self.metric is not None and self.model is not None and self.of_words:
            raise ValueError(
                "--model must come with a vector metric, such as --metric cosine; got --metric "
                f"{self.metric}, which compares words."
            )
        if self.vectors is not None and not (self.of_transport or self.model is Model.pooling):
            raise ValueError(
                "--vectors must come with a transport metric, such as --metric wmd, or with "
                "--model pooling."
            )

    @property
    def of_transport(self) -> bool:
        """True if the metric is Word Mover's Distance, one of its bounds, or the default."""
        return self.model is None and (self.metric is None or self.metric in _TRANSPORT)

    @property
    def of_words(self) -> bool:
        """True if the metric compares words, False if it compares document vectors."""
        return self.of_transport or self.metric in ("edit", "text", "bag")

    def settings(self, n_documents: int) -> dict[str, Any]:
        """Return the keyword arguments for the library's estimators."""
        words = None if self.keep_stop_words else stop_words_of(self.stop_words)
        table = None if self.vectors is None else load_vectors(self.vectors)
        pooled = self.model is Model.pooling
        return {
            "model": self._model(n_documents, words, table),
            **({"vectors": table} if table is not None and not pooled else {}),
            "stop_words": words,
            "n_jobs": self.jobs,
        }

    def record(self) -> dict[str, Any]:
        """Return the options as a dict of JSON types."""
        return {
            "metric": self.metric,
            "model": None if self.model is None else self.model.value,
            "vectors": None if self.vectors is None else str(self.vectors),
            "stop_words": None if self.keep_stop_words else self.stop_words,
        }

    def _model(
        self, n_documents: int, stop_words: str | Path | None, table: "WordVectors | None"
    ) -> Any:  # noqa: ANN401 (a transformer)
        from textkin.models import LSI, Pooling
        from textkin.weighting import BM25, TfIdf

        if self.model is None:
            return None
        if self.model is Model.tfidf:
            return TfIdf()
        if self.model is Model.bm25:
            return BM25()
        if self.model is Model.pooling:
            return Pooling(table, stop_words=stop_words)
        from sklearn.pipeline import make_pipeline

        # At most half of the documents, so that a part suffices for tuning a classifier.
        most = max(1, min(_DIMENSION, n_documents // 2))
        return make_pipeline(TfIdf(), LSI(self.dimension or most, random_state=self.seed))
