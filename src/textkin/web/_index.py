"""The served index, and its available rankings, fields, and labels."""

import re
import threading
from collections.abc import Iterator

from textkin.exceptions import DamagedIndexError
from textkin.explain import shortened
from textkin.index import FieldValues, Index, IndexReader, RankingInfo
from textkin.text import stop_word_set, tokenize
from textkin.web import _answers as answers
from textkin.web._errors import Problem
from textkin.web._limits import Limits, Settings

__all__ = ["ServedIndex", "known_names", "representations", "stats"]

_EXAMPLES = 5  # maximum number of example queries
_SAMPLED = 40  # documents that example queries are taken from
_EXAMPLE_WIDTH = 60
_READ = 2000  # characters of a text that are read for an example query
_SENTENCE = re.compile("(?<=[.!?])\\s|[\u3002\uff01\uff1f\n]")  # full-width marks need no space
_OPERATORS = re.compile(r'["“”„«»:]|(?<!\w)[+-]')

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
        self._counted: tuple[int, FieldValues, list[str]] | None = None
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

    def summary(self, reader: IndexReader) -> tuple[FieldValues, list[str]]:
        """Return fields, labels, and example queries, read once per snapshot."""
        with self._counting:
            if self._counted is None or self._counted[0] != reader.number:
                examples = self.settings.examples or example_queries(reader)
                self._counted = reader.number, reader.field_values(), [*examples]
            return self._counted[1:]

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


def example_queries(reader: IndexReader) -> list[str]:
    """Return titles and first sentences of documents of an index, as example queries.

    The documents are evenly spaced in the order of adding. Queries have at least two words that are
    not stop words, and no operators. A corrupt document must not make the page unusable, so there
    are no queries then.
    """
    stop_words = stop_word_set(reader.info().term_stop_words or "smart")
    try:
        documents = [*reader.documents(reader.sample(_SAMPLED))]
    except DamagedIndexError:
        return []
    step = -(-len(documents) // _EXAMPLES) or 1
    found: dict[str, None] = {}  # ordered, without duplicates
    for first in range(step):  # evenly spaced documents first
        for document in documents[first::step]:
            title = document.metadata.get("title")
            for text in (title if isinstance(title, str) else "", document.text[:_READ]):
                query = _example_query(text, stop_words)
                if len({*tokenize(query)} - stop_words) > 1:
                    found.setdefault(query)
                    break
            if len(found) == _EXAMPLES:
                return [*found]
    return [*found]


def _example_query(text: str, stop_words: frozenset[str]) -> str:
    """Return the first sentence of a text on one line, without operators, shortened."""
    sentence = next((part for part in _sentences(text) if part), "")
    cut = shortened(sentence, _EXAMPLE_WIDTH)
    if cut.endswith("…"):  # end at a complete word, in scripts with spaces
        cut = cut[:-1]
        complete, space, _ = cut.rpartition(" ")
        cut = complete if space and not sentence.startswith(f"{cut} ") else cut
        while cut.rpartition(" ")[2].lower() in stop_words:  # "crust is brown and"
            cut = cut.rpartition(" ")[0]
    return cut.rstrip(" .,;")


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        yield " ".join(_OPERATORS.sub(" ", part).split())


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
    info, (values, examples) = reader.info(), served.summary(reader)
    rankings = reader.rankings()
    kept = (
        "lowercase",
        "stop_words",
        "normalizer",
        "language",
        "likely_language",
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
                type=field.type,
                low=field.low,
                high=field.high,
            )
            for field in values.fields
        ],
        labels=[answers.LabelCount(label=label, count=count) for label, count in values.labels],
        examples=examples,
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
