"""What a caller may ask of every reader, checked once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textkin import _core
from textkin._validation import integer, one_of
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["DuplicatesPolicy", "EncodingPolicy", "ErrorsPolicy", "Options", "make_options"]

ErrorsPolicy = Literal["raise", "skip"]
EncodingPolicy = Literal["strict", "replace"]
DuplicatesPolicy = Literal["first", "error"]

_POSSESSIVE = ("'s", "'S", "\u2019s", "\u2019S")


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `WordVectors.load` that say what to do with the entries of a file."""

    limit: int | None = None
    words: tuple[str, ...] | None = None
    errors: ErrorsPolicy = "raise"
    encoding_errors: EncodingPolicy = "strict"
    duplicates: DuplicatesPolicy = "first"
    threads: int = 1
    progress: ProgressCallback | None = None

    @property
    def selects(self) -> bool:
        """Whether only a part of the file is asked for."""
        return self.limit is not None or self.words is not None

    def wanted(self) -> frozenset[str] | None:
        """Return every spelling by which a lookup of `words` may find a row; None for all."""
        if self.words is None:
            return None
        stems = {*self.words, *(word[:-2] for word in self.words if word.endswith(_POSSESSIVE))}
        return frozenset(form for word in stems for form in (word, word.lower(), word.title()))

    def word_set(self) -> _core.WordSet | None:
        """Return the same for the core."""
        wanted = self.wanted()
        if wanted is None:
            return None
        kept = _core.WordSet()
        for word in wanted:
            kept.insert(word.encode("utf-8", "surrogatepass"))
        return kept


def make_options(
    limit: int | None,
    words: Iterable[str] | None,
    errors: ErrorsPolicy,
    encoding_errors: EncodingPolicy,
    duplicates: DuplicatesPolicy,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> Options:
    """Check the arguments of `WordVectors.load`."""
    (one_of(None) | integer(1)).check("limit", limit)
    one_of("raise", "skip").check("errors", errors)
    one_of("strict", "replace").check("encoding_errors", encoding_errors)
    one_of("first", "error").check("duplicates", duplicates)
    kept = None
    if words is not None:
        if isinstance(words, str):
            raise TypeError(f"words must be a collection of strings; got the string {words!r}.")
        kept = tuple(dict.fromkeys(words))
        for word in kept:
            if not isinstance(word, str):
                raise TypeError(f"words must be strings; got {type(word).__name__} {word!r}.")
        if not kept:
            raise ValueError("words must name at least one word to keep; got none.")
    return Options(
        None if limit is None else int(limit),
        kept,
        errors,
        encoding_errors,
        duplicates,
        effective_jobs(n_jobs),
        progress,
    )
