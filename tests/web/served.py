"""Server over an index without a network, and helpers for its responses."""

import time
from contextlib import contextmanager

from fastapi.testclient import TestClient

from textkin.web import Settings, create_app

TOKEN = "a-token-that-only-tests-have"
RECORDS = [
    {"id": "cats", "text": "Cats purr and sleep on the mat", "year": 2010, "label": "pets"},
    {"id": "dogs", "text": "Dogs bark at cats", "year": 2011, "label": "pets"},
    {"id": "birds", "text": "Birds sing in the morning", "year": 2012, "label": "pets"},
    {"id": "mat", "text": "The mat is red", "year": 2013, "tags": ["home", "red"]},
    {"id": "stocks", "text": "Stocks fell sharply in the morning", "year": 2014, "label": "money"},
    {"id": "shares", "text": "Investors sold their shares", "year": 2015, "label": "money"},
    {"id": "a/b?c#d é", "text": "An id with all that an address minds", "year": 2016},
    {"id": "empty", "text": ""},
]


@contextmanager
def client_of(index, **settings):
    """Yield a client of a server with the token of the tests."""
    app = create_app(index, settings=Settings(**{"token": TOKEN, **settings}))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=True) as client:
        yield client


def computed(client, address, seconds=300):
    """Repeat a request until the background computation is finished."""
    end = time.monotonic() + seconds
    while (answer := client.get(address)).status_code == 202:
        told = answer.json()
        assert told["status"] == "computing"
        assert 0 <= told["done"] <= told["total"]
        assert time.monotonic() < end, f"{address} takes longer than {seconds} s"
        time.sleep(0.02)
    return answer


def error_of(answer, status):
    """Return the error of a response, which must have this status."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    fields = {"code", "message", "field"}
    assert set(error) == (fields | {"unknown"} if error["code"] == "wordless" else fields)
    return error
