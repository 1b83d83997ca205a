"""`Pooling`: document vectors from word vectors, by weighted means, sums, or maxima."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from textkin._base import (
    DEVICE,
    BoolArray,
    Constraint,
    Float32Array,
    Float64Array,
    Int64Array,
    check_params,
    instance_of,
    integer,
    one_of,
    positive,
    rollback_on_error,
)
from textkin.corpus import (
    WORD_VECTOR_PARAMETERS,
    Document,
    DocumentRows,
    Documents,
    Vectors,
    VectorTable,
    is_bag,
    same_parameters,
)
from textkin.device import memory_errors_on, torch_device
from textkin.exceptions import ParameterError
from textkin.explain import Contribution, Contributions
from textkin.models._vector_model import VectorModel
from textkin.models.pooling._arithmetic import (
    BlockSums,
    Combine,
    Shape,
    block_sums,
    coefficients,
    fill_rows,
    fit_shape,
    identity_shape,
    postprocess,
    too_large_error,
    word_parts,
)
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import StopWords
from textkin.weighting import (
    PROBABILITIES,
    WEIGHTS,
    Probabilities,
    Weights,
    needs_corpus,
    weights_of,
)

__all__ = ["Pooling"]


class Pooling(VectorModel):
    r"""Document vectors pooled from word vectors, by (weighted) means, sums, or maxima.

    The plain mean is the centroid of the Word Centroid Distance. Two options turn it into a strong
    measure for short texts at the cost of a table lookup: weights that fall with the frequency of
    a word (SIF), and the removal of the components that all documents share.

    Parameters
    ----------
    vectors : WordVectors, str, ndarray of shape (n_columns, d) or None, default=None
        Word vectors; "glove" and "distilled" name the built-in ones. If None, "glove". Pass
        `WordVectors` for texts, or a matrix with one row per column of the bags; a row of NaN
        marks a word without a vector.
    word_weights : {"mean", "tfidf", "sif", "usif"} or ndarray of shape (n_words,), default="mean"
        Weight of each occurrence of a word. "mean": 1 for all words. "tfidf": log2(N / df),
        learned in `fit`; a word that no document contains gets df = 1. "sif": a / (a + p).
        "usif": a / (a/2 + p), with a derived from the documents of `fit`. An array contains your
        own weight for each word of the vectors, at least 0.
    combine : {"mean", "sum", "max"}, default="mean"
        "mean" divides the sum by the number of words that have vectors, not by the sum of their
        weights, as the papers do. "max" takes the maximum of each dimension; it requires
        ``word_weights="mean"``.
    remove_components : int, default=0
        Number of first singular vectors of the documents of `fit` to remove; below d. Common
        choices are 1 with "sif" and 5 with "usif".
    whiten : bool or int, default=False
        After the removal of components, subtract the mean of the documents of `fit` and scale all
        directions to the same variance. An integer keeps only that number of first directions.
    a : float, default=1e-3
        Parameter of "sif", above 0. The smaller it is, the less weight frequent words get.
    probabilities : {"auto", "zipf", "corpus"} or ndarray of shape (n_words,), default="auto"
        p(w) of "sif" and "usif". "corpus": the relative frequency of the word in the documents of
        `fit`. "zipf": an estimate from the rank of the word in the vectors, which must list the
        most frequent word first, as published files do. "auto": "zipf" for vectors with words,
        "corpus" for a matrix.
    unit : bool, default=False
        L2-normalize the word vectors first.
    empty : {"zero", "error"}, default="zero"
        Vector of an empty document, which has no word with both a vector and a weight above 0:
        zeros, or raise `EmptyDocumentError`. See `empty_documents`.
    oov : {"drop", "error"}, default="drop"
        Skip words without a vector (see `coverage`), or raise an error.
    stop_words : str, None, path or collection of str, default=None
        Words to remove from texts, such as "smart", as for `WordMover`. Token lists and bags keep
        all words. None is better for sentences, and with "sif" and "usif", which themselves give
        frequent words a low weight.
    max_words_per_document : int or None, default=None
        Maximum number of distinct words per text or token list; the most frequent ones are kept.
        If None, no limit.
    n_jobs : int or None, default=None
        Number of threads. None is one, -1 is all cores. Results do not depend on it.
    device : None, "cpu" or "cuda", default=None
        Device of the sums over words. None is the compiled core on the CPU; the others use torch
        (see Notes). Not saved with the model.

    Attributes
    ----------
    word_weights_ : ndarray of shape (n_words,), float64, or None
        Weight of each word of the vectors. None if all words have the same weight.
    a_ : float or None
        Parameter of SIF or uSIF from which the weights were computed.
    components_ : ndarray of shape (remove_components, d), float64
        Directions that are removed; 0 if the documents have fewer directions.
    component_weights_ : ndarray of shape (remove_components,), float64
        Fraction of each component that is removed: 1, or for "usif" its share of the sum of
        squared singular values.
    singular_values_ : ndarray of shape (remove_components,), float64
        Singular values of the components in the matrix of documents.
    mean_ : ndarray of shape (d,), float64, or None
        Mean that whitening subtracts.
    whitening_ : ndarray of shape (d, k), float64, or None
        Matrix that whitening multiplies by. A column is 0 if the documents of `fit` do not differ
        in this direction.
    n_documents_ : int
        Number of documents that `fit` saw.
    learned_for_ : tuple
        Parameters for which these attributes were learned; with any others, `transform` raises.

    See Also
    --------
    WordMover : Distances between the words themselves; its lower bound `wcd` compares the means.
    SIF, TfIdf : The same weights, for bags.
    WordVectors.without_components : Removes components from word vectors (all-but-the-top).

    Notes
    -----
    Let n(d, w) be the number of occurrences of word w in document d, x_w the vector of w, and
    g(w) the weight of w. Then

    .. math:: v_d = \frac{\sum_w n(d, w)\, g(w)\, x_w}{\sum_w n(d, w)}, \qquad
        y_d = v_d - \sum_{i \le r} s_i\, u_i u_i^\top v_d, \qquad
        z_d = (y_d - \mu)\, U \Lambda^{-1/2},

    where the u_i are the first right singular vectors of the uncentered matrix of all v of `fit`;
    s_i is 1, or for "usif" sigma_i^2 over the sum of the first r; mu and U Lambda U^T are the mean
    and the covariance of the y of `fit`. uSIF has a = (1 - alpha) / (alpha V / 2), where V is the
    number of words with p above 0, alpha is the share of these words with
    p(w) > 1 - (1 - 1/V)^n, and n is the mean length of the documents of `fit`.

    `transform` works without `fit` if nothing is learned: with the plain mean, given weights, or
    SIF with probabilities by rank, and neither component removal nor whitening.

    **Empty documents** are zero vectors, regardless of component removal and whitening, and `fit`
    ignores them. If removing components leaves less than 1e-9 of a document's length, which is
    rounding, the document is zero, too.

    A document has a bit-identical vector individually, in a batch, and on any number of threads.
    Its time is the time to split the text, plus O(d) for each distinct word.

    With `device`, torch computes the sums over words, the components, and the whitening, in
    float64 like the CPU: vectors differ by the rounding of float32. Components are fitted on the
    CPU. Documents are copied to the device in blocks; the word vectors must fit in its memory.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017
    (SIF, algorithm 1). Ethayarajh, "Unsupervised Random Walk Sentence Embeddings: A Strong but
    Simple Baseline", RepL4NLP 2018 (uSIF). Su, Cao, Liu and Ou, "Whitening Sentence
    Representations for Better Semantics and Faster Retrieval", 2021.

    Examples
    --------
    >>> from textkin import Pooling, pairwise_similarities
    >>> texts = ["Obama speaks to the media in Illinois",
    ...          "The President greets the press in Chicago",
    ...          "The band gave a concert in Japan"]
    >>> pairwise_similarities(Pooling(word_weights="sif").transform(texts)).round(2)[0]
    array([1.  , 0.77, 0.57])

    A matrix goes with bags:

    >>> import numpy as np
    >>> words = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    >>> Pooling(words).transform(np.array([[3, 1, 0], [0, 0, 0], [0, 0, 4]]))
    array([[0.75, 0.25],
           [0.  , 0.  ],
           [2.  , 2.  ]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **WORD_VECTOR_PARAMETERS,
        "word_weights": one_of(*WEIGHTS)
        | instance_of(np.ndarray, "an array, a number for each word"),
        "combine": one_of("mean", "sum", "max"),
        "remove_components": integer(0),
        "whiten": one_of(True, False) | integer(1),
        "a": positive(),
        "probabilities": one_of(*PROBABILITIES)
        | instance_of(np.ndarray, "an array, a number for each word"),
        "empty": one_of("zero", "error"),
        "n_jobs": one_of(None) | integer(),
        "device": DEVICE,
    }

    def __init__(
        self,
        vectors: Vectors = None,
        *,
        word_weights: Weights = "mean",
        combine: Combine = "mean",
        remove_components: int = 0,
        whiten: bool | int = False,
        a: float = 1e-3,
        probabilities: Probabilities = "auto",
        unit: bool = False,
        empty: Literal["zero", "error"] = "zero",
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = None,
        max_words_per_document: int | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.vectors = vectors
        self.word_weights = word_weights
        self.combine = combine
        self.remove_components = remove_components
        self.whiten = whiten
        self.a = a
        self.probabilities = probabilities
        self.unit = unit
        self.empty = empty
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.n_jobs = n_jobs
        self.device = device

    @rollback_on_error
    def fit(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn word weights, components to remove, and whitening, if parameters need them.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Documents similar to those to transform; empty ones are ignored.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (documents pooled, number of documents) after the texts were read, if there
            are components or whitening to learn. An exception raised in it stops the work.

        Returns
        -------
        Pooling
            The estimator itself.
        """
        self._learn(X, progress)
        return self

    def transform(self, X: Documents, *, progress: ProgressCallback | None = None) -> Float32Array:
        """Return the pooled vector of each document.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        progress : callable, optional
            Called with (documents pooled, number of documents) after the texts were read. An
            exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n, d), float32
            Vectors to compare by cosine or Euclidean distance. If `whiten` is an integer, the
            shape is (n, whiten).

        Raises
        ------
        EmptyDocumentError
            If a document is empty and `empty` is "error".
        sklearn.exceptions.NotFittedError
            If the parameters require `fit`, and it was not called or parameters have changed since.
        """
        table, weights, shape = self._fitted_state()
        encoded = self._read(X)[1]
        if self.device is not None:
            vectors: Float32Array = self._pool_on_device(table, encoded, weights, shape, progress)[
                0
            ]
            return vectors
        sums, filled = self._sums(table, encoded, weights)
        return self._vectors_of(sums, filled, shape, progress)

    @rollback_on_error
    def fit_transform(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Float32Array:
        """Fit to documents and return their pooled vectors, faster than in two calls.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        y : object, optional
            Ignored.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n, d), float32
            See `transform`.
        """
        sums, filled = self._learn(X, progress)
        return self._vectors_of(sums, filled, self._shape(), None)

    def empty_documents(self, X: Documents) -> Int64Array:
        """Return the positions of documents without a known word of positive weight.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The documents.

        Returns
        -------
        ndarray of int64
            Positions, ascending, of documents without a word that has a vector and a weight above
            0. To see the share of words with vectors, call `coverage`.

        Examples
        --------
        >>> from textkin import Pooling
        >>> Pooling().empty_documents(["a cat", "", "qwertzish"])
        array([1, 2])
        """
        _, weights, _ = self._fitted_state()
        encoded = self._read(X)[1]
        _, filled = coefficients(encoded, weights, self.combine)
        return np.flatnonzero(~filled).astype(np.int64, copy=False)

    def explain(
        self, a: Document, b: Document, *, feature_names: Sequence[str] | None = None
    ) -> Contributions:
        r"""Split the cosine of two documents into contributions of the words of the first.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.
        feature_names : sequence of str, optional
            Names of the columns of bags, such as ``vocabulary.words``.

        Returns
        -------
        Contributions
            Contribution of each word of `a`, with the word of `b` that contributes most to it.
            The contributions sum to the cosine of the two vectors. If one vector is zero, the
            cosine is 0 and there are no contributions.

        Notes
        -----
        All steps after the pooling are linear. The vector of a document is therefore a sum of
        contributions y_w of its words, and the cosine is

        .. math:: \sum_{w \in a} \frac{\langle y_w, y_b \rangle}{\|y_a\| \, \|y_b\|}.

        The mean that whitening subtracts is split among the words by their weights. With
        ``combine="max"``, a word contributes the dimensions in which it has the maximum.

        Examples
        --------
        >>> from textkin import Pooling
        >>> found = Pooling().explain("a cat and a hammer", "the dog barks")
        >>> [(part.name, part.note) for part in found.parts]
        [('cat', "with 'dog'"), ('and', "with 'the'"), ('hammer', "with 'the'")]
        """
        table, weights, shape = self._fitted_state()
        if feature_names is not None and len(feature_names) != len(table.vectors):
            raise ParameterError(
                "feature_names",
                f"the names of the {len(table.vectors)} columns of the bags",
                f"{len(feature_names)} names",
            )
        sides = []
        for name, document in (("a", a), ("b", b)):
            encoded = self._document_row(document, name, table, None)
            wrong = encoded.counts[~(np.isfinite(encoded.counts) & (encoded.counts >= 0))]
            if wrong.size:
                raise ParameterError(
                    name, "a document with finite counts or weights, at least 0", str(wrong[0])
                )
            values, filled = coefficients(encoded, weights, self.combine)
            if not filled[0]:
                self._check_empty(encoded, filled, name)
                return Contributions.of([], 0.0)
            with np.errstate(over="ignore", invalid="ignore"):
                parts = word_parts(table.vectors, encoded, values, self.combine, shape)
            if not np.isfinite(parts).all():
                raise ValueError(
                    f"The vector of {name} is too large. Scale the weights or counts down."
                )
            # Scaling by a power of two keeps squares from overflow and underflow.
            parts = np.ldexp(parts, -int(np.frexp(np.abs(parts).max())[1]))
            sides.append((encoded, parts))
        (first, mine), (second, others) = sides
        lengths = [float(np.linalg.norm(parts.sum(axis=0))) for parts in (mine, others)]
        if not all(lengths):
            return Contributions.of([], 0.0)
        pairs = (mine / lengths[0]) @ (others / lengths[1]).T
        nearest = np.abs(pairs).argmax(axis=1)
        names = [
            [table.name(at, feature_names) for at in side.indices.tolist()]
            for side in (first, second)
        ]
        return Contributions.of(
            Contribution(word, float(row.sum()), f"with {names[1][best]!r}")
            for word, row, best in zip(names[0], pairs, nearest.tolist(), strict=True)
        )

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.requires_fit = self._needs_fit()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _learn(
        self, X: Documents, progress: ProgressCallback | None
    ) -> tuple[BlockSums, BoolArray]:
        check_params(self)
        table = self._vector_table()
        self._check_sizes(table)
        # is_bag comes first: `_read` consumes X if X is an iterator.
        bags = is_bag(X)
        encoded = self._read(X)[1]
        if len(encoded) == 0:
            raise ValueError("X must have at least one document; got none.")
        found = weights_of(
            self.word_weights,
            self.probabilities,
            self.a,
            len(table.vectors),
            encoded,
            named=self._has_words,
        )
        sums, filled = self._sums(table, encoded, found.weights)
        kept = self._whitened_dimension(table)
        if self.remove_components or kept is not None:
            vectors = np.empty((len(encoded), table.vectors.shape[1]))
            fill_rows(vectors, sums, effective_jobs(self.n_jobs), progress)
            scaled = isinstance(self.word_weights, str) and self.word_weights == "usif"
            shape = fit_shape(vectors[filled], int(self.remove_components), scaled, kept)
            sums = vectors.__getitem__
        else:
            shape = identity_shape(table.vectors.shape[1])
        # A copy: the caller may later write to the given array.
        self.word_weights_ = found.weights if found.weights is None else found.weights.copy()
        self.a_ = found.a
        self.components_ = shape.components
        self.component_weights_ = shape.component_weights
        self.singular_values_ = shape.singular_values
        self.mean_ = shape.mean
        self.whitening_ = shape.whitening
        self.n_documents_ = len(encoded)
        self.learned_for_ = self._learned_parameters(table)
        self._learned_with: tuple[object, ...] | bool = self._array_parameters()
        self.__dict__.pop("n_features_in_", None)
        if bags:
            self.n_features_in_ = len(table.vectors)
        return sums, filled

    @property
    def _has_words(self) -> bool:
        return not isinstance(self.vectors, np.ndarray)

    def _needs_fit(self) -> bool:
        """Return True if a parameter requires `fit`, such as weights from a corpus."""
        return (
            not (isinstance(self.whiten, bool | np.bool_) and not self.whiten)
            or self.remove_components != 0
            or needs_corpus(self.word_weights, self.probabilities, named=self._has_words)
        )

    def _learned_parameters(self, table: VectorTable) -> tuple[Any, ...]:
        """Return a key that changes when attributes learned by `fit` become invalid."""
        given = [
            value if isinstance(value, str) else "given"
            for value in (self.word_weights, self.probabilities)
        ]
        return (
            *given,
            self.combine,
            int(self.remove_components),
            self._whitened_dimension(table),
            float(self.a),
            bool(self.unit),
            *table.vectors.shape,
        )

    def _array_parameters(self) -> tuple[object, ...]:
        """Return the parameters that may be arrays, to compare them by identity."""
        return (self.vectors, self.word_weights, self.probabilities)

    def _is_as_learned(self) -> bool:
        then = self.__dict__.get("_learned_with")
        return isinstance(then, tuple) and same_parameters(then, self._array_parameters())

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_learned_with" in state:
            # Arrays were compared by identity, and unpickling makes new ones.
            state["_learned_with"] = self._is_as_learned()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state.get("_learned_with") is True:
            self._learned_with = self._array_parameters()

    def save(self, path: str | Path) -> None:
        self._fitted_state()  # raises if parameters changed since fit, which the folder cannot show
        super().save(path)

    save.__doc__ = VectorModel.save.__doc__

    def _whitened_dimension(self, table: VectorTable) -> int | None:
        if isinstance(self.whiten, bool | np.bool_):
            return table.vectors.shape[1] if self.whiten else None
        return int(self.whiten)

    def _check_sizes(self, table: VectorTable) -> None:
        d = table.vectors.shape[1]
        if self.remove_components >= d:
            raise ParameterError(
                "remove_components",
                f"below {d}, the dimensions of the vectors",
                str(self.remove_components),
            )
        kept = self._whitened_dimension(table)
        if kept is not None and kept > d:
            raise ParameterError(
                "whiten", f"at most {d}, the dimensions of the vectors", str(self.whiten)
            )
        named = isinstance(self.word_weights, str)
        if self.combine == "max" and not (named and self.word_weights == "mean"):
            raise ParameterError(
                "word_weights",
                "'mean' for combine='max', which takes maxima of unweighted vectors",
                repr(self.word_weights) if named else "an array",
                "Pass `combine='mean'` or `combine='sum'` to use weights.",
            )

    def _fitted_state(self) -> tuple[VectorTable, Float64Array | None, Shape]:
        """Return the vector table, word weights, and fitted `Shape`."""
        check_params(self)
        table = self._vector_table()
        self._check_sizes(table)
        if not self._needs_fit():
            found = weights_of(
                self.word_weights,
                self.probabilities,
                self.a,
                len(table.vectors),
                None,
                named=self._has_words,
            )
            return (
                table,
                found.weights,
                identity_shape(table.vectors.shape[1]),
            )
        learned_for = getattr(self, "learned_for_", None)
        if learned_for != self._learned_parameters(table) or not self._is_as_learned():
            raise NotFittedError(
                f"{type(self).__name__} must be fitted with its current parameters and vectors; "
                "call fit(corpus) first, and again after each change."
            )
        return table, self.word_weights_, self._shape()

    def _shape(self) -> Shape:
        return Shape(
            self.components_,
            self.component_weights_,
            self.singular_values_,
            self.mean_,
            self.whitening_,
        )

    def _sums(
        self, table: VectorTable, encoded: DocumentRows, weights: Float64Array | None
    ) -> tuple[BlockSums, BoolArray]:
        if self.device is not None:
            vectors, filled = self._pool_on_device(table, encoded, weights, None, None)
            return vectors.__getitem__, filled
        values, filled = coefficients(encoded, weights, self.combine)
        self._check_empty(encoded, filled, "X")
        return block_sums(table.vectors, encoded, values, self.combine), filled

    def _pool_on_device(
        self,
        table: VectorTable,
        encoded: DocumentRows,
        weights: Float64Array | None,
        shape: Shape | None,
        progress: ProgressCallback | None,
    ) -> tuple[Any, BoolArray]:
        """Pool documents on the device; without a `Shape`, return float64 sums."""
        assert self.device is not None
        with memory_errors_on(self.device, "Free some"):
            from textkin.device import memory_of  # imported here, because it loads torch
            from textkin.models.pooling._pool_torch import pool_on_device

            place = torch_device(self.device)
            found, filled, fits = pool_on_device(
                table.vectors,
                encoded.indptr,
                encoded.indices,
                encoded.counts,
                weights,
                self.combine,
                None if shape is None else shape.tables,
                place,
                memory_of(place),
                double=shape is None,
                progress=progress,
            )
        self._check_empty(encoded, filled, "X")
        if shape is not None and not fits.all():
            raise too_large_error(int(fits.argmin()))
        return found, filled

    def _vectors_of(
        self,
        sums: BlockSums,
        filled: BoolArray,
        shape: Shape,
        progress: ProgressCallback | None,
    ) -> Float32Array:
        found = np.empty((len(filled), self._n_features_out), dtype=np.float32)
        with shape.products():
            fill_rows(
                found, postprocess(sums, filled, shape), effective_jobs(self.n_jobs), progress
            )
        return found

    @property
    def _n_features_out(self) -> int:
        table = self._vector_table()
        kept = self._whitened_dimension(table)
        return int(table.vectors.shape[1]) if kept is None else kept

    def _check_loaded(self) -> None:
        self._preparation()  # raises for invalid stop words
        if not self._needs_fit() and not hasattr(self, "learned_for_"):
            return
        table = self._vector_table()
        self._check_sizes(table)
        n_words, d = table.vectors.shape
        n_removed, kept = int(self.remove_components), self._whitened_dimension(table)
        alike = isinstance(self.word_weights, str) and self.word_weights == "mean"
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
        self._learned_with = self._array_parameters()
