"""``textkin duplicates``: documents that are the same, or nearly."""

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

__all__ = ["duplicates"]

_SOME_FOUND = 1


def duplicates(
    sources: Annotated[list[Path], SourcesOrIndexes],
    by: Annotated[
        str,
        typer.Option(
            metavar="MEASURE",
            help="text (same words in order), bag (in any order); or, with --threshold, wmd, "
            "rwmd, wcd, cosine, l1, l2, hellinger, jaccard, weighted-jaccard, edit.",
        ),
    ] = "bag",
    threshold: Annotated[
        float | None, typer.Option(help="The distance that duplicates have at most.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER", help="Tell which documents repeat some of this file, folder or index."
        ),
    ] = None,
    against_where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR",
            help="In place of OTHER: those of SOURCE that are like 'split=train'.",
        ),
    ] = None,
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
    jobs: JobsOption = -1,
    fail: Annotated[
        bool, typer.Option("--fail", help="End with exit code 1 if there are any.")
    ] = False,
    ids: Annotated[
        bool, typer.Option("--ids", help="Print only the ids of documents that could go.")
    ] = False,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Find documents that are the same, or nearly.

    Of each group one document is to be kept. With --against, a document is told that repeats one
    of the other collection, such as a test document that is in the training set. The exit code
    is 0 whether there are any or not; --fail makes it 1 if there are.
    """
    from textkin.run import progress_bar, working

    if ids and (json or csv):
        raise ValueError("--ids prints ids alone: leave --json and --csv out.")
    with in_words("Nothing was written."):
        with working("Loading"):
            from textkin.cli._corpora import Reading
            from textkin.cli._measuring import Measuring
            from textkin.cli._output import Form, Output
            from textkin.cli._repeated import Found, Sets
            from textkin.learn import find_duplicates

            sets = Sets(
                sources=tuple(sources),
                against=against,
                against_where=tuple(against_where or ()),
                where=tuple(where or ()),
                reading=Reading(
                    text=text,
                    id=Reading.id_of(id, no_id=no_id),
                    pattern=tuple(pattern or ()),
                    encoding=encoding,
                    delimiter=delimiter,
                    quoted=quoted,
                    max_bytes=max_bytes,
                    split=None if split is None else split.value,
                    skip_errors=skip_errors,
                ),
            )
            measuring = Measuring(
                by=by,
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
                raise ValueError(f"--ids prints ids alone: name no table or JSON, as {output} is.")
        documents, others = sets.read()
        settings = measuring.settings(len(documents) + len(others or ()))
        with progress_bar("Comparing") as tell:
            found = find_duplicates(
                documents, threshold, by, against=others, progress=tell, **settings
            )
        Found(found, documents, others, sets, measuring).show(wanted, ids=ids)
    if fail and len(found):
        raise typer.Exit(_SOME_FOUND)
