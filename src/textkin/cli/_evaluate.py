"""``textkin evaluate``: comparison of methods on your own data."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from textkin.cli._documents import note_skipped
from textkin.cli._errors import reword_errors
from textkin.cli._options import (
    CsvOption,
    DelimiterOption,
    EncodingOption,
    JobsOption,
    JsonOption,
    KeepStopWordsOption,
    MaxBytesOption,
    OutputOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    StopWordsOption,
    VectorsOption,
    check_jobs,
    load_vectors,
    stop_words_of,
)
from textkin.cli._output import Output
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.evaluate import Evaluation, LabeledData
    from textkin.reading import Documents

__all__ = ["app"]

_Data = TypeVar("_Data")

app = typer.Typer(
    name="evaluate",
    help="Compare methods on labeled texts, queries, or scored pairs.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


class LabelMethod(StrEnum):
    """Values of the option --method of ``evaluate labels``: classifiers."""

    knn_wmd = "knn-wmd"
    knn_tfidf = "knn-tfidf"
    rocchio = "rocchio"
    svm_tfidf = "svm-tfidf"


class RankingName(StrEnum):
    """Values of the option --ranking of ``evaluate search``: rankings."""

    bm25 = "bm25"
    tfidf = "tfidf"
    cosine = "cosine"
    inner = "inner"
    binary = "binary"
    wmd = "wmd"
    rwmd = "rwmd"
    wcd = "wcd"
    hybrid = "hybrid"


class PairMethod(StrEnum):
    """Values of the option --method of ``evaluate pairs``: similarities."""

    pooling = "pooling"
    wmd = "wmd"
    tfidf = "tfidf"


class Unknown(StrEnum):
    """Values of the option --unknown: treatment of judgments with unknown IDs."""

    error = "error"
    drop = "drop"
    keep = "keep"


TextFieldOption = Annotated[
    str | None, typer.Option(metavar="FIELD", help="Field with the text (default: text).")
]


@app.callback()
def _evaluate(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: textkin evaluate labels reviews.csv --text body --label stars")
def labels(
    train: Annotated[
        Path, typer.Argument(metavar="PATH", help="File or folder with labeled texts.")
    ],
    test: Annotated[
        Path | None, typer.Argument(metavar="TEST", help="Labeled texts to test on.")
    ] = None,
    method: Annotated[
        list[LabelMethod] | None,
        typer.Option(
            metavar="NAME",
            help="knn-wmd, knn-tfidf, rocchio, or svm-tfidf; repeat (default: all).",
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Fraction of the texts to hold out.")
    ] = 0.3,
    text: TextFieldOption = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field with the label (default: label, or sub-folder)."),
    ] = None,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    skip_errors: SkipErrorsOption = False,
    vectors: VectorsOption = None,
    stop_words: StopWordsOption = "smart",
    keep_stop_words: KeepStopWordsOption = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Random seed.")] = 0,
    jobs: JobsOption = -1,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Compare classifiers on labeled texts.

    Train on one part of the texts and test on the other. The parts are PATH and TEST; or the
    parts in a field 'split', 'splits', or 'fold'; or the folders train/ and test/. Otherwise,
    hold out a random part. The number of neighbors is tuned on the training part.
    """
    check_jobs(jobs)
    if test is not None and test.exists() and train.exists() and test.samefile(train):
        raise ValueError(
            f"PATH and TEST must be different; got {str(train)!r} twice. Leave TEST out to hold "
            "out a part."
        )
    with reword_errors("Nothing was written."):
        with working("Loading"):
            from textkin.evaluate import evaluate_labels, read_labeled

            sources = [train] if test is None else [train, test]
            wanted = _output(sources, json=json, csv=csv, output=output, pattern=pattern)
            words = None if keep_stop_words else stop_words_of(stop_words)

        def read(path: Path) -> "LabeledData":
            documents = _documents(
                path,
                skip_errors=skip_errors,
                max_bytes=max_bytes,
                text=text,
                label=label,
                pattern=pattern or None,
                encoding=encoding,
                delimiter=delimiter,
                quoted=quoted,
            )
            if label is not None and path.is_dir() and not any(one.label for one in documents):
                raise ValueError(
                    f"--label must name a field of the documents of {path}; no document has "
                    f"{label!r}. Leave --label out to use sub-folders as labels."
                )
            return _read(read_labeled, documents, path)

        data = read(train)
        held = None if test is None else read(test)
        with progress_bar("Evaluating") as progress:
            found = evaluate_labels(
                data,
                held,
                methods=[one.value for one in method or LabelMethod],
                test_size=test_size,
                vectors=None if vectors is None else load_vectors(vectors),
                stop_words=words,
                random_state=seed,
                n_jobs=jobs,
                progress=progress,
            )
        _show(found, wanted)


@app.command(epilog="Example: textkin evaluate search scifact/ --part test --ranking bm25")
def search(
    documents: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="BEIR folder; or documents, with --qrels."),
    ],
    queries: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Queries with id and text (default: in FOLDER)."),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Relevance judgments, TREC or BEIR (default: in FOLDER)."
        ),
    ] = None,
    ranking: Annotated[
        list[RankingName] | None,
        typer.Option(
            metavar="NAME",
            help="Ranking to compare; repeat (default: bm25, tfidf, wmd, hybrid).",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Part of the queries, such as test (default: all)."),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=100, metavar="N", help="Number of hits per query to score.")
    ] = 1000,
    unknown: Annotated[
        Unknown, typer.Option(help="Treatment of judgments with unknown IDs.")
    ] = Unknown.error,
    vectors: VectorsOption = None,
    jobs: JobsOption = -1,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Compare rankings on queries with relevance judgments.

    Add the documents to a temporary index, search for each judged query, and measure MAP, nDCG@10,
    recall@100, and MRR. FOLDER has corpus.jsonl, queries.jsonl, and qrels/.
    """
    check_jobs(jobs)
    if (queries is None) != (qrels is None):
        given, other = ("--queries", "--qrels") if qrels is None else ("--qrels", "--queries")
        raise ValueError(f"{given} must come with {other}; got {given} only. Pass {other} FILE.")
    with reword_errors("Nothing was written."):
        with working("Loading"):
            from textkin.evaluate import evaluate_search, read_retrieval

            read = [path for path in (documents, queries, qrels) if path is not None]
            wanted = _output(read, json=json, csv=csv, output=output)
        with progress_bar("Reading") as progress:
            data = read_retrieval(
                documents, queries=queries, qrels=qrels, unknown=unknown.value, progress=progress
            )
        chosen: dict[str, Any] = {"rankings": [*map(str, ranking)]} if ranking else {}
        with progress_bar("Searching", "queries") as progress:
            found = evaluate_search(
                data,
                part=part,
                k=k,
                vectors=None if vectors is None else load_vectors(vectors),
                n_jobs=jobs,
                progress=progress,
                **chosen,
            )
        _show(found, wanted)


@app.command(epilog="Example: textkin evaluate pairs sts.tsv --first a --second b --gold score")
def pairs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Table of pairs with a header.")],
    first: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column of the first text.")
    ] = "sentence1",
    second: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column of the second text.")
    ] = "sentence2",
    gold: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column of the gold scores.")
    ] = "gold",
    dataset: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column with the name of the set, if any.")
    ] = "dataset",
    method: Annotated[
        list[PairMethod] | None,
        typer.Option(
            metavar="NAME", help="pooling, wmd, or tfidf; repeat for several (default: all)."
        ),
    ] = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    skip_errors: SkipErrorsOption = False,
    vectors: VectorsOption = None,
    stop_words: StopWordsOption = "smart",
    keep_stop_words: KeepStopWordsOption = False,
    jobs: JobsOption = -1,
    output: OutputOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Compare similarities with the gold scores of text pairs.

    Measure Pearson's and Spearman's correlation of each method with human scores.
    """
    check_jobs(jobs)
    with reword_errors("Nothing was written."):
        with working("Loading"):
            from textkin.evaluate import evaluate_pairs, read_pairs

            wanted = _output([file], json=json, csv=csv, output=output)
            words = None if keep_stop_words else stop_words_of(stop_words)
        documents = _documents(
            file,
            skip_errors=skip_errors,
            max_bytes=None,
            text=first,
            id=False,
            label=False,
            encoding=encoding,
            delimiter=delimiter,
            quoted=quoted,
        )
        reader = partial(read_pairs, first=first, second=second, gold=gold, dataset=dataset)
        data = _read(reader, documents, file)
        with progress_bar("Evaluating") as progress:
            found = evaluate_pairs(
                data,
                methods=[one.value for one in method or PairMethod],
                vectors=None if vectors is None else load_vectors(vectors),
                stop_words=words,
                n_jobs=jobs,
                progress=progress,
            )
        _show(found, wanted)


def _output(
    sources: Sequence[Path],
    *,
    json: bool,
    csv: bool,
    output: Path | None,
    pattern: Sequence[str] | None = None,
) -> Output:
    return Output.of(sources, json=json, csv=csv, output=output, pattern=pattern or ())


def _documents(
    path: Path,
    *,
    skip_errors: bool,
    max_bytes: int | None,
    **options: Any,  # noqa: ANN401 (options of `textkin.read`)
) -> "Documents":
    from textkin.reading import read

    limit: dict[str, Any] = {} if max_bytes is None else {"max_bytes": max_bytes}
    return read(path, errors="skip" if skip_errors else "raise", **options, **limit)


def _read(reader: Callable[["Documents"], _Data], documents: "Documents", path: Path) -> _Data:
    """Read evaluation data with a reader, and add the path to error messages."""
    try:
        with working("Reading"):
            data = reader(documents)
    except ValueError as error:
        raise ValueError(str(error).replace("the given source", repr(str(path)))) from error
    if documents.skipped is not None:
        note_skipped(documents.skipped)
    return data


def _show(found: "Evaluation", wanted: Output) -> None:
    """Write an evaluation as a table, JSON, or CSV."""

    def table() -> list[list[object]]:
        records = found.to_records()
        return [[*records[0]], *([*record.values()] for record in records)]

    wanted.put(lines=lambda look: str(found).splitlines(), record=found.to_dict, table=table)
