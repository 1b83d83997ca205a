"""What is in the index: numbers, fields with their values, labels, rankings."""

import json
from collections import Counter
from typing import Any

from textkin.index._info import info_of
from textkin.index.ranking._view import View
from textkin.web import _answers as answers
from textkin.web._overview import representations
from textkin.web._store import Named, Store, state_of

__all__ = ["stats"]

_LOOKED_AT = 100_000  # documents whose fields are counted
_CHUNK = 2048
_VALUES, _LABELS, _FIELDS = 20, 50, 50
_DISTINCT = 2_000  # values of a field that are told apart; of more none is frequent
_LONGEST = 200  # characters of a value that is told


def stats(store: Store) -> answers.Stats:
    """Return what is in the index, and what may be asked of it."""
    view = store.view()
    index, snapshot = store.index, view.snapshot
    info = info_of(snapshot, index._reading, index._vector_set, index._described(snapshot))
    facts = store.facts(view, _Facts)
    rankings = store.rankings(view)
    kept = ("lowercase", "stop_words", "normalize", "language", "ngram_range", "vectors", "created")
    told = info.as_dict()
    return answers.Stats(
        title=store.title,
        documents=info.documents,
        words=info.words,
        bytes=info.bytes["total"],
        state=state_of(view),
        writable=store.settings.writable,
        settings={name: told[name] for name in kept},
        rankings=[_seen(named) for named in rankings],
        measures=[_seen(named) for named in rankings if named.kind != "hybrid"],
        representations=[_seen(named) for named in representations(store, view)],
        fields=facts.fields,
        labels=facts.labels,
        limits=store.limits.as_dict(),
        notes=facts.notes,
    )


def _seen(named: Named) -> answers.RankingSeen:
    return answers.RankingSeen(**named._asdict())


class _Facts:
    """The fields and labels of documents, counted once for each state.

    Parameters
    ----------
    view : View
        The state; of more than 100,000 documents an even sample is counted.
    """

    def __init__(self, view: View) -> None:
        self._labels: Counter[Any] = Counter()
        self._counts: Counter[str] = Counter()
        self._values: dict[str, Counter[Any]] = {}
        step = -(-max(1, view.n_documents) // _LOOKED_AT)
        last = -1
        while True:
            with view.snapshot.catalogue() as catalogue:  # others may read in between
                rows = catalogue.execute(
                    "SELECT position, label, metadata FROM documents WHERE position > ? "
                    "AND position % ? = 0 ORDER BY position LIMIT ?",
                    (last, step, _CHUNK),
                ).fetchall()
            if not rows:
                break
            last = rows[-1][0]
            for _, label, metadata in rows:
                self._count(label, metadata)
        self.notes = []
        if step > 1:
            self.notes.append(f"Fields and labels are counted in every {step}th document.")

    @property
    def labels(self) -> list[answers.LabelCount]:
        return [
            answers.LabelCount(label=label, count=count)
            for (_, label), count in self._labels.most_common(_LABELS)
        ]

    @property
    def fields(self) -> list[answers.MetadataField]:
        return [
            answers.MetadataField(
                name=name,
                count=count,
                values=[
                    answers.Value(value=value, count=number)
                    for (_, value), number in self._values[name].most_common(_VALUES)
                ],
            )
            for name, count in self._counts.most_common(_FIELDS)
        ]

    def _count(self, label: str, metadata: str) -> None:
        if label != "null":
            value = json.loads(label)
            if len(self._labels) < _DISTINCT or (type(value), value) in self._labels:
                self._labels[type(value), value] += 1
        if metadata == "{}":
            return
        for name, value in json.loads(metadata).items():
            if name not in self._counts and len(self._counts) >= _DISTINCT:
                continue
            self._counts[name] += 1
            values = self._values.setdefault(name, Counter())
            for one in value if isinstance(value, list) else [value]:
                short = not isinstance(one, str) or len(one) <= _LONGEST
                if isinstance(one, str | int | float) and short:
                    key = type(one), one
                    if len(values) < _DISTINCT or key in values:
                        values[key] += 1
