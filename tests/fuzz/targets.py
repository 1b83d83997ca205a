"""Targets of the attacks, each with its reader, valid inputs, and errors that it may raise.

An input is bytes. Inputs of folders are JSON, which says what to change in a valid folder, so that
a kept input is readable, and mutations keep the structure.
"""

import contextlib
import hashlib
import io
import json
import linecache
import os
import shutil
import sqlite3
import tempfile
import traceback
import warnings
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from urllib.parse import quote

import textkin
from fuzz.mutations import VALUES, mutate_bytes, mutate_json, mutate_words

__all__ = ["TARGETS", "Finding", "Target"]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = str(Path(textkin.__file__).parent)
SAVED = ROOT / "tests" / "base" / "saved"


def words_of(text: str) -> list[str]:
    return text.split(" ")


class Finding(Exception):
    """Behavior that no input may cause."""


class Target(ABC):
    """Something that reads untrusted input.

    Parameters
    ----------
    folder : Path
        Folder for the files of the target.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def seeds(self) -> Sequence[bytes]:
        """Return valid inputs."""

    def mutate(self, rng: Random, data: bytes) -> bytes:
        """Return a changed input."""
        return mutate_bytes(rng, data)

    @abstractmethod
    def attempt(self, data: bytes) -> None:
        """Read the input; an exception is a finding."""

    def close(self) -> None:  # noqa: B027
        """Release files and servers."""


class Filters(Target):
    """Filters as text and as JSON: parsed or `ValueError`; the text of a filter parses again."""

    WORDS = words_of(
        "and or not in ( ) (( = != < <= > >= == , { } year id label exists(year) 'x' \"y\" 1 -2.5"
        " 1e999 null true false a.b '\\u0000' \\ [ ] : {\"year\":1} 99999999999999999999 é \u2028"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from textkin.index import Index, parse_filter

        self.parse = parse_filter
        self.index = Index.create(folder / "filters.kin", vectors=small_vectors(), language=None)
        self.index.add(RECORDS)
        self.reader = self.index.reader()

    def seeds(self) -> Sequence[bytes]:
        return [
            b"year = 2015",
            b"year >= 2010 and year < 2016 or not label in (pets, 'a b')",
            b"exists(tags) and (id != \"a/b\" or author.name = 'x')",
            b'{"or": [{"year": {">=": 2010}}, {"not": {"label": ["pets", null]}}]}',
        ]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        if data[:1] == b"{" and rng.random() < 0.7:
            with contextlib.suppress(ValueError, RecursionError):
                return dumped(mutate_json(rng, json.loads(data)))
        return mutate_words(rng, data, self.WORDS)

    def attempt(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        try:
            found = self.parse(text)
            self.reader.select(found)
        except (ValueError, TypeError) as error:
            if not deliberate(error):
                raise
            return
        if self.parse(str(found)) != found:
            raise Finding(f"the text of the filter is another filter: {found}")

    def close(self) -> None:
        self.index.close()


class Queries(Target):
    """Texts of queries and of documents, by two rankings, with feedback and snippets."""

    WORDS = words_of(
        "cats dogs morning é ÀÉ \u0301 \u200b \u202e \ufeff 你好 😀 a's don't 1,000.5 -- \0 \ud7ff"
        " ... <b> &amp; ﬁ İ ß \U0010ffff aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from textkin.index import Index

        self.index = Index.create(folder / "queries.kin", vectors=small_vectors(), language=None)
        self.index.add(RECORDS)

    def seeds(self) -> Sequence[bytes]:
        return [record["text"].encode() for record in RECORDS if record["text"]]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        return mutate_words(rng, data, self.WORDS)

    def attempt(self, data: bytes) -> None:
        from textkin.exceptions import EmptyDocumentError
        from textkin.text import tokenize

        text = data.decode("utf-8", "replace")
        tokens = tokenize(text)
        if any(not token or " " in token for token in tokens):
            raise Finding(f"tokens of {text[:50]!r}: {tokens[:20]}")
        hits = self.index.search(text, k=3, ranking="bm25")
        for hit in hits:
            hit.snippet  # noqa: B018
            hit.explain().to_svg()
        with contextlib.suppress(EmptyDocumentError):
            self.index.search(text, k=3, ranking="wmd")

    def close(self) -> None:
        self.index.close()


class Documents(Target):
    """Files of documents (JSON Lines, JSON, CSV, TSV, text, gzip, Parquet) that `tk.read` opens."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.number = 0

    def seeds(self) -> Sequence[bytes]:
        return stored("documents")

    def mutate(self, rng: Random, data: bytes) -> bytes:
        name, content = unpacked(data)
        if name.startswith("json") and not name.endswith("gz") and rng.random() < 0.5:
            with contextlib.suppress(ValueError, RecursionError):
                lines = content.splitlines() if name == "jsonl" else [content]
                at = rng.randrange(len(lines))
                lines[at] = dumped(mutate_json(rng, json.loads(lines[at])))
                return packed(name, b"\n".join(lines))
        return packed(name, mutate_bytes(rng, content))

    def attempt(self, data: bytes) -> None:
        from textkin import read

        name, content = unpacked(data)
        path = self.folder / f"documents.{name}"
        path.write_bytes(content)
        for errors in ("raise", "skip"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    documents = list(read(path, errors=errors))
            except (ValueError, TypeError) as error:
                if not deliberate(error) or str(path) not in str(error):
                    raise
            else:
                if not all(isinstance(document.text, str) for document in documents):
                    raise Finding("a text is not a string")


class Vectors(Target):
    """Files of word vectors, in each format."""

    def seeds(self) -> Sequence[bytes]:
        return stored("vectors")

    def mutate(self, rng: Random, data: bytes) -> bytes:
        name, content = unpacked(data)
        return packed(name, mutate_bytes(rng, content))

    def attempt(self, data: bytes) -> None:
        from textkin.vectors import WordVectors

        name, content = unpacked(data)
        path = self.folder / name
        path.write_bytes(content)
        for errors in ("raise", "skip"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    vectors = WordVectors.load(path, errors=errors)
            except ValueError as error:
                if str(path) not in str(error):
                    raise Finding(f"the error does not name the file: {error!r}") from error
            else:
                if not len(vectors) == len(set(vectors.words)) == len(vectors.matrix) >= 1:
                    raise Finding("words are lost")


class Models(Target):
    """Folders of saved estimators: manifests with a correct hash, and files of arrays."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from textkin import load

        self.load = load
        self.names = sorted(path.parent.name for path in SAVED.glob("*/manifest.json"))
        for name in self.names:  # in the newest format
            load(SAVED / name).save(folder / name)

    def seeds(self) -> Sequence[bytes]:
        made = []
        for name in self.names:
            manifest = json.loads((self.folder / name / "manifest.json").read_text())
            made.append(dumped({"model": name, "manifest": manifest}))
            for file in manifest["files"]:
                content = b64encode((self.folder / name / file).read_bytes()).decode()
                made.append(dumped({"model": name, "file": file, "content": content}))
        return made

    def mutate(self, rng: Random, data: bytes) -> bytes:
        given = json.loads(data)
        if "manifest" in given:
            given["manifest"] = mutate_json(rng, given["manifest"])
        else:
            changed = mutate_bytes(rng, b64decode(given["content"]))
            given["content"] = b64encode(changed).decode()
        return dumped(given)

    def attempt(self, data: bytes) -> None:
        given = json.loads(data)
        folder = self.folder / given["model"]
        path = folder / "manifest.json"
        changed = {path: path.read_bytes()}
        try:
            if "manifest" in given:
                path.write_bytes(dumped(sealed_value(given["manifest"])))
            else:
                file = folder / given["file"]
                changed[file] = file.read_bytes()
                content = b64decode(given["content"])
                file.write_bytes(content)
                manifest = json.loads(changed[path])
                manifest["files"][given["file"]] = {
                    "bytes": len(content),
                    "sha256": hashlib.sha256(content).hexdigest(),
                }
                path.write_bytes(dumped(sealed_value(manifest)))
            try:
                loaded = self.load(folder)
            except ValueError as error:
                if str(folder) not in str(error):
                    raise Finding(f"the error does not name the folder: {error}") from error
            else:
                repr(loaded)
        finally:
            for file, content in changed.items():
                file.write_bytes(content)


class Catalogs(Target):
    """Rows of the catalog of an index that textkin would not write."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.template = folder / "template.kin"
        made_index(self.template)
        with closing(sqlite3.connect(self.template / "catalogue.sqlite")) as connection:
            tables = [
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type='table'"
                )
            ]
            self.columns = [
                (table, row[1])
                for table in tables
                for row in connection.execute(f"PRAGMA table_info({table})")
            ]

    def seeds(self) -> Sequence[bytes]:
        return [dumped([[*column, 0, None]]) for column in self.columns]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        changes = json.loads(data)
        for change in changes:
            change[2] = rng.randrange(1, 8)
            change[3] = rng.choice(
                (*[v for v in VALUES if not isinstance(v, list | dict)], "1", "b\xff", 2**40)
            )
        if rng.random() < 0.3:
            changes.append([*rng.choice(self.columns), rng.randrange(8), rng.choice((1, "", None))])
        return dumped(changes[-4:])

    def attempt(self, data: bytes) -> None:
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "it.kin"
        shutil.copytree(self.template, path)
        try:
            with (
                closing(sqlite3.connect(path / "catalogue.sqlite")) as connection,
                contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError),
                connection,
            ):
                for table, column, row, value in json.loads(data):
                    if isinstance(value, str) and value.startswith("b"):
                        value = value.encode("utf-8", "replace")
                    connection.execute(
                        f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % 8 = ?', (value, row)
                    )
            use_index(path)
        finally:
            shutil.rmtree(path.parent)


class Segments(Target):
    """Files of segments, models, and vectors of an index, with changed bytes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.template = folder / "template.kin"
        made_index(self.template)
        self.files = sorted(
            str(file.relative_to(self.template))
            for file in self.template.rglob("*")
            if file.is_file() and file.suffix not in (".lock", ".sqlite")
        )

    def seeds(self) -> Sequence[bytes]:
        return [packed(name, (self.template / name).read_bytes()) for name in self.files]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        name, content = unpacked(data)
        return packed(name, mutate_bytes(rng, content))

    def attempt(self, data: bytes) -> None:
        name, content = unpacked(data)
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "it.kin"
        shutil.copytree(self.template, path)
        try:
            (path / name).write_bytes(content)
            use_index(path)
        finally:
            shutil.rmtree(path.parent)


class Requests(Target):
    """HTTP requests to the server: paths, queries, headers, and bodies."""

    WORDS = words_of(
        "/api/search /api/documents /api/similar /api/explain /api/compare /api/map /api/stats ?k=1"
        " ?limit=-1 &n=1e9 %00 %2e%2e/ .. // %ff ?id=cats ?representation=lsi é #"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from fastapi.testclient import TestClient

        from textkin.index import Index
        from textkin.web import Settings, create_app

        self.index = Index.create(folder / "served.kin", vectors=small_vectors(), language=None)
        self.index.add(RECORDS)
        self.number = self.index.reader().number
        self.app = create_app(self.index, settings=Settings(token="x" * 20))
        self.examples = self._examples(self.app.openapi())
        self.stack = contextlib.ExitStack()
        client = TestClient(self.app, base_url="http://localhost", raise_server_exceptions=False)
        self.client = self.stack.enter_context(client)

    @staticmethod
    def _examples(spec: dict[str, Any]) -> list[dict[str, Any]]:
        made = []
        for path, methods in spec["paths"].items():
            for method, described in methods.items():
                bodies: list[Any] = [None]
                if "requestBody" in described:
                    schema = described["requestBody"]["content"]["application/json"]["schema"]
                    name = schema["$ref"].rsplit("/", 1)[1]
                    bodies = spec["components"]["schemas"][name]["examples"]
                query = {
                    one["name"]: one["schema"]["examples"][0]
                    for one in described.get("parameters", [])
                    if "examples" in one["schema"]
                }
                for body in bodies:
                    request = {"method": method.upper(), "path": path, "query": query, "body": body}
                    request["headers"] = {"Authorization": "Bearer " + "x" * 20}
                    made.append(request)
        return made

    def seeds(self) -> Sequence[bytes]:
        return [dumped(example) for example in self.examples]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        request = json.loads(data)
        part = rng.choice(("path", "query", "body", "body", "body", "headers", "raw"))
        if part == "raw":
            request["raw"] = mutate_bytes(rng, dumped(request.get("body"))).decode("latin-1")
        elif part == "path":
            path = mutate_words(rng, str(request["path"]).encode(), self.WORDS)
            request["path"] = path.decode("utf-8", "replace")
        elif part in request:
            changed = mutate_json(rng, [request[part]])
            request[part] = changed[0] if isinstance(changed, list) and changed else None
        return dumped(request)

    def attempt(self, data: bytes) -> None:
        request = json.loads(data)
        headers = request.get("headers")
        pairs = headers.items() if isinstance(headers, dict) else ()
        sent = {
            "".join(c for c in str(name) if c.isalnum() or c == "-") or "x": "".join(
                c for c in str(value) if " " <= c <= "~"
            )[:1000].strip()
            for name, value in pairs
        }
        query = request.get("query")
        query = {str(k): str(v)[:500] for k, v in query.items()} if isinstance(query, dict) else {}
        body = request["raw"].encode("latin-1") if "raw" in request else dumped(request.get("body"))
        try:
            made = self.client.build_request(
                request["method"]
                if request["method"] in ("GET", "POST", "DELETE", "PUT")
                else "GET",
                "http://localhost/" + quote(clean(str(request["path"])).lstrip("/"), safe="/%?&=#"),
                params={clean(k): clean(v) for k, v in query.items()},
                content=body if request["method"] != "GET" else None,
                headers={"Content-Type": "application/json", **sent},
            )
        except Exception as error:  # the client cannot send it; its class depends on the client
            if type(error).__name__ not in ("InvalidURL", "UnicodeEncodeError"):
                raise
            return
        answer = self.client.send(made)
        if answer.status_code >= 500 and answer.status_code != 503:
            raise Finding(f"status {answer.status_code}: {answer.text[:300]}")
        if answer.status_code >= 400:
            error = answer.json()["error"]
            if "Traceback" in error["message"]:
                raise Finding(error["message"])
        if self.index.reader().number != self.number:  # each input finds the same documents
            self.index.mirror(RECORDS)
            self.number = self.index.reader().number

    def close(self) -> None:
        self.stack.close()
        self.app.state.server.close()
        self.index.close()


class Commands(Target):
    """Arguments of the command line: an exit code, and no traceback."""

    WORDS = words_of(
        "compare search similar classify cluster duplicates index vectors evaluate add build info"
        " verify --json --help -k 0 -1 5 nan --where year=1 --by bm25 wmd x.kin docs.jsonl nothing"
        " --ranking lsi --metric cosine '' é --html out.html --svg - -- --threshold 1e999 -n"
        " --radius"
    )
    BANNED = frozenset({"serve", "demo", "train", "distil", "-i", "--interactive", "-"})

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        from textkin.cli import main

        self.main = main
        self.home = folder / "home"
        self.home.mkdir()
        os.chdir(self.home)
        self._files()

    def _state(self) -> list[tuple[str, int, int]]:
        found = [(path.name, path.stat()) for path in self.home.iterdir()]
        return sorted((name, stat.st_ino, stat.st_size) for name, stat in found)

    def _files(self) -> None:
        from textkin.index import Index

        with contextlib.suppress(OSError):
            os.chmod(self.home, 0o755)
        for path in self.home.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.home / "docs.jsonl").write_bytes(b"\n".join(map(dumped, RECORDS)))
        with Index.create(self.home / "x.kin", vectors=small_vectors(), language=None) as index:
            index.add(RECORDS)
        self.state = self._state()

    def seeds(self) -> Sequence[bytes]:
        return [
            b"compare cats dogs --json",
            b"search x.kin cats -k 2 --json",
            b"search docs.jsonl cats --ranking bm25",
            b"similar x.kin cats -k 3",
            b"classify docs.jsonl docs.jsonl",
            b"cluster docs.jsonl -n 2",
            b"duplicates docs.jsonl",
            b"index info x.kin",
            b"index verify x.kin",
            b"vectors info x.kin",
        ]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        return mutate_words(rng, data, self.WORDS)

    def attempt(self, data: bytes) -> None:
        arguments = [
            word.replace("/", "").replace("..", "")[:300]
            for word in data.decode("utf-8", "replace").split(" ")
        ][:12]
        if self.BANNED & set(arguments):
            return
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            try:
                status = self.main([word.replace("\0", "") for word in arguments])
            except SystemExit as end:
                status = end.code
        if status not in (0, 1, 2) or "Traceback" in err.getvalue():
            raise Finding(f"exit code {status}: {err.getvalue()[-300:]}")
        if {"index", "vectors"} & set(arguments) or self._state() != self.state:
            self._files()  # each input finds the same files


class Solver(Target):
    """Transport problems against POT (`ot.emd2`), and on a sample a linear program (HiGHS)."""

    RELATIVE = 1e-6  # the promise of docs/architecture.md
    FEASIBLE = 1e-10  # tolerance of the linear program: the smallest that HiGHS accepts

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.largest = 0.0
        self.attempts = 0
        self.programs = 0

    def seeds(self) -> Sequence[bytes]:
        kinds = (
            "random",
            "ties",
            "zeros",
            "ratio",
            "small",
            "large",
            "integers",
            "equal",
            "column",
        )
        return [dumped({"kind": kind, "rows": 4, "columns": 5, "seed": 0}) for kind in kinds]

    def mutate(self, rng: Random, data: bytes) -> bytes:
        given = json.loads(data)
        most = 60 if rng.random() < 0.01 else 9
        given["rows"], given["columns"] = rng.randrange(1, most), rng.randrange(1, most)
        given["seed"] = rng.getrandbits(40)
        return dumped(given)

    @staticmethod
    def problem(given: dict[str, Any]) -> tuple[Any, Any, Any]:
        import numpy as np

        rng = np.random.default_rng(given["seed"])
        rows, columns, kind = given["rows"], given["columns"], given["kind"]
        if kind == "column":
            columns = 1
        a, b = rng.random(rows) + 1e-3, rng.random(columns) + 1e-3
        costs = rng.random((rows, columns))
        if kind == "ties":
            costs = np.round(costs * 2)
        elif kind == "zeros":
            a[rng.random(rows) < 0.5] = 0
            a[0] = 1
        elif kind == "ratio":
            a *= 10 ** rng.uniform(-12, 0, rows)
        elif kind == "small":
            costs *= 1e-30
        elif kind == "large":
            costs *= 1e30
        elif kind == "integers":
            costs, a, b = np.round(costs * 9), np.ceil(a * 5), np.ceil(b * 5)
        elif kind == "equal":
            costs[:] = costs[0]
        return a / a.sum(), b / b.sum(), costs

    def attempt(self, data: bytes) -> None:
        import numpy as np
        import ot
        from scipy.optimize import linprog

        import textkin as tk

        given = json.loads(data)
        a, b, costs = self.problem(given)
        found = tk.transport.optimal_transport(a, b, costs).cost
        scale = float(costs.max()) or 1.0  # POT compares with absolute tolerances
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = float(ot.emd2(a, b, costs / scale)) * scale
        self.attempts += 1
        if self.attempts % 100 == 0 or given.get("program"):
            rows, columns = costs.shape
            sums = np.vstack(
                [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
            )
            program = linprog(
                (costs / scale).ravel(),
                A_eq=sums[:-1],
                b_eq=np.concatenate([a, b])[:-1],
                # With its default of 1e-7, the program ignores smaller masses.
                options={
                    "primal_feasibility_tolerance": self.FEASIBLE,
                    "dual_feasibility_tolerance": self.FEASIBLE,
                },
            )
            if program.status == 0:
                self.programs += 1
                error = self.FEASIBLE * (rows + columns) * scale
                self.compare(found, program.fun * scale, scale, given, error)
        self.compare(found, peer, scale, given)

    def compare(
        self, found: float, other: float, scale: float, given: object, error: float = 0.0
    ) -> None:
        """Raise a finding if two costs differ, beyond the absolute error of the other one."""
        difference = max(abs(found - other) - error, 0.0) / max(abs(other), 1e-9 * scale)
        self.largest = max(self.largest, difference)
        if not difference <= self.RELATIVE:
            raise Finding(f"{found!r} instead of {other!r} for {given}")


RECORDS = [
    {"id": "cats", "text": "Cats purr and sleep on the mat", "year": 2010, "label": "pets"},
    {"id": "dogs", "text": "Dogs bark at cats", "year": 2011, "label": "pets"},
    {"id": "mat", "text": "The mat is red", "year": 2013, "tags": ["home", "red"]},
    {"id": "stocks", "text": "Stocks fell sharply in the morning", "year": 2014, "label": "money"},
    {"id": "a/b?c#d é", "text": "An id with all that an address minds", "year": 2016},
    {"id": "empty", "text": ""},
]


def small_vectors() -> Any:
    """Make vectors of a few words, which take no time to load."""
    import numpy as np

    from textkin.vectors import WordVectors

    words = words_of("cats dogs mat purr sleep bark red stocks morning address")
    return WordVectors(words, np.random.default_rng(0).normal(size=(len(words), 4)))


class _Clock(datetime):
    """Clock that stands still, so that two templates are equal."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime(2026, 1, 1, tzinfo=tz)


def made_index(path: Path) -> None:
    """Make an index with segments, deleted and recent documents, a model, and embeddings.

    Its files are the same on each machine: no time of the day, and no digits that depend on the
    linear algebra of NumPy.
    """
    import numpy as np

    from textkin.index import Index
    from textkin.index.store import _session, _writer
    from textkin.models import LSI

    with (
        mock.patch.object(_writer, "_TAIL_DOCUMENTS", 3),
        mock.patch.object(_session, "datetime", _Clock),
        Index.create(path, vectors=small_vectors(), language=None) as index,
    ):
        index.add(RECORDS[:4])
        index.add(RECORDS[4:])
        index.delete(["mat"])
        index.add([{"id": "new", "text": "cats and dogs and stocks"}])
        model = LSI(2, random_state=0).fit(index.bags())
        model.components_ = np.round(model.components_ * 64) / 64
        model.singular_values_ = np.round(model.singular_values_ * 64) / 64
        index.attach("lsi", model)
        index.attach("own", embeddings=np.eye(len(index), 3) + 0.5)


def use_index(path: Path) -> None:
    """Read, search, verify, and repair an index; errors must be public and name the folder.

    The errors of a model name the model instead.
    """
    from textkin.exceptions import DamagedIndexError, ParameterError
    from textkin.index import Index

    def found(call: Any, model: str | None = None) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with Index.open(path) as index:
                    call(index)
        except (ValueError, OSError) as error:
            lost = isinstance(error, ParameterError) and (error.parameter, error.got) == (
                "ranking",
                repr(model),
            )
            corrupt = isinstance(error, DamagedIndexError) and "The model '" in str(error)
            if not (lost or corrupt) and str(path) not in str(error):
                raise Finding(f"the error does not name the index: {error!r}") from error

    found(lambda index: [list(index), index.info(), index.vocabulary()])
    found(lambda index: [hit.snippet for hit in index.search("cats morning", k=3)])
    found(lambda index: index.search("cats morning", k=3, ranking="wmd"))
    found(lambda index: index.search("cats morning", k=3, ranking="lsi"), "lsi")
    found(lambda index: index.search(embedding=[1, 0, 0], k=3, ranking="own"), "own")
    found(lambda index: index.verify())
    found(lambda index: index.verify(repair=True))
    found(lambda index: index.compact())
    found(lambda index: index.add([{"id": "later", "text": "more cats"}]))


def deliberate(error: BaseException) -> bool:
    """Return True if textkin raised the error itself, as opposed to an operation that failed."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    path = frame.f_code.co_filename
    return path.startswith(SOURCES) and linecache.getline(path, line).lstrip().startswith("raise ")


def stored(target: str) -> list[bytes]:
    """Return the valid files of a target; other versions of libraries would write other bytes."""
    paths = sorted((HERE / "valid" / target).iterdir())
    return [packed(path.name, path.read_bytes()) for path in paths]


def sealed_value(manifest: Any) -> Any:
    """Put the hash of a manifest right, as an attacker would."""
    from textkin._base._folders import sealed

    try:
        return sealed(manifest) if isinstance(manifest, dict) else manifest
    except (TypeError, ValueError, UnicodeEncodeError):
        return manifest


def clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def packed(name: str, content: bytes) -> bytes:
    """Put a file and its name into one input."""
    return name.encode() + b"\n" + content


def unpacked(data: bytes) -> tuple[str, bytes]:
    name, _, content = data.partition(b"\n")
    return name.decode(), content


TARGETS: dict[str, type[Target]] = {
    "filters": Filters,
    "queries": Queries,
    "documents": Documents,
    "vectors": Vectors,
    "models": Models,
    "catalogs": Catalogs,
    "segments": Segments,
    "requests": Requests,
    "commands": Commands,
    "solver": Solver,
}
