"""Results as DataFrames, CSV, and drawings in files."""

import csv
import io
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest

import textkin as tk
from textkin.exceptions import ParameterError
from textkin.explain import Flow

TEXTS = ["Cats purr", "Kittens purr", "Stocks fell", "cats PURR", "Shares fell"]
LABELS = ["pets", "pets", "money", "pets", "money"]
INDEX = ["a", "b", "c", "d", "e"]
SERIES = pd.Series(TEXTS, index=INDEX)


def test_duplicates_have_the_index_of_their_series():
    frame = tk.find_duplicates(SERIES).to_frame()
    assert list(frame.index) == ["a", "d"]
    assert frame["reason"].tolist() == ["representative", "same text"]
    assert SERIES[frame.index].tolist() == ["Cats purr", "cats PURR"]
    repeats = tk.find_duplicates(SERIES, against=["CATS purr"]).to_frame()
    assert list(repeats.index) == ["a", "d"]
    plain = tk.find_duplicates(TEXTS).to_frame()
    assert list(plain.index) == [0, 1]
    assert list(tk.find_duplicates(["one", "two"]).to_frame().columns) == []


def test_evidence_has_the_index_of_its_series():
    knn = tk.NearestNeighborClassifier(n_neighbors=1).fit(SERIES, LABELS)
    evidence = knn.evidence(SERIES[1:4])
    frame = evidence.to_frame()
    assert list(frame.index) == ["b", "c", "d"]
    assert frame["label"].tolist() == ["pets", "money", "pets"]
    assert list(evidence[1:].to_frame().index) == ["c", "d"]


def test_clusters_have_one_row_per_document():
    clustering = tk.DocumentClustering(2, method="kmedoids", random_state=0).fit(SERIES)
    frame = clustering.to_frame()
    assert list(frame.index) == INDEX
    assert frame["cluster"].tolist() == clustering.labels_.tolist()
    assert frame["central"].sum() == 2
    assert clustering.to_csv().splitlines()[0] == "document,cluster,distance,central"


def test_neighbors_become_a_frame():
    found = tk.WordMover().fit(TEXTS).search(["kitten"], k=2)
    frame = found.to_frame()
    assert frame["index"].tolist() == found.indices[0].tolist()


def test_csv_quotes_line_ends_of_all_kinds(tmp_path):
    fields = {"id": "a\rb", "text": "cat", "note": "x\ry\nz"}
    with tk.Index.create(tmp_path / "index.kin") as index:
        index.add([fields])
        text = index.search("cat").to_csv()
        assert index.search("dog").to_csv() == "rank,score,id,label,snippet\n"
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["id"], row["note"]) == (fields["id"], fields["note"])
    assert pd.read_csv(io.StringIO(text)).shape == (1, 6)


@pytest.fixture
def hits(tmp_path):
    with tk.Index.create(tmp_path / "index.kin", language=None) as index:
        index.add(
            [
                {
                    "id": "a",
                    "text": 'Cats, "purr"\nat night',
                    "label": "pets",
                    "title": "On cats",
                    "date": "2015-03-01",
                    "tags": ["x", "y"],
                    "rank": 7,
                },
                {"id": "b", "text": "Dogs bark, cats sleep"},
            ]
        )
        yield index.search("cats")


def test_hits_become_records_frames_and_csv(hits, tmp_path):
    by_id = {record["id"]: record for record in hits.to_records()}
    assert by_id["a"]["rank"] in (1, 2)
    assert by_id["a"]["metadata.rank"] == 7
    assert by_id["a"]["title"] == "On cats"
    frame = hits.to_frame()
    assert frame["id"].tolist() == hits.ids
    assert frame["score"].tolist() == hits.scores.tolist()
    rows = [*csv.DictReader(io.StringIO(hits.to_csv()))]
    assert {row["id"]: row["tags"] for row in rows} == {"a": '["x", "y"]', "b": ""}
    assert hits.to_csv(tmp_path / "hits.csv") is None
    assert (tmp_path / "hits.csv").read_text(encoding="utf-8") == hits.to_csv()


def test_hits_print_title_label_and_date(hits):
    lines = str(hits).splitlines()
    at = next(number for number, line in enumerate(lines) if "On cats" in line)
    assert lines[at].endswith("a   On cats · pets · 2015-03-01")
    assert lines[at + 1].strip().startswith("Cats,")
    assert next(line for line in lines if " b " in line).endswith("Dogs bark, cats sleep")
    assert "<b>On cats · pets · 2015-03-01</b>" in hits._repr_html_()


def test_an_empty_result_shows_why_in_a_notebook(tmp_path):
    with tk.Index.create(tmp_path / "index.kin", language=None) as index:
        index.add(["Cats purr"])
        assert "No document has the word" in index.search("zebra")._repr_html_()


def test_an_index_shows_itself_in_a_notebook(tmp_path):
    with tk.Index.create(tmp_path / "a<b.kin", language=None) as index:
        index.add([{"id": "a", "text": "Cats purr", "label": "pets", "year": 2015}])
        index.attach("pooled", tk.Pooling())
        page = index._repr_html_()
        assert "a&lt;b.kin" in page
        assert "pooled" in page
        assert "1 document" in page
    assert "closed" in index._repr_html_()


def test_an_index_shows_its_language_and_labels_in_a_notebook(tmp_path):
    with tk.Index.create(tmp_path / "a<b.kin") as index:
        empty = index._repr_svg_()
        assert [*ElementTree.fromstring(empty).iter()]
        index.add([{"id": str(at), "text": "Cats", "label": "<pets>"} for at in range(2)])
        index.add([{"id": "c", "text": "no label"}])
        assert '<td style="text-align:left">en</td>' in index._repr_html_()
        image = index._repr_svg_()
        ElementTree.fromstring(image)
        assert "documents: 3; label &lt;pets&gt;: 2" in image
    assert index._repr_svg_() is None


@pytest.mark.parametrize("kind", ["evidence", "duplicates", "repeats", "hits", "evaluation"])
def test_results_draw_themselves_as_images(kind, hits, tmp_path):
    knn = tk.NearestNeighborClassifier(n_neighbors=1).fit(TEXTS, LABELS)
    with tk.Index.create(tmp_path / "other.kin") as index:
        index.add([{"id": "a", "text": "Cats purr"}])
        made = {
            "evidence": lambda: knn.evidence(["a kitten", "<b>bank</b>"]),
            "duplicates": lambda: tk.find_duplicates([*TEXTS, "<b>", "<b>"]),
            "repeats": lambda: tk.find_duplicates(TEXTS, against=["cats purr", "<b>"]),
            "hits": lambda: hits,
            "evaluation": lambda: tk.evaluate_search(index, {"q": "cats"}, {"q": ["a"]}),
        }[kind]()
        image = made._repr_svg_()
        assert "<b>" not in image
        root = ElementTree.fromstring(image)
        assert sum(one.get("class", "").startswith("adds") for one in root.iter()) == len(made)
        assert made._repr_html_()
        made.save(tmp_path / "drawn.svg")
        assert (tmp_path / "drawn.svg").read_text(encoding="utf-8").rstrip("\n") == image


def test_image_of_duplicates_has_counts():
    image = tk.find_duplicates(["one two"] * 3 + ["three four"] * 2).to_svg()
    assert "group 0: 3 (one two); group 1: 2 (three four)" in image
    assert "group 1" not in tk.find_duplicates(["a b"] * 3 + ["c d"] * 2).to_svg(limit=1)
    with pytest.raises(ParameterError, match="limit"):
        tk.find_duplicates(["one two"]).to_svg(limit=0)


def test_image_of_evidence_has_classes():
    knn = tk.NearestNeighborClassifier(n_neighbors=1).fit(TEXTS, LABELS)
    evidence = knn.evidence(["a kitten", "a bank"])
    image = evidence.to_svg()
    assert f"0 {evidence[0].label}: 1 (a kitten)" in image
    assert "the first 1 of 2 documents" in evidence.to_svg(limit=1)
    with pytest.raises(ParameterError, match="width"):
        evidence.to_svg(width=10)


def test_records_are_a_table_in_a_notebook():
    found = tk.WordMover().fit(TEXTS).search(["kitten", "cat"] * 20, k=2)
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + 20
    assert "and 60 more" in page
    assert "<th>index</th>" in page
    clustering = tk.DocumentClustering(2, method="kmedoids", random_state=0)
    assert "sk-" in clustering._repr_html_()  # scikit-learn's diagram, fitted or not
    assert "sk-" in clustering.fit(TEXTS)._repr_html_()


def drawings():
    comparison = tk.compare("Cats purr", "Kittens sleep")
    knn = tk.NearestNeighborClassifier(n_neighbors=2).fit(TEXTS, LABELS)
    evidence = knn.evidence(["a kitten"])
    clustering = tk.DocumentClustering(2, method="kmedoids", random_state=0).fit(TEXTS)
    return {
        "comparison": comparison,
        "aligned": comparison.aligned(),
        "flow": Flow.of([("cat", 1.0)], [("dog", 1.0)], [(0, 0, 1.0, 2.0)]),
        "contributions": tk.Pooling().explain("a cat", "a dog"),
        "evidence": evidence[0],
        "map": clustering.picture(),
        "topics": tk.RocchioClassifier().fit(TEXTS, LABELS).top_words(),
    }


@pytest.mark.parametrize("name", list(drawings()))
def test_drawings_are_saved_by_the_ending(name, tmp_path):
    drawing = drawings()[name]
    drawing.save(tmp_path / "x.svg")
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing._repr_svg_().startswith("<svg")
    drawing.save(str(tmp_path / "x.HTML"))
    assert (tmp_path / "x.HTML").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    drawing.save(tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text(encoding="utf-8").strip()
    with pytest.raises(ParameterError, match=r"path must be a file that ends in one of '.svg'"):
        drawing.save(tmp_path / "x.png")


def test_duplicates_are_saved_as_pages(tmp_path):
    found = tk.find_duplicates(TEXTS)
    found.save(tmp_path / "x.html")
    assert "Cats purr" in (tmp_path / "x.html").read_text()


def test_hits_are_saved(hits, tmp_path):
    hits.save(tmp_path / "x.svg")
    hits.save(tmp_path / "x.html")
    assert "On cats" in (tmp_path / "x.html").read_text()
