"""Connections with slow clients, and stop signals: over real sockets."""

import json
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.client import HTTPResponse

import h11
import pytest

from textkin.web import Settings, _routes, _serving
from textkin.web._limits import Limits
from textkin.web._serving import BoundedProtocol, listen, serve
from textkin.web._signals import SignalHandler, handle_signals

PATIENCE = 300  # seconds; a loaded computer is slow
HEAD = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def served(index, **limits):
    """Serve in a thread, and yield the address."""
    ending, started, made = SignalHandler(), threading.Event(), listen("127.0.0.1", 0)
    address = made.getsockname()
    thread = threading.Thread(
        target=serve,
        args=(index, Settings(limits=Limits(**limits)), made),
        kwargs={"started": started.set, "ending": ending},
    )
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield address
    finally:
        ending(signal.SIGTERM, None)
        thread.join(PATIENCE)
    assert not thread.is_alive()


@contextmanager
def connected(address):
    with socket.create_connection(address, timeout=PATIENCE) as opened:
        yield opened


def status(opened, head):
    """Send a request, and read the whole response."""
    opened.sendall(head + b"\r\n")
    answer = HTTPResponse(opened)
    answer.begin()
    answer.read()
    return answer.status


def ended(opened, sends=b""):
    """Send byte by byte until the server closes the connection; return its response."""
    said = b""
    try:
        for at in range(1000):
            opened.send(sends[at : at + 1])
            opened.settimeout(0.02 if sends else PATIENCE)
            try:
                got = opened.recv(65536)
            except TimeoutError:
                continue
            said += got
            if not got:
                return said
    except ConnectionError:
        return said
    raise AssertionError("the connection is still open")


def is_reset(opened, sends, pause):
    """Send until the server has closed both directions; return False if it keeps reading."""
    try:
        for _ in range(2000):
            opened.sendall(sends)
            time.sleep(pause)
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize(
    "sends",
    [b"", b"G", HEAD + b"X-Slow: " + b"x" * 1000],
    ids=["nothing", "a letter", "a header without end"],
)
def test_incomplete_headers_time_out(index, sends):
    with served(index, seconds=0.3) as address, connected(address) as opened:
        assert ended(opened, sends) == b""


def test_incomplete_headers_of_a_second_request_time_out(index):
    with served(index, seconds=2) as address, connected(address) as opened:
        assert status(opened, HEAD) == 200
        assert ended(opened, b"GET / HT") == b""


def test_incomplete_body_gets_an_error(index):
    with served(index, seconds=0.3) as address, connected(address) as opened:
        asked = HEAD.replace(b"GET /api/health", b"POST /api/search")
        opened.sendall(asked + b"Content-Length: 999\r\n\r\n{")
        said = ended(opened)
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert json.loads(body)["error"]["code"] == "too_slow"


POST = HEAD.replace(b"GET /api/health", b"POST /api/search")
NOT_HTTP = {
    "no method": b"\r\n\r\n \r\n\r\n",
    "a TLS handshake": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a method of two words": b"GET IT /api/health HTTP/1.1\r\n\r\n",
    "no Host": b"GET /api/health HTTP/1.1\r\n\r\n",
    "two Hosts": HEAD + b"Host: evil.example\r\n\r\n",
    "an invalid name of a header": HEAD + b"bad name: 1\r\n\r\n",
    "a null in a header": HEAD + b"X: \0\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\n X: 1\r\n\r\n",
    "a huge header": HEAD + b"X: " + b"x" * 200_000,
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "an unknown encoding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "an invalid chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
}


@pytest.mark.parametrize("sends", NOT_HTTP.values(), ids=NOT_HTTP)
def test_invalid_http_gets_an_error_in_the_usual_format(index, sends, caplog):
    with served(index) as address, connected(address) as opened:
        with suppress(ConnectionError):  # the server may close before it has read everything
            opened.sendall(sends)
        said = ended(opened)
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.split()[1] in (b"400", b"501"), said
    assert b"content-type: application/json" in head
    assert b"x-content-type-options: nosniff" in head
    error = json.loads(body)["error"]
    assert (error["code"], error["field"]) == ("bad_request", None)
    assert "HTTP/1.1" in error["message"]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_client_of_an_invalid_request_can_send_only_so_much_more(index):
    with served(index) as address, connected(address) as opened:
        opened.sendall(b"GET IT /api/health HTTP/1.1\r\n\r\n")
        assert opened.recv(65536).startswith(b"HTTP/1.1 400")
        assert is_reset(opened, b"x" * 65536, 0)


def test_client_of_an_invalid_request_that_stays_is_disconnected(index):
    with served(index, seconds=0.3) as address, connected(address) as opened:
        opened.sendall(b"GET IT /api/health HTTP/1.1\r\n\r\n")
        assert ended(opened).startswith(b"HTTP/1.1 400")
        assert is_reset(opened, b"x", 0.01)


def test_invalid_http_during_a_response_closes_the_connection():
    connection, calls = object.__new__(BoundedProtocol), []
    connection.transport = type(
        "Transport", (), {"write": calls.append, "close": lambda: calls.append("closed")}
    )
    connection.conn = h11.Connection(h11.SERVER)
    connection.conn.receive_data(HEAD + b"\r\n")
    assert type(connection.conn.next_event()) is h11.Request
    connection.conn.send(h11.Response(status_code=200, headers=[("Content-Length", "5")]))
    connection.send_400_response("Invalid HTTP request received.")
    assert calls == ["closed"]


def test_slow_response_is_not_subject_to_the_header_timeout(index, monkeypatch):
    monkeypatch.setattr("textkin.web._serving._HEAD", 0.6)
    stats = _routes.stats

    def slow(store):
        time.sleep(1)
        return stats(store)

    monkeypatch.setattr(_routes, "stats", slow)
    with served(index) as address, connected(address) as opened:
        for _ in range(2):  # on one connection
            assert status(opened, HEAD.replace(b"health", b"stats")) == 200


class Clock:
    """Event loop that runs callbacks on request."""

    def __init__(self):
        self.calls = []

    def call_later(self, seconds, what):
        self.calls.append((seconds, what))
        return self

    def cancel(self):
        self.calls.pop()


def test_client_that_does_not_read_times_out():
    connection = object.__new__(BoundedProtocol)
    connection.loop = clock = Clock()
    connection.transport = type("Transport", (), {"abort": lambda: None})
    connection.flow = type("Flow", (), {"pause_writing": print, "resume_writing": print})
    connection.pause_writing()
    assert clock.calls == [(30.0, connection.transport.abort)]
    connection.resume_writing()
    assert clock.calls == []


# ------------------------------------------------------------------ stopping


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["made_app", "startup", "started", "shutdown"])
def test_signal_at_any_moment_stops_the_server(index, monkeypatch, number, moment):
    owner = _serving if moment == "made_app" else _serving._Server

    def signalled(*given, **named):
        os.kill(os.getpid(), number)
        return original(*given, **named)

    started = signalled if moment == "started" else lambda: os.kill(os.getpid(), signal.SIGTERM)
    original = getattr(owner, moment, lambda: None)
    if moment != "started":
        monkeypatch.setattr(owner, moment, signalled)
    made = listen("127.0.0.1", 0)
    assert serve(index, Settings(), made, started=started)
    assert made.fileno() == -1  # closed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_signal_ignored_by_python_stops_the_server_at_its_start(index):
    with handle_signals() as ending:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert serve(index, Settings(), listen("127.0.0.1", 0), ending=ending)


def test_signal_stops_the_server_during_requests(index, monkeypatch):
    monkeypatch.setattr(_serving, "_GRACE", 0.3)
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(_routes, "stats", lambda _store: (begun.set(), over.wait(PATIENCE)))
    made = listen("127.0.0.1", 0)
    address = made.getsockname()

    def ask():
        with connected(address) as opened, connected(address) as silent:
            silent.sendall(HEAD)
            opened.sendall(HEAD.replace(b"health", b"stats") + b"\r\n")
            assert begun.wait(PATIENCE)
            os.kill(os.getpid(), signal.SIGTERM)
            said.append(opened.recv(65536))

    said = []
    thread = threading.Thread(target=ask)
    try:
        # a thread keeps running
        assert serve(index, Settings(), made, started=thread.start) is False
    finally:
        over.set()
        thread.join(PATIENCE)
    assert said


def test_second_signal_stops_immediately(index, monkeypatch):
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(_routes, "stats", lambda _store: (begun.set(), over.wait(30)))
    made = listen("127.0.0.1", 0)
    address = made.getsockname()

    def ask():
        with connected(address) as opened:
            opened.sendall(HEAD.replace(b"health", b"stats") + b"\r\n")
            assert begun.wait(PATIENCE)
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)

    thread = threading.Thread(target=ask)
    try:
        assert serve(index, Settings(), made, started=thread.start) is False
    finally:
        over.set()
        thread.join(30)
