"""Make a map of the words of a corpus: words that occur together are close.

python examples/word_map.py
"""

from collections import defaultdict
from pathlib import Path

import textkin as tk
from textkin.reading import standard_library_docstrings

# One document per class or function of the standard library, including its methods.
texts = defaultdict(list)
for found in standard_library_docstrings():
    texts[".".join(found.name.split(".")[:2])].append(found.text)

counter = tk.BagOfWords("smart", min_count=3)
bags = counter.fit_transform([" ".join(parts) for parts in texts.values()])
grid = tk.CountingGrid((8, 10), window=(3, 3), tol=1e-4, random_state=0).fit(bags)

# The map is a torus: it continues from right to left, and from bottom to top.
words = grid.word_map(counter.vocabulary_)
print(words.to_text(width=120))
Path("word-map.svg").write_text(words.to_svg(), encoding="utf-8")
print("\nWrote word-map.svg.")

# Documents have positions on the map: windows of three by three cells.
question = counter.transform(["read a member of an archive from an open file"])
place = grid.transform(question)[0]
row, column = divmod(int(place.argmax()), 10)
print(f"\nA question about archives has {place.max():.0%} of its words in the window of row {row},")
print(f"column {column}. Documents with a similar distribution over the map:")
near = tk.pairwise_similarities(place[None, :], grid.document_topics_)[0].argsort()[::-1]
names = list(texts)
print("  " + ", ".join(names[at] for at in near[:4]))
