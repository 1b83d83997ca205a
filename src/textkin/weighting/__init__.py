"""Weightings of word counts: nBOW, binary, TF-IDF, BM25, and SIF."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.weighting._bm25 import BM25 as BM25
    from textkin.weighting._formulas import (
        BM25Variant as BM25Variant,
        Idf as Idf,
        Tf as Tf,
        WordStatistics as WordStatistics,
        bm25_saturation as bm25_saturation,
        inverse_document_frequency as inverse_document_frequency,
        resolve_bm25 as resolve_bm25,
        resolve_variant as resolve_variant,
        sif_weights as sif_weights,
        term_frequency as term_frequency,
        zipf_probabilities as zipf_probabilities,
    )
    from textkin.weighting._nbow import binary as binary, nbow as nbow, normalize as normalize
    from textkin.weighting._sif import SIF as SIF
    from textkin.weighting._tfidf import TfIdf as TfIdf, TfIdfParts as TfIdfParts
    from textkin.weighting._token_idf import TokenIdf as TokenIdf
    from textkin.weighting._word_weights import (
        PROBABILITIES as PROBABILITIES,
        Probabilities as Probabilities,
        TRANSPORT_WEIGHTS as TRANSPORT_WEIGHTS,
        TransportWeights as TransportWeights,
        WEIGHTS as WEIGHTS,
        Weights as Weights,
        fixed_word_weights as fixed_word_weights,
        learned_word_weights as learned_word_weights,
        needs_corpus as needs_corpus,
        tfidf_weights as tfidf_weights,
        weights_need_corpus as weights_need_corpus,
        weights_of as weights_of,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_bm25": ["BM25"],
            "_formulas": [
                "BM25Variant",
                "Idf",
                "Tf",
                "WordStatistics",
                "bm25_saturation",
                "inverse_document_frequency",
                "resolve_bm25",
                "resolve_variant",
                "sif_weights",
                "term_frequency",
                "zipf_probabilities",
            ],
            "_nbow": ["binary", "nbow", "normalize"],
            "_sif": ["SIF"],
            "_tfidf": ["TfIdf", "TfIdfParts"],
            "_token_idf": ["TokenIdf"],
            "_word_weights": [
                "TRANSPORT_WEIGHTS",
                "TransportWeights",
                "PROBABILITIES",
                "Probabilities",
                "WEIGHTS",
                "Weights",
                "fixed_word_weights",
                "learned_word_weights",
                "weights_need_corpus",
                "needs_corpus",
                "tfidf_weights",
                "weights_of",
            ],
        },
    )

__all__ = [
    "BM25",
    "SIF",
    "TfIdf",
    "TokenIdf",
    "binary",
    "bm25_saturation",
    "inverse_document_frequency",
    "nbow",
    "normalize",
    "sif_weights",
    "term_frequency",
    "zipf_probabilities",
]
