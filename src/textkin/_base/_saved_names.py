"""Names in manifests of saved estimators: where classes are, and names of older versions.

A manifest names a class, its parameters, and its fitted attributes. After a rename, manifests of
older versions keep the old names, and `present_names` translates them. Rename a class in `MODULES`
as well, and never give an old name of a parameter a new meaning.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MODULES", "OLD_NAMES", "OldNames", "present_names"]

MODULES = {
    "BM25": "weighting",
    "BagOfWords": "text",
    "CountingGrid": "models",
    "DiagonalGaussianMixture": "models",
    "DocumentClustering": "learn",
    "FisherKernel": "models",
    "FisherKernelClassifier": "learn",
    "FisherVector": "models",
    "LDA": "models",
    "LSI": "models",
    "LatentWords": "learn._kmeans",
    "Lemmatizer": "text",
    "MSDA": "models",
    "NearestNeighborClassifier": "learn",
    "PLSA": "models",
    "ParagraphVector": "models",
    "Pooling": "models",
    "RocchioClassifier": "learn",
    "SIF": "weighting",
    "Stemmer": "text",
    "TfIdf": "weighting",
    "TokenIdf": "weighting",
    "TokenMover": "transport",
    "Tuning": "learn",
    "Vocabulary": "text",
    "VonMisesFisherMixture": "models",
    "WTMF": "models",
    "WordMover": "transport",
    "WordNetLemmas": "text",
    "WordVectors": "vectors",
}


@dataclass(frozen=True, slots=True)
class OldNames:
    """Names that an older version used in manifests for a class and its attributes.

    Attributes
    ----------
    name : str
        Present name of the class.
    parameters : mapping of str to str
        Present name of each renamed parameter.
    values : mapping of str to mapping of str to mapping
        Old parameter -> old value -> the present parameters that replace both.
    fitted : mapping of str to str
        Present name of each renamed fitted attribute.
    convert : callable or None
        Function from old to present parameters, applied before the renames above, for renames that
        depend on several parameters.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Mapping[str, object]]] = field(default_factory=dict)
    fitted: Mapping[str, str] = field(default_factory=dict)
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None


_BOUNDS = "wcd", "rwmd", "rwmd-query", "rwmd-document"
_PRIORS = {"word_prior": "topic_word_prior", "topic_prior": "doc_topic_prior"}


def _mixture_of_fisher_vector(parameters: dict[str, Any]) -> dict[str, Any]:
    """Convert the old `FisherVector` parameter `mixture` to `model`."""
    rest = {name: value for name, value in parameters.items() if name != "model"}
    if "model" in parameters and rest.get("mixture") is None:
        rest["mixture"] = parameters["model"]
    return rest


_MEANS_INIT: dict[str, Any] = {
    "parameters": {"init": "means_init"},
    "values": {"init": {"k-means++": {"init_params": "k-means++"}}},
}

OLD_NAMES: dict[str, OldNames] = {
    # all names up to commit 36746ce
    "CountingGrid": OldNames("CountingGrid", parameters=_PRIORS),
    "LDA": OldNames(
        "LDA",
        parameters={"alpha": "doc_topic_prior", "beta": "topic_word_prior"},
        fitted={"alpha_": "doc_topic_prior_"},
    ),
    "PLSA": OldNames("PLSA", parameters=_PRIORS),
    "FisherKernel": OldNames("FisherKernel", parameters={"model": "topic_model"}),
    "FisherKernelClassifier": OldNames(
        "FisherKernelClassifier",
        parameters={"model": "topic_model"},
        fitted={"words_": "feature_names_"},
    ),
    "FisherVector": OldNames(
        "FisherVector",
        parameters={"normalisation": "information"},
        convert=_mixture_of_fisher_vector,
    ),
    "GaussianMixture": OldNames(
        "DiagonalGaussianMixture", fitted={"variances_": "covariances_"}, **_MEANS_INIT
    ),
    "ParagraphVector": OldNames("ParagraphVector", parameters={"model": "architecture"}),
    "Pooling": OldNames(
        "Pooling",
        parameters={"weights": "word_weights"},
        fitted={"learnt_for_": "learned_for_"},
    ),
    "RocchioClassifier": OldNames("RocchioClassifier", fitted={"words_": "feature_names_"}),
    "TokenMover": OldNames(
        "TokenMover",
        parameters={"masses": "token_weights"},
        values={"algorithm": {name: {"metric": name} for name in _BOUNDS}},
    ),
    "VonMisesFisherMixture": OldNames("VonMisesFisherMixture", **_MEANS_INIT),
}
"""Old or present class name -> old names in its manifests. A comment gives the last old commit."""


def present_names(node: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest entry with old names replaced by the current names."""
    old = OLD_NAMES.get(node["class"])
    if old is None:
        return node
    given, parameters = node["parameters"], dict[str, Any]()
    for name, value in (old.convert(given) if old.convert else given).items():
        replaced = old.values.get(name, {}).get(value) if isinstance(value, str) else None
        if replaced is None:
            replaced = {old.parameters.get(name, name): value}
        parameters |= replaced
    fitted = {old.fitted.get(name, name): value for name, value in node["fitted"].items()}
    return {**node, "class": old.name, "parameters": parameters, "fitted": fitted}
