"""Embeddings from users: attached, added, searched, stored in files, and explained."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD

from support import load_script
from textkin import LSI, Index
from textkin.exceptions import DamagedIndexError, IndexWarning, ParameterError, ParameterTypeError
from textkin.index import ModelRanking, RankFusion, SearchRequest, WeightedSum
from textkin.index.store import _vector_store

helpers = load_script("tests/index/attached_models.py")
model, RECORDS, MORE = helpers.model, helpers.RECORDS, helpers.MORE
lengths, vectors, Encoder = helpers.lengths, helpers.vectors, helpers.Encoder

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(21, 4)).astype(np.float32)


def slow(index: Index, rows: dict[str, np.ndarray], query: np.ndarray, metric: str) -> list[str]:
    """Rank documents one by one in float64."""

    def score(row: np.ndarray) -> float:
        row = row.astype(np.float64)
        if metric == "euclidean":
            return -float(np.linalg.norm(row - query))
        product = float(row @ query)
        return product / np.linalg.norm(row) if metric == "cosine" else product

    return sorted(
        (id for id in index.ids if id in rows), key=lambda id: -round(score(rows[id]), 12)
    )


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store even a few vectors in files, several per model."""
    monkeypatch.setattr(_vector_store, "FILE_ROWS", 4)
    monkeypatch.setattr(_vector_store, "TIDY_ROWS", 6)
    monkeypatch.setattr(_vector_store, "LARGEST", 7 * 16)


def names(index: Index) -> list[str]:
    """Return the vector files on disk."""
    place = index.path / "embeddings"
    return sorted(file.name for file in place.iterdir()) if place.exists() else []


def test_feedback_ignores_documents_without_a_vector(index: Index) -> None:
    index.add([{"id": id, "text": "cats"} for id in "abcde"])
    index.attach("own", embeddings=[[1, 0], [0, 1], [1, 1]], ids=["a", "b", "c"])
    hits = index.search(embedding=[1, 0], ranking="own")
    marked = hits.feedback(relevant=["b"])
    assert marked.ids == ["c", "a", "b"]
    assert np.array_equal(hits.feedback(relevant=["b", "d", "e"]).scores, marked.scores)
    like = index.similar("d", ranking="own")
    assert like.ids == []
    assert like.feedback(relevant=["b"]).ids[0] == "b"


def test_embeddings_with_an_encoder_of_bags_raise(index: Index) -> None:
    index.add(["cats purr", "dogs bark", "cats and dogs"])
    encoder = TruncatedSVD(2, random_state=0).fit(index.bags())
    rows = encoder.transform(index.bags())
    with pytest.raises(ParameterError, match="encoder must be an encoder of texts"):
        index.attach("own", encoder, embeddings=rows)
    assert index.models() == {}


class TestAttach:
    @pytest.mark.parametrize("metric", ["cosine", "inner", "euclidean"])
    @pytest.mark.parametrize("dtype", ["float32", "float16"])
    def test_rows_in_the_order_of_the_documents(
        self, filled: Index, metric: Any, dtype: Any
    ) -> None:
        filled.attach("own", embeddings=ROWS, metric=metric, dtype=dtype)
        kept = ROWS.astype(dtype).astype(np.float32)
        assert np.array_equal(vectors(filled, "own"), kept)
        query = RNG.normal(size=4)
        expected = slow(filled, dict(zip(filled.ids, kept, strict=True)), query, metric)
        hits = filled.search(embedding=query, k=100, ranking="own")
        assert hits.ids == expected
        assert hits.ascending == (metric == "euclidean")
        assert filled.similar("d1", k=100, ranking="own").ids == [
            id
            for id in slow(
                filled,
                dict(zip(filled.ids, kept, strict=True)),
                kept[filled.ids.index("d1")].astype(np.float64),
                metric,
            )
            if id != "d1"
        ]
        filled.verify()

    def test_ids_leave_other_documents_without_a_vector(self, filled: Index) -> None:
        some = [*reversed(filled.ids[3:9])]
        filled.attach("own", embeddings=ROWS[:6], ids=some)
        info = filled.info()
        assert info.unembedded == {"own": 15}
        assert "15 documents without a vector" in info.models["own"]
        assert set(filled.search(embedding=ROWS[0], k=100, ranking="own").ids) == set(some)
        assert filled.search(embedding=ROWS[0], k=1, ranking="own").ids == [some[0]]
        lonely = filled.similar(filled.ids[0], ranking="own")
        assert len(lonely) == 0
        assert "The document has no vector of the model 'own'." in lonely.notes
        with pytest.raises(LookupError, match="has no vector of the model 'own'"):
            filled.reader().explain(filled.ids[0], SearchRequest(embedding=ROWS[0], ranking="own"))
        filled.verify()

    def test_encoder_and_embeddings(self, filled: Index) -> None:
        rows = lengths([document.text for document in filled]) * 2
        filled.attach("own", embeddings=rows, encoder=Encoder())
        assert np.array_equal(vectors(filled, "own"), rows)
        assert filled.search("aa b", k=3, ranking="own").ids
        filled.add(MORE)
        assert filled.info().unembedded == {"own": 0}
        with pytest.raises(ParameterError, match=r"an encoder of 2 dimensions.*got 3"):
            filled.attach("two", embeddings=np.ones((len(filled), 2)), encoder=Encoder())

    def test_empty_index(self, index: Index) -> None:
        index.attach("encoded", encoder=Encoder())
        index.attach("given", embeddings=np.zeros((0, 4)))
        for hits in (
            index.search("a", ranking="encoded"),
            index.search(embedding=ROWS[0], ranking="given"),
        ):
            assert len(hits) == 0
        index.add(["aab", "b"], embeddings={"given": ROWS[:2]})
        assert np.array_equal(vectors(index, "encoded"), lengths(["aab", "b"]))
        assert index.search(embedding=ROWS[1], k=50, ranking="given").ids == ["1", "0"]

    @pytest.mark.parametrize(
        ("how", "error", "told"),
        [
            ({"embeddings": ROWS[:20]}, ParameterError, "an array with 21 rows.*got 20"),
            ({"embeddings": ROWS[0]}, ParameterError, r"got shape \(4,\)"),
            ({"embeddings": ROWS[None]}, ParameterError, r"got shape \(1, 21, 4\)"),
            ({"embeddings": "x"}, ParameterTypeError, "one row for each document; got str"),
            ({"embeddings": [[1.0], [1.0, 2.0]]}, ParameterError, "array of numbers"),
            ({"embeddings": [["a"]] * 21}, ParameterError, "array of numbers"),
            ({"embeddings": ROWS[:, :0]}, ParameterError, "1 to 65,536 dimensions; got 0"),
            ({"embeddings": np.where(ROWS > 2, np.nan, ROWS)}, ParameterError, "NaN.*in row"),
            ({"embeddings": ROWS.astype(float) * 1e39}, ParameterError, "finite in float32"),
            ({"embeddings": ROWS * 1e5, "dtype": "float16"}, ParameterError, "finite in float16"),
            ({"embeddings": ROWS, "ids": ["d0"]}, ParameterError, "a list of 21 IDs.*got 1"),
            ({"embeddings": ROWS[:2], "ids": ["d0", "d0"]}, ParameterError, "'d0' twice"),
            ({"embeddings": ROWS[:2], "ids": ["d0", "zz"]}, ParameterError, "got 'zz'"),
            ({"embeddings": ROWS[:2], "ids": ["d0", 1]}, ParameterTypeError, "got int"),
            ({"embeddings": ROWS[:2], "ids": "d0"}, ParameterTypeError, "got str"),
            ({"ids": ["d0"]}, ParameterError, "model must be passed"),
            ({"encoder": lengths, "ids": ["d0"]}, ParameterError, "ids must be None without"),
            ({"encoder": lengths, "model": lengths}, ParameterError, "encoder must be None"),
            ({}, ParameterError, "model must be passed, or `encoder`, or `embeddings`"),
            ({"embeddings": ROWS, "metric": "l2"}, ParameterError, "metric must be"),
            ({"embeddings": ROWS, "dtype": "int8"}, ParameterError, "dtype must be"),
        ],
    )
    def test_bad_input_attaches_nothing(
        self, filled: Index, how: dict[str, Any], error: type[Exception], told: str
    ) -> None:
        before = filled.info()
        with pytest.raises(error, match=told):
            filled.attach("own", **how)
        assert filled.info().models == before.models == {}
        assert names(filled) == []
        filled.verify()

    def test_encoder_that_fails_halfway(
        self, filled: Index, files: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from textkin.index.store import _attached_models

        monkeypatch.setattr(_attached_models, "_BLOCK", 5)
        calls: list[int] = []

        def moody(texts: list[str]) -> np.ndarray:
            calls.append(len(texts))
            if len(calls) > 4:
                raise RuntimeError("out of memory")
            return lengths(texts)

        with pytest.raises(RuntimeError, match="out of memory"):
            filled.attach("own", encoder=moody)
        assert len(calls) == 5
        assert filled.models() == {}
        assert names(filled) == []
        filled.verify()
        filled.attach("own", encoder=lengths)

    def test_encoders_of_lists_and_tensors(self, filled: Index) -> None:
        expected = lengths([document.text for document in filled])
        filled.attach("lists", encoder=lambda texts: lengths(texts).tolist())
        assert np.array_equal(vectors(filled, "lists"), expected)

    def test_tensors(self, filled: Index) -> None:
        torch = pytest.importorskip("torch")

        def encode(texts: list[str]) -> Any:
            return torch.tensor(lengths(texts), dtype=torch.bfloat16, requires_grad=True)

        filled.attach("one", encoder=encode)
        filled.attach("list", encoder=lambda texts: [*encode(texts)])
        filled.attach("rows", embeddings=torch.tensor(ROWS, requires_grad=True))
        expected = np.array(encode([document.text for document in filled]).tolist())
        assert np.array_equal(vectors(filled, "one"), expected)
        assert np.array_equal(vectors(filled, "list"), expected)
        assert np.array_equal(vectors(filled, "rows"), ROWS)
        query = torch.tensor(ROWS[3])
        assert filled.search(embedding=query, k=1, ranking="rows").ids == [filled.ids[3]]


class TestAdd:
    def test_vectors_come_with_documents(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        more = RNG.normal(size=(len(MORE), 4)).astype(np.float32)
        filled.add(iter(MORE), embeddings={"own": more})
        assert np.array_equal(vectors(filled, "own"), np.concatenate([ROWS, more]))
        filled.verify()

    def test_update_replaces_vectors_of_unchanged_documents(
        self, filled: Index, files: None
    ) -> None:
        filled.attach("own", embeddings=ROWS)
        filled.attach("other", embeddings=-ROWS)
        ids = filled.ids
        some = [
            filled[ids[0]].to_dict(),
            {"id": ids[1], "text": "changed"},
            {"id": "new", "text": ""},
        ]
        given = np.full((3, 4), [[1.0], [2.0], [3.0]], np.float32)
        with pytest.warns(IndexWarning, match="without vectors of 'other'"):
            changes = filled.update([*some, some[0]], embeddings={"own": [*given, given[0] * 9]})
        assert (changes.added, changes.updated, changes.unchanged) == (1, 1, 1)
        kept = dict(zip(filled.ids, vectors(filled, "own"), strict=True))
        assert [kept[id][0] for id in (ids[0], ids[1], "new")] == [9.0, 2.0, 3.0]
        assert np.array_equal(kept[ids[5]], ROWS[5])
        other = dict(zip(filled.ids, vectors(filled, "other"), strict=True))
        assert np.array_equal(other[ids[0]], -ROWS[0])
        assert filled.info().unembedded == {"own": 0, "other": 2}
        filled.verify()
        filled.compact()
        assert np.array_equal(vectors(filled, "own"), [kept[id] for id in filled.ids])
        filled.verify()

    @pytest.mark.parametrize(
        ("given", "error", "told"),
        [
            ({"own": ROWS[:11]}, ParameterError, "a row for each of .*12 documents; got 11"),
            ({"own": ROWS[:13]}, ParameterError, "a row for each of 12 documents; got 13"),
            ({"own": ROWS[:12, :3]}, ParameterError, "vectors of 4 dimensions.*got 3"),
            ({"own": np.full((12, 4), np.inf)}, ParameterError, "infinity.*in row 0"),
            ({"zz": ROWS[:12]}, ParameterError, r"names of models .*\('own'\); got 'zz'"),
            ({"lsi": ROWS[:12]}, ParameterError, r"\('own'\); got 'lsi'"),
            (ROWS[:12], ParameterTypeError, "a mapping from the names"),
        ],
    )
    def test_bad_input_adds_nothing(
        self, filled: Index, given: Any, error: type[Exception], told: str
    ) -> None:
        filled.attach("lsi", LSI(2, random_state=0))
        filled.attach("own", embeddings=ROWS)
        before = filled.ids
        for write in (filled.add, filled.update):
            for documents in (MORE, iter(MORE)):
                with pytest.raises(error, match=told):
                    write(documents, embeddings=given)
        with pytest.raises(ParameterError, match="executor must be None"):
            filled.add(MORE, embeddings={"own": ROWS[:12]}, executor="threads")
        assert filled.ids == before
        assert np.array_equal(vectors(filled, "own"), ROWS)
        filled.verify()

    def test_missing_vectors_are_added_later(self, filled: Index, files: None) -> None:
        filled.attach("own", encoder=lengths)
        with Index.open(filled.path) as without:
            with pytest.warns(IndexWarning, match=r"index\.embed\(name\)"):
                without.add(MORE)
            assert without.info().unembedded == {"own": len(MORE)}
            found = without.similar("d1", k=100, ranking="own").ids
            assert not set(found) & {record["id"] for record in MORE}
            with pytest.raises(ValueError, match="stores only the vectors"):
                without.embed("own")
            assert without.embed("own", embeddings=[[1, 2, 3]], ids=["e1"]) == 1
            assert without.info().unembedded == {"own": len(MORE) - 1}
        with Index.open(filled.path, models={"own": lengths}) as index:
            assert index.embed("own") == len(MORE) - 1
            assert index.embed("own") == 0
            expected = lengths([document.text for document in index])
            expected[index.ids.index("e1")] = 1, 2, 3
            assert np.array_equal(vectors(index, "own"), expected)
            index.verify()

    def test_graph_sees_vectors_that_were_set(self, filled: Index) -> None:
        pytest.importorskip("usearch")
        rows = RNG.normal(size=(600, 4))
        filled.add([{"id": f"g{i}", "text": ""} for i in range(600)])
        filled.attach("own", embeddings=rows, ids=[f"g{i}" for i in range(600)])
        near = ModelRanking("own", approximate=True, candidates=20)
        filled.search(embedding=rows[0], ranking=near)
        filled.embed("own", embeddings=[[9, 9, 9, 9.5], -rows[0]], ids=["d1", "g0"])
        assert filled.search(embedding=[9, 9, 9, 9.5], k=1, ranking=near).ids == ["d1"]
        assert filled.search(embedding=-rows[0], k=1, ranking=near).ids == ["g0"]


class TestSearch:
    def test_request_with_an_embedding(self, filled: Index) -> None:
        filled.attach("own", embeddings=ROWS)
        request = SearchRequest(embedding=ROWS[2], ranking="own", k=3)
        assert hash(request) == hash(SearchRequest(embedding=[ROWS[2]], ranking="own", k=3))
        assert SearchRequest.from_json(json.loads(json.dumps(request.to_json()))) == request
        hits = filled.find(request)
        assert hits.ids == filled.search(embedding=ROWS[2], ranking="own", k=3).ids
        assert hits.next().ids == filled.search(embedding=ROWS[2], ranking="own", k=6).ids[3:]
        assert (hits.query.text, hits.query.words, hits.notes) == (None, None, ())
        assert json.dumps(hits.to_dict())
        assert "Hits" in repr(hits)
        assert str(hits)
        assert hits.to_html()
        assert hits.feedback(relevant=[hits[1].id]).ids
        assert len(filled.search(embedding=ROWS[2], k=1000, ranking="own")) == 21

    def test_an_encoder_reads_words_that_no_document_has(self, filled: Index) -> None:
        filled.attach("own", encoder=lengths)
        assert filled.search("neverseen aa", ranking="own").notes == ()
        assert "neverseen" in filled.search("neverseen aa").notes[0]

    def test_text_and_embedding_in_a_hybrid(self, filled: Index) -> None:
        filled.attach("own", embeddings=ROWS)
        text = RECORDS[1]["text"]
        for hybrid in (RankFusion(["bm25", "own"]), WeightedSum({"bm25": 0.5, "own": 0.5})):
            hits = filled.search(text, embedding=ROWS[1], ranking=hybrid, k=5)
            assert hits.query.text == text
            told = hits[0].explain()
            assert sum(part.value for part in told.parts) == pytest.approx(hits[0].score)
            with pytest.raises(ParameterError, match="embedding must be passed with a query"):
                filled.search(embedding=ROWS[1], ranking=hybrid)

    @pytest.mark.parametrize(
        ("how", "error", "told"),
        [
            ({"embedding": ROWS[0]}, ParameterError, r"attached model.*ranking=Hybrid\(.*'own'"),
            ({"embedding": ROWS[0], "ranking": "wmd"}, ParameterError, "attached model"),
            ({"embedding": ROWS[0][:3], "ranking": "own"}, ParameterError, "4 dim.*got 3"),
            ({"embedding": [np.nan] * 4, "ranking": "own"}, ParameterError, "finite"),
            ({"embedding": [1e39] * 4, "ranking": "own"}, ParameterError, "finite"),
            ({"embedding": [], "ranking": "own"}, ParameterTypeError, "a vector of numbers"),
            ({"embedding": ROWS, "ranking": "own"}, ParameterTypeError, r"shape \(21, 4\)"),
            ({"embedding": "x", "ranking": "own"}, ParameterTypeError, "a vector of numbers"),
            ({"ranking": "own"}, ParameterTypeError, "query must be a str"),
            (
                {"query": {"a": 1.0}, "embedding": ROWS[0], "ranking": "own"},
                ParameterTypeError,
                "a str or None with an embedding",
            ),
            ({"query": "a", "ranking": "own"}, ValueError, r"search\(embedding=vector\)"),
        ],
    )
    def test_bad_queries(
        self, filled: Index, how: dict[str, Any], error: type[Exception], told: str
    ) -> None:
        filled.attach("own", embeddings=ROWS)
        with pytest.raises(error, match=told):
            filled.search(**how)

    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def test_blocks_do_not_change_results(self, data: st.DataObject) -> None:
        """Vectors in several blocks, with replaced and dead rows, rank like one block."""
        from textkin.index.search.rankings import _models
        from textkin.index.store import ModelRecord, StoredVectors, VectorBlock, row_lengths

        n = data.draw(st.integers(1, 40))
        metric = data.draw(st.sampled_from(["cosine", "inner", "euclidean"]))
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        matrix = rng.integers(-2, 3, size=(n, 3)).astype(np.float32)
        present = rng.random(n) < 0.8
        blocks, rows = [], []
        for number in range(3):
            some = np.flatnonzero(present & (rng.random(n) < 0.6)) if number < 2 else None
            some = np.flatnonzero(present) if some is None else some
            stale = rng.normal(size=(len(some), 3)).astype(np.float32)
            block = stale if number < 2 else matrix[some]
            blocks.append(VectorBlock(some, block, row_lengths(block)))
            rows.append(some)
        record = ModelRecord(1, "x", "texts", metric, 0, 3, 0, "", "")
        stored = StoredVectors(record, blocks, rows, n)
        assert np.array_equal(stored.of_rows(np.arange(n)), np.where(present[:, None], matrix, 0))
        found = _models.ModelVectors(stored, metric)
        query = _models._query(rng.integers(-2, 3, size=3).astype(np.float64))
        limit = data.draw(st.integers(1, 8))
        places = found.candidates(query, limit, found.found)
        sign = 1 if metric == "euclidean" else -1
        every = np.flatnonzero(found.found)
        scores = sign * found.scores(query, every)
        best = every[np.argsort(scores, kind="stable")[:limit]]
        mine = places[np.argsort(sign * found.scores(query, places), kind="stable")[:limit]]
        assert np.array_equal(mine, best)


class TestFiles:
    def test_files_hold_the_vectors(self, filled: Index, files: None, tmp_path: Path) -> None:
        filled.attach("own", embeddings=ROWS)
        assert len(names(filled)) == 3
        assert filled.info().bytes["embeddings"] > ROWS.nbytes
        more = RNG.normal(size=(len(MORE), 4)).astype(np.float32)
        expected = dict(zip(filled.ids, ROWS, strict=True))
        for record, row in zip(MORE, more, strict=True):  # one by one, until they are moved
            filled.add([record], embeddings={"own": [row]})
            expected[record["id"]] = row
        assert len(names(filled)) == 5
        for id in filled.ids[4:9]:
            filled.delete(id)
            del expected[id]
        filled.embed("own", embeddings=[[7.0, 0, 0, 0]], ids=["d0"])
        expected["d0"] = np.array([7.0, 0, 0, 0])
        kept = [expected[id] for id in filled.ids]
        with Index.open(filled.path) as old:
            assert np.array_equal(vectors(old, "own"), kept)
            filled.compact()
            assert np.array_equal(vectors(filled, "own"), kept)
            filled.verify()
            assert old.search(embedding=[7.0, 0, 0, 0], k=1, ranking="own").ids == ["d0"]
        rows = sum(record.rows for record in _records(filled))
        assert rows == len(filled)
        assert len(names(filled)) == -(-rows // 7)
        with filled.copy(tmp_path / "copy.kin") as copy:
            assert np.array_equal(vectors(copy, "own"), kept)
            copy.verify()
        filled.detach("own")
        assert names(filled) == []

    def test_index_without_documents_keeps_its_model(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        filled.delete(filled.ids)
        filled.verify()
        filled.compact()
        filled.verify()
        assert names(filled) == []
        filled.add([RECORDS[0]], embeddings={"own": ROWS[:1]})
        assert filled.search(embedding=ROWS[0], ranking="own").ids == [RECORDS[0]["id"]]

    def test_changed_length_is_found_at_once(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        file = filled.path / "embeddings" / names(filled)[0]
        content = bytearray(file.read_bytes())
        start = 8 + int.from_bytes(content[:8], "little")
        n = 7  # vectors in the file
        lengths = np.frombuffer(content, "<f8", n, start + 8 * n)
        assert np.allclose(lengths, np.linalg.norm(ROWS[:n], axis=1))
        lengths[2] *= 2
        file.write_bytes(content)
        with (
            Index.open(filled.path) as changed,
            pytest.raises(DamagedIndexError, match="its lengths are corrupt"),
        ):
            changed.search(embedding=ROWS[2], ranking="own")

    def test_strays_are_swept(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        kept = names(filled)
        (filled.path / "embeddings" / "stray.safetensors").write_bytes(b"x")
        filled.compact()
        assert names(filled) == kept

    def test_failed_add_leaves_no_file(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        kept = names(filled)
        taken = [*MORE, RECORDS[0]]
        with pytest.raises(ValueError, match="used by another document"):
            filled.add(taken, embeddings={"own": ROWS[: len(taken)]})
        with pytest.raises(ParameterError):
            filled.add(iter(MORE), embeddings={"own": ROWS[: len(MORE) + 1]})
        assert names(filled) == kept
        filled.verify()

    @pytest.mark.parametrize("how", ["removed", "cut", "linked", "header", "other"])
    def test_corrupt_file_costs_the_model_only(
        self, filled: Index, files: None, tmp_path: Path, how: str
    ) -> None:
        filled.attach("own", embeddings=ROWS)
        filled.close()
        file = filled.path / "embeddings" / names(filled)[1]
        data = bytearray(file.read_bytes())
        file.unlink()
        if how == "cut":
            file.write_bytes(data[:-4])
        elif how == "linked":
            (tmp_path / "elsewhere").write_bytes(data)
            file.symlink_to(tmp_path / "elsewhere")
        elif how == "header":
            data[20] ^= 1
            file.write_bytes(data)
        elif how == "other":
            shutil.copyfile(filled.path / "embeddings" / names(filled)[1], file)
        with Index.open(filled.path) as index:
            assert index.search("abc def").ids
            for use in (
                lambda: index.search(embedding=ROWS[0], ranking="own"),
                lambda: index.similar("d1", ranking="own"),
                lambda: index.copy(tmp_path / "copy.kin"),
                index.verify,
            ):
                with pytest.raises(DamagedIndexError, match=r"own.*attach it again") as told:
                    use()
                place = "catalogue" if how == "other" and use is not index.verify else "embeddings/"
                assert place in told.value.problems[0]
            index.add(MORE, embeddings={"own": ROWS[:12]})
            index.delete("d1")
            index.compact()
            index.detach("own")
            index.verify()
            assert names(index) == []

    def test_flipped_bit_never_reaches_a_score(self, filled: Index, files: None) -> None:
        filled.attach("own", embeddings=ROWS)
        filled.close()
        file = filled.path / "embeddings" / names(filled)[0]
        data = bytearray(file.read_bytes())
        data[-3] ^= 1
        file.write_bytes(data)
        with Index.open(filled.path) as index:
            with pytest.raises(DamagedIndexError, match="its hash differs"):
                index.verify()
            with pytest.raises(DamagedIndexError, match=r"the vector at position .* is corrupt"):
                index.search(embedding=ROWS[6], k=21, ranking="own")

    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM embeddings",
            "UPDATE embeddings SET dtype = 'float16'",
            "UPDATE embeddings SET dtype = 'x'",
            "UPDATE vector_files SET rows = rows + 1",
            "UPDATE vector_files SET bytes = 1",
            "UPDATE vector_files SET sha256 = 'x'",
            "DELETE FROM vector_files WHERE number = 1",
            "INSERT INTO missing_vectors SELECT model, 0 FROM embeddings",
            "INSERT INTO missing_vectors SELECT model, 9999 FROM embeddings",
        ],
    )
    def test_invalid_rows(self, filled: Index, files: None, statement: str) -> None:
        filled.attach("own", embeddings=ROWS)
        filled.close()
        helpers.change(filled.path, statement)
        with Index.open(filled.path) as index:
            assert index.search("abc def").ids
            with pytest.raises(DamagedIndexError, match="own"):
                index.verify()
            index.models()
            index.info()
            index.compact()
            index.detach("own")
            index.verify()
            index.attach("own", embeddings=ROWS)
            index.verify()


def _records(index: Index) -> list[Any]:
    with index._session.snapshot().catalog() as catalog:
        return _vector_store.vector_file_records(catalog)


SENTENCES = (
    "The bank raised its rates. Loans become expensive. A cat sleeps on the sofa.",
    "A kitten naps. The river bank is green.",
    "cats",
    "",
)


def bag(texts: list[str]) -> np.ndarray:
    """Return counts of some words, as an encoder whose explanations can be checked by hand."""
    words = ("bank", "rates", "loans", "cat", "sofa", "river", "kitten")
    return np.array([[text.lower().count(word) for word in words] for text in texts], np.float32)


class TestExplain:
    @pytest.fixture
    def encoded(self, index: Index) -> Callable[[str], Index]:
        index.add(SENTENCES)

        def attached(metric: str) -> Index:
            index.attach("own", encoder=bag, metric=metric)  # type: ignore[arg-type]
            return index

        return attached

    @pytest.mark.parametrize("metric", ["cosine", "inner", "euclidean"])
    def test_parts_sum_to_the_score(self, encoded: Callable[[str], Index], metric: str) -> None:
        index = encoded(metric)
        for hit in index.search("The bank has rates for loans", ranking="own"):
            told = hit.explain()
            assert told.score == hit.score
            assert sum(part.value for part in told.parts) == pytest.approx(hit.score, abs=1e-12)
            for part in told.parts:
                if part.parts:
                    inner = sum(one.value for one in part.parts)
                    assert inner == pytest.approx(part.value, abs=1e-12)

    def test_parts_of_passages_are_shapley_values(self, encoded: Callable[[str], Index]) -> None:
        """With three passages, the orders are all permutations."""
        from itertools import permutations

        index = encoded("cosine")
        query = "bank rates loans cat"
        told = index.search(query, k=1, ranking="own")[0].explain()
        passages = (
            "The bank raised its rates. ",
            "Loans become expensive. ",
            "A cat sleeps on the sofa.",
        )
        asked = bag([query])[0]

        def score(some: tuple[str, ...]) -> float:
            row = bag(["".join(part for part in passages if part in some)])[0]
            size = np.linalg.norm(row) * np.linalg.norm(asked)
            return float(row @ asked / size) if size else 0.0

        for passage in passages:
            gains = []
            for order in permutations(passages):
                at = order.index(passage)
                gains.append(score(order[: at + 1]) - score(order[:at]))
            (part,) = [one for one in told.parts if one.name == passage.strip()]
            assert part.value == pytest.approx(np.mean(gains), abs=1e-6)

    def test_parts_are_what_is_lost(self, encoded: Callable[[str], Index]) -> None:
        index = encoded("inner")
        told = index.search("bank rates loans", k=1, ranking="own")[0].explain()
        values = {part.name: part for part in told.parts}
        assert values["The bank raised its rates."].value == 2
        assert values["Loans become expensive."].value == 1
        assert values["A cat sleeps on the sofa."].value == 0
        assert values["The bank raised its rates."].note == "with bank, rates"
        inner = {part.name: part.value for part in values["The bank raised its rates."].parts}
        assert inner["bank"] == inner["rates"] == 1
        assert inner["raised"] == inner["with the other passages"] == 0
        text = index.reader().compare("bank rates", "A bank. And rates.", "own")
        assert sum(part.value for part in text.parts) == pytest.approx(text.score)

    def test_without_an_encoder_only_the_vectors_are_described(self, filled: Index) -> None:
        filled.attach("own", embeddings=np.eye(21, 4) + 0.5, metric="inner")
        hit = filled.search(embedding=[1, 0, 0, 0], ranking="own")[0]
        (part,) = hit.explain().parts
        assert part.value == hit.score == 1.5
        assert part.note.startswith("lengths 1 and 1.73, angle 30 degrees; for passages")

    def test_a_stored_vector_that_differs_is_reported(self, index: Index) -> None:
        index.add(SENTENCES[:1])
        index.attach("own", embeddings=[[0, 0, 0, 0, 1, 1, 5]], encoder=bag)
        told = index.search("bank sofa", ranking="own")[0].explain()
        assert any("differs from the encoder's" in part.note for part in told.parts)
        assert sum(part.value for part in told.parts) == pytest.approx(told.score)


def test_random_calls_agree_with_a_dictionary(index: Index, files: None) -> None:
    """Random writes with and without vectors, against a plain dictionary."""
    rng = Random(3)
    index.attach("own", embeddings=np.zeros((0, 3)))
    expected: dict[str, np.ndarray | None] = {}
    for step in range(60):
        fresh = [f"n{step}-{i}" for i in range(rng.randrange(1, 6))]
        old = rng.sample(list(expected), min(len(expected), 3))
        rows = np.array([[rng.random() for _ in range(3)] for _ in [*fresh, *old]], np.float32)
        match rng.choice(["add", "bare", "update", "delete", "embed", "compact"]):
            case "add":
                index.add(model.records(rng, fresh), embeddings={"own": rows[: len(fresh)]})
                expected.update(zip(fresh, rows, strict=False))
            case "bare":
                with pytest.warns(IndexWarning):
                    index.add(model.records(rng, fresh))
                expected.update(dict.fromkeys(fresh))
            case "update":
                same = [index[id] for id in old[:2]]
                changed = model.records(rng, [*fresh, *old[2:]])
                given = rows[: len(same) + len(changed)]
                index.update([*same, *changed], embeddings={"own": given})
                ids = [*old[:2], *(record["id"] for record in changed)]
                expected.update(zip(ids, given, strict=True))
            case "delete":
                index.delete(old)
                for id in old:
                    del expected[id]
            case "embed":
                index.embed("own", embeddings=rows[: len(old)].reshape(-1, 3), ids=old)
                expected.update(zip(old, rows, strict=False))
            case "compact":
                index.compact()
        found = vectors(index, "own")
        for id, row in zip(index.ids, found, strict=True):
            wanted = expected[id]
            assert np.array_equal(row, np.zeros(3) if wanted is None else wanted), (step, id)
        missing = sum(row is None for row in expected.values())
        assert index.info().unembedded == {"own": missing}
    index.verify()
    assert len(names(index)) == len(_records(index)) > 1
