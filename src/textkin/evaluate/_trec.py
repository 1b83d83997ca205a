"""Reading and writing relevance judgments and runs in TREC and BEIR formats."""

import gzip
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from textkin._base import abbreviate, hinted, one_of, write_whole
from textkin.evaluate._document_reader import REPAIR, Bound
from textkin.evaluate._runs import Qrels, Run, Ties, check_run, checked_qrels, ranking
from textkin.reading import BadRow, Place, file_lines

__all__ = ["read_qrels", "read_run", "write_qrels", "write_run"]


def read_qrels(
    path: str | os.PathLike[str], *, max_bytes: int = 1 << 30
) -> dict[str, dict[str, int]]:
    r"""Read relevance judgments from a TREC or BEIR file as {query: {document: grade}}.

    Parameters
    ----------
    path : path
        Text file, optionally compressed (``.gz``). A line has the fields query, iteration,
        document, and grade (TREC), or query, document, and grade after a header line (BEIR).
        Fields are separated by tabs if the line has tabs, otherwise by white space.
    max_bytes : int, default=1073741824
        Maximum number of characters.

    Returns
    -------
    dict of str to dict of str to int
        Grades by query and document, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line is not a judgment or contradicts another line; the message has file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from textkin.evaluate import read_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "qrels.txt"
    ...     _ = path.write_text("q1 0 d7 1\nq1 0 d9 0\n")
    ...     read_qrels(path)
    {'q1': {'d7': 1, 'd9': 0}}
    """
    qrels: dict[str, dict[str, int]] = {}
    for place, fields in _fields(path, max_bytes):
        if len(fields) not in (3, 4):
            raise ValueError(
                f"{place}: a judgment must have 3 fields (query, document, grade) or 4 (query, "
                f"iteration, document, grade); got {len(fields)}."
            )
        query, document, grade = fields[0], fields[-2], _whole(fields[-1])
        if grade is None:
            if place.number == 1 and len(fields) == 3 and math.isnan(_number(fields[-1])):
                continue  # the header
            raise ValueError(
                f"{place}: the grade must be an integer; got {abbreviate(fields[-1])}."
            )
        before = qrels.setdefault(query, {}).setdefault(document, grade)
        if before != grade:
            raise ValueError(
                f"{place}: document {abbreviate(document)} has grade {grade} for query "
                f"{abbreviate(query)}, and {before} further above."
            )
    if not qrels:
        raise ValueError(f"There are no judgments in {os.fspath(path)!r}.")
    return qrels


def read_run(
    path: str | os.PathLike[str], *, max_bytes: int = 1 << 30
) -> dict[str, dict[str, float]]:
    """Read a run from a TREC file as {query: {document: score}}.

    Parameters
    ----------
    path : path
        Text file, optionally compressed (``.gz``). A line has the fields query, "Q0", document,
        rank, score, and name of the run, separated by spaces or tabs. As in trec_eval, the score
        determines the order; the rank is ignored.
    max_bytes : int, default=1073741824
        Maximum number of characters.

    Returns
    -------
    dict of str to dict of str to float
        Scores by query and document, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line does not have six fields, a score is not a finite number, or a document occurs
        twice for a query; the message has file and line.
    """
    run: dict[str, dict[str, float]] = {}
    for place, fields in _fields(path, max_bytes):
        if len(fields) != 6:
            raise ValueError(
                f"{place}: an answer must have 6 fields (query, Q0, document, rank, score, run "
                f"name); got {len(fields)}."
            )
        query, document, score = fields[0], fields[2], _number(fields[4])
        if not math.isfinite(score):
            raise ValueError(
                f"{place}: the score must be a finite number; got {abbreviate(fields[4])}."
            )
        answer = run.setdefault(query, {})
        if document in answer:
            raise ValueError(
                f"{place}: document {abbreviate(document)} comes twice for query "
                f"{abbreviate(query)}."
            )
        answer[document] = score
    if not run:
        raise ValueError(f"There are no answers in {os.fspath(path)!r}.")
    return run


def write_qrels(path: str | os.PathLike[str], qrels: Qrels) -> None:
    """Write relevance judgments to a file in TREC format (query, 0, document, grade).

    Parameters
    ----------
    path : path
        File; the ending ``.gz`` compresses it. An existing file is replaced atomically.
    qrels : mapping of str to mapping of str to int
        Grades by query and document.

    Raises
    ------
    ValueError
        If an ID is empty or has white space, or a grade is not an integer; nothing is written.
    """
    lines = []
    for query, judged in checked_qrels(qrels).items():
        for document, grade in judged.items():
            if grade != int(grade):
                raise ValueError(
                    f"qrels[{query!r}][{document!r}] must be an integer; got {grade!r}."
                )
            lines.append(f"{_word('query', query)} 0 {_word('document', document)} {int(grade)}\n")
    _write(path, lines)


def write_run(
    path: str | os.PathLike[str],
    run: Run,
    *,
    tag: str = "textkin",
    ties: Ties = "descending",
) -> None:
    """Write a run to a file in TREC format (query, Q0, document, rank, score, tag).

    Parameters
    ----------
    path : path
        File; the ending ``.gz`` compresses it. An existing file is replaced atomically.
    run : mapping of str to (mapping of str to number, or sequence of str)
        Scores by query and document, or documents in order, which get the scores n, ..., 2, 1.
    tag : str, default="textkin"
        Name of the run.
    ties : {"descending", "ascending"}, default="descending"
        Order of documents with equal scores by ID. trec_eval ignores ranks, and orders equal
        scores by descending ID.

    Raises
    ------
    ValueError
        If an ID is empty or has white space, or a score is not finite; nothing is written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from textkin.evaluate import read_run, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "bm25.run"
    ...     write_run(path, {"q1": {"d7": 0.5, "d9": 1.25}}, tag="bm25")
    ...     print(path.read_text(), read_run(path))
    q1 Q0 d9 1 1.25 bm25
    q1 Q0 d7 2 0.5 bm25
     {'q1': {'d9': 1.25, 'd7': 0.5}}
    """
    one_of("descending", "ascending").check("ties", ties)
    check_run(run)
    name = _word("run", tag)
    lines = []
    for query, answer in run.items():
        documents = ranking(query, answer, ties)
        start = f"{_word('query', query)} Q0"
        for rank, document in enumerate(documents, 1):
            by_rank = len(documents) - rank + 1
            score = float(answer[document] if isinstance(answer, Mapping) else by_rank)
            if not math.isfinite(score):
                raise ValueError(f"run[{query!r}][{document!r}] must be finite; got {score}.")
            lines.append(f"{start} {_word('document', document)} {rank} {score!r} {name}\n")
    _write(path, lines)


def _fields(path: str | os.PathLike[str], max_bytes: int) -> Iterator[tuple[Place, list[str]]]:
    """Yield the whitespace-separated fields of each line, with the line's position."""
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"There is no file {str(file)!r}.")
    bound = Bound(max_bytes)
    for place, content, _ in file_lines(file):
        if isinstance(content, BadRow):
            raise hinted(ValueError, f"{place}: {content.reason}.", REPAIR) from content.cause
        line = str(content)
        bound.add(place, line)
        if "\t" in line:
            fields = [field.strip() for field in line.rstrip("\r\n").split("\t")]
        else:
            fields = line.split()
        if not all(fields):
            raise ValueError(f"{place}: field {fields.index('') + 1} is empty.")
        yield place, fields


def _whole(text: str) -> int | None:
    try:
        return None if "_" in text else int(text)  # Python reads 1_000 as a number
    except ValueError:
        return None


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _word(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"The name of a {name} must be a string; got {abbreviate(value)}.")
    if value.split() != [value] or "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise ValueError(
            f"The name of a {name} must be one word in a file of TREC, without white space and of "
            f"valid characters; got {abbreviate(value)}."
        )
    return value


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    content = "".join(lines).encode()
    file = Path(path)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(file.parent)!r}; make it first.")
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder, and no file can take its name.")
    packed = file.name.lower().endswith(".gz")
    write_whole(file, [gzip.compress(content, mtime=0) if packed else content])
