"""``feedback``: what relevance feedback is worth, and what an inverted index reads (lecture)."""

from collections.abc import Callable

from textkin.evaluate._experiment import Aim, Experiment, Method, Reference
from textkin.evaluate._figures import line_figure
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid, by_dataset, by_measure
from textkin.evaluate.experiments._feedback_postings import postings, postings_files
from textkin.evaluate.experiments._feedback_rounds import feedback
from textkin.evaluate.experiments._judged import judged_files

__all__ = ["EXPERIMENT"]

_COLLECTIONS = ("med", "cran", "cacm", "time", "lisa")
_GROWING = ("lisa grows", "reuters21578 grows", "20news grows")
_POSTINGS = "inverted index"
_COLUMNS = {
    "before": ".1f",
    "pseudo": ".1f",
    "marked 1": ".1f",
    "marked 2": ".1f",
    "residual before": ".1f",
    "residual after": ".1f",
}


def _grows(dataset: str) -> bool:
    return dataset.endswith(" grows")


def _judged(dataset: str) -> bool:
    return not _grows(dataset)


def _methods() -> dict[str, Method]:
    made = {}
    for name, ranking in (("BM25", "bm25"), ("TF-IDF", "tfidf")):
        for more, settings in (
            ("", {}),
            (", 20 words", {"n_terms": 20}),
            (", all words", {"n_terms": None}),
            (", beta 2", {"beta": 2.0}),
            (", as scored", {"as_scored": True}),
        ):
            if ranking == "bm25" or "as_scored" not in settings:  # unit rows are both
                made[name + more] = Method(feedback, {"ranking": ranking, **settings}, on=_judged)
    made[_POSTINGS] = Method(postings, on=_grows)
    return made


_OTHERS = Reference(
    "other tools",
    "BM25 of public tools on these very files, with Snowball's stems; whether it counts stop words "
    "is not told.",
    {"BM25": {"med": 54.1, "cran": 30.6, "cacm": 34.7}},
    "before",
)


def _part(results: Results, which: Callable[[str], bool]) -> Results:
    cells = tuple(cell for cell in results.cells if which(cell.dataset))
    return Results(results.experiment, cells, results.quick, results.run)


def _tables(results: Results) -> list[Grid]:
    judged, made = _part(results, _judged), []
    for name in ("BM25", "TF-IDF"):
        if name in judged.methods:
            title = f"Average precision in percent, {name}"
            references = [_OTHERS] if name == "BM25" else []
            made.append(by_measure(judged, name, _COLUMNS, title, references=references))
            made.append(_queries(judged, name))
    for measure, title in (("pseudo", "pseudo-feedback"), ("residual after", "marks, residual")):
        if judged.cells:
            made.append(
                by_dataset(
                    judged,
                    measure,
                    f"Average precision in percent after {title}, other settings",
                    better="higher",
                )
            )
    if any(map(_grows, results.datasets)):
        made.append(_postings_table(results))
    return made


def _queries(results: Results, name: str) -> Grid:
    """Say how many queries gain and lose, and whether the mean could be chance."""
    steps = ("pseudo", "marked 1", "marked 2", "residual after")
    rows = []
    for dataset in results.datasets:
        for values in results.values(name, dataset):
            told = [
                f"{values[f'{step}: better']} / {values[f'{step}: worse']}, "
                f"{_chance(values[f'{step}: p'])}"
                if f"{step}: p" in values
                else "–"
                for step in steps
            ]
            numbers = [str(values["queries"]), str(values["residual queries"])]
            rows.append([dataset, *numbers, *told])
    return Grid(
        f"Queries that are better / worse than before, {name}",
        ["", "queries", "residual", *steps],
        rows,
        ["p: of a difference at least as large by chance, two-sided randomisation over queries."],
    )


def _chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _postings_table(results: Results) -> Grid:
    rows = []
    for dataset in filter(_grows, results.datasets):
        for values in results.values(_POSTINGS, dataset):
            for row in values["rows"]:
                rows.append(
                    [
                        dataset.removesuffix(" grows"),
                        f"{row['documents']:,.0f}",
                        f"{row['Vq']:.1f}",
                        f"{row['B']:.1f}",
                        f"{row['D Vq']:,.0f}",
                        f"{row['B Vq']:,.0f}",
                        f"{row['postings']:,.0f}",
                        f"{row['touched']:,.0f}",
                        f"{100 * row['touched'] / row['D Vq']:.2f} %",
                    ]
                )
    header = ["", "documents", "|Vq|", "B", "|D| |Vq|", "B |Vq|", "postings", "touched", "share"]
    note = (
        "Means over queries. |Vq|: different words of a query that some document has; B: mean "
        "length of a list of postings; postings: those of the words of the query, which the "
        "lecture's search reads; touched: those that ours, with bounds, adds up for the ten best; "
        "share: touched of |D| |Vq|, the cost without an index."
    )
    return Grid("Postings against the size of the collection", header, rows, [note])


def _figures(results: Results) -> dict[str, str]:
    lines = {}
    for dataset in filter(_grows, results.datasets):
        for values in results.values(_POSTINGS, dataset):
            name = dataset.removesuffix(" grows")
            for measure, shown in (("D Vq", "D·Vq"), ("postings", "lists"), ("B Vq", "B·Vq")):
                points = [(row["documents"], row[measure]) for row in values["rows"]]
                lines[f"{name}: {shown}"] = points
    if not lines:
        return {}
    return {
        "postings": line_figure(
            lines,
            title="What a query reads, as the collection grows",
            x_label="documents",
            y_label="postings",
            log_x=True,
            log_y=True,
            legend="lists: all postings of the words of a query; D, B, Vq as in the table",
        )
    }


def _findings(results: Results) -> str:
    parts = []
    for name in ("BM25", "TF-IDF"):
        for step, base, what in (
            (
                "residual after",
                "residual before",
                "One round of marks, judged by the documents that were not shown,",
            ),
            ("pseudo", "before", "Pseudo-feedback"),
        ):
            told = _changes(results, name, step, base)
            if told:
                parts.append(f"{what} changes average precision by {name}: {', '.join(told)}.")
    grown = [
        (dataset.removesuffix(" grows"), values)
        for dataset in filter(_grows, results.datasets)
        for values in results.values(_POSTINGS, dataset)
        if "postings: exponent" in values
    ]
    for name, values in grown:
        last = values["rows"][-1]
        parts.append(
            f"{name}: postings grow as the number of documents to the power of "
            f"{values['postings: exponent']:.2f}, B |Vq| to that of "
            f"{values['B Vq: exponent']:.2f}; with all "
            f"{last['documents']:,.0f} documents the lists of a query's words hold "
            f"{last['postings'] / last['B Vq']:.0f} times B |Vq| postings, and "
            f"{100 * last['postings'] / last['D Vq']:.1f} % of |D| |Vq|."
        )
    if grown and all(values["postings"] > 2 * values["B Vq"] for _, values in grown):
        parts.append(
            "So B |Vq| is too small an estimate: words of queries are not drawn from the "
            "vocabulary alike but as often as they are used, and frequent words have long lists. "
            "What an inverted index saves is a factor; the lists themselves grow with the "
            "collection."
        )
    return "\n\n".join(parts)


def _changes(results: Results, name: str, step: str, base: str) -> list[str]:
    told = []
    for dataset in filter(_judged, results.datasets):
        after, before = (results.mean(name, dataset, each) for each in (step, base))
        chance = results.mean(name, dataset, f"{step}: p")
        if after is not None and before is not None and chance is not None:
            told.append(f"{dataset} {after - before:+.1f} ({_chance(chance)})")
    return told


def _marks_help(results: Results) -> tuple[bool, str] | None:
    told, reached = [], True
    for dataset in filter(_judged, results.datasets):
        after, before = (
            results.mean("BM25", dataset, f"residual {each}") for each in ("after", "before")
        )
        if after is not None and before is not None:
            told.append(f"{dataset} {before:.1f} to {after:.1f}")
            reached &= after > before
    return (reached, ", ".join(told)) if told else None


EXPERIMENT = Experiment(
    name="feedback",
    title="Relevance feedback, and what an inverted index reads",
    source=(
        "A lecture on vector-space classification (Rocchio, nearest neighbours by an inverted "
        'index); Rocchio, "Relevance Feedback in Information Retrieval", 1971. Neither has numbers '
        "for these collections."
    ),
    protocol=(
        "*Feedback*: Porter's stems, no SMART stop words. The ten best documents of a query are "
        "marked by the judgements, and the query moves by Rocchio's formula (alpha 1, beta 0.75, "
        "gamma 0.15, the 50 heaviest words; documents brought to the length of the query, as "
        "`hits.feedback` does). *Marked 1, 2*: after one round and after a second one with the ten "
        "best that were not shown before; documents that were shown keep their ranks. *Residual*: "
        "documents that were shown are left out, before and after one round, so that nothing is "
        "gained by ranking known documents again; queries with nothing left to find are left out. "
        "*Pseudo*: the ten best are taken for right (gamma 0), nobody marks anything, and all "
        "documents are ranked again. Nothing is fitted; the other settings are all shown. "
        "Average precision is over all relevant documents, cut at rank 1000.\n\n"
        "*Postings*: the first 500, 1,000, ... documents of a set in a random order are put into "
        "an index, without SMART stop words, and asked for the ten best by BM25: LISA by its own "
        "queries, the others by 200 whole texts that are not in it, as nearest neighbours ask."
    ),
    datasets=[*_COLLECTIONS, *_GROWING],
    methods=_methods(),
    files=lambda dataset: postings_files(dataset) if _grows(dataset) else judged_files(dataset),
    tables=_tables,
    figures=_figures,
    findings=_findings,
    references=[_OTHERS],
    aims=[Aim("one round of marks raises the residual precision of BM25 everywhere", _marks_help)],
)
