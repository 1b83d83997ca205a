"""Settings stored with an index: how words are counted, and which word vectors it has."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from textkin import _core
from textkin._base import file_hash
from textkin.exceptions import DamagedIndexError, ParameterError, ParameterTypeError
from textkin.index.store._catalog import CATALOG, Catalog
from textkin.index.store._term_map import StemAnalyzer
from textkin.text import (
    STOP_WORDS,
    Lemmatizer,
    Preparation,
    Stemmer,
    StopWords,
    TermReader,
    WordNetLemmas,
    find_language,
    prepare,
    stemmer_version,
    stop_list,
    stop_word_set,
)
from textkin.vectors import BUILTIN_PATH, WordVectors

__all__ = [
    "ENGLISH",
    "AnalyzerSettings",
    "VectorSet",
    "analyzer_settings",
    "load_settings",
    "stem_analyzer",
    "stop_words_setting",
]

_NORMALIZERS = {"stem": Stemmer, "lemma": Lemmatizer, "wordnet": WordNetLemmas}
_LONGEST_NGRAM = 16

NormalizerLike: TypeAlias = (
    Literal["stem", "lemma", "wordnet"] | Stemmer | Lemmatizer | WordNetLemmas | None
)


@dataclass(frozen=True, slots=True)
class AnalyzerSettings:
    """Text settings of an index: lowercase, stop words, normalizer, n-grams.

    Attributes
    ----------
    lowercase : bool
        True if words are converted to lowercase.
    stop_words : str, tuple of str or None
        Name and version of a stop list, or words.
    normalizer : str or None
        "stem", "lemma", or "wordnet".
    language : str or None
        Language of the stemmer or lemmatizer.
    ngram_range : (int, int)
        Minimum and maximum number of words in the counted n-grams.
    """

    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = None
    normalizer: str | None = None
    language: str | None = None
    ngram_range: tuple[int, int] = (1, 1)

    def reader(self, terms: "_core.WordTable | None" = None, n_threads: int = 1) -> TermReader:
        """Return a text reader with these settings, which numbers new terms in `terms`."""
        return TermReader(
            self._prepare(), ngram_range=self.ngram_range, n_threads=n_threads, terms=terms
        )

    def _prepare(self) -> Preparation:
        normalizer = None
        if self.normalizer is not None:
            made = _NORMALIZERS[self.normalizer]
            normalizer = made() if self.language is None else made(self.language)
        return prepare(lowercase=self.lowercase, stop_words=self.stop_words, normalizer=normalizer)

    def to_json(self) -> str:
        """Return the settings as a JSON string, to be stored in the catalog."""
        # In the file format, `normalizer` has its former name.
        names = {"normalizer": "normalize"}
        return json.dumps({names.get(name, name): value for name, value in asdict(self).items()})

    @classmethod
    def from_json(cls, text: str) -> "AnalyzerSettings":
        """Create the settings from a `to_json` string of an untrusted file, after validation."""
        found = json.loads(text)
        language = found["language"]
        if not (language is None or isinstance(language, str)):
            raise TypeError(f"language must be a string; got {type(language).__name__}")
        if language is not None and found["normalize"] not in ("stem", "lemma"):
            raise ValueError("language must be None unless the normalizer is 'stem' or 'lemma'")
        return analyzer_settings(
            lowercase=found["lowercase"],
            stop_words=found["stop_words"],
            normalizer=found["normalize"],
            language=language,
            ngram_range=found["ngram_range"],
        )


def analyzer_settings(
    *,
    lowercase: bool,
    stop_words: StopWords,
    normalizer: NormalizerLike,
    ngram_range: tuple[int, int],
    language: str | None = None,
) -> AnalyzerSettings:
    """Validate analyzer parameters, and return them as `AnalyzerSettings`."""
    if not isinstance(lowercase, bool):
        raise ParameterTypeError("lowercase", "True or False", repr(lowercase))
    STOP_WORDS.check("stop_words", stop_words)
    name, spoken = _normalizer_setting(normalizer)
    return AnalyzerSettings(
        lowercase,
        stop_words_setting(stop_words),
        name,
        language or spoken,
        _check_ngram_range(ngram_range),
    )


class DefaultLanguage(str):
    """Type of the default of `language`, which explicit text parameters override."""

    __slots__ = ()


ENGLISH = DefaultLanguage("en")
"""Default of `language` in `Index.create`."""


def stem_analyzer(language: str | None, settings: AnalyzerSettings) -> StemAnalyzer | None:
    """Return the stemmer and stop list of term rankings for a language, or None.

    Parameters
    ----------
    language : str or None
        Code or name of a language. The default, `ENGLISH`, means None if words are counted
        normalized, with case, or as n-grams.
    settings : AnalyzerSettings
        Settings for counting words.

    Raises
    ------
    ParameterError
        If the language is unknown, or words are counted as stems, lemmas, or n-grams.
    """
    if language is None:
        return None
    found = find_language(language)
    plain = settings.normalizer is None and settings.ngram_range == (1, 1)
    if type(language) is DefaultLanguage and not (plain and settings.lowercase):
        return None
    if not plain:
        name = "ngram_range" if settings.normalizer is None else "normalizer"
        raise ParameterError(
            "language",
            f"None with {name}, which changes the counted words",
            repr(language),
            f"Pass `language=None`, or omit {name}.",
        )
    removes = settings.stop_words is None  # own stop words replace the analyzer's
    stop_words = None
    if removes and found.stop_words is not None:
        stop_words = stop_list(found.stop_words).pinned
    Stemmer(found.name)  # raises if the stemmer is not installed
    return StemAnalyzer(
        language=found.code,
        stemmer=found.name,
        version=stemmer_version(),
        stop_words=stop_words,
        drop_single=removes,
        lowercase=not settings.lowercase,
    )


def stop_words_setting(stop_words: StopWords) -> str | tuple[str, ...] | None:
    """Return stop words as storable values: a list's name with version, or its words."""
    stop_word_set(stop_words)  # raises if invalid
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        found = stop_list(stop_words)
        return f"{found.name}:{found.version}"
    # For a file, store the words instead of the path, because the folder may move.
    return tuple(sorted(stop_word_set(stop_words)))


def _normalizer_setting(normalizer: NormalizerLike) -> tuple[str | None, str | None]:
    if normalizer is None:
        return None, None
    if isinstance(normalizer, str) and normalizer in _NORMALIZERS:
        return normalizer, getattr(_NORMALIZERS[normalizer](), "language", None)
    for name, kind in _NORMALIZERS.items():
        if type(normalizer) is kind:
            return name, getattr(normalizer, "language", None)
    raise ParameterError(
        "normalizer",
        f"one of {', '.join(map(repr, _NORMALIZERS))}, a Stemmer, a Lemmatizer, WordNetLemmas or "
        "None",
        repr(normalizer),
        "An index stores its settings in its folder, which is impossible for your own function: "
        "normalize the texts before you add them.",
    )


def _check_ngram_range(ngram_range: tuple[int, int]) -> tuple[int, int]:
    given = tuple(ngram_range) if isinstance(ngram_range, tuple | list) else ()
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in given)
    if len(given) != 2 or not whole or not 1 <= given[0] <= given[1] <= _LONGEST_NGRAM:
        raise ParameterError(
            "ngram_range",
            f"two integers from 1 to {_LONGEST_NGRAM}, the smaller first, such as (1, 2)",
            repr(ngram_range),
        )
    return given


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Identity of the word vectors of an index: built-in (name and hash), or its own file.

    Attributes
    ----------
    name : str
        "built-in", or "own" for vectors in the subfolder ``vectors``.
    sha256 : str
        Hash of the built-in file; empty for vectors in the folder, whose manifest has the hashes.
    """

    name: str
    sha256: str = ""

    FOLDER: ClassVar[str] = "vectors"

    @classmethod
    def built_in(cls) -> "VectorSet":
        """Return the setting for the built-in vectors of this version of textkin."""
        return cls("built-in", file_hash(BUILTIN_PATH))

    def to_json(self) -> str:
        """Return the settings as a JSON string, to be stored in the catalog."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "VectorSet":
        """Create the settings from a `to_json` string of an untrusted file, after validation."""
        found = json.loads(text)
        made = cls(found["name"], found["sha256"])
        if made.name not in ("built-in", "own") or not isinstance(made.sha256, str):
            raise ValueError(f"unknown word vectors {made.name!r}")
        return made

    def load(self, folder: Path) -> WordVectors:
        """Return the word vectors of an index folder, after verifying their hash."""
        if self.name == "own":
            try:
                return WordVectors.load(folder / self.FOLDER)
            except (FileNotFoundError, ValueError) as error:
                raise DamagedIndexError(
                    f"{folder}: its word vectors cannot be read ({error})", [str(error)]
                ) from error
        if file_hash(BUILTIN_PATH) != self.sha256:
            raise ValueError(
                f"{folder} requires other built-in vectors than this version of textkin has (the "
                "hashes differ). Open it with the version that created it, or create it again."
            )
        return WordVectors.builtin()


def load_settings(catalog: Catalog) -> tuple[AnalyzerSettings, VectorSet]:
    """Read the settings of an index from its catalog, or raise `DamagedIndexError`."""
    try:
        return (
            AnalyzerSettings.from_json(catalog.setting("reading")),
            VectorSet.from_json(catalog.setting("vectors")),
        )
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, DamagedIndexError):
            raise
        raise DamagedIndexError(
            f"{catalog.path} is corrupt: its settings are invalid ({error}).",
            [f"{CATALOG}: settings"],
        ) from error
