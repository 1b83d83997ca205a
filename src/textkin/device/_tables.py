r"""Costs between the words of a corpus and the words of queries, on a device.

Two kinds. For answers: float32, rounded from products in float64. For pruning: whole numbers of
16 bits that times a unit never exceed the cost. A product of float32 vectors, summed in any order,
is off by at most :math:`(d + 2) 2^{-24} |x| |y|`; so the squared distance
:math:`|x|^2 + |y|^2 - 2xy` is off by less than :math:`(d + 16) 2^{-24} (|x|^2 + |y|^2)`, which is
taken from it first. What follows (root, division by the unit) loses some units of
:math:`2^{-24}`, which a factor makes up for, and the quotient is rounded down.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from textkin._typing import Float32Array
from textkin.device._torch import full_precision

if TYPE_CHECKING:
    import torch

__all__ = ["FARTHEST", "Cost", "WordTable"]

Cost: TypeAlias = Literal["euclidean", "cosine", "sqeuclidean"]

FARTHEST = 32767  # stands for: no word here
_LARGEST = 32000  # of a cost
_ROUNDING = 2.0**-24
_NEAR = 2.0**-16  # of the squares, where a product in float64 is not precise enough
_TOGETHER = 1 << 14  # vectors whose differences are computed at a time


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """The vectors of the words of a corpus on a device.

    Attributes
    ----------
    vectors : Tensor of shape (V, d), float32
        Times `scale`, so that no square is too large for float32.
    squares : Tensor of shape (V,), float64
        Of their lengths.
    scale : float
        A power of two.
    cost : str
        What moving a word costs. For the cosine the vectors have length one, and the cost is half
        of the squared distance.
    """

    vectors: "torch.Tensor"
    squares: "torch.Tensor"
    scale: float
    cost: Cost

    @classmethod
    def of(
        cls, vectors: Float32Array, cost: Cost, device: "torch.device", largest: float
    ) -> "WordTable":
        """Copy vectors to a device; no number of these or of queries' is above `largest`."""
        import torch

        # Powers of two within what float32 has.
        power = int(np.clip(-np.frexp(largest)[1], -120, 120)) if largest > 0 else 0
        scale = 2.0**power
        table = torch.tensor(vectors, device=device) * scale
        return cls(table, _squares(table), scale, cost)

    def points(self, vectors: Float32Array) -> "torch.Tensor":
        """Copy vectors of queries to the device, scaled as these are."""
        import torch

        return torch.tensor(vectors, device=self.vectors.device) * self.scale

    def unit_of(self, reach: float) -> float:
        """Return what a cost of 1 in `lower` stands for where no two points are farther apart."""
        return self._of_square(reach * reach) / _LARGEST

    @property
    def factor(self) -> float:
        """What costs between scaled vectors are multiplied by for those of the vectors."""
        return 1 / (self.scale if self.cost == "euclidean" else self.scale * self.scale)

    def _of_square(self, square: float) -> float:
        if self.cost == "euclidean":
            return float(np.sqrt(square))
        return square / 2 if self.cost == "cosine" else square

    def lower(self, points: "torch.Tensor", unit: float) -> "torch.Tensor":
        """Return costs of every word to every point that are never too high, in units.

        Parameters
        ----------
        points : Tensor of shape (n, d), float32
            Words of queries, see `points`.
        unit : float
            See `unit_of`.

        Returns
        -------
        Tensor of shape (V, n), int16
            Between scaled vectors, in units; see `factor`.
        """
        import torch

        mine, theirs = self.squares.float()[:, None], _squares(points).float()[None, :]
        error = (points.shape[1] + 16) * _ROUNDING
        # |x|^2 + |y|^2 - 2xy, less what it may be off by
        with full_precision():
            squared = torch.addmm((mine + theirs) * (1 - error), self.vectors, points.T, alpha=-2)
        squared.clamp_(min=0)
        low = squared.sqrt_() if self.cost == "euclidean" else squared
        per_unit = (0.5 if self.cost == "cosine" else 1) * (1 - 8 * _ROUNDING) / unit
        return low.mul_(per_unit).floor_().clamp_(max=_LARGEST).to(torch.int16)

    def costs(self, points: "torch.Tensor") -> "torch.Tensor":
        """Return the costs of every word to every point, to the precision of float32.

        Parameters
        ----------
        points : Tensor of shape (n, d), float32
            Words of queries, see `points`.

        Returns
        -------
        Tensor of shape (V, n), float32
            Between scaled vectors; see `factor`.
        """
        import torch

        both = self.squares[:, None] + _squares(points)[None, :]
        squared = torch.addmm(both, self.vectors.double(), points.double().T, alpha=-2)
        # Of vectors that are nearly the same rounding is all that is left: their differences.
        words, numbers = (squared < both * _NEAR).nonzero(as_tuple=True)
        for begin in range(0, len(words), _TOGETHER):
            pairs = words[begin : begin + _TOGETHER], numbers[begin : begin + _TOGETHER]
            apart = self.vectors[pairs[0]].double() - points[pairs[1]].double()
            squared[pairs] = (apart * apart).sum(1)
        costs = squared.sqrt() if self.cost == "euclidean" else squared
        return (costs / 2 if self.cost == "cosine" else costs).float()


def _squares(vectors: "torch.Tensor") -> "torch.Tensor":
    wide = vectors.double()
    return (wide * wide).sum(1)
