"""Which of my documents are nearest to this one? Exact distances to a small corpus."""

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
# SIF masses give frequent words less weight; they need no corpus.
for masses in ("nbow", "sif"):
    mover = tk.WordMover(masses=masses, n_jobs=-1).fit(CORPUS)
    indices, distances = mover.search(QUERY, k=3)[0]
    print(f"masses={masses!r}")
    for i, distance in zip(indices, distances, strict=True):
        print(f"  {distance:.3f}  {CORPUS[i]}")

# The same with bags and vectors of one's own: one row of the matrix for each column.
bags_of_words = tk.BagOfWords()
bags = bags_of_words.fit_transform(CORPUS)
matrix = tk.WordVectors.builtin().align(bags_of_words.vocabulary_)
mover = tk.WordMover(matrix).fit(bags)
nearest = mover.kneighbors(n_neighbors=1, return_distance=False)[0, 0]  # none finds itself
found = mover.explain(bags[0], bags[nearest], words=bags_of_words.vocabulary_.words)
print(f"bags 0 and {nearest}: {found.distance:.3f}, mostly {found.moves[0].source} -> ", end="")
print(found.moves[0].target)
