"""One example of each explanation and each drawing, created by the methods; loaded by path."""

from pathlib import Path

from sklearn.pipeline import make_pipeline

import textkin as tk
from textkin.explain import Drawing, Explanation, Flow
from textkin.learn import DocumentClustering, NearestNeighborClassifier

TEXTS = [
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
    "The band gave a concert in Japan",
    "Cats purr and dogs bark at night in Chicago",
    "Media and press in Illinois speak of the President and the President again",
    "Investors sold shares and the market lost five percent",
]
LABELS = ["politics", "politics", "music", "animals", "politics", "money"]
QUERY = "The President speaks to the press in Chicago"

BY_INDEX = (
    "wmd", "rwmd", "wcd", "bm25", "tfidf", "cosine", "inner", "binary",
    "lsi", "plsa", "wtmf", "lda", "hybrid",
)  # fmt: skip


def filled_index(folder: Path) -> tk.Index:
    """Return an index with models of every kind."""
    index = tk.Index.create(folder / "papers.kin", language=None)
    index.add([{"id": f"d{at}", "text": text} for at, text in enumerate(TEXTS)])
    index.attach("lsi", make_pipeline(tk.TfIdf(), tk.LSI(2, random_state=0)))
    index.attach("plsa", tk.PLSA(2, random_state=0))
    weighing = tk.TfIdf("wtmf", norm=None, keep_zeros=True)
    index.attach("wtmf", make_pipeline(weighing, tk.WTMF(3, regularization=0.5, random_state=0)))
    index.attach("lda", tk.LDA(2, random_state=0, max_iter=20, tol=1e-2))
    return index


def other_explanations() -> dict[str, Explanation]:
    """Return explanations of scores without an index."""
    knn = NearestNeighborClassifier(n_neighbors=5).fit(TEXTS, LABELS)
    [voted, empty] = knn.evidence([QUERY, ""])
    reason = voted.explain(0)
    assert isinstance(reason, Explanation)
    rocchio = tk.RocchioClassifier().fit(TEXTS, LABELS)
    return {
        "compare": tk.compare(QUERY, TEXTS[0]),
        "same": tk.compare(QUERY, QUERY),
        "flow": Flow.of([("a", 1.0)], [("b", 1.0)], [(0, 0, 1.0, 2.5)]),
        "evidence": voted,
        "empty evidence": empty,
        "neighbour": reason,
        "pooling": tk.Pooling().fit(TEXTS).explain(QUERY, TEXTS[0]),
        "rocchio": rocchio.explain(QUERY),
    }


def other_drawings(index: tk.Index) -> dict[str, Drawing]:
    """Return drawings that do not explain a score."""
    counter = tk.BagOfWords()
    bags = counter.fit_transform(TEXTS)
    grid = tk.CountingGrid((3, 4), window=(2, 2), tol=0.1, random_state=0).fit(bags)
    clusters = DocumentClustering(n_clusters=2, random_state=0).fit(TEXTS)
    return {
        "topics": tk.PLSA(2, random_state=0).fit(bags).topics(counter.vocabulary_),
        "word map": grid.word_map(counter.vocabulary_),
        "group map": clusters.picture(),
        "clusters": clusters,
        "aligned": tk.compare(QUERY, TEXTS[0]).aligned(),
        "hits": index.search(QUERY),
        "no hits": index.search("unheard"),
    }
