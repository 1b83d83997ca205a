"""Page in a browser: filters and thresholds."""

import pytest

from web.browser import until
from web.page_searching import asked, ids

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def test_filters_by_click_equal_filters_by_text(site, open_page):
    page = open_page(f"{site}/?q=the")
    page.click("button:text-is('Filter')")
    page.click(".filters [aria-label=label] button:has-text('space')")
    page.wait_for_selector(".chip.on:has-text('space')")
    assert asked(page)["where"] == "label = space"
    page.click(".filters [aria-label=label] button:has-text('sport')")
    page.wait_for_selector(".chip.on:has-text('sport')")
    assert asked(page)["where"] == "label in (space, sport)"
    page.fill("input[name=where]", "label in (space, sport) and year >= 2016")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip.on:has-text('year >= 2016')")
    until(page, "document.querySelectorAll('.hit').length === 6")
    assert {one.split("/")[0] for one in ids(page)} == {"space", "sport"}
    page.click(".chip.on:has-text('space')")
    until(page, "document.querySelectorAll('.hit').length === 3")
    assert asked(page)["where"] == "label = sport and year >= 2016"


def test_invalid_filter_shows_the_position(site, open_page):
    page = open_page(f"{site}/?q=the", expected=("422", "400"))
    page.click("button:text-is('Filter')")
    page.fill("input[name=where]", "year >=")
    page.click("text=Apply")
    page.wait_for_selector(".state.wrong:has-text('expected a value')")
    page.fill("input[name=where]", "")
    page.click("text=Apply")
    page.wait_for_selector(".hit")


def test_threshold(site, open_page):
    page = open_page(f"{site}/?q=rocket+launch")
    page.wait_for_selector(".hit")
    scores = [float(text.split()[-1]) for text in page.locator(".hit-score").all_inner_texts()]
    page.click("button:text-is('Filter')")
    page.fill("input[name=threshold]", str(scores[0] - 0.01))
    page.click("text=Apply")
    until(page, "document.querySelectorAll('.hit').length === 1")
    page.click(".chip.on:has-text('score')")
    until(page, f"document.querySelectorAll('.hit').length === {len(scores)}")


@pytest.mark.parametrize(
    ("where", "chosen", "rest"),
    [
        ("label = a", {"label": ["a"]}, ""),
        ("label in (a, 'b c') and year = 2015", {"label": ["a", "b c"], "year": [2015]}, ""),
        ('"my field" = "2015"', {"my field": ["2015"]}, ""),
        ("a = 1 or b = 2", {}, "a = 1 or b = 2"),
        ("a = 1 and (b = 2 or c = 3)", {"a": [1]}, "(b = 2 or c = 3)"),
        ("x = null and y = true", {"x": [None], "y": [True]}, ""),
        ("not a = 1 and b = c", {"b": ["c"]}, "not a = 1"),
        ("year >= 2010 and a = b", {"a": ["b"]}, "year >= 2010"),
        ("a = 1 and a = 2", {"a": [1]}, "a = 2"),
        ("exists(a)", {}, "exists(a)"),
        ('{"a": 1}', {}, '{"a": 1}'),
        ("a = 'unclosed", {}, "a = 'unclosed"),
        ("", {}, ""),
    ],
)
def test_filters_are_split_and_joined_unchanged(site, open_page, where, chosen, rest):
    from textkin.index import parse_filter

    page = open_page(f"{site}/add")
    found = page.evaluate(
        """async (where) => {
            const { split, join } = await import("/static/filters.js");
            const parts = split(where);
            return [Object.fromEntries(parts.chosen), parts.rest, join(parts.chosen, parts.rest)];
        }""",
        where,
    )
    assert found[:2] == [chosen, rest]
    if where and "unclosed" not in where:
        assert conditions(parse_filter(found[2])) == conditions(parse_filter(where))


def conditions(asked):
    """Return the conditions of a filter, in any order."""
    joined = getattr(asked, "operator", None) == "and"
    return sorted(str(part) for part in (asked.parts if joined else [asked]))


def test_any_value_can_be_written_as_a_filter(site, open_page):
    from textkin.index import parse_filter

    values = ["plain", "two words", "2015", 'a "quote"', "a\\b", "and", "NULL", "null", "x,y"]
    values += ["(", "ärger", "‮", "", 2015, 1.5, True, None, "line\nbreak", "{"]
    page = open_page(f"{site}/add")
    written = page.evaluate(
        """async (values) => {
            const { join } = await import("/static/filters.js");
            return values.map((value) => join(new Map([["field", [value]]]), ""));
        }""",
        values,
    )
    for value, text in zip(values, written, strict=True):
        assert parse_filter(text) == parse_filter({"field": value}), text
