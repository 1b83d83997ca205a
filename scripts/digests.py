"""Digests of the library's results, to prove that a change of the code changes no result.

    python scripts/digests.py -o before.json
    ... change the code ...
    python scripts/digests.py --compare before.json

Each entry has its own name, which does not depend on the names of the API, and a SHA-256 digest of
a result: of the bytes of its arrays, and of its texts. An entry that raises an exception has the
exception instead of a digest. Digests depend on the CPU, on the versions of Python and of the
libraries, and on the installed extras: compare on one machine, in one environment.

Sections use the public API only. After a deliberate change of a name, adapt the call and keep the
name of the entry; after a deliberate change of a result, list the entries that differ, and why.
"""
# ruff: noqa: B023, ANN401, E402 (each lambda is called at once; results have any type; threads
# are set before NumPy is imported)

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # sums of matrix products, also in torch, depend on it

import argparse
import hashlib
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Put: TypeAlias = Callable[[str, Any], None]
"""Callback that takes the name of an entry, and its value or a function for the value."""

SECTIONS: dict[str, Callable[[Put, Path], None]] = {}

TEXTS = [
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
    "The band gave a concert in Japan, and another one in Tokyo",
    "Cats purr and sleep on the mat",
    "Kittens nap on a rug; kittens play",
    "Dogs bark at cats in the morning",
    "Stocks fell sharply in the morning, and investors sold their shares",
    "Naïve café owners don't like O'Reilly's e-mail: 3.14 or 2,000?",
    "",
    "xyzzy plugh",
]
KNOWN = TEXTS[:8]  # all texts with words that have vectors
QUERIES = ["delete a directory with all its contents", "pick a winner at random", "lock threads"]


# Shared by all sections: data, and the conversion of a result to a digest


@cache
def docstrings(number: int = 240) -> list[dict[str, Any]]:
    """Return documents: a regular sample of the docstrings of Python's standard library."""
    from textkin.reading import standard_library_docstrings

    by_name = {found.name: found.text for found in standard_library_docstrings()}
    names = list(by_name)[:: max(1, len(by_name) // number)][:number]
    return [
        {
            "id": name,
            "text": by_name[name],
            "label": name.partition(".")[0][0],
            "year": 2000 + at % 20,
            "tags": ["long", "text"] if len(by_name[name]) > 100 else ["text"],
        }
        for at, name in enumerate(names)
    ]


@cache
def bags(number: int = 120) -> Any:
    """Return a document-term matrix without empty rows, and its vocabulary."""
    from textkin import BagOfWords

    counter = BagOfWords(min_count=2)
    found = counter.fit_transform([document["text"] for document in docstrings(number)])
    return found[np.flatnonzero(found.sum(axis=1))], counter.vocabulary_


def points(rows: int = 60, columns: int = 6, seed: int = 0) -> Any:
    """Return rows around three centers."""
    random = np.random.default_rng(seed)
    centers = random.normal(scale=4, size=(3, columns))
    return centers[random.integers(3, size=rows)] + random.normal(size=(rows, columns))


def arrays_of(model: Any) -> list[str]:
    """Return the digests of the fitted attributes, in an order that names do not change."""
    found = []
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            parts = value if isinstance(value, (list, tuple)) else [value]
            found.append(digest([arrays_of(p) if hasattr(p, "get_params") else p for p in parts]))
    return sorted(found)


def plain(value: Any) -> Iterator[bytes]:
    """Yield a value as bytes, with its types; raise TypeError for an object of a class."""
    if sparse.issparse(value):
        value = value.tocsr()
        yield b"sparse"
        yield from plain([np.array(value.shape), value.indptr, value.indices, value.data])
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from plain(value.tolist())
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape} ".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.generic):
        yield from plain(value.item())
    elif isinstance(value, bytes):
        yield b"bytes " + value
    elif isinstance(value, (type(None), bool, int, float, str)):
        yield f"{type(value).__name__} {value!r}\n".encode()
    elif isinstance(value, Mapping):
        yield b"{"
        for key, item in value.items():
            yield from plain(key)
            yield from plain(item)
        yield b"}"
    elif isinstance(value, (set, frozenset)):
        yield from plain(sorted(value))
    elif isinstance(value, Sequence):
        yield b"["
        for item in value:
            yield from plain(item)
        yield b"]"
    else:
        raise TypeError(f"{type(value).__name__} has no digest; name its parts")


def digest(value: Any) -> str:
    """Return the first 32 digits of the SHA-256 digest of a value."""
    whole = hashlib.sha256()
    for part in plain(value):
        whole.update(part)
    return whole.hexdigest()[:32]


def stable(text: str, folder: Path | None = None) -> str:
    """Replace values that differ between runs: paths, times, dates, and versions."""
    if folder is not None:
        text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z)?", "TIME", text)
    text = re.sub(r'("seconds": ?)[-+.e\d]+', r"\1SECONDS", text)
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|µs|s|seconds?|min)\b", "DURATION", text)
    return re.sub(r"\b\d+\.\d+\.\d+(\.dev\d+)?(\+[.\w]+)?", "VERSION", text)


def drawings(explanation: Any, **options: Any) -> dict[str, Any]:
    """Return an explanation in each of its forms."""
    found = {
        "text": explanation.to_text(**options),
        "svg": explanation.to_svg(),
        "html": stable(explanation.to_html()),
    }
    return found | ({"data": explanation.to_dict()} if hasattr(explanation, "to_dict") else {})


def files_of(folder: Path, suffix: str = "") -> dict[str, bytes]:
    """Return the bytes of the files in a folder whose names end in a suffix."""
    paths = sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def manifests_of(folder: Path) -> list[str]:
    """Return the manifests in a folder, without versions and times."""
    return [stable(text.decode(), folder) for text in files_of(folder, ".json").values()]


def section(function: Callable[[Put, Path], None]) -> Callable[[Put, Path], None]:
    """Register a section; it gets a function that takes entries, and an empty folder."""
    SECTIONS[function.__name__] = function
    return function


def run_section(name: str) -> dict[str, str]:
    """Run a section; return its digests by the names of the entries."""
    found: dict[str, str] = {}

    def put(entry: str, value: Any) -> None:
        entry = f"{name}/{entry}"
        if entry in found:
            raise ValueError(f"{entry} is there twice")
        try:
            found[entry] = digest(value() if callable(value) else value)
        except Exception as error:
            found[entry] = failure(error)

    def failure(error: Exception) -> str:
        name = {"ParameterError": "ValueError", "ParameterTypeError": "TypeError"}.get(
            type(error).__name__, type(error).__name__
        )
        return f"{name}: {stable(str(error), Path(folder))}"

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            SECTIONS[name](put, Path(folder))
        except Exception as error:
            found[f"{name}/the rest"] = failure(error)
    return found


# Sections: texts


@section
def texts(put: Put, folder: Path) -> None:
    """Put tokens, stop words, word forms, and the vocabulary."""
    from textkin import Vocabulary
    from textkin.text import (
        Lemmatizer,
        Stemmer,
        WordNetLemmas,
        count_words,
        remove_stop_words,
        smart_words,
        stop_lists,
        stop_word_set,
        tokenize,
    )

    try:
        from textkin.reading import paragraphs
    except ImportError:  # before documents had their own subpackage
        from textkin.text import paragraphs

    put("tokens", [tokenize(text) for text in TEXTS])
    put("tokens, case kept", [tokenize(text, lowercase=False) for text in TEXTS])
    put(
        "tokens of scripts", tokenize("Ελληνικά 日本語テキスト Straße İstanbul न\u200dमस्ते a\u0301b")
    )
    put("tokens of docstrings", [tokenize(document["text"]) for document in docstrings()])
    put("stop words", sorted(smart_words()))
    put("stop lists", [[found.name, sorted(found.words)] for found in stop_lists()])
    put("stop words removed", lambda: remove_stop_words(tokenize(TEXTS[0]), stop_word_set("smart")))
    put("stop words of a name", lambda: sorted(stop_word_set("snowball-german")))
    words = sorted({word for document in docstrings() for word in tokenize(document["text"])})
    put("stems", lambda: [Stemmer()(word) for word in words])
    put("stems, German", lambda: [Stemmer("german")(w) for w in ("Häuser", "liefen", "schönste")])
    put("lemmas", lambda: [Lemmatizer()(word) for word in words])
    put("WordNet lemmas", lambda: [WordNetLemmas()(word) for word in words])
    put("paragraphs", [(p.text, p.start, p.end) for p in paragraphs("One.\n\nTwo\nlines.\n\n\nX")])
    vocabulary = Vocabulary(["cats", "dogs", "the"])
    put("vocabulary", [vocabulary.index("dogs"), vocabulary.lookup(["the", "x", "cats"])])
    counted = count_words([tokenize(text) for text in TEXTS], vocabulary)
    put("counted", [counted.bags, [dict(unknown) for unknown in counted.unknown]])


@section
def documents_read(put: Put, folder: Path) -> None:
    """Put documents of files in every format, and of objects in memory."""
    import gzip

    import textkin as tk

    rows = [
        {"id": f"d{n}", "text": text, "label": "ab"[n % 2], "n": n} for n, text in enumerate(KNOWN)
    ]
    table = ["id,text,label,n", *(f'{r["id"]},"{r["text"]}",{r["label"]},{r["n"]}' for r in rows)]
    files = {
        "a.jsonl": "\n".join(json.dumps(row) for row in rows),
        "a.json": json.dumps(rows),
        "a.csv": "\n".join(table),
        "a.tsv": "\n".join(["id\ttext\tn", *(f"{r['id']}\t{r['text']}\t{r['n']}" for r in rows)]),
        "a.txt": "\n\n".join(KNOWN),
        "folder/pets/one.txt": KNOWN[3],
        "folder/pets/two.md": KNOWN[4],
        "folder/money/three.txt": KNOWN[6],
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(files["a.jsonl"].encode(), mtime=0))
    (folder / "named.csv").write_text("key;kind;body\n1;a;Cats purr\n2;b;Dogs bark\n")
    (folder / "latin.txt").write_bytes("Naïve café".encode("latin-1"))

    def read(source: Any, **options: Any) -> Any:
        found = tk.read(source, **options)
        return stable(json.dumps([document.to_dict() for document in found]), folder)

    for name in (*(name for name in files if "/" not in name), "folder", "b.jsonl.gz"):
        put(f"file {name}", lambda: read(folder / name))
    put("paragraphs", lambda: read(folder / "a.txt", split="paragraph"))
    put("fields by name", lambda: read(folder / "named.csv", text="body", id="key", delimiter=";"))
    put("encoding", lambda: read(folder / "latin.txt", encoding="latin-1"))
    put("encoding detected", lambda: read(folder / "latin.txt", encoding="detect"))
    put("wrong encoding", lambda: read(folder / "latin.txt"))
    put("rows in memory", lambda: read(rows))
    put("texts in memory", lambda: read(TEXTS))
    put("no such file", lambda: read(folder / "missing.csv"))


@section
def document_term_matrices(put: Put, folder: Path) -> None:
    """Put bags of words by each option."""
    from textkin import BagOfWords

    corpus = [document["text"] for document in docstrings()]
    options: dict[str, dict[str, Any]] = {
        "defaults": {},
        "all words": {"stop_words": None},
        "min count": {"min_count": 3},
        "document frequencies": {"min_df": 0.02, "max_df": 0.3},
        "max features": {"max_features": 50},
        "max features by tf-idf": {"max_features": 50, "max_features_by": "tfidf"},
        "words per document": {"max_words_per_document": 5},
        "n-grams": {"ngram_range": (1, 2), "min_count": 2},
        "stems": {"normalizer": "stem"},
        "lemmas": {"normalizer": "lemma"},
        "WordNet": {"normalizer": "wordnet"},
        "case kept": {"lowercase": False},
        "a tokenizer": {"tokenizer": str.split},
        "phrases": {"phrases": ["command_line", "file_name", "key_word"]},
        "a vocabulary": {"vocabulary": ["file", "list", "lock"]},
    }
    for name, option in options.items():
        put(
            name,
            lambda: [
                (counter := BagOfWords(**option)).fit_transform(corpus),
                list(counter.get_feature_names_out()),
                counter.transform(TEXTS),
            ],
        )
    tokens = BagOfWords().fit(corpus).tokens(TEXTS)
    put("tokens", [tokens.ids, tokens.offsets, list(tokens.vocabulary.words)])


@section
def weightings(put: Put, folder: Path) -> None:
    """Put TF-IDF, BM25, SIF, nBOW, and their formulas."""
    from textkin import BM25, SIF, TfIdf
    from textkin import weighting as w
    from textkin.weighting import TokenIdf

    counts, _ = bags()
    variants = ("gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed", "wtmf")
    idfs = ("one", "log", "log2", "inverse", "smooth", "unsmoothed", "wtmf", "lucene", "okapi")
    for name in variants:
        put(f"tf-idf {name}", lambda: TfIdf(name).fit_transform(counts))
    for name in idfs:
        put(f"idf {name}", lambda: TfIdf(idf=name, norm=None).fit(counts).idf_)
    for name in ("count", "binary", "log", "max"):
        put(f"tf {name}", lambda: TfIdf(tf=name, norm="l1").fit_transform(counts))
    for name in ("lucene", "okapi"):
        put(
            f"bm25 {name}",
            lambda: [
                (weighting := BM25(0.9, 0.4, idf=name, k3=7.0)).fit_transform(counts),
                weighting.transform_queries(counts[:10]),
            ],
        )
    put("bm25 with norm", lambda: BM25(norm="l2").fit_transform(counts))
    put("sif", lambda: SIF().fit_transform(counts))
    put("binary", w.binary(counts))
    put("nbow", w.nbow(counts))
    put("norms", [w.normalize(counts, "l1"), w.normalize(counts, "l2")])
    put("zipf", w.zipf_probabilities(50))
    put("sif weights", w.sif_weights(w.zipf_probabilities(50), 1e-3))
    put("token idf", lambda: [t.weights for t in TokenIdf().fit_transform(token_documents(6))])


# Sections: distances and transport


def token_documents(number: int, seed: int = 0) -> list[Any]:
    """Return documents of contextual tokens, which share some of them."""
    from textkin import TokenVectors

    random = np.random.default_rng(seed)
    table = random.normal(size=(40, 8)).astype(np.float32)
    chosen = [random.integers(40, size=random.integers(2, 9)) for _ in range(number)]
    return [TokenVectors(table[rows], tokens=[f"t{row}" for row in rows]) for rows in chosen]


@cache
def vectors() -> Any:
    """Return the built-in word vectors."""
    from textkin import WordVectors

    return WordVectors.builtin()


@section
def distances(put: Put, folder: Path) -> None:
    """Put distances and similarities of all pairs, by every metric."""
    import textkin as tk
    from textkin.distance import edit_distance

    counts, _ = bags()
    dense = np.abs(points(40))
    both = ("cosine", "hellinger", "jaccard", "weighted-jaccard")
    for name in (*both, "l1", "l2", "squared-l2"):
        put(f"distance {name}", lambda: tk.pairwise_distances(dense, metric=name))
        put(
            f"distance {name}, sparse",
            lambda: tk.pairwise_distances(counts, counts[:30], metric=name),
        )
    for name in (*both, "inner"):
        put(f"similarity {name}", lambda: tk.pairwise_similarities(dense, dense[:9], metric=name))
        put(f"similarity {name}, sparse", lambda: tk.pairwise_similarities(counts, metric=name))
    put("distance edit", lambda: tk.pairwise_distances(KNOWN, metric="edit"))
    put("similarity edit", lambda: tk.pairwise_similarities(KNOWN, metric="edit"))
    put("edit distance", lambda: [edit_distance("kitten", "sitting"), edit_distance([1, 2], [2])])


def neighbors_of(found: Any) -> list[Any]:
    """Return the results and statistics of a search over many queries."""
    stats = found.stats
    names = ("documents", "empty", "left_out", "refined", "solved", "not_reached")
    numbers = [getattr(stats, name) for name in names]
    return [found.indices, found.distances, found.counts, *numbers, list(stats.removed.values())]


def certificate_of(certificate: Any) -> list[Any]:
    """Return the arrays of a certificate of one distance, and the result of verifying it."""
    checked = certificate.verify()
    return [
        certificate.distance,
        [certificate.source_masses, certificate.target_masses, certificate.masses],
        [certificate.sources, certificate.targets],
        [certificate.source_potentials, certificate.target_potentials],
        certificate.costs(),
        [checked.plan_cost, checked.bound, checked.gap, checked.allowed],
    ]


def search_certificate_of(certificate: Any) -> list[Any]:
    """Return the arrays of a certificate of one search, and the result of verifying it."""
    checked = certificate.verify(sample=None)
    arrays = [certificate.verdicts, certificate.values, certificate.indices, certificate.distances]
    return [*arrays, certificate.limit, dict(certificate.counts), checked.gap, checked.exact]


PLANS = {
    **{name: {"algorithm": name} for name in ("auto", "prefetch", "brute")},
    **{name: {"metric": name} for name in ("wcd", "rwmd", "rwmd-query", "rwmd-document")},
}
COSTS = ("euclidean", "cosine", "sqeuclidean")
WORD_WEIGHTS = ("nbow", "sif", "tfidf")


@section
def word_mover_pairs(put: Put, folder: Path) -> None:
    """Put Word Mover's Distance of pairs: values, bounds, flows, and proofs."""
    import textkin as tk
    from textkin.transport import optimal_transport, reference_costs

    words = vectors()
    for cost in COSTS:
        for weights in WORD_WEIGHTS:
            mover = tk.WordMover(words, cost=cost, word_weights=weights, empty="inf").fit(KNOWN)
            put(f"matrix, {cost}, {weights}", lambda: mover.pairwise(TEXTS))
            put(f"distance, {cost}, {weights}", lambda: mover.distance(TEXTS[0], TEXTS[1]))
    mover = tk.WordMover(words, unit=True, max_words_per_document=3)
    put("unit vectors, cut", lambda: mover.pairwise(KNOWN[:3], KNOWN))
    mover = tk.WordMover(words)
    put("built-in vectors by default", lambda: tk.WordMover().distance(TEXTS[0], TEXTS[1]))
    put("paired", lambda: mover.paired(KNOWN[:4], KNOWN[4:]))
    put("of tokens", lambda: mover.distance(["press", "media"], ["president", "press", "press"]))
    put("centroid matrix", lambda: mover.pairwise(KNOWN, metric="wcd"))
    for side, metric in {
        "both": "rwmd",
        "query": "rwmd-query",
        "document": "rwmd-document",
    }.items():
        put(f"relaxed matrix, {side}", lambda: mover.pairwise(KNOWN, metric=metric))
    bounds = mover.bounds(TEXTS[0], TEXTS[1])
    put("bounds", [bounds.centroid, bounds.source, bounds.target, bounds.relaxed])
    put("coverage", [coverage.to_dict() for coverage in mover.coverage(TEXTS)])
    blocks = list(mover.pairwise_below(KNOWN, 4.5))
    put("pairs below", [[block.rows, block.columns, block.distances] for block in blocks])
    found = list(mover.pairwise_neighbors(KNOWN, 3))
    put("neighbors of all", [[b.rows, b.indices, b.distances, b.counts] for b in found])
    put("empty document", lambda: mover.distance(TEXTS[0], TEXTS[9]))
    counts, vocabulary = bags()
    aligned = words.align(vocabulary)
    on_bags = tk.WordMover(aligned)
    put("of bags", lambda: on_bags.distance(counts[[0]], counts[[1]]))
    put("matrix of bags", lambda: on_bags.pairwise(counts[:12], counts[:20]))

    found = tk.compare(TEXTS[0], TEXTS[1])
    put("explanation", lambda: drawings(found))
    put("explanation, narrow and colored", lambda: found.to_text(width=40, limit=2, color=True))
    put("explanation, embedded", lambda: found.to_svg(embedded=True, limit=2, title="Why"))
    put("explanation, facts", lambda: [list(found.facts()), found.pivots, found.score])
    put("explanation, aligned", lambda: drawings(found.aligned()))
    put("explanation, shares", lambda: [found.share(part) for part in found.parts])
    put("proof", lambda: certificate_of(found.certificate))
    for cost in COSTS:
        other = tk.compare(TEXTS[2], TEXTS[6], cost=cost, word_weights="sif", unit=True)
        put(f"explanation, {cost}", lambda: drawings(other))
        put(f"proof, {cost}", lambda: certificate_of(other.certificate))
    put("explanation of bags", lambda: drawings(on_bags.explain(counts[[0]], counts[[1]])))

    random = np.random.default_rng(0)
    sources, targets = random.random(7), random.random(5)
    x, y = random.normal(size=(7, 3)), random.normal(size=(5, 3))
    for cost in COSTS:
        costs = reference_costs(x, y, cost)
        plan = optimal_transport(sources / sources.sum(), targets / targets.sum(), costs)
        put(
            f"transport plan, {cost}",
            lambda: [
                costs,
                plan.cost,
                plan.matrix(),
                plan.pivots,
                certificate_of(plan.certificate),
            ],
        )


@section
def word_mover_searches(put: Put, folder: Path) -> None:
    """Put searches by the Word Mover's Distance: every algorithm, cost, and word weight."""
    import textkin as tk

    words = vectors()
    corpus = [document["text"] for document in docstrings()]
    mover = tk.WordMover(words).fit(corpus)
    for algorithm, plan in PLANS.items():
        put(
            f"nearest, {algorithm}",
            lambda: neighbors_of(mover.search(QUERIES, 7, **plan)),
        )
        put(
            f"within a radius, {algorithm}",
            lambda: neighbors_of(mover.search(QUERIES, None, radius=5.8, **plan)),
        )
        put(
            f"proof, {algorithm}",
            lambda: search_certificate_of(mover.search(QUERIES, 7, **plan).certificate(0)),
        )
    for cost in COSTS:
        for weights in WORD_WEIGHTS:
            other = tk.WordMover(words, cost=cost, word_weights=weights, unit=True).fit(corpus)
            put(f"nearest, {cost}, {weights}", lambda: neighbors_of(other.search(QUERIES, 5)))
    put(
        "prefetch with m",
        lambda: neighbors_of(mover.search(QUERIES, 3, algorithm="prefetch", max_candidates=9)),
    )
    put(
        "under a mask", lambda: neighbors_of(mover.search(QUERIES, 3, mask=np.arange(240) % 3 == 0))
    )
    put("one query", lambda: neighbors_of(mover.search(QUERIES[0], 3)))
    put("a query without words", lambda: neighbors_of(mover.search(["xyzzy"], 3)))
    put("little memory", lambda: neighbors_of(mover.search(corpus[:40], 3)))
    put("records", lambda: mover.search(QUERIES, 3).to_records())
    put("kneighbors", lambda: mover.kneighbors(QUERIES, 4))
    put("kneighbors of the corpus", lambda: mover.kneighbors(n_neighbors=2))
    put("kneighbors as a graph", lambda: mover.kneighbors_graph(QUERIES, 4, mode="distance"))
    put("radius neighbors", lambda: mover.radius_neighbors(QUERIES, 5.8, sort_results=True))
    put("radius graph", lambda: mover.radius_neighbors_graph(QUERIES, 5.8, sort_results=True))
    put(
        "on two threads",
        lambda: neighbors_of(tk.WordMover(words, n_jobs=2).fit(corpus).search(QUERIES)),
    )
    on_device = tk.WordMover(words, device="cpu").fit(corpus)
    put("on torch", lambda: neighbors_of(on_device.search(QUERIES, 7)))
    put("on torch, relaxed", lambda: neighbors_of(on_device.search(QUERIES, 7, metric="rwmd")))
    put("matrix on torch", lambda: on_device.pairwise(corpus[:20], metric="rwmd"))


@section
def token_transport(put: Put, folder: Path) -> None:
    """Put transport between contextual tokens, MaxSim, and BERTScore."""
    import textkin as tk
    from textkin.transport import bert_score, max_sim

    corpus, queries = token_documents(60), token_documents(4, seed=1)
    for cost in COSTS:
        for weights in ("uniform", "norm"):
            mover = tk.TokenMover(cost, token_weights=weights).fit(corpus)
            put(f"matrix, {cost}, {weights}", lambda: mover.pairwise(queries, corpus[:20]))
            put(f"nearest, {cost}, {weights}", lambda: neighbors_of(mover.search(queries, 5)))
    mover = tk.TokenMover().fit(corpus)
    for algorithm, plan in PLANS.items():
        put(
            f"nearest, {algorithm}",
            lambda: neighbors_of(mover.search(queries, 5, **plan)),
        )
    put("paired", lambda: mover.paired(queries, corpus[:4]))
    put("centroid matrix", lambda: mover.pairwise(queries, corpus, metric="wcd"))
    put("relaxed matrix", lambda: mover.pairwise(queries, corpus, metric="rwmd"))
    put("explanation", lambda: drawings(mover.explain(queries[0], corpus[0])))
    put("proof", lambda: certificate_of(mover.explain(queries[0], corpus[0]).certificate))
    bounds = mover.bounds(queries[0], corpus[0])
    put("bounds", [bounds.centroid, bounds.source, bounds.target])
    put("n-grams", [(g.vectors, g.weights, list(g.tokens)) for g in [corpus[0].ngrams(2)]])
    put("max sim", max_sim(queries, corpus))
    put("max sim, as they are", max_sim(queries, corpus, unit=False))
    found = mover.search_max_sim(queries, 5)
    put("max sim search", [found.indices, found.scores])
    score = bert_score(queries, corpus[:4], baseline=0.1)
    put("bert score", [score.precision, score.recall, score.f1])


# Sections: models


def put_model(put: Put, name: str, make: Callable[[], Any], rows: Any, folder: Path) -> None:
    """Put the fitted attributes, the results for other rows, and the saved files of a model."""
    put(f"{name}, fitted", lambda: arrays_of(make().fit(rows)))
    if not hasattr(make(), "transform"):
        return
    put(f"{name}, transformed", lambda: make().fit(rows).transform(rows[:20]))
    put(f"{name}, of the same rows", lambda: make().fit_transform(rows))
    if name.endswith("torch"):
        return
    target = folder / name
    put(f"{name}, saved", lambda: [make().fit(rows).save(target), saved_tensors(target)][1])
    put(f"{name}, manifest", lambda: manifests_of(target))
    put(f"{name}, loaded", lambda: type(make()).load(target).transform(rows[:20]))


def saved_tensors(folder: Path) -> list[str]:
    """Return the digests of the tensors in a folder, in an order that names do not change."""
    from safetensors.numpy import load_file

    tensors = [load_file(path) for path in sorted(folder.rglob("*.safetensors"))]
    return sorted(digest(tensor) for file in tensors for tensor in file.values())


@section
def topic_models(put: Put, folder: Path) -> None:
    """Put PLSA, LDA, and counting grids."""
    from textkin import LDA, PLSA, CountingGrid

    counts, vocabulary = bags()
    options: dict[str, Callable[[], Any]] = {
        "plsa": lambda: PLSA(5, max_iter=30, random_state=0),
        "plsa, tempered": lambda: PLSA(5, tempered=True, max_iter=20, random_state=0),
        "plsa, priors": lambda: PLSA(
            5, topic_word_prior=1.1, doc_topic_prior=1.2, n_init=2, max_iter=15, random_state=0
        ),
        "plsa on torch": lambda: PLSA(5, max_iter=30, random_state=0, device="cpu"),
        "lda": lambda: LDA(5, max_iter=20, random_state=0),
        "lda, alpha": lambda: LDA(
            5, doc_topic_prior=0.2, topic_word_prior=0.1, max_iter=10, random_state=0
        ),
        "lda, sampled": lambda: LDA(5, method="gibbs", max_iter=30, random_state=0),
        "grid": lambda: CountingGrid((6, 6), window=(2, 3), max_iter=15, random_state=0),
        "grid, priors": lambda: CountingGrid(
            (5, 4),
            window=2,
            doc_topic_prior=1.1,
            topic_word_prior=1.05,
            n_init=2,
            max_iter=8,
            random_state=0,
        ),
    }
    for name, make in options.items():
        put_model(put, name, make, counts, folder)
        put(f"{name}, topics", lambda: drawings(make().fit(counts).topics(vocabulary, n_words=5)))
    grid = options["grid"]().fit(counts)
    put("map of words", lambda: drawings(grid.word_map(vocabulary)))


@section
def factor_models(put: Put, folder: Path) -> None:
    """Put LSI, WTMF, OrMF, and marginalized denoising."""
    from textkin import LSI, MSDA, WTMF, TfIdf

    counts, vocabulary = bags()
    rows = TfIdf().fit_transform(counts)
    options: dict[str, Callable[[], Any]] = {
        "lsi": lambda: LSI(8, random_state=0),
        "lsi, arpack": lambda: LSI(8, algorithm="arpack", random_state=0),
        "wtmf": lambda: WTMF(6, max_iter=6, random_state=0),
        "ormf": lambda: WTMF(6, orthogonality=1e-3, regularization=5.0, max_iter=6, random_state=0),
        "wtmf on torch": lambda: WTMF(6, max_iter=6, random_state=0, device="cpu"),
        "msda": lambda: MSDA(20, noise=0.4, n_layers=2),
        "msda, square": lambda: MSDA(None, include_input=False, n_layers=1),
    }
    for name, make in options.items():
        put_model(put, name, make, rows[:, :120] if name == "msda, square" else rows, folder)
    for name in ("lsi", "wtmf"):
        model = options[name]().fit(rows)
        put(f"{name}, word vectors", lambda: model.word_vectors(vocabulary).matrix)
    put("wtmf, similarities", lambda: model.similarity(rows[:9]))
    put("wtmf, paired", lambda: model.paired(rows[:9], rows[9:18]))


@section
def mixtures(put: Put, folder: Path) -> None:
    """Put mixtures of Gaussians and of von Mises-Fisher distributions."""
    from textkin.models import DiagonalGaussianMixture, VonMisesFisherMixture

    rows = points()
    options: dict[str, Callable[[], Any]] = {
        "gaussians": lambda: DiagonalGaussianMixture(3, random_state=0),
        "gaussians, hard": lambda: DiagonalGaussianMixture(3, hard=True, n_init=2, random_state=0),
        "gaussians on torch": lambda: DiagonalGaussianMixture(3, random_state=0, device="cpu"),
        "directions": lambda: VonMisesFisherMixture(3, random_state=0),
        "directions, hard": lambda: VonMisesFisherMixture(3, hard=True, random_state=0),
        "directions, shared": lambda: VonMisesFisherMixture(3, shared_kappa=True, random_state=0),
        "directions on torch": lambda: VonMisesFisherMixture(3, random_state=0, device="cpu"),
    }
    for name, make in options.items():
        put_model(put, name, make, rows, folder)
        model = make().fit(rows, sample_weight=np.arange(1, 61))
        put(f"{name}, weighted", lambda: arrays_of(model))
        put(f"{name}, probabilities", lambda: [model.predict(rows), model.predict_proba(rows)])
        put(f"{name}, likelihoods", lambda: [model.score_samples(rows), model.score(rows)])
        put(f"{name}, samples", lambda: model.sample(20, random_state=0))
    put("bessel", VonMisesFisherMixture.log_normalizer(100, np.geomspace(1e-3, 1e5, 30)))
    put("mean length", VonMisesFisherMixture.mean_length(100, np.geomspace(1e-3, 1e5, 30)))


@section
def fisher(put: Put, folder: Path) -> None:
    """Put Fisher kernels of PLSA, and Fisher vectors of both mixtures."""
    from textkin import PLSA, FisherKernel, FisherVector

    counts, _ = bags()
    kernels: dict[str, dict[str, Any]] = {
        "kernel": {},
        "kernel, exact": {"exact": True},
        "kernel, diagonal": {"information": "diagonal", "normalize": True},
        "kernel, each": {"normalize": "each", "vector_space": 0.5, "word_weight": 0.7},
    }
    for name, kernel in kernels.items():
        make = lambda: FisherKernel([1, 4], random_state=0, **kernel)  # noqa: E731
        put_model(put, name, make, counts, folder)
        put(f"{name}, similarities", lambda: make().fit(counts).similarity(counts[:9], counts))
    plsa = PLSA(4, random_state=0).fit(counts)
    put(
        "kernel of a model",
        lambda: FisherKernel(topic_model=plsa, random_state=0).fit(counts).transform(counts[:9]),
    )

    corpus = [document["text"] for document in docstrings(40)]
    table = table_of(4000)
    makes: dict[str, dict[str, Any]] = {
        "vectors, directions": {"mixture": "vmf"},
        "vectors, Gaussians": {"mixture": "gmm"},
        "vectors, hard": {"mixture": "vmf", "hard": True, "power": 0.5, "norm": None},
        "vectors, tokens": {"mixture": "gmm", "fit_on": "tokens", "divide_by_length": False},
        "vectors, all parts": {"mixture": "gmm", "parts": ("weights", "means", "variances")},
    }
    for name, option in makes.items():
        make = lambda: FisherVector(3, vectors=table, random_state=0, **option)  # noqa: E731
        put(f"{name}, fitted", lambda: arrays_of(make().fit(corpus).mixture_))
        put(f"{name}, transformed", lambda: make().fit(corpus).transform(KNOWN))
        put(
            f"{name}, saved",
            lambda: [make().fit(corpus).save(folder / name), saved_tensors(folder / name)][1],
        )
    for rule in ("tangent", "diagonal", "isotropic", "paper", "none"):
        put(
            f"vectors, normalized by {rule}",
            lambda: (
                FisherVector(3, vectors=table, mixture="vmf", information=rule, random_state=0)
                .fit(corpus)
                .transform(KNOWN)
            ),
        )


@cache
def table_of(number: int) -> Any:
    """Return the first of the built-in word vectors."""
    from textkin import WordVectors

    return WordVectors(vectors().words[:number], vectors().matrix[:number])


@section
def pooling(put: Put, folder: Path) -> None:
    """Put pooled word vectors by each option."""
    from textkin import Pooling

    corpus = [document["text"] for document in docstrings(80)]
    options: dict[str, dict[str, Any]] = {
        "mean": {},
        "sum": {"combine": "sum"},
        "max": {"combine": "max"},
        "tf-idf": {"word_weights": "tfidf"},
        "sif": {"word_weights": "sif", "remove_components": 1},
        "sif, corpus": {"word_weights": "sif", "probabilities": "corpus", "a": 0.01},
        "usif": {"word_weights": "usif", "remove_components": 3},
        "whitened": {"whiten": 10, "unit": True},
        "all words": {"stop_words": None, "max_words_per_document": 4},
        "mean on torch": {"device": "cpu"},
        "sif on torch": {"word_weights": "sif", "remove_components": 1, "device": "cpu"},
    }
    for name, option in options.items():
        make = lambda: Pooling(table_of(20_000), **option)  # noqa: E731
        put_model(put, name, make, corpus, folder)
        put(f"{name}, of others", lambda: make().fit(corpus).transform(TEXTS))
    model = Pooling(vectors()).fit(corpus)
    put("empty documents", model.empty_documents(TEXTS))
    put("coverage", [coverage.to_dict() for coverage in model.coverage(TEXTS)])
    put("explanation", lambda: drawings(model.explain(TEXTS[0], TEXTS[1])))
    counts, vocabulary = bags()
    on_bags = Pooling(vectors().align(vocabulary), word_weights="sif")
    put("of bags", lambda: on_bags.fit_transform(counts))


@section
def training(put: Put, folder: Path) -> None:
    """Put word vectors and paragraph vectors, trained on one thread."""
    from textkin import ParagraphVector
    from textkin.models import train_word_vectors

    corpus = [document["text"] for document in docstrings()]
    words: dict[str, dict[str, Any]] = {
        "skip-gram": {},
        "cbow": {"architecture": "cbow"},
        "skip-gram, tree": {"loss": "hierarchical"},
        "skip-gram, thinned": {"subsample": 1e-3, "subsample_rule": "paper", "n_negative": 2},
    }
    for name, option in words.items():
        trained = train_word_vectors(
            corpus, 12, min_count=3, epochs=2, random_state=0, n_jobs=1, **option
        )
        put(name, [list(trained.words), trained.matrix])
    documents: dict[str, dict[str, Any]] = {
        "bag of words": {},
        "bag of words, alone": {"train_words": False, "n_inferences": 2},
        "memory": {"architecture": "dm"},
        "memory, sum and tree": {"architecture": "dm", "combine": "sum", "loss": "hierarchical"},
    }
    for name, option in documents.items():
        make = lambda: ParagraphVector(12, epochs=2, random_state=0, n_jobs=1, **option)  # noqa: E731
        put_model(put, name, make, corpus, folder)
        if option.get("train_words", True):
            put(f"{name}, words", lambda: make().fit(corpus).word_vectors().matrix)


@section
def fits_over_blocks(put: Put, folder: Path) -> None:
    """Put models fitted over blocks of rows."""
    from textkin import BM25, PLSA, SIF, WTMF, TfIdf
    from textkin.models import DiagonalGaussianMixture as Gaussians
    from textkin.models import VonMisesFisherMixture as Directions
    from textkin.models import fit_blocks

    counts, _ = bags()
    rows = points()
    over_bags: dict[str, Any] = {
        "tf-idf": TfIdf(),
        "bm25": BM25(),
        "sif": SIF(),
        "plsa": PLSA(4, max_iter=10, random_state=0),
        "plsa, priors": PLSA(
            4, topic_word_prior=1.1, doc_topic_prior=1.2, max_iter=10, random_state=0
        ),
        "wtmf": WTMF(5, max_iter=4, random_state=0),
    }
    for name, model in over_bags.items():
        blocks = [counts[:50], counts[50:70], counts[70:]]
        put(name, lambda: arrays_of(fit_blocks(model, blocks)))
    over_rows = {
        "gaussians": Gaussians(3, random_state=0),
        "directions": Directions(3, random_state=0),
    }
    for name, mixture in over_rows.items():
        put(name, lambda: arrays_of(fit_blocks(mixture, [rows[:20], rows[20:]])))
    np.save(folder / "a.npy", counts[:50].toarray())
    sparse.save_npz(folder / "b.npz", sparse.csr_array(counts[50:]))
    paths = [folder / "a.npy", str(folder / "b.npz")]
    put("of files", lambda: arrays_of(fit_blocks(PLSA(4, max_iter=9, random_state=0), paths)))


# Sections: learning


@section
def classifiers(put: Put, folder: Path) -> None:
    """Put nearest neighbors with every vote, Rocchio, and the Fisher kernel."""
    from textkin import FisherKernelClassifier, NearestNeighborClassifier, RocchioClassifier

    documents = docstrings(120)
    corpus = [document["text"] for document in documents]
    labels = [document["label"] for document in documents]
    new = [*QUERIES, *TEXTS]
    options: dict[str, dict[str, Any]] = {
        "votes, majority": {},
        "votes, distance": {"vote": "distance"},
        "votes, fall-back": {"vote": "fall-back"},
        "votes, exponential": {"vote": "exponential", "gamma": 0.2},
        "tuned": {"tune": True, "random_state": 0},
        "by rwmd": {"metric": "rwmd"},
        "by wcd": {"metric": "wcd"},
        "by cosine": {"metric": "cosine"},
        "by l1": {"metric": "l1"},
        "by hellinger": {"metric": "hellinger"},
        "by jaccard": {"metric": "jaccard"},
        "by edit": {"metric": "edit"},
    }
    for name, option in options.items():
        model = NearestNeighborClassifier(**option).fit(corpus, labels)
        put(f"neighbors, {name}", lambda: list(model.predict(new)))
        put(f"neighbors, {name}, shares", lambda: model.predict_proba(new))
        put(f"neighbors, {name}, evidence", lambda: model.evidence(new).to_records())
        put(f"neighbors, {name}, drawn", lambda: drawings(model.evidence(new)[0]))
        put(f"neighbors, {name}, why", lambda: drawings(model.evidence(new)[0].explain()))
        if name == "tuned":
            tuned = model.tuning_
            put("neighbors, tuning", [tuned.n_neighbors, tuned.gamma, tuned.errors, tuned.gammas])
    put("neighbors, page", lambda: stable(model.evidence(new).to_html()))
    model = NearestNeighborClassifier().fit(corpus, labels)
    put("neighbors, proof", lambda: search_certificate_of(model.evidence(new)[0].certificate()))
    for prototype in ("mean", "sum"):
        rocchio = RocchioClassifier(prototype).fit(corpus, labels)
        put(f"rocchio, {prototype}", lambda: [rocchio.decision_function(new), rocchio.prototypes_])
        put(f"rocchio, {prototype}, why", lambda: drawings(rocchio.explain(new[0])))
        put(f"rocchio, {prototype}, words", lambda: drawings(rocchio.top_words()))
    kernel = FisherKernelClassifier((1, 4), random_state=0).fit(corpus, labels)
    put("kernel", lambda: [list(kernel.predict(new)), kernel.decision_function(new)])
    put("kernel, why", lambda: drawings(kernel.explain(new[0])))


@section
def clustering(put: Put, folder: Path) -> None:
    """Put clusters of documents by each method."""
    from textkin import DocumentClustering

    corpus = [document["text"] for document in docstrings(80)]
    options: dict[str, dict[str, Any]] = {
        "means": {},
        "means, l2": {"metric": "l2", "n_init": 2},
        "medoids": {"method": "kmedoids"},
        "medoids, cosine": {"method": "kmedoids", "metric": "cosine"},
        "medoids, sampled": {"method": "kmedoids", "max_matrix": 30},
        "hierarchy": {"method": "agglomerative"},
        "hierarchy, complete": {"method": "agglomerative", "linkage": "complete", "metric": "l1"},
        "hierarchy, single": {"method": "agglomerative", "linkage": "single", "metric": "jaccard"},
        "hierarchy, threshold": {
            "method": "agglomerative",
            "n_clusters": None,
            "distance_threshold": 6.0,
        },
    }
    for name, option in options.items():
        model = DocumentClustering(**{"n_clusters": 5, "random_state": 0} | option).fit(corpus)
        put(f"{name}, labels", lambda: list(model.labels_))
        put(f"{name}, predicted", lambda: list(model.predict(TEXTS)))
        put(f"{name}, drawn", lambda: [model.to_text(), model.to_svg(), stable(model.to_html())])
        put(f"{name}, map", lambda: drawings(model.picture()))
        put(
            f"{name}, described",
            lambda: [
                [c.members, c.distances, c.central, c.spread, c.words, c.snippet]
                for c in model.clusters_
            ],
        )


@section
def duplicates(put: Put, folder: Path) -> None:
    """Put documents that are equal or similar, by each metric."""
    from textkin import find_duplicates

    corpus = [document["text"] for document in docstrings(120)]
    corpus += [corpus[0], corpus[3].upper(), f"{corpus[5]} also", " ".join(corpus[7].split()[::-1])]
    corpus += ["", "xyzzy"]
    thresholds = {"text": None, "bag": None, "wmd": 4.0, "rwmd": 3.5, "wcd": 3.0, "cosine": 0.3}
    thresholds |= {"l1": 1.0, "l2": 0.5, "hellinger": 0.4, "jaccard": 0.4, "weighted-jaccard": 0.5}
    thresholds |= {"edit": 8}
    for name, threshold in thresholds.items():
        found = find_duplicates(corpus, threshold, name)
        put(f"{name}", lambda: [stable(str(found.to_records())), found.kept, found.removed])
        put(f"{name}, shown", lambda: [found.to_text(), stable(found.to_html())])
        if threshold is not None:
            put(f"{name}, why", lambda: drawings(found[0].explain(found[0][1])))
        repeats = find_duplicates(corpus[60:], threshold, name, against=corpus[:62])
        put(f"{name}, against", lambda: [str(repeats.to_records()), repeats.kept, repeats.removed])
        put(f"{name}, against, shown", lambda: [repeats.to_text(), stable(repeats.to_html())])
        if threshold is not None:
            put(f"{name}, against, why", lambda: drawings(repeats[0].explain()))


# Sections: the index


def hits_of(hits: Any) -> list[Any]:
    """Return the results of a search of an index."""
    stats = {key: value for key, value in hits.stats.items() if key != "seconds"}
    return [hits.ids, [hit.score for hit in hits], hits.ascending, list(stats.values()), hits.notes]


def hits_drawn(hits: Any) -> list[str]:
    """Return hits as text, figure, and page."""
    return [hits.to_text(), hits.to_svg(explained=2), stable(hits.to_html(explained=3))]


def make_index(folder: Path, **options: Any) -> Any:
    """Create an index of docstrings."""
    from textkin import Index

    index = Index.create(folder, language=None, stop_words="smart", **options)
    index.add(docstrings())
    return index


@section
def index_contents(put: Put, folder: Path) -> None:
    """Put documents of an index after each kind of change, and the files of its segments."""
    from textkin import Index

    def state(index: Any) -> list[Any]:
        info = {key: value for key, value in index.info().to_dict().items() if key != "bytes"}
        return [
            stable(json.dumps(info), folder),
            index.ids,
            index.bags(),
            list(index.vocabulary().words),
            index.document_frequencies(),
            [document.to_dict() for document in map(index.get, index.ids[:9])],
        ]

    path = folder / "a.kin"
    with make_index(path) as index:
        put("added", lambda: state(index))
        first = index.ids
        changes = index.update(
            [{"id": first[0], "text": "Moved words"}, {"id": "new", "text": "x"}]
        )
        put("changes", [changes.added, changes.updated, changes.unchanged, changes.deleted])
        put("updated", lambda: state(index))
        index.delete(first[3:6])
        put("deleted", lambda: state(index))
        index.compact()
        put("compacted", lambda: state(index))
        put("segments", lambda: list(files_of(path / "segments").values()))
        put("schema", lambda: schema_of(path))
        index.mirror(docstrings()[::2])
        put("mirrored", lambda: state(index))
        index.compact()
        put("segments, mirrored", lambda: list(files_of(path / "segments").values()))
        index.verify()
        with index.copy(folder / "copy.kin") as copied:
            put("copied", lambda: state(copied))
        put("blocks", lambda: [sparse.csr_array(block()) for block in index.bag_blocks()])
        put("the id is taken", lambda: index.add([{"id": first[0], "text": "again"}]))
        put("no such id", lambda: index.delete("missing"))
    with Index.open(path) as index:
        put("opened", lambda: state(index))
    options: dict[str, dict[str, Any]] = {
        "stems": {"normalizer": "stem"},
        "n-grams": {"ngram_range": (1, 2)},
        "case kept": {"lowercase": False},
        "own vectors": {"vectors": table_of(500)},
    }
    for name, option in options.items():
        with make_index(folder / f"{name}.kin", **option) as index:
            index.compact()
            put(f"{name}", lambda: state(index))
            put(
                f"{name}, segments",
                lambda: list(files_of(folder / f"{name}.kin" / "segments").values()),
            )
            put(f"{name}, found", lambda: hits_of(index.search(QUERIES[0], ranking="wmd")))


def schema_of(path: Path) -> list[Any]:
    """Return the tables of the catalog of an index."""
    with sqlite3.connect(next(path.glob("*.sqlite"))) as catalog:
        return sorted(
            catalog.execute("SELECT type, name, sql FROM sqlite_master").fetchall(), key=str
        )


def rankings() -> dict[str, Any]:
    """Return every kind of ranking."""
    import textkin as tk
    from textkin.index import Cascade, RankFusion, TermRanking, TransportRanking, WeightedSum

    by_name = ("bm25", "tfidf", "cosine", "inner", "binary", "wmd", "rwmd", "wcd", "hybrid")
    return dict(zip(by_name, by_name, strict=True)) | {
        "bm25 with parameters": tk.BM25(0.9, 0.4, idf="okapi"),
        "tfidf with parameters": tk.TfIdf(tf="log", idf="smooth"),
        "terms": TermRanking(tk.TfIdf("sklearn"), "inner"),
        "wmd of a mover": tk.WordMover(word_weights="sif", cost="cosine"),
        "rwmd of the query": TransportRanking("rwmd-query", word_weights="tfidf"),
        "rwmd of the document": TransportRanking("rwmd-document", unit=True),
        "cascade": Cascade("bm25", "wmd", candidates=50),
        "weighted sum": WeightedSum({"bm25": 0.8, "wmd": 0.2}),
        "weighted sum of a union": WeightedSum(
            {"bm25": 0.8, "wcd": 0.2}, candidates=30, pool="union"
        ),
        "rank fusion": RankFusion(["bm25", "wmd", "tfidf"]),
    }


@section
def index_searches(put: Put, folder: Path) -> None:
    """Put every ranking: hits, pages, similar documents, feedback, explanations, and drawings."""
    with make_index(folder / "a.kin") as index:
        index.compact()
        index.update([{"id": "late", "text": "Delete a directory at random", "label": "z"}])
        index.delete(index.ids[10:13])
        for name, ranking in rankings().items():
            for at, query in enumerate(QUERIES):
                put(f"{name}, query {at}", lambda: hits_of(index.search(query, 8, ranking=ranking)))
            hits = index.search(QUERIES[0], 5, ranking=ranking)
            put(f"{name}, data", lambda: stable(json.dumps(hits.to_dict()), folder))
            put(f"{name}, drawn", lambda: hits_drawn(hits))
            put(f"{name}, why", lambda: drawings(hits[0].explain()))
            put(f"{name}, next", lambda: hits_of(hits.next()))
            put(
                f"{name}, offset",
                lambda: hits_of(index.search(QUERIES[0], 5, ranking=ranking, offset=9)),
            )
            id = index.ids[40]
            put(f"{name}, similar", lambda: hits_of(index.similar(id, 5, ranking=ranking)))
            put(
                f"{name}, similar, why",
                lambda: drawings(index.similar(id, 5, ranking=ranking)[0].explain()),
            )
            put(
                f"{name}, many",
                lambda: [hits_of(h) for h in index.search_many(QUERIES, 4, ranking=ranking)],
            )
            put(
                f"{name}, feedback",
                lambda: hits_of(hits.feedback(relevant=hits.ids[1:3], nonrelevant=hits.ids[4:])),
            )
            put(f"{name}, pseudo feedback", lambda: hits_of(hits.pseudo_feedback(3)))
            put(
                f"{name}, threshold",
                lambda: hits_of(index.search(QUERIES[0], ranking=ranking, threshold=hits[2].score)),
            )
            put(
                f"{name}, words",
                lambda: hits_of(index.search({"file": 2.0, "lock": 0.5}, ranking=ranking)),
            )
            put(
                f"{name}, filtered",
                lambda: hits_of(index.search(QUERIES[0], ranking=ranking, where="year < 2010")),
            )
            put(f"{name}, nothing", lambda: hits_of(index.search("xyzzy", ranking=ranking)))
        moved = index.search(QUERIES[0], 5).feedback(relevant=index.ids[:3])
        put("moved query", lambda: [dict(moved.query.words), moved.query.rounds, hits_drawn(moved)])
        put("moved query, why", lambda: drawings(moved[0].explain()))
        hits = index.search(QUERIES[0], 5)
        put("snippets", lambda: [[hit.snippet(60), hit.snippet(40, ("<", ">"))] for hit in hits])
        put("document", lambda: [hits[0].text, dict(hits[0].metadata), hits[0].label])
        aligned = index.search(QUERIES[0], 5, ranking="wmd")[0].aligned()
        put("aligned", lambda: drawings(aligned))
        put("unknown ranking", lambda: hits_of(index.search("x", ranking="nearest")))


@section
def index_filters(put: Put, folder: Path) -> None:
    """Put filters: their results, and their printed forms."""
    from textkin.index import parse_filter

    filters: list[Any] = [
        "year = 2015",
        "year >= 2010 and year < 2016",
        "label in (a, s)",
        "exists(tags)",
        "not label = a",
        "year = 2001 or tags = long",
        "tags != text",
        "jahr = 3",
        "year >= '2015'",
        {"year": {">=": 2010, "<": 2016}, "label": ["a", "c"]},
        {"not": {"or": [{"year": 2001}, {"tags": "long"}]}},
    ]
    with make_index(folder / "a.kin") as index:
        for where in filters:
            put(f"printed: {where}", lambda: str(parse_filter(where)))
            put(
                f"found: {where}",
                lambda: hits_of(index.search("file string list", 50, where=where)),
            )
            hits = index.search("file string list", 5, ranking="wmd", where=where)
            put(f"found by wmd: {where}", lambda: hits_of(hits))
            put(f"notes: {where}", lambda: [hits.unknown_fields, hits.notes, hits.to_text()])
        put("wrong filter", lambda: index.search("file", where="year >="))


@section
def index_models(put: Put, folder: Path) -> None:
    """Put attached models: rankings by their vectors, and the vectors after changes."""
    from sklearn.pipeline import make_pipeline

    from textkin import LDA, LSI, Index, Pooling, TfIdf
    from textkin.index import ModelRanking, WeightedSum

    def lengths(given: Any) -> Any:
        return np.array([[len(text), 1.0, -text.count("o")] for text in given])

    with make_index(folder / "a.kin") as index:
        index.attach("lsi", make_pipeline(TfIdf(), LSI(6, random_state=0)))
        index.attach("dot", LSI(4, random_state=0), metric="inner")
        index.attach("lda", LDA(4, random_state=0, max_iter=10))
        index.attach("pooled", Pooling(table_of(50_000)))
        index.attach("lengths", lengths)
        put("models", stable(json.dumps(index.info().to_dict()["models"]), folder))
        index.add([{"id": "late", "text": "Delete a directory at random"}])
        rankings = {name: name for name in ("lsi", "dot", "lda", "pooled", "lengths")} | {
            "graph": ModelRanking("lsi", approximate=True),
            "sum": WeightedSum({"bm25": 0.5, "lsi": 0.5}),
        }
        for name, ranking in rankings.items():
            put(f"{name}, found", lambda: hits_of(index.search(QUERIES[0], 6, ranking=ranking)))
            put(f"{name}, similar", lambda: hits_of(index.similar("late", 6, ranking=ranking)))
            put(
                f"{name}, why",
                lambda: drawings(index.search(QUERIES[0], 6, ranking=ranking)[0].explain()),
            )
            put(
                f"{name}, pseudo feedback",
                lambda: hits_of(index.search(QUERIES[0], 6, ranking=ranking).pseudo_feedback(3)),
            )
        put("files", lambda: saved_tensors(folder / "a.kin" / "models"))
        put("manifests", lambda: manifests_of(folder / "a.kin" / "models"))
        put("detached", lambda: [index.detach("dot"), list(index.info().models)])
        index.compact()
        put("segments", lambda: list(files_of(folder / "a.kin" / "segments").values()))
    with Index.open(folder / "a.kin", models={"lengths": lengths}) as index:
        put(
            "opened",
            lambda: [hits_of(index.search(QUERIES[1], 6, ranking=n)) for n in ("lsi", "lengths")],
        )


@section
def index_pairs(put: Put, folder: Path) -> None:
    """Put near pairs and joins, as part files."""
    with make_index(folder / "a.kin") as index:
        for name, threshold in {"wmd": 5.0, "rwmd": 4.5, "wcd": 3.0}.items():
            target = folder / f"pairs {name}"
            put(
                f"near pairs, {name}",
                lambda: parts_of(index.near_pairs(threshold, target, ranking=name)),
            )
            put(f"near pairs, {name}, files", lambda: part_files(target))
            joined = folder / f"join {name}"
            put(f"join, {name}", lambda: parts_of(index.join(QUERIES, joined, 5, ranking=name)))
            put(f"join, {name}, files", lambda: part_files(joined))
        filtered = folder / "filtered"
        put(
            "join, filtered",
            lambda: parts_of(index.join(QUERIES, filtered, 5, where="year < 2010")),
        )
        put("join, filtered, files", lambda: part_files(filtered))


def parts_of(parts: Any) -> list[int]:
    """Return the numbers of part files."""
    return [parts.files, parts.rows, parts.made]


def part_files(folder: Path) -> dict[str, Any]:
    """Return the tables of part files, and the names of all files."""
    import pyarrow.parquet as parquet

    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = parquet.read_table(path).to_pydict() if path.suffix == ".parquet" else None
    return found


# Sections: files of vectors, and measures


@section
def vector_files(put: Put, folder: Path) -> None:
    """Put word vectors: files of every format, neighbors, and judged pairs."""
    import gzip

    from safetensors.numpy import save_file

    from textkin import WordVectors
    from textkin.evaluate import read_word_pairs, word_pairs
    from textkin.vectors import format_of

    words = ["the", "naïve", "New_York"]
    matrix = np.array([[1, -2.5, 0.125], [0, 3, 1e-3], [-4, 5, 0.1]], dtype=np.float32)
    pairs = list(zip(words, matrix, strict=True))
    lines = "".join(f"{w} {' '.join(repr(float(x)) for x in row)}\n" for w, row in pairs)
    (folder / "glove.txt").write_text(lines, encoding="utf-8")
    (folder / "glove.txt.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    (folder / "repaired.txt").write_text(f"{lines}the 1 2 3\nvoid 0 0 0\n", encoding="utf-8")
    (folder / "word2vec.vec").write_text(f"3 3\n{lines}", encoding="utf-8")
    rows = [w.encode() + b" " + row.tobytes() for w, row in pairs]
    (folder / "word2vec.bin").write_bytes(b"3 3\n" + b"".join(rows))
    (folder / "newlines.bin").write_bytes(b"3 3\n" + b"".join(row + b"\n" for row in rows))
    (folder / "broken.bin").write_bytes(b"3 3\n" + b"".join(rows)[:-3])
    np.savez(folder / "strings.npz", words=np.array(words), vectors=matrix)
    np.save(folder / "array.npy", matrix)
    (folder / "array.words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    save_file({"vectors": matrix}, folder / "m.safetensors", {"words": json.dumps(words)})
    files = [path for path in sorted(folder.iterdir()) if path.name != "array.words.txt"]
    for path in files:
        put(f"read {path.name}", lambda: [(v := WordVectors.load(path)).matrix, list(v.words)])
        put(f"format of {path.name}", lambda: format_of(path))
        put(f"first of {path.name}", lambda: WordVectors.load(path, max_words=2).matrix)
    repaired = WordVectors.load(folder / "repaired.txt")
    put("repairs", repaired.repairs.to_dict())
    own = WordVectors(words, matrix)
    own.save(folder / "own")
    put("written", lambda: saved_tensors(folder / "own"))
    put("written, files", lambda: list(files_of(folder / "own", ".safetensors").values()))
    put("written, manifest", lambda: manifests_of(folder / "own"))
    put("written and read", lambda: WordVectors.load(folder / "own").matrix)

    table = vectors()
    put("built-in", [list(table.words), table.matrix])
    put("distilled", lambda: WordVectors.builtin("distilled").matrix)
    put("nearest", table.nearest("press", 8))
    put("nearest to a vector", table.nearest(table.matrix[5], 8, exclude=["the"]))
    put("analogy", table.analogy("man", "king", "woman", 5))
    put("unit", table_of(500).unit().matrix)
    put("without components", table_of(500).without_components(2).matrix)
    put("lengths", table.lengths)
    put("aligned", table.align(["press", "xyzzy", "cats"]))
    put("looked up", table.lookup(["press", "xyzzy", "Cats"]))
    judged = [
        "word1\tword2\tgold\tdataset",
        "cat\tdog\t7\ta",
        "cat\tcar\t2\ta",
        "king\tqueen\t9\tb",
    ]
    (folder / "pairs.tsv").write_text("\n".join([*judged, "sun\txyzzy\t1\tb", "sun\tmoon\t6\tb"]))
    judged_pairs = read_word_pairs(folder / "pairs.tsv")
    for choice in ("drop", "zero"):
        scores = [word_pairs(table, pairs, oov=choice) for pairs in judged_pairs.values()]
        put(
            f"judged pairs, {choice}", [[s.spearman, s.pearson, s.covered, s.total] for s in scores]
        )


@section
def measures(put: Put, folder: Path) -> None:
    """Put measures of retrieval, labels, clusters, and scores; and tests of significance."""
    from sklearn.metrics import (
        accuracy_score,
        adjusted_rand_score,
        f1_score,
        normalized_mutual_info_score,
    )

    from textkin import evaluate as e

    random = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{d}": int(random.integers(4)) for d in range(12)} for q in range(20)}
    run = {f"q{q}": {f"d{d}": float(random.normal()) for d in range(15)} for q in range(19)}
    other = {
        q: {d: s + float(random.normal()) for d, s in found.items()} for q, found in run.items()
    }
    measures: dict[str, Callable[[Any], Any]] = {
        "average precision": lambda given: e.average_precision(qrels, given, k=10),
        "precision": lambda given: e.precision_at_k(qrels, given, 5),
        "recall": lambda given: e.recall_at_k(qrels, given, 5, level=2),
        "reciprocal rank": lambda given: e.reciprocal_rank(qrels, given, k=3, level=3),
        "ndcg": lambda given: e.ndcg_at_k(qrels, given, 10),
    }
    for name, measure in measures.items():
        scores = measure(run)
        put(name, [dict(scores.values), scores.mean, list(scores.left_out), scores.to_records()])
    put(
        "interpolated precision",
        e.interpolated_precision(qrels, run).to_records(),
    )
    first, second = e.ndcg_at_k(qrels, run, 10), e.ndcg_at_k(qrels, other, 10)
    for name, test in {
        "t test": lambda: e.paired_t_test(first, second),
        "bootstrap": lambda: e.paired_bootstrap(first, second, resamples=500),
        "randomization": lambda: e.paired_randomization(first, second, resamples=500),
    }.items():
        found = test()
        put(name, [found.difference, found.p_value, found.interval, found.n, found.exact])
    labels, clusters = random.integers(4, size=80), random.integers(3, size=80)
    put(
        "labels",
        [
            accuracy_score(labels, clusters),
            float(np.mean(labels != clusters)),
            f1_score(labels, clusters, average="macro"),
        ],
    )
    put(
        "clusters",
        [
            adjusted_rand_score(labels, clusters),
            *(
                normalized_mutual_info_score(labels, clusters, average_method=m)
                for m in ("arithmetic", "geometric")
            ),
        ],
    )
    gold, scores = random.random(60), random.random(60)
    put("correlations", [e.pearson(gold, scores), e.spearman(gold, scores)])
    sts = e.sts_scores(["a", "b", "c"] * 20, gold, scores)
    put("similarity scores", sts.to_dict())
    e.write_qrels(folder / "qrels.txt", qrels)
    e.write_run(folder / "run.txt", run)
    put("trec files", [(folder / name).read_bytes() for name in ("qrels.txt", "run.txt")])
    put(
        "trec files read",
        lambda: [e.read_qrels(folder / "qrels.txt"), e.read_run(folder / "run.txt")],
    )
    made = e.as_run(["a", "b"], ["x", "y", "z"], random.random((2, 3)))
    put("run of scores", lambda: made)


@section
def judged_data(put: Put, folder: Path) -> None:
    """Put labeled texts, sentence pairs, and judged collections."""
    from textkin import evaluate as e

    data = e.LabeledData([*TEXTS[:6], TEXTS[3].upper()], list("aabbcca"), splits=[([0, 1, 2], [6])])
    drawn = data.with_random_splits(2, test=0.4, random_state=0).splits
    put("random splits", [[np.asarray(part) for part in split] for split in drawn])
    counts = e.duplicate_counts(data)
    put("duplicates", [counts.train, counts.test, counts.across, counts.contradicting])
    put("without duplicates", lambda: list(e.remove_duplicates(data).texts))
    rows = [{"text": text, "label": "ab"[n % 2]} for n, text in enumerate(KNOWN)]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    read = e.read_labeled(folder / "a.jsonl")
    put("labeled texts", [list(read.texts), list(read.labels), list(read.ids)])
    pair = {"sentence1": "A cat.", "sentence2": "A dog.", "gold": "3.5", "dataset": "x"}
    pairs = e.read_pairs([pair, {**pair, "dataset": "y"}])
    put("pairs", [list(pairs.first), list(pairs.second), pairs.gold, list(pairs.sets)])


@section
def parts(put: Put, folder: Path) -> None:
    """Put indirectly used results: explanations of given numbers, blocks, feedback."""
    from textkin import explain as x
    from textkin.index import rocchio
    from textkin.run import map_blocks, memory_in_bytes

    hostile = "<b>\x1b[31mMäuse & 日本\u202e"
    moves = [(0, 0, 0.5, 2.0), (0, 1, 0.1, 0.0), (1, 1, 0.4, 1.25)]
    flow = x.Flow.of([("cat", 0.6), (hostile, 0.4)], [("kitten", 0.5), ("rug", 0.5)], moves)
    put("flow", lambda: drawings(flow))
    put("flow, ASCII", lambda: flow.to_text(unicode=False, width=50))
    names = [("cat", 0.5), ("mat", 1.5), (hostile, -0.7)]
    found = x.Contributions.of([x.Contribution(*name) for name in names])
    put("contributions", lambda: drawings(found))
    put("contributions, ASCII", lambda: found.to_text(unicode=False, limit=2, color=True))
    random = np.random.default_rng(0)
    words = [f"w{n}" for n in range(9)]
    topics = x.Topics.of(random.dirichlet(np.ones(9), size=3), words, weights=np.ones(3) / 3)
    put("topics", lambda: drawings(topics))
    groups = x.Group("0", 2, (("cat", 2.0), ("purr", 1.5))), x.Group("1", 1, (("stock", 1.0),))
    drawn = x.GroupMap(groups, np.array([[0, 0], [1, 0], [4, 3.0]]), np.array([0, 0, 1]))
    put("groups", lambda: drawings(drawn))
    put("style", x.stylesheet())
    put("shortened", [x.shortened(text, 20) for text in (*TEXTS, hostile)])
    put("rocchio", rocchio([1, 0, 0], [[1, 1, 0], [0, 1, 0]], [[0, 0, 2]]))
    blocks = [range(3), range(3, 6), range(6, 9)]
    put("blocks", lambda: list(map_blocks(sum, blocks, n_jobs=2)))
    put("memory", [memory_in_bytes("64MB"), memory_in_bytes("1.5GB"), memory_in_bytes(99)])


@section
def failures(put: Put, folder: Path) -> None:
    """Put the exceptions of calls with wrong arguments."""
    import textkin as tk
    from textkin.index import Cascade, WeightedSum
    from textkin.text import tokenize

    words = table_of(500)
    with tk.Index.create(folder / "a.kin", language=None) as index:
        index.add([{"id": "a", "text": "the time"}])
        wrong: list[Callable[[], Any]] = [
            lambda: tokenize(3),
            lambda: tk.BagOfWords(min_count=-1).fit(TEXTS),
            lambda: tk.BagOfWords().fit("a text"),
            lambda: tk.BagOfWords(stop_words="none").fit(TEXTS),
            lambda: tk.TfIdf("tfidf").fit([[1]]),
            lambda: tk.BM25(b=2).fit([[1]]),
            lambda: tk.TfIdf().fit([[-1.0]]),
            lambda: tk.pairwise_distances([[1, 2]], metric="inner"),
            lambda: tk.pairwise_distances([[1, 2]], [[1]]),
            lambda: tk.pairwise_distances([[np.nan]]),
            lambda: tk.WordMover(words, cost="l1").fit(KNOWN),
            lambda: tk.WordMover(words).fit(KNOWN).search(QUERIES, k=0),
            lambda: tk.WordMover(words).fit(KNOWN).search(QUERIES, algorithm="fast"),
            lambda: tk.WordMover(words).kneighbors(KNOWN),
            lambda: tk.WordMover(words, oov="error").distance("the time", "xyzzy"),
            lambda: tk.WordMover(words).pairwise(TEXTS),
            lambda: tk.compare("", "the time"),
            lambda: tk.TokenMover().distance(np.ones((2, 3)), np.ones((2, 4))),
            lambda: tk.PLSA(0).fit([[1, 2]]),
            lambda: tk.LDA(method="exact").fit([[1, 2]]),
            lambda: tk.WTMF(2).transform([[1, 2]]),
            lambda: tk.CountingGrid((2, 2), window=3).fit([[1, 2]]),
            lambda: tk.models.DiagonalGaussianMixture(9).fit(points(4)),
            lambda: tk.Pooling(words, word_weights="best").fit(KNOWN),
            lambda: tk.Pooling(words, empty="error").fit_transform(TEXTS),
            lambda: tk.NearestNeighborClassifier("near").fit(KNOWN, range(8)),
            lambda: tk.NearestNeighborClassifier().fit(KNOWN, [1]),
            lambda: tk.DocumentClustering(20).fit(KNOWN),
            lambda: tk.DocumentClustering(method="means").fit(KNOWN),
            lambda: tk.find_duplicates(KNOWN, metric="wmd"),
            lambda: tk.WordVectors(["a", "a"], np.ones((2, 2))),
            lambda: words.nearest("xyzzy"),
            lambda: tk.Index.open(folder / "missing.kin"),
            lambda: tk.Index.create(folder / "a.kin", language=None),
            lambda: index.add("a text"),
            lambda: index.add([{"id": 3}]),
            lambda: index.search("time", k=-1),
            lambda: index.search("time", ranking=Cascade("bm25")),
            lambda: index.search("time", ranking=WeightedSum({})),
            lambda: index.search("time", where={"year": {"~": 1}}),
            lambda: index.similar("missing"),
            lambda: index.attach("bm25", tk.LSI(2)),
            lambda: index["missing"],
        ]
        for at, call in enumerate(wrong):
            put(f"{at}", lambda: str(type(call()).__name__))


# Sections: surfaces


def run_command(folder: Path, *arguments: str) -> list[Any]:
    """Run the command line in a process; return its exit code and output."""
    environment = os.environ | {
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-m", "textkin", *arguments]
    options: dict[str, Any] = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, **options)
    return [done.returncode, stable(done.stdout, folder), stable(done.stderr, folder)]


@section
def commands(put: Put, folder: Path) -> None:
    """Put the command line: results as lines and JSON, files that it writes, and failures."""
    rows = [json.dumps(document) for document in docstrings(60)]
    (folder / "docs.jsonl").write_text("\n".join([*rows, rows[3].replace('"id": "', '"id": "x')]))
    (folder / "new.txt").write_text(TEXTS[0])
    (folder / "v.txt").write_text("cat 1 2\ndog 2 1\ncar -1 0.5\n")
    lines = {
        "version": ["--version"],
        "demo": ["demo"],
        "demo as JSON": ["demo", "--json"],
        "compare": ["compare", TEXTS[0], TEXTS[1], "--explain"],
        "compare as JSON": ["compare", TEXTS[0], TEXTS[1], "--json", "--cost", "cosine"],
        "compare, drawn": ["compare", TEXTS[0], TEXTS[1], "--svg", "a.svg", "--html", "a.html"],
        "classify": ["classify", "docs.jsonl", "new.txt", "--explain"],
        "classify, rocchio": ["classify", "docs.jsonl", "new.txt", "--metric", "rocchio", "--json"],
        "cluster": ["cluster", "docs.jsonl", "-n", "3", "--html", "b.html", "--svg", "b.svg"],
        "cluster as CSV": ["cluster", "docs.jsonl", "--method", "kmedoids", "-n", "3", "--csv"],
        "duplicates": ["duplicates", "docs.jsonl", "--metric", "cosine", "--radius", "0.2"],
        "duplicates as JSON": ["duplicates", "docs.jsonl", "--json", "--html", "c.html"],
        "index create": ["index", "create", "a.kin", "--stop-words", "smart"],
        "index add": ["index", "add", "a.kin", "docs.jsonl"],
        "index info": ["index", "info", "a.kin"],
        "index get": ["index", "get", "a.kin", docstrings(60)[0]["id"]],
        "index list": ["index", "list", "a.kin"],
        "search": ["search", "a.kin", QUERIES[0], "--explain", "-k", "3"],
        "search by wmd": ["search", "a.kin", QUERIES[0], "--ranking", "wmd", "--explain", "-k2"],
        "search as JSON": ["search", "a.kin", "file", "--where", "year<2010", "--json"],
        "search, drawn": ["search", "a.kin", "file", "--svg", "d.svg", "--html", "d.html"],
        "similar": ["similar", "a.kin", docstrings(60)[0]["id"], "--ranking", "tfidf"],
        "index delete": ["index", "delete", "a.kin", docstrings(60)[0]["id"]],
        "index compact": ["index", "compact", "a.kin"],
        "index verify": ["index", "verify", "a.kin"],
        "vectors info": ["vectors", "info", "v.txt", "--json"],
        "vectors nearest": ["vectors", "nearest", "press", "-n", "3"],
        "vectors analogy": ["vectors", "analogy", "man", "king", "woman", "--json"],
        "vectors convert": ["vectors", "convert", "v.txt", "converted"],
        "failure: no such file": ["classify", "missing.csv"],
        "failure: no such index": ["search", "missing.kin", "x"],
        "failure: nothing found": ["search", "a.kin", "xyzzy"],
        "failure: wrong option": ["search", "a.kin", "x", "--ranking", "nearest"],
        "failure: wrong number": ["cluster", "docs.jsonl", "-n", "0"],
        "failure: wrong filter": ["search", "a.kin", "x", "--where", "year >="],
    }
    for name, arguments in lines.items():
        put(name, lambda: run_command(folder, *arguments))
    for path in sorted([*folder.glob("*.svg"), *folder.glob("*.html")]):
        put(f"file {path.name}", stable(path.read_text(), folder))


@section
def command_help(put: Put, folder: Path) -> None:
    """Put the help of each command."""
    names = ["", "demo", "compare", "search", "similar", "classify", "cluster", "duplicates"]
    names += ["serve", "evaluate", "index", "index create", "index add", "vectors", "vectors train"]
    for name in names:
        put(f"help of {name or 'all'}", lambda: run_command(folder, *name.split(), "--help"))


@section
def web(put: Put, folder: Path) -> None:
    """Put the HTTP API: its description, and answers to requests."""
    from fastapi.testclient import TestClient
    from sklearn.pipeline import make_pipeline

    from textkin import LSI, TfIdf
    from textkin.web import Settings, create_app

    id = docstrings()[40]["id"]
    text = QUERIES[0]
    posts: dict[str, tuple[str, dict[str, Any]]] = {
        "search": ("search", {"query": text, "k": 3}),
        "search by wmd": (
            "search",
            {"query": text, "k": 3, "ranking": "wmd", "where": "year < 2010"},
        ),
        "search by model": ("search", {"query": text, "k": 3, "ranking": "lsi", "offset": 2}),
        "similar": ("similar", {"id": id, "ranking": "tfidf", "k": 3}),
        "feedback": ("feedback", {"query": "lock", "k": 5, "rounds": [{"relevant": [id]}]}),
        "pseudo feedback": ("feedback", {"query": "median of data", "pseudo": 5}),
        "explain": ("explain", {"query": text, "document": id, "ranking": "wmd"}),
        "explain bm25": ("explain", {"id": id, "document": docstrings()[41]["id"]}),
        "compare": ("compare", {"a": TEXTS[0], "b": TEXTS[1]}),
        "compare to a document": ("compare", {"a": text, "b": {"id": id}, "ranking": "tfidf"}),
        "classify": ("classify", {"text": text, "ranking": "bm25", "k": 5}),
        "add": ("documents", {"documents": [{"id": "n", "text": "A note", "metadata": {"y": 1}}]}),
        "failure: unknown field": ("search", {"query": text, "limit": 3}),
        "failure: unknown ranking": ("search", {"query": text, "ranking": "nearest"}),
        "failure: wrong filter": ("search", {"query": text, "where": "year >="}),
        "failure: wrong number": ("search", {"query": text, "k": 0}),
        "failure: no such document": ("similar", {"id": "missing"}),
        "failure: too many hits": ("search", {"query": text, "k": 100_000}),
    }
    gets = ["health", "stats", "documents?limit=3", f"document?id={id}", "topics?n=3"]
    gets += [
        "map?clusters=3",
        "clusters?n=3",
        "clusters?by=lsi&n=3",
        "document?id=missing",
        "nothing",
    ]
    token = "a-token-that-nobody-has"
    writer = {"Authorization": f"Bearer {token}"}
    with make_index(folder / "a.kin") as index:
        index.attach("lsi", make_pipeline(TfIdf(), LSI(4, random_state=0)))
        app = create_app(index, settings=Settings(token=token))
        put("description", stable(json.dumps(app.openapi())))
        with TestClient(app, base_url="http://localhost") as client:

            def answer(address: str) -> list[Any]:
                got = client.get(f"/api/{address}")
                while got.status_code == 202:
                    time.sleep(0.02)
                    got = client.get(f"/api/{address}")
                return [got.status_code, stable(got.text, folder)]

            for address in gets:  # entries keep the names that parameters had
                put(f"get {address}", lambda: answer(address.replace("?by=", "?representation=")))
            for name, (route, body) in posts.items():
                got = client.post(f"/api/{route}", json=body, headers=writer)
                put(f"post {name}", [got.status_code, stable(got.text, folder)])
            got = client.post("/api/documents", json=posts["add"][1])
            put("post without the token", [got.status_code, got.text])
            got = client.put("/api/document?id=n", json={"text": "Another note"}, headers=writer)
            put("put", [got.status_code, got.text])
            got = client.delete("/api/document?id=n", headers=writer)
            put("delete", [got.status_code, got.text])
            put(
                "page",
                lambda: [client.get(at).status_code for at in ("/", "/docs", "/openapi.json")],
            )


# The command line of this script


def chosen(names: Sequence[str] | None) -> list[str]:
    """Return the sections to run; exit if one is unknown."""
    for name in names or ():
        if name not in SECTIONS:
            sys.exit(f"no section is called {name!r}; there are: {', '.join(SECTIONS)}")
    return [name for name in SECTIONS if not names or name in names]


def compare(before: Mapping[str, str], after: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return a line for each entry of the given sections that differs."""
    lines = []
    expected = {key: value for key, value in before.items() if key.partition("/")[0] in names}
    for entry in sorted(expected.keys() | after.keys()):
        old, new = expected.get(entry), after.get(entry)
        if old is None:
            lines.append(f"new      {entry}: {new}")
        elif new is None:
            lines.append(f"missing  {entry}: {old}")
        elif old != new:
            lines.append(f"differs  {entry}: {old} -> {new}")
    return lines


def main() -> None:
    """Compute digests, and write or compare them."""
    parser = argparse.ArgumentParser(description="Digests of what the library computes.")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write digests as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with such a file")
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="run these sections only")
    parser.add_argument("--times", action="store_true", help="print the seconds of each section")
    arguments = parser.parse_args()
    names = chosen(arguments.only)
    found: dict[str, str] = {}
    for name in names:
        start = time.process_time()
        found |= run_section(name)
        if arguments.times:
            print(f"{time.process_time() - start:6.1f} s  {name}", file=sys.stderr)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.compare is None:
        if arguments.output is None:
            print(json.dumps(found, indent=1))
        return
    before = json.loads(arguments.compare.read_text())
    lines = compare(before, found, names)
    print("\n".join([*lines, f"{len(lines)} of {len(found)} digests differ"]))
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
