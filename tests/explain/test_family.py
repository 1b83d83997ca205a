"""Common behavior of all explanations: parts sum to the score, and drawings."""

import json
import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from support import load_script
from textkin.explain import Drawing, Explanation, stylesheet

family = load_script("tests/explain/family.py")

OTHERS = (
    "compare", "same", "flow", "evidence", "empty evidence", "neighbour", "pooling", "rocchio",
)  # fmt: skip
DRAWINGS = ("topics", "word map", "group map", "clusters", "aligned", "hits", "no hits")
_BARE = ("no hits", "empty evidence", "aligned")  # pages without a figure


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    with family.filled_index(tmp_path_factory.mktemp("family")) as made:
        yield made


@pytest.fixture(scope="module")
def everything(index: object) -> dict[str, Drawing]:
    found = {by: index.search(family.QUERY, ranking=by)[0].explain() for by in family.BY_INDEX}
    return {**found, **family.other_explanations(), **family.other_drawings(index)}


def test_every_kind_is_tested(everything: dict[str, Drawing]) -> None:
    assert set(everything) == {*family.BY_INDEX, *OTHERS, *DRAWINGS}


@pytest.mark.parametrize("kind", [*family.BY_INDEX, *OTHERS])
def test_parts_sum_to_the_score_and_shares_to_one(
    kind: str, everything: dict[str, Explanation]
) -> None:
    found = everything[kind]
    assert isinstance(found, Explanation)
    assert math.isclose(sum(part.value for part in found.parts), found.score, abs_tol=2e-6)
    assert math.isclose(
        sum(found.share(part) for part in found.parts), 1.0 if found.score else 0.0, abs_tol=1e-5
    )
    sizes = [abs(part.value) for part in found.parts]
    assert sizes == sorted(sizes, reverse=True)
    for part in found.parts:
        if part.parts:
            assert math.isclose(sum(one.value for one in part.parts), part.value, abs_tol=1e-5)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("by", family.BY_INDEX)
def test_score_equals_the_score_of_the_search(by: str, index: object) -> None:
    hits = index.search(family.QUERY, ranking=by)
    assert len(hits) > 1
    for hit in hits:
        assert math.isclose(hit.explain().score, hit.score, rel_tol=1e-12)


def test_parts_depend_on_the_method(everything: dict[str, Explanation]) -> None:
    """Words for word weights, word pairs for transport, factors with words, and nested parts."""
    names = {kind: [part.name for part in everything[kind].parts] for kind in family.BY_INDEX}
    for by in ("bm25", "tfidf", "cosine", "inner", "binary"):
        assert set(names[by]) <= set(family.QUERY.lower().split())
    assert names["wmd"] == ["speaks to greets"]
    assert names["rwmd"] == ["speaks to greets"]
    for by in ("lsi", "plsa", "wtmf", "lda"):
        assert all(re.match(r"factor \d: \S+ \S+", name) for name in names[by])
    assert sorted(names["hybrid"]) == ["bm25", "latent semantics"]
    assert all(part.parts for part in everything["hybrid"].parts)
    voters = [f"#{at}" for at, label in enumerate(family.LABELS) if label == "politics"]
    assert {part.name for part in everything["evidence"].parts} <= set(voters)


@pytest.mark.parametrize("kind", [*family.BY_INDEX, *OTHERS, *DRAWINGS])
class TestForms:
    def test_text(self, kind: str, everything: dict[str, Drawing]) -> None:
        found = everything[kind]
        assert isinstance(found, Drawing)
        for width in (60, 100):
            lines = found.to_text(width=width).splitlines()
            assert kind == "same" or lines
            assert all(len(line) <= width for line in lines)
        if isinstance(found, Explanation):
            plain = found.to_text(limit=2, width=60, unicode=False, color=True)
            assert re.sub(r"\x1b\[[\d;]*m", "", plain).isascii()
            assert len(plain.splitlines()) <= len(found.to_text().splitlines())

    def test_svg(self, kind: str, everything: dict[str, Drawing]) -> None:
        found = everything[kind]
        root = ElementTree.fromstring(found.to_svg(title="Why <so>"))
        names = [node.tag.rpartition("}")[2] for node in root]
        assert names[:3] == ["title", "desc", "style"]
        assert root[0].text == "Why <so>"
        assert root[1].text
        assert root.get("role") == "img"

    def test_embedded_svg_has_no_style(self, kind: str, everything: dict[str, Drawing]) -> None:
        whole, embedded = (
            ElementTree.fromstring(everything[kind].to_svg(embedded=flag)) for flag in (False, True)
        )
        tags = [node.tag.rpartition("}")[2] for node in embedded.iter()]
        assert "style" not in tags
        assert not any("style" in node.attrib for node in embedded.iter())
        assert len(tags) == sum(1 for _ in whole.iter()) - 1
        assert whole.find("{*}style").text in stylesheet()

    def test_every_class_has_a_rule(self, kind: str, everything: dict[str, Drawing]) -> None:
        root = ElementTree.fromstring(everything[kind].to_svg(embedded=True))
        sheet = stylesheet()
        for node in root.iter():
            for name in (node.get("class") or "").split():
                own = f".{root.get('class')}" + ("" if node is root else f" .{name}")
                assert f"{own}{{" in sheet, name

    def test_html(self, kind: str, everything: dict[str, Drawing]) -> None:
        page = everything[kind].to_html(title="Why <so>")
        root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
        assert [node.text for node in root.iter("h1")] == ["Why <so>"]
        assert root.find("body//{http://www.w3.org/2000/svg}svg") is not None or kind in _BARE
        assert "<script" not in page
        assert not re.search(r"(src|href|url\()", page)

    def test_notebooks(self, kind: str, everything: dict[str, Drawing]) -> None:
        assert everything[kind]._repr_html_().startswith("<")


def test_stylesheet_has_only_rules_of_textkin_classes() -> None:
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", stylesheet().replace("\n", ""))
    assert len(rules) > 40
    for selector in rules:
        for one in selector.split(","):
            assert one.startswith(".textkin-"), one


def test_light_and_dark_rules_color_the_same_elements() -> None:
    blocks = r"@media \(prefers-color-scheme:dark\)\{((?:[^{}]*\{[^{}]*\})*)\}"
    dark = "".join(re.findall(blocks, stylesheet()))
    light = re.sub(blocks, "", stylesheet())

    def coloured(css: str) -> list[tuple[str, str]]:
        return sorted(re.findall(r"([^{}\n]+)\{([\w-]+):#[0-9a-f]{6,8}\}", css))

    assert coloured(dark) == coloured(light)
    assert coloured(dark)
