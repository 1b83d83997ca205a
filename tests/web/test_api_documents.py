"""Documents over HTTP: reading by everyone, writing with the token, consistent snapshots."""

import pytest

from textkin import Index
from textkin.exceptions import DamagedIndexError
from textkin.index import IndexReader
from web.served import RECORDS, TOKEN, client_of, error_of


def test_stats_list_rankings_and_limits(client, index):
    stats = client.get("/api/stats").json()
    assert stats["documents"] == len(RECORDS)
    assert stats["words"] == index.info().words
    assert {one["name"] for one in stats["rankings"]} >= {"bm25", "wmd", "hybrid", "lsi"}
    assert "hybrid" not in {one["name"] for one in stats["measures"]}
    assert [one["name"] for one in stats["representations"]] == ["tfidf", "vectors", "lsi"]
    assert {"label": "pets", "count": 3} in stats["labels"]
    years = next(field for field in stats["fields"] if field["name"] == "year")
    assert years["count"] == 7
    assert (years["type"], years["low"], years["high"]) == ("number", 2010, 2016)
    tags = next(field for field in stats["fields"] if field["name"] == "tags")
    assert {value["value"] for value in tags["values"]} == {"home", "red"}
    assert (tags["type"], tags["low"], tags["high"]) == (None, None, None)
    assert stats["examples"][0] == "Cats purr and sleep on the mat"
    assert stats["limits"]["k"] == 200
    assert stats["writable"] is True
    assert TOKEN not in str(stats)
    assert str(index.path.parent) not in str(stats)


@pytest.mark.parametrize(
    ("records", "queries"),
    [
        ([], []),
        ([{"text": ""}, {"text": "one"}, {"text": "the of and"}], []),
        ([{"text": "Two words"}] * 3, ["Two words"]),
        ([{"text": "A text of it", "title": "The title wins"}], ["The title wins"]),
        ([{"text": "Words win here.", "title": "the"}], ["Words win here"]),
        ([{"text": "Words win here.", "title": 7}], ["Words win here"]),
        ([{"text": '  "Say" +that: -never\nmore words'}], ["Say that never"]),
        ([{"text": "First sentence here! Another one."}], ["First sentence here!"]),
        ([{"text": "apple banana " * 15}], ["apple banana " * 4 + "apple"]),
        ([{"text": "distinct " * 5 + "words of the best kind"}], ["distinct " * 5 + "words"]),
        ([{"text": "漢字" * 100}], ["漢字" * 14 + "漢"]),
    ],
)
def test_example_queries_are_titles_or_first_sentences(tmp_path, records, queries):
    with Index.create(tmp_path / "i.kin") as index:
        index.add(records)
        with client_of(index) as client:
            assert client.get("/api/stats").json()["examples"] == queries


def test_corrupt_document_leaves_the_other_facts(index, monkeypatch):
    def damaged(reader, rows=None):
        raise DamagedIndexError("a document is corrupt", ["a document"])

    monkeypatch.setattr(IndexReader, "documents", damaged)
    with client_of(index) as client:
        stats = client.get("/api/stats").json()
    assert stats["examples"] == []
    assert stats["documents"] == len(RECORDS)


def test_example_queries_can_be_given(index):
    with client_of(index, examples=("Who sings?",)) as client:
        assert client.get("/api/stats").json()["examples"] == ["Who sings?"]


def test_documents_are_listed_in_order(client):
    page = client.get("/api/documents", params={"offset": 1, "limit": 2}).json()
    assert [one["id"] for one in page["documents"]] == ["dogs", "birds"]
    assert page["total"] == len(RECORDS)
    some = client.get("/api/documents", params={"where": "label = money"}).json()
    assert [one["id"] for one in some["documents"]] == ["stocks", "shares"]
    assert some["total"] == 2
    none = client.get("/api/documents", params={"where": "absent = 1"}).json()
    assert none["total"] == 0
    assert "absent" in none["notes"][0]


def test_document_is_returned_whole(client):
    shown = client.get("/api/document", params={"id": "cats"}).json()
    assert shown["text"] == RECORDS[0]["text"]
    assert shown["metadata"] == {"year": 2010}
    assert shown["words"] == 7
    assert error_of(client.get("/api/document", params={"id": "x"}), 404)["code"] == "not_found"


def test_added_document_is_found_and_state_changes(client, writer):
    before = client.get("/api/stats").json()["state"]
    new = {"id": "zebra", "text": "A zebra runs", "label": "wild", "metadata": {"year": 2020}}
    added = client.post("/api/documents", json={"documents": [new]}, headers=writer).json()
    assert added["added"] == 1
    assert added["ids"] == ["zebra"]
    assert added["state"] != before
    found = client.post("/api/search", json={"query": "zebra"}).json()
    assert [hit["id"] for hit in found["hits"]] == ["zebra"]
    assert found["state"] == added["state"]

    put = client.put(
        "/api/document", params={"id": "zebra"}, json={"text": "A horse runs"}, headers=writer
    ).json()
    assert (put["updated"], put["added"]) == (1, 0)
    assert client.post("/api/search", json={"query": "zebra"}).json()["hits"] == []
    assert client.get("/api/document", params={"id": "zebra"}).json()["label"] is None

    gone = client.delete("/api/document", params={"id": "zebra"}, headers=writer).json()
    assert gone["deleted"] == 1
    again = client.delete("/api/document", params={"id": "zebra"}, headers=writer)
    assert error_of(again, 404)["field"] == "id"


def test_documents_without_id_get_unused_numbers(client, writer):
    body = {"documents": [{"text": "one"}, {"text": "two"}, {"id": "9", "text": "three"}]}
    ids = client.post("/api/documents", json=body, headers=writer).json()["ids"]
    assert len(set(ids)) == 3
    more = client.post("/api/documents", json=body["documents"][0], headers=writer)
    assert more.status_code == 422
    second = client.post("/api/documents", json={"documents": [{"text": "four"}]}, headers=writer)
    assert second.json()["ids"][0] not in ids


def test_existing_id_is_a_conflict_and_adds_nothing(client, writer):
    body = {"documents": [{"id": "new", "text": "x"}, {"id": "cats", "text": "y"}]}
    error = error_of(client.post("/api/documents", json=body, headers=writer), 409)
    assert "PUT" in error["message"]
    assert client.get("/api/document", params={"id": "new"}).status_code == 404
    twice = {"documents": [{"id": "new", "text": "x"}, {"id": "new", "text": "y"}]}
    error_of(client.post("/api/documents", json=twice, headers=writer), 422)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": b"Bearer \xe9\xff"},
    ],
)
def test_write_without_token_is_unauthorized(client, headers):
    for method, path, body in (
        ("POST", "/api/documents", {"documents": [{"text": "x"}]}),
        ("PUT", "/api/document?id=cats", {"text": "x"}),
        ("DELETE", "/api/document?id=cats", None),
    ):
        answer = client.request(method, path, json=body, headers=headers)
        assert error_of(answer, 401)["code"] == "unauthorized"
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in answer.text
    assert client.get("/api/document", params={"id": "cats"}).status_code == 200


def test_server_without_token_is_read_only(index, writer):
    with client_of(index, token=None) as client:
        assert client.get("/api/stats").json()["writable"] is False
        answer = client.delete("/api/document", params={"id": "cats"}, headers=writer)
        assert error_of(answer, 403)["code"] == "read_only"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"documents": []}, 422),
        ({"documents": [{"text": "x"}] * 1001}, 413),
        ({"documents": [{"text": "x" * 200_001}]}, 413),
        ({"documents": [{"id": "", "text": "x"}]}, 422),
        ({"documents": [{"text": "x", "label": ["a"]}]}, 422),
        ({"documents": [{"text": "x", "metadata": [1]}]}, 422),
        ({"documents": [{"text": 5}]}, 422),
        ({"documents": [{"text": "x", "year": 5}]}, 422),
    ],
)
def test_invalid_documents_are_errors(client, writer, body, status):
    before = client.get("/api/stats").json()["state"]
    error_of(client.post("/api/documents", json=body, headers=writer), status)
    assert client.get("/api/stats").json()["state"] == before


def test_writes_of_another_process_are_visible(client, index):
    """A second `Index` of the folder acts like another process."""
    with Index.open(index.path) as other:
        other.add([{"id": "elsewhere", "text": "written elsewhere"}])
        other.delete("cats")
    found = client.post("/api/search", json={"query": "elsewhere"}).json()
    assert [hit["id"] for hit in found["hits"]] == ["elsewhere"]
    assert client.get("/api/document", params={"id": "cats"}).status_code == 404
    assert client.get("/api/stats").json()["documents"] == len(RECORDS)


def test_hostile_texts_are_returned_unchanged(client, writer):
    text = "<script>alert(1)</script> \u202eright to left\u202c 😀 \x00 \u2028" + "long " * 20_000
    body = {"documents": [{"id": "<b>&\u202e", "text": text, "label": "</script>"}]}
    assert client.post("/api/documents", json=body, headers=writer).status_code == 200
    shown = client.get("/api/document", params={"id": "<b>&\u202e"}).json()
    assert shown["text"] == text
    assert shown["label"] == "</script>"
    [hit] = client.post("/api/search", json={"query": "alert"}).json()["hits"]
    assert hit["id"] == "<b>&\u202e"
    snippet = "".join(piece["text"] for piece in hit["snippet"])
    assert "\x00" not in snippet
    assert "\u202e" not in snippet
