"""Settings of a server: limits, write token, and host names."""

from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real

from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = ["LOOPBACK", "MOST_LISTED", "Limits", "Settings"]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this computer for local connections."""

_TOKEN_LENGTH = 16
MOST_LISTED = 10_000
"""Maximum length of lists in a request, regardless of the limits; parsing blocks other requests."""


def _check(name: str, value: object, kind: type, expected: str, fits: bool = True) -> None:
    """Raise unless a value has a type and is valid; a boolean is not a number."""
    right = isinstance(value, kind) and not isinstance(value, bool)
    if not right or not fits:
        error = ParameterError if right else ParameterTypeError
        shown = repr(value)
        raise error(name, expected, shown if len(shown) <= 80 else f"{shown[:77]}...")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request; each error names the limit and a fix.

    Attributes
    ----------
    body : int
        Maximum bytes of a request.
    text : int
        Maximum characters of an added document.
    query : int
        Maximum characters of a query, and of each text of a comparison.
    where : int
        Maximum characters of a filter.
    k : int
        Maximum hits per page, and maximum number of voting neighbors.
    offset : int
        Maximum number of hits, or documents, before a page.
    documents : int
        Maximum number of documents added by one request; at most 10,000.
    rounds, marks : int
        Maximum number of feedback rounds, and of marked documents per round; at most 10,000.
    clusters, topics : int
        Maximum number of clusters and topics.
    map : int
        Maximum number of documents for the map, clusters, and topics. From more documents, take an
        even sample.
    searches : int
        Maximum number of concurrent searches; others wait.
    seconds : float
        Maximum time of a request, in seconds, including waiting.
    """

    body: int = 2_000_000
    text: int = 200_000
    query: int = 20_000
    where: int = 20_000
    k: int = 200
    offset: int = 10_000
    documents: int = 1_000
    rounds: int = 20
    marks: int = 200
    clusters: int = 50
    topics: int = 50
    map: int = 20_000
    searches: int = 8
    seconds: float = 30.0

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if name == "seconds":
                fits = isinstance(value, Real) and 0 < float(value) <= 3600
                _check(name, value, Real, "a number of seconds above 0 and at most 3600", fits)
            elif name in ("documents", "rounds", "marks"):
                fits = isinstance(value, Integral) and 1 <= int(value) <= MOST_LISTED
                expected = f"an integer from 1 to {MOST_LISTED}"
                _check(name, value, Integral, expected, fits)
            else:
                fits = isinstance(value, Integral) and int(value) >= 1
                _check(name, value, Integral, "an integer of at least 1", fits)

    def to_dict(self) -> dict[str, float]:
        """Return all limits by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server.

    Attributes
    ----------
    title : str
        Title of the collection on the page. If empty, the name of its folder.
    token : str or None
        Write token. If None, the server is read-only.
    hosts : tuple of str or None
        Host names, without a port, that the server answers to. If None, all names. By default, only
        the names of this computer, so that pages of other sites cannot reach the server through a
        name that they control.
    limits : Limits
        Limits of requests.
    examples : tuple of str
        Example queries on the start page. If empty, titles and first sentences of documents.

    Examples
    --------
    >>> Settings(token="correct-horse-battery-staple").writable
    True
    """

    title: str = ""
    token: str | None = None
    hosts: tuple[str, ...] | None = LOOPBACK
    limits: Limits = Limits()
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check("title", self.title, str, "a str")
        valid = isinstance(self.examples, tuple) and all(isinstance(x, str) for x in self.examples)
        _check("examples", self.examples, tuple, "a tuple of str", valid)
        if self.token is not None:
            _check("token", self.token, str, "None or a str")
            _check_token(self.token)

    @property
    def writable(self) -> bool:
        """True if the token allows writing."""
        return self.token is not None

    def __repr__(self) -> str:
        """Show all settings except the token."""
        token = "None" if self.token is None else "'...'"
        return (
            f"Settings(title={self.title!r}, token={token}, hosts={self.hosts!r}, "
            f"limits={self.limits!r}, examples={self.examples!r})"
        )


def _check_token(token: str) -> None:
    if len(token) < _TOKEN_LENGTH:
        raise ValueError(
            f"the token must have at least {_TOKEN_LENGTH} characters, so that it cannot be "
            f"guessed; got {len(token)}. To create one, run `python -c 'import secrets; "
            "print(secrets.token_urlsafe())'`."
        )
    if not token.isascii() or not token.isprintable() or token != token.strip():
        raise ValueError(
            "the token must be printable ASCII without leading or trailing spaces, because it is "
            "sent in a header."
        )
