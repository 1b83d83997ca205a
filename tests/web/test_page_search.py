"""The page in a browser: searching, filters, why, and relevance feedback."""

import functools
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from web.browser import until, wide

pytest_plugins = ["web.page_fixtures"]


def asked(page):
    """The parameters of the page's address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def ids(page):
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def search(page, text):
    page.fill(".search-box", text)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit, .state")


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


# ------------------------------------------------------------------ filters


def test_filters_by_click_and_by_text_are_the_same_filter(site, open_page):
    page = open_page(f"{site}/?q=the")
    page.click("button:text-is('Filter')")
    page.click(".filters [aria-label=label] button:has-text('space')")
    page.wait_for_selector(".chip.on:has-text('space')")
    assert asked(page)["where"] == "label = space"
    page.click(".filters [aria-label=label] button:has-text('sport')")
    page.wait_for_selector(".chip.on:has-text('sport')")
    assert asked(page)["where"] == "label in (space, sport)"
    page.fill("input[name=where]", "label in (space, sport) and year >= 2016")
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip.on:has-text('year >= 2016')")
    until(page, "document.querySelectorAll('.hit').length === 6")
    assert {one.split("/")[0] for one in ids(page)} == {"space", "sport"}
    page.click(".chip.on:has-text('space')")
    until(page, "document.querySelectorAll('.hit').length === 3")
    assert asked(page)["where"] == "label = sport and year >= 2016"


def test_a_filter_that_cannot_be_read_says_where(site, open_page):
    page = open_page(f"{site}/?q=the", expected=("422", "400"))
    page.click("button:text-is('Filter')")
    page.fill("input[name=where]", "year >=")
    page.click("text=Apply")
    page.wait_for_selector(".state.wrong:has-text('expected a value')")
    page.fill("input[name=where]", "")
    page.click("text=Apply")
    page.wait_for_selector(".hit")


def test_a_threshold(site, open_page):
    page = open_page(f"{site}/?q=rocket+launch")
    page.wait_for_selector(".hit")
    scores = [float(text.split()[-1]) for text in page.locator(".hit-score").all_inner_texts()]
    page.click("button:text-is('Filter')")
    page.fill("input[name=threshold]", str(scores[0] - 0.01))
    page.click("text=Apply")
    until(page, "document.querySelectorAll('.hit').length === 1")
    page.click(".chip.on:has-text('score')")
    until(page, f"document.querySelectorAll('.hit').length === {len(scores)}")


@pytest.mark.parametrize(
    ("where", "chosen", "rest"),
    [
        ("label = a", {"label": ["a"]}, ""),
        ("label in (a, 'b c') and year = 2015", {"label": ["a", "b c"], "year": [2015]}, ""),
        ('"my field" = "2015"', {"my field": ["2015"]}, ""),
        ("a = 1 or b = 2", {}, "a = 1 or b = 2"),
        ("a = 1 and (b = 2 or c = 3)", {"a": [1]}, "(b = 2 or c = 3)"),
        ("x = null and y = true", {"x": [None], "y": [True]}, ""),
        ("not a = 1 and b = c", {"b": ["c"]}, "not a = 1"),
        ("year >= 2010 and a = b", {"a": ["b"]}, "year >= 2010"),
        ("a = 1 and a = 2", {"a": [1]}, "a = 2"),
        ("exists(a)", {}, "exists(a)"),
        ('{"a": 1}', {}, '{"a": 1}'),
        ("a = 'unclosed", {}, "a = 'unclosed"),
        ("", {}, ""),
    ],
)
def test_filters_are_taken_apart_and_joined_to_the_same(site, open_page, where, chosen, rest):
    from textkin.index import parse_filter

    page = open_page(f"{site}/add")
    found = page.evaluate(
        """async (where) => {
            const { split, join } = await import("/static/filters.js");
            const parts = split(where);
            return [Object.fromEntries(parts.chosen), parts.rest, join(parts.chosen, parts.rest)];
        }""",
        where,
    )
    assert found[:2] == [chosen, rest]
    if where and "unclosed" not in where:
        assert conditions(parse_filter(found[2])) == conditions(parse_filter(where))


def conditions(asked):
    """What a filter asks, whatever the order of what is joined by "and"."""
    joined = getattr(asked, "operator", None) == "and"
    return sorted(str(part) for part in (asked.parts if joined else [asked]))


def test_any_value_of_a_field_can_be_written_as_a_filter(site, open_page):
    from textkin.index import parse_filter

    values = ["plain", "two words", "2015", 'a "quote"', "a\\b", "and", "NULL", "null", "x,y"]
    values += ["(", "ärger", "‮", "", 2015, 1.5, True, None, "line\nbreak", "{"]
    page = open_page(f"{site}/add")
    written = page.evaluate(
        """async (values) => {
            const { join } = await import("/static/filters.js");
            return values.map((value) => join(new Map([["field", [value]]]), ""));
        }""",
        values,
    )
    for value, text in zip(values, written, strict=True):
        assert parse_filter(text) == parse_filter({"field": value}), text


# ------------------------------------------------------------------ why


def test_why_opens_in_place_with_parts_that_sum_to_the_score(site, open_page):
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


def test_why_by_transport_draws_the_flow(site, open_page):
    page = open_page(f"{site}/?q=rocket+start&by=wmd&why=space/6")
    why = page.locator(".hit-why:visible")
    why.locator(".explanation").wait_for()
    why.locator("text=proved the cheapest").wait_for()
    why.locator("details").evaluate("details => { details.open = true; }")
    heads = why.locator(".parts thead th").all_inner_texts()
    assert heads == ["From", "To", "Mass", "Cost", "Adds", "Share"]


def test_words_of_both_texts_show_their_partners(site, open_page):
    page = open_page(f"{site}/?q=the+rocket+start&by=wmd&why=space/6")
    page.wait_for_selector(".aligned")
    texts = page.locator(".aligned-text")
    assert texts.nth(0).evaluate("text => text.textContent") == "the rocket start"
    assert texts.nth(1).evaluate("text => text.textContent").startswith("Engineers tested")
    rocket = texts.nth(0).locator(".w", has_text="rocket")
    # All of the document's rocket comes from the query's, at no cost; that one has more to give.
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
    assert page.locator(".aligned .w[tabindex='0']").count() == 2  # one stop of the tab key a text


def test_similar_documents(site, open_page):
    page = open_page(f"{site}/?q=telescope")
    page.wait_for_selector(".hit")
    name = ids(page)[0]
    page.click(".hit-actions a:text-is('Similar') >> nth=0")
    page.wait_for_selector(".chip.like")
    assert asked(page)["like"] == name
    page.wait_for_selector(".hit")
    assert name not in ids(page)
    page.click(".chip-close")
    page.wait_for_selector(".listed-one")
    assert "like" not in asked(page)


# ------------------------------------------------------------------ feedback


def test_marks_move_the_query_and_the_ranking(site, open_page):
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
    assert moved.get_attribute("title") == f"Was at rank {len(before)}"
    words = page.locator(".change-word .change-name").all_inner_texts()
    assert {"telescope", "won"} < set(words)
    assert page.locator(".change-word.new").count() > 0
    after = ids(page)
    # A link to this state is the state; going back undoes, and so does the button.
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


def test_rounds_add_up_and_are_undone_one_by_one(site, open_page):
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
    page.wait_for_selector("text=after your marks")
    assert len(json.loads(asked(page)["rounds"])) == 1


def test_marks_can_be_taken_back(site, open_page):
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


def test_hits_glide_unless_one_asks_for_calm(site, open_page):
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


def test_feedback_without_words_says_so(site, open_page):
    page = open_page(f"{site}/?q=telescope&by=hybrid")
    page.wait_for_selector(".hit")
    mark(page, ids(page)[0], "fits")
    page.click("text=Refine")
    page.wait_for_selector(".change")
    assert page.locator(".hit").count() > 0


# ------------------------------------------------------------------ states


def test_nothing_found_says_so_and_offers_a_way_out(site, open_page):
    page = open_page(f"{site}/?q=zzzz&where=label+%3D+space")
    page.wait_for_selector(".state:has-text('Nothing found')")
    page.click("text=Without the filter")
    until(page, "!location.search.includes('where')")
    page.wait_for_selector(".state:has-text('Nothing found')")


def fulfilled(answer, route):
    route.fulfill(**answer)


def test_a_server_that_fails_can_be_asked_again(site, open_page):
    page = open_page(site, expected=("503", "500", "ERR_FAILED", "Failed to load"))
    page.wait_for_selector(".listed-one")
    answers = {
        "503": {
            "status": 503,
            "json": {"error": {"code": "too_slow", "message": "Over 30 seconds.", "field": None}},
        },
        "html": {"status": 502, "body": "<h1>Bad gateway</h1>", "content_type": "text/html"},
        "nonsense": {"status": 200, "body": "<h1>hello</h1>", "content_type": "text/html"},
    }
    said = {"503": "Over 30 seconds.", "html": "answered 502", "nonsense": "not JSON"}
    for name, answer in answers.items():
        page.route("**/api/search", functools.partial(fulfilled, answer))
        search(page, f"rocket {name}")
        page.wait_for_selector(f".state.wrong[role=alert]:has-text('{said[name]}')")
        page.unroute("**/api/search")
        page.click("button:text-is('Try again')")
        page.wait_for_selector(".hit")


def test_a_server_that_is_gone(site, open_page):
    page = open_page(site, expected=("ERR_", "Failed to load"))
    page.wait_for_selector(".listed-one")
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    search(page, "rocket")
    page.wait_for_selector(".state.wrong:has-text('The server does not answer')")
    page.unroute("**/api/**")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_a_server_that_is_gone_from_the_start(site, open_page):
    page = open_page(f"{site}/add", expected=("ERR_", "Failed to load"))
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    page.goto(f"{site}/?q=rocket")
    page.wait_for_selector(".state.wrong:has-text('The server does not answer')")
    page.unroute("**/api/**")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_a_slow_server_shows_that_something_happens_and_can_be_stopped(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".listed-one")
    page.clock.install(time=0)
    page.clock.pause_at(3600)
    held = []
    page.route("**/api/search", lambda route: held.append(route))
    page.fill(".search-box", "rocket")
    page.keyboard.press("Enter")
    page.wait_for_selector(".results[aria-busy]")
    assert page.locator(".results[data-busy]").count() == 0  # not before 150 ms
    page.clock.run_for(200)
    page.wait_for_selector(".results[data-busy]")
    page.clock.run_for(5000)
    page.click(".slow-hint >> text=Stop")
    page.wait_for_selector(".state:has-text('Stopped')")
    assert page.locator(".results[aria-busy]").count() == 0
    page.unroute("**/api/search")
    page.click("button:text-is('Try again')")
    page.wait_for_selector(".hit")


def test_an_older_answer_never_takes_the_place_of_a_newer_one(site, open_page):
    page = open_page(site)
    page.wait_for_selector(".listed-one")
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


def test_an_address_that_leads_nowhere(site, open_page):
    page = open_page(f"{site}/?page=-3&rounds=nonsense&marks=%7B%7D&threshold=x&by=")
    page.wait_for_selector(".listed-one")
    page = open_page(f"{site}/?q=rocket&by=nonsense", expected=("422", "400", "404"))
    page.wait_for_selector(".state.wrong")


# ------------------------------------------------------------------ people and texts


def test_keyboard_alone(site, open_page):
    page = open_page(f"{site}/?q=bread")
    page.wait_for_selector(".hit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    page.keyboard.type("rocket launch")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    reach(page, "document.activeElement.textContent === 'Why'")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".explanation")
    reach(page, "document.activeElement.matches('.mark.fits')")
    page.keyboard.press("Space")
    page.wait_for_selector(".mark.fits[aria-pressed=true]")
    reach(page, "document.activeElement.textContent === 'Refine'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".change")
    until(page, "document.activeElement.closest('.results-head') !== null")


def reach(page, condition):
    """Press the tab key until the focus is there."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    raise AssertionError(f"the tab key never comes to {condition}")


def test_hostile_texts_are_shown_as_they_are(site, open_page):
    page = open_page(f"{site}/?q=hostile&why=<script>alert('id')</script>")
    page.wait_for_selector(".hit")
    page.wait_for_selector(".explanation")
    assert page.evaluate("window.broken") is None
    assert page.locator(".hit script, .hit img, .hit i").count() == 0
    item = page.locator(".hit", has_text="<i>title</i>")
    assert "<script>window.broken = true</script>" in item.locator(".snippet").inner_text()
    assert wide(page) == 0
    arabic = page.locator(".hit", has_text="مستند")
    assert arabic.locator(".snippet").get_attribute("dir") == "auto"
    assert arabic.locator("h3 bdi").count() >= 1


def test_a_query_as_long_as_a_document(site, open_page):
    page = open_page(site)
    search(page, "rocket launch probe " * 200)
    page.wait_for_selector(".hit")
    assert page.locator(".search-box").bounding_box()["height"] <= 241


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["/", "/?q=hostile&by=wmd&why=long", '/?q=team&rounds=[[["sport/1"],[]]]']
)
def test_phone_width(site, open_page, path, scheme):
    page = open_page(
        site + path, viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True
    )
    page.wait_for_selector(".hit, .listed-one")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert wide(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(site, open_page, scheme):
    """The ratio that WCAG 2 asks of text (AA): 4.5."""
    page = open_page(site, color_scheme=scheme)
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    pairs = [
        (ink, ground)
        for ink in ("ink", "muted", "accent", "warm")
        for ground in ("ground", "surface", "sunken")
    ]
    pairs += [("faint", "surface"), ("accent-ink", "accent"), ("ink", "mark"), ("ink", "warm-soft")]
    pairs += [("ink", "accent-soft"), ("accent", "accent-soft"), ("surface", "warm")]
    for ink, ground in pairs:
        bright, dim = sorted(
            (luminance(page.evaluate(read, f"--{name}")) for name in (ink, ground)), reverse=True
        )
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, f"{ink} on {ground}"


def luminance(colour):
    """The relative luminance of ``#rrggbb``, as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_are_those_of_the_drawings(site, open_page):
    from textkin.explain._colour import DARK, GROUPS_DARK, GROUPS_LIGHT, LIGHT, hexadecimal

    for scheme, levels, groups in (("light", LIGHT, GROUPS_LIGHT), ("dark", DARK, GROUPS_DARK)):
        page = open_page(site, color_scheme=scheme)
        read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
        assert [page.evaluate(read, f"--level-{n}") for n in range(7)] == list(
            map(hexadecimal, levels)
        )
        assert [page.evaluate(read, f"--group-{n}") for n in range(8)] == list(
            map(hexadecimal, groups)
        )
