"""Comparisons of methods on the user's data: labeled texts, judged queries, scored pairs."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import textkin as tk
from textkin.evaluate import (
    LABEL_METHODS,
    PAIR_METHODS,
    RANKINGS,
    LabeledData,
    PairData,
    RetrievalData,
    average_precision,
    evaluate_labels,
    evaluate_pairs,
    evaluate_search,
    paired_randomization,
    pearson,
    spearman,
    sts_scores,
)
from textkin.exceptions import EmptyDocumentError
from textkin.index import NAMES, Index

PETS = ["Cats purr", "Dogs bark at night", "A kitten naps", "The puppy runs", "Cats and dogs play"]
MONEY = ["Stocks fell", "Banks sold shares", "The market rose", "Shares fell", "Investors sold"]
TEXTS = [text for pair in zip(PETS, MONEY, strict=True) for text in pair] * 2
LABELS = ["pets", "money"] * 10


def numbered(texts):
    """Return distinct texts: no test document equals a training document."""
    return [f"{text} and item{number}" for number, text in enumerate(texts)]


@pytest.fixture
def labeled():
    train, test = np.arange(14), np.arange(14, 20)
    return LabeledData(numbered(TEXTS), LABELS, splits=[(train, test)])


@pytest.fixture
def judged():
    return RetrievalData(
        ["a", "b", "c", "d"],
        ["", "Dogs", "", ""],
        ["Cats purr", "They bark", "Stocks fell", "A kitten naps"],
        {"q1": "a dog", "q2": "dogs bark", "q3": "falling stocks", "q4": "nothing"},
        {"q1": {"b": 1}, "q2": {"b": 2}, "q3": {"c": 1}, "q4": {"a": 0}},
        {"test": ("q1", "q2")},
    )


@pytest.fixture
def scored():
    first = ["A cat sleeps", "A cat sleeps", "Stocks fell", "A dog barks"]
    second = ["A kitten sleeps", "Stocks fell", "Shares fell", "The market rose"]
    return PairData(first, second, [4.5, 0.0, 4.0, 1.0], ["x", "x", "y", "y"])


# ------------------------------------------------------------------ labeled texts


def test_labels_compares_all_methods_by_the_measures_of_the_predictions(labeled):
    found = evaluate_labels(labeled)
    assert [each.method for each in found.results] == list(LABEL_METHODS)
    true = [LABELS[row] for row in range(14, 20)]
    for each in found.results:
        [said] = found.predictions[each.method]
        assert each.scores == {
            "accuracy": accuracy_score(true, said.tolist()),
            "error": 1 - accuracy_score(true, said.tolist()),
            "macro_f1": f1_score(true, said.tolist(), average="macro"),
        }
        assert each.seconds > 0
    assert found["knn-wmd"].scores["accuracy"] == 1.0
    assert found.data is labeled
    assert found.notes == ()


def test_labels_predicts_what_the_estimators_predict(labeled):
    found = evaluate_labels(labeled, methods=["knn-wmd", "knn-tfidf", "rocchio"], random_state=3)
    texts, asked = labeled.texts[:14], labeled.texts[14:]
    for name, metric in (("knn-wmd", "wmd"), ("knn-tfidf", "cosine")):
        knn = tk.NearestNeighborClassifier(metric, tune=True, random_state=3)
        knn.fit(texts, LABELS[:14])
        assert found.predictions[name][0].tolist() == knn.predict(asked).tolist()
        assert found[name].settings == {"k": [knn.n_neighbors_]}
    rocchio = tk.RocchioClassifier().fit(texts, LABELS[:14])
    assert found.predictions["rocchio"][0].tolist() == rocchio.predict(asked).tolist()
    assert found["rocchio"].settings == {}


def test_labels_tests_each_method_against_the_first_document_by_document(labeled):
    found = evaluate_labels(labeled, methods=["rocchio", "knn-wmd"])
    right = {
        name: np.array(found.predictions[name][0] == LABELS[14:20], dtype=float)
        for name in ("rocchio", "knn-wmd")
    }
    assert found["rocchio"].test is None
    assert found["knn-wmd"].test == paired_randomization(right["knn-wmd"], right["rocchio"])


def test_labels_takes_means_over_splits():
    records = [
        {"text": text, "label": label, "fold": number % 3}
        for number, (text, label) in enumerate(zip(numbered(TEXTS), LABELS, strict=True))
    ]
    found = evaluate_labels(records, methods="svm-tfidf")
    shares = [
        accuracy_score([LABELS[row] for row in held], said.tolist())
        for (_, held), said in zip(found.data.splits, found.predictions["svm-tfidf"], strict=True)
    ]
    assert len(shares) == 3
    assert found["svm-tfidf"].scores["accuracy"] == pytest.approx(np.mean(shares))
    assert len(found["svm-tfidf"].settings["C"]) == 3
    assert str(found).startswith("20 documents, 2 classes, 3 splits\n")


def test_labels_holds_out_the_same_part_of_every_class_by_seed():
    data = LabeledData([*TEXTS, "One", "Two"], [*LABELS, "rare", "lone"])
    found = evaluate_labels(data, methods="rocchio", test_size=0.4)
    [(train, test)] = found.data.splits
    assert len(test) == 9
    assert sorted([*train, *test]) == list(range(22))
    held = [data.labels[row] for row in test]
    assert {label: held.count(label) for label in ("pets", "money")} in (
        {"pets": 4, "money": 5},
        {"pets": 5, "money": 4},
    )
    assert not {"rare", "lone"} & set(held)  # the only document of a class stays in training
    assert "Held out 9 of 22 documents at random, class by class, with seed 0." in found.notes
    again = evaluate_labels(data, methods="rocchio", test_size=0.4)
    other = evaluate_labels(data, methods="rocchio", test_size=0.4, random_state=1)
    assert again.data.splits[0][1].tolist() == test.tolist()
    assert other.data.splits[0][1].tolist() != test.tolist()


def test_labels_of_two_sources(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\ncats purr,1\ndogs bark,1\nstocks fell,2\n")
    test = [{"text": "a cat purrs", "label": 1}, {"text": "shares fell", "label": 2}]
    found = evaluate_labels(tmp_path / "train.csv", test, methods=["knn-wmd"])
    assert found.predictions["knn-wmd"][0].tolist() == ["1", "2"]  # 1 is the "1" of CSV
    assert found["knn-wmd"].scores["error"] == 0
    assert found.notes == ()


def test_labels_counts_test_documents_with_the_words_of_a_training_document():
    train = [{"text": "cats purr", "label": "a"}] * 2 + [{"text": "dogs", "label": "b"}]
    test = [{"text": "Purr, cats!", "label": "a"}, {"text": "dogs run", "label": "b"}]
    found = evaluate_labels(train, test, methods="rocchio")
    assert found.notes == ("1 test document has the same words as a training document.",)


def test_labels_of_a_folder_are_its_sub_folders(tmp_path):
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        path = tmp_path / label / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = evaluate_labels(tmp_path, methods="rocchio")
    assert found.data.classes == ["money", "pets"]


def test_labels_accepts_classifiers_of_the_user(labeled):
    mine = make_pipeline(TfidfVectorizer(), MultinomialNB())
    found = evaluate_labels(labeled, methods={"mine": mine, "rocchio": "rocchio"})
    mine.fit(labeled.texts[:14], LABELS[:14])
    assert found.predictions["mine"][0].tolist() == mine.predict(labeled.texts[14:]).tolist()


def test_labels_are_the_same_on_threads(labeled):
    one, two = (evaluate_labels(labeled, n_jobs=n) for n in (1, 2))
    for name in LABEL_METHODS:
        assert one.predictions[name][0].tolist() == two.predictions[name][0].tolist()


def test_labels_reports_progress_up_to_the_total(labeled):
    told = []
    evaluate_labels(labeled, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (400, 400)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (LabeledData(TEXTS, ["x"] * 20), {}, r"at least 2 classes; got 1, 'x'\. Add documents"),
        (LabeledData(["a", "b"], ["x", "y"]), {}, "at least 2 documents; got 2 documents of 2"),
        ([], {}, "There are no documents in"),
        ([{"text": "a"}], {}, "there is no label"),
        (LabeledData(TEXTS, LABELS), {"methods": "magic"}, "among 'knn-wmd', .*; got 'magic'"),
        (LabeledData(TEXTS, LABELS), {"methods": []}, "at least one name; got none"),
        (LabeledData(TEXTS, LABELS), {"test_size": 2}, "test_size must be .* at most 1; got 2"),
        (
            LabeledData(TEXTS, LABELS, splits=[([0, 2, 4], [1])]),
            {},
            r"at least 2 classes, .*; got 3 documents of 1 class\. Add training",
        ),
        (
            LabeledData(TEXTS, LABELS, splits=[([0, 1, 2], [3]), ([0, 1], [])]),
            {},
            r"both sides; got 2 to train on and 0 to test on in split 2 of 2\. Change",
        ),
    ],
)
def test_labels_invalid_input_raises(given, options, said):
    with pytest.raises(ValueError, match=said):
        evaluate_labels(given, **options)


def test_methods_that_are_not_names_raise():
    with pytest.raises(TypeError, match="methods must be names, or a mapping of names to"):
        evaluate_labels(LabeledData(TEXTS, LABELS), methods=[tk.RocchioClassifier()])


# ------------------------------------------------------------------ judged queries


def test_search_measures_what_an_index_finds(judged, tmp_path):
    found = evaluate_search(judged)
    assert [each.method for each in found.results] == ["bm25", "tfidf", "wmd", "hybrid"]
    with Index.create(tmp_path / "index.kin") as index:
        index.add({"id": i, "text": t} for i, t in zip(judged.ids, judged.documents, strict=True))
        for name in ("bm25", "wmd"):
            run = {
                query: [hit.id for hit in index.search(judged.queries[query], 1000, ranking=name)]
                for query in judged.judged
            }
            assert found.runs[name] == run
            scores = average_precision(judged.qrels, run)
            assert found[name].scores["map"] == scores.mean
            assert found.queries[name]["map"].values == scores.values
    assert list(found["wmd"].scores) == ["map", "ndcg@10", "recall@100", "mrr"]
    assert found["wmd"].scores["mrr"] == 1.0
    assert found["bm25"].test is None
    first = found.queries["bm25"]["map"]
    assert found["wmd"].test == paired_randomization(found.queries["wmd"]["map"], first)
    assert found.notes == ("1 query has no relevant document and is excluded.",)


def test_search_of_a_part_of_the_queries(judged):
    found = evaluate_search(judged, part="test", rankings="bm25")
    assert list(found.runs["bm25"]) == ["q1", "q2"]
    with pytest.raises(ValueError, match=r"name of a part .'test'.; got 'dev'"):
        evaluate_search(judged, part="dev")


def test_search_takes_rankings_with_parameters(judged):
    found = evaluate_search(judged, rankings={"short": tk.BM25(b=0.0), "moved": tk.WordMover()})
    assert [each.method for each in found.results] == ["short", "moved"]
    with pytest.raises(TypeError, match="got int"):
        evaluate_search(judged, rankings={"wrong": 3})


def test_search_names_every_ranking_of_an_index():
    assert set(RANKINGS) == set(NAMES)


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture
def files(tmp_path):
    """Documents, queries, and judgments in three files."""
    (tmp_path / "docs.csv").write_text("id,text\nd1,Cats purr\nd2,Dogs bark\n")
    (tmp_path / "queries.jsonl").write_text(lines({"id": "q1", "text": "dogs bark"}))
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\n")
    return tmp_path


def test_search_of_three_files(files):
    found = evaluate_search(
        files / "docs.csv",
        queries=files / "queries.jsonl",
        qrels=files / "qrels.txt",
        rankings=["bm25", "wmd"],
    )
    assert found["bm25"].scores["map"] == 1.0
    assert found["wmd"].test is None  # there is only one query
    assert str(found).startswith("2 documents, 1 judged query\n")


def test_search_of_judgments_with_unknown_ids(files):
    (files / "qrels.txt").write_text("q1 0 d2 1\nq1 0 d9 1\nq7 0 d1 1\n")
    given = {"queries": files / "queries.jsonl", "qrels": files / "qrels.txt", "rankings": "bm25"}
    with pytest.raises(ValueError, match=r"2 judgments .* such as query 'q7'"):
        evaluate_search(files / "docs.csv", **given)
    dropped = evaluate_search(files / "docs.csv", **given, unknown="drop")
    kept = evaluate_search(files / "docs.csv", **given, unknown="keep")
    assert dropped["bm25"].scores["recall@100"] == 1.0
    assert kept["bm25"].scores["recall@100"] == 0.25  # half of q1, none of q7


def test_search_invalid_input_raises(files, judged):
    with pytest.raises(ValueError, match="queries and qrels must be given together; got queries"):
        evaluate_search(files / "docs.csv", queries=files / "queries.jsonl")
    with pytest.raises(ValueError, match="must be None with RetrievalData"):
        evaluate_search(judged, qrels=files / "qrels.txt")
    with pytest.raises(FileNotFoundError, match=r"Pass .queries. and .qrels. with"):
        evaluate_search(files / "docs.csv")
    with pytest.raises(ValueError, match=r"rankings must be among 'bm25', .*; got 'magic'"):
        evaluate_search(judged, rankings=["bm25", "magic"])
    with pytest.raises(ValueError, match="k must be an integer at least 100; got 10"):
        evaluate_search(judged, k=10)
    nothing = replace(judged, qrels={"q1": {"b": 0}})
    with pytest.raises(
        ValueError, match=r"no query has one \(4 in all\)\. Check that the judgments"
    ):
        evaluate_search(nothing)


def test_search_reports_progress_by_query(judged):
    told = []
    evaluate_search(judged, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (12, 12)


# ------------------------------------------------------------------ pairs of texts


def test_pairs_compares_all_methods_by_correlation(scored):
    found = evaluate_pairs(scored)
    assert [each.method for each in found.results] == list(PAIR_METHODS)
    for each in found.results:
        similarities = found.similarities[each.method]
        of_sets = sts_scores(scored.sets, scored.gold, similarities)
        assert each.scores == {
            "pearson": pearson(scored.gold, similarities),
            "spearman": spearman(scored.gold, similarities),
            "mean": of_sets.mean,
        }
        assert found.sets[each.method] == of_sets.sets
        assert each.test is None
    mover = tk.WordMover()
    sides = zip(scored.first, scored.second, strict=True)
    assert found.similarities["wmd"].tolist() == [-mover.distance(*pair) for pair in sides]
    assert found.similarities["tfidf"][1] == 0.0
    assert found["pooling"].scores["spearman"] > 0.5


def test_pairs_pools_built_in_vectors(scored):
    found = evaluate_pairs(scored, methods="pooling")
    pooling = tk.Pooling(stop_words="smart").fit([*scored.first, *scored.second])
    one, other = (pooling.transform(side) for side in (scored.first, scored.second))
    wanted = tk.pairwise_similarities(one, other, "cosine").diagonal()
    np.testing.assert_allclose(found.similarities["pooling"], wanted, rtol=1e-5)


def test_pairs_of_one_set_have_no_mean(scored):
    found = evaluate_pairs(replace(scored, sets=["x"] * 4), methods="tfidf")
    assert list(found["tfidf"].scores) == ["pearson", "spearman"]


def test_pairs_without_known_words_are_the_least_similar(scored):
    data = PairData([*scored.first, "xqzj"], [*scored.second, "cats"], [*scored.gold, 0.5])
    found = evaluate_pairs(data, methods=["wmd", "pooling"])
    assert found.similarities["wmd"][4] == found.similarities["wmd"][:4].min()
    assert found.similarities["pooling"][4] == 0.0
    [note] = found.notes
    assert note.startswith("wmd: 1 pair with a text without known words")
    with pytest.raises(EmptyDocumentError, match="none of 2 pairs has"):
        evaluate_pairs(PairData(["xqzj", "the"], ["a", "b"], [1, 2]), methods="wmd")


def test_pairs_accepts_functions_of_the_user(scored):
    found = evaluate_pairs(scored, methods={"mine": lambda one, other: scored.gold * 2})
    assert found["mine"].scores["pearson"] == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"'mine' must return 4 finite numbers.*got shape"):
        evaluate_pairs(scored, methods={"mine": lambda one, other: [1.0]})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (PairData(["a"], ["b"], [1]), "at least 2 pairs; got 1"),
        (PairData(["a", "b"], ["b", "c"], [3, 3]), "2 different scores; got 3 for all 2 pairs"),
        ([], "There are no pairs in"),
        ([{"a": "x", "b": "y", "gold": 1}], "there is no field 'sentence1'"),
        ([{"sentence1": "x", "sentence2": "y", "gold": "much"}], "'gold' must be a finite number"),
    ],
)
def test_pairs_invalid_input_raises(given, said):
    with pytest.raises(ValueError, match=said):
        evaluate_pairs(given)


def test_pairs_unknown_method_raises(scored):
    with pytest.raises(ValueError, match=r"methods must be among 'pooling', .*; got 'magic'"):
        evaluate_pairs(scored, methods=["magic"])


# ------------------------------------------------------------------ results


def test_evaluations_print_as_tables_and_convert_to_records(labeled):
    found = evaluate_labels(labeled, methods=["rocchio", "knn-wmd"])
    header, _, titles, first, second, _, note = str(found).splitlines()
    assert header == "20 documents, 2 classes, 14 training documents, 6 test documents"
    assert titles.split() == [
        "method",
        "accuracy",
        "error",
        "macro-F1",
        "p",
        "tuned",
        "time",
        "(s)",
    ]
    assert first.startswith("rocchio  ")
    assert f"k={found['knn-wmd'].settings['k'][0]}" in second
    assert note == "p: paired randomization test against rocchio."
    assert repr(found) == str(found)
    assert len(found) == 2
    one, other = found.to_records()
    assert one["p_value"] is None
    assert other["method"] == "knn-wmd"
    assert other["accuracy"] == found["knn-wmd"].scores["accuracy"]
    assert other["p_value"] == found["knn-wmd"].test.p_value
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["data"]["test_documents"] == 6
    assert plain["methods"][1]["against_first"]["n"] == 6
    with pytest.raises(KeyError, match="one of 'rocchio', 'knn-wmd'; got 'magic'"):
        found["magic"]


def test_documented_example_prints_the_documented_output(capsys):
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
    blocks = r"```python\n(.*?)```\n\n```text\n(.*?)```\n\n.*? table:.*?```text\n(.*?)```"
    code, said, table = re.search(blocks, page, re.DOTALL).groups()
    names = {}
    exec(compile(code, "evaluation.md", "exec"), names)
    assert capsys.readouterr().out == said

    def without_times(text):
        lines = [line.strip() for line in text.splitlines()]
        return [re.sub(r"\d+\.\d\d$", "", line).rstrip() for line in lines if line]

    assert without_times(str(names["found"])) == without_times(table)
