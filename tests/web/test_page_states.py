"""Page in a browser: no hits; failing, slow, and stopped servers; and unknown URLs."""

import functools
from typing import get_args

import pytest

from textkin.web._errors import Code
from web.browser import until
from web.page_searching import ids, search

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time


def test_no_hits_offers_alternatives(site, open_page):
    page = open_page(f"{site}/?q=zzzz&where=label+%3D+space")
    page.wait_for_selector(".state:has-text('Nothing found')")
    page.click("text=Remove the filter")
    until(page, "!location.search.includes('where')")
    page.wait_for_selector(".state:has-text('Nothing found')")


def fulfilled(answer, route):
    route.fulfill(**answer)


def test_failing_server_can_be_retried(site, open_page):
    page = open_page(site, expected=("503", "500", "ERR_FAILED", "Failed to load"))
    page.wait_for_selector(".start")
    answers = {
        "503": {
            "status": 503,
            "json": {"error": {"code": "too_slow", "message": "Over 30 seconds.", "field": None}},
        },
        "html": {"status": 502, "body": "<h1>Bad gateway</h1>", "content_type": "text/html"},
        "nonsense": {"status": 200, "body": "<h1>hello</h1>", "content_type": "text/html"},
    }
    said = {"503": "Over 30 seconds.", "html": "responded with 502", "nonsense": "not JSON"}
    for name, answer in answers.items():
        page.route("**/api/search", functools.partial(fulfilled, answer))
        search(page, f"rocket {name}")
        page.wait_for_selector(f".state.wrong[role=alert]:has-text('{said[name]}')")
        page.unroute("**/api/search")
        page.click("button:text-is('Try again')")
        page.wait_for_selector(".hit")


def test_every_error_code_has_a_heading(site, open_page):
    page = open_page(f"{site}/compare")
    known = page.evaluate("async () => Object.keys((await import('/static/states.js')).HEADLINES)")
    assert set(get_args(Code)) <= set(known)


def test_stopped_server(site, open_page):
    page = open_page(site, expected=("ERR_", "Failed to load"))
    page.wait_for_selector(".start")
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    search(page, "rocket")
    page.wait_for_selector(".state.wrong:has-text('The server does not respond')")
    page.unroute("**/api/**")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_server_stopped_before_loading(site, open_page):
    page = open_page(f"{site}/add", expected=("ERR_", "Failed to load"))
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    page.goto(f"{site}/?q=rocket")
    page.wait_for_selector(".state.wrong:has-text('The server does not respond')")
    page.unroute("**/api/**")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_slow_server_shows_progress_and_can_be_stopped(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".start")
    page.clock.install(time=0)
    page.clock.pause_at(3600)
    held = []
    page.route("**/api/search", lambda route: held.append(route))
    page.fill(".search-box", "rocket")
    page.keyboard.press("Enter")
    page.wait_for_selector(".results[aria-busy]")
    assert page.locator(".results[data-busy]").count() == 0  # the mark appears only after 150 ms
    page.clock.run_for(200)
    page.wait_for_selector(".results[data-busy]")
    page.clock.run_for(5000)
    page.click(".slow-hint >> text=Stop")
    page.wait_for_selector(".state:has-text('Stopped')")
    assert page.locator(".results[aria-busy]").count() == 0
    page.unroute("**/api/search")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_older_response_does_not_replace_newer_one(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".start")
    held = []

    def hold_first(route):
        if route.request.post_data_json["query"] == "rocket":
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold_first)
    page.fill(".search-box", "rocket")
    page.keyboard.press("Enter")
    page.wait_for_selector(".results[aria-busy]")
    search(page, "bread")
    page.wait_for_selector(".hit[data-id='kitchen/2']")
    page.wait_for_selector(".results:not([aria-busy])")
    assert ids(page)[0] == "kitchen/2"


def test_unknown_url(site, open_page):
    page = open_page(f"{site}/?page=-3&rounds=nonsense&marks=%7B%7D&threshold=x&ranking=")
    page.wait_for_selector(".start")
    page = open_page(f"{site}/?q=rocket&ranking=nonsense", expected=("422", "400", "404"))
    page.wait_for_selector(".state.wrong")
