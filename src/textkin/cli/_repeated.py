"""What ``textkin duplicates`` compares, and what it says of documents that repeat others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from textkin.cli._corpora import Reading, fulfil, outside, read_documents
from textkin.cli._drawing import Look
from textkin.cli._measuring import Measuring
from textkin.cli._opened import documents_told
from textkin.cli._output import Output, aligned
from textkin.cli._printing import note, shown
from textkin.learn import Duplicates, Repeats
from textkin.text import Document

__all__ = ["Found", "Sets"]

_LETTERS = 200  # of a text, where there is no terminal


@dataclass(frozen=True, slots=True)
class Sets:
    """The documents, and those that they may repeat.

    Attributes
    ----------
    sources : tuple of Path
        Where the documents are.
    against : Path or None
        Where others are.
    against_where : tuple of str
        Which documents of `sources` are the others.
    where : tuple of str
        What all must be like.
    reading : Reading
        How files are read.
    """

    sources: tuple[Path, ...]
    against: Path | None
    against_where: tuple[str, ...]
    where: tuple[str, ...]
    reading: Reading

    def __post_init__(self) -> None:
        if self.against is None:
            return
        if self.against_where:
            raise ValueError("--against and --against-where exclude each other.")
        if any(one.exists() and self.against.exists() and one.samefile(self.against)
               for one in self.sources):  # fmt: skip
            raise ValueError(
                f"SOURCE and --against are the same, {str(self.against)!r}: leave --against out, "
                "or choose a part of it with --against-where."
            )

    @property
    def paths(self) -> list[Path]:
        """All that is read."""
        return [*self.sources, *([] if self.against is None else [self.against])]

    def read(self) -> tuple[list[Document], list[Document] | None]:
        """Return the documents and the others, if there are any."""
        documents = self._kept(read_documents(self.sources, self.reading))
        if self.against_where:
            apart = fulfil(documents, self.against_where, "--against-where")
            if all(apart):
                raise ValueError(
                    f"--against-where: all documents ({len(documents):,}) are like it; none is "
                    "left that could repeat them."
                )
            return (
                [one for one, other in zip(documents, apart, strict=True) if not other],
                [one for one, other in zip(documents, apart, strict=True) if other],
            )
        if self.against is None:
            return documents, None
        others = self._kept(read_documents([self.against], self.reading))
        several = len(self.sources) > 1
        for source in self.sources:
            documents = outside(documents, source, self.against, several=several)
            others = outside(others, self.against, source)
        return documents, others

    def _kept(self, documents: list[Document]) -> list[Document]:
        kept = fulfil(documents, self.where)
        return [one for one, there in zip(documents, kept, strict=True) if there]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, as lines, as a table and as a record.

    Attributes
    ----------
    found : Duplicates or Repeats
        What the library says.
    documents : list of Document
        All that were looked at.
    others : list of Document or None
        What they may repeat.
    sets : Sets
        Where both come from.
    measuring : Measuring
        What was compared.
    """

    found: Duplicates | Repeats
    documents: list[Document]
    others: list[Document] | None
    sets: Sets
    measuring: Measuring

    def show(self, output: Output, *, ids: bool) -> None:
        """Put it where it was asked for; sum it up for whoever looks."""
        lines = self._removable if ids else self._lines
        output.put(lines=lines, record=self._record, table=self._table, html=self.found.to_html)
        if output.tells_all:
            return
        if len(self.found.empty):
            note(
                f"{len(self.found.empty):,} of {documents_told(len(self.documents))} without words "
                "to compare: duplicates of none."
            )
        typer.echo(f"textkin: {self._summary()}", err=True)

    def _removable(self, _look: Look) -> list[str]:
        names = [self.documents[at].id for at in self.found.removed.tolist()]
        for name in names:
            if len(name.splitlines()) > 1:  # two lines would name two other documents
                raise ValueError(
                    f"--ids prints an id a line, and that of {shown(name)!r} has several: use "
                    "--json."
                )
        return [shown(name) for name in names]

    def _lines(self, look: Look) -> Iterator[str]:
        if isinstance(self.found, Repeats):
            rows = [["id", "repeats", "", ""]]
            for one in self.found:
                more = f"and {one.count - 1:,} more" if one.count > 1 else ""
                rows.append([self.documents[one.position].id, self._other(one.nearest.position),
                             one.nearest.reason, more])  # fmt: skip
            if len(rows) > 1:
                yield from aligned(rows, look, cut=[0, 1])
            return
        for group in self.found:
            if group.number:
                yield ""
            yield f"group {group.number}, {len(group):,} documents"
            rows = []
            for at, member in enumerate(group):
                document = self.documents[member.position]
                text = document.text[:_LETTERS]
                rows.append(["keep" if not at else "", document.id,
                             member.reason if at else "", text])  # fmt: skip
            lines = aligned(rows, look.narrower(2), cut=[1, 3], fill=True)
            yield from (f"  {line}" for line in lines)

    def _table(self) -> Iterator[Sequence[object]]:
        if isinstance(self.found, Repeats):
            yield ["id", "repeats", "distance", "reason", "count"]
            for one in self.found:
                nearest = one.nearest
                yield [self.documents[one.position].id, self._other(nearest.position),
                       repr(nearest.distance), nearest.reason, one.count]  # fmt: skip
            return
        yield ["group", "id", "keep", "distance", "reason"]
        for group in self.found:
            for at, member in enumerate(group):
                yield [group.number, self.documents[member.position].id, "no" if at else "yes",
                       repr(member.distance), member.reason if at else ""]  # fmt: skip

    def _record(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "sources": [str(path) for path in self.sets.sources],
            "against": None if self.sets.against is None else str(self.sets.against),
            **self.measuring.record(),
            "threshold": self.found.threshold,
            "documents": len(self.documents),
        }
        if isinstance(self.found, Repeats):
            record["other_documents"] = self.found.n_against
            record["repeats"] = [
                {
                    "id": self.documents[one.position].id,
                    "repeats": self._other(one.nearest.position),
                    "distance": one.nearest.distance,
                    "reason": one.nearest.reason,
                    "count": one.count,
                }
                for one in self.found
            ]
        else:
            record["groups"] = [
                {
                    "keep": self.documents[group.representative.position].id,
                    "members": [
                        {
                            "id": self.documents[member.position].id,
                            "distance": member.distance,
                            "reason": member.reason,
                        }
                        for member in group
                    ],
                }
                for group in self.found
            ]
        record["removable"] = [self.documents[at].id for at in self.found.removed.tolist()]
        record["empty"] = [self.documents[at].id for at in self.found.empty.tolist()]
        return record

    def _other(self, position: int) -> str:
        assert self.others is not None
        return self.others[position].id

    def _summary(self) -> str:
        documents = documents_told(len(self.documents))
        if isinstance(self.found, Repeats):
            return f"{len(self.found):,} of {documents} repeat some of {self.found.n_against:,}"
        groups = "1 group" if len(self.found) == 1 else f"{len(self.found):,} groups"
        return f"{groups} of duplicates; {len(self.found.removed):,} of {documents} could go"
