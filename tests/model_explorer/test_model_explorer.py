"""Models and overlays in Model Explorer: with its package if it is installed, or a stand-in."""

from __future__ import annotations

import dataclasses
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from ir import Net

from irshape.cli import cli

INSTALLED = find_spec("model_explorer.graph_builder") is not None  # this folder has its name
if not INSTALLED:
    from stand_in import stand_in

    stand_in()

from irshape.model_explorer import main  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODEL = str(EXAMPLES / "recurrent.xml")


def graphs_of(path: str | Path) -> dict[str, Any]:
    return {graph.id: graph for graph in main.ModelAdapter().convert(str(path), {})["graphs"]}


def pairs(items: list[Any]) -> list[tuple[str, str]]:
    return [(item.key, item.value) for item in items]


def test_a_graph_for_the_net_and_each_body() -> None:
    graphs = graphs_of(MODEL)
    assert [(name, len(graph.nodes)) for name, graph in graphs.items()] == [
        ("net", 55),
        ("20/body", 14),
        ("50/body", 25),
    ]
    nodes = {node.id: node for node in graphs["net"].nodes}
    assert nodes["20"].subgraphIds == ["20/body"]
    for graph in graphs.values():
        known = {node.id for node in graph.nodes}
        assert len(known) == len(graph.nodes)
        assert {edge.sourceNodeId for node in graph.nodes for edge in node.incomingEdges} <= known


def test_nodes_have_scopes_shapes_and_attributes() -> None:
    nodes = {node.id: node for node in graphs_of(EXAMPLES / "classifier.xml")["net"].nodes}
    node = next(node for node in nodes.values() if ("name", "block1/conv1") in pairs(node.attrs))
    assert node.label == "Convolution"
    assert node.namespace == "block1"
    assert ("strides", "1, 1") in pairs(node.attrs)
    assert pairs(node.outputsMetadata[0].attrs)[0] == ("tensor_shape", "f32 [1,12,16,16]")
    edges = [(edge.sourceNodeOutputId, edge.targetNodeInputId) for edge in node.incomingEdges]
    assert edges == [("0", "0"), ("0", "1")]


def test_a_broken_model_is_drawn_with_its_findings(tmp_path: Path) -> None:
    net = Net()
    relu = net.layer("ReLU", [net.parameter("2,3")], outputs=["FP32:2,4"], name="twice")
    net.result(relu)
    path = net.save(tmp_path)
    text = path.read_text()
    path.write_text(text.replace('<layer id="2"', '<layer id="1"'))  # an id that repeats
    graph = graphs_of(path)["net"]
    assert len({node.id for node in graph.nodes}) == len(graph.nodes) == 3
    relu = next(node for node in graph.nodes if node.label == "ReLU")
    assert ("declared", "f32 [2,4]") in pairs(relu.outputsMetadata[0].attrs)
    assert any(key == "finding" and "IR101" in value for key, value in pairs(relu.attrs)) or any(
        "IR101" in value for node in graph.nodes for _, value in pairs(node.attrs)
    )


def test_a_finding_on_a_constant_shows_at_its_consumer(tmp_path: Path) -> None:
    net = Net()
    constant = net.constant([1.0, 2.0, 3.0], "f32")
    add = net.layer("Add", [net.parameter("2,3"), constant], outputs=["FP32:2,3"], name="sum")
    net.result(add)
    path = net.save(tmp_path)
    text = path.read_text()
    path.write_text(text.replace('size="12"', 'size="8"'))  # fewer bytes than elements
    nodes = {node.label: node for node in graphs_of(path)["net"].nodes}
    for label in ("Const", "Add"):
        told = [value for key, value in pairs(nodes[label].attrs) if key == "finding"]
        assert any(value.startswith("error IR5") for value in told), label
    (data,) = main.Overlays().run("irshape_findings", str(path), "net", {}).result
    assert data.results[nodes["Add"].id].value == "error"


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net")
    with pytest.raises(ValueError, match="IR001"):
        graphs_of(path)
    done = main.Overlays().run("irshape_findings", str(path), "net", {})
    assert done.result is None
    assert "IR001" in done.error


# Node data


class Provided(NamedTuple):
    provider: str
    command: tuple[str, ...] = ()
    """What writes the result that the provider shows."""
    names: tuple[str, ...] = ()
    graph: str = "net"


PROVIDED = [
    Provided("irshape_findings", (), ("Findings",)),
    Provided(
        "irshape_costs",
        (),
        ("Multiply-adds", "Bytes of outputs", "Bytes of weights", "Dynamic dimensions", "Releases"),
    ),
    Provided(
        "irshape_crosscheck", ("crosscheck",), ("Cross-check: verdicts", "Cross-check: errors")
    ),
    Provided("irshape_stats", ("run", "--random", "--stats"), ("Values: NaN and f16",)),
]


@pytest.mark.parametrize("row", PROVIDED, ids=lambda row: row.provider)
def test_node_data(row: Provided, tmp_path: Path) -> None:
    config = {}
    editors = main.Overlays().get_config_editors(row.provider).configEditors
    assert [editor.id for editor in editors] == (["result"] if row.command else [])
    if row.command:
        words = [*row.command, MODEL, "--format", "json"]
        (tmp_path / "result.json").write_text(CliRunner().invoke(cli, words).stdout)
        config["result"] = str(tmp_path / "result.json")
    done = main.Overlays().run(row.provider, MODEL, row.graph, config)
    assert done.error == ""
    assert {data.name for data in done.result} >= set(row.names)
    known = {node.id for node in graphs_of(MODEL)[row.graph].nodes}
    for data in done.result:
        assert data.results.keys() <= known
        assert json.dumps([dataclasses.asdict(each) for each in data.results.values()])


def test_a_result_of_something_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"version": 1}')
    config = {"result": str(tmp_path / "result.json")}
    assert main.Overlays().run("irshape_stats", MODEL, "net", config).error
    assert main.Overlays().run("irshape_crosscheck", MODEL, "net", {}).error


def test_what_is_registered() -> None:
    assert main.ModelAdapter.metadata.fileExts == ["xml"]
    assert [each.id for each in main.Overlays.metadata] == [row.provider for row in PROVIDED]


@pytest.mark.skipif(not INSTALLED, reason="ai-edge-model-explorer is not installed")
def test_the_stand_in_has_the_fields_of_the_package() -> None:
    import model_explorer
    from stand_in import PARTS

    for part, classes in PARTS.items():
        module = getattr(model_explorer, part) if part else model_explorer
        for cls in filter(dataclasses.is_dataclass, classes):
            real = {each.name for each in dataclasses.fields(getattr(module, cls.__name__))}
            assert {each.name for each in dataclasses.fields(cls)} <= real, cls
