"""Session of an open index: objects derived from a snapshot, and their release."""

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from textkin import Index
from textkin.exceptions import IndexWarning
from textkin.index.store import ModelRecord, Session, Snapshot, ingest
from textkin.index.store._writer import Writer


class Made:
    """Dummy searcher."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Return the session of an index with a document."""
    with Index.create(tmp_path / "a.kin", language=None) as index:
        index.add([{"id": "a", "text": "cats purr"}])
    made = Session(tmp_path / "a.kin", timeout=0)
    yield made
    made.close()


def add(session: Session, *ids: str) -> None:
    ingest(session, [{"id": id, "text": "dogs bark"} for id in ids], replace=False)


def test_derived_object_is_created_once_per_snapshot(session: Session) -> None:
    first = session.derived(Made)
    assert session.derived(Made) is first
    assert first.snapshot is session.snapshot()
    session.refresh()
    second = session.derived(Made)
    assert second is not first
    assert second.snapshot is session.snapshot()


@pytest.mark.parametrize("leave", ["write", "refresh", "close"])
def test_snapshot_is_released_with_its_derived_objects(session: Session, leave: str) -> None:
    session.derived(Made)
    state = weakref.ref(session.snapshot())
    if leave == "write":
        add(session, "b")
    else:
        getattr(session, leave)()
    assert state() is None


def test_publish_shows_each_transaction_to_readers(session: Session) -> None:
    add(session, "b", "c")
    with session.writing() as writer:
        for id, left in (("a", ["b", "c"]), ("b", ["c"])):
            with writer.transaction():
                writer.delete([id])
            session.publish(writer)
            assert session.snapshot().ids() == left


def test_publish_warns_if_a_segment_cannot_be_written(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_writer: Writer) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "tidy", full)
        with pytest.warns(IndexWarning, match="the documents are stored.*tries again"):
            add(session, "b")
    assert session.snapshot().ids() == ["a", "b"]


def test_see_latest_finds_writes_of_others(session: Session) -> None:
    before = session.snapshot()
    session.see_latest()
    assert session.snapshot() is before
    with Index.open(session.path) as other:
        other.delete("a")
    assert session.snapshot() is before
    session.see_latest()
    assert len(session.snapshot()) == 0


def test_cache_outlives_a_write_until_its_model_is_dropped(session: Session) -> None:
    record = ModelRecord.damaged(1, "lsi")
    session.cache["kind", record] = session.cache["other", 3] = "arrays"
    add(session, "b")
    assert len(session.cache) == 2
    session.drop_model(record)
    assert list(session.cache) == [("other", 3)]


def test_closed_session_raises(session: Session) -> None:
    session.close()
    session.close()
    assert session.closed
    for call in (session.snapshot, session.refresh, session.see_latest):
        with pytest.raises(ValueError, match="is closed; open it again"):
            call()
    with pytest.raises(ValueError, match="is closed"), session.writing():
        pass
