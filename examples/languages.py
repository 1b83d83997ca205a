"""Rank by stems of a language, and compare the same documents by exact transport."""

import tempfile
from pathlib import Path

import textkin as tk

with tempfile.TemporaryDirectory() as name:
    # The default language is English: BM25 reads stems, transport reads words.
    with tk.Index.create(Path(name) / "english.kin") as index:
        index.add(["Dogs were barking at night", "A cat sleeps", "The band played loud music"])
        hits = index.search("the dog barks")
        print("found:  ", hits[0].snippet(marks=("[", "]")))
        print(hits[0].explain())
        print("wmd:    ", index.search("A kitten naps", k=1, ranking="wmd")[0].text)
        info = index.info()
        print(f"words:   {info.words}, terms: {info.terms}, language: {info.language}")

    with tk.Index.create(Path(name) / "german.kin", language="de") as index:
        index.add(["Die Häuser der Stadt", "Der Wald"])
        print("german: ", index.search("Haus in den Städten").ids)

    # Whole words: a query finds only the same form.
    with tk.Index.create(Path(name) / "words.kin", language=None) as index:
        index.add(["Dogs were barking at night"])
        print("words:  ", len(index.search("dog barks")), "hits")
