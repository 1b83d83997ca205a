"""The page in a browser: drawings of why, in a wide window and on a phone."""

import pytest

from web.page_waiting import eventually

pytest_plugins = ["web.page_fixtures"]

PHONE = {"width": 360, "height": 740}

# The boxes of all texts of a drawing on the screen, that of its frame, its smallest letters.
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
    """Whether two boxes share more than the pixel or two by which lines of text may."""
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 4


@pytest.mark.parametrize("by", ["wmd", "rwmd", "wcd", "bm25", "hybrid"])
def test_a_phone_shows_a_drawing_whole_and_its_words_readable(site, open_page, by):
    page = open_page(f"{site}/?q={QUERY}&by={by}&why=space/6", viewport=PHONE)
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
    assert seen["letters"] >= 9  # of the smallest print, which has 12 where there is room
    assert page.locator(".explanation-picture desc").count() == 1  # in words, for readers


def test_a_wider_window_has_the_drawing_as_it_was_made(site, open_page):
    page = open_page(f"{site}/?q={QUERY}&by=wmd&why=space/6", viewport=PHONE)
    page.wait_for_selector(".explanation-picture svg")
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)
    page.set_viewport_size({"width": 1000, "height": 740})
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] == 780)
    page.set_viewport_size(PHONE)
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)


@pytest.mark.parametrize(
    ("a", "b"),
    [("bread", "bread"), ("responsibilities", "telecommunications"), ("bread", "loaf")],
    ids=["nothing moves", "long words", "one move"],
)
def test_drawings_of_little_fit_too(site, open_page, a, b):
    page = open_page(f"{site}/compare?a={a}&b={b}", viewport=PHONE)
    page.wait_for_selector(".explanation-picture svg")
    eventually(page, lambda: page.evaluate(TEXTS)["wide"] < 780)
    seen = page.evaluate(TEXTS)
    left, _, right, _ = seen["frame"]
    assert all(left <= box[0] < box[2] <= right for box in seen["boxes"])
