"""``textkin duplicates``: documents that are equal or similar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._documents import Reading, passes, read_documents, without_shared
from textkin.cli._errors import note, reword_errors
from textkin.cli._options import (
    CsvOption,
    DelimiterOption,
    DimensionOption,
    EncodingOption,
    HtmlOption,
    IdOption,
    JobsOption,
    JsonOption,
    KeepStopWordsOption,
    MaxBytesOption,
    MetricOptions,
    ModelOption,
    NoIdOption,
    OutputOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesOrIndexes,
    SplitOption,
    StopWordsOption,
    TextOption,
    VectorsOption,
    WhereOption,
)
from textkin.cli._output import Form, Look, Output, align, format_documents, safe_text
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.learn import Duplicates, Repeats
    from textkin.reading import Document

__all__ = ["duplicates"]

_SOME_FOUND = 1  # exit code
_LETTERS = 200  # characters of a text in the output, without a terminal


def duplicates(
    sources: Annotated[list[Path], SourcesOrIndexes],
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="text, bag, or a distance such as wmd (needs --radius); see above.",
        ),
    ] = "text",
    radius: Annotated[
        float | None, typer.Option(help="Largest distance between duplicates.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="File, folder, or index that SOURCE may repeat."),
    ] = None,
    against_where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR",
            help="Instead of OTHER: a part of SOURCE, as in 'split=train'.",
        ),
    ] = None,
    where: WhereOption = None,
    model: ModelOption = None,
    dimension: DimensionOption = None,
    vectors: VectorsOption = None,
    stop_words: StopWordsOption = "smart",
    keep_stop_words: KeepStopWordsOption = False,
    text: TextOption = None,
    id: IdOption = None,
    no_id: NoIdOption = False,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    split: SplitOption = None,
    skip_errors: SkipErrorsOption = False,
    jobs: JobsOption = -1,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if there are duplicates.")
    ] = False,
    ids: Annotated[
        bool, typer.Option("--ids", help="Print only the IDs of redundant documents.")
    ] = False,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Find equal and nearly equal documents.

    The first document of each group is marked 'keep'. With --against, the output lists the
    documents that repeat a document of the other collection, such as test documents in the
    training set. The exit code is 0 with or without duplicates; with --fail, duplicates
    make it 1.

    The metric 'text' (the default) requires the same words in the same order, 'bag' the same
    words in any order. With --radius, the metric is one of: wmd, rwmd, wcd, cosine, l1, l2,
    hellinger, jaccard, weighted-jaccard, edit.
    """
    if ids and (json or csv):
        raise ValueError("--ids prints only IDs; got --json or --csv too. Remove one of them.")
    with reword_errors("Nothing was written."):
        with working("Loading"):
            from textkin.learn import find_duplicates

            sets = _Sets(
                sources=tuple(sources),
                against=against,
                against_where=tuple(against_where or ()),
                where=tuple(where or ()),
                reading=Reading.of(
                    text=text,
                    id=id,
                    no_id=no_id,
                    pattern=pattern,
                    encoding=encoding,
                    delimiter=delimiter,
                    quoted=quoted,
                    max_bytes=max_bytes,
                    split=split,
                    skip_errors=skip_errors,
                ),
            )
            options = MetricOptions(
                metric=metric,
                model=model,
                dimension=dimension,
                vectors=vectors,
                stop_words=stop_words,
                keep_stop_words=keep_stop_words,
                jobs=jobs,
            )
            wanted = Output.of(
                sets.paths, json=json, csv=csv, output=output, pattern=pattern or (), html=html
            )
            if ids and wanted.form is not Form.lines:
                raise ValueError(
                    f"--ids prints only IDs; got {output} as --output. Name a text file instead."
                )
        documents, others = sets.read()
        settings = options.settings(len(documents) + len(others or ()))
        with progress_bar("Comparing") as tell:
            found = find_duplicates(
                documents, radius, metric, against=others, progress=tell, **settings
            )
        _Result(found, documents, others, sets, options).show(wanted, ids=ids)
    if fail and len(found):
        raise typer.Exit(_SOME_FOUND)


@dataclass(frozen=True, slots=True)
class _Sets:
    """Paths of the documents, and of the collection to compare them with.

    Attributes
    ----------
    sources : tuple of Path
        Paths of the documents.
    against : Path or None
        Path of the other collection.
    against_where : tuple of str
        Conditions for the documents of `sources` that form the other collection.
    where : tuple of str
        Conditions that all documents must fulfill.
    reading : Reading
        Options for reading files.
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
            raise ValueError(
                "--against and --against-where must not be combined. Pass one of them."
            )
        if any(one.exists() and self.against.exists() and one.samefile(self.against)
               for one in self.sources):  # fmt: skip
            raise ValueError(
                f"SOURCE and --against must be different; got {str(self.against)!r} twice. Leave "
                "--against out, or select a part of SOURCE with --against-where."
            )

    @property
    def paths(self) -> list[Path]:
        """Paths of the documents, and of the collection to compare them with."""
        return [*self.sources, *([] if self.against is None else [self.against])]

    def read(self) -> "tuple[list[Document], list[Document] | None]":
        """Read the documents of both collections; the second is None without --against."""
        documents = self._kept(read_documents(self.sources, self.reading))
        if self.against_where:
            apart = passes(documents, self.against_where, "--against-where")
            if all(apart):
                raise ValueError(
                    "--against-where must leave documents that could repeat the others; all "
                    f"documents ({len(documents):,}) fulfill it."
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
            documents = without_shared(documents, source, self.against, several=several)
            others = without_shared(others, self.against, source)
        return documents, others

    def _kept(self, documents: "list[Document]") -> "list[Document]":
        kept = passes(documents, self.where)
        return [one for one, there in zip(documents, kept, strict=True) if there]


@dataclass(frozen=True, slots=True)
class _Result:
    """Duplicates, and their output as lines, CSV, or JSON.

    Attributes
    ----------
    found : Duplicates or Repeats
        Result of `find_duplicates`.
    documents : list of Document
        All documents that were compared.
    others : list of Document or None
        Documents that they may repeat.
    sets : _Sets
        Sources of both.
    options : MetricOptions
        Metric, and the options of the metric.
    """

    found: "Duplicates | Repeats"
    documents: "list[Document]"
    others: "list[Document] | None"
    sets: _Sets
    options: MetricOptions

    def show(self, output: Output, *, ids: bool) -> None:
        """Write the duplicates in the requested format, and print a summary."""
        lines = self._removable if ids else self._lines
        output.put(lines=lines, record=self._record, table=self._table, html=self.found.to_html)
        if output.tells_all:
            return
        if len(self.found.empty):
            documents = format_documents(len(self.documents))
            note(
                f"{len(self.found.empty):,} of {documents} have no words to compare; they are not "
                "duplicates."
            )
        typer.echo(f"textkin: {self._summary()}", err=True)

    def _removable(self, _look: Look) -> list[str]:
        names = [self.documents[at].id for at in self.found.removed.tolist()]
        for name in names:
            if len(name.splitlines()) > 1:  # an ID with a line break would look like two IDs
                raise ValueError(
                    f"--ids prints one ID per line; the ID {safe_text(name)!r} has several lines. "
                    "Use --json."
                )
        return [safe_text(name) for name in names]

    def _lines(self, look: Look) -> Iterator[str]:
        from textkin.learn import Repeats

        if isinstance(self.found, Repeats):
            rows = [["id", "repeats", "", ""]]
            for one in self.found:
                more = f"and {one.count - 1:,} more" if one.count > 1 else ""
                rows.append([self.documents[one.position].id, self._other(one.nearest.position),
                             one.nearest.reason, more])  # fmt: skip
            if len(rows) > 1:
                yield from align(rows, look, cut=[0, 1])
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
            lines = align(rows, look.narrower(2), cut=[1, 3], fill=True)
            yield from (f"  {line}" for line in lines)

    def _table(self) -> Iterator[Sequence[object]]:
        from textkin.learn import Repeats

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
        from textkin.learn import Repeats

        record: dict[str, Any] = {
            "sources": [str(path) for path in self.sets.sources],
            "against": None if self.sets.against is None else str(self.sets.against),
            **self.options.record(),
            "radius": self.found.radius,
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
        from textkin.learn import Repeats

        documents = format_documents(len(self.documents))
        if isinstance(self.found, Repeats):
            noun = "document" if self.found.n_against == 1 else "documents"
            others = f"{self.found.n_against:,} other {noun}"
            return f"{len(self.found):,} of {documents} repeat one of {others}"
        groups = "1 group" if len(self.found) == 1 else f"{len(self.found):,} groups"
        return f"{groups} of duplicates; redundant: {len(self.found.removed):,} of {documents}"
