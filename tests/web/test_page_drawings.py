"""Page in a browser: drawings in a wide window and on a phone."""

import pytest

from web.page_waiting import eventually

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

PHONE = {"width": 360, "height": 740}

# Boxes of all texts of a drawing, box of its frame, and smallest font size.
TEXTS = """() => {
    const frame = document.querySelector(".explanation-picture");
    const svg = frame.querySelector("svg");
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const lines = [...svg.querySelectorAll("text, text > tspan[y]")]
        .filter((one) => !one.querySelector("tspan[y]"));
    const size = (one) => parseFloat(getComputedStyle(one).fontSize);
    const shrunk = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return {
        words: lines.map((one) => one.textContent),
        boxes: lines.map(box),
        frame: box(frame),
        letters: Math.min(...lines.map(size)) * shrunk,
        wide: svg.viewBox.baseVal.width,
    };
}"""
QUERY = "rocket+launch+of+the+planet+probe"


def overlap(a, b):
    """Return True if two boxes overlap by more than the pixel or two that text lines may."""
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 4


@pytest.mark.parametrize("ranking", ["wmd", "rwmd", "wcd", "bm25", "hybrid"])
def test_phone_shows_readable_drawings(site, open_page, ranking):
    page = open_page(f"{site}/?q={QUERY}&ranking={ranking}&why=space/6", viewport=PHONE)
    page.wait_for_selector(".explanation-picture svg")
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)
    seen = page.evaluate(TEXTS)
    left, top, right, bottom = seen["frame"]
    assert len(seen["words"]) > 8
    for word, box in zip(seen["words"], seen["boxes"], strict=True):
        assert left <= box[0] < box[2] <= right, word
        assert top <= box[1] < box[3] <= bottom, word
    assert [
        (seen["words"][i], seen["words"][j])
        for i, a in enumerate(seen["boxes"])
        for j, b in enumerate(seen["boxes"][:i])
        if overlap(a, b)
    ] == []
    assert seen["letters"] >= 9  # small print, normally 12 pixels
    # text alternative for screen readers
    assert page.locator(".explanation-picture desc").count() == 1


def test_wide_window_shows_the_drawing_unchanged(site, open_page):
    page = open_page(f"{site}/?q={QUERY}&ranking=wmd&why=space/6", viewport=PHONE)
    page.wait_for_selector(".explanation-picture svg")
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)
    page.set_viewport_size({"width": 1000, "height": 740})
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] == 780)
    page.set_viewport_size(PHONE)
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)


@pytest.mark.parametrize(
    ("a", "b"),
    [("bread", "bread"), ("responsibilities", "telecommunications"), ("bread", "loaf")],
    ids=["no move", "long words", "one move"],
)
def test_small_drawings_fit_too(site, open_page, a, b):
    page = open_page(f"{site}/compare?a={a}&b={b}", viewport=PHONE)
    page.wait_for_selector(".explanation-picture svg")
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)
    seen = page.evaluate(TEXTS)
    left, _, right, _ = seen["frame"]
    assert all(left <= box[0] < box[2] <= right for box in seen["boxes"])
