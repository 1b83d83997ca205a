"""Represent documents as Fisher vectors: gradients of a mixture over word vectors.

python examples/fisher_vectors.py
"""

import textkin as tk

TEXTS = [
    "The president met the press in Washington",
    "A minister answers questions of reporters in parliament",
    "The senator speaks to journalists about the election",
    "The band gave a concert in Tokyo",
    "A singer and two guitars on a small stage",
    "The orchestra plays a symphony",
    "Rain and strong winds along the coast",
    "Snow falls in the mountains tonight",
]
NEW = ["Journalists question the chancellor", "A quartet plays jazz", "A storm with heavy rain"]

for mixture in ("vmf", "gmm"):
    fisher = tk.FisherVector(n_components=3, mixture=mixture, random_state=0).fit(TEXTS)
    cosines = tk.pairwise_similarities(fisher.transform(NEW), fisher.transform(TEXTS))
    print(f"{type(fisher.mixture_).__name__}: {len(fisher.get_feature_names_out())} numbers a text")
    for text, row in zip(NEW, cosines, strict=True):
        print(f"  {text} -> {TEXTS[row.argmax()]} ({row.max():.2f})")

# Word vectors of LSI, trained on the texts themselves.
counter = tk.BagOfWords("smart")
lsi = tk.LSI(4, random_state=0).fit(tk.TfIdf().fit_transform(counter.fit_transform(TEXTS)))
words = lsi.word_vectors(counter.vocabulary_)
vectors = tk.FisherVector(2, vectors=words, random_state=0).fit_transform(TEXTS)
print(f"on LSI: {vectors.shape[1]} numbers a text")
