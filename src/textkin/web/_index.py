"""The served index, and its available rankings, fields, and labels."""

import threading

from textkin.index import FieldValues, Index, IndexReader, RankingInfo
from textkin.web import _answers as answers
from textkin.web._errors import Problem
from textkin.web._limits import Limits, Settings

__all__ = ["ServedIndex", "known_names", "representations", "stats"]

_REPRESENTATIONS = (
    answers.RankingEntry(
        name="tfidf",
        title="Words",
        kind="words",
        ascending=False,
        description="TF-IDF weights, reduced to 50 latent dimensions (LSI).",
    ),
    answers.RankingEntry(
        name="vectors",
        title="Word vectors",
        kind="model",
        ascending=False,
        description="Weighted mean of word vectors.",
    ),
)


class ServedIndex:
    """Open index with many concurrent readers and some writers.

    Parameters
    ----------
    index : Index
        Open index; its owner closes it.
    settings : Settings
        Settings of the server.
    """

    def __init__(self, index: Index, settings: Settings) -> None:
        self.index = index
        self.settings = settings
        self._counting = threading.Lock()  # a separate lock, so that searches need not wait
        self._counted: tuple[int, FieldValues] | None = None
        self.reader()  # from now on, the folder must stay the same

    @property
    def limits(self) -> Limits:
        """Limits of requests."""
        return self.settings.limits

    @property
    def title(self) -> str:
        """Name of the collection."""
        return self.settings.title or self.index.path.name

    def reader(self) -> IndexReader:
        """Return the newest snapshot, including writes of other processes."""
        return self.index.reader()

    def field_values(self, reader: IndexReader) -> FieldValues:
        """Return fields and labels, counted once per snapshot; only the latest counts are kept."""
        with self._counting:
            if self._counted is None or self._counted[0] != reader.number:
                self._counted = reader.number, reader.field_values()
            return self._counted[1]

    def ranking(
        self, reader: IndexReader, name: str, *, measure: bool = False, text: bool = False
    ) -> RankingInfo:
        """Return the ranking with a name, or raise.

        A measure compares any two texts; with `text`, the query is a text.
        """
        known = {
            ranking.name: ranking
            for ranking in reader.rankings()
            if not measure or _is_measure(ranking)
        }
        if name in known:
            if text and not known[name].takes_text:
                raise Problem(
                    "invalid",
                    f"The ranking {name!r} compares documents only, because the server does not "
                    "have the encoder of its vectors. Search for documents similar to a document, "
                    "or choose another ranking.",
                    "ranking",
                )
            return known[name]
        shown = name if len(name) <= 40 else f"{name[:40]}..."
        raise Problem(
            "invalid", f"ranking must be one of {', '.join(known)}; got {shown!r}.", "ranking"
        )


def representations(reader: IndexReader) -> list[answers.RankingEntry]:
    """Return the document vectors that the map supports."""
    models = [ranking for ranking in reader.rankings() if ranking.kind == "model"]
    return [*_REPRESENTATIONS, *map(_seen, models)]


def known_names(reader: IndexReader) -> dict[str, list[str]]:
    """Return the valid names of rankings, measures, and representations."""
    rankings = reader.rankings()
    return {
        "rankings": [ranking.name for ranking in rankings],
        "measures": [ranking.name for ranking in rankings if _is_measure(ranking)],
        "representations": [named.name for named in representations(reader)],
    }


def stats(served: ServedIndex) -> answers.StatsAnswer:
    """Return the contents of the index, and the available rankings, measures, and filters."""
    reader = served.reader()
    info, values = reader.info(), served.field_values(reader)
    rankings = reader.rankings()
    kept = (
        "lowercase",
        "stop_words",
        "normalizer",
        "language",
        "stemmer",
        "term_stop_words",
        "ngram_range",
        "vectors",
        "created",
    )
    settings = info.to_dict()
    notes = []
    if values.step > 1:
        notes.append(f"Fields and labels are counted in one of every {values.step} documents.")
    return answers.StatsAnswer(
        title=served.title,
        documents=info.documents,
        words=info.words,
        bytes=info.bytes["total"],
        state=str(reader.number),
        writable=served.settings.writable,
        settings={name: settings[name] for name in kept},
        rankings=[_seen(ranking) for ranking in rankings],
        measures=[_seen(ranking) for ranking in rankings if _is_measure(ranking)],
        representations=representations(reader),
        fields=[
            answers.MetadataField(
                name=field.name,
                count=field.n_documents,
                values=[
                    answers.ValueCount(value=value, count=count) for value, count in field.values
                ],
            )
            for field in values.fields
        ],
        labels=[answers.LabelCount(label=label, count=count) for label, count in values.labels],
        limits=served.limits.to_dict(),
        notes=notes,
    )


def _is_measure(ranking: RankingInfo) -> bool:
    """Return True if a ranking compares any two texts."""
    return ranking.kind != "hybrid" and ranking.takes_text


def _seen(ranking: RankingInfo) -> answers.RankingEntry:
    return answers.RankingEntry(
        name=ranking.name,
        title=ranking.title,
        kind=ranking.kind,
        ascending=ranking.ascending,
        description=ranking.description,
        takes_text=ranking.takes_text,
    )
