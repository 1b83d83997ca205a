"""`TokenIdf`: weights of contextual tokens by their rarity in a corpus."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin._base import Float64Array, SavedEstimator, is_count, rollback_on_error
from textkin.corpus import TokenDocuments, TokenVectors, many_documents
from textkin.exceptions import ParameterError

__all__ = ["TokenIdf"]


class TokenIdf(TransformerMixin, SavedEstimator, BaseEstimator):
    r"""IDF weighting of the tokens of documents, as in BERTScore and MoverScore.

    Attributes
    ----------
    tokens_ : ndarray of shape (n_different,), str
        Distinct tokens of the corpus, sorted.
    idf_ : ndarray of shape (n_different,), float64
        Weight of each of these tokens.
    n_documents_ : int
        Number of documents that `fit` saw.

    See Also
    --------
    TokenMover : Accepts the result of `transform`.
    textkin.transport.bert_score : Accepts it, too.

    Notes
    -----
    A token in df of N documents has the weight

    .. math:: \mathrm{idf} = \log \frac{N + 1}{\mathit{df} + 1}.

    A token that is in no document has the highest weight; a token that is in all documents has the
    weight 0, and is ignored. Tokens are identified by their spelling.

    References
    ----------
    Zhang et al., "BERTScore: Evaluating Text Generation with BERT", ICLR 2020, section 3, with
    its plus-one smoothing.

    Examples
    --------
    >>> from textkin import TokenVectors
    >>> from textkin.weighting import TokenIdf
    >>> a = TokenVectors([[1, 0], [0, 1]], tokens=["the", "cat"])
    >>> b = TokenVectors([[1, 0], [1, 1]], tokens=["the", "dog"])
    >>> [each.weights.round(3) for each in TokenIdf().fit_transform([a, b])]
    [array([0.   , 0.405]), array([0.   , 0.405])]
    """

    @rollback_on_error
    def fit(self, X: TokenDocuments, y: object = None) -> Self:
        """Count the documents of a corpus that contain each token.

        Parameters
        ----------
        X : iterable of TokenVectors with tokens
            Corpus.
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
        """Return the documents with token weights multiplied by IDF.

        Parameters
        ----------
        X : iterable of TokenVectors with tokens
            Documents.

        Returns
        -------
        list of TokenVectors
            Documents with the same vectors and tokens, and new weights.
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
            and self.tokens_.dtype == object  # the loader uses this dtype only for strings
            and self.tokens_.shape == self.idf_.shape
            and self.idf_.dtype == np.float64
            and is_count(self.n_documents_)
            and bool(np.isfinite(self.idf_).all() and (self.idf_ >= 0).all())
        )
        if not sound:
            raise ValueError("idf_ must have one finite weight, at least 0, per token")


def _named(documents: TokenDocuments, name: str) -> list[TokenVectors]:
    read = many_documents(documents, name)
    for position, document in enumerate(read):
        if document.tokens is None and len(document):
            raise ParameterError(
                name,
                "TokenVectors with tokens",
                f"none in document {position}",
                "Pass `TokenVectors(vectors, tokens=words)`.",
            )
    return read
