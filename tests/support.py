"""Helpers that several test files import (the folder `tests` is on pytest's path)."""

import importlib
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType
from typing import Any

import pytest

from textkin._base._folders import sealed

ROOT = Path(__file__).parents[1]


def load_script(relative: str) -> ModuleType:
    """Import a script of the repository; scripts find each other in their own folder."""
    path = ROOT / relative
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    finally:
        sys.path.remove(str(path.parent))


def run_scikit_learn_checks(estimator: Any, expected: dict[str, str] | None = None) -> None:
    """Run scikit-learn's checks of an estimator; those of `expected` must fail, for its reasons."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(
        estimator, expected_failed_checks=expected, on_skip=None, on_fail="raise"
    )
    assert len(results) > 30
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(expected or {})


def run_benchmark(name: str, *arguments: object) -> CompletedProcess[str]:
    """Run a benchmark's `main` in this process: a new one would import everything again."""
    script = load_script(f"benchmarks/{name}")
    pinned = load_script("benchmarks/pairs.py").THREAD_VARIABLES  # otherwise, they start a process
    out, err = io.StringIO(), io.StringIO()
    command = [str(ROOT / "benchmarks" / name), *map(str, arguments)]
    status: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.syspath_prepend(ROOT / "benchmarks")
        patch.setattr(sys, "argv", command)
        for variable in pinned:
            patch.setenv(variable, "1")
        try:
            script.main()
        except SystemExit as end:
            status = end.code
    if isinstance(status, str):  # as the interpreter does
        err.write(f"{status}\n")
        status = 1
    return CompletedProcess(command, int(status or 0), out.getvalue(), err.getvalue())


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of a saved folder, and its own hash, as an attacker would."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(sealed(manifest)))


def interrupted(call):
    """Repeat a call until the Ctrl-C that comes while it runs; False if it never gets through."""
    # Background processes ignore Ctrl-C by default; this one must not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        for _ in range(20):
            call()
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    return False


def vector_files(folder: Path) -> dict[str, Path]:
    """Write the same three words in every format of vector files; return the file of each."""
    import gzip
    import json

    import numpy as np
    from safetensors.numpy import save_file

    words = ["the", "naïve", "New_York"]
    matrix = np.array([[1, -2.5, 0.125], [0, 3, 1e-3], [-4, 5, 0.1]], dtype=np.float32)
    lines = [
        f"{w} {' '.join(repr(float(x)) for x in row)}\n"
        for w, row in zip(words, matrix, strict=True)
    ]
    rows = [w.encode() + b" " + row.tobytes() for w, row in zip(words, matrix, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "glove.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "fasttext.vec").write_text("3 3\n" + "".join(lines), encoding="utf-8")
    (folder / "word2vec.bin").write_bytes(b"3 3\n" + b"".join(rows))
    (folder / "original.bin").write_bytes(b"3 3\n" + b"".join(row + b"\n" for row in rows))
    np.save(folder / "array.npy", matrix)
    (folder / "array.words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    np.savez(folder / "strings.npz", words=np.array(words), vectors=matrix)
    joined = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    np.savez_compressed(folder / "bytes.npz", words=joined, vectors=matrix)
    save_file({"vectors": matrix}, folder / "m.safetensors", {"words": json.dumps(words)})
    save_file({"words": joined, "embedding": matrix}, folder / "w.safetensors")
    found = {
        "glove": "glove.txt",
        "word2vec-text": "fasttext.vec",
        "word2vec": "word2vec.bin",
        "word2vec with newlines": "original.bin",
        "npy": "array.npy",
        "npz of strings": "strings.npz",
        "npz of bytes": "bytes.npz",
        "safetensors, words in metadata": "m.safetensors",
        "safetensors, words in a tensor": "w.safetensors",
    }
    paths = {name: folder / file for name, file in found.items()}
    for name, path in list(paths.items()):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        paths[f"{name}, gzipped"] = packed
    return paths


VECTOR_FORMATS = [
    f"{name}{packed}"
    for packed in ("", ", gzipped")
    for name in (
        "glove",
        "word2vec-text",
        "word2vec",
        "word2vec with newlines",
        "npy",
        "npz of strings",
        "npz of bytes",
        "safetensors, words in metadata",
        "safetensors, words in a tensor",
    )
]
