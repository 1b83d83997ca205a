"""`ParagraphVector` (doc2vec): document vectors trained together with word vectors."""

import hashlib
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    Constraint,
    Float32Array,
    Float64Array,
    SavedEstimator,
    check_params,
    integer,
    one_of,
    rollback_on_error,
)
from textkin.exceptions import ParameterError
from textkin.models.embedding._training import (
    SETTINGS,
    Loss,
    SubsampleRule,
    Training,
    UInt64Array,
    mix_seeds,
    random_rows,
    seed_of,
)
from textkin.models.embedding._training_corpus import (
    CorpusLike,
    KnownWords,
    known_words,
    read_corpus,
)
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import STOP_WORDS, StopWords, Vocabulary, prepare, unchecked_vocabulary
from textkin.vectors import WordVectors

__all__ = ["ParagraphVector"]

_MOST_COMPONENTS = 100_000
_MOST_TOKENS = 2.0**59  # half of the limit of the core, since the sum is in float64


class ParagraphVector(
    ClassNamePrefixFeaturesOutMixin, SavedEstimator, TransformerMixin, BaseEstimator
):
    """Document vectors trained to predict the words of their documents (doc2vec).

    Each document of `fit` has a vector that is trained like a word vector. A new document gets one
    by the same training, while all other numbers stay as `fit` left them.

    Parameters
    ----------
    n_components : int, default=100
        Vector dimension, d.
    architecture : {"dbow", "dm"}, default="dbow"
        "dbow": the document predicts each of its words, regardless of their order. "dm": the
        document and the words around a position predict the word at this position.
    train_words : bool, default=True
        With "dbow", also train word vectors, as skip-gram does, on the same output vectors. False
        is faster, but there are no `word_vectors`.
    combine : {"mean", "sum"}, default="mean"
        Method by which "dm" combines the vectors of a document and a context.
    loss : {"negative", "hierarchical"}, default="negative"
        Training loss: negative sampling, or hierarchical softmax over a Huffman tree of all words.
    n_negative : int, default=5
        Number of sampled words per prediction, for "negative".
    window : int, default=5
        Maximum number of context words on each side, for "dm" and for words with "dbow".
    subsample : float, default=1e-3
        Relative frequency above which occurrences of a word are dropped at random; 0 keeps all.
    subsample_rule : {"released", "paper"}, default="released"
        Formula for the probability to keep a word; see `train_word_vectors`.
    min_count : int, default=2
        Minimum number of occurrences of a word in all documents of `fit`; rarer words are
        ignored.
    epochs : int, default=20
        Number of passes over the documents.
    inference_epochs : int or None, default=None
        Number of passes over a new document. If None, `epochs`.
    n_inferences : int, default=1
        Number of inferences of a new document, with different random starts, that are averaged.
        The mean of several inferences is less random than a single one.
    learning_rate, min_learning_rate : float, default=0.025 and 1e-4
        First and last learning rate; the rate falls linearly.
    stop_words : str, None, path or collection of str, default=None
        Words to ignore, as for `BagOfWords`.
    lowercase : bool, default=True
        Convert texts to lower case. Lists of words and `Tokens` are not converted.
    random_state : int, RandomState or None, default=None
        Seed of the initial vectors and of all sampling.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 is one per core. **With several threads, no two fits are
        equal**, because the threads write to the same table without locks. `transform` is
        bit-identical for any number.

    Attributes
    ----------
    document_vectors_ : ndarray of shape (n_documents, n_components), float32
        Trained vectors of the documents of `fit`.
    words_ : ndarray of shape (n_words,), object
        Words, in descending order of frequency.
    counts_ : ndarray of shape (n_words,), int64
        Number of occurrences of each word in the documents of `fit`.
    word_vectors_ : ndarray of shape (n_words, n_components), float32
        Input vectors v of the words.
    output_vectors_ : ndarray, float32
        Output vectors u that predict words: one per word ("negative"), or one per inner node of
        the tree ("hierarchical").
    inference_seed_ : int
        Seed that, together with the words of a text, determines the random numbers of its
        inference.

    See Also
    --------
    train_word_vectors : Training of word vectors alone.
    LSI : Document vectors by a factorization: deterministic, and without word order.

    Notes
    -----
    PV-DBOW maximizes the sum of log p(w_t | d) over the tokens of each document d, PV-DM the sum of
    log p(w_t | d, w_{t-c}, ..., w_{t+c}), with p as in `train_word_vectors`, where the vector D_d
    of the document replaces v, or is one of the vectors whose mean (or sum) is v. A context never
    crosses the end of a document.

    Inference of a new document starts at a random D and makes `inference_epochs` passes of the same
    updates, which change only D. The random numbers come from a hash of the document's known words
    and of `inference_seed_`: the same words in the same order always get the same vector, in a
    batch, individually, and on any number of threads.

    **Trained and inferred vectors of the same text differ**: `fit_transform` returns trained
    vectors, `transform` infers them. They are similar: a text of `fit` is usually most similar to
    itself, and you should check that before you mix the two. If accuracy matters, compare inferred
    vectors only with inferred ones. Compare by cosine.

    A document without a known word is the zero vector; its `coverage` is 0.

    Le and Mikolov concatenate the vectors of both models (``sklearn.pipeline.FeatureUnion``).

    References
    ----------
    Le and Mikolov, "Distributed Representations of Sentences and Documents", ICML 2014. Lau and
    Baldwin, "An Empirical Evaluation of doc2vec", RepL4NLP 2016 (training words with DBOW).

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
        "architecture": one_of("dbow", "dm"),
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
        architecture: Literal["dbow", "dm"] = "dbow",
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
        self.architecture = architecture
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

    @rollback_on_error
    def fit(
        self, X: CorpusLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Train the vectors of the documents and of their words.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Texts, documents from `textkin.read`, lists of words, or `Tokens`; read once.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (done, total) in tokens over all epochs. An exception raised in it stops the
            work, and leaves the estimator unchanged.

        Returns
        -------
        ParagraphVector
            The estimator itself.

        Raises
        ------
        ValueError
            If fewer than two words remain, or the training diverges.
        TypeError
            If `X` has another type, such as bags, which have no word order.
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
        words = random_rows(mix_seeds(seed, 0, n_words), d)
        documents = random_rows(mix_seeds(seed, n_words, len(corpus)), d)
        outputs = np.zeros((training.outputs_for(n_words), d), np.float32)
        training.train(
            corpus, words, outputs, documents, seed=seed, n_threads=n_threads, progress=progress
        )
        documents[np.diff(corpus.offsets) == 0] = 0
        # All attributes are set at the end, so that a failed fit changes nothing.
        self.words_ = np.array(corpus.words, dtype=object)
        self.counts_ = corpus.counts
        self.word_vectors_ = words
        self.output_vectors_ = outputs
        self.document_vectors_ = documents
        self.inference_seed_ = seed
        self._vocabulary = unchecked_vocabulary(corpus.words)
        return self

    def fit_transform(
        self, X: CorpusLike, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Float32Array:
        """Train on documents, and return their trained vectors.

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
        """Infer a vector for each document, independently of the other documents.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Documents, seen by `fit` or not; an empty list is allowed.
        progress : callable, optional
            Called with (done, total) in tokens. An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n_documents, n_components), float32
            Vectors; a document without a known word has the zero vector.

        Raises
        ------
        ValueError
            If `loss` has changed since `fit`. Inference uses the current values of all other
            parameters.
        """
        check_is_fitted(self)
        check_params(self)
        passes = self.epochs if self.inference_epochs is None else self.inference_epochs
        training = self._training(passes)
        training.check()
        n_words = len(self.words_)
        if self.output_vectors_.shape[0] != training.outputs_for(n_words):
            raise ParameterError("loss", "the same as in fit", repr(self.loss), "Fit again.")
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
        """Return the fraction of words that are in the vocabulary, per document.

        Parameters
        ----------
        X : iterable of str, Document or list of str, or Tokens
            Documents.

        Returns
        -------
        ndarray of shape (n_documents,), float64
            Shares from 0 to 1. At 0, a document has no known word, and `transform` returns the zero
            vector. Stop words are not counted.
        """
        check_is_fitted(self)
        check_params(self)
        known = self._known(X)
        shares: Float64Array = np.diff(known.offsets) / np.maximum(known.lengths, 1)
        return shares

    def word_vectors(self) -> WordVectors:
        """Return the word vectors trained together with the document vectors.

        Returns
        -------
        WordVectors
            Words in descending order of frequency, with their vectors.

        Raises
        ------
        ValueError
            If the words were not trained: ``architecture="dbow"`` with ``train_words=False``.
        """
        check_is_fitted(self)
        if self.architecture == "dbow" and not self.train_words:
            raise ValueError(
                "The model has no word vectors: train_words=False leaves them random. Fit with "
                "train_words=True, or with architecture='dm'."
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
            mode=self.architecture,
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
        if "_vocabulary" not in vars(self):  # missing after loading or unpickling
            self._vocabulary = Vocabulary(self.words_)
        return known_words(
            X,
            self._vocabulary,
            stop_words=self.stop_words,
            lowercase=bool(self.lowercase),
            n_threads=effective_jobs(self.n_jobs),
        )

    def _check_loaded(self) -> None:
        prepare(stop_words=self.stop_words)  # raises for invalid stop words
        self._training(1).check()
        if self.words_.dtype != object or self.words_.ndim != 1 or len(self.words_) < 2:
            raise ValueError("words_ must be at least two strings")
        Vocabulary(self.words_)
        n_words = len(self.words_)
        if (
            self.counts_.dtype != np.int64
            or self.counts_.shape != (n_words,)
            or self.counts_.min() < 1
            or (self.counts_[1:] > self.counts_[:-1]).any()
            or self.counts_.sum(dtype=np.float64) > _MOST_TOKENS
        ):
            raise ValueError(
                "counts_ must be the descending counts of the words, at most 2^59 in all"
            )
        if type(self.inference_seed_) is not int or not 0 <= self.inference_seed_ < 2**63:
            raise ValueError("inference_seed_ must be an integer of 63 bits")
        n_outputs = self._training(1).outputs_for(n_words)
        # The dimension comes from the table: n_components may have changed for the next fit.
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
    """Return two random seeds per document, computed from its words: start, sampling."""
    key = seed.to_bytes(8, "little") + number.to_bytes(8, "little")
    ids = known.ids.astype("<i4", copy=False)
    digests = b"".join(
        hashlib.blake2b(ids[start:end].tobytes(), digest_size=16, key=key).digest()
        for start, end in zip(known.offsets[:-1], known.offsets[1:], strict=True)
    )
    seeds: UInt64Array = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, 2)
    return np.ascontiguousarray(seeds[:, 0]), np.ascontiguousarray(seeds[:, 1])


def _part_of(progress: ProgressCallback | None, number: int, parts: int) -> ProgressCallback | None:
    """Return a progress callback for part `number` of `parts` equal parts of the work."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress(number * total + done, parts * total)
