"""Page in a browser: searches, rankings, pages, and links."""

import re

import pytest

from textkin import Index
from web.browser import serving, until
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


def test_start_page_has_example_queries_with_hits(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".example-queries")
    assert page.inner_text("#collection") == "Small things · 28 documents"
    assert page.locator(".listed-one").count() == 0
    queries = page.locator(".example-queries a")
    assert (
        queries.all_inner_texts()[0]
        == "Boil the potatoes in salted water and mash them with butter"
    )
    assert queries.count() == 5
    queries.first.click()
    page.wait_for_selector(".hit")
    assert ids(page)[0] == "kitchen/1"


def test_start_page_shows_the_language(site, open_page, tmp_path):
    page = open_page(site)
    language = "css=.start-facts > div:has-text('Language') >> dd"
    page.wait_for_selector(language)
    assert page.inner_text(language) == "None; words are compared as written"
    texts = ["der Hund und die Katze sind nicht in dem Haus"] * 30
    with Index.create(tmp_path / "german.kin") as index:
        index.add(texts)
        with serving(index) as address:
            page = open_page(address)
            page.wait_for_selector(language)
            shown = page.inner_text(language)
            assert shown.startswith("English; rankings by words compare stems")
            assert "Most texts seem to be in another language: German." in shown


def test_all_documents_are_listed_by_page(site, open_page):
    page = open_page(site)
    page.click("text=Show all 28 documents")
    page.wait_for_selector(".listed-one")
    assert asked(page) == {"all": "1"}
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


def test_misspelled_words_have_links_to_similar_words(site, open_page):
    page = open_page(f"{site}/?q=telescpe+rokcet")
    page.wait_for_selector(".suggestions")
    links = page.locator(".suggestions a")
    assert links.all_inner_texts() == ["telescope rocket", "telescope", "rocket"]
    links.first.click()
    page.wait_for_selector(".hit")
    assert asked(page)["q"] == "telescope rocket"
    assert page.locator(".suggestions").count() == 0


def test_marks_have_words(site, open_page):
    page = open_page(f"{site}/?q=rocket")
    page.wait_for_selector(".hit")
    marks = page.locator(".hit >> nth=0 >> .mark")
    assert marks.all_inner_texts() == ["Relevant", "Not relevant"]
    marks.nth(1).click()
    page.wait_for_selector("text=Marked: 0 relevant, 1 not relevant.")


def test_menu_offers_to_add_documents_only_with_a_token(site, writable, open_page):
    page = open_page(site)
    page.wait_for_selector(".start-facts")
    assert not page.locator(".views >> text=Add").is_visible()
    page = open_page(writable.address)
    page.wait_for_selector(".start-facts")
    assert page.locator(".views >> text=Add").is_visible()


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_menu_has_one_row(writable, open_page, width):
    page = open_page(writable.address, viewport={"width": width, "height": 740})
    page.wait_for_selector(".start-facts")
    links = page.locator(".views a")
    assert links.count() == 7
    boxes = [links.nth(number).bounding_box() for number in range(7)]
    assert len({box["y"] for box in boxes}) == 1
    if width >= 390:  # visible without scrolling the menu
        assert boxes[-1]["x"] + boxes[-1]["width"] <= width
