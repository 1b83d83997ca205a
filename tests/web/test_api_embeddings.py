"""Embeddings without their encoder over HTTP: documents are queries, texts are not."""

import numpy as np
import pytest

from textkin.exceptions import IndexWarning
from web.served import RECORDS, error_of


@pytest.fixture(autouse=True)
def embedded(index):
    rows = np.random.default_rng(0).normal(size=(len(index), 4))
    index.attach("minilm", embeddings=rows)


def test_ranking_without_encoder_is_listed_as_documents_only(client):
    stats = client.get("/api/stats").json()
    (entry,) = [one for one in stats["rankings"] if one["name"] == "minilm"]
    assert entry["takes_text"] is False
    assert "a query must be a document" in entry["description"]
    assert all(one["takes_text"] for one in stats["rankings"] if one["name"] != "minilm")
    assert "minilm" not in {one["name"] for one in stats["measures"]}


def test_similar_documents_and_their_explanation(client):
    body = {"id": "cats", "ranking": "minilm"}
    found = client.post("/api/similar", json=body).json()
    assert len(found["hits"]) == len(RECORDS) - 1
    first = found["hits"][0]
    told = client.post("/api/explain", json={**body, "document": first["id"]}).json()
    assert told["score"] == first["score"]
    (part,) = told["parts"]
    assert part["name"] == "the two vectors"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("search", {"query": "cats"}),
        ("explain", {"query": "cats", "document": "dogs"}),
        ("classify", {"text": "cats", "field": "label"}),
    ],
)
def test_text_queries_are_explained(client, path, body):
    response = client.post(f"/api/{path}", json={**body, "ranking": "minilm"})
    told = error_of(response, 422)
    assert told["field"] == "ranking"
    assert "does not have the encoder" in told["message"]


def test_added_documents_have_a_note(client, writer, index):
    with pytest.warns(IndexWarning, match="without vectors of 'minilm'"):
        added = client.post(
            "/api/documents", json={"documents": [{"id": "new", "text": "A fox"}]}, headers=writer
        ).json()
    assert "'minilm'" in added["notes"][0]
    index.refresh()
    assert index.info().unembedded == {"lsi": 0, "minilm": 1}
    found = client.post("/api/similar", json={"id": "new", "ranking": "minilm"}).json()
    assert found["hits"] == []
    assert "The document has no vector of the model 'minilm'." in found["notes"]
    body = {"id": "new", "document": "cats", "ranking": "minilm"}
    assert client.post("/api/explain", json=body).status_code < 500
    body = {"id": "cats", "document": "new", "ranking": "minilm"}
    error_of(client.post("/api/explain", json=body), 404)
