"""Evaluation of word vectors by analogies: accuracy of "a is to b as c is to d"."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from textkin._base import IntpArray, integer, one_of
from textkin.vectors import WordVectors, row_blocks

__all__ = ["Analogy", "AnalogyScores", "analogies", "read_analogies"]

Analogy: TypeAlias = tuple[str, str, str, str]
"""Words a, b, c, d: a is to b as c is to d."""

_BLOCK = 2**24  # products held at once: 128 MB
_BATCH = 256  # questions


@dataclass(frozen=True, slots=True)
class AnalogyScores:
    """Accuracy on analogies, with the numbers of correct, covered, and all questions.

    Attributes
    ----------
    accuracy : float
        Fraction of correct answers, of the questions that count; NaN if there are none.
    correct : int
        Number of correct answers.
    covered : int
        Number of questions with vectors for all four words.
    total : int
        Number of all questions.
    """

    accuracy: float
    correct: int
    covered: int
    total: int


def analogies(
    vectors: WordVectors,
    questions: Iterable[Analogy],
    *,
    oov: Literal["drop", "wrong"] = "drop",
    max_words: int | None = None,
) -> AnalogyScores:
    """Compute the accuracy of word vectors on analogies "a is to b as c is to d".

    Parameters
    ----------
    vectors : WordVectors
        Vectors to evaluate.
    questions : iterable of (str, str, str, str)
        Words a, b, c, d: a is to b as c is to d. Words are looked up as by `WordVectors.lookup`.
    oov : {"drop", "wrong"}, default="drop"
        Treatment of questions with a word without a vector: "drop" ignores them, "wrong" counts
        them as answered incorrectly.
    max_words : int or None, default=None
        Only the first `max_words` words have vectors and can be answers. If None, all do.

    Returns
    -------
    AnalogyScores
        Accuracy and counts.

    See Also
    --------
    read_analogies : Read questions from a file.
    textkin.vectors.WordVectors.analogy : Answers to one question.

    Notes
    -----
    The answer is the word with the largest cosine to ``b - a + c`` over unit vectors, other than
    a, b, and c (3CosAdd); ties go to the first word. The time is O(V d) per question.

    References
    ----------
    T. Mikolov, K. Chen, G. Corrado, J. Dean. Efficient Estimation of Word Representations in
    Vector Space. ICLR 2013 workshop.

    Examples
    --------
    >>> from textkin.evaluate import analogies
    >>> from textkin.vectors import WordVectors
    >>> analogies(WordVectors.builtin(), [("man", "king", "woman", "queen")])
    AnalogyScores(accuracy=1.0, correct=1, covered=1, total=1)
    """
    one_of("drop", "wrong").check("oov", oov)
    (one_of(None) | integer(4)).check("max_words", max_words)
    words = [_checked(question, position) for position, question in enumerate(questions)]
    rows = vectors.lookup([word for question in words for word in question]).reshape(-1, 4)
    limit = len(vectors) if max_words is None else min(max_words, len(vectors))
    known = rows[np.all((rows >= 0) & (rows < limit), axis=1)].astype(np.intp)
    correct = int(np.count_nonzero(_answers(vectors, known[:, :3], limit) == known[:, 3]))
    counted = len(known) if oov == "drop" else len(words)
    accuracy = correct / counted if counted else float("nan")
    return AnalogyScores(accuracy, correct, len(known), len(words))


def read_analogies(path: str | PathLike[str]) -> dict[str, list[Analogy]]:
    r"""Read analogies by category from a text file with four words per line.

    Parameters
    ----------
    path : str or path
        A UTF-8 file. A line such as ``: capital-common-countries`` starts a section; empty lines
        and lines that start with ``#`` or ``//`` are ignored.

    Returns
    -------
    dict of str to list of (str, str, str, str)
        Questions of each section, in the order of the file. Questions before the first section
        form the section "analogies".

    Raises
    ------
    ValueError
        If a line does not have four words; with the number of the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from textkin.evaluate import read_analogies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "questions-words.txt"
    ...     _ = file.write_text(": family\nboy girl king queen\n")
    ...     read_analogies(file)
    {'family': [('boy', 'girl', 'king', 'queen')]}
    """
    sections: dict[str, list[Analogy]] = {}
    name = "analogies"
    with Path(path).open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or words[0].startswith(("#", "//")):
                continue
            if words[0].startswith(":"):
                name = line.strip().removeprefix(":").strip() or "analogies"
                continue
            if len(words) != 4:
                raise ValueError(
                    f"{path}, line {number}: an analogy must have four words; got {len(words)}."
                )
            a, b, c, d = words
            sections.setdefault(name, []).append((a, b, c, d))
    return sections


def _checked(question: Analogy, position: int) -> Analogy:
    if isinstance(question, str) or len(question) != 4:
        raise ValueError(
            f"questions must hold four words each; question {position} is {question!r}."
        )
    return question


def _answers(vectors: WordVectors, rows: IntpArray, limit: int) -> IntpArray:
    """Return the row whose vector best completes each analogy a, b, c."""
    matrix, lengths = vectors.matrix[:limit], vectors.lengths[:limit]
    found = np.empty(len(rows), np.intp)
    batch = max(1, min(_BATCH, _BLOCK // max(limit, 1)))
    for start in range(0, len(rows), batch):
        asked = rows[start : start + batch]
        of_a, of_b, of_c = (
            matrix[asked[:, column]] / lengths[asked[:, column], np.newaxis] for column in range(3)
        )
        targets = of_b - of_a + of_c
        scores = np.empty((len(asked), limit))
        for block in row_blocks(*matrix.shape):
            scores[:, block] = targets @ matrix[block].astype(np.float64).T / lengths[block]
        scores[np.arange(len(asked))[:, np.newaxis], asked] = -np.inf
        found[start : start + batch] = scores.argmax(axis=1)
    return found
