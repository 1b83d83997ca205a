"""Train factors on all texts and a classifier on a few labels: PLSA and its Fisher kernel.

The texts are the docstrings of the standard library. The classes are numbers and dates, and
networks and mail.

python examples/few_labels.py
"""

import numpy as np
from sklearn.svm import LinearSVC

import textkin as tk
from textkin.reading import standard_library_docstrings

KINDS = {
    "decimal": 0, "fractions": 0, "statistics": 0, "datetime": 0, "random": 0, "calendar": 0,
    "http": 1, "smtplib": 1, "imaplib": 1, "ftplib": 1, "socket": 1, "ssl": 1, "urllib": 1,
}  # fmt: skip
LABELS_OF_EACH = 8

found = [text for text in standard_library_docstrings() if text.name.split(".")[0] in KINDS]
labels = np.array([KINDS[text.name.split(".")[0]] for text in found])
counter = tk.BagOfWords(min_count=2)
bags = counter.fit_transform([text.text for text in found])

plsa = tk.PLSA(8, random_state=0).fit(bags)
print(f"{bags.shape[0]} texts; the words of four of eight factors:\n")
print(plsa.topics(counter.vocabulary_, n_words=6)[:4])

# The model sees all texts and no label; the classifier sees a few labels.
kernel = tk.FisherKernel([1, 8], normalize=True, random_state=0).fit(bags)
rows = {"words": tk.TfIdf("sklearn").fit_transform(bags), "kernel": kernel.transform(bags)}
random = np.random.default_rng(0)
right: dict[str, list[float]] = {name: [] for name in rows}
for _ in range(20):
    known = np.concatenate(
        [random.choice(np.flatnonzero(labels == k), LABELS_OF_EACH, replace=False) for k in (0, 1)]
    )
    others = np.setdiff1d(np.arange(len(labels)), known)
    for name, features in rows.items():
        classifier = LinearSVC(random_state=0).fit(features[known], labels[known])
        right[name].append(classifier.score(features[others], labels[others]))
# With few and short texts, both are about equal; docs/topic-models.md has a large set.
print(f"\nAccuracy with {LABELS_OF_EACH} labels per class, mean of 20 samples:")
for name, scores in right.items():
    print(f"  {name}: {100 * np.mean(scores):.0f} %")
