"""Tests that a search certificate verifies correct answers, and raises for manipulated records."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_reference import COSTS, EXACT, movers, random_corpus
from textkin import WordMover, WordVectors, _core
from textkin.exceptions import CertificateError

CODE = {name: code for code, name in enumerate(_core.VERDICTS)}


@given(movers(), st.sampled_from(EXACT), st.sampled_from([1, 3, None]), st.booleans())
@settings(max_examples=40)
def test_every_answer_is_verified(case, algorithm, k, within):
    mover, bags, queries = case
    radius = 2.0 if within else None
    mask = np.arange(len(bags)) % 3 != 1
    found = mover.search(queries, k, radius=radius, algorithm=algorithm, mask=mask)
    for query in range(len(found)):
        proof = found.certificate(query)
        verified = proof.verify(sample=None)
        assert verified.exact
        assert verified.documents == len(proof) == len(bags) == sum(proof.counts.values())
        stats = found.stats
        assert proof.counts.get("solved", 0) >= found.counts[query]
        assert proof.counts.get("empty", 0) == stats.empty[query]
        assert proof.counts.get("left_out", 0) == stats.left_out[query]
        valued = len(bags) - stats.empty[query] - stats.left_out[query]
        assert sum(verified.checked.values()) == valued
        if found.counts[query] == k:
            assert proof.limit == found[query].distances[-1]
        else:
            assert proof.limit == (np.inf if radius is None else radius)
        assert repr(proof).startswith("SearchCertificate: ")


@pytest.fixture(params=COSTS)
def brute_force_certificate(request, rng):
    """A brute-force search: the certificate of its first query, and the bounds of all documents."""
    table, bags = random_corpus(rng, 40, 60, dimension=5, longest=8)
    mover = WordMover(table, cost=request.param, algorithm="brute").fit(bags[1:])
    proof = mover.search(bags[:1], 3).certificate(0)
    bounds = [mover.bounds(bags[0], bag) for bag in bags[1:]]
    return proof, bounds


BOUNDS = {
    "document_side": lambda bounds: bounds.target,
    "relaxed": lambda bounds: bounds.relaxed,
    "centroid": lambda bounds: bounds.centroid,
    "refined": lambda bounds: bounds.relaxed,
}


def with_verdict(proof, row, name, value):
    verdicts, values = proof.verdicts.copy(), proof.values.copy()
    verdicts[row], values[row] = CODE[name], value
    return replace(proof, verdicts=verdicts, values=values)


@pytest.mark.parametrize("name", BOUNDS)
def test_excluding_bounds_are_recomputed(brute_force_certificate, name):
    """Replace distances by bounds, as a faster search records for excluded documents."""
    proof, bounds = brute_force_certificate
    values = np.array([BOUNDS[name](bound) for bound in bounds])
    excluded = np.flatnonzero(values > proof.limit * 1.001)
    assert excluded.size
    fast = proof
    for row in excluded:
        fast = with_verdict(fast, row, name, values[row])
    verified = fast.verify(sample=None)
    assert verified.checked[name] == len(excluded)
    assert verified.exact
    assert f"excluded by {name}" in repr(fast)
    row = int(excluded[0])
    lie = proof.values[row] * 1.0001 if name == "refined" else values[row] * 1.0001
    with pytest.raises(CertificateError, match=rf"Document {row} is recorded .* \({name}\)"):
        with_verdict(proof, row, name, lie).verify(sample=None)
    with pytest.raises(CertificateError, match=f"bound that excludes document {row} must exceed"):
        with_verdict(proof, row, name, proof.limit * 0.999).verify(sample=0)
    for not_beyond in (proof.limit, np.nextafter(proof.limit, 0), np.nan):
        with pytest.raises(CertificateError, match=f"excludes document {row} must"):
            with_verdict(proof, row, name, not_beyond).verify(sample=0)
    beyond = np.nextafter(proof.limit, np.inf)
    assert with_verdict(proof, row, name, beyond).verify(sample=0).exact


RANKINGS = {
    "wcd": lambda bounds: bounds.centroid,
    "rwmd": lambda bounds: bounds.relaxed,
    "rwmd-query": lambda bounds: bounds.source,
    "rwmd-document": lambda bounds: bounds.target,
}


@pytest.mark.parametrize("metric", RANKINGS)
def test_rankings_by_a_bound_verify_that_bound(brute_force_certificate, metric):
    proof, bounds = brute_force_certificate
    values = np.array([RANKINGS[metric](bound) for bound in bounds])
    order = np.argsort(values, kind="stable")[:3]
    ranked = replace(
        proof,
        values=values,
        indices=order,
        distances=values[order],
        limit=float(values[order[-1]]),
        options=replace(proof.options, metric=metric),
    )
    verified = ranked.verify(sample=None)
    assert not verified.exact
    assert verified.checked == {"solved": len(bounds)}
    assert f"valued by {metric}" in repr(ranked)
    last = int(np.argmax(values))
    for factor in (0.9999, 1.0001):
        with pytest.raises(CertificateError, match=rf"Document {last} .*\({metric}\)"):
            with_verdict(ranked, last, "solved", values[last] * factor).verify(sample=None)


def test_manipulated_certificate_raises(brute_force_certificate):
    proof, _ = brute_force_certificate
    found = proof.indices.tolist()
    other = next(row for row in range(len(proof)) if row not in found)
    nearer, farther = proof.limit / 2, proof.values[other] * 1.0001
    first = found[0]
    for lie, message in (
        (with_verdict(proof, other, "solved", nearer), f"{other} is among .*; document {found[2]}"),
        (with_verdict(proof, other, "solved", farther), f"Document {other}: The distance is given"),
        (with_verdict(proof, other, "left_out", np.inf), f"verdict of document {other} disagree"),
        (
            with_verdict(proof, other, "empty", np.inf),
            f"verdict 'empty' is wrong for document {other}",
        ),
        (with_verdict(proof, first, "solved", 1e9), f"but was not found; document {first}"),
        (replace(proof, indices=proof.indices[::-1]), f"Document {found[2]} was found out of"),
        (replace(proof, indices=proof.indices[:2]), f"{found[2]} is among .* not found.$"),
        (
            replace(proof, indices=np.append(proof.indices, other)),
            f"Document {other} was found, but is not among",
        ),
        (
            replace(proof, distances=proof.distances * 1.0001),
            f"Document {first} was found at .* recorded",
        ),
    ):
        with pytest.raises(CertificateError, match=message):
            lie.verify(sample=None)


def test_unreached_documents_make_the_answer_inexact(brute_force_certificate):
    proof, _ = brute_force_certificate
    other = int(np.argmax(proof.values))
    verified = with_verdict(proof, other, "not_reached", np.inf).verify()
    assert not verified.exact


def test_sample_is_determined_by_its_seed(rng):
    table, bags = random_corpus(rng, 60, 50, longest=5)
    proof = WordMover(table, algorithm="brute").fit(bags).search(bags[:1], 4).certificate(0)
    assert sum(proof.verify().checked.values()) == 60
    assert sum(proof.verify(sample=10).checked.values()) == 14
    assert sum(proof.verify(sample=0).checked.values()) == 4
    row = int(np.argmax(proof.values))
    lie = with_verdict(proof, row, "solved", proof.values[row] * 1.001)

    def is_detected(seed):
        try:
            lie.verify(sample=20, random_state=seed)
        except CertificateError:
            return True
        return False

    found = [is_detected(seed) for seed in range(12)]
    assert found == [is_detected(seed) for seed in range(12)]
    assert 0 < sum(found) < 12  # some samples contain the manipulated row, some do not
    for wrong in (-1, 0.5, "all"):
        with pytest.raises((TypeError, ValueError), match="sample must be"):
            proof.verify(sample=wrong)


def test_certificate_is_of_the_searched_corpus():
    vectors = WordVectors(["press", "media", "band"], np.eye(3, dtype=np.float32))
    mover = WordMover(vectors).fit(["press", "media", "band band"])
    found = mover.search(["press media", ""], 2)
    mover.fit(["band"]).set_params(unit=True, cost="cosine")
    proof = found.certificate(0)
    assert len(proof) == 3
    assert proof.verify().exact
    assert proof.verdict(0) == "solved"
    assert proof.values[0] == proof.limit == found.distances[0, 1]
    empty = found.certificate(1)
    assert empty.counts == {"left_out": 3}
    assert empty.verify().checked == {}
    assert found.certificate(-1).counts == empty.counts
    with pytest.raises(IndexError, match="must be below 2, the number of queries"):
        found.certificate(2)


def test_few_allowed_documents_give_the_same_certificate(rng):
    """Few documents have a separate searcher, with the same answers and certificates."""
    table, bags = random_corpus(rng, 60, 50, longest=5)
    mover = WordMover(table).fit(bags)
    for few in ([3, 17, 40], list(range(0, 60, 2)), []):
        found = mover.search(bags[:2], 2, mask=few)
        proof = found.certificate(1)
        assert proof.verify(sample=None).exact
        assert proof.counts["left_out"] == 60 - len(few)
        assert set(found[1].indices.tolist()) <= set(few)
