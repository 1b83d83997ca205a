"""Find exact nearest neighbors: many queries, statistics, proof, near duplicates, a graph."""

import numpy as np

import textkin as tk
from textkin.reading import standard_library_docstrings

# Docstrings of Python's standard library, a corpus on every machine.
documents = list(standard_library_docstrings())[::3]
mover = tk.WordMover(word_weights="sif", unit=True, empty="inf", n_jobs=-1).fit(documents)

# Several queries at once. `counts` has the number of hits, which can be less than k.
queries = ["send a message over the network", "split a path into its parts"]
found = mover.search(queries, k=3)
for query, (distances, indices) in zip(queries, found, strict=True):
    print(query)
    for i, distance in zip(indices, distances, strict=True):
        print(f"  {distance:.3f}  {documents[i].name}: {documents[i].text[:60]!r}")

# Statistics, and the proof that nothing nearer exists.
print(found.stats)
proof = found.certificate(0)
print(proof)
print(proof.verify())

# Only some documents, within a distance.
of_pathlib = np.array([document.name.startswith("pathlib") for document in documents])
near = mover.search(queries, k=None, radius=1.1, mask=of_pathlib)
print("within 1.1 in pathlib:", near.counts.tolist(), "documents")

# All near duplicates, block by block, without a matrix of all pairs.
pairs = [
    (documents[i].name, documents[j].name, distance)
    for block in mover.pairwise_below(documents, 0.3)
    for i, j, distance in zip(block.rows, block.columns, block.distances, strict=True)
]
print(f"{len(pairs)} pairs within 0.3, such as")
for one, other, distance in pairs[:3]:
    print(f"  {distance:.3f}  {one} and {other}")

# A sparse graph of distances: all within a radius for scikit-learn's DBSCAN(metric="precomputed"),
# `kneighbors_graph` for its Isomap and t-SNE.
graph = mover.radius_neighbors_graph(radius=0.5, mode="distance")
print(f"a graph of {graph.shape[0]} documents with {graph.nnz} edges")
