"""Page in a browser: searches, rankings, pages, and links."""

import re

from web.browser import until
from web.page_searching import asked, ids, search

pytest_plugins = ["web.page_fixtures"]


def test_search_shows_hits_with_matches(site, open_page):
    page = open_page(site)
    search(page, "rocket launch")
    assert page.url.endswith("/?q=rocket+launch")
    assert ids(page)[0] == "space/6"
    first = page.locator(".hit").first
    assert {mark.lower() for mark in first.locator("mark").all_text_contents()} == {
        "rocket",
        "launch",
    }
    assert re.fullmatch(r"Score\s*\d+\.\d+", first.locator(".hit-score").inner_text())
    assert "rocket launch" in page.title()
    until(page, "document.getElementById('announcer').textContent.includes('space/6')")


def test_start_page_lists_the_collection(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".listed-one")
    assert page.inner_text("#collection") == "Small things · 28 documents"
    assert page.locator(".listed-one").count() == 20
    page.click("text=Next")
    page.wait_for_selector("text=Page 2 of 2")
    assert page.locator(".listed-one").count() == 8
    page.click(".listed-one a >> nth=0")
    page.wait_for_selector(".document")


def test_links_and_back_button_restore_states(site, open_page):
    page = open_page(f"{site}/?q=match&ranking=wmd")
    page.wait_for_selector(".hit")
    assert page.input_value(".search-box") == "match"
    assert page.input_value("select[name=ranking]") == "wmd"
    nearest = ids(page)
    search(page, "bread")
    until(page, "document.querySelector('.hit').dataset.id === 'kitchen/2'")
    page.go_back()
    until(page, "document.querySelector('.search-box').value === 'match'")
    until(page, f"document.querySelector('.hit').dataset.id === {nearest[0]!r}")
    assert ids(page) == nearest
    page.reload()
    page.wait_for_selector(".hit")
    assert ids(page) == nearest


def test_back_restores_the_scroll_position(site, open_page):
    page = open_page(f"{site}/?q=the", viewport={"width": 900, "height": 400})
    page.wait_for_selector(".hit")
    last = page.locator(".hit-title a").last
    last.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 100
    last.click()
    page.wait_for_selector(".document")
    assert page.evaluate("scrollY") == 0
    page.go_back()
    page.wait_for_selector(".hit")
    until(page, f"Math.abs(scrollY - {place}) < 3")


def test_ranking_can_be_chosen(site, open_page):
    page = open_page(f"{site}/?q=rocket")
    page.focus("select[name=ranking]")
    about = page.inner_text("#ranking-about")
    page.select_option("select[name=ranking]", "wmd")
    page.wait_for_selector("text=distance (lower is better)")
    assert asked(page)["ranking"] == "wmd"
    assert page.inner_text("#ranking-about") != about
    scores = [float(text.split()[-1]) for text in page.locator(".hit-score").all_inner_texts()]
    assert scores == sorted(scores)
    # The focus stays, so that arrow keys try one ranking after the other.
    assert page.evaluate("document.activeElement.name") == "ranking"


def test_pages(site, open_page):
    page = open_page(f"{site}/?q=the&ranking=bm25")
    page.wait_for_selector(".hit")
    first = ids(page)
    page.click("text=Next")
    page.wait_for_selector("text=Page 2")
    page.wait_for_selector("text=Results 11")
    assert not set(first) & set(ids(page))
    assert page.inner_text(".hit-rank >> nth=0") == "11"
    page.click("text=Previous")
    page.wait_for_selector("text=Results 1–10")
    assert ids(page) == first


def test_operators_are_shown_and_can_be_switched_off(site, open_page):
    page = open_page(site)
    search(page, '"of the rocket" -satellite')
    page.wait_for_selector(".conditions")
    assert page.locator(".conditions q").all_text_contents() == ["of the rocket", "satellite"]
    assert "without" in page.inner_text(".conditions")
    page.click("button:text('Search without operators')")
    page.wait_for_selector(".conditions", state="detached")
    page.wait_for_selector(".hit")
    assert asked(page)["syntax"] == "plain"
    search(page, '"rocket the of"')
    page.wait_for_selector("text=Nothing found")
    assert "syntax" not in asked(page)
    page.click("button:text('Search without operators')")
    page.wait_for_selector(".hit")
