"""Weight words, rank documents for a query, and compare rankings.

python examples/weigh_and_rank.py
"""

import textkin as tk

DOCUMENTS = [
    "The cat sat on the mat and looked at the dog",
    "Dogs and cats are the pets that most people keep",
    "Heart rate and blood pressure rise under stress",
    "The pressure of the blood in the lung of a dog",
    "A lens bends light towards the eye of the observer",
]
QUERY = "blood pressure of dogs"

counter = tk.BagOfWords()
bags = counter.fit_transform(DOCUMENTS)
query = counter.transform([QUERY])

tfidf = tk.TfIdf().fit(bags)
bm25 = tk.BM25().fit(bags)
rankings = {
    "counts, cosine": tk.pairwise_similarities(query, bags),
    "tf-idf, cosine": tk.pairwise_similarities(tfidf.transform(query), tfidf.transform(bags)),
    "BM25": tk.pairwise_similarities(bm25.transform_queries(query), bm25.transform(bags), "inner"),
    "weighted Jaccard": tk.pairwise_similarities(query, bags, "weighted-jaccard"),
}

print(f"Query: {QUERY!r}")
for name, [scores] in rankings.items():
    best = scores.argsort()[::-1][:2]
    print(f"\n{name}")
    for position in best:
        print(f"  {scores[position]:.3f}  {DOCUMENTS[position]}")

words = [text.lower().split() for text in ("the cat sat on the mat", "the dog sat on a mat")]
[[edits]] = tk.pairwise_distances(words[:1], words[1:], "edit")
print(f"\n{edits:.0f} words differ between {' '.join(words[0])!r} and {' '.join(words[1])!r}")
