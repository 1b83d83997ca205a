"""Weightings of bags: nBOW, binary, TF-IDF, BM25 and SIF."""

from textkin.weighting._bm25 import BM25
from textkin.weighting._formulas import (
    bm25_saturation,
    inverse_document_frequency,
    term_frequency,
)
from textkin.weighting._nbow import binary, nbow, normalize
from textkin.weighting._sif import SIF, sif_weights, zipf_probabilities
from textkin.weighting._tfidf import TfIdf

__all__ = [
    "BM25",
    "SIF",
    "TfIdf",
    "binary",
    "bm25_saturation",
    "inverse_document_frequency",
    "nbow",
    "normalize",
    "sif_weights",
    "term_frequency",
    "zipf_probabilities",
]
