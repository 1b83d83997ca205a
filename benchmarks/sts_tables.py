"""The result of sts.py as Markdown tables."""

# Guo and Diab, SemEval 2012, Tables 2 and 3.
PAPER = {
    "WTMF": {
        "MSRpar": 0.411, "MSRvid": 0.835, "SMTeuroparl": 0.513, "OnWN": 0.727, "SMTnews": 0.438,
        "ALL": 0.695, "ALLnrm": 0.830, "Mean": 0.608,
    },
    "LDA": {
        "MSRpar": 0.274, "MSRvid": 0.768, "SMTeuroparl": 0.452, "OnWN": 0.619, "SMTnews": 0.366,
    },
}  # fmt: skip
WHOLE = ("ALL", "ALLnrm", "Mean")


def number(value: float | None, spread: float | None = None) -> str:
    """Return a correlation without the zero before its point, and how far runs are apart."""
    if value is None:
        return "–"
    shown = f"{value:.3f}".replace("0.", ".", 1)
    return shown if spread is None else f"{shown} ({spread:.3f})".replace("(0.", "(.")


def lines(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table whose first column is text and whose others are numbers."""
    aligned = f"| --- |{' ---: |' * (len(heads) - 1)}"
    return [f"| {' | '.join(heads)} |", aligned, *(f"| {' | '.join(row)} |" for row in rows)]


def of_tests(result) -> list[str]:
    """Return one table for each test, and in that of 2012 the rows of the paper."""
    shown = []
    for test, title in {"2012": "STS 2012", "2013": "STS 2013"}.items():
        names = list(result["rows"][0][test])
        heads = [title, *names]
        rows = []
        for row in result["rows"]:
            spread = row.get("spread", {}).get(test, {})
            cells = [
                number(row[test][name], spread.get(name) if name in WHOLE else None)
                for name in names
            ]
            rows.append([label(row), *cells])
        if test == "2012":
            for name, numbers in PAPER.items():
                rows.append([f"*paper: {name}*", *(number(numbers.get(name)) for name in names)])
        shown += [*lines(heads, rows), ""]
    heads = ["LI06, 30 pairs", "Pearson", "Spearman"]
    rows = []
    for row in result["rows"]:
        spread = row.get("spread", {}).get("LI06", {})
        cells = [number(value, spread.get(name)) for name, value in row["LI06"].items()]
        rows.append([label(row), *cells])
    return [*shown, *lines(heads, rows)]


def label(row) -> str:
    """Return the name of a row, and what was chosen for it."""
    return f"{row['row']} ({row['chosen']})" if "chosen" in row else row["row"]


def of_changes(result) -> list[str]:
    """Return what each change does to the Mean and to ALL."""
    heads = ["change", "training: Mean", "ALL", "2012: Mean", "ALL", "OnWN", "2013: Mean", "ALL"]
    rows = []
    for row in result["changes"]:
        training = row.get("training", {})
        rows.append(
            [
                row["change"],
                number(training.get("Mean")),
                number(training.get("ALL")),
                *(number(row["2012"].get(name)) for name in ("Mean", "ALL", "OnWN")),
                *(number(row["2013"].get(name)) for name in ("Mean", "ALL")),
            ]
        )
    return lines(heads, rows)


def caption(result) -> str:
    """Return what the numbers are, and where and with what they were measured."""
    versions = ", ".join(f"{name} {result[name]}" for name in ("textkin", "numpy", "python"))
    return (
        f"Pearson's correlation with the scores of people. {result['texts']:,} texts, "
        f"{result['words']:,} words; of WTMF and OrMF the mean of {result['seeds']} starts, in "
        "brackets how far these are apart. "
        f"{result['machine']}; {versions}; commit {result['commit']}; `{result['command']}`."
    )


def render(result) -> str:
    """Return the tables of the tests with their caption, then that of the changes."""
    small = result["settings"]["changes"]
    about = (
        f"What one change does (K = {small['n_components']}, {small['max_iter']} sweeps, one "
        "start, all learnt without the sentences of the training pairs):"
    )
    parts = [*of_tests(result), "", caption(result), "", about, "", *of_changes(result)]
    return "\n".join(parts)
