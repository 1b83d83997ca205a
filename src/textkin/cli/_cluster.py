"""``textkin cluster``: documents in groups, and what each is about."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from textkin.cli._options import (
    CsvOption,
    DelimiterOption,
    DimensionOption,
    EncodingOption,
    HtmlOption,
    IdOption,
    JobsOption,
    KeepStopWordsOption,
    MaxBytesOption,
    ModelOption,
    NoIdOption,
    OnlyOption,
    OutputOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesOrIndexes,
    SplitOption,
    StopWordsOption,
    TextOption,
)
from textkin.cli._printing import JsonOption
from textkin.cli._vectors import VectorsOption
from textkin.cli._wording import in_words

__all__ = ["cluster"]

_CLUSTERS = 8


class Method(StrEnum):
    """How groups are found."""

    kmeans = "kmeans"
    kmedoids = "kmedoids"
    agglomerative = "agglomerative"


class Linkage(StrEnum):
    """What the distance of two groups is."""

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
            help="How many clusters; else 8, if there are enough documents.",
        ),
    ] = None,
    method: Annotated[
        Method,
        typer.Option(help="kmeans is quick; the others take any measure, also wmd."),
    ] = Method.kmeans,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            help="cosine or l2; for kmedoids and agglomerative also wmd (else that), rwmd, wcd, "
            "l1, hellinger, jaccard, edit.",
        ),
    ] = None,
    linkage: Annotated[
        Linkage | None, typer.Option(help="Of agglomerative: how groups are compared.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Of agglomerative, without -n: merge groups at most so far apart."),
    ] = None,
    words: Annotated[
        int, typer.Option(min=0, metavar="N", help="Words that set a cluster apart.")
    ] = 10,
    where: OnlyOption = None,
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
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Where it starts.")
    ] = 0,
    jobs: JobsOption = -1,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture of the clusters.")
    ] = None,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Put documents into groups, and say what each is about.

    Of each group there are the words that set it apart, and the document that stands for it. The
    largest is 0; documents without words are in none: -1. The same seed gives the same clusters.
    """
    from textkin.run import progress_bar, working

    if threshold is not None and number is not None:
        raise ValueError("-n and --threshold exclude each other.")
    for option, given in (("--linkage", linkage), ("--threshold", threshold)):
        if given is not None and method is not Method.agglomerative:
            raise ValueError(f"{option} goes with --method agglomerative.")
    with in_words("Nothing was written."):
        with working("Loading"):
            from textkin.cli._corpora import Reading, fulfil, read_documents
            from textkin.cli._grouped import Grouped
            from textkin.cli._measuring import Measuring
            from textkin.cli._output import Output
            from textkin.learn import DocumentClusters

            measuring = Measuring(
                by=by,
                model=model,
                dimension=dimension,
                vectors=vectors,
                stop_words=stop_words,
                keep_stop_words=keep_stop_words,
                seed=seed,
                jobs=jobs,
            )
            reading = Reading(
                text=text,
                id=Reading.id_of(id, no_id=no_id),
                pattern=tuple(pattern or ()),
                encoding=encoding,
                delimiter=delimiter,
                quoted=quoted,
                max_bytes=max_bytes,
                split=None if split is None else split.value,
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
        kept = fulfil(found, where or ())
        documents = [one for one, there in zip(found, kept, strict=True) if there]
        if number is None and threshold is None:
            differ = len({document.text for document in documents})
            number = max(1, min(_CLUSTERS, differ // 2))
        clusters = DocumentClusters(
            number,
            method=method.value,
            metric=by,
            linkage="average" if linkage is None else linkage.value,
            distance_threshold=threshold,
            n_words=words,
            random_state=seed,
            **measuring.settings(len(documents)),
        )
        with progress_bar("Clustering") as tell:
            clusters.fit(documents, progress=tell)
        settings = {
            "sources": [str(path) for path in sources],
            "method": method.value,
            **measuring.record(),
            "seed": seed,
        }
        Grouped(clusters, documents, settings).show(wanted)
