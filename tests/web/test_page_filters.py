"""Page in a browser: filters and thresholds."""

import pytest

from textkin import Index
from web.browser import serving, small_index, until
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
    assert page.inner_text(".state.wrong h2") == "Invalid filter"
    assert page.locator(".state.wrong button").all_inner_texts() == ["Remove the filter"]
    page.fill("input[name=where]", "")
    page.click("text=Apply")
    page.wait_for_selector(".hit")


def test_number_range_filters_hits(site, open_page):
    page = open_page(f"{site}/?q=the")
    page.click("button:text-is('Filter')")
    bounds = page.locator(".filters [aria-label=year] input")
    assert [bounds.nth(at).get_attribute("placeholder") for at in (0, 1)] == ["1999", "2018"]
    bounds.nth(0).fill("2016")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip.on:has-text('year >= 2016')")
    bounds.nth(1).fill("2017")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip.on:has-text('year >= 2016 and year <= 2017')")
    assert asked(page)["where"] == "year >= 2016 and year <= 2017"
    page.wait_for_selector(".hit")
    until(page, "document.querySelectorAll('.hit').length === 6")
    assert {one.split("/")[1] for one in ids(page)} == {"6", "7"}
    bounds.nth(0).fill("some year")
    page.keyboard.press("Enter")
    assert bounds.nth(0).get_attribute("aria-invalid") == "true"
    assert asked(page)["where"] == "year >= 2016 and year <= 2017"
    page.click(".chip.on:has-text('year')")
    until(page, "document.querySelectorAll('.hit').length === 10")
    assert "where" not in asked(page)


def test_date_range_includes_the_last_day(tmp_path, open_page):
    records = [
        {"id": f"{day}-{hour}", "text": "a rocket", "day": f"2020-05-{day:02}",
         "seen": f"2020-05-{day:02}T{hour:02}:30:00"}
        for day in range(1, 11)
        for hour in (0, 23)
    ]  # fmt: skip
    with Index.create(tmp_path / "dates.kin") as index:
        index.add(records)
        with serving(index) as address:
            page = open_page(f"{address}/?q=rocket")
            page.click("button:text-is('Filter')")
            for field, where in (
                ("day", "day >= 2020-05-02 and day <= 2020-05-03"),
                ("seen", "seen >= 2020-05-02 and seen < 2020-05-04"),
            ):
                bounds = page.locator(f".filters [aria-label={field}] input")
                bounds.nth(0).fill("2020-05-02")
                page.wait_for_selector(f".chip.on:has-text('{field} >=')")
                bounds.nth(1).fill("2020-05-03")
                page.wait_for_selector(f".chip.on:has-text('{where}')")
                until(page, "document.querySelectorAll('.hit').length === 4")
                assert {one.split("-")[0] for one in ids(page)} == {"2", "3"}
                assert asked(page)["where"] == where
                assert bounds.nth(1).input_value() == "2020-05-03"
                page.click(f".chip.on:has-text('{field}')")
                until(page, "document.querySelectorAll('.hit').length === 10")


def test_hint_uses_fields_of_the_index(site, open_page, tmp_path):
    page = open_page(f"{site}/?q=the")
    page.click("button:text-is('Filter')")
    examples = page.locator(".filters .hint code").all_inner_texts()
    assert examples == [
        "year >= 2010 and label in (kitchen, space)",
        "not label = kitchen",
        "exists(title)",
    ]
    page.fill("input[name=where]", examples[0])
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    with small_index(tmp_path, [{"text": "no field"}]) as index, serving(index) as address:
        page = open_page(f"{address}/?q=field")
        page.click("button:text-is('Filter')")
        assert page.locator(".filters .hint code").all_inner_texts() == ["id in (a, b)"]


@pytest.mark.parametrize(
    ("where", "ranges", "rest"),
    [
        ("year >= 2010 and year <= 2015", {"year": [2010, 2015]}, ""),
        ("year <= 2015 and a = b", {"year": [None, 2015]}, ""),
        ("year >= 2010 and year >= 2012", {"year": [2010, None]}, "year >= 2012"),
        ("year > 2010", {}, "year > 2010"),
        ('year >= "2010"', {}, 'year >= "2010"'),
        ("day <= 2020-02-29", {"day": [None, "2020-02-29"]}, ""),
        ("day <= 2021-02-29", {}, "day <= 2021-02-29"),  # not a day
        ("day < 2020-03-01", {}, "day < 2020-03-01"),
        ("seen < 2020-03-01", {"seen": [None, "2020-02-29"]}, ""),
        ("seen <= 2020-03-01", {}, "seen <= 2020-03-01"),
        ("year >= 2010 or day >= 2020-01-01", {}, "year >= 2010 or day >= 2020-01-01"),
    ],
)
def test_ranges_are_split_and_joined_unchanged(site, open_page, where, ranges, rest):
    from textkin.index import parse_filter

    page = open_page(f"{site}/add")
    found = page.evaluate(
        """async (where) => {
            const { split, join } = await import("/static/filters.js");
            const types = new Map([["year", "number"], ["day", "date"], ["seen", "time"]]);
            const parts = split(where, types);
            const ranges = [...parts.ranges].map(([field, { low, high }]) => [field, [low, high]]);
            return [Object.fromEntries(ranges), parts.rest,
                join(parts.chosen, parts.rest, parts.ranges, types)];
        }""",
        where,
    )
    assert found[:2] == [ranges, rest]
    assert conditions(parse_filter(found[2])) == conditions(parse_filter(where))


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
