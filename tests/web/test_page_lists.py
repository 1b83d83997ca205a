"""Page in a browser: neighbors by two measures, clusters, and topics."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from web.browser import serving, small_index, wide
from web.page_waiting import answer, asked, eventually
from web.small_collection import DOCUMENTS, HOSTILE

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def neighbors(open_page, site, identifier, **params):
    options = params.pop("options", {})
    page = open_page(f"{site}/neighbors?{urlencode({'id': identifier, **params})}", **options)
    page.locator(".neighbor-same").get_by_text("in both lists").wait_for()
    return page


def ids(page, side):
    rows = page.locator(f'[data-side="{side}"] .neighbor')
    return rows.evaluate_all("(all) => all.map((one) => one.dataset.key)")


# ---------------------------------------------------------------------- neighbors


def test_lines_connect_the_same_documents_of_both_lists(open_page, site):
    page = neighbors(open_page, site, "space/4")
    left, right = ids(page, "left"), ids(page, "right")
    assert 0 < len(left) <= 10
    assert len(right) == 10
    assert "space/4" not in left + right
    lines = page.locator(".neighbor-line")
    both = set(left) & set(right)
    assert set(lines.evaluate_all("(all) => all.map((one) => one.dataset.key)")) == both
    assert page.locator('[data-side="right"] .alone').count() == len(set(right) - both)
    assert page.locator('[data-side="right"]').get_by_text("only here").count() == (
        len(set(right) - both)
    )
    shared = next(one for one in right if one in both)
    row = page.locator(f'[data-side="right"] [data-key="{shared}"]')
    assert "also" in row.inner_text()
    row.hover()
    assert page.locator(f'[data-side="left"] [data-key="{shared}"].lit').count() == 1
    assert page.locator(".neighbor-line.lit").count() == 1


def test_measures_are_in_the_url_and_back_undoes_them(open_page, site):
    page = neighbors(open_page, site, "sport/1")
    before = ids(page, "left")
    page.get_by_label("Left measure").select_option("wcd")
    page.wait_for_url("**left=wcd*")
    eventually(page, lambda: ids(page, "left") != before)
    page.go_back()
    eventually(page, lambda: ids(page, "left") == before)
    assert page.get_by_label("Left measure").input_value() == "bm25"


def test_same_measure_twice_gives_the_same_list(open_page, site):
    page = neighbors(open_page, site, "sport/1", left="wmd", right="wmd")
    assert ids(page, "left") == ids(page, "right")
    assert page.locator(".alone").count() == 0


def test_explanation_is_below_and_in_the_url(open_page, site):
    page = neighbors(open_page, site, "space/4")
    row = page.locator('[data-side="right"] .neighbor').first
    near = row.get_attribute("data-key")
    ask = row.get_by_role("button", name="Why")
    ask.click()
    page.locator(".neighbor-reason .explanation").wait_for()
    assert ask.get_attribute("aria-expanded") == "true"
    assert asked(page)["why"] == [near]
    assert asked(page)["side"] == ["right"]
    page.reload()
    page.locator(".neighbor-reason .explanation").wait_for()
    eventually(page, lambda: ask.get_attribute("aria-expanded") == "true")
    ask.press("Enter")
    page.locator(".neighbor-reason").wait_for(state="detached")
    assert "why" not in asked(page)


def test_document_can_be_chosen(open_page, site):
    page = open_page(f"{site}/neighbors")
    page.get_by_label("Find a document").fill("goalkeeper")
    entry = page.locator(".picker-entry").first
    eventually(page, lambda: "sport/5" in entry.inner_text())
    entry.press("Enter")
    page.wait_for_url("**id=sport%2F5")
    page.get_by_role("link", name="sport/5").first.wait_for()


def test_missing_document_is_reported(open_page, site):
    page = open_page(f"{site}/neighbors?id=nowhere", expected=("Failed to load",))
    page.get_by_role("heading", name="Not found").wait_for()


def test_one_measure_may_fail(open_page, site):
    page = open_page(f"{site}/compare", expected=("Failed to load", "503"))
    slow = {"error": {"code": "too_slow", "message": "Longer than 30 s.", "field": None}}

    def fail_one(route):
        if route.request.post_data_json["ranking"] == "wmd":
            answer(route, slow, 503)
        else:
            route.continue_()

    page.route("**/api/similar", fail_one)
    page.goto(f"{site}/neighbors?id=space%2F4")
    page.get_by_text("Longer than 30 s.").wait_for()
    eventually(page, lambda: len(ids(page, "left")) > 0)
    page.unroute("**/api/similar")
    page.get_by_role("button", name="Try again").click()
    eventually(page, lambda: len(ids(page, "right")) == 10)
    eventually(page, lambda: page.locator(".neighbor-line").count() > 0)


@pytest.mark.parametrize("document", HOSTILE[:3], ids=["markup", "rtl", "emoji"])
def test_hostile_documents_have_neighbors(open_page, site, document):
    page = neighbors(
        open_page, site, document["id"], options={"viewport": {"width": 360, "height": 740}}
    )
    assert page.locator("h1").inner_text() == document.get("title", document["id"])
    assert page.evaluate("window.broken") is None
    assert not page.locator(".neighbor-room").is_visible()  # the lists are one below the other
    assert wide(page) <= 0


# ---------------------------------------------------------------------- clusters


def test_clusters_have_words_and_map_links(open_page, site):
    page = open_page(f"{site}/clusters?n=4")
    cards = page.locator(".card")
    cards.first.wait_for()
    assert 1 < cards.count() <= 4
    first = cards.first
    name = first.locator("h2").inner_text()
    words = first.locator(".word-name").all_inner_texts()
    assert name.split() == words[:3]
    widths = first.locator(".word-bar").evaluate_all("(all) => all.map((bar) => bar.offsetWidth)")
    assert widths == sorted(widths, reverse=True)
    size = first.locator(".hint").first.inner_text().split()[0]
    first.get_by_role("link", name="Show on the map").click()
    page.wait_for_selector(".legend")
    pressed = page.locator('.legend-entry[aria-pressed="true"]')
    assert pressed.count() == 1
    assert pressed.locator(".legend-name").inner_text() == name
    assert pressed.locator(".legend-count").inner_text() == size
    page.go_back()
    cards.first.wait_for()
    first.locator(".card-document a").click()
    page.wait_for_url("**/document?id=*")


def test_number_of_clusters_is_in_the_url(open_page, site):
    page = open_page(f"{site}/clusters")
    page.locator(".card").first.wait_for()
    page.get_by_label("Clusters").select_option("4")
    page.wait_for_url("**/clusters?n=4")
    eventually(page, lambda: 0 < page.locator(".card").count() <= 4)
    page.get_by_label("Compare by").select_option("vectors")
    page.wait_for_url("**/clusters?representation=vectors&n=4")
    eventually(page, lambda: 0 < page.locator(".card").count() <= 4)


# ---------------------------------------------------------------------- topics


def test_topics_have_words_documents_and_map_links(open_page, site):
    page = open_page(f"{site}/topics?n=4")
    cards = page.locator(".card")
    cards.first.wait_for()
    assert cards.count() == 4
    shares = [float(text.split()[0]) for text in cards.locator("> .hint").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=2)
    href = cards.first.get_by_role("link", name="on the map").get_attribute("href")
    wanted = parse_qs(urlsplit(href).query)["id"]
    cards.first.get_by_role("link", name="on the map").click()
    page.get_by_role("heading", name=f"{len(wanted)} chosen").wait_for()
    assert asked(page)["id"] == wanted


# ---------------------------------------------------------------------- states


@pytest.mark.parametrize("name", ["clusters", "topics"])
def test_progress_is_shown_during_computation(open_page, site, name):
    page = open_page(f"{site}/compare")
    computing = {"status": "computing", "done": 1, "total": 4, "state": "1"}
    requests = []

    def slowly(route):
        requests.append(route)
        if len(requests) == 1:
            answer(route, computing, 202)
        elif len(requests) > 2:
            route.continue_()

    page.route(f"**/api/{name}?*", slowly)
    page.goto(f"{site}/{name}")
    page.get_by_text("25 %").wait_for()
    eventually(page, lambda: len(requests) == 2)
    assert page.get_by_role("progressbar").count() == 1
    requests[1].continue_()
    page.locator(".card").first.wait_for()
    assert page.get_by_role("progressbar").count() == 0


@pytest.mark.parametrize("name", ["clusters", "topics"])
@pytest.mark.parametrize(
    ("documents", "headline"), [([], "No documents yet"), (DOCUMENTS[:1], "One document only")]
)
def test_too_few_documents_show_a_note(open_page, tmp_path, name, documents, headline):
    with small_index(tmp_path, documents) as index, serving(index) as address:
        page = open_page(f"{address}/{name}")
        page.get_by_role("heading", name=headline).wait_for()
        assert page.locator(".card").count() == 0


@pytest.mark.parametrize("name", ["clusters", "topics"])
def test_failing_server_can_be_retried(open_page, site, name):
    page = open_page(f"{site}/compare", expected=("Failed to load",))
    page.route(f"**/api/{name}?*", lambda route: route.abort())
    page.goto(f"{site}/{name}")
    page.get_by_role("heading", name="The server does not respond").wait_for()
    page.unroute(f"**/api/{name}?*")
    page.get_by_role("button", name="Try again").click()
    page.locator(".card").first.wait_for()


@pytest.mark.parametrize("name", ["clusters", "topics"])
def test_phone_does_not_scroll_sideways(open_page, site, name):
    page = open_page(f"{site}/{name}", viewport={"width": 360, "height": 740})
    page.locator(".card").first.wait_for()
    assert wide(page) <= 0
