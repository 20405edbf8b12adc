"""The page of `irshape view` in a browser: what a person sees and does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import pytest
from browser import MISSING, Browser, opened, view
from ir import Net

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING or "a browser is there")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as browser:
        yield browser


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    return view(EXAMPLES / "encoder.xml", "-o", folder / "encoder.html", "--histograms")


class Screen(NamedTuple):
    width: int
    dark: bool


@pytest.mark.parametrize(
    "screen", [Screen(width, dark) for width in (375, 1280, 2560) for dark in (False, True)]
)
def test_it_opens_and_finds_a_layer_on_every_screen(
    browser: Browser, encoder: Path, screen: Screen
) -> None:
    browser.open(encoder, width=screen.width, dark=screen.dark)
    assert browser.names()
    browser.search("softmax")
    assert browser.one("#panel h2").text == "SoftMax"
    assert browser.all(".card.selected")
    ink = browser.js("return getComputedStyle(document.body).color")
    assert (int(re.findall(r"\d+", ink)[0]) > 128) == screen.dark
    assert browser.js("return document.documentElement.scrollWidth") <= screen.width
    assert browser.console() == []


def test_groups_open_and_close(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.js("document.querySelector('[title=\"Close all groups\"]').click()")
    closed = browser.texts(".card.group .title")
    assert closed == ["embeddings", "block1", "block2"]
    browser.card("embeddings").click()
    assert "ShapeOf_7" in browser.names()
    browser.one(".frame .head").click()
    assert browser.texts(".card.group .title") == closed


def test_the_side_panel_tells_all_of_a_layer(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.search("block1/attention/query MatMul")
    browser.js("document.querySelectorAll('#panel details').forEach(each => { each.open = true })")
    for _ in range(50):
        if "<layer" in browser.panel:
            break
    for text in (
        "block1/attention/query",
        "transpose_a",  # an attribute
        "f32 [1..8,?,32]",  # what is inferred
        "= [input_ids_0,input_ids_1,32]",  # in terms of the inputs
        '<layer id="27" name="block1/attention/query" type="MatMul" version="opset1">',
        "Operation MatMul of opset1",
        "1,024 elements",  # of the weights
    ):
        assert text in browser.panel, text
    spread = browser.one("#panel .histogram").get_attribute("aria-label")
    assert re.match(r"How the values are spread: -\d", spread or "")


class Search(NamedTuple):
    words: str
    type: str
    name: str


@pytest.mark.parametrize(
    "search",
    [
        Search("embeddings/words", "Gather", "embeddings/words"),
        Search("sentence_embedding result", "Result", "sentence_embedding"),
        Search("id 27", "MatMul", "block1/attention/query"),
        Search("[2] shapeof", "ShapeOf", "ShapeOf_7"),
        Search("parameter input_ids", "Parameter", "input_ids"),
    ],
)
def test_search(browser: Browser, encoder: Path, search: Search) -> None:
    browser.open(encoder)
    browser.search(search.words)
    assert browser.one("#panel h2").text == search.type
    assert browser.one("#panel .name").text == search.name


def test_keys_and_links(browser: Browser, encoder: Path) -> None:
    browser.open(encoder, "#27")
    assert browser.one("#panel .name").text == "block1/attention/query"
    graph = browser.one("svg.graph")
    graph.send_keys("\ue015")  # down, along an edge
    assert browser.one("#panel h2").text == "query"  # the group with what takes it
    graph.send_keys("\ue013")
    assert browser.one("#panel .name").text == "block1/attention/query"
    assert browser.js("return location.hash") == "#27"
    selected = graph.get_attribute("aria-activedescendant")
    assert "MatMul block1/attention/query" in browser.one(f"#{selected}").accessible_name
    graph.send_keys("c")
    assert "Const" in browser.texts(".card .title")
    graph.send_keys("c\ue00c")
    assert "Const" not in browser.texts(".card .title")
    assert browser.all(".card.selected") == []


def test_the_path_between_two_layers(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.search("parameter input_ids")
    (begin,) = (each for each in browser.all("#panel button") if each.text == "Path to …")
    begin.click()
    browser.search("embeddings/norm")
    assert browser.texts("#panel .way .link")[0] == "Parameter input_ids"
    assert "MVN" in browser.texts("#panel .way .link")[-1]
    assert browser.all(".card.on-path")


def test_bodies_open_in_place(browser: Browser, tmp_path: Path) -> None:
    browser.open(view(EXAMPLES / "control_flow.xml", "-o", tmp_path / "page.html"))
    browser.js("document.querySelector('[title=\"Close all groups\"]').click()")
    browser.search("add_or_multiply")
    assert browser.one("#panel h2").text == "If"
    assert "then_port_map" in browser.panel or "then_body" in browser.panel
    browser.card("If").find_element("css selector", ".sign").click()
    assert {"then_body", "else_body"} <= set(browser.texts(".card.group .title"))
    assert browser.console() == []


def test_two_inputs_that_do_not_fit(browser: Browser, tmp_path: Path) -> None:
    """Whoever opens the page is led to the layer, and sees both shapes."""
    net = Net()
    images, weights = net.parameter("2,3", name="images"), net.parameter("5,4", name="weights")
    net.result(net.layer("MatMul", [images, weights], name="project", outputs=["FP32:-1,-1"]))
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    (finding,) = browser.all("#panel button.finding.error")
    assert "IR4" in finding.text
    finding.click()
    assert browser.one("#panel .name").text == "project"
    assert {"f32 [2,3]", "f32 [5,4]"} <= set(browser.texts("#panel .tensor p"))
    assert "project" in browser.one(".card.selected").text
    assert "has-error" in (browser.one(".card.selected").get_attribute("class") or "")


HOSTILE = """</script><script>hacked=1</script><img src=x onerror=hacked=1>"'&\u202e javascript:"""


def test_names_are_text(browser: Browser, tmp_path: Path) -> None:
    """No markup of a file is built, no script of one runs, and nothing is requested."""
    net = Net()
    source = net.parameter("2,3", name="NAME")
    net.result(net.layer("NAME", [source], 'NAME="NAME"', outputs=["FP32:2,3"], name="NAME/NAME"))
    path = net.save(tmp_path, declare=False)
    inside = quoteattr(HOSTILE)[1:-1].replace('"', "&quot;")
    text = path.read_text(encoding="utf-8").replace('NAME="', 'ATTRIBUTE="').replace("NAME", inside)
    path.write_text(text, encoding="utf-8")
    browser.open(view(path, "-o", tmp_path / "page.html"))
    for tab in ("findings", "model"):
        browser.tab(tab)
    browser.search("hacked")
    assert "</script><script>hacked=1</script><img src=x" in browser.panel
    assert "\\u202e" in browser.panel
    assert browser.js("return [window.hacked === undefined, document.scripts.length]") == [True, 3]
    assert browser.all("img, iframe, link, object, a[href^='javascript']") == []
    assert browser.js("return performance.getEntriesByType('resource').length") == 0
    assert browser.console() == []


def test_a_page_is_made_of_a_file_without_a_model(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net name='m' version='11'><layers><layer", encoding="utf-8")
    browser.open(view(path, "-o", tmp_path / "page.html"))
    assert "IR001" in browser.panel
    assert browser.console() == []
