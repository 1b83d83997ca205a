"""Marginalized stacked denoising autoencoders (mSDA) over bags of words."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from textkin._base import (
    BagEstimator,
    Bags,
    BagsLike,
    Constraint,
    Float64Array,
    IntpArray,
    check_params,
    integer,
    one_of,
    real,
    rollback_on_error,
)
from textkin.exceptions import ParameterError
from textkin.models._denoising import (
    OUTPUTS,
    Moments,
    apply_layer,
    apply_layers,
    by_frequency,
    deal_columns,
    moments_of_bags,
    moments_of_rows,
    solve_layer,
)
from textkin.models._random_restarts import StepCounter
from textkin.run import (
    ProgressCallback,
    effective_jobs,
    format_size,
    memory_in_bytes,
    single_blas_thread,
)

__all__ = ["MSDA"]

_BELOW_1 = Constraint(
    lambda value: real(0, 1).accepts(value) and value < 1,
    "a number at least 0 and below 1",
    real().wrong_type,
)


class MSDA(BagEstimator):
    """Document vectors from linear layers that predict deleted words from the other words.

    Each layer is trained to reconstruct documents from which words were removed at random, in
    expectation over all removals. This expectation has a closed form: no document is corrupted,
    and nothing is iterated. A document without a word is then similar to documents with it.

    Parameters
    ----------
    n_components : int or None, default=None
        None is the dense form: every layer predicts all D words. It requires memory for D x D
        numbers and time O(D^3); it is practical for a few thousand words. An integer r, at most D,
        is the form for many words: they are split into blocks of at most r words, each block
        predicts the r most frequent words, tanh is applied to the mean over the blocks, and
        further layers have r inputs and outputs.
    noise : float, default=0.5
        Probability p, below 1, that a word is removed. Common values are 0.5 to 0.95; with more
        noise, predictions rely more on other words.
    n_layers : int, default=3
        Number of layers L; 1 to 5 is common.
    ridge : float, default=1e-5
        Constant added to the diagonal of Q, except for the bias.
    include_input : bool, default=True
        If True, `transform` returns the documents themselves before the outputs of the layers.
    memory : int or str, default="4GB"
        Maximum memory of `fit` and `transform`, such as "512MB" or a number of bytes. If the
        work needs more, they raise before allocating anything.
    n_jobs : int or None, default=None
        Number of threads over documents. Results are bit-identical for any number.

    Attributes
    ----------
    layers_ : list of ndarray of shape (n_inputs + 1, n_outputs), float64
        W^T of each layer; the last row is the bias.
    features_ : ndarray of shape (n_outputs,), int64
        Column of each output, the same in every layer: all columns, or the r columns that occur
        in the most documents (ties go to the first columns), in ascending order.

    See Also
    --------
    LSI : Vectors for the same purpose by a singular value decomposition, in fewer dimensions.

    Notes
    -----
    Append a constant 1 to each document, and let S = sum_d x_d x_d^T and
    q = (1 - p, ..., 1 - p, 1). A layer is h = tanh(W x), where W minimizes the expected squared
    error ::

        Q_ab = S_ab q_a q_b (a != b),    Q_aa = S_aa q_a,    P_ab = S_ab q_b
        W = P (Q + ridge I)^-1

    by Cholesky decomposition. The input of each further layer is the h of the previous one, and a
    document becomes [x, h1, ..., hL], dense. S of the first layer is computed from sparse bags.

    Use binary or L2-normalized weights (``TfIdf``): for large weights, tanh is 1 or -1 regardless
    of the weights. The ridge is absolute; weights whose sums of squares are much smaller have no
    influence. Words are dealt to blocks by frequency, the most frequent word to the first block,
    the next to the second, and so on: all blocks have words of all frequencies, and nothing is
    random. A word that `fit` never saw is in no block, is predicted as 0, and adds nothing to h.
    An empty document becomes [0, tanh(b1), ...], which depends only on the biases b. All
    computations use float64.

    Without noise and ridge, a word predicts itself: W = [I 0]. Q can be singular only if both are
    0, or so small compared with the weights that they are lost to rounding; `fit` then raises.

    References
    ----------
    Chen, Xu, Weinberger and Sha, "Marginalized Denoising Autoencoders for Domain Adaptation",
    ICML 2012 (sections 3.3 and 4; they deal words to blocks at random).

    Examples
    --------
    Cat and dog occur together, so a document with only the first gets a share of both:

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

    @rollback_on_error
    def fit(
        self, X: BagsLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Compute the weights of each layer in closed form, one layer after the other.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, best with binary or L2-normalized weights.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (parts of the layers done, total). An exception raised in it stops the work.

        Returns
        -------
        MSDA
            The estimator itself.

        Raises
        ------
        ValueError
            If the fit needs more than `memory`, or if Q is singular.
        """
        check_params(self)
        bags = self._bags_to_fit(X)
        n_words = bags.shape[1]
        size = n_words if self.n_components is None else int(self.n_components)
        if size > n_words:
            raise ParameterError(
                "n_components",
                f"at most the number of words, n_features = {n_words}",
                str(self.n_components),
                "Pass None to predict all words.",
            )
        self._check_memory(bags, size)
        threads = effective_jobs(self.n_jobs)
        frequencies = np.bincount(bags.indices, minlength=n_words)
        blocks = deal_columns(frequencies, size)
        steps = StepCounter(progress, 0, (len(blocks) + self.n_layers - 1) * -(-size // OUTPUTS))
        self.features_: IntpArray = np.sort(by_frequency(frequencies)[:size]).astype(np.int64)
        with single_blas_thread:
            layers = [self._first_layer(bags, blocks, steps)]
            rows: Bags | Float64Array = bags
            while len(layers) < self.n_layers:
                rows = apply_layer(rows, layers[-1], threads)
                layers.append(
                    self._solve_moments(moments_of_rows(rows, threads), len(layers) + 1, steps)
                )
        self.layers_ = layers
        return self

    def transform(self, X: BagsLike, *, progress: ProgressCallback | None = None) -> Float64Array:
        """Return the outputs of all layers (and the input bag, if kept) for each document.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags, weighted like the bags of `fit`.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_features)
            Dense rows; float32, or float64 if `X` is float64.

        Raises
        ------
        ValueError
            If the result needs more than `memory`.
        """
        bags = self._bags_to_transform(X)
        n_outputs = sum(layer.shape[1] for layer in self.layers_)
        width = n_outputs + (bags.shape[1] if self.include_input else 0)
        needed = bags.shape[0] * width * bags.dtype.itemsize
        if needed > memory_in_bytes(self.memory):
            raise ValueError(
                f"{bags.shape[0]} documents of {width} numbers need {format_size(needed)}, more "
                f"than memory={self.memory!r}. Transform fewer at a time, omit the words "
                "(include_input=False), fit with a smaller n_components=, or raise memory=."
            )
        threads = effective_jobs(self.n_jobs)
        return apply_layers(bags, self.layers_, self.include_input, threads, progress)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ANN401
        """Return the name of each output column: words, then layer and predicted word.

        Parameters
        ----------
        input_features : array of str, optional
            Words of the columns. If None, the column names of `fit`, or x0, x1, and so on.

        Returns
        -------
        ndarray of str
            Names such as ``cat``, ``dog``, ``msda1_cat``, ``msda1_dog``.
        """
        check_is_fitted(self, "layers_")
        words = _check_feature_names_in(self, input_features)
        names = list(words) if self.include_input else []
        for layer in range(1, len(self.layers_) + 1):
            names += [f"msda{layer}_{word}" for word in words[self.features_]]
        return np.array(names, dtype=object)

    def _first_layer(self, bags: Bags, blocks: list[IntpArray], steps: StepCounter) -> Float64Array:
        """Solve the first layer for each block of columns, and return the mean of the solutions."""
        columns: Any = sparse.csc_array(bags, dtype=np.float64)
        outputs = columns[:, self.features_]
        layer = np.zeros((bags.shape[1] + 1, self.features_.size))
        for block in blocks:
            with np.errstate(over="ignore", invalid="ignore"):  # overflow raises below
                moments = moments_of_bags(columns[:, block], outputs)
            if not (np.isfinite(moments.inputs).all() and np.isfinite(moments.cross).all()):
                raise ValueError(
                    "X must have weights whose squares have a finite sum. Scale them down."
                )
            part = self._solve_moments(moments, 1, steps)
            layer[block] = part[:-1] / len(blocks)
            layer[-1] += part[-1] / len(blocks)
        return layer

    def _solve_moments(self, moments: Moments, number: int, steps: StepCounter) -> Float64Array:
        try:
            return solve_layer(moments, float(self.noise), float(self.ridge), steps)
        except linalg.LinAlgError as error:
            raise ValueError(
                f"The equations of layer {number} are singular with noise={self.noise} and "
                f"ridge={self.ridge}: some of its inputs depend on others. Raise ridge, or noise."
            ) from error

    def _check_memory(self, bags: Bags, size: int) -> None:
        """Raise ValueError if the largest arrays would exceed `memory`, before the fit starts."""
        n_documents, n_words = bags.shape
        # Products of inputs and with outputs, sparse and dense; Q, and panels of its solution.
        needed = 8 * (6 * size * size + (n_words + 1) * size) + 24 * bags.nnz
        needed += 8 * (self.n_layers - 1) * (size + 1) * size
        if self.n_layers > 1:
            needed += 8 * n_documents * size
        if needed > memory_in_bytes(self.memory):
            way = "Choose n_components= (such as 1000)" if self.n_components is None else "Lower it"
            raise ValueError(
                f"{n_documents} documents of {n_words} words with n_components="
                f"{self.n_components} need about {format_size(needed)}, more than memory="
                f"{self.memory!r}. {way}, drop rare words, or raise memory=."
            )

    def _check_loaded(self) -> None:
        memory_in_bytes(self.memory)
        size = self.n_features_in_ if self.n_components is None else self.n_components
        columns = np.asarray(self.features_)
        if (
            columns.shape != (size,)
            or columns.dtype != np.int64
            or (np.diff(columns) <= 0).any()
            or columns[0] < 0
            or columns[-1] >= self.n_features_in_
        ):
            raise ValueError(f"features_ must hold {size} columns in ascending order")
        if not isinstance(self.layers_, list) or len(self.layers_) != self.n_layers:
            raise ValueError(f"layers_ must be a list of {self.n_layers} arrays")
        for at, layer in enumerate(self.layers_):
            shape = (self.n_features_in_ + 1 if at == 0 else size + 1, size)
            if layer.shape != shape or layer.dtype != np.float64 or not np.isfinite(layer).all():
                raise ValueError(f"layers_[{at}] must hold finite numbers in the shape {shape}")
