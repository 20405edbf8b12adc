"""`irshape query`: what an expression selects, and that no expression hangs or explodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from formats.onednn.cases import graph, operation, tensor

import irshape
from irshape.cli import cli

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CONTROL_FLOW = EXAMPLES / "control_flow.xml"


COUNT = 8_000
"""Layers of a model that takes longer than `--timeout` if each layer searches all edges."""


def net_of(name: str, count: int, ports: str = "", edges: str = "") -> str:
    """Layers of one name."""
    layers = "".join(
        f'<layer id="{number}" name="{name}" type="Parameter" version="opset1">{ports}</layer>'
        for number in range(count)
    )
    return f'<net name="n" version="11"><layers>{layers}</layers>{edges}</net>'


def query(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["query", *map(str, arguments)])


def matches(xpath: str, *paths: Path) -> list[dict[str, Any]]:
    result = query(xpath, *paths, "--format", "json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["version"] == 1
    assert answer["xpath"] == xpath
    return list(answer["matches"])


def ids(found: list[dict[str, Any]]) -> list[str]:
    return ["/".join([*match["layer"]["path"], match["layer"]["id"]]) for match in found]


def loaded_ids(model: str, *types: str) -> list[str]:
    layers = irshape.load(EXAMPLES / model).walk()
    return ["/".join([*layer.path, layer.id]) for layer in layers if layer.type in types]


@pytest.mark.parametrize(
    ("xpath", "model", "types"),
    [
        ("//nothing", "control_flow", ""),
        ("//layer[@type='Loop']", "control_flow", "Loop"),
        ("//layer[@type='If']", "control_flow", "If"),
        ("//layer[@type='Parameter']", "control_flow", "Parameter"),
        ("//layer[@type='ReduceMean']/data", "reductions", "ReduceMean"),
        ("//layer[@type='ReduceMean']/data/@keep_dims", "reductions", "ReduceMean"),
    ],
)
def test_layers_are_found(xpath: str, model: str, types: str) -> None:
    """The ids of layers, with the path inside bodies."""
    assert ids(matches(xpath, EXAMPLES / f"{model}.xml")) == loaded_ids(f"{model}.xml", types)


def test_edges_are_followed(tmp_path: Path) -> None:
    model = irshape.load(EXAMPLES / "encoder.xml")
    feeders = {edge.from_layer for edge in model.net.edges}
    xpath = "//layer[not(consumers(.)) and not(parent::layers/parent::body)]"
    without = {layer.id for layer in model.layers} - feeders
    assert set(ids(matches(xpath, EXAMPLES / "encoder.xml"))) == without
    chain = "".join(
        f'<edge from-layer="{number}" from-port="0" to-layer="{number + 1}" to-port="0"/>'
        for number in range(COUNT)
    )
    long = net_of("x", COUNT, '<input><port id="0"/></input>', f"<edges>{chain}</edges>")
    path = tmp_path / "long.xml"
    path.write_text(long)
    assert matches("count(//layer[producer(.)/@name='x'])", path)[0]["value"] == COUNT - 1
    fed_by_constant = matches(
        "//layer[@type='MatMul'][producer(input/port[2])/@type='Const']", EXAMPLES / "encoder.xml"
    )
    by_id = model.net.by_id
    expected = [
        layer.id
        for layer in model.layers
        if layer.type == "MatMul"
        and any(
            by_id[edge.from_layer].type == "Const"
            for edge in model.net.edges
            if edge.to_layer == layer.id and edge.to_port == layer.inputs[1].id
        )
    ]
    assert ids(fed_by_constant) == expected
    assert expected


def test_inferred_shapes_can_be_asked_for(tmp_path: Path) -> None:
    wrong = ROOT / "examples/layers/wrong/axis_not_reduced.xml"
    (match,) = matches("//layer[shape(output/port) = '[8,16,1,1]']", wrong)
    (output,) = match["outputs"]
    assert output["declared"]["shape"] == "[8,16,14,1]"
    assert output["inferred"]["shape"] == "[8,16,1,1]"
    assert matches("//layer[element-type(.) = 'i64' and @type='ReduceMean']", wrong) == []
    looped = matches("//body//layer[@type='Parameter'][shape(.) = '[1..16,4]']", CONTROL_FLOW)
    listing = irshape.infer(irshape.load(CONTROL_FLOW)).to_dict()["layers"]
    assert ids(looped) == [
        "/".join([*layer["path"], layer["id"]])
        for layer in listing
        if "body" in layer["path"]
        and layer["type"] == "Parameter"
        and layer["outputs"][0]["shape"] == "[1..16,4]"
    ]
    assert looped


def test_a_match_has_its_place() -> None:
    path = EXAMPLES / "reductions.xml"
    lines = path.read_text().splitlines()
    for match in matches("//layer[@type='ReduceMean']/data/@keep_dims", path):
        text = lines[match["line"] - 1][match["column"] - 1 :]
        assert text.startswith(f'keep_dims="{match["text"]}"')


def test_a_line_past_65535_is_right(tmp_path: Path) -> None:
    """libxml2 counts no further."""
    inner = "\n" * 70_000
    path = tmp_path / "long.xml"
    path.write_text(net_of("far", 1).replace("<layers>", f"<layers>{inner}\n"))
    (match,) = matches("//layer", path)
    assert (match["line"], match["column"]) == (70_002, 1)


@pytest.mark.parametrize(
    ("xpath", "printed"),
    [
        ("count(//layer[@type='Loop'])", str(len(loaded_ids("control_flow.xml", "Loop")))),
        ("string(//net/@version)", "11"),
        ("1 div 4", "0.25"),
        ("boolean(//layer[@type='NoSuch'])", "false"),
        ("boolean(//layer)", "true"),
    ],
)
def test_values_are_printed_for_each_file(xpath: str, printed: str) -> None:
    assert query(xpath, CONTROL_FLOW).stdout == f"{CONTROL_FLOW}: {printed}\n"
    (answer,) = json.loads(query(xpath, CONTROL_FLOW, "-f", "json").stdout)["matches"]
    assert answer["path"] == str(CONTROL_FLOW)


def test_layers_on_their_own_and_other_formats_are_documents_too(tmp_path: Path) -> None:
    alone = EXAMPLES / "layers/wrong/axis_not_reduced.xml"
    (match,) = matches("//layer[@type='ReduceMean']", alone)
    assert match["line"] == 1
    relu = operation("ReLU", [tensor(0, [2, 3])], [tensor(1, [2, 3])])
    path = tmp_path / "graph.json"
    path.write_text(graph(relu))
    (match,) = matches("//layer[@type='ReLU'][producer(.)/@type='Parameter']", path)
    assert match["outputs"][0]["inferred"] == {"element_type": "f32", "shape": "[2,3]"}


def test_several_files_and_forms() -> None:
    first, second = EXAMPLES / "encoder.xml", EXAMPLES / "decoder.xml"
    lines = query("//layer[@type='Result']", first, second, "-f", "jsonl").stdout.splitlines()
    assert {json.loads(line)["path"] for line in lines} == {str(first), str(second)}
    counted = query("count(//layer[@type='Result'])", first, second).stdout.splitlines()
    assert [line.rpartition(": ")[0] for line in counted] == [str(first), str(second)]
    assert sum(int(line.rpartition(": ")[2]) for line in counted) == len(lines)
    text = query("//layer[@type='Result']", first).stdout
    assert text.startswith(f"{first}:")


@pytest.mark.parametrize(
    ("xpath", "seconds", "status", "said"),
    [
        ("//layer[", 60, 2, "the expression cannot be used"),
        ("nosuch(//layer)", 60, 1, "could not be evaluated"),
        ("//a:layer", 60, 1, "could not be evaluated"),
        ('//layer[re:test(@name, "*a")]', 60, 1, "not a regular expression"),
        ("count(//*[count(//*[count(//*[count(//*) > 5]) > 5]) > 5])", 0.5, 1, "more than 0.5 s"),
        ("//layer[re:test(@name, '^(([a-z/_0-9])+.)+$')]", 0.5, 1, "more than 0.5 s"),
    ],
    ids=[
        *("malformed", "unknown function", "unknown prefix", "malformed pattern"),
        *("endless", "endless pattern"),
    ],
)
def test_no_expression_hangs_or_raises(
    tmp_path: Path, xpath: str, seconds: float, status: int, said: str
) -> None:
    path = tmp_path / "m.xml"
    path.write_text(net_of("a" * 60 + "!\n", 500))
    result = query("--timeout", str(seconds), xpath, path)
    assert result.exit_code == status, result.output
    assert said in result.output


def test_an_expression_that_is_ended_does_not_end_the_next_file(tmp_path: Path) -> None:
    small, large = tmp_path / "a.xml", tmp_path / "b.xml"
    large.write_text(net_of("n", 600))
    small.write_text(net_of("n", 1))
    slow = "count(//layer[count(//layer[count(//layer[count(//layer) > 0]) > 0]) > 0])"
    result = query("--timeout", "4", slow, large, small)
    assert result.exit_code == 1
    assert f"{small}: 1\n" in result.output
    (line,) = [line for line in result.output.splitlines() if line.startswith(f"{large}: ")]
    assert "more than 4 s" in line


def test_a_file_that_holds_no_model_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.xml").write_text('<net version="11"><layers>')
    result = query("count(//layer)", tmp_path / "bad.xml", EXAMPLES / "encoder.xml")
    assert result.exit_code == 1
    assert "IR001" in result.output
    assert "encoder.xml: 247\n" in result.output


def test_no_entity_and_no_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    (tmp_path / "m.xml").write_text(
        f'<!DOCTYPE net [<!ENTITY e SYSTEM "{secret}">]><net name="&e;" version="11"/>'
    )
    result = query("string(//net/@name)", tmp_path / "m.xml")
    assert result.exit_code == 1
    assert "hidden" not in result.output


def test_the_type_of_a_layer_is_no_expression_that_finds_it() -> None:
    done = query("MatMul", EXAMPLES / "encoder.xml")
    assert (done.exit_code, '//layer[@type="MatMul"]' in done.stderr) == (2, True)


def test_no_match_is_said() -> None:
    done = query('//layer[@type="Foo"]', EXAMPLES / "encoder.xml")
    assert (done.exit_code, done.stdout, "nothing matches" in done.stderr) == (0, "", True)
