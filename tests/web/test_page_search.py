"""The page in a browser: searching, rankings, pages, links to a state."""

import re

from web.browser import until
from web.page_searching import asked, ids, search

pytest_plugins = ["web.page_fixtures"]


def test_a_search_finds_and_shows_where(site, open_page):
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


def test_the_collection_is_named_and_listed_before_anything_is_asked(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".listed-one")
    assert page.inner_text("#collection") == "Small things · 28 documents"
    assert page.locator(".listed-one").count() == 20
    page.click("text=Next")
    page.wait_for_selector("text=Page 2 of 2")
    assert page.locator(".listed-one").count() == 8
    page.click(".listed-one a >> nth=0")
    page.wait_for_selector(".document")


def test_links_lead_to_a_state_and_back_leads_back(site, open_page):
    page = open_page(f"{site}/?q=match&by=wmd")
    page.wait_for_selector(".hit")
    assert page.input_value(".search-box") == "match"
    assert page.input_value("select[name=by]") == "wmd"
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


def test_going_back_finds_the_place_where_one_was(site, open_page):
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


def test_the_ranking_can_be_chosen_and_is_described(site, open_page):
    page = open_page(f"{site}/?q=rocket")
    page.focus("select[name=by]")
    about = page.inner_text("#ranking-about")
    page.select_option("select[name=by]", "wmd")
    page.wait_for_selector("text=distance: small is near")
    assert asked(page)["by"] == "wmd"
    assert page.inner_text("#ranking-about") != about
    scores = [float(text.split()[-1]) for text in page.locator(".hit-score").all_inner_texts()]
    assert scores == sorted(scores)
    # The keyboard stays where it was, so that the arrow keys try one ranking after the other.
    assert page.evaluate("document.activeElement.name") == "by"


def test_pages(site, open_page):
    page = open_page(f"{site}/?q=the&by=bm25")
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
