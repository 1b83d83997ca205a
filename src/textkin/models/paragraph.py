"""Paragraph vectors: documents trained together with words, and new ones inferred."""

import hashlib
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin._saving import SavedEstimator
from textkin._typing import Float32Array, Float64Array
from textkin._validation import Constraint, check_params, integer, one_of
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import Vocabulary
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.vectors import WordVectors
from textkin.vectors._corpus import CorpusLike, KnownWords, known_words, read_corpus
from textkin.vectors._training import (
    SETTINGS,
    Loss,
    SubsampleRule,
    Training,
    UInt64Array,
    mixed,
    random_rows,
    seed_of,
)

__all__ = ["ParagraphVector"]

_MOST_COMPONENTS = 100_000
_MOST_TOKENS = 2.0**59  # half of what the core takes, so that a sum in float64 decides


class ParagraphVector(
    ClassNamePrefixFeaturesOutMixin, SavedEstimator, TransformerMixin, BaseEstimator
):
    """Place documents by vectors that predict their words (doc2vec).

    Each document of `fit` has a vector that is trained like that of a word. A new document gets
    one by the same training, with all else as `fit` left it.

    Parameters
    ----------
    n_components : int, default=100
        Numbers a document, d.
    model : {"dbow", "dm"}, default="dbow"
        "dbow": the document predicts each of its words, whatever their order. "dm": the document
        and the words around a place predict the word there.
    train_words : bool, default=True
        With "dbow", train word vectors beside it, as skip-gram does; the two share the vectors
        that words are predicted by. False is faster, and there are no `word_vectors`.
    combine : {"mean", "sum"}, default="mean"
        What "dm" makes of the vectors of a document and a context.
    loss : {"negative", "hierarchical"}, default="negative"
        Tell a word from drawn ones, or find it in a Huffman tree of all words.
    n_negative : int, default=5
        Words that are drawn, for "negative".
    window : int, default=5
        Most words to each side that are context, for "dm" and for words beside "dbow".
    subsample : float, default=1e-3
        The share of all tokens above which a word is left out at random; 0 keeps all.
    subsample_rule : {"released", "paper"}, default="released"
        How probably a word is kept; see `WordVectors.train`.
    min_count : int, default=2
        Learn only words that occur so often in all documents of `fit` together.
    epochs : int, default=20
        Passes over the documents.
    inference_epochs : int or None, default=None
        Passes over a new document; None: as many as `epochs`.
    n_inferences : int, default=1
        Inferences of a new document, from different starts, that are averaged. A vector that is
        inferred is a little random; the mean of several is less so.
    learning_rate, min_learning_rate : float, default=0.025 and 1e-4
        The first and the last one; it falls linearly.
    stop_words : str, None, path or collection of str, default=None
        Words to leave out, as for `BagOfWords`.
    lowercase : bool, default=True
        Turn texts into lower case. Lists of words and `Tokens` are taken as they are.
    random_state : int, RandomState or None, default=None
        Where vectors start, and what is drawn.
    n_jobs : int or None, default=None
        Threads; None is one, -1 one for each core. **With several, two fits are never alike**,
        for they write to the same table without locks; `transform` gives the same bits on any
        number.

    Attributes
    ----------
    document_vectors_ : ndarray of shape (n_documents, n_components), float32
        The trained vectors of the documents of `fit`.
    words_ : ndarray of shape (n_words,), object
        The words, from the most frequent to the least.
    counts_ : ndarray of shape (n_words,), int64
        How often each occurs in the documents of `fit`.
    word_vectors_ : ndarray of shape (n_words, n_components), float32
        The vectors v of the words.
    output_vectors_ : ndarray, float32
        The vectors u that words are predicted by: one for each word ("negative"), or for each
        inner node of the tree ("hierarchical").
    inference_seed_ : int
        What, with the words of a text, decides where its inference starts and what it draws.

    See Also
    --------
    WordVectors.train : The training of words alone.
    LSI : Vectors of documents by a factorisation: no chance, and no order of words.

    Notes
    -----
    PV-DBOW maximises the sum of log p(w_t | d) over the tokens of each document d, PV-DM that of
    log p(w_t | d, w_{t-c}, ..., w_{t+c}), with p as in `WordVectors.train` and the vector D_d of
    the document in place of v, or among the vectors whose mean (or sum) v is. A context never
    goes over the end of a document.

    A new document starts at a random D and makes `inference_epochs` passes of the same updates,
    which change D alone. Start and draws come from a hash of its known words and of
    `inference_seed_`: the same words in the same order always get the same vector, in a batch,
    alone and on any number of threads.

    **Trained and inferred vectors of the same text differ**: `fit_transform` gives the trained
    ones, `transform` infers. They are near (a text of `fit` is nearest to itself in most cases,
    which is the check to make before the two are compared), but where it matters, compare
    inferred vectors with inferred ones. Compare by cosine.

    A document without a known word is the zero vector; `coverage` tells which those are.

    Le and Mikolov put the vectors of both models side by side
    (``sklearn.pipeline.FeatureUnion``).

    References
    ----------
    Le and Mikolov, "Distributed Representations of Sentences and Documents", ICML 2014. Lau and
    Baldwin, "An Empirical Evaluation of doc2vec", RepL4NLP 2016 (words beside DBOW).

    Examples
    --------
    >>> texts = ["cats purr and sleep", "kittens purr and play", "cats and kittens sleep"] * 7
    >>> texts += ["stocks fell on fears", "shares fell again", "stocks and shares fell"] * 7
    >>> model = ParagraphVector(8, epochs=50, random_state=0).fit(texts)
    >>> model.transform(["kittens sleep", "shares fell"]).shape
    (2, 8)
    >>> model.coverage(["kittens sleep", "shares collapsed", "quarks"])
    array([1. , 0.5, 0. ])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **SETTINGS,
        "n_components": integer(1, _MOST_COMPONENTS),
        "model": one_of("dbow", "dm"),
        "train_words": one_of(True, False),
        "combine": one_of("mean", "sum"),
        "min_count": integer(1),
        "inference_epochs": one_of(None) | integer(1, 1_000_000),
        "n_inferences": integer(1, 1_000_000),
        "stop_words": STOP_WORDS,
        "lowercase": one_of(True, False),
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        model: Literal["dbow", "dm"] = "dbow",
        train_words: bool = True,
        combine: Literal["mean", "sum"] = "mean",
        loss: Loss = "negative",
        n_negative: int = 5,
        window: int = 5,
        subsample: float = 1e-3,
        subsample_rule: SubsampleRule = "released",
        min_count: int = 2,
        epochs: int = 20,
        inference_epochs: int | None = None,
        n_inferences: int = 1,
        learning_rate: float = 0.025,
        min_learning_rate: float = 1e-4,
        stop_words: StopWords = None,
        lowercase: bool = True,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.train_words = train_words
        self.combine = combine
        self.loss = loss
        self.n_negative = n_negative
        self.window = window
        self.subsample = subsample
        self.subsample_rule = subsample_rule
        self.min_count = min_count
        self.epochs = epochs
        self.inference_epochs = inference_epochs
        self.n_inferences = n_inferences
        self.learning_rate = learning_rate
        self.min_learning_rate = min_learning_rate
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: CorpusLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Train the vectors of documents and words.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Texts, documents as `textkin.read` gives them, lists of words, or `Tokens`; read once.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (done, total) in tokens, all epochs together; raising from it stops the
            work, and the estimator stays as it was.

        Returns
        -------
        ParagraphVector
            The estimator itself.

        Raises
        ------
        ValueError
            If fewer than two words are left, or the training diverged.
        TypeError
            If `X` holds anything else, such as bags, which have no order.
        """
        check_params(self)
        training = self._training(self.epochs)
        training.check()
        n_threads = effective_jobs(self.n_jobs)
        seed = seed_of(self.random_state)
        corpus = read_corpus(
            X,
            min_count=int(self.min_count),
            max_words=None,
            stop_words=self.stop_words,
            lowercase=bool(self.lowercase),
            n_threads=n_threads,
            name="X",
        )
        n_words, d = len(corpus.words), int(self.n_components)
        words = random_rows(mixed(seed, 0, n_words), d)
        documents = random_rows(mixed(seed, n_words, len(corpus)), d)
        outputs = np.zeros((training.outputs_for(n_words), d), np.float32)
        training.train(
            corpus, words, outputs, documents, seed=seed, n_threads=n_threads, progress=progress
        )
        documents[np.diff(corpus.offsets) == 0] = 0
        # Nothing is set before all is done, so that a fit that fails changes nothing.
        self.words_ = np.array(corpus.words, dtype=object)
        self.counts_ = corpus.counts
        self.word_vectors_ = words
        self.output_vectors_ = outputs
        self.document_vectors_ = documents
        self.inference_seed_ = seed
        self._vocabulary = Vocabulary._of_distinct(corpus.words)
        return self

    def fit_transform(
        self, X: CorpusLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Float32Array:
        """Train, and return the trained vectors, which `transform` would only come near to.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            As for `fit`.
        y : object, optional
            Ignored.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_components), float32
            A copy of `document_vectors_`.
        """
        return self.fit(X, y, progress=progress).document_vectors_.copy()

    def transform(self, X: CorpusLike, *, progress: ProgressCallback | None = None) -> Float32Array:
        """Infer the vectors of documents, each for itself.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Documents, seen by `fit` or not; none is fine.
        progress : callable, optional
            Called with (done, total) in tokens; raising from it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components), float32
            A document without a known word is the zero vector.

        Raises
        ------
        ValueError
            If `loss` was changed since `fit`. Other parameters hold for the inference as they
            are now.
        """
        check_is_fitted(self)
        check_params(self)
        passes = self.epochs if self.inference_epochs is None else self.inference_epochs
        training = self._training(passes)
        training.check()
        n_words = len(self.words_)
        if self.output_vectors_.shape[0] != training.outputs_for(n_words):
            raise ValueError(f"loss must be what it was in fit; got {self.loss!r}. Fit again.")
        known = self._known(X)
        d = self.document_vectors_.shape[1]
        total = np.zeros((len(known.lengths), d))
        for number in range(self.n_inferences):
            starts, draws = _text_seeds(known, self.inference_seed_, number)
            documents = random_rows(starts, d)
            training.infer(
                known.ids,
                known.offsets,
                self.counts_,
                self.word_vectors_,
                self.output_vectors_,
                documents,
                seeds=draws,
                n_threads=effective_jobs(self.n_jobs),
                progress=_part_of(progress, number, int(self.n_inferences)),
            )
            total += documents
        total[np.diff(known.offsets) == 0] = 0
        return (total / self.n_inferences).astype(np.float32)

    def coverage(self, X: CorpusLike) -> Float64Array:
        """Return the share of the words of each document that are known.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Documents.

        Returns
        -------
        ndarray of shape (n_documents,), float64
            From 0 (no word, or none that is known: `transform` gives the zero vector) to 1. Stop
            words do not count.
        """
        check_is_fitted(self)
        check_params(self)
        known = self._known(X)
        shares: Float64Array = np.diff(known.offsets) / np.maximum(known.lengths, 1)
        return shares

    def word_vectors(self) -> WordVectors:
        """Return the words with the vectors that were trained beside the documents.

        Returns
        -------
        WordVectors
            From the most frequent to the least.

        Raises
        ------
        ValueError
            If the words were not trained: ``model="dbow"`` with ``train_words=False``.
        """
        check_is_fitted(self)
        if self.model == "dbow" and not self.train_words:
            raise ValueError(
                "The model has no word vectors: train_words=False leaves them random. Fit with "
                "train_words=True, or with model='dm'."
            )
        return WordVectors(self.words_.tolist(), self.word_vectors_)

    @property
    def _takes_texts(self) -> bool:
        return True

    @property
    def _n_features_out(self) -> int:
        return int(self.document_vectors_.shape[1])

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = self.n_jobs not in (None, 1)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_vocabulary", None)
        return state

    def _training(self, epochs: int) -> Training:
        return Training(
            mode=self.model,
            train_words=bool(self.train_words),
            mean=self.combine == "mean",
            loss=self.loss,
            n_negative=self.n_negative,
            window=self.window,
            subsample=self.subsample,
            subsample_rule=self.subsample_rule,
            epochs=epochs,
            learning_rate=self.learning_rate,
            min_learning_rate=self.min_learning_rate,
        )

    def _known(self, X: CorpusLike) -> KnownWords:
        if "_vocabulary" not in vars(self):  # loaded, or unpickled
            self._vocabulary = Vocabulary(self.words_)
        return known_words(
            X,
            self._vocabulary,
            stop_words=self.stop_words,
            lowercase=bool(self.lowercase),
            n_threads=effective_jobs(self.n_jobs),
        )

    def _check_loaded(self) -> None:
        if self.words_.dtype != object or self.words_.ndim != 1 or len(self.words_) < 2:
            raise ValueError("words_ must be two strings at least")
        Vocabulary(self.words_)
        n_words = len(self.words_)
        if (
            self.counts_.dtype != np.int64
            or self.counts_.shape != (n_words,)
            or self.counts_.min() < 1
            or (self.counts_[1:] > self.counts_[:-1]).any()
            or self.counts_.sum(dtype=np.float64) > _MOST_TOKENS
        ):
            raise ValueError("counts_ must be falling counts of each word, at most 2^59 in all")
        if type(self.inference_seed_) is not int or not 0 <= self.inference_seed_ < 2**63:
            raise ValueError("inference_seed_ must be a whole number of 63 bits")
        n_outputs = self._training(1).outputs_for(n_words)
        # Of the tables: n_components may have been set anew for the next fit.
        if (
            self.document_vectors_.ndim != 2
            or not 1 <= self.document_vectors_.shape[1] <= _MOST_COMPONENTS
        ):
            raise ValueError(f"document_vectors_ must be rows of 1 to {_MOST_COMPONENTS} numbers")
        d = self.document_vectors_.shape[1]
        for name, rows in (
            ("word_vectors_", n_words),
            ("output_vectors_", n_outputs),
            ("document_vectors_", len(self.document_vectors_)),
        ):
            table = getattr(self, name)
            if (
                table.dtype != np.float32
                or table.shape != (rows, d)
                or not np.isfinite(table).all()
            ):
                raise ValueError(f"{name} must hold finite numbers in the shape {(rows, d)}")


def _text_seeds(known: KnownWords, seed: int, number: int) -> tuple[UInt64Array, UInt64Array]:
    """Return for each document where it starts and what it draws, by its words alone."""
    key = seed.to_bytes(8, "little") + number.to_bytes(8, "little")
    ids = known.ids.astype("<i4", copy=False)
    digests = b"".join(
        hashlib.blake2b(ids[start:end].tobytes(), digest_size=16, key=key).digest()
        for start, end in zip(known.offsets[:-1], known.offsets[1:], strict=True)
    )
    seeds: UInt64Array = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, 2)
    return np.ascontiguousarray(seeds[:, 0]), np.ascontiguousarray(seeds[:, 1])


def _part_of(progress: ProgressCallback | None, number: int, parts: int) -> ProgressCallback | None:
    """Return a callback for one of several equal parts of the work."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress(number * total + done, parts * total)
