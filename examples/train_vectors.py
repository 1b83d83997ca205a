"""Word vectors and paragraph vectors of one's own text: the docstrings of the standard library.

python examples/train_vectors.py
"""

import tempfile
from pathlib import Path

import numpy as np

import textkin as tk
from textkin.text import standard_library_docstrings

documents = {found.name: found.text for found in standard_library_docstrings()}
names, texts = list(documents), list(documents.values())

# A small corpus: rare words are learnt too, nothing is thinned out, and every text is read many
# times; a tree is good for words that occur seldom.
vectors = tk.WordVectors.train(
    texts, 50, loss="hierarchical", min_count=3, subsample=0, epochs=50, random_state=0
)
print(vectors)
for word in ("file", "thread", "remove"):
    print(f"  near {word!r}:", ", ".join(near for near, _ in vectors.nearest(word, 5)))

# Trained vectors are like any others: saved, loaded, used for distances.
with tempfile.TemporaryDirectory() as temporary:
    vectors.save(Path(temporary) / "docstrings")
    again = tk.WordVectors.load(Path(temporary) / "docstrings")
    near = tk.compare("remove a file", "delete a directory", vectors=again).distance
    far = tk.compare("remove a file", "the next random number", vectors=again).distance
print(f"remove a file: {near:.2f} from deleting a directory, {far:.2f} from a random number")

# Vectors of documents; a new text gets one too, always the same.
model = tk.ParagraphVector(50, epochs=30, random_state=0).fit(texts)
query = model.transform(["Remove a directory with all its files."])
scores = tk.similarities(query, model.transform(texts))[0]
print("Nearest documents:")
for position in np.argsort(-scores)[:3]:
    print(f"  {scores[position]:.2f}  {names[position]}: {texts[position]}")
print("known words of a query:", model.coverage(["a directory of quarks"])[0])
