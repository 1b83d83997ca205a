"""Weights of tokens by how rare they are in a corpus."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin._folders import is_count
from textkin._saving import SavedEstimator
from textkin._typing import Float64Array
from textkin.transport._token_vectors import TokenDocuments, TokenVectors, many_documents

__all__ = ["TokenIdf"]


class TokenIdf(TransformerMixin, SavedEstimator, BaseEstimator):
    r"""Weigh tokens by their inverse document frequency, as BERTScore and MoverScore do.

    Attributes
    ----------
    tokens_ : ndarray of shape (n_different,), str
        The different tokens of the corpus, sorted.
    idf_ : ndarray of shape (n_different,), float64
        Their weights.
    n_documents_ : int
        The number of documents that `fit` saw.

    See Also
    --------
    TokenMover : Takes what `transform` gives.
    textkin.transport.bert_score : Takes it too.

    Notes
    -----
    Of a token that df of N documents have,

    .. math:: \mathrm{idf} = \log \frac{N + 1}{\mathit{df} + 1},

    so that one that no document has weighs most, and one that all have weighs nothing: it takes
    no part any more. Tokens are told apart by their spelling.

    References
    ----------
    Zhang et al., "BERTScore: Evaluating Text Generation with BERT", ICLR 2020, section 3, with
    its plus-one smoothing.

    Examples
    --------
    >>> from textkin import TokenVectors
    >>> from textkin.transport import TokenIdf
    >>> a = TokenVectors([[1, 0], [0, 1]], tokens=["the", "cat"])
    >>> b = TokenVectors([[1, 0], [1, 1]], tokens=["the", "dog"])
    >>> [each.weights.round(3) for each in TokenIdf().fit_transform([a, b])]
    [array([0.   , 0.405]), array([0.   , 0.405])]
    """

    def fit(self, X: TokenDocuments, y: object = None) -> Self:
        """Count in how many documents each token is.

        Parameters
        ----------
        X : iterable of TokenVectors with tokens
            The corpus.
        y : object, optional
            Ignored.

        Returns
        -------
        TokenIdf
            The estimator itself.
        """
        read = _named(X, "X")
        if not read:
            raise ValueError("X must have at least one document; got none.")
        counts: dict[str, int] = {}
        for document in read:
            for token in set(document.tokens or ()):
                counts[token] = counts.get(token, 0) + 1
        tokens = sorted(counts)
        frequencies = np.array([counts[token] for token in tokens], dtype=np.float64)
        self.idf_: Float64Array = np.log((len(read) + 1) / (frequencies + 1))
        self.tokens_ = np.array(tokens, dtype=object)
        self.n_documents_ = len(read)
        return self

    def transform(self, X: TokenDocuments) -> list[TokenVectors]:
        """Return the documents with the weights of their tokens multiplied by the idf.

        Parameters
        ----------
        X : iterable of TokenVectors with tokens
            The documents.

        Returns
        -------
        list of TokenVectors
            The same vectors and tokens.
        """
        check_is_fitted(self)
        unseen = float(np.log(self.n_documents_ + 1))
        by_token = dict(zip(self.tokens_.tolist(), self.idf_.tolist(), strict=True))
        return [
            document.weighed(np.array([by_token.get(t, unseen) for t in document.tokens or ()]))
            for document in _named(X, "X")
        ]

    def _check_loaded(self) -> None:
        sound = (
            self.tokens_.ndim == 1
            and self.tokens_.dtype == object  # which only strings are loaded as
            and self.tokens_.shape == self.idf_.shape
            and self.idf_.dtype == np.float64
            and is_count(self.n_documents_)
            and bool(np.isfinite(self.idf_).all() and (self.idf_ >= 0).all())
        )
        if not sound:
            raise ValueError("there must be a finite weight, not below 0, for each token")


def _named(documents: TokenDocuments, name: str) -> list[TokenVectors]:
    read = many_documents(documents, name)
    for position, document in enumerate(read):
        if document.tokens is None and len(document):
            raise ValueError(
                f"{name} must hold TokenVectors with tokens; document {position} has none: pass "
                "TokenVectors(vectors, tokens=words)."
            )
    return read
