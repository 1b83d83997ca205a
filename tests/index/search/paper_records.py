"""Documents with fields of many types, for tests of filters; loaded by path."""

PAPERS = [
    {"id": "a", "text": "x", "year": 2015, "lang": "en", "tags": ["new", "short"]},
    {"id": "b", "text": "x", "year": 2010, "lang": "de", "doi": "10.1/b", "label": "spam"},
    {"id": "c", "text": "x", "year": "MMXV", "lang": None, "author": {"name": "Rocchio"}},
    {"id": "d", "text": "x", "tags": [], "authors": [{"name": "A"}, {"name": "B"}]},
]
