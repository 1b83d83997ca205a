"""Pool word vectors into document vectors, find the nearest document, and explain it.

::

    python examples/pool_documents.py
"""

import textkin as tk
from textkin.reading import standard_library_docstrings

QUERIES = ["delete a folder", "how many days are in a month", "send an email message"]


def main() -> None:
    """Pool the docstrings of the standard library and search them by meaning."""
    documents = list(standard_library_docstrings())
    texts = [document.text for document in documents]
    # Frequent words weigh little, and the common component of all docstrings is removed.
    pooling = tk.Pooling(word_weights="sif", remove_components=1, stop_words=None)
    vectors = pooling.fit_transform(texts)
    print(f"{len(texts)} docstrings, {vectors.shape[1]} dimensions", end="; ")
    print(f"{len(pooling.empty_documents(texts))} without a word that has a vector")
    for query in QUERIES:
        cosines = tk.pairwise_similarities(pooling.transform([query]), vectors)[0]
        best = cosines.argmax()
        first_line = texts[best].strip().splitlines()[0]
        print(f"\n{query!r} -> {documents[best].name}: {first_line}")
        print(pooling.explain(query, texts[best]).to_text(limit=4))


if __name__ == "__main__":
    main()
