"""Steps of EM for mixtures of topics, over the entries of bags that are not zero.

What `em_step` of the core does, by the same formulas: of a document d and a word w,
``p = sum_k P(k|d) scale_k words_wk`` and ``c = n / p``; topics become
``P(k|d) scale_k sum_w c words_wk`` (and a prior), words ``words_wk scale_k sum_d c P(k|d)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from textkin._typing import Float64Array, Int32Array, Int64Array
from textkin.device._place import at_once, sent, tensor_of
from textkin.device._segments import cut_rows, segment_sums

__all__ = ["DeviceTopics", "Entries", "products"]

_LEAST_TOPIC = 1e-15  # as in the core
_CHUNK = 2**23  # numbers of rows that are gathered at a time: those of a GPU's cache


@dataclass(frozen=True, slots=True)
class Entries:
    """Bags on a device, with the order of their entries by words."""

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
        """Sort entries by words."""
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
    """Return point[rows] . words[columns] of each entry."""
    found = point.new_empty(len(rows))
    chunk = max(1, _CHUNK // point.shape[1])
    for start in range(0, len(rows), chunk):
        part = slice(start, start + chunk)
        found[part] = (point[rows[part]] * words[columns[part]]).sum(dim=1)
    return found


class DeviceTopics:
    """A mixture of topics in the middle of its fit: entries, P(z|d) and expected counts of words.

    Entries and topics stay on the device if they fit, else they go there block by block; words are
    always there.

    Parameters
    ----------
    indptr, indices, counts : ndarray
        CSR of the bags: int64, int32, and what the fit is in.
    topics : ndarray of shape (n_documents, n_topics)
        Where P(z|d) starts.
    words : ndarray of shape (n_words, n_topics)
        Where the expected counts of words start.
    scale : ndarray of shape (n_topics,), float64
        What makes probabilities of these.
    place : torch.device
        Where steps are computed.
    memory : int
        Bytes that may be taken there.
    """

    def __init__(
        self,
        indptr: Int64Array,
        indices: Int32Array,
        counts: NDArray[Any],
        topics: NDArray[Any],
        words: NDArray[Any],
        scale: Float64Array,
        place: torch.device,
        memory: int,
    ) -> None:
        n_words, n_topics = words.shape
        size = counts.itemsize
        # A document: its topics before and after, and numbers in double that they are made of.
        document, entry = n_topics * (4 * size + 24), 72
        gathered = min(_CHUNK, max(len(indices), 1) * n_topics)
        fixed = n_words * n_topics * (3 * size + 24) + 3 * size * gathered
        what = f"{n_topics} topics of {n_words:,} words"
        rows = at_once(memory, document + entry, fixed, what)
        whole = len(topics) * document + len(indices) * entry
        resident = fixed + whole <= memory
        home = place if resident else torch.device("cpu")
        # Of a memory that is too small for all, one half is for documents, the other for entries.
        left = memory - fixed
        cuts = (
            [slice(0, len(topics))]
            if resident
            else list(cut_rows(indptr, max(1, rows // 2), max(1, left // (2 * entry))))
        )
        self.place, self.resident, self.cuts = place, resident, cuts
        self.words, self.scale = tensor_of(words, place), tensor_of(scale, place)
        self.topics = [tensor_of(topics[rows], home) for rows in cuts]
        seen = np.zeros(n_words, dtype=np.bool_)
        seen[indices] = True
        self.seen = tensor_of(seen, place)
        self._entries = self.entries(indptr, indices, counts)

    def entries(
        self, indptr: Int64Array, indices: Int32Array, counts: NDArray[Any]
    ) -> list[Entries | tuple[NDArray[Any], ...]]:
        """Return bags in the blocks of this fit, sorted and on the device if they stay there."""
        found: list[Entries | tuple[NDArray[Any], ...]] = []
        for rows in self.cuts:
            own = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
            starts = indptr[rows.start : rows.stop + 1] - indptr[rows.start]
            block = starts, indices[own].astype(np.int64), counts[own]
            found.append(self._placed(block) if self.resident else block)
        return found

    def _placed(self, block: Entries | tuple[NDArray[Any], ...]) -> Entries:
        if isinstance(block, Entries):
            return block
        starts, indices, counts = (tensor_of(part, self.place) for part in block)
        return Entries.of(starts, indices, counts, len(self.words))

    def step(self, topic_prior: float, word_prior: float, least: float) -> float:
        """Take a step of EM; return the log-likelihood before it."""
        sums = torch.zeros(self.words.shape, dtype=torch.float64, device=self.place)
        log = torch.zeros((), dtype=torch.float64, device=self.place)
        for number, block in enumerate(self._entries):
            own = self._placed(block)
            topics = sent(self.topics[number], self.place)
            point = (topics * self.scale).to(topics.dtype)
            found = products(point, self.words, own.documents, own.words)
            possible = found > 0
            shares = torch.where(possible, own.counts / found, 0)
            log += (own.counts * torch.where(possible, found, 1).double().log()).sum()
            after = segment_sums(self.words, own.words, shares, own.starts).mul_(point)
            sums += segment_sums(
                topics, own.documents[own.order], shares[own.order], own.word_starts
            )
            after = _shared_out(after, topic_prior, topics)
            after[own.starts.diff() == 0] = 1 / after.shape[1]
            self.topics[number] = after.to(self.topics[number].device)
        sums *= self.words * self.scale
        sums[sums < least] = 0
        sums += word_prior
        sums[~self.seen] = 0
        totals = sums.sum(dim=0)
        self.scale = torch.where(totals > 0, 1 / totals, 0)
        self.words = sums.to(self.words.dtype)
        return float(log)

    def temper(self, power: float) -> None:
        """Take all probabilities to a power, for the next step."""
        self.topics = [part**power for part in self.topics]
        self.words = (self.words * self.scale).pow(power).to(self.words.dtype)
        self.scale = torch.ones_like(self.scale)

    def log_prior(self, word_prior: float, topic_prior: float) -> float:
        """Return what the priors add to the log-likelihood, less their constant."""
        total = 0.0
        if word_prior > 0:
            total += word_prior * _log_sum((self.words * self.scale)[self.seen])
        if topic_prior > 0:
            total += topic_prior * sum(_log_sum(part.to(self.place)) for part in self.topics)
        return total

    def state(self) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
        """Return what a later `go_back` goes back to; steps make new tensors."""
        return [*self.topics], self.words, self.scale

    def go_back(self, state: tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]) -> None:
        """Go back to a state."""
        self.topics, self.words, self.scale = [*state[0]], *state[1:]

    def log_likelihood(
        self, entries: list[Entries | tuple[NDArray[Any], ...]] | None = None
    ) -> tuple[float, float]:
        """Return the log-likelihood of bags, and how many of their tokens it leaves out."""
        log, impossible = (torch.zeros((), dtype=torch.float64, device=self.place) for _ in "ab")
        for number, block in enumerate(self._entries if entries is None else entries):
            own = self._placed(block)
            topics = sent(self.topics[number], self.place)
            point = (topics * self.scale).to(topics.dtype)
            found = products(point, self.words, own.documents, own.words)
            possible = found > 0
            log += (own.counts * torch.where(possible, found, 1).double().log()).sum()
            impossible += torch.where(possible, 0, own.counts).double().sum()
        return float(log), float(impossible)

    def document_topics(self) -> NDArray[Any]:
        """Return P(z|d) of all documents."""
        return np.concatenate([part.cpu().numpy() for part in self.topics])

    def word_topics(self) -> tuple[NDArray[Any], Float64Array]:
        """Return the expected counts of words, and what makes probabilities of them."""
        return np.asarray(self.words.cpu().numpy()), np.asarray(self.scale.cpu().numpy())


def _log_sum(values: torch.Tensor) -> float:
    """Return the sum of logarithms; what is too small to be kept counts as the smallest number."""
    return float(values.double().clamp(min=torch.finfo(torch.float64).tiny).log().sum())


def _shared_out(values: torch.Tensor, prior: float, before: torch.Tensor) -> torch.Tensor:
    """Return rows that sum to 1, of values with a prior; where there are none, those before."""
    raised = values.double() + prior
    totals = raised.sum(dim=1, keepdim=True)
    after = torch.where(totals > 0, raised / totals, before.double())
    after[after < _LEAST_TOPIC] = 0
    return after.to(before.dtype)
