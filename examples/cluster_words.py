"""Group words by the directions of their vectors.

python examples/cluster_words.py
"""

import numpy as np

import textkin as tk
from textkin.text import smart_words

# Frequent alphabetic words; the cosine of their vectors measures similarity.
vectors = tk.WordVectors.builtin()
ignored = smart_words()
rows = [
    row
    for row, word in enumerate(vectors.words[:6000])
    if word.isalpha() and len(word) > 2 and word not in ignored
][:5000]
words = np.array([vectors.words[row] for row in rows])
matrix = vectors.matrix[rows]

mixture = tk.models.VonMisesFisherMixture(15, tol=1e-3, random_state=0).fit(matrix)
print(f"{len(words)} words, mean log-likelihood {mixture.score(matrix):.1f}\n")
print("share  kappa  words nearest to the mean of the component")
nearness = tk.pairwise_similarities(mixture.means_, matrix)
for component in np.argsort(-mixture.weights_):
    best = words[np.argsort(-nearness[component])[:8]]
    share, kappa = mixture.weights_[component], mixture.kappas_[component]
    print(f"{share:5.1%} {kappa:6.1f}  {', '.join(best)}")

# A word can belong to several groups.
row = vectors.words.index("bank")
parts = mixture.predict_proba(vectors.matrix[[row]])[0]
print("\n'bank' belongs to")
for component in np.argsort(-parts)[:3]:
    best = words[np.argsort(-nearness[component])[:4]]
    print(f"  {parts[component]:6.1%} {', '.join(best)}")
