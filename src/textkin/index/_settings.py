"""How an index reads texts and which word vectors it has: what is written into its folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from textkin import _core
from textkin.exceptions import DamagedIndexError
from textkin.index._files import file_hash
from textkin.text import Lemmatizer, Stemmer, WordNetLemmas, stop_list
from textkin.text._stop_words import STOP_WORDS, StopWords, stop_word_set
from textkin.text._terms import Preparation, TermReader, prepare
from textkin.vectors import WordVectors
from textkin.vectors._builtin import BUILTIN_PATH

__all__ = ["Reading", "VectorSet", "kept_stop_words", "reading_of"]

_NORMALISERS = {"stem": Stemmer, "lemma": Lemmatizer, "wordnet": WordNetLemmas}
_LONGEST_RUN = 16

Normalize: TypeAlias = (
    Literal["stem", "lemma", "wordnet"] | Stemmer | Lemmatizer | WordNetLemmas | None
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How texts become counted words; the same for documents and queries, for ever.

    Attributes
    ----------
    lowercase : bool
        Whether words are turned into lower case.
    stop_words : str, tuple of str or None
        A list by name and version, or words.
    normalize : str or None
        "stem", "lemma" or "wordnet".
    language : str or None
        Of the stemmer or lemmatiser.
    ngram_range : (int, int)
        Lengths of the runs of words that are counted.
    """

    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = None
    normalize: str | None = None
    language: str | None = None
    ngram_range: tuple[int, int] = (1, 1)

    def reader(self, terms: "_core.WordTable | None" = None, n_threads: int = 1) -> TermReader:
        """Return a reader of texts whose terms get their numbers in `terms`."""
        return TermReader(
            self._prepared(), ngram_range=self.ngram_range, n_threads=n_threads, terms=terms
        )

    def _prepared(self) -> Preparation:
        normalize = None
        if self.normalize is not None:
            made = _NORMALISERS[self.normalize]
            normalize = made() if self.language is None else made(self.language)
        return prepare(lowercase=self.lowercase, stop_words=self.stop_words, normalize=normalize)

    def to_json(self) -> str:
        """Return the settings as they are written into the folder."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Reading":
        """Read what `to_json` wrote; a stranger may have written it."""
        found = json.loads(text)
        language = found["language"]
        if not (language is None or isinstance(language, str)):
            raise TypeError(f"language must be a str; got {type(language).__name__}")
        if language is not None and found["normalize"] not in ("stem", "lemma"):
            raise ValueError("only stemmers and lemmatisers have a language")
        return reading_of(
            lowercase=found["lowercase"],
            stop_words=found["stop_words"],
            normalize=found["normalize"],
            language=language,
            ngram_range=found["ngram_range"],
        )


def reading_of(
    *,
    lowercase: bool,
    stop_words: StopWords,
    normalize: Normalize,
    ngram_range: tuple[int, int],
    language: str | None = None,
) -> Reading:
    """Check the parameters and return them in a form that can be written down."""
    if not isinstance(lowercase, bool):
        raise TypeError(f"lowercase must be True or False; got {lowercase!r}.")
    STOP_WORDS.check("stop_words", stop_words)
    name, spoken = _normaliser(normalize)
    return Reading(
        lowercase, kept_stop_words(stop_words), name, language or spoken, _runs(ngram_range)
    )


def kept_stop_words(stop_words: StopWords) -> str | tuple[str, ...] | None:
    """Return a list's name with its version, or the words themselves."""
    stop_word_set(stop_words)  # refuses what cannot be one
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        found = stop_list(stop_words)
        return f"{found.name}:{found.version}"
    # Of a file the words are kept, not the path: the folder may be opened elsewhere.
    return tuple(sorted(stop_word_set(stop_words)))


def _normaliser(normalize: Normalize) -> tuple[str | None, str | None]:
    if normalize is None:
        return None, None
    if isinstance(normalize, str) and normalize in _NORMALISERS:
        return normalize, getattr(_NORMALISERS[normalize](), "language", None)
    for name, kind in _NORMALISERS.items():
        if type(normalize) is kind:
            return name, getattr(normalize, "language", None)
    raise ValueError(
        f"normalize must be one of {', '.join(map(repr, _NORMALISERS))}, a Stemmer, a Lemmatizer, "
        f"WordNetLemmas or None; got {normalize!r}. An index keeps its settings in its folder, and "
        "a function of your own cannot be kept there: normalise the texts before adding them."
    )


def _runs(ngram_range: tuple[int, int]) -> tuple[int, int]:
    given = tuple(ngram_range) if isinstance(ngram_range, tuple | list) else ()
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in given)
    if len(given) != 2 or not whole or not 1 <= given[0] <= given[1] <= _LONGEST_RUN:
        raise ValueError(
            f"ngram_range must be two whole numbers from 1 to {_LONGEST_RUN}, the smaller first, "
            f"such as (1, 2); got {ngram_range!r}."
        )
    return given


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The word vectors of an index: the built-in ones by name and hash, or a folder of its own.

    Attributes
    ----------
    name : str
        "built-in", or "own" for those in the folder's ``vectors``.
    sha256 : str
        Of the built-in file; empty for vectors in the folder, whose manifest has the hashes.
    """

    name: str
    sha256: str = ""

    FOLDER: ClassVar[str] = "vectors"

    @classmethod
    def built_in(cls) -> "VectorSet":
        """Return the vectors that came with this textkin."""
        return cls("built-in", file_hash(BUILTIN_PATH))

    def to_json(self) -> str:
        """Return it as it is written into the folder."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "VectorSet":
        """Read what `to_json` wrote; a stranger may have written it."""
        found = json.loads(text)
        made = cls(found["name"], found["sha256"])
        if made.name not in ("built-in", "own") or not isinstance(made.sha256, str):
            raise ValueError(f"unknown word vectors {made.name!r}")
        return made

    def load(self, folder: Path) -> WordVectors:
        """Return the vectors; those of the folder are memory-mapped, after a check of hashes."""
        if self.name == "own":
            try:
                return WordVectors.load(folder / self.FOLDER)
            except (FileNotFoundError, ValueError) as error:
                raise DamagedIndexError(
                    f"{folder}: its word vectors cannot be read ({error})", [str(error)]
                ) from error
        if file_hash(BUILTIN_PATH) != self.sha256:
            raise ValueError(
                f"{folder} was made with other built-in vectors than this textkin has (their "
                "hashes differ). Open it with the textkin that made it, or make the index again."
            )
        return WordVectors.builtin()
