"""Tiny data folder in the shared formats, created once: experiments run on it in seconds."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

TOPICS = {
    "pets": ["cat", "dog", "kitten", "puppy", "animal", "fur", "tail", "paw", "bark", "meow"],
    "food": [
        "bread",
        "cheese",
        "butter",
        "kitchen",
        "cook",
        "dinner",
        "lunch",
        "soup",
        "apple",
        "salt",
    ],
    "money": [
        "bank",
        "market",
        "price",
        "trade",
        "stock",
        "profit",
        "loss",
        "company",
        "shares",
        "dollar",
    ],
}
COMMON = ["the", "of", "and", "to", "in", "is", "with", "for", "on", "people", "time", "year"]
LABELLED = (
    "20news",
    "classic",
    "mr",
    "ohsumed23",
    "r8",
    "recipe_substitute",
    "subj",
    "twitter",
)
OF_FIVE_SPLITS = ("classic", "recipe_substitute", "twitter")
OF_TEN_FOLDS = ("mr", "subj")
RETRIEVAL = ("cacm", "cran", "lisa", "med", "scifact", "time")


def written(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def some_text(rng: np.random.Generator, topic: str, length: int = 12) -> str:
    words = rng.choice(TOPICS[topic], length).tolist() + rng.choice(COMMON, 4).tolist()
    rng.shuffle(words)
    return " ".join(words)


def labelled_records(name: str, n: int = 45) -> list[dict]:
    rng = np.random.default_rng(len(name))
    topics = list(TOPICS)[: 2 if name in OF_TEN_FOLDS else 3]
    records = []
    for i in range(n):
        topic = topics[i % len(topics)]
        record = {"id": str(i), "text": some_text(rng, topic), "label": topic}
        if name in OF_TEN_FOLDS:
            record |= {"split": "all", "fold": i // len(topics) % 10}
        elif name in OF_FIVE_SPLITS:
            splits = ["test" if (i + 7 * s) % 10 < 3 else "train" for s in range(5)]
            record |= {"split": splits[0], "splits": splits}
        else:
            record["split"] = "test" if i % 10 < 3 else "train"
        records.append(record)
    records[-1]["text"] = records[-2]["text"]  # the same bag twice
    return records


def write_retrieval(folder: Path) -> None:
    rng = np.random.default_rng(len(folder.name))
    topics = [list(TOPICS)[i % 3] for i in range(24)]
    documents = [
        {"id": f"d{i}", "title": f"{topic} {i}", "text": some_text(rng, topic)}
        for i, topic in enumerate(topics)
    ]
    queries = [
        {"id": f"q{i}", "text": some_text(rng, topic, 4), "split": "train" if i % 2 else "test"}
        for i, topic in enumerate(topics[:6])
    ]
    judged = [
        f"q{q}\td{d}\t{1 + d % 2}"
        for q in range(6)
        for d, topic in enumerate(topics)
        if topic == topics[q] and (d + q) % 3
    ]
    written(folder / "docs.jsonl.gz", [json.dumps(row) for row in documents])
    written(folder / "queries.jsonl.gz", [json.dumps(row) for row in queries])
    written(folder / "qrels.tsv.gz", judged)


def write_pairs(path: Path, sets: tuple[str, ...], n: int = 12) -> None:
    rng = np.random.default_rng(len(path.name))
    lines = ["dataset\tgold\tsentence1\tsentence2"]
    for name in sets:
        for i in range(n):
            gold = 5 * (i % 3) / 2
            first = some_text(rng, "pets", 6)
            shared = first.split()[: int(2 + 3 * gold)]
            second = " ".join(shared + rng.choice(TOPICS["money"], 3).tolist())
            lines.append(f"{name}\t{gold}\t{first}\t{second}")
    written(path, lines)


def write_texts(folder: Path) -> None:
    rng = np.random.default_rng(0)
    topics = [list(TOPICS)[i % 3] for i in range(60)]
    names = {"pets": "earn", "food": "acq", "money": "crude"}
    news = [
        {
            "id": str(i),
            "title": topic,
            "text": some_text(rng, topic),
            "topics": [names[topic]],
            "lewissplit": "TEST" if i % 4 == 0 else "TRAIN",
            "modapte": "test" if i % 4 == 0 else "train",
        }
        for i, topic in enumerate(topics)
    ]
    written(folder / "reuters21578.jsonl.gz", [json.dumps(row) for row in news])
    sentences = [f"news\tca01\t{some_text(rng, topic)}" for topic in topics]
    written(folder / "brown.tsv.gz", ["category\tfile\tsentence", *sentences])
    words = [word for topic in TOPICS.values() for word in topic]
    glosses = [f"n{i}\t{word}\t{some_text(rng, 'pets', 4)}\t" for i, word in enumerate(words)]
    written(folder / "wordnet_glosses.tsv.gz", ["synset\tlemmas\tdefinition\texamples", *glosses])
    definitions = [f"{word}\tn.\t{some_text(rng, 'food', 4)}" for word in words]
    written(folder / "gcide_definitions.tsv.gz", ["headword\tpos\tdefinition", *definitions])


def write_vectors(path: Path, dimension: int = 12) -> None:
    words = [*(word for topic in TOPICS.values() for word in topic), *COMMON]
    vectors = np.random.default_rng(0).normal(size=(len(words), dimension)).astype(np.float16)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, vectors=vectors, words=np.frombuffer("\n".join(words).encode(), np.uint8))


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory) -> Path:
    """Return a data folder like the shared one: every set, with a few dozen documents."""
    data = tmp_path_factory.mktemp("data")
    for name in LABELLED:
        records = [json.dumps(record) for record in labelled_records(name)]
        written(data / "classification" / f"{name}.jsonl.gz", records)
    for name in RETRIEVAL:
        write_retrieval(data / "retrieval" / name)
    write_pairs(data / "sts" / "sts2012-train.tsv.gz", ("MSRpar", "MSRvid", "SMTeuroparl"))
    write_pairs(
        data / "sts" / "sts2012-test.tsv.gz",
        ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"),
    )
    write_pairs(data / "sts" / "sts2013-test.tsv.gz", ("FNWN", "OnWN", "headlines", "SMT"))
    write_pairs(data / "sts" / "li06-30.tsv.gz", ("li06",))
    write_texts(data / "text")
    write_vectors(data / "vectors" / "glove6b-100d.npz")
    write_vectors(data / "vectors" / "googlenews-300d-26k.npz")
    return data
