"""Server whose index is moved, deleted, corrupted, or written by other processes."""

import shutil

from textkin import Index
from web.served import RECORDS, client_of, error_of

ASKED = [
    ("GET", "/api/stats", None),
    ("GET", "/api/documents", None),
    ("GET", "/api/document?id=cats", None),
    ("GET", "/api/map", None),
    ("GET", "/api/topics", None),
    ("POST", "/api/search", {"query": "cats", "ranking": "wmd"}),
    ("POST", "/api/similar", {"id": "cats"}),
    ("POST", "/api/feedback", {"query": "cats"}),
    ("POST", "/api/explain", {"query": "cats", "document": "cats"}),
    ("POST", "/api/compare", {"a": "cats", "b": {"id": "dogs"}}),
    ("POST", "/api/classify", {"text": "cats"}),
    ("POST", "/api/documents", {"documents": [{"text": "new"}]}),
    ("PUT", "/api/document?id=mat", {"text": "new"}),
    ("DELETE", "/api/document?id=mat", None),
]


def answers(client, writer):
    for method, address, body in ASKED:
        yield client.request(method, address, json=body, headers=writer)


def test_moved_index_is_unavailable_until_it_returns(client, writer, index, tmp_path, caplog):
    index.path.rename(tmp_path / "elsewhere.kin")
    for answer in answers(client, writer):
        error = error_of(answer, 503)
        assert error["code"] == "unavailable"
        assert "Put it back, or restart the server" in error["message"]
        assert str(tmp_path) not in answer.text
    assert client.get("/api/health").status_code == 200
    (tmp_path / "elsewhere.kin").rename(index.path)
    for answer in answers(client, writer):
        assert answer.status_code in (200, 202), answer.text
    assert str(tmp_path) not in caplog.text


def test_replaced_index_is_unavailable(client, writer, index):
    shutil.rmtree(index.path)
    with Index.create(index.path, language=None) as other:
        other.add(RECORDS)
    for answer in answers(client, writer):
        assert error_of(answer, 503)["code"] == "unavailable"


def test_corruption_is_reported_without_path_or_traceback(client, writer, index, caplog):
    catalog = index.path / "catalogue.sqlite"
    catalog.write_bytes(b"\0" * catalog.stat().st_size)
    codes = set()
    for answer in answers(client, writer):
        if answer.status_code not in (200, 202):  # cached data may still be returned
            error = error_of(answer, 503)
            codes.add(error["code"])
            assert "textkin index verify" in error["message"]
            assert str(index.path) not in answer.text
    assert codes == {"unavailable"}
    assert "DamagedIndexError" in caplog.text
    assert str(index.path) not in caplog.text


def test_disk_error_is_reported_with_its_reason(client, writer, index, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", str(index.path))

    monkeypatch.setattr(type(index), "add", full)
    body = {"documents": [{"text": "new"}]}
    answer = client.post("/api/documents", json=body, headers=writer)
    error = error_of(answer, 503)
    assert error["code"] == "unavailable"
    assert "no space left on device" in error["message"]
    assert str(index.path) not in answer.text


def test_two_servers_write_to_one_index(index, writer):
    with (
        Index.open(index.path) as again,
        client_of(index) as one,
        client_of(again) as other,
    ):
        for number in range(3):
            for client, reader in ((one, other), (other, one)):
                body = {"documents": [{"text": f"twins {number}"}]}
                added = client.post("/api/documents", json=body, headers=writer)
                assert added.status_code == 200, added.text
                [id] = added.json()["ids"]
                assert reader.get("/api/document", params={"id": id}).status_code == 200
        told = [client.get("/api/stats").json()["documents"] for client in (one, other)]
    assert told == [len(RECORDS) + 6] * 2
