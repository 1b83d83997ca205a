"""Bounded load on a textkin server: many clients search while documents are added.

The server is ``textkin serve`` in its own process, on the loopback interface, over docstrings of
the standard library (available everywhere) or real texts::

    python benchmarks/serve.py
    python benchmarks/serve.py --documents 20000 --clients 32 --seconds 30

32 clients send one request after another for 30 seconds: searches by words, by transport, and by a
hybrid, similar documents, explanations, comparisons, feedback, lists. Another client adds ten
documents at a time, repeatedly. Any response other than 200 is an error, and so is a page that
shows only one of two documents that were added together. The report has errors, requests per
second, p50 and p99 of each kind, and the memory of the server after warm-up and at the end. The
results go to benchmarks/results/serve.json.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from environment import RESULTS, describe

from textkin import Index
from textkin.reading import standard_library_docstrings

SEED = 15
TOKEN = "benchmark-token-of-this-run"
TOGETHER = 10  # documents per adding request
PAUSE = 0.25  # seconds between such requests
WARM_UP = 5.0
FEWEST = 6  # words per document

MIX: dict[str, int] = {  # out of a hundred requests
    "bm25": 30,
    "tfidf": 10,
    "wmd": 10,
    "hybrid": 5,
    "similar": 10,
    "feedback": 5,
    "explain": 10,
    "compare": 5,
    "documents": 10,
    "stats": 5,
}


def collection(number: int) -> list[dict[str, Any]]:
    """Return the given number of documents: docstrings, repeated with other words inserted."""
    # Several words, so that at least one has a vector.
    found = {
        one.name: one.text
        for one in standard_library_docstrings()
        if len(one.text.split()) >= FEWEST
    }
    names = sorted(found)
    rng = random.Random(SEED)
    documents = []
    for at in range(number):
        name = names[at % len(names)]
        text = found[name]
        if at >= len(names):
            text = f"{text} {found[rng.choice(names)]}"
        label = name.split(".", 1)[0]
        documents.append({"id": f"{name}#{at}", "text": text, "label": label, "round": at})
    return documents


class Mixed:
    """Requests of one client, reproducible with the seed."""

    def __init__(self, documents: list[dict[str, Any]], seed: int) -> None:
        self._documents = documents
        self._random = random.Random(seed)

    def next(self) -> tuple[str, str, str, dict[str, Any] | None]:
        """Return kind, method, address, and body of a request."""
        kind = self._random.choices([*MIX], [*MIX.values()])[0]
        body: dict[str, Any]
        if kind in ("bm25", "tfidf", "wmd", "hybrid"):
            body = {"query": self._query(), "ranking": kind, "k": 10}
            if kind == "bm25" and self._random.random() < 0.3:
                body["where"] = f"label = {self._one()['label']}"
            return kind, "POST", "/api/search", body
        if kind == "similar":
            return kind, "POST", "/api/similar", {"id": self._one()["id"], "ranking": "bm25"}
        if kind == "feedback":
            rounds = [{"relevant": [self._one()["id"]]}]
            return kind, "POST", "/api/feedback", {"query": self._query(), "rounds": rounds}
        if kind == "explain":
            ranking = self._random.choice(["bm25", "wmd"])
            body = {"query": self._query(), "document": self._one()["id"], "ranking": ranking}
            return kind, "POST", "/api/explain", body
        if kind == "compare":
            return kind, "POST", "/api/compare", {"a": self._query(), "b": self._one()["text"]}
        if kind == "documents":
            offset = self._random.randrange(max(1, len(self._documents) - 20))
            return kind, "GET", f"/api/documents?limit=20&offset={offset}", None
        return kind, "GET", "/api/stats", None

    def _one(self) -> dict[str, Any]:
        return self._random.choice(self._documents)

    def _query(self) -> str:
        # A word in all vectors, so that no comparison is empty.
        words = self._one()["text"].split()
        start = self._random.randrange(max(1, len(words) - 6))
        return " ".join(["file", *words[start : start + 6]])


class Told:
    """Times and errors, from many threads."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    def add(self, kind: str, seconds: float, error: str | None) -> None:
        """Record a request."""
        with self._mutex:
            self.times[kind].append(seconds)
            if error is not None:
                self.errors.append(f"{kind}: {error}")


def asking(address: str, mixed: Mixed, told: Told, until: Callable[[], bool]) -> None:
    """Send one request after another."""
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        while not until():
            kind, method, path, body = mixed.next()
            _timed(client, kind, method, path, body, told)


def adding(address: str, name: str, told: Told, until: Callable[[], bool]) -> int:
    """Add documents at least once, and check that they are found together; return their number."""
    added = 0
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        while not added or not until():
            word = f"{name}{added}"
            documents = [
                {"id": f"{name}-{added}-{n}", "text": f"{word} added while others search, {n}"}
                for n in range(TOGETHER)
            ]
            body = {"documents": documents}
            _timed(client, "add", "POST", "/api/documents", body, told, headers)
            found = client.post("/api/search", json={"query": word, "k": 2 * TOGETHER}).json()
            if len(found.get("hits", [])) != TOGETHER:
                told.add("together", 0.0, f"{len(found.get('hits', []))} of {TOGETHER} found")
            added += TOGETHER
            time.sleep(PAUSE)
    return added


def _timed(
    client: httpx.Client,
    kind: str,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    told: Told,
    headers: dict[str, str] | None = None,
) -> None:
    started = time.perf_counter()
    try:
        answer = client.request(method, path, json=body, headers=headers)
        error = None if answer.status_code == 200 else f"{answer.status_code} {answer.text[:200]}"
    except httpx.HTTPError as failure:
        error = f"{type(failure).__name__}"
    told.add(kind, time.perf_counter() - started, error)


def resident(pid: int) -> float:
    """Return the memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000


def quantile(times: list[float], share: float) -> float:
    """Return a percentile of the request times, in milliseconds."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Server:
    """``textkin serve`` in a separate process."""

    def __init__(self, index: Path) -> None:
        command = [sys.executable, "-m", "textkin", "serve", str(index), "--port", "0", "--quiet"]
        environment = {**os.environ, "TEXTKIN_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+:\d+", line)
        if found is None:
            raise SystemExit(f"the server did not start: {line!r}")
        self.address = found[0]

    def end(self) -> int:
        """Stop it, and return its exit code."""
        self.process.terminate()
        with self.process:  # waits, and closes its output
            pass
        return self.process.returncode


def load(
    server: Server, documents: list[dict[str, Any]], clients: int, seconds: float, name: str
) -> dict[str, Any]:
    """Run clients for the given time, with a name for their added documents; return the records."""
    told = Told()
    end = time.monotonic() + seconds

    def until() -> bool:
        return time.monotonic() >= end

    added: list[int] = []
    threads = [
        threading.Thread(
            target=asking, args=(server.address, Mixed(documents, SEED + at), told, until)
        )
        for at in range(clients)
    ]
    threads.append(
        threading.Thread(target=lambda: added.append(adding(server.address, name, told, until)))
    )
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    number = sum(map(len, told.times.values()))
    return {
        "requests": number,
        "requests_per_second": number / took,
        "documents_added": added[0] if added else 0,
        "errors": len(told.errors),
        "first_errors": told.errors[:10],
        "milliseconds": {
            kind: {
                "requests": len(times),
                "p50": quantile(times, 0.5),
                "p99": quantile(times, 0.99),
            }
            for kind, times in sorted(told.times.items())
        },
    }


def run(documents: int, clients: int, seconds: float) -> dict[str, Any]:
    """Serve a collection under load, and return the measurements."""
    corpus = collection(documents)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "load.kin"
        with Index.create(path, language=None) as index:
            index.add(corpus)
        server = Server(path)
        try:
            load(server, corpus, clients, min(WARM_UP, seconds), "warmup")
            before = resident(server.process.pid)
            found = load(server, corpus, clients, seconds, "loaded")
            after = resident(server.process.pid)
        finally:
            code = server.end()
    return {
        "documents": documents,
        "clients": clients,
        "seconds": seconds,
        **found,
        "memory_mb": {"after_warm_up": before, "at_the_end": after},
        "exit_code": code,
    }


def main() -> None:
    """Measure, write the result, and print it; fail if a request failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--out", type=Path, default=RESULTS / "serve.json")
    options = parser.parse_args()
    found = run(options.documents, options.clients, options.seconds)
    result = {**describe("textkin", "fastapi", "uvicorn"), "load": found}
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{found['requests']:,} requests, {found['requests_per_second']:.0f} per second")
    print(f"{found['errors']} errors, {found['documents_added']:,} documents added concurrently")
    for kind, times in found["milliseconds"].items():
        told = f"p50 {times['p50']:8.1f} ms  p99 {times['p99']:8.1f} ms"
        print(f"  {kind:10} {times['requests']:6,}  {told}")
    memory = found["memory_mb"]
    print(f"memory {memory['after_warm_up']:.0f} MB, at the end {memory['at_the_end']:.0f} MB")
    if found["errors"] or found["exit_code"]:
        raise SystemExit(f"errors: {found['first_errors']}, exit code {found['exit_code']}")


if __name__ == "__main__":
    main()
