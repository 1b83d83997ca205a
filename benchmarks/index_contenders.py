"""Jobs of `index_adding`, each in its own process; the output is JSON.

`index_adding` runs ``index_contenders.py WHAT ARGUMENTS...``. This module imports little, so that
the memory of a process is the memory of the contender.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

INDEX = "index.kin"
# a word by textkin's rule, so that all contenders count the same words
RULE = r"[^\W_]+(?:'[^\W_]+)*"


def resident_megabytes(which: str) -> float:
    """Return "VmRSS", the current memory of this process, or "VmHWM", the peak."""
    # VmHWM, because a process inherits ru_maxrss from its parent.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return round(int(status.split(f"{which}:", 1)[1].split()[0]) / 1024, 1)


def forget_peak() -> None:
    """Reset the peak memory."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def records_of(path: Path) -> Iterator[dict[str, str]]:
    """Yield the records of a collection."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def folder_bytes(folder: Path) -> int:
    """Return the sizes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Watch:
    """Elapsed and CPU seconds, peak memory, and memory at the start."""

    def __enter__(self) -> "Watch":
        forget_peak()
        self.before = resident_megabytes("VmRSS")
        self._cpu, self._start = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start
        self.processor_seconds = time.process_time() - self._cpu
        self.peak = resident_megabytes("VmHWM")

    def told(self) -> dict[str, float]:
        """Return the numbers."""
        return {
            "seconds": round(self.seconds, 3),
            "processor_seconds": round(self.processor_seconds, 3),
            "megabytes_before": self.before,
            "megabytes_peak": self.peak,
        }


def textkin_adds(collection: Path, folder: Path) -> dict[str, Any]:
    """Add a stream to an index."""
    from textkin import Index

    path = folder / INDEX
    Index.create(path, language=None).close()  # hashes the built-in vectors, once per index
    with Index.open(path) as index, Watch() as watch:
        index.add(records_of(collection))
    with Index.open(path) as index:
        facts = index.info()
    return {
        **watch.told(),
        "documents": facts.documents,
        "words": facts.words,
        "tokens": facts.tokens,
        "segments": facts.segments,
        "bytes": {
            "catalogue": facts.bytes["catalog"],
            "segments": facts.bytes["segments"],
            "total": facts.bytes["total"],
        },
    }


def bm25s_adds(collection: Path, folder: Path) -> dict[str, Any]:
    """Tokenize and index texts in memory; saving is timed separately."""
    import bm25s

    texts = [record["text"] for record in records_of(collection)]
    with Watch() as watch:
        tokens = bm25s.tokenize(texts, stopwords=None, token_pattern=RULE, show_progress=False)
        retriever = bm25s.BM25()
        retriever.index(tokens, show_progress=False)
    start = time.perf_counter()
    retriever.save(str(folder / "bm25s"))
    return {
        **watch.told(),
        "documents": len(tokens.ids),
        "words": len(tokens.vocab) - ("" in tokens.vocab),
        "tokens": sum(map(len, tokens.ids)),
        "save_seconds": round(time.perf_counter() - start, 3),
        "bytes": {"total": folder_bytes(folder)},
    }


def tantivy_adds(collection: Path, folder: Path) -> dict[str, Any]:
    """Add texts in memory on one thread, and commit once; IDs and texts are stored."""
    import tantivy

    texts = [record["text"] for record in records_of(collection)]
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", stored=True)
    place = folder / "tantivy"
    place.mkdir()
    with Watch() as watch:
        index = tantivy.Index(schema.build(), path=str(place))
        writer = index.writer(heap_size=256 << 20, num_threads=1)
        for number, text in enumerate(texts):
            writer.add_document(tantivy.Document(id=str(number), text=text))
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    return {
        **watch.told(),
        "documents": index.searcher().num_docs,
        "bytes": {"total": folder_bytes(folder)},
    }


def take_one_core() -> None:
    """Run this process, and its threads, on one core.

    Call it before NumPy is loaded, because its BLAS starts as many threads as there are cores.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def keep(folder: Path) -> dict[str, Any]:
    """Verify an index, then compact it; return seconds and bytes."""
    from textkin import Index

    with Index.open(folder / INDEX) as index:
        start = time.perf_counter()
        index.verify()
        verified = time.perf_counter()
        index.compact()
        compacted = time.perf_counter()
        after = index.info()
    return {
        "verify_seconds": round(verified - start, 3),
        "compact_seconds": round(compacted - verified, 3),
        "compacted_bytes": after.bytes["total"],
    }


def open_once(folder: Path) -> dict[str, Any]:
    """Open an index in a fresh process; return milliseconds, without the import of textkin."""
    from textkin import Index

    start = time.perf_counter()
    with Index.open(folder / INDEX) as index:
        number = len(index)
        opened = time.perf_counter()
        index.get("0")
    got = time.perf_counter()
    return {
        "documents": number,
        "open": round(1e3 * (opened - start), 3),
        "first_get": round(1e3 * (got - opened), 3),
    }


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "textkin": textkin_adds,
    "bm25s": bm25s_adds,
    "tantivy": tantivy_adds,
    "open": open_once,
    "keep": keep,
}


def main() -> None:
    """Run the job named by the arguments, on one core."""
    what, *paths = sys.argv[1:]
    take_one_core()
    print(json.dumps(JOBS[what](*map(Path, paths))))


if __name__ == "__main__":
    main()
