"""Documents in host memory and on a GPU: CSR rows of word positions and word weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textkin._base import Float32Array, Float64Array, Int32Array, Int64Array

if TYPE_CHECKING:
    import torch

__all__ = ["DeviceRows", "HostRows"]


@dataclass(frozen=True, slots=True, eq=False)
class HostRows:
    """Documents in host memory as CSR rows: row offsets, word positions, and word weights.

    Attributes
    ----------
    indptr, words, masses : ndarray, int64, int32 and float32 (or float64)
        CSR arrays. The masses of a row are positive and sum to 1; a row may be empty.
    """

    indptr: Int64Array
    words: Int32Array
    masses: Float32Array | Float64Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def parts(self, most: int) -> Iterator[tuple[int, "HostRows"]]:
        """Yield ranges of documents with at most `most` entries, or a single longer document."""
        begin = 0
        while begin < len(self):
            end = int(np.searchsorted(self.indptr, self.indptr[begin] + most, side="right")) - 1
            end = min(max(end, begin + 1), len(self))
            yield begin, self.rows(begin, end)
            begin = end

    def rows(self, begin: int, end: int) -> "HostRows":
        """Return the documents from `begin` to before `end`, without copying their entries."""
        indptr = self.indptr[begin : end + 1]
        inside = slice(int(indptr[0]), int(indptr[-1]))
        return HostRows(indptr - indptr[0], self.words[inside], self.masses[inside])

    def to(self, device: "torch.device") -> "DeviceRows":
        """Copy the documents to a torch device."""
        import torch

        return DeviceRows(
            torch.tensor(self.indptr, device=device),
            torch.tensor(self.words, device=device),
            torch.tensor(self.masses, device=device),
        )


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRows:
    """Documents on a GPU as CSR rows of word positions and weights; see `HostRows`.

    Attributes
    ----------
    indptr, words, masses : Tensor, int64, int32 and float32
        CSR arrays.
    """

    indptr: "torch.Tensor"
    words: "torch.Tensor"
    masses: "torch.Tensor"

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> "torch.Tensor":
        """Number of words of each document."""
        return self.indptr[1:] - self.indptr[:-1]

    def parts(self, most: int) -> Iterator[tuple[int, "DeviceRows"]]:
        """Yield ranges of documents with at most `most` entries, or a single longer document."""
        import torch

        begin, total = 0, len(self)
        while begin < total:
            end = total
            if len(self.words) > most:
                start = self.indptr[begin] + most
                end = int(torch.searchsorted(self.indptr, start, right=True)) - 1
                end = min(max(end, begin + 1), total)
            indptr = self.indptr[begin : end + 1]
            inside = slice(int(indptr[0]), int(indptr[-1]))
            yield (
                begin,
                DeviceRows(indptr - indptr[0], self.words[inside], self.masses[inside]),
            )
            begin = end
