"""Cost of one kind of documents, as laws and numbers from the results of growth.py."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from growth_report import Entry, slope


class Power(NamedTuple):
    """Quantity that grows as scale * n ** exponent."""

    scale: float
    exponent: float

    @classmethod
    def fit(cls, points: Iterable[tuple[float, float]]) -> "Power":
        """Return the power law that fits points best, by least squares of logarithms."""
        found = list(points)
        exponent = slope(found)
        if exponent is None:
            raise ValueError(f"a power law needs two sizes with numbers above 0; got {found}")
        x, y = np.log(np.array(found)).T
        return cls(float(np.exp(y.mean() - exponent * x.mean())), exponent)

    def __call__(self, n: Any) -> Any:
        """Return the value at n, or the values at several n."""
        return self.scale * n**self.exponent


class Words(NamedTuple):
    """Distinct words: known words with vectors, and a growing number of names."""

    known: float
    names: Power

    def __call__(self, n: float) -> float:
        """Return the number of distinct words of n documents."""
        return self.known + self.names(n)


class Line(NamedTuple):
    """Quantity that grows as start + rate * n."""

    start: float
    rate: float

    @classmethod
    def fit(cls, points: Iterable[tuple[float, float]]) -> "Line":
        """Return the line through the smallest and the largest size; neither part is below 0."""
        found = sorted(points)
        (x0, y0), (x1, y1) = found[0], found[-1]
        if x0 == x1:
            raise ValueError(f"a line needs two sizes; got {found}")
        rate = max(0.0, (y1 - y0) / (x1 - x0))
        return cls(max(0.0, y0 - rate * x0), rate)

    def __call__(self, n: float) -> float:
        """Return the value at n."""
        return self.start + self.rate * n


@dataclass(frozen=True)
class Collection:
    """Cost of one kind of documents.

    Attributes
    ----------
    name : str
        Name in growth.json.
    largest : int
        Largest size behind the parameters.
    table : float
        Milliseconds for the costs of a query's words to all words.
    scan : Line
        Milliseconds for the coarse bound of n documents and their order.
    refine, solve : float
        Milliseconds per document.
    refined, solved : Power
        Number of documents that a search of n refines and solves.
    slowest : float
        Ratio of the documents that the slowest block of a round refines to the mean.
    entries : float
        Distinct words per document, as the index counts them.
    words : Words
        Distinct words of n documents.
    text, catalogue, segments : float
        Bytes per document: of its text, and in an index.
    counting, writing : float
        Seconds per document: reading and counting, which workers can do; everything else, which the
        single writer does.
    bm25 : Line
        Milliseconds of a BM25 query over n documents.
    first : Line
        Milliseconds of the first query by WMD after n documents were opened.
    vectors : float
        Bytes of the word vectors.
    """

    name: str
    largest: int
    table: float
    scan: Line
    refine: float
    solve: float
    refined: Power
    solved: Power
    slowest: float
    entries: float
    words: Words
    text: float
    catalogue: float
    segments: float
    counting: float
    writing: float
    bm25: Line
    first: Line
    vectors: float


def collection_of(name: str, measured: Sequence[Entry]) -> Collection:
    """Return the parameters from the measurements of several sizes.

    Parameters
    ----------
    name : str
        Collection.
    measured : sequence of mapping
        Entries of growth.json; at least two sizes through both interfaces.

    Raises
    ------
    ValueError
        If there are fewer than two sizes of each interface.
    """
    movers, indexes = (of_surface(name, measured, surface) for surface in ("mover", "index"))
    if min(len(movers), len(indexes)) < 2:
        raise ValueError(
            f"{name}: two sizes of both surfaces are needed; there are {len(movers)} of the mover "
            f"and {len(indexes)} of the index"
        )
    last, stored = movers[-1], indexes[-1]
    stages = stages_of(last)
    n = stored["documents"]
    build = stored["build"]
    return Collection(
        name=name,
        largest=n,
        table=stages["table"],
        scan=Line.fit((e["documents"], stages_of(e)["scan"]) for e in movers),
        refine=stages["refine"] / max(1.0, last["wmd"]["refined"]["mean"]),
        solve=stages["solve"] / max(1.0, last["wmd"]["solved"]["mean"]),
        refined=Power.fit((e["documents"], e["wmd"]["refined"]["mean"]) for e in movers),
        solved=Power.fit((e["documents"], e["wmd"]["solved"]["mean"]) for e in movers),
        slowest=slowest_of(last),
        entries=stored["entries"] / n,
        words=words_of(movers, indexes),
        text=1e6 * stored["text_megabytes"] / n,
        catalogue=stored["bytes"]["catalogue"] / n,
        segments=stored["bytes"]["segments"] / n,
        counting=build["of_it_reading_and_counting"] / n,
        writing=max(0.0, build["seconds"] - build["of_it_reading_and_counting"]) / n,
        bm25=Line.fit(
            (e["documents"], e["bm25"]["milliseconds"]["single"]["median"]) for e in indexes
        ),
        first=Line.fit(
            (e["documents"], e["wmd"]["milliseconds"]["first_processor"]) for e in indexes
        ),
        vectors=4.0 * last["vectors"][0] * last["vectors"][1],
    )


def stages_of(entry: Entry) -> dict[str, float]:
    """Return the milliseconds of a query by stage, scaled to its CPU time.

    The stages are timed by elapsed time, which is too long if other processes use the machine.
    """
    times = entry["wmd"]["milliseconds"]
    share = min(1.0, times["single_processor"] / times["single"]["mean"])
    found = {stage: share * took for stage, took in entry["wmd"]["milliseconds_by_stage"].items()}
    return {**found, "scan": found["bound"] + found["order"]}


def words_of(movers: Sequence[Entry], indexes: Sequence[Entry]) -> Words:
    """Return the growth of the distinct words of an index, with and without vectors."""
    known = {entry["documents"]: entry["words"] for entry in movers}
    names = [
        (entry["documents"], entry["words"] - known[entry["documents"]])
        for entry in indexes
        if entry["documents"] in known
    ]
    return Words(float(movers[-1]["words"]), Power.fit(names))


def slowest_of(entry: Entry) -> float:
    """Return the ratio of the largest to the mean refined documents of a round; 1 if unknown."""
    rounds = entry.get("rounds")
    if rounds is None or rounds["blocks"] < 2:
        return 1.0
    return sum(rounds["slowest"]["refined"]) / sum(rounds["refined"])


def of_surface(name: str, measured: Sequence[Entry], surface: str) -> list[Entry]:
    """Return the entries of a collection through an interface, by size."""
    here = [e for e in measured if (e["collection"], e["surface"]) == (name, surface)]
    return sorted(here, key=lambda entry: entry["documents"])
