"""Marginalised stacked denoising autoencoders: words are predicted from the words around them."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from textkin._typing import Bags, Float64Array, IntpArray
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._denoising import (
    OUTPUTS,
    Moments,
    by_frequency,
    dealt,
    hidden,
    moments_of_bags,
    moments_of_rows,
    solved,
    through,
)
from textkin.models._model import BagsLike
from textkin.run import ProgressCallback, effective_jobs, memory_in_bytes
from textkin.run._memory import size_in_words
from textkin.weighting._rows import TakesBags

__all__ = ["MSDA"]

_BELOW_1 = Constraint(
    lambda value: real(0, 1).accepts(value) and value < 1,
    "a number at least 0 and below 1",
    real().wrong_type,
)


class MSDA(TakesBags):
    """Place documents by the words that their words predict, layer upon layer.

    Each layer learns to predict words from documents some of whose words were taken away at
    random, in the mean over all ways to take them away, which has a closed form: no document is
    ever corrupted, and there is nothing to iterate. A document without a word is then near those
    with it.

    Parameters
    ----------
    n_components : int or None, default=None
        None is the dense form: every layer predicts all D words. It takes memory for D x D
        numbers and time for D^3; thousands of words are its limit. A number r, at most D, is the
        form for many words: they are dealt to blocks of at most r, each block predicts the r most
        frequent words, the mean of the blocks goes through tanh, and further layers have r inputs
        and outputs.
    noise : float, default=0.5
        Probability p, below 1, that a word is taken away. 0.5 to 0.95 is usual; more noise makes
        words rely more on others.
    n_layers : int, default=3
        Layers L; 1 to 5 is usual.
    ridge : float, default=1e-5
        What is added to the diagonal of Q, but not for the bias.
    include_input : bool, default=True
        Whether `transform` gives the documents themselves before what the layers make of them.
    memory : int or str, default="4GB"
        Most memory that `fit` and `transform` may take, such as "512MB" or a number of bytes;
        what needs more is refused before any of it is taken.
    n_jobs : int or None, default=None
        Threads over documents; any number gives the same bits.

    Attributes
    ----------
    layers_ : list of ndarray of shape (n_inputs + 1, n_outputs), float64
        W^T of each layer; the last row is the bias.
    features_ : ndarray of shape (n_outputs,), int64
        The columns that outputs stand for, in every layer: all, or the r that the most documents
        have (of those as frequent, the first), in the order of columns.

    See Also
    --------
    LSI : The same purpose by a singular value decomposition, in fewer dimensions.

    Notes
    -----
    With a constant 1 appended to each document, S = sum_d x_d x_d^T, and
    q = (1 - p, ..., 1 - p, 1), a layer is h = tanh(W x) with the W of least expected squared
    error ::

        Q_ab = S_ab q_a q_b (a != b),    Q_aa = S_aa q_a,    P_ab = S_ab q_b
        W = P (Q + ridge I)^-1

    by Cholesky's decomposition. The input of a further layer is h of the one before, and a
    document becomes [x, h1, ..., hL], dense. S of the first layer is made from sparse bags.

    Use binary or L2-normalised weights (``TfIdf``): of large ones tanh is 1 or -1 whatever they
    are. The ridge is absolute; weights whose squares add up to much less are not learned from.
    Blocks are dealt by frequency, the most frequent word to the first, the next to the second,
    and so on, so that all blocks have words of all frequencies and nothing is random. A word that
    `fit` never saw has no part in blocks, is predicted as 0, and adds nothing to h. An empty
    document becomes [0, tanh(b1), ...], what the biases b say of a document of which nothing is
    known. Inside, all is float64.

    Without noise and ridge a word predicts itself, W = [I 0]. Only where both are 0, or so small
    beside the weights that rounding hides them, can Q be singular, which is an error.

    References
    ----------
    Chen, Xu, Weinberger and Sha, "Marginalized Denoising Autoencoders for Domain Adaptation",
    ICML 2012 (sections 3.3 and 4; blocks are dealt at random there).

    Examples
    --------
    Cat and dog go together, so a document with the first only is one with both, in part:

    >>> bags = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> msda = MSDA(n_layers=1, include_input=False).fit(bags)
    >>> msda.transform([[1, 0, 0, 0]]).round(2)
    array([[0.68, 0.68, 0.17, 0.17]], dtype=float32)
    """

    _takes_negative: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": one_of(None) | integer(1),
        "noise": _BELOW_1,
        "n_layers": integer(1),
        "ridge": real(0),
        "include_input": one_of(True, False),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        noise: float = 0.5,
        n_layers: int = 3,
        ridge: float = 1e-5,
        include_input: bool = True,
        memory: str | int = "4GB",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.noise = noise
        self.n_layers = n_layers
        self.ridge = ridge
        self.include_input = include_input
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Solve for the layers, one after the other.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, best with binary or L2-normalised weights.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (parts of the layers done, all); raising from it stops the work.

        Returns
        -------
        MSDA
            The estimator itself.

        Raises
        ------
        ValueError
            If it would take more than `memory`, or if Q is singular.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        n_words = bags.shape[1]
        size = n_words if self.n_components is None else int(self.n_components)
        if size > n_words:
            raise ValueError(
                f"n_components must be at most the number of words, n_features = {n_words}; got "
                f"{self.n_components}. None predicts all words."
            )
        self._check_memory(bags, size)
        threads = effective_jobs(self.n_jobs)
        frequencies = np.bincount(bags.indices, minlength=n_words)
        blocks = dealt(frequencies, size)
        steps = _Steps(progress, (len(blocks) + self.n_layers - 1) * -(-size // OUTPUTS))
        self.features_: IntpArray = np.sort(by_frequency(frequencies)[:size]).astype(np.int64)
        with one_thread_of_blas:
            layers = [self._first_layer(bags, blocks, steps)]
            rows: Bags | Float64Array = bags
            while len(layers) < self.n_layers:
                rows = hidden(rows, layers[-1], threads)
                layers.append(self._solved(moments_of_rows(rows, threads), len(layers) + 1, steps))
        self.layers_ = layers
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return documents as [x, h1, ..., hL], or as [h1, ..., hL].

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like those of `fit`.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_features)
            Dense; float32, or float64 if `X` is.

        Raises
        ------
        ValueError
            If it would take more than `memory`.
        """
        bags = self._bags_to_transform(X)
        n_outputs = sum(layer.shape[1] for layer in self.layers_)
        width = n_outputs + (bags.shape[1] if self.include_input else 0)
        needed = bags.shape[0] * width * bags.dtype.itemsize
        if needed > memory_in_bytes(self.memory):
            raise ValueError(
                f"{bags.shape[0]} documents of {width} numbers take {size_in_words(needed)}, more "
                f"than memory={self.memory!r}. Transform fewer at a time, leave the words out "
                "(include_input=False), fit with a smaller n_components=, or raise memory=."
            )
        threads = effective_jobs(self.n_jobs)
        return through(bags, self.layers_, self.include_input, threads, progress)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ANN401
        """Return the words, then for each layer ``msda`` with its number and the word predicted.

        Parameters
        ----------
        input_features : array of str, optional
            The words; by default those that `fit` saw, or x0, x1, and so on.

        Returns
        -------
        ndarray of str
            Such as ``cat``, ``dog``, ``msda1_cat``, ``msda1_dog``.
        """
        check_is_fitted(self, "layers_")
        words = _check_feature_names_in(self, input_features)
        names = list(words) if self.include_input else []
        for layer in range(1, len(self.layers_) + 1):
            names += [f"msda{layer}_{word}" for word in words[self.features_]]
        return np.array(names, dtype=object)

    def _first_layer(self, bags: Bags, blocks: list[IntpArray], steps: "_Steps") -> Float64Array:
        """Return the mean of the predictions of all blocks, which is one layer too."""
        columns: Any = sparse.csc_array(bags, dtype=np.float64)
        outputs = columns[:, self.features_]
        layer = np.zeros((bags.shape[1] + 1, self.features_.size))
        for block in blocks:
            with np.errstate(over="ignore", invalid="ignore"):  # told below
                moments = moments_of_bags(columns[:, block], outputs)
            if not (np.isfinite(moments.inputs).all() and np.isfinite(moments.cross).all()):
                raise ValueError(
                    "X must have weights whose squares have a finite sum; scale them down."
                )
            part = self._solved(moments, 1, steps)
            layer[block] = part[:-1] / len(blocks)
            layer[-1] += part[-1] / len(blocks)
        return layer

    def _solved(self, moments: Moments, number: int, steps: "_Steps") -> Float64Array:
        try:
            return solved(moments, float(self.noise), float(self.ridge), steps)
        except linalg.LinAlgError as error:
            raise ValueError(
                f"The equations of layer {number} are singular with noise={self.noise} and "
                f"ridge={self.ridge}: some of its inputs follow from others. Raise ridge, or noise."
            ) from error

    def _check_memory(self, bags: Bags, size: int) -> None:
        """Refuse work whose largest arrays would not fit, before there is any."""
        n_documents, n_words = bags.shape
        # Products of inputs and with outputs, both sparse and dense; Q, and panels of its solution.
        needed = 8 * (6 * size * size + (n_words + 1) * size) + 24 * bags.nnz
        needed += 8 * (self.n_layers - 1) * (size + 1) * size
        if self.n_layers > 1:
            needed += 8 * n_documents * size
        if needed > memory_in_bytes(self.memory):
            way = "Choose n_components= (such as 1000)" if self.n_components is None else "Lower it"
            raise ValueError(
                f"{n_documents} documents of {n_words} words with n_components="
                f"{self.n_components} take about {size_in_words(needed)}, more than memory="
                f"{self.memory!r}. {way}, drop rare words, or raise memory=."
            )

    def _check_loaded(self) -> None:
        size = self.n_features_in_ if self.n_components is None else self.n_components
        columns = np.asarray(self.features_)
        if (
            columns.shape != (size,)
            or columns.dtype != np.int64
            or (np.diff(columns) <= 0).any()
            or columns[0] < 0
            or columns[-1] >= self.n_features_in_
        ):
            raise ValueError(f"features_ must hold {size} columns in their order")
        if not isinstance(self.layers_, list) or len(self.layers_) != self.n_layers:
            raise ValueError(f"layers_ must be a list of {self.n_layers} arrays")
        for at, layer in enumerate(self.layers_):
            shape = (self.n_features_in_ + 1 if at == 0 else size + 1, size)
            if layer.shape != shape or layer.dtype != np.float64 or not np.isfinite(layer).all():
                raise ValueError(f"layers_[{at}] must hold finite numbers in the shape {shape}")


class _Steps:
    """Tells of one step after the other, out of so many."""

    def __init__(self, progress: ProgressCallback | None, total: int) -> None:
        self.progress, self.done, self.total = progress, 0, total

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
