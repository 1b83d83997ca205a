"""Markdown tables of the result of builtin_study.py, for docs/builtin-study.md.

In the repository root::

    python benchmarks/builtin_tables.py
"""

import json

from environment import RESULTS
from markdown_tables import lines, number

RESULT = RESULTS / "builtin_study.json"


def caption(part) -> str:
    """Return machine, versions, and command of a part."""
    facts = [part["machine"], f"numpy {part['numpy']}", f"commit {part['commit'][:12]}"]
    return f"{'; '.join(facts)}; `{part['command']}`."


def gain(value: float, error: float) -> str:
    """Format a difference and its standard error."""
    return f"{value:+.3f} ± {error:.3f}".replace("0.", ".")


def of_words(part) -> list[str]:
    """Return the Spearman correlations: over covered pairs (number), and over all pairs."""
    names = [name for name in part["rows"][0] if name != "vectors"]
    heads = ["vectors", *(f"{name} ({part['rows'][0][name]['total']:,})" for name in names)]
    rows = []
    for row in part["rows"]:
        cells = [
            f"{number(row[name]['spearman'])} ({row[name]['covered']:,}) / "
            f"{number(row[name]['all_pairs'])}"
            for name in names
        ]
        rows.append([row["vectors"], *cells])
    return lines(heads, rows)


def of_word_gains(part) -> list[str]:
    """Return the gain of each table over GloVe on the pairs that both cover."""
    names = [name for name in part["rows"][0] if name != "vectors"]
    rows = [
        [row["vectors"], *(gain(row[name]["gain"], row[name]["se"]) for name in names)]
        for row in part["rows"][1:]
    ]
    return lines(["vectors", *names], rows)


def of_sentences(part) -> list[str]:
    """Return ALL / ALLnrm / Mean of both tests, and the gain of the Mean over GloVe's."""
    base = {row["scores"]: row for row in part["rows"] if row["vectors"] == "GloVe"}
    heads = ["scores, vectors", "STS 2012", "gain of Mean", "STS 2013", "gain of Mean"]
    rows = []
    for scores in base:
        for row in (row for row in part["rows"] if row["scores"] == scores):
            if not row["vectors"].startswith("GloVe") and "int8" not in row["vectors"]:
                continue
            cells = []
            for year in ("2012", "2013"):
                found = row[year]
                cells.append(" / ".join(number(found[m]) for m in ("ALL", "ALLnrm", "Mean")))
                apart = found["Mean"] - base[scores][year]["Mean"]
                cells.append(gain(apart, found["se"]) if "se" in found else "")
            rows.append([f"{scores}: {row['vectors']}", *cells])
    return lines(heads, rows)


def of_means(part) -> list[str]:
    """Return the Means of 2012 / 2013 of all tables, one column per scorer."""
    found = {
        (row["vectors"], row["scores"]): " / ".join(
            number(row[year]["Mean"]) for year in ("2012", "2013")
        )
        for row in part["rows"]
    }
    scorers = list(dict.fromkeys(scores for _, scores in found))
    makings = dict.fromkeys(making for making, _ in found)
    rows = [[making, *(found.get((making, s), "–") for s in scorers)] for making in makings]
    return lines(["Mean, 2012 / 2013", *scorers], rows)


def of_choices(part) -> list[str]:
    """Return the Means on the training pairs, one column per scorer, and their sum."""
    scorers = ("mean", "SIF", "WMD, SIF")
    rows = []
    for making in dict.fromkeys(row["vectors"] for row in part["rows"]):
        means = {r["scores"]: r["Mean"] for r in part["rows"] if r["vectors"] == making}
        if all(name in means for name in scorers):
            found = [means[name] for name in scorers]
            rows.append([making, *map(number, found), f"{sum(found):.3f}"])
    return lines(["vectors", *scorers, "sum"], rows)


def of_documents(part) -> list[str]:
    """Return errors in percent, with the difference from GloVe's and its standard error."""
    sets = list(dict.fromkeys(row["set"] for row in part["rows"]))
    finders = list(dict.fromkeys(row["by"] for row in part["rows"]))
    found = {(row["set"], row["vectors"], row["by"]): row for row in part["rows"]}
    tables = []
    for name in sets:
        rows = []
        for making in dict.fromkeys(row["vectors"] for row in part["rows"]):
            cells = []
            for finder in finders:
                row = found.get((name, making, finder))
                if row is None:
                    cells.append("–")
                elif "less_glove" in row:
                    apart = f"{row['less_glove']:+.1f} ± {row['less_glove_se']:.1f}"
                    cells.append(f"{row['error']:.1f} ({apart})")
                else:
                    cells.append(f"{row['error']:.1f} ± {row['se']:.1f}")
            rows.append([making, *cells])
        tables += [*lines([name, *finders], rows), ""]
    return tables[:-1]


def of_costs(part) -> list[str]:
    """Return sizes and speeds."""
    heads = {
        "file_bytes": "file, MB",
        "in_wheel_bytes": "in the wheel, MB",
        "memory_bytes": "in memory, MB",
        "load_seconds": "reading, s",
        "wmd_pairs_a_second": "WMD of sentences, pairs a second",
        "wmd_queries_a_second": "10 nearest of CLASSIC, queries a second",
        "rwmd_queries_a_second": "the same by RWMD",
    }
    rows = []
    for row in part["rows"]:
        cells = [
            f"{row[key] / 1e6:.1f}" if key.endswith("bytes") else f"{row[key]:,}" for key in heads
        ]
        rows.append([row["vectors"], *cells])
    return lines(["vectors", *heads.values()], rows)


TABLES = {
    "choices": (of_choices,),
    "words": (of_words, of_word_gains),
    "sentences": (of_means, of_sentences),
    "documents": (of_documents,),
    "exact": (of_documents,),
    "costs": (of_costs,),
}


def render(result) -> str:
    """Return the tables of all measured parts."""
    shown = []
    for part, tables in TABLES.items():
        if part in result:
            shown += [f"## {part}", ""]
            for table in tables:
                shown += [*table(result[part]), ""]
            shown += [caption(result[part]), ""]
    return "\n".join(shown)


def main() -> None:
    """Print the stored result."""
    print(render(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
