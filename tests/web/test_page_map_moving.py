"""Page in a browser: moving and zooming the map, by mouse, touch, and keyboard."""

import math

import pytest

from web.browser import wide
from web.fixed_map import CLUSTERS, DRAWN, FIXED, place, zoom_of
from web.page_waiting import asked, eventually

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def test_wheel_drag_and_buttons_move_the_map_and_update_the_url(fixed_map):
    page = fixed_map()
    page.mouse.move(*place(page, 0.5, 0.5))
    page.mouse.wheel(0, -300)
    eventually(page, lambda: "at" in asked(page))
    x, y, zoom = map(float, asked(page)["at"][0].split(","))
    assert zoom == pytest.approx(math.exp(300 * 0.0022), rel=0.01)
    assert (x, y) == pytest.approx((0.5, 0.5), abs=0.01)  # the position below the pointer stays
    page.mouse.down()
    page.mouse.move(*place(page, 0.3, 0.5), steps=4)
    page.mouse.up()
    eventually(page, lambda: float(asked(page)["at"][0].split(",")[0]) > x + 0.05)
    assert zoom_of(page) == zoom
    before = asked(page)["at"][0].split(",")[:2]
    page.reload()
    page.wait_for_selector(".legend")
    page.get_by_role("button", name="Zoom in").click()
    eventually(page, lambda: zoom_of(page) == pytest.approx(zoom * 1.5, rel=0.01))
    assert asked(page)["at"][0].split(",")[:2] == before  # from the previous view
    page.get_by_role("button", name="Reset").click()
    eventually(page, lambda: "at" not in asked(page))


def test_pinch_zooms(fixed_map):
    page = fixed_map(viewport={"width": 360, "height": 740}, has_touch=True)
    x, y = place(page, 0.5, 0.5)
    touch = page.context.new_cdp_session(page)

    def fingers(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        ends = {"type": kind, "touchPoints": [] if kind == "touchEnd" else points}
        touch.send("Input.dispatchTouchEvent", ends)

    fingers("touchStart", 20)
    for apart in (25, 35, 50, 60):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)
    eventually(page, lambda: zoom_of(page) > 1.5)


def test_everything_works_with_the_keyboard(fixed_map):
    page = fixed_map()
    told = page.locator("#announcer")
    page.locator(".map-marks").focus()
    page.keyboard.press("ArrowRight")  # starts in the center
    eventually(page, lambda: "Middle" in told.inner_text())
    page.keyboard.press("ArrowUp")
    eventually(page, lambda: told.inner_text().startswith("Top"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="1 chosen").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    page.get_by_role("heading", name="2 chosen").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="2 chosen").wait_for(state="detached")
    page.keyboard.press("+")
    eventually(page, lambda: zoom_of(page) == pytest.approx(1.5, rel=0.01))
    page.keyboard.press("0")
    eventually(page, lambda: "at" not in asked(page))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.title") == "Zoom in"


def test_phone_does_not_scroll_sideways(open_page, site):
    page = open_page(f"{site}/map", viewport={"width": 360, "height": 740}, has_touch=True)
    page.wait_for_selector(".legend")
    assert wide(page) <= 0
    box = page.locator(".map-stage").bounding_box()
    assert box["width"] > 300
    assert box["height"] < 500  # there is space next to it for scrolling the page


def test_hover_with_twenty_thousand_points(fixed_map):
    n = 20_000
    side = 142
    places = [(i % side / side, i // side / side) for i in range(n)]
    many = {
        **FIXED,
        "ids": [str(i) for i in range(n)],
        "titles": [f"Document {i}" for i in range(n)],
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "label": [i % 30 for i in range(n)],
        "labels": [f"kind {k}" for k in range(30)],
        "cluster": [i % 2 for i in range(n)],
        "total": n,
    }
    page = fixed_map(answers=(many, CLUSTERS))
    assert page.locator(".legend-entry").count() == 12  # the others are shown on request
    page.get_by_role("button", name="All 30 groups").click()
    assert page.locator(".legend-entry").count() == 30
    top = max(y for _, y in places)
    right = max(x for x, _ in places)
    at = 70 * side + 71
    page.mouse.move(*place(page, places[at][0] / right, places[at][1] / top))
    page.get_by_text(f"Document {at}", exact=True).wait_for()
    assert page.locator(".map-panel *").count() < 400  # points are not elements


# A clock by which each piece of work takes a fixed time; and all widths of the point layer.
WATCHED = """
    let now = 0;
    performance.now = () => (now += TOOK);
    window.widths = [];
    const watch = new MutationObserver((changes) => {
        const points = document.querySelector(".map-points");
        if (points && points.width !== window.widths.at(-1)) window.widths.push(points.width);
    });
    watch.observe(document, { subtree: true, childList: true, attributeFilter: ["width"] });
"""


@pytest.fixture
def sharp_map(fixed_map):
    """Open the map on a screen with two device pixels per pixel; return the page and map widths."""

    def opened(took):
        page = fixed_map(script=WATCHED.replace("TOOK", str(took)), device_scale_factor=2)
        width = page.evaluate("document.querySelector('.map-stage').clientWidth")
        eventually(page, lambda: page.evaluate("widths.at(-1)") == 2 * width)
        page.evaluate("widths.splice(0, widths.length - 1)")
        page.mouse.move(*place(page, 0.5, 0.5))
        return page, width, 2 * width

    return opened


def test_slow_drawing_is_coarse_while_the_map_moves(sharp_map):
    page, coarse, sharp = sharp_map(took=9)

    def turned():
        page.mouse.wheel(0, -20)
        return coarse in page.evaluate("widths")

    eventually(page, turned)
    eventually(page, lambda: page.evaluate("widths.at(-1)") == sharp)  # after it stops
    assert page.evaluate(DRAWN)


def test_fast_drawing_is_always_sharp(sharp_map):
    page, _, sharp = sharp_map(took=1)
    page.mouse.wheel(0, -300)
    eventually(page, lambda: "at" in asked(page))  # recorded after the map stops
    assert page.evaluate("widths") == [sharp]
    assert page.evaluate(DRAWN)
