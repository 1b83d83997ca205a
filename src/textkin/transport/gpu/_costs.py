r"""Costs between the words of a corpus and the words of queries, computed on a GPU.

There are two kinds. Costs for results are float32, rounded from products in float64. Costs for
pruning are 16-bit integers that, times a unit, never exceed the true cost. A product of float32
vectors, summed in any order, has an error of at most :math:`(d + 2) 2^{-24} |x| |y|`. The squared
distance :math:`|x|^2 + |y|^2 - 2xy` therefore has an error of less than
:math:`(d + 16) 2^{-24} (|x|^2 + |y|^2)`, which is subtracted first. The following operations (root,
division by the unit) lose some units of :math:`2^{-24}`, which a factor compensates for, and the
quotient is rounded down.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from textkin._base import Float32Array
from textkin.device import full_precision

if TYPE_CHECKING:
    import torch

__all__ = ["FARTHEST", "Cost", "WordTable"]

Cost: TypeAlias = Literal["euclidean", "cosine", "sqeuclidean"]

FARTHEST = 32767  # marks the absence of a word
_LARGEST = 32000  # maximum cost, in units
_ROUNDING = 2.0**-24
_NEAR = 2.0**-16  # relative to the squares; below it, a product in float64 is too imprecise
_TOGETHER = 1 << 14  # vectors whose differences are computed at a time


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """Vectors of the corpus words on a GPU, from which costs to query words are computed.

    Attributes
    ----------
    vectors : Tensor of shape (V, d), float32
        Vectors times `scale`, so that their squares do not overflow float32.
    squares : Tensor of shape (V,), float64
        Squared lengths.
    scale : float
        Power of two.
    cost : str
        Cost of moving a word. For the cosine, the vectors have unit length, and the cost is half of
        the squared distance.
    """

    vectors: "torch.Tensor"
    squares: "torch.Tensor"
    scale: float
    cost: Cost

    @classmethod
    def of(
        cls, vectors: Float32Array, cost: Cost, device: "torch.device", largest: float
    ) -> "WordTable":
        """Copy word vectors to a GPU, scaled so that numbers up to `largest` cannot overflow."""
        import torch

        # Powers of two in the range of float32.
        power = int(np.clip(-np.frexp(largest)[1], -120, 120)) if largest > 0 else 0
        scale = 2.0**power
        table = torch.tensor(vectors, device=device) * scale
        return cls(table, _squares(table), scale, cost)

    def points(self, vectors: Float32Array) -> "torch.Tensor":
        """Copy the vectors of query words to the GPU, with the scale of this table."""
        import torch

        return torch.tensor(vectors, device=self.vectors.device) * self.scale

    def unit_of(self, reach: float) -> float:
        """Return the cost of one integer unit for distances up to `reach` (of scaled vectors)."""
        return self._of_square(reach * reach) / _LARGEST

    @property
    def factor(self) -> float:
        """Factor that converts costs between scaled vectors to costs between the given vectors."""
        return 1 / (self.scale if self.cost == "euclidean" else self.scale * self.scale)

    def _of_square(self, square: float) -> float:
        if self.cost == "euclidean":
            return float(np.sqrt(square))
        return square / 2 if self.cost == "cosine" else square

    def lower(self, points: "torch.Tensor", unit: float) -> "torch.Tensor":
        """Compute integer lower bounds of the costs between all corpus words and query words.

        Parameters
        ----------
        points : Tensor of shape (n, d), float32
            Words of queries; see `points`.
        unit : float
            Unit of the costs; see `unit_of`.

        Returns
        -------
        Tensor of shape (V, n), int16
            Costs between scaled vectors, in units; see `factor`.
        """
        import torch

        mine, theirs = self.squares.float()[:, None], _squares(points).float()[None, :]
        error = (points.shape[1] + 16) * _ROUNDING
        # Compute |x|^2 + |y|^2 - 2xy, and subtract its maximum error.
        with full_precision():
            squared = torch.addmm((mine + theirs) * (1 - error), self.vectors, points.T, alpha=-2)
        squared.clamp_(min=0)
        low = squared.sqrt_() if self.cost == "euclidean" else squared
        per_unit = (0.5 if self.cost == "cosine" else 1) * (1 - 8 * _ROUNDING) / unit
        return low.mul_(per_unit).floor_().clamp_(max=_LARGEST).to(torch.int16)

    def costs(self, points: "torch.Tensor") -> "torch.Tensor":
        """Compute the costs between all corpus words and query words in float32.

        Parameters
        ----------
        points : Tensor of shape (n, d), float32
            Words of queries; see `points`.

        Returns
        -------
        Tensor of shape (V, n), float32
            Costs between scaled vectors; see `factor`.
        """
        import torch

        both = self.squares[:, None] + _squares(points)[None, :]
        squared = torch.addmm(both, self.vectors.double(), points.double().T, alpha=-2)
        # For nearly equal vectors, only rounding errors remain, so their differences are computed.
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
