"""Tempered EM: tokens are held out, to stop early by them and to cool the E step down."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from textkin._typing import Bags
from textkin.models._em import EmSettings, Mixture, MixtureFit, entries_of, fold_in

__all__ = ["Held", "fit_held_out", "hold_out"]

_LARGEST_TOKENS = 2**53  # of a word in a document, to draw from
_UNLIKELY = np.log(1e-30)  # what a held-out token counts that the model thinks impossible


@dataclass(frozen=True, slots=True)
class Held:
    """Bags to fit to, and some of their tokens to choose by."""

    train: Bags
    held: Bags
    cooling: float


def fit_held_out(
    mixture: Mixture, parts: Held, bags: Bags, settings: EmSettings, report: Callable[[], object]
) -> MixtureFit:
    """Fit by tempered EM: stop early by held-out tokens, cool down while that helps them."""
    held = entries_of(parts.held, mixture.dtype)
    likelihoods: list[float] = []
    scores: list[float] = []

    def score() -> float:
        logarithm, impossible = mixture.log_likelihood(held)
        return float(logarithm + impossible * _UNLIKELY)

    best, best_power, power = -np.inf, 1.0, 1.0
    state = mixture.state()
    helped, converged = True, False
    while helped and not converged:
        helped = False
        while len(likelihoods) < settings.max_iter:
            likelihoods.append(mixture.step(power))
            scores.append(score())
            report()
            if not scores[-1] > best:
                break
            helped = helped or best == -np.inf or scores[-1] - best > settings.tol * abs(best)
            best, best_power, state = scores[-1], power, mixture.state()
        converged = not helped and len(likelihoods) < settings.max_iter
        if len(likelihoods) >= settings.max_iter:
            break
        mixture.go_back(state)
        power *= parts.cooling
    mixture.go_back(state)
    n_iter = len(likelihoods)
    likelihoods.append(mixture.likelihood())
    words = mixture.word_probabilities()
    topics = fold_in(bags, words, best_power, settings, steps=100, tolerance=1e-6)
    likelihoods = [mixture.unit * value for value in likelihoods]
    return MixtureFit(
        words, topics, likelihoods, likelihoods, scores, best_power, n_iter, converged
    )


def hold_out(bags: Bags, fraction: float, random: RandomState) -> tuple[Bags, Bags]:
    """Split tokens: each whole one is held out by chance, unless the rest has its word nowhere."""
    if bags.data.max() > _LARGEST_TOKENS:
        raise ValueError(
            f"tempered=True holds out tokens of at most {_LARGEST_TOKENS:,} in an entry of X; got "
            f"{bags.data.max():g}. Scale X down, or use tempered=False."
        )
    whole = np.floor(bags.data).astype(np.int64)
    taken = random.binomial(whole, fraction).astype(bags.dtype)
    kept, held = bags.copy(), bags.copy()
    kept.data -= taken
    held.data = taken
    unknown = np.bincount(kept.indices, kept.data, bags.shape[1]) == 0
    held.data[unknown[held.indices]] = 0
    for part in (kept, held):
        part.eliminate_zeros()
    if not held.nnz:
        raise ValueError(
            "held_out leaves no tokens to choose by; it needs bags of counts with more tokens, or "
            "a larger part. Use tempered=False without them."
        )
    return kept, held
