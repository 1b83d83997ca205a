"""What the collection is about: topics, with the documents that have most of each."""

import numpy as np

from textkin.index.ranking._view import View
from textkin.models import LDA
from textkin.run import ProgressCallback
from textkin.web import _overview_answers as answers
from textkin.web._jobs import Made, Wanted, encoded, part_of
from textkin.web._problems import Problem
from textkin.web._sample import Sample, sample_of
from textkin.web._store import Store, state_of

__all__ = ["topics"]

_SWEEPS = 200
_WORDS = 12
_DOCUMENTS = 5  # of a topic
_SEED = 0


def topics(store: Store, n: int) -> Wanted:
    """Return what makes topics: latent Dirichlet allocation, by collapsed Gibbs sampling."""
    limits = store.limits
    if n > limits.topics:
        raise Problem("invalid", f"n must be at most {limits.topics}; got {n}.", "n")

    def make(progress: ProgressCallback) -> Made:
        return _topics(store.view(), n, limits.map, progress)

    return Wanted(("topics", n), state_of(store.view()), make)


def _topics(view: View, n: int, most: int, progress: ProgressCallback) -> Made:
    state = state_of(view)
    sample = sample_of(view, most, part_of(progress, 0, 10))
    del view  # a state that is held keeps the log of the index from being emptied
    found: list[answers.OneTopic] = []
    if sample.bags.nnz:
        model = LDA(n, method="gibbs", alpha=0.1, max_iter=_SWEEPS, random_state=_SEED)
        model.fit(sample.bags, progress=part_of(progress, 10, 99))
        found = _told(model, sample)
    answer = answers.Topics(topics=found, total=sample.total, notes=sample.notes, state=state)
    return Made(state, {"topics": encoded(answer)})


def _told(model: LDA, sample: Sample) -> list[answers.OneTopic]:
    shares = model.document_topics_ * (np.diff(sample.bags.indptr) > 0)[:, None]
    found = []
    for number, topic in enumerate(model.topics(sample.words, n_words=_WORDS)):
        column = shares[:, topic.number]
        nearest = np.argsort(-column, kind="stable")[:_DOCUMENTS]
        found.append(
            answers.OneTopic(
                number=number,
                weight=topic.weight,
                words=[
                    answers.WeighedWord(word=word, weight=weight) for word, weight in topic.words
                ],
                documents=[
                    answers.Start(
                        id=sample.ids[at], start=sample.titles[at], share=float(column[at])
                    )
                    for at in nearest.tolist()
                    if column[at] > 0
                ],
            )
        )
    return found
