"""Texts stay alive and unchanged while the core reads them without the interpreter lock."""

import signal
import sys

import pytest

from textkin import _core


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
@pytest.mark.parametrize(("letters", "count"), [("some words", 150), ("manché wörds", 30)])
def test_read_texts_holds_each_text(letters, count):
    text = (letters + " ") * 40_000
    texts = [text] * count
    references = []

    def look(*_):
        if not references:
            references.append(sys.getrefcount(text))
            texts.clear()

    before = signal.signal(signal.SIGALRM, look)
    try:
        table = _core.WordTable()
        outside = sys.getrefcount(text)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        tokens = table.read_texts(texts, True, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not texts  # the list lost its texts while they were read
    assert len(tokens) == count
    if text.isascii():
        assert references[0] >= outside + count  # one for each view
    assert table.words(0) == letters.split()
