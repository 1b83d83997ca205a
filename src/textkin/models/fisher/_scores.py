"""Fisher vectors and Hofmann's kernel: reference functions, and fast computation by the core.

Let gamma_w(i) be the posterior of component i for word w, and c_w the share of w in a document. The
core sums g_i = sum c_w gamma_w(i), S_i = sum c_w gamma_w(i) x_w, and the same with squares, and
computes vectors from these sums with the tables below.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._base import Float32Array, Float64Array, IntpArray
from textkin.corpus import DocumentRows, VectorTable
from textkin.models._arrays import table_of
from textkin.models.mixture._densities import GaussianParameters, Scale
from textkin.models.mixture._gaussian import DiagonalGaussianMixture
from textkin.models.mixture._von_mises_fisher import VonMisesFisherMixture
from textkin.run import ProgressCallback, single_blas_thread

__all__ = [
    "INFORMATION",
    "PARTS",
    "Finish",
    "Mixture",
    "ScoreTables",
    "WordShares",
    "encode_documents",
    "fisher_kernel",
    "fisher_vector",
    "make_score_tables",
]

Mixture: TypeAlias = DiagonalGaussianMixture | VonMisesFisherMixture

INFORMATION: dict[type, tuple[str, ...]] = {
    VonMisesFisherMixture: ("tangent", "diagonal", "isotropic", "paper", "none"),
    DiagonalGaussianMixture: ("diagonal", "none"),
}
"""Supported values for each type of mixture; the first is the default."""
PARTS: dict[type, tuple[str, ...]] = {
    VonMisesFisherMixture: ("means", "weights"),
    DiagonalGaussianMixture: ("means", "variances", "weights"),
}

_BLOCK = 1024  # number of words per block of posteriors
_LEAST_SHARE = 1e-8  # smaller posteriors, even together, are below the rounding of the rest


def _no_table() -> Float64Array:
    return np.zeros((0, 0))


def _no_numbers() -> Float64Array:
    return np.zeros(0)


@dataclass(frozen=True, slots=True)
class ScoreTables:
    """Tables from which the core computes Fisher vectors, one row per mixture component.

    Words x are first converted to (x - shift) / stretch. The part of the means is then
    ``mean_scale S - mean_center along``, where `along` is g or, with directions, their products
    with S. The part of the variances is ``square_scale Q - square_slope S + square_center g``, the
    part of the weights ``weight_scale g - weight_center``. An empty table omits a part.
    """

    shift: Float64Array
    stretch: Float64Array
    mean_scale: Float64Array = field(default_factory=_no_table)
    mean_center: Float64Array = field(default_factory=_no_table)
    directions: Float64Array = field(default_factory=_no_table)
    square_scale: Float64Array = field(default_factory=_no_table)
    square_slope: Float64Array = field(default_factory=_no_table)
    square_center: Float64Array = field(default_factory=_no_table)
    weight_scale: Float64Array = field(default_factory=_no_numbers)
    weight_center: Float64Array = field(default_factory=_no_numbers)

    @property
    def size(self) -> int:
        """Number of entries of a Fisher vector."""
        return self.mean_scale.size + self.square_scale.size + self.weight_scale.size

    def points(self, vectors: Float32Array) -> Float32Array:
        """Return word vectors in the layout of the core, with squares if variances need them."""
        with np.errstate(over="ignore"):  # the core raises on overflow
            placed = (vectors - self.shift) / self.stretch
            if self.square_scale.size:
                placed = np.hstack([placed, placed**2])
            points: Float32Array = table_of(placed, np.float32)
        return points


@dataclass(frozen=True, slots=True)
class Finish:
    """Normalization steps that follow the mean score of tokens: power, L2, and so on."""

    length_power: float
    power: float
    unit: bool


def make_score_tables(mixture: Mixture, information: str, parts: tuple[str, ...]) -> ScoreTables:
    """Compute the tables of a mixture from which the core computes Fisher vectors."""
    if isinstance(mixture, DiagonalGaussianMixture):
        return _gaussian_scores(mixture, information, parts)
    return _sphere_scores(mixture, information, parts)


def _gaussian_scores(
    mixture: DiagonalGaussianMixture, information: str, parts: tuple[str, ...]
) -> ScoreTables:
    scale = Scale.of_mixture(
        GaussianParameters(mixture.weights_, mixture.means_, mixture.covariances_)
    )
    shift, stretch = scale.shift, scale.size
    means = (mixture.means_ - shift) / stretch
    deviations = np.sqrt(mixture.covariances_) / stretch
    roots = np.sqrt(mixture.weights_[:, np.newaxis])
    tables: dict[str, Float64Array] = {}
    # Divided by the square root of the information of a token: w_i / sigma^2 for a mean,
    # 2 w_i / sigma^2 for a standard deviation, w_i for a weight before the softmax.
    if "means" in parts:
        factors = 1 / (roots * deviations)
        if information == "none":
            factors *= roots / (deviations * stretch)
        tables |= {"mean_scale": factors, "mean_center": factors * means}
    if "variances" in parts:
        factors = 1 / (np.sqrt(2) * roots * deviations**2)
        if information == "none":
            factors *= np.sqrt(2) * roots / (deviations * stretch)
        tables |= {
            "square_scale": factors,
            "square_slope": 2 * means * factors,
            "square_center": factors * (means - deviations) * (means + deviations),
        }
    if "weights" in parts:
        tables |= _weight_tables(mixture, information)
    return ScoreTables(shift, stretch, **tables)


def _weight_tables(mixture: Mixture, information: str) -> dict[str, Float64Array]:
    own = mixture.weights_
    if information == "none":
        return {"weight_scale": np.ones_like(own), "weight_center": own.copy()}
    return {"weight_scale": 1 / np.sqrt(own), "weight_center": np.sqrt(own)}


def _sphere_scores(
    mixture: VonMisesFisherMixture, information: str, parts: tuple[str, ...]
) -> ScoreTables:
    means, d = mixture.means_, mixture.means_.shape[1]
    weights, kappas = mixture.weights_[:, np.newaxis], mixture.kappas_[:, np.newaxis]
    lengths = mixture.mean_length(d, kappas)
    by_length = np.divide(kappas, lengths, out=np.full_like(kappas, d), where=lengths > 0)
    match information:
        case "tangent":
            scale = np.sqrt(by_length / weights)
        case "diagonal":  # kappa / sqrt(w kappa (A + (kappa - d A) mu^2)), also for kappa = 0
            scale = np.sqrt(by_length / (weights * (1 + (by_length - d) * means**2)))
        case "isotropic":
            scale = np.sqrt(d / weights)
        case "paper":
            with np.errstate(divide="ignore", over="ignore"):  # infinite values raise below
                scale = d / (weights * kappas)
        case _:
            scale = kappas
    if not np.isfinite(scale).all():
        raise ValueError(
            "information='paper' requires weights times kappas well above 0, to divide by; the "
            f"smallest is {np.min(weights * kappas):g}. Pass another information."
        )
    scale = scale * np.ones_like(means)
    tables: dict[str, Float64Array] = {}
    if "means" in parts:
        tables |= {"mean_scale": scale, "mean_center": np.zeros_like(scale)}
        if information == "tangent":
            directions = np.ascontiguousarray(means)
            tables |= {"mean_center": scale * means, "directions": directions}
    if "weights" in parts:
        tables |= _weight_tables(mixture, information)
    return ScoreTables(np.zeros(d), np.ones(d), **tables)


def fisher_vector(
    counts: Float64Array,
    vectors: NDArray[np.floating[Any]],
    mixture: Mixture,
    information: str,
    parts: tuple[str, ...] = ("means",),
) -> Float64Array:
    """Compute the Fisher vector of one document (reference implementation).

    With T = sum_t c_t tokens x_t, posteriors gamma_t(i), S_i = sum_t c_t gamma_t(i) x_t, and
    z_t = (x_t - mu_i) / sigma_i, component i of a mixture of Gaussians has ::

        means        1/sqrt(T w_i)   sum_t c_t gamma_t(i) z_t
        variances    1/sqrt(2 T w_i) sum_t c_t gamma_t(i) (z_t^2 - 1)
        weights      1/sqrt(T w_i)   sum_t c_t (gamma_t(i) - w_i)

    and, with the information "none", the gradients with respect to mu_i, sigma_i, and the softmax
    of the weights. Means of a mixture of von Mises-Fisher distributions have, with
    A_i = A_d(kappa_i) ::

        "tangent"    sqrt(kappa_i / (T w_i A_i)) [S_i - (mu_i . S_i) mu_i]
        "diagonal"   kappa_i S_ij / sqrt(T f_ij),
                     f_ij = w_i kappa_i [A_i + (kappa_i - d A_i) mu_ij^2]
        "isotropic"  sqrt(d / (T w_i)) S_i
        "paper"      d / (w_i kappa_i) S_i          (equation 12 of Zhang et al.)
        "none"       kappa_i S_i                    (equation 7)

    `FisherVector` does not call this function; its fast path in the core is tested against it.

    Parameters
    ----------
    counts : ndarray of shape (n_words,), float64
        Count c_t of each word.
    vectors : ndarray of shape (n_words, d)
        Vector of each word.
    mixture : VonMisesFisherMixture or DiagonalGaussianMixture
        Fitted mixture.
    information : str
        Approximation of the Fisher information.
    parts : tuple of {"means", "variances", "weights"}, default=("means",)
        Parameters whose gradients are computed.

    Returns
    -------
    ndarray of shape (n_numbers,), float64
        All components of the means, then of the variances, then of the weights.

    References
    ----------
    Perronnin, Sanchez and Mensink, "Improving the Fisher Kernel for Large-Scale Image
    Classification", ECCV 2010. Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings
    for Document Representation", ECIR 2018.
    """
    x = vectors.astype(np.float64)
    if not isinstance(mixture, DiagonalGaussianMixture):
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
    length, d = counts.sum(), x.shape[1]
    posteriors = mixture.predict_proba(vectors)
    rows: dict[str, list[Float64Array]] = {"means": [], "variances": [], "weights": []}
    for i, (w, mu) in enumerate(zip(mixture.weights_, mixture.means_, strict=True)):
        gamma = counts * posteriors[:, i]
        weight = gamma.sum() - length * w
        if isinstance(mixture, DiagonalGaussianMixture):
            sigma = np.sqrt(mixture.covariances_[i])
            z = (x - mu) / sigma
            mean, variance = gamma @ z, gamma @ (z**2 - 1)
            if information == "none":
                rows["means"].append(mean / sigma)
                rows["variances"].append(variance / sigma)
            else:
                rows["means"].append(mean / np.sqrt(length * w))
                rows["variances"].append(variance / np.sqrt(2 * length * w))
        else:
            kappa = mixture.kappas_[i]
            a = mixture.mean_length(d, kappa)
            s = gamma @ x
            f = w * kappa * (a + (kappa - d * a) * mu**2)
            match information:
                case "tangent":
                    mean = np.sqrt(kappa / (length * w * a)) * (s - (mu @ s) * mu)
                case "diagonal":
                    mean = kappa * s / np.sqrt(length * f)
                case "isotropic":
                    mean = np.sqrt(d / (length * w)) * s
                case "paper":
                    mean = d / (w * kappa) * s
                case _:
                    mean = kappa * s
            rows["means"].append(mean)
        root = {"none": 1.0, "paper": np.sqrt(w)}.get(information, np.sqrt(length * w))
        rows["weights"].append(np.array([weight / root]))
    return np.concatenate([row for part in rows if part in parts for row in rows[part]])


def fisher_kernel(
    bags: Float64Array,
    document_topics: Float64Array,
    word_topics: Float64Array,
    topic_weights: Float64Array,
    *,
    exact: bool = False,
) -> Float64Array:
    """Compute Hofmann's Fisher kernel K1 + K2 of all documents (reference implementation).

    With Pe(w|d) = n(d,w) / n(d) and P(w|d) = sum_k P(w|z_k) P(z_k|d) ::

        K1(d,d') = sum_k P(z_k|d) P(z_k|d') / P(z_k)                                 (equation 6)
        K2(d,d') = sum_j Pe(w_j|d) Pe(w_j|d') sum_k P(z_k|d,w_j) P(z_k|d',w_j) / P(w_j|z_k)
                                                                                     (equation 7)

    where P(z_k|d,w_j) = P(w_j|z_k) P(z_k|d) / P(w_j|d), so that P(w_j|z_k) is a factor of K2 and
    divides nothing. The exact K1 has P(z_k|d) sum_j Pe(w_j|d) P(w_j|z_k) / P(w_j|d) in place of
    P(z_k|d).

    `FisherKernel` does not call this function; its sparse features are tested against it.

    Parameters
    ----------
    bags : ndarray of shape (n_documents, n_words), float64
        Counts n(d,w); no document is empty.
    document_topics : ndarray of shape (n_documents, n_topics), float64
        P(z|d).
    word_topics : ndarray of shape (n_topics, n_words), float64
        P(w|z).
    topic_weights : ndarray of shape (n_topics,), float64
        P(z).
    exact : bool, default=False
        Whether K1 uses the exact score.

    Returns
    -------
    ndarray of shape (n_documents, n_documents), float64
        Kernel matrix.

    References
    ----------
    Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to Document
    Retrieval and Categorization", NIPS 1999.
    """
    empirical = bags / bags.sum(axis=1, keepdims=True)
    words = document_topics @ word_topics  # P(w|d)
    ratios = np.divide(empirical, words, out=np.zeros_like(words), where=words > 0)
    topics = document_topics * (ratios @ word_topics.T) if exact else document_topics
    first = np.einsum("ak,bk,k->ab", topics, topics, 1 / topic_weights)
    second = np.einsum(
        "aj,bj,kj,ak,bk->ab", ratios, ratios, word_topics, document_topics, document_topics
    )
    return np.asarray(first + second)


class WordShares:
    """Cache of the posterior component probabilities of words.

    They are computed in fixed blocks of the table: their bits do not depend on the documents.
    """

    def __init__(self, table: VectorTable, mixture: Mixture, *, hard: bool) -> None:
        self._table = table
        self._mixture = mixture
        self._hard = hard
        self._shares = np.zeros((len(table.vectors), len(mixture.weights_)), dtype=np.float32)
        self._known = np.zeros(-(-len(table.vectors) // _BLOCK), dtype=np.bool_)

    def of(self, columns: IntpArray) -> Float32Array:
        """Return the component probabilities of the words at `columns`, one row per word."""
        wanted = np.unique(columns // _BLOCK)
        with single_blas_thread:
            for block in wanted[~self._known[wanted]].tolist():
                self._compute(slice(block * _BLOCK, (block + 1) * _BLOCK))
                self._known[block] = True
        return self._shares[columns]

    def _compute(self, block: slice) -> None:
        rows = np.arange(len(self._table.vectors))[block]
        if self._table.known is not None:
            rows = rows[self._table.known[rows]]
        found = self._mixture.predict_proba(self._table.vectors[rows])
        if self._hard:
            found = (np.arange(found.shape[1]) == found.argmax(axis=1)[:, np.newaxis]).astype(float)
        self._shares[rows] = np.where(found < _LEAST_SHARE, 0, found)


def encode_documents(
    documents: DocumentRows,
    table: VectorTable,
    shares: WordShares,
    scores: ScoreTables,
    finish: Finish,
    *,
    threads: int,
    progress: ProgressCallback | None,
) -> Float32Array:
    """Compute the Fisher vectors of documents in the core."""
    occurs = np.zeros(len(table.vectors), dtype=np.bool_)
    occurs[documents.indices] = True
    columns = np.flatnonzero(occurs)
    places = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    out = np.empty((len(documents), scores.size), dtype=np.float32)
    fits = _core.fisher_vectors(
        documents.indptr,
        places[documents.indices],
        documents.weighted_counts(),
        scores.points(table.vectors[columns]),
        shares.of(columns),
        len(scores.shift),
        scores.mean_scale,
        scores.mean_center,
        scores.directions,
        scores.square_scale,
        scores.square_slope,
        scores.square_center,
        scores.weight_scale,
        scores.weight_center,
        finish.length_power,
        finish.power,
        finish.unit,
        out,
        threads,
        progress,
    )
    if not fits:
        raise ValueError(
            "X must have documents whose Fisher vectors fit into float32; weights are too large, "
            "or words too far from the words of fit. Scale the bags down, or pass norm='l2'."
        )
    return out
