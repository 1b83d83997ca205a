"""EM steps of topic models in torch, on a GPU or on tensors of the CPU.

The formulas are the same as in `em_step` of the core. For a document d and a word w,
``p = sum_k P(k|d) scale_k words_wk`` and ``c = n / p``; topics become
``P(k|d) scale_k sum_w c words_wk`` (and a prior), words ``words_wk scale_k sum_d c P(k|d)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textkin._base import Bags, Float64Array
from textkin.device import (
    cut_rows,
    memory_of,
    rows_that_fit,
    segment_sums,
    tensor_of,
    to_device,
    torch_device,
)
from textkin.models.topics._em import EMProblem, EMStart, normalized_words, words_in

__all__ = ["Entries", "TorchEM", "products"]

_LEAST_TOPIC = 1e-15  # the same limit as in the core
_CHUNK = 2**23  # numbers in the rows gathered at once, so that they fit in the cache of a GPU


@dataclass(frozen=True, slots=True)
class Entries:
    """Word counts of bags on a GPU, with their order by word."""

    starts: torch.Tensor  # (n_documents + 1,), int64
    words: torch.Tensor  # (n_entries,), int64
    counts: torch.Tensor  # (n_entries,)
    documents: torch.Tensor  # (n_entries,), int64
    order: torch.Tensor  # (n_entries,), int64: entries by words
    word_starts: torch.Tensor  # (n_words + 1,), int64

    @classmethod
    def of(
        cls, starts: torch.Tensor, words: torch.Tensor, counts: torch.Tensor, n_words: int
    ) -> "Entries":
        """Create the entries from CSR arrays, and compute their order by word."""
        n_documents = len(starts) - 1
        documents = torch.repeat_interleave(
            torch.arange(n_documents, device=starts.device), starts.diff()
        )
        order = torch.argsort(words, stable=True)
        sizes = torch.bincount(words, minlength=n_words)
        word_starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        return cls(starts, words, counts, documents, order, word_starts)


def products(
    point: torch.Tensor, words: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    """Compute the inner product point[rows] . words[columns] for each entry of the bags."""
    found = point.new_empty(len(rows))
    chunk = max(1, _CHUNK // point.shape[1])
    for start in range(0, len(rows), chunk):
        part = slice(start, start + chunk)
        found[part] = (point[rows[part]] * words[columns[part]]).sum(dim=1)
    return found


class TorchEM:
    """EM back end in torch, on a GPU or on the CPU.

    Entries and topics stay on the device if they fit, otherwise each step sends them block by
    block. Words are always on the device.

    Parameters
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Bags to fit to.
    problem : EMProblem
        Precision, scale and priors.
    start : EMStart
        Initial model.
    held : csr_array, optional
        Held-out tokens of the same documents.
    device : str
        Device that computes the steps.
    memory : int, optional
        Maximum number of bytes on the device. If None, most of the free memory.
    """

    def __init__(
        self,
        bags: Bags,
        problem: EMProblem,
        start: EMStart,
        held: Bags | None = None,
        *,
        device: str,
        memory: int | None = None,
    ) -> None:
        self.problem = problem
        place = torch_device(device)
        memory = memory_of(place) if memory is None else memory
        indptr = bags.indptr.astype(np.int64)
        n_words, n_topics = start.words.shape
        size = np.dtype(problem.dtype).itemsize
        # Bytes per document: topics before and after a step, and float64 numbers for the step.
        document, entry = n_topics * (4 * size + 24), 72
        gathered = min(_CHUNK, max(bags.nnz, 1) * n_topics)
        fixed = n_words * n_topics * (3 * size + 24) + 3 * size * gathered
        what = f"{n_topics} topics of {n_words:,} words"
        rows = rows_that_fit(memory, document + entry, fixed, what)
        n_documents = bags.shape[0]
        whole = n_documents * document + bags.nnz * entry
        resident = fixed + whole <= memory
        home = place if resident else torch.device("cpu")
        # If not everything fits, documents get one half of the memory, and entries the other.
        left = memory - fixed
        cuts = (
            [slice(0, n_documents)]
            if resident
            else list(cut_rows(indptr, max(1, rows // 2), max(1, left // (2 * entry))))
        )
        self.place, self.resident, self.cuts = place, resident, cuts
        self.words, self.scale = tensor_of(start.words, place), tensor_of(start.scale, place)
        topics = start.document_topics.astype(problem.dtype)
        self.topics = [tensor_of(topics[rows], home) for rows in cuts]
        self.seen = tensor_of(words_in(bags), place)
        self._entries = self._blocks(bags, problem.scaled(bags))
        self._held = None
        if held is not None:
            self._held = self._blocks(held, held.data.astype(problem.dtype))

    def _blocks(
        self, bags: Bags, counts: NDArray[Any]
    ) -> list["Entries | tuple[NDArray[Any], ...]"]:
        """Split bags into blocks for the GPU, copied once if all of them fit."""
        indptr, indices = bags.indptr.astype(np.int64), bags.indices.astype(np.int64)
        found: list[Entries | tuple[NDArray[Any], ...]] = []
        for rows in self.cuts:
            own = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
            starts = indptr[rows.start : rows.stop + 1] - indptr[rows.start]
            block = starts, indices[own], counts[own]
            found.append(self._on_device(block) if self.resident else block)
        return found

    def _on_device(self, block: "Entries | tuple[NDArray[Any], ...]") -> "Entries":
        if isinstance(block, Entries):
            return block
        starts, indices, counts = (tensor_of(part, self.place) for part in block)
        return Entries.of(starts, indices, counts, len(self.words))

    def step(self, power: float = 1.0) -> float:
        """Run one EM step, and return the log-likelihood of the model before the step."""
        if power < 1:
            before, _ = self.log_likelihood()
            self.topics = [part**power for part in self.topics]
            self.words = (self.words * self.scale).pow(power).to(self.words.dtype)
            self.scale = torch.ones_like(self.scale)
        settings = self.problem.settings
        sums = torch.zeros(self.words.shape, dtype=torch.float64, device=self.place)
        log = torch.zeros((), dtype=torch.float64, device=self.place)
        for number, block in enumerate(self._entries):
            own = self._on_device(block)
            topics = to_device(self.topics[number], self.place)
            point = (topics * self.scale).to(topics.dtype)
            found = products(point, self.words, own.documents, own.words)
            possible = found > 0
            shares = torch.where(possible, own.counts / found, 0)
            log += (own.counts * torch.where(possible, found, 1).double().log()).sum()
            after = segment_sums(self.words, own.words, shares, own.starts).mul_(point)
            sums += segment_sums(
                topics, own.documents[own.order], shares[own.order], own.word_starts
            )
            after = _normalized_topics(after, settings.doc_topic_prior, topics)
            after[own.starts.diff() == 0] = 1 / after.shape[1]
            self.topics[number] = after.to(self.topics[number].device)
        sums *= self.words * self.scale
        sums[sums < self.problem.least] = 0
        sums += settings.topic_word_prior
        sums[~self.seen] = 0
        totals = sums.sum(dim=0)
        self.scale = torch.where(totals > 0, 1 / totals, 0)
        self.words = sums.to(self.words.dtype)
        return before if power < 1 else float(log)

    def log_likelihood(self, *, held: bool = False) -> tuple[float, float]:
        """Return the log-likelihood of the documents, and how many tokens have P(w|d) = 0."""
        blocks = self._held if held else self._entries
        assert blocks is not None
        log, impossible = (torch.zeros((), dtype=torch.float64, device=self.place) for _ in "ab")
        for number, block in enumerate(blocks):
            own = self._on_device(block)
            topics = to_device(self.topics[number], self.place)
            point = (topics * self.scale).to(topics.dtype)
            found = products(point, self.words, own.documents, own.words)
            possible = found > 0
            log += (own.counts * torch.where(possible, found, 1).double().log()).sum()
            impossible += torch.where(possible, 0, own.counts).double().sum()
        return float(log), float(impossible)

    def log_prior(self) -> float:
        """Return the log prior density of the current P(w|z) and P(z|d), up to a constant."""
        settings = self.problem.settings
        total = 0.0
        if settings.topic_word_prior > 0:
            total += settings.topic_word_prior * _log_sum((self.words * self.scale)[self.seen])
        if settings.doc_topic_prior > 0:
            parts = (_log_sum(part.to(self.place)) for part in self.topics)
            total += settings.doc_topic_prior * sum(parts)
        return total

    def word_topics(self) -> Float64Array:
        """Return the word distribution P(w|z) of each topic, one row per topic."""
        return normalized_words(self.words.cpu().numpy(), self.scale.cpu().numpy())

    def document_topics(self) -> Float64Array:
        """Return the topic distribution P(z|d) of each document, one row per document."""
        topics = np.concatenate([part.cpu().numpy() for part in self.topics])
        return np.asarray(topics, dtype=np.float64)

    def state(self) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
        """Return the current P(w|z) and P(z|d) in a form that `restore` takes."""
        return [*self.topics], self.words, self.scale

    def restore(self, state: tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]) -> None:
        """Set P(w|z) and P(z|d) to the result of an earlier `state`."""
        self.topics, self.words, self.scale = [*state[0]], *state[1:]


def _log_sum(values: torch.Tensor) -> float:
    """Return the sum of logarithms of values, with 0 replaced by the smallest float."""
    return float(values.double().clamp(min=torch.finfo(torch.float64).tiny).log().sum())


def _normalized_topics(values: torch.Tensor, prior: float, before: torch.Tensor) -> torch.Tensor:
    """Add the prior to expected counts, and normalize rows to P(z|d); zero rows stay as before."""
    raised = values.double() + prior
    totals = raised.sum(dim=1, keepdim=True)
    after = torch.where(totals > 0, raised / totals, before.double())
    after[after < _LEAST_TOPIC] = 0
    return after.to(before.dtype)
