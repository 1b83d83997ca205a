"""Searches over HTTP return the same hits as the index."""

import pytest

from textkin import Index
from textkin.index.search._request import NAMES
from web.served import client_of, error_of


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("ranking", [*NAMES, "lsi"])
def test_search_matches_the_index(client, index, ranking):
    found = post(client, "search", query="cats on the mat", ranking=ranking, k=5)
    hits = index.search("cats on the mat", 5, ranking=ranking)
    assert [hit["id"] for hit in found["hits"]] == hits.ids
    assert [hit["score"] for hit in found["hits"]] == hits.scores.tolist()
    assert [hit["rank"] for hit in found["hits"]] == [*range(1, len(hits) + 1)]
    assert found["ascending"] == hits.ascending
    assert found["query"]["words"] == (None if ranking == "lsi" else dict(hits.query.words))


def test_snippets_mark_query_words(client):
    first = post(client, "search", query="cats", k=1)["hits"][0]
    text = {"cats": "Cats purr and sleep on the mat", "dogs": "Dogs bark at cats"}[first["id"]]
    assert "".join(piece["text"] for piece in first["snippet"]) == text
    assert [piece["text"].lower() for piece in first["snippet"] if piece["match"]] == ["cats"]
    assert first["length"] == len(text.split())


def test_pages_are_consecutive_and_the_last_has_no_more(client, index):
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
def test_filters_and_thresholds(client, where):
    found = post(client, "search", query="the cats in the morning", where=where)
    assert found["hits"]
    assert all(hit["metadata"]["year"] >= 2012 for hit in found["hits"])
    best = found["hits"][0]["score"]
    above = post(client, "search", query="the cats in the morning", where=where, threshold=best)
    assert [hit["score"] for hit in above["hits"]] == [best]


def test_operators_restrict_searches_feedback_and_explanations(client):
    query = 'cats -"cats purr" year:>=2000'
    found = post(client, "search", query=query)
    assert found["hits"]
    assert "cats" not in [hit["id"] for hit in found["hits"]]
    assert found["query"]["text"] == query
    assert found["query"]["excluded"] == ["cats purr"]
    assert found["query"]["where"] == 'year >= 2000 or year >= "2000"'
    assert found["stats"]["verified"] == 1
    refined = post(client, "feedback", query=query, rounds=[{"relevant": ["cats"]}])
    assert "cats" not in [hit["id"] for hit in refined["hits"]]
    plain = post(client, "search", query=query, syntax="plain")
    assert "cats" in [hit["id"] for hit in plain["hits"]]
    first = found["hits"][0]
    why = post(client, "explain", query=query, document=first["id"], ranking="hybrid")
    hybrid = post(client, "search", query=query, ranking="hybrid")["hits"]
    assert why["score"] == next(hit["score"] for hit in hybrid if hit["id"] == first["id"])
    assert error_of(client.post("/api/search", json={"query": "a", "syntax": "x"}), 422)


def test_unknown_words_and_fields_are_reported(client):
    found = post(client, "search", query="xyzzy", where="absent = 1")
    assert found["hits"] == []
    assert any("'xyzzy'" in note for note in found["notes"])
    assert any("'absent'" in note for note in found["notes"])


def test_similar_excludes_the_document(client, index):
    found = post(client, "similar", id="cats", ranking="wmd")
    assert [hit["id"] for hit in found["hits"]] == index.similar("cats", ranking="wmd").ids
    assert found["query"] == {
        "text": None,
        "id": "cats",
        "words": dict(index.similar("cats", ranking="wmd").query.words),
        "rounds": 0,
        "required": [],
        "excluded": [],
        "where": None,
    }


def test_ids_with_any_characters(client):
    id = "a/b?c#d é"
    assert client.get("/api/document", params={"id": id}).json()["id"] == id
    assert post(client, "similar", id=id, ranking="rwmd")["query"]["id"] == id


@pytest.mark.parametrize("ranking", ["bm25", "tfidf", "wmd", "lsi", "hybrid"])
def test_feedback_matches_the_library(client, index, ranking):
    rounds = [{"relevant": ["dogs"], "nonrelevant": ["mat"]}, {"relevant": ["birds"]}]
    found = post(client, "feedback", query="cats on the mat", ranking=ranking, k=4, rounds=rounds)
    first = index.search("cats on the mat", 4, ranking=ranking)
    moved = first.feedback(["dogs"], ["mat"]).feedback(["birds"])
    assert [hit["id"] for hit in found["hits"]] == moved.ids
    assert [hit["score"] for hit in found["hits"]] == moved.scores.tolist()
    assert [hit["id"] for hit in found["before"]["hits"]] == first.ids
    ranks = {id: rank for rank, id in enumerate(first.ids, 1)}
    assert [hit["was"] for hit in found["hits"]] == [ranks.get(id) for id in moved.ids]
    assert found["query"]["rounds"] == 2
    # A search with the same rounds returns the same hits, so that a link can contain them.
    again = post(client, "search", query="cats on the mat", ranking=ranking, k=4, rounds=rounds)
    assert [hit["id"] for hit in again["hits"]] == moved.ids


def test_pseudo_feedback(client, index):
    found = post(client, "feedback", query="cats", pseudo=2)
    assert [hit["id"] for hit in found["hits"]] == index.search("cats").pseudo_feedback(2).ids
    assert found["query"]["words"] != found["before"]["words"]


def test_votes_of_the_nearest_labeled_documents(client):
    found = post(client, "classify", text="Investors sold stocks", ranking="bm25", k=3)
    assert found["label"] == "money"
    assert sum(share["share"] for share in found["shares"]) == pytest.approx(1)
    assert all(neighbor["label"] for neighbor in found["neighbors"])
    by_year = post(client, "classify", text="Investors", ranking="bm25", k=1, field="year")
    assert by_year["label"] == 2015


def test_equal_numbers_of_different_types_are_separate_labels(client, writer):
    for id, label in (("t", True), ("one", 1), ("half", 1.0), ("two", 1)):
        body = {"text": "voting words", "label": label}
        client.put("/api/document", params={"id": id}, json=body, headers=writer)
    shares = post(client, "classify", text="voting words", ranking="bm25", k=4)["shares"]
    told = {(type(one["label"]), one["label"]): one["share"] for one in shares}
    assert told == {(bool, True): 0.25, (int, 1): 0.5, (float, 1.0): 0.25}


def test_no_voting_documents_prints_note(client):
    found = post(client, "classify", text="xyzzy", ranking="bm25")
    assert found["label"] is None
    assert found["notes"]
    nobody = post(client, "classify", text="cats", field="nobody", ranking="bm25")
    assert nobody["neighbors"] == []
    assert any("nobody" in note for note in nobody["notes"])


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("search", {"query": "x", "k": 201}, 422, "k"),
        ("search", {"query": "x", "k": 0}, 422, "k"),
        ("search", {"query": "x", "k": "5"}, 422, "k"),
        ("search", {"query": "x", "offset": 10_001}, 422, "offset"),
        ("search", {"query": "x", "ranking": "nothing"}, 422, "ranking"),
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
def test_invalid_requests_are_errors(client, path, body, status, field):
    error = error_of(client.post(f"/api/{path}", json=body), status)
    assert error["field"] == field
    assert error["message"].endswith((".", ")"))


def test_exceeded_limit_names_the_limit_and_a_fix(client):
    error = error_of(client.post("/api/search", json={"query": "x", "k": 500}), 422)
    assert "200" in error["message"]
    assert "offset" in error["message"]


def test_lone_surrogate_and_nan_are_not_internal_errors(client):
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


def test_empty_index(tmp_path):
    with Index.create(tmp_path / "e.kin", language=None) as index, client_of(index) as client:
        assert post(client, "search", query="cats")["notes"] == ["The index is empty."]
        assert post(client, "search", query="cats", ranking="wmd")["hits"] == []
        assert client.get("/api/documents").json()["total"] == 0
        assert client.get("/api/stats").json()["documents"] == 0
        error_of(client.post("/api/compare", json={"a": "cat", "b": "dog"}), 422)
