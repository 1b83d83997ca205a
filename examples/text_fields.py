"""Index papers with a title and an abstract, and let words of the title count three times."""

import tempfile

import textkin as tk

PAPERS = [
    {
        "id": "kusner",
        "title": "From word embeddings to document distances",
        "abstract": "The distance that words travel from one text to another compares documents.",
    },
    {
        "id": "deerwester",
        "title": "Indexing by latent semantic analysis",
        "abstract": "Singular vectors of words and documents; documents near a query are returned. "
        "Documents are close if their words occur in similar documents.",
    },
    {
        "id": "robertson",
        "title": "Simple BM25 extension to multiple weighted fields",
        "abstract": "Weighted fields of documents, such as the title, are combined before scoring.",
    },
    {"id": "salton", "title": "A vector space model for automatic indexing", "abstract": None},
]

with tempfile.TemporaryDirectory() as folder:
    for weight in (1, 3):
        weights = {"title": weight, "abstract": 1}
        with tk.Index.create(f"{folder}/papers{weight}.kin", text=weights) as index:
            index.add(PAPERS)
            print(f"\nTitles count {weight} x:")
            print(index.search("documents", k=2))

    with tk.Index.open(f"{folder}/papers3.kin") as index:
        print("\nWhy:", index.search("documents", k=1)[0].explain(), sep="\n")

        # A prefix requires a word or a phrase in one field.
        for query in ("title:indexing", 'abstract:"weighted fields"', "documents -title:document"):
            hits = index.search(query)
            print(f"\n{query}:", ", ".join(f"{hit.id} {hit.fields}" for hit in hits))

        # A document keeps its fields; its text joins them.
        print("\n", index["kusner"].fields["title"], sep="")
        print(repr(index["kusner"].text[:60]))
