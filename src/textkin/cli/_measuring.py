"""What documents are compared by, as options say it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textkin.cli._options import Model, named_stop_words

if TYPE_CHECKING:
    from textkin.vectors import WordVectors

__all__ = ["Measuring"]

_DIMENSION = 100


@dataclass(frozen=True, slots=True)
class Measuring:
    """The options that classification, clusters and duplicates have in common.

    Attributes
    ----------
    by : str or None
        The name of a measure; None is the default of the command.
    model : Model or None
        What makes vectors of documents, for measures of vectors.
    dimension : int or None
        Of the model.
    vectors : Path or None
        Of words, for transport and for pooling.
    stop_words : str
        A list, or a file.
    keep_stop_words : bool
        Whether all words count.
    seed : int
        Of all that is drawn.
    jobs : int
        Threads.
    """

    by: str | None = None
    model: Model | None = None
    dimension: int | None = None
    vectors: Path | None = None
    stop_words: str = "smart"
    keep_stop_words: bool = False
    seed: int = 0
    jobs: int = -1

    def __post_init__(self) -> None:
        if self.jobs == 0:
            raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
        if self.dimension is not None and self.model is not Model.lsi:
            raise ValueError("--dimension goes with --model lsi.")
        if self.by is not None and self.model is not None and self.of_words:
            raise ValueError(
                f"--model goes with measures of vectors, such as --by cosine; --by {self.by} "
                "compares words."
            )
        if self.vectors is not None and not (self.of_transport or self.model is Model.pooling):
            raise ValueError(
                "--vectors goes with measures of transport, such as --by wmd, and with --model "
                "pooling."
            )

    @property
    def of_transport(self) -> bool:
        """Whether words are moved; True where that is left to the command."""
        from textkin.learn._measures import TRANSPORT

        return self.model is None and (self.by is None or self.by in TRANSPORT)

    @property
    def of_words(self) -> bool:
        """Whether documents have no vectors."""
        return self.of_transport or self.by in ("edit", "text", "bag")

    def settings(self, n_documents: int) -> dict[str, Any]:
        """Return what the library is given: the model, vectors, stop words and threads."""
        words = None if self.keep_stop_words else named_stop_words(self.stop_words)
        table = None
        if self.vectors is not None:
            from textkin.cli._loading import named_vectors

            table = named_vectors(self.vectors)
        pooled = self.model is Model.pooling
        return {
            "model": self._model(n_documents, words, table),
            **({"vectors": table} if table is not None and not pooled else {}),
            "stop_words": words,
            "n_jobs": self.jobs,
        }

    def record(self) -> dict[str, Any]:
        """Return the options, for JSON."""
        return {
            "by": self.by,
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

        # Half of the documents, so that a part of them is enough to tune a classifier.
        most = max(1, min(_DIMENSION, n_documents // 2))
        return make_pipeline(TfIdf(), LSI(self.dimension or most, random_state=self.seed))
