"""Names of the public API, compared with the table of names in docs/architecture.md.

One concept has one name. Each test goes through every public signature, option of the command
line, or field of the HTTP API, so that a new name cannot add a second word for a concept.
"""

import importlib
import inspect
import re
from pathlib import Path

import pytest
import typer
from sklearn.base import BaseEstimator

import textkin
from textkin.cli import app
from textkin.corpus import TokenVectors, WordVectorEstimator
from textkin.transport import TokenMover

SOURCE = Path(textkin.__file__).parent
SUBPACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
SUBPACKAGES = [name for name in SUBPACKAGES if name not in ("_base", "cli", "corpus", "device")]

# Former name of a concept, and its present name.
FORMER_NAMES = {
    "by": "metric or ranking",
    "on": "executor",
    "m": "k",
    "n": "k",
    "topn": "k",
    "n_terms": "max_terms",
    "masses": "word_weights or token_weights",
    "normalisation": "information or normalizer",
    "measure": "metric",
    "working_memory": "memory",
    "topic_prior": "doc_topic_prior",
    "word_prior": "topic_word_prior",
    "variances_init": "covariances_init",
    "init": "init_params",
    "vocabulary": "feature_names",
    "progress_callback": "progress",
    "seed": "random_state",
    "place": "executor",
}
# Other meanings of the same word: (start of a qualified name, parameter).
OTHER_MEANINGS = {
    ("Certificate", "masses"),  # weights after normalization
    ("TransportPlan", "masses"),
    ("QueryScores", "measure"),  # a retrieval measure
    ("Hit", "place"),
    ("BagOfWords", "vocabulary"),  # as in scikit-learn's CountVectorizer
    ("Tokens", "vocabulary"),
    ("WordVectors.align", "vocabulary"),
    ("Group.first_words", "n"),  # the first n words
    ("IndexReader.sample", "n"),
    ("LabeledData.with_random_splits", "n"),
    ("PairedTest", "n"),  # the size of a sample, as in statistics
    ("TokenVectors.ngrams", "n"),  # the n of n-grams
    ("zipf_probabilities", "n"),
}
BRITISH = re.compile(
    r"colour|neighbour|centre|catalogue|programme(?!r)|judgement|labelled|behaviour|favour|learnt"
    r"|(normal|token|maxim|minim|summar|organ|optim|initial|vector|general|regular|factor)is(e|ed"
    r"|es|ing|ation|er)"
)


def public_objects():
    """Return every public function, class, and public method with its qualified name."""
    found = {}
    for module in ("textkin", *(f"textkin.{name}" for name in SUBPACKAGES)):
        owner = importlib.import_module(module)
        for name in owner.__all__:
            value = getattr(owner, name)
            if callable(value) and (getattr(value, "__module__", None) or "").startswith("textkin"):
                found[name] = value
                for method, of in inspect.getmembers(value) if inspect.isclass(value) else ():
                    function = getattr(of, "__func__", of)
                    defined = getattr(function, "__module__", None) or ""
                    if callable(of) and method[0] != "_" and defined.startswith("textkin"):
                        found[f"{name}.{method}"] = of
    return found


def parameters_of(value):
    try:
        return inspect.signature(value).parameters
    except (TypeError, ValueError):  # exceptions and protocols of C
        return {}


OBJECTS = public_objects()
SIGNATURES = {name: parameters_of(value) for name, value in OBJECTS.items()}
ESTIMATORS = {
    name: value
    for name, value in OBJECTS.items()
    if inspect.isclass(value) and issubclass(value, BaseEstimator)
}


def has_other_meaning(name, parameter):
    return any(
        parameter == known and f"{name}.".startswith(f"{owner}.") for owner, known in OTHER_MEANINGS
    )


def test_signatures_are_found():
    assert len(OBJECTS) > 400
    assert {"WordMover", "TokenMover", "PLSA", "FisherVector"} <= set(ESTIMATORS)
    assert "ranking" in SIGNATURES["Index.search"]


def test_parameters_use_the_name_of_their_concept():
    former = {
        (name, parameter): FORMER_NAMES[parameter]
        for name, parameters in SIGNATURES.items()
        for parameter in parameters
        if parameter in FORMER_NAMES and not has_other_meaning(name, parameter)
    }
    assert not former, "call these parameters by the names of docs/architecture.md"
    words = [
        (name, word)
        for name, parameters in SIGNATURES.items()
        for word in (name, *parameters)
        if BRITISH.search(word.lower())
    ]
    assert not words, "American spelling"


def test_listed_other_meanings_still_exist():
    for owner, parameter in OTHER_MEANINGS:
        assert any(
            parameter in parameters and f"{name}.".startswith(f"{owner}.")
            for name, parameters in SIGNATURES.items()
        ), (owner, parameter)


WITH_PROGRESS = sorted(n for n, p in SIGNATURES.items() if "progress" in p and n != "part_of")


def test_progress_is_the_last_keyword():
    assert len(WITH_PROGRESS) > 50
    for name in WITH_PROGRESS:
        parameters = SIGNATURES[name]
        assert list(parameters)[-1] == "progress", name
        assert parameters["progress"].default is None, name


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_estimators_use_n_neighbors_and_searches_use_k(name):
    parameters = SIGNATURES[name]
    assert "k" not in parameters
    for method in ("kneighbors", "kneighbors_graph"):
        assert "k" not in SIGNATURES.get(f"{name}.{method}", {})
    assert "n_neighbors" not in SIGNATURES.get(f"{name}.search", {})


def test_distances_use_radius_and_rankings_use_threshold():
    for name, parameters in SIGNATURES.items():
        ranked = name.startswith(("Index", "SearchRequest"))
        assert ("radius" if ranked else "threshold") not in parameters, name


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, value in ESTIMATORS.items()
        if issubclass(value, WordVectorEstimator) or value is TokenMover
    ),
)
def test_estimators_of_vectors_document_empty_documents(name):
    assert "empty" in SIGNATURES[name]


def test_no_two_public_classes_share_a_name():
    modules = {}
    for package in ("textkin", *(f"textkin.{name}" for name in [*SUBPACKAGES, "corpus"])):
        owner = importlib.import_module(package)
        names = {*owner.__all__, *dir(owner)}
        for name in names:
            value = getattr(owner, name)
            if inspect.isclass(value) and value.__module__.startswith("textkin"):
                modules.setdefault(name, set()).add(f"{value.__module__}.{value.__qualname__}")
    assert TokenVectors.__name__ in modules
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


# ------------------------------------------------------------------ surfaces


def options_of(command, path="textkin"):
    """Return the options of a command and its subcommands: (path, option)."""
    found = [(path, option) for parameter in command.params for option in parameter.opts]
    for name, part in getattr(command, "commands", {}).items():
        found += options_of(part, f"{path} {name}")
    return found


def test_command_line_options_match_parameters():
    options = options_of(typer.main.get_command(app))
    assert ("textkin search", "--ranking") in options
    for path, option in options:
        word = option.lstrip("-").replace("-", "_")
        assert len(word) == 1 or word == "seed" or word not in FORMER_NAMES, (path, option)
        assert not BRITISH.search(word), (path, option)


def test_http_fields_match_parameters(tmp_path):
    pytest.importorskip("fastapi")
    from textkin.web import create_app

    with textkin.Index.create(tmp_path / "a.kin", language=None) as index:
        index.add(["one text"])
        described = create_app(index).openapi()
    names = {
        parameter["name"]
        for operations in described["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
    }
    for schema in described["components"]["schemas"].values():
        names |= set(schema.get("properties", ()))
    assert {"ranking", "query", "k"} & names
    assert not names & (set(FORMER_NAMES) - {"n", "vocabulary"})
    assert not [name for name in names if BRITISH.search(name)]


# ------------------------------------------------------------------ modules

# Nouns that end like a participle; all other modules have a plain noun or a verb as a name.
NOUNS = {
    "clustering", "counting", "denoising", "drawing", "embedding", "encoding", "pooling", "pruning",
    "ranking", "reading", "serving", "training", "tuning", "voting", "weighting",
}  # fmt: skip
ADJECTIVES = {
    "aligned",
    "labeled",
    "distributed",
    "attached",
    "counted",
    "saved",
}  # a noun, or data


def test_modules_have_nouns_as_names():
    for path in [*SOURCE.rglob("*.py")]:
        for part in path.relative_to(SOURCE).with_suffix("").parts:
            words = part.strip("_").split("_")
            if words[-1].endswith("ing"):
                assert words[-1] in NOUNS, f"{path.name}: name what the module holds"
            assert all(word in ADJECTIVES for word in words if word.endswith("ed")), path.name
            assert not BRITISH.search(part), path.name
