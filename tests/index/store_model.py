"""Reference model of an index, in plain dictionaries, for the crash tests.

The scripts that crash (`kills.py`, `faults.py`) and the tests next to them import this file.
"""

import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from textkin import LSI, Index, WordVectors
from textkin.exceptions import AddError
from textkin.index import ModelRanking
from textkin.index.store import _ingest, _merge, _vector_store, _writer
from textkin.reading import Document

Record = dict[str, Any]

BATCH = 4
MODEL = "lsi"


class Documents(dict[str, Document]):
    """Content of an index: documents by ID, and True if `MODEL` is attached."""

    attached = False

    def with_documents(self, documents: dict[str, Document]) -> "Documents":
        """Return a state with other documents."""
        made = Documents(documents)
        made.attached = self.attached
        return made

    def with_model(self, attached: bool) -> "Documents":
        """Return a state with or without the model."""
        made = Documents(self)
        made.attached = attached
        return made


def small_limits() -> None:
    """Reduce the sizes of batches, segments, and merges for the rest of the process."""
    _ingest._BATCH_DOCUMENTS = BATCH
    _writer._TAIL_DOCUMENTS = 5
    _merge._SMALLEST = 120
    _merge._TOGETHER = 3
    _merge.LARGEST = 600
    _merge._DEAD_ROWS = 3
    _vector_store.FILE_ROWS = 4
    _vector_store.TIDY_ROWS = 6
    _vector_store.LARGEST = 64


def create(path: Path) -> Index:
    """Create an index with two custom vectors, because the built-in vectors take long to check."""
    vectors = WordVectors(["abc", "def"], np.eye(2, dtype=np.float32))
    return Index.create(path, language="en", vectors=vectors)


def records(rng: Random, ids: Sequence[str]) -> list[Record]:
    """Return a document per ID, with words that `str.split` finds again."""
    return [
        {
            "id": id,
            "text": " ".join("".join(rng.choices("abcdef", k=3)) for _ in range(rng.randrange(12))),
            "label": rng.choice([None, "x", 3]),
            "year": rng.randrange(2000, 2030),
        }
        for id in ids
    ]


def document(record: Record) -> Document:
    return Document(record["id"], record["text"], record.get("label"), {"year": record["year"]})


def updated(documents: Documents, batch: Sequence[Record]) -> Documents:
    """Return the result of `update` for these documents; changed documents move to the end."""
    latest = {record["id"]: document(record) for record in batch}
    new = {id: made for id, made in latest.items() if documents.get(id) != made}
    left = {id: kept for id, kept in documents.items() if id not in new}
    return documents.with_documents(left | new)


def states(documents: Documents, call: Record) -> list[Documents]:
    """Return the states on disk before a call and after each of its transactions."""
    found = [documents]
    if call["what"] in ("add", "update", "mirror"):
        given = call["records"]
        for start in range(0, len(given), BATCH):
            found.append(updated(found[-1], given[start : start + BATCH]))
        if not call["stream"]:  # the batches of a list are one transaction
            found = [documents, found[-1]]
    if call["what"] == "mirror":
        wanted = {record["id"] for record in call["records"]}
        left = {id: kept for id, kept in found[-1].items() if id in wanted}
        found.append(documents.with_documents(left))
    if call["what"] == "delete":
        left = {id: kept for id, kept in documents.items() if id not in call["ids"]}
        found.append(documents.with_documents(left))
    if call["what"] in ("attach", "detach"):
        found.append(documents.with_model(call["what"] == "attach"))
    return found


def perform(index: Index, call: Record, committed: Callable[[int, int], object]) -> None:
    """Execute a call."""
    match call["what"]:
        case "add" | "update" | "mirror" as what:
            given = iter(call["records"]) if call["stream"] else call["records"]
            getattr(index, what)(given, progress=committed)
        case "refused":
            try:
                index.add(call["records"])
            except AddError:
                return
            raise AssertionError("an id that is taken was added again")
        case "delete":
            index.delete(call["ids"])
        case "attach":
            index.attach(MODEL, LSI(1, random_state=0))
        case "detach":
            index.detach(MODEL)
        case "compact":
            index.compact()


def loaded(index: Index) -> Documents:
    """Return the content of an index."""
    found = Documents({document.id: document for document in index})
    return found.with_model(MODEL in index.models())


def any_call(rng: Random, documents: Documents) -> Record:
    """Return a random valid call for an index with these documents."""
    ids = list(documents)
    fresh = [f"n{rng.getrandbits(40):x}" for _ in range(rng.randrange(1, 12))]
    some = rng.sample(ids, min(len(ids), rng.randrange(1, 8)))
    stream = rng.random() < 0.5
    what = rng.choice(
        ["add"] * 4 + ["update"] * 3 + ["delete"] * 2 + ["refused", "compact", "model"]
    )
    if len(ids) > 60:
        what = "mirror"
    if what == "model":
        what = "detach" if documents.attached else "attach"
    if what in ("delete", "refused") and not ids:
        what = "add"
    if what == "attach" and not any(kept.text for kept in documents.values()):
        what = "add"
    match what:
        case "add":
            return {"what": what, "records": records(rng, fresh), "stream": stream}
        case "update":
            mixed = some + fresh[:3]
            same = [documents[id].to_dict() for id in rng.sample(ids, min(len(ids), 3))]
            return {"what": what, "records": records(rng, mixed) + same, "stream": stream}
        case "mirror":
            left = [documents[id].to_dict() for id in rng.sample(ids, 15)]
            return {"what": what, "records": left + records(rng, fresh), "stream": stream}
        case "refused":
            return {"what": what, "records": records(rng, [*fresh, ids[0]])}
        case "delete":
            return {"what": what, "ids": some}
    return {"what": what}


def check(index: Index, allowed: Sequence[Documents], told: object = "") -> Documents:
    """Compare an index with its permitted states, and return the matching one."""
    found = loaded(index)
    fits = [
        list(state.items()) == list(found.items()) and state.attached == found.attached
        for state in allowed
    ]
    assert any(fits), f"{told}: {describe(found)} is none of {[describe(a) for a in allowed]}"
    check_agreement(index, list(found.values()), told)
    return found


def check_agreement(index: Index, documents: Sequence[Document], told: object = "") -> None:
    """Compare all facts of an index with its documents."""
    ids = [document.id for document in documents]
    assert index.ids == ids, told
    assert len(index) == len(ids), told
    for id in ids[:3]:
        assert id in index, told
        assert index[id] == documents[ids.index(id)], told
    words = list(index.vocabulary())
    column = {word: number for number, word in enumerate(words)}
    assert len(column) == len(words), told
    expected = np.zeros((len(ids), len(words)), np.float32)
    for row, kept in enumerate(documents):
        for word, count in Counter(kept.text.split()).items():
            expected[row, column[word]] = count
    bags = index.bags()
    assert bags.shape == expected.shape, told
    assert np.array_equal(bags.toarray(), expected), told
    assert np.array_equal(index.document_frequencies(), (expected > 0).sum(axis=0)), told
    info = index.info()
    assert (info.documents, info.tokens) == (len(ids), int(expected.sum())), told
    if MODEL in index.models():
        check_vectors(index, told)


def check_vectors(index: Index, told: object = "") -> None:
    """Compare the stored vectors with the vectors that the model computes now."""
    scorer = index._searcher().scorer(ModelRanking(MODEL))
    kept = scorer.vectors.of_rows(np.flatnonzero(scorer.state.live))
    try:
        model = scorer._model()
    except ValueError as error:
        if "was detached by another process" in str(error):  # its files are deleted
            return
        raise
    assert np.array_equal(kept, model.vectors(index.bags(), None)), told


def describe(documents: Documents) -> str:
    model = "a model" if documents.attached else "no model"
    return f"{len(documents)} documents {list(documents)[-3:]} with {model}"


def segment_files(path: Path) -> list[str]:
    return sorted(os.listdir(path / "segments"))


def model_files(path: Path) -> list[str]:
    return sorted(os.listdir(path / "models")) if (path / "models").exists() else []


def vector_files(path: Path) -> list[str]:
    return sorted(os.listdir(path / "embeddings")) if (path / "embeddings").exists() else []


def named_vector_files(index: Index) -> list[str]:
    """Return the vector files that the catalog names."""
    with index._session.snapshot().catalog() as catalog:
        return sorted(record.file for record in _vector_store.vector_file_records(catalog))


class Telling:
    """JSON lines through a pipe, while both ends exist."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self._left = b""

    def tell(self, what: object) -> None:
        data = json.dumps(what).encode() + b"\n"
        while data:
            data = data[os.write(self.write_end, data) :]

    def lines(self, some: bytes) -> Iterator[Any]:
        """Yield the complete lines; a line truncated by a kill was never reported."""
        *whole, self._left = (self._left + some).split(b"\n")
        return map(json.loads, whole)

    def rest(self) -> Iterator[Any]:
        """Yield the remaining lines after the other end has died."""
        os.close(self.write_end)
        with open(self.read_end, "rb") as end:
            yield from self.lines(end.read())


def fork(work: Callable[[], object]) -> int:
    """Run a function in a child process; an exception is printed, and the exit status is 3."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 3
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    """Wait for a child; return its exit status, or the negative signal number."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
