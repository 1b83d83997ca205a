"""What the experiment ``sts`` tells, with numbers from its results alone."""

from collections.abc import Iterator

from textkin.evaluate._experiment import Aim
from textkin.evaluate._results import Results
from textkin.evaluate.experiments._sts_report import (
    LEARNT,
    PAPERS,
    STS2012,
    STS2013,
    TITLES,
    WHOLE,
    brief,
    columns_of,
    main_rows,
    of_others,
    triple,
)

__all__ = ["AIMS", "findings"]

_WORDS = "tf-idf, lemmas"
_MSRPAR = 750 / 3108  # its share of the test pairs


def findings(results: Results) -> str:
    """Say what was reproduced, with numbers from the results alone."""
    parts = [*_on_the_paper(results), *_on_words(results), *_on_regression(results)]
    parts += [*_on_transport(results), *_on_data(results)]
    return " ".join(parts)


def _pair(results: Results, one: str, other: str, dataset: str, measure: str) -> str | None:
    """Return the two numbers of two methods in words; None if one is not there."""
    numbers = [results.mean(name, dataset, measure) for name in (one, other)]
    if None in numbers:
        return None
    return f"{brief(numbers[0])} against {brief(numbers[1])}"


def _on_the_paper(results: Results) -> Iterator[str]:
    own = {m: results.mean(PAPERS, STS2012, m) for m in (*WHOLE, "MSRpar")}
    theirs = of_others(PAPERS, STS2012)["Guo and Diab"]
    found = {m: number for m, number in own.items() if number is not None}
    if len(found) == len(own):
        told = ", ".join(f"{m} {brief(n)} (paper {brief(theirs[m])})" for m, n in found.items())
        yield f"With the paper's settings WTMF has {told}."
        lacking = theirs["Mean"] - found["Mean"]
        share = _MSRPAR * (theirs["MSRpar"] - found["MSRpar"]) / lacking if lacking > 0 else 0.0
        if share > 0.5:
            yield (
                f"MSRpar is {100 * share:.0f} % of what the Mean lacks: its sentences are full of "
                "names and numbers, of which GCIDE, a dictionary of 1913 with additions, may have "
                "fewer than Wiktionary; a tagger before the lemmas could not be had either."
            )
    values = results.values("WTMF", STS2012)
    if values:
        yield results.said(
            f"The size that the training pairs choose ({values[0].get('chosen')}) has "
            "ALL {WTMF|sts2012-test|ALL:.3f} and Mean {WTMF|sts2012-test|Mean:.3f}."
        )
    low = [
        f"{name} {brief(number)}"
        for name in ("LSI", "LDA")
        if (number := results.mean(name, STS2012, "Mean")) is not None
        and number < (results.mean("WTMF", STS2012, "Mean") or 0.0) - 0.1
    ]
    if low:
        yield (
            f"Far below WTMF: {' and '.join(low)} (Mean). In the paper LDA is below it on every "
            "set, and LSI is not there. Function words stay in, as the recipe has it, and of LDA "
            "only two priors were tried."
        )


def _on_words(results: Results) -> Iterator[str]:
    told = [
        f"{TITLES[test]} {found}"
        for test in (STS2012, STS2013)
        if (found := _pair(results, "WTMF", _WORDS, test, "Mean")) is not None
    ]
    if told:
        yield (
            "Beside a tf-idf cosine of lemmas with the idf of the same texts, WTMF has a Mean of "
            f"{', '.join(told)}."
        )
    gains = []
    for test in (STS2012, STS2013):
        for name in columns_of(results, test):
            one, other = (results.mean(method, test, name) for method in ("WTMF", _WORDS))
            if one is not None and other is not None and name not in WHOLE:
                gains.append((one - other, f"{TITLES[test]} {name}"))
    if gains:
        (least, lost), (most, won) = min(gains), max(gains)
        yield (
            f"The difference is largest on {won} ({most:+.3f}) and smallest on {lost} "
            f"({least:+.3f})."
        )


def _on_regression(results: Results) -> Iterator[str]:
    told, ahead = [], {}
    for test in (STS2012, STS2013):
        means = [results.mean(name, test, "Mean") for name in LEARNT]
        rest = [
            (number, name)
            for name in main_rows(results.methods)
            if name not in LEARNT and (number := results.mean(name, test, "Mean")) is not None
        ]
        if means[0] is None or means[1] is None or not rest:
            continue
        own = [f"{triple(results, name, test)} ({name.split(', ')[1]})" for name in LEARNT]
        name = max(rest)[1]
        told.append(
            f"{' and '.join(own)} on {TITLES[test]}, where the best other Mean is that of "
            f"{name}, {triple(results, name, test)}"
        )
        ahead[test] = means[0] > means[1]
    if told:
        yield (
            "The regressions that combine WTMF with word alignment have, as ALL / ALLnrm / Mean, "
            f"{'; '.join(told)}. They alone learn from scores of people, those of three sets."
        )
    if ahead == {STS2012: True, STS2013: False}:
        yield (
            "What is chosen by folds of known sets is better in 2012, where most test pairs are of "
            "those sets, and worse on the sets of 2013, which are all new"
            + (
                ": there it pays to learn from differences within sets alone."
                if _learnt_within(results)
                else "."
            )
        )


def _learnt_within(results: Results) -> bool:
    """Whether what is chosen for new sets learns from differences within sets."""
    chosen = [values.get("chosen", "") for values in results.values(LEARNT[1], STS2013)]
    return bool(chosen) and all(each.startswith("within") for each in chosen)


def _on_transport(results: Results) -> Iterator[str]:
    for name in ("WMD", "RWMD"):
        told = [
            f"{TITLES[test]} {found}"
            for test in (STS2012, STS2013)
            if (found := _pair(results, f"{name}, SIF", f"{name}, nBOW", test, "Mean")) is not None
        ]
        if told:
            yield f"{name}, SIF masses against plain shares: a Mean of {', '.join(told)}."
    told = [
        f"{TITLES[test]} {found}"
        for test in (STS2012, STS2013)
        if (found := _pair(results, "WMD, SIF", "tf-idf", test, "Mean")) is not None
    ]
    if told:
        yield f"WMD with SIF masses against a tf-idf cosine of words: {', '.join(told)}."


def _on_data(results: Results) -> Iterator[str]:
    twice, known = [], []
    for dataset in results.datasets:
        for values in results.values("surface words", dataset):
            counts = values["repeated"]
            twice.append(f"{counts['in training']:,.0f} of {counts['pairs']:,.0f} of {dataset}")
            known += [
                f"{100 * share:.0f} % of {TITLES.get(dataset, dataset)} {name.split(', ')[1]}"
                for name, share in counts.items()
                if name.startswith("WordNet, ") and share >= 0.05
            ]
    if twice:
        yield f"Test pairs that are training pairs too: {', '.join(twice)}."
    if known:
        yield (
            f"Sentences that are definitions of WordNet word for word, which the models learn "
            f"from, here as in the paper: {', '.join(known)}."
        )


# ------------------------------------------------------------------ aims


def _at_least(measure: str, limit: float) -> Aim:
    def check(results: Results) -> tuple[bool, str] | None:
        number = results.mean("WTMF", STS2012, measure)
        return None if number is None else (number >= limit, brief(number))

    return Aim(f"STS 2012: {measure} of WTMF {limit:.2f} or more", check)


AIMS = (
    _at_least("ALL", 0.69),
    _at_least("ALLnrm", 0.83),
    _at_least("Mean", 0.60),
    _at_least("OnWN", 0.72),
)
