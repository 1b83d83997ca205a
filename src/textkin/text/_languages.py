"""Languages of term rankings: stemmer and stop list of each."""

from typing import NamedTuple

from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = ["LANGUAGES", "Language", "find_language"]


class Language(NamedTuple):
    """Language with its code, name, stemmer, and stop list.

    Attributes
    ----------
    code : str
        Code of ISO 639-1, such as "en".
    name : str
        Name of the Snowball stemmer, such as "english".
    stop_words : str or None
        Name of the stop list, or None if textkin has none.
    """

    code: str
    name: str
    stop_words: str | None


def _language(code: str, name: str, stop_words: str | None = None) -> tuple[str, Language]:
    return code, Language(code, name, stop_words)


LANGUAGES: dict[str, Language] = dict(
    [
        _language("ar", "arabic"),
        _language("ca", "catalan"),
        _language("da", "danish", "snowball-danish"),
        _language("de", "german", "snowball-german"),
        _language("el", "greek"),
        _language("en", "english", "search"),
        _language("es", "spanish", "snowball-spanish"),
        _language("eu", "basque"),
        _language("fi", "finnish", "snowball-finnish"),
        _language("fr", "french", "snowball-french"),
        _language("ga", "irish"),
        _language("hi", "hindi"),
        _language("hu", "hungarian", "snowball-hungarian"),
        _language("hy", "armenian"),
        _language("id", "indonesian"),
        _language("it", "italian", "snowball-italian"),
        _language("lt", "lithuanian"),
        _language("ne", "nepali"),
        _language("nl", "dutch", "snowball-dutch"),
        _language("no", "norwegian", "snowball-norwegian"),
        _language("pt", "portuguese", "snowball-portuguese"),
        _language("ro", "romanian"),
        _language("ru", "russian", "snowball-russian"),
        _language("sr", "serbian"),
        _language("sv", "swedish", "snowball-swedish"),
        _language("ta", "tamil"),
        _language("tr", "turkish"),
        _language("yi", "yiddish"),
    ]
)
"""Languages by code: the stemmers of Snowball 2.2, which every supported PyStemmer has."""

_BY_NAME = {one.name: one for one in LANGUAGES.values()}


def find_language(language: str) -> Language:
    """Return the `Language` with a code or name, or raise if it is unknown.

    Parameters
    ----------
    language : str
        Code, such as "en", or name, such as "english".

    Returns
    -------
    Language
        Language with its stemmer and its stop list.

    Raises
    ------
    ParameterError
        If the language is unknown; the message has the codes.

    Examples
    --------
    >>> find_language("german")
    Language(code='de', name='german', stop_words='snowball-german')
    >>> find_language("tr").stop_words is None
    True
    """
    if not isinstance(language, str):
        raise ParameterTypeError("language", "a code such as 'en', or None", repr(language))
    found = LANGUAGES.get(language) or _BY_NAME.get(language)
    if found is None:
        codes = ", ".join(f"{one.code} ({one.name})" for one in LANGUAGES.values())
        raise ParameterError(
            "language",
            "the code or the name of a language, or None for plain words",
            repr(language),
            f"There are {codes}.",
        )
    return found
