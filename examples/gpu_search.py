"""Run an exact search with its bounds on a GPU: the results are the same as on the CPU.

The example uses a CUDA GPU if torch finds one, otherwise torch tensors on the CPU (slower than the
core, but enough to compare results). Needs ``pip install 'textkin[torch]'``.
"""

import time

from textkin import WordMover
from textkin.reading import standard_library_docstrings


def main() -> None:
    """Search docstrings of the standard library with the core and on a device."""
    try:
        import torch
    except ImportError:
        print("This example needs torch: pip install 'textkin[torch]'")
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    texts = [document.text for document in standard_library_docstrings()][:600]
    queries = ["Compress a file", "Wait for a thread to end", "Parse the arguments of a program"]
    answers = {}
    for where in (None, device):
        mover = WordMover(device=where, n_jobs=-1, empty="inf").fit(texts)
        mover.search(queries[:1], k=3)  # warm-up
        began = time.perf_counter()
        found = mover.search(queries, k=3)
        print(f"device={where!r}: {1e3 * (time.perf_counter() - began):.1f} ms")
        answers[where] = found
    assert (answers[None].indices == answers[device].indices).all()
    assert (answers[None].distances == answers[device].distances).all()
    print("Same documents, bit-identical distances:")
    for query, (distances, rows) in zip(queries, answers[device], strict=True):
        print(f"\n{query}")
        for row, distance in zip(rows, distances, strict=True):
            print(f"  {distance:.3f}  {texts[row].split(chr(10))[0][:70]}")


if __name__ == "__main__":
    main()
