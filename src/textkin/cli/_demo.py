"""``textkin demo``: a tour of textkin that needs no input."""

import json as json_module
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from textkin.cli._options import JsonOption
from textkin.cli._output import draw
from textkin.explain import shortened
from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.reading import Docstring
    from textkin.transport import Comparison

__all__ = ["demo"]

SENTENCE = "Obama speaks to the media in Illinois"
OTHERS = ("The President greets the press in Chicago", "The band gave a concert in Japan")
QUESTIONS = (
    "Delete a directory with all its contents",
    "Pick a winner at random",
    "Find the middle value of the data",
)
_FEWEST_WORDS = 4  # shorter docstrings match every query and say little
_HITS = 3


@dataclass(frozen=True, slots=True)
class _Answer:
    question: str
    hits: "list[tuple[Docstring, float]]"
    best: "Comparison"


def demo(json: JsonOption = False) -> None:
    """Show examples of textkin; needs no input and no download."""
    with working("Loading"):
        from textkin.transport import WordMover

    mover = WordMover()
    comparisons = [(other, mover.explain(SENTENCE, other)) for other in OTHERS]
    if not json:
        _show_comparisons(comparisons)
    corpus, answers = _search()
    if json:
        typer.echo(json_module.dumps(_as_records(comparisons, corpus, answers), indent=2))
    else:
        _show_answers(corpus, answers)


def _search() -> "tuple[list[Docstring], list[_Answer]]":
    import numpy as np

    from textkin.reading import standard_library_docstrings
    from textkin.transport import WordMover

    mover = WordMover(word_weights="sif", unit=True, n_jobs=-1)
    with working("Reading the standard library"):
        found = list(standard_library_docstrings())
        coverages = mover.coverage([docstring.text for docstring in found])
    corpus = [
        docstring
        for docstring, coverage in zip(found, coverages, strict=True)
        if coverage.known >= _FEWEST_WORDS
    ]
    if not corpus:
        raise ValueError(
            "The demo requires the source files of Python's standard library; this Python has "
            "none. Use another installation of Python."
        )
    with progress_bar("Measuring distances") as progress:
        distances = mover.pairwise(QUESTIONS, [d.text for d in corpus], progress=progress)
    answers = []
    for question, row in zip(QUESTIONS, distances, strict=True):
        nearest = np.argsort(row, kind="stable")[:_HITS]
        hits = [(corpus[i], float(row[i])) for i in nearest]
        answers.append(_Answer(question, hits, mover.explain(question, hits[0][0].text)))
    return corpus, answers


def _show_comparisons(comparisons: "list[tuple[str, Comparison]]") -> None:
    typer.echo("How similar are two texts? Word Mover's Distance is the least total distance that")
    typer.echo("the words of one text must move to become the other text.\n")
    typer.echo(f"  {SENTENCE!r}")
    for other, comparison in comparisons:
        typer.echo(f"\n  to {other!r}: {comparison.distance:.3f}")
        typer.echo(draw(comparison, limit=12, indent=4))
    near, _ = min(comparisons, key=lambda found: found[1].distance)
    gap = max(comparison.verify().gap for _, comparison in comparisons)
    typer.echo(f"\n  The more similar one is {near!r}.")
    typer.echo("  Without stop words, the two texts share no word, but they mean the same.")
    typer.echo(f"  Both distances are proven optimal: no plan is cheaper by more than {gap:.0e}.\n")


def _show_answers(corpus: "list[Docstring]", answers: list[_Answer]) -> None:
    typer.echo(
        f"Which documents are most similar? {len(corpus)} docstrings of Python's library, by"
    )
    typer.echo("exact distance to a question (unit vectors; frequent words have less weight).")
    for answer in answers:
        typer.echo(f"\n  {answer.question}")
        for docstring, distance in answer.hits:
            typer.echo(f"    {distance:.3f}  {docstring.name}")
            typer.echo(f"           {shortened(docstring.text, 68)}")
        typer.echo("    why the first one:")
        typer.echo(draw(answer.best, limit=5, indent=6))
    command = _command()
    typer.echo("\nTry next:")
    typer.echo(f"  {command} compare 'My cat sleeps' 'A kitten naps' --html why.html")
    typer.echo(f"  {command} --help")
    typer.echo("  the Python examples in README.md, with your own texts")


def _command() -> str:
    """Return the shell command that starts textkin, with its path if needed."""
    if shutil.which("textkin"):
        return "textkin"
    beside = Path(sys.executable).with_name("textkin")
    try:
        return str(beside.relative_to(Path.cwd())) if beside.exists() else "python -m textkin"
    except ValueError:  # The command is not below the current folder.
        return str(beside)


def _as_records(
    comparisons: "list[tuple[str, Comparison]]",
    corpus: "list[Docstring]",
    answers: list[_Answer],
) -> dict[str, Any]:
    return {
        "comparisons": [
            {"a": SENTENCE, "b": other, **comparison.to_dict()} for other, comparison in comparisons
        ],
        "documents": len(corpus),
        "questions": [
            {
                "question": answer.question,
                "hits": [
                    {"name": docstring.name, "text": docstring.text, "distance": distance}
                    for docstring, distance in answer.hits
                ],
                "best": answer.best.to_dict(),
            }
            for answer in answers
        ],
    }
