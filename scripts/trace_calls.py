"""Count the files of the package that each of twelve calls enters.

    python scripts/trace_calls.py
    python scripts/trace_calls.py --write docs/architecture.md

A file is entered if a Python function of it runs (`sys.setprofile` and `threading.setprofile`).
Each call is measured in its own process: the first call, then a call in the steady state,
after one more call with other arguments. Code that runs while a module is imported does not
count, and neither does the set-up before a call. Methods that dataclasses generate have no file.
"""
# ruff: noqa: ANN401 (the result of a walk has any type)

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

BEGIN, END = "<!-- trace: begin -->", "<!-- trace: end -->"

Call: TypeAlias = Callable[[int], Any]
"""Call to measure; its argument is a number (0, 1, 2), to use other arguments each time."""


class Walk(NamedTuple):
    """Files that a call enters, in order."""

    name: str
    first: list[str]
    steady: list[str]


class Tracer:
    """Recorder of the files of a package in which functions are called, in the order of the calls.

    Parameters
    ----------
    package : Path
        Folder of the package.
    """

    def __init__(self, package: Path) -> None:
        self._package = f"{package}{os.sep}"
        self._files: dict[str, None] = {}
        self._recording = False
        self._imports = threading.local()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Handle an event of the interpreter; see `sys.setprofile`."""
        if event not in ("call", "return"):
            return
        if frame.f_code.co_name == "<module>":
            depth = getattr(self._imports, "depth", 0)
            self._imports.depth = depth + (1 if event == "call" else -1)
        elif self._recording and event == "call" and not getattr(self._imports, "depth", 0):
            path = frame.f_code.co_filename
            if path.startswith(self._package):
                self._files[path.removeprefix(self._package).removesuffix(".py")] = None

    @contextmanager
    def threads(self) -> Iterator[None]:
        """Observe the threads that start from now on."""
        threading.setprofile(self)
        try:
            yield
        finally:
            threading.setprofile(None)

    def record(self, call: Call, number: int) -> list[str]:
        """Return the files that a call enters, in order."""
        self._files = {}
        self._recording = True
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            call(number)
        finally:
            sys.setprofile(before)
            self._recording = False
        return list(self._files)


# The walks: each is a generator that prepares, yields the call, and cleans up

TEXTS = [
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
    "The band gave a concert in Japan",
    "Cats purr and sleep on the mat",
    "Kittens nap on a rug and play",
    "Dogs bark at cats in the morning",
    "Stocks fell sharply in the morning",
    "Investors sold their shares",
]
LABELS = ["politics", "politics", "music", "pets", "pets", "pets", "money", "money"]
QUERIES = ["cats sleep", "the press of Chicago", "dogs and kittens"]


@contextmanager
def open_index(folder: Path) -> Iterator[Any]:
    """Yield an index with a segment."""
    import textkin as tk

    with tk.Index.create(folder / "a.kin", language=None) as index:
        index.add([{"id": f"{n}", "text": text} for n, text in enumerate(TEXTS)])
        index.compact()
        yield index


def read(folder: Path) -> Iterator[Call]:
    """Read a folder with a table."""
    import textkin as tk

    rows = [f"{n},{text},{LABELS[n]}" for n, text in enumerate(TEXTS)]
    (folder / "a.csv").write_text("\n".join(["id,text,label", *rows]))
    yield lambda _: list(tk.read(folder, pattern="*.csv"))


def add(folder: Path) -> Iterator[Call]:
    """Add two documents to an index."""
    import textkin as tk

    with tk.Index.create(folder / "a.kin", language=None) as index:
        yield lambda n: index.add([{"id": f"{n} {i}", "text": TEXTS[n + i]} for i in range(2)])


def search_bm25(folder: Path) -> Iterator[Call]:
    """Search an index by BM25."""
    with open_index(folder) as index:
        yield lambda n: index.search(QUERIES[n]).ids


def search_wmd(folder: Path) -> Iterator[Call]:
    """Search an index by the Word Mover's Distance."""
    with open_index(folder) as index:
        yield lambda n: index.search(QUERIES[n], ranking="wmd").ids


def search_and_draw(folder: Path) -> Iterator[Call]:
    """Search an index, and draw the explanation of the first hit."""
    with open_index(folder) as index:
        yield lambda n: index.search(QUERIES[n], ranking="wmd")[0].explain().to_svg()


def distance(folder: Path) -> Iterator[Call]:
    """Compute a distance."""
    import textkin as tk

    mover = tk.WordMover()
    yield lambda n: mover.distance(TEXTS[n], TEXTS[n + 1])


def kneighbors(folder: Path) -> Iterator[Call]:
    """Fit a mover, and find the neighbors of a text."""
    import textkin as tk

    mover = tk.WordMover()
    yield lambda n: mover.fit(TEXTS[n:]).kneighbors([QUERIES[n]], 2)


def plsa(folder: Path) -> Iterator[Call]:
    """Fit a topic model."""
    import textkin as tk

    bags = tk.BagOfWords().fit_transform(TEXTS)
    yield lambda n: tk.PLSA(2, random_state=n, max_iter=500, tol=1e-3).fit(bags)


def classify(folder: Path) -> Iterator[Call]:
    """Classify a text by its neighbors, and get the evidence."""
    import textkin as tk

    def call(n: int) -> Any:
        model = tk.NearestNeighborClassifier(n_neighbors=2).fit(TEXTS[n:], LABELS[n:])
        return model.predict([QUERIES[n]]), list(model.evidence([QUERIES[n]]))

    yield call


def post_search(folder: Path) -> Iterator[Call]:
    """Send a search to the HTTP API."""
    from fastapi.testclient import TestClient

    from textkin.web import create_app

    with (
        open_index(folder) as index,
        TestClient(create_app(index), base_url="http://localhost") as client,
    ):
        yield lambda n: client.post("/api/search", json={"query": QUERIES[n]}).raise_for_status()


def pool(folder: Path) -> Iterator[Call]:
    """Pool the word vectors of a text."""
    import textkin as tk

    model = tk.Pooling().fit(TEXTS)
    yield lambda n: model.transform([QUERIES[n]])


def duplicates(folder: Path) -> Iterator[Call]:
    """Find documents with the same words."""
    import textkin as tk

    yield lambda n: len(tk.find_duplicates([*TEXTS[n:], TEXTS[3].upper()]))


WALKS: dict[str, Callable[[Path], Iterator[Call]]] = {
    "tk.read": read,
    "Index.add": add,
    "search by BM25": search_bm25,
    "search by WMD": search_wmd,
    "search by WMD, hit.explain().to_svg()": search_and_draw,
    "WordMover.distance": distance,
    "WordMover.fit, kneighbors": kneighbors,
    "PLSA.fit": plsa,
    "kNN fit, predict, evidence": classify,
    "POST /api/search": post_search,
    "Pooling.transform": pool,
    "find_duplicates": duplicates,
}


def package_folder() -> Path:
    """Return the folder of the package that is imported."""
    import textkin

    return Path(textkin.__file__).parent


def trace(name: str) -> Walk:
    """Trace one of the walks in this process."""
    import warnings

    tracer = Tracer(package_folder())
    with tempfile.TemporaryDirectory() as folder, tracer.threads(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk = WALKS[name](Path(folder))
        call = next(walk)
        first = tracer.record(call, 0)
        call(1)
        steady = tracer.record(call, 2)
        next(walk, None)  # cleans up
    return Walk(name, first, steady)


def trace_in_process(name: str) -> Walk:
    """Trace one of the walks in a separate process."""
    command = [sys.executable, __file__, "--walk", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Walk(*json.loads(done.stdout))


def table(walks: Sequence[Walk]) -> list[str]:
    """Return a Markdown table of walks."""
    lines = ["| call | files | with first call | files in order |", "|---|---:|---:|---|"]
    for walk in walks:
        files = ", ".join(walk.steady)
        lines.append(f"| `{walk.name}` | {len(walk.steady)} | ({len(walk.first)}) | {files} |")
    total, first = (
        sum(len(files) for files in rows)
        for rows in (
            [walk.steady for walk in walks],
            [walk.first for walk in walks],
        )
    )
    return [*lines, f"| all | {total} | ({first}) | |"]


def written(page: str, lines: Sequence[str]) -> str:
    """Return a page with a table between its markers."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page must have one line {BEGIN} and one line {END}")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"])


def main() -> None:
    """Trace the walks, and print or write their table."""
    parser = argparse.ArgumentParser(description="Files of the package that calls enter.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help=f"replace what is in {BEGIN}")
    parser.add_argument("--walk", choices=WALKS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.walk is not None:
        print(json.dumps(trace(arguments.walk)))
        return
    lines = table([trace_in_process(name) for name in WALKS])
    print("\n".join(lines))
    if arguments.write is not None:
        page = written(arguments.write.read_text(encoding="utf-8"), lines)
        arguments.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
