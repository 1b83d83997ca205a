"""Similarity of sentences by WTMF on the STS tasks of 2012 and 2013, beside the paper.

The models learn from definitions of WordNet and GCIDE, sentences of the Brown corpus and the
sentences of the training pairs; no test sentence is among their texts. Every choice is made on
the 2,234 training pairs of 2012, by the Mean of their three sets, with models that have not seen
those pairs' sentences; then the models learn from all texts, and the test pairs are scored once.
The changes of one ingredient say what each contributes. About half an hour on one core; run in
the repository root, where textkin is installed::

    python benchmarks/sts.py
    python benchmarks/table.py --write docs/sentences.md
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from sts_corpora import Pairs, read_pairs
from sts_models import (
    Corpus,
    Recipe,
    Scorer,
    Settings,
    corpus_of,
    lda,
    lsi,
    mixed,
    surface,
    tfidf,
    wtmf,
)

from textkin.evaluate import pearson, spearman, sts_scores
from textkin.weighting import TfIdf

RESULT = RESULTS / "sts.json"
TESTS = {"2012": "sts2012-test", "2013": "sts2013-test", "LI06": "li06-30"}
TRAINING = "sts2012-train"
PAPER = Settings()
# What was best on the training pairs, of what there was time to try.
CHOSEN = replace(PAPER, n_components=200, max_iter=10)
# The changes are measured with fewer dimensions and sweeps, so that the run stays short.
SMALL = replace(CHOSEN, n_components=100, max_iter=5)
LSI_DIMENSIONS = (50, 100, 200)
LDA_ALPHAS = (0.05, 0.5)
MIXTURES = tuple(round(0.1 * step, 1) for step in range(11))
ORTHOGONALITY = 1e-4  # that of the authors' later program
SEEDS = (0, 1, 2)

Row = dict[str, object]


@dataclass(frozen=True)
class Run:
    """Where the data lies, and how much of it is used: all but for a quick try."""

    data: Path
    most: int | None = None  # texts of a corpus
    largest: int | None = None  # dimensions, sweeps
    seeds: tuple[int, ...] = SEEDS

    @cached_property
    def pairs(self) -> dict[str, Pairs]:
        """The pairs by the name of their test; "training" too."""
        names = {"training": TRAINING, **TESTS}
        return {name: read_pairs(self.data, file) for name, file in names.items()}

    def corpus(self, recipe: Recipe) -> Corpus:
        """Return the texts of a recipe, which are kept for the next time."""
        return corpus_of(self.data, recipe, self.most)

    def at_most(self, number: int) -> int:
        """Return a number of dimensions or sweeps, cut for a quick try."""
        return number if self.largest is None else min(number, self.largest)

    @cache  # noqa: B019 (one run a process)
    def wtmf(self, settings: Settings, seed: int, *, choosing: bool = False) -> Scorer:
        """Fit WTMF, once; for choosing settings without the sentences of the training pairs."""
        recipe = settings.recipe
        cut = replace(
            settings,
            n_components=self.at_most(settings.n_components),
            max_iter=self.at_most(settings.max_iter),
        )
        return wtmf(self.corpus(recipe.without_training_text() if choosing else recipe), cut, seed)


def measures(pairs: Pairs, scores: np.ndarray) -> dict[str, float]:
    """Return what is reported of a test: of one set both correlations, else the task's."""
    if len(set(pairs.sets)) == 1:
        return {"Pearson": pearson(pairs.gold, scores), "Spearman": spearman(pairs.gold, scores)}
    return sts_scores(pairs.sets, pairs.gold, scores).as_dict()


def on_tests(run: Run, scorers: Sequence[Scorer], names: Sequence[str] = tuple(TESTS)) -> Row:
    """Return the measures of each test, the mean over scorers, and how far these are apart."""
    found: Row = {}
    spread = {}
    for name in names:
        each = [measures(run.pairs[name], scorer(run.pairs[name])) for scorer in scorers]
        of_measure = {key: [one[key] for one in each] for key in each[0]}
        found[name] = {key: round(float(np.mean(v)), 4) for key, v in of_measure.items()}
        spread[name] = {key: round(max(v) - min(v), 4) for key, v in of_measure.items()}
    return {**found, "spread": spread} if len(scorers) > 1 else found


def criterion(run: Run, scorer: Scorer) -> float:
    """Return what choices are made by: the Mean of the three training sets."""
    pairs = run.pairs["training"]
    return sts_scores(pairs.sets, pairs.gold, scorer(pairs)).mean


def best(run: Run, scorers: dict[object, Scorer]) -> tuple[object, dict[str, float]]:
    """Return the name of the scorer that is best on the training pairs, and the Mean of each."""
    means = {name: round(criterion(run, scorer), 4) for name, scorer in scorers.items()}
    return max(means, key=lambda name: means[name]), {str(n): m for n, m in means.items()}


def baselines(run: Run) -> Iterator[Row]:
    """Yield cosines of words, with no model behind them."""
    yield {"row": "surface words, cosine", **on_tests(run, [surface()])}
    of_file = surface(lambda: TfIdf("sklearn"))
    yield {"row": "tf-idf cosine, idf of the file's sentences", **on_tests(run, [of_file])}
    of_corpus = tfidf(run.corpus(CHOSEN.recipe))
    yield {"row": "tf-idf cosine, lemmas, idf of the corpus", **on_tests(run, [of_corpus])}


def other_models(run: Run) -> Iterator[Row]:
    """Yield LSI and LDA, with the dimensions and the prior that are best on the training pairs."""
    choosing = run.corpus(CHOSEN.recipe.without_training_text())
    corpus = run.corpus(CHOSEN.recipe)
    dimensions = sorted({run.at_most(k) for k in LSI_DIMENSIONS})
    chosen, means = best(run, lsi(choosing, dimensions))
    yield {
        "row": "LSI",
        "chosen": f"{chosen} dimensions",
        "training_means": means,
        **on_tests(run, [lsi(corpus, [chosen])[chosen]]),
    }
    options = {"n_components": run.at_most(100), "sweeps": run.at_most(100), "seed": 0}
    chosen, means = best(run, {a: lda(choosing, alpha=a, **options) for a in LDA_ALPHAS})
    yield {
        "row": "LDA",
        "chosen": f"alpha = {chosen}",
        "training_means": means,
        **on_tests(run, [lda(corpus, alpha=chosen, **options)]),
    }


def factorisations(run: Run) -> Iterator[Row]:
    """Yield WTMF as in the paper, with our settings, with tf-idf beside it, and OrMF."""
    as_paper = [run.wtmf(PAPER, seed) for seed in run.seeds]
    yield {"row": "WTMF, the paper's settings", **on_tests(run, as_paper)}
    ours = [run.wtmf(CHOSEN, seed) for seed in run.seeds]
    chosen = f"K = {CHOSEN.n_components}, {CHOSEN.max_iter} sweeps"
    yield {"row": "WTMF", "chosen": chosen, **on_tests(run, ours)}
    one = tfidf(run.corpus(CHOSEN.recipe.without_training_text()))
    other = run.wtmf(CHOSEN, 0, choosing=True)
    weight, means = best(run, {w: mixed(one, other, w) for w in MIXTURES})
    words = tfidf(run.corpus(CHOSEN.recipe))
    yield {
        "row": "WTMF + tf-idf cosine, not in the paper",
        "chosen": f"{weight} WTMF + {round(1 - weight, 1)} tf-idf",
        "training_means": means,
        **on_tests(run, [mixed(words, each, weight) for each in ours]),
    }
    orthogonal = replace(CHOSEN, orthogonality=ORTHOGONALITY)
    row = f"OrMF, alpha = {ORTHOGONALITY:g}, one start"
    yield {"row": row, "chosen": chosen, **on_tests(run, [run.wtmf(orthogonal, 0)])}


def changes() -> dict[str, Settings]:
    """Return settings that differ from `SMALL` in one ingredient."""

    def recipe(**change: object) -> Settings:
        return replace(SMALL, recipe=replace(SMALL.recipe, **change))

    def without(name: str) -> tuple[str, ...]:
        return tuple(each for each in SMALL.recipe.corpora if each != name)

    found = {
        "none": SMALL,
        "words as they are": recipe(words=None),
        "stems (Porter 2)": recipe(words="stem"),
        "SMART stop words left out": recipe(stop_words="smart"),
        "without target words": recipe(target_words=False),
        "without examples of use": recipe(examples=False),
        "without WordNet": recipe(corpora=without("wordnet")),
        "without GCIDE": recipe(corpora=without("gcide")),
        "without Brown": recipe(corpora=without("brown")),
    }
    values = {
        "n_components": ("K", (50, 200)),
        "regularization": ("λ", (5.0, 50.0)),
        "missing_weight": ("w_m", (0.003, 0.03)),
        "max_iter": ("sweeps", (10,)),
    }
    for parameter, (symbol, numbers) in values.items():
        for number in numbers:
            if number != getattr(SMALL, parameter):
                found[f"{symbol} = {number:g}"] = replace(SMALL, **{parameter: number})
    return found


def ablation(run: Run) -> Iterator[Row]:
    """Yield what changes of one ingredient do, on training and test pairs.

    All learn without the sentences of the training pairs, so that both columns are of sentences
    that the model has not seen; what those sentences add is a row of its own, on test pairs only.
    """
    names = ["training", "2012", "2013", "LI06"]
    for name, settings in {"(the chosen settings)": CHOSEN, **changes()}.items():
        scorer = run.wtmf(settings, 0, choosing=True)
        yield {"change": name, **on_tests(run, [scorer], names)}
    scorer = run.wtmf(SMALL, 0)
    yield {"change": "with the training sentences", **on_tests(run, [scorer])}


def measured(run: Run) -> Iterator[dict[str, object]]:
    """Yield what is known after each row: the rows of the methods, then those of the changes."""
    corpus = run.corpus(CHOSEN.recipe)
    texts, words = corpus.counts.shape
    found = {"texts": texts, "words": words, "seeds": len(run.seeds), "rows": [], "changes": []}
    started = time.perf_counter()
    methods = (baselines, factorisations, other_models)
    for part, rows in [*(("rows", method) for method in methods), ("changes", ablation)]:
        for row in rows(run):
            now = time.perf_counter()
            found[part].append({**row, "seconds": round(now - started, 1)})
            started = now
            yield found


def main() -> None:
    """Measure; write the numbers, the machine and the versions after each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--quick", action="store_true", help="a little of everything, to try it")
    arguments = parser.parse_args()
    quick = {"most": 300, "largest": 4, "seeds": (0, 1)} if arguments.quick else {}
    head = {
        "command": "python benchmarks/sts.py" + " --quick" * arguments.quick,
        "measure": "Pearson's correlation with gold scores; choices by the Mean of the three sets "
        "of 2012 training pairs, with models that have not seen their sentences; mean over seeds, "
        "spread: largest less smallest",
        **describe("textkin", "numpy", "scipy", "scikit-learn", "PyStemmer"),
        "settings": {"paper": asdict(PAPER), "chosen": asdict(CHOSEN), "changes": asdict(SMALL)},
    }
    for found in measured(Run(arguments.data, **quick)):
        text = json.dumps({**head, **found}, indent=2) + "\n"
        arguments.out.write_text(text, encoding="utf-8")
        print(json.dumps((found["changes"] or found["rows"])[-1]), flush=True)


if __name__ == "__main__":
    main()
