"""Page in a browser: two texts compared while typing, by any measure."""

import re
from urllib.parse import urlencode

import pytest

from web.browser import wide
from web.page_waiting import answer, asked, eventually
from web.small_collection import DOCUMENTS, HOSTILE

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

A = "Obama speaks to the media in Illinois"
B = "The President greets the press in Chicago"


def texts(page):
    return [page.get_by_role("textbox", name=f"{which} text") for which in ("First", "Second")]


def score(page):
    """Return the score in the result, once it belongs to the present texts."""
    line = page.locator(".compare-result .explanation-line")
    eventually(page, lambda: line.count() == 1 and page.locator("[aria-busy]").count() == 0)
    return float(re.search(r"is (\S+),", line.inner_text())[1])


def compared(open_page, site, **params):
    options = params.pop("options", {})
    return open_page(f"{site}/compare?{urlencode(params)}", **options)


# ---------------------------------------------------------------------- start


def test_example_compares_and_back_returns(open_page, site):
    page = open_page(f"{site}/compare")
    page.get_by_role("link", name="No word in common").click()
    assert score(page) == pytest.approx(5.005, abs=0.002)
    assert asked(page) == {"a": [A], "b": [B]}
    assert [area.input_value() for area in texts(page)] == [A, B]
    page.go_back()
    page.get_by_role("heading", name="start with an example").wait_for()
    assert [area.input_value() for area in texts(page)] == ["", ""]


def test_single_text_requests_the_other(open_page, site):
    page = open_page(f"{site}/compare")
    texts(page)[0].fill("rocket")
    page.get_by_text("the second text too").wait_for()


# ---------------------------------------------------------------------- typing


def test_typing_compares_again_and_updates_the_url(open_page, site):
    page = compared(open_page, site, a=A, b=B)
    far = score(page)
    first, second = texts(page)
    second.fill(A)
    eventually(page, lambda: asked(page)["b"] == [A])
    eventually(page, lambda: score(page) == 0)
    assert far > 0
    history = page.evaluate("history.length")
    first.press_sequentially(" rocket", delay=5)
    eventually(page, lambda: score(page) > 0)
    assert page.evaluate("history.length") == history
    page.reload()
    assert first.input_value() == f"{A} rocket"
    page.get_by_role("button", name="Swap").click()
    eventually(page, lambda: second.input_value() == f"{A} rocket")
    assert asked(page)["b"] == [f"{A} rocket"]


def test_older_response_does_not_replace_newer_one(open_page, site):
    page = compared(open_page, site, a=A, b=B)
    was = score(page)
    held = []

    def hold_the_first(route):
        if not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/compare", hold_the_first)
    first, _ = texts(page)
    first.fill("The rocket carried a satellite")
    eventually(page, lambda: len(held) == 1)
    result = page.locator(".compare-result")
    eventually(page, lambda: result.get_attribute("data-busy") == "")
    assert f"is {was:.4g}," in page.locator(".explanation-line").inner_text()  # dimmed, but visible
    first.fill(B)
    eventually(page, lambda: score(page) == 0)
    answer(held[0], {"error": {"code": "invalid", "message": "too late", "field": None}}, 422)
    page.wait_for_timeout(200)
    assert score(page) == 0
    assert page.get_by_text("too late").count() == 0


def test_error_is_shown_above_the_last_result(open_page, site):
    page = compared(open_page, site, a=A, b=B, options={"expected": ("Failed to load",)})
    score(page)
    texts(page)[1].fill("qqzzxx")
    page.get_by_role("alert").wait_for()
    assert page.locator(".explanation[data-stale]").count() == 1
    texts(page)[1].fill("press")
    page.get_by_role("alert").wait_for(state="detached")
    assert page.locator(".explanation[data-stale]").count() == 0


def test_unreachable_server_can_be_retried(open_page, site):
    page = open_page(f"{site}/compare", expected=("Failed to load",))
    page.route("**/api/compare", lambda route: route.abort())
    for area, text in zip(texts(page), (A, B), strict=True):
        area.fill(text)
    page.get_by_role("heading", name="The server does not respond").wait_for()
    page.unroute("**/api/compare")
    page.get_by_role("button", name="Try again").click()
    assert score(page) > 0


# ---------------------------------------------------------------------- result


def test_bounds_coverage_and_certificate_are_shown(open_page, site):
    page = compared(open_page, site, a=A, b=f"{B} zzqqx")
    total = score(page)
    facts = page.locator(".facts").inner_text()
    assert "without a vector: zzqqx" in facts
    assert "all 4 words compared" in facts
    assert "4 of 5 words compared" in facts
    bounds = [float(text) for text in page.locator(".fact strong").all_inner_texts()]
    assert len(bounds) == 2
    assert all(0 < bound <= total for bound in bounds)
    assert page.get_by_text("proven optimal").is_visible()


def test_flow_is_drawn_and_partners_are_highlighted(open_page, site):
    page = compared(open_page, site, a=A, b=B)
    score(page)
    assert page.locator(".explanation-picture svg").count() == 1
    a, b = page.locator('[data-side="a"]'), page.locator('[data-side="b"]')
    assert a.locator(".aligned-text").inner_text() == A
    a.locator(".w", has_text="media").hover()
    assert b.locator(".lit").all_inner_texts() == ["press"]
    b.locator(".w", has_text="Chicago").hover()
    assert a.locator(".lit").all_inner_texts() == ["Illinois"]
    a.locator(".w").first.focus()  # with the keyboard as well
    page.keyboard.press("ArrowRight")
    assert a.locator(".lit").all_inner_texts() == ["speaks"]
    assert b.locator(".lit").all_inner_texts() == ["greets"]


def test_chosen_measure_is_kept(open_page, site):
    page = compared(open_page, site, a="bake bread in the oven", b="bake a cake in the oven")
    far = score(page)
    measure = page.get_by_label("Measure")
    options = measure.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    assert {"wmd", "rwmd", "wcd", "bm25"} <= set(options)
    for ranking in options:
        measure.select_option(ranking)
        eventually(page, lambda ranking=ranking: asked(page).get("ranking", ["wmd"]) == [ranking])
        score(page)
    measure.select_option("rwmd")
    eventually(page, lambda: 0 < score(page) <= far)
    page.reload()
    score(page)
    assert measure.input_value() == "rwmd"


# ---------------------------------------------------------------------- sources of texts


def test_documents_can_be_compared_and_edited(open_page, site):
    page = compared(open_page, site, a_id="space/1", b_id="space/6")
    first, second = texts(page)
    eventually(page, lambda: "Engineers" in second.input_value())
    whole = score(page)
    assert page.get_by_role("link", name="space/1").get_attribute("href") == (
        "/document?id=space%2F1"
    )
    first.press("Control+End")
    first.press_sequentially(" rocket")
    eventually(page, lambda: asked(page).get("a", [""])[0].endswith(" rocket"))
    assert "a_id" not in asked(page)
    eventually(page, lambda: score(page) != whole)


def test_document_picker_finds_a_document(open_page, site):
    page = compared(open_page, site, a="a telescope in space", b="")
    page.get_by_text("From the collection").nth(1).click()
    page.get_by_label("Find a document").fill("astronauts repaired")
    entry = page.locator(".picker-entry").first
    eventually(page, lambda: "space/2" in entry.inner_text())
    entry.click()
    page.wait_for_url("**b_id=space*")
    assert score(page) > 0


def test_deleted_document_is_reported(open_page, site):
    page = compared(open_page, site, a_id="nowhere", b=B, options={"expected": ("Failed to load",)})
    page.get_by_role("alert").wait_for()
    assert "nowhere" in page.get_by_role("alert").inner_text()


def test_long_texts_stay_in_the_tab(open_page, site):
    page = open_page(f"{site}/compare")
    long = " ".join(one["text"] for one in DOCUMENTS[:24])
    assert len(long) > 1500
    for area, text in zip(texts(page), (long, A), strict=True):
        area.fill(text)
    eventually(page, lambda: "kept" in asked(page))
    assert len(page.url) < 200
    here = score(page)
    page.reload()
    assert score(page) == here
    assert texts(page)[0].input_value() == long
    other = open_page(page.url)  # another tab does not have them
    other.get_by_role("heading", name="The texts are not available").wait_for()
    other.get_by_role("link", name="Start over").click()
    other.get_by_role("heading", name="start with an example").wait_for()


# ---------------------------------------------------------------------- hostile texts and phones


@pytest.mark.parametrize("document", HOSTILE[:3], ids=["markup", "rtl", "emoji"])
def test_hostile_texts_are_shown_as_text(open_page, site, document):
    page = compared(open_page, site, a=document["text"], b=f"plain {document['text']} rocket")
    assert score(page) >= 0
    assert texts(page)[0].input_value() == document["text"]
    assert page.evaluate("window.broken") is None
    assert page.locator("img").count() == 0
    assert wide(page) <= 0


def test_phone_shows_texts_one_above_the_other(open_page, site):
    phone = {"viewport": {"width": 360, "height": 740}}
    page = compared(open_page, site, a=A, b=B, options=phone)
    score(page)
    first, second = (area.bounding_box() for area in texts(page))
    assert second["y"] > first["y"] + first["height"]
    assert wide(page) <= 0
