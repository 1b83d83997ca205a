"""``textkin serve``: HTTP API and web page of an index."""

import ipaddress
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._demo import QUESTIONS
from textkin.cli._errors import note
from textkin.cli._options import open_index
from textkin.cli._output import format_documents
from textkin.run import working

if TYPE_CHECKING:
    from textkin.index import Index
    from textkin.web import Settings

__all__ = ["serve"]

_TOKEN = "TEXTKIN_TOKEN"
_LONGEST_TOKEN = 10_000


def serve(
    index: Annotated[
        Path | None, typer.Argument(metavar="INDEX", help="Folder of the index.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the docstrings of Python's standard library.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all interfaces."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"File with the write token; or set {_TOKEN}."),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the collection on the page.")] = "",
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not log requests.")] = False,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Maximum seconds per request.")
    ] = 30.0,
    max_searches: Annotated[
        int, typer.Option(min=1, max=256, help="Maximum number of concurrent searches.")
    ] = 8,
    max_body: Annotated[int, typer.Option(min=1000, help="Maximum bytes per request.")] = 2_000_000,
    max_text: Annotated[
        int, typer.Option(min=1, help="Maximum characters per added document.")
    ] = 200_000,
    max_query: Annotated[int, typer.Option(min=1, help="Maximum characters per query.")] = 20_000,
    max_k: Annotated[int, typer.Option("--max-k", min=1, help="Maximum hits per page.")] = 200,
    max_map: Annotated[int, typer.Option(min=1, help="Maximum documents on the map.")] = 20_000,
) -> None:
    """Serve an index as a web page and an HTTP API.

    Everyone who can reach the address can read the documents; writing requires a token. By
    default, only this computer can reach the address; see --host. Press Ctrl-C to stop.
    """
    if (index is None) == (not demo):
        raise ValueError("Pass either the folder of an INDEX or --demo.")
    from textkin.web import check_installed

    check_installed()
    from textkin.web import handle_signals

    with handle_signals() as ending:
        with working("Loading"):
            from textkin.web import LOOPBACK, Limits, Settings, listen
            from textkin.web import serve as serve_index

        limits = Limits(
            seconds=max_seconds,
            searches=max_searches,
            body=max_body,
            text=max_text,
            query=max_query,
            k=max_k,
            map=max_map,
        )
        token = _token(token_file)
        with listen(host, port) as made:
            loopback = _is_loopback(made.getsockname()[0])
            settings = Settings(
                title=title or ("The Python standard library" if demo else ""),
                token=token,
                hosts=(*LOOPBACK, host.lower()) if loopback else None,
                limits=limits,
                examples=QUESTIONS if demo else (),
            )
            address = _address(host, made.getsockname()[1])
            with _opened(index) as opened, _logging(quiet=quiet):
                _tell(opened, settings, address, loopback=loopback)
                ended = serve_index(
                    opened,
                    settings,
                    made,
                    started=lambda: _open(address) if open_page else None,
                    ending=ending,
                )
    typer.echo("textkin: stopped.", err=True)
    if not ended:  # a computation that cannot be canceled would keep the process alive
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@contextmanager
def _opened(index: Path | None) -> Iterator["Index"]:
    if index is not None:
        with open_index(index) as opened:
            yield opened
        return
    from textkin.web import demo_index

    with working("Reading the standard library"):
        made = demo_index()
        opened = made.__enter__()
    try:
        yield opened
    finally:
        made.__exit__(None, None, None)


def _token(file: Path | None) -> str | None:
    """Return the write token from a file or an environment variable, or None.

    The list of processes shows command lines to all users of the computer.
    """
    if file is None:
        return os.environ.get(_TOKEN) or None
    with file.open(encoding="utf-8") as opened:
        token = opened.read(_LONGEST_TOKEN).strip()
    if not token:
        raise ValueError(f"{file} must have the write token on one line; it is empty.")
    return token


def _tell(opened: "Index", settings: "Settings", address: str, *, loopback: bool) -> None:
    name = settings.title or opened.path.name
    typer.echo(f"textkin: {name}, {format_documents(len(opened))}, at {address}  (Ctrl-C to stop)")
    if not settings.writable:
        note(
            "the server is read-only, because there is no write token. To allow writing, pass "
            f"--token-file FILE or set {_TOKEN}."
        )
    if not loopback:
        note(
            "everyone who can reach this computer can read all documents, and the connection is "
            "not encrypted. Use a proxy with TLS and a password, or leave --host out."
        )


def _is_loopback(address: str) -> bool:
    """Return True if an IP address is reachable only from this computer."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def _open(address: str) -> None:
    import webbrowser

    # Some browsers run in the terminal and return only after they are closed.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


@contextmanager
def _logging(*, quiet: bool) -> Iterator[None]:
    """Log requests and errors to standard error within a ``with`` block."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    loggers = [logging.getLogger(name) for name in ("textkin.web", "uvicorn")]
    for logger in loggers:
        logger.addHandler(handler)
    before = loggers[0].level
    loggers[0].setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        loggers[0].setLevel(before)
        for logger in loggers:
            logger.removeHandler(handler)
