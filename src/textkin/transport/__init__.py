"""The Word Mover family: exact distance with flow and certificate, bounds, exact search."""

from textkin.transport._certificate import Certificate, Verification
from textkin.transport._compare import compare
from textkin.transport._comparison import Bounds, Comparison
from textkin.transport._costs import reference_costs
from textkin.transport._exclusion import SearchCertificate, SearchVerification
from textkin.transport._mover import WordMover
from textkin.transport._neighbors import Neighbors, SearchStats
from textkin.transport._plan import TransportPlan, optimal_transport
from textkin.transport._streams import NeighborBlock, PairBlock
from textkin.transport._token_idf import TokenIdf
from textkin.transport._token_mover import TokenMover
from textkin.transport._token_scores import BertScore, bert_score, max_sim
from textkin.transport._token_vectors import TokenVectors
from textkin.vectors._encode import Coverage

__all__ = [
    "BertScore",
    "Bounds",
    "Certificate",
    "Comparison",
    "Coverage",
    "NeighborBlock",
    "Neighbors",
    "PairBlock",
    "SearchCertificate",
    "SearchStats",
    "SearchVerification",
    "TokenIdf",
    "TokenMover",
    "TokenVectors",
    "TransportPlan",
    "Verification",
    "WordMover",
    "bert_score",
    "compare",
    "max_sim",
    "optimal_transport",
    "reference_costs",
]
