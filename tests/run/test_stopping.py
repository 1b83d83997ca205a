"""Work that another thread wants to end."""

import threading

import pytest

from textkin import Index
from textkin.run import stop_check, stoppable


class Enough(Exception):
    pass


def enough(_done, _total):
    raise Enough


def test_the_innermost_check_counts_and_goes_with_its_block():
    assert stop_check() is None
    with stoppable(print):
        with stoppable(enough):
            assert stop_check() is enough
        assert stop_check() is print
    assert stop_check() is None


def test_a_check_is_of_its_thread():
    seen = []
    with stoppable(enough):
        thread = threading.Thread(target=lambda: seen.append(stop_check()))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize("by", ["wmd", "rwmd", "wcd", "hybrid"])
def test_a_search_by_transport_is_ended_and_the_next_one_is_whole(tmp_path, by):
    with Index.create(tmp_path / "p.kin") as index:
        index.add([{"id": "a", "text": "cats purr"}, {"id": "b", "text": "dogs bark"}])
        before = index.search("cats", by=by).ids
        with stoppable(enough), pytest.raises(Enough):
            index.search("cats", by=by)
        assert index.search("cats", by=by).ids == before
