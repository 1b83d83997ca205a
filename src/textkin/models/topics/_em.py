"""EM fits of topic models: scaled problem, initialization, fit loop, tempering, and restarts.

`_em_reference` has the equations. The back ends `_em_core`, `_em_torch` and `_em_blocks` compute
the same steps over nonzero counts, and are tested against it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import frexp, ldexp
from typing import Any, Protocol

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin._base import Bags, BoolArray, Float64Array, row_indices
from textkin.exceptions import ParameterError

__all__ = [
    "EMBackend",
    "EMFit",
    "EMProblem",
    "EMSettings",
    "EMStart",
    "TemperedEMBackend",
    "TokenSplit",
    "check_weights",
    "document_lengths",
    "draw_document_topics",
    "draw_start",
    "draw_words",
    "fit_tempered",
    "log_of",
    "maximize",
    "normalized_words",
    "split_tokens",
    "words_in",
]

_SMALL = 2**20  # maximum size, in numbers, of a model fitted in double precision at little cost
# Largest ratio of the sum of all weights to the smallest one for float32: with a larger ratio,
# products of probabilities may underflow.
_LARGEST_FLOAT = 1e15
_LEAST_DOUBLE = 1e-270  # smallest expected count relative to the largest, for float64
_LARGEST_TOKENS = 2**53  # largest count of a word in a document from which tokens are drawn
_UNLIKELY = np.log(1e-30)  # log-likelihood of a held-out token that the model gives probability 0


@dataclass(frozen=True, slots=True)
class EMSettings:
    """Parameters of a fit. Priors are pseudo-counts: Dirichlet parameters minus 1."""

    n_components: int
    topic_word_prior: float
    doc_topic_prior: float
    max_iter: int
    tol: float
    jobs: int


@dataclass(frozen=True, slots=True)
class EMFit:
    """Fitted P(w|z) and P(z|d), with the history of the fit."""

    word_topics: Float64Array  # P(w|z), (n_components, n_words)
    document_topics: Float64Array  # P(z|d), (n_documents, n_components)
    log_likelihoods: list[float]
    objectives: list[float]  # log-likelihoods plus the logarithms of the priors
    held_out: list[float]
    power: float
    n_iter: int
    converged: bool

    @property
    def score(self) -> float:
        """Score used to choose among fits; higher is better."""
        return max(self.held_out) if self.held_out else self.objectives[-1]


@dataclass(frozen=True, slots=True)
class EMProblem:
    """Size, precision, and scaled priors of a fit, the same for every back end.

    Weights and priors are divided by one power of two, 2**exponent, so that the largest is about 1.
    This is exact, and keeps numbers in range for weights of any size. Likelihoods of the scaled
    weights times `unit` are likelihoods of the bags.
    """

    n_documents: int
    n_words: int
    settings: EMSettings  # with scaled priors
    exponent: int
    total: float  # sum of the scaled weights
    least: float  # expected counts of words below this become 0
    dtype: Any

    @classmethod
    def of(
        cls,
        settings: EMSettings,
        shape: tuple[int, int],
        *,
        least: float,
        largest: float,
        total: float,
        single: bool,
    ) -> "EMProblem":
        """Return the problem of bags with these weights; `single` if they are in float32."""
        n_documents, n_words = shape
        small = (n_documents + n_words) * settings.n_components <= _SMALL
        word_prior, topic_prior = settings.topic_word_prior, settings.doc_topic_prior
        _, exponent = frexp(max(largest, word_prior, topic_prior))
        scaled = replace(
            settings,
            topic_word_prior=ldexp(word_prior, -exponent),
            doc_topic_prior=ldexp(topic_prior, -exponent),
        )
        total, least = ldexp(total, -exponent), ldexp(least, -exponent)
        whole = total + scaled.topic_word_prior * n_words
        in_range = whole < _LARGEST_FLOAT * least
        return cls(
            n_documents,
            n_words,
            scaled,
            exponent,
            total,
            # The limit is far below the smallest weight, so every word that occurs keeps a topic.
            max(1e-15 * least, _LEAST_DOUBLE),
            np.float32 if single and not small and in_range else np.float64,
        )

    @classmethod
    def of_bags(cls, settings: EMSettings, bags: Bags) -> "EMProblem":
        """Return the problem of fitting bags in memory."""
        return cls.of(
            settings,
            bags.shape,
            least=float(bags.data.min()),
            largest=float(bags.data.max()),
            total=float(bags.data.sum(dtype=np.float64)),
            single=bags.dtype == np.float32,
        )

    @property
    def unit(self) -> float:
        """Unscaled weight that corresponds to a scaled weight of 1."""
        return float(np.ldexp(1.0, self.exponent))

    def scaled(self, bags: Bags) -> NDArray[Any]:
        """Return the scaled weights of bags, in the precision of the fit."""
        counts = np.ldexp(bags.data.astype(np.float64), -self.exponent)
        return np.asarray(counts.astype(self.dtype))


class EMBackend(Protocol):
    """Topic model during a fit, with a back end for each storage of the documents.

    `_em_reference.ReferenceEM` defines what each method returns.
    """

    problem: EMProblem

    def step(self) -> float:
        """Run an EM step; return the log-likelihood before it."""
        ...

    def log_likelihood(self) -> tuple[float, float]:
        """Return the log-likelihood, and the excluded number of tokens with P(w|d) = 0."""
        ...

    def log_prior(self) -> float:
        """Return the logarithm of the priors, without its constant."""
        ...

    def word_topics(self) -> Float64Array:
        """Return P(w|z) as an array (n_components, n_words)."""
        ...

    def document_topics(self) -> Float64Array:
        """Return P(z|d) as an array (n_documents, n_components)."""
        ...


class TemperedEMBackend(EMBackend, Protocol):
    """Back end that can also run tempered steps, score held-out tokens, and restore a state."""

    def step(self, power: float = 1.0) -> float:
        """Run an EM step with the probabilities in the E step raised to a power."""
        ...

    def log_likelihood(self, *, held: bool = False) -> tuple[float, float]:
        """Return the log-likelihood of the tokens of the fit, or of the unscaled held-out ones."""
        ...

    def state(self) -> object:
        """Return the current model, for `restore`."""
        ...

    def restore(self, state: Any) -> None:  # noqa: ANN401 (a result of `state` of this back end)
        """Restore a model that `state` returned."""
        ...


# ------------------------------------------------------------------ initialization


@dataclass(frozen=True, slots=True)
class EMStart:
    """Initial model, sampled from Dirichlet(1); equal topics would be a fixed point of EM."""

    document_topics: Float64Array  # P(z|d)
    words: NDArray[Any]  # (n_words, n_components); words times scale are P(w|z)
    scale: Float64Array  # (n_components,)


def draw_start(bags: Bags, problem: EMProblem, random: RandomState) -> EMStart:
    """Sample P(z|d) of all documents, then P(w|z) of all words."""
    n = problem.settings.n_components
    document_topics = draw_document_topics(random, problem.n_documents, n)
    document_topics[np.diff(bags.indptr) == 0] = 1 / n
    words, scale = draw_words(random, words_in(bags), problem)
    return EMStart(document_topics, words, scale)


def draw_document_topics(random: RandomState, rows: int, columns: int) -> Float64Array:
    """Sample rows of Dirichlet(1); each number uses one uniform number of the generator."""
    drawn = random.standard_exponential((rows, columns))
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def draw_words(
    random: RandomState, seen: BoolArray, problem: EMProblem
) -> tuple[NDArray[Any], Float64Array]:
    """Sample P(w|z) of Dirichlet(1) over words that occur, as words and scale of `EMStart`."""
    shape = problem.n_words, problem.settings.n_components
    words = random.standard_exponential(shape).astype(problem.dtype)
    words[~seen] = 0
    return words, 1 / words.sum(axis=0, dtype=np.float64)


def words_in(bags: Bags) -> BoolArray:
    """Return a mask of the words that occur in bags."""
    found = np.zeros(bags.shape[1], np.bool_)
    found[bags.indices] = True
    return found


def document_lengths(bags: Bags) -> Float64Array:
    """Return the sum of each document; raise if the sums are all 0 or overflow."""
    lengths: Float64Array = np.asarray(
        np.bincount(row_indices(bags), bags.data, bags.shape[0]), dtype=np.float64
    )
    with np.errstate(over="ignore"):
        check_weights(bags.nnz > 0, float(lengths.sum()))
    return lengths


def check_weights(has_words: bool, total: float) -> None:
    """Raise if there are no words to fit, or the weights overflow."""
    if not has_words:
        raise ValueError("X must have words to fit topics to; all its documents are empty.")
    with np.errstate(over="ignore"):
        likelihood = np.float64(1e3) * total  # if every P(w|d) is the smallest float
    if not np.isfinite(likelihood):
        raise ValueError("X must have weights with a finite sum. Scale them down.")


# ------------------------------------------------------------------ fit loops


def maximize(backend: EMBackend, report: Callable[[], object]) -> EMFit:
    """Run steps of plain EM until the relative gain of the objective is below `tol`."""
    problem, settings = backend.problem, backend.problem.settings
    likelihoods: list[float] = []
    objectives: list[float] = []
    converged = False
    while not converged and len(likelihoods) < settings.max_iter:
        prior = backend.log_prior()
        likelihoods.append(backend.step())
        objectives.append(likelihoods[-1] + prior)
        converged = len(objectives) > 1 and _gain(objectives[-2:], problem.total) < settings.tol
        report()
    n_iter, unit = len(likelihoods), problem.unit
    likelihoods.append(backend.log_likelihood()[0])
    objectives.append(likelihoods[-1] + backend.log_prior())
    return EMFit(
        backend.word_topics(),
        backend.document_topics(),
        [unit * value for value in likelihoods],
        [unit * value for value in objectives],
        [],
        1.0,
        n_iter,
        converged,
    )


def _gain(objectives: list[float], total: float) -> float:
    """Compute the relative gain of a step; avoid dividing by an objective of 0."""
    before, after = objectives
    return (after - before) / max(abs(after), 1e-9 * total)


def fit_tempered(backend: TemperedEMBackend, cooling: float, report: Callable[[], object]) -> EMFit:
    """Fit by tempered EM: stop early by held-out tokens, and cool down while that helps them.

    Returns
    -------
    EMFit
        The best model by held-out tokens. Its P(z|d) comes from the other tokens.
    """
    problem, settings = backend.problem, backend.problem.settings
    likelihoods: list[float] = []
    scores: list[float] = []
    best, best_power, power = -np.inf, 1.0, 1.0
    state = backend.state()
    helped, converged = True, False
    while helped and not converged:
        helped = False
        while len(likelihoods) < settings.max_iter:
            likelihoods.append(backend.step(power))
            logarithm, impossible = backend.log_likelihood(held=True)
            scores.append(float(logarithm + impossible * _UNLIKELY))
            report()
            if not scores[-1] > best:
                break
            helped = helped or best == -np.inf or scores[-1] - best > settings.tol * abs(best)
            best, best_power, state = scores[-1], power, backend.state()
        converged = not helped and len(likelihoods) < settings.max_iter
        if len(likelihoods) >= settings.max_iter:
            break
        backend.restore(state)
        power *= cooling
    backend.restore(state)
    n_iter, unit = len(likelihoods), problem.unit
    likelihoods.append(backend.log_likelihood()[0])
    likelihoods = [unit * value for value in likelihoods]
    return EMFit(
        backend.word_topics(),
        backend.document_topics(),
        likelihoods,
        likelihoods,
        scores,
        best_power,
        n_iter,
        converged,
    )


@dataclass(frozen=True, slots=True)
class TokenSplit:
    """Bags to fit to, and held-out tokens of the same documents."""

    train: Bags
    held: Bags


def split_tokens(bags: Bags, fraction: float, random: RandomState) -> TokenSplit:
    """Hold out each token with a given probability, unless its word has no other token.

    Parameters
    ----------
    bags : csr_array
        Counts; the fractional part of a count is never held out.
    fraction : float
        Probability of each token.
    random : RandomState
        Generator.
    """
    if bags.data.max() > _LARGEST_TOKENS:
        raise ParameterError(
            "X",
            f"bags whose entries are at most {_LARGEST_TOKENS:,} for tempered=True",
            f"{bags.data.max():g}",
            "Scale X down, or pass `tempered=False`.",
        )
    whole = np.floor(bags.data).astype(np.int64)
    taken = random.binomial(whole, fraction).astype(bags.dtype)
    train, held = bags.copy(), bags.copy()
    train.data -= taken
    held.data = taken
    unknown = np.bincount(train.indices, train.data, bags.shape[1]) == 0
    held.data[unknown[held.indices]] = 0
    for part in (train, held):
        part.eliminate_zeros()
    if not held.nnz:
        raise ValueError(
            "held_out must leave tokens to evaluate; got none. Pass bags of counts with more "
            "tokens, a larger held_out, or tempered=False."
        )
    return TokenSplit(train, held)


# ------------------------------------------------------------------ arithmetic of the back ends


def log_of(values: NDArray[Any]) -> Float64Array:
    """Compute logarithms; 0, from underflow, is replaced by the smallest normal float."""
    return np.asarray(np.log(np.maximum(values, np.finfo(np.float64).tiny)))


def normalized_words(words: NDArray[Any], scale: Float64Array) -> Float64Array:
    """Compute P(w|z) as an array (n_components, n_words) from words and scale of `EMStart`."""
    found = np.ascontiguousarray((words * scale).T)
    if not np.isfinite(found).all():
        raise ValueError(
            "X must have weights with a smaller range; the ratio of the largest to the smallest "
            "overflows. Rescale the extreme weights."
        )
    return found
