"""Hostile requests: bodies with many errors, huge filters, and exceeded limits."""

import json
import time
import tracemalloc

import pytest

from textkin.cli import main
from textkin.index import WeightedSum
from textkin.index.search import _request
from textkin.web._limits import Limits
from web.served import client_of, error_of

MANY = 100_000
FULL_OF_FAULTS = [
    (
        "/api/search",
        '{"query": "cats", "rounds": [{"relevant": [%s]}]}',
        "1",
        "rounds.0.relevant.0",
    ),
    ("/api/search", '{"query": "cats", "rounds": [%s]}', "0", "rounds.0"),
    ("/api/documents", '{"documents": [%s]}', "{}", "documents.0.text"),
]


def _post(client, address, body, headers=None):
    return client.post(
        address, content=body, headers={"Content-Type": "application/json", **(headers or {})}
    )


@pytest.mark.parametrize(("address", "form", "fault", "field"), FULL_OF_FAULTS)
def test_body_reports_its_first_error(client, writer, address, form, fault, field):
    body = form % ",".join([fault] * MANY)
    error = error_of(_post(client, address, body, writer), 422)
    assert error["field"] == field
    assert "more" not in error["message"]  # a list of all errors would take a gigabyte


def test_body_reports_its_first_unknown_field(client):
    body = json.dumps({"query": "cats"} | {f"x{number}": 0 for number in range(MANY)})
    tracemalloc.start()
    error = error_of(_post(client, "/api/search", body), 422)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error["field"] == "x0"
    assert "more" not in error["message"]
    assert most < 20 * len(body)


@pytest.mark.parametrize(
    "where",
    [
        {f"field{number}": 1 for number in range(50_000)},
        {"year": {"in": list(range(100_000))}},
        {"or": [{"year": number} for number in range(50_000)]},
        "year in (" + ", ".join(map(str, range(10_000))) + ")",
    ],
)
def test_huge_filters_are_errors(client, where):
    begun = time.process_time()  # of the server, too, which is in this process
    error = error_of(client.post("/api/search", json={"query": "cats", "where": where}), 413)
    assert error["code"] == "too_large"
    assert error["field"] == "where"
    assert "20,000" in error["message"]
    error_of(client.post("/api/feedback", json={"query": "cats", "where": where}), 413)
    asked = {"query": "cats", "document": "cats", "where": where}
    error_of(client.post("/api/explain", json=asked), 413)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("address", "sent", "field"),
    [
        (
            "search",
            {"query": "cats", "rounds": [{"relevant": ["x"] * 10_001}]},
            "rounds.0.relevant",
        ),
        ("feedback", {"query": "cats", "rounds": [{}] * 10_001}, "rounds"),
        ("documents", {"documents": [{"text": ""}] * 10_001}, "documents"),
    ],
)
def test_huge_lists_are_not_read_completely(client, writer, address, sent, field):
    error = error_of(client.post(f"/api/{address}", json=sent, headers=writer), 413)
    assert (error["code"], error["field"]) == ("too_large", field)
    assert f"{field} must have at most 10,000 entries" in error["message"]


def test_filter_with_many_fields_is_an_error(client):
    where = " and ".join(f"f{number} = 1" for number in range(51))
    for answer in (
        client.post("/api/search", json={"query": "cats", "where": where}),
        client.get("/api/documents", params={"where": where}),
    ):
        error = error_of(answer, 413)
        assert "50 fields; got 51" in error["message"]
    fewer = where.rpartition(" and ")[0]
    answer = client.post("/api/search", json={"query": "cats", "where": fewer})
    assert answer.status_code == 200


def test_texts_with_too_many_pairs_are_an_error(client, monkeypatch):
    monkeypatch.setattr("textkin.web._explain._MOST_PAIRS", 4)
    asked = {"query": "cats purr and sleep", "document": "cats"}
    for ranking in ("wmd", "rwmd"):
        error = error_of(client.post("/api/explain", json={**asked, "ranking": ranking}), 413)
        assert error["code"] == "too_large"
        assert "such as wcd" in error["message"]
    long = {"a": "cats purr and sleep", "b": "dogs bark"}
    error = error_of(client.post("/api/compare", json=long), 413)
    assert "a has 3 words and b 2, so 6 pairs" in error["message"]
    for address, sent in (("explain", asked), ("compare", long)):
        assert client.post(f"/api/{address}", json={**sent, "ranking": "wcd"}).status_code == 200
    assert client.post("/api/compare", json={"a": "cats", "b": "dogs bark"}).status_code == 200


def test_pairs_of_a_hybrid_with_a_transport_part_are_limited(client, monkeypatch):
    monkeypatch.setattr("textkin.web._explain._MOST_PAIRS", 4)
    asked = {"query": "cats purr and sleep", "document": "cats", "ranking": "hybrid"}
    assert client.post("/api/explain", json=asked).status_code == 200  # its parts compare no words
    monkeypatch.setitem(_request._made, "hybrid", WeightedSum({"bm25": 1.0, "wmd": 1.0}))
    error = error_of(client.post("/api/explain", json=asked), 413)
    assert error["code"] == "too_large"
    assert "query has 3 words" in error["message"]
    fewer = {**asked, "query": "purr"}
    assert client.post("/api/explain", json=fewer).status_code == 200


def test_explanations_have_the_limits_of_searches(index):
    asked = {"query": "cats", "document": "dogs"}
    mark = {"relevant": ["cats", "dogs", "mat"]}
    with client_of(index, limits=Limits(rounds=2, marks=2, k=3)) as client:
        for rounds in ([mark], [{}] * 3):
            for address in ("/api/search", "/api/feedback", "/api/explain"):
                sent = {"query": "cats", "rounds": rounds}
                sent |= asked if address == "/api/explain" else {"k": 1}
                assert error_of(client.post(address, json=sent), 413)["field"] == "rounds"
        for address, sent in (
            ("/api/explain", asked),
            ("/api/feedback", {"query": "cats", "k": 1}),
        ):
            error = error_of(client.post(address, json={**sent, "pseudo": 4}), 422)
            assert error["field"] == "pseudo"
            assert client.post(address, json={**sent, "pseudo": 3}).status_code == 200


@pytest.mark.parametrize(
    ("address", "sent", "field"),
    [
        ("/api/search", {"query": "cats \ud800"}, "query"),
        ("/api/feedback", {"query": "\ud800"}, "query"),
        ("/api/explain", {"query": "\ud800 cats", "document": "cats"}, "query"),
        ("/api/classify", {"text": "\ud800 cats"}, "text"),
        ("/api/documents", {"documents": [{"text": "\ud800 cats"}]}, "documents.0.text"),
    ],
)
def test_lone_surrogate_is_an_error(client, writer, address, sent, field):
    error = error_of(_post(client, address, json.dumps(sent), writer), 422)
    assert error["field"] == field
    assert "must be valid Unicode" in error["message"]


def test_lone_surrogate_in_names(client, writer):
    for where in ({"year": {"\ud800": 1}}, {"\ud800": 1}, {"year": "\ud800"}):
        body = json.dumps({"query": "cats", "where": where})
        message = error_of(_post(client, "/api/search", body), 422)["message"]
        assert "codec" not in message
    body = json.dumps({"documents": [{"text": "cats", "metadata": {"\ud800": 1}}]})
    error_of(_post(client, "/api/documents", body, writer), 422)


def test_huge_numbers_are_not_repeated(client):
    body = '{"query": "cats", "k": %s}' % ("9" * 4000)
    error = error_of(_post(client, "/api/search", body), 422)
    assert error["field"] == "k"
    assert len(error["message"]) < 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_other_content_type_names_json(client, kind):
    answer = client.post("/api/search", content='{"query": "cats"}', headers={"Content-Type": kind})
    assert "Content-Type: application/json" in error_of(answer, 400)["message"]


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"query": "\xe9"}', b'{"k": %s}' % (b"9" * 5000)]
)
def test_unreadable_body_is_an_error(client, body):
    error = error_of(_post(client, "/api/search", body), 400)
    assert error["code"] == "bad_request"
    assert "JSON in UTF-8" in error["message"]


@pytest.mark.parametrize("field", ["not", "and", "or"])
def test_field_with_the_name_of_a_keyword(client, writer, field):
    sent = {"documents": [{"id": "new", "text": "Cats purr", "metadata": {field: "yes"}}]}
    assert client.post("/api/documents", json=sent, headers=writer).status_code == 200
    asked = {"text": "cats purr", "ranking": "bm25", "field": field}
    assert client.post("/api/classify", json=asked).json()["label"] == "yes"


@pytest.mark.parametrize("host", ["LOCALHOST", "127.0.0.2", "127.1"])
def test_other_spellings_of_this_computer_are_checked_too(index, host, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        "textkin.web.serve",
        lambda _index, settings, _made, **_options: bool(asked.append(settings)) or True,
    )
    assert main(["serve", str(index.path), "--port", "0", "--host", host]) == 0
    [settings] = asked
    assert settings.hosts == ("localhost", "127.0.0.1", "::1", host.lower())
    assert "everyone who can reach" not in capsys.readouterr().err
