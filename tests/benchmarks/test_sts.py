"""The evaluation of sentence similarity: what its models may see, and its tables."""

import dataclasses
import gzip
import json

import numpy as np
import pytest
from scipy import sparse

from support import load_script

corpora = load_script("benchmarks/sts_corpora.py")
models = load_script("benchmarks/sts_models.py")
sts = load_script("benchmarks/sts.py")
tables = load_script("benchmarks/sts_tables.py")

SENTENCES = [
    "a cat sleeps on the mat",
    "the cats slept on a mat",
    "a dog barks in the garden",
    "dogs barked at the garden gate",
    "the bank lends money",
    "banks lent much money",
]


@pytest.fixture
def data(tmp_path):
    """Write a tiny collection in the form of the shared data sets."""

    def write(path, header, rows):
        path.parent.mkdir(exist_ok=True)
        lines = ["\t".join(row) for row in [header, *rows]]
        path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))

    glosses = [[f"n{i}", f"word{i}|term", text, '"used so"'] for i, text in enumerate(SENTENCES)]
    write(
        tmp_path / "text" / "wordnet_glosses.tsv.gz",
        ["synset", "lemmas", "definition", "examples"],
        glosses,
    )
    write(
        tmp_path / "text" / "gcide_definitions.tsv.gz",
        ["headword", "pos", "definition"],
        [["Cat", "n.", "an animal"], ["By", "prep.", "near"], ["Bark", "v. t.", "to cry"]],
    )
    write(
        tmp_path / "text" / "brown.tsv.gz",
        ["category", "file", "sentence"],
        [["news", "a", text] for text in SENTENCES],
    )
    sets = {"sts2012-train": "ab", "sts2012-test": "ab", "sts2013-test": "cd", "li06-30": "e"}
    for name, letters in sets.items():
        rows = []
        for letter in letters:
            for i in range(4):
                other = SENTENCES[i + 1] + (" unseen" if "test" in name else "")
                rows.append([f"x.{letter}", str(5 - i % 3), SENTENCES[i], other])
        header = ["dataset", "gold", "sentence1", "sentence2"]
        write(tmp_path / "sts" / f"{name}.tsv.gz", header, rows)
    return tmp_path


def test_corpora_are_the_papers(data):
    assert corpora.read_corpus(data, "wordnet")[0] == f'word0 term {SENTENCES[0]} "used so"'
    plain = corpora.read_corpus(data, "wordnet", target_words=False, examples=False)
    assert plain == SENTENCES
    # prepositions are left out
    assert corpora.read_corpus(data, "gcide") == ["Cat an animal", "Bark to cry"]
    assert len(corpora.read_corpus(data, "sts-train")) == 16
    with pytest.raises(ValueError, match="one of wordnet, gcide, brown, sts-train; got 'x'"):
        corpora.read_corpus(data, "x")


def test_no_test_sentence_is_learnt_from(data):
    texts = [text for name in corpora.CORPORA for text in corpora.read_corpus(data, name)]
    assert not any("unseen" in text for text in texts)


def test_settings_are_chosen_without_the_training_sentences(data):
    run = sts.Run(data)
    choosing = run.corpus(sts.CHOSEN.recipe.without_training_text())
    whole = run.corpus(sts.CHOSEN.recipe)
    assert whole.counts.shape[0] - choosing.counts.shape[0] == 16


def test_cosines_of_vectors_and_bags_agree():
    rows = np.array([[1.0, 2, 0], [0, 0, 0], [3, 0, 4]])
    others = np.array([[2.0, 1, 0], [1, 1, 1], [3, 0, 4]])
    expected = [0.8, 0, 1]
    assert models.cosines(rows, others) == pytest.approx(expected)
    assert models.bag_cosines(*map(sparse.csr_array, (rows, others))) == pytest.approx(expected)


def test_a_weight_below_zero_becomes_an_observed_zero():
    """The paper's idf of a word in every text is below 0."""
    recipe = models.Recipe(words=None, min_count=1)
    corpus = models.Corpus(["a b", "a c", "a b"], recipe)
    assert corpus.weights.nnz == 6
    assert corpus.weights.toarray()[:, 0].tolist() == [0, 0, 0]
    assert (corpus.weights.data >= 0).all()


def test_changes_differ_in_one_ingredient():
    settings = sts.changes()
    assert settings.pop("none") == sts.SMALL
    for name, changed in settings.items():
        parts = {
            **{key: (getattr(changed, key), getattr(sts.SMALL, key)) for key in vars(changed)},
            **{
                key: (getattr(changed.recipe, key), getattr(sts.SMALL.recipe, key))
                for key in vars(changed.recipe)
            },
        }
        parts.pop("recipe")
        assert sum(one != other for one, other in parts.values()) == 1, name


def test_a_quick_run_gives_tables(data, monkeypatch):
    for name in ("PAPER", "CHOSEN", "SMALL"):  # the paper's 20 is too much for so few texts
        settings = dataclasses.replace(getattr(sts, name), regularization=0.5)
        monkeypatch.setattr(sts, name, settings)
    few = {name: sts.changes()[name] for name in ("none", "words as they are")}
    monkeypatch.setattr(sts, "changes", lambda: few)
    run = sts.Run(data, largest=3, seeds=(0, 1))
    *_, found = sts.measured(run)
    names = [row["row"] for row in found["rows"]]
    assert names[0] == "surface words, cosine"
    assert {"LSI", "LDA", "WTMF"} <= set(names)
    wtmf = next(row for row in found["rows"] if row["row"] == "WTMF")
    assert set(wtmf["2012"]) == {"a", "b", "ALL", "ALLnrm", "Mean"}
    assert wtmf["spread"]["2012"]["ALL"] >= 0
    assert set(wtmf["LI06"]) == {"Pearson", "Spearman"}
    changes = ["(the chosen settings)", *few, "with the training sentences"]
    assert [row["change"] for row in found["changes"]] == changes
    settings = {"changes": {"n_components": 3, "max_iter": 3}}
    described = dict.fromkeys(("machine", "textkin", "numpy", "python", "commit", "command"), "?")
    result = json.loads(json.dumps({**described, "settings": settings, **found}))
    shown = tables.render(result)
    assert shown.count("| surface words, cosine |") == 3
    assert "*paper: WTMF*" in shown
    assert "| words as they are |" in shown


def test_numbers_are_written_briefly():
    assert tables.number(0.695) == ".695"
    assert tables.number(-0.02) == "-.020"
    assert tables.number(1.0) == "1.000"
    assert tables.number(0.6, 0.0123) == ".600 (.012)"
    assert tables.number(None) == "–"


def test_baselines_are_those_of_others(shared_data):
    """The surface rows of the reference, measured with other tools: ALL, ALLnrm, Mean."""
    reference = {
        ("2012", "surface words, cosine"): (0.391, 0.688, 0.483),
        ("2013", "surface words, cosine"): (0.458, 0.713, 0.429),
        ("2012", "tf-idf"): (0.612, 0.794, 0.607),
        ("2013", "tf-idf"): (0.580, 0.810, 0.570),
    }
    scorers = {
        "surface words, cosine": models.surface(),
        "tf-idf": models.surface(lambda: models.TfIdf("sklearn")),
    }
    for (test, name), expected in reference.items():
        pairs = corpora.read_pairs(shared_data, sts.TESTS[test])
        found = sts.measures(pairs, scorers[name](pairs))
        assert [found[key] for key in tables.WHOLE] == pytest.approx(expected, abs=0.005)
