"""Markdown text of the result of ``fisher_speed.py``."""


def render(result) -> str:
    """Return the speed of the Fisher vectors of 20news as Markdown."""
    seconds = result["processor_seconds"]
    ratios = seconds["times_textkin"]
    return (
        f"All {result['documents']:,} documents of 20news ({result['entries']:,} entries, "
        f"{result['dimensions']} dimensions, {result['components']} components) take "
        f"{seconds['median']['textkin']:.2f} CPU seconds from bags to vectors. The formula "
        f"written in NumPy, document by document, takes {ratios['numpy_loop']:.0f} times as long; "
        "an optimized script, with posteriors of all words once and one matrix product per "
        f"document, {ratios['numpy_lean']:.1f} times; these products alone, on prepared data, "
        f"{ratios['products']:.2f} times (one thread each, medians within rounds). "
        f"{result['machine']}; textkin {result['textkin']}, numpy {result['numpy']}; commit "
        f"{result['commit'][:12]}, {result['date'][:10]}; `{result['command']}`."
    )
