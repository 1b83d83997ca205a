"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._few_labels import FisherKernelClassifier
from textkin.learn._knn import NearestNeighborClassifier
from textkin.learn._rocchio import RocchioClassifier

__all__ = ["FisherKernelClassifier", "NearestNeighborClassifier", "RocchioClassifier"]
