"""Keep documents in an index: add, update, mirror, delete, read, copy, verify."""

import tempfile
from pathlib import Path

import textkin as tk

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    papers = folder / "papers"
    papers.mkdir()
    (papers / "cats.txt").write_text("Cats sleep all day, and hunt mice at night.\n")
    (papers / "dogs.txt").write_text("Dogs guard the house.\n")

    # An index of a folder of files. Reading settings are fixed when it is created.
    with tk.Index.create(folder / "papers.kin", stop_words="smart") as index:
        print("add:   ", index.add(tk.read(papers)))

        # After changes, only changed documents are counted again; a mirror also deletes.
        (papers / "dogs.txt").write_text("Dogs guard the house and chase cats.\n")
        (papers / "birds.txt").write_text("Birds sing in the morning.\n")
        print("update:", index.update(tk.read(papers)))
        (papers / "cats.txt").unlink()
        print("mirror:", index.mirror(tk.read(papers)))

        # Records with metadata, which must be JSON. A list is added in one transaction.
        records = [
            {"id": "n1", "text": "Stocks fell.", "label": "money", "year": 2020},
            {"id": "n2", "text": "It rained.", "label": "weather", "year": 2021},
        ]
        print("add:   ", index.add(records))
        try:
            index.add([{"id": "n3", "text": "The sun shone."}, records[0]])
        except tk.exceptions.AddError as error:
            print("error: ", error)
        print("delete:", index.delete(["n2"]))

    # Open it again, in this or another process; any number of readers can.
    with tk.Index.open(folder / "papers.kin") as index:
        for document in index:
            print(f"  {document.id}: {document.text.strip()!r} {dict(document.metadata)}")
        words = dict(zip(index.vocabulary().words, index.document_frequencies(), strict=True))
        print("documents with 'house':", words["house"])
        bags = index.bags()
        print(f"counts: {bags.shape[0]} documents x {bags.shape[1]} words ever added")

        # A backup of one snapshot, and a check of every file against its hash.
        index.copy(folder / "backup.kin").close()
        index.verify()
        info = index.info()
        print(
            f"valid: {info.documents} documents, {info.tokens} words, {info.bytes['total']:,} bytes"
        )

    # A corrupt segment is found and rebuilt from the catalog.
    with tk.Index.open(folder / "backup.kin") as backup:
        backup.compact()
    [segment] = (folder / "backup.kin" / "segments").iterdir()
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)
    with tk.Index.open(folder / "backup.kin") as backup:
        try:
            backup.verify()
        except tk.exceptions.DamagedIndexError as error:
            print("corrupt:", *error.problems)
        backup.verify(repair=True)
        print("repaired:", backup.ids)
