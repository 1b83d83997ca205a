"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._knn import NearestNeighborClassifier
from textkin.learn._tuning import Tuning

__all__ = ["NearestNeighborClassifier", "Tuning"]
