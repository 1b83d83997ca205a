"""The result of fisher_vectors.py as Markdown tables."""

from markdown_tables import lines

SETS = {"subj": "Subj", "mr": "MR", "20news": "20news"}
SIGNIFICANT = 0.05


def percent(value: float | None) -> str:
    """Return one decimal, or a dash."""
    return "–" if value is None else f"{value:.1f}"


def quality(result) -> list[str]:
    """Return the table of classes and clusters, beside the numbers of the paper."""
    tables = {name: result.get(name, {}).get("table", {}) for name in SETS}
    methods = dict.fromkeys(method for table in tables.values() for method in table)
    rows = []
    for method in methods:
        cells = [method]
        numbers = [table[method]["numbers"] for table in tables.values() if method in table]
        cells.append(f"{max(numbers):,}")
        for name in ("subj", "mr"):
            found = tables[name].get(method, {})
            cells += [percent(found.get("as_they_are")), percent(found.get("standardised"))]
        found = tables["20news"].get(method, {})
        cells += [percent(found.get(key)) for key in ("ari", "nmi_arithmetic", "nmi_geometric")]
        paper = result["paper"].get(method)
        cells.append("–" if paper is None else " / ".join(map(percent, paper)))
        rows.append(cells)
    heads = ["vectors", "numbers", "Subj", "standardised", "MR", "standardised"]
    heads += ["20news ARI", "NMI", "NMI geometric", "paper: Subj / MR / ARI / NMI"]
    return lines(heads, rows)


def all_tests(result) -> dict[str, dict[str, dict[str, float]]]:
    """Return the t-tests of each set."""
    return {
        title: result[name].get("tests") or result[name].get("tests_of_nmi_arithmetic") or {}
        for name, title in SETS.items()
        if name in result
    }


def differences(result) -> list[str]:
    """Return the table of t-tests."""
    tests = all_tests(result)
    pairs = dict.fromkeys(pair for found in tests.values() for pair in found)
    rows = []
    for pair in pairs:
        cells = [pair.replace(" - ", " against ")]
        for found in tests.values():
            tested = found.get(pair)
            if tested is None:
                cells.append("–")
                continue
            shown = f"{tested['difference']:+.1f} (p = {tested['p']:.2g})"
            cells.append(f"**{shown}**" if tested["p"] < SIGNIFICANT else shown)
        rows.append(cells)
    return lines(["t-test", *tests], rows)


def verdict(result, family: str, rival: str = "FV-GMM") -> str:
    """Say plainly how often von Mises-Fisher beats Gaussians."""
    found = [
        tested
        for tests in all_tests(result).values()
        for pair, tested in tests.items()
        if pair.startswith(f"{family}, ") and f" - {rival}, " in pair
    ]
    sure = [tested for tested in found if tested["p"] < SIGNIFICANT]
    better = sum(tested["difference"] > 0 for tested in sure)
    return (
        f"Of {len(found)} comparisons of {family} and {rival} on the same word vectors, the first "
        f"is significantly better (p < {SIGNIFICANT}) in {better} and significantly worse in "
        f"{len(sure) - better}."
    )


def speed(result) -> str:
    """Say what the vectors of 20news take."""
    found = result["speed"]
    seconds = found["processor_seconds"]
    ratios = seconds["times_textkin"]
    return (
        f"All {found['documents']:,} documents of 20news ({found['entries']:,} entries, "
        f"{found['dimensions']} dimensions, {found['components']} components) take "
        f"{seconds['median']['textkin']:.2f} processor seconds from bags to vectors. The formula "
        f"written in NumPy, document by document, takes {ratios['numpy_loop']:.0f} times as long; "
        "a careful script, with posteriors of all words once and one matrix product a document, "
        f"{ratios['numpy_lean']:.1f} times; these products alone, with everything gathered for "
        f"them before, {ratios['products']:.2f} times (one thread each, medians within rounds)."
    )


def render(result) -> str:
    """Return tables and what they say as Markdown."""
    shown = []
    if any(name in result for name in SETS):
        shown += [*quality(result), "", *differences(result), "", verdict(result, "FV-moVMF")]
        shown.append(verdict(result, "FV-moVMF (paper)"))
        shown += [verdict(result, "FV-moVMF with weights", "FV-GMM with weights"), ""]
    if "speed" in result:
        shown += [speed(result), ""]
    versions = f"scikit-learn {result['scikit-learn']}, numpy {result['numpy']}"
    shown.append(
        f"{result['machine']}; textkin {result['textkin']}, {versions}; word vectors trained by "
        f"{result['trainer']}; commit {result['commit']}; `{result['command']}`."
    )
    return "\n".join(shown)
