"""Lower bounds of the distance for many documents at once."""

from abc import abstractmethod
from typing import Any, Literal

from textkin import _core
from textkin._typing import Float32Array, Float64Array
from textkin._validation import one_of
from textkin.run import effective_jobs
from textkin.transport._blocks import Options
from textkin.transport._costs import CostName

__all__ = ["MeasuresBounds"]

_MEMORY = 256 << 20  # bytes that tables may take, beside the result


class MeasuresBounds:
    """The centroid and the relaxed distances between all documents of two collections."""

    cost: CostName
    n_jobs: int | None
    device: str | None = None

    @abstractmethod
    def _pairs_of(
        self,
        X: Any,  # noqa: ANN401 (whatever the estimator reads)
        Y: Any,  # noqa: ANN401
    ) -> tuple[Float32Array, _core.Documents, _core.Documents]:
        """Return vectors, and the documents of `X` and of `Y` (None: `X` again) over them."""

    def wcd(
        self,
        X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
        Y: Any = None,  # noqa: ANN401
    ) -> Float64Array:
        r"""Return the Word Centroid Distances between all documents of `X` and of `Y`.

        Parameters
        ----------
        X : iterable of documents
            n of them, of the kinds that `distance` takes, or bags.
        Y : the same, or None
            m documents; None compares those of `X` with each other.

        Returns
        -------
        ndarray of shape (n, m), float64
            To the last bit what `bounds` gives for each pair as ``centroid`` (to 1e-6, where
            `device` is set): at most the distance. It takes O(d) for each pair, and one pass over
            the words of all documents.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error".

        See Also
        --------
        rwmd : Usually a tighter bound.

        Notes
        -----
        .. math:: \mathrm{WCD}(d, d') = \Big\|\sum_i d_i x_i - \sum_j d'_j x_j\Big\|_2,

        or its square, or half of that, for the squared and the cosine cost.

        References
        ----------
        Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, section 4.

        Examples
        --------
        >>> import numpy as np
        >>> from textkin import WordMover
        >>> line = np.array([[1.0], [2.0], [6.0], [7.0]])  # four words
        >>> WordMover(line).wcd(np.array([[1, 1, 1, 0]]), np.array([[1, 0, 0, 1], [0, 1, 0, 0]]))
        array([[1., 1.]])
        """
        table, rows, columns = self._pairs_of(X, Y)
        if self.device is not None:
            from textkin.transport._device import centroids_on_device

            return centroids_on_device(table, self.cost, rows, columns, self.device)
        return _core.centroid_matrix(
            table, rows, columns, self.cost, _MEMORY, effective_jobs(self.n_jobs)
        )

    def rwmd(
        self,
        X: Any,  # noqa: ANN401
        Y: Any = None,  # noqa: ANN401
        *,
        side: Literal["both", "query", "document"] = "both",
    ) -> Float64Array:
        r"""Return the Relaxed Word Mover's Distances between all documents of `X` and of `Y`.

        Parameters
        ----------
        X : iterable of documents
            n of them, of the kinds that `distance` takes, or bags, the queries.
        Y : the same, or None
            m documents; None compares those of `X` with each other, at half the work.
        side : {"both", "query", "document"}, default="both"
            "query": each word of the document of `X` goes to its nearest word in that of `Y`;
            "document": the other way round; "both": the larger of the two.

        Returns
        -------
        ndarray of shape (n, m), float64
            To the last bit what `bounds` gives for each pair as ``source``, ``target`` or
            ``relaxed`` (to 1e-6, where `device` is set): at most the distance.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error".

        See Also
        --------
        wcd : Cheaper, and usually looser.

        Notes
        -----
        Dropping one constraint of the transport problem leaves

        .. math:: \sum_i d_i \min_j c(i, j) \quad\text{and}\quad \sum_j d'_j \min_i c(i, j).

        The costs between the different words of `X` and those of `Y` are computed once; a pair
        then takes one pass over the words of its document for "document", and about (words of
        the document) x (words of the query) comparisons for "query". Beside the result this
        takes some 256 MB at most, or 128 bytes for each different word of `Y` where that is
        more.

        References
        ----------
        Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, section 4;
        Atasu et al., "Linear-complexity relaxed word mover's distance with GPU acceleration",
        IEEE Big Data 2017, for many documents at once.

        Examples
        --------
        >>> import numpy as np
        >>> from textkin import WordMover
        >>> line = np.array([[1.0], [2.0], [6.0], [7.0]])  # four words
        >>> a, b = np.array([[1, 1, 1, 0]]), np.array([[1, 0, 0, 1]])
        >>> mover = WordMover(line)
        >>> mover.rwmd(a, b, side="query").round(3), mover.rwmd(a, b, side="document")
        (array([[0.667]]), array([[0.5]]))
        """
        one_of("both", "query", "document").check("side", side)
        table, rows, columns = self._pairs_of(X, Y)
        if self.device is not None:
            from textkin.transport._device import relaxed_on_device

            options = Options(memory=_MEMORY, device=self.device)
            return relaxed_on_device(table, self.cost, rows, columns, side, options)
        return _core.relaxed_matrix(
            table, rows, columns, self.cost, side, _MEMORY, effective_jobs(self.n_jobs)
        )
