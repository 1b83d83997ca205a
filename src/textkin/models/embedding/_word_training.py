"""Training of word vectors on your own texts (word2vec)."""

from typing import Literal

import numpy as np
from numpy.random import RandomState

from textkin._base import hinted, integer, one_of
from textkin.models.embedding._training import (
    Loss,
    SubsampleRule,
    Training,
    mix_seeds,
    random_rows,
    seed_of,
)
from textkin.models.embedding._training_corpus import Corpus, CorpusLike, read_corpus
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import StopWords
from textkin.vectors import WordVectors

__all__ = ["check_words", "train_on_corpus", "train_word_vectors", "word_training"]

_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05}  # the same as in the released C code


def train_word_vectors(
    corpus: CorpusLike,
    dimension: int = 100,
    *,
    architecture: Literal["skipgram", "cbow"] = "skipgram",
    loss: Loss = "negative",
    n_negative: int = 5,
    window: int = 5,
    subsample: float = 1e-3,
    subsample_rule: SubsampleRule = "released",
    min_count: int = 5,
    max_words: int | None = None,
    epochs: int = 5,
    learning_rate: float | None = None,
    min_learning_rate: float = 1e-4,
    stop_words: StopWords = None,
    lowercase: bool = True,
    random_state: int | RandomState | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> WordVectors:
    """Train word vectors on a corpus with word2vec, and return them.

    Words that occur among the same words get vectors in similar directions. Training needs
    millions of words of text to match vectors that were trained on billions. It pays off in fields
    whose words, or uses of words, published vectors do not cover.

    Parameters
    ----------
    corpus : iterable of str, Document or list of str, or Tokens
        Texts, documents from `textkin.read`, lists of words, or `Tokens`. The corpus is read
        once, so a generator is allowed. No context crosses the end of a text.
    dimension : int, default=100
        Vector dimension, d.
    architecture : {"skipgram", "cbow"}, default="skipgram"
        "skipgram": a word predicts each word around it; better for rare words and small
        corpora. "cbow": the mean of the words around it predicts a word; several times
        as fast.
    loss : {"negative", "hierarchical"}, default="negative"
        Training loss: negative sampling, or hierarchical softmax over a Huffman tree of all words.
    n_negative : int, default=5
        Number of sampled words per pair, for "negative": 5 to 20 for small corpora, 2 to 5 for
        large ones.
    window : int, default=5
        Maximum number of context words on each side. At each position the size is sampled from 1
        to `window`, so that close words have more influence.
    subsample : float, default=1e-3
        Relative frequency above which occurrences of a word are dropped at random; 0 keeps all.
    subsample_rule : {"released", "paper"}, default="released"
        Formula for the probability to keep a word; see Notes.
    min_count : int, default=5
        Minimum number of occurrences of a word; rarer words are ignored. Use a smaller value for a
        small corpus.
    max_words : int or None, default=None
        Maximum number of words; the most frequent ones are learned. If None, no limit.
    epochs : int, default=5
        Number of passes over the corpus. A small corpus (fewer than a million words) needs 20 to
        50.
    learning_rate : float or None, default=None
        First learning rate. If None, 0.025 for "skipgram" and 0.05 for "cbow", as in the released
        code.
    min_learning_rate : float, default=1e-4
        Last learning rate; the rate falls linearly with the number of processed tokens. This is
        gensim's rule; the released code stops at 1e-4 of the first rate.
    stop_words : str, None, path or collection of str, default=None
        Words to ignore, as for `BagOfWords`.
    lowercase : bool, default=True
        Convert texts to lower case. Lists of words and `Tokens` are not converted.
    random_state : int, RandomState or None, default=None
        Seed of the initial vectors and of all sampling. With one thread, the same integer gives
        bit-identical vectors.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 is one per core. **Several threads write to the same
        table without locks, so that no two runs are equal**; the quality of the vectors is the
        same.
    progress : callable, optional
        Called with (done, total) in tokens over all epochs. An exception raised in it stops the
        work.

    Returns
    -------
    WordVectors
        Words in descending order of frequency, with their vectors; ties are in the order of code
        points.

    Raises
    ------
    ValueError
        If fewer than two words remain, no text has two adjacent words, or the training diverges.
    TypeError
        If the corpus has another type, such as bags, which have no word order.

    See Also
    --------
    textkin.models.ParagraphVector : Document vectors by the same training.

    Notes
    -----
    Skip-gram maximizes, over all tokens w_t and the tokens w_j in their windows, the mean of
    log p(w_j | w_t). With negative sampling that is (Mikolov et al., NIPS 2013, equation 4) ::

        log s(u_j . v_t) + sum_{i = 1..k} log s(-u_i . v_t),    s(x) = 1 / (1 + exp(-x)),

    where the k words i are sampled with probabilities proportional to count^0.75; a sample equal
    to w_j is skipped. With the hierarchical softmax, p(w_j | w_t) is the product of
    s(+-u_n . v_t) over the inner nodes n from the root of the tree to w_j. Each pair changes
    its vectors by the learning rate times the gradient, g u and g v with
    g = label - s(u . v). CBOW uses the mean of the window's vectors in place of v_t, and w_t in
    place of w_j; each of these vectors takes the full step of the mean, as in the released
    code. The vectors v are returned.

    A word of relative frequency f is kept with probability (sqrt(f / t) + 1) t / f
    ("released", as in the C code and in gensim) or sqrt(t / f) ("paper"), where t is `subsample`;
    words are dropped before windows are made. The initial vectors v are uniform in
    (-0.5 / d, 0.5 / d), the initial vectors u are 0.

    Reading needs four bytes per token; training needs sixteen more per word and dimension.

    References
    ----------
    Mikolov, Chen, Corrado and Dean, "Efficient Estimation of Word Representations in Vector
    Space", ICLR workshop 2013. Mikolov, Sutskever, Chen, Corrado and Dean, "Distributed
    Representations of Words and Phrases and their Compositionality", NIPS 2013.

    Examples
    --------
    >>> from textkin.models import train_word_vectors
    >>> texts = ["cats purr and sleep", "kittens purr and sleep"] * 20
    >>> texts += ["stocks fell on fears", "shares fell on fears"] * 20
    >>> vectors = train_word_vectors(texts, 8, epochs=50, random_state=0)
    >>> vectors
    WordVectors(10 words, dimension 8)
    >>> vectors.nearest("shares", 1)[0][0] in ("stocks", "fell", "on", "fears")
    True
    """
    training = word_training(
        architecture=architecture,
        loss=loss,
        n_negative=n_negative,
        window=window,
        subsample=subsample,
        subsample_rule=subsample_rule,
        epochs=epochs,
        learning_rate=learning_rate,
        min_learning_rate=min_learning_rate,
    )
    check_words(dimension, min_count, max_words, lowercase)
    n_threads = effective_jobs(n_jobs)
    seed = seed_of(random_state)
    found = read_corpus(
        corpus,
        min_count=int(min_count),
        max_words=max_words,
        stop_words=stop_words,
        lowercase=bool(lowercase),
        n_threads=n_threads,
    )
    return train_on_corpus(found, int(dimension), training, seed, n_threads, progress)


def train_on_corpus(
    corpus: Corpus,
    dimension: int,
    training: Training,
    seed: int,
    n_threads: int,
    progress: ProgressCallback | None,
) -> WordVectors:
    """Train word vectors on a `Corpus` from `read_corpus`, and return them."""
    if not (np.diff(corpus.offsets) > 1).any():
        raise hinted(
            ValueError,
            "corpus must have a text with two learned words; got none, so no word has a context.",
            "Pass whole texts, or a smaller `min_count`.",
        )
    words = random_rows(mix_seeds(seed, 0, len(corpus.words)), dimension)
    outputs = np.zeros((training.outputs_for(len(words)), dimension), np.float32)
    training.train(corpus, words, outputs, None, seed=seed, n_threads=n_threads, progress=progress)
    return WordVectors(corpus.words, words)


def word_training(
    *, architecture: Literal["skipgram", "cbow"], learning_rate: float | None, **others: object
) -> Training:
    """Return the validated settings of a word2vec training."""
    one_of(*_LEARNING_RATES).check("architecture", architecture)
    rate = _LEARNING_RATES[architecture] if learning_rate is None else learning_rate
    training = Training(mode=architecture, learning_rate=rate, **others)  # type: ignore[arg-type]
    training.check()
    return training


def check_words(dimension: object, min_count: object, max_words: object, lowercase: object) -> None:
    """Raise if the dimension or a parameter that selects the vocabulary is invalid."""
    integer(1, 100_000).check("dimension", dimension)
    integer(1).check("min_count", min_count)
    (one_of(None) | integer(2)).check("max_words", max_words)
    one_of(True, False).check("lowercase", lowercase)
