"""``textkin search`` and ``textkin similar`` from the user's view."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager, redirect_stdout

import pytest
from sklearn.pipeline import make_pipeline

from textkin import BM25, LSI, Index, TfIdf
from textkin.cli import main
from textkin.cli._documents import parse_filters
from textkin.cli._search import describe_hits

RECORDS = [
    {"id": "cats", "text": "Cats purr and sleep on the mat", "year": 2010, "tags": ["pets"]},
    {"id": "dogs", "text": "Dogs bark at cats", "year": 2011, "label": "noise"},
    {"id": "birds", "text": "Birds sing in the morning", "year": 2012, "label": "noise"},
    {"id": "mat", "text": "The mat is red", "year": 2013},
    {"id": "stocks", "text": "Stocks fell in the morning", "year": 2014},
    {"id": "empty", "text": ""},
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Index.create("p.kin", language=None) as index:
        index.add(RECORDS)
    return tmp_path


@pytest.fixture
def index(here):
    with Index.open("p.kin") as index:
        yield index


@pytest.fixture
def run(here, capsys):
    """Run a command, and return its output."""

    def run(*arguments, code=0):
        assert main([*map(str, arguments)]) == code
        return capsys.readouterr()

    return run


def ids(text):
    return re.findall(r"^\s*\d+  +-?[\d.]+  (\S+)$", text, re.MULTILINE)


def found(run, *arguments, code=0):
    """Return the record of a command with --json."""
    return json.loads(run(*arguments, "--json", code=code).out)


def test_hits_as_lines(run, index):
    said = run("search", "p.kin", "cats", "on", "the", "mat")
    hits = index.search("cats on the mat")
    first, snippet, *rest = said.out.splitlines()
    assert first == f"1  {hits[0].score:.4f}  cats"
    at = next(number for number, line in enumerate(rest) if line.endswith("  dogs"))
    assert rest[at + 1].strip() == "noise"  # the label
    assert snippet == " " * first.index("cats") + "Cats purr and sleep on the mat"
    assert ids(said.out) == hits.ids
    [last] = said.err.splitlines()
    assert re.fullmatch(r"textkin: 5 hits among 6 documents in \d+(\.\d)? (µs|ms|s).*", last)


def test_no_escape_sequences_in_a_pipe_and_bold_words_on_a_terminal(run, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run("search", "p.kin", "cats", "--explain").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[1mCats\x1b[22m purr" in run("search", "p.kin", "cats").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("search", "p.kin", "cats", "--explain").out


def test_json(run, index):
    record = found(run, "search", "p.kin", "cats xyzzy", "-k", "2")
    hits = index.search("cats xyzzy", k=2)
    assert record["index"] == "p.kin"
    assert [hit["id"] for hit in record["hits"]] == hits.ids
    assert [hit["score"] for hit in record["hits"]] == hits.scores.tolist()
    assert [hit["rank"] for hit in record["hits"]] == [1, 2]
    assert record["hits"][1]["metadata"] == {"year": 2010, "tags": ["pets"]}
    assert record["hits"][0]["label"] == "noise"
    assert "Cats purr" in record["hits"][1]["snippet"]
    assert record["stats"]["seconds"] > 0
    assert "xyzzy" in json.dumps(record["query"])
    assert run("search", "p.kin", "cats", "--json").err == ""


def test_explanations_sum_to_the_scores(run):
    for by in ("bm25", "tfidf", "wmd", "rwmd", "wcd"):
        record = found(run, "search", "p.kin", "cats sleep", "--ranking", by, "--explain")
        assert record["hits"]
        for hit in record["hits"]:
            told = hit["explanation"]
            parts = told["parts"] if "parts" in told else told["flow"]
            total = sum(part.get("value", part.get("contribution")) for part in parts)
            assert total == pytest.approx(hit["score"], rel=1e-6)
    text = run("search", "p.kin", "cats sleep", "--explain").out
    assert re.search(r"^ +cats .*0\.\d", text, re.MULTILINE)
    text = run("search", "p.kin", "kittens", "--ranking", "wmd", "--explain", "-k", "1").out
    assert re.search(r"kittens .*▶ ", text)


@pytest.mark.parametrize(
    ("options", "by"),
    [
        (["--ranking", "tfidf"], "tfidf"),
        (["--ranking", "cosine"], "cosine"),
        (["--ranking", "inner"], "inner"),
        (["--ranking", "binary"], "binary"),
        (["--ranking", "wmd"], "wmd"),
        (["--ranking", "rwmd"], "rwmd"),
        (["--ranking", "wcd"], "wcd"),
        (["--ranking", "hybrid"], "hybrid"),
        (["--k1", "0.9", "--b", "0.1", "--idf", "okapi"], BM25(k1=0.9, b=0.1, idf="okapi")),
        (["--ranking", "tfidf", "--variant", "sklearn"], TfIdf("sklearn")),
        (["--ranking", "tfidf", "--idf", "smooth"], TfIdf(idf="smooth")),
    ],
)
def test_options_reach_the_library(run, index, options, by):
    hits = index.search("cats sleep morning", ranking=by, k=3)
    record = found(run, "search", "p.kin", "cats sleep morning", "-k", "3", *options)
    assert [hit["id"] for hit in record["hits"]] == hits.ids
    assert [hit["score"] for hit in record["hits"]] == hits.scores.tolist()


def test_thresholds_pages_and_filters(run, index):
    every = index.search("the morning")
    score = every[1].score
    record = found(run, "search", "p.kin", "the morning", "--threshold", score)
    assert [hit["id"] for hit in record["hits"]] == index.search("the morning", threshold=score).ids
    record = found(run, "search", "p.kin", "the morning", "-k", "2", "--page", "2")
    assert [hit["id"] for hit in record["hits"]] == every.ids[2:4]
    assert [hit["rank"] for hit in record["hits"]] == [3, 4]
    record = found(
        run, "search", "p.kin", "the", "--where", "year>=2012", "--where", "not label=noise"
    )
    expected = index.search("the", where={"year": {">=": 2012}, "not": {"label": "noise"}})
    assert [hit["id"] for hit in record["hits"]] == expected.ids == ["mat", "stocks"]
    assert ids(run("search", "p.kin", "cats", "--where", '{"tags": "pets"}').out) == ["cats"]


def test_operators(run):
    output = run("search", "p.kin", '"cats purr" +mat')
    assert ids(output.out) == ["cats"]
    assert "1 text read for phrases" in output.err
    assert ids(run("search", "p.kin", "mat -cats year:2010..2013").out) == ["mat"]
    assert ids(run("search", "p.kin", "mat -cats", "--syntax", "plain").out)[0] == "cats"
    assert found(run, "search", "p.kin", "mat -cats")["query"]["excluded"] == ["cats"]
    nothing = run("search", "p.kin", '"purr cats"', code=1)
    assert "Use the syntax 'plain'" in nothing.err


def test_unknown_field_prints_note(run):
    said = run("search", "p.kin", "cats", "--where", "jahr=2010", code=1)
    assert "jahr" in said.err


def test_pseudo_feedback(run, index):
    hits = index.search("sing", k=2).pseudo_feedback(1)
    assert len(hits) == 2
    record = found(run, "search", "p.kin", "sing", "-k", "2", "--feedback-top", "1")
    assert [hit["id"] for hit in record["hits"]] == hits.ids
    record = found(run, "search", "p.kin", "sing", "-k", "2", "--feedback-top", "1", "--page", "2")
    assert [hit["id"] for hit in record["hits"]] == hits.next().ids


def test_late_page_after_feedback_is_one_search(run, index, monkeypatch):
    from textkin.index.search import _searcher

    searches = []
    best = _searcher.find_hits

    def counted(*arguments):
        searches.append(arguments)
        return best(*arguments)

    monkeypatch.setattr("textkin.index.search._searcher.find_hits", counted)
    for by in ("bm25", "wmd", "hybrid"):
        first = index.search("sing", ranking=by, k=2).pseudo_feedback(1)
        second, far = first.next(), 4
        options = ["sing", "--ranking", by, "-k", "2", "--feedback-top", "1"]
        record = found(run, "search", "p.kin", *options, "--page", "2")
        assert [hit["id"] for hit in record["hits"]] == second.ids
        assert [hit["score"] for hit in record["hits"]] == second.scores.tolist()
        searches.clear()
        run("search", "p.kin", *options, "--page", str(far), code=1)
        assert len(searches) == 1


def test_similar(run, index):
    assert ids(run("similar", "p.kin", "birds").out) == index.similar("birds").ids
    record = found(
        run, "similar", "p.kin", "birds", "--ranking", "wmd", "-k", "2", "--where", "year<2014"
    )
    assert [hit["id"] for hit in record["hits"]] == index.similar(
        "birds", ranking="wmd", k=2, where={"year": {"<": 2014}}
    ).ids
    said = run("similar", "p.kin", "nothing", code=2)
    assert said.out == ""
    assert said.err.startswith("textkin: no document has the ID 'nothing'; ")
    assert "index list" in said.err


def test_no_hits_exits_with_1(run):
    said = run("search", "p.kin", "xyzzy", "plugh", code=1)
    assert said.out == ""
    assert "'xyzzy', 'plugh'" in said.err
    assert said.err.splitlines()[-1].startswith("textkin: no hits among 6 documents in ")
    assert found(run, "search", "p.kin", "xyzzy", code=1)["hits"] == []
    run("search", "p.kin", "", code=1)
    run("search", "p.kin", "--", "--", code=1)
    run("similar", "p.kin", "empty", code=1)
    run("search", "p.kin", "cats", "--threshold", "1e9", code=1)


def test_unknown_words_print_note(run):
    said = run("search", "p.kin", "cats", "xyzzy")
    assert ids(said.out) == ["dogs", "cats"]
    assert "xyzzy" in said.err.splitlines()[0]


def test_query_from_standard_input(run, monkeypatch):
    lines = io.TextIOWrapper(io.BytesIO(b"stocks\nfell\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", lines)
    assert ids(run("search", "p.kin", "-").out) == ["stocks"]


def test_query_equal_to_a_file_name_is_words(run, here):
    (here / "cats").write_text("stocks")
    assert ids(run("search", "p.kin", "cats").out) == ["dogs", "cats"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "nothing.kin", "x"], "nothing.kin"),
        (["search", "p.kin"], "QUERY is missing. Pass words, - for standard input"),
        (["search", "p.kin", "-i", "--json"], "--json must come with QUERY"),
        (
            ["search", "p.kin", "-i", "--explain"],
            "--explain must come with QUERY, without --interactive",
        ),
        (
            ["search", "p.kin", "x", "-i", "--page", "2"],
            "--page must come with QUERY, without --inter",
        ),
        (["search", "p.kin", "x", "--ranking", "nothing"], "'hybrid'; got 'nothing'."),
        (["search", "p.kin", "x", "--k", "0"], "--k"),
        (["search", "p.kin", "x", "--page", "0"], "--page"),
        (
            ["search", "p.kin", "x", "--threshold", "nan"],
            "--threshold must be a finite number; got",
        ),
        (["search", "p.kin", "x", "--k1", "-1"], "--k1 must be a finite number at least 0"),
        (["search", "p.kin", "x", "--b", "2"], "--b must be"),
        (["search", "p.kin", "x", "--idf", "inverse"], "--idf must be"),
        (["search", "p.kin", "x", "--idf", "nothing"], "--idf"),
        (
            ["search", "p.kin", "x", "--ranking", "wmd", "--b", "1"],
            "--b must come with --ranking bm25; got",
        ),
        (
            ["search", "p.kin", "x", "--variant", "wmd"],
            "--variant must come with --ranking tfidf; got",
        ),
        (
            ["search", "p.kin", "x", "--ranking", "inner", "--idf", "log"],
            "--ranking bm25 or --ranking tfidf",
        ),
        (["search", "p.kin", "x", "--where", "year >"], "--where: expected a value here"),
        (["search", "p.kin", "x", "--where", '{"a": {"b": 1}}'], "unknown operator 'b'"),
        (["search", "p.kin", "x", "--where", '{"a": {"exists": 1}}'], "exists must be"),
        (["search", "p.kin", "x", "--where", ""], "--where must not be empty"),
        (["search", "p.kin", "\udcff"], "must be valid UTF-8"),
        (["search", "p.kin", "x", "--feedback-top", "0"], "--feedback-top"),
        (["search", "p.kin", "-x"], "put -- before a text that starts with a dash"),
        (["similar", "p.kin"], "ID"),
    ],
)
def test_invalid_input_prints_one_line_and_exits_with_2(run, arguments, message):
    said = run(*arguments, code=2)
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line


def test_hostile_document_does_not_control_the_terminal(run, monkeypatch):
    with Index.create("e.kin", language=None) as index:
        index.add([{"id": "e\x1b[2J", "text": "cats \x1b[31m\r\u202ered", "label": "\x1b"}])
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    told = run("search", "e.kin", "cats", "--explain").out
    assert "cats" in told
    for character in "\x1b\r\u202e":
        assert character not in told


@pytest.mark.parametrize("redirected", [False, True])
def test_output_is_unchanged_while_the_spinner_runs(run, monkeypatch, redirected):
    """Older versions of rich install a stream without a terminal and an encoding."""
    from textkin.cli import _output

    with Index.create("e.kin", language=None) as index:
        index.add([{"id": "e\x1b[2J", "text": "kittens \u202ered"}])
    looks = []
    look = _output.Look.of_output

    def seen():
        looks.append(sys.stdout)
        return look()

    monkeypatch.setattr(_output.Look, "of_output", seen)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    output = sys.stdout
    if redirected:
        monkeypatch.setattr("textkin.run.working", standing_in)
    told = run("search", "e.kin", "kittens", "--ranking", "wmd", "--explain").out
    assert "e\ufffd[2J" in told
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "\u2501" in told or "\u2026" in told  # drawn with lines
    assert looks == [output]


@contextmanager
def standing_in(label):
    """Replace standard output, as `working` did."""
    with redirect_stdout(io.StringIO()):
        yield


def test_json_does_not_control_the_terminal(run, monkeypatch):
    with Index.create("e.kin", language=None) as index:
        index.add([{"id": "\u00e9", "text": "cats \x9b31m \u202ered"}])
    plain = run("search", "e.kin", "cats", "--json").out
    assert "\u00e9" in plain  # a pipe gets the unchanged text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    told = run("search", "e.kin", "cats", "--json").out
    assert told.isascii()
    assert json.loads(told)["hits"] == json.loads(plain)["hits"]
    told = run("compare", "\u00e9t\u00e9 cats", "\u202edogs", "--text", "--json").out
    assert told.isascii()


@pytest.mark.slow  # starts processes
def test_unencodable_output_prints_one_line(here):
    with Index.create("z.kin", language=None) as index:
        index.add([{"id": "z", "text": "cats \u017c\u00f3\u0142w"}])
    command = [sys.executable, "-m", "textkin", "search", "z.kin", "cats"]
    options = {"capture_output": True, "timeout": 120}
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=environment, **options)
    assert done.returncode == 2
    assert done.stdout == b""
    [line] = done.stderr.decode("latin-1").splitlines()
    assert line == (
        "textkin: The output encoding latin-1 has no '\\u017c'. "
        "Set PYTHONIOENCODING=utf-8, or PYTHONUTF8=1."
    )
    done = subprocess.run([*command, "--json"], env=environment, **options)
    assert "\u017c" in json.loads(done.stdout)["hits"][0]["snippet"]


def test_forty_columns(run, monkeypatch):
    with Index.create("w.kin", language=None) as index:
        index.add([{"id": "a long id " * 9, "text": "Cats purr and sleep on the mat " * 9}])
        index.add([{"id": f"d{i}", "text": f"Dogs bark at birds {i}"} for i in range(3)])
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for by in ("bm25", "tfidf", "hybrid"):
        told = run("search", "w.kin", "cats", "sleeping", "mats", "--ranking", by, "--explain").out
        assert "a long id" in told
        assert max(map(len, told.splitlines())) <= 40


class Many:
    """Hits with only the numbers of the summary."""

    def __init__(self, stats):
        self.stats = stats

    def __len__(self):
        return 0


def test_summary_line_is_short(index):
    hits = index.search("cats sleep", ranking="hybrid")
    assert re.fullmatch(
        r"\d hits among 6 documents in [\d.]+ (µs|ms|s); \d candidates?", describe_hits(hits)
    )
    stats = {"documents": 12_345_678, "searched": 2_345_678, "seconds": 1.0, "candidates": 1e6}
    told = describe_hits(Many(stats))
    assert told == "no hits among 2,345,678 of 12,345,678 documents in 1.0 s; 1,000,000 candidates"
    assert "candidate" not in describe_hits(index.search("cats", ranking="wmd"))


def test_model_ranking(run, index):
    index.attach("lsi", LSI(2, random_state=0))
    hits = index.search("cats", ranking="lsi", k=3)
    record = found(run, "search", "p.kin", "cats", "--ranking", "lsi", "-k", "3", "--explain")
    assert [hit["id"] for hit in record["hits"]] == hits.ids
    assert "'lsi'; got 'lis'." in run("search", "p.kin", "cats", "--ranking", "lis", code=2).err
    assert "models    lsi: LSI(n_components=2" in run("index", "info", "p.kin").out


def test_model_attached_by_another_process(here, index):
    """Only the name in the model's folder identifies its class."""
    index.attach("lsi", make_pipeline(TfIdf(), LSI(2, random_state=0)))
    done = subprocess.run(
        [sys.executable, "-m", "textkin", "search", "p.kin", "cats", "--ranking", "lsi", "--json"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    ids = [hit["id"] for hit in json.loads(done.stdout)["hits"]]
    assert ids == index.search("cats", ranking="lsi").ids


def test_help_explains_exit_codes(run):
    told = " ".join(run("search", "--help").out.split())
    assert "0 if there are hits, 1 if there are none" in told
    assert "Example: textkin search" in told
    assert "Example: textkin similar" in run("similar", "--help").out
    told = run().out
    assert re.search(r"^  search .*best match a query", told, re.MULTILINE)


def test_conditions_are_joined():
    assert parse_filters([]) is None
    assert str(parse_filters(["a=1 or b=2", "c=3"])) == "(a = 1 or b = 2) and c = 3"


@pytest.mark.parametrize("by", ["bm25", "wmd"])
def test_svg_and_html_of_hits(run, here, by):
    command = ["search", "p.kin", "cats sleep", "--ranking", by]
    said = run(*command, "--explain", "--svg", "hits.svg", "--html", "hits.html")
    assert "wrote hits.svg" in said.err
    assert "wrote hits.html" in said.err
    shown = len(ids(said.out))
    page = (here / "hits.html").read_text()
    assert page.count("<details>") == page.count("<li>") == shown
    assert page.count('class="textkin-aligned ') == (shown if by == "wmd" else 0)
    assert (here / "hits.svg").read_text().startswith("<svg")
    run("similar", "p.kin", "cats", "--html", "like.html")
    assert "Like cats" in (here / "like.html").read_text()


def test_html_without_hits(run, here):
    run("search", "p.kin", "unheard", "--html", "none.html", code=1)
    assert "No hits." in (here / "none.html").read_text()


def test_hits_as_csv_on_output_and_in_a_file(run, here, index):
    said = run("search", "p.kin", "cats sleep", "--csv")
    rows = [*csv.DictReader(io.StringIO(said.out))]
    hits = index.search("cats sleep")
    assert [row["id"] for row in rows] == hits.ids
    assert [float(row["score"]) for row in rows] == hits.scores.tolist()
    assert "hits among" in said.err
    said = run("search", "p.kin", "cats sleep", "--csv", "-o", "hits.txt")
    assert said.out == ""
    assert "wrote hits.txt" in said.err
    assert [*csv.DictReader((here / "hits.txt").read_text().splitlines())] == rows
    run("similar", "p.kin", "cats", "-o", "like.csv")
    assert (here / "like.csv").read_text().startswith("rank,score,id,label")
    run("search", "p.kin", "cats", "-o", "hits.json")
    assert json.loads((here / "hits.json").read_text())["hits"][0]["id"]
    run("search", "p.kin", "unheard", "--csv", code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cats", "--svg", "p.kin/catalogue.sqlite"], "--svg must not overwrite a source"),
        (["cats", "--html", "p.kin"], "is a folder"),
        (["cats", "--svg", "x", "--html", "x"], "must name different files"),
        (["cats", "--svg", "s.png"], "--svg must be a file that ends in .svg; got 's.png'"),
        (["cats", "--html", "s.svg"], "--html must be a file that ends in .html, .htm; got"),
        (["cats", "-o", "out.xlsx"], "--output must be a file that ends in .csv, .json, .txt"),
        (["-i", "--html", "x.html"], "--html must come with QUERY, without --interactive"),
    ],
)
def test_unwritable_files_raise(run, here, arguments, message):
    before = sorted(here.iterdir())
    assert message in run("search", "p.kin", *arguments, code=2).err
    assert sorted(here.iterdir()) == before


def test_misspelled_words_get_suggestions(run):
    output = run("search", "p.kin", "brids", "mat")
    assert "For 'brids', did you mean 'birds'?" in output.err
    assert "birds" not in ids(output.out)
    assert found(run, "search", "p.kin", "brids", code=1)["suggestions"] == {"brids": ["birds"]}
