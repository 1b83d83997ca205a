"""Validated options of all vector readers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textkin import _core
from textkin._base import integer, one_of
from textkin.exceptions import ParameterTypeError
from textkin.run import ProgressCallback, effective_jobs

__all__ = [
    "DuplicatesPolicy",
    "EncodingPolicy",
    "ErrorsPolicy",
    "Options",
    "TokenVectorsPolicy",
    "make_options",
]

ErrorsPolicy = Literal["raise", "skip"]
EncodingPolicy = Literal["strict", "replace"]
DuplicatesPolicy = Literal["first", "error"]
TokenVectorsPolicy = Literal["mean", "sum"]

_POSSESSIVE = ("'s", "'S", "\u2019s", "\u2019S")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `WordVectors.load` that select entries, and treat invalid ones."""

    max_words: int | None = None
    words: tuple[str, ...] | None = None
    errors: ErrorsPolicy = "raise"
    encoding_errors: EncodingPolicy = "strict"
    duplicates: DuplicatesPolicy = "first"
    threads: int = 1
    progress: ProgressCallback | None = None
    token_vectors: TokenVectorsPolicy = "mean"

    @property
    def selects(self) -> bool:
        """True if the options select only some entries of a file."""
        return self.max_words is not None or self.words is not None

    def wanted(self) -> frozenset[str] | None:
        """Return all spellings in which a lookup may find the selected words, or None."""
        if self.words is None:
            return None
        stems = {*self.words, *(word[:-2] for word in self.words if word.endswith(_POSSESSIVE))}
        return frozenset(form for word in stems for form in (word, word.lower(), word.title()))

    def word_set(self) -> _core.WordSet | None:
        """Return the words of `wanted` as a set of the compiled core."""
        wanted = self.wanted()
        if wanted is None:
            return None
        kept = _core.WordSet()
        for word in wanted:
            kept.insert(word.encode("utf-8", "surrogatepass"))
        return kept


def make_options(
    max_words: int | None,
    words: Iterable[str] | None,
    errors: ErrorsPolicy,
    encoding_errors: EncodingPolicy,
    duplicates: DuplicatesPolicy,
    n_jobs: int | None,
    progress: ProgressCallback | None,
    token_vectors: TokenVectorsPolicy = "mean",
) -> Options:
    """Validate the options of `WordVectors.load`, and return them as `Options`."""
    (one_of(None) | integer(1)).check("max_words", max_words)
    one_of("raise", "skip").check("errors", errors)
    one_of("strict", "replace").check("encoding_errors", encoding_errors)
    one_of("first", "error").check("duplicates", duplicates)
    one_of("mean", "sum").check("token_vectors", token_vectors)
    kept = None
    if words is not None:
        if isinstance(words, str):
            raise ParameterTypeError("words", "a collection of strings", f"the string {words!r}")
        kept = tuple(dict.fromkeys(words))
        for word in kept:
            if not isinstance(word, str):
                raise ParameterTypeError("words", "strings", f"{type(word).__name__} {word!r}")
        if not kept:
            raise ValueError("words must name at least one word to keep; got none.")
    return Options(
        None if max_words is None else int(max_words),
        kept,
        errors,
        encoding_errors,
        duplicates,
        effective_jobs(n_jobs),
        progress,
        token_vectors,
    )
