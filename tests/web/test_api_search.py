"""Searches over HTTP find what the index finds."""

import pytest

from textkin import Index
from textkin.index.ranking._choosing import NAMES
from web.served import client_of, error_of


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("by", [*NAMES, "lsi"])
def test_a_search_finds_what_the_index_finds(client, index, by):
    found = post(client, "search", query="cats on the mat", by=by, k=5)
    hits = index.search("cats on the mat", 5, by=by)
    assert [hit["id"] for hit in found["hits"]] == hits.ids
    assert [hit["score"] for hit in found["hits"]] == hits.scores.tolist()
    assert [hit["rank"] for hit in found["hits"]] == [*range(1, len(hits) + 1)]
    assert found["ascending"] == hits.ascending
    assert found["query"]["words"] == (None if by == "lsi" else dict(hits.query.words))


def test_snippets_are_pieces_with_the_words_marked(client):
    first = post(client, "search", query="cats", k=1)["hits"][0]
    text = {"cats": "Cats purr and sleep on the mat", "dogs": "Dogs bark at cats"}[first["id"]]
    assert "".join(piece["text"] for piece in first["snippet"]) == text
    assert [piece["text"].lower() for piece in first["snippet"] if piece["match"]] == ["cats"]
    assert first["length"] == len(text.split())


def test_pages_follow_each_other_and_the_last_one_says_so(client, index):
    every = index.search("the cats in the morning", 100).ids
    seen, offset = [], 0
    while True:
        page = post(client, "search", query="the cats in the morning", k=2, offset=offset)
        seen += [hit["id"] for hit in page["hits"]]
        assert page["offset"] == offset
        if not page["more"]:
            break
        offset += 2
    assert seen == every
    assert len(every) > 4


@pytest.mark.parametrize("where", ["year >= 2012", {"year": {">=": 2012}}])
def test_filters_and_thresholds_hold(client, where):
    found = post(client, "search", query="the cats in the morning", where=where)
    assert found["hits"]
    assert all(hit["metadata"]["year"] >= 2012 for hit in found["hits"])
    best = found["hits"][0]["score"]
    above = post(client, "search", query="the cats in the morning", where=where, threshold=best)
    assert [hit["score"] for hit in above["hits"]] == [best]


def test_what_is_unknown_is_told(client):
    found = post(client, "search", query="xyzzy", where="nobody = 1")
    assert found["hits"] == []
    assert any("'xyzzy'" in note for note in found["notes"])
    assert any("'nobody'" in note for note in found["notes"])


def test_similar_leaves_the_document_out(client, index):
    found = post(client, "similar", id="cats", by="wmd")
    assert [hit["id"] for hit in found["hits"]] == index.similar("cats", by="wmd").ids
    assert found["query"] == {
        "text": None,
        "id": "cats",
        "words": dict(index.similar("cats", by="wmd").query.words),
        "rounds": 0,
    }


def test_ids_may_hold_any_character(client):
    id = "a/b?c#d é"
    assert client.get("/api/document", params={"id": id}).json()["id"] == id
    assert post(client, "similar", id=id, by="rwmd")["query"]["id"] == id


@pytest.mark.parametrize("by", ["bm25", "tfidf", "wmd", "lsi", "hybrid"])
def test_feedback_moves_the_query_as_the_library_does(client, index, by):
    rounds = [{"relevant": ["dogs"], "nonrelevant": ["mat"]}, {"relevant": ["birds"]}]
    found = post(client, "feedback", query="cats on the mat", by=by, k=4, rounds=rounds)
    first = index.search("cats on the mat", 4, by=by)
    moved = first.feedback(["dogs"], ["mat"]).feedback(["birds"])
    assert [hit["id"] for hit in found["hits"]] == moved.ids
    assert [hit["score"] for hit in found["hits"]] == moved.scores.tolist()
    assert [hit["id"] for hit in found["before"]["hits"]] == first.ids
    ranks = {id: rank for rank, id in enumerate(first.ids, 1)}
    assert [hit["was"] for hit in found["hits"]] == [ranks.get(id) for id in moved.ids]
    assert found["query"]["rounds"] == 2
    # A search with the same rounds finds the same, so that a link may hold them.
    again = post(client, "search", query="cats on the mat", by=by, k=4, rounds=rounds)
    assert [hit["id"] for hit in again["hits"]] == moved.ids


def test_pseudo_feedback_takes_the_best(client, index):
    found = post(client, "feedback", query="cats", pseudo=2)
    assert [hit["id"] for hit in found["hits"]] == index.search("cats").pseudo_feedback(2).ids
    assert found["query"]["words"] != found["before"]["words"]


def test_votes_of_the_nearest_that_have_a_label(client):
    found = post(client, "classify", text="Investors sold stocks", by="bm25", k=3)
    assert found["label"] == "money"
    assert sum(share["share"] for share in found["shares"]) == pytest.approx(1)
    assert all(neighbour["label"] for neighbour in found["neighbors"])
    by_year = post(client, "classify", text="Investors", by="bm25", k=1, field="year")
    assert by_year["label"] == 2015


def test_labels_that_are_equal_numbers_are_labels_of_their_own(client, writer):
    for id, label in (("t", True), ("one", 1), ("half", 1.0), ("two", 1)):
        body = {"text": "voting words", "label": label}
        client.put("/api/document", params={"id": id}, json=body, headers=writer)
    shares = post(client, "classify", text="voting words", by="bm25", k=4)["shares"]
    told = {(type(one["label"]), one["label"]): one["share"] for one in shares}
    assert told == {(bool, True): 0.25, (int, 1): 0.5, (float, 1.0): 0.25}


def test_nobody_to_vote_is_told(client):
    found = post(client, "classify", text="xyzzy", by="bm25")
    assert found["label"] is None
    assert found["notes"]
    nobody = post(client, "classify", text="cats", field="nobody", by="bm25")
    assert nobody["neighbors"] == []
    assert any("nobody" in note for note in nobody["notes"])


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("search", {"query": "x", "k": 201}, 422, "k"),
        ("search", {"query": "x", "k": 0}, 422, "k"),
        ("search", {"query": "x", "k": "5"}, 422, "k"),
        ("search", {"query": "x", "offset": 10_001}, 422, "offset"),
        ("search", {"query": "x", "by": "nothing"}, 422, "by"),
        ("search", {"query": "x", "where": "year >"}, 422, "where"),
        ("search", {"query": "x" * 20_001}, 413, "query"),
        ("search", {"query": "x", "kk": 5}, 422, "kk"),
        ("search", {}, 422, "query"),
        ("search", {"query": "x", "rounds": [{"relevant": ["nobody"]}]}, 404, "rounds"),
        (
            "search",
            {"query": "x", "rounds": [{"relevant": ["cats"], "nonrelevant": ["cats"]}]},
            422,
            "rounds",
        ),
        ("search", {"query": "x", "rounds": [{}] * 21}, 413, "rounds"),
        ("similar", {"id": "nobody"}, 404, "id"),
        ("feedback", {"query": "x", "id": "cats"}, 422, None),
        ("feedback", {}, 422, None),
        ("classify", {"text": "x", "k": 1000}, 422, "k"),
        ("classify", {"text": "x", "id": "cats"}, 422, None),
    ],
)
def test_wrong_requests_say_what_is_wrong(client, path, body, status, field):
    error = error_of(client.post(f"/api/{path}", json=body), status)
    assert error["field"] == field
    assert error["message"].endswith((".", ")"))


def test_a_limit_says_its_number_and_the_way_out(client):
    error = error_of(client.post("/api/search", json={"query": "x", "k": 500}), 422)
    assert "200" in error["message"]
    assert "offset" in error["message"]


def test_half_a_surrogate_and_nan_are_no_internal_errors(client):
    headers = {"Content-Type": "application/json"}
    for body in (
        b'{"query": "\\ud800"}',
        b'{"query": "x", "threshold": NaN}',
        b'{"query": "x", "threshold": 1e999}',
        b"[" * 100_000,
        b'{"query": "x", "where": ' + b'{"not": ' * 3000 + b"{}" + b"}" * 3001,
        b"\xff\xfe",
        b"",
    ):
        answer = client.post("/api/search", content=body, headers=headers)
        assert answer.status_code in (400, 422), (body[:40], answer.text)
        assert answer.json()["error"]["message"]


def test_an_empty_index_answers(tmp_path):
    with Index.create(tmp_path / "e.kin") as index, client_of(index) as client:
        assert post(client, "search", query="cats")["notes"] == ["The index is empty."]
        assert post(client, "search", query="cats", by="wmd")["hits"] == []
        assert client.get("/api/documents").json()["total"] == 0
        assert client.get("/api/stats").json()["documents"] == 0
        error_of(client.post("/api/compare", json={"a": "cat", "b": "dog"}), 422)
