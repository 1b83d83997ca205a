"""Documents as vectors: pool the vectors of their words, find the nearest, say why.

::

    python examples/pool_documents.py
"""

import textkin as tk
from textkin.text import standard_library_docstrings

QUERIES = ["delete a folder", "how many days are in a month", "send an email message"]


def main() -> None:
    """Pool the docstrings of the standard library and search them by meaning."""
    documents = list(standard_library_docstrings())
    texts = [document.text for document in documents]
    # Frequent words weigh little, what all docstrings share is taken away.
    pooling = tk.Pooling(weights="sif", remove_components=1, stop_words=None)
    vectors = pooling.fit_transform(texts)
    print(f"{len(texts)} docstrings, {vectors.shape[1]} numbers each", end="; ")
    print(f"{len(pooling.empty_documents(texts))} without a word that has a vector")
    for query in QUERIES:
        cosines = tk.similarities(pooling.transform([query]), vectors)[0]
        best = cosines.argmax()
        first_line = texts[best].strip().splitlines()[0]
        print(f"\n{query!r} -> {documents[best].name}: {first_line}")
        print(pooling.explain(query, texts[best]).to_text(limit=4))


if __name__ == "__main__":
    main()
