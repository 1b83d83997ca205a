"""Indexes for tests of clusters: several segments of a few documents each."""

import random
from contextlib import contextmanager
from unittest import mock

import numpy as np

from textkin import Index, WordVectors
from textkin.index.store import _merge, _writer

WORDS = [
    "cats",
    "dogs",
    "purr",
    "bark",
    "sleep",
    "river",
    "bank",
    "money",
    "loan",
    "water",
    "music",
    "band",
    "loud",
    "quiet",
    "night",
    "day",
    "minister",
    "president",
    "press",
    "media",
    "speaks",
    "greets",
    "garden",
    "flower",
    "zyxxy",
    "qwrtp",
]
_random = random.Random(7)
TEXTS = [" ".join(_random.choices(WORDS, k=_random.randrange(1, 9))) for _ in range(90)]
TEXTS[11] = TEXTS[52] = TEXTS[81] = TEXTS[5]  # ties, in several segments
TEXTS[30] = ""
TEXTS[33] = "zyxxy qwrtp"  # no word with a vector


_known = np.random.default_rng(3).normal(size=(len(WORDS) - 2, 12)).astype(np.float32)
VECTORS = WordVectors(WORDS[:-2], _known)


def record(number, text):
    return {"id": f"d{number}", "text": text, "n": number, "odd": number % 2 == 1}


RECORDS = [record(number, text) for number, text in enumerate(TEXTS)]


@contextmanager
def filled(path):
    """Create an index with segments, deleted rows, and recent documents."""
    with (
        mock.patch.multiple(_writer, _TAIL_DOCUMENTS=12),
        mock.patch.multiple(
            _merge, _SMALLEST=60, _TOGETHER=3, _GROWTH=3, LARGEST=100, _DEAD_ROWS=30
        ),
        Index.create(path, vectors=VECTORS, language=None) as index,
    ):
        for start in range(0, 84, 12):
            index.add(RECORDS[start : start + 12])
        index.delete(["d2", "d18", "d61"])
        index.add(RECORDS[84:])
        yield index
