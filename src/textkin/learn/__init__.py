"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._clusters import DocumentClusters
from textkin.learn._describing import Cluster

__all__ = ["Cluster", "DocumentClusters"]
