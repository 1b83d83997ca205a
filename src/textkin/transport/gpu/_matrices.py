"""Matrices of Relaxed Word Mover's Distances and centroid distances, computed on a GPU."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from textkin._base import Float32Array, Float64Array
from textkin.device import torch_device
from textkin.transport.gpu._bounds import PaddedQueries, document_side, query_side
from textkin.transport.gpu._corpus import DeviceCorpus
from textkin.transport.gpu._costs import Cost
from textkin.transport.gpu._rows import DeviceRows, HostRows

if TYPE_CHECKING:
    import torch

__all__ = ["Side", "centroid_matrix", "centroids", "relaxed", "relaxed_matrix"]

Side = Literal["both", "query", "document"]


def relaxed(rows: DeviceRows, asked: PaddedQueries, side: Side) -> "torch.Tensor":
    """Compute the Relaxed Word Mover's Distance of every query and document as a GPU tensor."""
    import torch

    found: list[torch.Tensor] = []
    if side != "query":
        nearest = asked.costs.amin(2).T.contiguous()
        found.append(document_side(rows, nearest, wide=True))
    if side != "document":
        found.append(query_side(rows, asked, wide=True))
    return found[0] if len(found) == 1 else torch.maximum(*found)


def relaxed_matrix(corpus: DeviceCorpus, queries: HostRows, side: Side) -> Float64Array:
    """Compute the Relaxed Word Mover's Distances of all queries and documents as an array.

    Parameters
    ----------
    corpus : DeviceCorpus
        Corpus of m documents.
    queries : HostRows
        n queries, over the rows of the corpus's vectors.
    side : {"both", "query", "document"}
        Side whose words go to the nearest word of the other side; "both" means the larger value.

    Returns
    -------
    ndarray of shape (n, m), float64
        Distances; infinity if the query or the document has no words.
    """
    found = np.full((len(queries), len(corpus)), np.inf)
    there = np.diff(corpus.rows.indptr) > 0
    for begin, rows in corpus.parts():
        live = there[begin : begin + len(rows)]
        for batch in corpus.batches(queries, bytes_of_cost=4):
            asked = corpus.lay_out(queries, batch, exactly=True)
            values = relaxed(rows, asked, side).mul_(corpus.table.factor).cpu().numpy()
            values[:, ~live] = np.inf
            found[batch.numbers, begin : begin + len(rows)] = values
    return found


def centroids(vectors: "torch.Tensor", rows: DeviceRows) -> "torch.Tensor":
    """Compute the centroid (weighted mean word vector) of every document in float64."""
    import torch

    found = torch.zeros(len(rows), vectors.shape[1], dtype=torch.float64, device=vectors.device)
    for begin, part in rows.parts((64 << 20) // (8 * vectors.shape[1])):
        values = vectors[part.words.long()].double() * part.masses[:, None]
        sums = torch.segment_reduce(values, "sum", lengths=part.lengths, axis=0, initial=0)
        found[begin : begin + len(part)] = sums
    return found


def centroid_matrix(
    vectors: Float32Array, cost: Cost, queries: HostRows, documents: HostRows, device: str
) -> Float64Array:
    """Compute the distance between the centroids of every query and every document.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, d), float32
        Word vectors.
    cost : {"euclidean", "cosine", "sqeuclidean"}
        Cost of moving a word.
    queries, documents : HostRows
        n queries and m documents over the rows of `vectors`.
    device : str
        "cuda", "cuda:1" or "cpu".

    Returns
    -------
    ndarray of shape (n, m), float64
        Distances; infinity if the query or the document has no words.
    """
    import torch

    where = torch_device(device)
    table = torch.tensor(vectors, device=where)
    mine = centroids(table, queries.to(where))
    found = np.full((len(queries), len(documents)), np.inf)
    known = np.diff(queries.indptr) > 0
    for begin, part in documents.parts((1 << 30) // (8 * max(len(queries), vectors.shape[1], 1))):
        theirs = centroids(table, part.to(where))
        apart = torch.cdist(mine, theirs, compute_mode="donot_use_mm_for_euclid_dist")
        if cost != "euclidean":
            apart = apart * apart
        values = (apart / 2 if cost == "cosine" else apart).cpu().numpy()
        values[:, np.diff(part.indptr) == 0] = np.inf
        values[~known] = np.inf
        found[:, begin : begin + len(part)] = values
    return found
