"""Common behavior of all requests: headers, limits, timeouts, log, concurrency, and shutdown."""

import asyncio
import logging
import threading
import time

import pytest

from textkin import Index
from textkin.run import stop_check
from textkin.web import Settings, _routes
from textkin.web._errors import Problem
from textkin.web._limits import Limits
from textkin.web._worker_pool import WorkerPool
from web.served import RECORDS, TOKEN, client_of, error_of

PATHS = ["/api/health", "/api/stats", "/api/nothing", "/", "/docs", "/openapi.json", "/explain.css"]


@pytest.mark.parametrize("path", PATHS)
def test_all_responses_have_security_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")


def test_pages_name_no_other_host(client):
    for path in ("/docs", "/static/docs.js", "/static/docs.css", "/explain.css"):
        text = client.get(path).text.replace("http://www.w3.org/", "")
        assert "http://" not in text
        assert "https://" not in text


def test_installation_without_page(index, tmp_path, monkeypatch):
    monkeypatch.setattr("textkin.web._pages._PAGE", tmp_path)
    with client_of(index) as client:
        for path in ("/", "/map?representation=tfidf", "/compare"):
            answer = client.get(path)
            assert answer.status_code == 404
            assert "has no web page" in answer.text
        assert client.get("/api/health").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example:80", 400),
        ("", 400),
        ("localhost:", 400),
        ("localhost:99999", 400),
        ("localhost:8137:evil.com", 400),
        ("localhost@evil.com", 400),
        ("localhost/evil.com", 400),
        ("127.0.0.1:80@evil.com", 400),
        ("evil.com@127.0.0.1:80", 400),
        ("[::1]", 200),
        ("[::1", 400),
        ("::1", 400),
        ("[::1]8000", 400),
        ("[::1].evil.com", 400),
        ("[::1]:8000.evil.com", 400),
        ("[localhost]", 400),
        ("[127.0.0.1]", 400),
    ],
)
def test_unknown_host_names_are_errors(client, host, status):
    assert client.get("/api/health", headers={"Host": host}).status_code == status


def test_public_server_answers_to_any_name(index):
    with client_of(index, hosts=None) as client:
        assert client.get("/api/health", headers={"Host": "kin.example"}).status_code == 200


def test_unknown_paths_and_methods(client):
    assert error_of(client.get("/api/nothing"), 404)["code"] == "not_found"
    assert error_of(client.get("/static/../_app.py"), 404)["code"] == "not_found"
    assert error_of(client.get("/static/%2e%2e/_app.py"), 404)["code"] == "not_found"
    answer = client.get("/api/search")
    assert error_of(answer, 405)["code"] == "bad_request"
    assert answer.headers["allow"] == "POST"


def test_unknown_paths_in_a_browser_show_the_page(client):
    typed = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for address in ("/nothing", "/compare/nothing", "/static/nothing.js"):
        answer = client.get(address, headers=typed)
        assert answer.status_code == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.text == client.get("/").text
        assert error_of(client.get(address), 404)["code"] == "not_found"
        assert error_of(client.post(address, headers=typed), 405 if "static" in address else 404)
    assert error_of(client.get("/api/nothing", headers=typed), 404)["code"] == "not_found"


def test_large_request_is_an_error_with_or_without_content_length(index):
    with client_of(index, limits=Limits(body=1000)) as client:
        body = b'{"query": "' + b"x" * 2000 + b'"}'
        headers = {"Content-Type": "application/json"}
        told = client.post("/api/search", content=body, headers=headers)
        untold = client.post("/api/search", content=iter([body]), headers=headers)
        for answer in (told, untold):
            error = error_of(answer, 413)
            assert error["code"] == "too_large"
            assert "1,000" in error["message"]


def waiting(_store, *_asked):
    """Run until canceled, like a long search."""
    check = stop_check()
    assert check is not None
    while True:
        check(0, 1)
        time.sleep(0.005)


def test_slow_request_times_out(index, monkeypatch):
    monkeypatch.setattr(_routes, "search", waiting)
    with client_of(index, limits=Limits(seconds=0.2, searches=1)) as client:
        answer = client.post("/api/search", json={"query": "cats"})
        error = error_of(answer, 503)
        assert error["code"] == "too_slow"
        assert "0.2 s" in error["message"]
        assert _answers_again(client)  # the only thread is free


def test_thread_that_cannot_be_stopped_is_not_reused(index, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(_routes, "search", lambda *_: over.wait(30))
    with client_of(index, limits=Limits(seconds=0.2, searches=1)) as client:
        first = client.post("/api/search", json={"query": "cats"})
        assert error_of(first, 503)["code"] == "too_slow"
        before = set(threading.enumerate())  # threads of other tests may end meanwhile
        for _ in range(3):
            answer = client.get("/api/stats")
            assert error_of(answer, 503)["code"] == "busy"
            assert answer.headers["retry-after"] == "1"
        assert set(threading.enumerate()) <= before
        over.set()
        assert _answers_again(client)


def _answers_again(client):
    """Repeat a request until it succeeds; a busy computer may exceed the time limit."""
    end = time.monotonic() + 300
    while client.get("/api/stats").status_code != 200:
        if time.monotonic() > end:
            return False
    return True


class Gone:
    """Client that has disconnected."""

    async def is_disconnected(self):
        return True


def test_work_of_a_disconnected_client_is_canceled(monkeypatch):
    monkeypatch.setattr("textkin.web._worker_pool._LOOK", 0.01)
    work = WorkerPool(Limits(searches=1, seconds=30))
    try:
        with pytest.raises(Problem, match="disconnected"):
            asyncio.run(work.run(Gone(), lambda: waiting(None)))
        end = time.monotonic() + 300
        while work.running:
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        work.close()
    with pytest.raises(Problem, match="stopping"):
        asyncio.run(work.run(Gone(), lambda: None))


def test_queue_is_bounded(index, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(_routes, "search", lambda *_: over.wait(30))
    with client_of(index, limits=Limits(seconds=20, searches=1)) as client:
        work = client.app.state.server.work
        ask = [
            threading.Thread(
                target=client.post, args=("/api/search",), kwargs={"json": {"query": "x"}}
            )
            for _ in range(17)
        ]
        for thread in ask:
            thread.start()
        end = time.monotonic() + 300
        while work.running < 17 and time.monotonic() < end:
            time.sleep(0.01)
        assert error_of(client.get("/api/stats"), 503)["code"] == "busy"
        over.set()
        for thread in ask:
            thread.join()


def test_open_requests_are_bounded(index, monkeypatch):
    monkeypatch.setattr("textkin.web._middleware._PER_THREAD", 1)
    begun, over = threading.Event(), threading.Event()

    def blocked(*_):
        begun.set()
        over.wait(30)
        raise ValueError("enough")

    monkeypatch.setattr(_routes, "search", blocked)
    with client_of(index, limits=Limits(searches=1)) as client:
        ask = {"args": ("/api/search",), "kwargs": {"json": {"query": "x"}}}
        thread = threading.Thread(target=client.post, **ask)
        thread.start()
        assert begun.wait(20)
        assert "1 requests at once" in error_of(client.get("/api/health"), 503)["message"]
        over.set()
        thread.join()
        assert client.get("/api/health").status_code == 200


def test_internal_error_is_reported_and_logged_without_texts(index, monkeypatch, caplog):
    def broken(_store, asked):
        raise RuntimeError(f"secret {asked.query}")

    monkeypatch.setattr(_routes, "search", broken)
    with client_of(index) as client, caplog.at_level(logging.DEBUG):
        answer = client.post("/api/search", json={"query": "my private words"})
    assert error_of(answer, 500)["code"] == "internal"
    assert "private" not in answer.text
    assert "RuntimeError" in caplog.text
    assert "broken" in caplog.text  # position in the code
    assert "private" not in caplog.text


def test_log_has_no_texts_queries_ids_or_tokens(client, writer, caplog):
    with caplog.at_level(logging.INFO, "textkin.web"):
        client.post("/api/search", json={"query": "confidential cats"})
        client.get("/api/document", params={"id": "confidential"})
        client.get("/api/documents", params={"where": "label = confidential"})
        body = {"documents": [{"id": "confidential", "text": "confidential"}]}
        client.post("/api/documents", json=body, headers=writer)
        client.get("/a%0ab")
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("textkin")]
    assert len(ours) == 5
    assert "POST /api/search 200" in ours[0]
    assert "confidential" not in " ".join(ours)
    assert TOKEN not in " ".join(ours)
    assert all("\n" not in line for line in ours)


def test_readers_see_consistent_snapshots_during_writes(client, writer, index):
    """Documents are added in pairs: a reader sees both or none."""
    over = threading.Event()
    wrong, answers = [], []

    def read():
        states = []
        while not over.is_set():
            found = client.post("/api/search", json={"query": "twin", "k": 200}).json()
            ids = {hit["id"] for hit in found["hits"]}
            if any(f"b{id[1:]}" not in ids for id in ids if id.startswith("a")):
                wrong.append(ids)
            states.append(int(found["state"]))
            answers.append(len(ids))
        if states != sorted(states):
            wrong.append(states)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in readers:
        thread.start()
    try:
        for n in range(20):
            pair = [{"id": f"{side}{n}", "text": f"twin {n}"} for side in "ab"]
            done = client.post("/api/documents", json={"documents": pair}, headers=writer)
            assert done.status_code == 200, done.text
    finally:
        over.set()
        for thread in readers:
            thread.join()
    assert not wrong
    assert answers
    assert len(index) == len(RECORDS) + 40


@pytest.mark.parametrize("named", [True, False])
def test_concurrent_writers_wait(writer, index, named):
    statuses = []

    def write(client, name):
        for n in range(5):
            body = {"documents": [{"id": f"{name}{n}" if named else None, "text": "x"}]}
            statuses.append(client.post("/api/documents", json=body, headers=writer).status_code)

    patient = Limits(seconds=3600)  # a busy machine may take long
    with (
        Index.open(index.path, timeout=3600) as waiting,
        client_of(waiting, limits=patient) as client,
    ):
        threads = [threading.Thread(target=write, args=(client, name)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [200] * 15
    index.refresh()
    assert len(index) == len(RECORDS) + 15


def test_writer_of_another_process_is_waited_for_then_reported(tmp_path, writer):
    with Index.create(tmp_path / "p.kin", language=None) as other:
        other.add(RECORDS)
        with Index.open(tmp_path / "p.kin", timeout=0.1) as index, client_of(index) as client:
            with other._session.writing():
                body = {"documents": [{"text": "x"}]}
                answer = client.post("/api/documents", json=body, headers=writer)
                assert error_of(answer, 503)["code"] == "busy"
                assert str(tmp_path) not in answer.text
            assert client.post("/api/documents", json=body, headers=writer).status_code == 200


def test_index_stays_open_and_threads_end_with_the_server(index):
    before = set(threading.enumerate())  # other tests of this process may have a server
    with client_of(index) as client:
        client.post("/api/search", json={"query": "cats"})
        client.get("/api/map")
    assert len(index.search("cats")) == 2
    end = time.monotonic() + 300
    while any(t.name.startswith("textkin") for t in set(threading.enumerate()) - before):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"token": "short"}, "16 characters"),
        ({"token": "é" * 20}, "ASCII"),
        ({"token": 5}, "token must be"),
        ({"title": None}, "title must be"),
    ],
)
def test_invalid_settings_raise(wrong, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Settings(**wrong)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"seconds": 0}, {"body": 1.5}, {"seconds": "1"}])
def test_invalid_limits_raise(wrong):
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
        Limits(**wrong)


def test_repr_of_settings_hides_the_token():
    assert TOKEN not in repr(Settings(token=TOKEN))
