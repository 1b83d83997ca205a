"""Training of word and paragraph vectors, compared with gensim: words per second and quality.

The corpus is Brown, Reuters, and 20 Newsgroups, tokenized by textkin for both; settings and
vocabularies are the same. Speed is measured over one pass, with a known vocabulary. Quality is
the Spearman correlation with human judgments of word pairs, and the share of analogies whose answer
is among ten words; for paragraph vectors, the share of documents whose inferred vector is nearest
to their trained one (r8). Run in the repository root, on an idle machine::

    python benchmarks/training.py
"""

import argparse
import gzip
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe, write
from topic_models import measure, summary

import textkin as tk
from textkin import _core
from textkin.evaluate import read_word_pairs, word_pairs
from textkin.models import ParagraphVector, read_corpus, train_on_corpus, word_training
from textkin.models.embedding._training_corpus import Corpus
from textkin.text import tokenize
from textkin.vectors import WordVectors

RESULT = RESULTS / "training.json"
DIMENSION, WINDOW, NEGATIVE, SUBSAMPLE, MIN_COUNT = 100, 5, 5, 1e-3, 5
RATES = {"skipgram": 0.025, "cbow": 0.05}
MIN_RATE = 1e-4
PARTS = ("speed", "quality", "themselves")
PARAGRAPHS = 2000  # documents for the test of inferred vectors
MODELS = ("skipgram-negative", "cbow-negative", "skipgram-hierarchical")
# a is to b as c is to d; words of newswire and newsgroups.
ANALOGIES = """
    man woman he she; man woman his her; king queen man woman; brother sister father mother;
    japan japanese germany german; france french italy italian; japan tokyo france paris;
    japan yen germany mark; good better large larger; small smaller high higher;
    january february march april; one two three four; first second third fourth;
    company companies country countries; share shares dollar dollars; month months year years;
    increase increased rise rose; say said make made; go went take took; buy bought sell sold
"""


def read_words(data: Path, most: int | None = None) -> list[list[str]]:
    """Return the documents of the three collections as lists of words."""
    documents = []
    for texts in (_brown(data), _reuters(data), _newsgroups(data)):
        for number, text in enumerate(texts):
            if number == most:
                break
            documents.append(tokenize(text))
    return documents


def _brown(data: Path) -> Iterator[str]:
    with gzip.open(data / "text" / "brown.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")[2]


def _reuters(data: Path) -> Iterator[str]:
    for row in _rows(data / "text" / "reuters21578.jsonl.gz"):
        yield f"{row['title']}\n{row['text']}"


def _newsgroups(data: Path) -> Iterator[str]:
    for row in _rows(data / "classification" / "20news.jsonl.gz"):
        yield row["text"]


def _rows(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def settings_of(model: str, epochs: int):
    """Return the settings of a textkin training, by a name such as "cbow-negative"."""
    mode, loss = model.split("-")
    return word_training(
        architecture=mode,
        loss=loss,
        n_negative=NEGATIVE,
        window=WINDOW,
        subsample=SUBSAMPLE,
        subsample_rule="released",
        epochs=epochs,
        learning_rate=RATES[mode],
        min_learning_rate=MIN_RATE,
    )


def ours(corpus: Corpus, model: str, epochs: int, seed: int, jobs: int) -> WordVectors:
    """Train on a corpus that was read before."""
    return train_on_corpus(corpus, DIMENSION, settings_of(model, epochs), seed, jobs, None)


class Gensim:
    """gensim's model with the same settings and words."""

    def __init__(self, documents: list[list[str]], model: str, epochs: int, seed: int, jobs: int):
        from gensim.models import Word2Vec

        mode, loss = model.split("-")
        self.documents, self.epochs = documents, epochs
        self.model = Word2Vec(
            vector_size=DIMENSION,
            window=WINDOW,
            sg=int(mode == "skipgram"),
            hs=int(loss == "hierarchical"),
            negative=NEGATIVE if loss == "negative" else 0,
            sample=SUBSAMPLE,
            min_count=MIN_COUNT,
            alpha=RATES[mode],
            min_alpha=MIN_RATE,
            seed=seed,
            workers=jobs,
        )
        self.model.build_vocab(documents)

    def __call__(self) -> WordVectors:
        """Train."""
        self.model.train(self.documents, total_examples=self.model.corpus_count, epochs=self.epochs)
        return WordVectors.from_gensim(self.model.wv)


def has_gensim() -> bool:
    """Return True if gensim is installed."""
    try:
        import gensim  # noqa: F401
    except ImportError:
        print("gensim is not installed: its rows are skipped")
        return False
    return True


def contenders_for(
    corpus: Corpus, documents: list[list[str]], model: str, *, peer: bool
) -> dict[str, Callable[[], object]]:
    """Return functions that make one pass of each contender, on one thread and on two."""
    found: dict[str, Callable[[], object]] = {
        "textkin": lambda: ours(corpus, model, 1, 0, 1),
        "textkin_2_threads": lambda: ours(corpus, model, 1, 0, 2),
    }
    if peer:
        found["gensim"] = Gensim(documents, model, 1, 0, 1)
        found["gensim_2_threads"] = Gensim(documents, model, 1, 0, 2)
        ours_words = len(corpus.words)
        peers_words = len(found["gensim"].model.wv)
        if ours_words != peers_words:
            raise SystemExit(f"vocabularies differ: {ours_words} words, gensim {peers_words}")
    return found


def scores_of(vectors: WordVectors, data: Path) -> dict[str, float]:
    """Return the Spearman correlation of each set, their mean, and the share of analogies."""
    found = {}
    for name, pairs in read_word_pairs(data / "wordsim" / "wordsim.tsv.gz").items():
        scores = word_pairs(vectors, pairs)
        if scores.covered > 2:
            found[name] = scores.spearman
    found["mean"] = float(np.mean(list(found.values())))
    found["analogies_in_ten"] = analogies_found(vectors)
    return found


def analogies_found(vectors: WordVectors) -> float:
    """Return the share of analogies whose answer is among ten words."""
    asked = [line.split() for line in ANALOGIES.split(";")]
    known = [words for words in asked if all(word in vectors for word in words)]
    right = [d in dict(vectors.analogy(a, b, c, 10)) for a, b, c, d in known]
    return float(np.mean(right)) if right else float("nan")


def quality(corpus: Corpus, documents, model: str, options, *, peer: bool) -> dict[str, object]:
    """Return the scores of each seed, textkin's and gensim's."""
    rows: dict[str, list[dict[str, float]]] = {"textkin": []}
    if peer:
        rows["gensim"] = []
    for seed in range(options.seeds):
        trained = ours(corpus, model, options.epochs, seed, options.jobs)
        rows["textkin"].append(scores_of(trained, options.data))
        if peer:
            other = Gensim(documents, model, options.epochs, seed + 1, options.jobs)()
            rows["gensim"].append(scores_of(other, options.data))
        print(f"{model}, seed {seed}: { ({name: row[-1]['mean'] for name, row in rows.items()}) }")
    means = {
        name: {key: float(np.mean([row[key] for row in seeds])) for key in seeds[0]}
        for name, seeds in rows.items()
    }
    return {"means": means, "seeds": rows}


def found_themselves(inferred: np.ndarray, trained: np.ndarray) -> float:
    """Return the share of rows whose nearest trained vector is their own."""
    nearest = tk.pairwise_similarities(inferred, trained).argmax(axis=1)
    return float(np.mean(nearest == np.arange(len(trained))))


def paragraphs(options, *, peer: bool) -> dict[str, dict[str, float]]:
    """Return the share of r8 documents that find themselves, for textkin and gensim."""
    rows = _rows(options.data / "classification" / "r8.jsonl.gz")
    words = list(dict.fromkeys(tuple(tokenize(row["text"])) for row in rows))
    words = words[: options.documents or PARAGRAPHS]
    shares: dict[str, dict[str, float]] = {}
    for model in ("dbow", "dm"):
        own = ParagraphVector(DIMENSION, architecture=model, random_state=0)
        trained = own.fit_transform(words)
        shares[model] = {"textkin": found_themselves(own.transform(words), trained)}
        if peer:
            shares[model]["gensim"] = _gensim_themselves(words, model, own)
    return shares


def _gensim_themselves(words: list[tuple[str, ...]], model: str, own: ParagraphVector) -> float:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    peer = Doc2Vec(
        [TaggedDocument(list(text), [number]) for number, text in enumerate(words)],
        vector_size=DIMENSION,
        dm=int(model == "dm"),
        dbow_words=1,
        dm_mean=1,
        window=own.window,
        negative=own.n_negative,
        sample=own.subsample,
        min_count=own.min_count,
        epochs=own.epochs,
        seed=1,
        workers=1,
    )
    inferred = np.array([peer.infer_vector(list(text)) for text in words])
    return found_themselves(inferred, peer.dv.vectors)


def main() -> None:
    """Measure everything, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3, help="trainings per model, for the quality")
    parser.add_argument("--epochs", type=int, default=5, help="epochs, for the quality")
    parser.add_argument("--jobs", type=int, default=1, help="threads, for the quality")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--documents", type=int, help="documents per collection (default: all)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    peer = has_gensim()
    documents = read_words(options.data, options.documents)
    corpus = read_corpus(
        documents,
        min_count=MIN_COUNT,
        max_words=None,
        stop_words=None,
        lowercase=True,
        n_threads=1,
    )
    tokens = len(corpus.ids)
    print(f"{len(corpus):,} documents, {tokens:,} tokens, {len(corpus.words):,} words")
    speed, learnt = {}, {}
    for model in options.models if "speed" in options.parts else ():
        contenders = contenders_for(corpus, documents, model, peer=peer)
        times = measure(contenders, options.rounds)
        medians = summary(times)
        speed[model] = {
            **times,
            "summary": medians,
            "words_a_second": {
                name: tokens / seconds
                for name, seconds in medians["wall_seconds"]["median"].items()
            },
        }
        print(model, json.dumps(speed[model]["words_a_second"]))
    for model in options.models if "quality" in options.parts else ():
        learnt[model] = quality(corpus, documents, model, options, peer=peer)
    found: dict[str, object] = {}
    if "speed" in options.parts:
        found["speed"] = speed
    if "quality" in options.parts:
        found["quality"] = learnt
    if "themselves" in options.parts:
        found["documents_that_find_themselves"] = paragraphs(options, peer=peer)
    run = {
        "command": " ".join(["python benchmarks/training.py", *sys.argv[1:]]),
        "measure": "words of the corpus, in the vocabulary and before subsampling, a second of one "
        "pass; ratios taken within rounds. Spearman's correlation of cosines with human judgments",
        **describe("textkin", "gensim", "numpy", "scipy"),
        "instruction_set": _core.instruction_set(),
        "load_average_before": load,
        "documents": len(corpus),
        "tokens": tokens,
        "words": len(corpus.words),
        "settings": {
            "dimension": DIMENSION,
            "window": WINDOW,
            "negative": NEGATIVE,
            "subsample": SUBSAMPLE,
            "min_count": MIN_COUNT,
            "learning_rates": RATES,
            "min_learning_rate": MIN_RATE,
            "epochs_for_quality": options.epochs,
            "jobs_for_quality": options.jobs,
        },
    }
    # Parts that are not measured stay unchanged, each with the description of its run.
    report = json.loads(options.out.read_text()) if options.out.exists() else {}
    write(options.out, {**report, **{part: {"run": run, **row} for part, row in found.items()}})
    print(json.dumps({name: row["means"] for name, row in learnt.items()}, indent=1))
    print(json.dumps(found.get("documents_that_find_themselves")))


if __name__ == "__main__":
    main()
