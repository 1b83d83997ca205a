"""Common behavior of all views: input is kept, and focus and scroll position are restored."""

from urllib.parse import urlencode

import pytest

from web.browser import TOKEN, until, wide
from web.page_waiting import asked, eventually

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

FOCUS = "document.activeElement"


def said(page):
    """Return the texts announced to screen readers from now on."""
    page.evaluate(
        """() => {
          window.said = [];
          const place = document.getElementById("announcer");
          const told = new MutationObserver(() => said.push(place.textContent));
          told.observe(place, { childList: true });
        }"""
    )
    return lambda: page.evaluate("said.filter(Boolean)")


# ---------------------------------------------------------------------- input is kept


def test_unsent_text_is_submitted_with_a_new_ranking(open_page, site):
    page = open_page(site)
    page.wait_for_selector("select[name=ranking]")
    page.fill(".search-box", "rocket")
    page.select_option("select[name=ranking]", "wmd")
    page.wait_for_selector(".hit")
    assert asked(page) == {"q": ["rocket"], "ranking": ["wmd"]}
    page.fill(".search-box", "bread")
    page.click("button:text-is('Filter')")
    page.click(".filters .chip:has-text('kitchen')")
    page.wait_for_selector(".hit[data-id='kitchen/2']")
    assert asked(page)["q"] == ["bread"]
    assert page.input_value(".search-box") == "bread"


def test_typing_adds_one_history_entry(open_page, site):
    page = open_page(f"{site}/compare")
    first = page.get_by_role("textbox", name="First text")
    first.wait_for()
    page.evaluate(
        """() => {
          window.noted = 0;
          const real = history.replaceState.bind(history);
          history.replaceState = (...all) => { noted += 1; real(...all); };
        }"""
    )
    page.evaluate(
        """() => {
          const area = document.querySelector(".compare-text");
          for (let n = 1; n <= 300; n++) {
            area.value = "rocket ".repeat(n).trim();
            area.dispatchEvent(new Event("input"));
          }
        }"""
    )
    eventually(page, lambda: "kept" in asked(page))
    assert page.evaluate("noted") < 20


def test_text_is_in_the_url_when_its_field_loses_focus(open_page, site):
    page = open_page(f"{site}/compare")
    page.get_by_role("textbox", name="First text").fill("rocket")
    page.get_by_role("link", name="Topics").click()
    page.wait_for_selector(".view-topics")
    page.go_back()
    page.wait_for_selector(".view-compare")
    assert page.get_by_role("textbox", name="First text").input_value() == "rocket"


# ---------------------------------------------------------------------- focus


def test_focus_returns_after_editing(open_page, writable):
    page = open_page(f"{writable.address}/document?{urlencode({'id': 'kitchen/1'})}")
    page.evaluate(f"sessionStorage.setItem('textkin-token', '{TOKEN}')")
    for how in ("Cancel", "Save"):
        page.click("button:text-is('Edit')")
        page.click(f"button:text-is('{how}')")
        until(page, f"{FOCUS}.textContent === 'Edit'")


def test_focus_moves_to_the_chosen_text(open_page, site):
    page = open_page(f"{site}/compare")
    page.locator("summary").first.click()
    page.locator(".picker-entry").nth(1).click()
    until(page, f"{FOCUS}.ariaLabel === 'First text'")


def test_back_announces_the_view(open_page, site):
    page = open_page(f"{site}/topics")
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("textbox", name="First text").focus()
    until(page, "document.getElementById('announcer').textContent.startsWith('Compare')")
    heard = said(page)
    page.go_back()
    page.wait_for_selector(".view-topics")
    until(page, f"{FOCUS}.id === 'main'")
    eventually(page, lambda: any("Topics" in text for text in heard()))


def test_comparison_is_announced(open_page, site):
    page = open_page(f"{site}/compare?a=bread")
    heard = said(page)
    page.get_by_role("textbox", name="Second text").fill("cake")
    eventually(page, lambda: any(text.startswith("distance: ") for text in heard()))


def test_dialog_closes_with_its_page(open_page, writable):
    page = open_page(f"{writable.address}/?all=1")
    page.locator(".listed-head a").first.click()
    page.click("button:text-is('Delete')")
    page.wait_for_selector("dialog[open]")
    page.go_back()
    page.wait_for_selector(".listed-one")
    assert page.locator("dialog").count() == 0


# ---------------------------------------------------------------------- scroll position


@pytest.mark.parametrize("again", ["reload", "forward"])
def test_scroll_position_is_restored(open_page, site, again):
    page = open_page(f"{site}/topics", viewport={"width": 700, "height": 500})
    page.get_by_role("link", name="Clusters").click()
    page.wait_for_selector(".view-clusters .card")
    page.evaluate("scrollTo(0, 250)")
    eventually(page, lambda: page.evaluate("history.state?.scroll") == 250)
    if again == "reload":
        page.reload()
    else:
        page.go_back()
        page.wait_for_selector(".view-topics .card")
        page.go_forward()
    page.wait_for_selector(".view-clusters .card")
    eventually(page, lambda: page.evaluate("scrollY") == 250)


# ---------------------------------------------------------------------- missing content


def test_failed_module_can_be_loaded_later(open_page, site):
    page = open_page(site, expected=("ERR_FAILED", "dynamically imported"))
    page.wait_for_selector(".start")
    page.route("**/static/views/topics.js", lambda route: route.abort())
    page.get_by_role("link", name="Topics").click()
    page.wait_for_selector("text=The server does not respond")
    page.unroute("**/static/views/topics.js")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".view-topics")


def test_deleted_document_links_to_the_search(open_page, site):
    page = open_page(f"{site}/document?id=nobody", expected=("404",))
    page.locator(".state.wrong").get_by_role("link", name="Search").click()
    page.wait_for_selector(".start")


def test_unknown_words_are_reported_without_programming_advice(open_page, site):
    page = open_page(f"{site}/compare?a=zzqq+xxyy&b=bread", expected=("422",))
    told = page.locator(".state.wrong")
    told.wait_for()
    assert "The first text has no known words" in told.inner_text()
    assert "zzqq" in told.inner_text()
    assert "WordVectors" not in told.inner_text()
    page = open_page(f"{site}/compare?a=bread&b=the+of", expected=("422",))
    told = page.locator(".state.wrong")
    told.wait_for()
    assert "The second text has only stop words" in told.inner_text()
    assert "stop_words" not in told.inner_text()


def test_neighbors_are_linked(open_page, site):
    page = open_page(site, viewport={"width": 360, "height": 700})
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Neighbors").click()
    page.locator(".picker-entry").first.click()
    page.wait_for_selector(".neighbor")
    assert page.title().startswith("Neighbors of ")


def test_file_dropped_outside_the_frame_is_accepted(open_page, writable):
    page = open_page(f"{writable.address}/add")
    page.wait_for_selector(".drop")
    taken = page.evaluate(
        """() => {
          const carried = new DataTransfer();
          carried.items.add(new File(["some text"], "note.txt"));
          const how = { dataTransfer: carried, bubbles: true, cancelable: true };
          const drop = new DragEvent("drop", how);
          document.body.dispatchEvent(drop);
          return drop.defaultPrevented;
        }"""
    )
    assert taken
    page.wait_for_selector("text=1 document to add")


# ---------------------------------------------------------------------- concurrent changes


def test_counts_follow_documents_added_by_others(open_page, writable):
    page = open_page(writable.address)
    page.wait_for_selector("#collection:has-text('6 documents')")
    writable.index.add([{"id": "new", "text": "rocket", "label": "fresh"}])
    page.fill(".search-box", "rocket")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit[data-id=new]")
    page.wait_for_selector("#collection:has-text('7 documents')")
    page.click("button:text-is('Filter')")
    page.wait_for_selector(".filters .chip:has-text('fresh')")


def test_page_after_the_last_links_to_the_first(open_page, site):
    page = open_page(f"{site}/?page=99")
    page.wait_for_selector("text=No more documents")
    page.get_by_role("link", name="First page").click()
    page.wait_for_selector(".listed-one")


@pytest.mark.parametrize("path", ["/", "/?q=fish&ranking=wmd", "/compare", "/map", "/neighbors"])
def test_narrow_window_does_not_scroll_sideways(open_page, site, path):
    page = open_page(f"{site}{path}", viewport={"width": 320, "height": 600})
    page.wait_for_selector("select, .picker-entry")
    assert wide(page) <= 0


def test_focused_element_is_not_covered_by_the_feedback_bar(open_page, site):
    page = open_page(f"{site}/?q=the+rocket", viewport={"width": 1100, "height": 500})
    page.locator(".mark.fits").first.click()
    last = page.locator(".hit .mark.fits-not").last
    page.keyboard.press("Tab")
    for _ in range(80):
        inside = page.evaluate(
            """() => {
              const bar = document.querySelector(".refine").getBoundingClientRect();
              const { top, bottom, height } = document.activeElement.getBoundingClientRect();
              const within = document.activeElement.closest(".hits");
              return !within || height === 0 || bottom <= bar.top || top >= bar.bottom;
            }"""
        )
        assert inside
        if last.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail("the last mark was never reached")


def test_forced_colors_show_current_and_pressed_elements(open_page, site):
    page = open_page(f"{site}/?q=rocket", forced_colors="active")
    page.locator(".mark.fits").first.click()
    look = """selector => {
      const style = getComputedStyle(document.querySelector(selector));
      return style.backgroundColor + style.borderBlockEndColor;
    }"""
    for on, off in (
        (".views a[aria-current]", ".views a:not([aria-current])"),
        (".mark.fits[aria-pressed=true]", ".mark.fits[aria-pressed=false]"),
    ):
        assert page.evaluate(look, on) != page.evaluate(look, off)


def test_input_boxes_have_visible_borders(open_page, site):
    for scheme in ("light", "dark"):
        page = open_page(f"{site}/add?", color_scheme=scheme)
        ratio = page.evaluate(
            """() => {
              const light = (name) => {
                const style = getComputedStyle(document.documentElement);
                const hex = style.getPropertyValue(name).trim();
                const part = (at) => {
                  const value = parseInt(hex.slice(at, at + 2), 16) / 255;
                  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
                };
                return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) + 0.05;
              };
              const edge = light("--edge");
              return ["--ground", "--surface"].map((name) =>
                Math.max(edge, light(name)) / Math.min(edge, light(name)));
            }"""
        )
        assert min(ratio) >= 3
