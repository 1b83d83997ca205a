"""Page in a browser: relevance feedback."""

import json

from web.browser import until
from web.page_searching import asked, ids

pytest_plugins = ["web.page_fixtures"]


def test_marks_refine_the_query_and_the_ranking(site, open_page):
    page = open_page(f"{site}/?q=telescope+won")
    page.wait_for_selector(".hit")
    before = ids(page)
    wanted = before[-1]
    other = before[0]
    mark(page, wanted, "fits")
    mark(page, other, "fits-not")
    assert json.loads(asked(page)["marks"]) == [[wanted], [other]]
    page.click("text=Refine")
    page.wait_for_selector(".change")
    assert ids(page)[0] == wanted
    assert json.loads(asked(page)["rounds"]) == [[[wanted], [other]]]
    assert "marks" not in asked(page)
    moved = page.locator(f".hit[data-id='{wanted}'] .move")
    assert moved.get_attribute("title") == f"Rank {len(before)} before"
    words = page.locator(".change-word .change-name").all_inner_texts()
    assert {"telescope", "won"} < set(words)
    assert page.locator(".change-word.new").count() > 0
    after = ids(page)
    # The URL restores this state; the back button and the undo button revert it.
    page.reload()
    page.wait_for_selector(".change")
    assert ids(page) == after
    page.click("text=Undo")
    page.wait_for_selector(".change", state="detached")
    until(page, f"document.querySelector('.hit').dataset.id === {before[0]!r}")
    assert ids(page) == before
    page.go_back()
    page.wait_for_selector(".change")
    assert ids(page) == after


def mark(page, name, kind):
    page.locator(f".hit[data-id='{name}'] .mark.{kind}").click()
    page.wait_for_selector(f".hit[data-id='{name}'] .mark.{kind}[aria-pressed=true]")


def test_rounds_accumulate_and_are_undone_one_by_one(site, open_page):
    page = open_page(f"{site}/?q=team")
    page.wait_for_selector(".hit")
    mark(page, ids(page)[0], "fits")
    page.click("text=Refine")
    page.wait_for_selector(".change")
    mark(page, ids(page)[1], "fits")
    page.click("text=Refine")
    page.wait_for_selector("text=after 2 rounds")
    assert len(json.loads(asked(page)["rounds"])) == 2
    page.click("text=Undo this round")
    page.wait_for_selector("text=after feedback")
    assert len(json.loads(asked(page)["rounds"])) == 1


def test_feedback_on_an_unknown_document_can_be_removed(site, open_page):
    page = open_page(f'{site}/?q=rocket&rounds=[[["nobody"],[]]]', expected=("404",))
    page.click(".state.wrong button:text-is('Remove the feedback')")
    page.wait_for_selector(".hit")
    assert "rounds" not in asked(page)


def test_marks_can_be_removed(site, open_page):
    page = open_page(f"{site}/?q=team")
    page.wait_for_selector(".hit")
    name = ids(page)[0]
    mark(page, name, "fits")
    mark(page, name, "fits-not")
    assert json.loads(asked(page)["marks"]) == [[], [name]]
    page.reload()
    page.wait_for_selector(f".hit[data-id='{name}'] .fits-not[aria-pressed=true]")
    page.click("text=Clear")
    page.wait_for_selector(".hit .fits-not[aria-pressed=true]", state="detached")
    assert page.locator(".refine").is_hidden()


def test_hits_move_smoothly_unless_motion_is_reduced(site, open_page):
    for motion, expected in (("no-preference", True), ("reduce", False)):
        page = open_page(f"{site}/?q=telescope+won", reduced_motion=motion)
        page.wait_for_selector(".hit")
        page.evaluate(
            """() => { window.moved = 0; const animate = Element.prototype.animate;
            Element.prototype.animate = function (...given) {
              window.moved += 1; return animate.apply(this, given); }; }"""
        )
        mark(page, ids(page)[-1], "fits")
        page.click("text=Refine")
        page.wait_for_selector(".change")
        page.wait_for_selector(".results:not([aria-busy])")
        assert (page.evaluate("window.moved") > 0) is expected


def test_feedback_without_words_shows_a_note(site, open_page):
    page = open_page(f"{site}/?q=telescope&ranking=hybrid")
    page.wait_for_selector(".hit")
    mark(page, ids(page)[0], "fits")
    page.click("text=Refine")
    page.wait_for_selector(".change")
    assert page.locator(".hit").count() > 0
