"""Save a classifier, a clustering, and a search to folders, and load them in another process.

python examples/save_and_load.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import textkin as tk

TEXTS = [
    "The cat purrs on the sofa", "A puppy chases the ball", "Kittens sleep all day",
    "The bank raised its rates", "Stocks fell in Tokyo", "Investors sold their shares",
]  # fmt: skip
LABELS = ["pets", "pets", "pets", "money", "money", "money"]
QUERY = "A small kitten plays"

OTHER_PROCESS = """
import sys
import textkin as tk

classifier, clusters, search = map(tk.load, sys.argv[2:])
print(*classifier.predict_proba([sys.argv[1]])[0])
print(*clusters.predict([sys.argv[1]]))
print(*search.search([sys.argv[1]], k=2).distances[0])
"""

classifier = tk.NearestNeighborClassifier(n_neighbors=3).fit(TEXTS, LABELS)
clusters = tk.DocumentClustering(2, method="kmedoids", random_state=0).fit(TEXTS)
search = tk.WordMover(word_weights="tfidf").fit(TEXTS)

with tempfile.TemporaryDirectory() as temporary:
    folders = [str(Path(temporary) / name) for name in ("classifier", "clusters", "search")]
    for estimator, folder in zip((classifier, clusters, search), folders, strict=True):
        estimator.save(folder)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"{type(estimator).__name__:26}{size / 1024:6.0f} KB")
    command = [sys.executable, "-c", OTHER_PROCESS, QUERY, *folders]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout

print(f"\n{QUERY!r}, in another process:")
for name, line in zip(
    ("shares of classes", "cluster", "distances"), found.splitlines(), strict=True
):
    print(f"  {name:20}{line}")

shares, cluster, distances = (line.split() for line in found.splitlines())
assert list(map(float, shares)) == classifier.predict_proba([QUERY])[0].tolist()
assert list(map(int, cluster)) == clusters.predict([QUERY]).tolist()
assert list(map(float, distances)) == search.search([QUERY], k=2).distances[0].tolist()
print("All numbers are bit-identical to those of the fitted estimators.")
