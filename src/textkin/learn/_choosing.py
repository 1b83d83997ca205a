"""Which measure an estimator of this room means by its parameters."""

from typing import Any

from textkin.learn._measures import TRANSPORT, Measure, MetricLike
from textkin.learn._transport import TransportMeasure
from textkin.learn._vectors import VectorMeasure
from textkin.text._stop_words import StopWords
from textkin.transport import TokenMover, WordMover
from textkin.vectors._documents import Vectors

__all__ = ["measure_of"]


def measure_of(
    metric: MetricLike,
    *,
    model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
) -> Measure:
    """Return a measure that has no documents yet.

    Parameters
    ----------
    metric : str, WordMover or TokenMover
        "wmd", "rwmd", "rwmd-query", "rwmd-document" or "wcd" for transport with its defaults, an
        estimator for transport with settings of its own, or a metric of `distances`.
    model : transformer or None
        Makes the vectors that a metric of `distances` compares.
    vectors : WordVectors, ndarray or None
        Of words, for transport by name.
    stop_words : str, None, path or collection of str
        Words of texts that are left out; an estimator has its own.
    n_jobs : int or None
        Threads; an estimator has its own.

    Raises
    ------
    ValueError
        If a parameter is given that the metric has no use for.
    """
    if isinstance(metric, WordMover | TokenMover):
        for name, given in (("model", model), ("vectors", vectors)):
            if given is not None:
                raise ValueError(
                    f"{name} is not for a metric that is a {type(metric).__name__}, which has "
                    "settings of its own: leave it out."
                )
        return TransportMeasure(metric)
    if metric in TRANSPORT:
        if model is not None:
            raise ValueError(
                f"metric={metric!r} compares words and takes no model; choose a metric of vectors, "
                "such as metric='cosine', or leave the model out."
            )
        mover = WordMover(
            vectors,
            stop_words=stop_words,
            algorithm=TRANSPORT[metric],
            n_jobs=n_jobs,
        )
        return TransportMeasure(mover)
    if vectors is not None:
        raise ValueError(
            f"vectors are for transport (metric='wmd'); metric={metric!r} compares vectors of "
            "documents: pass model=Pooling(vectors)."
        )
    return VectorMeasure(metric, model, stop_words, n_jobs=n_jobs)
