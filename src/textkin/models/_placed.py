"""Topics and factors that are fitted on a device."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from textkin._typing import Bags, Float64Array
from textkin.models._devices import room_on
from textkin.models._em import EmSettings, Mixture, entries_of, table_of

__all__ = ["PlacedMixture", "PlacedSides"]


class PlacedMixture(Mixture):
    """A mixture of topics that takes its steps on a device, from the start that `Mixture` draws."""

    def __init__(self, bags: Bags, settings: EmSettings, random: RandomState, device: str) -> None:
        super().__init__(bags, settings, random)
        module, place, memory = room_on(device, "_plsa")
        n = settings.n_components
        self.there = module.DeviceTopics(
            *self.entries, self.topics[:, :n], self.words[:, :n], self.scale, place, memory
        )
        self.spare = self.topics = np.zeros((0, n))  # which are there now
        self._held: tuple[Any, Any] | None = None

    def _core_of(self, bags: Bags) -> tuple[Any, Any, Any]:
        indptr, indices, _ = entries_of(bags, self.dtype)
        counts = np.ldexp(bags.data.astype(np.float64), -self.exponent).astype(self.dtype)
        sizes = np.bincount(indices, minlength=bags.shape[1])
        return (indptr, indices, counts), np.concatenate([[0], np.cumsum(sizes)]), None

    def step(self, power: float = 1.0) -> float:
        """Take a step of (tempered) EM; return the log-likelihood before it."""
        s = self.settings
        before = None
        if power < 1:
            before = self.likelihood()
            self.there.temper(power)
        found = self.there.step(s.topic_prior, self.added_to_words, self.least)
        return float(found) if before is None else before

    def log_likelihood(self, entries: tuple[Any, Any, Any]) -> tuple[float, float]:
        """Return the log-likelihood of bags, and how many of their tokens it leaves out."""
        if self._held is None or self._held[0] is not entries:  # those of all steps are the same
            self._held = entries, self.there.entries(*entries)
        found: tuple[float, float] = self.there.log_likelihood(self._held[1])
        return found

    def likelihood(self) -> float:
        return float(self.there.log_likelihood()[0])

    def log_prior(self) -> float:
        """Return what the priors add to the log-likelihood, less their constant."""
        return float(self.there.log_prior(self.settings.word_prior, self.settings.topic_prior))

    def state(self) -> tuple[Any, Any, Any]:
        found: tuple[Any, Any, Any] = self.there.state()
        return found

    def go_back(self, state: tuple[Any, Any, Any]) -> None:
        self.there.go_back(state)

    def word_probabilities(self) -> Float64Array:
        self.words, self.scale = self.there.word_topics()
        return super().word_probabilities()

    def topic_probabilities(self) -> Float64Array:
        return np.asarray(self.there.document_topics(), dtype=np.float64)


class PlacedSides:
    """Both sides of a factorisation, which are solved on a device.

    Words lie here between half sweeps, as a table of the core, for what else is done to them.
    """

    def __init__(
        self,
        bags: Bags,
        words: Any,  # noqa: ANN401 (a table of the core)
        n_components: int,
        missing_weight: float,
        regularization: float,
        device: str,
    ) -> None:
        module, place, memory = room_on(device, "_wtmf")
        self._weights = float(missing_weight), float(regularization)
        self._module, self._place, self._k = module, place, n_components
        self.words = words
        n_texts, n_words = bags.shape
        by_text = entries_of(bags, words.dtype)
        by_word = entries_of(sparse.csr_array(bags.T), words.dtype)
        half = memory // 2
        self._by_text = module.DeviceBags(*by_text, n_words, n_components, place, half)
        self._by_word = module.DeviceBags(*by_word, n_texts, n_components, place, half)
        self._texts: Any = None

    def solve_texts(self) -> float:
        words = self._module.tensor_of(self.words[:, : self._k], self._place)
        self._texts, objective = self._module.half_sweep(words, self._by_text, *self._weights)
        return float(objective)

    def solve_words(self) -> float:
        found, objective = self._module.half_sweep(self._texts, self._by_word, *self._weights)
        self.words = table_of(found.cpu().numpy(), self.words.dtype)
        return float(objective)
