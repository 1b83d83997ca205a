"""Cluster documents, and print what each cluster is about.

python examples/cluster_documents.py
"""

from collections import defaultdict
from pathlib import Path

import textkin as tk
from textkin.reading import standard_library_docstrings

# One document per class or function of the standard library, including its methods.
texts = defaultdict(list)
for found in standard_library_docstrings():
    texts[".".join(found.name.split(".")[:2])].append(found.text)
names = list(texts)
documents = [" ".join(parts) for parts in texts.values()]

clusters = tk.DocumentClustering(8, random_state=0).fit(documents)
print(clusters.to_text(width=110))

Path("clusters.html").write_text(clusters.to_html(title="The standard library"), encoding="utf-8")
print("\nWrote the map to clusters.html.\n")

for cluster in clusters.clusters_[:3]:
    print(f"{cluster.number}:", ", ".join(names[at] for at in cluster.members[:5]))

# New documents go to the cluster with the nearest center.
question = "read the members of a compressed archive file"
[number] = clusters.predict([question])
words = " ".join(word for word, _ in clusters.clusters_[number].words[:4])
print(f"\n{question!r} belongs to cluster {number}: {words}")

# By the Word Mover's Distance, short texts can be similar without common words.
mails = [
    "The parcel never arrived",
    "My package is lost",
    "Delivery is late again",
    "I forgot my password",
    "Cannot login to my account",
    "The card was charged twice",
    "My bank paid two times",
]
by_words = tk.DocumentClustering(3, method="kmedoids", random_state=0).fit(mails)
print()
for cluster in by_words.clusters_:
    print(" · ".join(mails[at] for at in cluster.members))
