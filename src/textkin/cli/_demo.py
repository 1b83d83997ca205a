"""The demo: what textkin is, in a few seconds, without input."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from textkin.cli._drawing import drawn
from textkin.explain import shortened
from textkin.run import progress_bar, working
from textkin.text import Docstring, standard_library_docstrings
from textkin.transport import Comparison, WordMover

__all__ = ["run_demo"]

SENTENCE = "Obama speaks to the media in Illinois"
OTHERS = ("The President greets the press in Chicago", "The band gave a concert in Japan")
QUESTIONS = (
    "Delete a directory with all its contents",
    "Pick a winner at random",
    "Find the middle value of the data",
)
_FEWEST_WORDS = 4  # shorter docstrings are near to everything and say little
_HITS = 3


@dataclass(frozen=True, slots=True)
class _Answer:
    question: str
    hits: list[tuple[Docstring, float]]
    best: Comparison


def run_demo(*, as_json: bool) -> None:
    """Compare the paper's sentences, then search the docstrings of the standard library."""
    mover = WordMover()
    comparisons = [(other, mover.explain(SENTENCE, other)) for other in OTHERS]
    if not as_json:
        _show_comparisons(comparisons)
    corpus, answers = _search()
    if as_json:
        typer.echo(json.dumps(_as_records(comparisons, corpus, answers), indent=2))
    else:
        _show_answers(corpus, answers)


def _search() -> tuple[list[Docstring], list[_Answer]]:
    mover = WordMover(masses="sif", unit=True, n_jobs=-1)
    with working("Reading the standard library"):
        found = list(standard_library_docstrings())
        coverages = mover.coverage([docstring.text for docstring in found])
    corpus = [
        docstring
        for docstring, coverage in zip(found, coverages, strict=True)
        if coverage.known >= _FEWEST_WORDS
    ]
    if not corpus:
        raise ValueError("This Python comes without the sources of its standard library.")
    with progress_bar("Measuring distances") as progress:
        distances = mover.pairwise(QUESTIONS, [d.text for d in corpus], progress=progress)
    answers = []
    for question, row in zip(QUESTIONS, distances, strict=True):
        nearest = np.argsort(row, kind="stable")[:_HITS]
        hits = [(corpus[i], float(row[i])) for i in nearest]
        answers.append(_Answer(question, hits, mover.explain(question, hits[0][0].text)))
    return corpus, answers


def _show_comparisons(comparisons: list[tuple[str, Comparison]]) -> None:
    typer.echo("How near are two texts? The Word Mover's Distance is how far the words of one")
    typer.echo("have to travel to become the other.\n")
    typer.echo(f"  {SENTENCE!r}")
    for other, comparison in comparisons:
        typer.echo(f"\n  to {other!r}: {comparison.distance:.3f}")
        typer.echo(drawn(comparison, limit=12, indent=4))
    near, _ = min(comparisons, key=lambda found: found[1].distance)
    gap = max(comparison.verify().gap for _, comparison in comparisons)
    typer.echo(f"\n  The nearer one is {near!r}:")
    typer.echo("  stop words aside, they share no word, but they share the meaning.")
    typer.echo(f"  Both distances are proven optimal: no plan is cheaper by more than {gap:.0e}.\n")


def _show_answers(corpus: list[Docstring], answers: list[_Answer]) -> None:
    typer.echo(f"Which documents are nearest? {len(corpus)} docstrings of Python's own library, by")
    typer.echo("their exact distance to a question (unit vectors; frequent words weigh less).")
    for answer in answers:
        typer.echo(f"\n  {answer.question}")
        for docstring, distance in answer.hits:
            typer.echo(f"    {distance:.3f}  {docstring.name}")
            typer.echo(f"           {shortened(docstring.text, 68)}")
        typer.echo("    why the first one:")
        typer.echo(drawn(answer.best, limit=5, indent=6))
    command = _command()
    typer.echo("\nWhat to try next:")
    typer.echo(f"  {command} compare 'My cat sleeps' 'A kitten naps' --html why.html")
    typer.echo(f"  {command} --help")
    typer.echo("  the ten lines of Python in README.md, with texts of your own")


def _command() -> str:
    """Return what to type for textkin here: its path, if the shell would not find it."""
    if shutil.which("textkin"):
        return "textkin"
    beside = Path(sys.executable).with_name("textkin")
    try:
        return str(beside.relative_to(Path.cwd())) if beside.exists() else "python -m textkin"
    except ValueError:  # elsewhere
        return str(beside)


def _as_records(
    comparisons: list[tuple[str, Comparison]], corpus: list[Docstring], answers: list[_Answer]
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
