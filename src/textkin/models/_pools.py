"""What `Pooling` does with its parameters: it learns, checks that this still holds, and pools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import NotFittedError

from textkin._typing import BoolArray, Float32Array, Float64Array
from textkin._validation import check_params
from textkin.exceptions import EmptyDocumentError
from textkin.explain import Contribution, Contributions
from textkin.models._devices import room_on, working_on
from textkin.models._model import VectorModel
from textkin.models._pooling import (
    BlockSums,
    Combine,
    Shape,
    block_sums,
    coefficients,
    filled_in,
    finished,
    shape_of,
    too_large,
    unchanged,
    word_parts,
)
from textkin.models._word_weights import Probabilities, Weights, needs_corpus, weights_of
from textkin.run import ProgressCallback, effective_jobs
from textkin.vectors._documents import Documents, same_parameters
from textkin.vectors._encode import Document, Encoded, is_bag
from textkin.vectors._space import Space

__all__ = ["PoolsWords"]


class PoolsWords(VectorModel):
    """An estimator with the parameters and the fitted attributes of `Pooling`."""

    weights: Weights
    combine: Combine
    remove_components: int
    whiten: bool | int
    a: float
    probabilities: Probabilities
    empty: Literal["zero", "error"]
    n_jobs: int | None
    device: str | None

    word_weights_: Float64Array | None
    learnt_for_: tuple[Any, ...]

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.requires_fit = self._learns()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _learn(
        self, X: Documents, progress: ProgressCallback | None
    ) -> tuple[BlockSums, BoolArray]:
        check_params(self)
        space = self._space()
        self._check_sizes(space)
        # Looked at first: `_read` takes one pass over X.
        bags = is_bag(X)
        encoded = self._read(X)[1]
        if len(encoded) == 0:
            raise ValueError("X must have at least one document; got none.")
        found = weights_of(
            self.weights, self.probabilities, self.a, len(space), encoded, named=self._named
        )
        sums, filled = self._sums(space, encoded, found.weights)
        kept = self._n_kept(space)
        if self.remove_components or kept is not None:
            vectors = np.empty((len(encoded), space.table.shape[1]))
            filled_in(vectors, sums, effective_jobs(self.n_jobs), progress)
            scaled = isinstance(self.weights, str) and self.weights == "usif"
            shape = shape_of(vectors[filled], int(self.remove_components), scaled, kept)
            sums = vectors.__getitem__
        else:
            shape = unchanged(space.table.shape[1])
        # Not the array that the user gave, and may write to.
        self.word_weights_ = found.weights if found.weights is None else found.weights.copy()
        self.a_ = found.a
        self.components_ = shape.components
        self.component_weights_ = shape.component_weights
        self.singular_values_ = shape.singular_values
        self.mean_ = shape.mean
        self.whitening_ = shape.whitening
        self.n_documents_ = len(encoded)
        self.learnt_for_ = self._what_is_learnt(space)
        self._learnt_with: tuple[object, ...] | bool = self._given()
        self.__dict__.pop("n_features_in_", None)
        if bags:
            self.n_features_in_ = len(space)
        return sums, filled

    @property
    def _named(self) -> bool:
        return not isinstance(self.vectors, np.ndarray)

    def _learns(self) -> bool:
        """Tell whether anything is learnt from a corpus."""
        return (
            not (isinstance(self.whiten, bool | np.bool_) and not self.whiten)
            or self.remove_components != 0
            or needs_corpus(self.weights, self.probabilities, named=self._named)
        )

    def _what_is_learnt(self, space: Space) -> tuple[Any, ...]:
        """Return what the learnt numbers depend on; they hold for nothing else."""
        given = [
            value if isinstance(value, str) else "given"
            for value in (self.weights, self.probabilities)
        ]
        return (
            *given,
            self.combine,
            int(self.remove_components),
            self._n_kept(space),
            float(self.a),
            bool(self.unit),
            *space.table.shape,
        )

    def _given(self) -> tuple[object, ...]:
        """Return the parameters that may be arrays, which are told apart as objects."""
        return (self.vectors, self.weights, self.probabilities)

    def _is_as_learnt(self) -> bool:
        then = self.__dict__.get("_learnt_with")
        return isinstance(then, tuple) and same_parameters(then, self._given())

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_learnt_with" in state:  # arrays are other objects after pickling
            state["_learnt_with"] = self._is_as_learnt()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state.get("_learnt_with") is True:
            self._learnt_with = self._given()

    def save(self, path: str | Path) -> None:
        self._setting()  # a folder does not tell that parameters have changed since fit
        super().save(path)

    save.__doc__ = VectorModel.save.__doc__

    def _n_kept(self, space: Space) -> int | None:
        if isinstance(self.whiten, bool | np.bool_):
            return space.table.shape[1] if self.whiten else None
        return int(self.whiten)

    def _check_sizes(self, space: Space) -> None:
        d = space.table.shape[1]
        if self.remove_components >= d:
            raise ValueError(
                f"remove_components must be below {d}, the dimensions of the vectors; got "
                f"{self.remove_components}."
            )
        kept = self._n_kept(space)
        if kept is not None and kept > d:
            raise ValueError(
                f"whiten must be at most {d}, the dimensions of the vectors; got {self.whiten}."
            )
        if self.combine == "max" and not (isinstance(self.weights, str) and self.weights == "mean"):
            raise ValueError(
                "weights must be 'mean' for combine='max', which takes the largest numbers of the "
                "vectors as they are; for weights take combine='mean' or 'sum'."
            )

    def _setting(self) -> tuple[Space, Float64Array | None, Shape]:
        """Return the vector table, what words weigh and what is done to their sums."""
        check_params(self)
        space = self._space()
        self._check_sizes(space)
        if not self._learns():
            found = weights_of(
                self.weights, self.probabilities, self.a, len(space), None, named=self._named
            )
            return (
                space,
                found.weights,
                unchanged(space.table.shape[1]),
            )
        learnt_for = getattr(self, "learnt_for_", None)
        if learnt_for != self._what_is_learnt(space) or not self._is_as_learnt():
            raise NotFittedError(
                f"This {type(self).__name__} learns from documents: call fit(corpus) first (again, "
                "if parameters or vectors have changed)."
            )
        return space, self.word_weights_, self._shape()

    def _shape(self) -> Shape:
        return Shape(
            self.components_,
            self.component_weights_,
            self.singular_values_,
            self.mean_,
            self.whitening_,
        )

    def _sums(
        self, space: Space, encoded: Encoded, weights: Float64Array | None
    ) -> tuple[BlockSums, BoolArray]:
        if self.device is not None:
            vectors, filled = self._pooled(space, encoded, weights, None, None)
            return vectors.__getitem__, filled
        values, filled = coefficients(encoded, weights, self.combine)
        self._refuse_empty(encoded, filled, "X")
        return block_sums(space.table, encoded, values, self.combine), filled

    def _pooled(
        self,
        space: Space,
        encoded: Encoded,
        weights: Float64Array | None,
        shape: Shape | None,
        progress: ProgressCallback | None,
    ) -> tuple[Any, BoolArray]:
        """Pool documents on the device: to their vectors, or without a shape to sums in float64."""
        assert self.device is not None
        with working_on(self.device):
            module, place, memory = room_on(self.device, "_pooling")
            found, filled, fits = module.pooled(
                space.table,
                encoded.indptr,
                encoded.indices,
                encoded.counts,
                weights,
                self.combine,
                None if shape is None else shape.tables,
                place,
                memory,
                double=shape is None,
                progress=progress,
            )
        self._refuse_empty(encoded, filled, "X")
        if shape is not None and not fits.all():
            raise too_large(int(fits.argmin()))
        return found, filled

    def _rows(
        self,
        sums: BlockSums,
        filled: BoolArray,
        shape: Shape,
        progress: ProgressCallback | None,
    ) -> Float32Array:
        found = np.empty((len(filled), self._n_features_out), dtype=np.float32)
        with shape.products():
            filled_in(found, finished(sums, filled, shape), effective_jobs(self.n_jobs), progress)
        return found

    def _refuse_empty(self, encoded: Encoded, filled: BoolArray, name: str) -> None:
        if self.empty == "zero" or filled.all():
            return
        rows = np.flatnonzero(~filled).tolist()
        coverage = encoded.coverage(rows[0])
        reason = "its words weigh nothing" if coverage.known > 0 else "no word of it has a vector"
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        raise EmptyDocumentError(
            f"Document {rows[0]}{more} of {name} is empty: {reason}. Leave it out, or pass "
            "empty='zero' for a zero vector.",
            rows,
            name,
            reason,
        )

    @property
    def _n_features_out(self) -> int:
        space = self._space()
        kept = self._n_kept(space)
        return int(space.table.shape[1]) if kept is None else kept

    def _check_loaded(self) -> None:
        self._preparation()  # stop words may be none
        if not self._learns() and not hasattr(self, "learnt_for_"):
            return
        space = self._space()
        self._check_sizes(space)
        n_words, d = space.table.shape
        n_removed, kept = int(self.remove_components), self._n_kept(space)
        alike = isinstance(self.weights, str) and self.weights == "mean"
        wanted: dict[str, tuple[int, ...] | None] = {
            "word_weights_": None if alike else (n_words,),
            "components_": (n_removed, d),
            "component_weights_": (n_removed,),
            "singular_values_": (n_removed,),
            "mean_": None if kept is None else (d,),
            "whitening_": None if kept is None else (d, kept),
        }
        for name, size in wanted.items():
            array = getattr(self, name)
            if size is None and array is None:
                continue
            if not (
                isinstance(array, np.ndarray)
                and array.shape == size
                and array.dtype == np.float64
                and np.isfinite(array).all()
            ):
                raise ValueError(f"{name} must hold finite numbers in the shape {size}")
            if name in ("word_weights_", "component_weights_") and array.min(initial=0) < 0:
                raise ValueError(f"{name} must not be negative")
        self._learnt_with = self._given()

    def _contributions(
        self, a: Document, b: Document, words: Sequence[str] | None
    ) -> Contributions:
        """Share the cosine of two documents out to the words of the first."""
        space, weights, shape = self._setting()
        if words is not None and len(words) != len(space):
            raise ValueError(
                f"words must name the {len(space)} columns of the bags; got {len(words)} names."
            )
        sides = []
        for name, document in (("a", a), ("b", b)):
            encoded = self._single(document, name, space, None)
            if not np.all(np.isfinite(encoded.counts) & (encoded.counts >= 0)):
                raise ValueError(f"{name} must hold counts or weights that are finite, at least 0.")
            values, filled = coefficients(encoded, weights, self.combine)
            if not filled[0]:
                self._refuse_empty(encoded, filled, name)
                return Contributions.of([], 0.0)
            with np.errstate(over="ignore", invalid="ignore"):
                parts = word_parts(space.table, encoded, values, self.combine, shape)
            if not np.isfinite(parts).all():
                raise ValueError(
                    f"The vector of {name} is too large. Scale the weights or counts down."
                )
            # By a power of two, so that no square is too large or too small.
            parts = np.ldexp(parts, -int(np.frexp(np.abs(parts).max())[1]))
            sides.append((encoded, parts))
        (first, mine), (second, others) = sides
        lengths = [float(np.linalg.norm(parts.sum(axis=0))) for parts in (mine, others)]
        if not all(lengths):
            return Contributions.of([], 0.0)
        pairs = (mine / lengths[0]) @ (others / lengths[1]).T
        nearest = np.abs(pairs).argmax(axis=1)
        names = [
            [space.name(at, words) for at in side.indices.tolist()] for side in (first, second)
        ]
        return Contributions.of(
            Contribution(word, float(row.sum()), f"with {names[1][best]!r}")
            for word, row, best in zip(names[0], pairs, nearest.tolist(), strict=True)
        )
