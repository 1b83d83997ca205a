"""Connections that keep a server waiting, and signals that end it: over sockets, as they come."""

import json
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from http.client import HTTPResponse

import pytest

from textkin.web import Settings, _app, _serving
from textkin.web._ending import Ending, told_to_end
from textkin.web._patience import BoundedProtocol
from textkin.web._serving import listening, serve
from textkin.web._settings import Limits

HEAD = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def served(index, **limits):
    """Serve in a thread; gives the address."""
    ending, started, made = Ending(), threading.Event(), listening("127.0.0.1", 0)
    address = made.getsockname()
    thread = threading.Thread(
        target=serve,
        args=(index, Settings(limits=Limits(**limits)), made),
        kwargs={"started": started.set, "ending": ending},
    )
    thread.start()
    try:
        assert started.wait(30)
        yield address
    finally:
        ending(signal.SIGTERM, None)
        thread.join(30)
    assert not thread.is_alive()


@contextmanager
def connected(address):
    with socket.create_connection(address, timeout=30) as opened:
        yield opened


def status(opened, head):
    """Ask, and read the answer to its end."""
    opened.sendall(head + b"\r\n")
    answer = HTTPResponse(opened)
    answer.begin()
    answer.read()
    return answer.status


def ended(opened, sends=b""):
    """Send byte by byte until the server has closed the connection; returns what it said."""
    said = b""
    try:
        for at in range(1000):
            opened.send(sends[at : at + 1])
            opened.settimeout(0.02 if sends else 30)
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


@pytest.mark.parametrize(
    "sends",
    [b"", b"G", HEAD + b"X-Slow: " + b"x" * 1000],
    ids=["nothing", "a letter", "a header without end"],
)
def test_headers_that_never_end_are_not_waited_for(index, sends):
    with served(index, seconds=0.3) as address, connected(address) as opened:
        assert ended(opened, sends) == b""


def test_nor_are_those_of_a_second_request(index):
    with served(index, seconds=0.5) as address, connected(address) as opened:
        assert status(opened, HEAD) == 200
        assert ended(opened, b"GET / HT") == b""


def test_a_body_that_never_ends_is_answered(index):
    with served(index, seconds=0.3) as address, connected(address) as opened:
        asked = HEAD.replace(b"GET /api/health", b"POST /api/search")
        opened.sendall(asked + b"Content-Length: 999\r\n\r\n{")
        said = ended(opened)
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert json.loads(body)["error"]["code"] == "too_slow"


def test_an_answer_that_takes_longer_than_headers_may_is_waited_for(index, monkeypatch):
    monkeypatch.setattr("textkin.web._patience._HEAD", 0.2)
    stats = _app.stats

    def slow(store):
        time.sleep(0.5)
        return stats(store)

    monkeypatch.setattr(_app, "stats", slow)
    with served(index) as address, connected(address) as opened:
        for _ in range(2):  # on one connection
            assert status(opened, HEAD.replace(b"health", b"stats")) == 200


class Clock:
    """A loop that calls when it is told to."""

    def __init__(self):
        self.calls = []

    def call_later(self, seconds, what):
        self.calls.append((seconds, what))
        return self

    def cancel(self):
        self.calls.pop()


def test_a_client_that_does_not_read_is_not_waited_for():
    connection = object.__new__(BoundedProtocol)
    connection.loop = clock = Clock()
    connection.transport = type("Transport", (), {"abort": lambda: None})
    connection.flow = type("Flow", (), {"pause_writing": print, "resume_writing": print})
    connection.pause_writing()
    assert clock.calls == [(30.0, connection.transport.abort)]
    connection.resume_writing()
    assert clock.calls == []


# ------------------------------------------------------------------ the end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["made_app", "startup", "started", "shutdown"])
def test_a_signal_at_any_moment_ends_the_server(index, monkeypatch, number, moment):
    owner = _serving if moment == "made_app" else _serving._Server

    def signalled(*given, **named):
        os.kill(os.getpid(), number)
        return original(*given, **named)

    started = signalled if moment == "started" else lambda: os.kill(os.getpid(), signal.SIGTERM)
    original = getattr(owner, moment, lambda: None)
    if moment != "started":
        monkeypatch.setattr(owner, moment, signalled)
    made = listening("127.0.0.1", 0)
    assert serve(index, Settings(), made, started=started)
    assert made.fileno() == -1  # closed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_python_dropped_ends_the_server_when_it_starts(index):
    with told_to_end() as ending:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert serve(index, Settings(), listening("127.0.0.1", 0), ending=ending)


def test_a_signal_ends_the_server_while_requests_run(index, monkeypatch):
    monkeypatch.setattr(_serving, "_GRACE", 0.3)
    begun = threading.Event()

    def hanging(_store):
        begun.set()
        time.sleep(1.5)

    monkeypatch.setattr(_app, "stats", hanging)
    made = listening("127.0.0.1", 0)
    address = made.getsockname()

    def ask():
        with connected(address) as opened, connected(address) as silent:
            silent.sendall(HEAD)
            opened.sendall(HEAD.replace(b"health", b"stats") + b"\r\n")
            assert begun.wait(30)
            os.kill(os.getpid(), signal.SIGTERM)
            said.append(opened.recv(65536))

    said = []
    thread = threading.Thread(target=ask)
    assert serve(index, Settings(), made, started=thread.start) is False  # a thread hangs on
    thread.join(30)
    assert said


def test_a_second_signal_does_not_wait(index, monkeypatch):
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(_app, "stats", lambda _store: (begun.set(), over.wait(30)))
    made = listening("127.0.0.1", 0)
    address = made.getsockname()

    def ask():
        with connected(address) as opened:
            opened.sendall(HEAD.replace(b"health", b"stats") + b"\r\n")
            assert begun.wait(30)
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)

    thread = threading.Thread(target=ask)
    try:
        assert serve(index, Settings(), made, started=thread.start) is False
    finally:
        over.set()
        thread.join(30)
