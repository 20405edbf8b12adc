"""The page of `irshape view` in a browser: what a person sees and does."""

from __future__ import annotations

import base64
import io
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from ir import Net
from view.browser import MISSING, Browser, call, view

import irshape
from irshape.comparison import runtime

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "hostile"))

from attacks import ATTACKS  # noqa: E402

EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING or "a browser is there")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    return view(EXAMPLES / "encoder.xml", "-o", folder / "encoder.html", "--histograms")


WIDTHS = (375, 1280, 2560)


def test_it_opens_and_finds_a_layer_on_every_screen(browser: Browser, encoder: Path) -> None:
    for width in WIDTHS:
        browser.open(encoder, width=width)
        assert browser.names()
        browser.search("softmax")
        assert browser.texts("#panel h2")[0] == "SoftMax"
        assert browser.all(".card.selected")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            ink = browser.js("return getComputedStyle(document.body).color")
            assert (int(re.findall(r"\d+", ink)[0]) > 128) == (scheme == "dark")
            assert browser.js("return document.documentElement.scrollWidth") <= width


def test_only_what_is_open_is_laid_out(browser: Browser, tmp_path: Path) -> None:
    net = Net()
    at = net.parameter("2,3", name="x")
    for number in range(600):
        at = net.layer(
            "ReLU", [at], outputs=["FP32:2,3"], name=f"net/layer.{number // 4}/relu_{number % 4}"
        )
    net.result(at, name="y")
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    assert len(browser.all(".card")) < 20
    assert "150 equal blocks, 600 layers" in browser.texts(".card .name")
    browser.search("layer.121/relu_2")
    assert browser.one(".card.selected .name").text == "relu_2"
    assert len(browser.all(".card")) < 200
    assert browser.all(".frame.repeat")


class Search(NamedTuple):
    words: str
    type: str
    name: str


SEARCHES = [
    Search("embeddings/words", "Gather", "embeddings/words"),
    Search("sentence_embedding result", "Result", "sentence_embedding"),
    Search("id 27", "MatMul", "block1/attention/query"),
    Search("[2] shapeof", "ShapeOf", "ShapeOf_7"),
    Search("parameter input_ids", "Parameter", "input_ids"),
    Search("/attention.query\\nmatmul/", "MatMul", "block1/attention/query"),
]


def test_a_layer_is_found_read_and_left_for_another(browser: Browser, encoder: Path) -> None:
    """The search, the side panel, and the path to another layer."""
    browser.open(encoder)
    for search in SEARCHES:
        browser.search(search.words)
        panel = tuple(browser.texts("#panel h2, #panel .name"))
        assert panel == (search.type, search.name), search.words
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
    assert re.match(r"Distribution of the values: -\d", spread or "")
    browser.search("parameter input_ids")
    browser.button("Path to …").click()
    browser.search("embeddings/norm")
    assert browser.texts("#panel .way .link")[0] == "Parameter input_ids"
    assert "MVN" in browser.texts("#panel .way .link")[-1]
    assert browser.all(".card.on-path")


BITS = {
    "f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "f4e2m1": 4,
    "nf4": 4, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4, "u64": 64, "u32": 32, "u16": 16,
    "u8": 8, "u4": 4, "u2": 2, "u1": 1, "boolean": 8,
}  # fmt: skip

SAVE_ALL = """
const [ids] = arguments;
const blobs = [];
const make = URL.createObjectURL;
URL.createObjectURL = blob => { blobs.push(blob); return make.call(URL, blob) };
HTMLAnchorElement.prototype.click = () => {};
const until = done => new Promise(go => {
  const ask = () => done() ? go() : setTimeout(ask, 2); ask();
});
return (async () => {
  const saved = [];
  for (const id of ids) {
    location.hash = "#" + id;
    await until(() => document.querySelector("#panel .name").textContent === "c" + id);
    document.querySelector("#panel .save-npy").click();
    await until(() => blobs.length > saved.length);
    const bytes = new Uint8Array(await blobs[saved.length].arrayBuffer());
    saved.push(btoa(String.fromCharCode(...bytes)));
  }
  return saved;
})();
"""


def test_values_of_a_bin_that_is_opened_are_listed_and_saved(
    browser: Browser, tmp_path: Path
) -> None:
    """Every element type that the page reads; the .npy holds what irshape reads."""
    net = Net()
    random = np.random.default_rng(0)
    for number, (element_type, bits) in enumerate(BITS.items()):
        low_bytes = 2 if element_type == "boolean" else 256
        raw = random.integers(0, low_bytes, 24 * bits // 8, np.uint8).tobytes()
        net.layers.append(
            f'<layer id="{number}" name="c{number}" type="Const" version="opset1"><data '
            f'element_type="{element_type}" shape="4,6" offset="{len(net.weights)}" '
            f'size="{len(raw)}"/><output><port id="0"><dim>4</dim><dim>6</dim></port></output>'
            "</layer>"
        )
        net.weights += raw
    path = net.save(tmp_path)
    browser.open(view(path, "-o", tmp_path / "page.html"), "#1")
    browser.one("#panel .bin").send_keys(str(path.with_suffix(".bin")))
    browser.button("All values").click()
    listed = browser.js(
        "return new Promise(done => { const ask = () => { const list = document.querySelector("
        "'#panel .values'); list ? done(list.textContent) : setTimeout(ask, 2) }; ask() })"
    )
    assert len(listed.splitlines()) == 4
    model = irshape.load(path)
    saved = browser.js(SAVE_ALL, [str(number) for number in range(len(BITS))])
    for number, (element_type, text) in enumerate(zip(BITS, saved, strict=True)):
        array = np.load(io.BytesIO(base64.b64decode(text)))
        expected = model.constant(model.net.layers[number]).array().astype(array.dtype)
        np.testing.assert_array_equal(array, expected, element_type)


def test_an_edge_tells_its_tensors_and_searches_colour_layers(
    browser: Browser, encoder: Path
) -> None:
    browser.open(encoder, "#21")
    browser.js(
        "const edge = [...document.querySelectorAll('.edge')].find(each => each.edge &&"
        " each.edge.to.layer && each.edge.to.layer.id === '21');"
        "edge.querySelector('.wide').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert browser.texts("#panel h2")[0] == "1 tensor"
    (title,) = browser.texts(".edge.selected > title")
    assert re.fullmatch(r"Add .+ to MVN norm: f32 \[.+\]", title)
    assert "f32 [1..8,?,32]" in browser.panel
    for words in ("type:MatMul", "type:Add"):
        field = browser.one("#search")
        browser.js("arguments[0].value = arguments[1]", field, words[:-1])
        field.send_keys(words[-1])
        browser.all("#results .link")[1].click()
    keys = browser.texts(".legend .key > span")
    assert [key.split(": ")[0] for key in keys] == ["type:MatMul", "type:Add"]
    assert browser.all(".card.toned")
    browser.all(".legend .remove")[0].click()
    assert browser.texts(".legend .key > span") == keys[1:]


def test_keys_and_links(browser: Browser, encoder: Path) -> None:
    browser.open(encoder, "#27")
    assert browser.texts("#panel .name")[0] == "block1/attention/query"
    graph = browser.one("svg.graph")
    graph.send_keys("\ue015")  # down, along an edge
    assert browser.texts("#panel h2")[0] == "query"  # the group with what takes it
    graph.send_keys("\ue013")
    assert browser.texts("#panel .name")[0] == "block1/attention/query"
    assert browser.js("return location.hash") == "#27"
    selected = graph.get_attribute("aria-activedescendant")
    assert "MatMul block1/attention/query" in browser.one(f"#{selected}").accessible_name
    graph.send_keys("c")
    assert "Const" in browser.texts(".card .title")
    graph.send_keys("c\ue00c")
    assert "Const" not in browser.texts(".card .title")
    assert browser.all(".card.selected") == []


NAMES = """
return [...document.querySelectorAll("[role=button]")].filter(each => each.getClientRects().length)
  .filter(each => {
    const name = each.getAttribute("aria-label");
    return name && each.textContent.trim().length > 1 && !name.includes(each.textContent.trim());
  }).map(each => each.outerHTML.slice(0, 200))
"""


def test_arrows_lead_through_open_groups(browser: Browser, tmp_path: Path) -> None:
    net = Net()
    at = net.parameter("2,3", name="x")
    names = ["s/a/x", "s/a/y", "s/a/z", "s/b/x", "s/b/y", "s/b/z", "t/x", "t/y", "t/z"]
    for name in names:
        at = net.layer("ReLU", [at], outputs=["FP32:2,3"], name=name)
    net.result(at, name="out")
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    browser.js("document.getElementById('open-all').click()")
    graph = browser.one(".graph")
    browser.search("x type:Parameter")
    passed = []
    for key in ["\ue015"] * len(names):  # arrow down
        graph.send_keys(key)
        passed.append(browser.texts("#panel .name")[0])
    assert passed == names
    graph.send_keys("u")
    assert browser.texts("#panel h2")[0] == "t"
    graph.send_keys("\ue015")
    assert browser.texts("#panel .name")[0] == "t/x"
    graph.send_keys("\ue013")  # up
    assert browser.texts("#panel .name")[0] == "s/b/z"
    assert browser.js(NAMES) == []


def test_escape_closes_the_menu(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.one(".menu summary").click()
    browser.one("#constants").send_keys("\ue00c")
    assert browser.js("return document.querySelector('.menu').open") is False
    assert browser.js("return document.activeElement.tagName") == "SUMMARY"


def test_what_is_printed_is_the_drawing(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return [...document.body.children].filter(each => each.getClientRects().length)"
    assert browser.js(f"{shown}.map(each => each.className)") == ["print"]
    assert browser.all(".print .card")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.all(".print") == []


def test_equal_blocks_stand_below_each_other(browser: Browser, tmp_path: Path) -> None:
    net = Net()
    at = net.parameter("2,3", name="x")
    mask = net.parameter("2,3", name="mask")
    for number in range(6):
        start = at
        for name in ("a", "b", "c"):
            at = net.layer("ReLU", [at], outputs=["FP32:2,3"], name=f"n/{number}/{name}")
        at = net.layer("Add", [at, mask], outputs=["FP32:2,3"], name=f"n/{number}/d")
        at = net.layer("Add", [at, start], outputs=["FP32:2,3"], name=f"n/{number}/e")
    net.result(at, name="y")
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    browser.js("document.getElementById('open-all').click()")
    middles = """return [...document.querySelectorAll(".frame.scope > rect")].map(each => {
      const area = each.getBoundingClientRect(); return (area.left + area.right) / 2; })"""
    found = browser.js(middles)
    assert len(found) == 6
    assert max(found) - min(found) < 1


def test_the_first_screen_shows_layers(browser: Browser, tmp_path: Path) -> None:
    """Also if edges that pass many layers make the drawing far wider than its layers."""
    net = Net()
    x = at = net.parameter("2,3", name="x")
    for number in range(60):
        at = net.layer("Add", [at, x], outputs=["FP32:2,3"], name=f"add{number}")
    net.result(at, name="y")
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    assert 0 < browser.card("x").location["x"] < 800


@pytest.mark.parametrize("command", ["crosscheck", "run"])
def test_a_clean_result_opens_on_something(browser: Browser, command: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ["--random", "--stats"] if command == "run" else []
    call(command, EXAMPLES / "classifier.xml", *options, "--view", page)
    browser.open(page)
    assert browser.all("#panel .finding")
    browser.js("""const choice = document.getElementById("overlay");
      choice.value = [...choice.options].find(each => /verdicts|f16/.test(each.text)).value;
      choice.dispatchEvent(new Event("change"));""")
    assert "Nothing stands out" in browser.panel or browser.all("#panel .finding")


def test_costs_list_what_is_known_first(browser: Browser, tmp_path: Path) -> None:
    net = Net()
    known = net.layer("ReLU", [net.parameter("2,3", name="x")], outputs=["FP32:2,3"], name="known")
    unknown = net.layer("Mystery", [known], outputs=["FP32:"], name="unknown")
    net.result(net.layer("ReLU", [unknown], outputs=["FP32:"], name="behind"))
    browser.open(view(net.save(tmp_path), "-o", tmp_path / "page.html"))
    browser.js("""const choice = document.getElementById("overlay"); choice.value = "activations";
      choice.dispatchEvent(new Event("change"));""")
    rows = browser.texts("#panel .list .finding")
    assert "known" in rows[0] or "x" in rows[0]
    assert "not known" in rows[-1]


def test_groups_open_and_close_and_a_link_leads_to_them(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    browser.js("document.getElementById('close-all').click()")
    closed = browser.texts(".card.group .title")
    assert closed == ["embeddings", "block1", "block2"]
    browser.card("embeddings").click()
    assert "ShapeOf_7" in browser.names()
    browser.one(".frame .head").click()
    assert browser.texts(".card.group .title") == closed
    browser.card("embeddings").click()
    browser.button("Show alone").click()
    assert browser.texts(".card.group .title, .frame .title") == []
    assert "ShapeOf_7" in browser.names()
    browser.one(".alone button").click()
    assert "block1" in browser.texts(".card.group .title")
    browser.search("embeddings/words")
    browser.js(
        "[...document.querySelectorAll('.menu button')]"
        ".find(each => each.textContent.startsWith('Copy')).click()"
    )
    drawn = browser.js("return document.querySelector('.world').getAttribute('transform')")
    fragment = browser.js("return location.hash")
    browser.open(encoder, fragment)
    assert browser.texts("#panel .name")[0] == "embeddings/words"
    titles = "return [...document.querySelectorAll('.frame .title')].map(each => each.textContent)"
    assert browser.js(titles) == ["embeddings"]
    again = browser.js("return document.querySelector('.world').getAttribute('transform')")
    assert [round(float(each)) for each in re.findall(r"-?[\d.]+", again)] == [
        round(float(each)) for each in re.findall(r"-?[\d.]+", drawn)
    ]


def test_options_of_the_view(browser: Browser, encoder: Path) -> None:
    browser.open(encoder)
    tall = browser.js("return document.querySelector('.minimap').height")
    browser.js("for (const id of ['attributes', 'sideways']) document.getElementById(id).click()")
    assert any(" = " in text for text in browser.texts(".card .row"))
    assert browser.js("return document.querySelector('.minimap').height") < tall
    saved = browser.js(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () {"
        "  window.saved.push([this.download, this.href]) };"
        "const buttons = [...document.querySelectorAll('.menu button')];"
        "buttons.filter(each => each.textContent.startsWith('Save')).forEach(each => each.click());"
        "return new Promise(done => { const wait = () => window.saved.length > 1"
        "  ? done(window.saved.map(each => each[0])) : setTimeout(wait, 20); wait() })"
    )
    assert saved == ["encoder.svg", "encoder.png"]
    browser.search("block1/attention/query MatMul")
    browser.button("Above").click()
    assert browser.all(".card.on-path")


def test_bodies_open_in_place(browser: Browser, tmp_path: Path) -> None:
    browser.open(view(EXAMPLES / "control_flow.xml", "-o", tmp_path / "page.html"))
    browser.js("document.getElementById('close-all').click()")
    browser.search("add_or_multiply")
    assert browser.texts("#panel h2")[0] == "If"
    assert "then_port_map" in browser.panel or "then_body" in browser.panel
    browser.card("If").find_element("css selector", ".sign").click()
    assert {"then_body", "else_body"} <= set(browser.texts(".card.group .title"))


def test_two_inputs_that_do_not_fit(browser: Browser, tmp_path: Path) -> None:
    """Whoever opens the page is led to the layer, and sees both shapes."""
    net = Net()
    images, weights = net.parameter("2,3", name="images"), net.parameter("5,4", name="weights")
    net.result(net.layer("MatMul", [images, weights], name="project", outputs=["FP32:-1,-1"]))
    browser.open(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))
    (finding,) = browser.all("#panel button.finding.error")
    assert "IR4" in finding.text
    finding.click()
    assert browser.texts("#panel .name")[0] == "project"
    assert {"f32 [2,3]", "f32 [5,4]"} <= set(browser.texts("#panel .tensor p"))
    assert "project" in browser.one(".card.selected").text
    assert "has-error" in (browser.one(".card.selected").get_attribute("class") or "")


# overlays, and two models


def activations(folder: Path, name: str, *types: str) -> Path:
    """A chain of layers of these types; each takes the output of the one before."""
    net = Net()
    at = net.parameter("2,3", name="x")
    for number, type in enumerate(types):
        at = net.layer(type, [at], outputs=["FP32:2,3"], name=f"{type.lower()}_{number}")
    net.result(at, name="y")
    return net.save(folder, name, declare=False)


def test_the_first_layer_that_differs(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`irshape crosscheck --view` leads to it, with its error; what is behind it only inherits."""
    path = activations(tmp_path, "m", "Sin", "Exp", "Tanh", "Cos")
    asked = runtime.ask

    def falsified(*arguments: Any) -> runtime.Answer:
        answer = asked(*arguments)
        for (name, _), (_, _, file) in answer.values.items():
            if name == "2":
                values = np.frombuffer(file.read_bytes(), np.float32) + np.float32(0.5)
                file.write_bytes(values.tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", falsified)
    page = tmp_path / "page.html"
    call("crosscheck", path, "--view", page, "-f", "json", "-o", tmp_path / "r.json", status=1)
    for each in (page, view(path, "--crosscheck", tmp_path / "r.json", "-o", tmp_path / "b.html")):
        browser.open(each)
        browser.one("#panel .focus").click()
        assert browser.texts("#panel .name")[0] == "exp_1"
        assert "differs by itself; error 0.5" in browser.panel
        assert "exp_1" in browser.one(".card.selected").text
        assert browser.texts(".legend .key")[0] == "differs by itself: 1"


def test_ranges_of_a_run(browser: Browser, tmp_path: Path) -> None:
    path = activations(tmp_path, "m", "Exp", "Exp", "Exp", "Exp")
    call("run", path, "--random", "--stats", "--view", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    (first, *_) = browser.all("#panel .focus")
    assert first.text.startswith("The first")
    first.click()
    assert "exp_" in browser.texts("#panel .name")[0]
    assert "f16" in browser.panel or "infinite" in browser.panel
    browser.js(
        "const choice = document.getElementById('overlay'); choice.value = 'magnitudes';"
        "choice.dispatchEvent(new Event('change'))"
    )
    assert browser.all(".legend .scale")


def test_what_changed_between_two_exports(browser: Browser, tmp_path: Path) -> None:
    """Whoever opens the page reads what changed; a click shows it in both graphs."""
    first = activations(tmp_path, "first", "Sin", "Exp", "Tanh", "Cos")
    second = activations(tmp_path, "second", "Sin", "Exp", "Sigmoid", "Cos", "Floor")
    call("diff", first, second, "--view", tmp_path / "page.html", status=1)
    browser.open(tmp_path / "page.html")
    changes = browser.all("#panel [data-change]")
    assert [each.text.split("\n")[:3] for each in changes] == [
        ["changed", "Sigmoid", "sigmoid_2"],
        ["changed", "Result", "y"],
        ["added", "Floor", "floor_4"],
    ]
    assert "Tanh" in changes[0].text
    changes[0].click()
    assert "type: Tanh" in browser.panel.replace("\n", " ") or "Tanh" in browser.panel
    selected = browser.all(".card.selected")
    assert [each.text.split("\n")[1] for each in selected] == ["tanh_2", "sigmoid_2"]
    assert len({each.location["y"] for each in selected}) == 1  # they stand side by side
    for each in selected:
        assert "mark-changed" in (each.get_attribute("class") or "")
    assert browser.all(".card.mark-added")


def test_values_that_differ(browser: Browser, tmp_path: Path) -> None:
    paths = []
    for name, factor in (("first", 2.0), ("second", 2.5)):
        net = Net()
        x = net.parameter("2,3", name="x")
        scaled = net.layer(
            "Multiply", [x, net.constant([factor] * 3, "f32")], name="scaled", outputs=["FP32:2,3"]
        )
        net.result(net.layer("Sin", [scaled], outputs=["FP32:2,3"], name="sin"), name="y")
        paths.append(net.save(tmp_path, name, declare=False))
    call("compare", *paths, "--view", tmp_path / "page.html", status=1)
    browser.open(tmp_path / "page.html")
    (change, *_) = browser.all("#panel [data-change]")
    assert "scaled" in change.text
    assert "largest error" in change.text


def test_a_release_that_does_not_read_a_layer(browser: Browser, tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("ISTFT", [net.parameter("4", name="x")], version="opset16"), name="y")
    page = view(net.save(tmp_path, declare=False), "--target", "2024.0", "-o", tmp_path / "p.html")
    browser.open(page)
    assert "2024.0 does not read the red layers" in browser.panel


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


@pytest.mark.parametrize("attack", ["markup in a name", "markup in a type"])
def test_attacks(browser: Browser, attack: str, tmp_path: Path) -> None:
    browser.open(view(ATTACKS[attack].make(tmp_path), "-o", tmp_path / "page.html"))
    assert "alert(1)" in browser.js("return document.body.textContent")
    assert browser.js("return document.scripts.length") == 3


def test_a_page_is_made_of_a_file_without_a_model(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net name='m' version='11'><layers><layer", encoding="utf-8")
    browser.open(view(path, "-o", tmp_path / "page.html"))
    assert "IR001" in browser.panel
