"""Attacks: kept inputs and a few mutations per target, and the findings that a run reports."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from fuzz import attack, endurance
from fuzz.mutations import mutate_bytes, mutate_json, mutate_words
from fuzz.targets import TARGETS

NEEDED = {"requests": "fastapi", "solver": "ot"}
MUTATIONS = 15
FAKES = """
import os, signal, sys
from pathlib import Path
from fuzz import attack, targets

class Fake(targets.Target):
    def seeds(self):
        return [b"valid"]

    def attempt(self, data):
        if data != b"valid":
            self.fail()

class Raises(Fake):
    def fail(self):
        raise KeyError("unexpected")

class Dies(Fake):
    def fail(self):
        os.kill(os.getpid(), signal.SIGSEGV)

class Loops(Fake):
    def fail(self):
        while True:
            pass

class Holds(Fake):
    def fail(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        while True:
            pass

class Passes(Fake):
    def fail(self):
        self.largest = 0.5

attack.LONGEST = 0.2
attack.CORPUS = Path(sys.argv[1])
attack.ROOT = attack.CORPUS.parent
attack.TARGETS.clear()
attack.TARGETS.update(raises=Raises, dies=Dies, loops=Loops, holds=Holds, passes=Passes)
sys.exit(attack.main(["--inputs", "50", "--seed", "1", "--out", sys.argv[2]]))
"""


@pytest.mark.parametrize("name", TARGETS)
def test_target_has_no_finding(name, tmp_path, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    monkeypatch.chdir(tmp_path)  # the target `commands` changes it
    target = TARGETS[name](tmp_path)
    seeds = target.seeds()
    rng = Random(name)
    for data in attack.corpus_of(name):
        target.attempt(data)
    for _ in range(MUTATIONS):
        target.attempt(target.mutate(rng, rng.choice(seeds)))
    target.close()


def test_run_reports_errors_crashes_and_endless_inputs(tmp_path):
    out = tmp_path / "run.json"
    done = subprocess.run(
        [sys.executable, "-c", FAKES, str(tmp_path / "corpus"), str(out)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    found = {each["target"]: each for each in json.loads(out.read_text())["targets"]}
    assert "KeyError: 'unexpected'" in found["raises"]["finding"]
    assert "the process ended with -11" in found["dies"]["finding"]
    assert "takes more than 0.2 s" in found["loops"]["finding"]
    assert "the process ended with -9" in found["holds"]["finding"]
    assert found["passes"]["finding"] is None
    assert found["passes"]["inputs"] == 50
    assert found["passes"]["largest_difference"] == 0.5
    kept = {path.parent.name: path.read_bytes() for path in (tmp_path / "corpus").glob("*/*")}
    assert set(kept) == {"raises", "dies", "loops", "holds"}
    assert b"valid" not in kept.values()


def test_unknown_target_is_a_usage_error(capsys):
    with pytest.raises(SystemExit):
        attack.main(["nothing"])
    assert "TARGET must be one of filters" in capsys.readouterr().err


def test_mutations_change_most_inputs_and_follow_the_seed():
    value = {"a": [1, "x", {"b": None}], "c": 10**400}
    text = b"year = 2015 and label"
    words = ["or", "not"]
    for change, data in [
        (mutate_bytes, text),
        (lambda rng, data: json.dumps(mutate_json(rng, data)), value),
        (lambda rng, data: mutate_words(rng, data, words), text),
    ]:
        first = [change(Random(seed), data) for seed in range(100)]
        assert first == [change(Random(seed), data) for seed in range(100)]
        assert len(set(first)) > 60
    assert value == {"a": [1, "x", {"b": None}], "c": 10**400}


def test_repeated_calls_give_equal_results_and_grow_nothing(tmp_path):
    out = tmp_path / "endurance.json"
    script = Path(attack.__file__).with_name("endurance.py")
    done = subprocess.run(
        [sys.executable, str(script), "--calls", "12", "--threads", "3", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert {each["calls"] for each in found["calls"].values()} == {12}
    assert found["threads"]["calls"] == 60


def test_growth_and_differences_are_counted(tmp_path):
    with ExitStack() as held:  # threads of other tests may open and close some files meanwhile
        found = endurance.repeat(
            lambda: held.enter_context(open(tmp_path / "x", "w")).name, 200, 1e9
        )
    assert found["calls"] == 200
    assert 170 <= found["grown_descriptors"] <= 190
    assert found["different"] == 0
    assert endurance.repeat(iter(range(1000)).__next__, 20, 1e9)["different"] == 20
    shared = endurance.together({"next": iter(range(1000)).__next__}, 2, 5)
    assert shared["problems"] == ["next differs"]
