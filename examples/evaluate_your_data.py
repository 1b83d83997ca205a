"""How good is it on my data: labelled texts, judged queries and scored pairs, read and measured.

The data are made here, tiny, in the formats that the readers take; put your own files in their
place. See docs/evaluation.md.

python examples/evaluate_your_data.py
"""

import json
import tempfile
from pathlib import Path

import numpy as np

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


def nearest_labels(distances: np.ndarray, labels: list[str]) -> list[str]:
    """Return the label of the nearest document of each row."""
    return [labels[column] for column in distances.argmin(axis=1)]


def classify(folder: Path) -> None:
    """Measure two distances by the label of the nearest neighbour, fold by fold."""
    data = ev.read_labelled(folder / "labelled.jsonl")
    print(data)
    print(ev.duplicate_counts(data))
    right: dict[str, list[bool]] = {"words": [], "transport": []}
    for train, test in data.splits:
        known, asked = ([data.texts[row] for row in rows] for rows in (train, test))
        labels, true = ([data.labels[row] for row in rows] for rows in (train, test))
        counter = tk.BagOfWords().fit(known)
        bags = (counter.transform(side) for side in (asked, known))
        said = {
            "words": nearest_labels(tk.distances(*bags, "euclidean"), labels),
            "transport": nearest_labels(tk.WordMover().pairwise(asked, known), labels),
        }
        for name, found in said.items():
            right[name] += [one == other for one, other in zip(found, true, strict=True)]
    for name, found in right.items():
        print(f"  {name:<10} accuracy {np.mean(found):.3f}")
    print(f"  {ev.paired_randomisation(right['transport'], right['words'])}")


def retrieve(folder: Path) -> None:
    """Measure two rankings of the documents of each query."""
    data = ev.read_retrieval(folder / "news")
    print(data)
    names, texts = list(data.queries), list(data.queries.values())
    counter = tk.BagOfWords().fit(data.documents)
    bm25 = tk.BM25().fit(counter.transform(data.documents))
    by_words = tk.similarities(
        bm25.transform_queries(counter.transform(texts)),
        bm25.transform(counter.transform(data.documents)),
        "inner",
    )
    by_transport = -tk.WordMover().pairwise(texts, data.documents)
    found = {}
    for name, scores in {"BM25": by_words, "transport": by_transport}.items():
        run = ev.as_run(names, data.ids, scores)
        ev.write_run(folder / f"{name}.run", run, tag=name)
        found[name] = ev.average_precision(data.qrels, run)
        print(f"  {name:<10} {found[name]}")
        print(f"  {'':<10} {ev.ndcg_at_k(data.qrels, run, 10)}")
    print(f"  {ev.paired_t_test(found['transport'], found['BM25'])}")


def score_pairs(folder: Path) -> None:
    """Measure how well a similarity of sentences follows people."""
    data = ev.read_pairs(folder / "pairs.tsv")
    mover = tk.WordMover()
    scores = [
        -mover.distance(one, other) for one, other in zip(data.first, data.second, strict=True)
    ]
    print(data)
    print(f"  Pearson {ev.pearson(data.gold, scores):.3f}")
    print(f"  Spearman {ev.spearman(data.gold, scores):.3f}")


with tempfile.TemporaryDirectory() as name:
    write_data(Path(name))
    classify(Path(name))
    retrieve(Path(name))
    score_pairs(Path(name))
