"""Search an index by a sentence encoder, by its tokens, and by a hybrid with BM25.

Needs a sentence encoder: minilm.py in this folder lists the packages to install. Without it, the
example prints a message and ends. With sentence-transformers, pass the model itself:
``index.attach("minilm", encoder=SentenceTransformer("all-MiniLM-L6-v2"))``.
"""

import tempfile

import numpy as np
from minilm import open_or_leave
from numpy.typing import NDArray

import textkin as tk
from textkin.index import RankFusion, Rerank

model = open_or_leave()


def encode(texts: list[str]) -> NDArray[np.float32]:
    """Return one unit vector for each text."""
    return np.array([encoded.sentence() for encoded in model.encode(texts)])


def tokens(texts: list[str]) -> list[tk.TokenVectors]:
    """Return the vectors of the tokens of each text, with the tokens as words."""
    kept = (encoded.words() for encoded in model.encode(texts))
    return [tk.TokenVectors(each.vectors, tokens=each.tokens) for each in kept]


texts = {
    "rates": "The bank raised its interest rates again. Mortgages will cost more.",
    "river": "He sat on the bank of the river and fished. The sun went down.",
    "kitten": "A kitten sleeps on the sofa. The dog is outside.",
    "shares": "Shares fell after the central bank spoke. Investors are nervous.",
    "concert": "The band gave a concert in Tokyo. Thousands of people came.",
    "budget": "The parliament voted on the new budget. Taxes stay the same.",
}
folder = tempfile.TemporaryDirectory()
path = f"{folder.name}/notes.kin"
with tk.Index.create(path) as index:
    index.add({"id": id, "text": text} for id, text in texts.items())
    # Vectors that you have already, and the encoder for queries and new documents
    index.attach("minilm", embeddings=encode([*texts.values()]), encoder=encode, dtype="float16")
    index.add([{"id": "cat", "text": "The cat is asleep on the couch."}])
    print(index.models())

    # The encoder is not stored in the index: pass it again.
with tk.Index.open(path, models={"minilm": encode}) as index:
    query = "Borrowing money becomes more expensive"
    print(f"{query}, by the encoder:")
    hits = index.search(query, ranking="minilm", k=3)
    print(hits)
    print("The passages and words behind the score of the first hit:")
    print(hits[0].explain())

    print("By BM25 and the encoder:")
    print(index.search("a sleeping cat", ranking=RankFusion(["bm25", "minilm"]), k=2))

    print("The ten best of the encoder by their contextual tokens:")
    for metric in ("maxsim", "wmd"):
        ranking = Rerank("minilm", tokens, metric=metric, k=10)
        print(f"{metric}: {index.search(query, ranking=ranking, k=3).ids}")
    print(index.search(query, ranking=ranking, k=1)[0].explain())

# Without the encoder, a query is a vector or a document, and documents have no vector at first.
vector = encode(["music"])[0]
with tk.Index.open(path) as index:
    print(index.search(embedding=vector, ranking="minilm", k=1).ids)
    print(index.similar("kitten", ranking="minilm", k=1).ids)
folder.cleanup()
