"""What Fisher vectors need of a mixture: the shares of words, and scores by their information.

With gamma_w(i), the posterior of component i for word w, and c_w, the part of a document that is w,
the core sums up g_i = sum c_w gamma_w(i), S_i = sum c_w gamma_w(i) x_w and the same of squares, and
makes vectors of these by the tables below.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from textkin import _core
from textkin._typing import Float32Array, Float64Array, IntpArray
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._em import table_of
from textkin.models.mixture import GaussianMixture, VonMisesFisherMixture
from textkin.models.mixture._gaussians import Gaussians, Scale
from textkin.run import ProgressCallback
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space

__all__ = [
    "NORMALISATIONS",
    "PARTS",
    "Finish",
    "Mixture",
    "Scores",
    "WordShares",
    "encode",
    "scores_of",
]

Mixture: TypeAlias = GaussianMixture | VonMisesFisherMixture

NORMALISATIONS: dict[type, tuple[str, ...]] = {
    VonMisesFisherMixture: ("tangent", "diagonal", "isotropic", "paper", "none"),
    GaussianMixture: ("diagonal", "none"),
}
"""Of each kind of mixture; the first is the default."""
PARTS: dict[type, tuple[str, ...]] = {
    VonMisesFisherMixture: ("means", "weights"),
    GaussianMixture: ("means", "variances", "weights"),
}

_BLOCK = 1024  # words whose posteriors are computed together
_LEAST_SHARE = 1e-8  # all that are smaller together are less than the rounding of the rest


def _no_table() -> Float64Array:
    return np.zeros((0, 0))


def _no_numbers() -> Float64Array:
    return np.zeros(0)


@dataclass(frozen=True, slots=True)
class Scores:
    """Tables with a row for each component; an empty one leaves a part out.

    Words x are first brought to (x - shift) / stretch. Then the part of the means is
    ``mean_scale S - mean_centre along``, with g for `along` or, where there are directions, their
    products with S; that of the variances ``square_scale Q - square_slope S + square_centre g``;
    that of the weights ``weight_scale g - weight_centre``.
    """

    shift: Float64Array
    stretch: Float64Array
    mean_scale: Float64Array = field(default_factory=_no_table)
    mean_centre: Float64Array = field(default_factory=_no_table)
    directions: Float64Array = field(default_factory=_no_table)
    square_scale: Float64Array = field(default_factory=_no_table)
    square_slope: Float64Array = field(default_factory=_no_table)
    square_centre: Float64Array = field(default_factory=_no_table)
    weight_scale: Float64Array = field(default_factory=_no_numbers)
    weight_centre: Float64Array = field(default_factory=_no_numbers)

    @property
    def size(self) -> int:
        """Numbers of a vector."""
        return self.mean_scale.size + self.square_scale.size + self.weight_scale.size

    def points(self, vectors: Float32Array) -> Float32Array:
        """Return words as the core takes them, with their squares where these are needed."""
        with np.errstate(over="ignore"):  # told by the core
            placed = (vectors - self.shift) / self.stretch
            if self.square_scale.size:
                placed = np.hstack([placed, placed**2])
            points: Float32Array = table_of(placed, np.float32)
        return points


@dataclass(frozen=True, slots=True)
class Finish:
    """What becomes of a vector of the mean score of tokens: in this order."""

    length_power: float
    power: float
    unit: bool


def scores_of(mixture: Mixture, normalisation: str, parts: tuple[str, ...]) -> Scores:
    """Return the tables of a mixture."""
    if isinstance(mixture, GaussianMixture):
        return _gaussian_scores(mixture, normalisation, parts)
    return _sphere_scores(mixture, normalisation, parts)


def _gaussian_scores(
    mixture: GaussianMixture, normalisation: str, parts: tuple[str, ...]
) -> Scores:
    scale = Scale.of_mixture(Gaussians(mixture.weights_, mixture.means_, mixture.variances_))
    shift, stretch = scale.shift, scale.size
    means = (mixture.means_ - shift) / stretch
    deviations = np.sqrt(mixture.variances_) / stretch
    roots = np.sqrt(mixture.weights_[:, np.newaxis])
    tables: dict[str, Float64Array] = {}
    # Divided by the root of the information of a token: w_i / sigma^2 for a mean, 2 w_i / sigma^2
    # for a standard deviation, and w_i for what the weights are the softmax of.
    if "means" in parts:
        factors = 1 / (roots * deviations)
        if normalisation == "none":
            factors *= roots / (deviations * stretch)
        tables |= {"mean_scale": factors, "mean_centre": factors * means}
    if "variances" in parts:
        factors = 1 / (np.sqrt(2) * roots * deviations**2)
        if normalisation == "none":
            factors *= np.sqrt(2) * roots / (deviations * stretch)
        tables |= {
            "square_scale": factors,
            "square_slope": 2 * means * factors,
            "square_centre": factors * (means - deviations) * (means + deviations),
        }
    if "weights" in parts:
        tables |= _weight_tables(mixture, normalisation)
    return Scores(shift, stretch, **tables)


def _weight_tables(mixture: Mixture, normalisation: str) -> dict[str, Float64Array]:
    own = mixture.weights_
    if normalisation == "none":
        return {"weight_scale": np.ones_like(own), "weight_centre": own.copy()}
    return {"weight_scale": 1 / np.sqrt(own), "weight_centre": np.sqrt(own)}


def _sphere_scores(
    mixture: VonMisesFisherMixture, normalisation: str, parts: tuple[str, ...]
) -> Scores:
    means, d = mixture.means_, mixture.means_.shape[1]
    weights, kappas = mixture.weights_[:, np.newaxis], mixture.kappas_[:, np.newaxis]
    lengths = mixture.mean_length(d, kappas)
    by_length = np.divide(kappas, lengths, out=np.full_like(kappas, d), where=lengths > 0)
    match normalisation:
        case "tangent":
            scale = np.sqrt(by_length / weights)
        case "diagonal":  # kappa / sqrt(w kappa (A + (kappa - d A) mu^2)), and kappa = 0 allowed
            scale = np.sqrt(by_length / (weights * (1 + (by_length - d) * means**2)))
        case "isotropic":
            scale = np.sqrt(d / weights)
        case "paper":
            with np.errstate(divide="ignore", over="ignore"):  # told below
                scale = d / (weights * kappas)
        case _:
            scale = kappas
    if not np.isfinite(scale).all():
        raise ValueError(
            f"normalisation='paper' divides by weights times kappas, the least of which is "
            f"{np.min(weights * kappas):g} here. Choose another normalisation."
        )
    scale = scale * np.ones_like(means)
    tables: dict[str, Float64Array] = {}
    if "means" in parts:
        tables |= {"mean_scale": scale, "mean_centre": np.zeros_like(scale)}
        if normalisation == "tangent":
            directions = np.ascontiguousarray(means)
            tables |= {"mean_centre": scale * means, "directions": directions}
    if "weights" in parts:
        tables |= _weight_tables(mixture, normalisation)
    return Scores(np.zeros(d), np.ones(d), **tables)


class WordShares:
    """The posteriors of words, computed when they are first asked for, and kept.

    They are computed for words that lie together in the table, always the same ones: so the bits
    never depend on the documents that ask.
    """

    def __init__(self, space: Space, mixture: Mixture, *, hard: bool) -> None:
        self._space = space
        self._mixture = mixture
        self._hard = hard
        self._shares = np.zeros((len(space), len(mixture.weights_)), dtype=np.float32)
        self._known = np.zeros(-(-len(space) // _BLOCK), dtype=np.bool_)

    def of(self, columns: IntpArray) -> Float32Array:
        """Return a row for each of the words."""
        wanted = np.unique(columns // _BLOCK)
        with one_thread_of_blas:
            for block in wanted[~self._known[wanted]].tolist():
                self._compute(slice(block * _BLOCK, (block + 1) * _BLOCK))
                self._known[block] = True
        return self._shares[columns]

    def _compute(self, block: slice) -> None:
        rows = np.arange(len(self._space))[block]
        if self._space.known is not None:
            rows = rows[self._space.known[rows]]
        found = self._mixture.predict_proba(self._space.table[rows])
        if self._hard:
            found = (np.arange(found.shape[1]) == found.argmax(axis=1)[:, np.newaxis]).astype(float)
        self._shares[rows] = np.where(found < _LEAST_SHARE, 0, found)


def encode(
    documents: Encoded,
    space: Space,
    shares: WordShares,
    scores: Scores,
    finish: Finish,
    *,
    threads: int,
    progress: ProgressCallback | None,
) -> Float32Array:
    """Return the Fisher vectors of documents."""
    occurs = np.zeros(len(space), dtype=np.bool_)
    occurs[documents.indices] = True
    columns = np.flatnonzero(occurs)
    places = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    out = np.empty((len(documents), scores.size), dtype=np.float32)
    fits = _core.fisher_vectors(
        documents.indptr,
        places[documents.indices],
        documents.counts,
        scores.points(space.table[columns]),
        shares.of(columns),
        len(scores.shift),
        scores.mean_scale,
        scores.mean_centre,
        scores.directions,
        scores.square_scale,
        scores.square_slope,
        scores.square_centre,
        scores.weight_scale,
        scores.weight_centre,
        finish.length_power,
        finish.power,
        finish.unit,
        out,
        threads,
        progress,
    )
    if not fits:
        raise ValueError(
            "X has documents whose Fisher vectors are too large for float32: their weights are, or "
            "their words lie too far from those of fit. Scale the bags down, or pass norm='l2'."
        )
    return out
