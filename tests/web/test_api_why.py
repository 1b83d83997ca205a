"""Explanations over HTTP: parts that sum to the score, and drawings without styles."""

import xml.etree.ElementTree as ET

import pytest

from textkin import compare
from textkin.index.search._request import NAMES
from web.served import error_of


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def total(explanation):
    adds = "contribution" if explanation["kind"] == "flow" else "value"
    rest = explanation["rest"]["value"] if explanation["rest"] else 0.0
    return sum(part[adds] for part in explanation["parts"]) + rest


@pytest.mark.parametrize("limit", [1, 12])
@pytest.mark.parametrize("ranking", [*NAMES, "lsi"])
def test_parts_sum_to_the_score_of_the_hit(client, ranking, limit):
    hit = post(client, "search", query="cats on the red mat", ranking=ranking, k=2)["hits"][1]
    why = post(
        client,
        "explain",
        query="cats on the red mat",
        document=hit["id"],
        ranking=ranking,
        limit=limit,
    )
    assert why["score"] == pytest.approx(hit["score"], rel=1e-6)
    assert total(why) == pytest.approx(why["score"], rel=1e-6)
    assert why["verified"] is (True if ranking == "wmd" else None)


@pytest.mark.parametrize("ranking", ["bm25", "wmd", "lsi", "hybrid"])
def test_feedback_is_explained_like_its_search(client, ranking):
    rounds = [{"relevant": ["birds"], "nonrelevant": ["dogs"]}]
    found = post(client, "search", query="cats", ranking=ranking, rounds=rounds)
    hit = found["hits"][0]
    why = post(client, "explain", query="cats", ranking=ranking, rounds=rounds, document=hit["id"])
    assert why["score"] == pytest.approx(hit["score"], rel=1e-6)


def test_document_as_query_and_filters(client):
    found = post(client, "similar", id="cats", ranking="hybrid", where="year < 2013")
    hit = found["hits"][0]
    why = post(
        client, "explain", id="cats", ranking="hybrid", where="year < 2013", document=hit["id"]
    )
    assert why["score"] == pytest.approx(hit["score"], rel=1e-6)
    assert all(part["parts"] for part in why["parts"])  # for each ranking


def test_nested_parts_sum_up_with_their_rest(client):
    why = post(
        client, "explain", query="cats on the red mat", document="mat", ranking="hybrid", limit=1
    )
    by_name = {part["name"]: part for part in why["parts"]}
    for part in by_name.values():
        inner = sum(one["value"] for one in part["parts"]) + part["rest"]["value"]
        assert inner == pytest.approx(part["value"], rel=1e-6)
        assert all(one["rest"] is None for one in part["parts"])
    assert by_name


def test_drawings_have_no_style_and_no_script(client):
    hostile = "<script>alert(1)</script> \u202e kitten & cat"
    why = post(client, "compare", a=hostile, b="cats 'and' \"dogs\"")
    root = ET.fromstring(why["svg"])
    for node in root.iter():
        assert node.tag.rsplit("}")[-1] not in ("script", "style", "foreignObject")
        assert not any(name == "style" or name.startswith("on") for name in node.attrib)
    sheet = client.get("/explain.css")
    assert sheet.headers["content-type"].startswith("text/css")
    assert "textkin" in sheet.text


def test_compare_by_wmd_matches_the_library(client):
    texts = "Obama speaks to the media in Illinois", "The President greets the press in Chicago"
    why = post(client, "compare", a=texts[0], b=texts[1])
    there = compare(*texts)
    assert why["score"] == pytest.approx(there.distance, rel=1e-9)
    assert why["bounds"]["relaxed"] == pytest.approx(there.bounds.relaxed)
    assert why["coverage"]["source"]["share"] == 1
    assert [(part["source"], part["target"]) for part in why["parts"]] == [
        (move.source, move.target) for move in there.moves
    ]


@pytest.mark.parametrize("ranking", [*(name for name in NAMES if name != "hybrid"), "lsi"])
def test_text_compares_like_the_document_with_the_same_text(client, ranking):
    text = client.get("/api/document", params={"id": "dogs"}).json()["text"]
    free = post(client, "compare", a="cats and dogs", b=text, ranking=ranking)
    stored = post(client, "compare", a="cats and dogs", b={"id": "dogs"}, ranking=ranking)
    found = post(client, "search", query="cats and dogs", ranking=ranking)
    [score] = [hit["score"] for hit in found["hits"] if hit["id"] == "dogs"]
    assert free["score"] == pytest.approx(score, rel=1e-5)
    assert stored["score"] == pytest.approx(score, rel=1e-5)


@pytest.mark.parametrize("ranking", ["wmd", "rwmd"])
def test_aligned_pieces_join_to_the_texts(client, ranking):
    a, b = "The cats <b>sleep</b>, xyzzyx!", "A kitten naps on the mat"
    found = post(client, "compare", a=a, b=b, ranking=ranking)["aligned"]
    assert "".join(piece["text"] for piece in found["a"]) == a
    assert "".join(piece["text"] for piece in found["b"]) == b
    words = {piece["text"]: piece for piece in found["a"]}
    assert words["cats"]["level"] in range(7)
    assert words["xyzzyx"]["reason"] == "unknown"
    other = {piece["word"] for piece in found["b"] if piece["word"] is not None}
    assert {partner["word"] for partner in words["cats"]["partners"]} <= other


def test_hits_are_aligned_except_after_feedback_or_by_words(client):
    asked = {"query": "kitten on the mat", "document": "cats"}
    found = post(client, "explain", **asked, ranking="wmd")["aligned"]
    assert "".join(piece["text"] for piece in found["a"]) == "kitten on the mat"
    like = post(client, "explain", id="dogs", document="cats", ranking="wmd")["aligned"]
    assert "".join(piece["text"] for piece in like["a"]) == "Dogs bark at cats"
    rounds = [{"relevant": ["dogs"]}]
    assert post(client, "explain", **asked, ranking="wmd", rounds=rounds)["aligned"] is None
    assert post(client, "explain", **asked, ranking="wcd")["aligned"] is None
    assert post(client, "explain", **asked, ranking="bm25")["aligned"] is None


def test_long_texts_are_not_aligned(client, writer):
    body = {"text": "cats purr " * 5000}
    client.put("/api/document", params={"id": "long"}, json=body, headers=writer)
    why = post(client, "explain", query="kitten", document="long", ranking="wmd")
    assert why["aligned"] is None
    assert "20,000" in why["notes"][0]


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("compare", {"a": "cat", "b": {"id": "nobody"}}, 404, "b"),
        ("compare", {"a": "cat", "b": "dog", "ranking": "hybrid"}, 422, "ranking"),
        ("compare", {"a": "cat", "b": "d" * 20_001}, 413, "b"),
        ("compare", {"a": "cat", "b": "xyzzyx"}, 422, "b"),
        ("compare", {"a": "", "b": "dog"}, 422, "a"),
        ("explain", {"query": "cat", "document": "nobody"}, 404, "document"),
        ("explain", {"query": "cat", "document": "cats", "ranking": "x"}, 422, "ranking"),
        ("explain", {"document": "cats"}, 422, None),
    ],
)
def test_invalid_requests_are_errors(client, path, body, status, field):
    assert error_of(client.post(f"/api/{path}", json=body), status)["field"] == field


@pytest.mark.parametrize("ranking", ["wmd", "rwmd", "wcd"])
@pytest.mark.parametrize(
    ("a", "b", "field", "unknown"),
    [
        ("xyzzyx", "cats", "a", {"a": ["xyzzyx"]}),
        ("cats", "of the", "b", {"b": []}),
        ("", "xyzzyx plughy", None, {"a": [], "b": ["xyzzyx", "plughy"]}),
    ],
)
def test_texts_without_known_words_are_reported_with_their_words(
    client, ranking, a, b, field, unknown
):
    error = error_of(client.post("/api/compare", json={"a": a, "b": b, "ranking": ranking}), 422)
    assert (error["code"], error["field"], error["unknown"]) == ("wordless", field, unknown)
    asked = {"query": a, "document": "empty", "ranking": ranking}
    error = error_of(client.post("/api/explain", json=asked), 422)
    assert error["code"] == "wordless"
    assert "document" in error["unknown"]


def test_unknown_words_are_limited_and_shortened(client):
    words = [f"{'x' * 3000}{number}y" for number in "abcdef"]
    error = error_of(client.post("/api/compare", json={"a": " ".join(words), "b": "cat"}), 422)
    assert len(error["unknown"]["a"]) == 5
    assert max(map(len, error["unknown"]["a"])) == 40
    assert len(error["message"]) < 1000


def test_no_shared_words_gives_score_zero(client):
    why = post(client, "explain", query="xyzzy", document="cats")
    assert why["score"] == 0
    assert why["parts"] == []
