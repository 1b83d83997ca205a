"""Compare methods on your data: labeled texts, judged queries, and scored pairs.

The script writes tiny files in the formats that the readers take. Put your own files in their
place. See docs/evaluation.md; `textkin evaluate` does the same on the command line.

python examples/evaluate_your_data.py
"""

import json
import tempfile
from pathlib import Path

from sklearn.metrics import f1_score, zero_one_loss

import textkin as tk
from textkin import evaluate as ev

LABELLED = {
    "sport": [
        "The striker scored twice in the final",
        "A late goal decided the match",
        "The runners broke the world record",
        "The coach praised her goalkeeper",
        "Two goals before half time won the cup",
        "The sprinter won gold in the relay",
    ],
    "money": [
        "The central bank raised interest rates",
        "Stocks fell after the weak report",
        "The company doubled its profit",
        "Investors sold shares in a panic",
        "Profits rose and so did the shares",
        "The bank lowered its rates again",
    ],
}
QUERIES = {
    "q1": ("goals in a football match", {"sport/0": 1, "sport/1": 2, "sport/4": 2}),
    "q2": ("falling share prices", {"money/1": 2, "money/3": 1}),
    "q3": ("athletics", {"sport/2": 2, "sport/5": 2}),
}
PAIRS = [
    (4.5, "A cat sleeps on the sofa", "A kitten is sleeping on the couch"),
    (3.0, "The man plays a guitar", "A musician plays the piano"),
    (1.0, "The bank raised its rates", "The river bank was flooded"),
    (0.0, "The plane took off", "She is slicing an onion"),
]


def lines(records: list[dict[str, object]]) -> str:
    """Return records as JSON Lines."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def write_data(folder: Path) -> None:
    """Write the three kinds of data as files."""
    labelled = [
        {"id": f"{label}/{n}", "text": text, "label": label, "fold": n % 3}
        for label, texts in LABELLED.items()
        for n, text in enumerate(texts)
    ]
    (folder / "labelled.jsonl").write_text(lines(labelled))
    (folder / "news").mkdir()
    corpus = [{"_id": each["id"], "title": "", "text": each["text"]} for each in labelled]
    (folder / "news" / "corpus.jsonl").write_text(lines(corpus))
    queries = [{"_id": name, "text": text} for name, (text, _) in QUERIES.items()]
    (folder / "news" / "queries.jsonl").write_text(lines(queries))
    qrels = {name: judged for name, (_, judged) in QUERIES.items()}
    ev.write_qrels(folder / "news" / "qrels.txt", qrels)
    rows = ["dataset\tgold\tsentence1\tsentence2"]
    rows += [f"mine\t{gold}\t{first}\t{second}" for gold, first, second in PAIRS]
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")


def classify(folder: Path) -> None:
    """Compare classifiers on labeled texts, fold by fold."""
    data = ev.read_labeled(folder / "labelled.jsonl")
    print(ev.duplicate_counts(data))
    found = ev.evaluate_labels(data)
    print(f"{found}\n")
    for row, said in zip(data.splits[0][1], found.predictions["knn-wmd"][0], strict=True):
        if said != data.labels[row]:
            print(f"  knn-wmd says {said} of {data.texts[row]!r}")


def retrieve(folder: Path) -> None:
    """Compare rankings on judged queries, and write their runs for other tools."""
    found = ev.evaluate_search(folder / "news", rankings=["bm25", "tfidf", "wmd"])
    print(f"{found}\n")
    for name, run in found.runs.items():
        ev.write_run(folder / f"{name}.run", run, tag=name)
    print(f"  AP of each query by wmd: {found.queries['wmd']['map'].values}")


def score_pairs(folder: Path) -> None:
    """Compare similarities with human scores; one method is a function."""

    def shared_words(first: list[str], second: list[str]) -> list[float]:
        sides = [[set(tk.text.tokenize(text)) for text in texts] for texts in (first, second)]
        return [len(one & other) / len(one | other) for one, other in zip(*sides, strict=True)]

    methods = {"wmd": "wmd", "pooling": "pooling", "shared words": shared_words}
    print(ev.evaluate_pairs(folder / "pairs.tsv", methods=methods))


def measure_your_own(folder: Path) -> None:
    """Measure any other classifier by its predictions, and test the difference."""
    data = ev.read_labeled(folder / "labelled.jsonl").with_random_splits(1, test=0.5)
    train, test = data.splits[0]
    true = [data.labels[row] for row in test]
    right = {}
    for vote in ("majority", "distance"):
        classifier = tk.NearestNeighborClassifier(n_neighbors=3, vote=vote)
        classifier.fit([data.texts[row] for row in train], [data.labels[row] for row in train])
        said = classifier.predict([data.texts[row] for row in test]).tolist()
        right[vote] = [one == other for one, other in zip(said, true, strict=True)]
        error, f1 = zero_one_loss(true, said), f1_score(true, said, average="macro")
        print(f"  {vote:<9} error {error:.3f}, macro-F1 {f1:.3f}")
    print(f"  {ev.paired_randomization(right['distance'], right['majority'])}")


with tempfile.TemporaryDirectory() as name:
    write_data(Path(name))
    classify(Path(name))
    retrieve(Path(name))
    score_pairs(Path(name))
    measure_your_own(Path(name))
