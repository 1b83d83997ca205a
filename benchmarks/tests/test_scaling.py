"""Model of many workers: arithmetic checked by hand and by simulation, and its page."""

import json

import numpy as np
import pytest

from support import ROOT, load_script, run_benchmark

growth_report, laws, model, checks, stored, tables, scaling = (
    load_script(f"benchmarks/{name}.py")
    for name in (
        "growth_report",
        "scaling_laws",
        "scaling_model",
        "scaling_checks",
        "scaling_results",
        "scaling_tables",
        "scaling",
    )
)

FREE = model.Cluster(task=0, latency=0, network=np.inf)
SIZES = (10_000, 100_000, 1_000_000)
WHERE = {
    "machine": "a machine",
    "textkin": "1",
    "numpy": "2",
    "python": "3",
    "commit": "abc",
    "command": "python benchmarks/growth.py",
}


def entries(name="twit", sizes=SIZES):
    """Return the measurements of growth.py if the model were exact."""
    found = []
    for n in sizes:
        refined, solved = 2.0 * n**0.5, 12.0
        stages = {
            "table": 5.0,
            "bound": 4e-5 * n,
            "order": 1e-5 * n,
            "refine": 1e-3 * refined,
            "solve": 5e-3 * solved,
        }
        wmd = {
            "milliseconds": {
                # other processes use the computer too
                "single": {"mean": 3 * sum(stages.values())},
                "single_processor": sum(stages.values()),
                "batch": 1.0,
                "first_processor": 50 + 1e-3 * n,
            },
            "solved": {"mean": solved},
            "refined": {"mean": refined},
            "milliseconds_by_stage": {stage: 3 * took for stage, took in stages.items()},
        }
        here = {"collection": name, "documents": n, "load_average_before": 0.5}
        memory = {"megabytes_peak": 300.0}
        found.append(
            {
                **here,
                "surface": "mover",
                "words": 20_000,
                "vectors": [30_000, 300],
                "wmd": wmd,
                "build": {"seconds": 1.0, **memory},
                "search_megabytes": {"peak": 400.0},
            }
        )
        found.append(
            {
                **here, "surface": "index", "wmd": wmd, "entries": 11 * n,
                "words": 20_000 + 3 * n**0.6,
                "text_megabytes": 60e-6 * n, "bytes": {"catalogue": 150 * n, "segments": 230 * n},
                "build": {"seconds": 4e-5 * n, "of_it_reading_and_counting": 1e-5 * n, **memory},
                "bm25": {"milliseconds": {"single": {"median": 0.1 + 1e-6 * n}, "first": 2.0}},
                "search_megabytes": {"peak": 450.0},
            }
        )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def twit():
    return laws.collection_of("twit", entries())


# ---------------------------------------------------------------------- laws


def test_laws_pass_through_points_that_follow_them():
    power = laws.Power.fit([(n, 3 * n**0.7) for n in (10, 100, 5000)])
    assert power == pytest.approx((3, 0.7))
    assert power(10**6) == pytest.approx(3 * 10**4.2)
    line = laws.Line.fit([(10, 2.5), (20, 9.0), (110, 12.5)])  # the smallest and the largest
    assert line == pytest.approx((1.5, 0.1))
    assert line(1000) == pytest.approx(101.5)


def test_lines_are_never_negative():
    assert laws.Line.fit([(10, 5.0), (20, 4.0)]) == (5.0, 0.0)
    assert laws.Line.fit([(10, 1.0), (20, 4.0)]) == pytest.approx((0.0, 0.3))


@pytest.mark.parametrize("points", [[], [(10, 2.0)], [(10, 1.0), (20, 0.0)]])
def test_laws_of_too_few_points_raise(points):
    with pytest.raises(ValueError, match="two sizes"):
        laws.Power.fit(points)


def test_parameters_match_the_measurements(twit):
    assert twit.refined == pytest.approx((2, 0.5))
    assert twit.solved == pytest.approx((12, 0))
    assert twit.scan == pytest.approx((0, 5e-5))
    assert (twit.refine, twit.solve) == pytest.approx((1e-3, 5e-3))
    assert (twit.counting, twit.writing) == pytest.approx((1e-5, 3e-5))
    assert (twit.entries, twit.text, twit.catalogue) == pytest.approx((11, 60, 150))
    assert twit.bm25 == pytest.approx((0.1, 1e-6))
    assert twit.vectors == 36e6


def test_slowest_block_of_a_round_delays_the_others(twit):
    measured = entries()
    assert twit.slowest == 1
    rounds = {"blocks": 8, "refined": [60, 40], "slowest": {"refined": [80, 70]}}
    measured[-2]["rounds"] = rounds
    slow = laws.collection_of("twit", measured)
    assert slow.slowest == pytest.approx(1.5)
    quick, held_up = (model.query_on(what, 1e7, 4, FREE) for what in (twit, slow))
    assert held_up["refine"] == pytest.approx(1.5 * quick["refine"])
    assert held_up["refined"] == quick["refined"]
    rounds["blocks"] = 1
    assert laws.slowest_of(measured[-2]) == 1


def test_single_size_is_not_sufficient():
    with pytest.raises(
        ValueError, match="twit: two sizes of both surfaces are needed; there are 1"
    ):
        laws.collection_of("twit", entries(sizes=[10_000]))


# ---------------------------------------------------------------------- workers


@pytest.mark.parametrize(
    ("n", "workers", "expected"),
    [
        (1_000_000, 1, (500_000, 2, 2)),
        (1_000_000, 10, (50_000, 2, 20)),
        (10_000, 10, (2_048, 1, 5)),  # blocks are not smaller
        (30_000, 10, (2_048, 2, 15)),
        (500, 10, (500, 1, 1)),
        (1e9, 100, (1e9 / 954, 10, 954)),  # or larger than a million
    ],
)
def test_index_is_split_into_two_blocks_per_worker(n, workers, expected):
    assert model.cut(n, workers) == pytest.approx(expected)


def test_cluster_splits_like_the_model():
    cluster = pytest.importorskip("textkin.index.distributed._cluster_ranking")
    assert (model.BLOCKS, model.ROWS) == (cluster._BLOCKS, cluster._ROWS)


def test_blocks_know_finished_blocks():
    assert [model.known_to(block, 2) for block in range(8)] == [0, 0, 1, 2, 3, 4, 5, 6]


def test_work_of_later_blocks_matches_simulation():
    """Documents at random distances; a bound is half of the distance, and k is 10."""
    k, workers, power = 10, 3, 4
    size = model.Cut(2_000, 4, 12)
    rng = np.random.default_rng(3)
    seen = np.zeros(size.rounds)
    repeats = 60
    for _ in range(repeats):
        blocks = rng.random((size.blocks, int(size.rows))) ** (1 / power)
        for number, block in enumerate(blocks):
            known = blocks[: model.known_to(number, workers)].ravel()
            limit = np.partition(known if known.size else block, k - 1)[k - 1]
            seen[number // workers] += np.count_nonzero(block / 2 <= limit) / workers / repeats
    # expected number of documents with such a bound, of any number of documents
    law = laws.Power(k * 2**power, 0.0)
    np.testing.assert_allclose(model.looked_at(law, size, workers), seen, rtol=0.15)


def test_work_of_a_block_follows_from_earlier_blocks():
    law = laws.Power(2.0, 0.5)
    size = model.Cut(10_000, 3, 5)
    blind = 200.0
    expected = [
        blind,
        (blind + 2 * 20_000**0.5 / 2) / 2,
        2 * 30_000**0.5 / 3,
    ]
    assert model.looked_at(law, size, 2) == pytest.approx(expected)


def test_one_worker_does_the_work_of_one_process_except_tables(twit):
    alone = model.query_alone(twit, 1e6)
    assert alone["total"] == pytest.approx(5 + 50 + 2 + 0.06)
    found = model.query_on(twit, 1e6, 1, FREE)
    assert found["table"] == pytest.approx(2 * alone["table"])
    assert found["scan"] == pytest.approx(alone["scan"])
    assert alone["refine"] < found["refine"] < 2 * alone["refine"]
    assert found["blind"] == pytest.approx(12)
    assert found["total"] == pytest.approx(
        sum(found[part] for part in ("table", "scan", "refine", "solve", "tasks", "network"))
    )


def test_twice_the_workers_halve_the_scan_and_solve_more(twit):
    few, many = (model.query_on(twit, 1e8, workers, FREE) for workers in (64, 128))
    assert many["scan"] == pytest.approx(few["scan"] / 2)
    assert many["table"] == few["table"]
    assert many["solved"] > few["solved"]
    assert many["read"] == few["read"] == pytest.approx(1e8 * 96)
    assert many["moved"] == pytest.approx(2 * few["moved"])


def test_tasks_pass_through_the_scheduler_one_by_one(twit):
    found = model.query_on(twit, 1e9, 1000, model.Cluster(task=0.5, latency=3))
    assert found["tasks"] == pytest.approx(2000 * 0.5 + 2 * 3)
    batch = model.query_on(twit, 1e9, 1000, model.Cluster(task=0.5, latency=3), batch=256)
    assert batch["tasks"] == pytest.approx(1006 / 256)
    slow = model.Cluster(task=2.0)
    assert model.best_workers(twit, 1e9, slow) < model.best_workers(twit, 1e9, model.Cluster())
    assert model.half_efficient(twit, 1e8, slow) <= model.best_workers(twit, 1e8, slow)


def test_memory_of_a_worker_shrinks_except_for_vectors_words_and_tables(twit):
    one, many = (model.memory_on(twit, 1e9, workers, model.Cluster()) for workers in (1, 1000))
    assert many["rows"] == pytest.approx(one["rows"] / 1000) == pytest.approx(96e6)
    assert many["words"] == one["words"] == pytest.approx(16 * (20_000 + 3 * 1e9**0.6))
    assert many["disk"] == one["disk"] == pytest.approx(380e9)
    assert many["first"] == pytest.approx(50 + 1e3)
    assert many["total"] == pytest.approx(
        sum(many[part] for part in ("vectors", "search", "candidates", "words", "rows"))
    )


def test_writer_limits_building(twit):
    cluster = model.Cluster()
    assert model.build_on(twit, 1e6, 0, cluster)["total"] == pytest.approx(40)
    for workers in (1, 1000):
        assert model.build_on(twit, 1e6, workers, cluster)["total"] == pytest.approx(30)
    slow = model.Cluster(network=1e6)
    assert model.build_on(twit, 1e6, 8, slow)["total"] == pytest.approx(150)


def test_bm25_does_not_split_segments(twit):
    most = 11 * 1e8 / 2**24  # 65.6 segments
    found = model.bm25_on(twit, 1e8, 100, model.Cluster(task=1, latency=0))
    assert found["tasks"] == 66
    assert found["work"] == pytest.approx(0.1 + 1e-6 * 1e8 / np.ceil(most))


def test_bm25_time_of_a_worker_is_linear_in_its_documents(twit):
    found = model.bm25_on(twit, 1e8, 10, FREE)
    assert found["total"] == pytest.approx(7 * 0.1 + 7 * 1e-6 * 1e8 / 66)
    assert found["state"] == pytest.approx(10 * 8 * (20_000 + 3 * 1e8**0.6))


def test_devices_share_documents_and_stream_the_rest():
    device = model.Device("news", 1_000_000, 10.0, bytes=500, memory=1e9, link=1e9)
    assert model.query_on_devices(device, 2e6, 2, 10)["total"] == pytest.approx(10)
    full = model.query_on_devices(device, 8e6, 2, 10)
    assert full["work"] == pytest.approx(40)
    assert full["streamed"] == pytest.approx(1e3 * (4e6 * 500 - 1e9) / 1e9 / 10)
    assert (full["total"], full["fits"]) == (pytest.approx(100), 0)


# ---------------------------------------------------------------------- comparison with
# measurements


def test_largest_size_is_predicted_from_the_other_sizes():
    measured = entries()
    measured[-1]["words"] = 1_000
    found = {check.what: check for check in checks.held_out("twit", measured)}
    assert len(found) == 8
    words = found.pop("twit, 1,000,000: distinct words")
    assert words.predicted == pytest.approx(20_000 + 3 * 1e6**0.6)
    assert words.error == pytest.approx(words.predicted / 1_000 - 1)
    for check in found.values():
        assert check.error == pytest.approx(0, abs=1e-9), check


def test_counted_rounds_are_predicted(twit):
    measured = entries()
    assert checks.in_rounds(twit, measured) == []
    measured[0]["rounds"] = {"workers": 2, "blocks": 4, "refined": [90, 1], "solved": [10, 4]}
    found = checks.in_rounds(twit, measured)
    assert [check.measured for check in found] == [90, 1, 10, 4]
    assert found[0].what == "twit, 10,000, 2 workers: refined by a block of round 1"
    assert found[0].predicted == pytest.approx(2 * 2500**0.5)
    assert found[1].predicted == pytest.approx((100 + 2 * 5000**0.5 / 2) / 2)


def cluster_json(what, cluster, n=200_000):
    """Return the measurements of cluster.py if the model were exact."""
    search = {"one process": {"median_ms": model.query_alone(what, n)["total"]}}
    build = {"one process": {"seconds": model.build_on(what, n, 0, cluster)["total"]}}
    for workers in (1, 2):
        found = model.query_on(what, n, workers, cluster)
        search[f"workers: {workers}"] = {
            "median_ms": found["total"], "solved_a_query": found["solved"],
        }  # fmt: skip
        build[f"workers: {workers}"] = {
            "seconds": model.build_on(what, n, workers, cluster)["total"]
        }
    search["bytes_a_query"] = {"sent": 8 * 700, "received": 8 * 460, "blocks": 8}
    build["bytes"] = {"sent": 1_000_000, "received": 29_000_000, "blocks": 40}
    return {"documents": n, "search": search, "build": build}


def test_cluster_parameters_follow_from_two_numbers_of_workers(twit):
    slow = model.Cluster(task=2.5, latency=40, query_bytes=700, answer_bytes=300)
    found = checks.calibrated(twit, cluster_json(twit, slow))
    assert found.task == pytest.approx(2.5)
    assert found.latency == pytest.approx(40)
    assert (found.query_bytes, found.answer_bytes) == pytest.approx((700, 300))
    quick = checks.calibrated(twit, cluster_json(twit, model.Cluster(task=-1, latency=3)))
    assert quick.task == 0
    assert quick.latency >= 0


def test_cluster_is_predicted_with_its_assumptions(twit):
    found = {c.what: c for c in checks.on_cluster(twit, cluster_json(twit, model.Cluster()))}
    assert len(found) == 9
    for what, check in found.items():
        if "writer" not in what:
            assert check.error == pytest.approx(0), what
    writer = found["cluster.py, 200,000: MB to the writer"]
    assert (writer.predicted, writer.measured) == pytest.approx((30, 30))
    slow = checks.on_cluster(twit, cluster_json(twit, model.Cluster(task=50)))
    assert any(check.error < -0.5 for check in slow)


def test_two_sizes_predict_nothing():
    assert checks.held_out("twit", entries(sizes=SIZES[:2])) == []


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("value", "shown"),
    [(12, "12 B"), (1500, "1.50 kB"), (36e6, "36 MB"), (2.5e12, "2.50 TB"), (7e15, "7,000 TB")],
)
def test_bytes_have_units(value, shown):
    assert tables.bytes_of(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.25, "250 ms"), (30, "30 s"), (600, "10 min"), (9000, "2.50 h"), (864_000, "10 days")],
)
def test_durations_have_units(seconds, shown):
    assert tables.duration(seconds) == shown


@pytest.fixture
def results(tmp_path):
    (tmp_path / "growth.json").write_text(json.dumps({**WHERE, "measured": entries()}))
    return tmp_path


def test_tables_report_missing_results(results):
    done = run_benchmark("scaling.py", "--results", results)
    assert done.returncode == 0, done.stderr
    assert "| twit, 1,000,000,000, 1,024 |" in done.stdout
    assert "| twit, 1,000,000: seconds to build | 40 | 40 | +0 % |" in done.stdout
    assert "| refined documents of n | 2.00 n^0.50 |" in done.stdout
    assert "a machine; textkin 1, numpy 2, python 3; commit abc; `python" in done.stdout


def test_page_is_updated_between_its_markers(results, tmp_path):
    page = tmp_path / "scaling.md"
    text = (ROOT / "docs" / "scaling.md").read_text()
    page.write_text(text)
    assert run_benchmark("scaling.py", "--results", results, "--write", page).returncode == 0
    renewed = page.read_text()
    assert "| twit, 100,000,000, 16 |" in renewed
    assert renewed.startswith(text[: text.index("<!--")])
    page.write_text("no markers")
    done = run_benchmark("scaling.py", "--results", results, "--write", page)
    assert done.returncode == 1
    assert "must have one line" in done.stderr


def test_page_and_figures_match_the_stored_results(tmp_path):
    page = ROOT / "docs" / "scaling.md"
    copy = tmp_path / "scaling.md"
    copy.write_text(page.read_text())
    assert run_benchmark("scaling.py", "--write", copy).returncode == 0
    assert copy.read_text() == page.read_text(), (
        "python benchmarks/scaling.py --write docs/scaling.md"
    )
    for name, svg in growth_report.figures(stored.read(scaling.RESULTS).measured).items():
        assert (ROOT / "docs" / "images" / f"{name}.svg").read_text() == svg + "\n"


def test_without_storedthere_is_nothing_to_say(tmp_path):
    done = run_benchmark("scaling.py", "--results", tmp_path)
    assert done.returncode == 1
    assert "growth.json is not there" in done.stderr


def test_cluster_is_reported_if_measured(results, twit):
    assert "cluster.json" in tables.missing_lines(stored.read(results))
    (results / "cluster.json").write_text(json.dumps(cluster_json(twit, model.Cluster(task=9))))
    assert "zipf of growth.json" in tables.missing_lines(stored.read(results))
    both = [*entries(), *entries("zipf")]
    (results / "growth.json").write_text(json.dumps({**WHERE, "measured": both}))
    known = stored.read(results)
    assert known.cluster.task == pytest.approx(9, rel=1e-3)
    assert "cluster.py, 200,000: ms per query, 2 workers" in tables.checks_table(known.workers)
    assert "the scheduler takes 9" in tables.parameters(known)


def test_device_is_reported_if_measured(results):
    assert tables.device_table(stored.read(results)) == "Not measured yet."
    told = {"collection": "news", "documents": 10**6, "milliseconds": 4.0, "bytes": 500,
            "memory": 140e9}  # fmt: skip
    (results / "device.json").write_text(json.dumps({"scaling": told}))
    table = tables.device_table(stored.read(results))
    assert "| news, 100,000,000, 8 | 50 | 6.25 GB | yes | 0 | 50 |" in table
    assert "| news, 1,000,000,000, 1 | 4,000 | 500 GB | no |" in table


def test_busy_machine_is_reported(tmp_path):
    measured = entries()
    measured[2]["load_average_before"] = 7.4
    (tmp_path / "growth.json").write_text(json.dumps({**WHERE, "measured": measured}))
    assert "1 of 6 results are from a machine" in tables.missing_lines(stored.read(tmp_path))


def test_few_sizes_are_reported(tmp_path):
    measured = [*entries(sizes=SIZES[:2]), *entries("news", sizes=SIZES[:1])]
    (tmp_path / "growth.json").write_text(json.dumps({**WHERE, "measured": measured}))
    known = stored.read(tmp_path)
    assert [what.name for what in known.collections] == ["twit"]
    told = tables.missing_lines(known)
    assert "news: two sizes of both surfaces are needed" in told
    assert "twit: no prediction" in told
