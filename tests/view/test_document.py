"""What the page of `irshape view` holds: groups, folded constants, declared and inferred shapes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from ir import Net
from view.browser import view

from irshape.cli import cli

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 500_000
"""Bytes of a page without its data."""


def document(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    match = re.search(r'<script type="application/json" id="document">(.*?)</script>', text)
    assert match is not None
    read = json.loads(match[1])
    assert isinstance(read, dict)
    return read


def groups(page: Path) -> list[tuple[str, str, list[str]]]:
    """Kind, name and the names of the layers that are shown, of each group."""
    model = document(page)["models"][0]
    return [
        (kind, name, [row[1] for row in model["layers"] if row[4] == number and not row[5]])
        for number, (kind, name, *_) in enumerate(model["groups"])
    ]


def chain(names: list[str], folder: Path) -> Path:
    """A model of Relu layers with these names, one behind the other."""
    net = Net()
    at = net.parameter("2,3", name="x")
    for name in names:
        at = net.layer("ReLU", [at], outputs=["FP32:2,3"], name=name)
    net.result(at, name="y")
    return net.save(folder, declare=False)


class Grouping(NamedTuple):
    names: list[str]
    expected: list[tuple[str, str, int]]
    """Kind and name of each group, and how many layers it has itself."""


GROUPINGS = {
    "no scopes": Grouping(["a", "b"], [("root", "m", 4)]),
    "a scope of few layers is none": Grouping(["s/a", "s/b"], [("root", "m", 4)]),
    "a scope": Grouping(["s/a", "s/b", "s/c"], [("root", "m", 2), ("scope", "s", 3)]),
    "a layer without a scope is where its neighbours are": Grouping(
        ["s/a", "b", "s/c"], [("root", "m", 2), ("scope", "s", 3)]
    ),
    "the operation of an exporter is no scope": Grouping(
        ["s.t/aten::add/A", "s.t/aten::add/B", "s.t/aten::mul/C"],
        [("root", "m", 2), ("scope", "s/t", 3)],
    ),
    "blocks": Grouping(
        [f"block.{number}/{name}" for number in range(3) for name in "abc"],
        [
            ("root", "m", 2),
            ("repeat", "block", 0),
            *(("scope", f"{number}", 3) for number in range(3)),
        ],
    ),
    "blocks beside others": Grouping(
        [f"s/{name}{part}" for name in ("in", "b1", "b2") for part in ("/x", "/y", "/z")]
        + ["s/out"],
        [
            ("root", "m", 2),
            ("scope", "s", 1),
            ("scope", "in", 3),
            ("repeat", "b1 … b2", 0),
            ("scope", "b1", 3),
            ("scope", "b2", 3),
        ],
    ),
    "many layers without scopes": Grouping(
        [f"n{number}" for number in range(100)],
        [("root", "m", 0), ("part", "x … n58", 60), ("part", "n59 … y", 42)],
    ),
    "a number that tells layers of one name apart is no name": Grouping(
        [f"n.{number}" for number in range(5)], [("root", "m", 7)]
    ),
    "a scope that holds nearly all layers": Grouping(
        [f"module/{part}/{name}" for part in ("stem", "head") for name in "abcdefghij"],
        [("root", "m", 2), ("scope", "stem", 10), ("scope", "head", 10)],
    ),
    "a layer between two of a scope is in it": Grouping(
        ["s/a/x", "s/a/y", "s/z", "s/a/u", "t/a", "t/b", "t/c"],
        [("root", "m", 2), ("scope", "s/a", 4), ("scope", "t", 3)],
    ),
    "a module that is called between blocks is no group": Grouping(
        [
            f"{name}{part}"
            for name in ("b1", "norm", "b2", "norm", "b3", "norm")
            for part in ("/x", "/y", "/z")
        ],
        [
            ("root", "m", 5),
            ("repeat", "b1 … b3", 6),
            ("scope", "b1", 3),
            ("scope", "b2", 3),
            ("scope", "b3", 3),
        ],
    ),
    "a scope without end": Grouping(
        ["/".join("s" * 5000)] * 3, [("root", "m", 2), ("scope", "", 3)]
    ),
}


def residual(net: Net, at: Any, scope: str) -> Any:
    """A block as PyTorch's frontend names it: what is fused has a name without a scope."""
    start = at
    for part in ("conv1", "conv2"):
        at = net.layer("Exp", [at], outputs=["FP32:2,3"], name=f"Multiply_1_{part}")
        at = net.layer("ReLU", [at], outputs=["FP32:2,3"], name=f"{scope}/{part}/relu")
    at = net.layer("Exp", [at], outputs=["FP32:2,3"], name="Multiply_2")
    return net.layer("Add", [at, start], outputs=["FP32:2,3"], name=f"{scope}/aten::add/Add")


def test_what_is_fused_is_in_its_block(tmp_path: Path) -> None:
    net = Net()
    at = net.parameter("2,3", name="x")
    for scope in ("stage.0.0", "stage.0.1", "stage.1.0"):
        at = residual(net, at, scope)
    net.result(at, name="y")
    page = view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html")
    assert groups(page)[0][2] == ["x", "y"]
    assert circles(page) == []


def circles(page: Path) -> list[str]:
    """The groups that feed a member of the same group, and take from it."""
    model = document(page)["models"][0]
    parents = [parent for _, _, parent, _ in model["groups"]]

    def chain_of(layer: int) -> list[str]:
        at = model["layers"][layer][4]
        way = [f"layer {layer}"]
        while at >= 0:
            way.insert(0, f"group {at}")
            at = parents[at]
        return way

    feeds: dict[str, set[str]] = {}
    for taker, row in enumerate(model["layers"]):
        for source in row[8][::2]:
            if source < 0 or model["layers"][source][5] or row[5]:
                continue
            one, other = chain_of(source), chain_of(taker)
            at = next(
                at for at, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1
            )
            feeds.setdefault(one[at], set()).add(other[at])

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for each in feeds.get(waiting.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return seen

    return [name for name in feeds if name in reached(name)]


@pytest.mark.parametrize("name", ["classifier", "encoder", "decoder", "recurrent"])
def test_no_group_is_in_a_circle(name: str, tmp_path: Path) -> None:
    page = view(ROOT / "examples" / f"{name}.xml", "-o", tmp_path / "page.html")
    assert circles(page) == []


def test_open_starts_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "irshape", "view", str(ROOT / "examples" / "recurrent.xml")]
    environment = {**os.environ, "BROWSER": str(browser)}
    done = subprocess.run(
        [*command, "-o", "m.html", "--open"], cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "opened").read_text().strip() == (tmp_path / "m.html").resolve().as_uri()


def test_keys_of_node_data_that_match_nothing_are_said(tmp_path: Path) -> None:
    data = {"results": {"0": {"value": 1}, "nowhere": {"value": 2}}}
    (tmp_path / "data.json").write_text(json.dumps(data))
    words = ["view", str(ROOT / "examples" / "recurrent.xml"), "-o", str(tmp_path / "m.html")]
    done = CliRunner().invoke(cli, [*words, "--node-data", str(tmp_path / "data.json")])
    assert done.exit_code == 0
    assert "'nowhere'" in done.stderr
    (overlay, *_) = document(tmp_path / "m.html")["models"][0]["overlays"]
    assert "'nowhere'" in overlay["about"]
    assert "'0'" not in overlay["about"]


def test_types_that_repeat_are_blocks_where_names_give_no_scopes(tmp_path: Path) -> None:
    net = Net()
    at = net.parameter("2,3", name="x")
    for _ in range(30):
        for type in ("ReLU", "Exp", "Sin", "ReLU"):
            at = net.layer(type, [at], outputs=["FP32:2,3"])
    net.result(at, name="y")
    page = view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html")
    (root, repeat, *blocks) = groups(page)
    assert root[2] == ["x", "y"]
    assert repeat == ("repeat", "ReLU", [])
    assert len(blocks) == 30
    assert all(len(names) == 4 for _, _, names in blocks)


@pytest.mark.parametrize("case", GROUPINGS)
def test_groups(case: str, tmp_path: Path) -> None:
    names, expected = GROUPINGS[case]
    found_groups = groups(view(chain(names, tmp_path), "-o", tmp_path / "page.html"))
    shown = [
        (kind, name if kind != "scope" or len(name) < 40 else "", len(inside))
        for kind, name, inside in found_groups
    ]
    assert sorted(shown) == sorted(expected)


def test_constants_are_part_of_what_takes_them(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("2,3", name="x")
    halves = net.layer("Convert", [net.constant(2)], 'destination_type="f32"', name="halves")
    net.result(net.layer("Multiply", [x, halves], name="scaled", outputs=["FP32:2,3"]), name="y")
    net.result(net.constant([1, 2]), name="z")
    (root,) = groups(view(net.save(tmp_path), "-o", tmp_path / "page.html"))
    assert root[2] == ["x", "scaled", "y", "c5", "z"]  # c5 is an output of the model


def test_what_ports_declare_and_what_is_inferred(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,3", name="x")
    net.result(net.layer("ReLU", [x], outputs=["FP32:2,4"], name="right"), name="y")
    model = document(view(net.save(tmp_path, declare=False), "-o", tmp_path / "page.html"))[
        "models"
    ][0]
    said = {
        row[1]: [
            [*model["outputs"][output][:3], ", ".join(row[10]), model["outputs"][output][3]]
            for output in row[9]
        ]
        for row in model["layers"]
    }
    assert said["x"] == [["f32 [?,3]", "f32 [?,3]", "[x_0,3]", "x", 0]]
    assert said["right"] == [["f32 [2,4]", "f32 [?,3]", "[x_0,3]", "", 1]]
    assert "IR201" in [finding["code"] for finding in model["findings"]]


def test_a_page_is_small_and_asks_for_nothing(tmp_path: Path) -> None:
    page = view(chain(["a"], tmp_path), "-o", tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert "default-src 'none'" in text
    assert "Permission is hereby granted" in text  # the licence of the layout library
    beyond_data = re.sub(r'<script type="application/json".*?</script>', "", text)
    addresses = set(re.findall(r"https?://[^\s\"']+", beyond_data))
    namespaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
    assert addresses == namespaces


ONNX = "tests/formats/onnx/networks/resnet50.onnx"


@pytest.mark.parametrize("name", ["examples/control_flow.xml", "examples/decoder.xml", ONNX])
def test_the_same_model_gives_the_same_page(name: str, tmp_path: Path) -> None:
    path = ROOT / name
    pages = [view(path, "-o", tmp_path / f"{each}.html").read_bytes() for each in "ab"]
    assert pages[0] == pages[1]


def test_no_numpy_without_histograms(tmp_path: Path) -> None:
    code = (
        "import sys; from irshape.cli import cli; "
        "cli.main(sys.argv[1:], standalone_mode=False); "
        "assert not {'numpy', 'lxml'} & set(sys.modules)"
    )
    model = ROOT / "examples" / "encoder.xml"
    call = [sys.executable, "-c", code, "view", str(model), "-o", str(tmp_path / "page.html")]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["view", str(tmp_path / "m.xml")])
    assert isinstance(done.exception, OSError)  # `irshape` makes it one line and status 2


RESULT = {"layer": {"path": [], "id": "0"}, "element_type": "f32"}
VERDICTS = dict.fromkeys(("shape_verdict", "value_verdict", "own_verdict"), "equal")


@pytest.mark.parametrize("option", ["--crosscheck", "--stats", "--compare", "--node-data"])
@pytest.mark.parametrize(
    "result",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"outputs": 3, "tensors": 3}',
        '{"outputs": [{}], "tensors": [{}]}',
        json.dumps({"outputs": [{**RESULT, **VERDICTS, "layer": 3}]}),
        json.dumps({"outputs": [{**RESULT, **VERDICTS, "layer": {"path": [[]], "id": []}}]}),
        json.dumps({"outputs": [{**RESULT, "own_verdict": [], "lowest": "x", "nan": "y"}]}),
    ],
)
def test_what_is_not_a_result_is_refused(option: str, result: str, tmp_path: Path) -> None:
    model = chain(["a"], tmp_path)
    (tmp_path / "result.json").write_text(result, encoding="utf-8")
    beside = ["--beside", str(model)] if option == "--compare" else []
    given = ["view", str(model), option, str(tmp_path / "result.json"), *beside]
    done = CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 2, done.output
    form = "node data" if option == "--node-data" else "what `irshape"
    assert f"result.json' is not {form}" in done.output
    assert not (tmp_path / "page.html").exists()


class NodeData(NamedTuple):
    data: object
    title: str
    notes: dict[str, str]
    """By the name of the layer."""


NODE_DATA = {
    "numbers": NodeData(
        {"results": {"a": {"value": 2.5}, "nobody": {"value": 1}}}, "data", {"a": "2.5"}
    ),
    "by tensor and id": NodeData(
        {"results": {"1": {"value": -3}, "x": {"value": 4}}}, "data", {"a": "-3", "x": "4"}
    ),
    "texts": NodeData(
        {"results": {"a": {"value": "gpu"}, "x": "cpu"}}, "data", {"a": "gpu", "x": "cpu"}
    ),
    "a graph by its name": NodeData(
        {"main": {"name": "latency", "results": {"a": {"value": 1}}}}, "latency", {"a": "1"}
    ),
    "nothing that fits": NodeData(
        {"results": {"b": 1, "a": {"value": float("nan")}, "x": {"value": 10**400}}}, "data", {}
    ),
}


@pytest.mark.parametrize("case", NODE_DATA)
def test_node_data(case: str, tmp_path: Path) -> None:
    data, title, notes = NODE_DATA[case]
    path = tmp_path / "data.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    model = chain(["a"], tmp_path)
    page = view(model, "--node-data", path, "-o", tmp_path / "page.html")
    shown = document(page)["models"][0]
    overlay = shown["overlays"][0]
    assert overlay["title"] == title
    found = {shown["layers"][at][1]: note for _, note, ats in overlay["values"] for at in ats}
    assert found == notes


@pytest.mark.parametrize("broken", ["first", "second"])
def test_two_models_of_which_one_cannot_be_read(broken: str, tmp_path: Path) -> None:
    model = chain(["a"], tmp_path)
    (tmp_path / "broken.xml").write_text("<net", encoding="utf-8")
    pair = [model, tmp_path / "broken.xml"]
    first, second = pair if broken == "second" else pair[::-1]
    page = view(first, "--beside", second, "-o", tmp_path / "page.html")
    read = document(page)
    assert read["beside"]["pairs"] == []
    assert [bool(each["layers"]) for each in read["models"]] == [first == model, second == model]
