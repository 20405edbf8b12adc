"""One small network for the tests of the rules, whole or as a body, and faults to put into it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import irshape
from irshape.diagnostics.report import Diagnostic, Report


def dims(*sizes: int) -> str:
    return "".join(f"<dim>{size}</dim>" for size in sizes)


LAYERS = f"""\
<layer id="0" name="x" type="Parameter" version="opset1">
<data shape="1,3,8,8" element_type="f32"/>
<output><port id="0" precision="FP32" names="x">{dims(1, 3, 8, 8)}</port></output>
</layer>
<layer id="1" name="kernel" type="Const" version="opset1">
<data element_type="f32" shape="4,3,3,3" offset="0" size="432"/>
<output><port id="0" precision="FP32">{dims(4, 3, 3, 3)}</port></output>
</layer>
<layer id="2" name="conv" type="Convolution" version="opset1">
<data strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit"/>
<input>
<port id="0" precision="FP32">{dims(1, 3, 8, 8)}</port>
<port id="1" precision="FP32">{dims(4, 3, 3, 3)}</port>
</input>
<output><port id="2" precision="FP32">{dims(1, 4, 6, 6)}</port></output>
</layer>
<layer id="3" name="axes" type="Const" version="opset1">
<data element_type="i64" shape="2" offset="432" size="16"/>
<output><port id="0" precision="I64"><dim>2</dim></port></output>
</layer>
<layer id="4" name="mean" type="ReduceMean" version="opset1">
<data keep_dims="true"/>
<input>
<port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port>
<port id="1" precision="I64"><dim>2</dim></port>
</input>
<output><port id="2" precision="FP32" names="y">{dims(1, 4, 1, 1)}</port></output>
</layer>
<layer id="5" name="y" type="Result" version="opset1">
<input><port id="0" precision="FP32">{dims(1, 4, 1, 1)}</port></input>
</layer>
"""
EDGES = """\
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="4" to-port="0"/>
<edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>
<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
"""
WEIGHTS = struct.pack("<108f", *(0.5 for _ in range(108))) + struct.pack("<2q", 2, 3)

_OUTER = """\
<layer id="10" name="outer_x" type="Parameter" version="opset1">\
<data shape="1,3,8,8" element_type="f32"/>
<output><port id="0" precision="FP32" names="outer_x">\
{dims}</port></output></layer>
<layer id="11" name="condition" type="Parameter" version="opset1">\
<data shape="" element_type="boolean"/>
<output><port id="0" precision="BOOL" names="condition"/></output></layer>
<layer id="12" name="times" type="Parameter" version="opset1"><data shape="" element_type="i64"/>
<output><port id="0" precision="I64" names="times"/></output></layer>
<layer id="13" {what}>
<input>{inputs}\
<port id="{port}" precision="FP32">{dims}</port></input>
<output><port id="9" precision="FP32" names="outer_y">\
<dim>1</dim><dim>4</dim><dim>1</dim><dim>1</dim></port></output>
{inside}
</layer>
<layer id="14" name="outer_y" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim><dim>1</dim></port></input>
</layer>
"""
_OUTER_EDGES = """\
<edge from-layer="10" from-port="0" to-layer="13" to-port="{port}"/>
<edge from-layer="13" from-port="9" to-layer="14" to-port="0"/>
"""
_ELSE = f"""\
<else_port_map><output external_port_id="9" internal_layer_id="1"/></else_port_map>
<else_body><layers>
<layer id="0" name="zeros" type="Const" version="opset1">\
<data element_type="f32" shape="1,4,1,1" offset="432" size="16"/>
<output><port id="0" precision="FP32">{dims(1, 4, 1, 1)}</port></output></layer>
<layer id="1" name="else_y" type="Result" version="opset1"><input>\
<port id="0" precision="FP32">{dims(1, 4, 1, 1)}</port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></else_body>
"""
_CONDITION = """\
<layer id="19" name="shape" type="ShapeOf" version="opset1">
<input><port id="0" precision="FP32">{dims}</port></input>
<output><port id="1" precision="I64"><dim>4</dim></port></output></layer>
<layer id="20" name="rank" type="ShapeOf" version="opset1">
<input><port id="0" precision="I64"><dim>4</dim></port></input>
<output><port id="1" precision="I64"><dim>1</dim></port></output></layer>
<layer id="21" name="go_on_if" type="Convert" version="opset1"><data destination_type="boolean"/>
<input><port id="0" precision="I64"><dim>1</dim></port></input>\
<output><port id="1" precision="BOOL"><dim>1</dim></port></output></layer>
<layer id="22" name="on" type="Result" version="opset1"><input>\
<port id="0" precision="BOOL"><dim>1</dim></port></input></layer>
"""
_CONDITION_EDGES = """\
<edge from-layer="0" from-port="0" to-layer="19" to-port="0"/>
<edge from-layer="19" from-port="1" to-layer="20" to-port="0"/>
<edge from-layer="20" from-port="1" to-layer="21" to-port="0"/>
<edge from-layer="21" from-port="1" to-layer="22" to-port="0"/>
"""

PATHS: dict[str, list[str]] = {
    "net": [],
    "If": ["13", "then_body"],
    "TensorIterator": ["13", "body"],
    "Loop": ["13", "body"],
}


def network(where: str = "net", layers: str = LAYERS, edges: str = EDGES) -> str:
    """The network as the net, or as the body of a layer of a type."""
    if where == "net":
        return _net(layers, edges)
    port = {"If": 1, "TensorIterator": 0, "Loop": 2}[where]
    line = (
        f'<input external_port_id="{port}" internal_layer_id="0"{{more}}/>'
        '<output external_port_id="9" internal_layer_id="5"/>'
    )
    if where == "If":
        what, inputs, outer = (
            'name="if" type="If" version="opset8"',
            '<port id="0" precision="BOOL"/>',
            '<edge from-layer="11" from-port="0" to-layer="13" to-port="0"/>',
        )
        inside = (
            f"<then_port_map>{line.format(more='')}</then_port_map><then_body>"
            f"{_body(layers, edges)}</then_body>{_ELSE}"
        )
    elif where == "TensorIterator":
        what, inputs, outer = 'name="iterator" type="TensorIterator" version="opset1"', "", ""
        sliced = ' axis="2" start="0" end="-1" stride="8" part_size="8"'
        inside = (
            f"<port_map>{line.format(more=sliced)}</port_map><back_edges/><body>"
            f"{_body(layers, edges)}</body>"
        )
    else:
        what, inputs = (
            'name="loop" type="Loop" version="opset5"',
            '<port id="0" precision="I64"/><port id="1" precision="BOOL"/>',
        )
        outer = (
            '<edge from-layer="12" from-port="0" to-layer="13" to-port="0"/>'
            '<edge from-layer="11" from-port="0" to-layer="13" to-port="1"/>'
        )
        going = (
            '<output external_port_id="-1" internal_layer_id="22" purpose="execution_condition"/>'
        )
        body = _body(layers + _CONDITION.format(dims=dims(1, 3, 8, 8)), edges + _CONDITION_EDGES)
        inside = (
            f"<port_map>{line.format(more='')}{going}</port_map><back_edges/><body>{body}</body>"
        )
    return _net(
        _OUTER.format(port=port, what=what, inputs=inputs, inside=inside, dims=dims(1, 3, 8, 8)),
        _OUTER_EDGES.format(port=port) + outer + "\n",
    )


def _body(layers: str, edges: str) -> str:
    return f"\n<layers>\n{layers}</layers>\n<edges>\n{edges}</edges>\n"


def _net(layers: str, edges: str) -> str:
    return f'<?xml version="1.0"?>\n<net name="m" version="11">{_body(layers, edges)}</net>\n'


@dataclass
class Told:
    """A finding as a text: `IR106 4/output/2 warning: id, precision, names, not name`.

    Code, layer and port, and the severity if it is not `error`; then parts of what is expected and
    of what is there. `taken` says that OpenVINO takes the file in silence.
    """

    told: str

    def __post_init__(self) -> None:
        head, _, said = self.told.partition(": ")
        self.code, *words = head.split()
        flags = {"warning", "info", "taken"} & {*words}
        self.taken = "taken" in flags
        self.severity = "".join(flags - {"taken"}) or "error"
        place = [part for word in words if word not in flags for part in word.split("/")]
        self.layer = place[0] if place else None
        self.port = {"direction": place[1], "id": place[2]} if place[1:] else None
        expected, _, actual = f", {said}".partition(", not ")
        self.expected, self.actual = expected[2:] or None, actual or None


@dataclass
class Fault(Told):
    """A fault in the network: `old` becomes `new`.

    The finding points at `»` in the new text, at `at`, or at the layer.
    """

    old: str = ""
    new: str = ""
    at: str = ""
    weights: bytes = WEIGHTS
    also: tuple[str, ...] = ()
    then: tuple[str, str] | None = None
    """A second change that belongs to the fault."""
    others: tuple[str, ...] = ()
    """Codes of what else is rightly reported."""

    def _marked(self, where: str) -> str:
        both = LAYERS + "</layers>\n<edges>\n" + EDGES
        for old, new in ((self.old, self.new), *([self.then] if self.then else [])):
            assert not old or both.count(old) == 1, f"{both.count(old)} times in the network: {old}"
            both = both.replace(old, new) if old else both
        layers, _, edges = both.partition("</layers>\n<edges>\n")
        return network(where, layers, edges)

    def put(self, where: str = "net") -> str:
        """The network with the fault in it."""
        return self._marked(where).replace("»", "")

    def place(self, where: str = "net") -> tuple[int, int]:
        """Line and column of the finding."""
        marked = self._marked(where)
        at = "»" if "»" in marked else self.at or f'<layer id="{self.layer}"'
        body = marked.index('<layer id="0" ')
        return position(marked, marked.index(at, body))


def agrees(finding: Diagnostic, told: Told) -> None:
    """Demands that a finding is as told."""
    layer = finding.layer["id"] if finding.layer else None
    assert (finding.code, finding.severity, layer) == (told.code, told.severity, told.layer)
    assert finding.port == told.port
    for wanted, seen in ((told.expected, finding.expected), (told.actual, finding.actual)):
        assert wanted is None or wanted in (seen or ""), (wanted, seen)
    assert finding.help
    assert finding.message


def unexpected(report: Report, told: Told, others: tuple[str, ...] = ()) -> list[str]:
    """What is reported beside it at error or warning."""
    return [each for each in serious(report) if each.split()[0] not in (told.code, *others)]


def validate(
    text: str, folder: Path, weights: bytes | None = WEIGHTS, also: tuple[str, ...] = ()
) -> Report:
    path = folder / "m.xml"
    path.write_text(text)
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights)
    return irshape.validate(path, also=also)


def found(report: Report, code: str) -> list[Diagnostic]:
    return [finding for finding in report.diagnostics if finding.code == code]


def serious(report: Report) -> list[str]:
    return [
        f"{finding.code} {finding.message}"
        for finding in report.diagnostics
        if finding.severity != "info"
    ]


def place(text: str, at: str) -> tuple[int, int]:
    """Line and column of the one place where a text stands."""
    assert text.count(at) == 1, f"{text.count(at)} times: {at}"
    return position(text, text.index(at))


def position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
