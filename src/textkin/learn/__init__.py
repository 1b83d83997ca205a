"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._knn import NearestNeighborClassifier

__all__ = ["NearestNeighborClassifier"]
