"""Search an index: rankings, filters, pages, reasons, feedback, a model, a hybrid."""

import tempfile
from pathlib import Path

import textkin as tk
from textkin.index import Cascade, WeightedSum
from textkin.text import standard_library_docstrings

# A corpus that every machine has: what functions of Python's standard library say of themselves.
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

    # The same question by different rankings. Of a distance, small is near.
    for by in ("bm25", tk.TfIdf("sklearn"), "wmd", Cascade("bm25", "wmd", candidates=50)):
        hits = index.search("delete a directory", k=3, by=by)
        print(f"\n{by}: small is near" if hits.ascending else f"\n{by}:")
        for hit in hits:
            print(f"  {hit.rank}  {hit.score:.4f}  {hit.id}: {hit.snippet(60)}")
    print(f"what it took: {dict(hits.stats)}")

    # Why: the parts sum to the score.
    hits = index.search("remove a file or directory", k=5)
    print(f"\nwhy {hits[0].id}:\n{hits[0].explain().to_text()}")
    hits = index.search("erase a folder", k=1, by="wmd")
    print(f"\nwhy {hits[0].id}:\n{hits[0].explain().to_text()}")

    # Only some documents; only scores of at least 6; page by page.
    where = {"module": ["shutil", "pathlib", "tempfile"], "words": {"<": 30}}
    hits = index.search("temporary file path", k=3, where=where, threshold=6.0)
    while hits:
        print(f"\nhits {hits[0].rank} to {hits[-1].rank}:", *hits.ids)
        hits = hits.next()

    # Documents like one of them.
    print("\nlike shutil.copytree:", index.similar("shutil.copytree", k=3).ids)

    # Relevance feedback: the query moves towards what is right, and away from what is not.
    hits = index.search("lock", k=5)
    print("\nlock:", *hits.ids)
    threads = [hit.id for hit in hits if "thread" in hit.text]
    others = [id for id in hits.ids if id not in threads]
    refined = hits.feedback(relevant=threads, nonrelevant=others)
    print("those of threads are meant:", *refined.ids)
    words = [f"{word} {weight:.2f}" for word, weight in refined.query.words.items()]
    print("the query now:", ", ".join(words[:5]))

    # A model of one's own: documents that are added later are transformed as they are added.
    index.attach("lsi", tk.LSI(50, random_state=0))
    print("\nby lsi:", index.search("choose at random", k=3, by="lsi").ids)
    mixed = WeightedSum({"bm25": 0.7, "lsi": 0.3})
    print("by both:", index.search("choose at random", k=3, by=mixed).ids)
