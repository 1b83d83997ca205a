"""What a server is told: its limits, who may write, and how it is called."""

from dataclasses import asdict, dataclass, fields

from textkin._validation import Constraint, instance_of, integer, one_of, real

__all__ = ["LOOPBACK", "MOST_LISTED", "Limits", "Settings"]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names that lead to this machine from itself."""

_SECONDS = Constraint(
    lambda value: real(0, 3600).accepts(value) and value > 0,
    "a number of seconds above 0 and at most 3600",
    real().wrong_type,
)
_TEXT = instance_of(str, "a str")
_TOKEN_LENGTH = 16
MOST_LISTED = 10_000
"""What lists of a request may have at most, whatever its limits: each is read while others wait."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for; each refusal says its number and the way out.

    Attributes
    ----------
    body : int
        Bytes of a request.
    text : int
        Characters of a document that is added.
    query : int
        Characters of a query, and of either of two texts that are compared.
    where : int
        Characters of a filter.
    k : int
        Hits of a page, and neighbours that vote.
    offset : int
        Hits, or documents, before a page.
    documents : int
        Documents that are added by one request; 10,000 at most.
    rounds, marks : int
        Rounds of feedback, and documents that are marked in one; 10,000 at most.
    clusters, topics : int
        Clusters and topics that are looked for.
    map : int
        Documents of the map, of clusters and of topics; of more, an even sample is taken.
    searches : int
        Searches at once; others wait.
    seconds : float
        How long a request may take, waiting included.
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
            constraint = _SECONDS if field.name == "seconds" else integer(1)
            if field.name in ("documents", "rounds", "marks"):
                constraint = integer(1, MOST_LISTED)
            constraint.check(field.name, getattr(self, field.name))

    def as_dict(self) -> dict[str, float]:
        """Return all of them by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is told.

    Attributes
    ----------
    title : str
        What the page calls the collection; empty: the name of its folder.
    token : str or None
        Who has it may write; None: nobody may.
    hosts : tuple of str or None
        The names under which the server answers, without a port; None: any. Those of this machine
        by default, so that no page of another site can reach it through a name of its own.
    limits : Limits
        How much a request may ask for.

    Examples
    --------
    >>> Settings(token="correct-horse-battery-staple").writable
    True
    """

    title: str = ""
    token: str | None = None
    hosts: tuple[str, ...] | None = LOOPBACK
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        _TEXT.check("title", self.title)
        (one_of(None) | _TEXT).check("token", self.token)
        if self.token is not None:
            _check_token(self.token)

    @property
    def writable(self) -> bool:
        """Whether anybody may write."""
        return self.token is not None

    def __repr__(self) -> str:
        """Show all but the token."""
        token = "None" if self.token is None else "'...'"
        return (
            f"Settings(title={self.title!r}, token={token}, hosts={self.hosts!r}, "
            f"limits={self.limits!r})"
        )


def _check_token(token: str) -> None:
    if len(token) < _TOKEN_LENGTH:
        raise ValueError(
            f"the token must have at least {_TOKEN_LENGTH} characters, so that nobody guesses it; "
            f"got {len(token)}. `python -c 'import secrets; print(secrets.token_urlsafe())'` makes "
            "one."
        )
    if not token.isascii() or not token.isprintable() or token != token.strip():
        raise ValueError(
            "the token must be printable ASCII without spaces at its ends, since a header carries "
            "it."
        )
