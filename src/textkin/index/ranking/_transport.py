"""Rankings by the transport of words: the Word Mover's Distance, and its lower bounds."""

import hashlib
from typing import Literal, TypeAlias, get_args

import numpy as np

from textkin._validation import check_params, one_of
from textkin.index._settings import kept_stop_words
from textkin.index.ranking._ranking import Ranking
from textkin.index.ranking._stored_documents import StoredDocuments
from textkin.index.ranking._transport_ranker import TransportRanker
from textkin.index.ranking._view import View
from textkin.run import effective_jobs, memory_in_bytes
from textkin.text._stop_words import StopWords
from textkin.transport import WordMover
from textkin.transport._costs import CostName
from textkin.transport._masses import Masses

__all__ = ["TransportMethod", "TransportRanking"]

TransportMethod: TypeAlias = Literal["wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"]
METHODS: tuple[TransportMethod, ...] = get_args(TransportMethod)


class TransportRanking(Ranking):
    """Rank by how far the words of a query travel to become a document; small is near.

    The documents are the words that the index counted, in their segments, which are searched where
    they lie; the words lie where the word vectors of the index have them. Found is what comparing
    with every document would find, to the last bit, and what a `WordMover` with these vectors
    finds among the same words.

    Parameters
    ----------
    method : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        The distance: the exact Word Mover's Distance; its relaxation, in which each word goes to
        the nearest one, the larger of both sides or one of them; or that of the centroids.
    masses : {"nbow", "sif", "tfidf"} or ndarray, default="nbow"
        How much of a document each word is, see `WordMover`. What "tfidf" learns are the
        frequencies of all documents of the index; an array has a weight for each row of the
        vectors.
    cost : {"euclidean", "cosine", "sqeuclidean"}, default="euclidean"
        What moving a word costs.
    unit : bool, default=False
        Bring all vectors to length one first.
    stop_words : str, None, path or collection of str, default="smart"
        Words that count nothing here, though the index may have them for other rankings.
    memory : str or int, default="512MB"
        How much memory the tables of a search may take.
    n_jobs : int or None, default=None
        Threads of a search: None is one, -1 all cores. They never change results.

    See Also
    --------
    textkin.WordMover : The same distances of texts in memory.

    Notes
    -----
    Scores are distances. The threshold of a search is a radius, that far included. A document
    without any word that has a vector is never found, and a query without any finds nothing; words
    that no document has but the vectors know do count.

    An index that counts words in lower case looks them up in lower case: with vectors that tell
    ``US`` from ``us`` it compares other words than a `WordMover`, which reads texts as they
    are written. Runs of words have no vectors, unless the vectors name them with spaces.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tk.Index.create(f"{folder}/animals.kin") as index:
    ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
    ...         hits = index.search("A kitten sleeps", k=2, by="wmd")
    ...         [(hit.document.text, round(hit.score, 2)) for hit in hits]
    ...         hits[0].explain().moves[0].target
    [('Cats purr', 5.18), ('Dogs bark at night', 6.04)]
    'cats'
    """

    ascending = True

    def __init__(
        self,
        method: TransportMethod = "wmd",
        *,
        masses: Masses = "nbow",
        cost: CostName = "euclidean",
        unit: bool = False,
        stop_words: StopWords = "smart",
        memory: str | int = "512MB",
        n_jobs: int | None = None,
    ) -> None:
        one_of(*METHODS).check("method", method)
        check_params(WordMover(masses=masses, cost=cost, unit=unit, stop_words=stop_words))
        memory_in_bytes(memory)
        effective_jobs(n_jobs)
        self.method: TransportMethod = method
        self.masses: Masses = masses
        if isinstance(masses, np.ndarray):
            self.masses = np.array(masses, np.float64)
            self.masses.flags.writeable = False
        self.cost: CostName = cost
        self.unit = bool(unit)
        self.stop_words = kept_stop_words(stop_words)
        self.memory = memory
        self.n_jobs = n_jobs
        self._space_key = (self._masses_key(), cost, self.unit, self.stop_words)
        self._key = (TransportRanking, method, *self._space_key, memory, n_jobs)

    @classmethod
    def of(cls, mover: WordMover) -> "TransportRanking":
        """Return the ranking with the parameters of a `WordMover`.

        Its `algorithm` chooses the method: the exact ones are all "wmd". `n_neighbors`, `radius`
        and `empty` have no meaning here.

        Raises
        ------
        ValueError
            If it has vectors of its own, or parameters that an index cannot follow.
        """
        check_params(mover)
        if mover.vectors is not None:
            raise ValueError(
                "by must be a WordMover without vectors: an index has its own, those that were "
                "given to Index.create (index.vectors)."
            )
        if mover.max_words_per_document is not None:
            raise ValueError(
                "by must be a WordMover with max_words_per_document=None: an index compares all "
                f"words that it counted; got {mover.max_words_per_document}."
            )
        if mover.oov != "drop":
            raise ValueError(
                "by must be a WordMover with oov='drop': the index has words without a vector, "
                f"and leaves them out; got {mover.oov!r}."
            )
        exact = mover.algorithm in ("auto", "prefetch", "brute")
        method: TransportMethod = "wmd" if exact else mover.algorithm  # type: ignore[assignment]
        return cls(
            method,
            masses=mover.masses,
            cost=mover.cost,
            unit=mover.unit,
            stop_words=mover.stop_words,
            memory=mover.memory,
            n_jobs=mover.n_jobs,
        )

    def bind(self, view: View) -> TransportRanker:
        """Bring the words of a view among the vectors."""
        return TransportRanker(self, view)

    def documents_of(self, view: View) -> StoredDocuments:
        """Return the documents of a view, made once for all methods."""
        key = ("transport", self._space_key)
        return view.ranker(key, lambda: StoredDocuments(self, view))

    def _masses_key(self) -> str:
        if isinstance(self.masses, str):
            return self.masses
        return hashlib.sha256(self.masses.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransportRanking) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        chosen = [
            f"{name}={value!r}"
            for name, value, usual in (
                ("masses", self.masses, "nbow"),
                ("cost", self.cost, "euclidean"),
                ("unit", self.unit, False),
                ("stop_words", self.stop_words, kept_stop_words("smart")),
                ("memory", self.memory, "512MB"),
                ("n_jobs", self.n_jobs, None),
            )
            if not (isinstance(value, type(usual)) and value == usual)
        ]
        return f"TransportRanking({', '.join([repr(self.method), *chosen])})"
