"""Mixtures of distributions over dense rows, such as the vectors of words."""

from textkin.models.mixture.gaussian import GaussianMixture
from textkin.models.mixture.von_mises_fisher import VonMisesFisherMixture

__all__ = ["GaussianMixture", "VonMisesFisherMixture"]
