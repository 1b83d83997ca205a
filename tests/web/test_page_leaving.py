"""Page in a browser: leaving an unsaved form, unknown URLs, and the API reference."""

import pytest

from web.browser import until, wide
from web.page_waiting import eventually
from web.page_writing import give_token

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

NAVIGATION = "nav.views"


def stay(page):
    """Choose to stay, and wait until the dialog has returned the focus, which typing requires."""
    page.get_by_role("dialog").get_by_role("button", name="Stay").click()
    page.wait_for_selector("dialog", state="detached")


@pytest.fixture
def editing(open_page, writable):
    """Open a document by navigation, change its text, and return the page."""
    page = open_page(f"{writable.address}/compare")
    page.click(f"{NAVIGATION} >> text=Search")
    page.click("text=Show all")
    page.click(".listed-one a >> nth=0")
    page.click("text=Edit")
    page.fill("textarea[name=text]", "half a sentence about")
    return page


# ---------------------------------------------------------------------- unsaved changes


def test_link_requires_confirmation(editing):
    page = editing
    at = page.url
    page.click(f"{NAVIGATION} >> text=Compare")
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.wait_for()
    assert "not saved" in dialog.inner_text()
    assert page.evaluate("document.activeElement.textContent") == "Stay"
    page.keyboard.press("Enter")
    dialog.wait_for(state="detached")
    assert page.url == at
    assert page.input_value("textarea[name=text]") == "half a sentence about"
    page.click(f"{NAVIGATION} >> text=Compare")
    dialog.get_by_role("button", name="Leave").click()
    page.wait_for_selector(".compare-sides")
    page.click(f"{NAVIGATION} >> text=Search")  # no unsaved changes remain
    page.wait_for_selector(".start")


def test_back_and_forward_require_confirmation_and_keep_the_history(editing):
    page = editing
    at = page.url
    page.evaluate("history.back()")
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.wait_for()
    assert page.url == at
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert page.input_value("textarea[name=text]") == "half a sentence about"
    page.evaluate("history.go(-3)")
    dialog.get_by_role("button", name="Leave").click()
    page.wait_for_selector(".compare-sides")
    page.evaluate("history.go(3)")
    page.wait_for_selector(".document")
    assert page.url == at


def test_back_during_confirmation_asks_again(editing):
    page = editing
    at = page.url
    page.click(f"{NAVIGATION} >> text=Compare")
    page.get_by_role("dialog").wait_for()
    page.evaluate("window.first = document.querySelector('dialog'); history.back()")
    until(page, "!window.first.isConnected && document.querySelectorAll('dialog').length === 1")
    assert page.url == at
    stay(page)
    assert page.input_value("textarea[name=text]") == "half a sentence about"


def test_closing_the_tab_asks_only_with_changes(editing):
    page = editing
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    eventually(page, lambda: asked == ["beforeunload"])
    page.click("text=Cancel")  # asks as well: the button next to Save
    page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    page.wait_for_selector(".document")
    page.click("text=Edit")
    page.wait_for_selector("textarea[name=text]")
    page.reload()
    page.wait_for_selector(".document")
    assert asked == ["beforeunload"]


def test_saved_changes_require_no_confirmation(editing):
    page = editing
    page.click("text=Save")
    give_token(page)
    page.wait_for_selector(".document-text:has-text('half a sentence about')")
    page.click(f"{NAVIGATION} >> text=Compare")
    page.wait_for_selector(".compare-sides")


def test_unadded_texts_require_confirmation(open_page, writable):
    page = open_page(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "a text to add")
    page.click(f"{NAVIGATION} >> text=Compare")
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    assert "not been added yet" in dialog.inner_text()
    stay(page)
    page.fill("textarea[name=paste]", "")
    page.set_input_files(
        "#add-files", {"name": "one.txt", "mimeType": "text/plain", "buffer": b"a file"}
    )
    page.wait_for_selector("text=1 document to add")
    page.click(f"{NAVIGATION} >> text=Compare")
    stay(page)
    page.click("button:text-is('Clear')")
    page.click(f"{NAVIGATION} >> text=Compare")
    page.wait_for_selector(".compare-sides")


def test_running_upload_requires_confirmation(open_page, writable):
    page = open_page(f"{writable.address}/add")
    held = []
    page.route("**/api/documents", lambda route: held.append(route))
    page.fill("textarea[name=paste]", "a text on its way")
    page.click("text=Preview")
    page.click("text=Add 1 document")
    give_token(page)
    eventually(page, lambda: len(held) == 1)
    page.click(f"{NAVIGATION} >> text=Compare")
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    assert "are being added" in dialog.inner_text()
    stay(page)
    held[0].continue_()
    page.wait_for_selector("text=1 document added.")
    page.click(f"{NAVIGATION} >> text=Compare")
    page.wait_for_selector(".compare-sides")


def test_typed_fragment_is_a_history_entry(editing):
    page = editing
    at = page.url
    page.evaluate("location.hash = 'somewhere'")
    stay(page)
    assert page.url == at
    page.evaluate("history.back()")
    page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    page.wait_for_selector(".listed-one")


def test_text_next_to_files_stays_after_adding_the_files(open_page, writable):
    page = open_page(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "a text for later")
    page.set_input_files(
        "#add-files", {"name": "one.txt", "mimeType": "text/plain", "buffer": b"a file"}
    )
    page.click("text=Add 1 document")
    give_token(page)
    page.wait_for_selector("text=1 document added.")
    assert page.input_value("textarea[name=paste]") == "a text for later"


# ---------------------------------------------------------------------- unknown URLs


@pytest.mark.parametrize("width", [360, 1100])
def test_unknown_url_offers_links(open_page, site, width):
    page = open_page(
        f"{site}/Maps/rocket%20launch<b>",
        expected=("404",),
        viewport={"width": width, "height": 740},
    )
    page.get_by_role("heading", name="Page not found").wait_for()
    assert page.title() == "Not found · textkin"
    assert "/Maps/rocket launch<b>" in page.inner_text(".missing")
    assert page.get_by_role("link", name="The map", exact=True).get_attribute("href") == "/map"
    assert wide(page) == 0
    box = page.get_by_label("Search the collection")
    assert box.input_value() == "Maps rocket launch b"
    box.fill("rocket launch")
    box.press("Enter")
    page.wait_for_selector(".hit")
    page.go_back()
    page.get_by_role("heading", name="Page not found").wait_for()


@pytest.mark.parametrize("path", ["/%", "/%ff%fe", "/" + "x" * 500, "/a/b/c"])
def test_any_url_can_be_displayed(open_page, site, path):
    page = open_page(f"{site}/compare", expected=("404", "400"))
    page.evaluate("path => history.pushState({}, '', path)", path)
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    page.get_by_role("heading", name="Page not found").wait_for()
    assert page.get_by_text("Did you mean").count() == 0


# ---------------------------------------------------------------------- API reference


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_api_reference_is_linked_and_interactive(open_page, site, scheme):
    """As on all pages: no error, no policy violation, and no request to another host."""
    page = open_page(site, color_scheme=scheme, viewport={"width": 360, "height": 740})
    page.get_by_role("link", name="HTTP API").click()
    page.wait_for_url("**/docs")
    route = page.locator("details", has=page.get_by_text("/api/search", exact=True))
    route.locator("summary").click()
    assert wide(page) == 0
    route.get_by_role("button", name="Send").click()
    page.wait_for_selector("pre:has-text('POST /api/search: 200')")
    assert '"hits"' in route.locator("pre").inner_text()
    page.get_by_role("link", name="the page").click()
    page.wait_for_selector(".start")


def test_api_reference_reports_a_stopped_server(open_page, site):
    page = open_page(f"{site}/compare", expected=("Failed to load", "ERR_"))
    page.route("**/openapi.json", lambda route: route.abort())
    page.goto(f"{site}/docs")
    page.get_by_text("The API description could not be loaded").wait_for()
