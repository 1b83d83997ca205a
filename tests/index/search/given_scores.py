"""Rankings with given scores, for tests of hybrids; loaded by path."""

import numpy as np

from textkin.explain import Contribution, Contributions, Flow
from textkin.index.search.rankings._base import Ranking, ScoredRows, Scorer

TEXTS = [
    "the cat sat on the mat",
    "a cat and a cat and a dog",
    "the dog barked at the cat",
    "birds sang a loud song",
    "",
    "the dog sat on the dog",
    "mat mat mat",
    "a song of cats and dogs",
    "the cat sat on the mat",
]


class Given(Ranking):
    """Given scores, as of a distance or a model; NaN means no score."""

    def __init__(self, scores, ascending=False):
        self.scores, self.ascending = tuple(scores), ascending

    def bind(self, state, scorer_of):
        return GivenScorer(self, state)

    def __eq__(self, other):
        same = isinstance(other, Given) and self.ascending == other.ascending
        return same and np.array_equal(self.scores, other.scores, equal_nan=True)

    def __hash__(self):
        return hash((len(self.scores), self.ascending))

    def __repr__(self):
        return f"Given({len(self.scores)})"


class GivenScorer(Scorer):
    def __init__(self, ranking, state):
        self.state, self.ascending = state, ranking.ascending
        self.scores = np.array(ranking.scores, np.float64)

    def of_text(self, text):
        return text

    def of_row(self, row):
        return f"row {row}"

    def of_words(self, weights):
        raise ValueError("no words")

    def words_of(self, query):
        return None

    def best(self, query, limit, threshold=None, rows=None):
        found = self.state.live & np.isfinite(self.scores)
        if rows is not None:
            found &= rows
        keys = self.scores if self.ascending else -self.scores
        places = np.flatnonzero(found)
        order = places[np.argsort(keys[places], kind="stable")[:limit]]
        return ScoredRows(order, self.scores[order], {"asked": 1})

    def explain(self, query, row):
        score = float(self.scores[row])
        if self.ascending:
            return Flow.of([("a", 1.0)], [("b", 1.0)], [(0, 0, 1.0, score)])
        return Contributions.of([Contribution("x", score / 2), Contribution("y", score / 2)])

    def moved(self, query, relevant, nonrelevant, how):
        return f"{query} moved to {list(relevant)} from {list(nonrelevant)}"
