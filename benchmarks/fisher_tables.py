"""The result of fisher_speed.py as Markdown; needs nothing but the numbers."""


def render(result) -> str:
    """Say what the vectors of 20news take, as Markdown."""
    seconds = result["processor_seconds"]
    ratios = seconds["times_textkin"]
    return (
        f"All {result['documents']:,} documents of 20news ({result['entries']:,} entries, "
        f"{result['dimensions']} dimensions, {result['components']} components) take "
        f"{seconds['median']['textkin']:.2f} processor seconds from bags to vectors. The formula "
        f"written in NumPy, document by document, takes {ratios['numpy_loop']:.0f} times as long; "
        "a careful script, with posteriors of all words once and one matrix product a document, "
        f"{ratios['numpy_lean']:.1f} times; these products alone, with everything gathered for "
        f"them before, {ratios['products']:.2f} times (one thread each, medians within rounds). "
        f"{result['machine']}; textkin {result['textkin']}, numpy {result['numpy']}; commit "
        f"{result['commit']}; `{result['command']}`."
    )
