"""Compare contextual tokens by MaxSim and exact transport, with alignments and proofs.

Needs a sentence encoder: minilm.py in this folder lists the packages to install. Without it, the
example prints a message and ends.
"""

from minilm import open_or_leave

import textkin as tk
from textkin.transport import bert_score, max_sim

model = open_or_leave()


def documents(texts: list[str]) -> list[tk.TokenVectors]:
    """Encode texts: the vector of each token in its context, with the token as text."""
    kept = (encoded.words() for encoded in model.encode(texts))
    return [tk.TokenVectors(each.vectors, tokens=each.tokens) for each in kept]


texts = [
    "The bank raised its interest rates again.",
    "He sat on the bank of the river and fished.",
    "A kitten sleeps on the sofa.",
    "The cat is asleep on the couch.",
    "Shares fell after the central bank spoke.",
    "The band gave a concert in Tokyo.",
    "Musicians performed in Japan last night.",
    "The president greeted the press in Chicago.",
    "The parliament voted on the new budget.",
    "Children learn to read at school.",
]
queries = ["Borrowing money becomes more expensive", "A cat naps on a settee"]
corpus, asked = documents(texts), documents(queries)

# Each token of a query matches its nearest token of a document: ColBERT's late interaction.
mover = tk.TokenMover(n_jobs=-1).fit(corpus)
similar = mover.search_max_sim(asked, k=3)
for query, (scores, row) in zip(queries, similar, strict=True):
    print(f"{query}, by MaxSim:")
    for score, i in zip(scores, row, strict=True):
        print(f"  {score:.3f}  {texts[i]}")

# Exact transport: the tokens of the document must be matched too. With the proof.
found = mover.search(asked, k=3)
for query, (distances, row) in zip(queries, found, strict=True):
    print(f"{query}, by exact transport:")
    for i, distance in zip(row, distances, strict=True):
        print(f"  {distance:.3f}  {texts[i]}")
print(found.certificate(0).verify())

# The alignment of the tokens, with costs.
best = int(found.indices[1, 0])
why = mover.explain(asked[1], corpus[best])
print(why)
print(why.verify())

# The idf of the corpus gives rare tokens more weight, in transport, MaxSim, and BERTScore.
idf = tk.weighting.TokenIdf().fit(corpus)
weighed, question = idf.transform(corpus), idf.transform(asked)
print("MaxSim by idf:", max_sim(question, weighed).argmax(axis=1))
score = bert_score(question[1:], [weighed[best]])
print(f"BERTScore: P {score.precision[0]:.3f}, R {score.recall[0]:.3f}, F {score.f1[0]:.3f}")

# As in MoverScore: pairs of adjacent tokens, by Euclidean distance.
pairs = tk.TokenMover("euclidean", unit=True)
print(f"bigrams: {pairs.distance(question[1].ngrams(2), weighed[best].ngrams(2)):.3f}")
