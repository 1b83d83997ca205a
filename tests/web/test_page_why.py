"""Page in a browser: explanations of hits, and similar documents."""

import re

import pytest

from web.page_searching import asked, ids
from web.page_waiting import eventually

pytest_plugins = ["web.page_fixtures"]


def test_explanation_opens_with_parts_that_sum_to_the_score(site, open_page):
    page = open_page(f"{site}/?q=rocket+launch")
    first = page.locator(".hit").first
    first.locator("text=Why").click()
    first.locator(".explanation").wait_for()
    assert first.locator("text=Why").get_attribute("aria-expanded") == "true"
    first.locator("details").evaluate("details => { details.open = true; }")
    names = first.locator(".parts th[scope=row] bdi").all_inner_texts()
    assert set(names) == {"rocket", "launch"}
    added = [float(text) for text in first.locator(".parts tbody .figure").all_inner_texts()]
    score = float(first.locator(".hit-score").inner_text().split()[-1])
    assert sum(added) == pytest.approx(score, abs=2e-3)
    assert asked(page)["why"] == "space/6"
    first.locator("button:has-text('Why')").click()
    assert not first.locator(".hit-why").is_visible()
    assert "why" not in asked(page)


def test_transport_explanation_draws_the_flow(site, open_page):
    page = open_page(f"{site}/?q=rocket+start&ranking=wmd&why=space/6")
    why = page.locator(".hit-why:visible")
    why.locator(".explanation").wait_for()
    why.locator("text=proven optimal").wait_for()
    why.locator("details").evaluate("details => { details.open = true; }")
    heads = why.locator(".parts thead th").all_inner_texts()
    assert heads == ["From", "To", "Weight", "Cost", "Contribution", "Share"]


def test_words_of_both_texts_show_their_partners(site, open_page):
    page = open_page(f"{site}/?q=the+rocket+start&ranking=wmd&why=space/6")
    page.wait_for_selector(".aligned")
    texts = page.locator(".aligned-text")
    assert texts.nth(0).evaluate("text => text.textContent") == "the rocket start"
    assert texts.nth(1).evaluate("text => text.textContent").startswith("Engineers tested")
    rocket = texts.nth(0).locator(".w", has_text="rocket")
    # All mass of the document's "rocket" comes from the query's, at no cost; the query's has more.
    assert "still" in texts.nth(1).locator(".w", has_text="rocket").get_attribute("class")
    assert re.search(r"level-\d", rocket.get_attribute("class"))
    rocket.hover()
    page.wait_for_selector(".aligned-side[data-side=b] .lit:text-is('rocket')")
    assert "rocket" in page.inner_text(".aligned-line")
    texts.nth(0).locator(".w[tabindex='0']").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "start"
    assert re.match(r"start ↔ .*% × [0-9.]+ = [0-9.]+", page.inner_text(".aligned-line"))
    assert page.locator(".aligned-side[data-side=b] .lit").count() > 0
    assert page.locator(".aligned .w[tabindex='0']").count() == 2  # one tab stop per text


def test_similar_documents(site, open_page):
    page = open_page(f"{site}/?q=telescope")
    page.wait_for_selector(".hit")
    name = ids(page)[0]
    page.click(".hit-actions a:text-is('Similar') >> nth=0")
    page.wait_for_selector(".chip.like")
    assert asked(page)["like"] == name
    # The hits of the previous search stay until the similar documents arrive.
    eventually(page, lambda: len(ids(page)) > 0 and name not in ids(page))
    page.click(".chip-close")
    page.wait_for_selector(".start")
    assert "like" not in asked(page)
