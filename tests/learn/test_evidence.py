"""Tests of evidence: votes, explanations, certificates, and drawings."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

import textkin as tk
from textkin import NearestNeighborClassifier as KNN
from textkin.explain import Evidence, EvidenceList
from textkin.learn import _neighbors, _vector_measure
from textkin.learn._documents import one

TEXTS = [
    {"id": "cats", "text": "Cats purr on the mat"},
    {"id": "kitten", "text": "A kitten sleeps on the sofa"},
    {"id": "none", "text": "the"},
    {"id": "stocks", "text": "Stocks fell sharply on Monday"},
    {"id": "market", "text": "The market lost five percent"},
]
LABELS = ["pets", "pets", "pets", "money", "money"]
QUERIES = ["my kitten purrs", "", "the stock market", "a cat in the market"]


@pytest.fixture(scope="module", params=["wmd", "rwmd", "cosine", "edit"])
def knn(request):
    vote = {"wmd": "distance", "rwmd": "fall-back"}.get(request.param, "majority")
    return KNN(request.param, n_neighbors=3, vote=vote).fit(tk.read(TEXTS), LABELS)


def test_evidence_agrees_with_predictions(knn):
    evidence = knn.evidence(QUERIES)
    assert evidence.labels == knn.predict(QUERIES).tolist()
    for item, shares in zip(evidence, knn.predict_proba(QUERIES), strict=True):
        of_classes = dict.fromkeys(knn.classes_, 0.0)
        for neighbor in item.neighbors:
            of_classes[neighbor.label] += neighbor.vote
            assert neighbor.id == TEXTS[neighbor.index]["id"] == neighbor.name
            assert neighbor.snippet == TEXTS[neighbor.index]["text"]
            assert neighbor.label == LABELS[neighbor.index]
        if item.empty:
            assert shares.tolist() == knn.class_prior_.tolist()
        else:
            assert list(of_classes.values()) == pytest.approx(shares.tolist())
        assert dict(item.shares) == {
            label: share for label, share in zip(knn.classes_, shares, strict=True) if share
        }
        assert item.score == shares.max()
        distances = [neighbor.distance for neighbor in item.neighbors]
        assert distances == sorted(distances)


def test_explanations_sum_to_the_distance(knn):
    for item in knn.evidence(QUERIES):
        for rank, neighbor in enumerate(item.neighbors):
            reason = item.explain(rank)
            if knn.metric == "rwmd":
                assert reason.bounds.relaxed == pytest.approx(neighbor.distance)
                assert item.parts_of == "the exact distance"
            elif knn.metric == "cosine":
                assert 1 - reason.score == pytest.approx(neighbor.distance)
                assert item.parts_of == "the cosine"
            else:
                assert reason.score == pytest.approx(neighbor.distance)
                assert item.parts_of == "the distance"
        with pytest.raises(IndexError, match=rf"number of neighbors \({len(item.neighbors)}\)"):
            item.explain(3)


def test_certificate_proves_the_neighbors():
    exact = KNN(n_neighbors=2).fit(tk.read(TEXTS), LABELS)
    proof = exact.evidence(QUERIES[:1])[0].certificate()
    assert proof.verify().exact
    assert proof.verdict(2) == "empty"
    bound = clone(exact).set_params(metric="wcd").fit(tk.read(TEXTS), LABELS)
    assert not bound.evidence(QUERIES[:1])[0].certificate().verify().exact
    vectors = KNN("cosine").fit(tk.read(TEXTS), LABELS)
    assert vectors.evidence(QUERIES)[0].certificate() is None


def test_empty_document_gets_the_most_frequent_class_without_evidence(knn):
    item = knn.evidence([""])[0]
    assert item.empty
    assert item.label == "pets"
    assert item.neighbors == ()
    assert (
        repr(item) == "pets: the most frequent class, because the document has nothing to compare"
    )
    with pytest.raises(IndexError):
        item.explain()
    assert "most frequent class" in item.to_html()


def test_to_dict_has_plain_types(knn):
    records = knn.evidence(tk.read(TEXTS)).to_records()
    assert json.loads(json.dumps(records)) == records
    assert [record["document"] for record in records] == list(range(5))
    assert records[0]["id"] == "cats"
    dates = np.array(["2020-01-01", "2021-01-01"] * 3, dtype="datetime64[D]")[:5]
    found = KNN("cosine", n_neighbors=1).fit(tk.read(TEXTS), dates.astype(object))
    assert found.evidence(["cats"]).to_records()[0]["label"] == "2020-01-01"


@pytest.mark.parametrize("labels", [[1, 2, 1, 2, 2], [True, False, True, False, True]])
def test_labels_are_python_values(labels):
    found = KNN("cosine", n_neighbors=1).fit(tk.read(TEXTS), labels).evidence(["cats", "market"])
    assert [type(label) for label in found.labels] == [type(labels[0])] * 2
    assert found.labels == [labels[0], labels[4]]


def test_datetime_labels_keep_their_type():
    """Check a regression: times in nanoseconds became integers."""
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    found = KNN("l2", n_neighbors=1).fit([[0.0], [1.0]], days)
    [item] = found.evidence([[0.9]])
    assert item.label == item.neighbors[0].label == found.predict([[0.9]])[0] == days[1]
    assert item.to_dict()["label"].startswith("2021-01-01")


def test_evidence_list_sequence_protocol(knn):
    evidence = knn.evidence(QUERIES)
    assert len(evidence[1:3]) == 2
    assert isinstance(evidence[1:3], EvidenceList)
    assert evidence[-1] is list(evidence)[3]
    assert repr(evidence).startswith("EvidenceList: 4 documents\n[0] pets")
    assert repr(evidence).endswith("... and 1 more")
    some = EvidenceList(item for item in evidence if not item.empty)
    assert len(some) == 3


def test_pickled_evidence_keeps_explanations_and_certificates():
    evidence = pickle.loads(pickle.dumps(KNN().fit(tk.read(TEXTS), LABELS).evidence(QUERIES)))
    assert evidence[0].explain().distance == evidence[0].neighbors[0].distance
    evidence[0].certificate().verify()


def test_evidence_draws_itself(knn):
    evidence = knn.evidence(QUERIES)
    text = evidence[0].to_text(explained=1)
    assert text.splitlines()[0].startswith("pets: ")
    assert f"why {evidence[0].neighbors[0].name}: parts of " in text
    assert all(len(line) <= 40 for line in evidence[0].to_text(width=40).splitlines())
    page = evidence.to_html(title="Mail & more", explained=2)
    assert "<title>Mail &amp; more</title>" in page
    assert page.count("<section>") == 4
    assert page.count("<details") == page.count("<svg xmlns") == 6
    assert "The first 2 are shown" in evidence.to_html(limit=2)
    assert evidence.to_html(limit=2, explained=0).count("<section>") == 2
    assert "No documents." in evidence[:0].to_html()
    assert evidence[0]._repr_html_().count("<details") == 1
    assert evidence._repr_html_().count("<section>") == 4
    for wrong in ({"limit": 0}, {"explained": -1}):
        with pytest.raises(ValueError, match="must be an integer"):
            evidence.to_html(**wrong)


def test_drawings_escape_html():
    hostile = "<script>alert('cat')</script> \x1b[31m \u202e cat"
    documents = tk.read([{"id": "<b>&'\"", "text": hostile}, {"id": "b", "text": "dog"}])
    evidence = KNN(n_neighbors=2).fit(documents, [hostile, "dog"]).evidence(documents)
    for page in (evidence.to_html(title=hostile), evidence._repr_html_()):
        assert "<script" not in page
        assert "<b>&lt;b&gt;&amp;&#39;&quot;</b>" in page
        assert "\x1b" not in page
        assert "\u202e" not in page
    assert "\x1b" not in repr(evidence)
    assert "\u202e" not in repr(evidence)


def test_rows_of_numbers_have_no_snippets():
    item = KNN("l2", n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).evidence([[0.2]])[0]
    assert item.neighbors[0].snippet == item.snippet == ""
    assert item.neighbors[0].name == "#0"
    lines = repr(item).splitlines()
    assert lines[0] == "a: 100 % of the votes of 1 neighbor"
    assert lines[2].split() == ["100", "%", "a", "0.2", "#0"]


def test_rows_of_numbers_are_selected_once_per_document(monkeypatch):
    """Check a regression: selecting each neighbor from a sparse matrix was 100 times slower."""
    taken = []
    monkeypatch.setattr(_neighbors, "one", lambda X, row: taken.append(row) or one(X, row))
    monkeypatch.setattr(_vector_measure, "one", lambda X, row: taken.append(row) or one(X, row))
    X = sparse.csr_array(np.eye(6))
    KNN("cosine").fit(X, list("abcabc")).evidence(X[:2])
    assert taken == [0, 1]


def test_column_names_are_requested_once_per_explanation():
    """Check a regression: one explanation took 52 seconds, since models rebuilt all names."""
    asked = []

    class Named(TfidfVectorizer):
        def get_feature_names_out(self, names=None):
            asked.append(names)
            return super().get_feature_names_out(names)

    knn = KNN("l1", model=Named(), n_neighbors=1).fit(["a cat purrs", "the dog barks"], [0, 1])
    [item] = knn.evidence(["the cat and the dog"])
    assert len(item.explain().parts) > 2
    assert len(asked) == 1


def test_neighbors_without_a_vote_are_shown_without_a_vote():
    X = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    item = KNN("l2", vote="fall-back").fit(X, list("ABCBA")).evidence([[0.0]])[0]
    assert item.label == "A"
    assert [neighbor.vote for neighbor in item.neighbors] == [1, 0, 0, 0, 0]
    assert repr(item).startswith("A: 100 % of the votes of 1 of 5 neighbors")


def test_evidence_without_a_search_has_no_certificate():
    item = Evidence("a", (("a", 1.0),), (), empty=True)
    assert item.certificate() is None
    assert item.parts_of == ""
