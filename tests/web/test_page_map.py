"""Page in a browser: display, selection, filters, and search of the map."""

from urllib.parse import parse_qs, urlsplit

import pytest

from web.browser import serving, small_index
from web.fixed_map import CLUSTERS, FIXED, color_at, has_color, place, shown
from web.page_waiting import answer, asked, eventually
from web.small_collection import DOCUMENTS

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

N = len(DOCUMENTS)


# ---------------------------------------------------------------------- the real server


def test_collection_has_a_map_with_labels_and_clusters(open_page, site):
    page = open_page(f"{site}/map")
    page.wait_for_selector(".legend")
    names = page.locator(".legend-name").all_inner_texts()
    assert names[:3] == ["kitchen", "space", "sport"]
    assert "<b>bold</b>" in names
    page.get_by_role("button", name="Clusters").click()
    page.wait_for_url("**color=cluster")
    counts = [int(text) for text in page.locator(".legend-count").all_inner_texts()]
    assert 0 < sum(counts) <= N
    assert counts == sorted(counts, reverse=True)
    assert page.evaluate("window.broken") is None


def test_documents_are_listed_too(open_page, site):
    page = open_page(f"{site}/map")
    page.get_by_text("List of documents").click()
    rows = page.locator(".map-all tbody tr")
    rows.first.wait_for()
    assert rows.count() == N
    assert page.get_by_text(f"1 to {N} of {N}").is_visible()
    shown(page, "space").click()
    page.get_by_text("1 to 8 of 8").wait_for()
    assert {row.split("\t")[1] for row in rows.all_inner_texts()} == {"space"}
    rows.first.locator("a").click()
    page.wait_for_url("**/document?id=space%2F1")


def test_found_documents_are_highlighted_and_listed(open_page, site):
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
def test_too_few_documents_have_no_map(open_page, tmp_path, documents, headline):
    with small_index(tmp_path, documents) as index, serving(index) as address:
        page = open_page(f"{address}/map")
        page.get_by_role("heading", name=headline).wait_for()
        assert page.locator(".map-stage").count() == 0


# ---------------------------------------------------------------------- progress and errors


def test_progress_is_shown_while_the_map_is_computed(open_page, site):
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
    bar = page.get_by_role("progressbar", name="Computing the map")
    assert bar.evaluate("(bar) => bar.value / bar.max") == 0.25
    eventually(page, lambda: len(requests) == 2)
    answer(requests[1], FIXED)
    page.wait_for_selector(".legend")
    assert bar.count() == 0


def test_failing_server_can_be_retried(open_page, site):
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


# ---------------------------------------------------------------------- hover and selection


def test_hover_shows_the_document(fixed_map):
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


def test_click_selects_and_updates_the_url(fixed_map):
    page = fixed_map(expected=("Failed to load",))  # the index has no such document
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


def test_box_selects_its_documents(fixed_map):
    page = fixed_map()
    page.keyboard.down("Shift")
    page.mouse.move(*place(page, 0.4, 0.6))
    page.mouse.down()
    page.mouse.move(*place(page, 1.02, -0.02), steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_role("heading", name="2 chosen").wait_for()
    assert asked(page)["id"] == ["low right", "middle"]
    page.mouse.click(*place(page, 0.25, 0.5))  # an empty area
    page.get_by_role("heading", name="2 chosen").wait_for(state="detached")


def test_large_selection_is_in_the_url(fixed_map):
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
    page.get_by_text("an earlier version of the collection").wait_for()


def test_groups_have_colors_and_the_legend_filters(fixed_map):
    page = fixed_map()
    bottom, top = place(page, 0, 0), place(page, 0, 1)
    has_color(page, bottom, "#0072b2")
    has_color(page, top, "#d55e00")
    shown(page, "top").click()
    page.wait_for_url("**show=top*")
    has_color(page, top, "#d55e00")
    has_color(page, bottom, "#e6e6ec")
    assert shown(page, "top").get_attribute("aria-pressed") == "true"
    page.mouse.move(*top)
    page.locator(".map-tip").wait_for()
    page.mouse.move(*bottom)  # hidden points cannot be selected
    page.locator(".map-tip").wait_for(state="hidden")
    page.go_back()
    page.locator('.legend-entry[aria-pressed="true"]').wait_for(state="detached")
    has_color(page, bottom, "#0072b2")


def test_link_to_a_cluster_shows_only_this_cluster(fixed_map):
    page = fixed_map("?color=cluster&show=1")
    assert shown(page, "eastern").get_attribute("aria-pressed") == "true"
    assert shown(page, "western").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Clear filter").click()
    page.locator('.legend-entry[aria-pressed="true"]').wait_for(state="detached")


def test_dark_mode_has_separate_colors(fixed_map):
    page = fixed_map(color_scheme="dark")
    has_color(page, place(page, 0, 0), "#4aa3df")
    assert sum(color_at(page, *place(page, 0.25, 0.5))) < 150
