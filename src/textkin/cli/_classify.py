"""``textkin classify``: labels from the nearest labelled documents, and why."""

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
    StopWordsOption,
    TextOption,
)
from textkin.cli._printing import JsonOption
from textkin.cli._vectors import VectorsOption
from textkin.cli._wording import in_words

__all__ = ["classify"]


class Vote(StrEnum):
    """How neighbours vote."""

    majority = "majority"
    distance = "distance"
    fall_back = "fall-back"
    exponential = "exponential"


def classify(
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Labelled documents: a file, folder or index.")
    ],
    test: Annotated[
        Path | None,
        typer.Argument(
            metavar="TEST", help="Documents to classify; else those of TRAIN without a label."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="MEASURE",
            help="wmd, rwmd, wcd, cosine, l1, l2, hellinger, jaccard, edit; or rocchio, which "
            "compares with the mean of each label.",
        ),
    ] = "wmd",
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, help="Neighbours that vote; else 5.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose k from 1 to 19 on a fifth of TRAIN.")
    ] = False,
    vote: Annotated[Vote | None, typer.Option(help="How neighbours vote; else majority.")] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The field with the label; else 'label', or the sub-folder."
        ),
    ] = None,
    unlabelled: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="A label that stands for none, such as inbox."),
    ] = None,
    held_out: Annotated[
        list[str] | None,
        typer.Option(
            "--test-where",
            metavar="EXPR",
            help="Without TEST: classify documents like 'split=test', learn from the others.",
        ),
    ] = None,
    where: OnlyOption = None,
    model: ModelOption = None,
    dimension: DimensionOption = None,
    vectors: VectorsOption = None,
    stop_words: StopWordsOption = "smart",
    keep_stop_words: KeepStopWordsOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show who voted for each label, and why.")
    ] = False,
    text: TextOption = None,
    id: IdOption = None,
    no_id: NoIdOption = False,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    skip_errors: SkipErrorsOption = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Of --tune.")] = 0,
    jobs: JobsOption = -1,
    html: HtmlOption = None,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Label documents by the nearest labelled ones, and say why.

    The label of a document is its field 'label', or the sub-folder that its file lies in:
    TRAIN/sports/a.txt is 'sports'. With one argument, documents with a label teach and those
    without one are classified. If TEST has labels, the result is scored against them.
    """
    from textkin.run import working

    if by == "rocchio" and html is not None:
        raise ValueError("--html shows neighbours, and --by rocchio has none: try --explain.")
    with in_words("Nothing was written."):
        with working("Loading"):
            from textkin.cli._classifying import Task
            from textkin.cli._corpora import Reading
            from textkin.cli._measuring import Measuring
            from textkin.cli._output import Output

            rocchio = by == "rocchio"
            task = Task(
                train=train,
                test=test,
                label=label,
                unlabelled=frozenset(unlabelled or ()),
                held_out=tuple(held_out or ()),
                where=tuple(where or ()),
                rocchio=rocchio,
                k=k,
                tune=tune,
                vote=None if vote is None else vote.value,
                reading=Reading(
                    text=text,
                    id=Reading.id_of(id, no_id=no_id),
                    pattern=tuple(pattern or ()),
                    encoding=encoding,
                    delimiter=delimiter,
                    quoted=quoted,
                    max_bytes=max_bytes,
                    skip_errors=skip_errors,
                ),
                measuring=Measuring(
                    by="cosine" if rocchio else by,
                    model=model,
                    dimension=dimension,
                    vectors=vectors,
                    stop_words=stop_words,
                    keep_stop_words=keep_stop_words,
                    seed=seed,
                    jobs=jobs,
                ),
            )
            sources = [train] if test is None else [train, test]
            wanted = Output.of(
                sources, json=json, csv=csv, output=output, pattern=pattern or (), html=html
            )
        found = task.run()
        found.show(wanted, explain=explain)
