"""Read documents from a folder, from malformed records, and from a long text in passages."""

import tempfile
from pathlib import Path

import textkin as tk

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "sport").mkdir()
    (folder / "sport" / "final.txt").write_text("The striker scored twice in the final.\n")
    (folder / "sport" / "relay.txt").write_text("The runners broke the world record.\n")
    (folder / "budget.txt").write_text("The government presented its budget.\n")

    # A folder: each text file is a document, with its path as the ID.
    documents = list(tk.read(folder))
    query = "Two goals decided the match"
    distances = tk.WordMover().pairwise([query], [document.text for document in documents])[0]
    print(f"nearest to {query!r}:")
    for distance, document in sorted(zip(distances, documents, strict=True), key=lambda d: d[0]):
        print(f"  {distance:.3f}  {document.id}")

    # Records: columns by name, the rest is metadata. Errors name file and line.
    reviews = folder / "reviews.csv"
    reviews.write_text(
        "key,body,stars,year\n"
        "r1,Lovely film with a clever plot,5,2015\n"
        "r2,Dull,1\n"
        "r3,The actors saved it,3,2020\n"
    )
    try:
        list(tk.read(reviews, text="body", id="key", label="stars"))
    except ValueError as error:
        print(f"\n{str(error).removeprefix(name)}")
    read = tk.read(reviews, text="body", id="key", label="stars", errors="skip")
    for document in read:
        print(f"  {document}")
    print(f"  skipped: {read.skipped.count}")

    # A long document in paragraphs with their positions.
    essay = folder / "essay.md"
    essay.write_text("Cats sleep all day.\n\nAt night they hunt mice.\n\nDogs guard the house.\n")
    print()
    for passage in tk.read(essay, split="paragraph"):
        start, end = passage.metadata["passage_start"], passage.metadata["passage_end"]
        print(f"  {passage.id}  characters {start} to {end}: {passage.text}")
