"""The map of the page in a real browser: looked at, walked through, filtered, searched."""

import math
from urllib.parse import parse_qs, urlsplit

import pytest

from web.browser import serving, small_index, wide
from web.page_waiting import answer, asked, eventually
from web.small_collection import DOCUMENTS

pytest_plugins = ["web.page_fixtures"]

EDGE = 28  # pixels around the points at zoom 1
N = len(DOCUMENTS)

# Four corners and the middle: where they lie on the screen is known.
FIXED = {
    "by": "tfidf",
    "state": "fixed",
    "ids": ["low left", "low right", "high left", "high right", "middle"],
    "titles": ["Bottom left", "Bottom right", "Top left", "Top right", "Middle <b>of</b> all"],
    "x": [0, 1, 0, 1, 0.5],
    "y": [0, 0, 1, 1, 0.5],
    "label": [0, 0, 1, 1, -1],
    "labels": ["bottom", "top"],
    "cluster": [0, 1, 0, 1, 0],
    "total": 5,
    "notes": [],
}
CLUSTERS = {
    "by": "tfidf",
    "state": "fixed",
    "total": 5,
    "notes": [],
    "clusters": [
        {
            "number": number,
            "size": size,
            "words": [{"word": word, "weight": 1.0}],
            "central": {"id": "middle", "start": "Middle"},
            "x": 0.5,
            "y": 0.5,
        }
        for number, size, word in ((0, 3, "western"), (1, 2, "eastern"))
    ],
}


# The layer of points has more than the colour of its ground.
DRAWN = """() => {
    const canvas = document.querySelector(".map-points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    return pixels.some((pixel) => pixel !== pixels[0]);
}"""


@pytest.fixture
def fixed_map(open_page, site):
    """Opens the map with the five fixed points; gives the page."""

    def opened(query="", answers=(FIXED, CLUSTERS), **options):
        page = open_page(f"{site}/compare", **options)
        page.route("**/api/map?*", lambda route: answer(route, answers[0]))
        page.route("**/api/clusters?*", lambda route: answer(route, answers[1]))
        page.goto(f"{site}/map{query}")
        page.wait_for_selector(".legend")
        eventually(page, lambda: page.evaluate(DRAWN))
        return page

    return opened


def place(page, x, y):
    """Where a point of the fixed map lies in the window at zoom 1."""
    box = page.locator(".map-marks").bounding_box()
    wide, high = box["width"] - 2 * EDGE, box["height"] - 2 * EDGE
    return box["x"] + EDGE + x * wide, box["y"] + EDGE + (1 - y) * high


def colour_at(page, x, y):
    """The colour of the layer of points at a place of the window, and that of a custom property."""
    return page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".map-points");
            const box = canvas.getBoundingClientRect();
            const sharp = canvas.width / box.width;
            const at = [(x - box.left) * sharp, (y - box.top) * sharp].map(Math.round);
            return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
        }""",
        [x, y],
    )


def has_colour(page, where, hexadecimal, away=40):
    """Wait until a place has a colour, or nearly."""
    wanted = [int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5)]
    eventually(
        page,
        lambda: all(
            abs(a - b) <= away for a, b in zip(colour_at(page, *where), wanted, strict=True)
        ),
    )


def zoom_of(page):
    """How near one is, as the address has it."""
    return float(asked(page)["at"][0].split(",")[2]) if "at" in asked(page) else 1.0


def shown(page, name):
    return page.locator(".legend-entry", has_text=name)


# ---------------------------------------------------------------------- the real server


def test_a_collection_has_a_map_with_its_labels_and_clusters(open_page, site):
    page = open_page(f"{site}/map")
    page.wait_for_selector(".legend")
    names = page.locator(".legend-name").all_inner_texts()
    assert names[:3] == ["kitchen", "space", "sport"]
    assert "<b>bold</b>" in names
    page.get_by_role("button", name="Clusters").click()
    page.wait_for_url("**colour=cluster")
    counts = [int(text) for text in page.locator(".legend-count").all_inner_texts()]
    assert 0 < sum(counts) <= N
    assert counts == sorted(counts, reverse=True)
    assert page.evaluate("window.broken") is None


def test_the_documents_are_a_list_too(open_page, site):
    page = open_page(f"{site}/map")
    page.get_by_text("The documents as a list").click()
    rows = page.locator(".map-all tbody tr")
    rows.first.wait_for()
    assert rows.count() == N
    assert page.get_by_text(f"1 to {N} of {N}").is_visible()
    shown(page, "space").click()
    page.get_by_text("1 to 8 of 8").wait_for()
    assert {row.split("\t")[1] for row in rows.all_inner_texts()} == {"space"}
    rows.first.locator("a").click()
    page.wait_for_url("**/document?id=space%2F1")


def test_what_is_found_is_brought_forward_and_listed(open_page, site):
    page = open_page(f"{site}/map")
    page.wait_for_selector(".legend")
    box = page.get_by_label("Find on the map")
    box.fill("telescope")
    box.press("Enter")
    page.get_by_role("heading", name="2 found").wait_for()
    links = page.locator(".map-documents a")
    ids = {parse_qs(urlsplit(one.get_attribute("href")).query)["id"][0] for one in links.all()}
    assert ids == {"space/2", "space/4"}
    assert asked(page)["q"] == ["telescope"]
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("heading", name="2 found").wait_for(state="detached")
    assert "q" not in asked(page)
    page.go_back()
    page.get_by_role("heading", name="2 found").wait_for()
    assert box.input_value() == "telescope"


@pytest.mark.parametrize(
    ("documents", "headline"), [([], "No documents yet"), (DOCUMENTS[:1], "One document only")]
)
def test_too_few_documents_make_no_map(open_page, tmp_path, documents, headline):
    with small_index(tmp_path, documents) as index, serving(index) as address:
        page = open_page(f"{address}/map")
        page.get_by_role("heading", name=headline).wait_for()
        assert page.locator(".map-stage").count() == 0


# ---------------------------------------------------------------------- waiting and failing


def test_progress_is_told_while_the_map_is_computed(open_page, site):
    page = open_page(f"{site}/compare")
    requests = []

    def slowly(route):
        requests.append(route)
        if len(requests) == 1:
            answer(route, {"status": "computing", "done": 30, "total": 120, "state": "1"}, 202)

    page.route("**/api/map?*", slowly)
    page.route("**/api/clusters?*", lambda route: answer(route, CLUSTERS))
    page.goto(f"{site}/map")
    page.get_by_text("25 %").wait_for()
    bar = page.get_by_role("progressbar", name="Drawing the map")
    assert bar.evaluate("(bar) => bar.value / bar.max") == 0.25
    eventually(page, lambda: len(requests) == 2)
    answer(requests[1], FIXED)
    page.wait_for_selector(".legend")
    assert bar.count() == 0


def test_a_failing_server_can_be_asked_again(open_page, site):
    page = open_page(f"{site}/compare", expected=("Failed to load", "503"))
    busy = {"error": {"code": "busy", "message": "Too many at once.", "field": None}}
    page.route("**/api/map?*", lambda route: answer(route, busy, 503))
    page.goto(f"{site}/map")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "Too many at once." in alert.inner_text()
    page.unroute("**/api/map?*")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".legend")


# ---------------------------------------------------------------------- pointing and choosing


def test_pointing_at_a_document_tells_what_it_is(fixed_map):
    page = fixed_map()
    tip = page.locator(".map-tip")
    page.mouse.move(*place(page, 0.5, 0.5))
    tip.wait_for()
    assert "Middle <b>of</b> all" in tip.inner_text()
    page.mouse.move(*place(page, 0, 1))
    page.get_by_text("Top left", exact=True).wait_for()
    assert "top" in tip.inner_text()
    page.mouse.move(*place(page, 0.25, 0.5))
    tip.wait_for(state="hidden")


def test_a_click_chooses_and_a_link_keeps_it(fixed_map):
    page = fixed_map(expected=("Failed to load",))  # no such document lies in the index
    page.mouse.click(*place(page, 1, 1))
    page.get_by_role("heading", name="1 chosen").wait_for()
    assert asked(page)["id"] == ["high right"]
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 0, 0))
    page.keyboard.up("Shift")
    page.get_by_role("heading", name="2 chosen").wait_for()
    assert page.get_by_role("link", name="Compare the two").get_attribute("href") == (
        "/compare?a_id=high+right&b_id=low+left"
    )
    page.reload()
    page.get_by_role("heading", name="2 chosen").wait_for()
    page.get_by_role("link", name="Top right").click()
    page.wait_for_url("**/document?id=high+right")


def test_a_box_chooses_what_is_inside(fixed_map):
    page = fixed_map()
    page.keyboard.down("Shift")
    page.mouse.move(*place(page, 0.4, 0.6))
    page.mouse.down()
    page.mouse.move(*place(page, 1.02, -0.02), steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_role("heading", name="2 chosen").wait_for()
    assert asked(page)["id"] == ["low right", "middle"]
    page.mouse.click(*place(page, 0.25, 0.5))  # where nothing is
    page.get_by_role("heading", name="2 chosen").wait_for(state="detached")


def test_a_large_choice_is_in_the_address(fixed_map):
    side = 8
    many = {
        **FIXED,
        "ids": [f"document {n}" for n in range(side * side)],
        "titles": [f"Title {n}" for n in range(side * side)],
        "x": [n % side / (side - 1) for n in range(side * side)],
        "y": [n // side / (side - 1) for n in range(side * side)],
        "label": [0] * (side * side),
        "labels": ["bottom"],
        "cluster": [0] * (side * side),
        "total": side * side,
    }
    page = fixed_map(answers=(many, CLUSTERS))
    page.keyboard.down("Shift")
    page.mouse.move(*place(page, -0.02, 1.02))
    page.mouse.down()
    page.mouse.move(*place(page, 1.02, 0.4), steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_role("heading", name="40 chosen").wait_for()
    titles = page.locator(".map-documents").inner_text()
    assert "id" not in asked(page)
    page.reload()
    page.get_by_role("heading", name="40 chosen").wait_for()
    assert page.locator(".map-documents").inner_text() == titles
    address = page.url
    shown(page, "bottom").click()
    eventually(page, lambda: "show" in asked(page))
    page.get_by_role("heading", name="40 chosen").wait_for()
    page.goto(address.replace("chosen=fixed", "chosen=former"))
    page.get_by_text("an earlier state of this collection").wait_for()


def test_groups_have_colours_and_the_legend_shows_one_alone(fixed_map):
    page = fixed_map()
    bottom, top = place(page, 0, 0), place(page, 0, 1)
    has_colour(page, bottom, "#0072b2")
    has_colour(page, top, "#d55e00")
    shown(page, "top").click()
    page.wait_for_url("**show=top*")
    has_colour(page, top, "#d55e00")
    has_colour(page, bottom, "#e6e6ec")
    assert shown(page, "top").get_attribute("aria-pressed") == "true"
    page.mouse.move(*top)
    page.locator(".map-tip").wait_for()
    page.mouse.move(*bottom)  # what is left out cannot be pointed at
    page.locator(".map-tip").wait_for(state="hidden")
    page.go_back()
    page.locator('.legend-entry[aria-pressed="true"]').wait_for(state="detached")
    has_colour(page, bottom, "#0072b2")


def test_a_link_to_a_cluster_shows_it_alone_and_goes_there(fixed_map):
    page = fixed_map("?colour=cluster&show=1")
    assert shown(page, "eastern").get_attribute("aria-pressed") == "true"
    assert shown(page, "western").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Clear filter").click()
    page.locator('.legend-entry[aria-pressed="true"]').wait_for(state="detached")


def test_dark_has_colours_of_its_own(fixed_map):
    page = fixed_map(color_scheme="dark")
    has_colour(page, place(page, 0, 0), "#4aa3df")
    assert sum(colour_at(page, *place(page, 0.25, 0.5))) < 150


# ---------------------------------------------------------------------- moving


def test_wheel_drag_and_buttons_move_the_map_and_the_address(fixed_map):
    page = fixed_map()
    page.mouse.move(*place(page, 0.5, 0.5))
    page.mouse.wheel(0, -300)
    eventually(page, lambda: "at" in asked(page))
    x, y, zoom = map(float, asked(page)["at"][0].split(","))
    assert zoom == pytest.approx(math.exp(300 * 0.0022), rel=0.01)
    assert (x, y) == pytest.approx((0.5, 0.5), abs=0.01)  # what is below the pointer stays
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
    assert asked(page)["at"][0].split(",")[:2] == before  # from where one had been
    page.get_by_role("button", name="Reset").click()
    eventually(page, lambda: "at" not in asked(page))


def test_two_fingers_zoom(fixed_map):
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


def test_everything_works_by_keys(fixed_map):
    page = fixed_map()
    told = page.locator("#announcer")
    page.locator(".map-marks").focus()
    page.keyboard.press("ArrowRight")  # begins in the middle
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


def test_a_phone_needs_no_sideways_scrolling(open_page, site):
    page = open_page(f"{site}/map", viewport={"width": 360, "height": 740}, has_touch=True)
    page.wait_for_selector(".legend")
    assert wide(page) <= 0
    box = page.locator(".map-stage").bounding_box()
    assert box["width"] > 300
    assert box["height"] < 500  # there is room beside it to scroll the page by


def test_twenty_thousand_points_can_be_pointed_at(fixed_map):
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
    assert page.locator(".legend-entry").count() == 12  # and the rest when asked for
    page.get_by_role("button", name="All 30 groups").click()
    assert page.locator(".legend-entry").count() == 30
    top = max(y for _, y in places)
    right = max(x for x, _ in places)
    at = 70 * side + 71
    page.mouse.move(*place(page, places[at][0] / right, places[at][1] / top))
    page.get_by_text(f"Document {at}", exact=True).wait_for()
    assert page.locator(".map-panel *").count() < 400  # points are no elements
