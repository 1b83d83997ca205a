"""What people do with distances: classify with evidence, cluster, find duplicates."""

from textkin.learn._compared import Duplicate
from textkin.learn._duplicate_groups import DuplicateGroup, Duplicates
from textkin.learn._duplicates import find_duplicates
from textkin.learn._knn import NearestNeighborClassifier
from textkin.learn._repeats import Repeat, Repeats
from textkin.learn._rocchio import RocchioClassifier

__all__ = [
    "Duplicate",
    "DuplicateGroup",
    "Duplicates",
    "NearestNeighborClassifier",
    "Repeat",
    "Repeats",
    "RocchioClassifier",
    "find_duplicates",
]
