"""`WordVectors.train`: word vectors of one's own text."""

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.random import RandomState

from textkin._validation import integer, one_of
from textkin.run import ProgressCallback, effective_jobs
from textkin.vectors._making import MadeFromOthers
from textkin.vectors._training import (
    Loss,
    SubsampleRule,
    Training,
    mixed,
    random_rows,
    seed_of,
)

if TYPE_CHECKING:
    from textkin.text._stop_words import StopWords
    from textkin.vectors._corpus import Corpus, CorpusLike

__all__ = ["MadeByTraining", "check_words", "word_training"]

_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05}  # those of the released C code


class MadeByTraining(MadeFromOthers):
    """The ways into a table of word vectors, with the longest one."""

    @classmethod
    def train(
        cls,
        corpus: "CorpusLike",
        dimension: int = 100,
        *,
        model: Literal["skipgram", "cbow"] = "skipgram",
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
        stop_words: "StopWords" = None,
        lowercase: bool = True,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Train word vectors on a corpus: word2vec.

        Words that stand among the same words get vectors in the same direction. It takes millions
        of words of text to beat vectors that were trained on billions; it pays where a field has
        words, or uses of words, that those never saw.

        Parameters
        ----------
        corpus : iterable of str, Document or list of str, or Tokens
            Texts, documents as `textkin.read` gives them, lists of words, or `Tokens`. It is
            read once, so a generator does. No context goes over the end of a text.
        dimension : int, default=100
            Numbers a word, d.
        model : {"skipgram", "cbow"}, default="skipgram"
            "skipgram": a word predicts each word around it; better for rare words and small
            corpora. "cbow": the mean of the words around it predicts a word; several times
            as fast.
        loss : {"negative", "hierarchical"}, default="negative"
            Tell a word from drawn ones, or find it in a Huffman tree of all words.
        n_negative : int, default=5
            Words that are drawn, for "negative": 5 to 20 for small corpora, 2 to 5 for large ones.
        window : int, default=5
            Most words to each side that are context. At each place a number from 1 to `window`
            is drawn, so that near words count more.
        subsample : float, default=1e-3
            The share of all tokens above which a word is left out at random; 0 keeps all.
        subsample_rule : {"released", "paper"}, default="released"
            How probably a word is kept; see Notes.
        min_count : int, default=5
            Learn only words that occur so often. A small corpus needs a smaller one.
        max_words : int or None, default=None
            Learn only this many words, the most frequent.
        epochs : int, default=5
            Passes over the corpus. A small corpus (below a million words) needs 20 to 50.
        learning_rate : float or None, default=None
            The first one; None is 0.025 for "skipgram" and 0.05 for "cbow", as in the released
            code.
        min_learning_rate : float, default=1e-4
            The last one: it falls linearly with the tokens that are done. The released code stops
            at 1e-4 of the first one; this is gensim's rule.
        stop_words : str, None, path or collection of str, default=None
            Words to leave out, as for `BagOfWords`.
        lowercase : bool, default=True
            Turn texts into lower case. Lists of words and `Tokens` are taken as they are.
        random_state : int, RandomState or None, default=None
            Where vectors start, and what is drawn. The same number on one thread gives the same
            vectors to the bit.
        n_jobs : int or None, default=None
            Threads; None is one, -1 one for each core. **Several write to the same table without
            locks, so that no two runs are alike**; what they learn is as good.
        progress : callable, optional
            Called with (done, total) in tokens, all epochs together; raising from it stops the
            work.

        Returns
        -------
        WordVectors
            Words from the most frequent to the least; of equals the first in the order of code
            points.

        Raises
        ------
        ValueError
            If fewer than two words are left, no text has two of them side by side, or the
            training diverged.
        TypeError
            If the corpus holds anything else, such as bags, which have no order.

        See Also
        --------
        textkin.models.ParagraphVector : Vectors of documents, trained alike.

        Notes
        -----
        Skip-gram maximises, over all tokens w_t and the tokens w_j in their windows, the mean of
        log p(w_j | w_t). With negative sampling that is (equation 4 of the paper) ::

            log s(u_j . v_t) + sum_{i = 1..k} log s(-u_i . v_t),    s(x) = 1 / (1 + exp(-x)),

        the k words i drawn with probabilities proportional to count^0.75; one that is w_j itself
        is passed over. With the hierarchical softmax, p(w_j | w_t) is the product of
        s(+-u_n . v_t) over the inner nodes n from the root of the tree to w_j. Each pair changes
        its vectors by the learning rate times the gradient, g u and g v with
        g = label - s(u . v). CBOW has the mean of the window's vectors in place of v_t, and w_t in
        place of w_j; each of these vectors takes the whole step of the mean, as in the released
        code. The vectors v are returned.

        A word of relative frequency f is kept with the probability (sqrt(f / t) + 1) t / f
        ("released", as the C code and gensim do) or sqrt(t / f) ("paper"), t being `subsample`;
        what is left out is so before windows are made. Vectors v start uniform in
        (-0.5 / d, 0.5 / d), vectors u at 0.

        Reading holds four bytes for each token; training, sixteen more for each word and
        dimension.

        References
        ----------
        Mikolov, Chen, Corrado and Dean, "Efficient Estimation of Word Representations in Vector
        Space", ICLR workshop 2013. Mikolov, Sutskever, Chen, Corrado and Dean, "Distributed
        Representations of Words and Phrases and their Compositionality", NIPS 2013.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> texts = ["cats purr and sleep", "kittens purr and sleep"] * 20
        >>> texts += ["stocks fell on fears", "shares fell on fears"] * 20
        >>> vectors = WordVectors.train(texts, 8, epochs=50, random_state=0)
        >>> vectors
        WordVectors(10 words, dimension 8)
        >>> vectors.nearest("shares", 1)[0][0] in ("stocks", "fell", "on", "fears")
        True
        """
        from textkin.vectors._corpus import read_corpus  # reading text costs a start of its own

        training = word_training(
            model=model,
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
        return cls._of_corpus(found, int(dimension), training, seed, n_threads, progress)

    @classmethod
    def _of_corpus(
        cls,
        corpus: "Corpus",
        dimension: int,
        training: Training,
        seed: int,
        n_threads: int,
        progress: ProgressCallback | None,
    ) -> Self:
        """Train on a corpus that was read already."""
        if not (np.diff(corpus.offsets) > 1).any():
            raise ValueError(
                "corpus has no text with two words that are learnt: no word has a context. Pass "
                "whole texts, or a smaller min_count."
            )
        words = random_rows(mixed(seed, 0, len(corpus.words)), dimension)
        outputs = np.zeros((training.outputs_for(len(words)), dimension), np.float32)
        training.train(
            corpus, words, outputs, None, seed=seed, n_threads=n_threads, progress=progress
        )
        return cls._of_words(corpus.words, words)


def word_training(
    *, model: Literal["skipgram", "cbow"], learning_rate: float | None, **others: object
) -> Training:
    """Return the settings of a training of word vectors, checked."""
    one_of(*_LEARNING_RATES).check("model", model)
    rate = _LEARNING_RATES[model] if learning_rate is None else learning_rate
    training = Training(mode=model, learning_rate=rate, **others)  # type: ignore[arg-type]
    training.check()
    return training


def check_words(dimension: object, min_count: object, max_words: object, lowercase: object) -> None:
    """Raise unless these say which words get vectors of how many numbers."""
    integer(1, 100_000).check("dimension", dimension)
    integer(1).check("min_count", min_count)
    (one_of(None) | integer(2)).check("max_words", max_words)
    one_of(True, False).check("lowercase", lowercase)
