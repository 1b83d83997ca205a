"""Count words in texts of any script: n-grams, phrases, a custom tokenizer, word order."""

import re

import textkin as tk

TEXTS = [
    "The New York Times covers New York, and the city's press reads it.",
    "Straßen in New York",
    "東京都の新聞は朝に届く。東京の新聞だ。",
]

counting = tk.BagOfWords(phrases=["New_York", "New_York_Times"])
for text in TEXTS:
    print(counting.words(text))

bags = counting.fit_transform(TEXTS)
print(f"\n{bags.shape[0]} texts x {bags.shape[1]} words, {bags.nnz} counts")

pairs = tk.BagOfWords(ngram_range=(2, 2), min_df=1, max_features=3).fit(TEXTS)
print("most frequent pairs of words:", pairs.vocabulary_.words)

own = tk.BagOfWords(None, tokenizer=re.compile(r"[^\s.,;]+"), lowercase=False)
print("split at spaces and commas:", own.words("state-of-the-art C++, e.g. templates"))

tokens = counting.tokens(TEXTS)
print("in order, as word IDs:", tokens[0].tolist())
print("and back:", tokens.words(0))
