"""Index folders written by older versions, and their stored search results.

`stored/format_2.zip` was written by commit 36746ce: a segment, recent and deleted documents, custom
word vectors, and three attached models. `stored/format_1.zip` is the same without models, in the
first format, which has neither the table `models` nor `vectors`.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textkin import Index
from textkin.index import WeightedSum

STORED = Path(__file__).with_name("stored")
FORMATS = (1, 2)
# What a name of a ranking meant when the folders were written, where that has changed.
MEANT = {"hybrid": WeightedSum({"bm25": 0.5, "tfidf": 0.2, "wmd": 0.3}, candidates=200)}


def lengths(texts: list[str]) -> np.ndarray:
    """Return the vectors of the attached model that is not from textkin."""
    return np.array([[len(text), text.count("a"), 1.0] for text in texts])


@pytest.fixture(params=FORMATS)
def number(request: pytest.FixtureRequest) -> int:
    """Return the number of a format."""
    found: int = request.param
    return found


@pytest.fixture
def path(number: int, tmp_path: Path) -> Path:
    """Return the folder of a stored index."""
    with zipfile.ZipFile(STORED / f"format_{number}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / "stored.kin"


@pytest.fixture
def expected(path: Path) -> dict[str, Any]:
    """Return the facts stored by the version that wrote the index."""
    found: dict[str, Any] = json.loads(path.with_name("expected.json").read_text())
    return found


def open_index(path: Path, number: int) -> Index:
    return Index.open(path, models={"lengths": lengths} if number == 2 else None)


def files(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and file.name != "writer.lock"
    }


def check_contents(index: Index, expected: dict[str, Any]) -> None:
    documents = [[one.id, one.text, one.label, dict(one.metadata)] for one in index]
    assert documents == expected["documents"]
    assert index.ids == expected["ids"]
    assert list(index.vocabulary()) == expected["vocabulary"]


def test_stored_index_gives_the_same_results(
    path: Path, number: int, expected: dict[str, Any]
) -> None:
    before = files(path)
    with open_index(path, number) as index:
        check_contents(index, expected)
        info = index.info()
        assert info.format == 3
        assert info.stemmer is None
        assert info.terms == info.words
        assert (info.segments, info.deleted, info.recent) == tuple(
            expected[name] for name in ("segments", "deleted", "recent")
        )
        for ranking, answers in expected["hits"].items():
            meant = MEANT.get(ranking, ranking)
            for query, stored in answers.items():
                hits = index.search(query, ranking=meant)
                assert hits.ids == [id for id, _ in stored], (ranking, query)
                scores = [score for _, score in stored]
                if ranking == "hybrid" and len(scores) == 1:
                    assert scores == [0]  # a single candidate now has the sum of the weights
                    scores = [sum(MEANT["hybrid"].weights)]
                assert hits.scores == pytest.approx(scores, rel=1e-6)
            assert index.similar("d1", ranking=meant).ids == expected["like"][ranking]
        del hits  # they keep their snapshot open
        index.verify()
    after = files(path)
    del before["catalogue.sqlite"], after["catalogue.sqlite"]  # upgraded
    assert after == before


def test_stored_index_can_be_changed(path: Path, number: int, expected: dict[str, Any]) -> None:
    with open_index(path, number) as index:
        index.add([{"id": "new", "text": "Kittens purr again"}])
        index.update([{"id": "d0", "text": "Obama greets the band"}])
        index.delete("d2")
        index.compact()
        index.verify()
    with open_index(path, number) as index:
        kept = [id for id in expected["ids"] if id not in ("d0", "d2")]
        assert index.ids == [*kept, "new", "d0"]
        assert index.search("kittens", 1).ids == ["new"]
        for ranking in expected["hits"]:
            assert "new" in index.search("kittens purr", ranking=ranking).ids, ranking
        assert list(index.models()) == (["lsi", "weighted", "lengths"] if number == 2 else [])


def test_stored_models_can_be_replaced(path: Path, number: int) -> None:
    with open_index(path, number) as index:
        for name in index.models():
            index.detach(name)
        index.attach("lsi", lengths)
        assert len(index.search("kittens", ranking="lsi")) > 0
        index.verify()
