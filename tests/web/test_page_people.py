"""Page in a browser: keyboard, hostile texts, phones, and colors."""

import pytest

from web.browser import until, wide
from web.page_searching import search

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def test_keyboard_only(site, open_page):
    page = open_page(f"{site}/?q=bread")
    page.wait_for_selector(".hit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    page.keyboard.type("rocket launch")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit[data-id='space/6']")  # not a hit of the previous search
    page.wait_for_selector(".results:not([aria-busy])")
    reach(page, "document.activeElement.textContent === 'Why'")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".explanation")
    reach(page, "document.activeElement.matches('.mark.fits')")
    page.keyboard.press("Space")
    page.wait_for_selector(".mark.fits[aria-pressed=true]")
    reach(page, "document.activeElement.textContent === 'Refine'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".change")
    until(page, "document.activeElement.closest('.results-head') !== null")


def reach(page, condition):
    """Press the tab key until the element has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    raise AssertionError(f"the tab key never comes to {condition}")


def test_hostile_texts_are_shown_as_text(site, open_page):
    page = open_page(f"{site}/?q=hostile&why=<script>alert('id')</script>")
    page.wait_for_selector(".hit")
    page.wait_for_selector(".explanation")
    assert page.evaluate("window.broken") is None
    assert page.locator(".hit script, .hit img, .hit i").count() == 0
    item = page.locator(".hit", has_text="<i>title</i>")
    assert "<script>window.broken = true</script>" in item.locator(".snippet").inner_text()
    assert wide(page) == 0
    arabic = page.locator(".hit", has_text="مستند")
    assert arabic.locator(".snippet").get_attribute("dir") == "auto"
    assert arabic.locator("h3 bdi").count() >= 1


def test_very_long_query(site, open_page):
    page = open_page(site)
    search(page, "rocket launch probe " * 200)
    page.wait_for_selector(".hit")
    assert page.locator(".search-box").bounding_box()["height"] <= 241


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["/", "/?q=hostile&ranking=wmd&why=long", '/?q=team&rounds=[[["sport/1"],[]]]']
)
def test_phone_width(site, open_page, path, scheme):
    page = open_page(
        site + path, viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True
    )
    page.wait_for_selector(".hit, .start")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert wide(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast(site, open_page, scheme):
    """WCAG 2 (AA) requires a contrast ratio of 4.5 for text."""
    page = open_page(site, color_scheme=scheme)
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    pairs = [
        (ink, ground)
        for ink in ("ink", "muted", "accent", "warm")
        for ground in ("ground", "surface", "sunken")
    ]
    pairs += [("faint", "surface"), ("accent-ink", "accent"), ("ink", "mark"), ("ink", "warm-soft")]
    pairs += [("ink", "accent-soft"), ("accent", "accent-soft"), ("surface", "warm")]
    for ink, ground in pairs:
        bright, dim = sorted(
            (luminance(page.evaluate(read, f"--{name}")) for name in (ink, ground)), reverse=True
        )
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, f"{ink} on {ground}"


def luminance(color):
    """Return the relative luminance of ``#rrggbb``, as defined by WCAG 2."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colors_match_the_drawings(site, open_page):
    from textkin.explain._page import DARK, GROUPS_DARK, GROUPS_LIGHT, LIGHT, to_hex

    for scheme, levels, groups in (("light", LIGHT, GROUPS_LIGHT), ("dark", DARK, GROUPS_DARK)):
        page = open_page(site, color_scheme=scheme)
        read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
        assert [page.evaluate(read, f"--level-{n}") for n in range(7)] == list(map(to_hex, levels))
        assert [page.evaluate(read, f"--group-{n}") for n in range(8)] == list(map(to_hex, groups))
