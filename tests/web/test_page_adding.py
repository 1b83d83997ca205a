"""Page in a browser: adding documents from files and texts."""

import csv
import io
import json

import pytest

from web.browser import TOKEN, serving, small_index
from web.page_writing import give_token, stored

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

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


def test_read_only_server_explains_the_token(site, open_page):
    page = open_page(f"{site}/add")
    page.wait_for_selector("text=This collection is read-only")
    assert page.locator("text=--token-file").count() == 1


def test_pasted_text_is_added_and_found(writable, open_page):
    page = open_page(f"{writable.address}/add", expected=("401",))
    page.fill("textarea[name=paste]", "A zebra crosses the road")
    page.fill("input[name=id]", "notes/zebra")
    page.fill("input[name=label]", "animals")
    page.click("text=Preview")
    page.click("text=Add 1 document")
    give_token(page, "not the right one")
    page.wait_for_selector("dialog >> text=rejected this token")
    assert "notes/zebra" not in stored(writable.index)
    give_token(page)
    page.wait_for_selector("text=1 document added.")
    found = stored(writable.index)["notes/zebra"]
    assert (found.text, found.label) == ("A zebra crosses the road", "animals")
    page.click("text=Show the document")
    page.wait_for_selector(".document-text:has-text('zebra')")
    assert page.inner_text("#collection").endswith("7 documents")
    # The token is requested once, and kept only in this tab.
    assert page.evaluate("JSON.stringify(localStorage)") == "{}"
    assert page.evaluate("document.cookie") == ""
    assert TOKEN not in page.url
    page.goto(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "Another one")
    page.click("text=Preview")
    page.click("text=Add 1 document")
    page.wait_for_selector("text=1 document added.")
    assert len(stored(writable.index)) == 8


def test_dropped_files_are_previewed_and_added(writable, open_page):
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


def test_chosen_files_and_columns(writable, open_page, tmp_path):
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


def test_invalid_records_are_listed_and_the_rest_is_added(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(
        page,
        ("broken.jsonl", '{"text": "fine"}\n{"text": \n{"body": "no text"}\n[1]\n{"text": 5}\n'),
        ("rows.csv", "text,id\na,b,c\n"),
        ("binary.txt", "a\0b"),
    )
    problems = page.inner_text(".problems")
    for part in (
        "broken.jsonl:2: invalid JSON",
        "broken.jsonl:3: the record must have a text field; its fields are body",
        "broken.jsonl:4: expected an object or a string",
        "broken.jsonl:5: the text must be a string",
        "rows.csv:2: 3 fields, but 2 columns",
        "binary.txt must be a text file; it has NUL characters",
    ):
        assert part in problems
    assert page.locator("h2:has-text('1 document to add')").count() == 1


def test_text_that_is_not_utf8_is_an_error(writable, open_page, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Gr\xfc\xdfe".encode("latin-1"))
    page = open_page(f"{writable.address}/add")
    page.set_input_files("input[type=file]", path)
    page.wait_for_selector("text=latin.txt must be UTF-8")


def test_paragraphs_and_lines_become_documents(writable, open_page):
    page = open_page(f"{writable.address}/add")
    page.fill("textarea[name=paste]", "one\ntwo\n\nthree\n")
    for choice, count in (("lines", 3), ("paragraphs", 2), ("one", 1)):
        page.select_option("select[name=as]", choice)
        page.click("text=Preview")
        page.wait_for_selector(f"h2:has-text('{count} document')")
    page.fill("textarea[name=paste]", "  \n ")
    page.click("text=Preview")
    page.wait_for_selector("text=Enter a text first.")


def test_existing_id_can_be_replaced(writable, open_page):
    page = open_page(f"{writable.address}/add", expected=("409",))
    drop(page, ("new.jsonl", '{"id": "kitchen/1", "text": "replaced"}\n{"id": "n", "text": "new"}'))
    page.click("text=Add 2 documents")
    give_token(page)
    page.wait_for_selector(".state.wrong:has-text('Document exists')")
    page.wait_for_selector(".state.wrong:has-text('kitchen/1')")
    assert "n" not in stored(writable.index)
    page.click("text=Replace existing documents")
    page.wait_for_selector("text=2 documents added.")
    found = stored(writable.index)
    assert (found["kitchen/1"].text, found["n"].text) == ("replaced", "new")


def test_duplicate_ids_are_reported_before_sending(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(page, ("two.jsonl", '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}'))
    page.wait_for_selector("text=two of these documents have the ID a")


def test_cancel_without_token_changes_nothing(writable, open_page):
    page = open_page(f"{writable.address}/add")
    drop(page, ("a.txt", "never added"))
    page.click("text=Add 1 document")
    page.wait_for_selector("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector("text=Add 1 document")
    assert len(stored(writable.index)) == 6


def test_many_documents_are_sent_in_batches_and_resume_after_an_error(writable, open_page):
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
    page.wait_for_selector(".state.wrong:has-text('does not respond')")
    page.wait_for_selector("text=200 documents added before the error; 250 documents left.")
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
def test_separated_values_match_python(site, open_page, text):
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


def test_adding_with_the_keyboard_only(writable, open_page):
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


def test_empty_collection_offers_to_add(tmp_path, open_page):
    with small_index(tmp_path, []) as index, serving(index, token=TOKEN) as address:
        page = open_page(address)
        page.wait_for_selector("text=Empty collection")
        page.click("a:text-is('Add documents')")
        page.wait_for_selector(".drop")
