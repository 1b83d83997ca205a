"""Search an index: rankings, filters, pages, explanations, feedback, a model, a hybrid."""

import tempfile
from pathlib import Path

import textkin as tk
from textkin.index import Cascade, WeightedSum
from textkin.reading import standard_library_docstrings

# Docstrings of Python's standard library, a corpus on every machine.
documents = {
    found.name: {
        "id": found.name,
        "text": found.text,
        "module": found.name.partition(".")[0],
        "words": len(found.text.split()),
    }
    for found in standard_library_docstrings()
}

with (
    tempfile.TemporaryDirectory() as folder,
    tk.Index.create(Path(folder) / "library.kin", stop_words="smart") as index,
):
    print(index.add(list(documents.values())))

    # The same query by different rankings. For distances, smaller is better.
    for by in ("bm25", tk.TfIdf("sklearn"), "wmd", Cascade("bm25", "wmd", candidates=50)):
        hits = index.search("delete a directory", k=3, ranking=by)
        print(f"\n{by}: smaller is better" if hits.ascending else f"\n{by}:")
        for hit in hits:
            print(f"  {hit.rank}  {hit.score:.4f}  {hit.id}: {hit.snippet(60)}")
    print(f"statistics: {dict(hits.stats)}")

    # Explanations, whose parts sum to the score.
    hits = index.search("remove a file or directory", k=5)
    print(f"\nwhy {hits[0].id}:\n{hits[0].explain().to_text()}")
    hits = index.search("erase a folder", k=1, ranking="wmd")
    print(f"\nwhy {hits[0].id}:\n{hits[0].explain().to_text()}")

    # Only some documents; only scores of at least 6; page by page.
    where = {"module": ["shutil", "pathlib", "tempfile"], "words": {"<": 30}}
    hits = index.search("temporary file path", k=3, where=where, threshold=6.0)
    while hits:
        print(f"\nhits {hits[0].rank} to {hits[-1].rank}:", *hits.ids)
        hits = hits.next()

    # Similar documents.
    print("\nsimilar to shutil.copytree:", index.similar("shutil.copytree", k=3).ids)

    # Relevance feedback: the query moves toward relevant documents.
    hits = index.search("lock", k=5)
    print("\nlock:", *hits.ids)
    threads = [hit.id for hit in hits if "thread" in hit.text]
    others = [id for id in hits.ids if id not in threads]
    refined = hits.feedback(relevant=threads, nonrelevant=others)
    print("after feedback on threads:", *refined.ids)
    words = [f"{word} {weight:.2f}" for word, weight in refined.query.words.items()]
    print("the query now:", ", ".join(words[:5]))

    # Attach a model; documents that are added later are transformed too.
    index.attach("lsi", tk.LSI(50, random_state=0))
    print("\nby lsi:", index.search("choose at random", k=3, ranking="lsi").ids)
    mixed = WeightedSum({"bm25": 0.7, "lsi": 0.3})
    print("by both:", index.search("choose at random", k=3, ranking=mixed).ids)
