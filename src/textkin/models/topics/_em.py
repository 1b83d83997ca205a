"""EM for topic models: problem, initialization, loop, and tempering.

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
    """Parameters of an EM fit; priors are Dirichlet parameters minus 1."""

    n_components: int
    topic_word_prior: float
    doc_topic_prior: float
    max_iter: int
    tol: float
    jobs: int


@dataclass(frozen=True, slots=True)
class EMFit:
    """Result of EM: P(w|z), P(z|d), and the objective after each step."""

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
        """Score by which the best of several random initializations is chosen; higher is better."""
        return max(self.held_out) if self.held_out else self.objectives[-1]


@dataclass(frozen=True, slots=True)
class EMProblem:
    """Size, precision, and priors of a topic-model fit, scaled for the back ends.

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
        """Create the problem for bags with a given range of weights."""
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
        """Create the problem of fitting bags that are in memory."""
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
        """Original weight that a scaled weight of 1 stands for."""
        return float(np.ldexp(1.0, self.exponent))

    def scaled(self, bags: Bags) -> NDArray[Any]:
        """Return the weights of bags, scaled and in the precision of the fit."""
        counts = np.ldexp(bags.data.astype(np.float64), -self.exponent)
        return np.asarray(counts.astype(self.dtype))


class EMBackend(Protocol):
    """Interface of a topic model in an EM fit; one back end per storage of documents.

    `_em_reference.ReferenceEM` defines what each method returns.
    """

    problem: EMProblem

    def step(self) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        ...

    def log_likelihood(self) -> tuple[float, float]:
        """Return the log-likelihood, and the excluded number of tokens with P(w|d) = 0."""
        ...

    def log_prior(self) -> float:
        """Return the log prior density of the current P(w|z) and P(z|d), up to a constant."""
        ...

    def word_topics(self) -> Float64Array:
        """Return P(w|z) as an array of shape (n_components, n_words)."""
        ...

    def document_topics(self) -> Float64Array:
        """Return P(z|d) as an array of shape (n_documents, n_components)."""
        ...


class TemperedEMBackend(EMBackend, Protocol):
    """Interface of back ends with tempered EM steps and scores of held-out tokens."""

    def step(self, power: float = 1.0) -> float:
        """Run an EM step whose E-step probabilities are raised to `power`."""
        ...

    def log_likelihood(self, *, held: bool = False) -> tuple[float, float]:
        """Return the log-likelihood of the training tokens, or of the held-out tokens."""
        ...

    def state(self) -> object:
        """Return the current P(w|z) and P(z|d) in a form that `restore` takes."""
        ...

    def restore(self, state: Any) -> None:  # noqa: ANN401 (a result of `state` of this back end)
        """Set P(w|z) and P(z|d) to the result of an earlier `state`."""
        ...


# ------------------------------------------------------------------ initialization


@dataclass(frozen=True, slots=True)
class EMStart:
    """Random initial P(z|d) and P(w|z), sampled from Dirichlet(1)."""

    document_topics: Float64Array  # P(z|d)
    words: NDArray[Any]  # (n_words, n_components); words times scale are P(w|z)
    scale: Float64Array  # (n_components,)


def draw_start(bags: Bags, problem: EMProblem, random: RandomState) -> EMStart:
    """Sample the initial P(z|d) of all documents, and P(w|z) of all topics."""
    n = problem.settings.n_components
    document_topics = draw_document_topics(random, problem.n_documents, n)
    document_topics[np.diff(bags.indptr) == 0] = 1 / n
    words, scale = draw_words(random, words_in(bags), problem)
    return EMStart(document_topics, words, scale)


def draw_document_topics(random: RandomState, rows: int, columns: int) -> Float64Array:
    """Sample the initial P(z|d) from Dirichlet(1), one row per document."""
    drawn = random.standard_exponential((rows, columns))
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def draw_words(
    random: RandomState, seen: BoolArray, problem: EMProblem
) -> tuple[NDArray[Any], Float64Array]:
    """Sample the initial P(w|z) from Dirichlet(1), over the words that occur."""
    shape = problem.n_words, problem.settings.n_components
    words = random.standard_exponential(shape).astype(problem.dtype)
    words[~seen] = 0
    return words, 1 / words.sum(axis=0, dtype=np.float64)


def words_in(bags: Bags) -> BoolArray:
    """Return a mask of the words that occur in the bags."""
    found = np.zeros(bags.shape[1], np.bool_)
    found[bags.indices] = True
    return found


def document_lengths(bags: Bags) -> Float64Array:
    """Return the sum of weights of each document; raise if all are 0 or they overflow."""
    lengths: Float64Array = np.asarray(
        np.bincount(row_indices(bags), bags.data, bags.shape[0]), dtype=np.float64
    )
    with np.errstate(over="ignore"):
        check_weights(bags.nnz > 0, float(lengths.sum()))
    return lengths


def check_weights(has_words: bool, total: float) -> None:
    """Raise if the bags have no words, or the sum of their weights overflows."""
    if not has_words:
        raise ValueError("X must have words to fit topics to; all its documents are empty.")
    with np.errstate(over="ignore"):
        likelihood = np.float64(1e3) * total  # if every P(w|d) is the smallest float
    if not np.isfinite(likelihood):
        raise ValueError("X must have weights with a finite sum. Scale them down.")


# ------------------------------------------------------------------ fit loops


def maximize(backend: EMBackend, report: Callable[[], object]) -> EMFit:
    """Run EM steps until the relative gain of the objective is below `tol`."""
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
    """Compute the relative gain of an EM step from the objectives before and after it."""
    before, after = objectives
    return (after - before) / max(abs(after), 1e-9 * total)


def fit_tempered(backend: TemperedEMBackend, cooling: float, report: Callable[[], object]) -> EMFit:
    """Fit by tempered EM: stop by held-out tokens, and lower the power while that helps.

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
    """Bags split into training tokens and held-out tokens of the same documents."""

    train: Bags
    held: Bags


def split_tokens(bags: Bags, fraction: float, random: RandomState) -> TokenSplit:
    """Split tokens at random into training and held-out ones; no word is lost for training.

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
    """Compute logarithms, with 0 (underflow) replaced by the smallest normal float."""
    return np.asarray(np.log(np.maximum(values, np.finfo(np.float64).tiny)))


def normalized_words(words: NDArray[Any], scale: Float64Array) -> Float64Array:
    """Return P(w|z) of shape (n_components, n_words) from unnormalized words and their scale."""
    found = np.ascontiguousarray((words * scale).T)
    if not np.isfinite(found).all():
        raise ValueError(
            "X must have weights with a smaller range; the ratio of the largest to the smallest "
            "overflows. Rescale the extreme weights."
        )
    return found
