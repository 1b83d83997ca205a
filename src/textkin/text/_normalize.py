"""Word normalisers; the named ones come with the next change."""

from collections.abc import Callable

__all__ = ["word_normalizer"]


def word_normalizer(value: Callable[[str], str] | None) -> Callable[[str], str] | None:
    """Return a callable as it is; anything else but None is refused."""
    if value is not None and not callable(value):
        raise ValueError(f"normalize must be a callable or None; got {value!r}.")
    return value
