"""Fisher vectors beside other vectors of documents: speed, classes and clusters.

After Tables 1 and 2 of Zhang et al. (ECIR 2018): Subj and MR by logistic regression (C = 1) over
the ten folds that the data give, 20news by k-means (20 clusters, 10 starts, of which the one with
the least sum of squares counts). As there, words are lowercased and stop words (SMART) removed,
vectors of words have 50 dimensions and are trained on the collection, and mixtures have 15
components. Unlike there, all parts that learn nothing from labels see the whole collection.

Fixed before any number was seen: words that occur twice; skip-gram with window 5, 5 drawn words, 20
epochs; tf-idf for LSI; every vector of a document divided by its length; Gaussians and von
Mises-Fisher with the defaults of `FisherVector`; one seed. Accuracies are given for vectors as they
are, which the t-tests are of, and with columns brought to variance 1 in the training folds. The two
rows "with weights" were added when the others were known on Subj, to tell why they differ.

Run in the repository root, where textkin is installed::

    python benchmarks/fisher_vectors.py
"""

import gzip
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from environment import RESULTS, asked, describe, write
from fisher_speed import speed, unit
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import textkin
from textkin import LDA, LSI, BagOfWords, FisherVector, TfIdf, WordVectors

RESULT = RESULTS / "fisher_vectors.json"
DIMENSION, N_COMPONENTS, N_WORDS = 50, 15, 5000
MIN_COUNT, EPOCHS = 2, 20
STARTS = 10
CLASSES = ("subj", "mr")
CLUSTERS = "20news"
# Zhang et al., Tables 1 and 2, in percent: Subj, MR, and 20news ARI and NMI.
PAPER = {
    "BoW": (89.5, 74.3, 9.2, 29.7),
    "LSI": (85.4, 64.2, 33.2, 43.1),
    "LDA": (72.7, 58.2, 30.8, 47.2),
    "mean, neural": (90.9, 74.8, 38.6, 53.8),
    "PV-DBOW": (90.1, 73.9, 42.6, 56.6),
    "PV-DM": (90.4, 74.4, 42.9, 56.8),
    "FV-GMM, LSI": (87.8, 68.5, 38.5, 46.7),
    "FV-GMM, neural": (90.3, 72.6, 42.3, 54.6),
    "FV-moVMF, LSI": (88.6, 71.5, 37.9, 51.9),
    "FV-moVMF, neural": (91.8, 75.7, 44.1, 57.8),
}
PARTS = ("speed", "subj", "mr", "20news")
FISHER = {
    "FV-GMM": {"model": "gmm"},
    "FV-moVMF": {},
    "FV-moVMF (paper)": {"normalisation": "paper"},
    "FV-GMM with weights": {"model": "gmm", "parts": ("means", "weights")},
    "FV-moVMF with weights": {"parts": ("means", "weights")},
}
VECTORS = ("LSI", "neural", "built-in")
METHODS = (
    *("BoW", "LSI", "LDA", "PV-DBOW", "PV-DM"),
    *(f"{how}, {of}" for of in VECTORS for how in ("mean", *FISHER)),
)


@dataclass(frozen=True)
class Collection:
    """Texts with labels; `folds` says which of ten folds each belongs to, if there are any."""

    texts: list[str]
    labels: NDArray[np.str_]
    folds: NDArray[np.int64] | None


def read(data: Path, name: str) -> Collection:
    """Return a collection, both of its splits."""
    path = data / "classification" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    folds = np.array([row["fold"] for row in rows]) if "fold" in rows[0] else None
    return Collection([r["text"] for r in rows], np.array([r["label"] for r in rows]), folds)


# ---------------------------------------------------------------------- vectors of documents


class Representations:
    """Vectors of the documents of a collection by name; what several need is made once."""

    def __init__(self, texts: list[str], trainer: str = "textkin") -> None:
        self.texts = texts
        self.trainer = trainer
        self.counter = BagOfWords("smart", min_count=MIN_COUNT)
        self.bags = self.counter.fit_transform(texts)
        self._words: dict[str, WordVectors] = {}

    def of(self, name: str):
        """Return vectors of length 1, or 0 for a document without words."""
        made = self._made(name)
        return made if sparse.issparse(made) else unit(np.asarray(made, dtype=np.float32))

    def _made(self, name: str):
        how, _, of = name.partition(", ")
        match how:
            case "BoW":
                return self._bow()
            case "LSI":
                return self._lsi().transform(TfIdf().fit_transform(self.bags))
            case "LDA":
                # Sampled: the variational fit takes as long as everything else together.
                lda = LDA(DIMENSION, method="gibbs", max_iter=200, random_state=0)
                return lda.fit(self.bags).document_topics_
            case "PV-DBOW" | "PV-DM":
                return self._paragraphs(how.removeprefix("PV-").lower())
            case "mean":
                return self._mean(of)
        fisher = FisherVector(self.words(of), N_COMPONENTS, random_state=0, **FISHER[how])
        return fisher.fit(self.texts).transform(self.texts)

    def words(self, of: str) -> WordVectors:
        """Return word vectors: of LSI, trained on the collection, or the built-in ones."""
        if of not in self._words:
            self._words[of] = {
                "LSI": lambda: self._lsi().word_vectors(self.counter.vocabulary_),
                "neural": lambda: trained(self.texts, self.trainer),
                "built-in": WordVectors.builtin,
            }[of]()
        return self._words[of]

    def _lsi(self) -> LSI:
        dimension = min(DIMENSION, *(size - 1 for size in self.bags.shape))
        return LSI(dimension, random_state=0).fit(TfIdf().fit_transform(self.bags))

    def _bow(self):
        """Tf-idf of the words with the largest sums of it."""
        weighted = TfIdf().fit_transform(self.bags)
        best = np.argsort(-weighted.sum(axis=0), kind="stable")[:N_WORDS]
        return TfIdf().fit_transform(self.bags[:, np.sort(best)])

    def _paragraphs(self, model: str):
        made = textkin.ParagraphVector(
            DIMENSION,
            model=model,
            min_count=MIN_COUNT,
            epochs=EPOCHS,
            stop_words="smart",
            random_state=0,
        )
        return made.fit_transform(self.texts)

    def _mean(self, of: str):
        words = self.words(of)
        bags = BagOfWords("smart", vocabulary=words, lowercase=False).transform(self.texts)
        return bags @ words.matrix


def trained(texts: list[str], trainer: str) -> WordVectors:
    """Return skip-gram vectors of the texts, by textkin or by gensim."""
    if trainer == "textkin":
        return WordVectors.train(
            texts,
            DIMENSION,
            min_count=MIN_COUNT,
            epochs=EPOCHS,
            stop_words="smart",
            random_state=0,
        )
    from gensim.models import Word2Vec

    from textkin.text import stop_word_set, tokenize

    left_out = stop_word_set("smart")
    lowered = ((word.lower() for word in tokenize(text)) for text in texts)
    model = Word2Vec(
        [[word for word in words if word not in left_out] for words in lowered],
        vector_size=DIMENSION,
        sg=1,
        min_count=MIN_COUNT,
        epochs=EPOCHS,
        workers=1,
        seed=0,
    )
    return WordVectors(model.wv.index_to_key, model.wv.vectors)


# ---------------------------------------------------------------------- classes and clusters


def accuracies(vectors, collection: Collection) -> dict[str, list[float]]:
    """Return the accuracy of every fold, in percent."""
    classifiers = {"as_they_are": LogisticRegression(C=1, max_iter=1000)}
    if not sparse.issparse(vectors):
        classifiers["standardised"] = make_pipeline(StandardScaler(), classifiers["as_they_are"])
    found: dict[str, list[float]] = {name: [] for name in classifiers}
    for fold in np.unique(collection.folds):
        test = np.flatnonzero(collection.folds == fold)
        train = np.flatnonzero(collection.folds != fold)
        for name, classifier in classifiers.items():
            classifier.fit(vectors[train], collection.labels[train])
            found[name].append(100 * classifier.score(vectors[test], collection.labels[test]))
    return found


def clusterings(vectors, labels, starts: int = STARTS) -> dict[str, list[float]]:
    """Return the indices of every start, in percent, and its sum of squares."""
    found: dict[str, list[float]] = {
        key: [] for key in ("ari", "nmi_arithmetic", "nmi_geometric", "sum_of_squares")
    }
    for start in range(starts):
        means = KMeans(len(np.unique(labels)), n_init=1, random_state=start).fit(vectors)
        found["sum_of_squares"].append(float(means.inertia_))
        found["ari"].append(100 * adjusted_rand_score(labels, means.labels_))
        for mean in ("arithmetic", "geometric"):
            value = normalized_mutual_info_score(labels, means.labels_, average_method=mean)
            found[f"nmi_{mean}"].append(100 * value)
    return found


def best_start(found: dict[str, list[float]]) -> dict[str, float]:
    """Return the indices of the start with the least sum of squares."""
    best = int(np.argmin(found["sum_of_squares"]))
    return {key: values[best] for key, values in found.items()}


def tests(found: dict[str, list[float]], *, paired: bool) -> dict[str, dict[str, float]]:
    """Return two-tailed t-tests of von Mises-Fisher against Gaussians and means."""
    results = {}
    for name, values in found.items():
        family, _, of = name.partition(", ")
        if not family.startswith("FV-moVMF"):
            continue
        for like in ("FV-GMM with weights" if "weights" in family else "FV-GMM", "mean"):
            rival = f"{like}, {of}"
            if rival not in found:
                continue
            other = found[rival]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of samples that are all equal
                tested = (
                    stats.ttest_rel(values, other)
                    if paired
                    else stats.ttest_ind(values, other, equal_var=False)
                )
            results[f"{name} - {rival}"] = {
                "difference": float(np.mean(values) - np.mean(other)),
                "p": float(tested.pvalue),
            }
    return results


def classes(collection: Collection, methods: list[str], trainer: str) -> dict[str, object]:
    """Return accuracies of all methods, and tests over folds."""
    made = Representations(collection.texts, trainer)
    table: dict[str, dict[str, object]] = {}
    folds: dict[str, list[float]] = {}
    for name in methods:
        start = time.perf_counter()
        vectors = made.of(name)
        found = accuracies(vectors, collection)
        folds[name] = found["as_they_are"]
        table[name] = {
            **{key: float(np.mean(values)) for key, values in found.items()},
            "folds": found,
            "numbers": vectors.shape[1],
            "seconds": time.perf_counter() - start,
        }
        print(name, {key: round(float(np.mean(v)), 2) for key, v in found.items()}, flush=True)
    return {"table": table, "tests": tests(folds, paired=True)}


def clusters(collection: Collection, methods: list[str], trainer: str) -> dict[str, object]:
    """Return the indices of all methods, and tests over starts."""
    made = Representations(collection.texts, trainer)
    table: dict[str, dict[str, object]] = {}
    of_starts: dict[str, list[float]] = {}
    for name in methods:
        start = time.perf_counter()
        vectors = made.of(name)
        found = clusterings(vectors, collection.labels)
        of_starts[name] = found["nmi_arithmetic"]
        table[name] = {
            **best_start(found),
            "means": {key: float(np.mean(values)) for key, values in found.items()},
            "starts": found,
            "numbers": vectors.shape[1],
            "seconds": time.perf_counter() - start,
        }
        print(name, {k: round(v, 2) for k, v in best_start(found).items()}, flush=True)
    return {"table": table, "tests_of_nmi_arithmetic": tests(of_starts, paired=False)}


def main() -> None:
    """Measure the parts that are asked for; others stay as the result file has them."""
    arguments = asked(__doc__, RESULT, parts=PARTS, methods=METHODS, trainer=("textkin", "gensim"))
    trainer = arguments.trainer[0]
    before = {}
    if arguments.result.exists():
        before = json.loads(arguments.result.read_text(encoding="utf-8"))
    report: dict[str, object] = {
        "command": "python benchmarks/fisher_vectors.py",
        "measure": "accuracy in percent, mean of ten folds; ARI and NMI in percent; seconds",
        **describe("textkin", "scikit-learn", "numpy", "scipy", "gensim"),
        "trainer": trainer,
        "paper": PAPER,
        **{part: before[part] for part in PARTS if part in before},
    }
    for part in arguments.parts:
        print(part, flush=True)
        start = time.perf_counter()
        collection = read(arguments.data, CLUSTERS if part == "speed" else part)
        if part == "speed":
            report[part] = speed(collection.texts, WordVectors.builtin(), rounds=3)
        elif collection.folds is None:
            report[part] = clusters(collection, arguments.methods, trainer)
        else:
            report[part] = classes(collection, arguments.methods, trainer)
        print(part, f"{time.perf_counter() - start:.0f} s", flush=True)
        write(arguments.result, report)


if __name__ == "__main__":
    main()
