"""Test collections for search: documents, queries, and relevance judgments."""

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from textkin._base import abbreviate, format_count, hinted, one_of
from textkin.evaluate._document_reader import REPAIR, Bound, placed
from textkin.evaluate._runs import checked_qrels
from textkin.evaluate._trec import read_qrels
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.reading import BadRow, file_lines, read
from textkin.run import ProgressCallback

__all__ = ["JudgedQueries", "RetrievalData", "judged_queries", "read_retrieval"]

_DOCUMENTS = ("corpus.jsonl", "docs.jsonl")
_QUERIES = ("queries.jsonl",)
_JUDGMENTS = ("qrels.tsv", "qrels.txt", "qrels")
_ENDINGS = (".tsv", ".txt", ".qrels")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RetrievalData:
    r"""Test collection for search: documents, queries, and relevance judgments.

    Attributes
    ----------
    ids : list of str
        IDs of the documents.
    titles, texts : list of str
        Titles (empty for documents without a title) and texts of the documents.
    queries : dict of str to str
        Text of each query.
    qrels : dict of str to dict of str to int
        Grades of the judged documents by query. Queries may have no judgments.
    splits : dict of str to tuple of str
        Queries of each part, such as "train" and "test", if there are parts.

    Examples
    --------
    >>> from textkin.evaluate import RetrievalData
    >>> data = RetrievalData(
    ...     ["d1", "d2"], ["Cats", ""], ["They purr.", "Dogs bark."],
    ...     {"q1": "purring", "q2": "flying"}, {"q1": {"d1": 1}, "q2": {"d1": 0}},
    ... )
    >>> data
    RetrievalData(2 documents, 2 queries, 2 judgments)
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
        """Title and text of each document, joined by a line break."""
        return [
            f"{title}\n{text}" if title and text else title or text
            for title, text in zip(self.titles, self.texts, strict=True)
        ]

    @property
    def judged(self) -> list[str]:
        """IDs of the queries with a relevant document (positive grade), in order."""
        return [
            query
            for query in self.queries
            if any(g > 0 for g in self.qrels.get(query, {}).values())
        ]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        queries = "1 query" if len(self.queries) == 1 else f"{len(self.queries)} queries"
        judgments = sum(map(len, self.qrels.values()))
        parts = f", parts {', '.join(self.splits)}" if self.splits else ""
        return (
            f"RetrievalData({format_count(len(self), 'document')}, {queries}, "
            f"{format_count(judgments, 'judgment')}{parts})"
        )

    def part(self, queries: str | Iterable[str]) -> "RetrievalData":
        """Return the collection with only some queries: a named part, or given IDs.

        Parameters
        ----------
        queries : str or iterable of str
            Name of a part, such as "test", or IDs of queries.

        Returns
        -------
        RetrievalData
            Collection without parts.

        Raises
        ------
        ValueError
            If the part or a query does not exist.
        """
        if isinstance(queries, str):
            if queries not in self.splits:
                known = ", ".join(map(repr, self.splits)) or "none"
                raise ParameterError("queries", f"the name of a part ({known})", repr(queries))
            queries = self.splits[queries]
        wanted = set(queries)
        if unknown := wanted - self.queries.keys():
            raise ValueError(f"There is no query {abbreviate(min(unknown))}.")
        return RetrievalData(
            self.ids,
            self.titles,
            self.texts,
            {query: text for query, text in self.queries.items() if query in wanted},
            {query: judged for query, judged in self.qrels.items() if query in wanted},
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgedQueries:
    """Queries with relevance judgments on the documents of an index.

    Attributes
    ----------
    queries : dict of str to str
        Text of each query.
    qrels : dict of str to dict of str to int
        Grades of the judged documents by query.
    n_documents : int
        Number of documents in the index.
    """

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    n_documents: int

    @property
    def judged(self) -> list[str]:
        """IDs of the queries with a relevant document (positive grade), in order."""
        return [
            query
            for query in self.queries
            if any(grade > 0 for grade in self.qrels.get(query, {}).values())
        ]

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return f"JudgedQueries({len(self.queries)} queries, {len(self.judged)} judged)"


def judged_queries(
    queries: Any,  # noqa: ANN401 (a mapping, DataFrame, records, or path)
    qrels: Any,  # noqa: ANN401 (a mapping, DataFrame, or path)
    documents: Container[str],
    n_documents: int,
    *,
    unknown: Literal["error", "drop", "keep"] = "error",
    max_bytes: int = 1 << 30,
) -> JudgedQueries:
    """Create `JudgedQueries` from mappings, DataFrames, or files of queries and judgments.

    Parameters
    ----------
    queries : mapping of str to str, DataFrame, iterable of records, or path
        Texts by ID; rows or records with the fields of `_QUERY_FIELDS`; or a file: JSON Lines, CSV
        or TSV with a header, two columns without a header (``.tsv``, ``.txt``), or TREC topics.
    qrels : mapping, DataFrame, or path
        Grades by query and document, or a collection of relevant documents by query; rows with
        query, document, and grade; or a file for `read_qrels`.
    documents : container of str
        Container of the IDs of all documents, such as an index.
    n_documents : int
        Number of documents.
    unknown : {"error", "drop", "keep"}
        Treatment of judgments of unknown documents or queries, see `read_retrieval`.
    max_bytes : int
        Maximum number of characters of each file.
    """
    one_of("error", "drop", "keep").check("unknown", unknown)
    texts = _given_queries(queries, max_bytes)
    if not texts:
        raise ValueError("queries must hold at least one query; got none.")
    grades = _given_qrels(qrels, max_bytes)
    name = Path(qrels) if isinstance(qrels, str | os.PathLike) else Path("qrels")
    kept = _known(name, grades, documents, texts, unknown)
    return JudgedQueries(texts, kept, n_documents)


_ID_FIELDS = ("_id", "id", "query_id", "query-id", "qid", "num")
_TEXT_FIELDS = ("text", "query", "title")
_QREL_FIELDS = (
    ("query_id", "query-id", "qid", "query"),
    ("doc_id", "corpus-id", "corpus_id", "docno", "document", "document_id", "docid"),
    ("grade", "score", "label", "relevance", "rel"),
)
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^<\s]+)")
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]+)")


def _given_queries(queries: Any, max_bytes: int) -> dict[str, str]:  # noqa: ANN401
    if not hasattr(queries, "columns") and callable(getattr(queries, "items", None)):  # or a Series
        for name, text in queries.items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise TypeError(
                    "queries must map IDs (str) to texts (str); got "
                    f"{abbreviate(name, 40)}: {abbreviate(text, 40)}."
                )
        return dict(queries)
    if isinstance(queries, str | os.PathLike):
        path = Path(queries)
        ending = Path(path.name.removesuffix(".gz")).suffix
        if ending in (".tsv", ".txt", ".topics", ".trec", ""):
            plain = _plain_queries(path, max_bytes)
            if plain is not None:
                return plain
        return _queries(path, max_bytes)[0]
    fields = _fields_of(queries, "queries")
    id_field = _first_field(_ID_FIELDS, fields, "queries")
    text_field = _first_field([f for f in _TEXT_FIELDS if f != id_field], fields, "queries")
    return {row.id: row.text for row in read(queries, id=id_field, text=text_field, label=False)}


def _plain_queries(path: Path, max_bytes: int) -> dict[str, str] | None:
    """Read queries from TREC topics or two columns; return None for a file with a header."""
    lines = []
    bound = Bound(max_bytes)
    for place, content, _ in file_lines(path):
        if isinstance(content, BadRow):
            raise hinted(ValueError, f"{place}: {content.reason}.", REPAIR) from content.cause
        bound.add(place, content)
        lines.append(str(content).rstrip("\r\n"))
    text = "\n".join(lines)
    if "<top>" in text:
        found = {}
        for topic in _TOPIC.findall(text):
            number, title = _NUMBER.search(topic), _TITLE.search(topic)
            if number is None or title is None:
                raise ValueError(f"{path}: a topic must have <num> and <title>.")
            found[number[1]] = " ".join(title[1].split())
        return found
    rows = [line.split("\t") for line in lines if line.strip()]
    header = {name.strip().lower() for name in rows[0]} if rows else set()
    if header & {*_ID_FIELDS} and header & {*_TEXT_FIELDS}:
        return None
    for at, row in enumerate(rows, 1):
        if len(row) != 2:
            raise ValueError(
                f"{path}, row {at}: a query must have two fields, ID and text, separated by "
                f"a tab; got {len(row)}."
            )
    return {row[0]: row[1] for row in rows}


def _given_qrels(qrels: Any, max_bytes: int) -> dict[str, dict[str, int]]:  # noqa: ANN401
    if isinstance(qrels, str | os.PathLike):
        return read_qrels(qrels, max_bytes=max_bytes)
    if isinstance(qrels, Mapping):
        found = {
            query: dict(judged)
            if isinstance(judged, Mapping)
            else dict.fromkeys([judged] if isinstance(judged, str) else judged, 1)
            for query, judged in qrels.items()
        }
        checked_qrels(found)
        return found
    fields = _fields_of(qrels, "qrels")
    query_of, document_of, grade_of = (
        _first_field(names, fields, "qrels") for names in _QREL_FIELDS
    )
    found = {}
    for query, document, grade in zip(
        *(qrels[name].tolist() for name in (query_of, document_of, grade_of)), strict=True
    ):
        found.setdefault(str(query), {})[str(document)] = grade
    checked_qrels(found)
    return found


def _fields_of(table: Any, name: str) -> list[str]:  # noqa: ANN401
    if not hasattr(table, "columns"):
        raise ParameterTypeError(
            name, "a mapping, a DataFrame, or the path of a file", type(table).__name__
        )
    return [str(column) for column in table.columns]


def _first_field(names: Iterable[str], fields: Sequence[str], table: str) -> str:
    choices = list(names)
    for name in choices:
        if name in fields:
            return name
    raise ParameterError(
        table,
        f"a DataFrame with a column {' or '.join(map(repr, choices))}",
        f"the columns {', '.join(map(repr, fields)) or 'none'}",
    )


def read_retrieval(
    folder: str | os.PathLike[str],
    *,
    queries: str | os.PathLike[str] | None = None,
    qrels: str | os.PathLike[str] | None = None,
    unknown: Literal["error", "drop", "keep"] = "error",
    max_bytes: int = 1 << 30,
    progress: ProgressCallback | None = None,
) -> RetrievalData:
    """Read a test collection (documents, queries, judgments) from a folder.

    Parameters
    ----------
    folder : path
        Folder with these files, optionally compressed (``.gz``):

        - ``corpus.jsonl`` or ``docs.jsonl``: records with ``_id`` or ``id``, ``text``, and
          optionally ``title``;
        - ``queries.jsonl``: records with ``_id`` or ``id``, ``text``, and optionally ``split``;
        - ``qrels/*.tsv``, one file for each part of the queries (BEIR); or ``qrels.tsv`` or
          ``qrels.txt``. See `read_qrels`.

        With `queries` and `qrels`: documents of any kind that `textkin.read` reads, in a file or
        a folder.
    queries : path, default=None
        File of the queries outside of the folder: records with ``id`` or ``_id``, and ``text``.
        If None, the file in the folder.
    qrels : path, default=None
        File of the judgments outside of the folder, see `read_qrels`. Pass both or none.
    unknown : {"error", "drop", "keep"}, default="error"
        Treatment of judgments of unknown documents or queries: raise an error, drop the judgment,
        or keep it. A kept judgment counts as a relevant document that no system can find.
    max_bytes : int, default=1073741824
        Maximum number of characters of each file.
    progress : callable, default=None
        Called with (bytes done, total) of the file of documents.

    Returns
    -------
    RetrievalData
        Collection in the order of the files.

    Raises
    ------
    FileNotFoundError
        If the folder or one of the files does not exist.
    TypeError, ValueError
        If a file cannot be read; the message has file and line.
    """
    one_of("error", "drop", "keep").check("unknown", unknown)
    root = Path(folder)
    if (queries is None) != (qrels is None):
        one, other = ("queries", "qrels") if qrels is None else ("qrels", "queries")
        raise ValueError(f"queries and qrels must be given together; got {one} only. Pass {other}.")
    if queries is not None and qrels is not None:
        documents, asked_in, judgments = root, Path(queries), {"": Path(qrels)}
    else:
        if not root.is_dir():
            fix = "Pass `queries` and `qrels` with a file of documents." if root.exists() else ""
            raise hinted(FileNotFoundError, f"There is no folder {str(root)!r}.", fix)
        documents = _found(root, _DOCUMENTS, "the documents")
        asked_in = _found(root, _QUERIES, "the queries")
        judgments = _judgments(root)
    ids, titles, texts = [], [], []
    bound = Bound(max_bytes)
    source = read(documents, id=_id_field(documents), label=False, progress=progress)
    for place, document in placed(source, REPAIR):
        title = document.metadata.get("title") or ""
        if not isinstance(title, str):
            raise ValueError(f"{place}: the title must be a string; got {abbreviate(title)}.")
        bound.add(place, document.id, title, document.text)
        ids.append(document.id)
        titles.append(title)
        texts.append(document.text)
    if not ids:
        raise ValueError(f"There are no documents in {str(documents)!r}.")
    asked, parts = _queries(asked_in, max_bytes)
    if not asked:
        raise ValueError(f"There are no queries in {str(asked_in)!r}.")
    grades_of: dict[str, dict[str, int]] = {}
    known = set(ids)
    for name, path in judgments.items():
        found = _known(path, read_qrels(path, max_bytes=max_bytes), known, asked, unknown)
        if name:
            parts[name] = tuple(query for query in found if query in asked)
        for query, judged in found.items():
            grades = grades_of.setdefault(query, {})
            for one, grade in judged.items():
                before = grades.setdefault(one, grade)
                if before != grade:
                    raise ValueError(
                        f"{path}: document {abbreviate(one)} has grade {grade} for query "
                        f"{abbreviate(query)}, and {before} in another file of judgments."
                    )
    return RetrievalData(ids, titles, texts, asked, grades_of, parts)


def _found(root: Path, names: Iterable[str], what: str) -> Path:
    """Return the path of the one file in a folder that has one of the given names."""
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


def _judgments(root: Path) -> dict[str, Path]:
    """Return the files of relevance judgments in a folder, by the name of the part."""
    folder = root / "qrels"
    if not folder.is_dir():
        return {"": _found(root, _JUDGMENTS, "the judgments")}
    for name in _JUDGMENTS[:2]:
        for single in (root / name, root / f"{name}.gz"):
            if single.is_file():
                raise ValueError(
                    f"The judgments of {str(root)!r} must be in one place; there are "
                    f"{single.name} and a folder qrels. Move one away."
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
            f"The judgments of {str(root)!r} must be in files such as {folder / 'test.tsv'}; "
            "there are none."
        )
    return found


def _id_field(path: Path) -> str:
    """Return the name of the ID field of a file: "_id" (as in BEIR) or "id"."""
    _, first = next(placed(read(path, id=False, label=False), REPAIR), (None, None))
    return "_id" if first is not None and "_id" in first.metadata else "id"


def _queries(path: Path, max_bytes: int) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    bound = Bound(max_bytes)
    texts: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for place, query in placed(read(path, id=_id_field(path), label=False), REPAIR):
        bound.add(place, query.id, query.text)
        texts[query.id] = query.text
        part = query.metadata.get("split")
        if part is not None:
            parts.setdefault(str(part), []).append(query.id)
    return texts, {name: tuple(ids) for name, ids in parts.items()}


def _known(
    path: Path,
    qrels: dict[str, dict[str, int]],
    documents: Container[str],
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
        strange = [f"query {abbreviate(query)}" for query in qrels if query not in queries] or [
            f"document {abbreviate(document)}"
            for judged in qrels.values()
            for document in judged
            if document not in documents
        ]
        raise hinted(
            ValueError,
            f"{path}: {format_count(lost, 'judgment')} of unknown documents or queries, such as "
            f"{strange[0]}.",
            "Pass `unknown='drop'` to exclude them, or `unknown='keep'` to count them as never "
            "found.",
        )
    return {query: judged for query, judged in kept.items() if judged or not qrels[query]}
