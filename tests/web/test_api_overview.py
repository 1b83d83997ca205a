"""Map, clusters, and topics: computed once per snapshot, in the background."""

import json
import threading
import time

import numpy as np
import pytest

from textkin import Index
from textkin.web._errors import Problem
from textkin.web._jobs import JobProgress, JobRequest, JobResult, Jobs
from textkin.web._limits import Limits
from web.served import RECORDS, client_of, computed, error_of


@pytest.mark.parametrize("representation", ["tfidf", "vectors", "lsi"])
def test_map_has_a_position_per_document(client, representation):
    found = computed(client, f"/api/map?representation={representation}&clusters=3").json()
    assert found["ids"] == [record["id"] for record in RECORDS]
    for column in ("x", "y", "label", "cluster", "titles"):
        assert len(found[column]) == len(RECORDS)
    assert all(0 <= value <= 1 for value in found["x"] + found["y"])
    assert found["labels"] == ["pets", "money"]
    assert [found["label"][at] for at in (0, 3, 4)] == [0, -1, 1]
    assert found["cluster"][-1] == -1  # the empty document
    assert found["state"] == client.get("/api/stats").json()["state"]


def test_clusters_match_the_map(client):
    clusters = computed(client, "/api/clusters?n=3").json()["clusters"]
    there = computed(client, "/api/map?clusters=3").json()
    counts = np.bincount([number for number in there["cluster"] if number >= 0])
    assert [cluster["size"] for cluster in clusters] == counts.tolist()
    for cluster in clusters:
        at = there["ids"].index(cluster["central"]["id"])
        assert there["cluster"][at] == cluster["number"]
        assert 0 <= cluster["x"] <= 1
        assert 0 <= cluster["y"] <= 1
    assert any(cluster["words"] for cluster in clusters)


def test_topics_have_words_and_documents(client):
    topics = computed(client, "/api/topics?n=2").json()["topics"]
    assert len(topics) == 2
    assert sum(topic["weight"] for topic in topics) == pytest.approx(1)
    for topic in topics:
        assert topic["words"]
        assert all(0 < document["share"] <= 1 for document in topic["documents"])
        assert "empty" not in {document["id"] for document in topic["documents"]}


def test_map_is_reproducible(index):
    with client_of(index) as client:
        first = computed(client, "/api/map").json()
    with client_of(index) as client:
        assert computed(client, "/api/map").json() == first


def test_large_index_is_sampled(index):
    with client_of(index, limits=Limits(map=4)) as client:
        found = computed(client, "/api/map?clusters=2").json()
        assert len(found["ids"]) == 4
        assert found["ids"][0] == RECORDS[0]["id"]
        assert found["total"] == len(RECORDS)
        assert found["notes"] == ["An even sample of 4 of 8 documents."]


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["cat"], ["cat", "cat"], ["the"]])
def test_small_collections_have_maps(tmp_path, texts):
    with Index.create(tmp_path / "s.kin", language=None) as index:
        if texts:
            index.add([{"id": str(n), "text": text} for n, text in enumerate(texts)])
        with client_of(index) as client:
            for representation in ("tfidf", "vectors"):
                found = computed(client, f"/api/map?representation={representation}").json()
                assert len(found["x"]) == len(texts)
            assert computed(client, "/api/clusters").status_code == 200
            assert computed(client, "/api/topics").status_code == 200


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("/api/map?representation=nothing", "representation"),
        ("/api/map?clusters=51", "clusters"),
        ("/api/map?clusters=0", "clusters"),
        ("/api/clusters?n=x", "n"),
        ("/api/clusters?n=51", "n"),
        ("/api/topics?n=51", "n"),
    ],
)
def test_invalid_parameters_are_errors(client, address, field):
    assert error_of(client.get(address), 422)["field"] == field


# ---------------------------------------------------------------------- jobs


def wanted(key, state, make):
    return JobRequest(key, state, make)


def until(jobs, want, seconds=300):
    end = time.monotonic() + seconds
    while isinstance(found := jobs.ask(want), JobProgress):
        assert time.monotonic() < end
        time.sleep(0.002)
    return found


@pytest.fixture
def jobs():
    jobs = Jobs()
    yield jobs
    jobs.close()


def test_computation_runs_once_per_snapshot(jobs):
    made = []

    def make(progress):
        progress(1, 2)
        made.append(1)
        return JobResult("1", {"a": b"x"})

    want = wanted("key", "1", make)
    assert until(jobs, want).answers["a"] == b"x"
    assert until(jobs, want).answers["a"] == b"x"
    assert made == [1]


def test_older_result_is_used_for_some_seconds(jobs, monkeypatch):
    monkeypatch.setattr("textkin.web._jobs._FRESH", 1000.0)
    state = ["1"]

    def make(_progress):
        return JobResult(state[0], {})

    assert until(jobs, wanted("key", "1", make)).state == "1"
    state[0] = "2"
    assert jobs.ask(wanted("key", "2", make)).state == "1"
    monkeypatch.setattr("textkin.web._jobs._FRESH", 0.0)
    assert until(jobs, wanted("key", "2", make)).state == "2"


def test_error_is_reported_to_all_clients_and_retried_for_a_new_snapshot(jobs):
    def fail(_progress):
        raise ValueError("ranking must be something else.")

    with pytest.raises(Problem, match="something else"):
        until(jobs, wanted("key", "1", fail))
    with pytest.raises(Problem, match="something else"):
        jobs.ask(wanted("key", "1", fail))
    assert until(jobs, wanted("key", "2", lambda _: JobResult("2", {}))).state == "2"


def test_disk_error_is_retried_after_a_while(jobs, monkeypatch):
    def gone(_progress):
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(Problem, match="no such file"):
        until(jobs, wanted("key", "1", gone))
    there = wanted("key", "1", lambda _: JobResult("1", {}))
    with pytest.raises(Problem, match="no such file"):
        jobs.ask(there)
    monkeypatch.setattr("textkin.web._jobs._FRESH", 0.0)
    assert until(jobs, there).state == "1"


def test_one_computation_at_a_time_and_bounded_queue(jobs):
    begun, over, at_once, most = threading.Event(), threading.Event(), [0], [0]

    def make(_progress):
        begun.set()
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        over.wait(20)
        at_once[0] -= 1
        return JobResult("1", {})

    jobs.ask(wanted(0, "1", make))
    assert begun.wait(10)
    for number in range(1, 9):
        jobs.ask(wanted(number, "1", make))
    with pytest.raises(Problem, match="queue is full") as refused:
        jobs.ask(wanted(9, "1", make))
    assert refused.value.status == 503
    over.set()
    for number in range(9):
        until(jobs, wanted(number, "1", make))
    assert most == [1]


def test_cache_is_bounded(jobs, monkeypatch):
    monkeypatch.setattr("textkin.web._jobs._MOST_BYTES", 100)
    for number in range(10):
        until(jobs, wanted(number, "1", lambda _: JobResult("1", {"a": b"x" * 30})))
    assert len(jobs._kept) == 3
    until(jobs, wanted("large", "1", lambda _: JobResult("1", {"a": b"x" * 1000})))
    assert list(jobs._kept) == ["large"]


def test_close_stops_running_computations(jobs):
    begun, ended = threading.Event(), []

    def make(progress):
        begun.set()
        try:
            while True:
                progress(0, 1)
                time.sleep(0.002)
        finally:
            ended.append(1)

    jobs.ask(wanted("key", "1", make))
    assert begun.wait(10)
    jobs.close()
    assert ended == [1]
    with pytest.raises(Problem, match="stopping"):
        jobs.ask(wanted("other", "1", make))


def test_map_is_standard_json(client):
    text = computed(client, "/api/map").text
    assert "NaN" not in text
    assert json.loads(text)["representation"] == "tfidf"
