"""Train word vectors and paragraph vectors on your own text: the standard library's docstrings.

python examples/train_vectors.py
"""

import tempfile
from pathlib import Path

import numpy as np

import textkin as tk
from textkin.reading import standard_library_docstrings

documents = {found.name: found.text for found in standard_library_docstrings()}
names, texts = list(documents), list(documents.values())

# For a small corpus: keep rare words, no subsampling, many epochs, and hierarchical softmax,
# which suits rare words.
vectors = tk.models.train_word_vectors(
    texts, 50, loss="hierarchical", min_count=3, subsample=0, epochs=50, random_state=0
)
print(vectors)
for word in ("file", "thread", "remove"):
    print(f"  nearest to {word!r}:", ", ".join(near for near, _ in vectors.nearest(word, 5)))

# Save, load, and use trained vectors like any others.
with tempfile.TemporaryDirectory() as temporary:
    vectors.save(Path(temporary) / "docstrings")
    again = tk.WordVectors.load(Path(temporary) / "docstrings")
    near = tk.compare("remove a file", "delete a directory", vectors=again).distance
    far = tk.compare("remove a file", "the next random number", vectors=again).distance
print(f"remove a file: {near:.2f} from deleting a directory, {far:.2f} from a random number")

# Document vectors; inference on a new text is reproducible.
model = tk.ParagraphVector(50, epochs=30, random_state=0).fit(texts)
query = model.transform(["Remove a directory with all its files."])
scores = tk.pairwise_similarities(query, model.transform(texts))[0]
print("Nearest documents:")
for position in np.argsort(-scores)[:3]:
    print(f"  {scores[position]:.2f}  {names[position]}: {texts[position]}")
print("known words of a query:", model.coverage(["a directory of quarks"])[0])
