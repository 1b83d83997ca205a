"""Tests of stop checks, by which one thread ends the work of another."""

import threading

import pytest

from textkin import Hybrid, Index
from textkin.run import stop_check, stoppable


class StopRequest(Exception):
    pass


def raise_stop_request(_done, _total):
    raise StopRequest


def test_innermost_stop_check_applies_within_its_block():
    assert stop_check() is None
    with stoppable(print):
        with stoppable(raise_stop_request):
            assert stop_check() is raise_stop_request
        assert stop_check() is print
    assert stop_check() is None


def test_stop_check_applies_to_its_thread_only():
    seen = []
    with stoppable(raise_stop_request):
        thread = threading.Thread(target=lambda: seen.append(stop_check()))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize(
    "by", ["wmd", "rwmd", "wcd", Hybrid(["bm25", "wmd"])], ids=["wmd", "rwmd", "wcd", "hybrid"]
)
def test_stopped_transport_search_does_not_affect_the_next(tmp_path, by):
    with Index.create(tmp_path / "p.kin", language=None) as index:
        index.add([{"id": "a", "text": "cats purr"}, {"id": "b", "text": "dogs bark"}])
        before = index.search("cats", ranking=by).ids
        with stoppable(raise_stop_request), pytest.raises(StopRequest):
            index.search("cats", ranking=by)
        assert index.search("cats", ranking=by).ids == before
