"""Find the documents of a small corpus that are nearest to a query, by exact distance."""

import textkin as tk

CORPUS = [
    "The government presented its budget to parliament",
    "Doctors warn of a new strain of influenza",
    "The striker scored twice in the final minutes",
    "Astronomers found a planet that may hold water",
    "Ministers defended the tax plan before lawmakers",
]
QUERY = "The cabinet explained its spending plans to the senate"

print(QUERY)
# SIF weights give frequent words less weight; they need no corpus.
for weights in ("nbow", "sif"):
    mover = tk.WordMover(word_weights=weights, n_jobs=-1).fit(CORPUS)
    distances, indices = mover.search(QUERY, k=3)[0]
    print(f"weights={weights!r}")
    for i, distance in zip(indices, distances, strict=True):
        print(f"  {distance:.3f}  {CORPUS[i]}")

# The same with your own bags and vectors: one row of the matrix per column.
bags_of_words = tk.BagOfWords()
bags = bags_of_words.fit_transform(CORPUS)
matrix = tk.WordVectors.builtin().align(bags_of_words.vocabulary_)
mover = tk.WordMover(matrix).fit(bags)
# excluding the document itself
nearest = mover.kneighbors(n_neighbors=1, return_distance=False)[0, 0]
found = mover.explain(bags[0], bags[nearest], feature_names=bags_of_words.vocabulary_.words)
print(f"bags 0 and {nearest}: {found.distance:.3f}, mostly {found.moves[0].source} -> ", end="")
print(found.moves[0].target)
