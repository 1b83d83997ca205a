"""The page in a browser: documents shown, added, changed and deleted."""

import csv
import io
import json

import pytest

from web.browser import TOKEN, until, wide
from web.small_collection import HOSTILE

pytest_plugins = ["web.page_fixtures"]

DROP = """files => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  const zone = document.querySelector(".drop");
  for (const type of ["dragover", "drop"]) {
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    zone.dispatchEvent(new DragEvent(type, options));
  }
}"""


def drop(page, *files):
    page.wait_for_selector(".drop")
    page.evaluate(DROP, [list(file) for file in files])
    page.wait_for_selector(".staged")


def give_token(page, token=TOKEN):
    page.fill("dialog input[name=token]", token)
    page.keyboard.press("Enter")


def stored(index):
    return {document.id: document for document in index}


# ------------------------------------------------------------------ one document


def test_a_document_with_what_is_known_of_it(site, open_page):
    page = open_page(f"{site}/document?id=space/6")
    page.wait_for_selector(".near-one")
    assert page.inner_text("h1") == "space/6"
    assert page.inner_text(".document-text").startswith("Engineers tested the engine")
    assert page.locator(".document-facts dd").all_inner_texts() == ["2016", "de"]
    assert "space/6" in page.title()
    assert page.locator(".near-one a").first.inner_text() != "space/6"
    assert page.locator("text=Edit").count() == 0  # nobody may write here
    page.click("text=Similar documents")
    page.wait_for_selector(".chip.like")
    page.go_back()
    page.wait_for_selector(".document")
    page.click(".document-head a.chip")
    page.wait_for_selector(".chip.on:has-text('space')")
    until(page, "document.querySelectorAll('.listed-one').length === 8")


def test_a_document_that_is_not_there(site, open_page):
    page = open_page(f"{site}/document?id=nobody", expected=("404",))
    page.wait_for_selector(".state.wrong:has-text('nobody')")
    page = open_page(f"{site}/document")
    page.wait_for_selector("text=Which document?")


def test_markup_in_a_document_is_text(site, open_page):
    page = open_page(f"{site}/document?id=%3Cscript%3Ealert('id')%3C/script%3E")
    page.wait_for_selector(".document")
    assert page.inner_text("h1") == HOSTILE[0]["title"]
    assert page.inner_text(".document-text") == HOSTILE[0]["text"]
    assert page.evaluate("window.broken") is None
    assert page.locator("main script, main img, main i").count() == 0


def test_lines_of_a_document_run_in_their_own_direction(site, open_page):
    page = open_page(site)
    page.goto(f"{site}/document?id={HOSTILE[1]['id']}")
    text = page.locator(".document-text")
    text.wait_for()
    assert text.get_attribute("dir") == "auto"
    assert text.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
    assert text.evaluate("one => getComputedStyle(one).direction") == "rtl"


@pytest.mark.parametrize("number", [2, 3])
def test_long_words_and_long_texts_stay_within_a_phone(site, open_page, number):
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


# ------------------------------------------------------------------ adding


def test_a_server_without_a_token_says_how_to_get_one(site, open_page):
    page = open_page(f"{site}/add")
    page.wait_for_selector("text=This collection is read-only")
    assert page.locator("text=--token-file").count() == 1


def test_a_pasted_text_is_added_with_the_token_and_found(writable, open_page):
    page = open_page(f"{writable.address}/add", expected=("401",))
    page.fill("textarea[name=paste]", "A zebra crosses the road")
    page.fill("input[name=id]", "notes/zebra")
    page.fill("input[name=label]", "animals")
    page.click("text=Preview")
    page.click("text=Add 1 document")
    give_token(page, "not the right one")
    page.wait_for_selector("dialog >> text=does not know this token")
    assert "notes/zebra" not in stored(writable.index)
    give_token(page)
    page.wait_for_selector("text=1 document added.")
    found = stored(writable.index)["notes/zebra"]
    assert (found.text, found.label) == ("A zebra crosses the road", "animals")
    page.click("text=Look at it")
    page.wait_for_selector(".document-text:has-text('zebra')")
    assert page.inner_text("#collection").endswith("7 documents")
    # The token is asked for once, and kept nowhere but in this tab.
    assert page.evaluate("JSON.stringify(localStorage)") == "{}"
    assert page.evaluate("document.cookie") == ""
    assert TOKEN not in page.url
    page.goto(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "Another one")
    page.click("text=Preview")
    page.click("text=Add 1 document")
    page.wait_for_selector("text=1 document added.")
    assert len(stored(writable.index)) == 8


def test_files_are_dropped_looked_over_and_added(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(
        page,
        ("note.txt", "One\r\ntext"),
        (
            "some.jsonl",
            '{"id": 7, "text": "with fields", "label": "x", "year": 2015, "tags": ["a"]}\n'
            '\n"only text"\n',
        ),
        ("table.csv", 'text,id,kind\r\n"two\nlines, ""quoted""",t1,poem\r\nplain,t2,prose\r\n'),
    )
    page.wait_for_selector("h2:has-text('5 documents to add')")
    page.click("text=Add 5 documents")
    give_token(page)
    page.wait_for_selector("text=5 documents added.")
    found = stored(writable.index)
    assert found["note.txt"].text == "One\ntext"
    assert found["7"].label == "x"
    assert found["7"].metadata == {"year": 2015, "tags": ["a"]}
    assert found["some.jsonl:3"].text == "only text"
    assert found["t1"].text == 'two\nlines, "quoted"'
    assert found["t2"].metadata == {"kind": "prose"}


def test_files_can_be_chosen_and_columns_named(writable, open_page, tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("body;stars;who\ngood soup;5;ann\nbad bread;1;bob\n", encoding="utf-8")
    page = open_page(f"{writable.address}/add")
    page.set_input_files("input[type=file]", path)
    page.wait_for_selector("text=Nothing to add")
    page.locator(".staged select").nth(0).select_option("body")
    page.wait_for_selector("h2:has-text('2 documents to add')")
    page.locator(".staged select").nth(1).select_option("who")
    page.locator(".staged select").nth(2).select_option("stars")
    page.click("text=Add 2 documents")
    give_token(page)
    page.wait_for_selector("text=2 documents added.")
    found = stored(writable.index)["ann"]
    assert (found.text, found.label, found.metadata) == ("good soup", "5", {})


def test_what_cannot_be_read_is_named_and_the_rest_can_be_added(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(
        page,
        ("broken.jsonl", '{"text": "fine"}\n{"text": \n{"body": "no text"}\n[1]\n{"text": 5}\n'),
        ("rows.csv", "text,id\na,b,c\n"),
        ("binary.txt", "a\0b"),
    )
    problems = page.inner_text(".problems")
    for part in (
        "broken.jsonl:2: is not valid JSON",
        "broken.jsonl:3: no text; its fields are body",
        "broken.jsonl:4: expected an object or a string",
        "broken.jsonl:5: the text must be a string",
        "rows.csv:2: 3 fields, but 2 columns",
        "binary.txt has NUL characters",
    ):
        assert part in problems
    assert page.locator("h2:has-text('1 document to add')").count() == 1


def test_a_text_that_is_no_utf8_is_refused(writable, open_page, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Gr\xfc\xdfe".encode("latin-1"))
    page = open_page(f"{writable.address}/add")
    page.set_input_files("input[type=file]", path)
    page.wait_for_selector("text=latin.txt is not UTF-8")


def test_paragraphs_and_lines_become_documents(writable, open_page):
    page = open_page(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "one\ntwo\n\nthree\n")
    for choice, count in (("lines", 3), ("paragraphs", 2), ("one", 1)):
        page.select_option("select[name=as]", choice)
        page.click("text=Preview")
        page.wait_for_selector(f"h2:has-text('{count} document')")
    page.fill("textarea[name=paste]", "  \n ")
    page.click("text=Preview")
    page.wait_for_selector("text=There is no text yet.")


def test_an_id_that_is_there_can_be_replaced(writable, open_page):
    page = open_page(f"{writable.address}/add", expected=("409",))
    drop(page, ("new.jsonl", '{"id": "kitchen/1", "text": "replaced"}\n{"id": "n", "text": "new"}'))
    page.click("text=Add 2 documents")
    give_token(page)
    page.wait_for_selector(".state.wrong:has-text('There already')")
    page.wait_for_selector(".state.wrong:has-text('kitchen/1')")
    assert "n" not in stored(writable.index)
    page.click("text=Replace those that are there")
    page.wait_for_selector("text=2 documents added.")
    found = stored(writable.index)
    assert (found["kitchen/1"].text, found["n"].text) == ("replaced", "new")


def test_two_documents_of_one_id_are_told_before_they_are_sent(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(page, ("two.jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}'))
    page.wait_for_selector("text=Two of these documents have the id a")


def test_no_token_no_change(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(page, ("a.txt", "never added"))
    page.click("text=Add 1 document")
    page.wait_for_selector("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector("text=Add 1 document")
    assert len(stored(writable.index)) == 6


def test_many_documents_go_in_pieces_and_go_on_after_a_failure(writable, open_page):
    page = open_page(f"{writable.address}/add", expected=("ERR_", "Failed to load"))
    rows = "\n".join(json.dumps({"id": f"n{n}", "text": f"number {n}"}) for n in range(450))
    sent = []

    def second_fails(route):
        sent.append(len(route.request.post_data_json["documents"]))
        if len(sent) == 2:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/api/documents", second_fails)
    drop(page, ("many.jsonl", rows))
    page.click("text=Add 450 documents")
    give_token(page)
    page.wait_for_selector(".state.wrong:has-text('does not answer')")
    page.wait_for_selector("text=200 documents of before were added; 250 are left.")
    page.click("button:text-is('Try again')")
    page.wait_for_selector("text=250 documents added.")
    assert sent == [200, 200, 200, 50]
    assert len(stored(writable.index)) == 456


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        'a,b\r\n"1\n2",3\r\n',
        'a\n"say ""hi"""\n""\n',
        "a,b\n1,\n,2",
        "a\n\n\nb\n",
        'a,"b"\n x , "y"\n',
    ],
)
def test_separated_values_are_read_as_python_reads_them(site, open_page, text):
    page = open_page(f"{site}/add")
    found = page.evaluate(
        """async (text) => {
            const { separated } = await import("/static/files.js");
            return separated(text, ",").map((record) => record.cells);
        }""",
        text,
    )
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row not in ([], [""])]
    assert found == expected


# ------------------------------------------------------------------ changing and deleting


def test_a_document_is_edited(writable, open_page):
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


def test_what_was_typed_stays_when_saving_fails(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/2", expected=("ERR_", "Failed"))
    page.click("text=Edit")
    page.fill("textarea[name=text]", "kept words")
    page.route("**/api/document?*", lambda route: route.abort("connectionrefused"))
    page.click("text=Save")
    give_token(page)
    page.wait_for_selector(".state.wrong:has-text('does not answer')")
    assert page.input_value("textarea[name=text]") == "kept words"
    page.unroute("**/api/document?*")
    page.click("text=Save")
    page.wait_for_selector(".document-text:has-text('kept words')")


def test_a_text_that_is_too_long_is_told_before_it_is_sent(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/2")
    page.click("text=Edit")
    page.evaluate("document.querySelector('textarea[name=text]').value = 'x'.repeat(200001)")
    page.click("text=Save")
    page.wait_for_selector("text=the server takes at most 200,000 characters")


def test_a_document_is_deleted_after_a_question(writable, open_page):
    page = open_page(f"{writable.address}/document?id=kitchen/3")
    page.click("button:text-is('Delete')")
    page.wait_for_selector("dialog:has-text('Delete this document?')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert "kitchen/3" in stored(writable.index)
    page.click("button:text-is('Delete')")
    page.click("dialog >> button:text-is('Delete')")
    give_token(page)
    page.wait_for_selector(".listed-one")
    assert "kitchen/3" not in stored(writable.index)
    until(page, "document.getElementById('collection').textContent.includes('5 documents')")


def test_adding_by_keyboard_alone(writable, open_page):
    page = open_page(f"{writable.address}/add")
    page.wait_for_selector(".drop")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "paste":
            break
    page.keyboard.type("typed with care")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Preview":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Add 1 document")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog")
    assert page.evaluate("document.activeElement.name") == "token"
    page.keyboard.type(TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=1 document added.")


@pytest.mark.parametrize("path", ["/add", "/document?id=kitchen/2"])
def test_phone_width(writable, open_page, path):
    page = open_page(writable.address + path, viewport={"width": 360, "height": 740})
    page.wait_for_selector("h1")
    page.wait_for_selector("[aria-busy]", state="detached")
    assert wide(page) == 0


def test_an_empty_collection_invites(tmp_path, open_page):
    from web.browser import serving, small_index

    with small_index(tmp_path, []) as index, serving(index, token=TOKEN) as address:
        page = open_page(address)
        page.wait_for_selector("text=An empty collection")
        page.click("a:text-is('Add documents')")
        page.wait_for_selector(".drop")
