"""The one set of findings over which every format is tested.

It is written down and not computed, so that a rule's new wording changes no snapshot.
"""

from __future__ import annotations

from typing import Any, cast

from irshape.diagnostics.renderers.common import RulePage
from irshape.diagnostics.report import Diagnostic, FileReport, Report, Severity
from irshape.model.source import Source


def dims(*sizes: int) -> str:
    return "".join(f"<dim>{size}</dim>" for size in sizes)


CLASSIFIER = f"""<?xml version="1.0"?>
<net name="classifier" version="11">
    <layers>
        <layer id="0" name="image" type="Parameter" version="opset1">
            <data shape="1,3,8,8" element_type="f32"/>
            <output><port id="0" precision="FP32">{dims(1, 3, 8, 8)}</port></output>
        </layer>
        <layer id="1" name="weights" type="Const" version="opset1">
            <data element_type="f32" shape="4,3,3,3" offset="0" size="432"/>
            <output><port id="0" precision="FP32">{dims(4, 3, 3, 3)}</port></output>
        </layer>
        <layer id="2" name="features/conv_1" type="Convolution" version="opset1">
            <data strides="1,1" dilatons="2,2" dilations="1,1" pads_begin="0,0" pads_end="0,0"\
 auto_pad="explicit" group="1"/>
            <input>
                <port id="0" precision="FP32">{dims(1, 3, 8, 8)}</port>
                <port id="1" precision="FP32">{dims(4, 3, 3, 3)}</port>
            </input>
            <output>
                <port id="2" precision="FP32">{dims(1, 4, 8, 8)}</port>
            </output>
        </layer>
        <layer id="3" name="&lt;b&gt;relu&lt;/b&gt; &amp; &quot;co&quot;"\
 type="ReLU" version="opset1">
            <input><port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port></input>
            <output><port id="1" precision="FP32" names="активация">\
{dims(1, 4, 6, 6)}</port></output>
        </layer>
        <layer id="4" name="flag" type="Parameter" version="opset1">
            <data shape="" element_type="boolean"/>
            <output><port id="0" precision="BOOL"/></output>
        </layer>
        <layer id="5" name="branch" type="If" version="opset8">
            <input><port id="0" precision="BOOL"/>\
<port id="1" precision="FP32">{dims(1, 4, 6, 6)}</port></input>
            <output><port id="2" precision="FP32">{dims(1, 4, 6, 6)}</port></output>
            <then_port_map><input external_port_id="1" internal_layer_id="0"/>\
<output external_port_id="2" internal_layer_id="2"/></then_port_map>
            <else_port_map><input external_port_id="1" internal_layer_id="0"/>\
<output external_port_id="2" internal_layer_id="1"/></else_port_map>
            <then_body>
                <layers>
                    <layer id="0" name="x" type="Parameter" version="opset1">
                        <data shape="1,4,6,6" element_type="f32"/>
                        <output><port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port></output>
                    </layer>
                    <layer id="1" name="平方 square" type="Multiply" version="opset1">
                        <data auto_broadcast="numpy"/>
                        <input>
                            <port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port>
                            <port id="1" precision="FP32">{dims(1, 4, 6, 6)}</port>
                        </input>
                        <output><port id="2" precision="FP16">{dims(1, 4, 6, 6)}</port></output>
                    </layer>
                    <layer id="2" name="then" type="Result" version="opset1">
                        <input><port id="0" precision="FP16">{dims(1, 4, 6, 6)}</port></input>
                    </layer>
                </layers>
                <edges>
                    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>
                    <edge from-layer="1" from-port="2" to-layer="2" to-port="0"/>
                </edges>
            </then_body>
            <else_body>
                <layers>
                    <layer id="0" name="x" type="Parameter" version="opset1">
                        <data shape="1,4,6,6" element_type="f32"/>
                        <output><port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port></output>
                    </layer>
                    <layer id="1" name="else" type="Result" version="opset1">
                        <input><port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port></input>
                    </layer>
                </layers>
                <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
            </else_body>
        </layer>
        <layer id="6" name="out" type="Result" version="opset1">
            <input><port id="0" precision="FP32">{dims(1, 4, 6, 6)}</port></input>
        </layer>
    </layers>
    <edges>
        <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
        <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
        <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
        <edge from-layer="4" from-port="0" to-layer="5" to-port="0"/>
        <edge from-layer="3" from-port="1" to-layer="5" to-port="1"/>
        <edge from-layer="5" from-port="2" to-layer="6" to-port="0"/>
    </edges>
</net>
"""

MEAN = f"""<layer id="1" type="ReduceMean" version="opset1">
    <data keep_dims="true"/>
    <input>
        <port id="0" precision="FP32">{dims(6, 12, 10, 24)}</port>
        <port id="1" precision="I64"><dim>2</dim><!-- value is [2, 3] --></port>
    </input>
    <output><port id="2" precision="FP32"><dim>6</dim><dim>12</dim></port></output>
</layer>
"""

HOSTILE = (
    "stop\n::error::not %0A ours, {0} [a](http://example.org) | `x` *y* @all ##[add-mask]x "
    "</script><img src=x onerror=alert(1)> \x1b[31m \u202e \x85 \"'& ü 中"
)
"""What a name, a message or a path may contain: line ends, commands of CI runners, markup of every
format, control characters, a reversal of direction, text outside of ASCII."""


def layer(
    id: str, name: str, type: str, opset: str = "opset1", path: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {"id": id, "name": name, "type": type, "opset": opset, "path": list(path)}


def found(source: Source, at: str, rule: str, message: str, **more: Any) -> Diagnostic:
    """A diagnostic that points at the first place of a text in the source.

    rule: its code, its name and the severity.
    """
    line, column = source.place(source.data.index(at.encode()))
    code, name, severity = rule.split()
    return Diagnostic(code, name, cast("Severity", severity), message, line, column, **more)


def fixed_report() -> Report:
    classifier = Source("models/classifier.xml", CLASSIFIER.encode())
    conv = layer("2", "features/conv_1", "Convolution")
    relu = layer("3", '<b>relu</b> & "co"', "ReLU")
    square = layer("1", "平方 square", "Multiply", path=("5", "then_body"))
    in_classifier = [
        found(
            classifier,
            '<layer id="1"',
            "IR504 subnormal-weights info",
            "12 of 108 values are subnormal in f16",
            layer=layer("1", "weights", "Const"),
            help="scale the weights, or keep them in f32",
        ),
        found(
            classifier,
            "dilatons",
            "IR301 unknown-attribute warning",
            "Convolution has no attribute 'dilatons'; did you mean 'dilations'?",
            layer=conv,
            expected="dilations",
            actual="dilatons",
            help="rename it; OpenVINO silently ignores it and takes the default",
        ),
        found(
            classifier,
            '<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>8',
            "IR201 output-shape-mismatch error",
            "declared [1,4,8,8], inferred [1,4,6,6]",
            layer=conv,
            port={"direction": "output", "id": "2"},
            expected="[1,4,6,6]",
            actual="[1,4,8,8]",
            help=(
                "declare <dim>1</dim><dim>4</dim><dim>6</dim>"
                "<dim>6</dim>, or correct the inputs or attributes of the layer"
            ),
        ),
        found(
            classifier,
            '<layer id="3"',
            "IR104 odd-name warning",
            "the name holds markup",
            layer=relu,
        ),
        found(
            classifier,
            '<layer id="3"',
            "IR104 odd-name warning",
            "the name holds quotes",
            layer=relu,
        ),
        found(
            classifier,
            'precision="FP16"',
            "IR202 output-type-mismatch error",
            "declared precision FP16, inferred FP32",
            layer=square,
            port={"direction": "output", "id": "2"},
            expected="FP32",
            actual="FP16",
            help='write precision="FP32"; OpenVINO ignores what stands here and goes on with f32',
        ),
    ]
    broken = Source(
        "models/bröken <b>|`&.xml", '<net name="中文\t" version="11">\n  <layers>\n'.encode()
    )
    in_broken = [
        found(
            broken,
            "<layers>",
            "IR001 malformed-xml error",
            "no closing tag for <layers>: the file ends in the middle",
            help="fetch it again; compare its size",
        )
    ]
    mean = Source("layers/mean.xml", MEAN.encode())
    in_mean = [
        found(
            mean,
            '<port id="2"',
            "IR201 output-shape-mismatch error",
            "declared [6,12], inferred [6,12,1,1]: rank 2 instead of 4",
            layer=layer("1", "", "ReduceMean"),
            port={"direction": "output", "id": "2"},
            expected="[6,12,1,1]",
            actual="[6,12]",
            help=(
                "declare <dim>6</dim><dim>12</dim><dim>1</dim>"
                "<dim>1</dim>, or correct the inputs or attributes of the layer"
            ),
        )
    ]
    return Report(
        [
            FileReport(classifier.path, 12, in_classifier, classifier),
            FileReport("models/clean.xml", 40, [], Source("models/clean.xml", b"<net/>")),
            FileReport(broken.path, 0, in_broken, broken),
            FileReport(mean.path, 1, in_mean, mean),
        ]
    )


def hostile_report() -> Report:
    """The hostile text in every place that a file or a command line can put it in."""
    source = Source(HOSTILE, f"<layer {HOSTILE}>\n".encode())
    reference = layer(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE, "body"))
    one = Diagnostic(
        "IR101",
        "duplicate-id",
        "error",
        HOSTILE,
        1,
        1,
        reference,
        {"direction": "output", "id": HOSTILE},
        HOSTILE,
        HOSTILE,
        HOSTILE,
    )
    return Report(
        [
            FileReport(
                HOSTILE,
                1,
                [
                    one,
                    one._replace(severity="warning"),
                    one._replace(severity="info", layer=None, port=None),
                ],
                source,
            )
        ]
    )


def fixed_page(finding: Diagnostic) -> RulePage:
    """The documentation of a rule, as fixed as the findings."""
    if finding.code != "IR201":
        return RulePage(
            finding.code, finding.rule, finding.severity, f"What {finding.rule} is about.", {}
        )
    sections = {
        "What it does": "Compares `<dim>` with what is inferred.\n\n- every port\n- every *body*",
        "Example": '```xml\n<port id="2"><dim>8</dim></port>\n```',
    }
    return RulePage(
        finding.code,
        finding.rule,
        finding.severity,
        "An output port declares a shape\nthat the layer cannot have.",
        sections,
    )
