"""``textkin cluster``: groups of similar documents, and the typical words of each group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._documents import Reading, passes, read_documents
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
from textkin.cli._output import Look, Output, format_documents, one_line
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.learn import DocumentClustering
    from textkin.reading import Document

__all__ = ["cluster"]

_CLUSTERS = 8


class Method(StrEnum):
    """Values of the option --method: clustering methods."""

    kmeans = "kmeans"
    kmedoids = "kmedoids"
    agglomerative = "agglomerative"


class Linkage(StrEnum):
    """Values of the option --linkage: linkage criteria of agglomerative clustering."""

    average = "average"
    single = "single"
    complete = "complete"


def cluster(
    sources: Annotated[list[Path], SourcesOrIndexes],
    number: Annotated[
        int | None,
        typer.Option(
            "--number",
            "-n",
            min=1,
            help="Number of clusters (default: 8, or fewer for few documents).",
        ),
    ] = None,
    method: Annotated[
        Method,
        typer.Option(help="kmeans is fast; kmedoids and agglomerative take any metric."),
    ] = Method.kmeans,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric (default: cosine for kmeans, wmd for the others).",
        ),
    ] = None,
    linkage: Annotated[
        Linkage | None, typer.Option(help="Linkage criterion (agglomerative only).")
    ] = None,
    distance_threshold: Annotated[
        float | None,
        typer.Option(help="Largest distance of merged groups; replaces -n (agglomerative only)."),
    ] = None,
    words: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of typical words per cluster.")
    ] = 10,
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
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Random seed.")] = 0,
    jobs: JobsOption = -1,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an SVG image of the clusters.")
    ] = None,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Group documents, and list the typical words of each group.

    Each group shows the words that are typical of it, and its most central document. The
    largest group is 0; documents without words have the number -1. The same seed gives the
    same groups. The metric of kmeans is cosine or l2; kmedoids and agglomerative also take
    wmd, rwmd, wcd, l1, hellinger, jaccard, and edit.
    """
    if distance_threshold is not None and number is not None:
        raise ValueError("-n and --distance-threshold must not be combined. Pass one of them.")
    for option, given in (("--linkage", linkage), ("--distance-threshold", distance_threshold)):
        if given is not None and method is not Method.agglomerative:
            raise ValueError(f"{option} must come with --method agglomerative.")
    with reword_errors("Nothing was written."):
        with working("Loading"):
            from textkin.learn import DocumentClustering

            options = MetricOptions(
                metric=metric,
                model=model,
                dimension=dimension,
                vectors=vectors,
                stop_words=stop_words,
                keep_stop_words=keep_stop_words,
                seed=seed,
                jobs=jobs,
            )
            reading = Reading.of(
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
            )
            wanted = Output.of(
                sources,
                json=json,
                csv=csv,
                output=output,
                pattern=reading.pattern,
                svg=svg,
                html=html,
            )
        found = read_documents(sources, reading)
        kept = passes(found, where or ())
        documents = [one for one, there in zip(found, kept, strict=True) if there]
        if number is None and distance_threshold is None:
            differ = len({document.text for document in documents})
            number = max(1, min(_CLUSTERS, differ // 2))
        clusters = DocumentClustering(
            number,
            method=method.value,
            metric=metric,
            linkage="average" if linkage is None else linkage.value,
            distance_threshold=distance_threshold,
            n_words=words,
            random_state=seed,
            **options.settings(len(documents)),
        )
        with progress_bar("Clustering") as tell:
            clusters.fit(documents, progress=tell)
        settings = {
            "sources": [str(path) for path in sources],
            "method": method.value,
            **options.record(),
            "seed": seed,
        }
        _Result(clusters, documents, settings).show(wanted)


@dataclass(frozen=True, slots=True)
class _Result:
    """Documents with their clusters, and their output as text, CSV, or JSON.

    Attributes
    ----------
    clusters : DocumentClustering
        Fitted clustering.
    documents : list of Document
        Documents that it was fitted to.
    settings : dict
        Options, for JSON.
    """

    clusters: "DocumentClustering"
    documents: "list[Document]"
    settings: dict[str, Any]

    def show(self, output: Output) -> None:
        """Write the clusters in the requested format, and print a summary."""
        output.put(
            lines=self._lines,
            record=self._record,
            table=self._table,
            svg=self.clusters.to_svg,
            html=self.clusters.to_html,
        )
        if output.tells_all:
            return
        alone = int((self.clusters.labels_ < 0).sum())
        if alone:
            note(f"no words to compare, so in no cluster (-1): {format_documents(alone)}.")
        number = len(self.clusters.clusters_)
        typer.echo(
            f"textkin: {format_documents(len(self.documents))} in "
            f"{'1 cluster' if number == 1 else f'{number:,} clusters'}",
            err=True,
        )

    def _lines(self, look: Look) -> Iterator[str]:
        for cluster in self.clusters.clusters_:
            central = self.documents[cluster.central]
            if cluster.number:
                yield ""
            yield (
                f"cluster {cluster.number}, {format_documents(cluster.size)}, mean distance "
                f"{cluster.spread:.4f} to the center"
            )
            room = look.width - 11
            words = ", ".join(word for word, _ in cluster.words)
            if words:
                yield f"  words    {one_line([words], room)}"
            id = one_line([central.id], room) if look.terminal else one_line([central.id], 500)
            yield f"  central  {id}"
            if central.text.strip():
                yield f"           {one_line([central.text], room)}"

    def _table(self) -> Iterator[Sequence[object]]:
        far = [""] * len(self.documents)
        for cluster in self.clusters.clusters_:
            for at, distance in zip(cluster.members, cluster.distances, strict=True):
                far[at] = repr(float(distance))
        yield ["id", "cluster", "distance"]
        for document, label, distance in zip(
            self.documents, self.clusters.labels_.tolist(), far, strict=True
        ):
            yield [document.id, label, distance]

    def _record(self) -> dict[str, Any]:
        return {
            **self.settings,
            "documents": len(self.documents),
            "clusters": [
                {
                    "number": cluster.number,
                    "size": cluster.size,
                    "spread": cluster.spread,
                    "words": [{"word": word, "score": score} for word, score in cluster.words],
                    "central": self.documents[cluster.central].id,
                    "members": [
                        {"id": self.documents[at].id, "distance": float(distance)}
                        for at, distance in zip(cluster.members, cluster.distances, strict=True)
                    ],
                }
                for cluster in self.clusters.clusters_
            ],
            "in_no_cluster": [
                document.id
                for document, label in zip(
                    self.documents, self.clusters.labels_.tolist(), strict=True
                )
                if label < 0
            ],
        }
