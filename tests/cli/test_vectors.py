"""``textkin vectors`` from the user's view."""

import errno
import json
import sys
from pathlib import Path

import pytest

from support import vector_files
from textkin.cli import main
from textkin.vectors import WordVectors, _cache


@pytest.fixture
def glove(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    path = tmp_path / "glove.txt"
    path.write_text("the 1 0.5\ncat 0.2 0.9\nthe 1 1\ndog 0.3 0.8\n")
    return path


def test_info_of_the_builtin_vectors(capsys):
    assert main(["vectors", "info"]) == 0
    captured = capsys.readouterr()
    assert "words     100,000\ndimension 100\n" in captured.out
    assert "first     the  ,  ." in captured.out
    assert captured.err == ""


def test_info_of_a_file(glove, capsys):
    assert main(["vectors", "info", str(glove)]) == 0
    captured = capsys.readouterr()
    assert "format    glove\nwords     3\ndimension 2\n" in captured.out
    assert "skipped   1 repeated word\ncache     none\n" in captured.out
    assert captured.err == f"textkin: note: {glove}: skipped 1 repeated word\n"
    assert main(["vectors", "info", str(glove), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["words"] == 3
    assert found["left_out"]["duplicate"] == 1
    assert found["first_words"] == ["the", "cat", "dog"]


def test_info_names_every_format(tmp_path, capsys):
    for name, path in vector_files(tmp_path).items():
        assert main(["vectors", "info", str(path), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["format"] == name.split()[0].rstrip(",")
        assert found["words"] == 3


def test_nearest_and_analogy(glove, capsys):
    assert main(["vectors", "nearest", "Paris", "-n", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == " 0.7478  france"
    assert main(["vectors", "nearest", "cat", "--vectors", str(glove), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["word"] == "cat"
    assert [one["word"] for one in found["words"]] == ["dog", "the"]
    assert main(["vectors", "analogy", "man", "king", "woman", "--number", "1"]) == 0
    assert capsys.readouterr().out == " 0.7704  queen\n"
    assert main(["vectors", "analogy", "man", "king", "woman", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["words"]) == 10


def test_convert(glove, tmp_path, capsys):
    target = tmp_path / "out"
    assert main(["vectors", "convert", str(glove), str(target), "--max-words", "2"]) == 0
    assert capsys.readouterr().out == f"wrote 2 words, dimension 2, to {target}\n"
    assert WordVectors.load(target).words == ("the", "cat")
    assert main(["vectors", "convert", str(glove), str(target)]) == 2
    assert "must not exist" in capsys.readouterr().err
    assert main(["vectors", "convert", str(glove), str(tmp_path / "b"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == 3


def test_invalid_entries_can_be_skipped(tmp_path, capsys):
    path = tmp_path / "bad.txt"
    path.write_text("a 1 2\nb nan 1\n")
    assert main(["vectors", "info", str(path)]) == 2
    assert "line 2" in capsys.readouterr().err
    assert main(["vectors", "info", str(path), "--skip-errors"]) == 0
    assert "skipped 1 vector with NaN" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"a 1 2\nb nan 1\n", b"a 1 2\n\xff 1 2\n"])
@pytest.mark.parametrize(
    "command",
    [
        ["info", "F"],
        ["nearest", "a", "--vectors", "F"],
        ["analogy", "a", "a", "a", "--vectors", "F"],
        ["convert", "F", "T"],
    ],
)
def test_error_names_the_option_of_each_command(tmp_path, capsys, command, content):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    names = {"F": str(path), "T": str(tmp_path / "out")}
    arguments = ["vectors", *(names.get(word, word) for word in command)]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "Pass --skip-errors to omit such" in said
    assert "errors=" not in said
    assert main([*arguments, "--skip-errors"]) == 0


def test_info_ignores_outdated_cache(glove, monkeypatch, capsys):
    monkeypatch.setattr(_cache, "SMALLEST", 0)
    assert main(["vectors", "info", str(glove)]) == 0
    assert f"cache     {glove}.textkin\n" in capsys.readouterr().out
    glove.write_text("the 1 0.5\n")
    assert main(["vectors", "info", str(glove), "--no-cache"]) == 0
    assert "cache     none\n" in capsys.readouterr().out


def test_cache_is_listed_and_cleared(glove, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_cache, "SMALLEST", 0)
    folder = tmp_path / "home" / "textkin" / "vectors"
    places = _cache._places(glove)
    monkeypatch.setattr(_cache, "_places", lambda _: places[1:])
    assert main(["vectors", "info", str(glove)]) == 0
    assert f"cache     {folder}" in capsys.readouterr().out
    assert main(["vectors", "cache"]) == 0
    said = capsys.readouterr().out
    assert f".textkin  {glove}\n" in said
    assert f"1 file, 66 kB, in {folder}" in said
    assert main(["vectors", "cache", "--json", "--clear"]) == 0
    cleared = json.loads(capsys.readouterr().out)
    assert cleared["cleared"] is True
    assert [file["source"] for file in cleared["files"]] == [str(glove)]
    assert main(["vectors", "cache"]) == 0
    assert "0 files, 0 bytes" in capsys.readouterr().out


def test_compare_with_custom_vectors(glove, capsys):
    assert main(["compare", "cat", "dog", "--vectors", str(glove), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["distance"] == pytest.approx(0.02**0.5, rel=1e-6)
    assert found["options"]["vectors"] == str(glove)


def test_words_do_not_control_the_terminal(tmp_path, capsys):
    path = tmp_path / "evil.txt"
    path.write_text("good 1 2\n\x1b[31mred\x07 1 3\n")
    assert main(["vectors", "nearest", "good", "--vectors", str(path)]) == 0
    assert main(["vectors", "info", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [["info"], ["nearest", "paris"], ["cache"]])
def test_closed_pipe_with_and_without_json(monkeypatch, tmp_path, command):
    """Each format prints once, so that a closed pipe behaves the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for extra in ([], ["--json"]):
        printed = []

        def leave(text, printed=printed, **_):
            printed.append(text)
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        with monkeypatch.context() as patch:
            patch.setattr("textkin.cli._vectors.typer.echo", leave)
            for stream in ("stdout", "stderr"):  # click replaces this function
                patch.setattr(sys, stream, getattr(sys, stream))
            with pytest.raises(SystemExit, match=r"^1$"):
                main(["vectors", *command, *extra])
        assert len(printed) == 1


def test_help_without_a_command(capsys):
    assert main(["vectors"]) == 0
    assert "convert" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nothing.txt"], "'nothing.txt' does not exist."),
        (["nearest", "qwertz"], "no vector for 'qwertz' among 100,000 words; similar spelling"),
        (["analogy", "man", "king"], "Missing argument"),
        (["analogy", "man", "king", "qwertz"], "no vector for 'qwertz'"),
        (["nearest", "cat", "-n", "0"], "-n"),
        (["nearest", "cat", "--vectors", "nothing"], "'nothing' does not exist."),
        (["nonsense"], "No such command 'nonsense'"),
        (["info", "."], "has no manifest.json"),
    ],
)
def test_invalid_input_prints_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["vectors", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line


def test_pairs(glove, tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "dataset\tgold\tword1\tword2\na\t3\tcat\tdog\na\t1\tcat\tthe\na\t2\tdog\tthe\n"
        "a\t1\tdog\temu\nb\t1\tcat\tdog\n",
        encoding="utf-8",
    )
    command = ["vectors", "pairs", str(path), "--vectors", str(glove)]
    assert main(command) == 0
    captured = capsys.readouterr().out
    assert captured == (
        "set  Spearman  Pearson  pairs\n"
        "a      1.0000   0.9703  3 of 4\n"
        "b           -        -  1 of 1\n"
    )
    assert main([*command, "--oov", "zero", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["oov"] == "zero"
    assert found["sets"][0]["total"] == 4
    assert found["sets"][1] == {
        "dataset": "b", "spearman": None, "pearson": None, "covered": 1, "total": 1,
    }  # fmt: skip


def test_unreadable_pairs_raise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # messages truncate long names
    path = Path("pairs.csv")
    path.write_text("word1,word2,gold\n", encoding="utf-8")
    assert main(["vectors", "pairs", str(path)]) == 2
    assert "has no word pairs" in capsys.readouterr().err
    path.write_text("word1,word2\ncat,dog\n", encoding="utf-8")
    assert main(["vectors", "pairs", str(path)]) == 2
    assert "pairs.csv:2: there is no 'gold'" in capsys.readouterr().err
    assert main(["vectors", "pairs", "none.csv"]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_builtin_vectors_by_name(tmp_path, monkeypatch, capsys):
    assert main(["vectors", "info", "builtin:distilled"]) == 0
    captured = capsys.readouterr().out
    assert "vectors   builtin:distilled\nformat    built-in, int8\nwords     60,000\n" in captured
    assert main(["vectors", "nearest", "cat", "--vectors", "builtin:glove", "-n", "1"]) == 0
    assert "dog" in capsys.readouterr().out
    assert main(["vectors", "info", "builtin:none"]) == 2
    assert "'glove', 'distilled'; got 'none'" in capsys.readouterr().err
    target = tmp_path / "few"
    assert main(["vectors", "convert", "builtin:distilled", str(target), "--max-words", "3"]) == 0
    assert WordVectors.load(target).words == ("the", "of", "to")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "builtin:none").write_text("up 1\ndown -1\n")
    assert main(["vectors", "info", "builtin:none"]) == 0, "a file of that name is read"
