"""Documents, queries and judgements in a folder: BEIR's format, and its like."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from textkin._validation import one_of
from textkin.evaluate._bounds import Bound
from textkin.evaluate._reading import AS_IT_IS, placed
from textkin.evaluate._trec import read_qrels
from textkin.run import ProgressCallback
from textkin.text import read
from textkin.text.reading._document import counted, shortened

__all__ = ["RetrievalData", "read_retrieval"]

_DOCUMENTS = ("corpus.jsonl", "docs.jsonl")
_QUERIES = ("queries.jsonl",)
_JUDGEMENTS = ("qrels.tsv", "qrels.txt", "qrels")
_ENDINGS = (".tsv", ".txt", ".qrels")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RetrievalData:
    r"""Documents, queries, and which documents are relevant to which.

    Attributes
    ----------
    ids : list of str
        The names of the documents.
    titles, texts : list of str
        Their titles, empty where there is none, and their texts.
    queries : dict of str to str
        The text of each query.
    qrels : dict of str to dict of str to int
        The grade of each judged document, by query. Not all queries need be judged.
    splits : dict of str to tuple of str
        The queries of each part, such as "train" and "test", where there are parts.

    Examples
    --------
    >>> from textkin.evaluate import RetrievalData
    >>> data = RetrievalData(
    ...     ["d1", "d2"], ["Cats", ""], ["They purr.", "Dogs bark."],
    ...     {"q1": "purring", "q2": "flying"}, {"q1": {"d1": 1}, "q2": {"d1": 0}},
    ... )
    >>> data
    RetrievalData(2 documents, 2 queries, 2 judgements)
    >>> data.documents
    ['Cats\nThey purr.', 'Dogs bark.']
    >>> data.judged
    ['q1']
    """

    ids: list[str]
    titles: list[str]
    texts: list[str]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def documents(self) -> list[str]:
        """The title and the text of each document, a line end between them."""
        return [
            f"{title}\n{text}" if title and text else title or text
            for title, text in zip(self.titles, self.texts, strict=True)
        ]

    @property
    def judged(self) -> list[str]:
        """The queries with a relevant document (a grade above 0), in their order."""
        return [
            query
            for query in self.queries
            if any(g > 0 for g in self.qrels.get(query, {}).values())
        ]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        queries = "1 query" if len(self.queries) == 1 else f"{len(self.queries)} queries"
        judgements = sum(map(len, self.qrels.values()))
        parts = f", parts {', '.join(self.splits)}" if self.splits else ""
        return (
            f"RetrievalData({counted(len(self), 'document')}, {queries}, "
            f"{counted(judgements, 'judgement')}{parts})"
        )

    def part(self, queries: str | Iterable[str]) -> "RetrievalData":
        """Return the same documents with some of the queries only.

        Parameters
        ----------
        queries : str or iterable of str
            The name of a part, such as "test", or the names of queries.

        Returns
        -------
        RetrievalData
            Without parts.

        Raises
        ------
        ValueError
            For a part or a query that there is not.
        """
        if isinstance(queries, str):
            if queries not in self.splits:
                known = ", ".join(map(repr, self.splits)) or "none"
                raise ValueError(
                    f"queries must be the name of a part; there are {known}, and no {queries!r}."
                )
            queries = self.splits[queries]
        wanted = set(queries)
        if unknown := wanted - self.queries.keys():
            raise ValueError(f"There is no query {shortened(min(unknown))}.")
        return RetrievalData(
            self.ids,
            self.titles,
            self.texts,
            {query: text for query, text in self.queries.items() if query in wanted},
            {query: judged for query, judged in self.qrels.items() if query in wanted},
        )


def read_retrieval(
    folder: str | os.PathLike[str],
    *,
    unknown: Literal["error", "drop", "keep"] = "error",
    max_bytes: int = 1 << 30,
    progress: ProgressCallback | None = None,
) -> RetrievalData:
    """Read a collection of documents with judged queries from a folder.

    Parameters
    ----------
    folder : path
        With these files, each also with ``.gz`` behind its name:

        - ``corpus.jsonl`` or ``docs.jsonl``: records with ``_id`` or ``id``, ``text``, and
          perhaps ``title``;
        - ``queries.jsonl``: records with ``_id`` or ``id``, ``text``, and perhaps ``split``;
        - ``qrels/*.tsv``, one file for each part of the queries, as BEIR has them; or
          ``qrels.tsv`` or ``qrels.txt``. See `read_qrels`.
    unknown : {"error", "drop", "keep"}, default="error"
        What becomes of a judgement of a document or query that is not there: it is an error, is
        left out, or kept. One that is kept counts as a relevant document which nobody can find.
    max_bytes : int, default=1073741824
        The most characters of each file.
    progress : callable, default=None
        Gets (done, total) bytes of the documents' file now and then.

    Returns
    -------
    RetrievalData
        In the order of the files.

    Raises
    ------
    FileNotFoundError
        Where the folder or one of the files is not there.
    TypeError, ValueError
        For what cannot be read; with file and line.
    """
    one_of("error", "drop", "keep").check("unknown", unknown)
    root = Path(folder)
    if not root.is_dir():
        raise FileNotFoundError(f"There is no folder {str(root)!r}.")
    documents = _found(root, _DOCUMENTS, "the documents")
    queries = _found(root, _QUERIES, "the queries")
    judgements = _judgements(root)
    ids, titles, texts = [], [], []
    bound = Bound(max_bytes)
    source = read(documents, id=_id_field(documents), label=False, progress=progress)
    for place, document in placed(source, AS_IT_IS):
        title = document.metadata.get("title") or ""
        if not isinstance(title, str):
            raise ValueError(f"{place}: the title must be a string; got {shortened(title)}.")
        bound.add(place, document.id, title, document.text)
        ids.append(document.id)
        titles.append(title)
        texts.append(document.text)
    if not ids:
        raise ValueError(f"There are no documents in {str(documents)!r}.")
    asked, parts = _queries(queries, max_bytes)
    if not asked:
        raise ValueError(f"There are no queries in {str(queries)!r}.")
    qrels: dict[str, dict[str, int]] = {}
    known = set(ids)
    for name, path in judgements.items():
        found = _known(path, read_qrels(path, max_bytes=max_bytes), known, asked, unknown)
        if name:
            parts[name] = tuple(query for query in found if query in asked)
        for query, judged in found.items():
            grades = qrels.setdefault(query, {})
            for one, grade in judged.items():
                before = grades.setdefault(one, grade)
                if before != grade:
                    raise ValueError(
                        f"{path}: document {shortened(one)} has grade {grade} for query "
                        f"{shortened(query)}, and {before} in another file of judgements."
                    )
    return RetrievalData(ids, titles, texts, asked, qrels, parts)


def _found(root: Path, names: Iterable[str], what: str) -> Path:
    """Return the only file of these names that there is, compressed or not."""
    files = [root / f"{name}{packed}" for name in names for packed in ("", ".gz")]
    there = [file for file in files if file.is_file()]
    if len(there) > 1:
        raise ValueError(
            f"{what.capitalize()} of {str(root)!r} must be one file; there are "
            f"{' and '.join(file.name for file in there)}. Move one away."
        )
    if not there:
        raise FileNotFoundError(
            f"{what.capitalize()} of {str(root)!r} must be in {' or '.join(names)}, also with "
            ".gz; there is no such file."
        )
    return there[0]


def _judgements(root: Path) -> dict[str, Path]:
    """Return the files of judgements by the part of the queries that they are about."""
    folder = root / "qrels"
    if not folder.is_dir():
        return {"": _found(root, _JUDGEMENTS, "the judgements")}
    for name in _JUDGEMENTS[:2]:
        for beside in (root / name, root / f"{name}.gz"):
            if beside.is_file():
                raise ValueError(
                    f"The judgements of {str(root)!r} must be in one place; there are "
                    f"{beside.name} and a folder qrels. Move one away."
                )
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        name = file.name.removesuffix(".gz")
        part, ending = os.path.splitext(name)
        if file.is_file() and ending in _ENDINGS and not name.startswith("."):
            if part in found:
                raise ValueError(f"{file}: there is also {found[part].name}. Move one away.")
            found[part] = file
    if not found:
        raise FileNotFoundError(
            f"The judgements of {str(root)!r} must be in files such as {folder / 'test.tsv'}; "
            "there are none."
        )
    return found


def _id_field(path: Path) -> str:
    """Return what the first record calls its id: BEIR has "_id"."""
    _, first = next(placed(read(path, id=False, label=False), AS_IT_IS), (None, None))
    return "_id" if first is not None and "_id" in first.metadata else "id"


def _queries(path: Path, max_bytes: int) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    bound = Bound(max_bytes)
    texts: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for place, query in placed(read(path, id=_id_field(path), label=False), AS_IT_IS):
        bound.add(place, query.id, query.text)
        texts[query.id] = query.text
        part = query.metadata.get("split")
        if part is not None:
            parts.setdefault(str(part), []).append(query.id)
    return texts, {name: tuple(ids) for name, ids in parts.items()}


def _known(
    path: Path,
    qrels: dict[str, dict[str, int]],
    documents: set[str],
    queries: Mapping[str, str],
    unknown: str,
) -> dict[str, dict[str, int]]:
    if unknown == "keep":
        return qrels
    kept = {
        query: {document: grade for document, grade in judged.items() if document in documents}
        for query, judged in qrels.items()
        if query in queries
    }
    lost = sum(map(len, qrels.values())) - sum(map(len, kept.values()))
    if lost and unknown == "error":
        strange = [f"query {shortened(query)}" for query in qrels if query not in queries] or [
            f"document {shortened(document)}"
            for judged in qrels.values()
            for document in judged
            if document not in documents
        ]
        raise ValueError(
            f"{path}: {counted(lost, 'judgement')} of documents or queries that are not there, "
            f"such as {strange[0]}. Pass unknown='drop' to leave them out, unknown='keep' to count "
            "them as never found."
        )
    return {query: judged for query, judged in kept.items() if judged}
