"""Attacks: kept inputs and a few mutations per target, and the findings that a run reports."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random
from unittest import mock

import pytest

from fuzz import attack, targets
from fuzz.mutations import mutate_bytes, mutate_json, mutate_words
from fuzz.targets import TARGETS, stored, unpacked
from textkin import Index, read
from textkin.exceptions import ParameterError
from textkin.vectors import WordVectors

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


DIGESTS = """
import sys
from pathlib import Path
from fuzz.attack import digest_of

for name in sys.argv[2:]:
    (folder := Path(sys.argv[1], name)).mkdir()
    print(name, digest_of(name, folder, 5))
"""


def test_inputs_depend_only_on_the_seed(tmp_path):
    names = [name for name in TARGETS if name not in NEEDED or find_spec(NEEDED[name])]
    names.remove("commands")  # changes the folder of the process, and has only constants
    (other := tmp_path / "other").mkdir()
    done = in_process(DIGESTS, other, *names)
    expected = dict(line.split() for line in done.stdout.splitlines())
    assert list(expected) == names, done.stderr
    for name in names:
        (folder := tmp_path / name).mkdir()
        assert attack.digest_of(name, folder, 5) == expected[name], name
    assert attack.digest_of("solver", tmp_path, 6) != expected["solver"]


@pytest.mark.parametrize("name", ["documents", "vectors"])
def test_stored_files_are_valid(name, tmp_path):
    for data in stored(name):
        file, content = unpacked(data)
        path = tmp_path / (file if name == "vectors" else f"documents.{file}")
        path.write_bytes(content)
        if name == "vectors":
            assert WordVectors.load(path).words == ("the", "naïve", "New_York")
        elif not (file == "parquet" and find_spec("pyarrow") is None):
            assert len(list(read(path))) >= 1


def test_process_that_waits_forever_is_ended(monkeypatch):
    monkeypatch.setattr(attack, "WAITING", 0.3)
    waiting = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"])
    assert attack.watch(waiting.pid, attack.Board()) == -9
    waiting.returncode = -9  # `watch` has waited for it


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("raise ValueError('a')", True),
        ("int('a')", False),
        ("next(x for x in [] if 'raise')", False),
    ],
)
def test_only_a_raise_of_textkin_is_deliberate(program, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "SOURCES", str(tmp_path))
    path = tmp_path / "source.py"
    path.write_text(program)
    for sources in (str(tmp_path), str(tmp_path / "other")):
        monkeypatch.setattr(targets, "SOURCES", sources)
        with pytest.raises((ValueError, StopIteration)) as caught:
            exec(compile(program, path, "exec"))
        assert targets.deliberate(caught.value) is (expected and sources == str(tmp_path))


def test_only_the_name_of_a_lost_model_is_a_deliberate_error_of_an_index(tmp_path, monkeypatch):
    targets.made_index(tmp_path / "it.kin")
    use_index = targets.use_index
    use_index(tmp_path / "it.kin")
    with Index.open(tmp_path / "it.kin") as index:
        index.delete(["later"])  # which `use_index` adds
        index.detach("lsi")
    use_index(tmp_path / "it.kin")
    wrong = ParameterError("ranking", "known", "'wmd'")
    monkeypatch.setattr(Index, "verify", mock.Mock(side_effect=wrong))
    with pytest.raises(targets.Finding, match="does not name the index"):
        use_index(tmp_path / "it.kin")


def test_run_reports_errors_crashes_and_endless_inputs(tmp_path):
    out = tmp_path / "run.json"
    done = in_process(FAKES, tmp_path / "corpus", out)
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


LEAKS = """
import sys
from pathlib import Path
from fuzz import endurance

held = []
numbers = iter(range(1000)).__next__

def leaks():
    held.append(open(Path(sys.argv[1]) / "x", "w"))

print(endurance.repeat(leaks, 20, 1e9)["grown_descriptors"])
print(endurance.repeat(numbers, 20, 1e9)["different"])
print(endurance.together({"next": numbers}, 2, 5)["problems"])
"""


def test_growth_and_differences_are_counted(tmp_path):
    # in a process of its own, where no threads of other tests open and close files
    done = in_process(LEAKS, tmp_path)
    assert done.stdout.splitlines() == ["18", "20", "['next differs']"], done.stderr


def in_process(program, *arguments):
    """Run a program in the folder of the tests, with other seeds of hashes than this process."""
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
