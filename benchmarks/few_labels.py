"""Error of an SVM with few labels, on words and on the Fisher kernel: the paper's Table 2.

Reuters-21578, ModApte split, the five most frequent categories one against all. The models learn
from all 21,578 texts without labels; the classifier from 1/20 and 1/10 of the training documents.
All classifiers are SVMs on a kernel matrix, with C chosen by cross-validation among the labelled
documents. Of the kernels in `SETTINGS`, every one is reported, and so is the one that has the
least error in that cross-validation, mean of the categories, for each draw of labels: no label of
a test document is used for a choice. Run in the repository root, where textkin is installed::

    python benchmarks/few_labels.py
"""

import argparse
import gzip
import json
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from environment import DATA, RESULTS, describe
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from textkin import PLSA, BagOfWords, FisherKernel, similarities

RESULT = RESULTS / "few_labels.json"
CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude")
PARTS = (20, 10, 5)
CHOICES = (1.0, 10.0, 100.0)
FACTORS = (1, 16, 64, 128)
MODELS = {"likelihood": PLSA(), "tempered": PLSA(tempered=True)}
# Hofmann, NIPS 1999, Table 2: SVM and SVM++, mean of the five categories, in percent.
PAPER = {20: (4.20, 3.05), 10: (3.27, 2.78), 5: (2.67, 2.35)}
# Runs before there was normalize="each": LinearSVC on words and FisherKernel([1, 64],
# normalize=True), with C = 1 and with C by cross-validation.
EARLIER = {
    "C = 1": {"1/20": (3.86, 7.51), "1/10": (2.96, 5.93), "1/5": (2.36, 4.23)},
    "C chosen": {"1/20": (3.4, 6.6), "1/10": (2.7, 4.8)},
}


class Setting(NamedTuple):
    """A kernel; with `factors` of none the words alone.

    Attributes
    ----------
    factors : tuple of int
        Of the models.
    parameters : dict
        Of `FisherKernel`.
    words : float
        What the cosine of the counts weighs, where a part of a kernel that is normalised each by
        itself weighs 1.
    models : tuple of str
        How the models may be fitted, by names of `MODELS`.
    """

    factors: tuple[int, ...]
    parameters: dict[str, Any]
    words: float = 0.0
    models: tuple[str, ...] = tuple(MODELS)


def _settings() -> dict[str, Setting]:
    each: dict[str, Any] = {"normalize": "each"}
    found = {"words": Setting((), {}, 1.0, ("likelihood",))}
    for factors in ((64,), (1, 64), FACTORS):
        found[f"{list(factors)} together"] = Setting(factors, {"normalize": True})
        found[f"{list(factors)} each"] = Setting(factors, each)
        found[f"{list(factors)} each, words"] = Setting(factors, each, 1.0)
    for name, more in {
        "exact": {"exact": True},
        "diagonal": {"information": "diagonal"},
        "topics 1/4": {"topic_weight": 0.25},
        "topics 4": {"topic_weight": 4.0},
    }.items():
        found[f"{list(FACTORS)} each, words, {name}"] = Setting(
            FACTORS, each | more, 1.0, ("tempered",)
        )
    return found


SETTINGS = _settings()


class Matrices(NamedTuple):
    """A kernel of the labelled documents, and of the test documents with these."""

    known: np.ndarray
    test: np.ndarray


class Part(NamedTuple):
    """K1 or K2 of a model as it is, and the self-similarities of both sides."""

    matrices: Matrices
    known: np.ndarray
    test: np.ndarray


class Parts:
    """K1 and K2 of each model, of which all kernels are sums; made once for each draw.

    Parameters
    ----------
    kernels : dict
        By (factors, information): a `FisherKernel` of one model, not normalised.
    known, test : sparse arrays
        Bags.
    """

    def __init__(self, kernels: dict[tuple[int, str], FisherKernel], known: Any, test: Any) -> None:
        self.kernels, self.known, self.test = kernels, known, test
        self.made: dict[object, tuple[Part, Part]] = {}

    def cosine(self) -> Matrices:
        """Return the words alone."""
        return Matrices(similarities(self.known), similarities(self.test, self.known))

    def both(self, factors: int, information: str, exact: bool) -> tuple[Part, Part]:
        """Return K1 and K2, which are the first features of a model and the others."""
        key = factors, information, exact
        if key not in self.made:
            kernel = self.kernels[factors, information].set_params(exact=exact)
            known, test = kernel.transform(self.known), kernel.transform(self.test)
            first, second = slice(None, factors), slice(factors, None)
            self.made[key] = (
                _part(known[:, first], test[:, first]),
                _part(known[:, second], test[:, second]),
            )
        return self.made[key]

    def of(self, setting: Setting) -> Matrices:
        """Return the kernel of a setting."""
        parts = []
        parameters = setting.parameters
        for factors in setting.factors:
            information = parameters.get("information", "identity")
            first, second = self.both(factors, information, parameters.get("exact", False))
            parts += [(parameters.get("topic_weight", 1.0), *first), (1.0, *second)]
        if parts and parameters["normalize"] == "each":
            known, test = (
                sum(weight * _cosine(part, a, b)[side] for weight, part, a, b in parts)
                for side in range(2)
            )
        elif parts:
            whole = Matrices(
                sum(weight * part.known for weight, part, _, _ in parts),
                sum(weight * part.test for weight, part, _, _ in parts),
            )
            a = sum(weight * a for weight, _, a, _ in parts)
            b = sum(weight * b for weight, _, _, b in parts)
            known, test = _cosine(whole, a, b)
        if not parts:
            return self.cosine()
        if setting.words:
            words = self.cosine()
            known, test = known + setting.words * words.known, test + setting.words * words.test
        scale = np.diag(known).mean()
        return Matrices(known / scale, test / scale)


def _part(known: Any, test: Any) -> Part:
    own = (np.asarray(side.multiply(side).sum(axis=1)).ravel() for side in (known, test))
    return Part(Matrices((known @ known.T).toarray(), (test @ known.T).toarray()), *own)


def _cosine(part: Matrices, known: np.ndarray, test: np.ndarray) -> Matrices:
    a, b = (1 / np.sqrt(np.where(own > 0, own, 1)) for own in (known, test))
    return Matrices(part.known * a[:, None] * a, part.test * b[:, None] * a)


def _fitted(model: PLSA, bags: Any, jobs: int) -> dict[tuple[int, str], FisherKernel]:
    """Fit a model for each number of factors; both kinds of information share it."""
    found = {}
    for factors in FACTORS:
        kernel = FisherKernel(
            [factors], model=model, information="diagonal", random_state=0, n_jobs=jobs
        ).fit(bags)
        found[factors, "diagonal"] = kernel
        found[factors, "identity"] = copy(kernel).set_params(information="identity")
        found[factors, "identity"].information_ = []
    return found


def errors(kernel: Matrices, known: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """Return the error in cross-validation with the best C, and that of the test, in percent."""
    wrong = np.zeros(len(CHOICES))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for learn, check in folds.split(kernel.known, known):
        for at, C in enumerate(CHOICES):
            svm = SVC(kernel="precomputed", C=C).fit(
                kernel.known[np.ix_(learn, learn)], known[learn]
            )
            wrong[at] += np.sum(svm.predict(kernel.known[np.ix_(check, learn)]) != known[check])
    best = int(wrong.argmin())
    svm = SVC(kernel="precomputed", C=CHOICES[best]).fit(kernel.known, known)
    missed = np.mean(svm.predict(kernel.test) != test)
    return 100 * float(wrong[best]) / len(known), 100 * float(missed)


def _measured(
    kernels: dict[str, dict[tuple[int, str], FisherKernel]],
    bags: Any,
    known: np.ndarray,
    test: np.ndarray,
    labels: dict[str, np.ndarray],
    jobs: int,
) -> dict[str, list[tuple[float, float]]]:
    """Return the errors of all settings for one draw of labelled documents, by category."""
    found = {}
    for how, of_models in kernels.items():
        parts = Parts(of_models, bags[known], bags[test])
        asked = [name for name, setting in SETTINGS.items() if how in setting.models]
        made = (parts.of(SETTINGS[name]) for name in asked)
        both = Parallel(jobs)(
            delayed(errors)(kernel, y[known], y[test]) for kernel in made for y in labels.values()
        )
        for at, name in enumerate(asked):
            full = name if name == "words" else f"{how} {name}"
            found[full] = both[at * len(labels) : (at + 1) * len(labels)]
    return found


def main() -> None:
    """Print the mean errors; write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--jobs", type=int, default=1, help="threads; the numbers are the same")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--parts", type=int, nargs="+", default=(20, 10), choices=PARTS)
    arguments = parser.parse_args()
    with gzip.open(arguments.data / "text" / "reuters21578.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    bags = BagOfWords("smart", min_count=5).fit_transform(
        [f"{document['title']} {document['text']}" for document in documents]
    )
    split = np.array([document["modapte"] for document in documents])
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    labels = {
        category: np.array([category in document["topics"] for document in documents])
        for category in CATEGORIES
    }
    kernels = {how: _fitted(model, bags, arguments.jobs) for how, model in MODELS.items()}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for part in arguments.parts:
        of_part: dict[str, dict[str, Any]] = {}
        chosen = []
        for draw in range(arguments.draws):
            random = np.random.default_rng(1000 * part + draw)
            known = random.choice(train, len(train) // part, replace=False)
            in_draw = _measured(kernels, bags, known, test, labels, arguments.jobs)
            for name, both in in_draw.items():
                row = of_part.setdefault(name, {"cross_validation": [], "errors": []})
                row["cross_validation"].append([validated for validated, _ in both])
                row["errors"].append([wrong for _, wrong in both])
            chosen.append(min(in_draw, key=lambda name: sum(both[0] for both in in_draw[name])))
            print(f"1/{part}, draw {draw}: chosen {chosen[-1]}", flush=True)
        errors_chosen = [of_part[name]["errors"][draw] for draw, name in enumerate(chosen)]
        of_part["chosen"] = {"settings": chosen, "errors": errors_chosen}
        for name, row in of_part.items():
            row["mean"] = float(np.mean(row["errors"]))
            print(f"  {row['mean']:5.2f} %  {name}")
        print("  paper: words {:.2f} %, kernel {:.2f} %".format(*PAPER[part]), flush=True)
        found[f"1/{part}"] = of_part
        report = {
            "command": "python benchmarks/few_labels.py",
            "measure": "percent wrong on the ModApte test documents, by draw and category",
            **describe("textkin", "scikit-learn", "numpy", "scipy"),
            "training_documents": len(train),
            "test_documents": len(test),
            "categories": CATEGORIES,
            "paper": {f"1/{part}": values for part, values in PAPER.items()},
            "earlier_runs": EARLIER,
            "draws": arguments.draws,
            "results": found,
        }
        arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
