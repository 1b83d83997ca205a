"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._clusters import DocumentClusters
from textkin.learn._compared import Duplicate
from textkin.learn._describing import Cluster
from textkin.learn._duplicate_groups import DuplicateGroup, Duplicates
from textkin.learn._duplicates import find_duplicates
from textkin.learn._few_labels import FisherKernelClassifier
from textkin.learn._knn import NearestNeighborClassifier
from textkin.learn._repeats import Repeat, Repeats
from textkin.learn._rocchio import RocchioClassifier
from textkin.learn._tuning import Tuning

__all__ = [
    "Cluster",
    "DocumentClusters",
    "Duplicate",
    "DuplicateGroup",
    "Duplicates",
    "FisherKernelClassifier",
    "NearestNeighborClassifier",
    "Repeat",
    "Repeats",
    "RocchioClassifier",
    "Tuning",
    "find_duplicates",
]
