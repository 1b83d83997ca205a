"""Page in a browser: showing, editing, and deleting documents."""

import pytest

from web.browser import until, wide
from web.page_writing import give_token, stored
from web.small_collection import HOSTILE

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def test_document_shows_its_metadata(site, open_page):
    page = open_page(f"{site}/document?id=space/6")
    page.wait_for_selector(".near-one")
    assert page.inner_text("h1") == "space/6"
    assert page.inner_text(".document-text").startswith("Engineers tested the engine")
    assert page.locator(".document-facts dd").all_inner_texts() == ["2016", "de"]
    assert "space/6" in page.title()
    assert page.locator(".near-one a").first.inner_text() != "space/6"
    assert page.locator("text=Edit").count() == 0  # the server is read-only
    page.click("text=Similar documents")
    page.wait_for_selector(".chip.like")
    page.go_back()
    page.wait_for_selector(".document")
    page.click(".document-head a.chip")
    page.wait_for_selector(".chip.on:has-text('space')")
    until(page, "document.querySelectorAll('.listed-one').length === 8")


def test_missing_document(site, open_page):
    page = open_page(f"{site}/document?id=nobody", expected=("404",))
    page.wait_for_selector(".state.wrong:has-text('nobody')")
    page = open_page(f"{site}/document")
    page.wait_for_selector("text=Document required")


def test_markup_is_shown_as_text(site, open_page):
    page = open_page(f"{site}/document?id=%3Cscript%3Ealert('id')%3C/script%3E")
    page.wait_for_selector(".document")
    assert page.inner_text("h1") == HOSTILE[0]["title"]
    assert page.inner_text(".document-text") == HOSTILE[0]["text"]
    assert page.evaluate("window.broken") is None
    assert page.locator("main script, main img, main i").count() == 0


def test_lines_have_their_own_direction(site, open_page):
    page = open_page(site)
    page.goto(f"{site}/document?id={HOSTILE[1]['id']}")
    text = page.locator(".document-text")
    text.wait_for()
    assert text.get_attribute("dir") == "auto"
    assert text.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
    assert text.evaluate("one => getComputedStyle(one).direction") == "rtl"


@pytest.mark.parametrize("number", [2, 3])
def test_long_words_and_texts_fit_a_phone(site, open_page, number):
    page = open_page(site, viewport={"width": 360, "height": 740})
    page.evaluate(
        "id => { location.href = '/document?id=' + encodeURIComponent(id); }", HOSTILE[number]["id"]
    )
    page.wait_for_selector(".document")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert (
        page.locator(".document-text").evaluate("one => one.textContent") == HOSTILE[number]["text"]
    )
    assert wide(page) == 0


# ------------------------------------------------------------------ editing and deleting


def test_document_is_edited(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/2")
    page.click("text=Edit")
    page.fill("textarea[name=text]", "Rolls, not bread")
    page.fill("input[name=label]", "bakery")
    page.fill("textarea[name=metadata]", "{year: 2020}")
    page.click("text=Save")
    page.wait_for_selector("text=Metadata must be a JSON object")
    page.fill("textarea[name=metadata]", '{"year": 2020}')
    page.click("text=Save")
    give_token(page)
    page.wait_for_selector(".document-text:has-text('Rolls, not bread')")
    found = stored(writable.index)["kitchen/2"]
    assert (found.text, found.label, found.metadata) == (
        "Rolls, not bread",
        "bakery",
        {"year": 2020},
    )
    page.click("text=Edit")
    page.click("text=Cancel")
    page.wait_for_selector(".document-text")


def test_input_stays_after_a_failed_save(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/2", expected=("ERR_", "Failed"))
    page.click("text=Edit")
    page.fill("textarea[name=text]", "kept words")
    page.route("**/api/document?*", lambda route: route.abort("connectionrefused"))
    page.click("text=Save")
    give_token(page)
    page.wait_for_selector(".state.wrong:has-text('does not respond')")
    assert page.input_value("textarea[name=text]") == "kept words"
    page.unroute("**/api/document?*")
    page.click("text=Save")
    page.wait_for_selector(".document-text:has-text('kept words')")


def test_long_text_is_reported_before_sending(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/2")
    page.click("text=Edit")
    page.evaluate("document.querySelector('textarea[name=text]').value = 'x'.repeat(200001)")
    page.click("text=Save")
    page.wait_for_selector("text=the server accepts at most 200,000 characters")


def test_document_is_deleted_after_confirmation(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/3")
    page.click("button:text-is('Delete')")
    page.wait_for_selector("dialog:has-text('Delete this document?')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert "kitchen/3" in stored(writable.index)
    page.click("button:text-is('Delete')")
    page.click("dialog >> button:text-is('Delete')")
    give_token(page)
    page.wait_for_selector(".start")
    assert "kitchen/3" not in stored(writable.index)
    until(page, "document.getElementById('collection').textContent.includes('5 documents')")


@pytest.mark.parametrize("path", ["/add", "/document?id=kitchen/2"])
def test_phone_width(writable, open_page, path):
    page = open_page(writable.address + path, viewport={"width": 360, "height": 740})
    page.wait_for_selector("h1")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert wide(page) == 0
