"""The exact search of a `WordMover`: the corpus that `fit` keeps, and `search`."""

import math
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from textkin._typing import Float64Array, HasText
from textkin._validation import Constraint, integer, one_of, real
from textkin.device import DEVICE
from textkin.run import ProgressCallback, effective_jobs, memory_in_bytes
from textkin.text._tokenise import text_of
from textkin.transport._corpus import ALGORITHMS, Algorithm, Corpus, Options, Rows
from textkin.transport._neighbors import Neighbors, Question
from textkin.transport._reading import ReadsDocuments
from textkin.transport._refusals import empty_document_error
from textkin.vectors._documents import Documents, same_parameters
from textkin.vectors._space import Space

__all__ = ["PROGRESS", "SEARCH_CONSTRAINTS", "Searches", "SearchesDocuments"]

SEARCH_CONSTRAINTS: dict[str, Constraint] = {
    "n_neighbors": integer(1),
    "radius": real(0),
    "algorithm": one_of(*ALGORITHMS),
    "device": DEVICE,
}
_K = one_of(None) | integer(1)
_M = one_of(None) | integer(1)
_RADIUS = one_of(None) | real(0)
PROGRESS = Constraint(
    lambda value: value is None or callable(value),
    "None or a function of (done, total)",
    lambda value: True,  # whatever else it is, its type is wrong
)

# How the corpus was read and weighed: it can be searched only as it was.
_READ_WITH = ("vectors", "masses", "cost", "unit", "stop_words", "max_words_per_document")
_what_corpus_depends_on = attrgetter(*_READ_WITH)


class Searches:
    """What a search is asked, checked."""

    algorithm: Algorithm
    memory: str | int
    n_jobs: int | None
    device: str | None = None
    device_memory: str | int | None = None

    def _options(
        self,
        k: int | None,
        radius: float = math.inf,
        algorithm: Algorithm | None = None,
        m: int | None = None,
        mask: NDArray[np.uint8] | None = None,
    ) -> Options:
        """Return how to search, with the parameters as they are now."""
        chosen = self.algorithm if algorithm is None else algorithm
        SEARCH_CONSTRAINTS["algorithm"].check("algorithm", chosen)
        DEVICE.check("device", self.device)
        _check_m(m, k, chosen)
        return Options(
            k=k,
            radius=radius,
            algorithm=chosen,
            m=None if m is None else int(m),
            mask=mask,
            memory=memory_in_bytes(self.memory),
            threads=effective_jobs(self.n_jobs),
            device=self.device,
            resident=None if self.device_memory is None else memory_in_bytes(self.device_memory),
        )

    def _asked_for(
        self,
        documents: int,
        k: int | None,
        radius: float | None,
        algorithm: Algorithm | None,
        m: int | None,
        mask: ArrayLike | None,
        progress: ProgressCallback | None,
    ) -> Options:
        """Check what `search` was given, for so many documents, and return how to search."""
        _K.check("k", k)
        _RADIUS.check("radius", radius)
        PROGRESS.check("progress", progress)
        return self._options(
            None if k is None else int(k),
            math.inf if radius is None else float(radius),
            algorithm,
            m,
            _allowed(mask, documents),
        )


class SearchesDocuments(Searches, ReadsDocuments):
    """A reader of documents that keeps those of `fit`, and finds the nearest of them."""

    n_neighbors: int
    radius: float

    # ------------------------------------------------------------------ the corpus

    def _keep(self, rows: Rows) -> None:
        """Keep the documents of `fit`, ready to be searched."""
        self._fitted_rows = rows
        self._fitted_with: object = _what_corpus_depends_on(self)
        before: Corpus | None = self.__dict__.pop("_cached_corpus", None)
        if before is not None:  # answers may still hold it, which need no device
            before.leave_device()
        try:
            if self.algorithm == "auto":
                self._corpus().prepare(memory_in_bytes(self.memory))
        except BaseException:  # refused, or interrupted: not fitted
            del self._fitted_rows
            raise

    def _corpus(self) -> Corpus:
        """Return the documents of `fit`, ready to be searched; refuse if they are none now."""
        if "_fitted_rows" not in self.__dict__:
            raise NotFittedError(
                "This WordMover instance is not fitted yet: call fit(corpus) with the documents "
                "to search in."
            )
        if not self._is_as_fitted():
            raise NotFittedError(
                f"One of {', '.join(_READ_WITH)} has changed since fit: call fit(corpus) again."
            )
        corpus = self.__dict__.get("_cached_corpus")
        if corpus is None:
            space, weights = self._setting()
            corpus = Corpus(space, self.cost, weights, self._fitted_rows)
            self._cached_corpus: Corpus = corpus
        return corpus

    def _is_as_fitted(self) -> bool:
        then, now = self._fitted_with, _what_corpus_depends_on(self)
        return isinstance(then, tuple) and same_parameters(then, now)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_cached_corpus", None)
        if "_fitted_with" in state:  # arrays are other objects after pickling
            state["_fitted_with"] = self._is_as_fitted()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state.get("_fitted_with") is True:
            self._fitted_with = _what_corpus_depends_on(self)

    def _read(
        self,
        X: Documents,
        name: str,
        space: Space,
        weights: Float64Array | None,
        *,
        empty: Literal["error", "inf"],
    ) -> Corpus:
        """Read documents as a corpus; refuse those without words where `empty` says so."""
        encoded = self._encode(X, name, space, weights)
        corpus = Corpus(space, self.cost, weights, Rows.of(encoded, name))
        if empty == "error":
            rows = np.flatnonzero(corpus.are_empty(corpus.rows))
            if rows.size:
                raise empty_document_error(encoded, rows.tolist(), name, choice=True)
        return corpus

    # ------------------------------------------------------------------ the search

    def search(
        self,
        queries: Documents | str | HasText,
        k: int | None = 10,
        *,
        radius: float | None = None,
        algorithm: Algorithm | None = None,
        m: int | None = None,
        mask: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
    ) -> Neighbors:
        """Find the nearest documents of the fitted corpus, exactly, with the reasons.

        What is found is what comparing with every document would find, to the last bit. `k` and
        `radius` are those given here; the parameters `n_neighbors` and `radius` of the class are
        for `kneighbors` and `radius_neighbors`. All within a radius: ``k=None``. Documents
        without any word that has a vector are never found; a query without any finds nothing.

        Parameters
        ----------
        queries : str, iterable of texts or token lists, or bags
            What to look for; a single text is one query.
        k : int or None, default=10
            How many documents each query finds at most; None: no limit. More than there are is
            as many as there are, and the arrays of the answer are no wider.
        radius : float or None, default=None
            How far they may be, that far included; None: no limit.
        algorithm : str or None, default=None
            How to search, see the parameter of the class; None: as it says.
        m : int or None, default=None
            How many documents ``algorithm="prefetch"`` looks at: None is all, which is exact.
        mask : array of bool of shape (n_documents,), or of positions, or None, default=None
            Which documents may be found; None: all. Positions must be different: one value a
            document, such as ``np.ones(n_documents, int)``, must be boolean.
        progress : callable, optional
            Called now and then with the queries done and their number.

        Returns
        -------
        Neighbors
            ``indices``, ``distances``, ``counts``, ``stats``, and ``certificate(i)``, which proves
            the answer to query i.

        Raises
        ------
        NotFittedError
            If there is no corpus, or it was read with other vectors, masses, cost, unit, stop words
            or limit of words than are set now.

        See Also
        --------
        kneighbors, radius_neighbors : The same in the shapes of scikit-learn.

        Examples
        --------
        >>> from textkin import WordMover
        >>> corpus = ["Dogs bark at night", "The band played loud", "Cats purr", "The"]
        >>> mover = WordMover().fit(corpus)
        >>> found = mover.search("A kitten sleeps", k=2)
        >>> indices, distances = found[0]  # as many as were found
        >>> [corpus[i] for i in indices]
        ['Cats purr', 'Dogs bark at night']
        >>> mover.search("A kitten sleeps", mask=[0, 1]).indices[0, :3]
        array([ 0,  1, -1])
        """
        corpus = self._corpus()
        options = self._asked_for(len(corpus), k, radius, algorithm, m, mask, progress)
        many: Any = [queries] if isinstance(text_of(queries), str) else queries
        asked = self._read(many, "queries", corpus.space, corpus.weights, empty="inf").rows
        hits = corpus.search(asked, options, progress=progress)
        return Neighbors.of(hits, Question(corpus, asked, options))


def _check_m(m: int | None, k: int | None, algorithm: str) -> None:
    _M.check("m", m)
    if m is None:
        return
    if algorithm != "prefetch":
        raise ValueError(
            f"m is for algorithm='prefetch' alone; got m={m} with algorithm={algorithm!r}."
        )
    if k is None or m < k:
        raise ValueError(f"m must be at least k; got m={m} and k={k}.")


def _allowed(mask: ArrayLike | None, documents: int) -> NDArray[np.uint8] | None:
    """Return a mask, of booleans or of positions, as the core reads it."""
    if mask is None:
        return None
    given = np.asarray(mask)
    if given.dtype == bool:
        if given.shape != (documents,):
            raise ValueError(
                f"mask must have a value for each of the {documents} documents; got shape "
                f"{given.shape}."
            )
        return given.astype(np.uint8)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise TypeError(
            "mask must be an array of booleans, one for each document, or of positions; got "
            f"dtype {given.dtype} and shape {given.shape}."
        )
    if given.size and not (given.min() >= 0 and given.max() < documents):
        raise ValueError(
            f"mask must hold positions from 0 to {documents - 1}; got {given.min()} to "
            f"{given.max()}."
        )
    allowed = np.zeros(documents, dtype=np.uint8)
    allowed[given.astype(np.int64)] = 1
    if np.count_nonzero(allowed) < given.size:
        values, times = np.unique(given, return_counts=True)
        raise ValueError(
            f"mask must hold different positions; got {values[times.argmax()]} {times.max()} "
            "times. A mask of one value a document must be boolean: mask.astype(bool)."
        )
    return allowed
