"""Weightings of bags: nBOW, TF-IDF and SIF."""

from textkin.weighting._nbow import nbow
from textkin.weighting._sif import SIF, sif_weights, zipf_probabilities
from textkin.weighting._tfidf import TfIdf, inverse_document_frequency

__all__ = [
    "SIF",
    "TfIdf",
    "inverse_document_frequency",
    "nbow",
    "sif_weights",
    "zipf_probabilities",
]
